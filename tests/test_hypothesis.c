/* Hypotheses: linear functions, kernel expansions, dual forms; and reports. */
#include "support/support.h"

#include "learn/dual.h"
#include "learn/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

#define REFUSED(call, code, part)                                                                  \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        assert_int_equal((call), (code));                                                          \
        assert_contains(error.text, (part));                                                       \
    } while (0)

/* ---- Data: one matrix in all layouts --------------------------------------------------------- */

enum { LAYOUTS = 5 };

typedef struct {
    int64_t rows, columns;
    double *f64;
    float *f32;
    int32_t *i32;
    int64_t *i64, *starts;
    int32_t *starts32;
    double *stored;
    margin_matrix views[LAYOUTS]; /* dense f64, dense f32, CSR f64 i32/i64, CSR f64 i64/i32, wide
                                     stride */
    double *strided;
} layouts;

/* Values are multiples of 1/8, so that f32 holds them exactly; about half are 0. */
static layouts *make_layouts(int64_t rows, int64_t columns, uint64_t seed) {
    layouts *l = calloc(1, sizeof *l);
    size_t numbers = (size_t)(rows * columns + 1);
    l->rows = rows;
    l->columns = columns;
    l->f64 = calloc(numbers, sizeof *l->f64);
    l->f32 = calloc(numbers, sizeof *l->f32);
    l->i32 = calloc(numbers, sizeof *l->i32);
    l->i64 = calloc(numbers, sizeof *l->i64);
    l->stored = calloc(numbers, sizeof *l->stored);
    l->starts = calloc((size_t)rows + 1, sizeof *l->starts);
    l->starts32 = calloc((size_t)rows + 1, sizeof *l->starts32);
    l->strided = calloc((size_t)(rows * (columns + 3) + 1), sizeof *l->strided);
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            double value = support_random(&seed) % 2
                               ? (double)((int)(support_random(&seed) % 33) - 16) / 8
                               : 0;
            l->f64[i * columns + j] = value;
            l->f32[i * columns + j] = (float)value;
            l->strided[i * (columns + 3) + j] = value;
            if (value == 0) continue;
            l->stored[k] = value;
            l->i32[k] = (int32_t)j;
            l->i64[k++] = j;
        }
        l->starts[i + 1] = k;
        l->starts32[i + 1] = (int32_t)k;
    }
    l->views[0] = margin_dense_f64(l->f64, rows, columns, columns);
    l->views[1] = margin_dense_f32(l->f32, rows, columns, columns);
    l->views[2] = margin_csr_f64(l->stored, l->i32, l->starts, rows, columns);
    l->views[3] = l->views[2];
    l->views[3].column_indices = l->i64;
    l->views[3].index_type = MARGIN_I64;
    l->views[3].row_starts = l->starts32;
    l->views[3].start_type = MARGIN_I32;
    l->views[4] = margin_dense_f64(l->strided, rows, columns, columns + 3);
    return l;
}

static void free_layouts(layouts *l) {
    free(l->f64);
    free(l->f32);
    free(l->i32);
    free(l->i64);
    free(l->stored);
    free(l->starts);
    free(l->starts32);
    free(l->strided);
    free(l);
}

/* Scores of all rows at once and one by one must be the same bits. */
static double *scores_of(const mg_hypothesis *h, const margin_matrix *x) {
    size_t bytes = (size_t)(x->rows * h->functions) * sizeof(double);
    double *all = malloc(bytes + 1), *one = malloc(bytes + 1);
    h->kind->scores(h, x, 0, x->rows, all);
    for (int64_t i = 0; i < x->rows; i++)
        h->kind->scores(h, x, i, 1, one + i * h->functions);
    assert_memory_equal(all, one, bytes);
    if (x->rows > 7) { /* and a batch that begins elsewhere */
        h->kind->scores(h, x, 3, x->rows - 4, one);
        assert_memory_equal(all + 3 * h->functions, one,
                            (size_t)((x->rows - 4) * h->functions) * sizeof(double));
    }
    free(one);
    return all;
}

/* ---- Linear ---------------------------------------------------------------------------------- */

