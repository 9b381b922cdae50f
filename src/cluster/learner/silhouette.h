/* How well rows sit in their clusters. */
#pragma once

#include "learn/learner.h"

/* The exact silhouette takes a distance for each pair of rows: it is for at most so many. A fit
 * whose steps cost less asks some of them for their distances to all: of so many stretches of rows,
 * or half of them and so on down to the least, one each (learn/report.h). */
enum { MG_MOST_SILHOUETTE = 2000, MG_SILHOUETTE_FINEST = 1024, MG_SILHOUETTE_LEAST = 32 };
#define MG_SILHOUETTE_ROWS "silhouette_rows" /* the item that says how many; NaN: all */

typedef struct mg_clustered {
    const margin_matrix *x;
    const int64_t *index; /* row of x of sample i; NULL: i */
    const double *weight; /* of sample i; NULL: all one */
    int64_t count, k;
    int64_t asked;         /* rows that the mean is over; 0: all */
    const int32_t *labels; /* of sample i */
    const double *sizes;   /* k weights */
    const double *blur;    /* of the columns, see mg_problem; NULL: 0 */
    bool made;             /* see mg_problem */
    /* Samples that may be in any cluster, and (k) what each has of their weight. NULL: none. */
    const bool *open;
    const double *open_weight;
} mg_clustered;

/* How many rows are asked of `count`, where their distances are to be no more than `most`. */
int64_t mg_silhouette_asked(int64_t count, double most);
/* Mean over rows of (b - a) / max(a, b): a the mean distance to the other rows of the own cluster,
 * b the least mean distance to those of another; 0 for a row that is alone (Rousseeuw 1987). A
 * weight k counts as k copies. NaN if fewer than two clusters have rows. *rounding, unless NULL: by
 * how much the rule of learn/report.h and open samples may move it, the other labels being right.
 * CANCELLED, MEMORY. */
margin_status mg_silhouette(margin_context *context, const mg_clustered *rows, double *value,
                            double *rounding, margin_error *error);
