/* The objective against its formula, and its certificate: a lower bound at any point, equal to the
 * optimum at the optimum, which brute force finds for problems of two columns. */
#include "design_cases.h"

#include "linear/proof/goal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;
static const double inf = (double)INFINITY;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* ---- Penalties ------------------------------------------------------------------------------- */

static const margin_option spellings[] = {{.name = "C"}, {.name = "alpha"}, {.name = "lambda"}};
static const margin_component three = {.options = spellings, .option_count = 3};
static const margin_component one = {.options = spellings, .option_count = 1};

static void test_three_spellings(void **state) {
    const double m = 40;
    const mg_option_value none_given = {.number = (double)NAN, .integer = -1};
    mg_option_value options[3] = {{.given = true, .number = 5}, none_given, none_given};
    (void)state;
    mg_penalty c = mg_penalty_of(&three, options, 0, m);
    assert_string_equal(c.spelling, "C");
    assert_true(c.C == 5 && c.factor == 5 && c.rho == 1 && c.kappa == 0);
    assert_close(c.alpha, 0.1, 1e-15);
    assert_close(c.lambda, 0.1 / m, 1e-15);

    options[0] = (mg_option_value){.number = 1}; /* the default, which gives way */
    options[1] = (mg_option_value){.given = true, .number = 0.1};
    mg_penalty alpha = mg_penalty_of(&three, options, 0, m);
    assert_string_equal(alpha.spelling, "alpha");
    assert_true(alpha.factor == 1 && alpha.rho == 0.2 && alpha.alpha == 0.1);
    assert_close(alpha.C, 5, 1e-15);

    options[1] = none_given;
    options[2] = (mg_option_value){.given = true, .number = 0.1 / m};
    mg_penalty lambda = mg_penalty_of(&three, options, 0, m);
    assert_string_equal(lambda.spelling, "lambda");
    assert_close(lambda.C, 5, 1e-15);
    assert_close(lambda.alpha, 0.1, 1e-15);
    /* the same objective up to a factor */
    assert_close(c.rho / c.factor, alpha.rho / alpha.factor, 1e-15);
    assert_close(c.rho / c.factor, lambda.rho / lambda.factor, 1e-15);

    options[0] = options[2] = none_given;
    options[1] = (mg_option_value){.number = 2}; /* the default */
    mg_penalty none = mg_penalty_of(&three, options, 0, m);
    assert_string_equal(none.spelling, "alpha");
    assert_true(none.alpha == 2 && none.rho == 4 && none.C == 0.25);
}

static void test_no_penalty(void **state) {
    (void)state;
    const mg_option_value option = {.given = true, .number = inf};
    mg_penalty c = mg_penalty_of(&one, &option, 0.5, 10);
    assert_true(c.factor == 1 && c.rho == 0 && c.kappa == 0 && c.alpha == 0 && c.lambda == 0);
    assert_true(c.C == inf);
    mg_penalty zero = mg_penalty_make("alpha", 0, 0, 10);
    assert_true(zero.factor == 1 && zero.rho == 0 && zero.C == inf && zero.lambda == 0);
}

