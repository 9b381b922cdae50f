/* margin/path.h - one learner under many penalties, solved together.
 *
 * A spec with a set of penalties, `standardize | ridge(alpha={1e-3..1e3 log 20})`, is one
 * factorisation and one pass: for each penalty the solution with its proof, and how well it
 * predicts rows that it was not fitted to, in closed form. The numbers are those of leaving out
 * each row in turn and fitting again, for the cost of a few passes over the data. (The stages are
 * not fitted again: they have seen the row.) */
#ifndef MARGIN_PATH_H
#define MARGIN_PATH_H

#include "margin/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct margin_path_point {
    const char *spec;        /* of this penalty alone, canonical: what margin_fit takes */
    double C, alpha, lambda; /* the penalty in its three spellings */
    double objective;        /* in the spelling that was given */
    double gap;              /* as in a report of the learner */
    double freedom;          /* effective degrees of freedom: trace of the hat matrix, the
                                intercept counted */
    double train_rmse;
    double leave_one_out_rmse; /* root mean square of the errors at rows left out, alpha kept;
                                  weighted as the rows are, and a row is left out with its whole
                                  weight; infinite if leaving one out leaves it undetermined */
    double gcv_rmse;           /* generalised cross-validation (Golub, Heath and Wahba 1979), as a
                                  root: every leverage replaced by the mean one */
    const double *weights;     /* in original units, over the features of a model of this spec;
                                  NULL: it is not linear */
    double intercept;
} margin_path_point;

typedef struct margin_path_result {
    size_t size;                   /* sizeof(margin_path_result), set by the caller */
    int64_t rows, features, count; /* count: of the penalties */
    int64_t best;                  /* least leave-one-out error, the first of equals */
    double seconds;
    int32_t threads;
    void *inner; /* owns the points */
} margin_path_result;

/* Penalty `number` in the order of the set, from 0; NULL beyond the last. Valid until
 * margin_path_free. */
MARGIN_API const margin_path_point *margin_path_point_at(const margin_path_result *result,
                                                         int64_t number);

/* Fits `spec`, whose sets are penalties of its learner (C, alpha or lambda; none: one point), to
 * `data`. Learner: ridge or kernel-ridge. OK; SPEC: another learner, sets elsewhere; the failures
 * of margin_fit; LIMIT beyond 4096 columns (kernel-ridge: rows), or where the time limit comes
 * before a first answer; one that comes later ends the corrections, as the gaps tell. To get a
 * model of a point, pass its spec to margin_fit. Cost: m n^2 for the products, 10 n^3 for their
 * eigenvectors, m n (n + 3 count) for one pass. Does not depend on the number of threads. */
MARGIN_API MARGIN_CHECKED margin_status margin_path(margin_context *context,
                                                    const margin_spec *spec,
                                                    const margin_data *data,
                                                    margin_path_result *result,
                                                    margin_error *error);
MARGIN_API void margin_path_free(margin_path_result *result);

#ifdef __cplusplus
}
#endif
#endif
