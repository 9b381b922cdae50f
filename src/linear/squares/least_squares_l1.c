/* Least squares with |w|_1 in the penalty, of columns few beside the rows.
 *
 * One visit of the rows makes the products of the columns. The lasso that they are is solved in
 * cache, and its gap is that of the residuals as dual point, found from the same products and what
 * rounding hides of them; so no pass over the rows follows. With the loss divided by twice its
 * factor the penalty is rho/2 |w|^2 + kappa |w|_1, and slopes are those of half the square. */
#include "linear/objective/quadratic.h"
#include "linear/proof/goal.h"
#include "linear/squares/least_squares.h"

#include <stdio.h>

/* In the units of the products, rho included; a constant column becomes one of zeros. */
static void set_model(const mg_squares *s, const mg_squares_products *p, mg_quadratic *q,
                      double *lambda) {
    const double kappa = s->penalty.kappa / (2.0 * s->penalty.factor * s->unit);
    for (int64_t j = 0; j < s->columns; j++) {
        const double factor = p->factor[j];
        double *row = p->gram + j * p->size;
        q->u[j] = 0.0;
        q->r[j] = s->norm[j] > 0.0 ? -row[s->columns] : 0.0;
        lambda[j] = kappa * factor / s->spread;
        row[j] += s->alpha * factor * factor;
        for (int64_t k = 0; k < s->columns && !(s->norm[j] > 0.0); k++)
            row[k] = p->gram[k * p->size + j] = 0.0;
    }
}

/* Of P, beside its value: s->hidden norm_j is what may be missing of a slope, and as much for each
 * weight of the square. */
static double gap_of_products(const mg_squares *s, double *value) {
    const double unit = 2.0 * s->penalty.factor * s->unit;
    const double excess = s->now.excess + sqrt(s->total) * s->hidden;
    mg_l1_gap gap = {.rho = s->alpha, .kappa = s->penalty.kappa / unit};
    double length = s->spread;
    for (int64_t j = 0; j < s->columns; j++) {
        const double w = s->w[j];
        length += fabs(w) * s->norm[j];
        mg_l1_gap_add(&gap, w, s->gradient[j] + s->alpha * w, s->hidden * s->norm[j]);
    }
    *value = unit * (s->now.value / 2.0 + gap.penalty);
    return unit * (mg_l1_gap_of(&gap, (s->now.value + s->hidden * length) / 2.0) +
                   excess * excess / s->total / 2.0);
}

static margin_status solve_products(mg_squares *s, const mg_squares_products *p) {
    static const double share = 1e-4; /* of tol: a round costs next to nothing */
    static const double rounding = 1e-12;
    const int64_t n = s->columns;
    double *lambda;
    mg_quadratic q = {.context = s->context,
                      .isa = s->design.isa,
                      .count = n,
                      .stride = p->size,
                      .h = p->gram,
                      .stop = &s->stop,
                      .error = s->error};
    MG_TRY(MG_PIECES(&s->arena, "the lasso of products", s->error, MG_PIECE(lambda, n),
                     MG_PIECE(q.u, n), MG_PIECE(q.r, n)));
    set_model(s, p, &q, lambda);
    q.lambda = lambda;
    for (int64_t j = 0; j < n; j++)
        s->l1_limit = fmax(s->l1_limit, fabs(q.r[j]) / lambda[j] * s->penalty.kappa);
    if (s->l1_limit > (1.0 + rounding) * s->penalty.kappa) /* else all weights are 0 */
        MG_TRY(mg_quadratic_solve(&q, share * s->tolerance));
    mg_squares_start(s);
    for (int64_t j = 0; j < n; j++)
        s->step[j] = q.u[j] * p->factor[j] * s->spread;
    mg_squares_move(s, s->step);
    return MARGIN_OK;
}

margin_status mg_squares_l1(mg_squares *s, bool *done) {
    const double constant = s->penalty.factor * s->unit * s->spread * s->spread;
    mg_squares_products p = {0};
    bool doubtful = true;
    double value;
    *done = false;
    if (isinf(mg_design_gram_rounding(&s->design))) return MARGIN_OK;
    snprintf(s->method, sizeof s->method, "coordinate descent on products of the columns");
    MG_TRY(mg_squares_make_products(s, &p, &doubtful));
    if (doubtful || !(s->spread > 0.0)) return MARGIN_OK;
    MG_TRY(solve_products(s, &p));
    mg_squares_look_at_products(s, &p);
    if (!(s->hidden > 0.0)) return MARGIN_OK;
    const double gap = gap_of_products(s, &value);
    *done = isfinite(value) && gap <= mg_wanted_gap_l1(s->tolerance, value, constant);
    s->now.objective = value;
    s->now.gap = gap / fmax(1.0, value);
    return MARGIN_OK;
}
