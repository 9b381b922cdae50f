/* A weighted Gram by packed tiles.
 *
 * Few columns: a sweep over row blocks, each with a triangle of its own. Many columns: there would
 * be too much to add up, so the threads share one triangle, panel by panel, and walk over the rows
 * together; every number of it is then added to in the order of the rows. */
#include "linear/design/design_gram.h"

#include <string.h>

enum {
    FEW_COLUMNS = 384, /* size of the result up to which a triangle fits into the second cache */
    LEAST_BLOCKS = 64, /* where there are rows enough, so that all threads have some */
    MOST_DEPTHS = 32,  /* block depths in a block */
    WALK_DEPTHS = 4,   /* many columns: block depths packed at a time */
    PACK_LINES = 16,   /* lines packed by a task */
    MOST_LINES = 256,  /* of a packed block, whatever the instruction set */
    TASK_PANELS = 2    /* panels of the result in a task */
};

typedef struct tile_job {
    mg_gram_job *gram;
    const mg_symmetric_ops *ops;
    mg_affine affine;
    int64_t stride;   /* lines of a packed block */
    int64_t packed;   /* numbers of it, rounded up to whole cache lines */
    int64_t together; /* lines packed at a time */
    /* many columns: */
    double *c;
    char *block;
    double *rows; /* per worker: see row_room */
    int64_t first, lines;
} tile_job;

/* ---- Packing --------------------------------------------------------------------------------- */

/* The values of the chosen columns; `whole`: those of all of them are in `row`. */
static void gram_tiles_gather(const mg_gram_job *job, bool whole, int64_t at, double *row) {
    const margin_matrix *x = &job->design->problem->x;
    const int64_t *columns = job->request->columns;
    if (whole) { /* ascending, so that nothing is lost */
        for (int64_t k = 0; k < job->columns; k++)
            row[k] = row[columns[k]];
    } else if (x->value_type == MARGIN_F32) {
        const float *values = (const float *)x->values + at * x->stride;
        for (int64_t k = 0; k < job->columns; k++)
            row[k] = (double)values[columns[k]];
    } else {
        const double *values = (const double *)x->values + at * x->stride;
        for (int64_t k = 0; k < job->columns; k++)
            row[k] = values[columns[k]];
    }
}

/* What follows the columns in line `line` of a packed block. The panel in which a row ends is
 * cleared first, if the columns do not reach it. */
static void finish_line(const tile_job *job, int64_t k, int64_t line, double root, char *block) {
    const mg_symmetric_ops *ops = job->ops;
    const mg_weighted_gram *request = job->gram->request;
    const int64_t panels = mg_symmetric_panels(ops, job->gram->size), columns = job->gram->columns;
    const int64_t bytes = ops->width * ops->number_size;
    if (panels > mg_symmetric_panels(ops, columns))
        memset(block + ((panels - 1) * job->stride + line) * bytes, 0, (size_t)bytes);
    if (request->extra)
        mg_symmetric_set(ops, block, job->stride, line, columns,
                         mg_gram_extra(request, mg_gram_sample(job->gram, k)) * root);
    mg_symmetric_set(ops, block, job->stride, line, job->gram->size - 1, root);
}

/* The columns of line `line`: sqrt(d_k) e_k. `row` has room for a dense row; `stored`: where the
 * values are, if not in x. */
static void pack_line(const tile_job *job, int64_t k, int64_t line, double root, char *block,
                      double *row, const char *stored) {
    const mg_design *d = job->gram->design;
    const mg_symmetric_ops *ops = job->ops;
    const margin_matrix *x = &d->problem->x;
    const int64_t i = mg_gram_sample(job->gram, k), at = mg_sample_row(d->problem, i);
    const int64_t columns = job->gram->columns;
    char *out = block + line * ops->width * ops->number_size;
    const bool whole = mg_is_csr(x) || (d->problem->maker && !stored);
    if (!stored && !whole)
        stored = (const char *)x->values + at * x->stride * mg_type_size(x->value_type);
    if (whole || job->gram->request->columns) {
        if (whole) mg_sample_values(d->problem, i, row);
        if (job->gram->request->columns) gram_tiles_gather(job->gram, whole, at, row);
        ops->pack_f64(row, columns, &job->affine, root, job->stride, out);
    } else if (x->value_type == MARGIN_F32) {
        ops->pack_f32((const float *)(const void *)stored, columns, &job->affine, root, job->stride,
                      out);
    } else {
        ops->pack_f64((const double *)(const void *)stored, columns, &job->affine, root,
                      job->stride, out);
    }
}

