/* What every linear learner promises, with each loss, each solver, each layout of the data: taken
 * from the catalogue, so that a new learner or solver is covered by being there. The objective is
 * taken from the formula of the report; what it is at the optimum is found by other means. */
#include "convex_oracle.h"
#include "model_cases.h"

#include "learn/learner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 26, COLUMNS = 3, MOST_WAYS = 400, ROOM = 160 };

/* ---- What there is --------------------------------------------------------------------------- */

typedef struct way {
    const margin_component *learner;
    char text[ROOM]; /* options without those of the penalty */
    bool stochastic, slow;
} way;

typedef struct contract {
    margin_context *context;
    sample *s;
    double target[ROWS], weights[ROWS], ones_and_twos[ROWS];
    way ways[MOST_WAYS];
    int count;
} contract;

static const margin_option *option_of(const margin_component *c, const char *name) {
    for (int k = 0; k < c->option_count; k++)
        if (strcmp(c->options[k].name, name) == 0) return &c->options[k];
    return NULL;
}

/* The k-th word of an option; false: there is none. An option that is not there has one, "". */
static bool word_of(const margin_option *option, int k, char *word, size_t room) {
    const char *text = option ? option->choices : "";
    for (; k > 0; k--) {
        text = strchr(text, '|');
        if (!text) return false;
        text++;
    }
    snprintf(word, room, "%.*s", (int)strcspn(text, "|"), text);
    return option || k == 0;
}

static bool is_regression(const margin_component *learner) {
    return (learner->abilities & MARGIN_CAN_REGRESSION) != 0;
}

static margin_data data_of(const contract *f, const margin_component *learner, int layout) {
    margin_data data = sample_data(f->s, layout);
    if (is_regression(learner)) data.y = margin_values_f64(f->target, ROWS);
    return data;
}

/* A penalty where there is one, and its options. */
static void spec_of(const way *w, char *text, size_t room) {
    const bool penalised = option_of(w->learner, "lambda") != NULL;
    snprintf(text, room, "%s(%s%s)", w->learner->name, penalised ? "lambda=0.05" : "tol=1e-6",
             w->text);
}

/* Keeps what the learner does not refuse; only a solver that cannot do this loss may. */
static void add_way(contract *f, const margin_component *learner, const char *loss,
                    const char *solver, const char *intercept, const char *ratio) {
    way *w = &f->ways[f->count];
    char text[2 * ROOM];
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    assert_true(f->count < MOST_WAYS);
    w->learner = learner;
    w->stochastic = strcmp(solver, "sgd") == 0 || strcmp(solver, "minibatch") == 0;
    w->slow = w->stochastic || strcmp(solver, "gd") == 0;
    snprintf(w->text, ROOM, "%s%s%s%s%s%s%s%s", ratio, loss[0] ? ", loss=" : "", loss,
             solver[0] ? ", solver=" : "", solver, intercept[0] ? ", intercept=" : "", intercept,
             w->slow ? ", max_iter=300" : "");
    spec_of(w, text, sizeof text);
    const margin_data data = data_of(f, learner, DENSE_F64);
    margin_status status = margin_spec_parse(f->context, text, &spec, &error);
    if (status >= 0) status = margin_fit(f->context, spec, &data, &model, NULL, &error);
    if (status >= 0)
        f->count++;
    else if (status != MARGIN_ERROR_SPEC || w->slow)
        fail_msg("%s: %s", text, error.text);
    margin_model_free(model);
    margin_spec_free(spec);
}

/* With and without |w|_1, where that can be had. */
static void add_learner(contract *f, const margin_component *learner) {
    static const char *const ratios[] = {"", ", l1_ratio=0.5", ", l1_ratio=1"};
    char loss[40], solver[40], intercept[40];
    const margin_option *choice = option_of(learner, "intercept");
    for (int r = 0; r < (option_of(learner, "l1_ratio") ? 3 : 1); r++)
        for (int l = 0; word_of(option_of(learner, "loss"), l, loss, sizeof loss); l++)
            for (int k = 0; word_of(option_of(learner, "solver"), k, solver, sizeof solver); k++)
                for (int i = 0; i < (choice ? 2 : 1); i++) {
                    snprintf(intercept, sizeof intercept, "%s", !choice ? "" : i ? "yes" : "no");
                    add_way(f, learner, loss, solver, intercept, ratios[r]);
                }
}

