/* Curves from scores to probabilities, from scores of fits that did not see the rows.
 *
 * sigmoid: Platt, "Probabilistic outputs for support vector machines" (1999), with targets (N+ + 1)
 * / (N+ + 2) and 1 / (N- + 2), and Newton's method with line search (Lin, Lin and Weng, Machine
 * Learning 68, 2007); a slope below 0 is 0. isotonic: the ascending curve of least squares by
 * pooling adjacent violators (Ayer et al., Ann. Math. Stat. 26, 1955; Zadrozny and Elkan, KDD
 * 2002), kept away from 0 and 1 by 1 / (n + 2). temperature: the minimum of the log loss over one
 * factor, which is convex (Guo et al., ICML 2017). */
#include "base/cancelled_at.h"
#include "base/sort.h"
#include "select/promise/cross_fit.h"

#include <math.h>
#include <string.h>

/* Rows of one curve. */
typedef struct {
    const margin_context *context;
    const double *score, *weight; /* weight NULL: 1 each */
    const unsigned char *positive;
    int64_t rows;
    double weight_of[2]; /* of the negative and the positive rows */
} curve_rows;

static double weight_at(const curve_rows *r, int64_t i) {
    return r->weight ? r->weight[i] : 1.0;
}

/* ---- Sigmoid --------------------------------------------------------------------------------- */

/* log(1 + exp(-t)) + (1 - target) t; no number: the call is to end, and no step is taken any more.
 */
static double sigmoid_loss(const curve_rows *r, const double target[2], double a, double b) {
    double sum = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        if (mg_cancelled_at(r->context, i)) return (double)NAN;
        const double t = a * r->score[i] + b, y = target[r->positive[i]];
        sum += weight_at(r, i) * (t >= 0 ? log1p(exp(-t)) + (1 - y) * t : log1p(exp(t)) - y * t);
    }
    return sum;
}

static void sigmoid_slopes(const curve_rows *r, const double target[2], double a, double b,
                           double g[2], double h[3]) {
    g[0] = g[1] = 0;
    h[0] = h[2] = 1e-12;
    h[1] = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        const double s = r->score[i], t = a * s + b, w = weight_at(r, i);
        const double p = t >= 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t)), d = w * p * (1 - p);
        g[0] += w * (p - target[r->positive[i]]) * s;
        g[1] += w * (p - target[r->positive[i]]);
        h[0] += d * s * s;
        h[1] += d * s;
        h[2] += d;
    }
}

/* One damped Newton step; false: no progress any more. */
static bool sigmoid_step(const curve_rows *r, const double target[2], double ab[2], double *loss) {
    double g[2], h[3];
    sigmoid_slopes(r, target, ab[0], ab[1], g, h);
    const double det = h[0] * h[2] - h[1] * h[1];
    const double da = -(h[2] * g[0] - h[1] * g[1]) / det, db = -(h[0] * g[1] - h[1] * g[0]) / det;
    const double fall = g[0] * da + g[1] * db;
    if (!(det > 0) || !(fall < -1e-14 * (1 + fabs(*loss)))) return false;
    for (double step = 1; step > 1e-10; step /= 2) {
        const double next = sigmoid_loss(r, target, ab[0] + step * da, ab[1] + step * db);
        if (!(next < *loss + 1e-4 * step * fall)) continue;
        ab[0] += step * da;
        ab[1] += step * db;
        *loss = next;
        return true;
    }
    return false;
}

/* The scores are brought to a size of 1 first. */
static void fit_sigmoid(const curve_rows *given, double *scaled, double ab[2]) {
    enum { STEPS = 100 };
    curve_rows rows = *given;
    const double target[2] = {1 / (rows.weight_of[0] + 2),
                              (rows.weight_of[1] + 1) / (rows.weight_of[1] + 2)};
    double most = 0;
    for (int64_t i = 0; i < rows.rows; i++)
        most = MG_MAX(most, fabs(given->score[i]));
    const double scale = most > 0 ? 1 / most : 1;
    for (int64_t i = 0; i < rows.rows; i++)
        scaled[i] = scale * given->score[i];
    rows.score = scaled;
    ab[0] = 0;
    ab[1] = log((rows.weight_of[1] + 1) / (rows.weight_of[0] + 1));
    const double level = ab[1];
    double loss = sigmoid_loss(&rows, target, ab[0], ab[1]);
    for (int i = 0; i < STEPS && sigmoid_step(&rows, target, ab, &loss); i++)
        ;
    if (ab[0] < 0) {
        ab[0] = 0;
        ab[1] = level;
    }
    ab[0] *= scale;
}

/* ---- Isotonic -------------------------------------------------------------------------------- */

