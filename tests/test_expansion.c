/* Kernel expansions against sums over pairs of rows. */
#include "hypothesis_cases.h"

#include <math.h>

/* ---- Tensors from a hostile file ------------------------------------------------------------- */

/* A sound expansion, one defect at a time. */
static mg_hypothesis *sound_expansion(mg_heap *heap, bool sparse) {
    mg_hypothesis *h = bare(heap, &mg_hypothesis_expansion, 2, 2);
    double *kernel = tensor(h, "kernel", MARGIN_F64, 4, 0);
    kernel[0] = MG_KERNEL_RBF;
    kernel[1] = 0.5;
    if (sparse) {
        int64_t *starts = tensor(h, "support_starts", MARGIN_I64, 4, 0);
        int32_t *indices = tensor(h, "support_indices", MARGIN_I32, 4, 0);
        tensor(h, "support_values", MARGIN_F64, 4, 0);
        starts[1] = 1;
        starts[2] = 3;
        starts[3] = 4;
        indices[2] = 1;
    } else {
        tensor(h, "support", MARGIN_F64, 3, 2);
    }
    int64_t *starts = tensor(h, "starts", MARGIN_I64, 3, 0);
    int32_t *entries = tensor(h, "entries", MARGIN_I32, 4, 0);
    tensor(h, "coefficients", MARGIN_F64, 4, 0);
    tensor(h, "intercept", MARGIN_F64, 2, 0);
    starts[1] = 2;
    starts[2] = 4;
    entries[0] = 0;
    entries[1] = 2;
    entries[2] = 1;
    entries[3] = 2;
    return h;
}

static void test_expansion_refusals(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int defect = 0; defect <= 12; defect++) {
        mg_hypothesis *h = sound_expansion(context->heap, defect >= 8);
        const char *part = "the coefficients of the expansion";
        double *kernel = data_of(h, "kernel"), *numbers = data_of(h, "coefficients");
        int64_t *starts = data_of(h, "starts");
        int32_t *entries = data_of(h, "entries");
        switch (defect) {
        case 0:
            OK(mg_hypothesis_attach(h, &error));
            kernel[0] = 7; /* the caller's, and there is none */
            REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_ARGUMENT, "kernel=user");
            mg_hypothesis_free(h);
            continue;
        case 1:
            kernel[0] = 8;
            part = "no known kernel";
            break;
        case 2:
            kernel[3] = 0.5;
            part = "no known kernel";
            break;
        case 3:
            entries[3] = 3;
            break;
        case 4:
            entries[1] = 0;
            break;
        case 5:
            starts[1] = 5;
            break;
        case 6:
            numbers[2] = (double)NAN;
            break;
        case 7:
            entries[2] = -1;
            break;
        case 8:
            ((int32_t *)data_of(h, "support_indices"))[2] = 2;
            part = "no sparse matrix";
            break;
        case 9:
            ((int32_t *)data_of(h, "support_indices"))[2] = 0;
            part = "no sparse matrix";
            break;
        case 10:
            ((int64_t *)data_of(h, "support_starts"))[1] = INT64_MIN;
            part = "no sparse matrix";
            break;
        case 11:
            ((int64_t *)data_of(h, "support_starts"))[3] = 5;
            part = "no sparse matrix";
            break;
        case 12:
            starts[0] = -1;
            break;
        }
        REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, part);
        mg_hypothesis_free(h);
    }
    mg_hypothesis *h = bare(context->heap, &mg_hypothesis_expansion, 2, 1);
    tensor(h, "kernel", MARGIN_F64, 4, 0);
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "no support rows");
    mg_hypothesis_free(h);
    margin_context_free(context);
}

/* ---- Scores ------------------------------------------------------------------------------ */

static const mg_kernel kernels[] = {
    {MG_KERNEL_LINEAR, 0, 0, 0, NULL, NULL},       {MG_KERNEL_POLY, 0.5, 1, 3, NULL, NULL},
    {MG_KERNEL_RBF, 0.05, 0, 0, NULL, NULL},       {MG_KERNEL_EXP, 0, 0, 0, NULL, NULL},
    {MG_KERNEL_SIGMOID, 0.125, -1, 0, NULL, NULL}, {MG_KERNEL_LAPLACIAN, 0.1, 0, 0, NULL, NULL},
};

