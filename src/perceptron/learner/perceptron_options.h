/* The perceptron's options as a plain struct. */
#pragma once

#include "learn/kernels/kernel_options.h"

typedef enum mg_perceptron_variant { MG_PLAIN, MG_POCKET, MG_AVERAGED } mg_perceptron_variant;
typedef enum mg_perceptron_order {
    MG_SEQUENTIAL,
    MG_SHUFFLED,
    MG_FIRST,
    MG_ANY /* a misclassified sample at random */
} mg_perceptron_order;
typedef enum mg_perceptron_bound {
    MG_BOUND_AUTO,
    MG_BOUND_YES,
    MG_BOUND_NO,
    MG_BOUND_STEPS /* yes, and both sides of the proof in a trace */
} mg_perceptron_bound;

typedef struct mg_perceptron_options {
    mg_perceptron_variant variant;
    mg_perceptron_order order;
    mg_perceptron_bound bound;
    bool dual;      /* scores kept up to date through the Gram matrix: form=dual or a kernel */
    bool expansion; /* a kernel other than linear: the model is a sum of kernels */
    double rate;
    int64_t passes;
    bool passes_given;
    mg_kernel_choice choice;
    int64_t batch;     /* rows of a step of gradient descent; 0: single corrections */
    bool random_start; /* of weights and intercepts */
    const double *start_weights;
    int64_t start_count; /* 0: start at zero */
    double start_intercept;
    double constant; /* in each row, in the intercept's place: 1, or 0 without an intercept */
} mg_perceptron_options;

enum { MG_PERCEPTRON_OPTION_COUNT = 18, MG_PERCEPTRON_MOST_PASSES = 10 * 1000 * 1000 };
extern const margin_option mg_perceptron_option_table[MG_PERCEPTRON_OPTION_COUNT];

/* `values` has passed mg_perceptron_check. */
mg_perceptron_options mg_perceptron_options_of(const mg_option_value *values);
/* Options that contradict each other: SPEC. */
margin_status mg_perceptron_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error);
