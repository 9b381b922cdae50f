/* Kernel functions k(x, z) and blocks of Gram matrices. Layers: kernel values (here) | rows that
 * stay (gram.h) | solver, each ignorant of the next.
 *
 *   linear       x.z
 *   poly         (gamma x.z + coef0)^degree           default gamma 1, coef0 1
 *   rbf          exp(-gamma |x - z|^2)                gamma = 1/(2 sigma^2)
 *   exp          e^(x.z)
 *   sigmoid      tanh(gamma x.z + coef0)
 *   laplacian    exp(-gamma |x - z|_1)
 *   precomputed  the number in row x and in the column that belongs to z
 *   function     the caller's own, over blocks of rows
 */
#pragma once

#include "math/rows/row_ops.h"

/* Model files hold these numbers (docs/format.md): none is ever changed or given again. */
typedef enum mg_kernel_kind {
    MG_KERNEL_LINEAR = 0,
    MG_KERNEL_POLY = 1,
    MG_KERNEL_RBF = 2,
    MG_KERNEL_EXP = 3,
    MG_KERNEL_SIGMOID = 4,
    MG_KERNEL_LAPLACIAN = 5,
    MG_KERNEL_PRECOMPUTED = 6,
    MG_KERNEL_FUNCTION = 7 /* in files without the function */
} mg_kernel_kind;
enum { MG_KERNEL_KINDS = MG_KERNEL_FUNCTION + 1 }; /* what files may hold is below it */
/* The words of the option, in the order of `kinds` in learn/kernels/kernel_options.c. */
#define MG_KERNEL_CHOICES "linear|poly|rbf|exp|sigmoid|laplacian"
/* For learners, whose kernel may be the caller's own function, and whose problem a Gram matrix
 * (mg_kernel_points.places). */
#define MG_KERNEL_CHOICES_OWN MG_KERNEL_CHOICES "|user|precomputed"
enum { MG_OWN_COLUMNS = 4096 }; /* of the rows of a function: two of them fit on the stack */

typedef struct mg_kernel {
    mg_kernel_kind kind;
    double gamma, coef0;
    int degree;
    margin_kernel_function function; /* MG_KERNEL_FUNCTION */
    void *user;
} mg_kernel;

/* Of one call, where functions of the program are the same. */
MG_INLINE bool mg_kernel_same(const mg_kernel *a, const mg_kernel *b) {
    return a->kind == b->kind && a->gamma == b->gamma && a->coef0 == b->coef0 &&
           a->degree == b->degree;
}

/* What a kernel machine is about: point i is row rows[i] of x. Of a precomputed kernel x holds the
 * values themselves: k(point i, point j) is the number in row rows[i] and column places[j], so that
 * a selection of points picks rows and columns. */
typedef struct mg_kernel_points {
    margin_matrix x;
    const int64_t *rows;   /* NULL: i */
    const int64_t *places; /* precomputed: the column that belongs to each point; NULL: rows[i] */
    int64_t count;
} mg_kernel_points;
MG_INLINE int64_t mg_point_row(const mg_kernel_points *points, int64_t i) {
    return points->rows ? points->rows[i] : i;
}
MG_INLINE int64_t mg_point_place(const mg_kernel_points *points, int64_t i) {
    return points->places ? points->places[i] : mg_point_row(points, i);
}

/* What stands for point i on the right of k, and in an expansion: its row, of a precomputed kernel
 * its column. */
MG_INLINE int64_t mg_point_right(const mg_kernel *kernel, const mg_kernel_points *points,
                                 int64_t i) {
    return kernel->kind == MG_KERNEL_PRECOMPUTED ? mg_point_place(points, i)
                                                 : mg_point_row(points, i);
}

/* Whether these points can have this kernel: of a precomputed one, every point has its column, and
 * the matrix is symmetric on them. DATA with the place. One pass over the square on all threads. */
margin_status mg_kernel_check(margin_context *context, const mg_kernel *kernel,
                              const mg_kernel_points *points, margin_error *error);
/* Two values, rounded when they were made (to f32, or to few digits in a file), may differ by 1e-6
 * of the larger one, and by 1e-12 of the largest on the diagonal. */
bool mg_kernel_differs(double a, double b, double largest);
/* k(x, x) of that row (from 0) is at most 1e150, and with it every |k(x, z)|: DATA otherwise. */
margin_status mg_kernel_check_value(double value, int64_t row, margin_error *error);

/* Of the Gram matrix of the points: without a negative eigenvalue, but for rounding. Only then is a
 * dual a bound and a gap a proof. */
typedef enum mg_kernel_curvature {
    MG_KERNEL_DEFINITE,
    MG_KERNEL_INDEFINITE,
    MG_KERNEL_UNDECIDED /* too many points for a factor */
} mg_kernel_curvature;
/* "is not positive definite on these rows", or why that is not known. */
const char *mg_kernel_doubt(mg_kernel_curvature curvature);
/* By the kernel, or by a Cholesky factor of the Gram matrix of at most so many points, where there
 * is room for that. */
enum { MG_MOST_DECIDED = 4096 };
margin_status mg_kernel_decide(margin_context *context, const mg_kernel *kernel,
                               const mg_kernel_points *points, mg_kernel_curvature *found,
                               margin_error *error);

/* k from the dot product and the two squared norms (all kinds but laplacian and function;
 * precomputed: the dot product itself, as with a row of zeros and a one). The squared distance is
 * clipped at 0. */
