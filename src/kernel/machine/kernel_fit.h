/* Fits of one function of kernels each, over one Gram matrix: from samples to hypothesis and
 * report. */
#pragma once

#include "kernel/machine/kernel_descent.h"

typedef struct mg_kernel_task {
    margin_context *context;
    const mg_kernel_choice *choice;
    const mg_loss *loss;
    mg_penalty penalty;
    bool needs_definite; /* the kernel has to be an inner product, as far as that is known */
    mg_gram_storage storage;
    double tolerance;
    mg_arena arena; /* of the fit at hand */
    mg_kernel_system system;
    margin_status (*minimise)(mg_kernel_walk *walk); /* says why it ended but at a limit */
} mg_kernel_task;

/* Announces fits of so many functions and finds their storage. strict: no other way will do. */
margin_status mg_kernel_store(mg_kernel_task *task, const mg_fit *fit, int64_t functions,
                              mg_kernel_way way, bool strict);
/* All but context, arena and system is the caller's. */
margin_status mg_kernel_fit_all(mg_kernel_task *task, mg_fit *fits, int64_t count);
/* kernel_verify.c: objective and gap of classes with this loss, once more from data and model; for
 * a learner's `verify`. */
margin_status mg_kernel_point_verify(mg_fit *fit, const mg_hypothesis *hypothesis,
                                     const mg_loss *loss);
