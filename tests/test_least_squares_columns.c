/* Least squares and ridge: columns of all sizes, dependent, constant, more of them than rows. */
#include "least_squares_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

static const char *const solvers[3] = {"auto", "normal", "qr"};

/* ---- Sizes and dependences ------------------------------------------------------------------- */

static void test_sizes_of_columns(void **state) {
    (void)state;
    regression r = regression_make(200, 4, 0.5, 0.3, 21);
    long double w[4], b;
    for (int64_t i = 0; i < r.rows; i++) {
        r.x[i * 4] *= 1e12;
        r.x[i * 4 + 1] *= 1e-12;
        r.x[i * 4 + 2] *= 1e60;
    }
    const margin_data data = regression_data(&r);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        oracle_solve(&r, NULL, 0, true, w, &b);
        margin_model *model = fit_proven(context, spec, &data, NULL);
        assert_solution(model, &r, w, b, 1e-10);
        margin_model_free(model);
        snprintf(spec, sizeof spec, "ridge(solver=%s)", solvers[s]);
        oracle_solve(&r, NULL, 1, true, w, &b);
        model = fit_proven(context, spec, &data, NULL);
        assert_solution(model, &r, w, b, 1e-10);
        margin_model_free(model);
    }
    r.x[5] = 1e200;
    fit_refused(context, "least-squares", &data, MARGIN_ERROR_DATA, "column x2 overflow");
    fit_refused(context, "ridge(solver=qr)", &data, MARGIN_ERROR_DATA, "column x2 overflow");
    r.x[6] = (double)NAN; /* says more, though its column is a later one */
    fit_refused(context, "ridge", &data, MARGIN_ERROR_DATA, "row 2 has no value in column x3");
    r.x[5] = r.x[6] = 0;
    r.y[3] = -1e200;
    fit_refused(context, "ridge", &data, MARGIN_ERROR_DATA, "target overflow");
    regression_free(&r);
}

/* Columns at the lower end of the numbers, beside which any penalty is huge: weights of 0 and the
 * mean; and a target so far off that its last place shows in the residuals. */
static void test_sizes_of_numbers(void **state) {
    (void)state;
    enum { ROWS = 20, COLUMNS = 5 };
    regression r = regression_make(ROWS, COLUMNS, 0.5, 0.3, 22);
    const margin_data data = regression_data(&r);
    double *x = r.x;
    margin_report report = {0};
    static const char *const specs[] = {"least-squares", "ridge", "ridge(alpha=0.001)"};
    for (int64_t i = 0; i < ROWS; i++)
        r.y[i] += 1e11;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_model *model = fit_text(context, specs[k], &data, &report);
        margin_report found = {0};
        margin_error error = {0};
        const margin_status status = margin_verify(context, model, &data, &found, &error);
        if (status != MARGIN_OK) fail_msg("%s: %s%s", specs[k], error.text, found.reason);
        margin_model_free(model);
    }
    for (int64_t i = 0; i < ROWS; i++)
        r.y[i] -= 1e11;
    for (int64_t k = 0; k < ROWS * COLUMNS; k++)
        x[k] *= 1e-310;
    fit_refused(context, "ridge", &data, MARGIN_ERROR_DATA, "are below 1e-130");
    margin_model_free(fit_proven(context, "lasso", &data, NULL));
    margin_model_free(fit_proven(context, "lasso(alpha=1e300)", &data, NULL));
    regression_free(&r);
}

