/* Randomly pivoted Cholesky in blocks. */
#include "kernel/landmarks/pivoted_cholesky.h"

#include "base/random.h"
#include "base/sort.h"
#include "math/products/cholesky.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, MOST_EMPTY = 8 }; /* candidates; blocks without a pivot before it ends */
enum { WIDTH = MG_TRIANGLE_WIDTH, GROUP = MG_TRIANGLE_GROUP };

/* What is left of a diagonal element below this part of it is rounding. */
static const double rounding = 1e-13;

typedef struct pivot_run {
    const mg_pivoting *task;
    mg_kernel_scratch *scratch;
    mg_isa isa;
    double *factor;
    int64_t rank, drawn;
    double *start;    /* count: the diagonal */
    double *diagonal; /* count: what is left of it */
    double *sums;     /* count: running sums of it */
    double *values;   /* count x BLOCK: kernel values with the new pivots */
    double *kept;     /* rows of the factor at the new pivots: WIDTH of them side by side, rank x
                         WIDTH, and so on */
    double *small;    /* BLOCK x BLOCK: what is left among the candidates; then its factor */
    double *inverse;  /* BLOCK x BLOCK: of that factor */
    int64_t candidates[BLOCK];         /* samples */
    int64_t rows[BLOCK], right[BLOCK]; /* of x: those of the candidates, and what is right of k */
    int64_t added;
} pivot_run;

