/* Linear hypotheses, dual forms, tensors from hostile files; and reports. */
#include "hypothesis_cases.h"

#include "learn/report.h"

#include <math.h>

/* ---- Linear ---------------------------------------------------------------------------------- */

static void test_linear(void **state) {
    (void)state;
    support_heap count;
    support_heap_init(&count);
    margin_context *context = support_context(&count, 2);
    sample *l = sample_make(23, 9, 2, 0, 1);
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
        double *scores = hypothesis_scores(both, VIEW(l, v));
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
    sample_free(l);
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

/* ---- Reports --------------------------------------------------------------------------------- */

static void test_report_items(void **state) {
    (void)state;
    margin_report report = {0};
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
    margin_report report = {0};
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
    assert_true(all.gap == (2 * 0.25 + 2 * 0.125) / 4 && all.objective == 4 &&
                all.iterations == 10);
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
        cmocka_unit_test(test_linear_refusals), cmocka_unit_test(test_dual_refusals),
        cmocka_unit_test(test_report_items),    cmocka_unit_test(test_report_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
