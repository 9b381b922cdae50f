/* The learner knn. */
#include "neighbors/learner/knn.h"

#include <stdio.h>
#include <string.h>

enum {
    OPTION_K,
    OPTION_P,
    OPTION_WEIGHTS,
    OPTION_METHOD,
    OPTION_TASK,
    OPTION_RADIUS,
    OPTION_EMPTY
};

static const margin_option options[] = {
    MG_INTEGER("k", "5", "how many neighbours take part; a row of weight w counts as w rows",
               .low = 1, .high = 1e9, MG_SIMPLER),
    MG_NUMBER("p", "2",
              "Minkowski distance: 1 sum of the differences, 2 Euclid, inf the largest difference",
              .low = 1, .high = (double)INFINITY),
    MG_CHOICE("weights", "uniform", "uniform|distance",
              "what a neighbour's vote counts: 1, or 1/distance"),
    MG_CHOICE("method", "auto", "auto|tree|brute",
              "search method (the answers are identical): kd-tree, brute force, or auto: whichever "
              "visits fewer rows in a trial"),
    MG_CHOICE("task", "auto", "auto|classify|regress",
              "classes or numbers; auto: classes for categories, integers and up to 20 different "
              "whole numbers"),
    MG_NUMBER("radius", NULL, "instead of k: all rows at this distance or less take part", .low = 0,
              .high = (double)INFINITY, MG_SIMPLER),
    MG_CHOICE(
        "empty", "nearest", "nearest|prior|none",
        "answer where no row is within the radius: that of the nearest row, the shares of the "
        "classes or the mean of the targets in the training data, or none (NaN, label -1)"),
};

static mg_neighbors_method method_of(const mg_option_value *value) {
    if (strcmp(value->text, "tree") == 0) return MG_NEIGHBORS_TREE;
    return strcmp(value->text, "brute") == 0 ? MG_NEIGHBORS_BRUTE : MG_NEIGHBORS_AUTO;
}

static margin_status knn_check(const margin_component *info, const mg_option_value *o,
                               margin_error *error) {
    (void)info;
    const bool limited = o[OPTION_RADIUS].given;
    MG_REQUIRE(!limited || !o[OPTION_K].given, error, MARGIN_ERROR_SPEC,
               "knn: k and radius exclude each other: the k nearest rows vote, or all within the "
               "radius");
    MG_REQUIRE(limited || !o[OPTION_EMPTY].given, error, MARGIN_ERROR_SPEC,
               "knn: empty is about rows without a neighbour within the radius; give radius too");
    return MARGIN_OK;
}

static margin_status check_k(const mg_problem *problem, int64_t k, margin_error *error) {
    double total = 0;
    for (int64_t i = 0; i < problem->count; i++)
        total += mg_sample_weight(problem, i);
    MG_REQUIRE((double)k <= total * (1 + 1e-9), error, MG_DATA(FEW_ROWS),
               "k=%lld neighbours are asked for and the training rows are %s%s; give a smaller k",
               (long long)k, mg_number(total).text, problem->weight ? ", counted by weight" : "");
    return MARGIN_OK;
}

/* "5 neighbours by Euclidean distance, classes by vote" */
static void describe_rule(mg_fit *fit, const mg_knn_voting *voting) {
    const double p = fit->options[OPTION_P].number;
    const bool limited = !isnan(voting->radius);
    const char *metric = p == 2   ? "Euclidean distance"
                         : p == 1 ? "Manhattan distance"
                                  : "the greatest difference in a column";
    char rule[200], other[64];
    snprintf(other, sizeof other, "Minkowski distance of p=%s", mg_number(p).text);
    snprintf(rule, sizeof rule, "%s%s%s by %s, %s%s", limited ? "all rows within " : "",
             mg_number(limited ? voting->radius : voting->k).text,
             limited            ? ""
             : voting->k == 1.0 ? " neighbour"
                                : " neighbours",
             p == 1 || p == 2 || isinf(p) ? metric : other,
             fit->problem->kind == MG_REGRESSION ? "the mean of their targets" : "classes by vote",
             voting->by_distance ? ", the nearer the more" : "");
    mg_report_formula(&fit->report, rule);
}

static void knn_describe(mg_fit *fit, const mg_hypothesis *h, const mg_neighbors_choice *choice) {
    margin_report *report = &fit->report;
    char why[300];
    mg_neighbors_explain(choice, mg_neighbors_view(h), why, sizeof why);
    mg_report_reason(report, "%s; every answer is exact, ties by row number", why);
    report->status = MARGIN_OK;
    report->iterations = 1;
    memcpy(report->iteration_name, "passes", 7);
}

static mg_knn_voting voting_of(const mg_option_value *o) {
    const bool limited = o[OPTION_RADIUS].given;
    return (mg_knn_voting){.k = limited ? 1 : o[OPTION_K].number,
                           .radius = limited ? o[OPTION_RADIUS].number : (double)NAN,
                           .empty = (mg_empty_answer)o[OPTION_EMPTY].integer,
                           .by_distance = strcmp(o[OPTION_WEIGHTS].text, "distance") == 0};
}

static margin_status knn_verify(mg_fit *fit, const mg_hypothesis *h) {
    const mg_knn_voting voting = voting_of(fit->options);
    describe_rule(fit, &voting);
    return mg_knn_verify(fit, h);
}

