/* Equal rows merged: groups against how the data were made, fits against fits of the distinct rows
 * with weights, dual variables of every row, layouts, threads, and what must not happen. */
#include "linear_cases.h"

#include "learn/exact/merged_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DISTINCT = 60, COLUMNS = 9, SAMPLES = 6000 };

/* Samples of few distinct rows: sample i is row kind[i], of which `thin` holds one each. */
typedef struct repeated {
    linear_case *thin;
    int32_t *kind;
    void *values, *columns;
    int64_t *starts;
    double *weight, *target;
    int8_t *sign;
    mg_problem problem;
} repeated;

static void put_value(repeated *r, margin_type value, margin_type index, int64_t at, double x,
                      int64_t column) {
    if (value == MARGIN_F32)
        ((float *)r->values)[at] = (float)x;
    else
        ((double *)r->values)[at] = x;
    if (index == MARGIN_I32)
        ((int32_t *)r->columns)[at] = (int32_t)column;
    else
        ((int64_t *)r->columns)[at] = column;
}

static repeated *repeated_make(int64_t samples, int64_t distinct, margin_type value,
                               margin_type index, bool weights) {
    repeated *r = calloc(1, sizeof *r);
    uint64_t seed = 7;
    r->thin = linear_case_make(distinct, COLUMNS, 0, 1, 5);
    for (int64_t k = 0; k < distinct * COLUMNS; k++)
        r->thin->x[k] = support_uniform(&seed) < 0.5 ? (double)(float)r->thin->x[k] : 0.0;
    r->kind = calloc((size_t)samples, sizeof *r->kind);
    r->values = calloc((size_t)(samples * COLUMNS), sizeof(double));
    r->columns = calloc((size_t)(samples * COLUMNS), sizeof(int64_t));
    r->starts = calloc((size_t)samples + 1, sizeof *r->starts);
    r->weight = calloc((size_t)samples, sizeof *r->weight);
    r->target = calloc((size_t)samples, sizeof *r->target);
    r->sign = calloc((size_t)samples, sizeof *r->sign);
    int64_t at = 0;
    for (int64_t i = 0; i < samples; i++) {
        /* each kind at least once, some much more often than others */
        const double u = support_uniform(&seed);
        const int64_t k = i < distinct ? distinct - 1 - i : (int64_t)(u * u * (double)distinct);
        r->kind[i] = (int32_t)k;
        r->starts[i] = at;
        for (int64_t j = 0; j < COLUMNS; j++)
            if (r->thin->x[k * COLUMNS + j] != 0.0)
                put_value(r, value, index, at++, r->thin->x[k * COLUMNS + j], j);
        r->weight[i] = weights ? 0.5 + support_uniform(&seed) : 1.0;
        r->sign[i] = r->thin->sign[k];
        r->target[i] = r->thin->target[k];
    }
    r->starts[samples] = at;
    r->problem = r->thin->problem;
    r->problem.x = (margin_matrix){.rows = samples,
                                   .columns = COLUMNS,
                                   .values = r->values,
                                   .value_type = value,
                                   .row_starts = r->starts,
                                   .column_indices = r->columns,
                                   .index_type = index,
                                   .start_type = MARGIN_I64};
    r->problem.count = samples;
    r->problem.sign = r->sign;
    r->problem.target = r->target;
    r->problem.weight = weights ? r->weight : NULL;
    return r;
}

static void repeated_free(repeated *r) {
    linear_case_free(r->thin);
    free(r->kind);
    free(r->values);
    free(r->columns);
    free(r->starts);
    free(r->weight);
    free(r->target);
    free(r->sign);
    free(r);
}

