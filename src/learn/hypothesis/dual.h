/* The dual form a hypothesis may carry. */
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
