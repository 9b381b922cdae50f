/* How far a machine behind the stage nystroem is from the optimum of the kernel itself. */
#pragma once

#include "model/problem/samples.h"

/* A model `... | nystroem | svm` whose loss is the hinge, with its dual variables and their proof:
 *
 *   *gap = (P - D) / max(1, P),   P = objective,   D = sum_i alpha_i - b'Kb / (2 rho),  b = alpha y
 *
 * for K of the rows as they come to nystroem (of several problems both summed). Its functions are
 * those that the centres span, with the same norm, so that its P is one of the kernel's problem;
 * the constraints of the dual do not know the kernel, so that its alpha is feasible there, too.
 * NaN: another model. `data`: of the training, in rows; the proof has found the dual variables in
 * it. Cost: kernel values of the support vectors with each other, none kept. MEMORY, LIMIT,
 * CANCELLED. */
margin_status mg_kernel_gap(margin_context *context, const margin_model *model,
                            const mg_spec_component *learner, const margin_data *data,
                            double objective, double *gap, margin_error *error);
