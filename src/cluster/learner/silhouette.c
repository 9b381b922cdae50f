/* The silhouette of Rousseeuw 1987, by all pairs of rows. */
#include "cluster/learner/silhouette.h"
#include "cluster/centres/centre_squares.h"
#include "learn/hypothesis/dual.h"

#include <math.h>
#include <string.h>

static double silhouette_weight_of(const mg_clustered *rows, int64_t i) {
    return rows->weight ? rows->weight[i] : 1.0;
}

static void silhouette_read_row(const mg_clustered *rows, int64_t i, double *row) {
    mg_row_expand(rows->x, rows->index ? rows->index[i] : i, row);
}

int64_t mg_silhouette_asked(int64_t count, double most) {
    int64_t asked = count;
    if ((double)count * (double)count > most)
        asked = mg_scored_finest(count, MG_SILHOUETTE_FINEST, MG_SILHOUETTE_LEAST);
    while (asked > MG_SILHOUETTE_LEAST && (double)asked * (double)count > most)
        asked /= 2;
    return MG_MIN(asked, count);
}

static int64_t asked_of(const mg_clustered *rows) {
    return rows->asked ? rows->asked : rows->count;
}

static int64_t asked_row(const mg_clustered *rows, int64_t i) {
    if (asked_of(rows) == rows->count) return i;
    return mg_scored_row(rows->count,
                         mg_scored_finest(rows->count, MG_SILHOUETTE_FINEST, MG_SILHOUETTE_LEAST),
                         rows->asked, i);
}

/* Where it lies, or read into `row`. */
static const double *silhouette_row(const mg_clustered *rows, int64_t i, double *row) {
    const margin_matrix *x = rows->x;
    if (mg_is_csr(x) || mg_is_by_columns(x) || x->value_type != MARGIN_F64) {
        silhouette_read_row(rows, i, row);
        return row;
    }
    return (const double *)x->values + (rows->index ? rows->index[i] : i) * x->stride;
}

/* Sums of weights end near 1, not at 1. */
static const double alone = 1 + 1e-9;

typedef struct measured {
    double value, rounding;
} measured;

/* Of one row to the others. */
typedef struct distances {
    const mg_clustered *rows;
    int64_t row;
    double *sums;             /* k: weighted, to the rows of each cluster that are not open */
    double nearest, farthest; /* of the open ones; 0: there are none */
    double own_weight;        /* of the row itself, if it is open; else 0 */
    double blur;              /* each may be off by that */
} distances;

typedef struct range {
    double low, high;
} range;

/* Mean distance to the rows of cluster c, divided by size; `left`: the weight of the open rows
 * among them, which may be any of all. */
static range mean_to(const distances *d, int64_t c, double size, double left) {
    return (range){(d->sums[c] + left * d->nearest) / size,
                   (d->sums[c] + left * d->farthest) / size};
}

static double open_in(const mg_clustered *rows, int64_t c) {
    return rows->open ? rows->open_weight[c] : 0.0;
}

/* (b - a) / max(a, b), were the row one of cluster `own`: the middle of what it may be. */
static measured silhouette_in(const distances *d, int64_t own) {
    const mg_clustered *rows = d->rows;
    const double size = rows->sizes[own];
    range next = {(double)INFINITY, (double)INFINITY};
    if (!(size > alone)) return (measured){0, 0};
    const double left = MG_MAX(open_in(rows, own) - d->own_weight, 0);
    const range near = mean_to(d, own, size - 1, left);
    for (int64_t c = 0; c < rows->k; c++) {
        if (c == own || !(rows->sizes[c] > 0)) continue;
        const range to = mean_to(d, c, rows->sizes[c], open_in(rows, c));
        next.low = MG_MIN(next.low, to.low);
        next.high = MG_MIN(next.high, to.high);
    }
    const double most = MG_MAX(near.low, next.low);
    if (!(most > 0)) return (measured){0, d->blur > 0 || near.high > 0 || next.high > 0 ? 2 : 0};
    const double low = (next.low - near.high) / MG_MAX(next.low, near.high);
    const double high = (next.high - near.low) / MG_MAX(next.high, near.low);
    const double part = 2 * (d->blur / most + MG_ROUNDING * size / (size - 1));
    return (measured){(low + high) / 2, MG_MIN((high - low) / 2 + part, 2)};
}

/* Of an open row in any of the clusters that have such rows of its weight. */
static measured silhouette_anywhere(const distances *d) {
    range all = {(double)INFINITY, -(double)INFINITY};
    for (int64_t c = 0; c < d->rows->k; c++) {
        if (!(open_in(d->rows, c) >= d->own_weight * (1 - MG_ROUNDING))) continue;
        const measured in = silhouette_in(d, c);
        all.low = MG_MIN(all.low, in.value - in.rounding);
        all.high = MG_MAX(all.high, in.value + in.rounding);
    }
    if (!(all.low <= all.high)) return (measured){0, 2}; /* sizes that cannot be */
    return (measured){(all.low + all.high) / 2, (all.high - all.low) / 2};
}

static bool is_alone(const mg_clustered *rows, int64_t i) {
    return !(rows->open && rows->open[i]) && !(rows->sizes[rows->labels[i]] > alone);
}

