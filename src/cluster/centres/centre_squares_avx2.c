/* Squared distances to a group of centres with AVX2. */
#include "cluster/centres/centre_squares.h"

#define NAME(x) x##_avx2
#include "cluster/centres/centre_squares_tmpl.h"