static void test_linear(void **state) {
    (void)state;
    support_heap count;
    support_heap_init(&count);
    margin_context *context = support_context(&count, 2);
    layouts *l = make_layouts(23, 9, 1);
    double w[2][9], b[2] = {0.5, -1.25};
    for (int f = 0; f < 2; f++)
        for (int j = 0; j < 9; j++)
            w[f][j] = (j - 4 + f) * 0.25;
    mg_hypothesis *parts[2] = {NULL, NULL}, *both = NULL, *second = NULL;
    for (int f = 0; f < 2; f++)
        OK(mg_linear_make(context->heap, w[f], 9, b[f], &parts[f], &error));
    OK(mg_hypothesis_linear.combine(context->heap, parts, 2, &both, &error));
    assert_int_equal(both->functions, 2);
    for (int v = 0; v < LAYOUTS; v++) {
        double *scores = scores_of(both, &l->views[v]);
        for (int64_t i = 0; i < 23; i++)
            for (int f = 0; f < 2; f++) {
                double sum = b[f];
                for (int j = 0; j < 9; j++)
                    sum += w[f][j] * l->f64[i * 9 + j];
                assert_close(scores[i * 2 + f], sum, 1e-14);
            }
        free(scores);
    }
    OK(mg_hypothesis_linear.slice(context->heap, both, 1, &second, &error));
    assert_int_equal(second->functions, 1);
    assert_memory_equal(second->view.linear.weights, w[1], sizeof w[1]);
    assert_true(second->view.linear.intercept[0] == b[1]);

    double norm = 0, products[4], square = 0;
    for (int j = 0; j < 9; j++)
        square += w[1][j] * w[1][j];
    OK(mg_hypothesis_norm(context, both, 1, &norm, &error));
    assert_close(norm, sqrt(square), 1e-14);
    OK(mg_hypothesis_products(context, both, products, &error));
    assert_close(products[3], square, 1e-14);
    assert_true(products[1] == products[2]);

    mg_hypothesis_free(second);
    mg_hypothesis_free(both);
    mg_hypothesis_free(parts[0]);
    mg_hypothesis_free(parts[1]);
    free_layouts(l);
    margin_context_free(context);
    support_assert_nothing_live(&count);
}

static void test_linear_nan(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    double w[3] = {1, 0, 2}, rows[6] = {1, (double)NAN, 3, 1, 2, 3}, scores[2];
    mg_hypothesis *h = NULL;
    OK(mg_linear_make(context->heap, w, 3, 0, &h, &error));
    margin_matrix x = margin_dense_f64(rows, 2, 3, 3);
    h->kind->scores(h, &x, 0, 2, scores);
    assert_true(isnan(scores[0])); /* although the weight of the gap is 0 */
    assert_true(scores[1] == 7);
    mg_hypothesis_free(h);
    margin_context_free(context);
}

/* ---- Tensors from a hostile file ------------------------------------------------------------- */

static mg_hypothesis *bare(mg_heap *heap, const mg_hypothesis_kind *kind, int64_t columns,
                           int64_t functions) {
    mg_hypothesis *h = NULL;
    OK(mg_hypothesis_new(heap, kind, columns, functions, &h, &error));
    return h;
}

static void *tensor(mg_hypothesis *h, const char *name, margin_type type, int64_t rows,
                    int64_t columns) {
    void *data = mg_hypothesis_tensor(h, name, type, rows, columns);
    assert_non_null(data);
    return data;
}

static void test_linear_refusals(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    mg_heap *heap = context->heap;

    mg_hypothesis *h = bare(heap, &mg_hypothesis_linear, 3, 2);
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "no tensor 'weights'");
    tensor(h, "weights", MARGIN_F64, 2, 4);
    tensor(h, "intercept", MARGIN_F64, 2, 0);
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "another shape than 2 x 3");
    mg_hypothesis_free(h);

    h = bare(heap, &mg_hypothesis_linear, 3, 2);
    tensor(h, "weights", MARGIN_F32, 2, 3);
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "number type");
    mg_hypothesis_free(h);

    h = bare(heap, &mg_hypothesis_linear, 3, 2);
    double *w = tensor(h, "weights", MARGIN_F64, 2, 3);
    tensor(h, "intercept", MARGIN_F64, 2, 0);
    OK(mg_hypothesis_attach(h, &error));
    w[5] = (double)INFINITY;
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "not finite");
    mg_hypothesis_free(h);

    h = bare(heap, &mg_hypothesis_linear, 0, 2);
    REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "0 columns");
    mg_hypothesis_free(h);
    margin_context_free(context);
}

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