static mg_merged_rows merge_with(const mg_problem *p, int threads, margin_context **context) {
    mg_merged_rows merged;
    margin_error error;
    *context = support_context(NULL, threads);
    assert_int_equal(mg_merge_rows(*context, p, &merged, &error), MARGIN_OK);
    return merged;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Samples are together if they are of one kind; the first of each stands for it, in order. */
static void check_groups(const repeated *r, const mg_merged_rows *merged) {
    int32_t group_of[DISTINCT];
    double total[DISTINCT] = {0};
    int32_t seen = 0;
    memset(group_of, -1, sizeof group_of);
    assert_int_equal(merged->problem.count, DISTINCT);
    for (int64_t i = 0; i < r->problem.count; i++) {
        const int32_t k = r->kind[i];
        if (group_of[k] < 0) {
            group_of[k] = seen;
            assert_int_equal(merged->problem.index[seen], i);
            assert_int_equal(mg_sample_original(&merged->problem, seen), i);
            assert_int_equal(merged->problem.sign[seen], r->sign[i]);
            assert_true(merged->problem.target[seen] == r->target[i]);
            seen++;
        }
        assert_int_equal(merged->group[i], group_of[k]);
        total[group_of[k]] += r->weight[i];
    }
    for (int32_t g = 0; g < seen; g++)
        assert_close(merged->problem.weight[g], total[g], 1e-12);
}

static void test_groups(void **state) {
    (void)state;
    for (int layout = 0; layout < 8; layout++) {
        repeated *r = repeated_make(SAMPLES, DISTINCT, layout & 1 ? MARGIN_F32 : MARGIN_F64,
                                    layout & 2 ? MARGIN_I64 : MARGIN_I32, layout & 4);
        for (int threads = 1; threads <= 4; threads += 3) {
            margin_context *context;
            mg_merged_rows merged = merge_with(&r->problem, threads, &context);
            assert_non_null(merged.arena.heap);
            check_groups(r, &merged);
            mg_merged_rows_free(&merged);
            margin_context_free(context);
        }
        repeated_free(r);
    }
}

/* Of every second row, backwards: sample i is row index[i]. */
static void test_selection(void **state) {
    (void)state;
    repeated *r = repeated_make(2 * SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, false);
    int64_t *index = calloc(SAMPLES, sizeof *index);
    for (int64_t i = 0; i < SAMPLES; i++)
        index[i] = 2 * (SAMPLES - 1 - i);
    for (int64_t i = 0; i < SAMPLES; i++)
        r->sign[i] = r->thin->sign[r->kind[index[i]]];
    for (int64_t i = 0; i < SAMPLES; i++)
        r->target[i] = r->thin->target[r->kind[index[i]]];
    r->problem.index = index;
    r->problem.original = index;
    r->problem.count = SAMPLES;
    margin_context *context;
    mg_merged_rows merged = merge_with(&r->problem, 2, &context);
    assert_non_null(merged.arena.heap);
    for (int64_t i = 0; i < SAMPLES; i++) {
        const int32_t g = merged.group[i];
        assert_int_equal(r->kind[merged.problem.index[g]], r->kind[index[i]]);
        assert_int_equal(merged.problem.original[g], merged.problem.index[g]);
    }
    mg_merged_rows_free(&merged);
    margin_context_free(context);
    free(index);
    repeated_free(r);
}

/* What differs in one bit stays apart: signs, targets, -0 and 0, a column, a stored 0. */
static void test_differences(void **state) {
    (void)state;
    for (int what = 0; what < 5; what++) {
        repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, false);
        const int64_t odd = SAMPLES - 1;
        double *value = (double *)r->values + r->starts[odd];
        int32_t *column = (int32_t *)r->columns + r->starts[odd];
        const int64_t length = r->starts[odd + 1] - r->starts[odd];
        assert_true(length > 1 && column[length - 1] < COLUMNS);
        if (what == 0) r->sign[odd] = (int8_t)-r->sign[odd];
        if (what == 1) r->target[odd] = nextafter(r->target[odd], 1e9);
        if (what == 2) value[0] = nextafter(value[0], 1e9);
        if (what == 3) column[length - 1] = COLUMNS; /* one more column */
        if (what == 4) value[length - 1] = 0.0;
        r->problem.x.columns = COLUMNS + 1;
        margin_context *context;
        mg_merged_rows merged = merge_with(&r->problem, 2, &context);
        assert_int_equal(merged.problem.count, DISTINCT + 1);
        assert_int_equal(merged.group[odd], DISTINCT);
        assert_true(merged.problem.weight[DISTINCT] == 1.0);
        mg_merged_rows_free(&merged);
        margin_context_free(context);
        repeated_free(r);
    }
}

