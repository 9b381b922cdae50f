/* Sums over pairs of rows once more, for verification. */
#include "learn/kernels/kernel_sums.h"

#include "base/sort.h"
#include "math/gram/gram.h"
#include "math/rows/row_pair.h"

#include <math.h>

double mg_kernel_terms(const mg_kernel *kernel, double value, double x, double z) {
    const double size = fabs(kernel->gamma) * x * z;
    switch (kernel->kind) {
    case MG_KERNEL_POLY:
        return kernel->degree * mg_power(size + fabs(kernel->coef0), kernel->degree);
    case MG_KERNEL_RBF:
        return value * (1.0 + kernel->gamma * (x * x + z * z));
    case MG_KERNEL_EXP:
        return value * (1.0 + x * z);
    case MG_KERNEL_SIGMOID: /* by its slope, which so little of its argument changes by a quarter */
        return 1.0 + size * (MG_ROUNDING * size < 0.1 ? 1.25 * (1.0 - value * value) : 1.0);
    case MG_KERNEL_LAPLACIAN:
        return value + 1.0;
    case MG_KERNEL_FUNCTION:
    case MG_KERNEL_PRECOMPUTED:
        return fabs(value);
    case MG_KERNEL_LINEAR:
        break;
    }
    return x * z;
}

/* How far k(x, z) moves at most where a stage has moved x by |blur|. */
static double moved_by(const mg_kernel *kernel, int64_t columns, double value, double x, double z,
                       double blur) {
    const double gamma = fabs(kernel->gamma);
    switch (kernel->kind) {
    case MG_KERNEL_POLY:
        return kernel->degree * gamma * z * blur *
               mg_power(gamma * (x + blur) * z + fabs(kernel->coef0), kernel->degree - 1);
    case MG_KERNEL_RBF: /* its slope is at most sqrt(2 gamma / e) */
        return sqrt(gamma) * blur;
    case MG_KERNEL_EXP:
        return value * expm1(z * blur);
    case MG_KERNEL_SIGMOID:
        return gamma * z * blur;
    case MG_KERNEL_LAPLACIAN:
        return gamma * sqrt((double)columns) * blur;
    case MG_KERNEL_FUNCTION: /* nobody knows */
    case MG_KERNEL_PRECOMPUTED:
        return 0.0;
    case MG_KERNEL_LINEAR:
        break;
    }
    return z * blur;
}

/* Support rows are those of training. */
static double blur_of(const mg_problem *p, const margin_matrix *x, int64_t row) {
    return x == &p->x ? sqrt(fmax(mg_row_blur(p, row), 0.0)) : 0.0;
}

static double norm_of(const margin_matrix *x, int64_t row) {
    const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
    return sqrt(mg_kernel_rows(NULL, &linear, x, row, x, row));
}

/* ---- Support rows and samples ---------------------------------------------------------------- */

int64_t mg_kernel_sums_place(const mg_hypothesis *h, int64_t support) {
    const margin_matrix *s = &h->view.expansion.support;
    if (!mg_is_csr(s) || mg_row_start(s, support + 1) - mg_row_start(s, support) != 1) return -1;
    const int64_t k = mg_row_start(s, support);
    return mg_stored_value(s, k) == 1.0 ? mg_column_index(s, k) : -1;
}

/* The coefficient of a column of a precomputed kernel; -1: none. Columns ascend. */
static int64_t entry_at(const mg_hypothesis *h, int64_t place) {
    const int32_t *entries = h->view.expansion.entries;
    const int64_t end = h->view.expansion.starts[1];
    int64_t at;
    MG_BISECT(at, h->view.expansion.starts[0], end, mg_kernel_sums_place(h, entries[at]) < place);
    return at < end && mg_kernel_sums_place(h, entries[at]) == place ? at : -1;
}

static bool match_places(const mg_problem *p, const mg_hypothesis *h, int64_t *entries) {
    const mg_kernel_points points = mg_kernel_points_of(p);
    int64_t found = 0;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t *entry = &entries[mg_sample_row(p, i)];
        if (*entry >= 0) continue;
        *entry = entry_at(h, mg_point_place(&points, i));
        if (*entry < 0) return false;
        found++;
    }
    return found == h->view.expansion.starts[1] - h->view.expansion.starts[0];
}

static bool match_rows(const mg_problem *p, const mg_hypothesis *h, int64_t *entries) {
    int64_t at = h->view.expansion.starts[0];
    const int64_t end = h->view.expansion.starts[1];
    bool same = true;
    for (int64_t i = 0; i < p->count; i++)
        entries[mg_sample_row(p, i)] = 0;
    for (int64_t row = 0; row < p->x.rows && same; row++) {
        if (entries[row] < 0) continue;
        same = at < end && mg_alike_rows(&h->view.expansion.support, h->view.expansion.entries[at],
                                         &p->x, row, mg_row_blur(p, row));
        entries[row] = at++;
    }
    return same && at == end;
}

