#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Problems -------------------------------------------------------------------------------- */

linear_case *linear_case_make(int64_t rows, int64_t columns, double mix, double noise,
                              uint64_t seed) {
    linear_case *c = calloc(1, sizeof *c);
    double *hidden = calloc((size_t)columns, sizeof *hidden);
    c->rows = rows;
    c->columns = columns;
    c->x = calloc((size_t)(rows * columns), sizeof *c->x);
    c->target = calloc((size_t)rows, sizeof *c->target);
    c->weight = calloc((size_t)rows, sizeof *c->weight);
    c->sign = calloc((size_t)rows, sizeof *c->sign);
    for (int64_t j = 0; j < columns; j++)
        hidden[j] = support_normal(&seed) / sqrt((double)columns) * 1.5;
    for (int64_t i = 0; i < rows; i++) {
        double *row = c->x + i * columns, f = 0.3;
        for (int64_t j = 0; j < columns; j++) {
            row[j] = support_normal(&seed) + (j > 0 ? mix * row[j - 1] : 0);
            f += hidden[j] * row[j];
        }
        const double u = 1e-9 + 0.999999998 * support_uniform(&seed);
        const double logit = noise * log(u / (1 - u));
        c->target[i] = f + 0.3 * logit;
        c->sign[i] = f + logit > 0 ? 1 : -1;
        c->weight[i] = 0.25 + 2 * support_uniform(&seed);
    }
    c->sign[0] = 1;
    c->sign[rows - 1] = -1;
    if (noise == 0) { /* keep the first and the last row on their sides */
        for (int64_t j = 0; j < columns; j++) {
            c->x[j] = 2 * hidden[j];
            c->x[(rows - 1) * columns + j] = -2 * hidden[j];
        }
    }
    free(hidden);
    c->problem = (mg_problem){.kind = MG_TWO_CLASS,
                              .x = margin_dense_f64(c->x, rows, columns, columns),
                              .count = rows,
                              .classes = 2,
                              .sign = c->sign,
                              .target = c->target};
    return c;
}

void linear_case_free(linear_case *c) {
    free(c->x);
    free(c->target);
    free(c->weight);
    free(c->sign);
    free(c);
}

void linear_case_scale(linear_case *c, const double *scale, const double *shift) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++) {
            double *x = c->x + i * c->columns + j;
            *x = (scale ? scale[j] : 1) * *x + (shift ? shift[j] : 0);
        }
}

/* ---- Fits ------------------------------------------------------------------------------------ */

static const margin_option table[] = {
    MG_OPTION_C("1"),
    MG_OPTION_ALPHA(NULL),
    MG_OPTION_LAMBDA,
    MG_OPTION_L1_RATIO("0"),
    MG_OPTION_TOL("1e-06"),
    MG_OPTION_MAX_ITER,
    {.name = "solver",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "auto",
     .choices = "auto|dual_cd|lbfgs|newton|ssnal|working_set" MG_SOLVERS_DESCENT,
     .help = "how"},
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
};
static const margin_component component = {
    .name = "linear", .options = table, .option_count = MG_LENGTH(table)};

/* A learner with these options for any loss. */
typedef struct any_learner {
    mg_linear_family family;
    mg_learner learner;
    mg_loss_kind loss;
} any_learner;

static mg_loss_kind loss_of_any(const mg_fit *fit) {
    return ((const any_learner *)fit->learner->family)->loss;
}

static void learner_for(mg_loss_kind loss, any_learner *any) {
    const mg_linear_family family = {.loss = MG_LOSS_LOGISTIC, .loss_of = loss_of_any};
    const mg_learner learner = {.info = component, .family = &any->family};
    *any = (any_learner){family, learner, loss};
}

