/* The proof again, by plain loops: inertia, sizes, and what one more step of Lloyd's would change.
 * By the rule of rounding (learn/report.h) a distance may be off by MG_ROUNDING times the sizes of
 * its two points, and a mean by the same share of the rows that it is of; rows from which two
 * centres are equally far but for that may be in the cluster of either. */
#include "cluster/learner/kmeans_learner.h"
#include "cluster/learner/silhouette.h"

#include <math.h>
#include <string.h>

typedef struct check {
    const mg_problem *p;
    int64_t k, n;
    double *row, *means, *sizes;
    long double *sums; /* k x n */
    int32_t *labels;
    long double inertia, second;
    /* What rounding may have made of them, of the gain of a step and of the size of a cluster. */
    double inertia_blur, second_blur, gain_blur, size_blur;
    double *spread; /* k: sums of the sizes of rows */
} check;

static double size_of(const check *c, const double *x) {
    double sum = 0;
    for (int64_t j = 0; j < c->n; j++)
        sum += fabs(x[j]) + mg_column_blur(c->p, j) / MG_ROUNDING;
    return sum;
}

/* Nearest of k centres, ties to the first; *second: the distance to the next. *reach: the size of
 * the larger of both. */
static int64_t nearest(const check *c, const double *centres, double *least, double *second,
                       double *reach) {
    int64_t best = 0, next = 0;
    *least = *second = (double)INFINITY;
    for (int64_t m = 0; m < c->k; m++) {
        double square = 0;
        for (int64_t j = 0; j < c->n; j++) {
            const double d = c->row[j] - centres[m * c->n + j];
            square += d * d;
        }
        if (square < *least) {
            *second = *least;
            *least = square;
            next = best;
            best = m;
        } else if (square < *second) {
            *second = square;
            next = m;
        }
    }
    *reach = fmax(size_of(c, centres + best * c->n), size_of(c, centres + next * c->n));
    return best;
}

static margin_status label_rows(mg_fit *fit, check *c, const double *centres) {
    for (int64_t i = 0; i < c->p->count; i++) {
        double least, second, reach;
        const double weight = mg_sample_weight(c->p, i);
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        const int64_t m = nearest(c, centres, &least, &second, &reach);
        c->labels[i] = (int32_t)m;
        const double size = size_of(c, c->row), blur = MG_ROUNDING * (size + reach);
        c->inertia += (long double)(weight * least);
        c->inertia_blur += weight * blur * (2 * sqrt(least) + blur);
        if (second > 0 && second < (double)INFINITY) {
            const double next = sqrt(second);
            c->second += (long double)(weight * (1 - sqrt(least) / next));
            c->second_blur += weight * fmin(1, 2 * blur / next);
            c->size_blur += next - sqrt(least) <= 2 * blur ? weight : 0;
        }
        c->spread[m] += weight * size;
        c->sizes[m] += weight;
        for (int64_t j = 0; j < c->n; j++)
            c->sums[m * c->n + j] += (long double)weight * (long double)c->row[j];
    }
    return MARGIN_OK;
}

/* Centres to means; what that gains. */
static double divide(check *c, const double *centres) {
    double gain = 0;
    for (int64_t m = 0; m < c->k; m++) {
        double square = 0;
        for (int64_t j = 0; j < c->n; j++) {
            const double centre = centres[m * c->n + j];
            double *mean = &c->means[m * c->n + j];
            *mean = c->sizes[m] > 0 ? (double)(c->sums[m * c->n + j] / (long double)c->sizes[m])
                                    : centre;
            const double d = *mean - centre;
            square += d * d;
        }
        gain += c->sizes[m] * square;
        if (!(c->sizes[m] > 0)) continue;
        const double blur = MG_ROUNDING * c->spread[m] / c->sizes[m];
        c->gain_blur += c->sizes[m] * blur * (2 * sqrt(square) + blur);
    }
    return gain;
}

/* Rows that have another nearest mean than centre; *doubtful: rows that rounding may count or not,
 * as two means are equally far from them. */
