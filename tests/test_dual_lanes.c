/* Several problems at once by dual coordinate descent: every one of them as good as alone, the same
 * bits for every instruction set, any number of threads and with a trace. */
#include "linear_cases.h"

#include "base/machine/cpu.h"
#include "linear/dual/dual_cd.h"
#include "math/rows/row_kernels.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_loss_kind losses[] = {MG_LOSS_LOGISTIC, MG_LOSS_HINGE, MG_LOSS_SQUARED_HINGE};

enum { ROWS = 90, COLUMNS = 12, CLASSES = 11 };

typedef struct many_classes {
    linear_case *c;
    int8_t sign[CLASSES][ROWS];
    double values[ROWS * COLUMNS], labels[ROWS];
    int64_t starts[ROWS + 1];
    int32_t columns[ROWS * COLUMNS];
    mg_problem problems[CLASSES];
} many_classes;

static many_classes *make_classes(uint64_t seed) {
    many_classes *m = calloc(1, sizeof *m);
    m->c = linear_case_make(ROWS, COLUMNS, 0, 1, seed);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        m->starts[i] = at;
        m->labels[i] = i % 7 == 0 ? i % 3 : i % CLASSES;
        for (int j = 0; j < COLUMNS; j++) {
            double *x = m->c->x + i * COLUMNS + j;
            const bool own = j == (int)m->labels[i] % COLUMNS;
            *x = support_uniform(&seed) < 0.35 ? *x + 2 * own : 0;
            if (*x == 0) continue;
            m->values[at] = *x;
            m->columns[at++] = j;
        }
    }
    m->starts[ROWS] = at;
    for (int k = 0; k < CLASSES; k++) {
        for (int i = 0; i < ROWS; i++)
            m->sign[k][i] = m->labels[i] == k ? 1 : -1;
        m->problems[k] = m->c->problem;
        m->problems[k].sign = m->sign[k];
        m->problems[k].x = (margin_matrix){.rows = ROWS,
                                           .columns = COLUMNS,
                                           .values = m->values,
                                           .value_type = MARGIN_F64,
                                           .row_starts = m->starts,
                                           .column_indices = m->columns,
                                           .index_type = MARGIN_I32,
                                           .start_type = MARGIN_I64};
    }
    return m;
}

static void free_classes(many_classes *m) {
    linear_case_free(m->c);
    free(m);
}

static margin_data data_of(const many_classes *m) {
    return (margin_data){.x = m->problems[0].x, .y = margin_values_f64(m->labels, ROWS)};
}

/* ---- Optimum --------------------------------------------------------------------------------- */

/* Each lane against the same problem alone: within what both proofs allow. */
static void assert_as_alone(const many_classes *m, int k, mg_loss_kind loss, const char *options,
                            const linear_fitted *f, double tolerance) {
    linear_fitted alone = linear_fit(&m->problems[k], loss, options);
    assert_int_equal(f->status, MARGIN_OK);
    assert_int_equal(alone.status, MARGIN_OK);
    assert_true(f->report.gap <= tolerance);
    const double size = fmax(1, fabs(alone.report.objective));
    assert_true(fabs(f->report.objective - alone.report.objective) <= 1.01 * tolerance * size);
    const double away = 2 * sqrt(2 * tolerance * size);
    for (int j = 0; j < COLUMNS; j++)
        assert_true(fabs(weights_of(f)[j] - weights_of(&alone)[j]) <= away);
    linear_fitted_free(&alone);
}

