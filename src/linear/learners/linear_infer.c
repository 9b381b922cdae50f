/* Weights are frequencies: a row of weight k is k rows. So the sum of the weights is the number of
 * observations. */

#include "linear/learners/column_variances.h"
#include "linear/learners/linear_learner.h"
#include "linear/proof/newton_matrix.h"

#include <string.h>

typedef struct infer_run {
    mg_fit *fit;
    const mg_problem *problem;
    const double *w;
    double b;
    bool intercept;
    mg_inference *out;
    mg_column_variances v;
    double *scores, *h, *r, *step; /* samples each; columns */
} infer_run;

static margin_status find_scores(infer_run *run) {
    const int64_t samples = run->problem->count, columns = run->problem->x.columns;
    margin_error *error = run->fit->error;
    MG_SCOPED(mg_design, design);
    MG_TRY(MG_PIECES(run->out->arena, "the scores of the rows", error,
                     MG_PIECE(run->scores, samples), MG_PIECE(run->h, samples),
                     MG_PIECE(run->r, samples), MG_PIECE(run->step, columns)));
    MG_TRY(mg_design_create(run->fit->context, run->problem, &design, error));
    return mg_design_scores(&design, run->w, run->b, run->scores, error);
}

/* As many coefficients as rows: nothing would be left over to judge them by. Before anything of the
 * size columns^2 is made. */
static margin_status infer_check_rows(const infer_run *run, double weight, int64_t coefficients) {
    MG_REQUIRE(weight > (double)coefficients, run->fit->error, MG_DATA(FEW_ROWS),
               "%s rows cannot tell how certain %lld coefficients are: there must be more rows",
               mg_number(weight).text, (long long)coefficients);
    return MARGIN_OK;
}

/* How far the weights are from the optimum, in standard errors. `noise`: standard deviation. */
static margin_status measure_distance(infer_run *run, double noise) {
    const double rounding = 1e-6, far = 0.1;
    mg_inference *out = run->out;
    const mg_squares *s = &run->v.s;
    double intercept_step = 0.0, size = 0.0;
    MG_TRY(mg_column_variances_step(&run->v, run->r, run->step, &intercept_step));
    for (int64_t j = 0; j < out->columns; j++)
        size = fmax(size, fabs(run->w[j]) * s->norm[j]);
    out->distance = 0.0;
    for (int64_t j = 0; j < out->columns; j++) {
        if (isnan(out->variance[j])) continue;
        const double error = fmax(noise * sqrt(out->variance[j]), rounding * size / s->norm[j]);
        if (run->step[j] != 0.0) out->distance = fmax(out->distance, fabs(run->step[j]) / error);
    }
    if (out->intercept && !isnan(out->variance[out->columns]) && intercept_step != 0.0) {
        const double error =
            fmax(noise * sqrt(out->variance[out->columns]), rounding * fabs(run->b));
        out->distance = fmax(out->distance, fabs(intercept_step) / error);
    }
    MG_REQUIRE(out->distance <= far, run->fit->error, MARGIN_ERROR_DATA,
               "the weights are %s standard errors from the best ones for this data: it is not the "
               "data that the model was trained on, or training stopped early",
               mg_about(out->distance).text);
    return MARGIN_OK;
}

/* ---- Least squares --------------------------------------------------------------------------- */

/* Sums in extended precision: they are what is left of large numbers. */
static void sum_squares(infer_run *run) {
    const mg_problem *p = run->problem;
    long double mean = 0.0L, residual = 0.0L, explained = 0.0L, total = 0.0L, weight = 0.0L;
    const double first = p->target[0];
    for (int64_t i = 0; i < p->count; i++) {
        const long double h = (long double)mg_sample_weight(p, i);
        mean += h * ((long double)p->target[i] - (long double)first);
        weight += h;
    }
    mean = run->intercept ? (long double)first + mean / weight : 0.0L;
    for (int64_t i = 0; i < p->count; i++) {
        const long double h = (long double)mg_sample_weight(p, i);
        const long double y = (long double)p->target[i], f = (long double)run->scores[i];
        run->r[i] = (double)(h * (y - f));
        residual += h * (y - f) * (y - f);
        explained += h * (f - mean) * (f - mean);
        total += h * (y - mean) * (y - mean);
    }
    run->out->residual = (double)residual;
    run->out->explained = (double)explained;
    run->out->total = (double)total;
}

static margin_status infer_squares(infer_run *run) {
    mg_inference *out = run->out;
    out->weight = mg_total_weight(run->problem);
    MG_TRY(infer_check_rows(run, out->weight, run->intercept ? 1 : 0));
    MG_TRY(find_scores(run));
    MG_TRY(mg_column_variances_make(run->fit, run->problem->weight, run->intercept, &run->v, out));
    const int64_t coefficients = out->rank + run->intercept;
    MG_TRY(infer_check_rows(run, out->weight, coefficients));
    sum_squares(run);
    return measure_distance(run, sqrt(out->residual / (out->weight - (double)coefficients)));
}

/* ---- Maximum likelihood ---------------------------------------------------------------------- */

