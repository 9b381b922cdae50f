/* The dual of a kernel machine solved by plain steps of two variables on the whole matrix, sharing
 * nothing with the library. */
#ifndef SVM_ORACLE_H
#define SVM_ORACLE_H

#include <stdint.h>

typedef struct {
    int64_t rows;
    const double *gram;                /* rows x rows */
    const double *target, *low, *high; /* of each variable */
    double epsilon;
    double *beta;                   /* feasible on entry */
    double primal, dual, intercept; /* results */
} svm_oracle;
void svm_oracle_solve(svm_oracle *o);

typedef enum {
    ORACLE_POLY,
    ORACLE_RBF,
    ORACLE_EXP,
    ORACLE_SIGMOID,
    ORACLE_LAPLACIAN
} oracle_kernel;
double oracle_value(oracle_kernel kind, double gamma, double coef0, int degree, const double *x,
                    const double *z, int64_t columns);

#endif
