/* poly from the inside: poly.c learns which columns are multiplied, poly_terms.c lists the
 * products, poly_apply.c computes them, poly_products.c the dot products of rows of them.
 *
 * Output columns: the constant (with bias), every input column, then the products of two factors,
 * of three, ...; products of the same degree in lexicographic order of their factors. A factor is a
 * column that is multiplied; factors are numbered in the order of their columns. Left out are
 * powers of columns of 0 and 1, and products of two indicators of one column, which are 0
 * everywhere. */
#pragma once

#include "learn/learner.h"

/* The most columns poly makes. */
enum { MG_POLY_MOST_COLUMNS = 1000000 };

/* The products of one column with factors first..first + count - 1: output columns start, ... */
typedef struct mg_poly_run {
    int64_t parent; /* output column */
    int64_t first, count, start;
} mg_poly_run;

typedef struct mg_poly_view {
    int64_t bias, degree;
    int64_t columns; /* of the input */
    int64_t factors;
    const int64_t *factor; /* their columns, ascending */
    const int64_t *next;   /* the first factor that may follow each: itself, the one behind it, or
                              the first that does not indicate another category of its column;
                              ascending */
    int64_t run_count;     /* one per factor, then one per product of less than the degree */
    const mg_poly_run *runs;
    const double *weights; /* of every output column; NULL: 1 */
} mg_poly_view;

/* What the weights make of the dot product of two rows. */
typedef enum mg_poly_scaling {
    MG_POLY_PLAIN,
    MG_POLY_POWER, /* (x.z + 1)^degree */
    MG_POLY_SERIES /* 1 + x.z + (x.z)^2/2! + ... up to the degree: nearly e^(x.z) */
} mg_poly_scaling;

/* What the tensor `repeats` says of a factor. */
enum {
    MG_POLY_ONCE = 0,
    MG_POLY_REPEATS = 1,  /* it may be multiplied with itself */
    MG_POLY_EXCLUDES = 2, /* nor with the factor behind it, nor that one's others */
};
/* Fills in next[0 .. factors) from such numbers; false: one is impossible. */
bool mg_poly_next(const uint8_t *repeats, int64_t factors, int64_t *next);

/* Output columns and runs of a view whose other members are set, as numbers that do not overflow.
 * counts: scratch for one number per factor. */
void mg_poly_size(const mg_poly_view *view, double *counts, double *columns, double *runs);
/* The weights of all output columns: a product of t factors, of which equal ones come a, b, ...
 * times, has sqrt(degree! / ((degree - t)! a! b! ...)), for the series sqrt(1 / (a! b! ...)). Takes
 * the constant and all powers to be there. counts: scratch for two numbers per output column. */
void mg_poly_weigh(const mg_poly_view *view, mg_poly_scaling scaling, int64_t *counts,
                   double *weights);
/* Fills runs[0 .. run_count). */
void mg_poly_list(const mg_poly_view *view, mg_poly_run *runs);

/* The run of an output column's products, -1: it has none (the constant, a column that is no
 * factor, or one of the full degree). */
MG_INLINE int64_t mg_poly_run_of(const mg_poly_view *view, int64_t product) {
    const int64_t run = view->factors + product - view->bias - view->columns;
    return run < view->run_count ? run : -1;
}

/* Entries of mg_stage. */
void mg_poly_apply_row(const mg_fitted_stage *fitted, const double *in, double *out);
margin_status mg_poly_apply(margin_context *context, const mg_fitted_stage *fitted,
                            const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);
margin_status mg_poly_products(margin_context *context, const mg_problem *problem, double *out,
                               bool *made, margin_error *error);
