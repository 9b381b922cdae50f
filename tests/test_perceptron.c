/* The perceptron, update by update, against one written down as plainly as it can be: every sample
 * in turn, every score a sum made afresh. */
#include "perceptron_fit.h"
#include "perceptron_plain.h"

/* ---- Comparing -------------------------------------------------------------------------------*/

static recorded steps;

/* Samples of the problem: the plain perceptron's rows without the copies. */
typedef struct problem_data {
    double values[MOST * WIDE], weight[MOST];
    int8_t sign[MOST];
    int32_t code[MOST];
    mg_problem problem;
} problem_data;

static mg_problem *make_problem(const plain *p, problem_data *d) {
    memset(d, 0, sizeof *d);
    int64_t samples = 0;
    for (int64_t i = 0; i < p->m; i++) {
        const int64_t s = p->origin[i];
        memcpy(d->values + s * p->n, p->x[i], (size_t)p->n * sizeof(double));
        d->sign[s] = (int8_t)p->sign[i];
        d->code[s] = p->code[i];
        d->weight[s] += 1.0;
        samples = s + 1;
    }
    d->problem = (mg_problem){.kind = p->classes ? MG_ARGMAX : MG_TWO_CLASS,
                              .x = margin_dense_f64(d->values, samples, p->n, p->n),
                              .count = samples,
                              .classes = p->classes ? p->classes : 2,
                              .sign = p->classes ? NULL : d->sign,
                              .code = p->classes ? d->code : NULL,
                              .weight = p->m > samples ? d->weight : NULL};
    return &d->problem;
}

static const double *tensor(const mg_hypothesis *h, const char *name) {
    const mg_tensor *t = mg_bag_find(&h->bag, name);
    assert_non_null(t);
    return t->data;
}

/* tolerance 0: the same bits. */
static void assert_weights(const plain *p, const mg_hypothesis *h, double tolerance) {
    const double *w = tensor(h, "weights"), *b = tensor(h, "intercept");
    for (int64_t f = 0; f < h->functions; f++) {
        for (int64_t c = 0; c < p->n; c++)
            assert_close(w[f * p->n + c], p->w[f][c], tolerance);
        assert_close(b[f], p->b[f], tolerance);
    }
}

/* The coefficients of the dual form, copies of a sample added up. */
static void assert_dual(const plain *p, const mg_hypothesis *h, double tolerance) {
    double expected[MOST] = {0.0};
    for (int64_t i = 0; i < p->m; i++)
        expected[p->origin[i]] += p->alpha[i];
    for (int64_t k = h->dual_starts[0]; k < h->dual_starts[1]; k++) {
        const int64_t row = h->dual_rows[k];
        assert_close(h->dual_coefficients[k], expected[row], tolerance);
        assert_close(h->dual_updates[k], expected[row] / p->rate, tolerance);
        expected[row] = 0.0;
        for (int64_t i = 0; i < p->m; i++)
            if (p->origin[i] == row) assert_true(h->dual_signs[k] == p->sign[i]);
    }
    for (int64_t i = 0; i < p->m; i++) /* those left out have none */
        assert_close(expected[i], 0.0, tolerance);
}

