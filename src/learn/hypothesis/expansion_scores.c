/* Scores of an expansion without allocating.
 *
 * A few query rows, dense ones where they lie and others widened to dense f64, meet the support
 * rows chunk by chunk: the panels of a chunk, packed when the model was made, give its dot products
 * (laplacian: distances) with all of them, the kernel turns them into values, and the functions of
 * all classes and pairs add their coefficients in ascending order of support rows. So the bits of a
 * row do not depend on the rows that are scored beside it. Sparse support rows are multiplied one
 * by one; rows that would have to be widened and are too wide for the stack, and distances to
 * sparse rows, go pair by pair. */
#include "learn/hypothesis/expansion.h"
#include "math/gram/kernel_ops.h"
#include "math/rows/row_pair.h"
#include "math/rows/row_panels.h"

#include <math.h>
#include <string.h>

enum {
    QUERIES = 24,                /* rows scored side by side: whole left panels of any width */
    QUERY_ROOM = MG_OWN_COLUMNS, /* numbers of their dense copies: 32 KB */
    VALUE_ROOM = MG_EXPANSION_CHUNK * QUERIES,
    DEPTH = 256, /* columns of their left panels: 48 KB */
    PANEL_BYTES = 1 << 28
};

/* ---- Plan ------------------------------------------------------------------------------------ */

/* Calls visit(f, chunk, first, count) for every run, functions in order, and returns their number.
 */
static int64_t walk_runs(const mg_hypothesis *h, mg_expansion_run *runs, int64_t *ends) {
    const int64_t *starts = h->view.expansion.starts;
    const int32_t *entries = h->view.expansion.entries;
    int64_t found = 0;
    for (int64_t f = 0; f < h->functions; f++) {
        for (int64_t k = starts[f]; k < starts[f + 1];) {
            int64_t chunk = entries[k] / MG_EXPANSION_CHUNK, first = k;
            while (k < starts[f + 1] && entries[k] / MG_EXPANSION_CHUNK == chunk)
                k++;
            if (runs) runs[ends[chunk]] = (mg_expansion_run){f, first, k - first};
            if (ends) ends[chunk]++;
            found++;
        }
    }
    return found;
}

/* Sorts the runs by chunk, within a chunk by function: count, start positions, fill. */
static void fill_runs(const mg_hypothesis *h, mg_expansion_plan *plan) {
    int64_t *ends = plan->chunk_runs + 1;
    memset(plan->chunk_runs, 0, (size_t)(plan->chunks + 2) * sizeof *plan->chunk_runs);
    walk_runs(h, NULL, ends + 1); /* counts, two places on, as each shift below moves one back */
    for (int64_t c = 0; c < plan->chunks; c++)
        ends[c + 1] += ends[c];
    walk_runs(h, plan->runs, ends);
}

/* Columns [first, first + depth) of dense rows [row, row + count) side by side, `width` a line. */
static void pack_panel(const margin_matrix *x, int64_t row, int64_t count, int64_t first,
                       int64_t depth, int width, double *to) {
    for (int64_t r = 0, some; r < width; r += some, to += some) {
        const int64_t rows[MG_PACK_ROWS] = {row + r, row + r + 1, row + r + 2, row + r + 3};
        some = MG_MIN(MG_PACK_ROWS, r < count ? count - r : width - r);
        if (r < count)
            mg_pack_rows(x, rows, (int)some, first, depth, width, to);
        else
            for (int64_t j = 0; j < depth; j++)
                memset(to + j * width, 0, (size_t)some * sizeof *to);
    }
}

/* Panels of the support rows, and |s|^2 with the sums of their products. */
static void pack_support(const mg_hypothesis *h, mg_expansion_plan *plan) {
    const margin_matrix *support = &h->view.expansion.support;
    const mg_kernel_ops *ops = MG_ISA_TABLE(h->isa, mg_kernel_ops);
    for (int64_t i = 0; i < support->rows; i += ops->columns) {
        double sums[MG_EXPANSION_CHUNK] = {0.0}, *panel = plan->panels + i * h->columns;
        const int64_t count = MG_MIN(support->rows - i, ops->columns);
        pack_panel(support, i, count, 0, h->columns, ops->columns, panel);
        ops->square(h->columns, panel, sums);
        memcpy(plan->squares + i, sums, (size_t)count * sizeof *sums);
    }
}