/* Rows are made for several lines at a time, in room for that; else a row is enough. */
static bool makes_together(const tile_job *job) {
    return job->gram->design->problem->maker && !job->gram->request->columns;
}

/* Columns of types of their own are read for several lines, too; then come their addresses. */
static int64_t columns_room(const tile_job *job) {
    return (job->together + MG_COLUMN_GAP) * job->gram->columns;
}

static int64_t row_room(const tile_job *job) {
    const mg_design *d = job->gram->design;
    if (d->problem->x.arrays) return columns_room(job) + job->gram->columns;
    const int64_t scratch = d->problem->maker ? mg_row_maker_scratch(d->problem->maker) : 0;
    return makes_together(job) ? job->together * d->columns + scratch : d->columns;
}

/* Lines from `line` on, which belong to these rows, from data by columns. */
static void pack_columns(const tile_job *job, const int64_t *rows, int64_t line, int64_t count,
                         const double *roots, char *block, double *room) {
    const margin_matrix *x = &job->gram->design->problem->x;
    const mg_symmetric_ops *ops = job->ops;
    mg_column_lines from = {.columns = x->column_values,
                            .chosen = job->gram->request->columns,
                            .count = job->gram->columns,
                            .rows = mg_rows_follow(rows, count) ? NULL : rows,
                            .first = rows[0],
                            .lines = count};
    if (x->arrays) {
        const void **columns = (const void **)(void *)(room + columns_room(job));
        mg_columns_from_arrays(x, from.chosen, from.count, from.rows, from.first, count, room,
                               columns);
        from = (mg_column_lines){.columns = columns, .count = from.count, .lines = count};
    }
    char *out = block + line * ops->width * ops->number_size;
    if (x->value_type == MARGIN_F32)
        ops->pack_columns_f32(&from, &job->affine, roots, job->stride, out);
    else
        ops->pack_columns_f64(&from, &job->affine, roots, job->stride, out);
}

/* Lines from `line` on of a block are those of the samples at k, k + 1, ... */
static void pack_some(const tile_job *job, int64_t k, int64_t line, int64_t count, char *block,
                      double *room) {
    const mg_problem *p = job->gram->design->problem;
    const int64_t bytes = p->x.columns * mg_type_size(p->x.value_type);
    const bool together = makes_together(job), by_columns = mg_is_by_columns(&p->x);
    const bool there = !p->maker && !by_columns && !mg_is_csr(&p->x) && p->x.stride == p->x.columns;
    enum { AHEAD = 8 };
    int64_t rows[MOST_LINES];
    double roots[MOST_LINES];
    for (int64_t i = 0; i < count; i++) {
        rows[i] = mg_sample_row(p, mg_gram_sample(job->gram, k + i));
        roots[i] = sqrt(mg_gram_weight(job->gram, k + i));
    }
    if (together)
        mg_rows_make_stored(p->maker, rows, count, room + job->together * p->x.columns, room);
    if (by_columns) pack_columns(job, rows, line, count, roots, block, room);
    for (int64_t i = 0; i < count; i++) {
        if (there && i + AHEAD < count)
            mg_fetch(p->x.values, rows[i + AHEAD] * bytes, MG_MIN(bytes, 4096));
        if (!by_columns)
            pack_line(job, k + i, line + i, roots[i], block, room,
                      together ? (const char *)room + i * bytes : NULL);
        finish_line(job, k + i, line + i, roots[i], block);
    }
}

/* ---- Few columns ----------------------------------------------------------------------------- */

/* In front of a packed block. */
static int64_t triangle_numbers(const tile_job *job) {
    return (job->gram->size * job->gram->size + 7) / 8 * 8;
}

static margin_status tiles_add_rows(void *state, const mg_block *block, void *argument) {
    const tile_job *job = argument;
    const int64_t size = job->gram->size, last = block->first + block->count;
    double *triangle = state;
    char *packed = (char *)(triangle + triangle_numbers(job));
    double *room = job->rows + block->worker * row_room(job);
    for (int64_t first = block->first; first < last; first += job->stride) {
        const int64_t lines = MG_MIN(job->stride, last - first);
        pack_some(job, first, 0, lines, packed, room);
        mg_symmetric_add(job->ops, packed, job->stride, lines, size, 0, INT64_MAX, 1.0, triangle,
                         size);
    }
    return MARGIN_OK;
}