static margin_status count_moves(mg_fit *fit, check *c, int64_t *moved, int64_t *doubtful) {
    *moved = *doubtful = 0;
    for (int64_t i = 0; i < c->p->count; i++) {
        double least, second, reach, own = 0;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        const int64_t m = nearest(c, c->means, &least, &second, &reach);
        for (int64_t j = 0; j < c->n; j++) {
            const double d = c->row[j] - c->means[c->labels[i] * c->n + j];
            own += d * d;
        }
        const double blur = 2 * MG_ROUNDING * (size_of(c, c->row) + reach);
        *moved += m != c->labels[i] && sqrt(own) - sqrt(least) > blur;
        *doubtful += sqrt(second) - sqrt(least) <= blur;
    }
    return MARGIN_OK;
}

/* Of few rows. One that may be in either cluster moves it by more than could be told. */
static margin_status claim_silhouette(mg_fit *fit, const check *c) {
    const mg_clustered rows = {.x = &c->p->x,
                               .index = c->p->index,
                               .weight = c->p->weight,
                               .count = c->p->count,
                               .k = c->k,
                               .labels = c->labels,
                               .sizes = c->sizes,
                               .blur = c->p->blur};
    double value, rounding;
    if (c->p->count > MG_MOST_SILHOUETTE || c->k < 2) return MARGIN_OK;
    if (isnan(margin_report_item_value(fit->claimed, "silhouette"))) return MARGIN_OK; /* no time */
    MG_TRY(mg_silhouette(fit->context, &rows, &value, &rounding, fit->error));
    mg_report_claim(&fit->report, &fit->verified, "silhouette", value,
                    c->size_blur > 0 ? 2 : rounding);
    return MARGIN_OK;
}

margin_status mg_kmeans_verify(mg_fit *fit, const mg_hypothesis *h) {
    const mg_centres *v = mg_centres_of(h);
    check c = {.p = fit->problem, .k = h->functions, .n = h->columns};
    mg_heap *heap = fit->context->heap;
    margin_report *report = &fit->report;
    double total = 0, least = (double)INFINITY, greatest = 0;
    int64_t moved = 0, doubtful = 0;
    margin_status status;
    const int64_t numbers = c.n + c.k * (c.n + 2);
    MG_NEW_ZERO(heap, c.row, numbers, "the proof", fit->error);
    c.sizes = c.row + c.n;
    c.spread = c.sizes + c.k;
    c.means = c.spread + c.k;
    MG_GO_NEW(heap, c.sums, c.k * c.n, "the proof", fit->error);
    memset(c.sums, 0, (size_t)(c.k * c.n) * sizeof *c.sums);
    MG_GO_NEW(heap, c.labels, c.p->count, "the proof", fit->error);
    MG_GO(label_rows(fit, &c, v->centres));
    const double gain = divide(&c, v->centres);
    MG_GO(count_moves(fit, &c, &moved, &doubtful));
    for (int64_t m = 0; m < c.k; m++) {
        total += c.sizes[m];
        least = fmin(least, c.sizes[m]);
        greatest = fmax(greatest, c.sizes[m]);
        if (!(fabs(c.sizes[m] - v->sizes[m]) <= c.size_blur + MG_ROUNDING * c.sizes[m]))
            fit->verified.contradiction = "the sizes of the clusters are not those of the data";
    }
    const double inertia = (double)c.inertia, whole = fmax(inertia, gain);
    /* Of gain / whole: 1 where rounding may be all there is of whole. */
    const double lost = c.gain_blur + c.inertia_blur * (gain > 0 ? gain / whole : 0);
    const double left = whole - c.inertia_blur - c.gain_blur;
    const double blur = lost == 0 ? 0 : left > 0 ? fmin(1, lost / left) : 1;
    mg_report_formula(report, "inertia = sum_i min_c |x_i - c|^2");
    report->status = MARGIN_OK;
    report->objective = inertia;
    fit->verified.objective = c.inertia_blur;
    mg_report_claim(report, &fit->verified, "moved", (double)moved, (double)doubtful);
    mg_report_claim(report, &fit->verified, "gain", gain > 0 ? gain / whole : 0, blur);
    mg_report_claim(report, &fit->verified, "smallest_cluster", least, c.size_blur);
    mg_report_claim(report, &fit->verified, "largest_cluster", greatest, c.size_blur);
    mg_report_claim(report, &fit->verified, "simple_silhouette",
                    c.k > 1 ? (double)c.second / total : (double)NAN, c.second_blur / total);
    status = claim_silhouette(fit, &c);
done:
    MG_FREE(heap, c.labels, c.sums, c.row);
    return status;
}