static void *data_of(mg_hypothesis *h, const char *name) {
    return mg_tensor_find(h, name)->data;
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
            mg_hypothesis_free(h);
            continue;
        case 1:
            kernel[0] = 6;
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

static void test_dual_refusals(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const double w[1] = {2}, alpha[2] = {1, 2}, sign[2] = {1, -1}, updates[2] = {2, 4};
    const int64_t rows[2] = {5, 9};
    for (int defect = 0; defect <= 5; defect++) {
        mg_hypothesis *h = NULL;
        OK(mg_linear_make(context->heap, w, 1, 0, &h, &error));
        OK(mg_hypothesis_set_dual(h, 2, rows, alpha, sign, updates, &error));
        switch (defect) {
        case 0:
            OK(mg_hypothesis_attach(h, &error));
            assert_int_equal(h->dual_starts[1], 2);
            assert_int_equal(h->dual_rows[1], 9);
            assert_true(h->dual_updates[1] == 4);
            mg_hypothesis_free(h);
            continue;
        case 1:
            ((int64_t *)data_of(h, "dual_row"))[0] = -1;
            break;
        case 2:
            ((double *)data_of(h, "dual_sign"))[1] = 0;
            break;
        case 3:
            ((double *)data_of(h, "dual_coefficient"))[1] = (double)NAN;
            break;
        case 4:
            ((int64_t *)data_of(h, "dual_starts"))[1] = 3;
            break;
        case 5:
            ((int64_t *)data_of(h, "dual_starts"))[0] = 1;
            break;
        }
        REFUSED(mg_hypothesis_attach(h, &error), MARGIN_ERROR_MODEL, "dual");
        mg_hypothesis_free(h);
    }
    margin_context_free(context);
}

/* ---- Expansions ------------------------------------------------------------------------------ */

static const mg_kernel kernels[] = {
    {MG_KERNEL_LINEAR, 0, 0, 0},       {MG_KERNEL_POLY, 0.5, 1, 3},
    {MG_KERNEL_RBF, 0.05, 0, 0},       {MG_KERNEL_EXP, 0, 0, 0},
    {MG_KERNEL_SIGMOID, 0.125, -1, 0}, {MG_KERNEL_LAPLACIAN, 0.1, 0, 0},
};

static double pair_sum(const mg_kernel *kernel, const margin_matrix *x, int64_t i,
                       const margin_matrix *z, const int64_t *rows, const double *c, int64_t count,
                       double b) {
    for (int64_t k = 0; k < count; k++)
        b += c[k] * mg_kernel_rows(kernel, x, i, z, rows[k]);
    return b;
}

static void test_expansion_scores(void **state) {
    (void)state;
    enum { SUPPORT = 300, QUERIES = 37, COLUMNS = 6 };
    margin_context *context = support_context(NULL, 2);
    layouts *support = make_layouts(SUPPORT, COLUMNS, 2),
            *query = make_layouts(QUERIES, COLUMNS, 3);
    int64_t rows[SUPPORT];
    double c[SUPPORT];
    for (int64_t k = 0; k < SUPPORT; k++) { /* in descending order, every 4th row twice */
        rows[k] = SUPPORT - 1 - (k % 4 == 3 ? k - 1 : k);
        c[k] = (double)(k % 7) - 3;
    }
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
        for (int s = 0; s < LAYOUTS; s++) {
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &kernels[n], &support->views[s], rows, c, SUPPORT,
                                 0.75, &h, &error));
            assert_int_equal(h->view.expansion.support.rows, SUPPORT * 3 / 4);
            assert_int_equal(h->view.expansion.support.value_type, support->views[s].value_type);
            for (int q = 0; q < LAYOUTS; q++) {
                double *scores = scores_of(h, &query->views[q]);
                for (int64_t i = 0; i < QUERIES; i++) {
                    double expected = pair_sum(&kernels[n], &query->views[0], i, &support->views[0],
                                               rows, c, SUPPORT, 0.75);
                    assert_close(scores[i], expected, 1e-11);
                }
                free(scores);
            }
            mg_hypothesis_free(h);
        }
    }
    free_layouts(query);
    free_layouts(support);
    margin_context_free(context);
}