static void assert_same_walk(plain *p, const mg_problem *problem, const char *options) {
    margin_context *context = support_context(NULL, 2);
    plain_run(p);
    fitted f = fit_perceptron(context, problem, options, p->seed, &steps);
    if (f.status < 0) fail_msg("%s: %s", options, f.error.text);
    if (steps.count - 1 != p->updates)
        fail_msg("%s: %lld updates, expected %lld", options, (long long)steps.count - 1,
                 (long long)p->updates);
    assert_int_equal(steps.rows[0], -1);
    for (int64_t k = 0; k < p->updates; k++)
        assert_int_equal(steps.rows[k + 1], p->picks[k]);
    const double tolerance = p->variant == 'a' ? 1e-11 : 0.0;
    if (f.h->kind == &mg_hypothesis_linear) assert_weights(p, f.h, tolerance);
    if (f.h->dual_starts) assert_dual(p, f.h, tolerance);
    assert_int_equal(f.report.iterations, p->passes_done);
    assert_true(margin_report_item_value(&f.report, "mistakes") == (double)p->updates);
    assert_int_equal(f.status == MARGIN_OK, plain_errors(p) == 0);
    if (f.status == MARGIN_OK) assert_true(f.report.gap == 0.0 && f.report.objective == 0.0);
    mg_hypothesis_free(f.h);
    margin_context_free(context);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Labels by a random hyperplane through noise; noise 0: separable. `whole`: small whole numbers, so
 * that all sums are exact and scores of exactly 0 happen. */
static void random_data(plain *p, int64_t m, int64_t n, double noise, bool whole, uint64_t *state) {
    double w[WIDE];
    memset(p, 0, sizeof *p);
    p->m = m;
    p->n = n;
    p->rate = 1.0;
    p->order = 's';
    p->variant = 'p';
    p->passes = 40;
    for (int64_t c = 0; c < n; c++)
        w[c] = support_normal(state);
    for (int64_t i = 0; i < m; i++) {
        double f = noise * support_normal(state) + 0.3;
        for (int64_t c = 0; c < n; c++) {
            const double value = support_normal(state);
            p->x[i][c] = whole ? floor(3.0 * value) : value;
            f += w[c] * p->x[i][c];
        }
        p->sign[i] = f > 0.0 ? 1 : -1;
        p->origin[i] = i;
    }
}

static void several_classes(plain *p, int classes, double noise, uint64_t *state) {
    double w[CLASSES][WIDE];
    p->classes = classes;
    for (int f = 0; f < classes; f++)
        for (int c = 0; c < WIDE; c++)
            w[f][c] = support_normal(state);
    for (int64_t i = 0; i < p->m; i++) {
        double best = -HUGE_VAL;
        for (int f = 0; f < classes; f++) {
            double score = noise * support_normal(state);
            for (int64_t c = 0; c < p->n; c++)
                score += w[f][c] * p->x[i][c];
            if (score > best) {
                best = score;
                p->code[i] = f;
            }
        }
    }
}

/* Sample i gets 1 + i % 3 copies. */
static void copy_samples(plain *p) {
    static plain from;
    from = *p;
    p->m = 0;
    for (int64_t i = 0; i < from.m; i++)
        for (int64_t k = 0; k <= i % 3; k++, p->m++) {
            assert_true(p->m < MOST);
            memcpy(p->x[p->m], from.x[i], sizeof from.x[i]);
            p->sign[p->m] = from.sign[i];
            p->code[p->m] = from.code[i];
            p->origin[p->m] = i;
        }
}

static const char *const orders[] = {"sequential", "shuffled", "first"};
static const char *const variants[] = {"plain", "pocket", "averaged"};

static void set_how(plain *p, int order, int variant, double rate) {
    p->order = "srf"[order];
    p->variant = "pka"[variant];
    p->rate = rate;
}

static void options_of(const plain *p, int order, int variant, const char *more, char text[400]) {
    char rate[MARGIN_NUMBER_TEXT];
    margin_number_print_f64(p->rate, rate);
    snprintf(text, 400, "order=%s;variant=%s;rate=%s;passes=%lld;bound=no%s", orders[order],
             variants[variant], rate, (long long)p->passes, more);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static plain reference;
static problem_data data;

/* Every order and variant, primal and dual, separable or not, weighted or not, on `whole` data too.
 */
static void walks(const char *form, bool whole, double rate) {
    uint64_t state = 5;
    char options[400];
    for (int order = 0; order < 3; order++)
        for (int variant = 0; variant < 3; variant++)
            for (int kind = 0; kind < 4; kind++) {
                random_data(&reference, 50, 1 + kind * 3, kind & 1 ? 1.5 : 0.0, whole, &state);
                if (kind >= 2) copy_samples(&reference);
                set_how(&reference, order, variant, rate);
                reference.through_origin = strstr(form, "intercept=no") != NULL;
                reference.passes = kind & 1 ? 12 : 60;
                reference.seed = (uint64_t)kind;
                options_of(&reference, order, variant, form, options);
                if (kind >= 2 && order == 2) continue; /* see copies_in_first_order */
                assert_same_walk(&reference, make_problem(&reference, &data), options);
            }
}

static void primal(void **unused) {
    (void)unused;
    walks("", false, 1.0);
    walks("", true, 1.0);
    walks("", false, 0.3);
    walks(";intercept=no", false, 0.3);
}

/* Whole numbers: the scores of both forms are exact, so even ties at 0 fall the same way. */
static void dual(void **unused) {
    (void)unused;
    walks(";form=dual", true, 1.0);
    walks(";form=dual", true, 0.5);
    walks(";form=dual", false, 1.0);
    walks(";form=dual;intercept=no", true, 1.0);
}

/* In the first order the first copy of a row is taken again and again, so copies change only how a
 * pass is counted. */
static void copies_in_first_order(void **unused) {
    (void)unused;
    uint64_t state = 6;
    random_data(&reference, 40, 3, 0.0, false, &state);
    reference.order = 'f';
    reference.passes = 100000;
    make_problem(&reference, &data);
    for (int64_t i = 0; i < 40; i++)
        data.weight[i] = (double)(1 + i % 4);
    data.problem.weight = data.weight;
    assert_same_walk(&reference, &data.problem, "order=first;passes=100000;bound=no");
}

static void kernels(void **unused) {
    (void)unused;
    static const mg_kernel kinds[] = {
        {.kind = MG_KERNEL_LINEAR},
        {.kind = MG_KERNEL_POLY, .gamma = 1.0, .coef0 = 1.0, .degree = 2},
        {.kind = MG_KERNEL_POLY, .gamma = 0.5, .coef0 = 2.0, .degree = 3},
        {.kind = MG_KERNEL_RBF, .gamma = 0.5},
        {.kind = MG_KERNEL_RBF, .gamma = 0.02},
        {.kind = MG_KERNEL_SIGMOID, .gamma = 0.1, .coef0 = 0.5},
        {.kind = MG_KERNEL_EXP},
    };
    static const char *const texts[] = {
        ";kernel=linear",      ";kernel=poly",           ";kernel=poly;gamma=0.5;coef0=2;degree=3",
        ";kernel=rbf;sigma=1", ";kernel=rbf;gamma=0.02", ";kernel=sigmoid;gamma=0.1;coef0=0.5",
        ";kernel=exp"};
    uint64_t state = 7;
    char options[400];
    for (int k = 0; k < MG_LENGTH(kinds); k++)
        for (int order = 0; order < 3; order++)
            for (int variant = 0; variant < 3; variant++) {
                random_data(&reference, 36, 3, 0.8, false, &state);
                if (order == 0) copy_samples(&reference);
                set_how(&reference, order, variant, order == 1 ? 0.25 : 1.0);
                reference.kernel = &kinds[k];
                reference.passes = 6;
                options_of(&reference, order, variant, texts[k], options);
                assert_same_walk(&reference, make_problem(&reference, &data), options);
            }
}

static void all_classes_together(void **unused) {
    (void)unused;
    uint64_t state = 8;
    char options[400];
    for (int order = 0; order < 3; order++)
        for (int variant = 0; variant < 3; variant++)
            for (int kind = 0; kind < 4; kind++) {
                random_data(&reference, 60, 4, 0.0, kind & 1, &state);
                several_classes(&reference, 2 + kind % 3, kind >= 2 ? 1.0 : 0.0, &state);
                if (kind == 3 && order != 2) copy_samples(&reference);
                set_how(&reference, order, variant, kind == 2 ? 0.1 : 1.0);
                reference.passes = 15;
                options_of(&reference, order, variant, ";multiclass=argmax", options);
                assert_same_walk(&reference, make_problem(&reference, &data), options);
            }
}

static void starts(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int dual_form = 0; dual_form < 2; dual_form++)
        for (int round = 0; round < 5; round++) {
            static const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
            random_data(&reference, 50, 3, 0.5, false, &state);
            reference.start[0] = 1.5;
            reference.start[1] = -20.0;
            reference.start[2] = 0.25;
            reference.start_intercept = 3.0;
            reference.rate = 0.5;
            reference.passes = 20;
            if (dual_form) reference.kernel = &linear;
            char options[400];
            snprintf(options, sizeof options,
                     "start_weights=1.5 -20 0.25;start_intercept=3;rate=0.5;passes=20;bound=no%s",
                     dual_form ? ";form=dual" : "");
            assert_same_walk(&reference, make_problem(&reference, &data), options);
        }
}

/* The reference's rows as f32 and as sparse rows. */
static void walk_other_layouts(const char *options) {
    static float f32[MOST * WIDE];
    static double values[MOST * WIDE];
    static int32_t columns[MOST * WIDE];
    static int64_t row_starts[MOST + 1];
    const int64_t m = reference.m, n = reference.n;
    int64_t stored = 0;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t c = 0; c < n; c++) {
            f32[i * n + c] = (float)reference.x[i][c];
            if (reference.x[i][c] == 0.0) continue;
            values[stored] = reference.x[i][c];
            columns[stored++] = (int32_t)c;
        }
        row_starts[i + 1] = stored;
    }
    const margin_matrix others[] = {
        margin_dense_f32(f32, m, n, n),
        margin_csr_f64(values, columns, row_starts, m, n),
    };
    for (int k = 0; k < MG_LENGTH(others); k++) {
        mg_problem problem = *make_problem(&reference, &data);
        problem.x = others[k];
        assert_same_walk(&reference, &problem, options);
    }
}

