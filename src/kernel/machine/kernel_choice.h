/* The kernel of a call, and what there is to say of it. */
#ifndef MG_KERNEL_CHOICE_H
#define MG_KERNEL_CHOICE_H

#include "learn/kernel_options.h"
#include "learn/penalty.h"

/* For a learner's `share`: the kernel of all samples of the call, as functions over one set of
 * support rows have one kernel. */
margin_status mg_kernel_share(mg_shared *shared, const mg_kernel_choice *choice,
                              const char *learner);
/* The kernel of a fit: the one that is shared, or its own. */
margin_status mg_kernel_of_fit(const mg_fit *fit, const mg_kernel_choice *choice,
                               const char *learner, mg_kernel *kernel);

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
