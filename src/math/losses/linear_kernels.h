/* The inner loops of linear models for each instruction set. */
#pragma once

#include "data/matrix/matrix.h"
#include "math/losses/loss.h"
#include "math/rows/row_ops.h"

/* ---- One function ---------------------------------------------------------------------------- */

/* Dense rows against vectors, a few rows at a time: the inner loops of the passes over a design.
 *
 * Rows are given by address. With a centre, x_j - centre_j stands for x_j: columns far from 0 lose
 * nothing. The bits of a score do not depend on the rows beside it. */

/* Most rows whose numbers lie on the stack: see chunk_rows of a design. */
enum { MG_CHUNK_ROWS = 64 };

typedef struct mg_design_rows {
    /* scores[k] = b + sum_j (x_kj - centre_j) w_j */
    void (*scores)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                   const double *w, double b, double *scores);
    /* sum_j += sum_k r_k (x_kj - centre_j) */
    void (*gradient)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                     const double *r, double *sum);
    /* first_j += sum_k weights_k (x_kj - centre_j), second_j likewise of the squares */
    void (*moments)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                    const double *weights, double *first, double *second);
} mg_design_rows;

/* For a dense view; NULL for a sparse one. */
const mg_design_rows *mg_design_rows_for(const margin_matrix *x, mg_isa isa);

/* Bytes of a row from which on the processor follows it by itself, but not several at once. */
enum { MG_LONG_ROW = 4096 };
/* Asks for `some` rows, `ahead` rows behind one of a list that lie one after the other: a processor
 * loses sight of several rows at a time (seen on Zen 4), but of short and long ones.
 * Into the second cache: the first holds those of the list. */
MG_INLINE void mg_ask_behind(const void *const *list, int64_t count, int64_t from, int64_t ahead,
                             int64_t some, int64_t bytes) {
    enum { SHORT = 256 };
    const uintptr_t first = (uintptr_t)list[0], last = (uintptr_t)list[count - 1];
    if (bytes < SHORT || bytes > MG_LONG_ROW || last - first != (uintptr_t)((count - 1) * bytes))
        return;
    mg_fetch(list[from], ahead * bytes, some * bytes);
}

/* ---- Several functions ----------------------------------------------------------------------- */

/* Dense rows against the weights of several classes at once: the inner loops of the passes over a
 * design whose model has a function for each class.
 *
 * Numbers of the work (weights, centre, slopes and the sums within a call) are f64, or f32 for f32
 * rows where that is asked for; results are f64. Rows are given by address. With a centre,
 * x_j - centre_j stands for x_j. The bits of a score do not depend on the rows beside it, but on
 * the instruction set: sums have as many parts as a vector has lanes. */

enum {
    MG_CLASSES_MOST_ROWS = 64, /* of one call: MG_CHUNK_ROWS */
    MG_CLASSES_PADDING = 16    /* weights have a leading dimension that is a multiple of this */
};
MG_INLINE int64_t mg_classes_padded(int64_t columns) {
    return (columns + MG_CLASSES_PADDING - 1) / MG_CLASSES_PADDING * MG_CLASSES_PADDING;
}

typedef struct mg_classes_rows {
    /* scores[r * classes + k] = sum_j (x_rj - centre_j) w[k * ld + j]; w and centre hold zeros from
     * `columns` up to ld */
    void (*scores)(const void *const *rows, int64_t count, int64_t columns, const void *centre,
                   const void *w, int64_t ld, int64_t classes, double *scores);
    /* sum[k * columns + j] += sum_r slopes[r * classes + k] (x_rj - centre_j) */
    void (*gradient)(const void *const *rows, int64_t count, int64_t columns, const void *centre,
                     const void *slopes, int64_t classes, double *sum);
    bool single; /* the work is f32 */
} mg_classes_rows;

/* For a dense view; `single` is heeded where the values are f32. */
const mg_classes_rows *mg_classes_rows_for(const margin_matrix *x, mg_isa isa, bool single);

/* ---- Row by row ------------------------------------------------------------------------------ */

/* One row at a time against weights, for dual coordinate descent. */

/* Inner loops over one row, for the types of x. */
typedef struct mg_dual_rows {
    /* weights_j += c factor_j x_ij */
    void (*add_scaled)(const margin_matrix *x, int64_t row, double c, const double *factor,
                       double *weights);
    /* sum_j factor_j x_ij^2; factor NULL: 1 */
    double (*square)(const margin_matrix *x, int64_t row, const double *factor);
    /* Begins to fetch a row. */
    void (*prefetch)(const margin_matrix *x, int64_t row);
} mg_dual_rows;
const mg_dual_rows *mg_dual_rows_for(const margin_matrix *x);

/* ---- The table ------------------------------------------------------------------------------- */

mg_loss_passer mg_loss_pass_ref, mg_loss_pass_avx2, mg_loss_pass_avx512;

typedef struct mg_linear_kernels {
    mg_design_rows design[2];   /* of f64 and f32 */
    mg_classes_rows classes[3]; /* f64, f32 in f64, f32 in f32 */
    mg_loss_passer *loss_pass;  /* the same bits in every set */
} mg_linear_kernels;
MG_ISA_TABLES(mg_linear_kernels, mg_linear_kernels);
