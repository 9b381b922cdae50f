/* Kernel ridge against dense solves in extended precision, fits with rows left out, and the models
 * that it must equal. */
#include "kernel_cases.h"
#include "model_cases.h"

#include "margin/path.h"
#include "model/object/model_object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 60 };

static regression made(int64_t rows, int64_t columns, uint64_t seed) {
    regression r = regression_make(rows, columns, 0, 1, seed);
    kernel_targets(&r, seed + 1);
    return r;
}

static void values_of(const margin_model *model, const margin_matrix *x, double *out) {
    margin_error error = {0};
    if (margin_predict_values(model, x, out, &error) < 0) fail_msg("%s", error.text);
}

static double *weights_made(int64_t rows, uint64_t seed) {
    double *weights = malloc((size_t)rows * sizeof *weights);
    for (int64_t i = 0; i < rows; i++)
        weights[i] = 1 + floor(3 * support_uniform(&seed));
    return weights;
}

/* ---- Against a dense solve ------------------------------------------------------------------- */

typedef struct known_kernel {
    const char *options;
    mg_kernel kernel;
} known_kernel;

static const known_kernel kernels[] = {
    {"kernel=linear", {MG_KERNEL_LINEAR, 1, 1, 2, NULL, NULL}},
    {"kernel=poly, degree=3, gamma=0.5, coef0=2", {MG_KERNEL_POLY, 0.5, 2, 3, NULL, NULL}},
    {"kernel=rbf, sigma=2", {MG_KERNEL_RBF, 0.125, 1, 2, NULL, NULL}},
    {"kernel=exp", {MG_KERNEL_EXP, 1, 1, 2, NULL, NULL}},
    {"kernel=laplacian, gamma=0.3", {MG_KERNEL_LAPLACIAN, 0.3, 1, 2, NULL, NULL}},
};

static void assert_solved(const regression *r, const margin_data *data, const known_kernel *known,
                          const char *more, bool intercept, const double *weights, double alpha,
                          double tolerance) {
    char spec[200];
    long double a[ROWS], b;
    double *found = malloc((size_t)r->rows * sizeof *found);
    snprintf(spec, sizeof spec, "kernel-ridge(%s, alpha=%g, intercept=%s%s)", known->options, alpha,
             intercept ? "yes" : "no", more);
    margin_model *model = fit_proven(context, spec, data, NULL);
    kernel_ridge_oracle(r, &known->kernel, weights, alpha, intercept, a, &b);
    values_of(model, &data->x, found);
    for (int64_t i = 0; i < r->rows; i++) {
        const double *x = r->x + i * r->columns;
        assert_close(found[i], (double)kernel_score(r, &known->kernel, a, b, x), tolerance);
    }
    margin_model_free(model);
    free(found);
}

static void test_dense_solve(void **state) {
    (void)state;
    regression r = made(ROWS, 3, 1);
    double *weights = weights_made(ROWS, 5);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int intercept = 0; intercept < 2; intercept++)
            for (int weighted = 0; weighted < 2; weighted++) {
                margin_data data = regression_data(&r);
                if (weighted) data.weights = margin_values_f64(weights, ROWS);
                const double *w = weighted ? weights : NULL;
                assert_solved(&r, &data, &kernels[k], "", intercept, w, 0.5, 1e-9);
                assert_solved(&r, &data, &kernels[k], ", solver=cg", intercept, w, 0.5, 1e-4);
            }
    free(weights);
    regression_free(&r);
}

/* A penalty so small that the matrix is singular to rounding. */
static void test_small_penalty(void **state) {
    (void)state;
    regression r = made(ROWS, 1, 2);
    const margin_data data = regression_data(&r);
    assert_solved(&r, &data, &kernels[2], ", tol=1e-4", false, NULL, 1e-9, 1e-5);
    regression_free(&r);
}

/* ---- gamma ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_gamma(void **state) {
    (void)state;
    regression r = made(ROWS, 3, 3);
    const margin_data data = regression_data(&r);
    margin_report report = {0};
    double distances[ROWS * ROWS];
    int64_t count = 0;
    margin_model_free(fit_proven(context, "kernel-ridge", &data, &report));
    assert_close(margin_report_item_value(&report, "gamma"), kernel_scale_of(&r, NULL), 1e-12);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < i; j++, count++) {
            distances[count] = 0;
            for (int64_t k = 0; k < 3; k++)
                distances[count] += pow(r.x[i * 3 + k] - r.x[j * 3 + k], 2);
        }
    qsort(distances, (size_t)count, sizeof *distances, ascending);
    margin_model_free(fit_proven(context, "kernel-ridge(gamma=median)", &data, &report));
    assert_close(margin_report_item_value(&report, "gamma"), 0.5 / distances[count / 2], 1e-12);
    regression_free(&r);
}

/* ---- Rows left out --------------------------------------------------------------------------- */

