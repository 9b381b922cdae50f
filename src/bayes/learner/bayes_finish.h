/* What a fit and an update of naive Bayes share. */
#pragma once

#include "bayes/learner/bayes.h"

/* Attaches h, whose counts are complete, hands it to fit->hypothesis and fills in the report. On
 * failure h is still the caller's. DATA: a variance of 0. */
margin_status mg_bayes_finish(mg_fit *fit, const mg_bayes_layout *layout,
                              const mg_bayes_settings *settings, const mg_bayes_counts *counts,
                              mg_hypothesis *h);
margin_status mg_bayes_update(mg_fit *fit, const mg_hypothesis *had, const mg_update_map *map);
