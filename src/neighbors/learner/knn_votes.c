/* Votes and means. */
#include "neighbors/learner/knn.h"

#include <string.h>

void mg_knn_no_answer(double *out, int64_t functions) {
    for (int64_t f = 0; f < functions; f++)
        out[f] = (double)NAN;
}

/* Weight of a vote by distance, relative to the nearest: 1/d without dividing by 0. Rows at
 * distance 0, if there are any, are alone. */
static double nearness(double nearest, double distance) {
    return nearest == 0 ? (double)(distance == 0) : nearest / distance;
}

/* A bare index has none. */
static bool has_targets(const mg_neighbors *index) {
    return index->code || index->value;
}

bool mg_knn_take(mg_tally *t, const mg_neighbor *list, int64_t count) {
    const mg_neighbors *index = t->index;
    const double k = index->k;
    for (int64_t i = 0; i < count; i++) {
        const int32_t row = list[i].row;
        double weight = index->weight ? index->weight[row] : 1;
        if (weight > k - t->taken) weight = k - t->taken;
        if (t->taken == 0) t->nearest = list[i].distance;
        t->taken += weight;
        if (index->by_distance) weight *= nearness(t->nearest, list[i].distance);
        t->shares += weight;
        if (index->code)
            t->out[index->code[row]] += weight;
        else
            t->out[0] += weight * (index->value[row] * index->value_scale);
        if (t->taken >= k * (1 - 1e-12)) return true;
    }
    return false;
}

void mg_knn_divide(const mg_tally *t, int64_t functions) {
    const mg_neighbors *index = t->index;
    for (int64_t f = 0; f < functions; f++)
        t->out[f] /= t->shares;
    if (index->value_scale == 1) return;
    /* rounding may have brought it above the largest value */
    const double mean = t->out[0] / index->value_scale, most = index->most_value;
    t->out[0] = fmin(fmax(mean, -most), most);
}

/* No row is within the radius. */
static void answer_empty(mg_tally *t, int64_t functions, const double *q) {
    const mg_neighbors *index = t->index;
    mg_neighbor nearest;
    mg_search search = mg_search_nearest(q, 1, &nearest);
    if (index->prior) {
        memcpy(t->out, index->prior, (size_t)functions * sizeof *t->out);
    } else if (index->nearest_stands) {
        mg_neighbors_find(index, &search);
        mg_knn_take(t, &nearest, 1);
        mg_knn_divide(t, functions);
    } else {
        mg_knn_no_answer(t->out, functions);
    }
}

void mg_knn_vote(const mg_neighbors *index, int64_t functions, const double *q, mg_neighbor *list,
                 int64_t count, int64_t room, double *out) {
    mg_tally t = {.index = index, .out = out};
    memset(out, 0, (size_t)functions * sizeof *out);
    if (count == 0) {
        answer_empty(&t, functions, q);
        return;
    }
    while (count > 0 && !mg_knn_take(&t, list, count) && count == room) {
        mg_search more = mg_search_within(q, room, index->radius, list);
        more.after = list[count - 1];
        mg_neighbors_find(index, &more);
        count = more.count;
    }
    mg_knn_divide(&t, functions);
}

margin_status mg_knn_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                            int64_t count, double *out) {
    const mg_neighbors *index = mg_neighbors_view(h);
    mg_neighbor list[MG_NEIGHBORS_LIST];
    for (int64_t i = 0; i < count; i++, out += h->functions) {
        const double *q = (const double *)x->values + (first + i) * x->stride;
        if (!has_targets(index) || !mg_neighbors_usable(q, h->columns)) {
            mg_knn_no_answer(out, h->functions);
            continue;
        }
        mg_search search = mg_search_within(q, index->reach, index->radius, list);
        mg_neighbors_find(index, &search);
        mg_knn_vote(index, h->functions, q, list, search.count, index->reach, out);
    }
    return MARGIN_OK;
}

typedef struct vote_output {
    const mg_hypothesis *h;
    double *out;
} vote_output;

