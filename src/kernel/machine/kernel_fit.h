/* Fits of one function of kernels each, over one Gram matrix: from samples to hypothesis and
 * report. */
#pragma once

#include "kernel/machine/kernel_descent.h"

typedef struct mg_kernel_task {
    margin_context *context;
    const mg_kernel_choice *choice;
    const mg_loss *loss;
    mg_penalty penalty;
    const char *formula; /* of the loss of a sample, for reports */
    bool needs_definite; /* the kernel has to be an inner product, as far as that is known */
    mg_gram_storage storage;
    double tolerance;
    mg_arena arena; /* of the fit at hand */
    mg_kernel_system system;
    margin_status (*minimise)(mg_kernel_walk *walk); /* says why it ended but at a limit */
} mg_kernel_task;

/* A square for `direct` solvers and the triangle for others, where there is room; LIMIT where there
 * is none for the square. `linear`: the learner that some rows for all would go to. */
margin_status mg_kernel_store(const margin_context *context, int64_t count, bool direct,
                              const char *linear, mg_gram_storage *storage, margin_error *error);
/* All but context, arena and system is the caller's. */
margin_status mg_kernel_fit_all(mg_kernel_task *task, mg_fit *fits, int64_t count);