/* y = 3 x1, and x2 = 2 x1: of all weights with w1 + 2 w2 = 3 the shortest are 3/5 and 6/5. */
static void test_duplicate_columns(void **state) {
    (void)state;
    double x[15], y[5] = {3, 6, 9, 12, 21};
    for (int i = 0; i < 5; i++) {
        x[i * 3] = y[i] / 3;
        x[i * 3 + 1] = 2 * x[i * 3];
        x[i * 3 + 2] = i % 2 ? 0.25 : -1;
    }
    margin_column columns[3] = {{.name = "one"}, {.name = "two"}, {.name = "three"}};
    const margin_data data = {
        .x = margin_dense_f64(x, 5, 3, 3), .y = margin_values_f64(y, 5), .columns = columns};
    for (int s = 0; s < 3; s++)
        for (int intercept = 0; intercept < 2; intercept++) {
            char spec[80];
            margin_report report = {0};
            snprintf(spec, sizeof spec, "least-squares(solver=%s, intercept=%s)", solvers[s],
                     intercept ? "yes" : "no");
            margin_model *model = fit_proven(context, spec, &data, &report);
            assert_close(margin_model_weights(model, 0)[0], 0.6, 1e-13);
            assert_close(margin_model_weights(model, 0)[1], 1.2, 1e-13);
            assert_close(margin_model_weights(model, 0)[2], 0, 1e-13);
            assert_close(margin_report_item_value(&report, "rank"), 2, 0);
            assert_contains(report.reason, "rank 2 of 3 (one, two depend on each other)");
            margin_model_free(model);
        }
}

/* Rank 5 of 9 with columns of different sizes, exactly: the answer lies in the span of the rows,
 * and no vector that A does not see can make it shorter. */
static void test_least_norm(void **state) {
    (void)state;
    regression r = regression_make(60, 9, 1, 1, 8), five = {60, 5, NULL, r.y};
    double size[4] = {1, 0x1p-10, 0x1p10, 1};
    five.x = malloc(60 * 5 * sizeof *five.x);
    for (int64_t i = 0; i < 60; i++) {
        double *row = r.x + i * 9;
        for (int j = 0; j < 5; j++)
            row[j] = nearbyint(0x1p20 * row[j]) / 0x1p20;
        row[5] = size[0] * (row[0] + row[1]);
        row[6] = size[1] * (row[1] - row[2]);
        row[7] = size[2] * (row[3] - 2 * row[4]);
        row[8] = size[3] * row[0];
        memcpy(five.x + i * 5, row, 5 * sizeof *row);
    }
    long double w[5], b;
    oracle_solve(&five, NULL, 0, true, w, &b);
    const double best = (double)(oracle_value(&five, NULL, 0, w, b) / 60);
    const double null[4][9] = {{1, 1, 0, 0, 0, -1 / size[0], 0, 0, 0},
                               {0, 1, -1, 0, 0, 0, -1 / size[1], 0, 0},
                               {0, 0, 0, 1, -2, 0, 0, -1 / size[2], 0},
                               {1, 0, 0, 0, 0, 0, 0, 0, -1 / size[3]}};
    const margin_data data = regression_data(&r);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        margin_report report = {0};
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_proven(context, spec, &data, &report);
        const double *found = margin_model_weights(model, 0);
        assert_close(report.objective, best, 1e-11);
        assert_close(margin_report_item_value(&report, "rank"), 5, 0);
        for (int k = 0; k < 4; k++) {
            double product = 0, length = 0;
            for (int j = 0; j < 9; j++) {
                product += null[k][j] * found[j];
                length += fabs(null[k][j] * found[j]);
            }
            assert_close(product / (length + 1), 0, 1e-9);
        }
        margin_model_free(model);
    }
    free(five.x);
    regression_free(&r);
}

/* The objective of a model of r, exactly. */
static double true_objective(const margin_model *model, const regression *r) {
    const double *w = margin_model_weights(model, 0);
    long double sum = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        long double left = (long double)margin_model_intercept(model, 0) - (long double)r->y[i];
        for (int64_t j = 0; j < r->columns; j++)
            left += (long double)w[j] * (long double)r->x[i * r->columns + j];
        sum += left * left;
    }
    return (double)(sum / (long double)r->rows);
}

/* Two times since 1970 in millionths of a second, whose difference is the target: a perfect fit
 * exists, so that the gap is the objective. */
