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

#include "math/gram/kernel.h"

typedef struct mg_gram_request {
    mg_kernel kernel;
    mg_kernel_points points; /* borrowed: the matrix outlives the gram, lists the call */
    margin_type type;        /* of the values: MARGIN_F64 or MARGIN_F32 */
    int64_t bytes;           /* that its rows may take; at least two rows are kept */
    bool by_rows;            /* one reader: never the whole matrix at once, though it fits */
    float over;              /* the points are bytes in units of 1 / over; 0: not, or not known */
} mg_gram_request;

/* Callers read the first four; the rest is the business of gram.c and gram_store.c. */
typedef struct mg_gram {
    double *diagonal; /* k(x, x) in f64, without the factor */
    double factor;    /* f64: 1 */
    int64_t slots;    /* the most rows that one call of mg_gram_rows may ask for */
    bool whole;       /* slots is all points: row i in slot i */
    bool filled;
    mg_heap *heap;
    mg_arena arena; /* of the lists below */
    mg_kernel_points points;
    mg_kernel kernel;
    mg_kernel_scratch *scratch;
    struct mg_gram_tiles *tiles; /* f32 of dense points; NULL: through f64 */
    margin_type type;
    int64_t size, ld;     /* bytes of a value, values from one row to the next */
    double *squares;      /* of all rows of x; NULL where the kernel needs none */
    char *values;         /* slots rows */
    int64_t *row, *place; /* of each point, for blocks: row of x, and what the kernel takes on
                             the right (precomputed: its column; else the same list) */
    int64_t *some_rows, *some_places; /* points each: lists of a call */
    void **pointers;                  /* slots: the same */
    /* Slots; NULL if whole. */
    int64_t used, hand, call, released;
    int64_t *missing; /* slots: scratch of a call */
    int64_t *slot_of; /* of each point, -1: not kept */
    int64_t *row_of;  /* of each slot, -1: holds nothing */
    int64_t *last;    /* of each slot: the call that used it, 0: none since the hand came by */
    int64_t *spare;   /* slots: the first `released` of them hold rows that may go */
} mg_gram;

/* Bytes of a store with room for so many rows (all points: the whole matrix); INT64_MAX: beyond
 * counting. What to announce before the start. */
int64_t mg_gram_bytes(int64_t points, margin_type type, int64_t rows);

/* Computes the diagonal, no rows. `context` is that of the call, as later ones may be parts of it.
 * DATA for points that the kernel cannot have (mg_kernel_check, mg_kernel_check_value); MEMORY,
 * LIMIT, CANCELLED. */
margin_status mg_gram_create(margin_context *context, const mg_gram_request *request,
                             mg_gram **gram, margin_error *error);
void mg_gram_free(mg_gram *gram);

/* How far a weighted sum of f32 values of a point may be from that of the true values, and from
 * that of f64 values: from the sizes of the weights, and those times what their points add. */
typedef struct mg_gram_error {
    double each, sum, points;
} mg_gram_error;
/* Of no weights yet, and what each point adds. false: not known of these values. */
bool mg_gram_error_start(const mg_gram *gram, mg_gram_error *error, double *off);
MG_INLINE void mg_gram_error_add(mg_gram_error *e, double size, double off) {
    e->sum += size;
    e->points += size * off;
}
MG_INLINE double mg_gram_error_at(const mg_gram_error *e, double off) {
    return (off + e->each) * e->sum + e->points;
}
/* The block of some points with others (NULL: all of them), listed in the gram's scratch. */
mg_kernel_block mg_gram_block_of(mg_gram *gram, const int64_t *points, int64_t count,
                                 const int64_t *others, int64_t other_count);

/* A whole one: computes all that is not there yet, before several threads read it; else nothing.
 * `context`, here and below: that of the calling thread. */
margin_status mg_gram_fill(mg_gram *gram, margin_context *context, margin_error *error);
/* values[j * ld + i] = values[i * ld + j] for a block of rows i and columns j, past the caches
 * where they are not read soon; ld a multiple of 4 then. */
void mg_gram_mirror(float *values, int64_t ld, int64_t at, int64_t rows, int64_t first,
                    int64_t columns, bool past);
/* The slots from this place among the values on hold nothing, until rows are asked for again. */
void mg_gram_vacate(mg_gram *gram, const void *from);
/* Row i is not expected again: where it costs less than pages that the system has to clear, its
 * slot is taken before a fresh one. */
void mg_gram_release(mg_gram *gram, int64_t i);
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
/* Few columns of the data: the values of a block are made faster than they are found. */
bool mg_gram_makes_anew(const mg_gram *gram);
/* out[i * ld + j] = value (rows[i], columns[j]), of the gram's type. Rows that are there are read,
 * others computed for these columns only and not kept. */
margin_status mg_gram_block(mg_gram *gram, margin_context *context, const int64_t *rows,
                            int64_t row_count, const int64_t *columns, int64_t column_count,
                            void *out, int64_t ld, margin_error *error);
/* One f64 row; valid until the next call on this gram. NULL: a failure, without a sentence
 * (mg_kernel_fail has it). */
const double *mg_gram_row(mg_gram *gram, margin_context *context, int64_t i, margin_status *status);
