/* What least squares says of columns beside its optimum: constant ones have weight 0, and where
 * others depend on each other, without a penalty, their rank is so much and the weights are the
 * least of all best ones: they lie in the span of the rows.
 *
 * The factor L of H (verify_curvature.c) has as many columns as the data has of rank, which is
 * found without rounding where that leaves a doubt, and (w, 0) must be L z for some z: z comes from
 * the rows of L that are kept, and each other row says what its weight then is.
 *
 * Rounding. That weight may be off by a millionth of the terms it is the sum of, and by MG_ROUNDING
 * times the condition (of products, squared, as long as training makes them) times all weights,
 * each with its column divided by its length, and times how far columns lie from 0 beside their
 * lengths; and by MG_ROUNDING of what would make all of the fit from its column alone. Where that
 * is more than a thousandth nothing is compared, which is said. So it is where the rank is less
 * than that of the data, at most by columns that training may take for sums of others (sure_rank):
 * along those the weights are free. */
#include "linear/verify/verification.h"

#include <float.h>
#include <string.h>

typedef mg_real real;

static double claimed(const mg_verification *k, const char *item) {
    return k->fit->claimed ? margin_report_item_value(k->fit->claimed, item) : (double)NAN;
}

static bool is_direct(const mg_verification *k) {
    return k->loss->kind == MG_LOSS_SQUARED && k->options->penalty.kappa == 0.0 &&
           !mg_is_descent(k->options->solver);
}

bool mg_verify_is_free(const mg_verification *k) {
    return k->options->penalty.rho == 0.0 && k->options->penalty.kappa == 0.0;
}

bool mg_verify_claims_rank(const mg_verification *k) {
    return is_direct(k) && mg_verify_is_free(k);
}

/* k->v and k->held: a value of a column that is not 0, and how many rows have it; k->far. */
static margin_status read_columns(mg_verification *k, real *rows) {
    const int64_t size = k->columns + 1;
    *rows = 0.0L;
    memset(k->held, 0, (size_t)size * sizeof *k->held);
    memset(k->far, 0, (size_t)size * sizeof *k->far);
    for (int64_t i = 0; i < k->samples; i++) {
        if (!(k->c[i] > 0.0L)) continue;
        MG_TRY(mg_verify_row(k, i));
        *rows += 1.0L;
        for (int64_t e = 0; e < k->entries; e++) {
            const int64_t j = k->at[e];
            k->far[j] += k->c[i] * k->sizes[e] * k->sizes[e];
            if (k->values[e] == 0.0L) continue;
            if (k->held[j] == 0.0L) k->v[j] = k->values[e];
            k->held[j] += k->values[e] == k->v[j] ? 1.0L : -(real)INFINITY;
        }
    }
    return MARGIN_OK;
}

margin_status mg_verify_columns(mg_verification *k) {
    real rows;
    if (!mg_verify_claims_rank(k) && !isnan(claimed(k, "rank")))
        k->fit->verified.contradiction = "it has a rank, which no fit with these options has";
    if (!is_direct(k) && !mg_verify_is_free(k)) return MARGIN_OK;
    MG_TRY(read_columns(k, &rows));
    for (int64_t j = 0; j < k->columns; j++) {
        if (k->held[j] != 0.0L && !(k->options->intercept && k->held[j] == rows)) continue;
        k->far[j] = 0.0L;
        const bool is_zero = k->h->view.linear.weights[j] == 0.0;
        if (is_direct(k) && !is_zero && mg_column_blur(k->problem, j) == 0.0)
            k->fit->verified.contradiction = "a column is constant and its weight is not 0";
    }
    return MARGIN_OK;
}

/* How far columns lie from 0 at most, in their lengths. */
static real find_far(const mg_verification *k, const real *scale) {
    real far = 1.0L;
    for (int64_t j = 0; j < k->columns; j++)
        far = fmaxl(far, scale[j] * sqrtl(k->far[j]));
    return far;
}

/* The share of all weights that rounding may be in one; INFINITY: not known. */
static real noise_of(const mg_extended_factor *f, bool folded, real far) {
    static const real products = 1e11L; /* of more, training makes none */
    const real error = f->error / (8.0L * (real)LDBL_EPSILON * (real)MG_MAX(f->count, 1));
    const real trace = folded ? error * error : error;
    if (!(f->error <= 0.1L)) return (real)INFINITY;
    return (real)MG_ROUNDING * far * (trace > products ? sqrtl(trace) : trace);
}

/* How many columns training surely tells from sums of others. Products of columns tell 1e-5, where
 * its random look at the data misses a direction; products of rows those of columns as long as they
 * are. */