static void test_optimum(void **state) {
    const double scale[COLUMNS] = {1, 2, 0.5, 1, -1, 3, 1, 0, 1, 1, 0.25, 1};
    const double shift[COLUMNS] = {0, 1, 0.5, -1, -1, 3, 1, 2, 0, 0, 0.25, 1};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int variant = 0; variant < 8; variant++) {
            const double C = !(variant & 1) ? 0.5 : losses[l] == MG_LOSS_HINGE ? 2 : 20;
            const bool intercept = variant & 2;
            const double tolerance = losses[l] == MG_LOSS_HINGE ? 1e-3 : 1e-7;
            many_classes *m = make_classes(30 + (uint64_t)variant);
            linear_fitted fits[MG_MOST_TOGETHER];
            char options[200];
            snprintf(options, sizeof options, "solver=dual_cd, tol=%g, C=%g, intercept=%s",
                     tolerance, C, intercept ? "yes" : "no");
            for (int k = 0; k < CLASSES; k++) {
                if (variant & 4) m->problems[k].scale = scale;
                if ((variant & 4) && intercept) m->problems[k].shift = shift;
                if (variant & 1) m->problems[k].weight = m->c->weight;
            }
            margin_context *context = support_context(NULL, 1);
            linear_fit_together(context, m->problems, 8, losses[l], options, NULL, fits);
            for (int k = 0; k < 8; k++) {
                assert_as_alone(m, k, losses[l], options, &fits[k], tolerance);
                linear_fitted_free(&fits[k]);
            }
            linear_fit_together(context, m->problems + 8, 3, losses[l], options, NULL, fits);
            for (int k = 0; k < 3; k++) {
                assert_as_alone(m, 8 + k, losses[l], options, &fits[k], tolerance);
                linear_fitted_free(&fits[k]);
            }
            margin_context_free(context);
            free_classes(m);
        }
}

/* A smooth loss against Newton's method in plain loops. */
static void test_oracle(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l += 2) {
        many_classes *m = make_classes(40);
        linear_fitted fits[MG_MOST_TOGETHER];
        margin_context *context = support_context(NULL, 1);
        linear_fit_together(context, m->problems, 5, losses[l], "solver=dual_cd, tol=1e-9", NULL,
                            fits);
        for (int k = 0; k < 5; k++) {
            double w[ORACLE_COLUMNS], b;
            memcpy(m->c->sign, m->sign[k], ROWS);
            const oracle_problem p = {m->c, losses[l], 1, 1, true};
            const double best = oracle_solve(&p, w, &b);
            assert_true(fits[k].report.objective <= best * (1 + 1e-9));
            assert_true(fits[k].report.objective >= best * (1 - 1e-12));
            linear_fitted_free(&fits[k]);
        }
        margin_context_free(context);
        free_classes(m);
    }
}

/* Extremes of C, and another method for those that need it. */
static void test_extremes(void **state) {
    const char *const options[] = {"solver=dual_cd, C=1e-10", "solver=dual_cd, C=1e6"};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < 2; k++) {
            if (k == 1 && losses[l] == MG_LOSS_HINGE) continue;
            many_classes *m = make_classes(50);
            linear_fitted fits[MG_MOST_TOGETHER];
            margin_context *context = support_context(NULL, 1);
            linear_fit_together(context, m->problems, 4, losses[l], options[k], NULL, fits);
            for (int f = 0; f < 4; f++) {
                assert_int_equal(fits[f].status, MARGIN_OK);
                linear_fitted_free(&fits[f]);
            }
            margin_context_free(context);
            free_classes(m);
        }
}

static void test_max_iter(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        many_classes *m = make_classes(60);
        linear_fitted fits[MG_MOST_TOGETHER];
        margin_context *context = support_context(NULL, 1);
        linear_fit_together(context, m->problems, 6, losses[l],
                            "solver=dual_cd, tol=1e-12, C=50, max_iter=4", NULL, fits);
        for (int k = 0; k < 6; k++) {
            assert_int_equal(fits[k].status, MARGIN_STOPPED_ITERATIONS);
            assert_int_equal(fits[k].report.iterations, 4);
            assert_non_null(strstr(fits[k].report.reason, "4 epochs is reached at a gap of"));
            linear_fitted_free(&fits[k]);
        }
        margin_context_free(context);
        free_classes(m);
    }
}

/* ---- Models ---------------------------------------------------------------------------------- */

