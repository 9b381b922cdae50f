/* Scores of an expansion in single precision: their errors are within their bounds, and classes
 * told by them are those of the scores in f64. */
#include "hypothesis_cases.h"

#include "learn/hypothesis/expansion_rough.h"

#include <math.h>

/* ---- Bounds ---------------------------------------------------------------------------------- */

typedef struct rough_case {
    int64_t columns, support, count;
    double gamma, offset, spread, size;
    bool single; /* rows in f32 */
    bool equal;  /* all values of a row: their products are rounded alike */
    double over; /* the values are bytes, over so much; 0: they are not */
} rough_case;

static double power_of_ten(uint64_t *state, double low, double high) {
    return pow(10.0, low + (high - low) * support_uniform(state));
}

static rough_case draw_case(uint64_t *state) {
    static const int64_t widths[] = {1, 2, 7, 50, 64, 65, 257, 600};
    rough_case c = {.columns = widths[support_random(state) % 8],
                    .support = 12 + (int64_t)(support_random(state) % 250),
                    .count = 1 + (int64_t)(support_random(state) % MG_ROUGH_ROWS),
                    .spread = power_of_ten(state, -3, 3),
                    .size = power_of_ten(state, -3, 6),
                    .single = support_random(state) % 2,
                    .equal = support_random(state) % 4 == 0};
    const double usual = 1.0 / ((double)c.columns * c.spread * c.spread);
    c.gamma = usual * power_of_ten(state, -4, 2);
    c.offset = support_random(state) % 3 ? 0.0 : c.spread * power_of_ten(state, 0, 6);
    if (support_random(state) % 4 > 0) return c;
    c.over = support_random(state) % 2 ? 255.0 : 1.0;
    c.gamma *= c.spread * c.spread * c.over * c.over / 4900.0;
    return c;
}

static double *draw_rows(const rough_case *c, int64_t rows, uint64_t *state) {
    double *values = malloc((size_t)(rows * c->columns) * sizeof *values);
    for (int64_t k = 0; k < rows * c->columns; k++) {
        const double value = c->offset + c->spread * support_normal(state);
        values[k] = c->single ? (double)(float)value : value;
        if (c->over > 0.0) values[k] = (double)(support_random(state) % 256) / c->over;
        if (c->over > 0.0 && c->single) values[k] = (double)(float)values[k];
        if (c->equal && k % c->columns > 0) values[k] = values[k - 1];
    }
    return values;
}

/* Two functions, of which each has about two thirds of the support rows. */
static mg_hypothesis *draw_expansion(mg_heap *heap, const rough_case *c, const double *rows,
                                     uint64_t *state) {
    const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = c->gamma};
    const margin_matrix x = margin_dense_f64(rows, c->support, c->columns, c->columns);
    int64_t *list = malloc((size_t)c->support * sizeof *list);
    double *weights = malloc((size_t)c->support * sizeof *weights);
    mg_hypothesis *parts[2], *h = NULL;
    for (int f = 0; f < 2; f++) {
        int64_t count = 0;
        for (int64_t i = 0; i < c->support; i++) {
            if (support_random(state) % 3 == 0) continue;
            list[count] = i;
            weights[count++] = c->size * support_normal(state);
        }
        OK(mg_expansion_make(heap, &kernel, &x, list, weights, count, support_normal(state),
                             &parts[f], &error));
    }
    OK(mg_hypothesis_expansion.combine(heap, parts, 2, &h, &error));
    OK(mg_hypothesis_attach(h, &error));
    for (int f = 0; f < 2; f++)
        mg_hypothesis_free(parts[f]);
    free(weights);
    free(list);
    return h;
}

/* The greatest error as a share of its bound; `useful`: bounds below a thousandth of the sizes. */
static double compare_scores(margin_context *context, const mg_hypothesis *h, const rough_case *c,
                             const margin_matrix *x, bool *useful) {
    mg_expansion_rough *rough = mg_expansion_rough_new(context, h, c->over > 0.0 ? x : NULL);
    assert_non_null(rough);
    const int64_t numbers = c->count * h->functions;
    double *room = malloc((size_t)mg_expansion_rough_room(rough) * sizeof *room);
    double *scores = malloc((size_t)(3 * numbers) * sizeof *scores);
    double *errors = scores + numbers, *exact = errors + numbers, most = 0.0;
    mg_expansion_rough_scores(rough, x, 0, c->count, room, scores, errors);
    h->kind->scores(h, x, 0, c->count, exact);
    *useful = true;
    for (int64_t k = 0; k < numbers; k++) {
        assert_true(errors[k] > 0.0);
        most = fmax(most, fabs(scores[k] - exact[k]) / errors[k]);
        *useful = *useful && errors[k] < 1e-3 * c->size * (double)c->support;
    }
    free(scores);
    free(room);
    mg_expansion_rough_free(rough);
    return most;
}

