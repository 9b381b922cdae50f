/* Coordinates in which every column has mean 0 and deviation 1, for solvers. */
#include "linear/design/design.h"

#include <math.h>

margin_status mg_design_coordinates(mg_design *d, bool intercept, double *centre, double *factor,
                                    margin_error *error) {
    static const double most = 1e150;
    const bool sparse = mg_is_csr(&d->problem->x);
    char buffer[32];
    double *deviation = factor;
    bool some_constant = false;
    MG_TRY(mg_design_moments(d, sparse, centre, deviation, error));
    for (int64_t j = 0; j < d->columns; j++)
        some_constant |= deviation[j] == 0.0;
    if (some_constant && !sparse) /* perhaps only among the rows that were looked at */
        MG_TRY(mg_design_moments(d, true, centre, deviation, error));
    for (int64_t j = 0; j < d->columns; j++) {
        double spread = deviation[j];
        MG_REQUIRE(spread < most && fabs(centre[j]) < most, error, MG_DATA(OVERFLOW),
                   "the squares of column %s overflow: bring the columns to one scale first "
                   "(standardize | ...), or divide it by a power of ten",
                   mg_column_name(d->problem->columns, j, buffer));
        if (!intercept) {
            spread = hypot(spread, centre[j]);
            centre[j] = 0.0;
        }
        factor[j] = spread > 0.0 && isfinite(1.0 / spread) ? 1.0 / spread : 0.0;
    }
    return MARGIN_OK;
}

double mg_design_from_coordinates(const mg_design *d, const double *centre, const double *factor,
                                  const double *u, double *w) {
    for (int64_t j = 0; j < d->columns; j++)
        w[j] = factor[j] * u[j];
    return u[d->columns] - mg_vector_ops_for(d->isa)->dot(centre, w, d->columns);
}
