/* Cholesky factors.
 *
 * Right-looking, in blocks of columns: factor the diagonal block; solve for the rows below it,
 * packed as lines of panels, so that a panel is a few rows side by side; subtract their symmetric
 * product from what is left. The panels of the solve are those that the product reads. */
#include "math/products/cholesky.h"

#include "math/products/symmetric_product.h"
#include "math/rows/row_ops.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 64,     /* columns */
    SMALL = 256,    /* rows below a block up to which one thread is as fast */
    TASK_PANELS = 2 /* panels of rows in a task of the product */
};

typedef struct factor_job {
    const mg_symmetric_ops *ops;
    double *a; /* the part that is left, from its first diagonal element */
    int64_t lda;
    int64_t block;  /* columns of the block */
    int64_t below;  /* rows below it */
    double *packed; /* below rows as elements of `block` lines */
    double nothing; /* a pivot up to that is none */
    int64_t most;   /* rows that may have none */
    int64_t active; /* rows of the part that is left which may have a pivot */
    int64_t *order; /* of all rows; NULL: each must have one */
    int64_t rank;
} factor_job;

static void swap(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Rows i and k > i of the whole matrix change places, and so do its columns. */
static void swap_rows(double *a, int64_t lda, int64_t n, int64_t i, int64_t k) {
    for (int64_t j = 0; j < i; j++)
        swap(&a[i * lda + j], &a[k * lda + j]);
    for (int64_t j = i + 1; j < k; j++)
        swap(&a[j * lda + i], &a[k * lda + j]);
    for (int64_t j = k + 1; j < n; j++)
        swap(&a[j * lda + i], &a[j * lda + k]);
    swap(&a[i * lda + i], &a[k * lda + k]);
}

static void move_last(const factor_job *job, double *a, int64_t n, int64_t i, int64_t last) {
    const int64_t kept = job->order[i];
    if (i < last) swap_rows(a, job->lda, n, i, last);
    job->order[i] = job->order[last];
    job->order[last] = kept;
}

/* The pivot of row i of a diagonal block, whose other numbers become those of the factor. */
static double factor_row(const mg_vector_ops *ops, int64_t i, double *a, int64_t lda) {
    double *row = a + i * lda;
    for (int64_t j = 0; j < i; j++)
        row[j] = (row[j] - ops->dot(row, a + j * lda, j)) / a[j * lda + j];
    return row[i] - ops->square(row, i);
}

/* The diagonal block, row by row. Returns 0, or the order of the minor that is not positive. Rows
 * without a pivot move behind those that may have one. */
static int64_t factor_block(factor_job *job, const mg_vector_ops *ops, double *whole, int64_t n) {
    const int64_t first = (job->a - whole) / (job->lda + 1);
    double before[BLOCK];
    for (int64_t i = 0; i < MG_MIN(BLOCK, job->active); i++) {
        double *row = job->a + i * job->lda;
        memcpy(before, row, (size_t)i * sizeof *row);
        const double pivot = factor_row(ops, i, job->a, job->lda);
        if (pivot > job->nothing && isfinite(pivot)) {
            row[i] = sqrt(pivot);
        } else if (job->most > 0 && pivot <= job->nothing) {
            job->most--;
            memcpy(row, before, (size_t)i * sizeof *row);
            move_last(job, whole, n, first + i, first + --job->active);
            i--;
        } else {
            return i + 1;
        }
    }
    return 0;
}

/* Rows of one panel below the block: X = A L^-T, that is L^-1 times the lines. */
static margin_status solve_panel(void *argument, int64_t panel, int worker) {
    const factor_job *job = argument;
    const int64_t width = job->ops->width, first = panel * width;
    const int64_t rows = MG_MIN(width, job->below - first);
    double *lines = job->packed + panel * BLOCK * width;
    double *source = job->a + (job->block + first) * job->lda;
    (void)worker;
    for (int64_t k = 0; k < job->block; k++)
        for (int64_t r = 0; r < width; r++)
            lines[k * width + r] = r < rows ? source[r * job->lda + k] : 0.0;
    job->ops->solve(job->block, job->a, job->lda, lines);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < job->block; k++)
            source[r * job->lda + k] = lines[k * width + r];
    return MARGIN_OK;
}

static int64_t product_tasks(const factor_job *job) {
    return (mg_symmetric_panels(job->ops, job->below) + TASK_PANELS - 1) / TASK_PANELS;
}

/* The longest rows first. */
static margin_status subtract_panels(void *argument, int64_t task, int worker) {
    const factor_job *job = argument;
    const int64_t first = (product_tasks(job) - 1 - task) * TASK_PANELS;
    double *rest = job->a + job->block * (job->lda + 1);
    (void)worker;
    mg_symmetric_add(job->ops, job->packed, BLOCK, job->block, job->below, first,
                     first + TASK_PANELS, -1.0, rest, job->lda);
    return MARGIN_OK;
}

static margin_status cholesky_run(margin_context *context, bool alone, int64_t tasks, mg_task task,
                                  factor_job *job) {
    if (!alone) return mg_parallel(context, tasks, task, job, NULL);
    for (int64_t k = 0; k < tasks; k++)
        MG_TRY(task(job, k, 0));
    return MARGIN_OK;
}

