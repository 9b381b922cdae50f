/* What the report claims, once more from the model and the data: kernel values of pairs of rows,
 * plain sums in extended precision. The dual variables are those that the model keeps; that they
 * are the coefficients of its support rows, within their bounds, is checked. */
#include "kernel/svm/kernel_svm.h"

#include "base/sort.h"
#include "kernel/svm/svm_machine.h"
#include "learn/kernels/kernel_sums.h"
#include "math/rows/row_pair.h"

#include <float.h>
#include <math.h>

typedef long double real;

typedef struct svm_check {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    mg_svm_options options;
    double *beta, *score,
        *blur;        /* of each sample; blur: what rounding may have made of its score */
    int64_t *entries; /* of the rows of x: which coefficient is theirs, or -1 */
    int64_t support, bounded;
} svm_check;

static void contradict(svm_check *k, const char *what) {
    if (!k->fit->verified.contradiction) k->fit->verified.contradiction = what;
}

/* ---- Dual variables -------------------------------------------------------------------------- */

static void take_beta(svm_check *k) {
    const mg_hypothesis *h = k->h;
    int64_t at = 0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        double low, high, target;
        mg_svm_box(&k->options, k->problem, i, &low, &high, &target);
        k->beta[i] = 0.0;
        if (at == h->dual_starts[1] || h->dual_rows[at] != mg_sample_original(k->problem, i))
            continue;
        const double beta = h->dual_signs[at] * h->dual_coefficients[at];
        k->beta[i] = beta;
        const double slack = MG_ROUNDING * fmax(fabs(low), fabs(high));
        if (h->dual_updates[at] != h->dual_coefficients[at])
            contradict(k, "the dual coefficients of the model are not those of its last update");
        if (beta < low - slack || beta > high + slack)
            contradict(k, "a dual coefficient of the model is beyond its bound");
        k->support++;
        k->bounded += beta == low || beta == high;
        at++;
    }
    if (at != h->dual_starts[1])
        contradict(k, "a dual coefficient of the model belongs to no row of the data");
}

static bool same_row(const svm_check *k, int64_t support, int64_t sample) {
    const int64_t row = mg_sample_row(k->problem, sample);
    if (k->h->view.expansion.kernel.kind == MG_KERNEL_PRECOMPUTED)
        return mg_kernel_sums_place(k->h, support) == mg_sample_original(k->problem, sample);
    return mg_alike_rows(&k->h->view.expansion.support, support, &k->problem->x, row,
                         mg_row_blur(k->problem, row));
}

/* Support rows stand in the order of their numbers in x; one that was selected twice stands once,
 * with the sum. */