static void test_times(void **state) {
    (void)state;
    for (int spread = 1; spread < 10000000; spread *= 10)
        for (int s = 0; s < 3; s++) {
            regression r = regression_make(60, 2, 0, 0, 71);
            const margin_data data = regression_data(&r);
            char spec[60];
            margin_report report = {0};
            for (int i = 0; i < 60; i++) {
                r.y[i] = (double)(i * 7919 % 60 / 20 * spread + 1);
                r.x[2 * i] = 1.7e15 + (double)(((int64_t)i * 15485863 + 31) * 104729 % 3600000000);
                r.x[2 * i + 1] = r.x[2 * i] + r.y[i];
            }
            snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
            margin_model *model = fit_text(context, spec, &data, &report);
            const double truth = true_objective(model, &r);
            assert_true(report.gap * fmax(1, report.objective) >= 0.999 * truth);
            margin_model_free(model);
            regression_free(&r);
        }
}

/* Columns that differ from a sum of others in their last bits: that may be what fits the target. */
static void test_rounded_dependence(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++) {
        regression r = regression_make(60, 3, 0, 1, 72);
        const margin_data data = regression_data(&r);
        char spec[60];
        margin_report report = {0};
        for (int i = 0; i < 60; i++)
            r.x[3 * i + 2] = r.x[3 * i] / 3 + r.x[3 * i + 1] / 7;
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
        assert_close(report.gap * fmax(1, report.objective), report.objective, 1e-9);
        assert_contains(report.reason, "rank 2 of 3, but it is more");
        margin_model_free(model);
        regression_free(&r);
    }
}

/* A column that is constant but for one last bit, which tells the only row that is different. */
static void test_almost_constant(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++) {
        regression r = regression_make(60, 1, 0, 0, 73);
        const margin_data data = regression_data(&r);
        char spec[60];
        margin_report report = {0};
        for (int i = 0; i < 60; i++) {
            r.y[i] = i == 17;
            r.x[i] = 0x1p52 + r.y[i];
        }
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_true(report.gap >= 0.999 * true_objective(model, &r));
        margin_model_free(model);
        regression_free(&r);
    }
}

/* Two columns a billionth apart: products cannot tell them from one, the data can, whatever was
 * asked for. */
static void test_nearly_dependent(void **state) {
    (void)state;
    regression r = regression_make(300, 3, 0, 0, 31);
    long double w[3], b;
    for (int64_t i = 0; i < r.rows; i++) {
        const double hidden = r.x[i * 3 + 1];
        r.x[i * 3 + 1] = r.x[i * 3] + 0x1p-30 * hidden;
        r.y[i] = r.x[i * 3] + hidden + 0.01 * sin((double)i);
    }
    const margin_data data = regression_data(&r);
    oracle_solve(&r, NULL, 0, true, w, &b);
    assert_true(fabsl(w[1]) > 1e8L);
    const double best = (double)(oracle_value(&r, NULL, 0, w, b) / 300);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        margin_report report = {0};
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_proven(context, spec, &data, &report);
        assert_contains(report.reason, "QR");
        assert_solution(model, &r, w, b, 1e-6);
        assert_close(report.objective, best, 1e-7);
        assert_true(margin_report_item_value(&report, "condition") > 1e8);
        margin_model_free(model);
    }
    regression_free(&r);
}

/* Powers of raw numbers, sizes from 1e3 to 1e20: the gap is true or the fit says that it stopped.
 */
static void test_ridge_behind_powers(void **state) {
    static double x[] = {886.62628236140938,  -2186.6938129346477, -437.71314578993395,
                         -1502.9059012442269, -1502.9059012442269, -1502.9059012442269,
                         886.62628236140938};
    static double y[] = {-0.0069646935817945978, -54.876058951461459, -71150.252178717885,
                         482.84361963372055,     482.84361963372055,  482.84361963372055,
                         -0.0069646935817945978};
    static const char *const specs[] = {
        "poly(degree=6) | ridge", "poly(degree=6) | ridge(solver=qr)", "poly(degree=10) | ridge",
        "poly(degree=8) | ridge(C=1e-9)", "poly(degree=6) | ridge(alpha=1e20)"};
    regression r = {7, 1, x, y};
    const margin_data data = regression_data(&r);
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_report report = {0}, again = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_true(report.status == MARGIN_OK ? report.gap <= report.tolerance
                                               : report.status == MARGIN_STOPPED_STALLED);
        /* exact but for the penalty, of which a little is left: far below what was claimed once */
        if (k < 3) assert_true(report.objective <= 1e-14);
        assert_true(report.gap >= report.objective / 2 || report.objective > 1e-3);
        assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
        margin_model_free(model);
    }
}