static double left_out(const char *spec, const margin_data *data, const double *weights) {
    int64_t selection[ROWS];
    const int64_t rows = data->x.rows;
    double values[ROWS], sum = 0, total = 0;
    margin_data rest = *data;
    rest.selection = selection;
    rest.selected = rows - 1;
    for (int64_t out = 0; out < rows; out++) {
        for (int64_t i = 0, at = 0; i < rows; i++)
            if (i != out) selection[at++] = i;
        margin_model *model = fit_text(context, spec, &rest, NULL);
        values_of(model, &data->x, values);
        const double miss = ((const double *)data->y.values)[out] - values[out];
        const double weight = weights ? weights[out] : 1;
        sum += weight * miss * miss;
        total += weight;
        margin_model_free(model);
    }
    return sqrt(sum / total);
}

static void test_left_out(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge(sigma=1, alpha=0.3)",
                                        "kernel-ridge(sigma=1, alpha=0.3, intercept=yes)",
                                        "kernel-ridge(kernel=laplacian, gamma=1, alpha=2)"};
    regression r = made(30, 2, 4);
    double *weights = weights_made(30, 6);
    for (int k = 0; k < 3; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            margin_data data = regression_data(&r);
            margin_report report = {0};
            if (weighted) data.weights = margin_values_f64(weights, 30);
            margin_model_free(fit_proven(context, specs[k], &data, &report));
            assert_close(margin_report_item_value(&report, "leave_one_out_rmse"),
                         left_out(specs[k], &data, weighted ? weights : NULL), 1e-9);
        }
    free(weights);
    regression_free(&r);
}

/* ---- A path of penalties --------------------------------------------------------------------- */

static void assert_point(const margin_path_point *point, const margin_data *data,
                         const double *weights) {
    margin_report report = {0};
    margin_model *model = fit_proven(context, point->spec, data, &report);
    assert_close(point->objective, report.objective, 1e-10);
    assert_close(point->alpha, margin_report_item_value(&report, "alpha"), 1e-14);
    assert_close(point->train_rmse, report.train_rmse, 1e-9);
    assert_close(point->leave_one_out_rmse, margin_report_item_value(&report, "leave_one_out_rmse"),
                 1e-9);
    assert_close(point->leave_one_out_rmse, left_out(point->spec, data, weights), 1e-8);
    assert_true(point->gap <= 1e-11 && point->weights == NULL);
    const double rows = (double)report.rows;
    if (!weights)
        assert_close(point->gcv_rmse, point->train_rmse / (1 - point->freedom / rows), 1e-10);
    margin_model_free(model);
}

static void test_path(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge(sigma=1, alpha={0.01..10 log 4})",
                                        "kernel-ridge(intercept=yes, C={0.1,1,10})"};
    regression r = made(30, 2, 22);
    double *weights = weights_made(30, 23);
    for (int k = 0; k < 2; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            margin_data data = regression_data(&r);
            margin_path_result path = {0};
            margin_error error = {0};
            margin_spec *spec = parse_text(context, specs[k]);
            if (weighted) data.weights = margin_values_f64(weights, 30);
            if (margin_path(context, spec, &data, &path, &error) < 0) fail_msg("%s", error.text);
            for (int64_t i = 0; i < path.count; i++) {
                /* gamma=scale sees all rows but the one left out */
                if (k == 0)
                    assert_point(margin_path_point_at(&path, i), &data, weighted ? weights : NULL);
                if (i > 0 && k == 0)
                    assert_true(margin_path_point_at(&path, i)->freedom <
                                margin_path_point_at(&path, i - 1)->freedom);
                margin_report report = {0};
                margin_model_free(
                    fit_proven(context, margin_path_point_at(&path, i)->spec, &data, &report));
                assert_close(margin_path_point_at(&path, i)->objective, report.objective, 1e-10);
                assert_close(margin_path_point_at(&path, i)->leave_one_out_rmse,
                             margin_report_item_value(&report, "leave_one_out_rmse"), 1e-9);
            }
            margin_path_free(&path);
            margin_spec_free(spec);
        }
    free(weights);
    regression_free(&r);
}

/* The trace of K (K + alpha)^-1, column by column, is what `freedom` says. */
static void test_freedom(void **state) {
    (void)state;
    regression r = made(20, 2, 24);
    const margin_data data = regression_data(&r);
    const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = 0.5};
    margin_path_result path = {0};
    margin_error error = {0};
    margin_spec *spec = parse_text(context, "kernel-ridge(sigma=1, alpha=0.2)");
    long double a[20], b, freedom = 0;
    if (margin_path(context, spec, &data, &path, &error) < 0) fail_msg("%s", error.text);
    for (int64_t i = 0; i < 20; i++) {
        for (int64_t j = 0; j < 20; j++)
            r.y[j] = i == j;
        kernel_ridge_oracle(&r, &kernel, NULL, 0.2, false, a, &b);
        freedom += kernel_score(&r, &kernel, a, b, r.x + 2 * i);
    }
    assert_close(margin_path_point_at(&path, 0)->freedom, (double)freedom, 1e-10);
    margin_path_free(&path);
    margin_spec_free(spec);
    regression_free(&r);
}

