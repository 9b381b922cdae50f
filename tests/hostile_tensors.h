/* Tensors of a model as a hostile file may have them. */
#ifndef HOSTILE_TENSORS_H
#define HOSTILE_TENSORS_H

#include "margin/margin.h"

/* Changes numbers of each tensor (all of small ones, some of large ones), then its name, shape and
 * type, one at a time: each change is refused as MODEL with a sentence, or the model answers the
 * rows of x. Returns the share of changed numbers that were refused. The model is as it was. */
double assert_tensors_checked(margin_model *model, const margin_matrix *x);

#endif
