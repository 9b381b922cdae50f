/* The claim of a fit, and its proof: the rows that the model keeps are those of the data, and for a
 * sample of them, some of those that the training accuracy is of, the neighbours are found once by
 * the model's own method and once by plain loops.
 * What it answers without neighbours is computed again. Coordinates that stages made may have been
 * rounded otherwise by another instruction set, so kept rows are the data's to rounding; the plain
 * loops go over kept rows, with the distance of metric.h. So a row at the radius, or as far as
 * another one, is so for the fit, the model and the proof, and no tie is in doubt. */
#include "base/scoped.h"
#include "neighbors/learner/knn.h"

enum { LOOK_UP = 1024 }; /* rows between two looks at cancel */

static int64_t finest(const mg_problem *problem) {
    return mg_scored_finest(problem->count, MG_KNN_SCORED, MG_KNN_LEAST);
}

static int64_t checked_rows(const mg_problem *problem) {
    return MG_MIN(problem->count, MG_KNN_LEAST);
}

/* Row i of `asked`: all, or one of each of so many stretches. */
static int64_t asked_row(const mg_problem *problem, int64_t asked, int64_t i) {
    return asked == problem->count ? i : mg_scored_row(problem->count, finest(problem), asked, i);
}

static int64_t checked_row(const mg_problem *problem, int64_t i) {
    return asked_row(problem, checked_rows(problem), i);
}

static void knn_verify_read_row(const mg_problem *problem, int64_t sample, double *out) {
    mg_row_expand(&problem->x, mg_sample_row(problem, sample), out);
}

static double checked_weight(const mg_problem *problem) {
    double weight = 0;
    for (int64_t i = 0; i < checked_rows(problem); i++)
        weight += mg_sample_weight(problem, checked_row(problem, i));
    return weight;
}

/* sum: of distances, a row of weight w counted as w rows. */
static void set_report(mg_fit *fit, double sum, double differing) {
    margin_report *report = &fit->report;
    report->objective = sum / checked_weight(fit->problem);
    report->tolerance = 0;
    mg_report_set(report, "checked_rows", (double)checked_rows(fit->problem));
    mg_report_set(report, "differences", differing);
}

/* ---- By the model ---------------------------------------------------------------------------- */

/* The rows that are asked for, and what is found. */
typedef struct claim {
    mg_fit *fit;
    const mg_neighbors *index;
    int64_t count, functions;
    bool scored;          /* they are those of the training accuracy */
    double *q, *last;     /* count rows, and distances of the last that takes part */
    double *scores;       /* count x functions, if they are of the training accuracy */
    double visits, found; /* sums: nodes and leaves, neighbours */
} claim;

static void claim_find(claim *c, mg_search *search) {
    mg_neighbors_find(c->index, search);
    c->visits += (double)search->visits + 0.5 * (double)search->ranked / MG_LEAF;
    c->found += (double)search->count;
}

/* Distance of the last row that takes part: the one at which the weight reaches k. */
static double last_distance(claim *c, const double *q) {
    const mg_neighbors *index = c->index;
    mg_neighbor list[MG_NEIGHBORS_LIST];
    mg_search search = mg_search_within(q, index->reach, index->radius, list);
    search.context = c->fit->context;
    double taken = 0, last = 0;
    claim_find(c, &search);
    while (search.count > 0) {
        for (int64_t i = 0; i < search.count; i++) {
            taken += index->weight ? index->weight[list[i].row] : 1;
            last = list[i].distance;
            if (taken >= index->k * (1 - 1e-12)) return last;
        }
        if (search.count < index->reach) break;
        search.after = list[search.count - 1];
        claim_find(c, &search);
    }
    return last;
}

static void take_last(void *argument, int64_t query, const double *q, mg_neighbor *list,
                      int64_t count, int64_t room) {
    const claim *c = argument;
    c->last[query] = count > 0 ? list[count - 1].distance : 0;
    if (c->scores)
        mg_knn_vote(c->index, c->functions, q, list, count, room, c->scores + query * c->functions);
}