static void errors_are_within_bounds(void **unused) {
    (void)unused;
    enum { CASES = 2000 / SUPPORT_SLOWER };
    margin_context *context = support_context(NULL, 1);
    uint64_t state = 7;
    int64_t useful = 0;
    double most = 0.0;
    for (int n = 0; n < CASES; n++) {
        const rough_case c = draw_case(&state);
        double *support = draw_rows(&c, c.support, &state), *rows = draw_rows(&c, c.count, &state);
        float *narrow = malloc((size_t)(c.count * c.columns) * sizeof *narrow);
        if (n % 4 == 0) memcpy(rows, support, (size_t)c.columns * sizeof *rows); /* a support row */
        for (int64_t k = 0; k < c.count * c.columns; k++)
            narrow[k] = (float)rows[k];
        const margin_matrix x = c.single ? margin_dense_f32(narrow, c.count, c.columns, c.columns)
                                         : margin_dense_f64(rows, c.count, c.columns, c.columns);
        mg_hypothesis *h = draw_expansion(context->heap, &c, support, &state);
        bool is_useful;
        const double share = compare_scores(context, h, &c, &x, &is_useful);
        if (share > 1.0)
            fail_msg("case %d: %g of the bound, %lld columns, gamma %g, offset %g", n, share,
                     (long long)c.columns, c.gamma, c.offset);
        most = fmax(most, share);
        useful += is_useful;
        mg_hypothesis_free(h);
        free(narrow);
        free(rows);
        free(support);
    }
    assert_true(useful > CASES / 2); /* bounds that say nothing would pass, too */
    assert_true(most > 0.001);
    margin_context_free(context);
}

static void rows_that_are_not_finite(void **unused) {
    (void)unused;
    margin_context *context = support_context(NULL, 1);
    uint64_t state = 3;
    const rough_case c = {
        .columns = 5, .support = 40, .count = 4, .gamma = 0.2, .spread = 1.0, .size = 1.0};
    double *support = draw_rows(&c, c.support, &state), *rows = draw_rows(&c, c.count, &state);
    double room[50000], scores[8], errors[8];
    rows[7] = (double)NAN;
    rows[12] = (double)INFINITY;
    rows[16] = 1e300;
    mg_hypothesis *h = draw_expansion(context->heap, &c, support, &state);
    mg_expansion_rough *rough = mg_expansion_rough_new(context, h, NULL);
    assert_true(mg_expansion_rough_room(rough) <= MG_LENGTH(room));
    const margin_matrix x = margin_dense_f64(rows, c.count, c.columns, c.columns);
    mg_expansion_rough_scores(rough, &x, 0, c.count, room, scores, errors);
    for (int64_t k = 0; k < 8; k++)
        assert_int_equal(isfinite(errors[k]), k < 2);
    mg_expansion_rough_free(rough);
    mg_hypothesis_free(h);
    free(rows);
    free(support);
    margin_context_free(context);
}

/* ---- Classes --------------------------------------------------------------------------------- */

enum { ROWS = 700 };

/* The classes of all rows one after the other, in f64. */
static void expect_labels(const margin_model *model, const margin_matrix *x, int64_t *labels) {
    OK(margin_predict(model, x, labels, &error));
}

static void classes_are_those_of_f64(void **unused) {
    (void)unused;
    static const char *const specs[] = {
        "svm(kernel=rbf, gamma=0.3)",
        "svm(kernel=rbf, gamma=0.05, C=1000, multiclass=ovr)",
        "standardize | svm(kernel=rbf, gamma=0.01, C=1e5)",
        "minmax | normalize | kernel-ridge(kernel=rbf, task=classify)",
        "impute | kernel-logistic(kernel=rbf)",
        "perceptron(kernel=rbf, passes=20)",
        "svm(kernel=poly)",
        "svm(kernel=rbf, gamma=1e-12)",
    };
    int64_t plain[ROWS], labels[ROWS];
    margin_context *one = support_context(NULL, 1), *three = support_context(NULL, 3);
    for (int n = 0; n < MG_LENGTH(specs) * 2; n++) {
        sample *s = sample_make(ROWS, 6, 2 + n % 3, 0.1, (uint64_t)n);
        margin_data data = sample_data(s, DENSE_F64);
        int64_t selection[300];
        for (int i = 0; i < 300; i++)
            selection[i] = 2 * i;
        data.selection = selection;
        data.selected = 300;
        margin_model *model = fit_text(three, specs[n / 2], &data, NULL);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const margin_matrix x = sample_view(s, layout);
            expect_labels(model, &x, plain);
            for (int k = 0; k < 2; k++) {
                memset(labels, 0x55, sizeof labels);
                OK(margin_predict_parallel(k ? three : one, model, &x, MARGIN_OUTPUT_LABELS, labels,
                                           &error));
                assert_memory_equal(labels, plain, sizeof labels);
            }
        }
        margin_model_free(model);
        sample_free(s);
    }
    margin_context_free(three);
    margin_context_free(one);
}

/* Rows of the same place with opposite labels: scores of 0 but for rounding, all of them in doubt.
 * Rows that have no class, and columns apart. */
