/* Every linear learner, with its own choice of solver, over a matrix of awkward tables and
 * penalties: the optimum is proven, and proven again by the verification. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
    const char *name;
    int64_t rows, columns;
    double *x;
    float *narrow; /* x in single precision, or NULL */
    double *y, *two, *three;
    int64_t *starts; /* x by rows without zeros, or NULL */
    int32_t *at;
    double *values;
} table;

static void table_free(table *t) {
    free(t->x);
    free(t->narrow);
    free(t->y);
    free(t->starts);
    free(t->at);
    free(t->values);
}

/* Normal columns, of which the first five decide. */
static table table_make(const char *name, int64_t rows, int64_t columns, double noise) {
    table t = {.name = name, .rows = rows, .columns = columns};
    uint64_t seed = 11;
    t.x = calloc((size_t)(rows * columns), sizeof *t.x);
    t.y = calloc((size_t)(3 * rows), sizeof *t.y);
    assert_non_null(t.x);
    assert_non_null(t.y);
    t.two = t.y + rows;
    t.three = t.two + rows;
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++) {
            t.x[i * columns + j] = support_normal(&seed);
            if (j < 5) sum += t.x[i * columns + j];
        }
        sum += noise * support_normal(&seed);
        t.y[i] = 2 + sum;
        t.two[i] = sum > 0;
        t.three[i] = (sum > -1) + (sum > 1);
    }
    return t;
}

static void scale_columns(table *t, int most) {
    for (int64_t k = 0; k < t->rows * t->columns; k++)
        t->x[k] *= pow(10, (double)((int)(k % t->columns * 5) % (2 * most + 1) - most));
}

static void shift_columns(table *t, bool narrow) {
    if (narrow) t->narrow = calloc((size_t)(t->rows * t->columns), sizeof *t->narrow);
    for (int64_t k = 0; k < t->rows * t->columns; k++) {
        t->x[k] += 1e6;
        if (narrow) t->narrow[k] = (float)t->x[k];
    }
}

/* Without rounding: what depends only up to rounding has no proof without a penalty. */
static void repeat_columns(table *t) {
    for (int64_t i = 0; i < t->rows; i++) {
        double *row = t->x + i * t->columns;
        for (int j = 0; j < 2; j++)
            row[j] = rint(row[j] * 0x1p20) * 0x1p-20;
        row[t->columns - 2] = row[0];
        row[t->columns - 1] = 2 * row[0] - 3 * row[1];
    }
}

/* Most values 0, stored by rows. */
static void thin_out(table *t) {
    uint64_t seed = 12;
    int64_t count = 0;
    t->starts = calloc((size_t)t->rows + 1, sizeof *t->starts);
    t->at = calloc((size_t)(t->rows * t->columns), sizeof *t->at);
    t->values = calloc((size_t)(t->rows * t->columns), sizeof *t->values);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->columns; j++) {
            if (support_uniform(&seed) < 0.7) continue;
            t->at[count] = (int32_t)j;
            t->values[count++] = t->x[i * t->columns + j];
        }
        t->starts[i + 1] = count;
    }
}

static margin_matrix matrix_of(const table *t) {
    if (t->starts) return margin_csr_f64(t->values, t->at, t->starts, t->rows, t->columns);
    if (t->narrow) return margin_dense_f32(t->narrow, t->rows, t->columns, t->columns);
    return margin_dense_f64(t->x, t->rows, t->columns, t->columns);
}

/* What the stated domain leaves out: all functions together, and a large C on classes that overlap
 * or columns of unlike sizes. */
static bool may_stop(const table *t, const char *spec) {
    return strstr(spec, "argmax") && (strstr(spec, "1e6") || strstr(t->name, "scaled"));
}

/* Says what is wrong and counts it. */
static int check(margin_context *context, const table *t, const char *spec, const double *y) {
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    const margin_data data = {.x = matrix_of(t), .y = margin_values_f64(y, t->rows)};
    margin_model *model = fit_text(context, spec, &data, &report);
    int bad = 0;
    if (report.status != MARGIN_OK && !may_stop(t, spec)) {
        print_error("%s %d x %d: %s: %s\n", t->name, (int)t->rows, (int)t->columns, spec,
                    report.reason);
        bad++;
    }
    if (report.status == MARGIN_OK &&
        margin_verify(context, model, &data, &found, &error) != MARGIN_OK) {
        print_error("%s %d x %d: %s: %s %s\n", t->name, (int)t->rows, (int)t->columns, spec,
                    error.text, found.reason);
        bad++;
    }
    margin_model_free(model);
    return bad;
}

static int check_all(const table *t) {
    static const char *const two[] = {
        "logistic(C=%s)",   "logistic(C=%s, l1_ratio=1)",    "logistic(C=%s, l1_ratio=0.5)",
        "svm(C=%s)",        "svm(C=%s, loss=squared-hinge)", "svm(C=%s, solver=dual_cd)",
        "exponential(C=%s)"};
    static const char *const three[] = {"softmax(C=%s)", "svm(C=%s, multiclass=argmax)",
                                        "svm(C=%s, multiclass=ovo)"};
    static const char *const targets[] = {"ridge(C=%s)", "lasso(C=%s)", "elastic-net(C=%s)"};
    static const char *const sizes[] = {"1e-6", "1", "1e6"};
    margin_context *context = support_context(NULL, 2);
    int bad = 0;
    for (int c = 0; c < 3; c++) {
        char spec[80];
        for (size_t k = 0; k < sizeof two / sizeof *two; k++) {
            snprintf(spec, sizeof spec, two[k], sizes[c]);
            bad += check(context, t, spec, t->two);
        }
        for (size_t k = 0; k < sizeof three / sizeof *three; k++) {
            snprintf(spec, sizeof spec, three[k], sizes[c]);
            bad += check(context, t, spec, t->three);
        }
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            snprintf(spec, sizeof spec, targets[k], sizes[c]);
            bad += check(context, t, spec, t->y);
        }
    }
    bad += check(context, t, "least-squares", t->y);
    margin_context_free(context);
    return bad;
}

/* Scales: sizes of columns within the stated domain, 1e9 apart. */
static void check_size(int64_t rows, int64_t columns) {
    enum { PLAIN, SPARSE, SCALED, SPARSE_SCALED, SCALED_LESS, SHIFTED, NARROW, REPEATED, KINDS };
    static const char *const names[] = {"plain",       "sparse",  "scaled",         "sparse scaled",
                                        "scaled less", "shifted", "shifted single", "repeated"};
    int bad = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        table t = table_make(names[kind], rows, columns, 0.8);
        if (kind == SCALED || kind == SPARSE_SCALED) scale_columns(&t, 4);
        if (kind == SCALED_LESS) scale_columns(&t, 2);
        if (kind == SHIFTED || kind == NARROW) shift_columns(&t, kind == NARROW);
        if (kind == REPEATED) repeat_columns(&t);
        if (kind == SPARSE || kind == SPARSE_SCALED) thin_out(&t);
        bad += check_all(&t);
        table_free(&t);
    }
    table separable = table_make("separable", rows, columns, 0);
    bad += check_all(&separable);
    table_free(&separable);
    assert_int_equal(bad, 0);
}

static void test_small(void **state) {
    (void)state;
    check_size(30, 5);
}

static void test_medium(void **state) {
    (void)state;
    check_size(300, 20);
}

static void test_large(void **state) {
    (void)state;
    check_size(1000, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_medium),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
