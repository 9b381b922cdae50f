/* An index of neighbours is a model whose hypothesis has no targets. */
#pragma once

#include "margin/neighbors.h"
#include "model/object/model_object.h"
#include "neighbors/learner/index.h"

struct margin_neighbors {
    mg_heap *heap; /* held: a collector may free the model first */
    margin_model *model;
    bool borrowed; /* the model is the caller's */
    const mg_neighbors *view;
    char reason[300];
};

/* An index over what `model` holds, which is called `name` in errors. The model becomes the index's
 * own unless it is borrowed; after a failure it is still the caller's. */
margin_status mg_neighbors_over(margin_model *model, bool borrowed, const char *name,
                                margin_neighbors **index, margin_error *error);