static double pair_sum(const mg_kernel *kernel, const margin_matrix *x, int64_t i,
                       const margin_matrix *z, const int64_t *rows, const double *c, int64_t count,
                       double b) {
    for (int64_t k = 0; k < count; k++)
        b += c[k] * mg_kernel_rows(NULL, kernel, x, i, z, rows[k]);
    return b;
}

static void test_expansion_scores(void **state) {
    (void)state;
    enum { SUPPORT = 300, QUERIES = 37, COLUMNS = 6 };
    margin_context *context = support_context(NULL, 2);
    sample *support = sample_make(SUPPORT, COLUMNS, 2, 0, 2),
           *query = sample_make(QUERIES, COLUMNS, 2, 0, 3);
    int64_t rows[SUPPORT];
    double c[SUPPORT];
    for (int64_t k = 0; k < SUPPORT; k++) { /* in descending order, every 4th row twice */
        rows[k] = SUPPORT - 1 - (k % 4 == 3 ? k - 1 : k);
        c[k] = (double)(k % 7) - 3;
    }
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
        for (int s = 0; s < LAYOUTS; s++) {
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &kernels[n], VIEW(support, s), rows, c, SUPPORT,
                                 0.75, &h, &error));
            OK(mg_hypothesis_attach(h, &error));
            assert_int_equal(h->view.expansion.support.rows, SUPPORT * 3 / 4);
            assert_int_equal(h->view.expansion.support.value_type,
                             sample_view(support, s).value_type);
            for (int q = 0; q < LAYOUTS; q++) {
                double *scores = hypothesis_scores(h, VIEW(query, q));
                for (int64_t i = 0; i < QUERIES; i++) {
                    double expected = pair_sum(&kernels[n], VIEW(query, 0), i, VIEW(support, 0),
                                               rows, c, SUPPORT, 0.75);
                    assert_close(scores[i], expected, 1e-11);
                }
                free(scores);
            }
            mg_hypothesis_free(h);
        }
    }
    sample_free(query);
    sample_free(support);
    margin_context_free(context);
}

static void test_expansion_wide(void **state) {
    (void)state;
    enum { ROWS = 30 }; /* more than are scored side by side */
    static const int64_t widths[] = {1, 500, 4096, 4097, 6000};
    margin_context *context = support_context(NULL, 1);
    for (size_t n = 0; n < sizeof widths / sizeof widths[0]; n++) {
        sample *l = sample_make(ROWS, widths[n], 2, 0, 4);
        const int64_t rows[3] = {1, 4, 10};
        const double c[3] = {1, -0.5, 0.25};
        const mg_kernel kernel = {MG_KERNEL_RBF, 1.0 / (double)widths[n], 0, 0, NULL, NULL};
        for (int v = 0; v < LAYOUTS; v++) {
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &kernel, VIEW(l, v), rows, c, 3, 0, &h, &error));
            OK(mg_hypothesis_attach(h, &error));
            double *scores = hypothesis_scores(h, VIEW(l, v));
            for (int64_t i = 0; i < ROWS; i++)
                assert_close(scores[i], pair_sum(&kernel, VIEW(l, 0), i, VIEW(l, 0), rows, c, 3, 0),
                             1e-12);
            free(scores);
            mg_hypothesis_free(h);
        }
        sample_free(l);
    }
    margin_context_free(context);
}

static void test_expansion_nan(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    double rows[6] = {1, 2, (double)NAN, 4, 5, 6}, scores[3];
    const int64_t chosen[2] = {0, 2};
    const double c[2] = {1, 1};
    margin_matrix x = margin_dense_f64(rows, 3, 2, 2);
    for (int plain = 0; plain < 2; plain++) {
        if (plain) setenv("MARGIN_ISA", "ref", 1);
        for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &kernels[n], &x, chosen, c, 2, 0, &h, &error));
            OK(mg_hypothesis_attach(h, &error));
            h->kind->scores(h, &x, 0, 3, scores);
            assert_true(!isnan(scores[0]));
            assert_true(isnan(scores[1])); /* rbf clips distances, which would hide it */
            assert_true(!isnan(scores[2]));
            mg_hypothesis_free(h);
        }
    }
    unsetenv("MARGIN_ISA");
    margin_context_free(context);
}