typedef struct {
    double low, high, weight, mean; /* scores from low to high */
} pool;

/* Pools in ascending order; returns how many. Equal scores are one pool from the start. */
static int64_t pool_rows(const curve_rows *r, const int64_t *order, pool *pools) {
    int64_t count = 0;
    for (int64_t k = 0; k < r->rows; k++) {
        const int64_t i = order[k];
        const double s = r->score[i], w = weight_at(r, i);
        if (count > 0 && pools[count - 1].high == s && pools[count - 1].low == s) {
            pool *p = &pools[count - 1];
            p->mean = (p->mean * p->weight + w * r->positive[i]) / (p->weight + w);
            p->weight += w;
        } else {
            pools[count++] = (pool){s, s, w, r->positive[i]};
        }
        if (k + 1 < r->rows && r->score[order[k + 1]] == s) continue;
        while (count > 1 && pools[count - 2].mean >= pools[count - 1].mean) {
            pool *p = &pools[count - 2], *q = &pools[count - 1];
            p->mean = (p->mean * p->weight + q->mean * q->weight) / (p->weight + q->weight);
            p->weight += q->weight;
            p->high = q->high;
            count--;
        }
    }
    return count;
}

/* Two knots a pool, one where its scores are equal. */
static int64_t knots_of(const curve_rows *r, const pool *pools, int64_t count, double *knots) {
    const double least = 1 / (r->weight_of[0] + r->weight_of[1] + 2);
    int64_t made = 0;
    for (int64_t k = 0; k < count; k++) {
        const double p = MG_MIN(MG_MAX(pools[k].mean, least), 1 - least);
        knots[2 * made] = pools[k].low;
        knots[2 * made++ + 1] = p;
        if (!(pools[k].high > pools[k].low)) continue;
        knots[2 * made] = pools[k].high;
        knots[2 * made++ + 1] = p;
    }
    return made;
}

/* ---- Temperature ----------------------------------------------------------------------------- */

/* Slope of the log loss over the factor of the scores: it ascends. No number: the call is to end.
 */
static double temperature_slope(const margin_context *context, const margin_model *model,
                                const mg_crossed *c, double factor) {
    const int64_t functions = c->functions, k = model->classes;
    double sum = 0;
    for (int64_t i = 0; i < c->samples.count; i++) {
        const double *f = c->scores + i * functions, w = mg_samples_weight(&c->samples, i);
        double most = 0, total = 0, mean = 0;
        if (mg_cancelled_at(context, i)) return (double)NAN;
        if (k == 2) {
            const double s = (c->codes[i] ? 1 : -1) * (functions == 2 ? f[1] - f[0] : f[0]);
            sum -= w * s / (1 + exp(factor * s));
            continue;
        }
        for (int64_t j = 0; j < k; j++)
            most = j ? MG_MAX(most, f[j]) : f[j];
        for (int64_t j = 0; j < k; j++) {
            const double e = exp(factor * (f[j] - most));
            total += e;
            mean += e * (f[j] - most);
        }
        sum += w * (mean / total - (f[c->codes[i]] - most));
    }
    return sum;
}

/* Bisection to the last bits; classes that the scores tell apart without error have no minimum, and
 * get the factor 1e6 / the greatest score. */