static margin_status few_columns(tile_job *job, double *gram) {
    mg_design *d = job->gram->design;
    const int64_t depth = job->ops->depth;
    job->stride = job->together = depth;
    job->packed = (mg_symmetric_packed(job->ops, job->gram->size, depth) + 15) / 16 * 16;
    const int64_t depths = MG_MIN(job->gram->count / (LEAST_BLOCKS * depth), MOST_DEPTHS);
    const int64_t numbers = triangle_numbers(job);
    const int64_t room = job->packed * job->ops->number_size / (int64_t)sizeof(double);
    double *sums;
    MG_TRY(MG_PIECES(job->gram->arena, "the products of the columns", job->gram->error,
                     MG_PIECE(job->rows, mg_threads(d->context) * row_room(job)),
                     MG_PIECE(sums, numbers + room)));
    MG_TRY(mg_sweep_sums(d->context, job->gram->count, MG_MAX(depths, 1) * depth, numbers, room,
                         tiles_add_rows, job, sums, job->gram->error));
    memcpy(gram, sums, (size_t)(job->gram->size * job->gram->size) * sizeof *gram);
    return MARGIN_OK;
}

/* ---- Many columns ---------------------------------------------------------------------------- */

static char *block_at(const tile_job *job, int64_t depths) {
    return job->block + depths * job->packed * job->ops->number_size;
}

static margin_status pack_lines(void *argument, int64_t task, int worker) {
    const tile_job *job = argument;
    const int64_t first = task * PACK_LINES, last = MG_MIN(first + PACK_LINES, job->lines);
    pack_some(job, job->first + first, first % job->stride, last - first,
              block_at(job, first / job->stride), job->rows + worker * row_room(job));
    return MARGIN_OK;
}

static int64_t task_count(const tile_job *job) {
    return (mg_symmetric_panels(job->ops, job->gram->size) + TASK_PANELS - 1) / TASK_PANELS;
}

/* The longest rows of the triangle first. */
static margin_status add_panels(void *argument, int64_t task, int worker) {
    const tile_job *job = argument;
    const int64_t first = (task_count(job) - 1 - task) * TASK_PANELS;
    (void)worker;
    for (int64_t at = 0; at < job->lines; at += job->stride) {
        if (mg_cancelled(job->gram->design->context)) return MARGIN_ERROR_CANCELLED;
        mg_symmetric_add(job->ops, block_at(job, at / job->stride), job->stride,
                         MG_MIN(job->stride, job->lines - at), job->gram->size, first,
                         first + TASK_PANELS, 1.0, job->c, job->gram->size);
    }
    return MARGIN_OK;
}

static margin_status tiles_walk(tile_job *job) {
    margin_context *context = job->gram->design->context;
    const int64_t step = WALK_DEPTHS * job->stride;
    for (job->first = 0; job->first < job->gram->count; job->first += step) {
        job->lines = MG_MIN(step, job->gram->count - job->first);
        MG_TRY(mg_parallel(context, (job->lines + PACK_LINES - 1) / PACK_LINES, pack_lines, job,
                           NULL));
        MG_TRY(mg_parallel(context, task_count(job), add_panels, job, NULL));
    }
    return MARGIN_OK;
}

static margin_status many_columns(tile_job *job, double *gram) {
    mg_design *d = job->gram->design;
    const int64_t size = job->gram->size, threads = mg_threads(d->context);
    job->c = gram;
    job->stride = job->ops->depth;
    job->together = PACK_LINES;
    job->packed = mg_symmetric_packed(job->ops, size, job->stride);
    MG_TRY(MG_PIECES(job->gram->arena, "the products of the columns", job->gram->error,
                     MG_PIECE(job->block, WALK_DEPTHS * job->packed * job->ops->number_size),
                     MG_PIECE(job->rows, threads * row_room(job))));
    MG_TRY(mg_gram_clear(job->gram, gram));
    return tiles_walk(job) < 0 ? mg_fail_cancelled(job->gram->error) : MARGIN_OK;
}

margin_status mg_gram_by_tiles(mg_gram_job *gram_job, double *gram) {
    tile_job job = {.gram = gram_job,
                    .ops = mg_symmetric_ops_for(gram_job->design->isa, gram_job->request->single)};
    if (!gram_job->plain)
        job.affine = (mg_affine){gram_job->centre, gram_job->scale, gram_job->shift};
    return gram_job->size <= FEW_COLUMNS ? few_columns(&job, gram) : many_columns(&job, gram);
}