static void test_expansion_empty(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    sample *l = sample_make(3, 2, 2, 0, 5);
    mg_hypothesis *h = NULL;
    double scores[3];
    for (int v = 0; v < LAYOUTS; v++) {
        OK(mg_expansion_make(context->heap, &kernels[2], VIEW(l, v), NULL, NULL, 0, 1.5, &h,
                             &error));
        OK(mg_hypothesis_attach(h, &error));
        h->kind->scores(h, VIEW(l, v), 0, 3, scores);
        for (int i = 0; i < 3; i++)
            assert_true(scores[i] == 1.5);
        double norm = -1;
        OK(mg_hypothesis_norm(context, h, 0, &norm, &error));
        assert_true(norm == 0);
        mg_hypothesis_free(h);
    }
    sample_free(l);
    margin_context_free(context);
}

/* Three functions over overlapping rows of one matrix. */
typedef struct {
    sample *l;
    int64_t rows[3][200];
    double c[3][200];
    int64_t count[3];
    mg_kernel kernel;
    int layout;
} three;

static three *make_three(void) {
    three *t = calloc(1, sizeof *t);
    uint64_t random = 17;
    t->l = sample_make(400, 5, 2, 0, 6);
    t->kernel = kernels[2];
    for (int f = 0; f < 3; f++) {
        t->count[f] = 200 - f * 99;
        for (int64_t k = 0; k < t->count[f]; k++) {
            t->rows[f][k] = 2 * k + (f == 2);
            t->c[f][k] = support_uniform(&random) - 0.5;
        }
    }
    return t;
}

static void free_three(three *t) {
    sample_free(t->l);
    free(t);
}

static margin_status combine_three(mg_heap *heap, const three *t, mg_hypothesis **out,
                                   margin_error *failure) {
    mg_hypothesis *parts[3] = {NULL, NULL, NULL};
    const double one[1] = {1};
    margin_status status = MARGIN_OK;
    for (int f = 0; f < 3 && status >= 0; f++) {
        int64_t original[1] = {f * 10};
        status = mg_expansion_make(heap, &t->kernel, VIEW(t->l, t->layout), t->rows[f], t->c[f],
                                   t->count[f], f, &parts[f], failure);
        if (status >= 0)
            status = mg_hypothesis_set_dual(parts[f], 1, original, one, one, one, failure);
    }
    if (status >= 0) status = mg_hypothesis_expansion.combine(heap, parts, 3, out, failure);
    if (status >= 0) status = mg_hypothesis_attach(*out, failure);
    if (status < 0) mg_hypothesis_free(*out);
    if (status < 0) *out = NULL;
    for (int f = 0; f < 3; f++)
        mg_hypothesis_free(parts[f]);
    return status;
}

static void test_expansion_combine(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    three *t = make_three();
    for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
        mg_hypothesis *h = NULL, *slice = NULL;
        OK(combine_three(context->heap, t, &h, &error));
        /* functions 0 and 1 share rows 0, 2, ...; 2 has odd ones */
        assert_int_equal(h->view.expansion.support.rows, 202);
        assert_int_equal(h->view.expansion.starts[3], 200 + 101 + 2);
        assert_int_equal(h->dual_starts[3], 3);
        assert_int_equal(h->dual_rows[2], 20);
        double *scores = hypothesis_scores(h, VIEW(t->l, 0));
        for (int f = 0; f < 3; f++) {
            for (int64_t i = 0; i < 400; i += 13)
                assert_close(scores[i * 3 + f],
                             pair_sum(&t->kernel, VIEW(t->l, 0), i, VIEW(t->l, 0), t->rows[f],
                                      t->c[f], t->count[f], f),
                             1e-12);
            OK(mg_hypothesis_expansion.slice(context->heap, h, f, &slice, &error));
            assert_int_equal(slice->view.expansion.support.rows, t->count[f]);
            assert_int_equal(slice->dual_rows[0], f * 10);
            double *alone = hypothesis_scores(slice, VIEW(t->l, 0));
            for (int64_t i = 0; i < 400; i++)
                assert_close(alone[i], scores[i * 3 + f], 1e-13);
            free(alone);
            mg_hypothesis_free(slice);
        }
        free(scores);
        mg_hypothesis_free(h);
    }
    free_three(t);
    margin_context_free(context);
}

