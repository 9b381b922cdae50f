/* Rows of numbers: sums about a pivot for a fit, squared distances in deviations for prediction;
 * sums of 0/1 numbers and counts for both.
 *
 * One table per instruction set, an entry for f64 and one for f32 rows; sums are f64. Sums of a fit
 * have the same bits for every instruction set; those of a prediction are added up lane by lane, so
 * their last bits belong to the instruction set, but never to the rows beside a row. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

#include <math.h>
#include <stdbool.h>

typedef struct mg_bayes_rows {
    /* For each row i with class k = codes[i] and weight w (weights NULL: 1):
     * first[k] += w (x - pivot[k]), second[k] += w (x - pivot[k])^2; tables of n numbers a class,
     * `stride` from each other.
     * `rows` has `ahead` more addresses at its end: row i + ahead is fetched while i is summed. */
    void (*moments)(const void *const *rows, int64_t ahead, const int32_t *codes,
                    const double *weights, int64_t count, int64_t n, int64_t stride,
                    const double *pivot, double *first, double *second);
    /* out[i * classes + k] -= sum_j (slope[k][j] (x_j - centre_j) + offset[k][j])^2; centre NULL:
     * 0. slope and offset: a class every `stride` numbers. `ahead` as above; 0: none. */
    void (*scores)(const void *const *rows, int64_t ahead, int64_t count, int64_t n,
                   const double *centre, const double *slope, const double *offset, int64_t stride,
                   int64_t classes, double *out);
    /* Of 0/1 numbers, or with `counts` of those from 0 on, n in each row: table[k] += w where x >
     * 0, or w x. False: one is NaN, infinite, or with `counts` negative (-0 is), and sums are void.
     */
    bool (*tally)(const void *const *rows, const int32_t *codes, const double *weights,
                  int64_t count, int64_t n, int64_t stride, bool counts, double *table);
    /* out[i * classes + k] += sum over x_j > 0 of on[k][j], or with `counts` of x_j on[k][j]; NaN
     * where tally would say false. */
    void (*weigh)(const void *const *rows, int64_t count, int64_t n, bool counts, const double *on,
                  int64_t stride, int64_t classes, double *out);
} mg_bayes_rows;

/* The most rows that are fetched ahead. */
enum { MG_BAYES_AHEAD = 16 };
/* Rows of so many bytes to fetch ahead: about 8 KB, at least 4 rows. Processors do not look over
 * the end of a page by themselves. */
MG_INLINE int64_t mg_bayes_rows_ahead(int64_t row_bytes) {
    const int64_t rows = 8192 / MG_MAX(row_bytes, 1);
    return MG_MAX(4, MG_MIN(rows, MG_BAYES_AHEAD));
}

typedef struct mg_bayes_kernels {
    mg_bayes_rows rows[2]; /* of f64 and f32 */
    /* Of a sparse row: out[k] += factors[e] on[places[e] * classes + k], for each class one after
     * the other; the same bits for every instruction set. */
    void (*entries)(const int64_t *places, const double *factors, int64_t count, const double *on,
                    int64_t classes, double *out);
} mg_bayes_kernels;
MG_ISA_TABLES(mg_bayes_kernels, mg_bayes_kernels);

MG_INLINE const mg_bayes_rows *mg_bayes_rows_for(mg_isa isa, bool single) {
    return &MG_ISA_TABLE(isa, mg_bayes_kernels)->rows[single];
}
