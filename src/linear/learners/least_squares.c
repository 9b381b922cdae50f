/* The learners least-squares and ridge: options, choice of the method, report. */
#include "linear/squares/least_squares.h"

#include "linear/learners/linear_infer.h"
#include "linear/learners/linear_learner.h"
#include "linear/squares/ridge_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

#define SOLVER                                                                                     \
    {                                                                                              \
        .name = "solver", .type = MARGIN_OPTION_CHOICE, .default_text = "auto",                    \
        .choices = "auto|normal|qr" MG_SOLVERS_DESCENT,                                            \
        .help = "normal equations, QR (slower; for columns that almost depend on each other), or " \
                "the one that the data needs" MG_SOLVERS_DESCENT_HELP                              \
    }
#define TOLERANCE(what)                                                                            \
    {                                                                                              \
        .name = "tol", .type = MARGIN_OPTION_NUMBER, .low = 0, .low_open = 1, .high = 1,           \
        .high_open = 1, .default_text = "1e-06", .help = (what)                                    \
    }

/* Those in front; MG_OPTIONS_DESCENT and max_iter, of the textbook solvers alone, follow. */
enum { LS_INTERCEPT, LS_SOLVER, LS_TOL };
static const margin_option least_squares_table[] = {
    [LS_INTERCEPT] = MG_OPTION_INTERCEPT,
    [LS_SOLVER] = SOLVER,
    [LS_TOL] = TOLERANCE("relative residual of the normal equations to reach"),
    MG_OPTION_MAX_ITER,
    MG_OPTIONS_DESCENT,
};

enum { RIDGE_ALPHA, RIDGE_LAMBDA, RIDGE_C, RIDGE_INTERCEPT, RIDGE_SOLVER, RIDGE_TOL };
static const margin_option ridge_table[] = {
    [RIDGE_ALPHA] = MG_OPTION_ALPHA("1"),
    [RIDGE_LAMBDA] = MG_OPTION_LAMBDA,
    [RIDGE_C] = MG_OPTION_C(NULL),
    [RIDGE_INTERCEPT] = MG_OPTION_INTERCEPT,
    [RIDGE_SOLVER] = SOLVER,
    [RIDGE_TOL] = TOLERANCE("relative duality gap to reach"),
    MG_OPTION_MAX_ITER,
    MG_OPTIONS_DESCENT,
};

/* The order of the words of `solver`. */
enum { SOLVER_AUTO, SOLVER_NORMAL, SOLVER_QR, SOLVER_GD };

typedef struct choices {
    mg_penalty penalty;
    bool intercept;
    int solver;
    double tolerance;
} choices;

static choices least_squares_choices(const mg_fit *fit) {
    const mg_option_value *o = fit->options;
    return (choices){.penalty = mg_penalty_make(o, -1, -1, -1, "lambda", 0.0, 0.0,
                                                mg_total_weight(fit->problem)),
                     .intercept = o[LS_INTERCEPT].integer != 0,
                     .solver = (int)o[LS_SOLVER].integer,
                     .tolerance = o[LS_TOL].number};
}

static choices ridge_choices(const mg_fit *fit) {
    const mg_option_value *o = fit->options;
    return (choices){.penalty = mg_penalty_make(o, RIDGE_C, RIDGE_ALPHA, RIDGE_LAMBDA, "alpha", 1.0,
                                                0.0, mg_total_weight(fit->problem)),
                     .intercept = o[RIDGE_INTERCEPT].integer != 0,
                     .solver = (int)o[RIDGE_SOLVER].integer,
                     .tolerance = o[RIDGE_TOL].number};
}

/* ---- Solving --------------------------------------------------------------------------------- */

/* Few columns cost little either way, and products of columns may each be scaled, which products of
 * rows cannot. */
static bool is_wide(const mg_squares *s) {
    enum { FEW_COLUMNS = 128 };
    return s->columns > s->samples && s->columns > FEW_COLUMNS;
}

static margin_status solve_by(mg_squares *s, int solver) {
    bool doubtful = false;
    if (solver == SOLVER_QR) return mg_squares_qr(s);
    if (is_wide(s)) return mg_squares_rows(s);
    MG_TRY(mg_squares_normal(s, solver == SOLVER_NORMAL, &doubtful));
    if (doubtful && !s->out_of_time) return mg_squares_qr(s);
    return MARGIN_OK;
}

