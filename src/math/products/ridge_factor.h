/* Cholesky factors of matrices that rounding may have made indefinite. */
#pragma once

#include "math/products/cholesky.h"

/* What is added to the diagonal at first, relative to it: as much as rounding may have taken away
 * from sums in f32, or in f64. */
#define mg_ridge_single 2e-6
#define mg_ridge_double 1e-14

/* The symmetric n x n matrix `a` (its upper triangle, and its diagonal from `diagonal`) becomes its
 * factor, with the ridge added to the diagonal, ten thousand times more each time until it is
 * definite. The upper triangle stays. DATA if no ridge helps (numbers that are not finite). */
margin_status mg_ridge_factor(margin_context *context, int64_t n, double *a, const double *diagonal,
                              double ridge, margin_error *error);
