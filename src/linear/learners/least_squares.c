/* The learners least-squares and ridge: options, choice of the method, report. */
#include "base/scoped.h"
#include "learn/exact/least_curvature.h"
#include "linear/folds/folds.h"
#include "linear/learners/linear_learner.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

/* Least squares has those behind the penalty. */
static const margin_option option_table[] = {
    MG_OPTION_ALPHA("1"),
    MG_OPTION_LAMBDA,
    MG_OPTION_C(NULL),
    MG_OPTION_INTERCEPT,
    MG_CHOICE("solver", "auto", "auto|normal|qr|cg" MG_SOLVERS_DESCENT,
              "normal equations, QR (slower; for columns that almost depend on each other), "
              "conjugate gradients (many sparse columns), or the one that the "
              "data needs" MG_SOLVERS_DESCENT_HELP),
    MG_OPTION_TOL_OF("1e-06", "relative distance to the optimum to reach"),
    MG_OPTION_MAX_ITER,
    MG_OPTIONS_DESCENT,
};

enum { PENALTIES = 3 };

/* ---- Solving --------------------------------------------------------------------------------- */

static bool is_solver(const char *solver, const char *word) {
    return solver && strcmp(solver, word) == 0;
}

/* Few columns cost little either way, and products of columns may each be scaled, which products of
 * rows cannot. */
static bool is_wide(const mg_squares *s) {
    enum { FEW_COLUMNS = 128 };
    return s->columns > s->samples && s->columns > FEW_COLUMNS;
}

/* What products of rows cannot tell QR can, in a time that grows with the cube of the columns. */
static margin_status solve_wide(mg_squares *s, const char *solver, bool *doubtful) {
    enum { MOST_COLUMNS = 2048 };
    s->may_doubt = !is_solver(solver, "normal") && s->columns <= MOST_COLUMNS;
    MG_TRY(mg_squares_rows(s));
    *doubtful = s->may_doubt && s->is_partial && !(s->now.gap <= s->tolerance);
    return MARGIN_OK;
}

/* Eigenvectors of the products of rows, where those depend on each other, cost far more. */
static margin_status try_owners(mg_squares *s, bool *done) {
    enum { FEWEST_ROWS = 256 };
    if (s->alpha > 0.0 || s->samples < FEWEST_ROWS || !is_wide(s)) return MARGIN_OK;
    MG_TRY(mg_squares_moments(s));
    MG_TRY(mg_squares_owned(s, done));
    *done |= s->out_of_time;
    return MARGIN_OK;
}

/* Sparse columns without a penalty, of which nothing gave a bound: steps until the gradient is next
 * to nothing, and no factor but where it costs little more than they did. Of rows that depend on
 * each other it takes eigenvectors, which are not in its price. */
static margin_status do_without(mg_squares *s, int64_t most, bool *done) {
    enum { MORE = 4 };
    bool doubtful;
    s->is_unbounded = true;
    if (!s->is_free) MG_TRY(mg_squares_conjugate(s, most, &doubtful));
    *done = s->out_of_time || s->columns > s->samples ||
            s->price.factor > MORE * s->price.step * (double)s->steps;
    return MARGIN_OK;
}

/* Conjugate gradients for as long as a factor would take: so both together take twice the time of
 * the faster one at most, of several targets each that they do not do. *done: they will do, or have
 * to. */