static void test_expansion_wide(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 500, 4096, 4097, 6000};
    margin_context *context = support_context(NULL, 1);
    for (size_t n = 0; n < sizeof widths / sizeof widths[0]; n++) {
        layouts *l = make_layouts(12, widths[n], 4);
        const int64_t rows[3] = {1, 4, 10};
        const double c[3] = {1, -0.5, 0.25};
        const mg_kernel kernel = {MG_KERNEL_RBF, 1.0 / (double)widths[n], 0, 0};
        for (int v = 0; v < LAYOUTS; v++) {
            mg_hypothesis *h = NULL;
            OK(mg_expansion_make(context->heap, &kernel, &l->views[v], rows, c, 3, 0, &h, &error));
            double *scores = scores_of(h, &l->views[v]);
            for (int64_t i = 0; i < 12; i++)
                assert_close(scores[i],
                             pair_sum(&kernel, &l->views[0], i, &l->views[0], rows, c, 3, 0),
                             1e-12);
            free(scores);
            mg_hypothesis_free(h);
        }
        free_layouts(l);
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
    layouts *l = make_layouts(3, 2, 5);
    mg_hypothesis *h = NULL;
    double scores[3];
    for (int v = 0; v < LAYOUTS; v++) {
        OK(mg_expansion_make(context->heap, &kernels[2], &l->views[v], NULL, NULL, 0, 1.5, &h,
                             &error));
        h->kind->scores(h, &l->views[v], 0, 3, scores);
        for (int i = 0; i < 3; i++)
            assert_true(scores[i] == 1.5);
        double norm = -1;
        OK(mg_hypothesis_norm(context, h, 0, &norm, &error));
        assert_true(norm == 0);
        mg_hypothesis_free(h);
    }
    free_layouts(l);
    margin_context_free(context);
}

/* Three functions over overlapping rows of one matrix. */
typedef struct {
    layouts *l;
    int64_t rows[3][200];
    double c[3][200];
    int64_t count[3];
    mg_kernel kernel;
    int layout;
} three;

static three *make_three(void) {
    three *t = calloc(1, sizeof *t);
    uint64_t random = 17;
    t->l = make_layouts(400, 5, 6);
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
    free_layouts(t->l);
    free(t);
}