/* ---- What it must equal ---------------------------------------------------------------------- */

static void assert_equal_models(const char *one, const margin_data *a, const char *other,
                                const margin_data *b, double tolerance) {
    double *x = malloc((size_t)a->x.rows * sizeof *x), *y = malloc((size_t)b->x.rows * sizeof *y);
    margin_model *first = fit_proven(context, one, a, NULL);
    margin_model *second = fit_proven(context, other, b, NULL);
    values_of(first, &a->x, x);
    values_of(second, &b->x, y);
    for (int64_t i = 0; i < a->x.rows; i++)
        assert_close(x[i], y[i], tolerance);
    margin_model_free(first);
    margin_model_free(second);
    free(x);
    free(y);
}

static void test_linear_kernel_is_ridge(void **state) {
    (void)state;
    regression r = made(50, 4, 7);
    const margin_data data = regression_data(&r);
    assert_equal_models("kernel-ridge(kernel=linear, alpha=2)", &data,
                        "ridge(alpha=2, intercept=no)", &data, 1e-10);
    assert_equal_models("kernel-ridge(kernel=linear, C=3, intercept=yes)", &data, "ridge(C=3)",
                        &data, 1e-10);
    assert_equal_models("kernel-ridge(kernel=linear, lambda=0.01, solver=cg)", &data,
                        "ridge(lambda=0.01, intercept=no)", &data, 1e-5);
    regression_free(&r);
}

/* (x.z + 1)^2 with 1, sqrt(2) x_j, x_j^2 and sqrt(2) x_j x_k */
static void test_poly_kernel_is_scaled_features(void **state) {
    (void)state;
    regression r = made(50, 2, 8);
    double features[50 * 6];
    for (int64_t i = 0; i < 50; i++) {
        const double a = r.x[2 * i], b = r.x[2 * i + 1];
        const double row[6] = {1, sqrt(2) * a, sqrt(2) * b, a * a, sqrt(2) * a * b, b * b};
        memcpy(features + 6 * i, row, sizeof row);
    }
    const margin_data data = regression_data(&r);
    margin_data explicit = data;
    explicit.x = margin_dense_f64(features, 50, 6, 6);
    explicit.columns = NULL;
    assert_equal_models("kernel-ridge(kernel=poly, degree=2, alpha=0.7)", &data,
                        "ridge(alpha=0.7, intercept=no)", &explicit, 1e-9);
    regression_free(&r);
}

static void test_weights_are_copies(void **state) {
    (void)state;
    regression r = made(40, 2, 9);
    double *weights = weights_made(40, 10);
    int64_t selection[120], count = 0;
    for (int64_t i = 0; i < 40; i++)
        for (int64_t k = 0; k < (int64_t)weights[i]; k++)
            selection[count++] = i;
    margin_data copies = regression_data(&r), weighted = copies;
    weighted.weights = margin_values_f64(weights, 40);
    copies.selection = selection;
    copies.selected = count;
    assert_equal_models("kernel-ridge(lambda=0.01)", &weighted, "kernel-ridge(lambda=0.01)",
                        &copies, 1e-9);
    assert_equal_models("kernel-ridge(intercept=yes)", &weighted, "kernel-ridge(intercept=yes)",
                        &copies, 1e-9);
    /* the distance of equal rows is 0, whatever rounding makes of those of others */
    static const char narrow[] = "kernel-ridge(gamma=1e11, C=0.001)";
    for (int k = 0; k < 2; k++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, narrow, k ? &copies : &weighted, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_true(report.gap < 1e-12);
        assert_verified(context, model, k ? &copies : &weighted);
        margin_model_free(model);
    }
    free(weights);
    regression_free(&r);
}

/* ---- Sizes: a factor, conjugate gradients, strips -------------------------------------------- */

static margin_context *limited_context(int64_t bytes) {
    margin_context_options options = {.size = sizeof options, .threads = 2, .memory_limit = bytes};
    margin_context *made_context;
    margin_error error = {0};
    if (margin_context_create(&options, &made_context, &error) < 0) fail_msg("%s", error.text);
    return made_context;
}

