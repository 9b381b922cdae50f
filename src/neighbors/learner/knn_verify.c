/* The claim of a fit, and its proof: for a sample of training rows the neighbours are found once by
 * the model's own method and once by plain loops over the data. */
#include "neighbors/learner/knn.h"

enum { CHECKED = 32, LOOK_UP = 1024 }; /* rows of the sample; rows between two looks at cancel */

static int64_t checked_rows(const mg_problem *problem) {
    return MG_MIN(problem->count, CHECKED);
}

static int64_t checked_row(const mg_problem *problem, int64_t number) {
    return problem->count * number / checked_rows(problem);
}

static void knn_verify_read_row(const mg_problem *problem, int64_t sample, double *out) {
    mg_row_expand(&problem->x, mg_sample_row(problem, sample), out);
}

static void set_report(margin_report *report, double sum, double count, double differing) {
    report->objective = sum / count;
    report->tolerance = 0;
    mg_report_set(report, "checked_rows", count);
    mg_report_set(report, "differences", differing);
}

/* ---- By the model ---------------------------------------------------------------------------- */

/* Distance of the last row that takes part: the one at which the weight reaches k. */
static double last_distance(const margin_context *context, const mg_neighbors *index,
                            const double *q) {
    mg_neighbor list[MG_NEIGHBORS_LIST];
    mg_search search = mg_search_within(q, index->reach, index->radius, list);
    search.context = context;
    double taken = 0, last = 0;
    mg_neighbors_find(index, &search);
    while (search.count > 0) {
        for (int64_t i = 0; i < search.count; i++) {
            taken += index->weight ? index->weight[list[i].row] : 1;
            last = list[i].distance;
            if (taken >= index->k * (1 - 1e-12)) return last;
        }
        if (search.count < index->reach) break;
        search.after = list[search.count - 1];
        mg_neighbors_find(index, &search);
    }
    return last;
}

margin_status mg_knn_claim(mg_fit *fit, const mg_hypothesis *h) {
    const mg_problem *problem = fit->problem;
    const int64_t count = checked_rows(problem);
    double sum = 0, *q = NULL;
    MG_NEW(fit->context->heap, q, h->columns, "a row of the data", fit->error);
    for (int64_t i = 0; i < count && !mg_cancelled(fit->context); i++) {
        knn_verify_read_row(problem, checked_row(problem, i), q);
        sum += last_distance(fit->context, mg_neighbors_view(h), q);
    }
    mg_free(fit->context->heap, q);
    if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
    set_report(&fit->report, sum, (double)count, 0);
    return MARGIN_OK;
}

/* ---- By plain loops -------------------------------------------------------------------------- */

typedef struct plain {
    mg_fit *fit;
    double p, k, radius;
    bool by_distance;
    double unit;      /* of the scores: the largest |target|, so that no sum overflows */
    double *distance; /* of every training row */
    int64_t *order;   /* rows not taken yet: a heap, the nearest on top */
    int64_t left;
    double *q, *x;
    double *scores, *found;
} plain;

static double plain_distance(const plain *v, int64_t columns) {
    double most = 0, sum = 0;
    for (int64_t j = 0; j < columns; j++)
        most = fmax(most, fabs(v->x[j] - v->q[j]));
    if (isinf(v->p) || most == 0) return most;
    for (int64_t j = 0; j < columns; j++)
        sum += pow(fabs(v->x[j] - v->q[j]) / most, v->p);
    return most * pow(sum, 1 / v->p);
}

static margin_status measure_all(plain *v) {
    const mg_problem *problem = v->fit->problem;
    for (int64_t i = 0; i < problem->count; i++) {
        if (i % LOOK_UP == 0 && mg_cancelled(v->fit->context))
            return mg_fail_cancelled(v->fit->error);
        knn_verify_read_row(problem, i, v->x);
        v->distance[i] = plain_distance(v, problem->x.columns);
    }
    return MARGIN_OK;
}

/* Of two equally far rows the lower number is nearer. */
static bool nearer(const plain *v, int64_t a, int64_t b) {
    return v->distance[a] < v->distance[b] || (v->distance[a] == v->distance[b] && a < b);
}

static void sift_down(plain *v, int64_t at) {
    const int64_t moved = v->order[at];
    for (int64_t child; (child = 2 * at + 1) < v->left; at = child) {
        if (child + 1 < v->left && nearer(v, v->order[child + 1], v->order[child])) child++;
        if (!nearer(v, v->order[child], moved)) break;
        v->order[at] = v->order[child];
    }
    v->order[at] = moved;
}

static void take_none(plain *v) {
    v->left = v->fit->problem->count;
    for (int64_t i = 0; i < v->left; i++)
        v->order[i] = i;
    for (int64_t at = v->left / 2 - 1; at >= 0; at--)
        sift_down(v, at);
}

/* The nearest row that was not taken yet, of which there is one. */
static int64_t take_nearest(plain *v) {
    const int64_t row = v->order[0];
    v->order[0] = v->order[--v->left];
    sift_down(v, 0);
    return row;
}

static void add_share(plain *v, int64_t row, double weight) {
    const mg_problem *problem = v->fit->problem;
    if (problem->kind == MG_ARGMAX)
        v->scores[problem->code[row]] += weight;
    else
        v->scores[0] += weight * (problem->target[row] / v->unit);
}

static double plain_share(const plain *v, double weight, double nearest, double distance) {
    if (!v->by_distance) return weight;
    return nearest == 0 ? weight * (double)(distance == 0) : weight * (nearest / distance);
}

