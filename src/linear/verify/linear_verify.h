/* What a linear learner claims, found once more from the data and the model alone. */
#pragma once

#include "linear/objective/linear_options.h"

/* Objective, gap, status and items of a hypothesis with these options (mg_linear_options_of), and
 * how far rounding may have moved them (fit->rounding); fit->report is filled in. One function, or
 * as many as the loss couples. */
margin_status mg_linear_verify(mg_fit *fit, const mg_linear_options *options, mg_loss_kind loss,
                               const mg_hypothesis *hypothesis);