/* All at once where every row counts once: a scan of many costs little more than of one. */
static bool asks_together(const mg_neighbors *index) {
    return !index->tree && !index->weight && index->k == (double)index->reach;
}

static margin_status ask(claim *c) {
    const mg_neighbors *index = c->index;
    margin_context *context = c->fit->context;
    if (asks_together(index)) {
        const mg_neighbors_batch batch = {.index = index,
                                          .queries = c->q,
                                          .count = c->count,
                                          .stride = index->columns,
                                          .k = index->reach,
                                          .radius = index->radius,
                                          .take = take_last,
                                          .argument = c};
        return mg_neighbors_run(context, &batch, c->fit->error);
    }
    for (int64_t i = 0; i < c->count && !mg_cancelled(context); i++)
        c->last[i] = last_distance(c, c->q + i * index->columns);
    return mg_cancelled(context) ? mg_fail_cancelled(c->fit->error) : MARGIN_OK;
}

/* How many training rows the accuracy is of: all, if they are few, or the most, halved until their
 * answers cost no more than a pass over the rows, or little. */
static int64_t scored_rows(const mg_neighbors *index, double each) {
    static const double value = 1, little = 1e6; /* nanoseconds */
    const double limit = fmax((double)index->rows * (double)index->columns * value, little);
    const double most = limit / each;
    int64_t rows = MG_MIN(index->rows, MG_KNN_SCORED);
    if ((double)rows > most) rows = mg_scored_finest(rows, MG_KNN_SCORED, MG_KNN_LEAST);
    while (rows > MG_KNN_LEAST && (double)rows > most)
        rows /= 2;
    return MG_MIN(rows, index->rows);
}

static int64_t tell_scored(const claim *c, double visits, double found) {
    const int64_t rows = scored_rows(c->index, mg_neighbors_price(c->index, visits, found));
    if (rows < c->index->rows) mg_report_set(&c->fit->report, MG_SCORED_ROWS, (double)rows);
    return rows;
}

/* Of equal scores the first. */
static double claim_accuracy(const claim *c) {
    const mg_problem *problem = c->fit->problem;
    int64_t right = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const double *scores = c->scores + i * c->functions;
        int64_t best = 0;
        for (int64_t f = 1; f < c->functions; f++)
            if (scores[f] > scores[best]) best = f;
        right += best == problem->code[asked_row(problem, c->count, i)];
    }
    return (double)right / (double)c->count;
}

static margin_status claim_make_room(claim *c, mg_arena *arena) {
    margin_error *error = c->fit->error;
    if (c->scored)
        MG_ARENA_NEW(arena, c->scores, c->count * c->functions, "shares of the votes", error);
    MG_ARENA_NEW(arena, c->last, c->count, "distances", error);
    MG_ARENA_NEW(arena, c->q, c->count * c->index->columns, "rows of the data", error);
    return MARGIN_OK;
}

margin_status mg_knn_claim(mg_fit *fit, const mg_hypothesis *h) {
    const mg_problem *problem = fit->problem;
    claim c = {.fit = fit, .index = mg_neighbors_view(h), .functions = h->functions};
    double sum = 0;
    MG_SCOPED_ARENA(arena, fit->context->heap);
    c.count = checked_rows(problem);
    if (asks_together(c.index)) {
        const int64_t rows = tell_scored(&c, 0, c.index->k);
        c.scored = fit->judged && problem->kind == MG_ARGMAX;
        if (c.scored) c.count = rows;
    }
    MG_TRY(claim_make_room(&c, &arena));
    for (int64_t i = 0; i < c.count; i++)
        knn_verify_read_row(problem, asked_row(problem, c.count, i), c.q + i * h->columns);
    MG_TRY(ask(&c));
    for (int64_t i = 0; i < checked_rows(problem); i++) {
        const int64_t row = checked_row(problem, i);
        const int64_t at =
            c.count == problem->count ? row : mg_scored_stretch(checked_rows(problem), i, c.count);
        sum += mg_sample_weight(problem, row) * c.last[at];
    }
    set_report(fit, sum, 0);
    if (c.scored)
        fit->report.train_accuracy = claim_accuracy(&c);
    else if (!asks_together(c.index))
        tell_scored(&c, c.visits / (double)c.count, c.found / (double)c.count);
    return MARGIN_OK;
}

