/* More than two classes: what the sub-problems are, how their functions are put together, how votes
 * and ties fall. */
#include "model_cases.h"

#include "model/predict/predict.h"
#include "model/problem/multiclass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Decisions ------------------------------------------------------------------------------- */

static int64_t decide(mg_decision decision, int64_t classes, const double *scores) {
    margin_model model = {.decision = decision, .classes = classes, .task = MARGIN_CLASSIFY};
    double work[32];
    assert_true(mg_decide_room(&model) <= 32);
    return mg_decide(&model, scores, work);
}

static void test_sign(void **state) {
    (void)state;
    const double nan = (double)NAN, scores[5] = {1, 0, -0.0, -1e-300, nan};
    const int64_t expected[5] = {1, 1, 1, 0, -1}; /* sign(0) = +1 */
    for (int i = 0; i < 5; i++)
        assert_int_equal(decide(MG_DECIDE_SIGN, 2, &scores[i]), expected[i]);
}

static void test_argmax(void **state) {
    (void)state;
    const double first[3] = {2, 1, 0}, last[3] = {-3, -2, -1}, tie[3] = {0, 5, 5};
    const double gap[3] = {9, (double)NAN, 1}, low[3] = {-(double)INFINITY, -5, -9};
    assert_int_equal(decide(MG_DECIDE_ARGMAX, 3, first), 0);
    assert_int_equal(decide(MG_DECIDE_ARGMAX, 3, last), 2);
    assert_int_equal(decide(MG_DECIDE_ARGMAX, 3, tie), 1);
    assert_int_equal(decide(MG_DECIDE_ARGMAX, 3, gap), -1);
    assert_int_equal(decide(MG_DECIDE_ARGMAX, 3, low), 1);
}

static void test_votes(void **state) {
    (void)state;
    /* pairs (0,1) (0,2) (1,2), positive for the first */
    const double clear[3] = {-1, 1, 1};  /* 1 beats 0, 0 beats 2, 1 beats 2 */
    const double circle[3] = {1, -2, 4}; /* a vote each; sums 0: 1-2, 1: -1+4, 2: 2-4 */
    const double even[3] = {1, -1, 1};   /* a vote each, sums 0, 0, 0 */
    const double zero[3] = {0, 0, 0};    /* votes for the first of each pair: 2, 1, 0 */
    const double nan[3] = {1, (double)NAN, 1};
    assert_int_equal(decide(MG_DECIDE_VOTES, 3, clear), 1);
    assert_int_equal(decide(MG_DECIDE_VOTES, 3, circle), 1);
    assert_int_equal(decide(MG_DECIDE_VOTES, 3, even), 0);
    assert_int_equal(decide(MG_DECIDE_VOTES, 3, zero), 0);
    assert_int_equal(decide(MG_DECIDE_VOTES, 3, nan), -1);
}

/* Where scores with errors decide, no scores within these errors decide otherwise; without errors
 * nothing is left in doubt but ties. */