static double fit_temperature(const margin_context *context, const margin_model *model,
                              const mg_crossed *c) {
    double most = 0, low = 0;
    for (int64_t i = 0; i < c->samples.count * c->functions; i++)
        most = MG_MAX(most, fabs(c->scores[i]));
    if (!(most > 0) || temperature_slope(context, model, c, 0) >= 0) return 0;
    double high = 1 / most;
    while (high < 1e6 / most && temperature_slope(context, model, c, high) < 0) {
        low = high;
        high *= 2;
    }
    if (!(high < 1e6 / most)) return 1e6 / most;
    for (int i = 0; i < 60; i++) {
        const double middle = low + (high - low) / 2;
        if (temperature_slope(context, model, c, middle) < 0)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/* ---- All curves ------------------------------------------------------------------------------ */

typedef struct {
    double *inputs, *score, *knots; /* samples x curves; samples; two for each row of a curve */
    int64_t *order;
    unsigned char *positive;
    double *weight;
    pool *pools;
} workshop;

/* The rows of a curve: of its class and all others, or of its pair of classes. */
static curve_rows rows_of_curve(const margin_context *context, const margin_model *model,
                                const mg_crossed *c, int64_t curve, workshop *w) {
    const int64_t curves = mg_curve_count(model);
    curve_rows r = {.context = context, .score = w->score, .positive = w->positive};
    int64_t positive = curve, negative = -1;
    if (model->classes == 2)
        positive = 1;
    else
        margin_model_score_classes(model, curve, &positive, &negative);
    if (c->samples.weights) r.weight = w->weight;
    for (int64_t i = 0; i < c->samples.count; i++) {
        const bool is_first = c->codes[i] == positive;
        if (!is_first && negative >= 0 && c->codes[i] != negative) continue;
        w->score[r.rows] = w->inputs[i * curves + curve];
        w->positive[r.rows] = is_first;
        w->weight[r.rows++] = mg_samples_weight(&c->samples, i);
        r.weight_of[is_first] += mg_samples_weight(&c->samples, i);
    }
    return r;
}

static margin_status add_knots(margin_model *model, const double *knots, const int64_t *starts,
                               int64_t curves, margin_error *error) {
    double *kept;
    MG_TRY(mg_add_numbers(model, "knots", starts[curves], 2, &kept, error));
    memcpy(kept, knots, (size_t)(2 * starts[curves]) * sizeof *kept);
    int64_t *places;
    MG_TRY(mg_bag_add(&model->additions->bag, "knot_starts", MARGIN_I64, curves + 1, 0, &places,
                      error));
    memcpy(places, starts, (size_t)(curves + 1) * sizeof *places);
    return MARGIN_OK;
}

static margin_status fit_curves(const margin_context *context, margin_model *model,
                                const mg_crossed *c, int32_t kind, workshop *w, int64_t *starts,
                                margin_error *error) {
    const int64_t curves = mg_curve_count(model), n = c->samples.count;
    double *ab = NULL;
    for (int64_t i = 0; i < n; i++)
        mg_curve_inputs(model, c->scores + i * c->functions, w->inputs + i * curves);
    if (kind == MARGIN_CALIBRATE_SIGMOID)
        MG_TRY(mg_add_numbers(model, "sigmoid", curves, 2, &ab, error));
    starts[0] = 0;
    for (int64_t k = 0; k < curves; k++) {
        const curve_rows r = rows_of_curve(context, model, c, k, w);
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (ab) {
            double *scaled = w->knots;
            fit_sigmoid(&r, scaled, ab + 2 * k);
            continue;
        }
        for (int64_t i = 0; i < r.rows; i++)
            w->order[i] = i;
        if (!mg_sort(context, w->order, r.rows, w->order + n, mg_lower_at, w->score))
            return mg_fail_cancelled(error);
        starts[k + 1] = starts[k] + knots_of(&r, w->pools, pool_rows(&r, w->order, w->pools),
                                             w->knots + 2 * starts[k]);
    }
    return ab ? MARGIN_OK : add_knots(model, w->knots, starts, curves, error);
}

margin_status mg_calibrate(margin_context *context, margin_model *model, const mg_crossed *c,
                           int32_t kind, margin_error *error) {
    const int64_t curves = mg_curve_count(model), n = c->samples.count;
    const bool pairs = model->decision == MG_DECIDE_VOTES;
    const int64_t rows = (pairs ? model->classes - 1 : curves) * n; /* of all curves */
    int64_t *starts;
    mg_arena arena;
    workshop w = {0};
    if (mg_cancelled(context)) return mg_fail_cancelled(error);
    for (int64_t i = 0; i < c->samples.count * c->functions; i++)
        if (!isfinite(c->scores[i]))
            return mg_fail(
                error, MARGIN_ERROR_DATA,
                "row %lld has no finite score by the fit that did not see it, and cannot "
                "take part in a calibration; leave such rows out",
                (long long)mg_samples_row(&c->samples, i / c->functions) + 1);
    if (kind == MARGIN_CALIBRATE_TEMPERATURE) {
        double *inverse;
        MG_TRY(mg_add_numbers(model, "inverse_temperature", 1, 0, &inverse, error));
        *inverse = fit_temperature(context, model, c);
        return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
    }
    mg_arena_init(&arena, context->heap);
    const int64_t knots = kind == MARGIN_CALIBRATE_ISOTONIC ? 2 * rows : n;
    margin_status status =
        MG_PIECES(&arena, "the calibration", error, MG_PIECE(starts, curves + 1),
                  MG_PIECE(w.inputs, n * curves), MG_PIECE(w.score, n),
                  MG_PIECE(w.knots, 2 * knots), MG_PIECE(w.order, 2 * n), MG_PIECE(w.positive, n),
                  MG_PIECE(w.weight, n), MG_PIECE(w.pools, n));
    if (status >= 0) status = fit_curves(context, model, c, kind, &w, starts, error);
    if (status >= 0 && mg_cancelled(context)) status = mg_fail_cancelled(error);
    mg_arena_free(&arena);
    return status;
}