/* More columns than rows, and two rows that only a column of a billionth tells apart: their
 * products are equal. QR sees it; where there are too many columns for that nothing is proven. */
static void test_hidden_by_products_of_rows(void **state) {
    SUPPORT_LARGE_CASE();
    enum { ROWS = 20, FEW = 200, MANY = 2100 };
    (void)state;
    for (int64_t columns = FEW; columns <= MANY; columns += MANY - FEW) {
        double *x = calloc((size_t)(ROWS * columns), sizeof *x), y[ROWS];
        margin_report report = {0}, again = {0};
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t j = 0; j < columns - 1; j++)
                x[i * columns + j] = sin(0.1 * (double)((i < 2 ? 1 : i) * (j + 1) * (j + 1)));
            y[i] = i == 0 ? 5 : i == 1 ? -5 : cos((double)i);
        }
        x[columns - 1] = 1e-9;
        const margin_data data = {.x = margin_dense_f64(x, ROWS, columns, columns),
                                  .y = margin_values_f64(y, ROWS)};
        for (int k = 0; k < 2; k++) {
            const char *spec = k ? "least-squares(intercept=no)" : "least-squares";
            margin_model *model = fit_text(context, spec, &data, &report);
            assert_int_equal(report.status, columns == FEW ? MARGIN_OK : MARGIN_STOPPED_STALLED);
            if (columns == MANY)
                assert_true(report.objective > 1 && report.gap >= 1 && report.gap < 1 + 1e-9);
            if (columns == FEW) assert_true(report.objective < 1e-9);
            assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
            margin_model_free(model);
        }
        free(x);
    }
}

/* f32 numbers near a million, which could be rounded ones: with a penalty the answer is that of the
 * numbers as they stand, and a proof forgives nothing. Fewer rows than columns, and more. */
static void test_ridge_of_single_precision(void **state) {
    (void)state;
    for (int64_t rows = 2; rows <= 12; rows += 10) {
        regression r = regression_make(rows, 3, 0, 100, 35);
        float narrow[36];
        long double w[3], b;
        for (int64_t k = 0; k < 3 * rows; k++)
            r.x[k] = narrow[k] = (float)(1e6 + rint(3 * r.x[k]));
        margin_data data = regression_data(&r);
        data.x = margin_dense_f32(narrow, rows, 3, 3);
        oracle_solve(&r, NULL, 1, true, w, &b);
        const double best = (double)oracle_value(&r, NULL, 1, w, b);
        for (int s = 0; s < 3; s++) {
            char spec[60];
            margin_report report = {0};
            snprintf(spec, sizeof spec, "ridge(solver=%s)", solvers[s]);
            margin_model *model = fit_proven(context, spec, &data, &report);
            assert_close(report.objective, best, 1e-9 * best);
            assert_solution(model, &r, w, b, 1e-6);
            margin_model_free(model);
        }
        /* far from it: verification finds the true distance, too */
        margin_report report = {0}, again = {0};
        margin_model *model =
            fit_text(context, "ridge(solver=gd, max_iter=1, rate=1e-20)", &data, &report);
        assert_true(report.objective > 1.01 * best);
        assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
        assert_close(again.gap * again.objective, again.objective - best, 1e-9 * best);
        margin_model_free(model);
        regression_free(&r);
    }
}

/* Targets so small that no model is far from the best: descent claims no more than that the
 * objective is not below 0, and verification, which finds a nearer bound, agrees. */