static void test_l1_share(void **state) {
    (void)state;
    mg_penalty c = mg_penalty_make("C", 4, 0.25, 10);
    assert_true(c.factor == 4 && c.rho == 0.75 && c.kappa == 0.125);
    mg_penalty alpha = mg_penalty_make("alpha", 0.125, 0.25, 10);
    assert_close(alpha.rho / alpha.factor, c.rho / c.factor, 1e-15);
    assert_close(alpha.kappa / alpha.factor, c.kappa / c.factor, 1e-15);
    /* scikit-learn's lasso: |r|^2/(2 m) + a |w|_1, half of ours with lambda = 2 a */
    mg_penalty lasso = mg_penalty_make("lambda", 0.6, 1, 10);
    assert_close(lasso.factor / 2, 1.0 / 20, 1e-15);
    assert_close(lasso.kappa / 2, 0.3, 1e-15);
    assert_true(lasso.rho == 0);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

typedef struct objective_case {
    design_case *c;
    margin_context *context;
    mg_design design;
    mg_objective objective;
} objective_case;

typedef struct penalty_kind {
    const char *spelling;
    double value, l1_ratio;
} penalty_kind;

static const penalty_kind penalties[] = {
    {"C", 1, 0},        {"alpha", 0.3, 0}, {"lambda", 0.01, 0},
    {"C", 100, 0},      {"alpha", 0.5, 1}, {"C", 2, 0.5},
    {"lambda", 0.1, 1}, {"C", 0.5, 0.01},  {"C", (double)INFINITY, 0},
};

static void start_case(objective_case *o, int64_t rows, int64_t columns, int parts,
                       mg_loss_kind loss, const penalty_kind *kind, bool intercept, uint64_t seed) {
    memset(o, 0, sizeof *o);
    o->c = design_case_make(rows, columns, DENSE_F64, parts, seed);
    o->context = support_context(NULL, 2);
    OK(mg_design_create(o->context, &o->c->problem, &o->design, &error));
    const mg_penalty penalty = mg_penalty_make(kind->spelling, kind->value, kind->l1_ratio,
                                               mg_total_weight(&o->c->problem));
    OK(mg_objective_create(&o->design, mg_loss_get(loss), &penalty, intercept, &o->objective,
                           &error));
}

static void end_case(objective_case *o) {
    mg_objective_free(&o->objective);
    mg_objective_free(&o->objective);
    mg_design_free(&o->design);
    margin_context_free(o->context);
    design_case_free(o->c);
}

/* c_i from the words of the contract. */
static double sample_factor(const objective_case *o, int64_t i) {
    const mg_penalty *penalty = &o->objective.penalty;
    double m = 0, factor = 1;
    for (int64_t k = 0; k < o->c->problem.count; k++)
        m += design_case_weight(o->c, k);
    if (strcmp(penalty->spelling, "lambda") == 0) factor = 1 / m;
    if (strcmp(penalty->spelling, "C") == 0 && isfinite(penalty->C)) factor = penalty->C;
    return factor * design_case_weight(o->c, i);
}

static double plain_t(const objective_case *o, int64_t i, const double *w, double b) {
    const int64_t p = o->c->problem.x.columns;
    double f = b;
    for (int64_t j = 0; j < p; j++)
        f += o->c->a[i * p + j] * w[j];
    return o->objective.loss->margin_based ? o->c->sign[i] * f : f - o->c->target[i];
}

static double plain_penalty(const objective_case *o, const double *w) {
    const mg_penalty *penalty = &o->objective.penalty;
    double norm = 0;
    for (int64_t j = 0; j < o->c->problem.x.columns; j++)
        norm += (1 - penalty->l1_ratio) * w[j] * w[j] + penalty->l1_ratio * fabs(w[j]);
    if (strcmp(penalty->spelling, "C") == 0) return isfinite(penalty->C) ? norm / 2 : 0;
    return norm * (strcmp(penalty->spelling, "alpha") == 0 ? penalty->alpha : penalty->lambda);
}

static double plain_primal(const objective_case *o, const double *w, double b) {
    double sum = plain_penalty(o, w);
    for (int64_t i = 0; i < o->c->problem.count; i++)
        sum += sample_factor(o, i) * o->objective.loss->value(plain_t(o, i, w, b));
    return sum;
}

typedef void (*objective_check)(objective_case *o, uint64_t seed);

static void check_objectives(int64_t rows, int64_t columns, objective_check check) {
    uint64_t seed = 100;
    for (int loss = 0; loss <= MG_LOSS_EXPONENTIAL; loss++)
        for (size_t k = 0; k < sizeof penalties / sizeof *penalties; k++)
            for (int with = 0; with < 4; with++) {
                objective_case o;
                start_case(&o, rows, columns, with & 1 ? ALL_PARTS & ~WITH_SCALE : 0,
                           (mg_loss_kind)loss, &penalties[k], (with & 2) == 0, ++seed);
                check(&o, seed);
                end_case(&o);
            }
}

/* ---- Value and gradient ---------------------------------------------------------------------- */

static void check_pass(objective_case *o, uint64_t seed) {
    const int64_t p = o->design.columns;
    double *w = some_numbers(p, &seed), gradient[64];
    const double b = o->objective.intercept ? 0.3 : 0;
    double excess;
    mg_loss_point point = {.gradient = gradient, .intercept_gradient = &excess};
    OK(mg_objective_pass(&o->objective, w, &b, &point, &error));
    assert_close(point.value, plain_primal(o, w, b), 1e-13);
    assert_close(mg_objective_penalty(&o->objective, w), plain_penalty(o, w), 1e-13);
    const double rho = o->objective.penalty.rho;
    double total = 0;
    for (int64_t j = 0; j < p; j++) {
        double expected = rho * w[j];
        for (int64_t i = 0; i < o->c->problem.count; i++) {
            const double side = o->objective.loss->margin_based ? o->c->sign[i] : 1;
            const double slope =
                side * sample_factor(o, i) * o->objective.loss->slope(plain_t(o, i, w, b));
            expected += slope * o->c->a[i * p + j];
            if (j == 0) total += slope;
        }
        assert_close(gradient[j], expected, 1e-12);
    }
    assert_close(excess, o->objective.intercept ? total : 0, 1e-12);
    free(w);
}

static void test_value_and_gradient(void **state) {
    (void)state;
    check_objectives(30, 3, check_pass);
}

/* ---- The bound ------------------------------------------------------------------------------- */

/* alpha is feasible, and the dual objective at it is what the solution says. */
static void check_feasible(const objective_case *o, const mg_linear_solution *solution) {
    const mg_loss *loss = o->objective.loss;
    const mg_penalty *penalty = &o->objective.penalty;
    const int64_t n = o->c->problem.count, p = o->design.columns;
    double dual = 0, sum = 0, size = 1e-30, square = 0;
    if (mg_is_unpenalised(&o->objective)) return; /* the bound is not from dual variables */
    for (int64_t i = 0; i < n; i++) {
        const double c = sample_factor(o, i), alpha = solution->alpha[i];
        assert_true(alpha >= c * loss->dual_low - 1e-12 * c);
        assert_true(alpha <= c * loss->dual_high + 1e-12 * c || loss->dual_high == inf);
        const double u = fmin(fmax(alpha / c, loss->dual_low), loss->dual_high);
        dual += c * loss->dual(u) + (loss->margin_based ? 0 : alpha * o->c->target[i]);
        sum += (loss->margin_based ? o->c->sign[i] : 1) * alpha;
        size += fabs(alpha);
    }
    if (o->objective.intercept) assert_true(fabs(sum) <= 1e-9 * size);
    for (int64_t j = 0; j < p; j++) {
        double v = 0;
        for (int64_t i = 0; i < n; i++)
            v += (loss->margin_based ? o->c->sign[i] : 1) * solution->alpha[i] * o->c->a[i * p + j];
        if (penalty->rho == 0) assert_true(fabs(v) <= penalty->kappa * (1 + 1e-9) + 1e-8 * size);
        const double excess = fmax(fabs(v) - penalty->kappa, 0);
        square += excess * excess;
    }
    if (penalty->rho > 0) dual -= square / (2 * penalty->rho);
    assert_close(solution->dual, dual, 1e-11);
}

static void check_gap(const objective_case *o, const mg_linear_solution *solution) {
    const double primal = plain_primal(o, solution->w, *solution->b);
    assert_close(solution->primal, primal, 1e-12);
    assert_close(solution->gap, (primal - solution->dual) / fmax(1, fabs(primal)), 1e-12);
    assert_true(solution->dual >= 0);
    assert_true(solution->dual <= solution->primal + 1e-9 * fmax(1, solution->primal));
}

/* From any weights, and from any alpha, the bound lies below the objective at any other weights. */
static void check_weak_duality(objective_case *o, uint64_t seed) {
    const int64_t p = o->design.columns, n = o->design.samples;
    for (int k = 0; k < 8; k++) {
        double *w = some_numbers(p, &seed), *alpha = some_numbers(n, &seed);
        double b = 0;
        mg_linear_solution solution = {.w = w, .b = &b, .alpha = k % 2 ? alpha : NULL};
        for (int64_t j = 0; j < p; j++)
            w[j] *= k < 2 ? 0 : pow(4, k - 4);
        if (k == 7)
            for (int64_t i = 0; i < n; i++)
                alpha[i] = i % 5 == 0 ? 1e30 : i % 5 == 1 ? (double)NAN : 10 * alpha[i];
        b = o->objective.intercept ? support_uniform(&seed) : 0;
        OK(mg_certify(&o->objective, &solution, NULL, &error));
        check_gap(o, &solution);
        if (solution.alpha && k < 7) check_feasible(o, &solution);
        for (int other = 0; other < 40; other++) {
            double *z = some_numbers(p, &seed);
            const double reach = pow(2, other % 8 - 4);
            for (int64_t j = 0; j < p; j++)
                z[j] *= reach;
            const double at = o->objective.intercept ? reach * support_normal(&seed) : 0;
            const double primal = plain_primal(o, z, at);
            if (!(solution.dual <= primal + 1e-9 * fmax(1, primal)))
                fail_msg("bound %.17g above %.17g", solution.dual, primal);
            free(z);
        }
        free(w);
        free(alpha);
    }
}

static void test_weak_duality(void **state) {
    (void)state;
    check_objectives(25, 3, check_weak_duality);
}

/* ---- The optimum of small problems ----------------------------------------------------------- */

typedef struct search {
    const objective_case *o;
    double at[3], *f; /* w1, w2, b; scores are kept for the two outer ones */
    int64_t dimensions;
} search;

/* The least value over coordinate `k` and those behind it, by nested golden sections: what is left
 * of a convex function is convex. */
static double least_along(search *s, int64_t k) {
    if (k == s->dimensions) return plain_primal(s->o, s->at, s->at[2]);
    const double ratio = 0.6180339887498949;
    double low = -12, high = 12, x = high - ratio * (high - low), y = low + ratio * (high - low);
    const int64_t place = k == 0 && s->o->objective.intercept ? 2 : k - s->o->objective.intercept;
    s->at[place] = x;
    double fx = least_along(s, k + 1);
    s->at[place] = y;
    double fy = least_along(s, k + 1);
    const int steps = s->o->objective.penalty.kappa > 0 ? 38 : 31;
    for (int step = 0; step < steps; step++) {
        if (fx <= fy) {
            high = y;
            y = x;
            fy = fx;
            s->at[place] = x = high - ratio * (high - low);
            fx = least_along(s, k + 1);
        } else {
            low = x;
            x = y;
            fx = fy;
            s->at[place] = y = low + ratio * (high - low);
            fy = least_along(s, k + 1);
        }
    }
    s->at[place] = fx <= fy ? x : y;
    return least_along(s, k + 1);
}

/* Maximises the dual by steps along pairs of variables (single ones without intercept): slow, but
 * nothing to go wrong. Golden section within the box. */
static double pair_dual(const objective_case *o, double *alpha) {
    const mg_loss *loss = o->objective.loss;
    const mg_penalty *penalty = &o->objective.penalty;
    const int64_t n = o->c->problem.count;
    double dual = 0, v[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        const double c = sample_factor(o, i);
        dual += c * loss->dual(fmin(fmax(alpha[i] / c, loss->dual_low), loss->dual_high));
        for (int j = 0; j < 2; j++)
            v[j] += alpha[i] * o->c->sign[i] * o->c->a[2 * i + j];
    }
    for (int j = 0; j < 2; j++)
        dual -= pow(fmax(fabs(v[j]) - penalty->kappa, 0), 2) / (2 * penalty->rho);
    return dual;
}

static void move_pair(const objective_case *o, double *alpha, int64_t i, int64_t k) {
    const double step_k = o->c->sign[i] == o->c->sign[k] ? -1 : 1, ratio = 0.6180339887498949;
    const double ci = sample_factor(o, i), ck = sample_factor(o, k), ai = alpha[i], ak = alpha[k];
    double low = -ai, high = ci - ai;
    if (i != k) {
        low = fmax(low, step_k > 0 ? -ak : ak - ck);
        high = fmin(high, step_k > 0 ? ck - ak : ak);
    }
    for (int step = 0; step < 60; step++) {
        const double x = high - ratio * (high - low), y = low + ratio * (high - low);
        alpha[i] = ai + x;
        if (i != k) alpha[k] = ak + step_k * x;
        const double fx = pair_dual(o, alpha);
        alpha[i] = ai + y;
        if (i != k) alpha[k] = ak + step_k * y;
        if (fx >= pair_dual(o, alpha))
            high = y;
        else
            low = x;
    }
    alpha[i] = ai + low;
    if (i != k) alpha[k] = ak + step_k * low;
}

static void maximise_dual(const objective_case *o, double *alpha) {
    const int64_t n = o->c->problem.count;
    memset(alpha, 0, (size_t)n * sizeof *alpha);
    for (int round = 0; round < (o->objective.intercept ? 60 : 500); round++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = o->objective.intercept ? 0 : i;
                 k < (o->objective.intercept ? i : i + 1); k++)
                move_pair(o, alpha, i, k);
}

static void check_optimum(mg_loss_kind loss, const penalty_kind *kind, int with, uint64_t seed) {
    enum { ROWS = 14, ROWS_THAT_OVERLAP = 30 };
    const int64_t rows = isinf(kind->value) ? ROWS_THAT_OVERLAP : ROWS;
    objective_case o;
    double alpha[ROWS_THAT_OVERLAP];
    start_case(&o, rows, 2, with & 1 ? WITH_WEIGHT | WITH_SHIFT : 0, loss, kind, (with & 2) == 0,
               seed);
    search s = {.o = &o, .dimensions = o.objective.intercept ? 3 : 2};
    const double least = least_along(&s, 0);
    mg_linear_solution solution = {.w = s.at, .b = s.at + 2};
    if (loss == MG_LOSS_HINGE) {
        maximise_dual(&o, alpha);
        solution.alpha = alpha;
    }
    OK(mg_certify(&o.objective, &solution, NULL, &error));
    check_gap(&o, &solution);
    assert_close(solution.primal, least, 1e-12);
    const double allowed = loss == MG_LOSS_HINGE ? 1e-5 : kind->l1_ratio > 0 ? 1e-5 : 1e-6;
    if (!(solution.gap <= allowed && solution.gap >= -1e-9))
        fail_msg("%s, %s=%g, l1 %g, with %d: gap %g (primal %.12g, dual %.12g) w %g %g b %g",
                 o.objective.loss->name, kind->spelling, kind->value, kind->l1_ratio, with,
                 solution.gap, solution.primal, solution.dual, s.at[0], s.at[1], s.at[2]);
    end_case(&o);
}

static void test_no_gap_at_the_optimum(void **state) {
    SUPPORT_LARGE_CASE();
    static const mg_loss_kind smooth[] = {MG_LOSS_SQUARED, MG_LOSS_SQUARED_HINGE, MG_LOSS_LOGISTIC,
                                          MG_LOSS_EXPONENTIAL};
    uint64_t seed = 900;
    (void)state;
    for (int l = 0; l < 4; l++)
        for (size_t k = 0; k < sizeof penalties / sizeof *penalties; k++)
            check_optimum(smooth[l], &penalties[k], (int)(k + (size_t)l) % 4, ++seed);
    for (int with = 0; with < 4; with++)
        check_optimum(MG_LOSS_LOGISTIC, &penalties[8], with, ++seed); /* no penalty */
    for (int with = 0; with < 4; with++)
        check_optimum(MG_LOSS_HINGE, &penalties[with % 2], with, ++seed);
}

/* Weights whose objective is beyond double precision have no gap that anything could be below. */
static void test_overflow_proves_nothing(void **state) {
    static const mg_loss_kind losses[] = {MG_LOSS_SQUARED, MG_LOSS_SQUARED_HINGE, MG_LOSS_LOGISTIC,
                                          MG_LOSS_EXPONENTIAL};
    (void)state;
    for (int l = 0; l < 4; l++)
        for (int k = 0; k < 3; k++) {
            objective_case o;
            double at[3] = {1e200, -1e200, k == 2 ? (double)INFINITY : 1e200};
            if (k == 1) at[0] = at[1] = 1e308;
            start_case(&o, 14, 2, 0, losses[l], &penalties[0], true, 7);
            mg_linear_solution solution = {.w = at, .b = at + 2};
            if (mg_certify(&o.objective, &solution, NULL, &error) >= 0)
                assert_false(solution.gap <= 1);
            end_case(&o);
        }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status certify_all(margin_context *context, void *user, margin_error *failure) {
    const design_case *c = user;
    const mg_penalty penalty = mg_penalty_make("C", inf, 0, 1);
    mg_design design = {0};
    mg_objective objective = {0};
    double w[4] = {0.1, 0.2, -0.3, 0};
    mg_linear_solution solution = {.w = w, .b = w + 3};
    margin_status status;
    MG_GO(mg_design_create(context, &c->problem, &design, failure));
    MG_GO(mg_objective_create(&design, mg_loss_get(MG_LOSS_LOGISTIC), &penalty, true, &objective,
                              failure));
    MG_GO(mg_certify(&objective, &solution, NULL, failure));
done:
    mg_objective_free(&objective);
    if (design.heap) mg_design_free(&design);
    return status;
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    design_case *c = design_case_make(60, 3, DENSE_F64, ALL_PARTS, 3);
    assert_true(support_fail_each_allocation(1, certify_all, c) > 8);
    design_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_spellings),
        cmocka_unit_test(test_no_penalty),
        cmocka_unit_test(test_l1_share),
        cmocka_unit_test(test_value_and_gradient),
        cmocka_unit_test(test_weak_duality),
        cmocka_unit_test(test_no_gap_at_the_optimum),
        cmocka_unit_test(test_overflow_proves_nothing),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