/* The rows in another order, put right by the index. */
static void walk_through_index(const char *options) {
    static double moved[MOST * WIDE];
    static int64_t index[MOST];
    const int64_t m = reference.m, n = reference.n;
    mg_problem problem = *make_problem(&reference, &data);
    for (int64_t i = 0; i < m; i++) {
        index[i] = (i * 77 + 5) % m;
        memcpy(moved + index[i] * n, data.values + i * n, (size_t)n * sizeof(double));
    }
    problem.x = margin_dense_f64(moved, m, n, n);
    problem.index = index;
    assert_same_walk(&reference, &problem, options);
}

/* The same walk on every instruction set, from f32, from sparse rows, and through an index. */
static void layouts(void **unused) {
    (void)unused;
    uint64_t state = 10;
    unsetenv("MARGIN_ISA");
    const int best = (int)mg_isa_level();
    for (int isa = 0; isa <= best; isa++) {
        setenv("MARGIN_ISA", mg_isa_name((mg_isa)isa), 1);
        for (int order = 0; order < 3; order++) {
            char options[400];
            random_data(&reference, 120, 11, 0.7, false, &state);
            set_how(&reference, order, 0, 1.0);
            reference.passes = 5;
            for (int64_t i = 0; i < 120; i++)
                for (int64_t c = 0; c < 11; c++) /* a third are zeros */
                    reference.x[i][c] = (i + c) % 3 ? (double)(float)reference.x[i][c] : 0.0;
            options_of(&reference, order, 0, "", options);
            assert_same_walk(&reference, make_problem(&reference, &data), options);
            walk_other_layouts(options);
            walk_through_index(options);
        }
    }
    unsetenv("MARGIN_ISA");
}

