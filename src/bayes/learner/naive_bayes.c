/* Naive Bayes: columns independent of each other within a class. */
#include "bayes/learner/naive_bayes.h"
#include "bayes/learner/bayes.h"
#include "math/rows/vector_math.h"

#include <math.h>
#include <string.h>

static const margin_option options[] = {
    MG_NUMBER("smoothing", "1",
              "lambda, added to every count: 1 is Laplace's rule, 0 maximum likelihood", MG_FROM_0,
              MG_SIMPLER),
    MG_CHOICE("distribution", "auto", "auto|categorical|gaussian|multinomial|bernoulli",
              "of the columns that no list below names; auto: categories categorical, numbers "
              "gaussian"),
    MG_TEXT("categorical", NULL,
            "columns whose values are categories: names or numbers from 1, separated by commas"),
    MG_TEXT("gaussian", NULL, "columns that are normal in each class"),
    MG_TEXT("multinomial", NULL, "columns of counts, such as those of words, that share one whole"),
    MG_TEXT("bernoulli", NULL, "columns of which only matters whether they are above 0"),
    MG_CHOICE("unseen", "smooth", "smooth|ignore|error",
              "a category that training never saw: a count of 0, left out like a missing value, or "
              "no prediction"),
    MG_TEXT("priors", "learn",
            "of the classes: learn, equal, or numbers in the order of the classes: \"0.3 0.7\""),
    MG_NUMBER("prior_smoothing", NULL,
              "lambda of the counts of the classes (default: as smoothing); 0: their shares",
              MG_FROM_0),
    MG_NUMBER("var_smoothing", "1e-09",
              "share of the greatest variance of a column that is added to every variance",
              MG_FROM_0, MG_SIMPLER),
};

static const mg_option_value *option_of(const mg_option_value *values, const char *name) {
    return &values[mg_option_index(&mg_learner_naive_bayes.info, name)];
}

/* ---- Priors ---------------------------------------------------------------------------------- */

static margin_status fail_priors(const char *text, margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_SPEC,
                   "naive-bayes: priors='%s' is not learn, equal or a list of numbers above 0 that "
                   "add up to 1, such as \"0.3 0.7\"",
                   mg_excerpt(text, (int64_t)strlen(text)).text);
}

/* Numbers of the list into priors (NULL: only counted and checked). */
static margin_status read_priors(const char *text, int64_t most, double *priors, int64_t *count,
                                 margin_error *error) {
    const char *const blank = " ,\t";
    double sum = 0;
    *count = 0;
    for (const char *at = text + strspn(text, blank); *at; at += strspn(at, blank)) {
        const size_t length = strcspn(at, blank);
        double value;
        if (!margin_number_parse_f64(at, length, &value) || !(value > 0 && value <= 1))
            return fail_priors(text, error);
        if (*count < most && priors) priors[*count] = value;
        ++*count;
        sum += value;
        at += length;
    }
    return fabs(sum - 1) < 1e-6 ? MARGIN_OK : fail_priors(text, error);
}

static bool is_list(const char *text) {
    return strcmp(text, "learn") != 0 && strcmp(text, "equal") != 0;
}

static margin_status bayes_check(const margin_component *info, const mg_option_value *values,
                                 margin_error *error) {
    (void)info;
    const char *priors = option_of(values, "priors")->text;
    int64_t count;
    MG_REQUIRE(strcmp(priors, "learn") == 0 || !option_of(values, "prior_smoothing")->given, error,
               MARGIN_ERROR_SPEC,
               "naive-bayes: prior_smoothing is for priors that are learnt, and priors=%s are "
               "given; leave one of them out",
               priors);
    return is_list(priors) ? read_priors(priors, 0, NULL, &count, error) : MARGIN_OK;
}

