/* Separability by the nearest points of convex hulls.
 *
 *   minimise |g|,  g = sum a_i z_i,  a >= 0,  sum of a over each group = 1
 *
 * Widest: groups are the two classes and z_i = y_i (x_i - c), so g = u - v with u, v in the hulls;
 * for the least |g| every row satisfies g.z_i >= (its group's part of g.g), hence the hyperplane
 * with normal g has width |g|. Unit: one group and z_i = y_i (x_i, 1). Any g bounds the width from
 * above by |g| and from below by sum over groups of min z.g / |g|: the gap between the two is the
 * proof. g = 0 proves that there is no hyperplane (Gordan).
 *
 * Wolfe's active set ("corral") on a pool of rows; the pool is refilled with the rows that violate
 * optimality most after each pass over all data, so a few dozen passes suffice whatever the number
 * of active-set changes. First the decision, in coordinates where every column has range 1, then
 * the widest hyperplane in the user's units.
 *
 * Sources: P. Wolfe, "Finding the nearest point in a polytope", Math. Programming 11 (1976)
 * 128-149; K. Bennett and E. Bredensteiner, "Duality and geometry in SVM classifiers", ICML 2000
 * (hull distance = margin). Ours: two groups through two lifted coordinates, the pool, the change
 * of coordinates between decision and width, and the double-double check of the result. */
#include "perceptron/separation/separation.h"

#include "perceptron/separation/separation_search.h"

#include <math.h>
#include <string.h>

/* Largest residual (in units of a column's range) that counts as coinciding means. */
static const double proof_residual = 1e-9;
/* Largest gap of what counts as the widest hyperplane. */
static const double widest_gap = 1e-6;
/* Convex weights up to this are rounding and left out of the answer. */
static const double least_weight = 1e-15;

/* ---- Results --------------------------------------------------------------------------------- */

/* Normal in the user's units from g, of norm 1 (unit: together with the intercept, of which its
 * share is the last number of g). Divided by the largest entry first: columns of size 1e-300 or
 * 1e300 must not overflow the norm. */
static void normal_from(const mg_search *s, const double *g, double *w) {
    double last = s->points.augmented ? g[s->points.columns] * s->points.unit : 0;
    double largest = fabs(last);
    for (int64_t j = 0; j < s->points.columns; j++) {
        w[j] = g[j] * s->points.scale[j];
        largest = fmax(largest, fabs(w[j]));
    }
    if (!(largest > 0)) return;
    double extra = last / largest, square = extra * extra;
    for (int64_t j = 0; j < s->points.columns; j++) {
        w[j] /= largest;
        square += w[j] * w[j];
    }
    double norm = sqrt(square);
    for (int64_t j = 0; j < s->points.columns; j++)
        w[j] /= norm;
}

/* Intercept and margin of a normal, in double-double; unit: the intercept is part of the unit
 * vector. */
static margin_status separation_measure(const mg_search *s, const double *w, double *intercept,
                                        double *margin) {
    mg_extremes e;
    MG_TRY(mg_extremes_find(s->context, s->problem, w, &e, s->error));
    if (s->points.augmented) {
        double norm = sqrt(s->ops->square(s->best_g, s->points.dimension));
        *intercept = s->best_g[s->points.columns] / norm;
    } else {
        *intercept = -(e.least_positive.high / 2 + e.greatest_negative.high / 2);
    }
    *margin = fmin(mg_twin_plus(e.least_positive, *intercept),
                   -mg_twin_plus(e.greatest_negative, *intercept));
    return MARGIN_OK;
}

/* Takes the search's hyperplane if it is wider than what `out` holds. */
static margin_status take_hyperplane(mg_search *s, mg_separation *out) {
    double intercept, margin, *w = s->raw;
    if (isinf(s->best_lower)) return MARGIN_OK;
    normal_from(s, s->best_g, w);
    MG_TRY(separation_measure(s, w, &intercept, &margin));
    if (!(margin > out->margin)) return MARGIN_OK;
    memcpy(out->weights, w, (size_t)s->points.columns * sizeof *w);
    out->intercept = intercept;
    out->margin = margin;
    return MARGIN_OK;
}

/* The corral's convex weights without those that are rounding; each class sums to 1 again. */
static margin_status take_weights(mg_search *s, mg_separation *out) {
    mg_heap *heap = s->context->heap;
    const mg_corral *corral = &s->corral;
    double sum[2] = {0, 0};
    int64_t *samples;
    double *coefficients;
    MG_NEW(heap, samples, corral->size, "the proof", s->error);
    coefficients = mg_new(heap, corral->size, sizeof *coefficients);
    if (!coefficients) {
        mg_free(heap, samples);
        return mg_no_memory(heap, corral->size, sizeof *coefficients, "the proof", s->error);
    }
    MG_FREE(heap, out->samples, out->coefficients);
    out->samples = samples;
    out->coefficients = coefficients;
    out->count = 0;
    for (int64_t k = 0; k < corral->size; k++) {
        if (corral->weight[k] <= least_weight) continue;
        samples[out->count] = corral->member[k];
        coefficients[out->count++] = corral->weight[k];
        sum[s->problem->sign[corral->member[k]] < 0] += corral->weight[k];
    }
    for (int64_t k = 0; k < out->count && s->groups == 2; k++)
        coefficients[k] /= sum[s->problem->sign[samples[k]] < 0];
    return MARGIN_OK;
}