/* Weights that are not whole: the last copy is a part of a step. */
static void broken_weights(void **unused) {
    (void)unused;
    const double values[] = {1.0, 2.0, -1.0, 0.5};
    const int8_t sign[] = {1, -1};
    const double weight[] = {0.5, 2.25};
    const mg_problem problem = {.kind = MG_TWO_CLASS,
                                .x = margin_dense_f64(values, 2, 2, 2),
                                .count = 2,
                                .classes = 2,
                                .sign = sign,
                                .weight = weight};
    margin_context *context = support_context(NULL, 1);
    fitted f = fit_perceptron(context, &problem, "passes=1;bound=no", 0, &steps);
    /* row 1: half a step, (0.5, 1), b 0.5; row 2: f = -0.5 + 0.5 + 0.5 > 0, so a whole step to
     * (1.5, 0.5), b -0.5, then f = -1.5 + 0.25 - 0.5: right, the other copies are not needed */
    assert_int_equal(steps.count, 3);
    const double *w = tensor(f.h, "weights");
    assert_true(w[0] == 1.5 && w[1] == 0.5 && tensor(f.h, "intercept")[0] == -0.5);
    assert_int_equal(f.status, MARGIN_OK); /* both are right now, though the pass had mistakes */
    mg_hypothesis_free(f.h);

    const double less[] = {0.5, 0.25};
    mg_problem lighter = problem;
    lighter.weight = less;
    f = fit_perceptron(context, &lighter, "passes=1;bound=no;variant=averaged", 0, &steps);
    /* (0.5, 1), 0.5 for half a visit, then a quarter step: (0.75, 0.875), 0.25 for a quarter */
    w = tensor(f.h, "weights");
    assert_close(w[0], (0.5 * 0.5 + 0.25 * 0.75) / 0.75, 1e-15);
    assert_close(w[1], (0.5 * 1.0 + 0.25 * 0.875) / 0.75, 1e-15);
    assert_close(tensor(f.h, "intercept")[0], (0.5 * 0.5 + 0.25 * 0.25) / 0.75, 1e-15);
    mg_hypothesis_free(f.h);
    margin_context_free(context);
}

