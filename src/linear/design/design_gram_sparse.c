/* A weighted Gram by sparse outer products: sums over the stored values of x, and what centres,
 * scales and shifts make of them afterwards. */
#include "base/sort.h"
#include "linear/design/design_gram.h"
#include "math/rows/sparse_row.h"

#include <string.h>

static const char purpose[] = "the products of the columns";

/* ---- Few columns: a sweep, each block with a triangle of its own ----------------------------- */

/* Numbers of a row, those of columns that do not take part included. */
static int64_t row_room(const mg_gram_job *job) {
    return job->longest + 2;
}

static int64_t longest_row(const mg_gram_job *job) {
    const mg_problem *problem = job->design->problem;
    int64_t longest = 0;
    for (int64_t k = 0; k < job->count; k++) {
        const int64_t row = mg_sample_row(problem, mg_gram_sample(job, k));
        const int64_t length = mg_row_start(&problem->x, row + 1) - mg_row_start(&problem->x, row);
        longest = MG_MAX(longest, length);
    }
    return longest;
}

/* The values of sample i that take part and their columns in the result. Returns their number. */
static int64_t read_stored(const mg_gram_job *job, int64_t i, int64_t *column, double *value) {
    const mg_problem *problem = job->design->problem;
    const int64_t length = mg_sparse_row(&problem->x, mg_sample_row(problem, i), column, value);
    int64_t kept = 0;
    if (!job->place) return length;
    for (int64_t k = 0; k < length; k++) {
        const int64_t place = job->place[column[k]];
        column[kept] = place;
        value[kept] = value[k];
        kept += place >= 0;
    }
    return kept;
}

/* With the last columns, which each sample has. */
static int64_t gram_sparse_read_row(const mg_gram_job *job, int64_t i, int64_t *column,
                                    double *value) {
    int64_t length = read_stored(job, i, column, value);
    if (job->request->extra) {
        column[length] = job->columns;
        value[length++] = mg_gram_extra(job->request, i);
    }
    column[length] = job->size - 1;
    value[length++] = 1.0;
    return length;
}

static void gram_sparse_add_row(const mg_gram_job *job, int64_t k, double *gram) {
    const int64_t size = job->size, room = row_room(job);
    const double weight = mg_gram_weight(job, k);
    double *value = gram + size * size;
    int64_t *column = (int64_t *)(value + room);
    const int64_t length = gram_sparse_read_row(job, mg_gram_sample(job, k), column, value);
    for (int64_t r = 0; r < length; r++) {
        const double v = weight * value[r];
        double *g = gram + column[r] * size;
        for (int64_t s = 0; s <= r; s++)
            g[column[s]] += v * value[s];
    }
}

static margin_status sparse_add_rows(void *state, const mg_block *block, void *argument) {
    const mg_gram_job *job = argument;
    for (int64_t k = block->first; k < block->first + block->count; k++)
        if (mg_gram_weight(job, k) != 0.0) gram_sparse_add_row(job, k, state);
    return MARGIN_OK;
}

/* With e = s x + t: E_jk = s_j s_k G_jk + s_j t_k m_j + t_j s_k m_k + t_j t_k W, where m are the
 * sums of the columns and W that of the weights. */
static void transform(const mg_gram_job *job, double *gram) {
    const int64_t size = job->size, p = job->columns;
    const double *m = gram + (size - 1) * size, *s = job->scale;
    double *t = job->shift;
    const double total = m[size - 1];
    for (int64_t j = 0; j < p; j++)
        t[j] -= job->centre[j] * s[j];
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k <= j; k++)
            gram[j * size + k] = s[j] * s[k] * gram[j * size + k] + s[j] * t[k] * m[j] +
                                 t[j] * s[k] * m[k] + t[j] * t[k] * total;
    for (int64_t r = p; r < size; r++) { /* the sums themselves last */
        const double sum = gram[(size - 1) * size + r];
        for (int64_t j = 0; j < p; j++)
            gram[r * size + j] = s[j] * gram[r * size + j] + t[j] * sum;
    }
}

/* So many that a block has more products to add than a triangle has numbers, where that leaves
 * blocks enough. */
static int64_t block_rows(const mg_gram_job *job) {
    enum { LEAST_BLOCKS = 16, LEAST_ROWS = 64 };
    const margin_matrix *x = &job->design->problem->x;
    const int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    const int64_t length = stored / MG_MAX(x->rows, 1) + 2;
    const int64_t enough = 4 * job->size * job->size / (length * length);
    const int64_t most = MG_MAX(job->count / LEAST_BLOCKS, LEAST_ROWS);
    return MG_MIN(MG_MAX(enough, MG_BLOCK_ROWS / 16), most);
}

static margin_status few_columns(mg_gram_job *job, double *gram) {
    mg_design *d = job->design;
    /* the lower triangle, then a row: its values, then their columns */
    const int64_t square = job->size * job->size, room = 2 * row_room(job);
    double *sums;
    MG_ARENA_NEW(job->arena, sums, square + room, purpose, job->error);
    MG_TRY(mg_sweep_sums(d->context, job->count, block_rows(job), square, room, sparse_add_rows,
                         job, sums, job->error));
    memcpy(gram, sums, (size_t)square * sizeof *gram);
    return MARGIN_OK;
}

/* ---- Many columns ----------------------------------------------------------------------------
 * A chunk of rows is copied into the widest types; then each task adds the products of all of them
 * whose row of the triangle lies in its range. */

