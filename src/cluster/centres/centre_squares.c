/* Squared distances to centres: packing, and the loop over groups. */
#include "cluster/centres/centre_squares.h"

#include "cluster/centres/centre_kernels.h"

#include <string.h>

static int64_t groups_of(int64_t count) {
    return (count + MG_CENTRE_GROUP - 1) / MG_CENTRE_GROUP;
}

int64_t mg_centres_packed(int64_t count, int64_t columns) {
    return groups_of(count) * MG_CENTRE_GROUP * columns;
}

void mg_centres_pack(const double *centres, int64_t count, int64_t columns, double *packed) {
    for (int64_t k = 0; k < groups_of(count) * MG_CENTRE_GROUP; k++) {
        const double *centre = centres + MG_MIN(k, count - 1) * columns;
        double *to = packed + k / MG_CENTRE_GROUP * MG_CENTRE_GROUP * columns + k % MG_CENTRE_GROUP;
        for (int64_t j = 0; j < columns; j++)
            to[j * MG_CENTRE_GROUP] = centre[j];
    }
}

void mg_centre_squares(mg_isa isa, const double *x, int64_t columns, const double *packed,
                       int64_t count, double *squares) {
    const mg_centre_kernels *kernels = MG_ISA_TABLE(isa, mg_centre_kernels);
    double last[MG_CENTRE_GROUP];
    int64_t k = 0;
    for (; k + MG_CENTRE_GROUP <= count; k += MG_CENTRE_GROUP)
        kernels->group_squares(x, columns, packed + k * columns, squares + k);
    if (k == count) return;
    kernels->group_squares(x, columns, packed + k * columns, last);
    memcpy(squares + k, last, (size_t)(count - k) * sizeof *last);
}