static void read_options(mg_arena *arena, const char *text, mg_option_value *values) {
    margin_error error = {0};
    for (int k = 0; k < MG_LENGTH(table); k++)
        assert_int_equal(mg_option_default("linear", &table[k], arena, &values[k], &error),
                         MARGIN_OK);
    while (*text) {
        char name[40], value[400];
        int used = 0;
        if (sscanf(text, " %39[a-zA-Z0-9_]=%399[^,]%n", name, value, &used) != 2)
            fail_msg("options: %s", text);
        const int k = mg_option_index(&component, name);
        if (k < 0) fail_msg("no option %s", name);
        const mg_written written = {value, (int64_t)strlen(value), 0, false};
        if (mg_option_read("linear", &table[k], &written, arena, &values[k], &error) < 0)
            fail_msg("%s", error.text);
        text += used;
        text += *text == ',';
    }
}

static linear_fitted run(margin_context *context, const mg_problem *problem, mg_loss_kind loss,
                         const char *options, const mg_trace *trace, const mg_hypothesis *h) {
    mg_option_value values[MG_LENGTH(table)];
    linear_fitted f = {0};
    any_learner any;
    mg_arena arena;
    mg_heap *heap;
    assert_int_equal(mg_heap_create(NULL, 0, &heap, &f.error), MARGIN_OK);
    mg_arena_init(&arena, heap);
    read_options(&arena, options, values);
    learner_for(loss, &any);
    mg_fit fit = {.learner = &any.learner,
                  .context = context,
                  .problem = problem,
                  .options = values,
                  .trace = trace,
                  .seed = 7,
                  .error = &f.error};
    mg_report_init(&fit.report);
    f.status = h ? mg_linear_verify_one(&fit, h) : mg_linear_fit_one(&fit);
    if (f.status < 0) assert_null(fit.hypothesis);
    f.h = fit.hypothesis;
    if (f.h) f.heap = mg_heap_retain(context->heap);
    f.report = fit.report;
    mg_arena_free(&arena);
    mg_heap_release(heap);
    return f;
}

linear_fitted linear_fit_limited(const mg_problem *problem, mg_loss_kind loss,
                                 const char *options) {
    margin_context_options limited = {.size = sizeof limited, .threads = 1, .time_limit = 1e-9};
    margin_context *context;
    assert_int_equal(margin_context_create(&limited, &context, NULL), MARGIN_OK);
    const linear_fitted f = linear_fit_with(context, problem, loss, options, NULL);
    margin_context_free(context);
    assert_int_equal(f.status, MARGIN_STOPPED_TIME);
    assert_contains(f.report.reason, "time limit");
    return f;
}

typedef struct cancelling {
    margin_context *context;
    int64_t step;
} cancelling;

static int cancel_at_step(const margin_trace_step *step, void *user) {
    const cancelling *c = user;
    if (step->step == c->step) margin_context_cancel(c->context);
    return 0;
}

void linear_assert_cancels(const mg_problem *problem, mg_loss_kind loss, const char *options,
                           int64_t step) {
    cancelling c = {support_context(NULL, 2), step};
    const mg_trace trace = {.step = cancel_at_step, .user = &c};
    const linear_fitted f = linear_fit_with(c.context, problem, loss, options, &trace);
    assert_int_equal(f.status, MARGIN_ERROR_CANCELLED);
    assert_contains(f.error.text, "cancelled");
    margin_context_free(c.context);
}

static void assert_same_fit(const linear_fitted *f, const linear_fitted *g) {
    const size_t columns = (size_t)f->h->columns;
    assert_memory_equal(weights_of(f), weights_of(g), columns * sizeof(double));
    assert_true(intercept_of(f) == intercept_of(g));
    assert_true(f->report.gap == g->report.gap);
    assert_int_equal(!f->h->dual_starts, !g->h->dual_starts);
    if (!f->h->dual_starts) return;
    assert_int_equal(f->h->dual_starts[1], g->h->dual_starts[1]);
    assert_memory_equal(f->h->dual_coefficients, g->h->dual_coefficients,
                        (size_t)f->h->dual_starts[1] * sizeof(double));
}