static margin_status factor_blocks(margin_context *context, factor_job *job, int64_t n,
                                   int64_t *failed) {
    const mg_vector_ops *vector = mg_vector_ops_for(mg_isa_level());
    double *a = job->a;
    job->active = n;
    for (int64_t first = 0; job->active > 0; first += job->block, job->active -= job->block) {
        job->a = a + first * (job->lda + 1);
        const int64_t minor = factor_block(job, vector, a, n);
        if (minor > 0) {
            *failed = first + minor;
            return MARGIN_OK;
        }
        job->block = MG_MIN(BLOCK, job->active);
        job->below = n - first - job->block;
        const bool alone = job->below <= SMALL;
        if (mg_cancelled(context)) return MARGIN_ERROR_CANCELLED;
        MG_TRY(cholesky_run(context, alone, mg_symmetric_panels(job->ops, job->below), solve_panel,
                            job));
        MG_TRY(cholesky_run(context, alone, product_tasks(job), subtract_panels, job));
        job->rank = first + job->block;
    }
    return MARGIN_OK;
}

static margin_status factor_run(margin_context *context, factor_job *job, int64_t n,
                                int64_t *failed, margin_error *error) {
    job->ops = mg_symmetric_ops_for(mg_isa_level(), false);
    *failed = 0;
    if (n > BLOCK || job->order)
        MG_NEW(context->heap, job->packed, mg_symmetric_packed(job->ops, n, BLOCK),
               "a triangular factor", error);
    const margin_status status = factor_blocks(context, job, n, failed);
    mg_free(context->heap, job->packed);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

margin_status mg_cholesky_factor(margin_context *context, int64_t n, double *a, int64_t lda,
                                 int64_t *failed, margin_error *error) {
    factor_job job = {.a = a, .lda = lda};
    return factor_run(context, &job, n, failed, error);
}

margin_status mg_cholesky_factor_rank(margin_context *context, int64_t n, double *a, int64_t lda,
                                      double nothing, int64_t most, int64_t *order, int64_t *rank,
                                      int64_t *failed, margin_error *error) {
    factor_job job = {.a = a, .lda = lda, .nothing = nothing, .most = most, .order = order};
    for (int64_t k = 0; k < n; k++)
        order[k] = k;
    const margin_status status = factor_run(context, &job, n, failed, error);
    *rank = job.rank;
    return status;
}

void mg_cholesky_solve_lower_many(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x,
                                  int64_t count) {
    const mg_vector_ops *ops = mg_vector_ops_for(isa);
    for (int64_t i = 0; i < n; i++)
        for (double *z = x; z < x + count * n; z += n)
            z[i] = (z[i] - ops->dot(l + i * ld, z, i)) / l[i * ld + i];
}

void mg_cholesky_solve_lower(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    mg_cholesky_solve_lower_many(isa, n, l, ld, x, 1);
}

void mg_cholesky_solve_upper(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(isa);
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] /= l[i * ld + i];
        ops->add(x, -x[i], l + i * ld, i);
    }
}

void mg_cholesky_solve(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    mg_cholesky_solve_lower(isa, n, l, ld, x);
    mg_cholesky_solve_upper(isa, n, l, ld, x);
}

/* ---- Condition ------------------------------------------------------------------------------- */

static double sum_absolute(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

/* Higham's estimate of |A^-1|_1: a maximisation of |A^-1 x|_1 over the corners of the unit ball
 * that goes from corner to corner, and a vector of alternating signs against unlucky matrices. */
static double inverse_norm(const margin_context *context, int64_t n, const double *l, int64_t ld,
                           double *x, double *sign) {
    enum { STEPS = 5 };
    const mg_isa isa = mg_isa_level();
    double best = 0.0;
    int64_t corner = -1;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1.0 / (double)n;
    for (int step = 0; step < STEPS; step++) {
        if (mg_cancelled(context)) return (double)INFINITY;
        mg_cholesky_solve(isa, n, l, ld, x);
        const double norm = sum_absolute(x, n);
        if (step > 0 && norm <= best) break;
        best = norm;
        for (int64_t i = 0; i < n; i++)
            sign[i] = x[i] >= 0 ? 1.0 : -1.0;
        mg_cholesky_solve(isa, n, l, ld, sign);
        int64_t next = 0;
        for (int64_t i = 1; i < n; i++)
            if (fabs(sign[i]) > fabs(sign[next])) next = i;
        if (next == corner) break;
        corner = next;
        memset(x, 0, (size_t)n * sizeof *x);
        x[corner] = 1.0;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = (i & 1 ? -1.0 : 1.0) * (1.0 + (n > 1 ? (double)i / (double)(n - 1) : 0.0));
    mg_cholesky_solve(isa, n, l, ld, x);
    return fmax(best, 2.0 * sum_absolute(x, n) / (3.0 * (double)n));
}

double mg_cholesky_condition(const margin_context *context, int64_t n, const double *l, int64_t ld,
                             double norm, double *work) {
    if (n == 0) return 1.0;
    const double inverse = inverse_norm(context, n, l, ld, work, work + n);
    const double product = norm * inverse;
    return product > 0.0 && isfinite(product) ? 1.0 / product : 0.0;
}

/* ---- With a ridge ---------------------------------------------------------------------------- */

margin_status mg_ridge_factor(margin_context *context, int64_t n, double *a, const double *diagonal,
                              double ridge, margin_error *error) {
    static const double growth = 1e4, most = 1e6;
    int64_t failed = 1;
    for (; failed != 0; ridge *= growth) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++)
                a[i * n + j] = a[j * n + i];
            a[i * n + i] = diagonal[i] * (1.0 + ridge);
        }
        MG_TRY(mg_cholesky_factor(context, n, a, n, &failed, error));
        MG_REQUIRE(failed == 0 || ridge < most, error, MG_DATA(OVERFLOW),
                   "the products of the columns are beyond double precision; bring the columns to "
                   "one scale first: standardize | ...");
    }
    return MARGIN_OK;
}
