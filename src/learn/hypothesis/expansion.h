/* Expansions f(x) = sum over support rows s of c_s k(s, x) + b: what its files share. */
#pragma once

#include "learn/hypothesis/dual.h"

/* Support rows are visited in chunks, the coefficients of all functions chunk by chunk: a run is
 * the part of one function's coefficients that falls into one chunk. */
enum { MG_EXPANSION_CHUNK = 128 };

typedef struct mg_expansion_run {
    int64_t function;
    int64_t first, count; /* coefficients */
} mg_expansion_run;

/* What attach derives, one block of memory. */
typedef struct mg_expansion_plan {
    double *squares; /* |s|^2 of the support rows */
    double *panels;  /* the support rows as right panels of kernel_ops.h, chunk by chunk; NULL:
                        sparse, or too large to be kept twice */
    mg_isa isa;      /* whose panels they are */
    int64_t chunks;
    int64_t *chunk_runs; /* chunk c has the runs [chunk_runs[c], chunk_runs[c + 1]) */
    mg_expansion_run *runs;
} mg_expansion_plan;

/* What is derived until attach has copied the support rows: whose they are. The functions of
 * classes and pairs share many rows, and a matrix may be in memory while they are found. */
typedef struct mg_expansion_loan {
    margin_matrix x; /* training rows, or (units) as many unit vectors as it has columns */
    bool units;
    int64_t count;
    int64_t keys[]; /* ascending: view.expansion.keys */
} mg_expansion_loan;

/* Copies the support rows into their tensors. MEMORY. */
margin_status mg_expansion_own(mg_hypothesis *h, margin_error *error);
/* Builds h->derived from the tensors in h->view, which have been checked, once. MEMORY. */
margin_status mg_expansion_prepare(mg_hypothesis *h, margin_error *error);

/* mg_hypothesis_kind.scores. Scratch is on the stack: about 110 KB. */
margin_status mg_expansion_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                  int64_t count, double *out);

margin_status mg_expansion_combine(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                                   mg_hypothesis **out, margin_error *error);
margin_status mg_expansion_slice(mg_heap *heap, const mg_hypothesis *h, int64_t function,
                                 mg_hypothesis **out, margin_error *error);