static void test_rough(void **state) {
    (void)state;
    static const mg_decision ways[] = {MG_DECIDE_SIGN, MG_DECIDE_ARGMAX, MG_DECIDE_VOTES};
    uint64_t random = 3;
    int decided = 0;
    for (int k = 0; k < 3000; k++) {
        const mg_decision way = ways[k % 3];
        const int64_t classes = way == MG_DECIDE_SIGN ? 2 : 4, pairs = 6;
        margin_model model = {.decision = way, .classes = classes, .task = MARGIN_CLASSIFY};
        double scores[6], errors[6], none[6] = {0}, near[6], work[8];
        for (int f = 0; f < pairs; f++) {
            scores[f] = support_normal(&random);
            errors[f] = k % 2 * fabs(0.3 * support_normal(&random));
        }
        const int64_t label = mg_decide_rough(&model, scores, errors, work);
        if (way != MG_DECIDE_VOTES)
            assert_int_equal(mg_decide_rough(&model, scores, none, work),
                             decide(way, classes, scores));
        if (label == MG_IN_DOUBT) continue;
        decided++;
        for (int turn = 0; turn < 20; turn++) {
            for (int f = 0; f < pairs; f++)
                near[f] = scores[f] + errors[f] * (turn % 2 ? 1 : -1) *
                                          fmin(1.0, fabs(support_normal(&random)));
            assert_int_equal(decide(way, classes, near), label);
        }
    }
    assert_in_range(decided, 1500, 2990);
    const double gap[3] = {9, (double)NAN, 1}, zero[3] = {0}, small[3] = {0.1, 0.1, 0.1};
    const margin_model argmax = {.decision = MG_DECIDE_ARGMAX, .classes = 3},
                       votes = {.decision = MG_DECIDE_VOTES, .classes = 3};
    double work[6];
    assert_int_equal(mg_decide_rough(&argmax, gap, small, work), MG_IN_DOUBT);
    assert_int_equal(mg_decide_rough(&argmax, zero, zero, work), MG_IN_DOUBT);
    assert_int_equal(mg_decide_rough(&votes, gap, small, work), MG_IN_DOUBT);
    assert_int_equal(mg_decide_rough(&votes, zero, zero, work), MG_IN_DOUBT);
}

static void test_pairs(void **state) {
    (void)state;
    for (int64_t classes = 2; classes < 12; classes++) {
        int64_t pair = 0, i, j;
        for (int64_t a = 0; a < classes; a++)
            for (int64_t b = a + 1; b < classes; b++) {
                mg_pair_of(classes, pair++, &i, &j);
                assert_int_equal(i, a);
                assert_int_equal(j, b);
            }
    }
}

/* ---- Sub-problems ---------------------------------------------------------------------------- */

typedef struct {
    margin_context *context;
    margin_model *model;
    margin_data data;
    mg_samples samples;
    mg_staged staged;
    mg_split split;
} cut;

static void open_cut(cut *c, margin_context *context, const margin_data *data,
                     mg_reduction reduction) {
    margin_error error = {0};
    memset(c, 0, sizeof *c);
    c->context = context;
    c->data = *data;
    if (mg_model_new(context->heap, &c->model, &error) < 0 ||
        mg_samples_make(context->heap, data, &c->samples, &error) < 0)
        fail_msg("%s", error.text);
    c->model->task = MARGIN_CLASSIFY;
    if (mg_target_learn(c->context, data, &c->samples, c->model, &error) < 0)
        fail_msg("%s", error.text);
    c->staged.x = data->x;
    c->staged.index = c->samples.rows;
    if (mg_split_make(c->context, reduction, data, &c->samples, &c->staged, c->model, &c->split,
                      &error) < 0)
        fail_msg("%s", error.text);
}

static void close_cut(cut *c) {
    mg_split_free(&c->split);
    mg_samples_free(&c->samples);
    margin_model_free(c->model);
}

static mg_part part_of(const cut *c, int64_t number) {
    mg_part part = {0};
    margin_error error = {0};
    if (mg_part_make(&c->split, number, &part, &error) < 0) fail_msg("%s", error.text);
    return part;
}

