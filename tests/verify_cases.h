/* Random honest fits, which must verify, and random changes of their models, which must not. */
#ifndef VERIFY_CASES_H
#define VERIFY_CASES_H

#include "model_cases.h"

/* Fits `count` random specs of the registry to random data (dense, CSR, f32, weights, several
 * classes and targets; ordinary scales) from `seed` on: a fit that converged or stopped verifies.
 */
void assert_honest_fits_verify(int count, uint64_t seed);

/* Changes one number of `count` such models, in a tensor, the report or the spec, by more than
 * rounding: the model is refused or does not verify. */
void assert_changes_are_noticed(int count, uint64_t seed);

#endif
