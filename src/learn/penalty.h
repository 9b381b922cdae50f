/* One penalty, three spellings, and the options that penalised learners share.
 *
 * Of a size N(f) of the function (|w|^2, (1-r) |w|^2 + r |w|_1, or the norm of a function of
 * kernels) one of these is minimised:
 *
 *   C        C sum loss + N/2           factor C     rho = 1 - r              kappa = r/2
 *   alpha    sum loss + alpha N         factor 1     rho = 2 alpha (1 - r)    kappa = alpha r
 *   lambda   mean loss + lambda N       factor 1/m   rho = 2 lambda (1 - r)   kappa = lambda r
 *
 * (r = l1_ratio). Sums and the mean are weighted, m is the sum of the weights of the samples. They
 * convert by lambda = alpha/m = 1/(2 C m). C = inf is no penalty: factor 1, rho = kappa = 0. */
#pragma once

#include "learn/learner.h"

typedef struct mg_penalty {
    double C, alpha, lambda; /* the same penalty in the three spellings (INFINITY, 0, 0: none) */
    double l1_ratio;         /* 0: ridge, 1: lasso */
    double factor;           /* of the summed loss in P */
    double rho, kappa;
    const char *spelling; /* the one that was given: "C", "alpha", "lambda" */
} mg_penalty;

/* `spelling`: "C", "alpha" or "lambda". */
mg_penalty mg_penalty_make(const char *spelling, double value, double l1_ratio,
                           double total_weight);
/* The one of the options C, alpha, lambda that is given (at most one is), or else has a default; a
 * table without them: no penalty, and the mean loss. */
mg_penalty mg_penalty_of(const margin_component *info, const mg_option_value *options,
                         double l1_ratio, double total_weight);
/* Whether they ask for none, as C=inf or alpha=0. */
bool mg_asks_no_penalty(const margin_component *info, const mg_option_value *options);
/* The items C, alpha and lambda. */
void mg_report_penalty(margin_report *report, const mg_penalty *penalty);
/* The m above. */
double mg_total_weight(const mg_problem *problem);

/* Entries for option tables, so that a word means the same everywhere. */
#define MG_OPTION_C_AGAINST(default_value, words)                                                  \
    MG_NUMBER("C", (default_value), "weight of the summed loss against " words, .low = 0,          \
              .low_open = 1, .high = (double)INFINITY, .group = "penalty", MG_RICHER)
#define MG_OPTION_C_OF(default_value, half_norm)                                                   \
    MG_OPTION_C_AGAINST((default_value), half_norm "; inf: no penalty")
#define MG_OPTION_ALPHA_OF(default_value, norm)                                                    \
    MG_NUMBER("alpha", (default_value), "penalty: summed loss + alpha " norm, MG_FROM_0,           \
              .group = "penalty", MG_SIMPLER)
#define MG_OPTION_LAMBDA_OF(norm)                                                                  \
    MG_NUMBER("lambda", NULL, "penalty: mean loss + lambda " norm, MG_FROM_0, .group = "penalty",  \
              MG_SIMPLER)
#define MG_OPTION_C(default_value)     MG_OPTION_C_OF(default_value, "|w|^2/2")
#define MG_OPTION_ALPHA(default_value) MG_OPTION_ALPHA_OF(default_value, "|w|^2")
#define MG_OPTION_LAMBDA               MG_OPTION_LAMBDA_OF("|w|^2")
/* The three of |w|^2, of which C has a default. */
#define MG_OPTIONS_PENALTY MG_OPTION_C("1"), MG_OPTION_ALPHA(NULL), MG_OPTION_LAMBDA
#define MG_OPTION_L1_RATIO(default_value)                                                          \
    MG_NUMBER("l1_ratio", (default_value),                                                         \
              "r of the penalty (1-r) |w|^2 + r |w|_1 in place of |w|^2: 0 ridge, 1 lasso",        \
              .low = 0, .high = 1)
#define MG_OPTION_TOL_OF(default_value, what)                                                      \
    MG_NUMBER("tol", (default_value), what, .low = 0, .low_open = 1, .high = 1, .high_open = 1,    \
              .role = MARGIN_ROLE_TOLERANCE)
#define MG_OPTION_TOL(default_value)                                                               \
    MG_OPTION_TOL_OF(default_value, "relative duality gap to reach")
#define MG_OPTION_MAX_ITER                                                                         \
    MG_INTEGER("max_iter", NULL, "limit on steps (default: none)", .low = 1, .high = 1e9)
#define MG_OPTION_MULTICLASS                                                                       \
    MG_CHOICE("multiclass", "ovr", "ovr|ovo",                                                      \
              "more than two classes: one against the rest, or one against one")
#define MG_OPTION_INTERCEPT                                                                        \
    MG_SWITCH("intercept", "yes", "fit an intercept, which is never penalised")
#define MG_OPTION_CLASS_WEIGHT                                                                     \
    MG_TEXT("class_weight", "none",                                                                \
            "none, balanced (rows / (classes x rows of the class)), or 'name:weight,...'")