static void test_without_room(void **state) {
    (void)state;
    enum { MANY = 700 };
    regression r = made(MANY, 3, 11);
    const margin_data data = regression_data(&r);
    margin_context *small = limited_context(3 << 20);
    double stored[MANY], strips[MANY];
    margin_model *model = fit_proven(context, "kernel-ridge(solver=cg)", &data, NULL);
    values_of(model, &data.x, stored);
    margin_model_free(model);
    margin_report report = {0};
    model = fit_text(small, "kernel-ridge", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_contains(report.reason, "made anew");
    values_of(model, &data.x, strips);
    for (int64_t i = 0; i < MANY; i++)
        assert_close(stored[i], strips[i], 1e-6);
    margin_model_free(model);
    model = fit_text(small, "kernel-ridge(alpha=1e-12, sigma=5)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS); /* not after 10,000 steps */
    assert_true(report.iterations <= 100);
    assert_contains(report.reason, "the memory, for a factor");
    margin_model_free(model);
    fit_refused(small, "kernel-ridge(solver=cholesky)", &data, MARGIN_ERROR_LIMIT,
                "Gram matrix of 700 x 700 numbers");
    margin_context_free(small);
    regression_free(&r);
}

static void test_threads(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge(alpha=0.1)", "kernel-ridge(solver=cg)",
                                        "kernel-ridge(intercept=yes, kernel=laplacian)"};
    regression r = made(400, 4, 12);
    const margin_data data = regression_data(&r);
    for (int k = 0; k < 3; k++) {
        margin_model *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            margin_context *own = support_context(NULL, threads);
            margin_model *model = fit_text(own, specs[k], &data, NULL);
            if (first)
                assert_same_model(first, model);
            else
                first = model;
            if (model != first) margin_model_free(model);
            margin_context_free(own);
        }
        margin_model_free(first);
    }
    regression_free(&r);
}

/* One step is not enough, and the gap says by how much. */
static void test_limit(void **state) {
    (void)state;
    regression r = made(200, 2, 13);
    const margin_data data = regression_data(&r);
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model =
        fit_text(context, "kernel-ridge(solver=cg, max_iter=1, alpha=1e-6)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_true(report.gap > report.tolerance);
    assert_contains(report.reason, "max_iter");
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
    margin_model *best = fit_proven(context, "kernel-ridge(alpha=1e-6)", &data, &found);
    assert_true(found.objective <= report.objective);
    assert_true(report.objective - found.objective <= report.gap * fmax(1, report.objective));
    margin_model_free(best);
    margin_model_free(model);
    regression_free(&r);
}

/* However few the steps, it is not worse than no function; with an intercept, than the mean. */
static void test_few_steps(void **state) {
    (void)state;
    regression r = made(300, 3, 71);
    double square = 0.0, mean = 0.0, spread = 0.0;
    for (int64_t i = 0; i < 300; i++)
        mean += (r.y[i] += 3.0) / 300;
    for (int64_t i = 0; i < 300; i++) {
        square += r.y[i] * r.y[i];
        spread += (r.y[i] - mean) * (r.y[i] - mean);
    }
    const margin_data data = regression_data(&r);
    for (int k = 0; k < 20; k++) {
        char spec[120];
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        snprintf(spec, sizeof spec, "kernel-ridge(solver=cg, max_iter=%d, alpha=1e-7, sigma=4%s)",
                 k / 2 + 1, k % 2 ? ", intercept=yes" : "");
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_true(report.objective <= (k % 2 ? spread : square) * (1 + 1e-12));
        assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
        margin_model_free(model);
    }
    regression_free(&r);
}

/* ---- Classes and targets --------------------------------------------------------------------- */

/* Each class has the function that its +1 and -1 have as a regression. */
static void test_classes(void **state) {
    (void)state;
    sample *s = sample_make(90, 3, 3, 0.1, 14);
    margin_data data = sample_data(s, DENSE_F64), one = data;
    double scores[90 * 3], values[90], signs[90];
    margin_error error = {0};
    margin_model *model = fit_proven(context, "kernel-ridge(sigma=1, task=classify)", &data, NULL);
    assert_int_equal(margin_model_score_count(model), 3);
    if (margin_scores(model, &data.x, scores, &error) < 0) fail_msg("%s", error.text);
    for (int c = 0; c < 3; c++) {
        for (int64_t i = 0; i < 90; i++)
            signs[i] = s->labels[i] == c ? 1 : -1;
        one.y = margin_values_f64(signs, 90);
        margin_model *alone =
            fit_proven(context, "kernel-ridge(sigma=1, task=regress)", &one, NULL);
        values_of(alone, &data.x, values);
        for (int64_t i = 0; i < 90; i++)
            assert_close(scores[3 * i + c], values[i], 1e-10);
        margin_model_free(alone);
    }
    margin_model_free(model);
    margin_model_free(
        fit_proven(context, "kernel-ridge(multiclass=ovo, task=classify, class_weight=balanced)",
                   &data, NULL));
    sample_free(s);
}

static void test_targets(void **state) {
    (void)state;
    regression r = made(70, 3, 15);
    double both[140], together[140], alone[70];
    margin_data data = regression_data(&r);
    for (int64_t i = 0; i < 70; i++) {
        both[2 * i] = r.y[i];
        both[2 * i + 1] = cos(r.x[3 * i]);
    }
    for (int solver = 0; solver < 2; solver++) {
        const char *spec = solver ? "kernel-ridge(solver=cg)" : "kernel-ridge";
        margin_data several = data;
        several.y = margin_values_f64(both, 140);
        several.targets = 2;
        fit_refused(context, "kernel-ridge(task=classify)", &several, MARGIN_ERROR_ARGUMENT,
                    "one target");
        margin_model *model = fit_proven(context, spec, &several, NULL);
        values_of(model, &data.x, together);
        for (int t = 0; t < 2; t++) {
            double y[70];
            for (int64_t i = 0; i < 70; i++)
                y[i] = both[2 * i + t];
            data.y = margin_values_f64(y, 70);
            margin_model *own = fit_proven(context, spec, &data, NULL);
            values_of(own, &data.x, alone);
            for (int64_t i = 0; i < 70; i++)
                assert_close(together[2 * i + t], alone[i], solver ? 1e-5 : 1e-11);
            margin_model_free(own);
        }
        margin_model_free(model);
    }
    regression_free(&r);
}

/* ---- Few rows, bad input --------------------------------------------------------------------- */

static void test_few_rows(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge", "kernel-ridge(solver=cg)",
                                        "kernel-ridge(intercept=yes)"};
    for (int64_t rows = 1; rows <= 3; rows++)
        for (int k = 0; k < 3; k++) {
            regression r = made(rows, 2, 16);
            const margin_data data = regression_data(&r);
            margin_model_free(fit_proven(context, specs[k], &data, NULL));
            regression_free(&r);
        }
}