void linear_assert_threads(const mg_problem *problem, mg_loss_kind loss, const char *options) {
    linear_fitted first = {0};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        linear_fitted f = linear_fit_with(context, problem, loss, options, NULL);
        margin_context_free(context);
        assert_int_equal(f.status, MARGIN_OK);
        if (threads == 1) {
            first = f;
            continue;
        }
        assert_same_fit(&f, &first);
        linear_fitted_free(&f);
    }
    linear_fitted_free(&first);
}

void linear_fit_together(margin_context *context, const mg_problem *problems, int count,
                         mg_loss_kind loss, const char *options, const mg_trace *trace,
                         linear_fitted *fits) {
    mg_option_value values[MG_LENGTH(table)];
    mg_fit list[MG_MOST_TOGETHER];
    any_learner any;
    margin_error error = {0};
    mg_arena arena;
    mg_heap *heap;
    assert_int_equal(mg_heap_create(NULL, 0, &heap, &error), MARGIN_OK);
    mg_arena_init(&arena, heap);
    read_options(&arena, options, values);
    learner_for(loss, &any);
    for (int k = 0; k < count; k++) {
        list[k] = (mg_fit){.learner = &any.learner,
                           .context = context,
                           .problem = &problems[k],
                           .options = values,
                           .trace = trace,
                           .seed = 7,
                           .error = &error};
        mg_report_init(&list[k].report);
    }
    const margin_status status = mg_linear_fit(list, count);
    for (int k = 0; k < count; k++) {
        if (status < 0) assert_null(list[k].hypothesis);
        fits[k] = (linear_fitted){.status = status < 0 ? status : list[k].report.status,
                                  .h = list[k].hypothesis,
                                  .report = list[k].report,
                                  .error = error};
        if (fits[k].h) fits[k].heap = mg_heap_retain(context->heap);
    }
    mg_arena_free(&arena);
    mg_heap_release(heap);
}

linear_fitted linear_fit_with(margin_context *context, const mg_problem *problem, mg_loss_kind loss,
                              const char *options, const mg_trace *trace) {
    return run(context, problem, loss, options, trace, NULL);
}

linear_fitted linear_fit(const mg_problem *problem, mg_loss_kind loss, const char *options) {
    margin_context *context = support_context(NULL, 2);
    linear_fitted f = run(context, problem, loss, options, NULL, NULL);
    margin_context_free(context);
    if (f.status < 0) fail_msg("%s: %s", options, f.error.text);
    assert_int_equal(f.status, f.report.status);
    return f;
}

linear_fitted linear_verify(const mg_problem *problem, mg_loss_kind loss, const char *options,
                            const mg_hypothesis *h) {
    margin_context *context = support_context(NULL, 1);
    linear_fitted f = run(context, problem, loss, options, NULL, h);
    margin_context_free(context);
    if (f.status < 0) fail_msg("%s: %s", options, f.error.text);
    return f;
}

const double *weights_of(const linear_fitted *f) {
    return f->h->view.linear.weights;
}

double intercept_of(const linear_fitted *f) {
    return f->h->view.linear.intercept[0];
}

void linear_fitted_free(linear_fitted *f) {
    mg_hypothesis_free(f->h);
    if (f->heap) mg_heap_release(f->heap);
    f->h = NULL;
    f->heap = NULL;
}

/* ---- By other means -------------------------------------------------------------------------- */

typedef long double real;