/* ---- By plain loops -------------------------------------------------------------------------- */

typedef struct plain {
    mg_fit *fit;
    const mg_neighbors *index;
    double unit;      /* of the scores: the largest |target|, so that no sum overflows */
    int64_t *slot;    /* of the model, for every training row */
    double *distance; /* of every training row */
    int64_t *order;   /* rows not taken yet: a heap, the nearest on top */
    int64_t left;
    double *q, *x;
    double *scores, *found;
} plain;

static void read_kept(const plain *v, int64_t sample, double *out) {
    for (int64_t j = 0; j < v->index->columns; j++)
        out[j] = mg_neighbors_coordinate(v->index, v->slot[sample], j);
}

static margin_status measure_all(plain *v) {
    for (int64_t i = 0; i < v->index->rows; i++) {
        if (i % LOOK_UP == 0 && mg_cancelled(v->fit->context))
            return mg_fail_cancelled(v->fit->error);
        read_kept(v, i, v->x);
        v->distance[i] =
            mg_metric_distance(&v->index->metric, v->x, false, v->q, v->index->columns);
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
    if (!v->index->by_distance) return weight;
    return nearest == 0 ? weight * (double)(distance == 0) : weight * (nearest / distance);
}

/* What the votes of a query come to, beside v->scores. */
typedef struct answer {
    double shares; /* weight of the votes */
    double last;   /* distance of the last row that took part */
} answer;

static answer plain_nearest(plain *v) {
    const double k = v->index->k;
    answer a = {.last = -1};
    double taken = 0, nearest = 0;
    take_none(v);
    while (taken < k * (1 - 1e-12) && v->left > 0) { /* other weights than the fit's: fewer */
        const int64_t row = take_nearest(v);
        const double weight = fmin(mg_sample_weight(v->fit->problem, row), k - taken);
        a.last = v->distance[row];
        if (taken == 0) nearest = a.last;
        taken += weight;
        const double share = plain_share(v, weight, nearest, a.last);
        a.shares += share;
        add_share(v, row, share);
    }
    return a;
}

static answer plain_within(plain *v) {
    double nearest = (double)INFINITY;
    answer a = {.last = -1};
    for (int64_t i = 0; i < v->index->rows; i++)
        nearest = fmin(nearest, v->distance[i]);
    for (int64_t i = 0; i < v->index->rows; i++) {
        const double distance = v->distance[i];
        if (!(distance <= v->index->radius)) continue;
        const double weight = mg_sample_weight(v->fit->problem, i);
        const double share = plain_share(v, weight, nearest, distance);
        a.last = fmax(a.last, distance);
        a.shares += share;
        add_share(v, i, share);
    }
    return a;
}

/* The scores of q in v->scores. */
static answer plain_scores(plain *v, int64_t functions) {
    for (int64_t f = 0; f < functions; f++)
        v->scores[f] = 0;
    const answer a = isinf(v->index->k) ? plain_within(v) : plain_nearest(v);
    for (int64_t f = 0; f < functions; f++)
        v->scores[f] /= a.shares;
    return a;
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
    mg_verified *verified = &v->fit->verified;
    const double total = checked_weight(problem);
    double sum = 0, differing = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = checked_row(problem, i);
        const double weight = mg_sample_weight(problem, row);
        read_kept(v, row, v->q);
        MG_TRY(measure_all(v));
        const answer a = plain_scores(v, h->functions);
        sum += weight * a.last;
        verified->objective += MG_ROUNDING * weight * a.last / total;
        const margin_matrix one = margin_dense_f64(v->q, 1, h->columns, h->columns);
        MG_TRY(h->kind->scores(h, &one, 0, 1, v->found));
        differing += scores_differ(v, h->functions);
    }
    set_report(v->fit, sum, differing);
    return MARGIN_OK;
}

static double size_of(const double *x, int64_t columns) {
    double sum = 0;
    for (int64_t j = 0; j < columns; j++)
        sum += fabs(x[j]);
    return sum;
}