static margin_status knn_fit(mg_fit *fit) {
    const mg_problem *problem = fit->problem;
    const mg_option_value *o = fit->options;
    const mg_knn_voting voting = voting_of(o);
    const int64_t k = (int64_t)voting.k;
    mg_neighbors_choice choice;
    mg_hypothesis *h = NULL;
    margin_status status;
    if (isnan(voting.radius)) MG_GO(check_k(problem, k, fit->error));
    const mg_neighbors_plan plan = {.x = &problem->x,
                                    .index = problem->index,
                                    .rows = problem->count,
                                    .p = o[OPTION_P].number,
                                    .k = MG_MIN(k, problem->count),
                                    .method = method_of(&o[OPTION_METHOD])};
    const margin_status made = mg_neighbors_make(fit->context, &plan, &h, &choice, fit->error);
    if (made == MARGIN_ERROR_DATA && problem->unchecked) /* then it may be for them */
        MG_GO(mg_problem_check_finite(fit->context, problem, false, fit->error));
    MG_GO(made);
    MG_GO(mg_knn_add_targets(h, problem, &voting, fit->error));
    knn_describe(fit, h, &choice);
    describe_rule(fit, &voting);
    MG_GO(mg_knn_claim(fit, h));
    fit->hypothesis = h;
    h = NULL;
done:
    mg_hypothesis_free(h);
    return status;
}

static bool votes_fit(const mg_knn_voting *asked, const mg_hypothesis *h) {
    const mg_neighbors *index = mg_neighbors_view(h);
    const mg_tensor *radius = mg_bag_find(&h->bag, "radius");
    const double *limit = radius ? radius->data : NULL;
    if ((radius == NULL) != (isnan(asked->radius) != 0)) return false;
    if (radius && (limit[0] != asked->radius || limit[1] != (double)asked->empty)) return false;
    return (radius || index->k == asked->k) && index->by_distance == asked->by_distance;
}

/* What a hypothesis must be for these options: the voting, and targets of the problem's kind. A
 * bare index of MG_REGRESSION has none. */
static margin_status knn_fits(const margin_component *info, const mg_problem *problem,
                              const mg_option_value *values, const mg_hypothesis *h,
                              margin_error *error) {
    (void)info;
    const mg_neighbors *index = mg_neighbors_view(h);
    const mg_knn_voting asked = voting_of(values);
    const mg_neighbors_method method = method_of(&values[OPTION_METHOD]);
    const bool bare = !index->code && !index->value;
    MG_REQUIRE((problem->kind == MG_ARGMAX) == (index->code != NULL), error, MARGIN_ERROR_MODEL,
               "the rows of the model have no targets of its task");
    MG_REQUIRE(index->metric.p == values[OPTION_P].number &&
                   (method == MG_NEIGHBORS_AUTO ||
                    (index->tree != NULL) == (method == MG_NEIGHBORS_TREE)) &&
                   (bare || votes_fit(&asked, h)),
               error, MARGIN_ERROR_MODEL,
               "the model finds neighbours, or takes their votes, in another way than its knn asks "
               "for");
    return MARGIN_OK;
}

/* Scores are the shares of the votes. */
static void knn_probabilities(const double *scores, int64_t functions, int64_t classes,
                              double *out) {
    (void)functions;
    memcpy(out, scores, (size_t)classes * sizeof *out);
}

/* One search serves all numbers of neighbours. */
static bool knn_covers(const mg_option_value *a, const mg_option_value *b) {
    return !a[OPTION_RADIUS].given && !b[OPTION_RADIUS].given &&
           a[OPTION_K].number >= b[OPTION_K].number && a[OPTION_P].number == b[OPTION_P].number &&
           strcmp(a[OPTION_TASK].text, b[OPTION_TASK].text) == 0;
}

static margin_status knn_answers(margin_context *context, const mg_hypothesis *h,
                                 const mg_option_value *const *settings, int64_t count,
                                 const margin_matrix *rows, bool left_out, double *const *scores,
                                 margin_error *error) {
    mg_knn_voting *votings;
    MG_NEW(context->heap, votings, count, "numbers of neighbours", error);
    for (int64_t k = 0; k < count; k++)
        votings[k] = voting_of(settings[k]);
    const margin_status status =
        mg_knn_answers(context, h, votings, count, rows, left_out, scores, error);
    mg_free(context->heap, votings);
    return status;
}

static const mg_learner_more knn_more = {
    .finds_infinite = true, .covers = knn_covers, .answers = knn_answers};

const mg_learner mg_learner_knn = {
    .info =
        {.name = "knn",
         .summary =
             "Nearest neighbours: the vote or the mean of the k nearest rows, or of all within a "
             "radius, exact",
         .formula =
             "P(y=c) = share of c among the k rows of least (sum |x_j - z_j|^p)^(1/p), or among "
             "all rows where it is at most the radius",
         .source = "Fix and Hodges 1951; Cover and Hart 1967; Friedman, Bentley and Finkel 1977 "
                   "(kd-trees)",
         .page = "docs/knn.md",
         .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS | MARGIN_CAN_REGRESSION |
                      MARGIN_CAN_WEIGHTS | MARGIN_CAN_PROBABILITY | MARGIN_IS_RULE,
         MG_LEARNER_TABLE(options)},
    .makes = {&mg_hypothesis_neighbors},
    .fits = knn_fits,
    .check = knn_check,
    .fit = knn_fit,
    .verify = knn_verify,
    .scored = MG_KNN_SCORED,
    .scored_least = MG_KNN_LEAST,
    .probabilities = knn_probabilities,
    .more = &knn_more,
};
