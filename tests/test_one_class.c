/* The support vector machine for one class: closed forms, the optimum found once more by plain
 * steps on the whole matrix, what nu promises, weights, threads, files, and what is refused. */
#include "model_cases.h"
#include "svm_oracle.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 90, COLUMNS = 3 };

static double item(const margin_report *report, const char *name) {
    return margin_report_item_value(report, name);
}

/* Rows without a target. */
static margin_data rows_of(const sample *s, int layout) {
    return (margin_data){.x = sample_view(s, layout)};
}

/* Whether label 0 is `outlier`, 1 `inlier`, and the label of a row follows from its score. */
static int64_t count_outliers(const margin_model *model, const margin_matrix *x) {
    int64_t *labels = malloc((size_t)x->rows * sizeof *labels), outliers = 0;
    double *scores = scores_of(model, x);
    assert_string_equal(margin_model_class_name(model, 0), "outlier");
    assert_string_equal(margin_model_class_name(model, 1), "inlier");
    assert_int_equal(margin_model_score_count(model), 1);
    assert_int_equal(margin_predict(model, x, labels, NULL), MARGIN_OK);
    for (int64_t i = 0; i < x->rows; i++) {
        assert_int_equal(labels[i], scores[i] >= 0.0);
        outliers += labels[i] == 0;
    }
    free(scores);
    free(labels);
    return outliers;
}

/* ---- Closed forms ---------------------------------------------------------------------------- */

/* nu = 1: every coefficient is 1, P = -sum K / 2. One row: k(x, x) is nu, rho too. */
static void test_closed_forms(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.2, 5);
    margin_context *context = support_context(NULL, 2);
    margin_data data = rows_of(s, DENSE_F64);
    margin_report report = {0};
    double sum = 0.0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            sum += oracle_value(ORACLE_RBF, 0.5, 0, 0, s->f64 + COLUMNS * i, s->f64 + COLUMNS * j,
                                COLUMNS);
    margin_model *model =
        fit_text(context, "svm(task=one-class, nu=1, kernel=rbf, gamma=0.5)", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_int_equal(report.iterations, 0);
    assert_close(report.objective, -sum / 2, 1e-9);
    assert_close(item(&report, "bounded_vectors"), ROWS, 0);
    assert_verified(context, model, &data);
    margin_model_free(model);

    data.x.rows = 1;
    model =
        fit_text(context, "svm(task=one-class, nu=0.25, kernel=rbf, gamma=0.5)", &data, &report);
    assert_close(report.objective, -0.25 * 0.25 / 2, 1e-12);
    assert_int_equal(count_outliers(model, &data.x), 0);
    assert_verified(context, model, &data);
    double distances[2] = {1, 2};
    margin_error error = {0};
    assert_int_equal(margin_distances(model, &data.x, distances, &error), MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "no centres"));
    assert_true(distances[0] == 1 && distances[1] == 2);
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

/* ---- The optimum once more ------------------------------------------------------------------- */

typedef struct {
    const char *kernel;
    oracle_kernel kind;
    double gamma, coef0;
    int degree;
} one_case;

static const one_case cases[] = {
    {"kernel=rbf, gamma=0.3", ORACLE_RBF, 0.3, 0, 0},
    {"kernel=rbf, gamma=20", ORACLE_RBF, 20, 0, 0},
    {"kernel=poly, degree=2, gamma=0.5", ORACLE_POLY, 0.5, 1, 2},
    {"kernel=linear", ORACLE_POLY, 1, 0, 1},
    {"kernel=laplacian, gamma=0.4", ORACLE_LAPLACIAN, 0.4, 0, 0},
};

typedef struct {
    double gram[ROWS * ROWS], zero[ROWS], high[ROWS], beta[ROWS];
} one_room;

/* P at the optimum; weights NULL: all one. */
static double oracle_solve(one_room *room, const one_case *c, const sample *s,
                           const double *weights, double nu) {
    memset(room->zero, 0, sizeof room->zero);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++)
            room->gram[i * ROWS + j] =
                oracle_value(c->kind, c->gamma, c->coef0, c->degree, s->f64 + COLUMNS * i,
                             s->f64 + COLUMNS * j, COLUMNS);
        room->high[i] = weights ? weights[i] : 1.0;
        room->beta[i] = nu * room->high[i];
    }
    svm_oracle o = {ROWS, room->gram, room->zero, room->zero, room->high, 0, room->beta, 0, 0, 0};
    svm_oracle_solve(&o);
    assert_true(fabs(o.primal - o.dual) <= 1e-8 * fmax(1.0, fabs(o.dual)));
    return o.dual;
}