/* Value, first and second derivative of a loss at t. */
static void loss_at(mg_loss_kind kind, real t, real out[3]) {
    const real short_of_one = 1 - t;
    out[0] = out[1] = out[2] = 0;
    switch (kind) {
    case MG_LOSS_SQUARED:
        out[0] = t * t;
        out[1] = 2 * t;
        out[2] = 2;
        return;
    case MG_LOSS_SQUARED_HINGE:
        out[0] = short_of_one > 0 ? short_of_one * short_of_one : 0;
        out[1] = short_of_one > 0 ? -2 * short_of_one : 0;
        out[2] = short_of_one > 0 ? 2 : 0;
        return;
    case MG_LOSS_LOGISTIC:
        out[0] = t > 0 ? log1pl(expl(-t)) : log1pl(expl(t)) - t;
        out[1] = -1 / (1 + expl(t));
        out[2] = -out[1] * (1 + out[1]);
        return;
    case MG_LOSS_EXPONENTIAL:
        out[0] = out[2] = expl(-t);
        out[1] = -out[0];
        return;
    default:
        fail_msg("no oracle for this loss");
    }
}

static real margin_at(const oracle_problem *p, int64_t i, const real *u) {
    const linear_case *c = p->c;
    real f = p->intercept ? u[c->columns] : 0;
    for (int64_t j = 0; j < c->columns; j++)
        f += (real)c->x[i * c->columns + j] * u[j];
    return p->loss == MG_LOSS_SQUARED ? f - (real)c->target[i] : c->sign[i] * f;
}

static real weight_of(const oracle_problem *p, int64_t i) {
    const double *weight = p->c->problem.weight;
    return (real)p->factor * (real)(weight ? weight[i] : 1.0);
}

static real objective(const oracle_problem *p, const real *u) {
    real sum = 0, square = 0, loss[3];
    for (int64_t i = 0; i < p->c->rows; i++) {
        loss_at(p->loss, margin_at(p, i, u), loss);
        sum += weight_of(p, i) * loss[0];
    }
    for (int64_t j = 0; j < p->c->columns; j++)
        square += u[j] * u[j];
    return sum + (real)p->rho / 2 * square;
}

double oracle_objective(const oracle_problem *p, const double *w, double b) {
    real u[ORACLE_COLUMNS + 1];
    for (int64_t j = 0; j < p->c->columns; j++)
        u[j] = (real)w[j];
    u[p->c->columns] = (real)b;
    return (double)objective(p, u);
}

/* Solves the n x n system in place, with the greatest pivot of each column. */
static void eliminate(real *a, real *x, int n, int stride) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int r = k + 1; r < n; r++)
            if (fabsl(a[r * stride + k]) > fabsl(a[best * stride + k])) best = r;
        for (int s = 0; s < n; s++) {
            const real held = a[k * stride + s];
            a[k * stride + s] = a[best * stride + s];
            a[best * stride + s] = held;
        }
        const real held = x[k];
        x[k] = x[best];
        x[best] = held;
        if (a[k * stride + k] == 0) a[k * stride + k] = 1; /* a column of zeros */
        for (int r = k + 1; r < n; r++) {
            const real share = a[r * stride + k] / a[k * stride + k];
            for (int s = k; s < n; s++)
                a[r * stride + s] -= share * a[k * stride + s];
            x[r] -= share * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int s = k + 1; s < n; s++)
            x[k] -= a[k * stride + s] * x[s];
        x[k] /= a[k * stride + k];
    }
}

/* d = H^-1 g at u, with columns and rows of H divided by the roots of its diagonal. */
static void newton_direction(const oracle_problem *p, const real *u, real *d) {
    enum { STRIDE = ORACLE_COLUMNS + 1 };
    static real h[STRIDE * STRIDE];
    const int m = (int)p->c->columns, n = m + 1;
    real scale[STRIDE], loss[3];
    memset(h, 0, sizeof h);
    memset(d, 0, (size_t)n * sizeof *d);
    for (int64_t i = 0; i < p->c->rows; i++) {
        const double *x = p->c->x + i * m;
        loss_at(p->loss, margin_at(p, i, u), loss);
        const real sign = p->loss == MG_LOSS_SQUARED ? 1 : p->c->sign[i];
        const real slope = weight_of(p, i) * loss[1] * sign, bend = weight_of(p, i) * loss[2];
        for (int r = 0; r < n; r++) {
            const real left = r < m ? (real)x[r] : p->intercept;
            d[r] += slope * left;
            for (int s = 0; s < n; s++)
                h[r * STRIDE + s] += bend * left * (s < m ? (real)x[s] : p->intercept);
        }
    }
    for (int j = 0; j < m; j++) {
        d[j] += (real)p->rho * u[j];
        h[j * STRIDE + j] += (real)p->rho;
    }
    for (int j = 0; j < n; j++)
        scale[j] = h[j * STRIDE + j] > 0 ? 1 / sqrtl(h[j * STRIDE + j]) : 0;
    for (int r = 0; r < n; r++) {
        d[r] *= scale[r];
        for (int s = 0; s < n; s++)
            h[r * STRIDE + s] *= scale[r] * scale[s];
    }
    eliminate(h, d, n, STRIDE);
    for (int j = 0; j < n; j++)
        d[j] *= scale[j];
}