static margin_status try_conjugate(mg_squares *s, const char *solver, int64_t targets, bool *done) {
    enum { FEWEST_STEPS = 10, FEWEST_WITHOUT = 100, FEWEST_OF_TRIAL = 20 }; /* a penalty */
    const mg_squares_cost *price = &s->price;
    const bool trial = price->most == 0.0;
    const int64_t worth =
        (int64_t)fmin((trial ? price->trial : price->most) / (double)targets, 1e9);
    const int64_t fewest = trial ? FEWEST_OF_TRIAL : FEWEST_STEPS;
    const bool asked = is_solver(solver, "cg");
    const double dear = s->columns > s->samples ? 0.25 : 1.0; /* seconds; see do_without */
    bool doubtful, owned = false;
    s->only = asked || !price->fits;
    *done = s->only;
    const bool few = s->alpha > 0.0 ? worth < fewest : worth < FEWEST_WITHOUT;
    if (!s->only && s->alpha == 0.0 && !mg_is_csr(&s->problem->x)) return MARGIN_OK;
    if (!s->only && few) return try_owners(s, done);
    const int64_t enough = 1000 + 10 * MG_MIN(s->samples, s->columns);
    const int64_t most = s->only ? enough : worth;
    s->is_dear = !s->only && s->alpha == 0.0 && s->price.factor > dear;
    MG_TRY(mg_squares_conjugate(s, s->most_steps >= 0 ? s->most_steps : most, &doubtful));
    if (doubtful && s->alpha == 0.0 && s->most_steps < 0) MG_TRY(mg_squares_owned(s, &owned));
    const bool ended = s->owned && s->owned->owners > 0 && (s->is_free || s->only);
    if (doubtful && !owned && ended && !s->out_of_time) {
        s->is_unbounded = true; /* the steps that ended for it */
        MG_TRY(mg_squares_conjugate(s, most, &doubtful));
    }
    *done |= !doubtful || owned || s->out_of_time;
    if (owned) s->solve_again = NULL;
    return doubtful && !*done && s->is_dear ? do_without(s, most, done) : MARGIN_OK;
}