static margin_status solve(mg_squares *s, int solver) {
    MG_TRY(mg_squares_begin(s));
    MG_TRY(solve_by(s, solver));
    return s->judged ? MARGIN_OK : mg_squares_constant(s);
}

/* ---- Report ---------------------------------------------------------------------------------- */

static int64_t constant_columns(const mg_squares *s, int64_t *first) {
    int64_t count = 0;
    for (int64_t j = s->columns - 1; j >= 0; j--)
        if (!(s->norm[j] > 0.0)) {
            count++;
            *first = j;
        }
    return count;
}

/* What is particular about the columns. */
static void describe_columns(const mg_squares *s, mg_text *text) {
    char buffer[32];
    int64_t first = 0;
    const int64_t constant = constant_columns(s, &first);
    if (s->rank >= 0 && s->columns_text[0])
        mg_text_format(text,
                       "; the columns have rank %lld of %lld (%s depend on each other): of all "
                       "best weights these have the least norm",
                       (long long)s->rank, (long long)s->columns, s->columns_text);
    else if (s->rank >= 0)
        mg_text_format(text,
                       "; more columns (%lld) than independent rows (%lld): of all best weights "
                       "these have the least norm",
                       (long long)s->columns, (long long)s->rank);
    if (constant > 0)
        mg_text_format(text, "; column %s%s constant and has weight 0",
                       mg_column_name(s->problem->columns, first, buffer),
                       constant > 1 ? " (and others) is" : " is");
}

static void describe_end(const mg_squares *s, margin_status status, mg_text *text) {
    if (status == MARGIN_OK)
        mg_text_format(text, "solved by %s", s->method);
    else if (status == MARGIN_STOPPED_TIME)
        mg_text_format(text, "the time limit came before the corrections of %s ended", s->method);
    else if (s->penalty.rho > 0.0)
        mg_text_format(text,
                       "rounding in the data limits the gap (%s, condition %s): a larger penalty, "
                       "or columns of similar size (standardize), would be certain",
                       s->method, mg_number(s->condition).text);
    else
        mg_text_format(text,
                       "rounding limits the residual (%s, condition %s): subtract large offsets "
                       "from the columns (standardize), leave out columns, or use ridge",
                       s->method, mg_number(s->condition).text);
}

static margin_status set_reason(mg_squares *s, margin_status status) {
    mg_text text;
    mg_text_init(&text, s->context->heap);
    describe_end(s, status, &text);
    describe_columns(s, &text);
    const bool failed = text.failed;
    if (!failed) mg_report_reason(&s->fit->report, "%s", text.data);
    mg_text_free(&text);
    return failed ? mg_no_memory(s->context->heap, 1, 400, "the report", s->error) : MARGIN_OK;
}

static const char *formula_of(const mg_penalty *penalty) {
    const bool mean = strcmp(penalty->spelling, "lambda") == 0;
    if (penalty->rho == 0.0) return mean ? "mean (f-y)^2" : "sum (f-y)^2";
    if (mean) return "mean (f-y)^2 + lambda |w|^2";
    return strcmp(penalty->spelling, "C") == 0 ? "C sum (f-y)^2 + |w|^2/2"
                                               : "sum (f-y)^2 + alpha |w|^2";
}

static void set_numbers(const mg_squares *s) {
    margin_report *report = &s->fit->report;
    report->objective = s->now.objective;
    report->gap = s->now.gap;
    report->tolerance = s->tolerance;
    report->iterations = s->refinements;
    snprintf(report->iteration_name, sizeof report->iteration_name, "refinements");
    mg_report_set(report, "condition", s->condition);
    if (s->rank >= 0) mg_report_set(report, "rank", (double)s->rank);
}

/* The direct ways take one step. */
static void trace(const mg_squares *s) {
    const mg_trace *to = s->fit->trace;
    if (!to) return;
    const margin_trace_step record = {.subproblem = to->subproblem,
                                      .subproblems = to->subproblems,
                                      .step = 1,
                                      .row = -1,
                                      .errors = -1,
                                      .loss = s->now.objective,
                                      .intercept = s->b,
                                      .weights = s->w,
                                      .weight_count = s->columns};
    to->step(&record, to->user);
}

