/* The least value of a penalised linear loss by other means than the library's: Newton's method
 * with elimination on the whole problem, corners replaced by slack variables behind logarithmic
 * barriers (Boyd and Vandenberghe, "Convex Optimization", 2004, chapter 11), in plain loops and
 * extended precision. For small problems: the work grows with the cube of rows + columns. */
#ifndef CONVEX_ORACLE_H
#define CONVEX_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum oracle_loss {
    ORACLE_SQUARED,
    ORACLE_HINGE,
    ORACLE_SQUARED_HINGE,
    ORACLE_LOGISTIC,
    ORACLE_EXPONENTIAL,
    ORACLE_SOFTMAX
} oracle_loss;

enum { ORACLE_ROWS = 64, ORACLE_WEIGHTS = 24 };

/* factor sum_i weight_i loss_i + square |w|^2 + absolute |w|_1, f = w.x + b */
typedef struct convex_problem {
    int64_t rows, columns, functions; /* functions: 1, for softmax the classes */
    const double *x;                  /* rows x columns */
    const double *y;                  /* targets, or classes 0, 1, ... */
    const double *weight;             /* NULL: all one */
    oracle_loss loss;
    double factor, square, absolute;
    bool intercept;
} convex_problem;

/* w: functions x columns, b: functions */
double convex_value(const convex_problem *p, const double *w, const double *b);
/* Returns the least value, and where it is. At most ORACLE_ROWS rows and ORACLE_WEIGHTS weights and
 * intercepts. */
double convex_minimum(const convex_problem *p, double *w, double *b);

#endif