static measured silhouette_of(distances *d) {
    const mg_clustered *rows = d->rows;
    const int64_t i = d->row;
    const bool open = rows->open && rows->open[i];
    if (is_alone(rows, i)) return (measured){0, 0};
    if (d->nearest > d->farthest) d->nearest = 0;
    d->own_weight = open ? silhouette_weight_of(rows, i) : 0;
    return open ? silhouette_anywhere(d) : silhouette_in(d, rows->labels[i]);
}

/* Distances of all rows to a group of them, which lie side by side. */
typedef struct measuring {
    const mg_clustered *rows;
    mg_isa isa;
    double *room;           /* per worker: a row and the squares of a group */
    double *group, *packed; /* the rows of the group, as rows and side by side */
    int64_t first, size;
    int64_t start, count; /* of the rows that are measured in one go */
    distances *found;     /* of each of them */
} measuring;

static margin_status measure_row(void *argument, int64_t task, int worker) {
    const measuring *m = argument;
    const mg_clustered *rows = m->rows;
    const int64_t n = rows->x->columns;
    double *row = m->room + worker * (n + MG_CENTRE_GROUP), *squares = row + n;
    distances *d = &m->found[task];
    const int64_t i = d->row;
    if (is_alone(rows, i)) return MARGIN_OK;
    mg_centre_squares(m->isa, silhouette_row(rows, i, row), n, m->packed, m->size, squares);
    for (int64_t l = 0; l < m->size; l++)
        squares[l] = sqrt(squares[l]);
    for (int64_t l = 0, other = m->first; l < m->size; l++, other++) {
        const double distance = squares[l];
        if (!rows->open || !rows->open[other]) {
            d->sums[rows->labels[other]] += silhouette_weight_of(rows, other) * distance;
        } else if (other != i) {
            d->nearest = MG_MIN(d->nearest, distance);
            d->farthest = MG_MAX(d->farthest, distance);
        }
    }
    return MARGIN_OK;
}

/* sums: those of the rows measured, k each. */
static margin_status measure_rows(margin_context *context, measuring *m, double *sums, double blur,
                                  margin_error *error) {
    const mg_clustered *rows = m->rows;
    const int64_t n = rows->x->columns;
    memset(sums, 0, (size_t)(m->count * rows->k) * sizeof *sums);
    for (int64_t i = 0; i < m->count; i++)
        m->found[i] = (distances){.rows = rows,
                                  .row = asked_row(rows, m->start + i),
                                  .sums = sums + i * rows->k,
                                  .nearest = (double)INFINITY,
                                  .blur = blur};
    for (m->first = 0; m->first < rows->count; m->first += MG_CENTRE_GROUP) {
        m->size = MG_MIN(rows->count - m->first, (int64_t)MG_CENTRE_GROUP);
        for (int64_t l = 0; l < m->size; l++)
            silhouette_read_row(rows, m->first + l, m->group + l * n);
        mg_centres_pack(m->group, m->size, n, m->packed);
        MG_TRY(mg_parallel(context, m->count, measure_row, m, error));
    }
    return MARGIN_OK;
}

/* By the size of the largest row, if a stage made it, and what stages may have moved it by. */
static double distance_blur(const mg_clustered *rows, double *row) {
    double most = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        double size = 0;
        silhouette_read_row(rows, i, row);
        for (int64_t j = 0; j < rows->x->columns; j++)
            size +=
                (rows->made ? fabs(row[j]) : 0) + (rows->blur ? rows->blur[j] / MG_ROUNDING : 0);
        most = MG_MAX(most, size);
    }
    return 2 * MG_ROUNDING * most;
}

margin_status mg_silhouette(margin_context *context, const mg_clustered *rows, double *value,
                            double *rounding, margin_error *error) {
    const int64_t n = rows->x->columns, room = n + MG_CENTRE_GROUP;
    enum { MOST_SUMS = 1 << 20 };
    measuring m = {.rows = rows, .isa = mg_isa_level()};
    double *sums, blur = 0, total = 0, whole = 0, moved = 0;
    const int64_t most = MG_MIN(MG_MAX(MOST_SUMS / rows->k, 1), asked_of(rows));
    int64_t filled = 0;
    for (int64_t c = 0; c < rows->k; c++)
        filled += rows->sizes[c] > 0;
    *value = (double)NAN;
    if (rounding) *rounding = 0;
    if (filled < 2) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the silhouette", error, MG_PIECE(m.room, mg_threads(context) * room),
                     MG_PIECE(m.group, MG_CENTRE_GROUP * n),
                     MG_PIECE(m.packed, mg_centres_packed(MG_CENTRE_GROUP, n)),
                     MG_PIECE(sums, most * rows->k), MG_PIECE(m.found, most)));
    if (rounding) blur = distance_blur(rows, m.room);
    for (; m.start < asked_of(rows); m.start += m.count) {
        m.count = MG_MIN(asked_of(rows) - m.start, most);
        MG_TRY(measure_rows(context, &m, sums, blur, error));
        for (int64_t i = 0; i < m.count; i++) {
            const double weight = silhouette_weight_of(rows, m.found[i].row);
            const measured own = silhouette_of(&m.found[i]);
            whole += weight;
            total += weight * own.value;
            moved += weight * (own.rounding + MG_ROUNDING);
        }
    }
    *value = total / whole;
    if (rounding) *rounding = moved / whole;
    return MARGIN_OK;
}