enum {
    FEW_COLUMNS = 384,       /* as for tiles */
    RANGES = 32,             /* of rows of the triangle, of about the same number of products */
    RANGE_NUMBERS = 3 << 16, /* of the triangle, on one thread: about the second cache */
    FEWEST_VALUES = 1 << 15, /* of a chunk: more for a large triangle, which each reads once */
    MOST_VALUES = 1 << 17
};

typedef struct chunk_job {
    const mg_gram_job *gram;
    double *c;
    int64_t first, rows, most; /* of the chunk; values of it, about */
    int64_t *starts;           /* rows + 1: room for a row */
    int64_t *ends;             /* rows: of what takes part */
    int64_t *columns;
    double *values, *weights;
    int64_t ranges, bounds[RANGES + 1];
} chunk_job;

/* As many rows as there is room for, at least one. */
static void begin_chunk(chunk_job *job) {
    const mg_gram_job *gram = job->gram;
    const mg_problem *problem = gram->design->problem;
    const int64_t more = gram->size - gram->columns;
    job->starts[0] = job->rows = 0;
    while (job->first + job->rows < gram->count && job->rows < job->most / 2 &&
           job->starts[job->rows] < job->most) {
        const int64_t row = mg_sample_row(problem, mg_gram_sample(gram, job->first + job->rows));
        const int64_t length = mg_row_start(&problem->x, row + 1) - mg_row_start(&problem->x, row);
        job->starts[job->rows + 1] = job->starts[job->rows] + length + more;
        job->rows++;
    }
}

enum { COPY_ROWS = 256 };

static margin_status copy_rows(void *argument, int64_t task, int worker) {
    const chunk_job *job = argument;
    const mg_gram_job *gram = job->gram;
    const int64_t first = task * COPY_ROWS, last = MG_MIN(first + COPY_ROWS, job->rows);
    (void)worker;
    for (int64_t k = first; k < last; k++) {
        const int64_t i = mg_gram_sample(gram, job->first + k), at = job->starts[k];
        job->ends[k] = at + gram_sparse_read_row(gram, i, job->columns + at, job->values + at);
        job->weights[k] = mg_gram_weight(gram, job->first + k);
    }
    return MARGIN_OK;
}

static margin_status add_range(void *argument, int64_t task, int worker) {
    const chunk_job *job = argument;
    const int64_t range = job->ranges - 1 - task; /* the longest first */
    (void)worker;
    for (int64_t k = 0; k < job->rows; k++) {
        const int64_t begin = job->starts[k], end = job->ends[k];
        if (job->weights[k] == 0.0) continue;
        int64_t r;
        MG_BISECT(r, begin, end, job->columns[r] < job->bounds[range]);
        for (; r < end && job->columns[r] < job->bounds[range + 1]; r++) {
            const double v = job->weights[k] * job->values[r];
            double *g = job->c + job->columns[r] * job->gram->size;
            for (int64_t s = begin; s <= r; s++)
                g[job->columns[s]] += v * job->values[s];
        }
    }
    return MARGIN_OK;
}

static margin_status walk_chunks(chunk_job *job) {
    margin_context *context = job->gram->design->context;
    for (job->first = 0; job->first < job->gram->count; job->first += job->rows) {
        begin_chunk(job);
        MG_TRY(mg_parallel(context, (job->rows + COPY_ROWS - 1) / COPY_ROWS, copy_rows, job, NULL));
        MG_TRY(mg_parallel(context, job->ranges, add_range, job, NULL));
    }
    return MARGIN_OK;
}

/* The last has the target and the ones, with which all values have products. The sums are the same,
 * whatever the ranges. In a short row a range is found as slowly as all is added. */
static void choose_ranges(chunk_job *job) {
    enum { SHORT = 6 };
    const mg_gram_job *gram = job->gram;
    const int64_t threads = gram->longest > SHORT ? mg_threads(gram->design->context) : 1;
    const int64_t enough = gram->size * gram->size / 2 / RANGE_NUMBERS + 1;
    const int64_t most = MG_MIN(MG_MAX(gram->longest, 2 * threads), RANGES);
    job->ranges = threads > 1 ? most : MG_MIN(most, enough + (enough > 1));
    for (int64_t k = 0; k < job->ranges; k++)
        job->bounds[k] =
            (int64_t)((double)gram->columns * sqrt((double)k / (double)MG_MAX(job->ranges - 1, 1)));
    job->bounds[job->ranges] = gram->size;
}

static margin_status many_columns(mg_gram_job *gram_job, double *gram) {
    const int64_t size = gram_job->size, longest = row_room(gram_job);
    chunk_job job = {.gram = gram_job, .c = gram};
    job.most = MG_MIN(MG_MAX(size * size / 16, FEWEST_VALUES), MOST_VALUES);
    const int64_t rows = MG_MIN(gram_job->count, job.most / 2);
    const int64_t most = MG_MIN(job.most, (rows - 1) * longest) + longest;
    choose_ranges(&job);
    MG_TRY(MG_PIECES(gram_job->arena, purpose, gram_job->error, MG_PIECE(job.starts, rows + 1),
                     MG_PIECE(job.ends, rows), MG_PIECE(job.columns, most),
                     MG_PIECE(job.values, most), MG_PIECE(job.weights, rows)));
    MG_TRY(mg_gram_clear(gram_job, gram));
    return walk_chunks(&job) < 0 ? mg_fail_cancelled(gram_job->error) : MARGIN_OK;
}

margin_status mg_gram_of_sparse(mg_gram_job *job, double *gram) {
    job->longest = longest_row(job);
    MG_TRY(job->size <= FEW_COLUMNS ? few_columns(job, gram) : many_columns(job, gram));
    if (!job->plain) transform(job, gram);
    return MARGIN_OK;
}