static void test_parts(void **state) {
    margin_context *context = *state;
    const double labels[8] = {5, 7, 9, 7, 5, 9, 9, 5};
    const double weights[8] = {1, 2, 3, 0, 4, 5, 6, 7};
    sample *s = sample_make(8, 2, 2, 0, 1);
    margin_data data = sample_data(s, DENSE_F64);
    data.y = margin_values_f64(labels, 8);
    data.weights = margin_values_f64(weights, 8);
    cut c;
    char label[MG_PART_LABEL];

    open_cut(&c, context, &data, MG_REDUCE_REST);
    assert_int_equal(c.split.parts, 3);
    mg_part part = part_of(&c, 2);
    const int8_t signs[7] = {-1, -1, 1, -1, 1, 1, -1};
    assert_int_equal(part.problem.kind, MG_TWO_CLASS);
    assert_int_equal(part.problem.count, 7);
    assert_memory_equal(part.problem.sign, signs, sizeof signs);
    assert_ptr_equal(part.problem.x.values, s->f64); /* no copies */
    assert_int_equal(mg_sample_original(&part.problem, 3), 4);
    assert_true(mg_sample_weight(&part.problem, 3) == 4);
    mg_part_free(&part);
    mg_part_label(&c.split, c.model, 2, label);
    assert_string_equal(label, "9 against the rest");
    close_cut(&c);

    open_cut(&c, context, &data, MG_REDUCE_PAIRS);
    assert_int_equal(c.split.parts, 3);
    part = part_of(&c, 1); /* 5 against 9 */
    const int64_t rows[6] = {0, 2, 4, 5, 6, 7};
    const int8_t pair_signs[6] = {1, -1, 1, -1, -1, 1};
    assert_int_equal(part.problem.count, 6);
    assert_memory_equal(part.problem.sign, pair_signs, sizeof pair_signs);
    assert_ptr_equal(part.problem.x.values, s->f64);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(mg_sample_row(&part.problem, k), rows[k]);
        assert_int_equal(mg_sample_original(&part.problem, k), rows[k]);
        assert_true(mg_sample_weight(&part.problem, k) == weights[rows[k]]);
    }
    mg_part_free(&part);
    mg_part_label(&c.split, c.model, 1, label);
    assert_string_equal(label, "5 against 9");
    close_cut(&c);
    sample_free(s);
}

/* Rows that were gathered: x is short, the originals are the user's. */
static void test_parts_of_gathered_rows(void **state) {
    margin_context *context = *state;
    const double labels[6] = {0, 1, 2, 0, 1, 2};
    const int64_t selection[4] = {5, 3, 1, 2};
    sample *s = sample_make(6, 2, 2, 0, 1);
    margin_data data = sample_data(s, DENSE_F64);
    data.y = margin_values_f64(labels, 6);
    data.selection = selection;
    data.selected = 4;
    cut c;
    open_cut(&c, context, &data, MG_REDUCE_PAIRS);
    c.split.whole.index = NULL;    /* as after a stage: row i is sample i */
    mg_part part = part_of(&c, 1); /* 0 against 2: samples 0, 1 and 3 */
    const int64_t rows[3] = {0, 1, 3};
    assert_int_equal(part.problem.count, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(mg_sample_row(&part.problem, k), rows[k]);
        assert_int_equal(mg_sample_original(&part.problem, k), selection[rows[k]]);
    }
    assert_int_equal(part.problem.sign[0], -1);
    assert_int_equal(part.problem.sign[1], 1);
    mg_part_free(&part);
    close_cut(&c);
    sample_free(s);
}

/* ---- Fits ------------------------------------------------------------------------------------ */

/* Function `score` of a model of many classes is the model of its own two-class problem. */
static void check_function(margin_context *context, const margin_model *whole, const sample *s,
                           const char *spec, int64_t score, bool linear) {
    int64_t first, second, count = 0;
    margin_model_score_classes(whole, score, &first, &second);
    double *labels = malloc((size_t)s->rows * sizeof *labels);
    int64_t *selection = malloc((size_t)s->rows * sizeof *selection);
    for (int64_t i = 0; i < s->rows; i++) {
        labels[i] = s->labels[i] == (double)first; /* the positive class is the second label */
        if (second < 0 || s->labels[i] == (double)first || s->labels[i] == (double)second)
            selection[count++] = i;
    }
    margin_data data = sample_data(s, DENSE_F64);
    data.y.values = labels;
    data.selection = selection;
    data.selected = count;
    margin_model *alone = fit_text(context, spec, &data, NULL);
    double *one = scores_of(alone, &data.x), *all = scores_of(whole, &data.x);
    int64_t functions = margin_model_score_count(whole);
    for (int64_t i = 0; i < s->rows; i++) /* shared support rows add up in another order */
        assert_close(one[i], all[i * functions + score], linear ? 0 : 1e-10);
    const int64_t *rows[2] = {NULL, NULL};
    int64_t entries = margin_model_dual(alone, 0, &rows[0], NULL, NULL, NULL);
    assert_int_equal(entries, margin_model_dual(whole, score, &rows[1], NULL, NULL, NULL));
    if (entries > 0) assert_memory_equal(rows[0], rows[1], (size_t)entries * sizeof *rows[0]);
    free(one);
    free(all);
    margin_model_free(alone);
    free(selection);
    free(labels);
}