static margin_status find_priors(const mg_fit *fit, int64_t classes, double *priors,
                                 mg_bayes_settings *settings) {
    const char *text = option_of(fit->options, "priors")->text;
    int64_t count = classes;
    if (strcmp(text, "learn") == 0) return MARGIN_OK;
    for (int64_t k = 0; k < classes; k++)
        priors[k] = 1 / (double)classes;
    if (is_list(text)) MG_TRY(read_priors(text, classes, priors, &count, fit->error));
    MG_REQUIRE(count == classes, fit->error, MARGIN_ERROR_SPEC,
               "naive-bayes: priors has %lld numbers and the data %lld classes", (long long)count,
               (long long)classes);
    settings->priors = priors;
    return MARGIN_OK;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

/* A column that is not constant, for its classes have different means, and whose squares are 0; or,
 * with nothing added to variances, one that does not vary in a class. */
static margin_status check_variances(const mg_fit *fit, const mg_bayes_layout *layout,
                                     const mg_bayes_counts *counts, double var_smoothing) {
    const bool smoothed = mg_bayes_epsilon(layout, counts->statistics, var_smoothing) > 0;
    char buffer[32];
    for (int64_t g = 0; g < layout->gaussians; g++) {
        const int64_t j = layout->gaussian[g];
        const char *name = mg_column_name(fit->problem->columns, j, buffer);
        double pooled[MG_BAYES_MOMENTS];
        mg_bayes_pool(layout, counts->statistics, j, pooled);
        const bool varies = pooled[MG_BAYES_SQUARES] > 0;
        for (int64_t k = 0; k < layout->classes; k++) {
            const double *m = counts->statistics + k * layout->slots + layout->first[j];
            if (!(m[MG_BAYES_WEIGHT] > 0)) continue;
            MG_REQUIRE(varies || m[MG_BAYES_MEAN] == pooled[MG_BAYES_MEAN], fit->error,
                       MG_DATA(OVERFLOW),
                       "naive-bayes: the values of column %s, such as %s, differ by too little for "
                       "their squares: bring it to another scale first (minmax | naive-bayes) or "
                       "leave it out",
                       name, mg_number(m[MG_BAYES_MEAN]).text);
            MG_REQUIRE(!varies || smoothed || m[MG_BAYES_SQUARES] > 0, fit->error,
                       MARGIN_ERROR_DATA,
                       "naive-bayes: column %s has the variance 0 in one of the classes, where it "
                       "is always %s; give var_smoothing a value above 0",
                       name, mg_number(m[MG_BAYES_MEAN]).text);
        }
    }
    return MARGIN_OK;
}

margin_status mg_bayes_finish(mg_fit *fit, const mg_bayes_layout *layout,
                              const mg_bayes_settings *settings, const mg_bayes_counts *counts,
                              mg_hypothesis *h) {
    static const char overflow[] =
        "the weights, or the weights times the squares of the values, add up to more than double "
        "precision holds: divide the weights (or the columns) by a power of ten";
    for (int64_t s = 0; s < layout->classes * layout->slots; s++)
        MG_REQUIRE(isfinite(counts->statistics[s]), fit->error, MG_DATA(OVERFLOW), "%s", overflow);
    MG_TRY(check_variances(fit, layout, counts, settings->var_smoothing));
    MG_TRY(mg_hypothesis_attach(h, fit->error));
    mg_bayes_describe(mg_bayes_view_of(h), counts->missing, &fit->report);
    MG_REQUIRE(isfinite(fit->report.objective), fit->error, MG_DATA(OVERFLOW), "%s", overflow);
    fit->hypothesis = h;
    return MARGIN_OK;
}

static mg_bayes_settings settings_of(const mg_option_value *values) {
    const double smoothing = option_of(values, "smoothing")->number;
    const mg_option_value *of_priors = option_of(values, "prior_smoothing");
    return (mg_bayes_settings){.smoothing = smoothing,
                               .prior_smoothing = of_priors->given ? of_priors->number : smoothing,
                               .var_smoothing = option_of(values, "var_smoothing")->number,
                               .unseen = (mg_bayes_unseen)option_of(values, "unseen")->integer};
}

/* What the next fit to the same samples counts as well, however it smooths. */
typedef struct kept_counts {
    mg_hypothesis *tensors; /* layout and counts, not attached */
    mg_bayes_counts counts;
} kept_counts;

static void release_counts(mg_heap *heap, void *data) {
    kept_counts *kept = data;
    mg_hypothesis_free(kept->tensors);
    mg_free(heap, kept);
}

static void copy_counts(const mg_bayes_layout *layout, const mg_bayes_counts *from,
                        mg_bayes_counts *to) {
    const size_t classes = (size_t)layout->classes, slots = (size_t)layout->slots;
    memcpy(to->classes, from->classes, classes * sizeof *to->classes);
    memcpy(to->statistics, from->statistics, classes * slots * sizeof *to->statistics);
    to->missing = from->missing;
}

static const void *kept_tensor(const kept_counts *kept, const char *name) {
    return mg_bag_find(&kept->tensors->bag, name)->data;
}

/* Those of the fit before, if its columns have the same distributions; NULL: none. */
static const kept_counts *counts_before(const mg_fit *fit, const int32_t *kinds) {
    const kept_counts *kept = fit->kept ? fit->kept->data : NULL;
    const size_t bytes = (size_t)fit->problem->x.columns * sizeof *kinds;
    return kept && memcmp(kept_tensor(kept, "kinds"), kinds, bytes) == 0 ? kept : NULL;
}

static margin_status keep_counts(mg_fit *fit, const mg_bayes_layout *layout,
                                 const mg_bayes_counts *counts) {
    static const mg_bayes_settings unsettled = {0};
    mg_heap *heap = fit->context->heap;
    kept_counts *kept;
    MG_NEW(heap, kept, 1, "the counts of a fit", fit->error);
    const margin_status status =
        mg_bayes_new(heap, layout, &unsettled, &kept->tensors, &kept->counts, fit->error);
    if (status < 0) {
        mg_free(heap, kept);
        return status;
    }
    copy_counts(layout, counts, &kept->counts);
    if (fit->kept->data) fit->kept->release(heap, fit->kept->data);
    fit->kept->data = kept;
    fit->kept->release = release_counts;
    return MARGIN_OK;
}

static margin_status naive_bayes_fit(mg_fit *fit) {
    const mg_problem *p = fit->problem;
    mg_heap *heap = fit->context->heap;
    mg_bayes_layout layout = {.columns = p->x.columns, .classes = p->classes};
    mg_bayes_settings settings = settings_of(fit->options);
    mg_bayes_counts counts = {0};
    mg_hypothesis *h = NULL;
    const kept_counts *before;
    int32_t *kinds = NULL;
    int64_t *levels = NULL;
    double *values = NULL, *priors = NULL;
    margin_status status;
    MG_GO_NEW(heap, kinds, p->x.columns, "the columns of a model", fit->error);
    MG_GO_NEW(heap, levels, p->x.columns, "the columns of a model", fit->error);
    MG_GO_NEW(heap, priors, p->classes, "the priors", fit->error);
    MG_GO(find_priors(fit, p->classes, priors, &settings));
    MG_GO(mg_bayes_choose_kinds(heap, p, fit->options, kinds, fit->error));
    before = counts_before(fit, kinds);
    if (!before) MG_GO(mg_bayes_find_values(fit->context, p, kinds, levels, &values, fit->error));
    layout.kinds = kinds;
    layout.levels = before ? kept_tensor(before, "levels") : levels;
    layout.values = before ? kept_tensor(before, "values") : values;
    MG_GO(mg_bayes_layout_make(heap, &layout, fit->error));
    MG_GO(mg_bayes_new(heap, &layout, &settings, &h, &counts, fit->error));
    if (before)
        copy_counts(&layout, &before->counts, &counts);
    else
        MG_GO(mg_bayes_count(fit->context, p, &layout, &counts, fit->error));
    if (fit->kept && !before) MG_GO(keep_counts(fit, &layout, &counts));
    MG_GO(mg_bayes_finish(fit, &layout, &settings, &counts, h));
    h = NULL;
done:
    mg_hypothesis_free(h);
    mg_bayes_layout_free(&layout);
    MG_FREE(heap, priors, values, levels, kinds);
    return status;
}

/* ---- A model from elsewhere ------------------------------------------------------------------ */

static margin_status check_kinds(const mg_problem *problem, const mg_option_value *values,
                                 const mg_hypothesis *h, int32_t *kinds, margin_error *error) {
    const mg_bayes_layout *layout = &mg_bayes_view_of(h)->layout;
    MG_TRY(mg_bayes_choose_kinds(h->heap, problem, values, kinds, error));
    for (int64_t j = 0; j < layout->columns; j++) {
        const bool coded = kinds[j] == MG_BAYES_CODES;
        MG_REQUIRE(layout->kinds[j] == kinds[j] &&
                       (!coded || layout->levels[j] == problem->columns[j].category_count),
                   error, MARGIN_ERROR_MODEL,
                   "column %lld of the model has another distribution than its naive-bayes gives "
                   "it, or other categories",
                   (long long)j + 1);
    }
    return MARGIN_OK;
}

static margin_status check_settings(const mg_option_value *values, const mg_bayes_view *view,
                                    double *priors, margin_error *error) {
    const mg_fit fit = {.options = values, .error = error};
    const mg_bayes_settings *has = &view->settings;
    const int64_t classes = view->layout.classes;
    mg_bayes_settings asked = settings_of(values);
    MG_TRY(find_priors(&fit, classes, priors, &asked));
    bool same = asked.smoothing == has->smoothing &&
                asked.prior_smoothing == has->prior_smoothing &&
                asked.var_smoothing == has->var_smoothing && asked.unseen == has->unseen &&
                !asked.priors == !has->priors;
    for (int64_t k = 0; same && asked.priors && k < classes; k++)
        same = asked.priors[k] == has->priors[k];
    MG_REQUIRE(same, error, MARGIN_ERROR_MODEL,
               "the model has other settings than its naive-bayes asks for");
    return MARGIN_OK;
}

static margin_status fits(const margin_component *info, const mg_problem *problem,
                          const mg_option_value *values, const mg_hypothesis *h,
                          margin_error *error) {
    (void)info;
    int32_t *kinds;
    double *priors;
    MG_SCOPED_ARENA(arena, h->heap);
    MG_ARENA_NEW(&arena, kinds, h->columns, "the columns of a model", error);
    MG_ARENA_NEW(&arena, priors, h->functions, "the priors", error);
    MG_TRY(check_kinds(problem, values, h, kinds, error));
    return check_settings(values, mg_bayes_view_of(h), priors, error);
}

static bool refuses_unknown(const mg_hypothesis *h) {
    return mg_bayes_view_of(h)->settings.unseen == MG_BAYES_REFUSE;
}

/* The scores are logarithms. */
static void bayes_probabilities(const double *scores, int64_t functions, int64_t classes,
                                double *out) {
    (void)functions;
    memcpy(out, scores, (size_t)classes * sizeof *out);
    mg_softmax(out, classes);
}

static const mg_learner_more more = {.finds_infinite = true,
                                     .update = mg_bayes_update,
                                     .log_scores = true,
                                     .refuses_unknown = refuses_unknown};

const mg_learner mg_learner_naive_bayes = {
    .info = {.name = "naive-bayes",
             .kind = MARGIN_LEARNER,
             .summary = "Naive Bayes: classes by counts, columns independent within a class",
             .formula = "P(c|x) ~ P(c) prod_j P(x_j|c),  P(c) = (N_c + s) / (N + K s),  "
                        "P(x_j=a|c) = (N_jac + s) / (N_jc + S_j s)",
             .source = "Hand and Yu, Idiot's Bayes - not so stupid after all?, 2001; McCallum and "
                       "Nigam 1998 (multinomial and Bernoulli); Chan, Golub and LeVeque 1979 "
                       "(moments)",
             .page = "docs/naive-bayes.md",
             .abilities = MARGIN_CAN_MULTICLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_PROBABILITY | MARGIN_CAN_MISSING | MARGIN_CAN_CATEGORIES |
                          MARGIN_IS_RULE,
             MG_OPTION_TABLE(options)},
    .makes = {&mg_hypothesis_bayes},
    .fits = fits,
    .check = bayes_check,
    .fit = naive_bayes_fit,
    .verify = mg_bayes_verify,
    .probabilities = bayes_probabilities,
    .more = &more,
};