margin_status mg_kernel_sums_skew(mg_fit *fit, const mg_hypothesis *h) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    double *skew = &fit->verified.skew;
    MG_TRY(mg_kernel_check(fit->context, kernel, &points, fit->error));
    for (int64_t i = 0; kernel->kind == MG_KERNEL_PRECOMPUTED && i < points.count; i++) {
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        for (int64_t j = 0; j < i; j++)
            *skew = fmax(*skew, fabs(mg_kernel_pair(NULL, kernel, &points, i, j) -
                                     mg_kernel_pair(NULL, kernel, &points, j, i)));
    }
    return MARGIN_OK;
}

void mg_kernel_sums_match(mg_fit *fit, const mg_hypothesis *h, int64_t *entries, bool *matches) {
    const mg_problem *p = fit->problem;
    const bool given = h->view.expansion.kernel.kind == MG_KERNEL_PRECOMPUTED;
    for (int64_t row = 0; row < p->x.rows; row++)
        entries[row] = -1;
    *matches = h->view.expansion.starts[0] == h->view.expansion.starts[1] ||
               (given ? match_places : match_rows)(p, h, entries);
    if (*matches) return;
    fit->verified.contradiction = "its support rows are not those of the data";
    for (int64_t row = 0; row < p->x.rows; row++)
        entries[row] = -1;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* k(s, x) for a support row, which of a precomputed kernel picks a value of x. */
static double support_value(const mg_fit *fit, const mg_hypothesis *h, int64_t s,
                            const margin_matrix *x, int64_t row) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const int64_t place = kernel->kind == MG_KERNEL_PRECOMPUTED ? mg_kernel_sums_place(h, s) : -1;
    if (place >= 0) return mg_dense_value(x, row, place);
    return mg_kernel_rows(fit->context, kernel, &h->view.expansion.support, s, x, row);
}

double mg_kernel_sums_score(const mg_fit *fit, const mg_hypothesis *h, const margin_matrix *x,
                            int64_t row, double *blur) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const margin_matrix *support = &h->view.expansion.support;
    const double norm = blur ? norm_of(x, row) : 0.0;
    const double made = blur_of(fit->problem, x, row);
    long double sum = 0.0L;
    if (blur) *blur = 0.0;
    for (int64_t k = h->view.expansion.starts[0]; k < h->view.expansion.starts[1]; k++) {
        const int64_t s = h->view.expansion.entries[k];
        const double a = h->view.expansion.coefficients[k];
        const double value = support_value(fit, h, s, x, row);
        sum += (long double)a * (long double)value;
        if (!blur) continue;
        const double z = sqrt(h->view.expansion.squares[s]);
        const bool exact =
            kernel->kind == MG_KERNEL_RBF && value == 1.0 && mg_same_rows(support, s, x, row);
        const double rounding = exact ? MG_ROUNDING
                                      : MG_ROUNDING * mg_kernel_terms(kernel, value, norm, z) +
                                            moved_by(kernel, x->columns, value, norm, z, made);
        *blur += fabs(a) * (rounding + fit->verified.skew);
    }
    return (double)sum;
}

/* The row of a sample as training saw it: the support row that stands for it, or that of x. */
typedef struct seen_row {
    const margin_matrix *x;
    int64_t row;
} seen_row;

static seen_row row_seen(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                         int64_t sample) {
    const int64_t row = mg_sample_row(fit->problem, sample);
    if (!entries || entries[row] < 0 || h->view.expansion.kernel.kind == MG_KERNEL_PRECOMPUTED)
        return (seen_row){&fit->problem->x, row};
    return (seen_row){&h->view.expansion.support, h->view.expansion.entries[entries[row]]};
}

double mg_kernel_sums_sample(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                             int64_t sample, double *blur) {
    const seen_row seen = row_seen(fit, h, entries, sample);
    return mg_kernel_sums_score(fit, h, seen.x, seen.row, blur);
}

/* k of two samples. */
static double pair_value(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                         int64_t i, int64_t j) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    if (kernel->kind == MG_KERNEL_PRECOMPUTED)
        return mg_kernel_pair(fit->context, kernel, &points, i, j);
    const seen_row a = row_seen(fit, h, entries, i), b = row_seen(fit, h, entries, j);
    return mg_kernel_rows(fit->context, kernel, a.x, a.row, b.x, b.row);
}

static double support_norm(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                           int64_t sample) {
    const int64_t entry = entries[mg_sample_row(fit->problem, sample)];
    return sqrt(h->view.expansion.squares[h->view.expansion.entries[entry]]);
}

double mg_kernel_sums_pair(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                           int64_t i, int64_t j, double *blur) {
    const double x = support_norm(fit, h, entries, i), z = support_norm(fit, h, entries, j);
    const double value = pair_value(fit, h, entries, i, j);
    *blur =
        MG_ROUNDING * mg_kernel_terms(&h->view.expansion.kernel, value, x, z) + fit->verified.skew;
    return value;
}

