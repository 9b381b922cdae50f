/* The loops of a group: plain C that the compiler turns into vectors of whatever length, since
 * centres do not mix. */
static void group_squares(const double *x, int64_t columns, const double *group, double *squares) {
    double sum[MG_CENTRE_GROUP] = {0.0};
    for (int64_t j = 0; j < columns; j++) {
        const double value = x[j], *centre = group + j * MG_CENTRE_GROUP;
        for (int k = 0; k < MG_CENTRE_GROUP; k++) {
            const double difference = value - centre[k];
            sum[k] += difference * difference;
        }
    }
    for (int k = 0; k < MG_CENTRE_GROUP; k++)
        squares[k] = sum[k];
}
