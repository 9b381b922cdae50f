/* The proof again, by plain loops: inertia, sizes, and what one more step of Lloyd's would change.
 */
#include "cluster/learner/kmeans_learner.h"

#include <math.h>

typedef struct check {
    const mg_problem *p;
    int64_t k, n;
    double *row, *means, *sizes;
    int64_t *labels;
    double inertia, second;
} check;

/* Nearest of k centres, ties to the first; *second: the distance to the next. */
static int64_t nearest(const check *c, const double *centres, double *least, double *second) {
    int64_t best = 0;
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
            best = m;
        } else if (square < *second) {
            *second = square;
        }
    }
    return best;
}

static margin_status label_rows(mg_fit *fit, check *c, const double *centres) {
    for (int64_t i = 0; i < c->p->count; i++) {
        double least, second;
        const double weight = mg_sample_weight(c->p, i);
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        const int64_t m = c->labels[i] = nearest(c, centres, &least, &second);
        c->inertia += weight * least;
        if (second > 0 && second < (double)INFINITY)
            c->second += weight * (1 - sqrt(least / second));
        c->sizes[m] += weight;
        for (int64_t j = 0; j < c->n; j++)
            c->means[m * c->n + j] += weight * c->row[j];
    }
    return MARGIN_OK;
}

/* Centres to means; what that gains. */
static double divide(check *c, const double *centres) {
    double gain = 0;
    for (int64_t m = 0; m < c->k; m++)
        for (int64_t j = 0; j < c->n; j++) {
            double *mean = &c->means[m * c->n + j];
            *mean = c->sizes[m] > 0 ? *mean / c->sizes[m] : centres[m * c->n + j];
            const double d = *mean - centres[m * c->n + j];
            gain += c->sizes[m] * d * d;
        }
    return gain;
}

/* Rows that have another nearest mean than centre; *doubtful: rows that rounding may count or not,
 * as two means are equally far from them. */
static margin_status count_moves(mg_fit *fit, check *c, int64_t *moved, int64_t *doubtful) {
    static const double rounding = 1e-12;
    *moved = *doubtful = 0;
    for (int64_t i = 0; i < c->p->count; i++) {
        double least, second, own = 0;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        const int64_t m = nearest(c, c->means, &least, &second);
        for (int64_t j = 0; j < c->n; j++) {
            const double d = c->row[j] - c->means[c->labels[i] * c->n + j];
            own += d * d;
        }
        *moved += m != c->labels[i] && least < own * (1 - rounding);
        *doubtful += second * (1 - rounding) <= least;
    }
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
    const int64_t numbers = c.n + c.k * (c.n + 1);
    MG_NEW_ZERO(heap, c.row, numbers, "the proof", fit->error);
    c.sizes = c.row + c.n;
    c.means = c.sizes + c.k;
    MG_GO_NEW(heap, c.labels, c.p->count, "the proof", fit->error);
    MG_GO(label_rows(fit, &c, v->centres));
    const double gain = divide(&c, v->centres);
    MG_GO(count_moves(fit, &c, &moved, &doubtful));
    for (int64_t m = 0; m < c.k; m++) {
        total += c.sizes[m];
        least = fmin(least, c.sizes[m]);
        greatest = fmax(greatest, c.sizes[m]);
    }
    mg_report_formula(report, "inertia = sum_i min_c |x_i - c|^2");
    report->status = MARGIN_OK;
    report->objective = c.inertia;
    mg_report_claim(report, &fit->verified, "moved", (double)moved, (double)doubtful);
    mg_report_claim(report, &fit->verified, "gain", gain > 0 ? gain / fmax(c.inertia, gain) : 0,
                    MG_ROUNDING);
    mg_report_set(report, "smallest_cluster", least);
    mg_report_set(report, "largest_cluster", greatest);
    mg_report_set(report, "simple_silhouette", c.k > 1 ? c.second / total : (double)NAN);
done:
    MG_FREE(heap, c.labels, c.row);
    return status;
}
