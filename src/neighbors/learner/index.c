/* Making an index: where the coordinates are, which method, and why. */
#include "neighbors/learner/index.h"

#include "base/sort.h"
#include "base/text/number_text.h"
#include "neighbors/tree/tree_build.h"

#include <stdio.h>
#include <string.h>

enum {
    PIECES = 64,
    SAMPLE = 127,
    SHARE = 32, /* of so many rows one takes part in the middle of a column, */
    LEAST = 5,  /* but so many, if there are */
    PROBES = 16,
    SURE_COLUMNS = 8,  /* up to here the tree wins whatever the data are */
    SOME_COLUMNS = 15, /* beyond, it seldom does */
    SURE_ROWS = 128,   /* below, nothing matters, */
    FEW_ROWS = 4096, /* and of so many columns hardly anything below these; no part tells of them */
    PART = 16,       /* of so many rows one is in the part that is tried, */
    FIRST = 64,      /* and of so many in the part before, which has */
    EACH = 4,        /* at least so many rows for each neighbour */
    LARGEST_ROWS = INT32_MAX - 64
};

/* ---- Where the points are -------------------------------------------------------------------- */

typedef struct survey {
    const mg_neighbors_plan *plan;
    const double *centre;
    double size;         /* the most |centre| */
    double most[PIECES]; /* |x - centre| */
    int64_t bad[PIECES], column[PIECES];
} survey;

static int64_t plan_row(const mg_neighbors_plan *plan, int64_t i) {
    return plan->index ? plan->index[i] : i;
}

static double plan_value(const mg_neighbors_plan *plan, int64_t i, int64_t j) {
    return mg_stored_value(plan->x, plan_row(plan, i) * plan->x->stride + j);
}

/* The median of a few values of a column: in the bulk of the data, however far others are. */
static double middle_of(const mg_neighbors_plan *plan, int64_t j) {
    double values[SAMPLE];
    const int64_t count = MG_MIN(plan->rows, MG_MIN(MG_MAX(plan->rows / SHARE, LEAST), SAMPLE));
    for (int64_t i = 0; i < count; i++)
        values[i] = plan_value(plan, plan->rows * i / count, j);
    return mg_select(values, count, count / 2);
}

/* One by one: where some are not as they should be. */
static void survey_each(survey *s, int64_t piece, int64_t first, int64_t end) {
    const mg_neighbors_plan *plan = s->plan;
    for (int64_t i = first; i < end && s->bad[piece] < 0; i++)
        for (int64_t j = 0; j < plan->x->columns && s->bad[piece] < 0; j++)
            if (!(fabs(plan_value(plan, i, j)) <= MG_NEIGHBORS_LARGEST)) {
                s->bad[piece] = i;
                s->column[piece] = j;
            }
}

static margin_status survey_piece(void *argument, int64_t piece, int worker) {
    survey *s = argument;
    const mg_neighbors_plan *plan = s->plan;
    const margin_matrix *x = plan->x;
    const int64_t first = plan->rows * piece / PIECES, end = plan->rows * (piece + 1) / PIECES;
    const int64_t together = plan->index ? 1 : end - first;
    const bool single = x->value_type == MARGIN_F32;
    const mg_neighbors_ops *ops = mg_neighbors_ops_for(mg_isa_level());
    double most = 0;
    (void)worker;
    for (int64_t i = first; i < end; i += together) {
        const int64_t at = plan_row(plan, i) * x->stride;
        const double far = ops->farthest((const char *)x->values + at * (single ? 4 : 8), single,
                                         together, x->columns, x->stride, s->centre);
        most = far > most ? far : most;
    }
    s->bad[piece] = -1;
    s->most[piece] = most;
    if (!(most + s->size < MG_NEIGHBORS_LARGEST / 2)) survey_each(s, piece, first, end);
    return MARGIN_OK;
}

/* A power of two that brings the largest coordinate to about 2^30: far queries and near points then
 * have room in f32. */
