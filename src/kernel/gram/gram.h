/* The Gram matrix of chosen points, as rows that stay: one store that the classes, folds and
 * penalties of a call read.
 *
 * Where the whole matrix fits into the bytes given it is computed once, half of it mirrored, and
 * from then on any number of threads read it without a lock. Otherwise rows are computed when they
 * are asked for, and those not used for longest make room: then one call at a time, with the
 * context's threads inside of it.
 *
 * Folds, pairs of classes and the like are index views of one matrix: value (i, j) of a view is
 * value (index[i], index[j]) here. A held-out point can as well stay in and be kept at 0: then its
 * score is the validation's.
 *
 * Values are f64, or f32 times a factor that makes the largest |k(x, x)| 1 where kernels may be
 * large (linear, poly, exp, ...): nothing overflows, and what is f32 can be checked with f64 rows
 * (mg_kernel_fill, mg_kernel_multiply). A value's bits depend on its two points alone, so not on
 * the bytes given, the order of requests, or the threads. */
#pragma once

#include "kernel/gram/kernel.h"

typedef struct mg_gram mg_gram;
typedef struct mg_gram_request {
    mg_kernel kernel;
    mg_kernel_points points; /* borrowed: matrix and lists outlive the gram */
    margin_type type;        /* of the values: MARGIN_F64 or MARGIN_F32 */
    int64_t bytes;           /* that its rows may take; at least two rows are kept */
    bool by_rows;            /* one reader: never the whole matrix at once, though it fits */
} mg_gram_request;

/* Bytes of a store with room for so many rows (all points: the whole matrix); INT64_MAX: beyond
 * counting. What to announce before the start. */
int64_t mg_gram_bytes(int64_t points, margin_type type, int64_t rows);

/* Computes the diagonal, no rows. `context` is that of the call, as later ones may be parts of it.
 * DATA for points that the kernel cannot have (mg_kernel_check), or whose kernel value with
 * themselves is beyond double precision; MEMORY, LIMIT, CANCELLED. */
margin_status mg_gram_create(margin_context *context, const mg_gram_request *request,
                             mg_gram **gram, margin_error *error);
void mg_gram_free(mg_gram *gram);

const double *mg_gram_diagonal(const mg_gram *gram); /* k(x, x) in f64, without the factor */
double mg_gram_factor(const mg_gram *gram);          /* f64: 1 */
bool mg_gram_is_whole(const mg_gram *gram);
/* errors[i]: how far the sum of reach[j] times value (i, j) may be from that of the true values,
 * for any weights of at most that reach. false: not known. Both as long as there are points. */
bool mg_gram_errors(const mg_gram *gram, const double *reach, double *errors);
/* The most rows that one call of mg_gram_rows may ask for. */
int64_t mg_gram_most_rows(const mg_gram *gram);

/* A whole one: computes all that is not there yet, before several threads read it; else nothing.
 * `context`, here and below: that of the calling thread. */
margin_status mg_gram_fill(mg_gram *gram, margin_context *context, margin_error *error);
/* The whole matrix once it is filled, else NULL: value (i, j) at [i * ld + j], of the gram's type.
 */
const void *mg_gram_values(const mg_gram *gram, int64_t *ld);

/* Looks at columns [first, first + columns) of the rows asked for: rows[k] points to column `first`
 * of the k-th. The blocks of columns are the same for any number of threads. */
typedef struct mg_gram_part {
    int64_t first, columns;
    const void *const *rows;
} mg_gram_part;
typedef void (*mg_gram_visit)(const mg_gram_part *part, void *argument);
/* Visits all columns of `count` rows (no row twice) block by block, side by side, computing what is
 * not there: new values are looked at while they are in cache. */
margin_status mg_gram_rows(mg_gram *gram, margin_context *context, const int64_t *rows,
                           int64_t count, mg_gram_visit visit, void *argument, margin_error *error);
/* out[i * ld + j] = value (rows[i], columns[j]), of the gram's type. Rows that are there are read,
 * others computed for these columns only and not kept. */
margin_status mg_gram_block(mg_gram *gram, margin_context *context, const int64_t *rows,
                            int64_t row_count, const int64_t *columns, int64_t column_count,
                            void *out, int64_t ld, margin_error *error);
/* One f64 row; valid until the next call on this gram. NULL: a failure, without a sentence
 * (mg_kernel_fail has it). */
const double *mg_gram_row(mg_gram *gram, margin_context *context, int64_t i, margin_status *status);