static void test_expansion_norms(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    three *t = make_three();
    mg_hypothesis *h = NULL;
    double products[9];
    OK(combine_three(context->heap, t, &h, &error));
    OK(mg_hypothesis_products(context, h, products, &error));
    const margin_matrix *x = VIEW(t->l, 0);
    for (int f = 0; f < 3; f++)
        for (int g = 0; g < 3; g++) {
            double expected = 0;
            for (int64_t a = 0; a < t->count[f]; a++)
                expected += t->c[f][a] * pair_sum(&t->kernel, x, t->rows[f][a], x, t->rows[g],
                                                  t->c[g], t->count[g], 0);
            assert_close(products[f * 3 + g], expected, 1e-12);
        }
    for (int f = 0; f < 3; f++) {
        double norm = 0;
        OK(mg_hypothesis_norm(context, h, f, &norm, &error));
        assert_close(norm * norm, products[f * 4], 1e-12);
    }
    mg_hypothesis_free(h);
    free_three(t);
    margin_context_free(context);
}

static margin_status combine_body(margin_context *context, void *user, margin_error *failure) {
    mg_hypothesis *h = NULL, *slice = NULL;
    double products[9] = {-1};
    margin_status status = combine_three(context->heap, user, &h, failure);
    if (status >= 0)
        status = mg_hypothesis_expansion.slice(context->heap, h, 1, &slice, failure);
    else
        assert_null(h);
    if (status >= 0) status = mg_hypothesis_products(context, h, products, failure);
    if (status >= 0) status = mg_hypothesis_norm(context, h, 0, products, failure);
    mg_hypothesis_free(slice);
    mg_hypothesis_free(h);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    three *t = make_three();
    for (t->layout = 0; t->layout <= 2; t->layout += 2)
        assert_true(support_fail_each_allocation(1, combine_body, t) > 20);
    free_three(t);
}

/* Wide sparse rows, whose scores come from a table of columns: the values of pairs, to the bit. */
static void test_wide_sparse_rows(void **state) {
    (void)state;
    enum { COLUMNS = 100000, ROWS = 30, MOST = 1500 };
    margin_context *context = support_context(NULL, 1);
    int64_t starts[ROWS + 1] = {0};
    int32_t *columns = malloc(ROWS * MOST * sizeof *columns);
    double *values = malloc(ROWS * MOST * sizeof *values), score;
    uint64_t random = 4;
    for (int64_t i = 0; i < ROWS; i++) { /* one row is empty, two have more than a table holds */
        const int64_t count = i == 3  ? 0
                              : i < 2 ? 1100 + i
                                      : 1 + (int64_t)(support_random(&random) % 300);
        int64_t column = 0;
        starts[i + 1] = starts[i] + count;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++) {
            column += 1 + (int64_t)(support_random(&random) % 4) * (COLUMNS / 6000);
            columns[k] = (int32_t)column;
            values[k] = support_normal(&random);
        }
    }
    const margin_matrix x = margin_csr_f64(values, columns, starts, ROWS, COLUMNS);
    static const mg_kernel wide_kernels[] = {
        {.kind = MG_KERNEL_RBF, .gamma = 0.01},
        {.kind = MG_KERNEL_POLY, .gamma = 0.1, .coef0 = 1, .degree = 3},
        {.kind = MG_KERNEL_LINEAR},
        {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.01},
    };
    for (int n = 0; n < MG_LENGTH(wide_kernels); n++)
        for (int64_t s = 0; s < ROWS; s++) {
            const double one = 1.0;
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &wide_kernels[n], &x, &s, &one, 1, 0.0, &h,
                                 &error));
            OK(mg_hypothesis_attach(h, &error));
            for (int64_t i = 0; i < ROWS; i++) {
                const double pair = mg_kernel_rows(NULL, &wide_kernels[n], &x, i, &x, s);
                h->kind->scores(h, &x, i, 1, &score);
                if (score != pair)
                    fail_msg("kernel %d, rows %d and %d: %.17g, not %.17g", n, (int)i, (int)s,
                             score, pair);
            }
            mg_hypothesis_free(h);
        }
    free(values);
    free(columns);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_sparse_rows),  cmocka_unit_test(test_expansion_refusals),
        cmocka_unit_test(test_expansion_scores),  cmocka_unit_test(test_expansion_wide),
        cmocka_unit_test(test_expansion_nan),     cmocka_unit_test(test_expansion_empty),
        cmocka_unit_test(test_expansion_combine), cmocka_unit_test(test_expansion_norms),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