static double scale_for(double most) {
    int exponent;
    if (!(most > 0)) return 1;
    frexp(most, &exponent);
    return ldexp(1, MG_MIN(30 - exponent, 1000));
}

static margin_status find_frame(margin_context *context, const mg_neighbors_plan *plan,
                                double *centre, double *scale, margin_error *error) {
    survey s = {.plan = plan, .centre = centre};
    double most = 0;
    for (int64_t j = 0; j < plan->x->columns; j++) {
        centre[j] = middle_of(plan, j);
        if (!(fabs(centre[j]) <= MG_NEIGHBORS_LARGEST)) centre[j] = 0; /* refused below */
        s.size = fmax(s.size, fabs(centre[j]));
    }
    MG_TRY(mg_parallel(context, PIECES, survey_piece, &s, error));
    for (int piece = 0; piece < PIECES; piece++) {
        const int64_t bad = s.bad[piece];
        if (bad >= 0)
            return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = plan_row(plan, bad) + 1},
                              "row %lld has the value %s in column %lld; distances need numbers of "
                              "size at most 1e300: bring the columns to a common scale first",
                              (long long)plan_row(plan, bad) + 1,
                              mg_number(plan_value(plan, bad, s.column[piece])).text,
                              (long long)s.column[piece] + 1);
        most = MG_MAX(most, s.most[piece]);
    }
    *scale = scale_for(most);
    return MARGIN_OK;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static margin_status new_index(margin_context *context, const mg_neighbors_plan *plan,
                               mg_hypothesis **h, margin_error *error) {
    double *settings = NULL, *centre = NULL;
    MG_TRY(
        mg_hypothesis_new(context->heap, &mg_hypothesis_neighbors, plan->x->columns, 1, h, error));
    MG_TRY(mg_bag_add(&(*h)->bag, "settings", MARGIN_F64, MG_SETTINGS, 0, &settings, error));
    MG_TRY(mg_bag_add(&(*h)->bag, "centre", MARGIN_F64, plan->x->columns, 0, &centre, error));
    settings[MG_SETTING_P] = plan->p;
    settings[MG_SETTING_ROWS] = (double)plan->rows;
    settings[MG_SETTING_K] = (double)plan->k;
    return find_frame(context, plan, centre, &settings[MG_SETTING_SCALE], error);
}

typedef struct copying {
    const mg_neighbors_plan *plan;
    char *to;
} copying;

static margin_status copy_piece(void *argument, int64_t piece, int worker) {
    const copying *c = argument;
    const mg_neighbors_plan *plan = c->plan;
    const int64_t bytes = plan->x->columns * mg_type_size(plan->x->value_type);
    const int64_t first = plan->rows * piece / PIECES, last = plan->rows * (piece + 1) / PIECES;
    (void)worker;
    mg_rows_together(plan->x, plan->index ? plan->index + first : NULL, first, last - first,
                     c->to + first * bytes);
    return MARGIN_OK;
}

static margin_status add_points(margin_context *context, const mg_neighbors_plan *plan,
                                mg_hypothesis *h, margin_error *error) {
    copying c = {.plan = plan};
    MG_TRY(mg_bag_add(&h->bag, "points", plan->x->value_type, plan->rows, plan->x->columns, &c.to,
                      error));
    return mg_parallel(context, PIECES, copy_piece, &c, error);
}

static double *setting(mg_hypothesis *h, int which) {
    return (double *)mg_bag_find(&h->bag, "settings")->data + which;
}

static margin_status add_tree(margin_context *context, const mg_neighbors_plan *plan,
                              mg_hypothesis *h, margin_error *error) {
    const mg_tree_source source = {.x = plan->x,
                                   .index = plan->index,
                                   .rows = plan->rows,
                                   .columns = plan->x->columns,
                                   .centre = mg_bag_find(&h->bag, "centre")->data,
                                   .scale = *setting(h, MG_SETTING_SCALE)};
    bool exact = false;
    MG_TRY(mg_tree_make(context, &source, h, &exact, error));
    *setting(h, MG_SETTING_TREE) = 1;
    *setting(h, MG_SETTING_EXACT) = exact;
    return mg_neighbors_set_view(h, error);
}