double oracle_solve(const oracle_problem *p, double *w, double *b) {
    real u[ORACLE_COLUMNS + 1] = {0}, next[ORACLE_COLUMNS + 1], d[ORACLE_COLUMNS + 1];
    const int64_t m = p->c->columns;
    assert_true(m <= ORACLE_COLUMNS);
    real value = objective(p, u);
    for (int step = 0; step < 500; step++) {
        real t = 1, there = 0;
        newton_direction(p, u, d);
        for (int cut = 0; cut < 60; cut++, t /= 2) {
            for (int64_t j = 0; j <= m; j++)
                next[j] = u[j] - t * d[j];
            there = objective(p, next);
            if (there < value) break;
        }
        if (!(there < value)) break;
        memcpy(u, next, sizeof u);
        value = there;
    }
    for (int64_t j = 0; j < m; j++)
        w[j] = (double)u[j];
    *b = p->intercept ? (double)u[m] : 0;
    return (double)value;
}

/* Value of the dual term -conjugate(-u) of the losses of a margin. */
static real dual_term(mg_loss_kind kind, real u) {
    switch (kind) {
    case MG_LOSS_SQUARED_HINGE:
        return u - u * u / 4;
    case MG_LOSS_LOGISTIC:
        return (u > 0 ? -u * logl(u) : 0) + (u < 1 ? -(1 - u) * log1pl(-u) : 0);
    case MG_LOSS_EXPONENTIAL:
        return u > 0 ? u - u * logl(u) : 0;
    default:
        fail_msg("no dual term for this loss");
    }
    return 0;
}

double oracle_gap(const oracle_problem *p, const double *w, double b) {
    const int64_t m = p->c->columns;
    real u[ORACLE_COLUMNS + 1], v[ORACLE_COLUMNS] = {0}, sums[2] = {0, 0}, dual = 0, loss[3];
    for (int64_t j = 0; j < m; j++)
        u[j] = (real)w[j];
    u[m] = (real)b;
    for (int64_t i = 0; i < p->c->rows; i++) {
        loss_at(p->loss, margin_at(p, i, u), loss);
        sums[p->c->sign[i] > 0] -= weight_of(p, i) * loss[1];
    }
    const real least = sums[0] < sums[1] ? sums[0] : sums[1];
    for (int64_t i = 0; i < p->c->rows; i++) {
        if (weight_of(p, i) == 0) continue;
        loss_at(p->loss, margin_at(p, i, u), loss);
        real alpha = -weight_of(p, i) * loss[1];
        if (p->intercept && sums[p->c->sign[i] > 0] > 0) alpha *= least / sums[p->c->sign[i] > 0];
        dual += weight_of(p, i) * dual_term(p->loss, alpha / weight_of(p, i));
        for (int64_t j = 0; j < m; j++)
            v[j] += alpha * p->c->sign[i] * (real)p->c->x[i * m + j];
    }
    for (int64_t j = 0; j < m; j++)
        dual -= v[j] * v[j] / (2 * (real)p->rho);
    return (double)(objective(p, u) - dual);
}
