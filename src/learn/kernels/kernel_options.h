/* Options of kernels, one meaning in every learner that has them: entries for option tables, the
 * rules between them, and the kernel that they mean for a problem. Values are found by their names
 * in the learner's table. */
#pragma once

#include "learn/penalty.h"

/* kernel_choices: a macro of kernel.h, with more words behind it if need be. */
#define MG_OPTION_KERNEL(default_kernel, kernel_choices, kernel_help)                              \
    MG_CHOICE("kernel", (default_kernel), kernel_choices, kernel_help)
#define MG_OPTION_KERNEL_RBF                                                                       \
    MG_OPTION_KERNEL("rbf", MG_KERNEL_CHOICES_OWN,                                                 \
                     "k(x, z): x.z, (gamma x.z + coef0)^degree, exp(-gamma |x-z|^2), exp(x.z), "   \
                     "tanh(gamma x.z + coef0), exp(-gamma |x-z|_1), or a function of the "         \
                     "program; precomputed: the data are the Gram matrix")
#define MG_OPTIONS_KERNEL_SHAPE                                                                    \
    MG_NUMBER("gamma", NULL,                                                                       \
              "factor in poly, rbf, sigmoid and laplacian; scale is 1/(columns x variance of all " \
              "values), median 1/(2 s^2) with the median distance s of rows (laplacian: 1/s); "    \
              "default: scale for rbf and laplacian, 1 for poly and sigmoid",                      \
              MG_ABOVE_0, .group = "width", .choices = "scale|median",                             \
              .when = "kernel=poly|rbf|sigmoid|laplacian", MG_RICHER),                             \
        MG_NUMBER("sigma", NULL, "width of rbf: gamma = 1/(2 sigma^2)", MG_ABOVE_0,                \
                  .group = "width", .when = "kernel=rbf", MG_SIMPLER),                             \
        MG_INTEGER("degree", "2", "degree of poly", .low = 1, .high = 100, .when = "kernel=poly",  \
                   MG_RICHER),                                                                     \
        MG_NUMBER("coef0", "1", "constant in poly and sigmoid", MG_ANY_NUMBER,                     \
                  .when = "kernel=poly|sigmoid")

typedef enum mg_gamma_rule { MG_GAMMA_GIVEN, MG_GAMMA_SCALE, MG_GAMMA_MEDIAN } mg_gamma_rule;
typedef struct mg_kernel_choice {
    mg_kernel kernel; /* gamma NaN where a rule finds it */
    mg_gamma_rule rule;
} mg_kernel_choice;

/* Sigmas beyond double precision: SPEC. */
margin_status mg_kernel_options_check(const margin_component *info, const mg_option_value *values,
                                      margin_error *error);
mg_kernel_choice mg_kernel_options_of(const margin_component *info, const mg_option_value *values);

/* The points of a problem: its samples. Of a precomputed kernel their columns are their row numbers
 * in the user's data. */
mg_kernel_points mg_kernel_points_of(const mg_problem *problem);
/* 1 / (columns * variance of all values): a gamma for rbf that does not depend on the unit of the
 * data (scikit-learn's "scale"). Over the samples of `rows` (NULL: the first count rows), weight k
 * counts as k copies (NULL: all one). 1 if the variance is 0 or there are no columns. */
margin_status mg_kernel_scale(margin_context *context, const margin_matrix *x, const int64_t *rows,
                              const double *weights, int64_t count, double *gamma,
                              margin_error *error);
/* 1 / (2 s^2), s the median distance (laplacian: 1 / s, of L1 distances) between up to 1000 points
 * spread evenly over all, equal ones left out; of up to 1000, weight k counts as k copies (NULL:
 * all one). 1 if all are equal. */
margin_status mg_kernel_median(margin_context *context, mg_kernel_kind kind,
                               const mg_kernel_points *points, const double *weights, double *gamma,
                               margin_error *error);
/* The kernel for the samples of a problem. DATA where rows are so far from 0, beside the spread
 * that gamma stands for, that |x - z|^2 = |x|^2 + |z|^2 - 2 x.z is lost in rounding; the failures
 * of mg_kernel_own. */
margin_status mg_kernel_resolve(margin_context *context, const mg_kernel_choice *choice,
                                const char *learner, const mg_problem *problem, mg_kernel *kernel,
                                margin_error *error);
/* For a learner's `share`: the kernel of all samples of the call, as functions over one set of
 * support rows have one kernel. */
margin_status mg_kernel_share(mg_shared *shared, const mg_kernel_choice *choice,
                              const char *learner);
/* The kernel of a fit: the one that is shared, or its own. */
margin_status mg_kernel_of_fit(const mg_fit *fit, const mg_kernel_choice *choice,
                               const char *learner, mg_kernel *kernel);
/* kernel=user: takes the function of the context, and tries it on up to 64 rows spread over all,
 * both ways round. SPEC: there is none; DATA with the rows. */
margin_status mg_kernel_own(margin_context *context, const char *learner, const mg_problem *problem,
                            mg_kernel *kernel, margin_error *error);
/* Whether the data are the kernel values of the rows: a matrix whose column j is row j. */
bool mg_kernel_is_given(const margin_component *info, const mg_option_value *values);
/* After rows of such data were found to lack a finite value: what can be done about it. */
margin_status mg_kernel_explain_gap(margin_status status, const margin_error *found,
                                    margin_error *error);
/* After a call that failed with this status: the rows for which the caller's function gives no
 * number, if it is for that. */
margin_status mg_kernel_explain(margin_context *context, const margin_component *info,
                                const mg_option_value *values, const mg_problem *problem,
                                margin_status status, margin_error *error);
/* The `fits` of a learner whose hypotheses are expansions. */
margin_status mg_kernel_fits(const margin_component *info, const mg_problem *problem,
                             const mg_option_value *options, const mg_hypothesis *h,
                             margin_error *error);
/* In a verification: that gamma is what its rule makes of all samples of the call, if it has one; a
 * contradiction if not. */
margin_status mg_kernel_verify(margin_context *context, const margin_component *info,
                               const mg_option_value *options, const mg_problem *whole,
                               const mg_hypothesis *h, mg_verified *verified, margin_error *error);

/* "rbf with gamma 0.02" */
typedef struct mg_kernel_name {
    char text[96];
} mg_kernel_name;
mg_kernel_name mg_kernel_describe(const mg_kernel *kernel);
/* What was given of a kernel but that it is rbf, for another component: ", kernel=poly, degree=3".
 */
typedef struct mg_kernel_words {
    char text[100];
} mg_kernel_words;
mg_kernel_words mg_kernel_given(const margin_component *info, const mg_option_value *values);
/* What an inner product is to be had by, and what may help beside another thing where rounding ends
 * a fit. */
const char *mg_kernel_definite_words(const mg_kernel *kernel);
const char *mg_kernel_scale_words(const mg_kernel *kernel);

/* Formula, penalty and gamma of a report on summed `loss` and |f|^2. */
void mg_kernel_report(const mg_penalty *penalty, const mg_kernel *kernel, const char *loss,
                      margin_report *report);
