/* The dual form a hypothesis may carry, and tensor helpers of the kinds in this folder. */
#pragma once

#include "learn/hypothesis/hypothesis.h"

/* Finds and checks the dual tensors and sets h->dual_*; NULLs if h has none. MODEL on failure. */
margin_status mg_dual_attach(mg_hypothesis *h, margin_error *error);

/* The dual forms of all parts one after the other, if every part has one. */
margin_status mg_dual_combine(mg_hypothesis *const *parts, int64_t count, mg_hypothesis *into,
                              margin_error *error);

/* That of one function of h, if h has one. */
margin_status mg_dual_slice(const mg_hypothesis *h, int64_t function, mg_hypothesis *into,
                            margin_error *error);

/* mg_hypothesis_tensor into *data (a pointer variable), with the error. */
margin_status mg_hypothesis_tensor_new(mg_hypothesis *h, const char *name, margin_type type,
                                       int64_t rows, int64_t columns, void *data,
                                       margin_error *error);

/* Finds a tensor that must have this type and shape and sets *data (a pointer variable). */
margin_status mg_hypothesis_expect(const mg_hypothesis *h, const char *name, margin_type type,
                                   int64_t rows, int64_t columns, void *data, margin_error *error);