static void test_against_oracle(void **state) {
    static const double nus[] = {0.02, 0.3, 0.9};
    static one_room room;
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.2, 9);
    double weights[ROWS];
    margin_context *context = support_context(NULL, 2);
    for (int i = 0; i < ROWS; i++)
        weights[i] = 0.25 + i % 5;
    for (int k = 0; k < MG_LENGTH(cases); k++)
        for (int n = 0; n < 3; n++)
            for (int weighted = 0; weighted < 2; weighted++) {
                char spec[120];
                margin_report report = {0};
                margin_data data = rows_of(s, DENSE_F64);
                if (weighted) data.weights = margin_values_f64(weights, ROWS);
                snprintf(spec, sizeof spec, "svm(task=one-class, nu=%g, %s, tol=1e-6)", nus[n],
                         cases[k].kernel);
                margin_model *model = fit_text(context, spec, &data, &report);
                const double best =
                    oracle_solve(&room, &cases[k], s, weighted ? weights : NULL, nus[n]);
                const double scale = fmax(1.0, fabs(best));
                if (report.status != MARGIN_OK || report.objective < best - 1e-8 * scale ||
                    report.objective > best + 1.1e-6 * scale)
                    fail_msg("%s: %.12g (gap %g, %s), the optimum is %.12g", spec, report.objective,
                             report.gap, report.reason, best);
                assert_verified(context, model, &data);
                margin_model_free(model);
            }
    margin_context_free(context);
    sample_free(s);
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* Outliers are at most nu of the rows, support vectors at least. */
static void test_nu(void **state) {
    static const double nus[] = {0.011, 0.1, 0.5, 0.77};
    static const char *const kernels[] = {"rbf, gamma=0.05", "rbf, gamma=2", "laplacian"};
    (void)state;
    sample *s = sample_make(SUPPORT_SLOWER > 1 ? 400 : 2000, 4, 2, 0.2, 4);
    margin_context *context = support_context(NULL, 2);
    margin_data data = rows_of(s, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(kernels); k++)
        for (int n = 0; n < MG_LENGTH(nus); n++) {
            char spec[100];
            margin_report report = {0};
            snprintf(spec, sizeof spec, "svm(task=one-class, nu=%g, kernel=%s)", nus[n],
                     kernels[k]);
            margin_model *model = fit_text(context, spec, &data, &report);
            const double share = nus[n] * (double)s->rows;
            assert_int_equal(report.status, MARGIN_OK);
            assert_true((double)count_outliers(model, &data.x) <= share);
            assert_true(item(&report, "bounded_vectors") <= share + 1e-9);
            assert_true(item(&report, "support_vectors") >= share - 1e-9);
            margin_model_free(model);
        }
    margin_context_free(context);
    sample_free(s);
}

static void test_weights_are_copies(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.2, 8);
    double weights[ROWS];
    int64_t copies[2 * ROWS], count = 0;
    margin_context *context = support_context(NULL, 1);
    for (int i = 0; i < ROWS; i++) {
        weights[i] = i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 0;
        for (int k = 0; k < (int)weights[i]; k++)
            copies[count++] = i;
    }
    margin_data weighted = rows_of(s, DENSE_F64), repeated = weighted;
    margin_report a = {0}, b = {0};
    weighted.weights = margin_values_f64(weights, ROWS);
    repeated.selection = copies;
    repeated.selected = count;
    static const char spec[] = "svm(task=one-class, nu=0.2, kernel=rbf, tol=1e-9)";
    margin_model *x = fit_text(context, spec, &weighted, &a);
    margin_model *y = fit_text(context, spec, &repeated, &b);
    assert_close(a.objective, b.objective, 2e-9);
    double *f = scores_of(x, &weighted.x), *g = scores_of(y, &weighted.x);
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(f[i] - g[i]) < 1e-3);
    assert_verified(context, x, &weighted);
    assert_verified(context, y, &repeated);
    free(f);
    free(g);
    margin_model_free(x);
    margin_model_free(y);
    margin_context_free(context);
    sample_free(s);
}