/* r_i and h_i: gradient and curvature of the log-likelihood in the score of sample i. */
static void sum_likelihood(infer_run *run) {
    const mg_problem *p = run->problem;
    long double sum = 0.0L, positive = 0.0L, weight = 0.0L;
    for (int64_t i = 0; i < p->count; i++) {
        const double h = mg_sample_weight(p, i), z = run->scores[i] * (double)p->sign[i];
        const double wrong = mg_sigmoid(-z);
        run->r[i] = h * wrong * (double)p->sign[i];
        run->h[i] = h * wrong * mg_sigmoid(z);
        sum -= (long double)h * (long double)mg_log1pexp_minus(z);
        weight += (long double)h;
        if (p->sign[i] > 0) positive += (long double)h;
    }
    const long double share = positive / weight;
    run->out->weight = (double)weight;
    run->out->log_likelihood = (double)sum;
    run->out->null_log_likelihood =
        run->intercept ? (double)(positive * logl(share) + (weight - positive) * log1pl(-share))
                       : (double)(weight * logl(0.5L));
}

/* A hyperplane with every row on its right side is proof enough. */
static margin_status check_separation(const infer_run *run) {
    const mg_problem *p = run->problem;
    double most = 0.0, least = (double)INFINITY;
    for (int64_t i = 0; i < p->count; i++) {
        most = fmax(most, run->h[i]);
        least = fmin(least, run->scores[i] * (double)p->sign[i]);
    }
    MG_REQUIRE(most > 1e-8 && !(least > 0.0), run->fit->error, MARGIN_ERROR_DATA,
               "a hyperplane separates the classes, so the likelihood has no maximum: the larger "
               "the weights the better, and standard errors mean nothing; train with a penalty");
    return MARGIN_OK;
}

/* Where a hyperplane touches rows of both classes and has all others on their side, the likelihood
 * grows for ever too. Sought from 0 on: far out curvature has vanished, and the direction with it.
 */
static margin_status check_recession(infer_run *run) {
    static const double zero = 0.0;
    const mg_linear_options options = mg_linear_options_for(run->fit);
    margin_error *error = run->fit->error;
    MG_SCOPED(mg_design, design);
    MG_SCOPED(mg_objective, objective);
    bool recedes = false, separable;
    MG_TRY(mg_design_create(run->fit->context, run->problem, &design, error));
    MG_TRY(mg_objective_create(&design, mg_loss_get(MG_LOSS_LOGISTIC), &options.penalty,
                               run->intercept, &objective, error));
    memset(run->step, 0, (size_t)run->problem->x.columns * sizeof *run->step);
    MG_TRY(mg_find_recession(&objective, run->step, &zero, &recedes, &separable, error));
    MG_REQUIRE(!recedes, error, MARGIN_ERROR_DATA,
               "a hyperplane separates the classes but for rows on it (they touch, and "
               "do not overlap), so the likelihood has no maximum: in one direction of "
               "the weights it grows for ever, and standard errors mean nothing; train "
               "with a penalty");
    return MARGIN_OK;
}

static margin_status infer_logistic(infer_run *run) {
    mg_inference *out = run->out;
    MG_TRY(find_scores(run));
    sum_likelihood(run);
    MG_TRY(infer_check_rows(run, out->weight, run->intercept ? 1 : 0));
    MG_TRY(check_separation(run));
    MG_TRY(check_recession(run)); /* first: there the curvature of columns vanishes */
    const margin_status status =
        mg_column_variances_make(run->fit, run->h, run->intercept, &run->v, out);
    MG_REQUIRE(status != MARGIN_ERROR_DATA, run->fit->error, MARGIN_ERROR_DATA,
               "the weights are so far out that the likelihood has no curvature left, and standard "
               "errors mean nothing: train with a penalty");
    MG_TRY(status);
    MG_TRY(infer_check_rows(run, out->weight, out->rank + run->intercept));
    return measure_distance(run, 1.0);
}

static margin_status infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out,
                           margin_status (*method)(infer_run *run), const char *instead) {
    const mg_linear_options o = mg_linear_options_for(fit);
    infer_run run = {.fit = fit,
                     .problem = fit->problem,
                     .w = hypothesis->view.linear.weights,
                     .b = hypothesis->view.linear.intercept[0],
                     .intercept = o.intercept,
                     .out = out};
    MG_REQUIRE(o.penalty.rho == 0.0 && o.penalty.kappa == 0.0, fit->error, MARGIN_ERROR_DATA,
               "the model was trained with a penalty (alpha %s), which pulls its weights towards 0 "
               "by an amount that standard errors do not tell; for statistics train %s",
               mg_number(o.penalty.alpha).text, instead);
    const margin_status status = method(&run);
    mg_squares_end(&run.v.s);
    return status;
}

margin_status mg_squares_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out) {
    return infer(fit, hypothesis, out, infer_squares, "least-squares");
}

margin_status mg_logistic_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out) {
    return infer(fit, hypothesis, out, infer_logistic, "logistic(C=inf)");
}
