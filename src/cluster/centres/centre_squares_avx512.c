/* Squared distances to a group of centres with AVX-512. */
#include "cluster/centres/centre_squares.h"

#define NAME(x) x##_avx512
#include "cluster/centres/centre_squares_tmpl.h"