/* ---- Which method ---------------------------------------------------------------------------- */

/* Costs of a query in nanoseconds as they were measured on one core with AVX2, the rows in cache: a
 * scan by tiles, or eight times as slow, and a node or leaf of the tree. Only their ratio matters.
 */
static double scan_cost(double rows, double columns, bool tiles) {
    const double each = rows * (0.30 + 0.027 * columns);
    return tiles ? 3000 + each : 500 + 8 * each;
}
static double visit_cost(double columns) {
    return 30 + 2 * columns;
}

double mg_neighbors_price(const mg_neighbors *index, double visits, double found) {
    const double columns = (double)index->columns, list = 60 * found;
    if (index->tree) return list + visits * visit_cost(columns);
    return list + scan_cost((double)index->rows, columns, index->metric.kind == MG_METRIC_EUCLID);
}

/* Counts what queries of the tree visit: rows of the plan spread evenly, each of which finds itself
 * and k others. */
static void probe(const mg_hypothesis *h, const mg_neighbors_plan *plan,
                  mg_neighbors_choice *choice) {
    mg_neighbor list[MG_NEIGHBORS_LIST];
    double q[MG_TREE_COLUMNS], visits = 0;
    const int64_t k = MG_MIN(MG_MIN(plan->k + 1, plan->rows), MG_NEIGHBORS_LIST);
    choice->probes = 0;
    for (int64_t i = 0; i < PROBES && visits <= PROBES * choice->break_even; i++) {
        for (int64_t j = 0; j < plan->x->columns; j++)
            q[j] = plan_value(plan, plan->rows * i / PROBES, j);
        mg_search search = mg_search_nearest(q, k, list);
        mg_neighbors_find(mg_neighbors_view(h), &search);
        visits += (double)search.visits + 0.5 * (double)search.ranked / MG_LEAF;
        choice->probes++;
    }
    choice->visits = visits / (double)choice->probes;
}

/* What queries of a tree of one row in `parts` visit. */
static margin_status try_part(margin_context *context, const mg_neighbors_plan *plan, int64_t parts,
                              mg_neighbors_choice *choice, margin_error *error) {
    mg_neighbors_plan part = *plan;
    mg_hypothesis *h = NULL;
    int64_t *rows = NULL;
    margin_status status;
    part.rows = plan->rows / parts;
    MG_GO_NEW(context->heap, rows, part.rows, "some rows", error);
    for (int64_t i = 0; i < part.rows; i++)
        rows[i] = plan_row(plan, plan->rows * i / part.rows);
    part.index = rows;
    MG_GO(new_index(context, &part, &h, error));
    MG_GO(add_tree(context, &part, h, error));
    probe(h, &part, choice);
done:
    mg_hypothesis_free(h);
    mg_free(context->heap, rows);
    return status;
}

/* Whether a tree of all rows would visit more than is worth it, from trees of few, which cost no
 * more than a copy of all rows: few columns apart, a tree that does not pay need not be built. The
 * more rows, the slower visits grow: the further factor of 16 in rows makes as much as three
 * quarters of two steps like that from the first part to the second (Gauss's numbers in 9 to 20
 * columns, surfaces of 4 to 12 dimensions, 5,000 to 400,000 rows: within 0.6 to 2 times). */
static margin_status guess_visits(margin_context *context, const mg_neighbors_plan *plan,
                                  mg_neighbors_choice *choice, margin_error *error) {
    MG_TRY(try_part(context, plan, FIRST, choice, error));
    const double before = choice->visits;
    MG_TRY(try_part(context, plan, PART, choice, error));
    const double growth = fmax(1, choice->visits / before);
    choice->visits *= growth * sqrt(growth);
    choice->guessed = choice->visits > choice->break_even;
    return MARGIN_OK;
}