static void answer_query(void *argument, int64_t query, const double *q, mg_neighbor *list,
                         int64_t count, int64_t room) {
    const vote_output *v = argument;
    double *out = v->out + query * v->h->functions;
    if (count < 0 || !has_targets(mg_neighbors_view(v->h)))
        mg_knn_no_answer(out, v->h->functions);
    else
        mg_knn_vote(mg_neighbors_view(v->h), v->h->functions, q, list, count, room, out);
}

margin_status mg_knn_scores_batch(margin_context *context, const mg_hypothesis *h,
                                  const margin_matrix *x, double *out, margin_error *error) {
    const mg_neighbors *index = mg_neighbors_view(h);
    vote_output v = {h, out};
    const mg_neighbors_batch batch = {.index = index,
                                      .queries = x->values,
                                      .count = x->rows,
                                      .stride = x->stride,
                                      .k = index->reach,
                                      .radius = index->radius,
                                      .take = answer_query,
                                      .argument = &v,
                                      .written = {out},
                                      .written_bytes = h->functions * 8};
    return mg_neighbors_run(context, &batch, error);
}

/* ---- Targets --------------------------------------------------------------------------------- */

static bool weighs_one(const mg_problem *problem) {
    for (int64_t i = 0; problem->weight && i < problem->count; i++)
        if (problem->weight[i] != 1) return false;
    return true;
}

/* Shares of the classes, or the mean target. */
static margin_status fill_prior(const mg_hypothesis *h, const mg_problem *problem, double *prior,
                                margin_error *error) {
    long double *sums, total = 0; /* in double precision they may overflow */
    MG_NEW_ZERO(h->heap, sums, h->functions, "the shares of the classes", error);
    for (int64_t i = 0; i < problem->count; i++) {
        const long double weight = (long double)mg_sample_weight(problem, i);
        const bool votes = problem->kind == MG_ARGMAX;
        total += weight;
        sums[votes ? problem->code[i] : 0] +=
            votes ? weight : weight * (long double)problem->target[i];
    }
    for (int64_t f = 0; f < h->functions; f++)
        prior[f] = (double)(sums[f] / total);
    mg_free(h->heap, sums);
    return MARGIN_OK;
}

static margin_status add_radius(mg_hypothesis *h, const mg_problem *problem,
                                const mg_knn_voting *voting, margin_error *error) {
    double *radius = NULL, *prior = NULL;
    if (isnan(voting->radius)) return MARGIN_OK;
    MG_TRY(mg_bag_add(&h->bag, "radius", MARGIN_F64, 2, 0, &radius, error));
    radius[0] = voting->radius;
    radius[1] = (double)voting->empty;
    if (voting->empty != MG_EMPTY_PRIOR) return MARGIN_OK;
    MG_TRY(mg_bag_add(&h->bag, "prior", MARGIN_F64, h->functions, 0, &prior, error));
    return fill_prior(h, problem, prior, error);
}

margin_status mg_knn_add_targets(mg_hypothesis *h, const mg_problem *problem,
                                 const mg_knn_voting *voting, margin_error *error) {
    double *value = NULL, *weight = NULL, *settings = mg_bag_find(&h->bag, "settings")->data;
    int32_t *code = NULL;
    const int64_t rows = problem->count;
    if (problem->kind == MG_ARGMAX) {
        h->functions = problem->classes;
        MG_TRY(mg_bag_add(&h->bag, "class", MARGIN_I32, rows, 0, &code, error));
        memcpy(code, problem->code, (size_t)rows * sizeof *code);
    } else {
        MG_TRY(mg_bag_add(&h->bag, "value", MARGIN_F64, rows, 0, &value, error));
        memcpy(value, problem->target, (size_t)rows * sizeof *value);
    }
    if (!weighs_one(problem)) {
        MG_TRY(mg_bag_add(&h->bag, "weight", MARGIN_F64, rows, 0, &weight, error));
        memcpy(weight, problem->weight, (size_t)rows * sizeof *weight);
    }
    MG_TRY(add_radius(h, problem, voting, error));
    settings[MG_SETTING_K] = voting->k;
    settings[MG_SETTING_BY_DISTANCE] = voting->by_distance;
    return mg_neighbors_set_view(h, error);
}