/* The sums of the votes in v->scores, their weight in `shares`; returns the distance of the last
 * row that took part. `tied`: rounding decides who takes part, or who with a part of its weight:
 * that distance is not clearly less than the next, or, where k cut the last row's weight, not
 * clearly more than the one before. */
static double plain_nearest(plain *v, double *shares, bool *tied) {
    double taken = 0, nearest = 0, last = -1, before = -1;
    bool cut = false;
    take_none(v);
    while (taken < v->k * (1 - 1e-12) && v->left > 0) { /* other weights than the fit's: fewer */
        const int64_t row = take_nearest(v);
        const double own = mg_sample_weight(v->fit->problem, row);
        const double weight = fmin(own, v->k - taken);
        cut = weight < own;
        before = last;
        last = v->distance[row];
        if (taken == 0) nearest = last;
        taken += weight;
        const double share = plain_share(v, weight, nearest, last);
        *shares += share;
        add_share(v, row, share);
    }
    *tied = (v->left > 0 && v->distance[v->order[0]] <= last * (1 + 1e-12)) ||
            (cut && before >= last * (1 - 1e-12));
    return last;
}

/* The same within the radius. `tied`: a row is on its edge. */
static double plain_within(plain *v, double *shares, bool *tied) {
    const mg_problem *problem = v->fit->problem;
    double nearest = (double)INFINITY, last = -1;
    *tied = false;
    for (int64_t i = 0; i < problem->count; i++)
        nearest = fmin(nearest, v->distance[i]);
    for (int64_t i = 0; i < problem->count; i++) {
        const double distance = v->distance[i];
        if (isfinite(v->radius) && v->radius > 0)
            *tied = *tied || fabs(distance - v->radius) <= 1e-12 * v->radius;
        if (!(distance <= v->radius)) continue;
        const double share = plain_share(v, mg_sample_weight(problem, i), nearest, distance);
        last = fmax(last, distance);
        *shares += share;
        add_share(v, i, share);
    }
    return last;
}

/* The scores of q in v->scores. */
static double plain_scores(plain *v, int64_t functions, bool *tied) {
    double shares = 0;
    for (int64_t f = 0; f < functions; f++)
        v->scores[f] = 0;
    const double last =
        isinf(v->k) ? plain_within(v, &shares, tied) : plain_nearest(v, &shares, tied);
    for (int64_t f = 0; f < functions; f++)
        v->scores[f] /= shares;
    return last;
}

static bool scores_differ(const plain *v, int64_t functions) {
    const double least = fmax(1 / v->unit, 1e-4); /* below it rounding may be all that differs */
    for (int64_t f = 0; f < functions; f++) {
        const double score = v->scores[f], found = v->found[f] / v->unit;
        if (!(fabs(score - found) <= 1e-9 * fmax(least, fabs(score)))) return true;
    }
    return false;
}

static double unit_of(const mg_problem *problem) {
    double most = 0;
    for (int64_t i = 0; problem->kind != MG_ARGMAX && i < problem->count; i++)
        most = fmax(most, fabs(problem->target[i]));
    return most >= 1 ? most : 1;
}

static margin_status verify_rows(plain *v, const mg_hypothesis *h) {
    const mg_problem *problem = v->fit->problem;
    const int64_t count = checked_rows(problem);
    double sum = 0, differing = 0;
    for (int64_t i = 0; i < count; i++) {
        bool tied;
        knn_verify_read_row(problem, checked_row(problem, i), v->q);
        MG_TRY(measure_all(v));
        sum += plain_scores(v, h->functions, &tied);
        const margin_matrix one = margin_dense_f64(v->q, 1, h->columns, h->columns);
        h->kind->scores(h, &one, 0, 1, v->found);
        differing += !tied && scores_differ(v, h->functions);
    }
    set_report(&v->fit->report, sum, (double)count, differing);
    return MARGIN_OK;
}

static margin_status knn_verify_with(plain *v, const mg_hypothesis *h, mg_arena *arena) {
    const mg_problem *problem = v->fit->problem;
    margin_error *error = v->fit->error;
    MG_ARENA_NEW(arena, v->distance, problem->count, "distances", error);
    MG_ARENA_NEW(arena, v->order, problem->count, "the order of the rows", error);
    MG_ARENA_NEW(arena, v->q, h->columns, "a row of the data", error);
    MG_ARENA_NEW(arena, v->x, h->columns, "a row of the data", error);
    MG_ARENA_NEW(arena, v->scores, h->functions, "scores", error);
    MG_ARENA_NEW(arena, v->found, h->functions, "scores", error);
    v->unit = unit_of(problem);
    return verify_rows(v, h);
}

margin_status mg_knn_verify(mg_fit *fit, const mg_hypothesis *h) {
    const mg_neighbors *index = mg_neighbors_view(h);
    plain v = {.fit = fit,
               .p = index->metric.p,
               .k = index->k,
               .radius = index->radius,
               .by_distance = index->by_distance};
    if (fit->problem->count != index->rows)
        return mg_fail(fit->error, MARGIN_ERROR_DATA,
                       "the model was trained on %lld rows and this data has %lld",
                       (long long)index->rows, (long long)fit->problem->count);
    mg_arena arena;
    mg_arena_init(&arena, fit->context->heap);
    const margin_status status = knn_verify_with(&v, h, &arena);
    mg_arena_free(&arena);
    return status;
}
