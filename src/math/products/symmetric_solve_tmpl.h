/* Forward substitution on the lines of a panel: included after the f64 tiles. Two sums for each
 * vector, of even and odd lines, because one alone would wait for itself. */
static void solve_lines(int64_t lines, const double *l, int64_t ld, double *panel) {
    enum { LINE = NAME(WIDTH) };
    for (int64_t i = 0; i < lines; i++) {
        const double *row = l + i * ld;
        double *line = panel + i * LINE;
        VEC even[3], odd[3];
        for (int v = 0; v < 3; v++) {
            even[v] = VEC_LOAD(line + v * VEC_LANES);
            odd[v] = VEC_ZERO();
        }
        int64_t k = 0;
        for (; k + 2 <= i; k += 2) {
            const double *done = panel + k * LINE;
            const VEC first = VEC_SET(-row[k]), second = VEC_SET(-row[k + 1]);
            for (int v = 0; v < 3; v++) {
                even[v] = VEC_FMA(first, VEC_LOAD(done + v * VEC_LANES), even[v]);
                odd[v] = VEC_FMA(second, VEC_LOAD(done + LINE + v * VEC_LANES), odd[v]);
            }
        }
        const VEC last = VEC_SET(k < i ? -row[k] : 0.0), divisor = VEC_SET(row[i]);
        const VEC one = VEC_SET(1.0);
        const double *done = panel + (k < i ? k : 0) * LINE;
        for (int v = 0; v < 3; v++) {
            if (k < i) even[v] = VEC_FMA(last, VEC_LOAD(done + v * VEC_LANES), even[v]);
            VEC_STORE(line + v * VEC_LANES, VEC_DIVIDE(VEC_FMA(odd[v], one, even[v]), divisor));
        }
    }
}
