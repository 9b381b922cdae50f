/* An index of neighbours is a model whose hypothesis has no targets. */
#pragma once

#include "margin/neighbors.h"
#include "model/object/model.h"
#include "neighbors/learner/index.h"

struct margin_neighbors {
    margin_model *model;
    const mg_neighbors *view;
    char reason[300];
};
