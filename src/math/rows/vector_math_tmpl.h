/* Both functions over arrays: included by an instruction-set file after its vector type. */
#include "math/vectors/vec_exp_tmpl.h"
#include "math/vectors/vec_log1p_tmpl.h"

#include <string.h>

typedef vec (*vector_function)(vec);

/* `f` is a constant where this is called. The last elements go through a full vector too. */
MG_INLINE void map_array(vector_function f, const double *x, int64_t count, double *out) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        vec_store(out + i, f(vec_load(x + i)));
    if (i == count) return;
    double last[LANES] = {0};
    const size_t bytes = (size_t)(count - i) * sizeof *x;
    memcpy(last, x + i, bytes);
    vec_store(last, f(vec_load(last)));
    memcpy(out + i, last, bytes);
}

static void exp_array(const double *x, int64_t count, double *out) {
    map_array(vec_exp, x, count, out);
}

static void log1p_array(const double *x, int64_t count, double *out) {
    map_array(vec_log1p, x, count, out);
}