static const char *const specs[] = {"logistic(solver=dual_cd, C=10)",
                                    "svm(solver=dual_cd, loss=hinge)",
                                    "svm(solver=dual_cd, loss=squared-hinge, C=10)"};

static int count_step(const margin_trace_step *step, void *user) {
    ((int64_t *)user)[step->subproblem]++;
    return 0;
}

static void assert_equal_models(const margin_model *a, const margin_model *b) {
    for (int f = 0; f < CLASSES; f++) {
        assert_memory_equal(margin_model_weights(a, f), margin_model_weights(b, f),
                            COLUMNS * sizeof(double));
        assert_true(margin_model_intercept(a, f) == margin_model_intercept(b, f));
    }
}

static void test_threads_and_trace(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(specs); l++) {
        many_classes *m = make_classes(70);
        const margin_data data = data_of(m);
        margin_model *first = NULL;
        margin_context *keep = support_context(NULL, 1);
        first = fit_text(keep, specs[l], &data, NULL);
        for (int threads = 1; threads <= 4; threads++) {
            margin_context *context = support_context(NULL, threads);
            margin_report report = {0};
            margin_error error = {0};
            margin_model *model = fit_text(context, specs[l], &data, NULL);
            assert_equal_models(first, model);
            assert_int_equal(margin_verify(context, model, &data, &report, &error), MARGIN_OK);
            assert_true(report.gap <= report.tolerance);
            margin_model_free(model);
            margin_context_free(context);
        }
        int64_t steps[CLASSES] = {0};
        const margin_fit_options options = {
            .size = sizeof options, .trace = count_step, .user = steps};
        margin_spec *spec = parse_text(keep, specs[l]);
        margin_model *traced = NULL;
        margin_error error = {0};
        assert_int_equal(margin_fit_with(keep, spec, &data, &options, &traced, NULL, &error),
                         MARGIN_OK);
        assert_equal_models(first, traced);
        for (int k = 0; k < CLASSES; k++)
            assert_true(steps[k] > 1);
        margin_model_free(traced);
        margin_spec_free(spec);
        margin_model_free(first);
        margin_context_free(keep);
        free_classes(m);
    }
}

static void test_allocations(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    for (int l = 0; l < MG_LENGTH(specs); l++) {
        many_classes *m = make_classes(80);
        const margin_data data = data_of(m);
        char spec[100];
        snprintf(spec, sizeof spec, "%.*s, tol=0.5, max_iter=2)", (int)strlen(specs[l]) - 1,
                 specs[l]);
        fit_attempt fit = {spec, data};
        assert_true(support_fail_each_allocation(1, attempt_fit, &fit) >= 20);
        free_classes(m);
    }
}

static int cancel_at(const margin_trace_step *step, void *user) {
    if (step->step == 2) margin_context_cancel(user);
    return 0;
}