static void doubts_and_refusals(void **unused) {
    (void)unused;
    double values[ROWS * 4], by_column[ROWS * 4], y[ROWS];
    int64_t plain[ROWS], labels[ROWS];
    uint64_t state = 11;
    for (int64_t k = 0; k < ROWS * 4; k++)
        values[k] = support_normal(&state);
    for (int64_t i = 0; i < ROWS; i += 2)
        memcpy(values + 4 * (i + 1), values + 4 * i, 4 * sizeof *values);
    for (int64_t i = 0; i < ROWS; i++)
        y[i] = (double)(i % 2);
    const margin_matrix x = margin_dense_f64(values, ROWS, 4, 4);
    const margin_data data = {.x = x, .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 2);
    for (int stages = 0; stages < 3; stages++) {
        static const char *const specs[] = {"svm(kernel=rbf)", "standardize | svm(kernel=rbf)",
                                            "impute | standardize | svm(kernel=rbf)"};
        margin_model *model = fit_text(context, specs[stages], &data, NULL);
        values[5] = (double)NAN;
        values[100] = (double)INFINITY;
        values[201] = -(double)INFINITY;
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < 4; j++)
                by_column[j * ROWS + i] = values[i * 4 + j];
        const double *columns[4];
        for (int64_t j = 0; j < 4; j++)
            columns[j] = by_column + j * ROWS;
        expect_labels(model, &x, plain);
        OK(margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_LABELS, labels, &error));
        assert_memory_equal(labels, plain, sizeof labels);
        const margin_matrix apart = margin_columns_f64(columns, ROWS, 4);
        OK(margin_predict_parallel(context, model, &apart, MARGIN_OUTPUT_LABELS, labels, &error));
        assert_memory_equal(labels, plain, sizeof labels);
        values[5] = values[1];
        values[100] = values[104];
        values[201] = values[205];
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A model of bytes, and rows of which some are none: the first one, or others. */
static void rows_that_are_no_bytes(void **unused) {
    (void)unused;
    enum { COLUMNS = 40 };
    static double values[ROWS * COLUMNS], by_column[ROWS * COLUMNS], y[ROWS];
    const double *columns[COLUMNS];
    int64_t plain[ROWS], labels[ROWS];
    uint64_t state = 5;
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < COLUMNS; j++) {
            values[i * COLUMNS + j] = (double)(support_random(&state) % 256);
            sum += values[i * COLUMNS + j] - 127.5;
        }
        y[i] = (double)(sum > 0.0) + (double)(i % 7 == 0);
    }
    const margin_matrix x = margin_dense_f64(values, ROWS, COLUMNS, COLUMNS);
    const margin_data data = {.x = x, .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 2);
    margin_model *model = fit_text(context, "svm(kernel=rbf, gamma=scale)", &data, NULL);
    for (int n = 0; n < 3; n++) {
        for (int64_t i = n == 2 ? 0 : 1; i < ROWS && n > 0; i += 3)
            values[i * COLUMNS + i % COLUMNS] += n == 1 ? 0.5 : 256.0;
        for (int64_t k = 0; k < ROWS * COLUMNS; k++)
            by_column[k % COLUMNS * ROWS + k / COLUMNS] = values[k];
        for (int64_t j = 0; j < COLUMNS; j++)
            columns[j] = by_column + j * ROWS;
        const margin_matrix apart = margin_columns_f64(columns, ROWS, COLUMNS);
        expect_labels(model, &x, plain);
        for (int k = 0; k < 2; k++) {
            OK(margin_predict_parallel(context, model, k ? &apart : &x, MARGIN_OUTPUT_LABELS,
                                       labels, &error));
            assert_memory_equal(labels, plain, sizeof labels);
        }
    }
    margin_model_free(model);
    margin_context_free(context);
}

/* Where there is no room for them the prediction goes on without. */
static void memory_that_runs_out(void **unused) {
    (void)unused;
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    sample *s = sample_make(ROWS, 6, 3, 0.1, 5);
    const margin_data data = sample_data(s, DENSE_F64);
    int64_t plain[ROWS], labels[ROWS], right = 0;
    margin_model *model = fit_text(context, "svm(kernel=rbf)", &data, NULL);
    const margin_matrix x = sample_view(s, DENSE_F64);
    expect_labels(model, &x, plain);
    for (int n = 1; n <= 12; n++) {
        heap.fail_at = heap.calls + n;
        const margin_status status =
            margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_LABELS, labels, &error);
        if (status == MARGIN_OK) assert_memory_equal(labels, plain, sizeof labels);
        if (status != MARGIN_OK) assert_int_equal(status, MARGIN_ERROR_MEMORY);
        for (int64_t i = 0; i < ROWS; i++)
            assert_true(labels[i] >= -1); /* doubts are nobody's business */
        right += status == MARGIN_OK;
    }
    assert_true(right >= 8);
    heap.fail_at = 0;
    margin_model_free(model);
    sample_free(s);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_within_bounds), cmocka_unit_test(rows_that_are_not_finite),
        cmocka_unit_test(classes_are_those_of_f64), cmocka_unit_test(doubts_and_refusals),
        cmocka_unit_test(rows_that_are_no_bytes),   cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