/* Linear learners are those that take affine stages as factors. */
static int set_up(void **state) {
    contract *f = calloc(1, sizeof *f);
    uint64_t seed = 17;
    int learners = 0;
    f->context = support_context(NULL, 2);
    f->s = sample_make(ROWS, COLUMNS, 2, 0.25, 41);
    for (int i = 0; i < ROWS; i++) {
        f->target[i] = 1 + 0.5 * support_normal(&seed);
        for (int j = 0; j < COLUMNS; j++)
            f->target[i] += (j - 0.5) * f->s->f64[i * COLUMNS + j];
        f->weights[i] = 0.25 * (double)(1 + i % 7);
        f->ones_and_twos[i] = 1 + i % 2;
    }
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *c = margin_component_at(i);
        if (c->kind != MARGIN_LEARNER || !mg_learner_find(c->name)->takes_affine) continue;
        add_learner(f, c);
        learners++;
    }
    assert_true(learners >= 5 && f->count > 4 * learners);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    contract *f = *state;
    sample_free(f->s);
    margin_context_free(f->context);
    free(f);
    return 0;
}

#define FOR_EACH_WAY(f, w) for (const way *w = (f)->ways; w < (f)->ways + (f)->count; w++)

/* ---- Objective ------------------------------------------------------------------------------- */

/* By the words of the report's formula. */
static oracle_loss loss_of(const char *text, const char *formula) {
    if (strstr(formula, "log sum_k exp(f_k) - f_y")) return ORACLE_SOFTMAX;
    if (strstr(formula, "(f-y)^2")) return ORACLE_SQUARED;
    if (strstr(formula, "max(1-y f, 0)^2")) return ORACLE_SQUARED_HINGE;
    if (strstr(formula, "max(1-y f, 0)")) return ORACLE_HINGE;
    if (strstr(formula, "log(1+exp(-y f))")) return ORACLE_LOGISTIC;
    if (strstr(formula, "exp(-y f)")) return ORACLE_EXPONENTIAL;
    fail_msg("%s: this test has no oracle for '%s'", text, formula);
    return ORACLE_SQUARED;
}

static convex_problem problem_of(const contract *f, const char *text, const margin_model *model,
                                 const double *weight) {
    const margin_report *report = margin_model_report(model);
    const char *formula = report->formula;
    const double lambda = margin_report_item_value(report, "lambda");
    const double ratio = margin_report_item_value(report, "l1_ratio");
    double total = 0;
    for (int i = 0; i < ROWS; i++)
        total += weight ? weight[i] : 1;
    convex_problem p = {.rows = ROWS,
                        .columns = COLUMNS,
                        .functions = margin_model_score_count(model),
                        .x = f->s->f64,
                        .y = margin_model_task(model) == MARGIN_REGRESS ? f->target : f->s->labels,
                        .weight = weight,
                        .loss = loss_of(text, formula),
                        .factor = 1 / total,
                        .intercept = strstr(text, "intercept=no") == NULL};
    if (strncmp(formula, "mean ", 5) != 0) fail_msg("%s: '%s' is no mean", text, formula);
    if (strstr(formula, "lambda |w|^2"))
        p.square = lambda;
    else if (strstr(formula, "+ lambda |w|_1"))
        p.absolute = lambda;
    else if (strstr(formula, "lambda ((1-r) |w|^2 + r |w|_1)"))
        p.square = lambda * (1 - ratio), p.absolute = lambda * ratio;
    else if (strchr(formula, '+') && strstr(formula, "lambda"))
        fail_msg("%s: this test does not know the penalty of '%s'", text, formula);
    return p;
}

typedef struct weights {
    double w[ORACLE_WEIGHTS], b[ORACLE_WEIGHTS];
} weights;

static weights weights_of(const margin_model *model) {
    weights all = {{0}, {0}};
    for (int64_t k = 0; k < margin_model_score_count(model); k++) {
        memcpy(all.w + k * COLUMNS, margin_model_weights(model, k), COLUMNS * sizeof(double));
        all.b[k] = margin_model_intercept(model, k);
    }
    return all;
}

/* Slack of a claim, relative to max(1, P). */
static const double rounding = 1e-9;

