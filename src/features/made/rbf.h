/* rbf from the inside: rbf.c is the stage, rbf_fit.c finds centres and the width. */
#pragma once

#include "learn/learner.h"

typedef enum mg_rbf_pick { MG_RBF_SAMPLE, MG_RBF_KMEANS, MG_RBF_EVEN } mg_rbf_pick;

/* What the options ask for. */
typedef struct mg_rbf_wish {
    mg_rbf_pick pick;
    int64_t centres; /* even: per column */
    bool median, spacing;
    double sigma; /* where neither */
} mg_rbf_wish;

/* The most centres. */
enum { MG_RBF_MOST = 100000 };

/* The number of centres of `wish` for so many columns, infinite beyond any limit. */
double mg_rbf_count(const mg_rbf_wish *wish, int64_t columns);
/* Fills `centres` (room for mg_rbf_count x columns) and *count: fewer where there are not so many
 * different rows. */
margin_status mg_rbf_centres(margin_context *context, const margin_data *data,
                             const mg_rbf_wish *wish, double *centres, int64_t *count,
                             margin_error *error);
/* sigma: the median of the distances between rows and centres that are not 0 (of at most 2^20 of
 * them: rows evenly spread), or the distance of neighbours of evenly spaced centres. */
margin_status mg_rbf_width(margin_context *context, const margin_data *data,
                           const mg_rbf_wish *wish, const double *centres, int64_t count,
                           double *sigma, margin_error *error);