static void test_cancel(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        many_classes *m = make_classes(90);
        linear_fitted fits[MG_MOST_TOGETHER];
        margin_context *context = support_context(NULL, 1);
        const mg_trace trace = {.step = cancel_at, .user = context};
        linear_fit_together(context, m->problems, 8, losses[l], "solver=dual_cd, tol=1e-12", &trace,
                            fits);
        for (int k = 0; k < 8; k++)
            assert_int_equal(fits[k].status, MARGIN_ERROR_CANCELLED);
        margin_context_free(context);
        free_classes(m);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void assert_fours(mg_row_fours_add *add, const margin_matrix *x, const double *vectors,
                         const double *offset) {
    const int64_t length = mg_row_start(x, 1), whole = length / 4 * 4, n = x->columns;
    const double weight = 0.75;
    mg_row_fours f = {.weights = &weight, .vectors = vectors};
    double *sums = calloc((size_t)(n + 1) * MG_ROW_FOUR, sizeof *sums);
    assert_non_null(sums);
    memcpy(f.offset, offset, sizeof f.offset);
    add(x, &f, 0, sums);
    for (int l = 0; l < MG_ROW_FOUR; l++) {
        double sum[4] = {0, 0, 0, 0};
        for (int64_t k = 0; k < length; k++)
            sum[k < whole ? k % 4 : k - whole] +=
                mg_stored_value(x, k) * vectors[mg_column_index(x, k) * MG_ROW_FOUR + l];
        const double z = weight * (((sum[0] + sum[1]) + (sum[2] + sum[3])) + offset[l]);
        assert_true(sums[n * MG_ROW_FOUR + l] == z);
        for (int64_t k = 0; k < length; k++)
            assert_true(sums[mg_column_index(x, k) * MG_ROW_FOUR + l] == mg_stored_value(x, k) * z);
    }
    free(sums);
}

/* Against plain loops in the documented order of sums, for rows of every length. */
static void assert_rows(const mg_row_lanes table[2][2], mg_isa isa) {
    enum { MOST = 23, WIDTH = 40 };
    uint64_t seed = 3;
    double weights[WIDTH * MG_ROW_LANES], factor[WIDTH], c[MG_ROW_LANES];
    for (int k = 0; k < WIDTH * MG_ROW_LANES; k++)
        weights[k] = support_normal(&seed);
    for (int j = 0; j < WIDTH; j++)
        factor[j] = support_normal(&seed);
    for (int l = 0; l < MG_ROW_LANES; l++)
        c[l] = support_normal(&seed);
    for (int f32 = 0; f32 < 2; f32++)
        for (int i64 = 0; i64 < 2; i64++)
            for (int length = 0; length <= MOST; length++) {
                double values[MOST + 1], out[MG_ROW_LANES], moved[WIDTH * MG_ROW_LANES];
                float narrow[MOST + 1];
                int32_t short_columns[MOST + 1];
                int64_t columns[MOST + 1];
                const int64_t starts[2] = {0, length};
                for (int k = 0; k < length; k++) {
                    narrow[k] = (float)support_normal(&seed);
                    values[k] = (double)narrow[k];
                    columns[k] = short_columns[k] = k + k / 2;
                }
                const void *stored = f32 ? (const void *)narrow : (const void *)values;
                const void *indices = i64 ? (const void *)columns : (const void *)short_columns;
                const margin_matrix x = {.rows = 1,
                                         .columns = WIDTH,
                                         .values = stored,
                                         .value_type = f32 ? MARGIN_F32 : MARGIN_F64,
                                         .row_starts = starts,
                                         .column_indices = indices,
                                         .index_type = i64 ? MARGIN_I64 : MARGIN_I32,
                                         .start_type = MARGIN_I64};
                table[f32][i64].dot(&x, 0, weights, out);
                for (int l = 0; l < MG_ROW_LANES; l++) {
                    double sum[4] = {0, 0, 0, 0};
                    const int whole = length / 4 * 4;
                    for (int k = 0; k < length; k++)
                        sum[k < whole ? k % 4 : k - whole] +=
                            values[k] * weights[columns[k] * MG_ROW_LANES + l];
                    assert_true(out[l] == (sum[0] + sum[1]) + (sum[2] + sum[3]));
                }
                assert_fours(mg_row_fours_for(&x, isa), &x, weights, c);
                for (int scaled = 0; scaled < 2; scaled++) {
                    memcpy(moved, weights, sizeof moved);
                    table[f32][i64].add(&x, 0, c, scaled ? factor : NULL, moved);
                    for (int k = 0; k < length; k++)
                        for (int l = 0; l < MG_ROW_LANES; l++) {
                            const int64_t at = columns[k] * MG_ROW_LANES + l;
                            const double by = scaled ? factor[columns[k]] * values[k] : values[k];
                            assert_true(moved[at] == weights[at] + by * c[l]);
                        }
                }
            }
}

static void test_rows(void **state) {
    (void)state;
    for (int isa = MG_ISA_REF; isa <= (int)mg_isa_level(); isa++)
        assert_rows(MG_ISA_TABLE((mg_isa)isa, mg_row_kernels)->lanes, (mg_isa)isa);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_max_iter),
        cmocka_unit_test(test_threads_and_trace),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