static void test_tiny_targets(void **state) {
    (void)state;
    static double x[] = {1, 2, 2, 1, 3, 5, 4, 4, 5, 7}, y[] = {1e-4, 3e-4, 2e-4, 5e-4, 1e-4};
    regression r = {5, 2, x, y};
    const margin_data data = regression_data(&r);
    margin_report report = {0}, again = {0};
    margin_model *model = fit_text(context, "ridge(solver=gd, max_iter=5)", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_close(report.gap, report.objective, 0);
    assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
    assert_true(again.gap < 0.9 * report.gap);
    margin_model_free(model);
}

/* A millionth apart: Cholesky alone would lose most digits, corrections bring them back. */
static void test_corrections(void **state) {
    (void)state;
    regression r = regression_make(500, 3, 5, 0.1, 33);
    long double w[3], b;
    for (int64_t i = 0; i < r.rows; i++)
        r.x[i * 3 + 1] = r.x[i * 3] + 0x1p-20 * r.x[i * 3 + 1];
    const margin_data data = regression_data(&r);
    margin_report report = {0};
    oracle_solve(&r, NULL, 0, true, w, &b);
    margin_model *model = fit_proven(context, "least-squares", &data, &report);
    assert_contains(report.reason, "Cholesky");
    assert_true(report.iterations >= 1);
    assert_solution(model, &r, w, b, 1e-8);
    margin_model_free(model);
    regression_free(&r);
}

static void test_constant_columns(void **state) {
    (void)state;
    regression r = regression_make(50, 3, 0, 1, 41), two = {50, 2, NULL, r.y};
    long double w[2], b;
    two.x = malloc(100 * sizeof *two.x);
    for (int64_t i = 0; i < 50; i++) {
        r.x[i * 3 + 1] = 0.1;
        two.x[i * 2] = r.x[i * 3];
        two.x[i * 2 + 1] = r.x[i * 3 + 2];
    }
    margin_column columns[3] = {{.name = "one"}, {.name = "flat"}, {.name = "three"}};
    margin_data data = regression_data(&r);
    data.columns = columns;
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)", "ridge",
                                        "standardize | least-squares", "minmax | ridge"};
    for (int k = 0; k < 5; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, specs[k], &data, &report);
        assert_true(margin_model_weights(model, 0)[1] == 0);
        assert_contains(report.reason, "column flat is constant and has weight 0");
        if (k != 4) {
            oracle_solve(&two, NULL, k == 2, true, w, &b);
            assert_close(margin_model_weights(model, 0)[0], (double)w[0], 1e-12);
            assert_close(margin_model_weights(model, 0)[2], (double)w[1], 1e-12);
            assert_close(margin_model_intercept(model, 0), (double)b, 1e-12);
        }
        margin_model_free(model);
    }
    /* without intercept it is a column like others */
    margin_model *model = fit_proven(context, "least-squares(intercept=no)", &data, NULL);
    oracle_solve(&two, NULL, 0, true, w, &b);
    assert_close(margin_model_weights(model, 0)[1] * 0.1, (double)b, 1e-12);
    margin_model_free(model);
    free(two.x);
    regression_free(&r);
}

/* ---- More columns than rows ------------------------------------------------------------------ */

/* Through the rows (over 128 columns) and through the columns: exact fit, in the span of the rows.
 */