/* ---- Not merged ------------------------------------------------------------------------------ */

static void check_not_merged(const mg_problem *p) {
    margin_context *context;
    mg_merged_rows merged = merge_with(p, 2, &context);
    assert_null(merged.arena.heap);
    mg_merged_rows_free(&merged);
    margin_context_free(context);
}

static void test_not_merged(void **state) {
    (void)state;
    repeated *few = repeated_make(MG_LEAST_MERGED - 1, DISTINCT, MARGIN_F64, MARGIN_I32, false);
    check_not_merged(&few->problem);
    repeated_free(few);
    repeated *other = repeated_make(5000, 4000, MARGIN_F64, MARGIN_I32, false);
    check_not_merged(&other->problem);
    repeated_free(other);
    linear_case *dense = linear_case_make(5000, 2, 0, 1, 3);
    memset(dense->x, 0, sizeof(double) * 10000);
    check_not_merged(&dense->problem);
    linear_case_free(dense);
}

static void test_memory_limit(void **state) {
    (void)state;
    repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, false);
    margin_context_options options = {.size = sizeof options, .threads = 1};
    options.memory_limit = 4 * 64 * SAMPLES - 1;
    margin_context *context;
    margin_error error;
    mg_merged_rows merged;
    assert_int_equal(margin_context_create(&options, &context, &error), MARGIN_OK);
    assert_int_equal(mg_merge_rows(context, &r->problem, &merged, &error), MARGIN_OK);
    assert_null(merged.arena.heap);
    margin_context_free(context);
    repeated_free(r);
}

/* ---- Fits ------------------------------------------------------------------------------------ */

/* The distinct rows with the sums of the weights, dense. */
static void weigh(const repeated *r, mg_problem *thin, double *weight) {
    memset(weight, 0, DISTINCT * sizeof *weight);
    for (int64_t i = 0; i < r->problem.count; i++)
        weight[r->kind[i]] += r->weight[i];
    *thin = r->thin->problem;
    thin->weight = weight;
}

static void check_same_model(const linear_fitted *a, const linear_fitted *b) {
    assert_true(fabs(a->report.objective - b->report.objective) <=
                2e-6 * (1 + fabs(a->report.objective)));
    for (int64_t j = 0; j < COLUMNS; j++)
        assert_close(weights_of(a)[j], weights_of(b)[j], 1e-3);
    assert_close(intercept_of(a), intercept_of(b), 1e-3);
}

/* Every row has its own dual variable within its box, and they make the weights. */
static void check_dual(const repeated *r, const linear_fitted *f, double most) {
    double w[COLUMNS] = {0};
    assert_non_null(f->h->dual_starts);
    for (int64_t k = 0; k < f->h->dual_starts[1]; k++) {
        const int64_t i = f->h->dual_rows[k];
        const double alpha = f->h->dual_coefficients[k];
        assert_true(alpha > 0.0 && alpha <= most * r->weight[i]);
        for (int64_t j = 0; j < COLUMNS; j++)
            w[j] += alpha * r->sign[i] * r->thin->x[r->kind[i] * COLUMNS + j];
    }
    for (int64_t j = 0; j < COLUMNS; j++)
        assert_close(w[j], weights_of(f)[j], 1e-2);
}