static margin_status hand_over(mg_squares *s) {
    mg_fit *fit = s->fit;
    margin_status status = MARGIN_OK;
    if (!(s->now.gap <= s->tolerance))
        status = s->out_of_time ? MARGIN_STOPPED_TIME : MARGIN_STOPPED_STALLED;
    set_numbers(s);
    fit->report.status = status;
    mg_report_formula(&fit->report, formula_of(&s->penalty));
    MG_TRY(set_reason(s, status));
    trace(s);
    for (int64_t j = 0; j < s->columns; j++)
        s->w[j] += 0.0; /* -0 prints as 0 */
    MG_TRY(mg_linear_make(s->context->heap, s->w, s->columns, s->b + 0.0, &fit->hypothesis,
                          fit->error));
    return status;
}

static mg_squares squares_of(mg_fit *fit, const choices *chosen) {
    mg_squares s = {.fit = fit,
                    .context = fit->context,
                    .error = fit->error,
                    .problem = fit->problem,
                    .stop = mg_stop_make(fit->context, -1),
                    .penalty = chosen->penalty,
                    .tolerance = chosen->tolerance,
                    .intercept = chosen->intercept,
                    .samples = fit->problem->count,
                    .columns = fit->problem->x.columns};
    mg_arena_init(&s.arena, fit->context->heap);
    return s;
}

static margin_status fit_with(mg_fit *fit, const choices *chosen) {
    mg_squares s = squares_of(fit, chosen);
    margin_status status = solve(&s, chosen->solver);
    if (status >= 0) status = hand_over(&s);
    mg_squares_end(&s);
    return status;
}

/* ---- Several targets ------------------------------------------------------------------------- */

/* A further target: with the factor of the first, by itself where that will not do. */
static margin_status fit_next(mg_squares *s, mg_fit *fit, const choices *chosen) {
    if (!s->correct) return fit_with(fit, chosen);
    MG_TRY(mg_squares_again(s, fit));
    if (s->may_doubt && !(s->now.gap <= s->tolerance) && !s->out_of_time)
        return fit_with(fit, chosen);
    return hand_over(s);
}

static margin_status fit_targets(mg_fit *fits, int64_t count, const choices *chosen) {
    mg_squares s = squares_of(&fits[0], chosen);
    margin_status status = solve(&s, chosen->solver);
    if (status >= 0) status = hand_over(&s);
    for (int64_t t = 1; status >= 0 && t < count; t++)
        status = fit_next(&s, &fits[t], chosen);
    mg_squares_end(&s);
    if (status >= 0) return MARGIN_OK;
    for (int64_t t = 0; t < count; t++) {
        mg_hypothesis_free(fits[t].hypothesis);
        fits[t].hypothesis = NULL;
    }
    return status;
}

/* ---- Learners -------------------------------------------------------------------------------- */

static margin_status least_squares_check(const mg_option_value *options, margin_error *error) {
    return mg_linear_check_descent(least_squares_table, MG_LENGTH(least_squares_table), options,
                                   error);
}

static margin_status least_squares_fit(mg_fit *fit) {
    const choices chosen = least_squares_choices(fit);
    if (chosen.solver >= SOLVER_GD)
        return mg_linear_fit_squares(fit, least_squares_table, MG_LENGTH(least_squares_table),
                                     "lambda", 0.0);
    return fit_with(fit, &chosen);
}

static margin_status least_squares_targets(mg_fit *fits, int64_t count) {
    const choices chosen = least_squares_choices(&fits[0]);
    return fit_targets(fits, count, &chosen);
}

/* QR takes the target along with the columns. */
static bool least_squares_shares(const mg_problem *whole, const mg_option_value *options) {
    (void)whole;
    return options[LS_SOLVER].integer < SOLVER_QR;
}

static margin_status least_squares_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const choices chosen = least_squares_choices(fit);
    return mg_squares_verify(fit, &chosen.penalty, chosen.intercept, chosen.tolerance, hypothesis);
}

static margin_status least_squares_infer(mg_fit *fit, const mg_hypothesis *hypothesis,
                                         mg_inference *inference) {
    const choices chosen = least_squares_choices(fit);
    return mg_squares_infer(fit, &chosen.penalty, chosen.intercept, hypothesis, inference);
}

static margin_status ridge_check(const mg_option_value *options, margin_error *error) {
    return mg_linear_check_descent(ridge_table, MG_LENGTH(ridge_table), options, error);
}