double mg_kernel_sums_square(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                             int64_t sample, double *blur) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const seen_row seen = row_seen(fit, h, entries, sample);
    const double made = blur_of(fit->problem, seen.x, seen.row);
    const double norm = norm_of(seen.x, seen.row);
    const double value = pair_value(fit, h, entries, sample, sample);
    const double moved = moved_by(kernel, seen.x->columns, value, norm, norm + made, made);
    *blur = MG_ROUNDING * mg_kernel_terms(kernel, value, norm, norm) +
            (mg_kernel_basis_of(kernel->kind) == MG_OF_PRODUCTS ? 2.0 * moved : 0.0);
    return value;
}

/* The support rows themselves; of a precomputed kernel the samples' rows, one for each column.
 * rows[s]: which; -1: of none, and f is then 0 there. */
static margin_status rows_of_support(const mg_fit *fit, const mg_hypothesis *h, int64_t **rows) {
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    const int64_t count = h->view.expansion.support.rows;
    *rows = NULL;
    if (h->view.expansion.kernel.kind != MG_KERNEL_PRECOMPUTED) return MARGIN_OK;
    MG_NEW(fit->context->heap, *rows, count, "the support rows", fit->error);
    for (int64_t s = 0; s < count; s++)
        (*rows)[s] = -1;
    for (int64_t i = 0; i < points.count; i++) {
        const int64_t at = entry_at(h, mg_point_place(&points, i));
        if (at >= 0) (*rows)[h->view.expansion.entries[at]] = mg_point_row(&points, i);
    }
    return MARGIN_OK;
}

margin_status mg_kernel_sums_norm(const mg_fit *fit, const mg_hypothesis *h, long double *norm,
                                  double *blur) {
    const margin_matrix *x = &h->view.expansion.support;
    margin_status status = MARGIN_OK;
    int64_t *rows;
    *norm = 0.0L;
    *blur = 0.0;
    MG_TRY(rows_of_support(fit, h, &rows));
    if (rows) x = &fit->problem->x;
    for (int64_t k = h->view.expansion.starts[0]; k < h->view.expansion.starts[1]; k++) {
        const int64_t s = h->view.expansion.entries[k], row = rows ? rows[s] : s;
        double of_score;
        if (row < 0) continue;
        if (mg_cancelled(fit->context)) {
            status = mg_fail_cancelled(fit->error);
            break;
        }
        const double f = mg_kernel_sums_score(fit, h, x, row, &of_score);
        *norm += (long double)h->view.expansion.coefficients[k] * (long double)f;
        *blur += fabs(h->view.expansion.coefficients[k]) * of_score;
    }
    mg_free(fit->context->heap, rows);
    return status;
}

margin_status mg_kernel_sums_distance(const mg_fit *fit, const mg_hypothesis *h,
                                      const int64_t *entries, const double *u, const double *f,
                                      long double norm, double *distance, double *blur) {
    const int64_t count = fit->problem->count;
    long double cross = 0.0L, square = 0.0L, sizes = 0.0L;
    double all = 0.0;
    for (int64_t i = 0; i < count; i++) {
        long double sum = 0.0L, terms = 0.0L;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        for (int64_t j = 0; j < count; j++) {
            const long double term =
                (long double)u[j] * (long double)pair_value(fit, h, entries, j, i);
            sum += term;
            terms += fabsl(term);
        }
        square += (long double)u[i] * sum;
        all += fabs(u[i]);
        sizes += fabsl((long double)u[i]) * terms;
        cross += (long double)u[i] * (long double)f[i];
    }
    *distance = (double)fmaxl(norm - 2.0L * cross + square, 0.0L);
    *blur = MG_ROUNDING * (double)sizes + fit->verified.skew * all * all;
    return MARGIN_OK;
}

margin_status mg_kernel_sums_definite(const mg_fit *fit, const mg_hypothesis *h, bool *definite) {
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    mg_kernel_curvature found;
    MG_TRY(mg_kernel_decide(fit->context, &h->view.expansion.kernel, &points, &found, fit->error));
    const bool decides = found != MG_KERNEL_UNDECIDED || points.count > MG_MOST_DECIDED;
    MG_REQUIRE(
        decides || isinf(fit->claimed->gap), fit->error, MG_CAUSE(MARGIN_ERROR_LIMIT, MEMORY_LIMIT),
        "the model's gap rests on whether its kernel is an inner product on these rows, and "
        "there is too little memory to decide that (%s); raise the limit",
        mg_bytes((uint64_t)(2 * mg_gram_bytes(points.count, MARGIN_F64, points.count))).text);
    *definite = found == MG_KERNEL_DEFINITE;
    return MARGIN_OK;
}