static double scale_of(const mg_pivoting *task, int64_t sample) {
    return task->scale ? task->scale[sample] : 1.0;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static double uniform(pivot_run *run) {
    return mg_random_unit(run->task->seed, MG_RANDOM_START, (uint64_t)run->drawn++);
}

static double left_of(pivot_run *run) {
    double sum = 0.0;
    for (int64_t i = 0; i < run->task->points.count; i++)
        run->sums[i] = sum += run->diagonal[i];
    return sum;
}

/* The first sample whose running sum is above `at`. */
static int64_t sample_at(const pivot_run *run, double at) {
    int64_t sample;
    MG_BISECT(sample, 0, run->task->points.count - 1, !(run->sums[sample] > at));
    return sample;
}

static mg_kernel_block block_of(const pivot_run *run, const int64_t *rows, int64_t count) {
    const mg_pivoting *task = run->task;
    return (mg_kernel_block){.x = &task->points.x,
                             .z = &task->points.x,
                             .x_rows = rows,
                             .z_rows = run->right,
                             .x_count = count,
                             .z_count = run->added,
                             .x_squares = task->squares,
                             .z_squares = task->squares};
}

static const double *factor_row(const pivot_run *run, int64_t sample) {
    return run->factor + sample * run->task->most;
}

static void name_rows(pivot_run *run) {
    for (int64_t k = 0; k < run->added; k++) {
        run->rows[k] = mg_point_row(&run->task->points, run->candidates[k]);
        run->right[k] = mg_point_right(run->task->kernel, &run->task->points, run->candidates[k]);
    }
}

/* small = what is left of S K S among the candidates */
static margin_status compare_candidates(pivot_run *run) {
    const mg_vector_ops *ops = mg_vector_ops_for(run->isa);
    const int64_t n = run->added;
    name_rows(run);
    const mg_kernel_block block = block_of(run, run->rows, n);
    MG_TRY(mg_kernel_fill_with(run->scratch, &block, run->small, BLOCK));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            run->small[i * BLOCK + j] = run->small[i * BLOCK + j] *
                                            scale_of(run->task, run->candidates[i]) *
                                            scale_of(run->task, run->candidates[j]) -
                                        ops->dot(factor_row(run, run->candidates[i]),
                                                 factor_row(run, run->candidates[j]), run->rank);
    return MARGIN_OK;
}

/* Candidate i becomes a pivot; the numbers of the later ones are what it leaves of them. Column i
 * then holds its column of the factor. */
static void eliminate(pivot_run *run, int64_t i) {
    double *a = run->small;
    const double root = sqrt(a[i * BLOCK + i]);
    for (int64_t j = i; j < run->added; j++)
        a[j * BLOCK + i] /= root;
    for (int64_t j = i + 1; j < run->added; j++)
        for (int64_t k = i + 1; k <= j; k++)
            a[j * BLOCK + k] -= a[j * BLOCK + i] * a[k * BLOCK + i];
}

/* Keeps each candidate with the chance of what the ones before it left of its diagonal. */
static void reject(pivot_run *run) {
    bool accepted[BLOCK];
    int64_t kept = 0;
    for (int64_t i = 0; i < run->added; i++) {
        const int64_t sample = run->candidates[i];
        const double now = run->small[i * BLOCK + i];
        accepted[i] =
            uniform(run) * run->diagonal[sample] < now && now > rounding * run->start[sample];
        if (accepted[i]) eliminate(run, i);
    }
    for (int64_t i = 0; i < run->added; i++) {
        if (!accepted[i]) continue;
        int64_t column = 0;
        for (int64_t j = 0; j <= i; j++)
            if (accepted[j]) run->small[kept * BLOCK + column++] = run->small[i * BLOCK + j];
        run->candidates[kept++] = run->candidates[i];
    }
    run->added = kept;
}

/* ---- New columns ----------------------------------------------------------------------------- */

static void keep_rows(pivot_run *run) {
    const int64_t width = WIDTH * run->rank;
    for (int64_t k = 0; k < (run->added + WIDTH - 1) / WIDTH * WIDTH; k++) {
        const double *row = factor_row(run, run->candidates[MG_MIN(k, run->added - 1)]);
        double *to = run->kept + k / WIDTH * width + k % WIDTH;
        for (int64_t j = 0; j < run->rank; j++)
            to[j * WIDTH] = row[j];
    }
}

/* The inverse of the factor of what is left among the new pivots, zeros included. */
static void invert_small(pivot_run *run) {
    memset(run->inverse, 0, BLOCK * BLOCK * sizeof *run->inverse);
    for (int64_t j = 0; j < run->added; j++) {
        double column[BLOCK] = {[0] = 1.0};
        mg_cholesky_solve_lower(run->isa, run->added - j, run->small + j * (BLOCK + 1), BLOCK,
                                column);
        for (int64_t i = j; i < run->added; i++)
            run->inverse[i * BLOCK + j] = column[i - j];
    }
}

/* What the columns before leave of the values of at most WIDTH samples with the new pivots: BLOCK x
 * WIDTH. */
static void find_left(const pivot_run *run, int64_t first, int64_t rows, double *left) {
    const mg_pivoting *task = run->task;
    const mg_triangle_ops *ops = mg_triangle_ops_for(run->isa);
    double product[GROUP * WIDTH];
    memset(left, 0, BLOCK * WIDTH * sizeof *left);
    for (int64_t at = 0; at < rows; at += GROUP)
        for (int64_t k = 0; k < run->added; k += WIDTH) {
            const int64_t some = MG_MIN(GROUP, rows - at), pivots = MG_MIN(WIDTH, run->added - k);
            ops->many(run->factor + (first + at) * task->most, task->most, some, run->rank,
                      run->kept + k * run->rank, product);
            for (int64_t i = 0; i < some; i++)
                for (int64_t l = 0; l < pivots; l++)
                    left[(k + l) * WIDTH + at + i] = run->values[(first + at + i) * BLOCK + k + l] *
                                                         scale_of(task, first + at + i) *
                                                         scale_of(task, run->candidates[k + l]) -
                                                     product[i * WIDTH + l];
        }
}

static void add_rows(const pivot_run *run, int64_t first, int64_t rows) {
    const mg_triangle_ops *ops = mg_triangle_ops_for(run->isa);
    double left[BLOCK * WIDTH], part[GROUP * WIDTH], squares[WIDTH] = {0.0};
    find_left(run, first, rows, left);
    for (int64_t k = 0; k < run->added; k += GROUP) {
        const int64_t some = MG_MIN(GROUP, run->added - k);
        double *to = run->factor + first * run->task->most + run->rank + k;
        ops->many(run->inverse + k * BLOCK, BLOCK, some, k + some, left, part);
        for (int64_t i = 0; i < rows; i++, to += run->task->most)
            for (int64_t r = 0; r < some; r++) {
                to[r] = part[r * WIDTH + i];
                squares[i] += to[r] * to[r];
            }
    }
    for (int64_t i = 0; i < rows; i++) {
        const double rest = run->diagonal[first + i] - squares[i];
        run->diagonal[first + i] = rest > rounding * run->start[first + i] ? rest : 0.0;
    }
}

static margin_status pivots_add_rows(const mg_block *block, void *argument) {
    for (int64_t k = 0; k < block->count; k += WIDTH)
        add_rows(argument, block->first + k, MG_MIN(WIDTH, block->count - k));
    return MARGIN_OK;
}

static margin_status add_columns(pivot_run *run) {
    const mg_pivoting *task = run->task;
    name_rows(run);
    keep_rows(run);
    invert_small(run);
    mg_kernel_block block = block_of(run, task->points.rows, task->points.count);
    MG_TRY(mg_kernel_fill_with(run->scratch, &block, run->values, BLOCK));
    MG_TRY(mg_sweep_each(task->context, task->points.count, 256, pivots_add_rows, run, NULL));
    for (int64_t k = 0; k < run->added; k++)
        run->diagonal[run->candidates[k]] = 0.0;
    run->rank += run->added;
    return MARGIN_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static margin_status take_memory(pivot_run *run, mg_arena *arena) {
    const mg_pivoting *task = run->task;
    const int64_t m = task->points.count;
    MG_TRY(MG_PIECES(arena, "columns of the Gram matrix", task->error, MG_PIECE(run->start, m),
                     MG_PIECE(run->diagonal, m), MG_PIECE(run->sums, m),
                     MG_PIECE(run->values, m * BLOCK), MG_PIECE(run->kept, BLOCK * task->most),
                     MG_PIECE(run->small, BLOCK * BLOCK), MG_PIECE(run->inverse, BLOCK * BLOCK)));
    for (int64_t i = 0; i < m; i++) {
        const double s = scale_of(task, i);
        run->start[i] = s * s * mg_kernel_pair(task->context, task->kernel, &task->points, i, i);
        run->start[i] = run->diagonal[i] = fmax(run->start[i], 0.0);
    }
    return MARGIN_OK;
}

static margin_status pivots_add_block(pivot_run *run, int64_t *pivots, double left) {
    run->added = MG_MIN(BLOCK, run->task->most - run->rank);
    for (int64_t k = 0; k < run->added; k++)
        run->candidates[k] = sample_at(run, uniform(run) * left);
    MG_TRY(compare_candidates(run));
    reject(run);
    if (run->added == 0) return MARGIN_OK;
    memcpy(pivots + run->rank, run->candidates, (size_t)run->added * sizeof *pivots);
    return add_columns(run);
}

static margin_status find(pivot_run *run, int64_t *pivots, double *left) {
    for (int empty = 0; (*left = left_of(run)) > run->task->enough && empty < MOST_EMPTY;) {
        const int64_t before = run->rank;
        if (before == run->task->most) break;
        MG_TRY(pivots_add_block(run, pivots, *left));
        empty = run->rank == before ? empty + 1 : 0;
    }
    return MARGIN_OK;
}

margin_status mg_pivoted_cholesky(const mg_pivoting *task, double *factor, int64_t *pivots,
                                  int64_t *rank, double *left) {
    pivot_run run = {.task = task, .isa = mg_isa_level(), .factor = factor};
    mg_arena arena;
    margin_status status;
    mg_arena_init(&arena, task->context->heap);
    MG_GO(mg_kernel_scratch_new(task->context, task->kernel, &task->points.x, &task->points.x,
                                &run.scratch, task->error));
    MG_GO(take_memory(&run, &arena));
    status = find(&run, pivots, left);
    if (status == MARGIN_ERROR_CANCELLED) mg_fail_cancelled(task->error);
    *rank = run.rank;
done:
    mg_kernel_scratch_free(run.scratch);
    mg_arena_free(&arena);
    return status;
}
