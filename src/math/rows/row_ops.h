/* Products of matrix rows with dense f64 vectors: the inner loops of every linear method.
 *
 * One table of functions per (layout, value type, index type, instruction set). Weights, sums and
 * results are f64 whatever the values are (f32 is widened on load, which costs nothing at memory
 * speed). The summation order within a row is fixed per instruction set and does not depend on
 * which function computes it: dot, scores and blocked forms give the same bits for the same row.
 * src/math/ref holds the plain C specification, always built; an ISA file replaces some entries and
 * a missing one falls back. Rows are trusted (mg_matrix_check has run). */
#pragma once

#include "base/machine/cpu.h"
#include "data/matrix/matrix.h"

/* Samples in the order in which they are visited: position i is row rows[i] of x (NULL: row i) with
 * the class sign[i] = +1 or -1. */
typedef struct mg_row_scan {
    const margin_matrix *x;
    const int64_t *rows;
    const int8_t *sign;
} mg_row_scan;

/* Fetches bytes that are due soon, `ahead` behind an address, into the second cache: the first is
 * full of what is at hand. They need not be there. Four lines at a time, the last one again where
 * there are fewer: how many times it goes round can be foreseen, of sparse rows of unlike lengths,
 * too. Of short ones a line will do. */
MG_INLINE void mg_fetch(const void *from, int64_t ahead, int64_t bytes) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead;
    if (bytes > 0) __builtin_prefetch((const void *)first, 0, 2);
    for (int64_t at = 64; at < bytes; at += 256)
        for (int64_t line = at; line < at + 256; line += 64)
            __builtin_prefetch((const void *)(first + (uintptr_t)MG_MIN(line, bytes - 1)), 0, 2);
}

typedef struct mg_row_ops {
    /* sum_j x[row, j] * w[j] */
    double (*dot)(const margin_matrix *x, int64_t row, const double *w);
    /* w += c * x[row]; product and sum are rounded one after the other, so every instruction set
     * gives the same bits */
    void (*add)(const margin_matrix *x, int64_t row, double c, double *w);
    /* squared norm of a row */
    double (*square)(const margin_matrix *x, int64_t row);
    /* out[i * functions + f] = w[f] . x[first + i] + b[f], w is functions x columns; the hot path
     * of prediction */
    void (*scores)(const margin_matrix *x, int64_t first, int64_t count, const double *w,
                   const double *b, int64_t functions, double *out);
    /* The first position in [first, last) whose sample is misclassified, that is not
     * sign * (x[row] . w + b) > 0, or `last` if there is none; the hot path of the perceptron.
     * Where rows are given, the rows ahead are fetched early. */
    int64_t (*next_error)(const mg_row_scan *scan, int64_t first, int64_t last, const double *w,
                          double b);
    /* The plain perceptron over positions [first, last): at each misclassified sample w += rate *
     * sign * x[row], b += rate * sign (b NULL: 0, and stays it); the same bits as next_error and
     * add in turn. Returns the number of corrections. The weights stay in registers, so rows may
     * have at most walk_columns columns; NULL where there is no such form. */
    int64_t (*walk)(const mg_row_scan *scan, int64_t first, int64_t last, double rate, double *w,
                    double *b);
    int64_t walk_columns;
    /* Sparse rows by number, with the bits of dot and add one after the other; rows ahead are
     * fetched early. NULL for dense rows. dots: out[k] = x[rows[k]] . w + b. adds: w += c[k] *
     * x[rows[k]], rows of c[k] = 0 left out. visit: both, c[k] times the first for the second, and
     * back in c. */
    void (*dots)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *w,
                 double b, double *out);
    void (*adds)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *c,
                 double *w);
    void (*visit)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *w,
                  double b, double *c, double *sum);
    const char *name; /* "dense f64 avx2" */
} mg_row_ops;

/* The table for a view. Never NULL. */
const mg_row_ops *mg_row_ops_for(const margin_matrix *x, mg_isa isa);

/* Sparse rows against eight vectors that lie side by side, so that a stored value reads one line of
 * memory for all of them; the same bits for every instruction set. */
enum { MG_ROW_LANES = 8 };
typedef struct mg_lane_squares {
    double own;            /* |x_i|^2 */
    const double *squares; /* of the vectors */
    double share;
} mg_lane_squares;
typedef struct mg_row_lanes {
    /* out[l] = sum_j x_ij vectors[j * 8 + l] */
    void (*dot)(const margin_matrix *x, int64_t row, const double *vectors, double *out);
    /* vectors[j * 8 + l] += c[l] factor_j x_ij; factor NULL: 1 */
    void (*add)(const margin_matrix *x, int64_t row, const double *c, const double *factor,
                double *vectors);
    /* out[l] = |x_i|^2 + |vector l|^2 - 2 x_i.vector l; whether one is less than `share` of the
     * first two, those of infinite squares apart. */
    bool (*squares)(const margin_matrix *x, int64_t row, const double *vectors,
                    const mg_lane_squares *s, double *out);
} mg_row_lanes;
/* For a sparse view. */
const mg_row_lanes *mg_row_lanes_for(const margin_matrix *x, mg_isa isa);

/* Both products with four such vectors while a row is at hand; the same bits for every instruction
 * set. */
enum { MG_ROW_FOUR = 4 };
typedef struct mg_row_fours {
    const int64_t *rows;   /* of the samples; NULL: in order */
    const double *weights; /* samples */
    const double *vectors; /* columns x 4 */
    double offset[MG_ROW_FOUR];
} mg_row_fours;
/* z = weights[sample] (x_row . vectors + offset); sums += x_row z, and z itself to the last four of
 * them: (columns + 1) x 4. */
typedef void mg_row_fours_add(const margin_matrix *x, const mg_row_fours *f, int64_t sample,
                              double *sums);
/* For a sparse view. */
mg_row_fours_add *mg_row_fours_for(const margin_matrix *x, mg_isa isa);

/* Rows of a lower triangle by groups of eight, against vectors that lie side by side: out[r * width
 * + i] = sum_{j < depth} a[r * lda + j] x[j * width + i] for at most eight rows, depth up to the
 * end of their group, of sixteen vectors or of one; the same bits for both and for every
 * instruction set. */
enum { MG_TRIANGLE_GROUP = 8, MG_TRIANGLE_WIDTH = 16 };
typedef void mg_triangle_product(const double *a, int64_t lda, int64_t rows, int64_t depth,
                                 const double *x, double *out);
typedef struct mg_triangle_ops {
    mg_triangle_product *many, *one;
} mg_triangle_ops;
const mg_triangle_ops *mg_triangle_ops_for(mg_isa isa);

/* Dense f64 vectors of any length (used by solvers). */
typedef struct mg_vector_ops {
    double (*dot)(const double *a, const double *b, int64_t n);
    void (*add)(double *y, double c, const double *x, int64_t n); /* y += c x */
    double (*square)(const double *a, int64_t n);
} mg_vector_ops;
const mg_vector_ops *mg_vector_ops_for(mg_isa isa);
