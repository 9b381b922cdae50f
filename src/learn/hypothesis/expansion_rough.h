/* Scores of an expansion in single precision, for callers that ask for classes of many rows: each
 * is off by at most its error from what mg_expansion_scores gives. */
#pragma once

#include "learn/hypothesis/hypothesis.h"

enum { MG_ROUGH_ROWS = 128 }; /* the most of a call */

typedef struct mg_expansion_rough mg_expansion_rough;
/* Of a hypothesis that outlives it, for rows like the first of `like` (NULL: any rows; rows of
 * bytes are told apart faster, and others are then all in doubt); NULL: it has no such scores (the
 * kernel is not rbf, support rows are sparse), there is no room for its support rows in f32, or the
 * call is to end. */
mg_expansion_rough *mg_expansion_rough_new(margin_context *context, const mg_hypothesis *h,
                                           const margin_matrix *like);
void mg_expansion_rough_free(mg_expansion_rough *rough);
int64_t mg_expansion_rough_room(const mg_expansion_rough *rough); /* numbers, of a call */
/* scores and errors [count x functions] of dense rows [first, first + count). Errors of rows that
 * are not finite are no number, or infinite. */
void mg_expansion_rough_scores(const mg_expansion_rough *rough, const margin_matrix *x,
                               int64_t first, int64_t count, double *room, double *scores,
                               double *errors);