static void test_fits(void **state) {
    static const struct {
        mg_loss_kind loss;
        const char *options;
    } fits[] = {
        {MG_LOSS_LOGISTIC, "C=0.5, tol=1e-10"},
        {MG_LOSS_LOGISTIC, "C=0.01, l1_ratio=1, tol=1e-10"},
        {MG_LOSS_SQUARED_HINGE, "C=0.5, tol=1e-10"},
        {MG_LOSS_HINGE, "C=0.01, tol=1e-7"},
        {MG_LOSS_HINGE, "C=0.01, tol=1e-7, solver=dual_cd"},
        {MG_LOSS_SQUARED, "alpha=3, tol=1e-10"},
    };
    (void)state;
    repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, true);
    double weight[DISTINCT];
    mg_problem thin;
    weigh(r, &thin, weight);
    for (int k = 0; k < MG_LENGTH(fits); k++) {
        linear_fitted all = linear_fit(&r->problem, fits[k].loss, fits[k].options);
        linear_fitted few = linear_fit(&thin, fits[k].loss, fits[k].options);
        linear_fitted proof = linear_verify(&r->problem, fits[k].loss, fits[k].options, all.h);
        check_same_model(&all, &few);
        assert_int_equal(proof.status, MARGIN_OK);
        assert_true(proof.report.gap <= 1e-6);
        assert_true(fabs(proof.report.objective - all.report.objective) <=
                    1e-9 * all.report.objective);
        if (fits[k].loss == MG_LOSS_HINGE) check_dual(r, &all, 0.01);
        linear_fitted_free(&proof);
        linear_fitted_free(&all);
        linear_fitted_free(&few);
    }
    repeated_free(r);
}

static void test_threads(void **state) {
    static const mg_loss_kind losses[] = {MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE, MG_LOSS_HINGE};
    (void)state;
    repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, true);
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_fitted f[2];
        for (int k = 0; k < 2; k++) {
            margin_context *context = support_context(NULL, k == 0 ? 1 : 4);
            f[k] = linear_fit_with(context, &r->problem, losses[l], "", NULL);
            assert_true(f[k].status >= 0);
            margin_context_free(context);
        }
        assert_memory_equal(weights_of(&f[0]), weights_of(&f[1]), COLUMNS * sizeof(double));
        assert_true(f[0].report.gap == f[1].report.gap);
        linear_fitted_free(&f[0]);
        linear_fitted_free(&f[1]);
    }
    repeated_free(r);
}

static int count_errors(const margin_trace_step *step, void *user) {
    *(int64_t *)user = step->errors;
    return 0;
}

/* A trace counts the rows themselves. */
static void test_trace(void **state) {
    (void)state;
    repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, false);
    margin_context *context = support_context(NULL, 2);
    int64_t counted = -1, wrong = 0;
    const mg_trace trace = {.step = count_errors, .user = &counted};
    linear_fitted f = linear_fit_with(context, &r->problem, MG_LOSS_LOGISTIC, "tol=1e-10", &trace);
    for (int64_t i = 0; i < SAMPLES; i++) {
        double score = intercept_of(&f);
        for (int64_t j = 0; j < COLUMNS; j++)
            score += weights_of(&f)[j] * r->thin->x[r->kind[i] * COLUMNS + j];
        wrong += r->sign[i] * score <= 0;
    }
    assert_true(wrong > DISTINCT);
    assert_int_equal(counted, wrong);
    linear_fitted_free(&f);
    margin_context_free(context);
    repeated_free(r);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static margin_status fit_once(margin_context *context, void *user, margin_error *error) {
    const mg_problem *p = user;
    linear_fitted f = linear_fit_with(context, p, MG_LOSS_HINGE, "tol=1e-3", NULL);
    *error = f.error;
    const margin_status status = f.status;
    linear_fitted_free(&f);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    repeated *r = repeated_make(MG_LEAST_MERGED, DISTINCT, MARGIN_F32, MARGIN_I32, false);
    assert_true(support_fail_each_allocation(1, fit_once, &r->problem) >= 16);
    repeated_free(r);
}

static void test_cancelled(void **state) {
    (void)state;
    repeated *r = repeated_make(SAMPLES, DISTINCT, MARGIN_F64, MARGIN_I32, false);
    margin_context *context = support_context(NULL, 2);
    margin_error error;
    mg_merged_rows merged;
    margin_context_cancel(context);
    assert_int_equal(mg_merge_rows(context, &r->problem, &merged, &error), MARGIN_ERROR_CANCELLED);
    assert_null(merged.arena.heap);
    margin_context_free(context);
    repeated_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),       cmocka_unit_test(test_selection),
        cmocka_unit_test(test_differences),  cmocka_unit_test(test_not_merged),
        cmocka_unit_test(test_memory_limit), cmocka_unit_test(test_fits),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_trace),
        cmocka_unit_test(test_allocations),  cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
