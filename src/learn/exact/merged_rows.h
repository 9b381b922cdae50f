/* Equal samples as one.
 *
 * Samples with the same sparse row and the same sign or target stand in every sum of an objective
 * by their weights alone: one of them with the sum of the weights takes their place, and objective,
 * derivatives and proof are the same numbers up to rounding. One-hot records repeat so often that
 * this leaves a fraction of the passes' work; finding it out costs about two passes.
 *
 * Rows are compared bit by bit (as they are stored: a stored 0 is not one left out, -0 is not 0);
 * the first of equal samples stands for them, in the order of the data, so nothing depends on
 * threads. */
#pragma once

#include "learn/learner.h"

typedef struct mg_merged_rows {
    mg_arena arena;     /* of what follows; heap NULL: nothing was worth merging */
    mg_problem problem; /* of the merged samples, with weights: a selection of the same rows */
    int32_t *group;     /* samples of the problem that was given: number of the merged sample */
    int64_t *index, *original;
    double *weight, *target;
    int8_t *sign;
} mg_merged_rows;

/* Merges if rows are sparse and stored, samples at least MG_LEAST_MERGED, no more than three
 * quarters of them are distinct, and the memory limit leaves room. MEMORY, LIMIT, CANCELLED. */
enum { MG_LEAST_MERGED = 4096 };
margin_status mg_merge_rows(margin_context *context, const mg_problem *problem,
                            mg_merged_rows *merged, margin_error *error);
void mg_merged_rows_free(mg_merged_rows *merged);

/* Of a sample's sparse row and its sign or target. */
uint64_t mg_sample_hash(const mg_problem *problem, int64_t i);
