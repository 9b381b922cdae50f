/* From options to a certified model of several classes trained together. */
#ifndef MG_CLASSES_FIT_H
#define MG_CLASSES_FIT_H

#include "linear/objective/objective.h"

/* As mg_linear_fit, for a problem of kind MG_ARGMAX. */
margin_status mg_classes_fit(mg_fit *fit, const margin_option *table, int option_count,
                             mg_loss_kind loss, const char *default_spelling, double default_value);

#endif
