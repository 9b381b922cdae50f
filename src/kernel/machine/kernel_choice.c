/* What there is to say of a kernel. */
#include "kernel/machine/kernel_choice.h"

#include <math.h>
#include <stdio.h>

bool mg_kernel_is_definite(const mg_kernel *kernel) {
    return kernel->kind != MG_KERNEL_SIGMOID && kernel->kind < MG_KERNEL_PRECOMPUTED &&
           !(kernel->kind == MG_KERNEL_POLY && kernel->coef0 < 0.0);
}

mg_kernel_name mg_kernel_describe(const mg_kernel *kernel) {
    mg_kernel_name name;
    int64_t length = 0;
    const char *word = mg_choice_at(MG_KERNEL_CHOICES_GRAM, (int)kernel->kind, &length);
    if (kernel->kind == MG_KERNEL_LINEAR || kernel->kind == MG_KERNEL_EXP)
        snprintf(name.text, sizeof name.text, "%.*s", (int)length, word);
    else
        snprintf(name.text, sizeof name.text, "%.*s with gamma %s", (int)length, word,
                 mg_about(kernel->gamma).text);
    return name;
}

double mg_kernel_terms(const mg_kernel *kernel, double value, double x, double z) {
    const double size = fabs(kernel->gamma) * x * z;
    switch (kernel->kind) {
    case MG_KERNEL_POLY:
        return kernel->degree * mg_power(size + fabs(kernel->coef0), kernel->degree);
    case MG_KERNEL_RBF:
        return value * (1.0 + kernel->gamma * (x * x + z * z));
    case MG_KERNEL_EXP:
        return value * (1.0 + x * z);
    case MG_KERNEL_SIGMOID:
        return 1.0 + size;
    case MG_KERNEL_LAPLACIAN:
        return value + 1.0;
    case MG_KERNEL_LINEAR:
    case MG_KERNEL_PRECOMPUTED:
    case MG_KERNEL_FUNCTION:
        break;
    }
    return x * z;
}