/* Largest difference of the weighted class means, column by column, in units of the column's range:
 * what a third party recomputes. Infinite where there is none to speak of: a class without a
 * weight, or numbers beyond double precision. */
static double measure_residual(mg_search *s, const mg_separation *out, const mg_ranges *ranges) {
    bool seen[2] = {false, false};
    double residual = 0;
    memset(s->g, 0, (size_t)s->points.columns * sizeof *s->g);
    for (int64_t k = 0; k < out->count; k++) {
        int64_t sample = out->samples[k];
        seen[s->problem->sign[sample] < 0] = true;
        mg_row_expand(&s->problem->x, mg_sample_row(s->problem, sample), s->raw);
        double weight = out->coefficients[k] * s->problem->sign[sample];
        for (int64_t j = 0; j < s->points.columns; j++)
            s->g[j] += weight * (s->raw[j] - ranges->mean[j]);
    }
    if (!seen[0] || !seen[1]) return (double)INFINITY;
    for (int64_t j = 0; j < s->points.columns; j++) {
        double range = ranges->high[j] - ranges->low[j];
        double part = fabs(s->g[j]) / range;
        if (range > 0 && !(part <= residual)) residual = part;
        if (isnan(residual)) return (double)INFINITY;
    }
    return residual;
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

/* A power of two that brings `size` near 1. */
static double power_for(double size) {
    return size > 0 ? ldexp(1, -MG_MAX(ilogb(size), -1000)) : 1;
}

/* Decision: each column with range 1 about 0; without a centre (see MG_SEARCH_DENSE_COLUMNS) with
 * size 1. */
static void equal_coordinates(const mg_ranges *ranges, int64_t columns, double *centre,
                              double *scale) {
    for (int64_t j = 0; j < columns; j++) {
        double low = ranges->low[j], high = ranges->high[j];
        double size = centre ? high - low : fmax(fabs(low), fabs(high));
        scale[j] = size > 0 ? fmin(1 / size, 1e300) : 1;
        /* a constant column must become exactly 0, which its mean, being rounded, may miss */
        if (centre) centre[j] = high > low ? ranges->mean[j] : low;
    }
}

/* Width: all columns divided by one number, which changes no angle. */
static double even_coordinates(const mg_ranges *ranges, int64_t columns, bool centred, double least,
                               double *scale) {
    double widest = least;
    for (int64_t j = 0; j < columns; j++) {
        double low = ranges->low[j], high = ranges->high[j];
        widest = fmax(widest, centred ? high - low : fmax(fabs(low), fabs(high)));
    }
    for (int64_t j = 0; j < columns; j++)
        scale[j] = power_for(widest);
    return power_for(widest);
}

/* Nothing near a hyperplane was seen, and there is none, or the search has a limit: then nobody
 * asks for the best that was seen. No row needs an exact look, which takes as long as some passes.
 */
static bool is_hopeless(const mg_search *s, const mg_separation *out) {
    return s->goal == MG_SEARCH_DECIDE && s->best_lower < -1e-6 &&
           (out->residual <= proof_residual || isfinite(s->most_work));
}

static margin_status search_phase(mg_search *s, mg_separation *out, mg_search_goal goal,
                                  const mg_ranges *ranges) {
    s->goal = goal;
    s->work = out->work;
    margin_status status = mg_search_create(s), found = MARGIN_OK;
    if (status < 0) goto done;
    MG_GO(found = mg_search_run(s));
    MG_GO(take_weights(s, out));
    out->iterations += s->changes;
    out->work = s->work;
    if (goal == MG_SEARCH_DECIDE) out->residual = measure_residual(s, out, ranges);
    if (!is_hopeless(s, out)) MG_GO(take_hyperplane(s, out));
    if (goal == MG_SEARCH_WIDEN && out->margin > 0) {
        /* |g| in the coordinates of this phase; back to the user's units */
        double upper = sqrt(s->square) / (s->points.augmented ? 1 : 2) / s->points.unit;
        double gap = 1 - out->margin / upper;
        out->margin_gap = isnan(gap) ? 1 : fmin(1, fmax(0, gap));
    }
    status = found;
done:
    mg_search_free(s);
    return status;
}

static mg_search new_search(margin_context *context, const mg_problem *problem, bool augmented,
                            double *centre, const double *scale, double unit, double most_work,
                            margin_error *error) {
    mg_search s = {.context = context, .problem = problem, .most_work = most_work, .error = error};
    s.stop = mg_stop_make(context, -1);
    s.points = (mg_points){.context = context,
                           .problem = problem,
                           .isa = mg_isa_level(),
                           .augmented = augmented,
                           .columns = problem->x.columns,
                           .dimension = problem->x.columns + augmented,
                           .centre = centre,
                           .scale = scale,
                           .unit = unit,
                           .sparse = mg_is_csr(&problem->x) && !centre &&
                                     problem->x.columns > MG_SEARCH_DENSE_COLUMNS};
    s.points.ops = mg_row_ops_for(&problem->x, s.points.isa);
    s.groups = augmented ? 1 : 2;
    return s;
}

static margin_status find_widest(margin_context *context, const mg_problem *problem,
                                 mg_separation_kind kind, const mg_ranges *ranges, double *centre,
                                 double *scale, double most_work, mg_separation *out,
                                 margin_error *error) {
    const int64_t columns = problem->x.columns;
    const bool augmented = kind == MG_SEPARATE_UNIT;
    if (augmented) {
        /* The intercept counts in the norm from here on. */
        double norm = hypot(1, out->intercept);
        out->margin /= norm;
        out->intercept /= norm;
        for (int64_t j = 0; j < columns; j++)
            out->weights[j] /= norm;
        centre = NULL;
    }
    double unit = even_coordinates(ranges, columns, centre != NULL, augmented ? 1 : 0, scale);
    mg_search s = new_search(context, problem, augmented, centre, scale, unit, most_work, error);
    return search_phase(&s, out, MG_SEARCH_WIDEN, ranges);
}

/* Both phases. */
static margin_status search_phases(margin_context *context, const mg_problem *problem,
                                   mg_separation_kind kind, const mg_ranges *ranges, double *centre,
                                   double *scale, double most_work, mg_separation *out,
                                   margin_error *error) {
    equal_coordinates(ranges, problem->x.columns, centre, scale);
    mg_search s = new_search(context, problem, false, centre, scale, 1, most_work, error);
    margin_status status = search_phase(&s, out, MG_SEARCH_DECIDE, ranges);
    if (status < 0) return status;
    if (out->margin > 0) {
        MG_TRY(status = find_widest(context, problem, kind, ranges, centre, scale, most_work, out,
                                    error));
        if (out->margin > 0) out->verdict = MG_SEPARABLE;
        if (out->margin > 0 && !(out->margin_gap <= widest_gap))
            return status > 0 ? status : MARGIN_STOPPED_STALLED;
    } else if (out->residual <= proof_residual) {
        out->verdict = MG_NOT_SEPARABLE;
    }
    if (out->verdict != MG_UNDECIDED) return MARGIN_OK;
    return status > 0 ? status : MARGIN_STOPPED_STALLED;
}

margin_status mg_separate(margin_context *context, const mg_problem *problem,
                          mg_separation_kind kind, double most_work, mg_separation *out,
                          margin_error *error) {
    mg_heap *heap = context->heap;
    int64_t columns = problem->x.columns;
    mg_separation result = {
        .heap = mg_heap_retain(heap), .verdict = MG_UNDECIDED, .margin = -(double)INFINITY};
    mg_ranges ranges = {NULL, NULL, NULL};
    double *centre = NULL, *scale = NULL;
    margin_status status = MARGIN_OK;
    result.margin_gap = 1;
    result.residual = (double)INFINITY;
    MG_GO_NEW(heap, result.weights, MG_MAX(columns, 1), "the hyperplane", error);
    memset(result.weights, 0, (size_t)columns * sizeof *result.weights);
    MG_GO(mg_ranges_find(context, problem, &ranges, error));
    result.work = (double)problem->count * mg_row_length(&problem->x);
    if (columns <= MG_SEARCH_DENSE_COLUMNS)
        MG_GO_NEW(heap, centre, columns, "column centres", error);
    MG_GO_NEW(heap, scale, columns, "column scales", error);
    status = mg_ranges_are_finite(&ranges, columns)
                 ? search_phases(context, problem, kind, &ranges, centre, scale, most_work, &result,
                                 error)
                 : MARGIN_STOPPED_STALLED;
done:
    MG_FREE(heap, ranges.low, centre, scale);
    if (status < 0)
        mg_separation_free(&result);
    else
        *out = result;
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(error) : status;
}

void mg_separation_free(mg_separation *separation) {
    if (!separation->heap) return;
    MG_FREE(separation->heap, separation->weights, separation->samples, separation->coefficients);
    mg_heap_release(separation->heap);
    memset(separation, 0, sizeof *separation);
}