static margin_status check_support(svm_check *k) {
    const mg_hypothesis *h = k->h;
    const bool given = h->view.expansion.kernel.kind == MG_KERNEL_PRECOMPUTED;
    mg_svm_placed *list;
    int64_t count = 0, at = 0;
    bool same = true;
    MG_NEW(k->fit->context->heap, list, 2 * k->problem->count, "the support rows", k->fit->error);
    for (int64_t i = 0; i < k->problem->count; i++)
        if (k->beta[i] != 0.0)
            list[count++] = (mg_svm_placed){
                given ? mg_sample_original(k->problem, i) : mg_sample_row(k->problem, i), i};
    mg_sort_few_items(list, count, sizeof *list, list + k->problem->count, mg_svm_by_position);
    for (int64_t n = 0; n < count && same; at++) {
        double sum = 0.0;
        const int64_t first = n;
        for (; n < count && list[n].position == list[first].position; n++)
            sum += k->beta[list[n].sample];
        same = at < h->view.expansion.starts[1] && h->view.expansion.coefficients[at] == sum &&
               same_row(k, h->view.expansion.entries[at], list[first].sample);
        if (same) k->entries[mg_sample_row(k->problem, list[first].sample)] = at;
    }
    if (!same || at != h->view.expansion.starts[1])
        contradict(k, "the support rows are not those of the dual coefficients");
    mg_free(k->fit->context->heap, list);
    return MARGIN_OK;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static margin_status score_rows(const mg_block *block, void *argument) {
    const svm_check *k = argument;
    const double b = fabs(k->h->view.expansion.intercept[0]);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        double low, high, target;
        if (mg_cancelled(k->fit->context)) return MARGIN_ERROR_CANCELLED;
        mg_svm_box(&k->options, k->problem, i, &low, &high, &target);
        k->score[i] = mg_kernel_sums_sample(k->fit, k->h, k->entries, i, &k->blur[i]);
        k->blur[i] += MG_ROUNDING * (b + fabs(target) + k->options.epsilon);
    }
    return MARGIN_OK;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

typedef struct svm_sums {
    real energy, gap, loss, rounding, sum; /* sum: of beta */
    double up, lowest, sizes, blur, most;  /* sizes: of beta; the greatest blur and residual */
} svm_sums;

static svm_sums add_up(const svm_check *k) {
    svm_sums s = {.up = (double)INFINITY, .lowest = -(double)INFINITY};
    const double epsilon = k->options.epsilon, b = k->h->view.expansion.intercept[0];
    for (int64_t i = 0; i < k->problem->count; i++) {
        double low, high, target;
        mg_svm_box(&k->options, k->problem, i, &low, &high, &target);
        const real beta = (real)k->beta[i], f = (real)k->score[i];
        const real r = f + (real)b - (real)target, over = -r - (real)epsilon,
                   under = r - (real)epsilon;
        const real cost = over > 0.0L    ? (real)high * over
                          : under > 0.0L ? -(real)low * under
                                         : 0.0L;
        s.energy += beta * f;
        s.loss += cost;
        s.gap += cost + beta * r + (real)epsilon * fabsl(beta);
        const real near = (fabsl(r) <= (real)epsilon + (real)k->blur[i]) || cost > 0.0L;
        s.rounding += (fabsl(beta) + near * (real)fmax(high, -low)) * (real)k->blur[i];
        s.rounding += (real)MG_ROUNDING * (cost + fabsl(beta * r));
        s.sum += beta;
        s.sizes += fabs((double)beta);
        s.blur = fmax(s.blur, k->blur[i]);
        s.most = fmax(s.most, (double)fabsl(r) + epsilon);
        const double slope = (double)(f - (real)target);
        if ((double)beta < high)
            s.up = fmin(s.up, slope + ((double)beta >= 0.0 ? epsilon : -epsilon));
        if ((double)beta > low)
            s.lowest = fmax(s.lowest, slope + ((double)beta > 0.0 ? epsilon : -epsilon));
    }
    return s;
}

/* What beta misses its sum by is taken from all of one sign in proportion. This costs the dual what
 * is added here, and to second order less than rounding. */
static void balance(svm_check *k, double total, svm_sums *s) {
    const double missing = (double)fabsl(s->sum - (real)total);
    s->gap += (real)(missing * s->most);
    s->rounding += (real)(missing * s->most);
    if (missing > sqrt(DBL_EPSILON) * s->sizes)
        contradict(k, "the dual coefficients do not add up");
}

static void claim_all(svm_check *k, bool definite) {
    svm_sums s = add_up(k);
    margin_report *report = &k->fit->report;
    mg_verified *verified = &k->fit->verified;
    const double spelled = k->options.penalty.rho;
    const double total = mg_svm_total(&k->options, k->problem);
    balance(k, total, &s);
    const real primal =
        s.energy / 2.0L + s.loss + (real)k->h->view.expansion.intercept[0] * (real)total;
    report->objective = spelled * (double)primal;
    report->gap = spelled * fmax((double)s.gap, 0.0) / fmax(1.0, fabs(report->objective));
    report->tolerance = k->options.tolerance;
    verified->objective = verified->gap = spelled * (double)s.rounding;
    const mg_smo ends = {.up = s.up, .lowest = s.lowest, .total = total};
    if (fabs(k->h->view.expansion.intercept[0] - mg_smo_intercept(&ends)) > 2.0 * s.blur)
        contradict(k, "the intercept is not that of the dual coefficients");
    mg_svm_describe(&k->options, &k->h->view.expansion.kernel, report);
    mg_report_claim(report, verified, "support_vectors", (double)k->support, 0.0);
    mg_report_claim(report, verified, "bounded_vectors", (double)k->bounded, 0.0);
    const double kkt = fmax(s.lowest - s.up, 0.0);
    mg_report_claim(report, verified, "kkt", isfinite(kkt) ? kkt : 0.0, 2.0 * s.blur);
    const bool holds = k->options.kkt > 0.0
                           ? kkt <= k->options.kkt + 2.0 * s.blur
                           : spelled * (double)(s.gap - s.rounding) <=
                                 k->options.tolerance * fmax(1.0, fabs(report->objective));
    report->status = holds && definite ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    if (!definite) report->gap = (double)INFINITY; /* the dual is no bound */
}

margin_status mg_kernel_svm_verify(mg_fit *fit, const mg_hypothesis *h) {
    svm_check k = {.fit = fit, .problem = fit->problem, .h = h};
    bool definite;
    MG_SCOPED_ARENA(arena, fit->context->heap);
    MG_REQUIRE(h->dual_starts && h->functions == 1, fit->error, MARGIN_ERROR_MODEL,
               "the model has no dual coefficients, which are its proof");
    k.options = mg_svm_options_of(&fit->learner->info, fit->options, fit->problem);
    MG_TRY(mg_kernel_sums_skew(fit, h));
    MG_TRY(MG_PIECES(&arena, "the verification", fit->error,
                     MG_PIECE(k.beta, 3 * fit->problem->count),
                     MG_PIECE(k.entries, fit->problem->x.rows)));
    for (int64_t row = 0; row < fit->problem->x.rows; row++)
        k.entries[row] = -1;
    k.score = k.beta + fit->problem->count;
    k.blur = k.score + fit->problem->count;
    take_beta(&k);
    MG_TRY(check_support(&k));
    const margin_status status =
        mg_sweep_each(fit->context, fit->problem->count, 16, score_rows, &k, NULL);
    MG_TRY(mg_kernel_fail(status, fit->error));
    MG_TRY(mg_kernel_sums_definite(fit, h, &definite));
    claim_all(&k, definite);
    return MARGIN_OK;
}