/* Whether the row in a slot of the model is the sample's, with its weight and its target. */
static bool keeps_row(plain *v, int64_t slot, int64_t sample) {
    const mg_problem *problem = v->fit->problem;
    const mg_neighbors *index = v->index;
    knn_verify_read_row(problem, sample, v->x);
    const double size = problem->made ? size_of(v->x, index->columns) : 0;
    const double share = mg_row_share(problem, mg_sample_row(problem, sample));
    for (int64_t j = 0; j < index->columns; j++)
        if (!(fabs(mg_neighbors_coordinate(index, slot, j) - v->x[j]) <=
              MG_ROUNDING * fmax(size, fabs(v->x[j])) + share * mg_column_blur(problem, j)))
            return false;
    if ((index->weight ? index->weight[sample] : 1) != mg_sample_weight(problem, sample))
        return false;
    return index->code ? index->code[sample] == problem->code[sample]
                       : index->value[sample] == problem->target[sample];
}

static margin_status knn_check_rows(plain *v) {
    for (int64_t slot = 0; slot < mg_neighbors_slots(v->index); slot++) {
        const int64_t sample = v->index->tree ? v->index->tree->row[slot] : slot;
        if (slot % LOOK_UP == 0 && mg_cancelled(v->fit->context))
            return mg_fail_cancelled(v->fit->error);
        if (sample < 0) continue;
        v->slot[sample] = slot;
        if (!keeps_row(v, slot, sample))
            v->fit->verified.contradiction = "the rows that it keeps are not those of the data";
    }
    return MARGIN_OK;
}

/* Shares of the classes, or the mean target, for queries without neighbours. */
static bool prior_fits(const plain *v, int64_t function) {
    const mg_problem *p = v->fit->problem;
    long double sum = 0, size = 0, total = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const long double weight = (long double)mg_sample_weight(p, i);
        const long double y = p->kind == MG_ARGMAX ? (long double)(p->code[i] == function)
                                                   : (long double)p->target[i];
        total += weight;
        sum += weight * y;
        size += weight * fabsl(y);
    }
    const double blur = MG_ROUNDING * (double)(size / total);
    return fabs(v->index->prior[function] - (double)(sum / total)) <= blur;
}

static margin_status check_prior(plain *v, int64_t functions) {
    for (int64_t f = 0; v->index->prior && f < functions; f++) {
        if (mg_cancelled(v->fit->context)) return mg_fail_cancelled(v->fit->error);
        if (!prior_fits(v, f))
            v->fit->verified.contradiction =
                "what it answers without neighbours is not of the data";
    }
    return MARGIN_OK;
}

static margin_status knn_verify_with(plain *v, const mg_hypothesis *h, mg_arena *arena) {
    const mg_problem *problem = v->fit->problem;
    margin_error *error = v->fit->error;
    MG_TRY(MG_PIECES(arena, "distances", error, MG_PIECE(v->distance, problem->count),
                     MG_PIECE(v->order, problem->count), MG_PIECE(v->slot, problem->count),
                     MG_PIECE(v->q, h->columns), MG_PIECE(v->x, h->columns),
                     MG_PIECE(v->scores, h->functions), MG_PIECE(v->found, h->functions)));
    v->unit = unit_of(problem);
    MG_TRY(knn_check_rows(v));
    MG_TRY(check_prior(v, h->functions));
    return verify_rows(v, h);
}

margin_status mg_knn_verify(mg_fit *fit, const mg_hypothesis *h) {
    const mg_neighbors *index = mg_neighbors_view(h);
    plain v = {.fit = fit, .index = index};
    if (fit->problem->count != index->rows)
        return mg_fail(fit->error, MARGIN_ERROR_DATA,
                       "the model was trained on %lld rows and this data has %lld",
                       (long long)index->rows, (long long)fit->problem->count);
    if (fit->problem->unchecked)
        MG_TRY(mg_problem_check_finite(fit->context, fit->problem, false, fit->error));
    MG_SCOPED_ARENA(arena, fit->context->heap);
    return knn_verify_with(&v, h, &arena);
}