static margin_status check_plan(const mg_neighbors_plan *plan, margin_error *error) {
    MG_REQUIRE(plan->rows <= LARGEST_ROWS, error, MARGIN_ERROR_LIMIT,
               "%lld rows are more than the %lld that neighbours are sought among",
               (long long)plan->rows, (long long)LARGEST_ROWS);
    MG_REQUIRE(plan->method != MG_NEIGHBORS_TREE || plan->x->columns <= MG_TREE_COLUMNS, error,
               MARGIN_ERROR_DATA,
               "a tree over %lld columns would visit everything; it takes at most %d: use "
               "method=brute (or auto)",
               (long long)plan->x->columns, (int)MG_TREE_COLUMNS);
    return MARGIN_OK;
}

/* A tree, unless a probe says that it does not pay. */
static margin_status index_choose(margin_context *context, const mg_neighbors_plan *plan,
                                  mg_hypothesis **h, mg_neighbors_choice *choice,
                                  margin_error *error) {
    const int64_t columns = plan->x->columns;
    const bool possible = columns <= MG_TREE_COLUMNS && plan->method != MG_NEIGHBORS_BRUTE;
    choice->break_even =
        (scan_cost((double)plan->rows, (double)columns, true) - 500) / visit_cost((double)columns);
    const bool chosen = plan->method == MG_NEIGHBORS_TREE;
    const bool sure = chosen || columns <= SURE_COLUMNS;
    if (!possible || (!chosen && plan->rows < (columns <= SOME_COLUMNS ? SURE_ROWS : FEW_ROWS)))
        return MARGIN_OK;
    if (!sure && plan->rows >= FEW_ROWS && plan->rows / FIRST >= EACH * plan->k)
        MG_TRY(guess_visits(context, plan, choice, error));
    if (choice->guessed) return MARGIN_OK;
    choice->probes = 0;
    MG_TRY(add_tree(context, plan, *h, error));
    choice->tree = true;
    if (sure) return MARGIN_OK;
    probe(*h, plan, choice);
    if (choice->visits <= choice->break_even) return MARGIN_OK;
    choice->tree = false;
    mg_hypothesis_free(*h);
    *h = NULL;
    return new_index(context, plan, h, error);
}

margin_status mg_neighbors_make(margin_context *context, const mg_neighbors_plan *plan,
                                mg_hypothesis **h, mg_neighbors_choice *choice,
                                margin_error *error) {
    mg_hypothesis *made = NULL;
    mg_neighbors_choice chosen = {0};
    margin_status status;
    MG_GO(check_plan(plan, error));
    MG_GO(new_index(context, plan, &made, error));
    MG_GO(index_choose(context, plan, &made, &chosen, error));
    if (!chosen.tree) {
        MG_GO(add_points(context, plan, made, error));
        MG_GO(mg_neighbors_set_view(made, error));
    }
    *h = made;
    *choice = chosen;
    made = NULL;
done:
    mg_hypothesis_free(made);
    return status;
}

void mg_neighbors_explain(const mg_neighbors_choice *choice, const mg_neighbors *index, char *text,
                          size_t capacity) {
    char visits[32], even[32];
    const double shown = round(choice->visits * 10) / 10;
    snprintf(visits, sizeof visits, "%s", mg_number(shown).text);
    snprintf(even, sizeof even, "%s", mg_number(round(choice->break_even)).text);
    if (choice->probes > 0)
        snprintf(text, capacity,
                 "%s %s boxes and leaves a query (%lld tried%s); a scan of all rows costs as much "
                 "as %s of them",
                 choice->tree      ? "kd-tree:"
                 : choice->guessed ? "brute force: a kd-tree would visit about"
                                   : "brute force: a kd-tree would visit at least",
                 visits, (long long)choice->probes,
                 choice->guessed ? " on one of a sixteenth of the rows" : "", even);
    else if (choice->tree)
        snprintf(text, capacity, "kd-tree of %lld leaves", (long long)index->tree->leaves);
    else
        snprintf(text, capacity, "brute force over %s of %s", mg_counted(index->rows, "rows").text,
                 mg_counted(index->columns, "columns").text);
}