static int64_t sure_rank(const mg_verification *k, const mg_extended_factor *f, const real *scale,
                         real far) {
    const bool wide = k->columns > k->samples;
    real cut = fmaxl(1e-5L, 64.0L * (real)MG_ROUNDING * far), square = 0.0L, least = (real)INFINITY;
    int64_t rank = -k->options->intercept;
    for (int64_t j = 0; j < k->columns && wide; j++) {
        if (!(scale[j] > 0.0L)) continue;
        square += 1.0L / (scale[j] * scale[j]);
        least = fminl(least, 1.0L / scale[j]);
    }
    if (wide && square > 0.0L)
        cut =
            fmaxl(cut, 10.0L * sqrtl(8.0L * (real)k->samples * (real)DBL_EPSILON * square) / least);
    for (int64_t at = 0; at < f->count; at++)
        rank += fabsl(f->matrix[f->order[at] * (f->size + 1)]) > cut;
    return rank;
}

/* Whether w is L z. x: f->size. */
static bool is_least(const mg_verification *k, const mg_extended_factor *f, const real *scale,
                     real noise, real *x) {
    real *blur = k->sizes, all = 0.0L, square = 0.0L; /* no row is at hand */
    for (int64_t i = 0; i < k->samples; i++)
        square += k->c[i] * k->scores[i] * k->scores[i];
    const real whole = (real)MG_ROUNDING * sqrtl(square);
    for (int64_t j = 0; j < f->size; j++) {
        x[j] = j < k->columns ? scale[j] * (real)k->h->view.linear.weights[j] : 0.0L;
        blur[j] = whole * scale[j] * scale[j];
        all += fabsl(x[j]);
    }
    mg_extended_solve(f, x);
    mg_extended_solve(f, blur);
    for (int64_t at = f->count; at < f->size; at++) {
        const int64_t l = f->order[at];
        real rest = x[l], terms = fabsl(x[l]), open = blur[l];
        for (int64_t r = 0; r < f->count; r++) {
            const real term = f->matrix[l * f->size + f->order[r]] * x[f->order[r]];
            rest -= term;
            terms += fabsl(term);
            open += fabsl(f->matrix[l * f->size + f->order[r]] * blur[f->order[r]]);
        }
        if (fabsl(rest) > 1e-6L * terms + noise * all + open) return false;
    }
    return true;
}

/* Of several targets some may come from conjugate gradients, and the report is of all. */
static bool may_mix(const mg_verification *k) {
    const char *solver = k->options->solver;
    return k->fit->parts > 1 &&
           (!solver || strcmp(solver, "auto") == 0 || strcmp(solver, "cg") == 0);
}

static void tell_unknown(mg_verification *k) {
    k->fit->verified.claimed = "its columns depend on each other or almost, and which of all best "
                               "weights these are is not compared";
}

static void deny_least(mg_verification *k) {
    if (may_mix(k))
        tell_unknown(k);
    else
        k->fit->verified.contradiction =
            "its columns depend on each other, and of all best weights its own are not the least";
}

void mg_verify_many_columns(mg_verification *k) {
    if (!isnan(claimed(k, "rank")) || (mg_verify_claims_rank(k) && k->columns >= k->samples))
        tell_unknown(k);
}

void mg_verify_dependence(mg_verification *k, const mg_extended_factor *f, const real *scale,
                          bool folded, real *x) {
    const real far = find_far(k, scale), noise = noise_of(f, folded, far);
    const int64_t rank = f->count - k->options->intercept;
    const double was = claimed(k, "rank");
    const bool sure = noise <= 1e-3L && !k->problem->blur;
    int64_t vary = 0;
    for (int64_t j = 0; j < k->columns; j++)
        vary += k->far[j] > 0.0L;
    if (isnan(was) && rank == vary) return;
    if (!isnan(was) && !k->problem->blur) {
        const double least = (double)sure_rank(k, f, scale, far);
        mg_report_claim(&k->fit->report, &k->fit->verified, "rank",
                        sure ? fmin(fmax(was, least), (double)rank) : was, 0.0);
    }
    if (!sure || isnan(was) || was < (double)rank) tell_unknown(k);
    if (!sure) return;
    if (isnan(was) && !isnan(claimed(k, "condition")) && k->fit->claimed->status == MARGIN_OK)
        k->fit->verified.contradiction = "its columns depend on each other, and it has no rank";
    if (!isnan(was) && !is_least(k, f, scale, noise, x)) deny_least(k);
}

void mg_verify_rank(mg_verification *k, int64_t rank, bool least) {
    if (isnan(claimed(k, "rank"))) return;
    mg_report_claim(&k->fit->report, &k->fit->verified, "rank", (double)rank, 0.0);
    if (!least) deny_least(k);
}
