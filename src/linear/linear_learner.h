/* What all linear learners share: options of the penalty and the optimiser, the way from a mg_fit
 * to a hypothesis and a report, and the recomputed proof. A learner is its option table, its loss
 * and one call. */
#ifndef MG_LINEAR_LEARNER_H
#define MG_LINEAR_LEARNER_H

#include "linear/solver.h"

/* Fits one score function with `loss`; fills fit->hypothesis and fit->report. Options are found by
 * name in `table` (C, alpha, lambda, l1_ratio, tol, max_iter, solver, intercept, class_weight,
 * rate, schedule, batch, start_weights, start_intercept), so a learner's table holds those it
 * offers. default_spelling and default_value: the penalty where none is given ("C", 1). */
margin_status mg_linear_fit(mg_fit *fit, const margin_option *table, int option_count,
                            mg_loss_kind loss, const char *default_spelling, double default_value);

/* Recomputes objective and gap from the data and the hypothesis with plain loops. */
margin_status mg_linear_verify(mg_fit *fit, const margin_option *table, int option_count,
                               mg_loss_kind loss, const char *default_spelling,
                               double default_value, const mg_hypothesis *hypothesis);

/* Entries for option tables, so that a word means the same everywhere. */
#define MG_OPTION_C(default_value)                                                                 \
    {                                                                                              \
        .name = "C", .type = MARGIN_OPTION_NUMBER, .low = 0, .low_open = 1,                        \
        .high = (double)INFINITY, .default_text = (default_value), .group = "penalty",             \
        .help = "weight of the summed loss against |w|^2/2; inf: no penalty"                       \
    }
#define MG_OPTION_ALPHA(default_value)                                                             \
    {                                                                                              \
        .name = "alpha", .type = MARGIN_OPTION_NUMBER, .low = 0, .high = (double)INFINITY,         \
        .high_open = 1, .default_text = (default_value), .group = "penalty",                       \
        .help = "penalty: summed loss + alpha |w|^2"                                               \
    }
#define MG_OPTION_LAMBDA                                                                           \
    {                                                                                              \
        .name = "lambda", .type = MARGIN_OPTION_NUMBER, .low = 0, .high = (double)INFINITY,        \
        .high_open = 1, .default_text = NULL, .group = "penalty",                                  \
        .help = "penalty: mean loss + lambda |w|^2"                                                \
    }
#define MG_OPTION_TOL(default_value)                                                               \
    {                                                                                              \
        .name = "tol", .type = MARGIN_OPTION_NUMBER, .low = 0, .low_open = 1, .high = 1,           \
        .high_open = 1, .default_text = (default_value), .help = "relative duality gap to reach"   \
    }
#define MG_OPTION_MAX_ITER                                                                         \
    {                                                                                              \
        .name = "max_iter", .type = MARGIN_OPTION_INTEGER, .low = 1, .high = 1e9,                  \
        .help = "limit on steps (default: none)"                                                   \
    }
#define MG_OPTION_MULTICLASS                                                                       \
    {                                                                                              \
        .name = "multiclass", .type = MARGIN_OPTION_CHOICE, .default_text = "ovr",                 \
        .choices = "ovr|ovo",                                                                      \
        .help = "more than two classes: one against the rest, or one against one"                  \
    }
#define MG_OPTION_INTERCEPT                                                                        \
    {                                                                                              \
        .name = "intercept", .type = MARGIN_OPTION_SWITCH, .default_text = "yes",                  \
        .help = "fit an intercept, which is never penalised"                                       \
    }
#define MG_OPTION_CLASS_WEIGHT                                                                     \
    {                                                                                              \
        .name = "class_weight", .type = MARGIN_OPTION_TEXT, .default_text = "none",                \
        .help = "none, balanced (rows / (classes x rows of the class)), or 'name:weight,...'"      \
    }

#endif