double mg_kernel_from_dot(const mg_kernel *kernel, double dot, double square_x, double square_z);
/* What k is a function of; all code that walks over rows asks this. */
typedef enum mg_kernel_basis {
    MG_OF_PRODUCTS,  /* x.z */
    MG_OF_SQUARES,   /* |x - z|^2, by way of x.z and the squared norms of all rows */
    MG_OF_DISTANCES, /* |x - z|_1 */
    MG_OF_NONE       /* not worked out from the rows: given */
} mg_kernel_basis;
mg_kernel_basis mg_kernel_basis_of(mg_kernel_kind kind);
/* k is an inner product for any rows: none of its Gram matrices has a negative eigenvalue. */
bool mg_kernel_is_definite(const mg_kernel *kernel);
/* |k| <= 1. */
bool mg_kernel_is_bounded(mg_kernel_kind kind);
/* It is a mean of waves cos w.(x - z) whose frequencies the stage `fourier` can draw. */
bool mg_kernel_has_waves(mg_kernel_kind kind);
/* a^n, n >= 0, by repeated squaring. */
double mg_power(double a, int n);
/* One pair of rows, any layouts with equal columns. Of a function that stops: NaN, and the context
 * (NULL: none) is cancelled. */
double mg_kernel_rows(margin_context *context, const mg_kernel *kernel, const margin_matrix *x,
                      int64_t i, const margin_matrix *z, int64_t j);
/* One pair of points. */
double mg_kernel_pair(margin_context *context, const mg_kernel *kernel,
                      const mg_kernel_points *points, int64_t i, int64_t j);

/* values[j]: dot products (laplacian: L1 distances) of one row x with rows z_j, turned in place
 * into k(x, z_j). squares_z[j] = |z_j|^2 (of squares). Element j's bits do not depend on its place.
 */
void mg_kernel_finish(mg_isa isa, const mg_kernel *kernel, double square_x, const double *squares_z,
                      double *values, int64_t count);

/* out[i * ld + j] = k(x[x_rows[i]], z[z_rows[j]]) for a block; rows NULL: first, first + 1, ...
 * `squares` of all rows of x and z from mg_row_squares (MG_OF_SQUARES, may be NULL otherwise).
 * Precomputed: z_rows are columns of x, and z is not looked at. f64; blocked and vectorised, sparse
 * x sparse by a few rows spread out where that is less work. An element's bits depend on its
 * two rows alone: not on the block, the layouts or which of the two rows comes first. Polls cancel.
 * Uses the context's threads. Memory: up to 0.5 MB a thread, and for sparse rows 4 bytes a column
 * with 64 for each that eight of them have. CANCELLED, also where a function stops; DATA: a
 * function gave a value that is not finite.
 */
typedef struct mg_kernel_block {
    const margin_matrix *x, *z;
    const int64_t *x_rows, *z_rows;
    int64_t x_first, x_count, z_first, z_count;
    const double *x_squares, *z_squares;
} mg_kernel_block;
margin_status mg_kernel_fill(margin_context *context, const mg_kernel *kernel,
                             const mg_kernel_block *block, double *out, int64_t ld,
                             margin_error *error);

/* The same in parts, for callers that fill often: scratch for blocks of these two matrices, to be
 * used by one call at a time. A call from inside a task works on that task's thread alone, and
 * scratch made there has room for no other: it is of no use outside of it. */
typedef struct mg_kernel_scratch mg_kernel_scratch;
margin_status mg_kernel_scratch_new(margin_context *context, const mg_kernel *kernel,
                                    const margin_matrix *x, const margin_matrix *z,
                                    mg_kernel_scratch **scratch, margin_error *error);
void mg_kernel_scratch_free(mg_kernel_scratch *scratch);
margin_status mg_kernel_fill_with(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                  double *out, int64_t ld);
/* To other places: as f32 times a factor, as rows here and there, as the two halves of a square. */
typedef struct mg_kernel_out {
    margin_type type;
    double factor; /* f32: what is written is factor * k */
    void *values;  /* row i at values[i * ld], of the type */
    int64_t ld;
    void *const *rows; /* row i at rows[i]; NULL: see values */
    bool square;       /* x = z and the same rows in the block: half the work */
} mg_kernel_out;
margin_status mg_kernel_fill_out(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                 const mg_kernel_out *out);
/* out[i * width + c] = sum_j k(x_i, z_j) v[j * width + c] over a block, without storing it: each
 * value is made once for all `width` vectors. Sums in ascending order of j, so that the bits of a
 * row depend on nothing but the row and z. */
margin_status mg_kernel_multiply(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                 const double *v, int64_t width, double *out);
/* The sentence for a failure of these four. */
margin_status mg_kernel_fail(margin_status status, margin_error *error);
/* The product with one vector where x = z and the same rows in the block: half of the values, but
 * of kernels that are given, and sums in another order, the same for any number of threads. */
margin_status mg_kernel_multiply_square(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                        const double *v, double *out, margin_error *error);
/* What it takes for the sums of so many rows. */
int64_t mg_kernel_square_bytes(int64_t count);

/* Lines of eight numbers that a thread's scratch has room for beside 4 bytes a column, where rows
 * of x are multiplied one by one: by the longest of them. */
int64_t mg_sparse_lines(const margin_matrix *x);
/* squares[i] = |x_i|^2 of the rows wanted (NULL: all), in parallel, with the sums of
 * mg_kernel_fill: |x - x|^2 is exactly 0. */
margin_status mg_row_squares(margin_context *context, const margin_matrix *x, const bool *wanted,
                             double *squares);
