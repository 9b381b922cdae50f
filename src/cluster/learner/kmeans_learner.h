/* k-means: the learner, and the hypothesis of centres. */
#pragma once

#include "cluster/centres/centre_sparse.h"
#include "learn/learner.h"

extern const mg_learner mg_learner_kmeans;

/* Tensors centres (functions x columns) and sizes (functions: weight of the training rows nearest
 * to each). Score c of a row: minus its squared distance to centre c, so the greatest wins. */
extern const mg_hypothesis_kind mg_hypothesis_centres;

typedef struct mg_centres {
    const double *centres, *sizes;
    mg_tiles tiles; /* the centres packed */
} mg_centres;

MG_INLINE const mg_centres *mg_centres_of(const mg_hypothesis *h) {
    return h->view.other;
}

margin_status mg_kmeans_verify(mg_fit *fit, const mg_hypothesis *h);