static void test_hard(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge(gamma=1e-12)", "kernel-ridge(gamma=1e12)",
                                        "kernel-ridge(C=1e-8)", "kernel-ridge(C=1e8)",
                                        "kernel-ridge(kernel=linear, alpha=1e-6)"};
    regression r = made(80, 3, 17);
    const margin_data data = regression_data(&r);
    for (int k = 0; k < 5; k++)
        margin_model_free(fit_proven(context, specs[k], &data, NULL));
    for (int64_t i = 0; i < 80; i++) /* unscaled, and rows in pairs with opposite targets */
        for (int64_t j = 0; j < 3; j++)
            r.x[3 * i + j] = 1e6 * r.x[3 * (i / 2 * 2) + j];
    for (int64_t i = 0; i < 80; i++)
        r.y[i] = i % 2 ? 1 : -1;
    margin_model_free(fit_proven(context, "kernel-ridge", &data, NULL));
    memset(r.x, 0, 80 * 3 * sizeof *r.x); /* all rows equal */
    margin_model_free(fit_proven(context, "kernel-ridge", &data, NULL));
    margin_model_free(fit_proven(context, "kernel-ridge(solver=cg)", &data, NULL));
    regression_free(&r);
}

static void test_refused(void **state) {
    (void)state;
    regression r = made(40, 2, 18);
    margin_data data = regression_data(&r);
    fit_refused(context, "kernel-ridge(alpha=0)", &data, MARGIN_ERROR_SPEC, "above 0");
    fit_refused(context, "kernel-ridge(C=inf)", &data, MARGIN_ERROR_SPEC, "above 0");
    fit_refused(context, "kernel-ridge(degree=3)", &data, MARGIN_ERROR_SPEC, "kernel=poly");
    fit_refused(context, "kernel-ridge(kernel=linear, gamma=1)", &data, MARGIN_ERROR_SPEC,
                "poly, rbf, sigmoid or laplacian");
    fit_refused(context, "kernel-ridge(sigma=1e200)", &data, MARGIN_ERROR_SPEC, "sigma");
    fit_refused(context, "kernel-ridge(kernel=sigmoid, alpha=1e-6)", &data, MARGIN_ERROR_DATA,
                "not positive definite");
    fit_refused(context, "kernel-ridge(kernel=sigmoid, alpha=1e-6, solver=cg)", &data,
                MARGIN_ERROR_DATA, "not positive definite");
    r.x[0] = 100;
    fit_refused(context, "kernel-ridge(kernel=exp)", &data, MARGIN_ERROR_DATA, "row 1");
    r.x[0] = 1;
    /* A kernel that is no inner product, with enough of a penalty: nothing bounds it. */
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model =
        fit_text(context, "kernel-ridge(kernel=sigmoid, alpha=50)", &data, &report);
    assert_true(isinf(report.gap) && report.status == MARGIN_STOPPED_STALLED);
    assert_contains(report.reason, "not positive definite on these rows");
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
    margin_model_free(model);
    regression_free(&r);
}