static void report_penalty(margin_report *report, const mg_penalty *penalty) {
    mg_report_set(report, "C", penalty->C);
    mg_report_set(report, "alpha", penalty->alpha);
    mg_report_set(report, "lambda", penalty->lambda);
}

static margin_status fit_penalised(mg_fit *fit, const choices *chosen) {
    const margin_status status = fit_with(fit, chosen);
    report_penalty(&fit->report, &chosen->penalty);
    return status;
}

margin_status mg_squares_fit(mg_fit *fit, const mg_penalty *penalty, bool intercept,
                             double tolerance) {
    const choices chosen = {
        .penalty = *penalty, .intercept = intercept, .solver = SOLVER_AUTO, .tolerance = tolerance};
    return fit_penalised(fit, &chosen);
}

static margin_status ridge_fit(mg_fit *fit) {
    const choices chosen = ridge_choices(fit);
    if (chosen.solver >= SOLVER_GD)
        return mg_linear_fit_squares(fit, ridge_table, MG_LENGTH(ridge_table), "alpha", 1.0);
    return fit_penalised(fit, &chosen);
}

static margin_status ridge_targets(mg_fit *fits, int64_t count) {
    const choices chosen = ridge_choices(&fits[0]);
    MG_TRY(fit_targets(fits, count, &chosen));
    for (int64_t t = 0; t < count; t++)
        report_penalty(&fits[t].report, &chosen.penalty);
    return MARGIN_OK;
}

static bool ridge_shares(const mg_problem *whole, const mg_option_value *options) {
    (void)whole;
    return options[RIDGE_SOLVER].integer < SOLVER_QR;
}

static margin_status ridge_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const choices chosen = ridge_choices(fit);
    return mg_squares_verify(fit, &chosen.penalty, chosen.intercept, chosen.tolerance, hypothesis);
}

static margin_status ridge_infer(mg_fit *fit, const mg_hypothesis *hypothesis,
                                 mg_inference *inference) {
    const choices chosen = ridge_choices(fit);
    return mg_squares_infer(fit, &chosen.penalty, chosen.intercept, hypothesis, inference);
}

static margin_status ridge_path(mg_fit *fit, mg_path *path) {
    mg_heap *heap = fit->context->heap;
    mg_penalty *penalties = NULL;
    bool intercept = true;
    MG_NEW(heap, penalties, path->count, "the penalties", fit->error);
    for (int64_t k = 0; k < path->count; k++) {
        mg_fit one = *fit;
        one.options = path->options[k];
        const choices chosen = ridge_choices(&one);
        penalties[k] = chosen.penalty;
        intercept = chosen.intercept;
    }
    const margin_status status = mg_ridge_path(fit, penalties, intercept, path);
    mg_free(heap, penalties);
    return status;
}

const mg_learner mg_learner_least_squares = {
    .info = {.name = "least-squares",
             .kind = MARGIN_LEARNER,
             .summary = "The linear function with the least mean squared error",
             .formula = "minimise (1/m) sum (w.x + b - y)^2",
             .source = "Gauss 1809; Björck 1996",
             .page = "docs/least-squares.md",
             .abilities = MARGIN_CAN_REGRESSION | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_TRACE | MARGIN_CAN_TARGETS,
             .options = least_squares_table,
             .option_count = MG_LENGTH(least_squares_table)},
    .takes_affine = true,
    .takes_made_rows = true,
    .check = least_squares_check,
    .fit = least_squares_fit,
    .fit_together = least_squares_targets,
    .fits_together = least_squares_shares,
    .verify = least_squares_verify,
    .infer = least_squares_infer,
};

const mg_learner mg_learner_ridge = {
    .info = {.name = "ridge",
             .kind = MARGIN_LEARNER,
             .summary = "Least squares with a penalty on the square of the weights",
             .formula = "minimise sum (w.x + b - y)^2 + alpha |w|^2",
             .source = "Hoerl and Kennard 1970",
             .page = "docs/ridge.md",
             .abilities = MARGIN_CAN_REGRESSION | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_TRACE | MARGIN_CAN_TARGETS,
             .options = ridge_table,
             .option_count = MG_LENGTH(ridge_table)},
    .takes_affine = true,
    .takes_made_rows = true,
    .check = ridge_check,
    .fit = ridge_fit,
    .fit_together = ridge_targets,
    .fits_together = ridge_shares,
    .verify = ridge_verify,
    .infer = ridge_infer,
    .path = ridge_path,
};