static margin_status combine_three(mg_heap *heap, const three *t, mg_hypothesis **out,
                                   margin_error *failure) {
    mg_hypothesis *parts[3] = {NULL, NULL, NULL};
    const double one[1] = {1};
    margin_status status = MARGIN_OK;
    for (int f = 0; f < 3 && status >= 0; f++) {
        int64_t original[1] = {f * 10};
        status = mg_expansion_make(heap, &t->kernel, &t->l->views[t->layout], t->rows[f], t->c[f],
                                   t->count[f], f, &parts[f], failure);
        if (status >= 0)
            status = mg_hypothesis_set_dual(parts[f], 1, original, one, one, one, failure);
    }
    if (status >= 0) status = mg_hypothesis_expansion.combine(heap, parts, 3, out, failure);
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
        double *scores = scores_of(h, &t->l->views[0]);
        for (int f = 0; f < 3; f++) {
            for (int64_t i = 0; i < 400; i += 13)
                assert_close(scores[i * 3 + f],
                             pair_sum(&t->kernel, &t->l->views[0], i, &t->l->views[0], t->rows[f],
                                      t->c[f], t->count[f], f),
                             1e-12);
            OK(mg_hypothesis_expansion.slice(context->heap, h, f, &slice, &error));
            assert_int_equal(slice->view.expansion.support.rows, t->count[f]);
            assert_int_equal(slice->dual_rows[0], f * 10);
            double *alone = scores_of(slice, &t->l->views[0]);
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
    const margin_matrix *x = &t->l->views[0];
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

/* ---- Reports --------------------------------------------------------------------------------- */

static void test_report_items(void **state) {
    (void)state;
    margin_report report;
    mg_report_init(&report);
    assert_true(isnan(report.gap) && isnan(report.objective) && isnan(report.train_accuracy));
    assert_true(isnan(margin_report_item_value(&report, "mistakes")));
    mg_report_set(&report, "mistakes", 3);
    mg_report_set(&report, "mistakes", 4);
    assert_int_equal(report.item_count, 1);
    assert_true(margin_report_item_value(&report, "mistakes") == 4);
    for (int i = 0; i < 20; i++) {
        char name[8] = {'i', (char)('a' + i), 0};
        mg_report_set(&report, name, i);
    }
    assert_int_equal(report.item_count, MARGIN_REPORT_ITEMS);
    mg_report_set(&report, "ia", 7);
    assert_true(margin_report_item_value(&report, "ia") == 7);
    assert_true(isnan(margin_report_item_value(NULL, "ia")));
    mg_report_formula(&report, "a formula");
    assert_string_equal(report.formula, "a formula");
    char text[500];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    mg_report_formula(&report, text);
    assert_int_equal(strlen(report.formula), sizeof report.formula - 1);
}

static margin_report part_report(margin_status status, double gap, double margin, double mistakes) {
    margin_report report;
    mg_report_init(&report);
    report.status = status;
    report.gap = gap;
    report.tolerance = 1e-3;
    report.objective = 2;
    report.iterations = 5;
    mg_report_set(&report, "margin", margin);
    mg_report_set(&report, "radius", 10 * margin);
    mg_report_set(&report, "mistakes", mistakes);
    mg_report_reason(&report, "reason %d", (int)mistakes);
    return report;
}

static void test_report_join(void **state) {
    (void)state;
    margin_report all = part_report(MARGIN_OK, 0.25, 3, 10);
    margin_report part = part_report(MARGIN_STOPPED_ITERATIONS, 0.125, 2, 20);
    mg_report_join(&all, &part, "b against the rest");
    assert_int_equal(all.status, MARGIN_STOPPED_ITERATIONS);
    assert_string_equal(all.reason, "b against the rest: reason 20");
    assert_true(all.gap == 0.25 && all.objective == 4 && all.iterations == 10);
    assert_int_equal(all.subproblems, 2);
    assert_true(margin_report_item_value(&all, "margin") == 2);
    assert_true(margin_report_item_value(&all, "radius") == 30);
    assert_true(margin_report_item_value(&all, "mistakes") == 30);

    part = part_report(MARGIN_STOPPED_ITERATIONS, (double)NAN, (double)NAN, 1);
    mg_report_set(&part, "support_vectors", 8);
    mg_report_join(&all, &part, "c");
    assert_string_equal(all.reason, "b against the rest: reason 20"); /* the first of the worst */
    assert_true(isnan(all.gap));
    assert_true(isnan(margin_report_item_value(&all, "margin")));
    assert_true(margin_report_item_value(&all, "support_vectors") == 8);
    part = part_report(MARGIN_OK, 0, 1, 1);
    mg_report_set(&part, "support_vectors", 3);
    mg_report_join(&all, &part, "d");
    assert_true(isnan(all.gap));
    assert_true(isnan(margin_report_item_value(&all, "margin")));
    assert_true(margin_report_item_value(&all, "support_vectors") == 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),          cmocka_unit_test(test_linear_nan),
        cmocka_unit_test(test_linear_refusals), cmocka_unit_test(test_expansion_refusals),
        cmocka_unit_test(test_dual_refusals),   cmocka_unit_test(test_expansion_scores),
        cmocka_unit_test(test_expansion_wide),  cmocka_unit_test(test_expansion_nan),
        cmocka_unit_test(test_expansion_empty), cmocka_unit_test(test_expansion_combine),
        cmocka_unit_test(test_expansion_norms), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_report_items),    cmocka_unit_test(test_report_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