/* A model of other numbers does not hold. */
static void test_verified(void **state) {
    (void)state;
    regression r = made(40, 2, 19);
    const margin_data data = regression_data(&r);
    margin_report found = {0};
    margin_error error = {0};
    margin_model *model = fit_proven(context, "kernel-ridge", &data, NULL);
    r.y[3] += 0.01;
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_STOPPED_STALLED);
    r.y[3] -= 0.01;
    r.x[5] += 0.01;
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    regression_free(&r);
}

static void assert_left_out(margin_model *model, const margin_data *data, double claimed,
                            margin_status expected, const char *reason) {
    margin_report found = {0};
    mg_report_set(&model->report, "leave_one_out_rmse", claimed);
    const margin_status status = margin_verify(context, model, data, &found, NULL);
    if (status != expected) fail_msg("%g: %s", claimed, found.reason);
    assert_contains(found.reason, reason);
}

/* By a factor of its own, where the model has them. */
static void test_left_out_is_verified(void **state) {
    (void)state;
    static const char *const specs[] = {
        "kernel-ridge",
        "kernel-ridge(intercept=yes, alpha=1e-4)",
        "kernel-ridge(kernel=linear, intercept=yes)",
        "kernel-ridge(kernel=sigmoid, gamma=0.1, alpha=10)",
        "kernel-ridge(multiclass=ovo, task=classify)",
        "kernel-ridge(solver=cg)",
    };
    regression r = made(40, 2, 19);
    double *weights = weights_made(40, 3);
    margin_data data = regression_data(&r);
    margin_model *model;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        for (int64_t i = 0; k == 4 && i < 40; i++)
            r.y[i] = (double)(i % 3);
        if (k % 2) data.weights = margin_values_f64(weights, 40);
        model = fit_text(context, specs[k], &data, NULL);
        const double value = margin_report_item_value(&model->report, "leave_one_out_rmse");
        assert_left_out(model, &data, value, MARGIN_OK, "equal to the model's report");
        assert_left_out(model, &data, isnan(value) ? 0.5 : 1.0001 * value, MARGIN_STOPPED_STALLED,
                        "leave_one_out_rmse");
        assert_left_out(model, &data, (double)NAN, MARGIN_OK, "equal to the model's report");
        margin_model_free(model);
    }
    model = fit_text(context, "kernel-ridge(kernel=poly, coef0=1e6, alpha=1e-6)", &data, NULL);
    assert_left_out(model, &data, (double)NAN, MARGIN_OK, "rounding may be all of the difference");
    assert_left_out(model, &data, 1, MARGIN_OK, "its leave_one_out_rmse is not compared");
    margin_model_free(model);
    model = fit_text(context, "kernel-ridge(kernel=poly, coef0=1000, alpha=1e-5)", &data, NULL);
    assert_left_out(model, &data, margin_report_item_value(&model->report, "leave_one_out_rmse"),
                    MARGIN_OK, "rounding may be over a hundredth of its leave_one_out_rmse");
    margin_model_free(model);
    free(weights);
    regression_free(&r);
}

/* Of coefficients so small that c r / alpha beside them is all that is left of a sum. */
static void test_left_out_of_small_coefficients(void **state) {
    (void)state;
    static const double y[4] = {0, 1, 0, 0}, weights[4] = {2, 2, 2, 1};
    static const double x[4 * 5] = {
        0.5648920184285386,   -0.9355908080953802, 1e6, -2.162583829570737,  9999.397612239232,
        0.3799438667940132,   0.5795160223567046,  1e6, -0.1913810152729134, 9999.75471072637,
        -0.22179474818875825, -1.4446043390380425, 1e6, -0.5478193213998448, 10000.90970804237,
        0.21612218422448856,  0.8912543101269579,  1e6, -0.6202897644125617, 10001.023350944939};
    const margin_data data = {.x = margin_dense_f64(x, 4, 5, 5),
                              .y = margin_values_f64(y, 4),
                              .weights = margin_values_f64(weights, 4)};
    margin_report report = {0}, found = {0};
    margin_model *model = fit_text(context,
                                   "kernel-ridge(kernel=poly, gamma=0.1, C=100, degree=3, "
                                   "coef0=3, task=classify, intercept=yes)",
                                   &data, &report);
    assert_true(margin_report_item_value(&report, "leave_one_out_rmse") > 0.1);
    if (margin_verify(context, model, &data, &found, NULL) != MARGIN_OK)
        fail_msg("%s", found.reason);
    margin_model_free(model);
}

