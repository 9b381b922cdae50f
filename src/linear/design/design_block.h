/* Rows of a design a block at a time: what the passes are made of, and what they agree on. */
#pragma once

#include "linear/design/design.h"
#include "math/losses/linear_kernels.h"

/* Rows of a block of a pass that sums so many numbers, and has so many beside the numbers of a row:
 * as many as a sweep takes, and more where the rows are so short against `times` the sums that
 * starting and merging those would be most of the work (wide sparse data); but then not fewer than
 * some blocks in all. */
int64_t mg_rows_of_block(const mg_problem *p, int64_t beside, int64_t sums, int64_t times);
/* Rows of a chunk that fits into so many bytes. */
int64_t mg_rows_of_chunk(const margin_matrix *x, int64_t bytes);

/* The samples a pass visits: positions 0..count-1 stand for chosen[k], or k. */
typedef struct mg_visit_list {
    const mg_design *design;
    const int64_t *chosen;
} mg_visit_list;

MG_INLINE int64_t mg_visit_sample(const mg_visit_list *list, int64_t k) {
    return list->chosen ? list->chosen[k] : k;
}

/* Positions that a pass visits at a time, at most MG_COLUMN_ROWS. */
MG_INLINE int64_t mg_walk_rows(const mg_visit_list *list) {
    return list->chosen ? list->design->chunk_rows : list->design->walk_rows;
}

/* Weights as the row products take them. */
typedef struct mg_row_weights {
    const double *w; /* columns */
    double b;
} mg_row_weights;
/* Uses design->work: valid until the next call. */
mg_row_weights mg_design_row_weights(mg_design *d, const double *w, double b);

/* Room for the rows of a chunk where a stage makes them (mg_problem.maker) or columns are put
 * together, one per worker: they are made once for the scores and the gradient of a chunk. */
typedef struct mg_made_rows {
    int64_t first, count; /* what is there: of all samples, those from `first` on; first -1: those
                             of `numbers` */
    int64_t numbers[MG_CHUNK_ROWS];
    bool plain; /* as plain columns: see mg_columns_from_arrays */
    void *rows;
    double *scratch; /* of the maker, or addresses of plain columns */
} mg_made_rows;
margin_status mg_made_rows_new(mg_design *d, margin_error *error);

/* Addresses of the dense rows of positions [first, first + count), count <= design->chunk_rows, or
 * MG_CHUNK_ROWS where no stage makes them. */
void mg_design_find_rows(const mg_visit_list *list, int64_t first, int64_t count,
                         const void *rows[MG_CHUNK_ROWS]);

/* scores[k - first] for positions [first, first + count), count <= mg_walk_rows */
void mg_design_chunk_scores(const mg_visit_list *list, const mg_row_weights *weights, int64_t first,
                            int64_t count, double *scores);
/* sum += r[k - first] x_k, or x_k - centre: see mg_design_from_rows */
void mg_design_chunk_gradient(const mg_visit_list *list, int64_t first, int64_t count,
                              const double *r, double *sum);
/* Both: r[k - first] becomes that times the score. */
void mg_design_chunk_visit(const mg_visit_list *list, const mg_row_weights *weights, int64_t first,
                           int64_t count, double *r, double *sum);
/* Dense rows, in X's units: sum += weights[k - first] (x_k - centre), squares += that of the
 * squares. */
void mg_design_chunk_moments(const mg_visit_list *list, int64_t first, int64_t count,
                             const double *centre, const double *weights, double *sum,
                             double *squares);
/* The gradient in A's units from such a sum; total: the sum of r. */
void mg_design_from_rows(const mg_design *d, double total, double *gradient);

/* Sums of a pass, all doubles: `columns` numbers of a gradient behind this head. */
typedef struct mg_pass_sums {
    double total, value, errors;
    _Alignas(64) double gradient[];
} mg_pass_sums;
enum { MG_PASS_SUMS = sizeof(mg_pass_sums) / sizeof(double) };
