/* Votes for many numbers of neighbours from one search: the first k of a list of neighbours are
 * those that a search for k finds, ties included. */
#include "neighbors/learner/knn.h"

#include <string.h>

typedef struct many_votes {
    mg_neighbors *views; /* of the index, each with the settings of a fit */
    int64_t count, functions;
    bool left_out;
    double *const *scores;
} many_votes;

/* Takes the query's own row off its list; of a row that stands there often enough, the last. */
static int64_t leave_out(mg_neighbor *list, int64_t count, int64_t row) {
    int64_t at = 0;
    while (at < count - 1 && list[at].row != row)
        at++;
    memmove(list + at, list + at + 1, (size_t)(count - 1 - at) * sizeof *list);
    return count - 1;
}

/* Whether what was taken so far is the beginning of the next setting's votes. */
static bool goes_on(const mg_tally *t, const mg_neighbors *next) {
    return t->index && t->index->by_distance == next->by_distance && t->taken <= next->k;
}

/* From the least number of neighbours to the greatest; each begins with the sums of the last. */
static void take_votes(void *argument, int64_t query, const double *q, mg_neighbor *list,
                       int64_t count, int64_t room) {
    const many_votes *v = argument;
    const size_t bytes = (size_t)v->functions * sizeof(double);
    mg_tally t = {0};
    (void)q, (void)room;
    if (v->left_out && count > 0) count = leave_out(list, count, query);
    for (int64_t k = 0; k < v->count && count <= 0; k++)
        mg_knn_no_answer(v->scores[k] + query * v->functions, v->functions);
    for (int64_t k = v->count - 1; k >= 0 && count > 0; k--) {
        const mg_neighbors *view = &v->views[k];
        t.out = v->scores[k] + query * v->functions;
        if (!goes_on(&t, view)) {
            t.taken = t.shares = 0;
            memset(t.out, 0, bytes);
        }
        t.index = view;
        if (t.taken < view->k) mg_knn_take(&t, list + (int64_t)t.taken, count - (int64_t)t.taken);
        if (k > 0) memcpy(v->scores[k - 1] + query * v->functions, t.out, bytes);
        mg_knn_divide(&t, v->functions);
    }
}

margin_status mg_knn_answers(margin_context *context, const mg_hypothesis *h,
                             const mg_knn_voting *votings, int64_t count, const margin_matrix *rows,
                             bool left_out, double *const *scores, margin_error *error) {
    const mg_neighbors *index = mg_neighbors_view(h);
    const int64_t reach = (int64_t)votings[0].k + left_out;
    many_votes v = {
        .count = count, .functions = h->functions, .left_out = left_out, .scores = scores};
    MG_REQUIRE(!index->weight && reach <= index->rows, error, MARGIN_ERROR_LIMIT,
               "rows that count more or less than once are searched for each k");
    MG_NEW(context->heap, v.views, count, "numbers of neighbours", error);
    for (int64_t k = 0; k < count; k++) {
        v.views[k] = *index;
        v.views[k].k = votings[k].k;
        v.views[k].by_distance = votings[k].by_distance;
    }
    const mg_neighbors_batch batch = {.index = index,
                                      .queries = rows->values,
                                      .count = rows->rows,
                                      .stride = rows->stride,
                                      .k = reach,
                                      .radius = (double)INFINITY,
                                      .take = take_votes,
                                      .argument = &v};
    const margin_status status = mg_neighbors_run(context, &batch, error);
    mg_free(context->heap, v.views);
    return status;
}