/* A millionth of one coefficient, or of one number of a support row. */
static void test_small_changes(void **state) {
    (void)state;
    static const char *const specs[2] = {"kernel-ridge", "kernel-ridge(solver=cg, tol=1e-9)"};
    regression r = made(40, 2, 19);
    const margin_data data = regression_data(&r);
    margin_report found = {0};
    margin_error error = {0};
    for (int s = 0; s < 2; s++) {
        margin_model *model = fit_proven(context, specs[s], &data, NULL);
        const margin_matrix *support = &model->hypothesis->view.expansion.support;
        double *const changed[2] = {(double *)model->hypothesis->view.expansion.coefficients + 7,
                                    (double *)support->values + 11};
        for (int k = 0; k < 2; k++) {
            const double kept = *changed[k];
            *changed[k] *= 1 + 1e-6;
            assert_int_equal(margin_verify(context, model, &data, &found, &error),
                             MARGIN_STOPPED_STALLED);
            *changed[k] = kept;
        }
        margin_model_free(model);
    }
    regression_free(&r);
}

/* A model fitted without an intercept proves nothing of the least with one, and the reverse. */
static void test_spec_of_another(void **state) {
    (void)state;
    static char *const specs[][2] = {
        {"kernel-ridge", "kernel-ridge(intercept=yes)"},
        {"kernel-ridge(kernel=linear)", "kernel-ridge(intercept=yes, kernel=linear)"},
        {"kernel-ridge(solver=cg)", "kernel-ridge(intercept=yes, solver=cg)"}};
    regression r = made(40, 2, 19);
    const margin_data data = regression_data(&r);
    margin_report found = {0};
    margin_error error = {0};
    for (int64_t i = 0; i < r.rows; i++)
        r.y[i] += 3;
    for (int k = 0; k < 6; k++) {
        char *const *pair = specs[k / 2];
        margin_model *model = fit_proven(context, pair[k % 2], &data, NULL);
        char *honest = model->spec;
        model->spec = pair[!(k % 2)];
        assert_int_equal(margin_verify(context, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
        if (k % 2 == 0) assert_true(found.gap > 1e-3);
        model->spec = honest;
        margin_model_free(model);
    }
    regression_free(&r);
}

/* Targets far from 0: the coefficients add up to 0 but for rounding, which the intercept, a million
 * here, does not magnify. */
static void test_targets_far_from_zero(void **state) {
    (void)state;
    static const double x[] = {-0.9842566475495753,
                               0.3734573351963025,
                               -0.5238678927902162,
                               0.10519344934142498,
                               0.10519344934142498,
                               0.9980518812879315,
                               0.9980518812879315,
                               1.0,
                               1.0,
                               0.0,
                               0.3176084989278742,
                               0.3176084989278742,
                               1.0514682372203463,
                               0.9580419593827516,
                               0.9580419593827516,
                               -0.2948861700626122,
                               0.6680398384722239,
                               0.0,
                               -1.0,
                               -0.7725273220860133,
                               -0.7725273220860133,
                               1.2984743244452823,
                               -0.8564203276040194,
                               -0.8564203276040194,
                               -0.8564203276040194,
                               0.0787072121504879,
                               -0.8786133169136732,
                               -1.0,
                               -0.32624312272943473,
                               -0.32624312272943473,
                               -0.834611007310227,
                               1.8820267268604813,
                               1.8820267268604813,
                               1.8820267268604813,
                               1.8820267268604813,
                               -0.621813988196067,
                               -0.621813988196067,
                               0.7198174759405996};
    static const double y[] = {
        999999.2580283033,  1000001.2619189278, 999998.7439229975,  1000000.2398516546,
        1000000.2400635114, 1000001.0164150157, 1000001.1269545314, 1000000.7535808866,
        1000001.4850823737, 1000000.0472739044, 1000000.2691290814, 1000000.4507476147,
        1000001.0307270815, 1000000.769208634,  1000001.1982080423, 999999.2180538727,
        1000001.1932893198, 1000000.1109412228, 999999.4325569789,  999998.87637988,
        999999.3999372872,  1000000.4646222931, 999999.120921055,   999998.5843303755,
        999999.1657302056,  1000000.2621946026, 999999.2250817125,  999999.0066736699,
        999999.3632998014,  999999.057341572,   999998.9298211925,  999999.1763343385,
        999999.3397267951,  999999.0898250517,  999999.2637107904,  999999.8810533104,
        999998.9072719349,  1000000.6906953366};
    const margin_data data = {.x = margin_dense_f64(x, MG_LENGTH(x), 1, 1),
                              .y = margin_values_f64(y, MG_LENGTH(y))};
    const char *spec =
        "kernel-ridge(intercept=yes, kernel=linear, solver=cholesky, alpha=0.01110036127)";
    margin_model_free(fit_proven(context, spec, &data, NULL));
}

/* Columns of unlike sizes, small penalties and weights far apart: the optimum lies in what every
 * solver states. */
static void test_rounding_is_counted(void **state) {
    (void)state;
    static const char *const kinds[3] = {"kernel=linear, C=1e5", "kernel=poly, coef0=1e5, C=100",
                                         "gamma=1e-3, alpha=1e-9"};
    static const char *const solvers[2] = {"cholesky", "cg, tol=1e-10"};
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (int k = 0; k < 3; k++) {
            regression r = made(50, 3, seed);
            double weights[50], most = (double)INFINITY, least = -(double)INFINITY;
            for (int64_t i = 0; i < r.rows; i++) {
                weights[i] = i % 2 ? 1 : 1e9;
                r.x[i * 3 + 1] *= 1e3;
            }
            margin_data data = regression_data(&r);
            data.weights = margin_values_f64(weights, r.rows);
            for (int s = 0; s < 4; s++) {
                char spec[200];
                margin_report report = {0};
                snprintf(spec, sizeof spec, "kernel-ridge(%s, intercept=%s, solver=%s)", kinds[k],
                         s / 2 ? "yes" : "no", solvers[s % 2]);
                if (s == 2) {
                    most = (double)INFINITY;
                    least = -(double)INFINITY;
                }
                margin_model_free(fit_text(context, spec, &data, &report));
                most = fmin(most, report.objective);
                least = fmax(least, report.objective - report.gap * fmax(1, report.objective));
                if (least > most) fail_msg("%s: %.15g above %.15g", spec, least, most);
            }
            regression_free(&r);
        }
}

/* Coefficients that cancel: errors of kernel values of one sign add up in a'Ka. The least is known
 * from exact rational arithmetic; what is stated is never nearer to it than the gap says. */
static void test_cancelling_coefficients(void **state) {
    (void)state;
    static const double wide[] = {
        9, 0.024559471304838709, 3.402474511741894,  6, 0.53907620453664262, 9.1996552735278208,
        3, 0.28769534606196601,  53.347731457414937, 3, 0.8978477137343035,  2.7072425356138656,
        9, -0.49044072523213345, 2.8583151345509288, 3, 2.1014742920368494,  2.2821365619868978,
        0, 1.3296072595929322,   4.3132437527463861};
    static const double y[] = {0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0};
    const char *spec = "kernel-ridge(kernel=poly, degree=3, gamma=1, coef0=0, lambda=1e-5, "
                       "task=classify, intercept=yes, tol=0.01)";
    const double least = 0.71111112168765271;
    double x[45];
    for (int i = 0; i < 45; i++)
        x[i] = wide[i % 21];
    const margin_data data = {.x = margin_dense_f64(x, 15, 3, 3), .y = margin_values_f64(y, 15)};
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, &data, &report);
    assert_true(margin_verify(context, model, &data, &found, &error) >= 0);
    margin_model_free(model);
    assert_true(fabs(report.objective - least) <= report.gap);
    assert_true(fabs(found.objective - least) <= found.gap);
    assert_true(report.status == MARGIN_STOPPED_STALLED && strstr(report.reason, "larger alpha") &&
                strstr(report.reason, "scale the columns"));
}

static void test_failing_allocations(void **state) {
    (void)state;
    regression r = made(30, 2, 20);
    static const char *const specs[] = {"kernel-ridge(gamma=median, intercept=yes)",
                                        "kernel-ridge(solver=cg)"};
    for (int k = 0; k < 2; k++) {
        fit_attempt attempt = {specs[k], regression_data(&r)};
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 10);
    }
    regression_free(&r);
}