/* The kernel form with rows of the Gram matrix that do not fit gives the model of the one with all.
 */
static void small_memory(void **unused) {
    (void)unused;
    uint64_t state = 12;
    random_data(&reference, 600, 4, 1.0, false, &state);
    make_problem(&reference, &data);
    const margin_context_options small = {
        .size = sizeof small, .threads = 2, .memory_limit = 3 << 20};
    margin_context *whole = support_context(NULL, 2), *tight = NULL;
    assert_int_equal(margin_context_create(&small, &tight, NULL), MARGIN_OK);
    static const char options[] = "kernel=rbf;passes=3;variant=averaged";
    fitted a = fit_perceptron(whole, &data.problem, options, 0, NULL);
    fitted b = fit_perceptron(tight, &data.problem, options, 0, NULL);
    assert_true(a.status >= 0 && b.status >= 0);
    assert_true(margin_context_peak_memory(whole) > 600 * 600 * 8);
    assert_true(margin_context_peak_memory(tight) < 3 << 20);
    assert_int_equal(a.h->dual_starts[1], b.h->dual_starts[1]);
    assert_true(a.h->dual_starts[1] > 100);
    assert_memory_equal(a.h->dual_coefficients, b.h->dual_coefficients,
                        (size_t)a.h->dual_starts[1] * sizeof(double));
    mg_hypothesis_free(a.h);
    mg_hypothesis_free(b.h);
    margin_context_free(whole);
    margin_context_free(tight);
}

/* Equal rows of both classes end at weights of 0, where the criterion is 0 and says nothing. */
static void contradicting_rows_have_no_gap(void **unused) {
    (void)unused;
    margin_context *context = support_context(NULL, 1);
    const double x[] = {1.0, 2.0, 1.0, 2.0};
    const int8_t sign[] = {1, -1};
    const mg_problem problem = {
        .kind = MG_TWO_CLASS, .x = margin_dense_f64(x, 2, 2, 2), .count = 2, .sign = sign};
    fitted f = fit_perceptron(context, &problem, "", 0, NULL);
    assert_true(f.status > 0 && isnan(f.report.gap) && f.report.objective == 0.0);
    assert_true(margin_report_item_value(&f.report, "errors") == 2.0);
    mg_hypothesis_free(f.h);
    margin_context_free(context);
}

/* The pocket on more rows and threads than one block holds: never worse than any state seen. */
static void pocket_is_never_worse(void **unused) {
    (void)unused;
    uint64_t state = 13;
    random_data(&reference, 650, 10, 2.0, false, &state);
    make_problem(&reference, &data);
    double best[2];
    for (int threads = 1; threads <= 3; threads += 2) {
        margin_context *context = support_context(NULL, threads);
        fitted last = fit_perceptron(context, &data.problem, "passes=20;bound=no", 0, &steps);
        fitted f =
            fit_perceptron(context, &data.problem, "passes=20;variant=pocket;bound=no", 0, NULL);
        assert_true(f.status > 0 && last.status > 0);
        best[threads / 2] = margin_report_item_value(&f.report, "errors");
        assert_true(best[threads / 2] <= (double)steps.errors[steps.count - 1]);
        assert_true(best[threads / 2] <= margin_report_item_value(&last.report, "errors"));
        mg_hypothesis_free(f.h);
        mg_hypothesis_free(last.h);
        margin_context_free(context);
    }
    assert_true(best[0] == best[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primal),
        cmocka_unit_test(dual),
        cmocka_unit_test(copies_in_first_order),
        cmocka_unit_test(kernels),
        cmocka_unit_test(all_classes_together),
        cmocka_unit_test(starts),
        cmocka_unit_test(layouts),
        cmocka_unit_test(broken_weights),
        cmocka_unit_test(small_memory),
        cmocka_unit_test(contradicting_rows_have_no_gap),
        cmocka_unit_test(pocket_is_never_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
