/* Four numbers of type REAL as one value, which compilers turn into vectors of whatever they may
 * use: included with NAME(x) (adds the suffix) defined. */
typedef struct NAME(four) {
    REAL x[FOUR];
} NAME(four);

MG_INLINE NAME(four) NAME(four_set)(REAL value) {
    NAME(four) a;
    for (int i = 0; i < FOUR; i++)
        a.x[i] = value;
    return a;
}

MG_INLINE NAME(four) NAME(four_load)(const REAL *p) {
    NAME(four) a;
    for (int i = 0; i < FOUR; i++)
        a.x[i] = p[i];
    return a;
}

MG_INLINE NAME(four) NAME(four_multiply_add)(NAME(four) a, NAME(four) b, NAME(four) c) {
    for (int i = 0; i < FOUR; i++)
        c.x[i] = a.x[i] * b.x[i] + c.x[i];
    return c;
}

MG_INLINE NAME(four) NAME(four_divide)(NAME(four) a, NAME(four) b) {
    for (int i = 0; i < FOUR; i++)
        a.x[i] /= b.x[i];
    return a;
}

MG_INLINE void NAME(four_store)(REAL *p, NAME(four) a) {
    for (int i = 0; i < FOUR; i++)
        p[i] = a.x[i];
}

MG_INLINE void NAME(four_add_to)(double *c, NAME(four) v, double sign) {
    for (int i = 0; i < FOUR; i++)
        c[i] += sign * (double)v.x[i];
}

#ifndef VEC
#define VEC                    NAME(four)
#define VEC_LANES              FOUR
#define VEC_ZERO()             NAME(four_set)(0)
#define VEC_LOAD(p)            NAME(four_load)(p)
#define VEC_STORE(p, a)        NAME(four_store)(p, a)
#define VEC_SET(x)             NAME(four_set)(x)
#define VEC_FMA(a, b, c)       NAME(four_multiply_add)(a, b, c)
#define VEC_DIVIDE(a, b)       NAME(four_divide)(a, b)
#define VEC_ADD_TO(c, v, sign) NAME(four_add_to)(c, v, sign)
#endif