/* tanh is 1 whatever rounding does to its argument. */
static void test_flat_sigmoid(void **state) {
    (void)state;
    double x[30], y[30];
    uint64_t random = 6;
    for (int i = 0; i < 30; i++) {
        x[i] = 1e6 * (1 + support_uniform(&random));
        y[i] = support_normal(&random);
    }
    const margin_data data = {.x = margin_dense_f64(x, 30, 1, 1), .y = margin_values_f64(y, 30)};
    margin_model_free(fit_proven(context, "kernel-ridge(kernel=sigmoid, gamma=1)", &data, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_solve),
        cmocka_unit_test(test_small_penalty),
        cmocka_unit_test(test_flat_sigmoid),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_freedom),
        cmocka_unit_test(test_linear_kernel_is_ridge),
        cmocka_unit_test(test_poly_kernel_is_scaled_features),
        cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_without_room),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_few_steps),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_hard),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_left_out_is_verified),
        cmocka_unit_test(test_left_out_of_small_coefficients),
        cmocka_unit_test(test_small_changes),
        cmocka_unit_test(test_spec_of_another),
        cmocka_unit_test(test_targets_far_from_zero),
        cmocka_unit_test(test_rounding_is_counted),
        cmocka_unit_test(test_cancelling_coefficients),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
