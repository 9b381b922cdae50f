/* Problems with a design matrix that is also there as plain numbers. */
#ifndef DESIGN_CASES_H
#define DESIGN_CASES_H

#include "model_cases.h"

#include "linear/objective/objective.h"

typedef struct design_case {
    sample *data;
    mg_problem problem;
    double *a; /* samples x columns: the design, affine part included */
    int64_t *index;
    int8_t *sign;
    double *target, *weight, *scale, *shift;
} design_case;

enum {                  /* what a case has */
       WITH_INDEX = 1,  /* samples are some of the rows, in another order */
       WITH_WEIGHT = 2, /* else all one */
       WITH_SCALE = 4,
       WITH_SHIFT = 8,
       ALL_PARTS = 15
};

/* Two classes, and targets for a regression. */
design_case *design_case_make(int64_t rows, int64_t columns, int layout, int parts, uint64_t seed);
void design_case_free(design_case *c);
double design_case_weight(const design_case *c, int64_t i);

/* Numbers between -1 and 1; free() them. */
double *some_numbers(int64_t count, uint64_t *seed);
/* Room for them. */
void *space(int64_t count);

/* |found - expected| within rounding of sums whose terms add up to `size` in absolute value. */
void assert_sum(double found, double expected, double size);

/* Calls `check` for designs of every layout, instruction set and shape, with and without parts. */
typedef void (*case_check)(const design_case *c, mg_design *d);
void check_cases(case_check check);
extern const char *const isa_names[3]; /* for the environment, by mg_isa */

#endif