static void test_functions(void **state) {
    margin_context *context = *state;
    static const struct {
        const char *spec, *alone;
        bool linear, pairs;
    } cases[] = {
        {"perceptron(passes=5)", "perceptron(passes=5)", true, false},
        {"perceptron(passes=5, multiclass=ovo)", "perceptron(passes=5)", true, true},
        {"perceptron(form=dual, passes=5, multiclass=ovo)", "perceptron(form=dual, passes=5)", true,
         true},
        {"perceptron(variant=averaged, order=shuffled, passes=5, multiclass=ovo)",
         "perceptron(variant=averaged, order=shuffled, passes=5)", true, true},
        {"perceptron(kernel=rbf, gamma=0.25, passes=5)",
         "perceptron(kernel=rbf, gamma=0.25, passes=5)", false, false},
        {"perceptron(kernel=rbf, gamma=0.25, passes=5, multiclass=ovo)",
         "perceptron(kernel=rbf, gamma=0.25, passes=5)", false, true},
    };
    sample *s = sample_make(120, 5, 4, 0.1, 33);
    margin_data data = sample_data(s, DENSE_F64);
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        margin_model *model = fit_text(context, cases[n].spec, &data, NULL);
        int64_t functions = margin_model_score_count(model);
        assert_int_equal(functions, cases[n].pairs ? 6 : 4);
        for (int64_t score = 0; score < functions; score++)
            check_function(context, model, s, cases[n].alone, score, cases[n].linear);
        margin_model_free(model);
    }
    sample_free(s);
}

static void test_score_classes(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(60, 3, 3, 0, 4), *two = sample_make(60, 3, 2, 0, 4);
    margin_data data = sample_data(s, DENSE_F64), pair = sample_data(two, DENSE_F64);
    int64_t a, b;
    margin_model *model = fit_text(context, "perceptron(multiclass=ovo)", &data, NULL);
    margin_model_score_classes(model, 1, &a, &b);
    assert_true(a == 0 && b == 2);
    margin_model_score_classes(model, 3, &a, &b);
    assert_true(a == -1 && b == -1);
    margin_model_free(model);
    model = fit_text(context, "perceptron", &data, NULL);
    margin_model_score_classes(model, 2, &a, NULL);
    margin_model_score_classes(model, 2, NULL, &b);
    assert_true(a == 2 && b == -1);
    margin_model_free(model);
    model = fit_text(context, "perceptron", &pair, NULL);
    margin_model_score_classes(model, 0, &a, &b);
    assert_true(a == 1 && b == 0);
    margin_model_free(model);
    sample_free(two);
    sample_free(s);
}

/* With two classes the way does not matter, but for argmax, which has two functions. */
static void test_two_classes(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(60, 3, 2, 0, 7);
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *rest = fit_text(context, "perceptron(multiclass=ovr)", &data, NULL);
    margin_model *pairs = fit_text(context, "perceptron(multiclass=ovo)", &data, NULL);
    margin_model *together = fit_text(context, "perceptron(multiclass=argmax)", &data, NULL);
    assert_int_equal(margin_model_score_count(rest), 1);
    assert_int_equal(margin_model_score_count(pairs), 1);
    assert_int_equal(margin_model_score_count(together), 2);
    assert_memory_equal(margin_model_weights(rest, 0), margin_model_weights(pairs, 0),
                        3 * sizeof(double));
    int64_t labels[60];
    margin_error error = {0};
    assert_int_equal(margin_predict(together, &data.x, labels, &error), MARGIN_OK);
    for (int i = 0; i < 60; i++) /* separable, so argmax separates it as well */
        assert_true((double)labels[i] == s->labels[i]);
    margin_model_free(rest);
    margin_model_free(pairs);
    margin_model_free(together);
    sample_free(s);
}

