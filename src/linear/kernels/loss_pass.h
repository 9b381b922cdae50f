/* The loss pass of each instruction set, seen only by the dispatcher in loss.c. */
#ifndef MG_LOSS_PASS_H
#define MG_LOSS_PASS_H

#include "linear/kernels/loss.h"

typedef double (*mg_loss_passer)(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                                 double *slopes, double *curvatures);
double mg_loss_pass_ref(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                        double *slopes, double *curvatures);
#if defined(__x86_64__)
double mg_loss_pass_avx2(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                         double *slopes, double *curvatures);
double mg_loss_pass_avx512(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                           double *slopes, double *curvatures);
#endif

#endif
