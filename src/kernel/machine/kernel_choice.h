/* What there is to say of a kernel. */
#ifndef MG_KERNEL_CHOICE_H
#define MG_KERNEL_CHOICE_H

#include "learn/kernel_options.h"
#include "learn/penalty.h"

/* k is an inner product for any rows: none of its Gram matrices has a negative eigenvalue. */
bool mg_kernel_is_definite(const mg_kernel *kernel);

/* "rbf with gamma 0.02" */
typedef struct mg_kernel_name {
    char text[96];
} mg_kernel_name;
mg_kernel_name mg_kernel_describe(const mg_kernel *kernel);

/* What the rounding of k(x, z) is a small part of, its terms before they cancel; x and z: the norms
 * of the rows. */
double mg_kernel_terms(const mg_kernel *kernel, double value, double x, double z);

#endif