/* The joined report of sub-problems. */
static void test_joined_report(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(150, 4, 3, 0.2, 8);
    margin_data data = sample_data(s, DENSE_F64);
    margin_report all = {0}, part = {0};
    margin_model *model = fit_text(context, "perceptron(passes=2)", &data, &all);
    margin_model_free(model);
    double mistakes = 0, objective = 0, gap = 0;
    int64_t iterations = 0;
    for (int c = 0; c < 3; c++) {
        double labels[150];
        for (int i = 0; i < 150; i++)
            labels[i] = s->labels[i] == (double)c;
        data.y.values = labels;
        model = fit_text(context, "perceptron(passes=2)", &data, &part);
        margin_model_free(model);
        mistakes += margin_report_item_value(&part, "mistakes");
        objective += part.objective;
        gap += part.gap * fmax(1, part.objective);
        iterations += part.iterations;
    }
    assert_int_equal(all.subproblems, 3);
    assert_int_equal(all.status, MARGIN_STOPPED_ITERATIONS);
    assert_contains(all.reason, "3 of 3 sub-problems stopped early");
    assert_contains(all.reason, "0 against the rest");
    assert_true(margin_report_item_value(&all, "mistakes") == mistakes);
    assert_close(all.objective, objective, 1e-12);
    assert_close(all.gap, gap / fmax(1, objective), 1e-12);
    assert_int_equal(all.iterations, iterations);
    sample_free(s);
}

static void test_refusals(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(1500, 2, 2, 0, 5);
    for (int i = 0; i < 1500; i++)
        s->labels[i] = i;
    margin_data data = sample_data(s, DENSE_F64);
    fit_refused(context, "perceptron(multiclass=ovo, passes=1)", &data, MARGIN_ERROR_LIMIT,
                "take multiclass=ovr");
    fit_refused(context, "perceptron(multiclass=argmax, form=dual)", &data, MARGIN_ERROR_SPEC,
                "primal");
    sample_free(s);
}

/* Parts with |w|_1 on sparse rows, side by side or one after the other: what one may keep in memory
 * does not depend on how many share it. */
static void sparse_parts_do_not_depend_on_threads(void **state) {
    enum { ROWS = 400, COLUMNS = 900, STORED = 12, CLASSES = 5 };
    static double values[ROWS * STORED], labels[ROWS];
    static int32_t columns[ROWS * STORED];
    static int64_t starts[ROWS + 1];
    uint64_t seed = 11;
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = support_normal(&seed);
        for (int64_t k = 0; k < STORED; k++) {
            const int64_t at = i * STORED + k, step = COLUMNS / STORED;
            columns[at] = (int32_t)(k * step + (int64_t)(support_random(&seed) % (uint64_t)step));
            values[at] = support_normal(&seed);
            sum += columns[at] % 7 * values[at] / 7;
        }
        starts[i + 1] = (i + 1) * STORED;
        labels[i] = floor(fabs(3 * sum)) > CLASSES - 1 ? CLASSES - 1 : floor(fabs(3 * sum));
    }
    const margin_data data = {.x = margin_csr_f64(values, columns, starts, ROWS, COLUMNS),
                              .y = margin_values_f64(labels, ROWS)};
    margin_model *one = NULL;
    for (int threads = 1; threads < 5; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_model *model =
            fit_text(context, "logistic(multiclass=ovr, l1_ratio=1, C=3)", &data, NULL);
        if (one) assert_same_model(one, model);
        if (one) margin_model_free(model);
        if (!one) one = model;
        margin_context_free(context);
    }
    margin_model_free(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_rough),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_of_gathered_rows),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_score_classes),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_joined_report),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(sparse_parts_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