/* Objective and gap hold against the oracle's least value. */
static void check_claims(const contract *f, const char *text, const margin_model *model,
                         const double *weight, double least) {
    const margin_report *report = margin_model_report(model);
    const convex_problem p = problem_of(f, text, model, weight);
    const weights all = weights_of(model);
    const double value = convex_value(&p, all.w, all.b), scale = fmax(1, fabs(value));
    if (fabs(value - report->objective) > 1e-11 * scale)
        fail_msg("%s: objective %.17g is claimed, %.17g is true", text, report->objective, value);
    if (value < least - 1e-11 * scale)
        fail_msg("%s: the oracle's %.17g is above %.17g", text, least, value);
    /* the residual of the normal equations (least squares) bounds the square root */
    const double gap = report->gap;
    if (value - least > gap * scale + rounding * scale && gap < 0.1)
        fail_msg("%s: %.17g above the optimum, a gap of %.17g is claimed", text, value - least,
                 gap);
    if (report->status == MARGIN_OK && !(gap <= report->tolerance))
        fail_msg("%s: converged at a gap of %.17g", text, gap);
    if (report->status == MARGIN_OK && value - least > report->tolerance * scale + rounding)
        fail_msg("%s: converged %.17g above the optimum", text, value - least);
    if (report->status != MARGIN_OK) assert_true(strlen(report->reason) > 40);
}

static double least_of(const contract *f, const char *text, const margin_model *model,
                       const double *weight) {
    const convex_problem p = problem_of(f, text, model, weight);
    weights best;
    return convex_minimum(&p, best.w, best.b);
}

static void test_objective_and_gap(void **state) {
    static const int layouts[] = {DENSE_F64, CSR_F64_I32_I64, DENSE_F32, CSR_F32_I32_I64};
    contract *f = *state;
    FOR_EACH_WAY(f, w) {
        char text[2 * ROOM];
        spec_of(w, text, sizeof text);
        for (int weighted = 0; weighted < 2; weighted++) {
            double least = 0;
            if (weighted && !(w->learner->abilities & MARGIN_CAN_WEIGHTS)) continue;
            for (int k = 0; k < 4; k++) {
                margin_data data = data_of(f, w->learner, layouts[k]);
                margin_report found = {0};
                margin_error error = {0};
                if (weighted) data.weights = margin_values_f64(f->weights, ROWS);
                margin_model *model = fit_text(f->context, text, &data, NULL);
                const double *weight = weighted ? f->weights : NULL;
                if (k == 0) least = least_of(f, text, model, weight);
                check_claims(f, text, model, weight, least);
                if (margin_verify(f->context, model, &data, &found, &error) != MARGIN_OK)
                    fail_msg("%s: %s%s", text, error.text, found.reason);
                margin_model_free(model);
            }
        }
    }
}

/* ---- The same problem in other words --------------------------------------------------------- */

/* Two models of one problem: their objectives are no further apart than their gaps allow. */
static void check_agree(const char *text, const margin_model *a, const margin_model *b) {
    const margin_report *one = margin_model_report(a), *two = margin_model_report(b);
    const double scale = fmax(1, fabs(one->objective));
    if (!isfinite(one->gap) || !isfinite(two->gap)) return;
    if (fabs(one->objective - two->objective) > (one->gap + two->gap + rounding) * scale)
        fail_msg("%s: objectives %.17g and %.17g, gaps %g and %g", text, one->objective,
                 two->objective, one->gap, two->gap);
}

/* Weight 2 is two rows, weight 0 none, and the order of the rows does not matter. */
static void test_weights_and_order(void **state) {
    contract *f = *state;
    double x[2 * ROWS * COLUMNS], y[2 * ROWS], zeros[2 * ROWS];
    int64_t order[2 * ROWS];
    FOR_EACH_WAY(f, w) {
        char text[2 * ROOM];
        spec_of(w, text, sizeof text);
        margin_data data = data_of(f, w->learner, DENSE_F64), other = data;
        if (!(w->learner->abilities & MARGIN_CAN_WEIGHTS)) continue;
        int64_t count = 0;
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < (int)f->ones_and_twos[i]; k++, count++) {
                memcpy(x + count * COLUMNS, f->s->f64 + i * COLUMNS, COLUMNS * sizeof *x);
                y[count] = ((const double *)data.y.values)[i];
            }
        data.weights = margin_values_f64(f->ones_and_twos, ROWS);
        other.x = margin_dense_f64(x, count, COLUMNS, COLUMNS);
        other.y = margin_values_f64(y, count);
        margin_model *weighted = fit_text(f->context, text, &data, NULL);
        margin_model *written = fit_text(f->context, text, &other, NULL);
        check_agree(text, weighted, written);
        /* from the end to the start */
        for (int64_t i = 0; i < count; i++)
            order[i] = count - 1 - i;
        other.selection = order;
        other.selected = count;
        margin_model *turned = fit_text(f->context, text, &other, NULL);
        check_agree(text, turned, written);
        margin_model_free(turned);
        margin_model_free(weighted);
        margin_model_free(written);
        /* rows of weight 0, wherever they are */
        for (int64_t i = 0; i < count; i++)
            zeros[i] = i % 4 != 1;
        for (int64_t i = 0, at = 0; i < count; i++) {
            order[at] = i;
            at += i % 4 != 1;
            other.selected = at;
        }
        margin_model *chosen = fit_text(f->context, text, &other, NULL);
        other.selection = NULL;
        other.selected = 0;
        other.weights = margin_values_f64(zeros, count);
        margin_model *without = fit_text(f->context, text, &other, NULL);
        assert_same_model(chosen, without);
        margin_model_free(chosen);
        margin_model_free(without);
    }
}