static margin_status solve_by(mg_squares *s, const char *solver, int64_t targets) {
    bool doubtful = false, done = false;
    s->price = mg_squares_price(&s->design);
    if (is_solver(solver, "auto") || is_solver(solver, "cg"))
        MG_TRY(try_conjugate(s, solver, targets, &done));
    if (done) return MARGIN_OK;
    s->solve_again = NULL;
    if (is_solver(solver, "qr")) return mg_squares_qr(s);
    if (is_wide(s))
        MG_TRY(solve_wide(s, solver, &doubtful));
    else
        MG_TRY(mg_squares_normal(s, is_solver(solver, "normal"), &doubtful));
    return doubtful && !s->out_of_time ? mg_squares_qr(s) : MARGIN_OK;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* 0, 1 or 2 for more, but for the column of ones that poly and rbf make: beside an intercept it is
 * no news. */
static int64_t constant_columns(const mg_squares *s, int64_t *first) {
    char buffer[32];
    int64_t count = 0;
    for (int64_t j = 0; j < s->columns && count < 2; j++)
        if (!(s->norm[j] > 0.0) &&
            strcmp(mg_column_name(s->problem->columns, j, buffer), "1") != 0 && ++count == 1)
            *first = j;
    return count;
}

/* What is particular about the columns. */
static void describe_columns(const mg_squares *s, mg_text *text) {
    char buffer[32];
    int64_t first = 0;
    const int64_t constant = constant_columns(s, &first);
    if (s->rank >= 0 && s->is_partial)
        mg_text_format(text,
                       "; to double precision the columns have rank %lld of %lld, but it %s more "
                       "(%s almost depend on each other)",
                       (long long)s->rank, (long long)s->columns, s->is_undecided ? "may be" : "is",
                       s->columns_text[0] ? s->columns_text : "rows");
    else if (s->rank >= 0 && (s->columns_text[0] || s->owners > 0))
        mg_text_format(text,
                       "; the columns have rank %lld of %lld (%s depend on each other): of all "
                       "best weights these have the least norm",
                       (long long)s->rank, (long long)s->columns,
                       s->columns_text[0] ? s->columns_text : "those of rows that own one");
    else if (s->rank >= 0)
        mg_text_format(text,
                       "; more columns (%lld) than independent rows (%lld): of all best weights "
                       "these have the least norm",
                       (long long)s->columns, (long long)s->rank);
    const char *name = mg_column_name(s->problem->columns, first, buffer);
    if (constant > 1)
        mg_text_format(text, "; columns %s and others are constant and have weight 0", name);
    else if (constant > 0)
        mg_text_format(text, "; column %s is constant and has weight 0", name);
}

/* Why a factor did not do it, and what would help. */
static void describe_conjugate(const mg_squares *s, margin_status status, mg_text *text) {
    const mg_number_text step = mg_about(s->price.step), factor = mg_about(s->price.factor);
    const bool is_free = s->is_free && s->now.gap <= s->enough;
    if (status == MARGIN_OK)
        mg_text_format(text, "solved by %s%s%s%s", s->method,
                       s->is_drawn ? MG_LEAST_DRAWN
                       : is_free   ? "; nothing is left of the target"
                                   : "",
                       is_free && s->floor > 0.0 ? " but what equal rows differ by" : "",
                       is_free ? ", and of all weights with these scores these have the least "
                                 "norm"
                               : "");
    else if (status == MARGIN_STOPPED_ITERATIONS)
        mg_text_format(text, "max_iter came before %s ended", s->method);
    else if (s->penalty.rho > 0.0)
        mg_text_format(text,
                       "%s make no more progress: a larger penalty, or columns of similar size "
                       "(standardize), would be certain",
                       s->method);
    else
        mg_text_format(text,
                       "without a penalty %s have no bound but 0 for the least objective; ridge "
                       "with a small alpha has one",
                       s->method);
    if (s->price.fits)
        mg_text_format(text, " (estimated: %s s a step, %s s for a factor)", step.text,
                       factor.text);
    else
        mg_text_format(text, " (estimated: %s s a step; a factor would not fit into memory)",
                       step.text);
}

static void describe_end(const mg_squares *s, margin_status status, mg_text *text) {
    if (s->solve_again && status != MARGIN_STOPPED_TIME)
        describe_conjugate(s, status, text);
    else if (status == MARGIN_OK && s->owners > 0)
        mg_text_format(text,
                       "solved by conjugate gradients: %lld rows have a column of their own, which "
                       "fits them%s",
                       (long long)s->owners, s->is_drawn ? MG_LEAST_DRAWN : "");
    else if (status == MARGIN_OK)
        mg_text_format(text, "solved by %s", s->method);
    else if (status == MARGIN_STOPPED_TIME)
        mg_text_format(text, "the time limit came before %s ended", s->method);
    else if (s->penalty.rho > 0.0)
        mg_text_format(text,
                       "rounding in the data limits the gap (%s, condition %s): a larger penalty, "
                       "or columns of similar size (standardize), would be certain",
                       s->method, mg_about(s->condition).text);
    else
        mg_text_format(text,
                       "rounding limits the residual (%s, condition %s): subtract large offsets "
                       "from the columns (standardize), leave out columns, or use ridge",
                       s->method, mg_about(s->condition).text);
}

static margin_status set_reason(mg_squares *s, margin_status status) {
    MG_SCOPED(mg_text, text);
    mg_text_init(&text, s->context->heap);
    describe_end(s, status, &text);
    describe_columns(s, &text);
    MG_TRY(mg_text_check(&text, "the report", s->error));
    mg_report_reason(&s->fit->report, "%s", text.data);
    return MARGIN_OK;
}

static void set_numbers(const mg_squares *s, bool penalised) {
    margin_report *report = &s->fit->report;
    report->objective = s->now.objective;
    report->gap = s->now.gap;
    report->tolerance = s->tolerance;
    const bool steps = s->solve_again || s->owners > 0;
    report->iterations = steps ? s->steps : s->refinements;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s",
             steps ? "CG steps" : "refinements");
    if (!steps && s->condition > 0.0) mg_report_set(report, "condition", s->condition);
    if (s->rank >= 0) mg_report_set(report, "rank", (double)s->rank);
    if (penalised) mg_report_penalty(report, &s->penalty);
    mg_linear_describe_sparsity(&s->penalty, s->w, s->columns, s->l1_limit, report);
}

/* What the model does on its rows, as the last pass or products found it, unless rounding of
 * predictions shows in that, or of the mean, which is found from the first target: no further pass
 * is made for it. */
static void tell_errors(const mg_squares *s, margin_report *report) {
    static const double most = 1e-12;
    double ratio;
    if (!s->intercept || !(s->spread > 0.0)) return;
    const double far = sqrt(s->total) * fabs(s->problem->target[0] - s->centre);
    const double terms = mg_squares_rounding(s, &ratio) + far;
    if (!(DBL_EPSILON * terms <= most * sqrt(s->now.value))) return;
    report->train_rmse = sqrt(s->now.value / s->total);
    report->train_r2 = 1.0 - s->now.value / (s->spread * s->spread);
}