/* Threads, layouts, and a file. */
static void test_same_bytes(void **state) {
    (void)state;
    sample *s = sample_make(SUPPORT_SLOWER > 1 ? 500 : 2500, 5, 2, 0.05, 2);
    margin_context *one = support_context(NULL, 1), *three = support_context(NULL, 3);
    static const char spec[] = "standardize | svm(task=one-class, nu=0.3, kernel=rbf)";
    margin_data data = rows_of(s, DENSE_F64);
    margin_model *a = fit_text(one, spec, &data, NULL), *b = fit_text(three, spec, &data, NULL);
    assert_same_model(a, b);
    void *bytes = NULL;
    int64_t size = 0;
    margin_model *loaded = NULL;
    assert_int_equal(margin_model_encode(a, &bytes, &size, NULL), MARGIN_OK);
    assert_int_equal(margin_model_decode(one, bytes, size, &loaded, NULL), MARGIN_OK);
    assert_same_model(a, loaded);
    assert_int_equal(margin_model_task(loaded), MARGIN_CLUSTER);
    assert_int_equal(count_outliers(a, &data.x), count_outliers(loaded, &data.x));
    margin_metrics metrics = {.size = sizeof metrics};
    assert_int_equal(margin_evaluate(one, loaded, &data, &metrics, NULL), MARGIN_OK);
    assert_true(metrics.cluster_sizes[0] == (double)count_outliers(a, &data.x));
    assert_true(metrics.cluster_sizes[0] + metrics.cluster_sizes[1] == (double)s->rows);
    assert_true(isnan(metrics.inertia) && isnan(metrics.silhouette));
    margin_metrics_free(&metrics);
    margin_bytes_free(a, bytes);
    margin_model_free(loaded);
    margin_model_free(a);
    margin_model_free(b);
    margin_context_free(one);
    margin_context_free(three);
    sample_free(s);
}

static void test_refused(void **state) {
    static const struct {
        const char *spec, *part;
    } refused[] = {
        {"svm(kernel=rbf, nu=0.5)", "nu belongs to task=one-class"},
        {"svm(nu=0.5)", "nu belongs to task=one-class"},
        {"svm(task=one-class, C=1)", "C means nothing for one class"},
        {"svm(task=one-class, epsilon=1)", "epsilon means nothing for one class"},
        {"svm(task=one-class, multiclass=ovr)", "multiclass means nothing for one class"},
        {"svm(task=one-class, solver=newton)", "there is one solver"},
    };
    (void)state;
    sample *s = sample_make(30, 4, 2, 0.1, 3);
    margin_context *context = support_context(NULL, 1);
    margin_data data = sample_data(s, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(refused); k++)
        fit_refused(context, refused[k].spec, &data, MARGIN_ERROR_SPEC, refused[k].part);
    margin_context_free(context);
    sample_free(s);
}

static void test_no_memory(void **state) {
    (void)state;
    sample *s = sample_make(40, 3, 2, 0.1, 3);
    fit_attempt attempt = {"svm(task=one-class, kernel=rbf)", rows_of(s, DENSE_F64)};
    assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 20);
    sample_free(s);
}

/* Rows along a line through 0, beside which the least objective is some 1e-6: rounding may be all
 * there is of a gap relative to it, and the report does not ask for less than tol. */
static void test_near_zero(void **state) {
    (void)state;
    enum { FEW = 7, WIDE = 30, TABLES = 30, MOST_STEPS = 60000 };
    static const char spec[] = "svm(task=one-class, kernel=poly, degree=1, coef0=0, gamma=1, "
                               "nu=0.1)";
    margin_context *context = support_context(NULL, 1);
    double x[FEW * WIDE];
    for (int k = 0; k < TABLES; k++) {
        for (int i = 0; i < FEW; i++)
            for (int j = 0; j < WIDE; j++)
                x[i * WIDE + j] = sin(2.0 * i + k) * cos(j) + 1e-3 * sin((k + j) * i + 0.7 * j * j);
        const margin_data data = {.x = margin_dense_f64(x, FEW, WIDE, WIDE)};
        margin_report report = {0};
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_true(report.gap <= 1e-3 && report.iterations <= MOST_STEPS);
        assert_verified(context, model, &data);
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_against_oracle),
        cmocka_unit_test(test_nu),           cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_same_bytes),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_near_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