/* Support rows and entries stay as they were made: what was derived from them does, too. */
margin_status mg_expansion_prepare(mg_hypothesis *h, margin_error *error) {
    const margin_matrix *support = &h->view.expansion.support;
    const mg_expansion_plan *known = h->derived;
    if (known && known->isa == h->isa) return MARGIN_OK;
    const int64_t chunks = (support->rows + MG_EXPANSION_CHUNK - 1) / MG_EXPANSION_CHUNK;
    const int64_t runs = walk_runs(h, NULL, NULL), padded = chunks * MG_EXPANSION_CHUNK;
    const bool own = h->view.expansion.kernel.kind == MG_KERNEL_FUNCTION;
    const bool panels = !own && !mg_is_csr(support) && padded <= PANEL_BYTES / 8 / h->columns;
    const int64_t numbers = support->rows + chunks + 2 + (panels ? padded * h->columns : 0);
    const int64_t bytes =
        (int64_t)sizeof(mg_expansion_plan) + numbers * 8 + runs * (int64_t)sizeof(mg_expansion_run);
    mg_expansion_plan *plan = mg_new(h->heap, bytes, 1);
    if (!plan) return mg_no_memory(h->heap, bytes, 1, "the index of the support rows", error);
    plan->chunks = chunks;
    plan->isa = h->isa;
    plan->squares = (double *)(plan + 1);
    plan->chunk_runs = (int64_t *)(plan->squares + support->rows);
    plan->runs = (mg_expansion_run *)(plan->chunk_runs + chunks + 2);
    plan->panels = panels ? (double *)(void *)(plan->runs + runs) : NULL;
    fill_runs(h, plan);

    const mg_row_ops *ops = mg_row_ops_for(support, h->isa);
    if (panels) pack_support(h, plan);
    for (int64_t i = 0; !panels && i < support->rows; i++) {
        if (mg_bag_ended(&h->bag, i)) {
            mg_free(h->heap, plan);
            return mg_fail_cancelled(error);
        }
        plan->squares[i] = ops->square(support, i);
    }
    mg_free(h->heap, h->derived);
    h->derived = plan;
    h->view.expansion.squares = plan->squares;
    return MARGIN_OK;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* Values of a chunk: of support row s and query q at [s * by_row + q * by_query]. */
typedef struct chunk_values {
    const double *values;
    int64_t by_row, by_query, queries;
} chunk_values;

/* Adds a chunk's part to the scores. */
static void expansion_add_chunk(const mg_hypothesis *h, int64_t chunk, const chunk_values *v,
                                double *out) {
    const mg_expansion_plan *plan = h->derived;
    const int32_t *entries = h->view.expansion.entries;
    const double *coefficients = h->view.expansion.coefficients;
    for (int64_t r = plan->chunk_runs[chunk]; r < plan->chunk_runs[chunk + 1]; r++) {
        const mg_expansion_run *run = &plan->runs[r];
        double sums[QUERIES];
        for (int64_t q = 0; q < v->queries; q++)
            sums[q] = out[q * h->functions + run->function];
        for (int64_t k = run->first; k < run->first + run->count; k++) {
            const double *value = v->values + (entries[k] - chunk * MG_EXPANSION_CHUNK) * v->by_row;
            for (int64_t q = 0; q < v->queries; q++)
                sums[q] += coefficients[k] * value[q * v->by_query];
        }
        for (int64_t q = 0; q < v->queries; q++)
            out[q * h->functions + run->function] = sums[q];
    }
}

static void start_scores(const mg_hypothesis *h, int64_t queries, double *out) {
    for (int64_t q = 0; q < queries; q++)
        memcpy(out + q * h->functions, h->view.expansion.intercept,
               (size_t)h->functions * sizeof *out);
}

/* A kernel may hide a missing value (a distance is clipped at 0): say so for every score. */
static void mark_missing(const mg_hypothesis *h, double square, double *out) {
    for (int64_t f = 0; f < h->functions && isnan(square); f++)
        out[f] = (double)NAN;
}

/* Dot products values[s * queries + q] to kernel values. */
static void finish_values(const mg_hypothesis *h, const double *squares, int64_t queries,
                          int64_t first, int64_t count, double *values) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const double *support = h->view.expansion.squares + first;
    if (queries == 1) {
        mg_kernel_finish(h->isa, kernel, squares[0], support, values, count);
        return;
    }
    for (int64_t s = 0; s < count; s++)
        mg_kernel_finish(h->isa, kernel, support[s], squares, values + s * queries, queries);
}