static margin_status squares_hand_over(mg_squares *s, bool penalised) {
    mg_fit *fit = s->fit;
    margin_status status = MARGIN_OK;
    MG_REQUIRE(isfinite(s->now.objective), fit->error, MG_DATA(OVERFLOW),
               "the objective is beyond double precision: divide the target or the weights of the "
               "rows by a power of ten");
    if (!(s->now.gap <= s->tolerance))
        status = s->out_of_time                                    ? MARGIN_STOPPED_TIME
                 : s->most_steps >= 0 && s->steps >= s->most_steps ? MARGIN_STOPPED_ITERATIONS
                                                                   : MARGIN_STOPPED_STALLED;
    /* a factor that corrects no more tells nothing: P is not below 0 */
    if (status == MARGIN_STOPPED_STALLED && s->penalty.rho == 0.0)
        s->now.gap = fmax(s->now.gap, s->now.objective / fmax(1.0, s->now.objective));
    set_numbers(s, penalised);
    tell_errors(s, &fit->report);
    fit->report.status = status;
    mg_linear_describe(&s->penalty, "(f-y)^2", &fit->report);
    MG_TRY(set_reason(s, status));
    const margin_trace_step step = {.step = 1, /* the direct ways take one */
                                    .row = -1,
                                    .errors = -1,
                                    .loss = s->now.objective,
                                    .intercept = s->b,
                                    .weights = s->w,
                                    .weight_count = s->columns};
    mg_trace_note(fit->trace, step);
    for (int64_t j = 0; j < s->columns; j++)
        s->w[j] += 0.0; /* -0 prints as 0 */
    MG_TRY(mg_linear_make(s->context->heap, s->w, s->columns, s->b + 0.0, &fit->hypothesis,
                          fit->error));
    return status;
}

/* ---- One target, or several ------------------------------------------------------------------ */

static margin_status fit_targets(mg_fit *fits, int64_t count, const mg_linear_options *o);

/* A further target: with the factor of the first, by itself where that will not do. */
static margin_status fit_next(mg_squares *s, mg_fit *fit, const mg_linear_options *o) {
    if (!s->correct && !s->solve_again) return fit_targets(fit, 1, o);
    MG_TRY(mg_squares_again(s, fit));
    const double enough = s->solve_again ? s->enough : s->tolerance;
    if ((s->may_doubt || (s->solve_again && !s->only)) && !(s->now.gap <= enough) &&
        !s->out_of_time)
        return fit_targets(fit, 1, o);
    return squares_hand_over(s, o->penalised);
}

static margin_status fit_first(mg_squares *s, const mg_linear_options *o, int64_t targets) {
    MG_TRY(mg_squares_begin(s));
    MG_TRY(solve_by(s, o->solver, targets));
    if (!s->judged) {
        MG_TRY(mg_squares_check_values(s->problem, s->context, s->error));
        MG_TRY(mg_squares_constant(s));
    }
    return squares_hand_over(s, o->penalised);
}

static margin_status fit_targets(mg_fit *fits, int64_t count, const mg_linear_options *o) {
    mg_squares s = mg_squares_of(&fits[0], o->intercept);
    s.penalty = o->penalty;
    s.tolerance = o->tolerance;
    s.most_steps = is_solver(o->solver, "cg") ? o->max_iterations : -1;
    margin_status status = fit_first(&s, o, count);
    for (int64_t t = 1; status >= 0 && t < count; t++)
        status = fit_next(&s, &fits[t], o);
    mg_squares_end(&s);
    if (status < 0) mg_fits_undo(fits, count);
    return status < 0 || count == 1 ? status : MARGIN_OK;
}

/* ---- The learners ---------------------------------------------------------------------------- */

/* Columns so few that all of them are a working set. */
static bool are_few_for_l1(const mg_fit *fit, const mg_linear_options *o) {
    enum { FEW_COLUMNS = 180 };
    const int64_t columns = fit->problem->x.columns;
    return is_solver(o->solver, "auto") && o->max_iterations < 0 && columns <= FEW_COLUMNS &&
           4 * columns <= fit->problem->count;
}

