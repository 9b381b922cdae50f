/* The two ways to a weighted Gram, seen only by design_gram.c. */
#pragma once

#include "linear/design/design.h"
#include "math/products/symmetric_product.h"

typedef struct mg_gram_job {
    mg_design *design;
    mg_arena *arena; /* of everything below that is a pointer */
    const mg_weighted_gram *request;
    int64_t size, count;            /* of the result; of the samples visited */
    int64_t columns;                /* that take part */
    double *centre, *scale, *shift; /* e_j = (x_j - centre_j) * scale_j + shift_j; for each
                                       column that takes part */
    int32_t *place;  /* columns of x: number in the result, or -1; NULL: all take part */
    bool plain;      /* e_j = x_j */
    int64_t longest; /* stored values of a sparse row at most */
    margin_error *error;
} mg_gram_job;

MG_INLINE int64_t mg_gram_sample(const mg_gram_job *job, int64_t k) {
    return job->request->chosen ? job->request->chosen[k] : k;
}
MG_INLINE double mg_gram_weight(const mg_gram_job *job, int64_t k) {
    return job->request->weights ? job->request->weights[k]
                                 : mg_sample_weight(job->design->problem, mg_gram_sample(job, k));
}

/* Row by row: the first touch of much memory takes its time. CANCELLED. */
margin_status mg_gram_clear(const mg_gram_job *job, double *gram);
/* Both fill the lower triangle of gram (size x size). */
margin_status mg_gram_by_tiles(mg_gram_job *job, double *gram);
margin_status mg_gram_of_sparse(mg_gram_job *job, double *gram);