/* In the order of sparse rows, so that a row is at no distance from itself among the support. */
static double square_of_stored(const double *row, int64_t columns) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t j = 0, k = 0; j < columns; j++)
        if (row[j] != 0.0) sum[k++ & 3] += row[j] * row[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Scores of dense query rows dense[q * columns + j]. */
static void score_dense(const mg_hypothesis *h, const double *dense, int64_t queries, double *out) {
    static const double no_intercept[QUERIES];
    double values[VALUE_ROOM], squares[QUERIES];
    const margin_matrix *support = &h->view.expansion.support;
    const mg_expansion_plan *plan = h->derived;
    const mg_row_ops *ops = mg_row_ops_for(support, h->isa);
    const mg_vector_ops *vectors = mg_vector_ops_for(h->isa);
    start_scores(h, queries, out);
    for (int64_t q = 0; q < queries; q++)
        squares[q] = mg_is_csr(support) ? square_of_stored(dense + q * h->columns, h->columns)
                                        : vectors->square(dense + q * h->columns, h->columns);
    for (int64_t c = 0; c < plan->chunks; c++) {
        int64_t first = c * MG_EXPANSION_CHUNK;
        int64_t count = MG_MIN(support->rows - first, MG_EXPANSION_CHUNK);
        ops->scores(support, first, count, dense, no_intercept, queries, values);
        finish_values(h, squares, queries, first, count, values);
        expansion_add_chunk(h, c, &(chunk_values){values, queries, 1, queries}, out);
    }
    for (int64_t q = 0; q < queries; q++)
        mark_missing(h, squares[q], out + q * h->functions);
}

/* ---- Panels ---------------------------------------------------------------------------------- */

typedef struct panel_queries {
    margin_matrix rows; /* dense */
    double left[QUERIES * DEPTH];
    double squares[QUERIES];
    int64_t packed; /* the columns in `left` begin here; -1: none are */
} panel_queries;

/* Left panels of columns [first, first + depth). */
static void pack_queries(const mg_kernel_ops *ops, panel_queries *p, int64_t first, int64_t depth) {
    if (p->packed == first) return;
    for (int64_t q = 0; q < p->rows.rows; q += ops->rows)
        pack_panel(&p->rows, q, MG_MIN(p->rows.rows - q, ops->rows), first, depth, ops->rows,
                   p->left + q * depth);
    p->packed = first;
}

/* With the sums of the panels, so that a row has the distance 0 from itself. */
static void square_queries(const mg_kernel_ops *ops, panel_queries *p) {
    for (int64_t q = 0; q < p->rows.rows; q += ops->columns) {
        const int64_t count = MG_MIN(p->rows.rows - q, ops->columns);
        double sums[MG_EXPANSION_CHUNK] = {0.0};
        for (int64_t first = 0; first < p->rows.columns; first += DEPTH) {
            const int64_t depth = MG_MIN(DEPTH, p->rows.columns - first);
            pack_panel(&p->rows, q, count, first, depth, ops->columns, p->left);
            ops->square(depth, p->left, sums);
        }
        memcpy(p->squares + q, sums, (size_t)count * sizeof *sums);
    }
    p->packed = -1;
}

/* values[q * CHUNK + s]: dot products or distances of all queries with a chunk. */
static void multiply_chunk(const mg_hypothesis *h, const mg_kernel_ops *ops, panel_queries *p,
                           const double *panels, int64_t count, double *values) {
    const bool distance = mg_kernel_basis_of(h->view.expansion.kernel.kind) == MG_OF_DISTANCES;
    const bool one = p->rows.rows == 1;
    const int64_t rows = one ? 1 : (p->rows.rows + ops->rows - 1) / ops->rows * ops->rows;
    memset(values, 0, (size_t)(rows * MG_EXPANSION_CHUNK) * sizeof *values);
    for (int64_t first = 0; first < h->columns; first += DEPTH) {
        const int64_t depth = MG_MIN(DEPTH, h->columns - first);
        pack_queries(ops, p, first, depth);
        for (int64_t s = 0; s < count; s += ops->columns)
            for (int64_t q = 0; q < p->rows.rows; q += ops->rows)
                (distance ? ops->distance : ops->product)(
                    depth, p->left + q * depth, panels + s * h->columns + first * ops->columns, one,
                    values + q * MG_EXPANSION_CHUNK + s, MG_EXPANSION_CHUNK);
    }
}

/* Dense rows [first, first + count) as a matrix. */
static margin_matrix rows_of(const margin_matrix *x, int64_t first, int64_t count) {
    margin_matrix part = *x;
    const int64_t size = x->value_type == MARGIN_F32 ? sizeof(float) : sizeof(double);
    part.values = (const char *)x->values + first * x->stride * size;
    part.rows = count;
    return part;
}

/* Scores of at most QUERIES dense rows. */
static void score_panels(const mg_hypothesis *h, const margin_matrix *rows, double *out) {
    const mg_kernel_ops *ops = MG_ISA_TABLE(h->isa, mg_kernel_ops);
    const mg_expansion_plan *plan = h->derived;
    double values[VALUE_ROOM];
    panel_queries p; /* too large to be cleared for a single row */
    const int64_t queries = rows->rows;
    p.rows = *rows;
    start_scores(h, queries, out);
    square_queries(ops, &p);
    for (int64_t c = 0; c < plan->chunks; c++) {
        const int64_t first = c * MG_EXPANSION_CHUNK;
        const int64_t count = MG_MIN(h->view.expansion.support.rows - first, MG_EXPANSION_CHUNK);
        multiply_chunk(h, ops, &p, plan->panels + first * h->columns, count, values);
        for (int64_t q = 0; q < queries; q++)
            ops->finish(&h->view.expansion.kernel, p.squares[q], plan->squares + first,
                        values + q * MG_EXPANSION_CHUNK, count);
        expansion_add_chunk(h, c, &(chunk_values){values, 1, MG_EXPANSION_CHUNK, queries}, out);
    }
    for (int64_t q = 0; q < queries; q++)
        mark_missing(h, p.squares[q], out + q * h->functions);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void score_pairs(const mg_hypothesis *h, const margin_matrix *x, int64_t row, double *out) {
    double values[MG_EXPANSION_CHUNK];
    mg_row_table table; /* too large to be cleared where it is not used */
    const margin_matrix *support = &h->view.expansion.support;
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const mg_expansion_plan *plan = h->derived;
    const bool sparse = mg_is_csr(x) && mg_is_csr(support) &&
                        mg_kernel_basis_of(kernel->kind) != MG_OF_DISTANCES &&
                        mg_row_table_fill(&table, x, row);
    start_scores(h, 1, out);
    for (int64_t c = 0; c < plan->chunks; c++) {
        int64_t first = c * MG_EXPANSION_CHUNK;
        int64_t count = MG_MIN(support->rows - first, MG_EXPANSION_CHUNK);
        for (int64_t s = 0; s < count && !sparse; s++)
            values[s] = mg_kernel_rows(NULL, kernel, x, row, support, first + s);
        for (int64_t s = 0; s < count && sparse; s++) {
            const mg_pair_sums sums = mg_row_table_pair(&table, support, first + s);
            values[s] = mg_kernel_from_dot(kernel, sums.dot, sums.square_a, sums.square_b);
        }
        expansion_add_chunk(h, c, &(chunk_values){values, 1, 1, 1}, out);
    }
    mark_missing(h, mg_row_ops_for(x, h->isa)->square(x, row), out);
}

/* ---- A function of the caller ---------------------------------------------------------------- */

/* values[q * count + s], or NaN where one is no number. */
static margin_status ask_chunk(const mg_hypothesis *h, const double *dense, int64_t queries,
                               int64_t first, int64_t count, double *values) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const margin_matrix *support = &h->view.expansion.support;
    const int64_t columns = h->columns, some = MG_MIN(QUERY_ROOM / columns, count);
    double rows[QUERY_ROOM], part[VALUE_ROOM];
    for (int64_t at = 0, height; at < count; at += height) {
        height = MG_MIN(some, count - at);
        for (int64_t s = 0; s < height; s++)
            mg_row_expand(support, first + at + s, rows + s * columns);
        if (kernel->function(dense, queries, rows, height, columns, part, kernel->user) != 0)
            return MARGIN_ERROR_CANCELLED;
        for (int64_t q = 0; q < queries; q++)
            for (int64_t s = 0; s < height; s++)
                values[q * count + at + s] =
                    isfinite(part[q * height + s]) ? part[q * height + s] : (double)NAN;
    }
    return MARGIN_OK;
}

static margin_status score_own(const mg_hypothesis *h, const double *dense, int64_t queries,
                               double *out) {
    const mg_expansion_plan *plan = h->derived;
    const mg_vector_ops *vectors = mg_vector_ops_for(h->isa);
    double values[VALUE_ROOM];
    start_scores(h, queries, out);
    for (int64_t c = 0; c < plan->chunks; c++) {
        const int64_t first = c * MG_EXPANSION_CHUNK;
        const int64_t count = MG_MIN(h->view.expansion.support.rows - first, MG_EXPANSION_CHUNK);
        MG_TRY(ask_chunk(h, dense, queries, first, count, values));
        expansion_add_chunk(h, c, &(chunk_values){values, 1, count, queries}, out);
    }
    for (int64_t q = 0; q < queries; q++)
        mark_missing(h, vectors->square(dense + q * h->columns, h->columns),
                     out + q * h->functions);
    return MARGIN_OK;
}

margin_status mg_expansion_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                  int64_t count, double *out) {
    double dense[QUERY_ROOM];
    const mg_expansion_plan *plan = h->derived;
    const bool own = h->view.expansion.kernel.kind == MG_KERNEL_FUNCTION;
    const bool as_it_lies = plan->panels && !mg_is_csr(x) && !mg_is_by_columns(x);
    const bool by_pairs =
        !as_it_lies &&
        (h->columns > QUERY_ROOM ||
         (!plan->panels && mg_kernel_basis_of(h->view.expansion.kernel.kind) == MG_OF_DISTANCES));
    for (int64_t i = first; by_pairs && i < first + count; i++)
        score_pairs(h, x, i, out + (i - first) * h->functions);
    if (by_pairs) return MARGIN_OK;

    const int64_t side_by_side = as_it_lies ? QUERIES : MG_MIN(QUERY_ROOM / h->columns, QUERIES);
    for (int64_t i = first; i < first + count; i += side_by_side) {
        const int64_t queries = MG_MIN(first + count - i, side_by_side);
        const margin_matrix rows = as_it_lies
                                       ? rows_of(x, i, queries)
                                       : margin_dense_f64(dense, queries, h->columns, h->columns);
        double *scores = out + (i - first) * h->functions;
        for (int64_t q = 0; q < queries && !as_it_lies; q++)
            mg_row_expand(x, i + q, dense + q * h->columns);
        if (own)
            MG_TRY(score_own(h, dense, queries, scores));
        else if (plan->panels)
            score_panels(h, &rows, scores);
        else
            score_dense(h, dense, queries, scores);
    }
    return MARGIN_OK;
}
