/* Rows of numbers in plain C. */
#include "bayes/bayes_rows.h"
#include "math/vectors/vec_ref.h"

enum { TOGETHER = 4, BESIDE = 2 }; /* rows and classes at a time */

#define REAL            double
#define NAME(x)         x##_f64
#define LOAD(p)         vec_load(p)
#define LOAD_PART(p, n) vec_load_part(p, n)
#include "bayes/bayes_rows_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#define REAL            float
#define NAME(x)         x##_f32
#define LOAD(p)         vec_widen(p)
#define LOAD_PART(p, n) vec_widen_part(p, n)
#include "bayes/bayes_rows_tmpl.h"

const mg_bayes_rows mg_bayes_rows_ref[2] = {{moments_f64, scores_f64}, {moments_f32, scores_f32}};