/* *done false: not by products alone; what is refused here others may take. */
static margin_status fit_l1(mg_fit *fit, const mg_linear_options *o, bool *done) {
    mg_squares s = mg_squares_of(fit, o->intercept);
    s.penalty = o->penalty;
    s.tolerance = o->tolerance;
    margin_status status = mg_squares_begin(&s);
    if (status >= 0) status = mg_squares_l1(&s, done);
    if (*done) status = squares_hand_over(&s, o->penalised);
    mg_squares_end(&s);
    return status == MARGIN_ERROR_DATA && !*done ? MARGIN_OK : status;
}

margin_status mg_squares_fit_one(mg_fit *fit) {
    const mg_linear_options o = mg_linear_options_for(fit);
    const bool direct = !(o.penalty.kappa > 0.0) && !mg_is_descent(o.solver);
    bool done = false;
    if (direct) return fit_targets(fit, 1, &o);
    if (are_few_for_l1(fit, &o)) {
        const margin_status status = fit_l1(fit, &o, &done);
        if (done || status < 0) return status;
    }
    MG_TRY(mg_squares_check_values(fit->problem, fit->context, fit->error));
    return mg_linear_fit_one(fit);
}

/* QR takes the target along with the columns, and descent goes its own way; a path has one. */
static margin_status squares_share(mg_shared *shared) {
    const char *solver = mg_option_named(&shared->learner->info, shared->options, "solver")->text;
    if (is_solver(solver, "auto") || is_solver(solver, "normal") || is_solver(solver, "cg") ||
        (shared->differ & MG_DIFFER_OPTIONS))
        shared->together = shared->fits;
    return MARGIN_OK;
}

margin_status mg_squares_check_folds(const mg_fit *fits, int64_t count) {
    const mg_problem *last = NULL;
    for (int64_t k = 0; k < count; last = fits[k++].problem)
        if (fits[k].problem != last)
            MG_TRY(mg_squares_check_values(fits[k].problem, fits[k].context, fits[k].error));
    return MARGIN_OK;
}

static margin_status squares_fit_many(mg_fit *fits, int64_t count) {
    if (fits[0].shared->differ & MG_DIFFER_FOLDS) {
        MG_TRY(mg_squares_check_folds(fits, count));
        return mg_linear_fit_penalties(fits, count, mg_ridge_folds);
    }
    if (fits[0].shared->differ & MG_DIFFER_OPTIONS)
        return mg_linear_fit_penalties(fits, count, mg_ridge_path);
    const mg_linear_options o = mg_linear_options_for(&fits[0]);
    return fit_targets(fits, count, &o);
}

static const mg_learner_more squares_more = {.finds_infinite = true, .infer = mg_squares_infer};
const mg_learner mg_learner_least_squares = {
    .info = {.name = "least-squares",
             .kind = MARGIN_LEARNER,
             .summary = "The linear function with the least mean squared error",
             .formula = "minimise (1/m) sum (w.x + b - y)^2",
             .source = "Gauss 1809; Björck 1996",
             .page = "docs/least-squares.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_REGRESSION | MARGIN_CAN_TARGETS,
             .options = option_table + PENALTIES,
             .option_count = MG_LENGTH(option_table) - PENALTIES},
    MG_LINEAR_LEARNER(mg_linear_check, mg_squares_fit_one, .loss = MG_LOSS_SQUARED),
    .told = MG_SQUARES_TOLD,
    .share = squares_share,
    .fit_many = squares_fit_many,
    .differ = MG_DIFFER_TARGETS,
    .more = &squares_more,
};

const mg_learner mg_learner_ridge = {
    .info = {.name = "ridge",
             .summary = "Least squares with a penalty on the square of the weights",
             .formula = "minimise sum (w.x + b - y)^2 + alpha |w|^2",
             .source = "Hoerl and Kennard 1970",
             .page = "docs/ridge.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_REGRESSION | MARGIN_CAN_TARGETS,
             MG_LEARNER_TABLE(option_table)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_squares_fit_one, .loss = MG_LOSS_SQUARED),
    .told = MG_SQUARES_TOLD MG_PATH_TOLD,
    .share = squares_share,
    .fit_many = squares_fit_many,
    .differ = MG_DIFFER_TARGETS | MG_DIFFER_OPTIONS | MG_DIFFER_FOLDS,
    .more = &squares_more,
};
