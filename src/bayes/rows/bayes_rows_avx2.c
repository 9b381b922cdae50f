/* Rows of numbers with AVX2. */
#include "bayes/rows/bayes_rows.h"
#include "math/vectors/vec_avx2.h"

enum { TOGETHER = 4, BESIDE = 2 }; /* rows and classes at a time */

#include "bayes/rows/bayes_entries_tmpl.h"

#define VALUE_TYPES_TMPL "bayes/rows/bayes_rows_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

const mg_bayes_kernels mg_bayes_kernels_avx2 = {
    .rows = {{moments_f64, scores_f64, tally_f64, weigh_f64},
             {moments_f32, scores_f32, tally_f32, weigh_f32}},
    .entries = entries};