static void test_more_columns_than_rows(void **state) {
    (void)state;
    static const int64_t widths[2] = {40, 300};
    for (int k = 0; k < 2; k++) {
        regression r = regression_make(25, widths[k], 2, 1, 51);
        const margin_data data = regression_data(&r);
        /* the oracle: u of the ridge of least penalty with rows as columns, w = X'u */
        regression turned = {widths[k], 25, malloc((size_t)(25 * widths[k]) * sizeof(double)),
                             NULL};
        for (int64_t i = 0; i < 25; i++)
            for (int64_t j = 0; j < widths[k]; j++)
                turned.x[j * 25 + i] = r.x[i * widths[k] + j];
        margin_report report = {0};
        margin_model *model = fit_proven(context, "least-squares", &data, &report);
        const double *w = margin_model_weights(model, 0);
        assert_close(report.objective, 0, 1e-20);
        assert_close(margin_report_item_value(&report, "rank"), 24, 0);
        assert_contains(report.reason, "least norm");
        /* w = X'u exactly means: the best fit of w by the rows, centred, leaves nothing */
        for (int64_t i = 0; i < 25; i++)
            for (int64_t j = 0; j < widths[k]; j++) {
                double mean = 0;
                for (int64_t l = 0; l < 25; l++)
                    mean += r.x[l * widths[k] + j] / 25;
                turned.x[j * 25 + i] -= mean;
            }
        turned.columns = 24; /* the last row is minus the sum of the others */
        double *packed = malloc((size_t)(24 * widths[k]) * sizeof *packed);
        for (int64_t j = 0; j < widths[k]; j++)
            memcpy(packed + j * 24, turned.x + j * 25, 24 * sizeof *packed);
        regression span = {widths[k], 24, packed, (double *)(uintptr_t)w};
        long double u[24], b, length = 0;
        oracle_solve(&span, NULL, 0, false, u, &b);
        for (int64_t j = 0; j < widths[k]; j++)
            length += (long double)w[j] * (long double)w[j];
        assert_close((double)(oracle_value(&span, NULL, 0, u, 0) / length), 0, 1e-20);
        margin_model_free(model);
        free(packed);
        free(turned.x);
        regression_free(&r);
    }
}

static void test_wide_ridge(void **state) {
    (void)state;
    sample *s = sample_make(40, 200, 2, 0.1, 61);
    regression r = {40, 200, s->f64, s->labels};
    long double w[200], b;
    double weights[40];
    for (int i = 0; i < 40; i++)
        weights[i] = 0.5 + i % 4;
    for (int intercept = 0; intercept < 2; intercept++) {
        const char *spec = intercept ? "ridge(alpha=0.5)" : "ridge(alpha=0.5, intercept=no)";
        oracle_solve(&r, weights, 0.5, intercept, w, &b);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            margin_data data = sample_data(s, layout);
            margin_report report = {0};
            data.weights = margin_values_f64(weights, 40);
            margin_model *model = fit_proven(context, spec, &data, &report);
            assert_contains(report.reason, "products of rows");
            assert_solution(model, &r, w, b, 1e-11);
            assert_close(report.objective, (double)oracle_value(&r, weights, 0.5, w, b), 1e-12);
            margin_model_free(model);
        }
    }
    /* equal rows with different targets: the mean is the best that can be done */
    memcpy(s->f64, s->f64 + 200, 200 * sizeof *s->f64);
    s->labels[0] = 0;
    s->labels[1] = 1;
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report report = {0};
    margin_model *model = fit_proven(context, "least-squares", &data, &report);
    assert_close(margin_report_item_value(&report, "rank"), 38, 0);
    assert_close(report.objective, 0.5 / 40, 1e-12);
    margin_model_free(model);
    /* scaled by a stage */
    margin_model_free(fit_proven(context, "standardize | ridge", &data, NULL));
    const margin_data sparse = sample_data(s, CSR_F64_I32_I64);
    margin_model_free(fit_proven(context, "standardize | ridge", &sparse, NULL));
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_columns),
        cmocka_unit_test(test_sizes_of_numbers),
        cmocka_unit_test(test_duplicate_columns),
        cmocka_unit_test(test_least_norm),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rounded_dependence),
        cmocka_unit_test(test_almost_constant),
        cmocka_unit_test(test_nearly_dependent),
        cmocka_unit_test(test_ridge_behind_powers),
        cmocka_unit_test(test_hidden_by_products_of_rows),
        cmocka_unit_test(test_ridge_of_single_precision),
        cmocka_unit_test(test_tiny_targets),
        cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_constant_columns),
        cmocka_unit_test(test_more_columns_than_rows),
        cmocka_unit_test(test_wide_ridge),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