/* Labels are names: which numbers or words they are changes nothing. */
static void test_labels(void **state) {
    contract *f = *state;
    const char *const names[] = {"anna", "zoe"};
    const margin_column category = {
        .name = "who", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    FOR_EACH_WAY(f, w) {
        char text[2 * ROOM];
        double gaps[ROWS];
        if (is_regression(w->learner)) continue;
        spec_of(w, text, sizeof text);
        margin_data data = data_of(f, w->learner, DENSE_F64);
        margin_model *plain = fit_text(f->context, text, &data, NULL);
        data.target = &category;
        margin_model *named = fit_text(f->context, text, &data, NULL);
        data.target = NULL;
        for (int i = 0; i < ROWS; i++)
            gaps[i] = f->s->labels[i] > 0 ? 1000 : -7;
        data.y = margin_values_f64(gaps, ROWS);
        margin_model *gappy = fit_text(f->context, text, &data, NULL);
        const weights a = weights_of(plain), b = weights_of(named), c = weights_of(gappy);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(&a, &c, sizeof a);
        assert_string_equal(margin_model_class_name(named, 1), "zoe");
        assert_string_equal(margin_model_class_name(gappy, 0), "-7");
        margin_model_free(plain);
        margin_model_free(named);
        margin_model_free(gappy);
    }
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void test_threads_and_files(void **state) {
    contract *f = *state;
    margin_context *contexts[4];
    for (int t = 0; t < 4; t++)
        contexts[t] = support_context(NULL, t + 1);
    FOR_EACH_WAY(f, w) {
        char text[2 * ROOM];
        margin_error error = {0};
        margin_report found = {0};
        void *bytes = NULL;
        int64_t length = 0;
        margin_model *copy = NULL;
        spec_of(w, text, sizeof text);
        margin_data data = data_of(f, w->learner, DENSE_F64);
        data.weights = margin_values_f64(f->weights, ROWS);
        margin_model *model = fit_text(contexts[0], text, &data, NULL);
        for (int t = 1; t < 4; t++) {
            margin_model *again = fit_text(contexts[t], text, &data, NULL);
            assert_same_model(model, again);
            margin_model_free(again);
        }
        assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
        assert_int_equal(margin_model_decode(f->context, bytes, length, &copy, &error), MARGIN_OK);
        assert_same_model(model, copy);
        assert_int_equal(margin_verify(f->context, copy, &data, &found, &error), MARGIN_OK);
        margin_bytes_free(model, bytes);
        margin_model_free(copy);
        margin_model_free(model);
    }
    for (int t = 0; t < 4; t++)
        margin_context_free(contexts[t]);
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static void test_predictions_are_scores(void **state) {
    contract *f = *state;
    FOR_EACH_WAY(f, w) {
        char text[2 * ROOM];
        int64_t labels[ROWS];
        margin_error error = {0};
        spec_of(w, text, sizeof text);
        const margin_data data = data_of(f, w->learner, DENSE_F64);
        margin_model *model = fit_text(f->context, text, &data, NULL);
        const weights all = weights_of(model);
        const int64_t functions = margin_model_score_count(model);
        double *scores = scores_of(model, &data.x);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t k = 0; k < functions; k++) {
                double sum = all.b[k];
                for (int j = 0; j < COLUMNS; j++)
                    sum += all.w[k * COLUMNS + j] * f->s->f64[i * COLUMNS + j];
                assert_true(fabs(sum - scores[i * functions + k]) <= 1e-12 * (1 + fabs(sum)));
            }
        if (is_regression(w->learner)) {
            double values[ROWS];
            assert_int_equal(margin_predict_values(model, &data.x, values, &error), MARGIN_OK);
            assert_memory_equal(values, scores, sizeof values);
        } else {
            assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_OK);
            for (int64_t i = 0; i < ROWS; i++)
                assert_int_equal(labels[i], functions == 1 ? scores[i] >= 0
                                                           : scores[2 * i + 1] > scores[2 * i]);
        }
        free(scores);
        margin_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objective_and_gap),
        cmocka_unit_test(test_weights_and_order),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_threads_and_files),
        cmocka_unit_test(test_predictions_are_scores),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
