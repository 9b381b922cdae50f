/* The proof again, by plain loops: inertia, sizes, and what one more step of Lloyd's would change.
 * By the rule of rounding (learn/report.h) the square of a distance may be off by that share of
 * itself; of values that a stage made, each by that share of its size; and a mean by that share of
 * the values that it is of. Each column has its own: a wide one frees no other. Rows from which two
 * centres are equally far but for that may be in the cluster of either. */
#include "base/sweep.h"
#include "cluster/learner/kmeans_learner.h"
#include "cluster/learner/silhouette.h"

#include <math.h>
#include <string.h>

typedef struct check {
    const mg_problem *p;
    int64_t k, n;
    double *row, *means, *sizes;
    long double *sums, *weights; /* k x n; k */
    double *means_blur; /* k x n: what rounding may have made of the sums, then of the means */
    int32_t *labels;
    bool *open;          /* rows that may be in another cluster */
    double *open_weight; /* k: of those with this label */
    long double inertia, second;
    /* What rounding may have made of them and of the size of a cluster. */
    double inertia_blur, second_blur, size_blur;
    double gain, least_gain, most_gain; /* of a step: as found, and what rounding lets it be */
    double unit, unit_of_rows; /* rounding of a sum over columns and over rows, as a part of it */
} check;

/* The two nearest of k centres, ties to the first. */
typedef struct nearest {
    int64_t best, next;
    double least, second; /* squares */
} nearest;

static double square_of(const check *c, const double *centre) {
    double square = 0;
    for (int64_t j = 0; j < c->n; j++)
        square += (c->row[j] - centre[j]) * (c->row[j] - centre[j]);
    return square;
}

static nearest nearest_of(const check *c, const double *centres) {
    nearest found = {.least = (double)INFINITY, .second = (double)INFINITY};
    for (int64_t m = 0; m < c->k; m++) {
        const double square = square_of(c, centres + m * c->n);
        if (square < found.least) {
            found.second = found.least;
            found.next = found.best;
            found.least = square;
            found.best = m;
        } else if (square < found.second) {
            found.second = square;
            found.next = m;
        }
    }
    return found;
}

static double value_blur(const check *c, int64_t j) {
    return (c->p->made ? MG_ROUNDING * fabs(c->row[j]) : 0) + mg_column_blur(c->p, j);
}

/* Of the square of the distance from the row; the centre itself may be off by `moved` (NULL: is
 * given). */
static double square_blur(const check *c, const double *centre, const double *moved,
                          double square) {
    double sum = c->unit * square;
    for (int64_t j = 0; j < c->n; j++) {
        const double blur = value_blur(c, j) + (moved ? moved[j] : 0);
        sum += blur * (2 * fabs(c->row[j] - centre[j]) + blur);
    }
    return sum;
}

/* Of the distance itself. */
static double distance_blur(const check *c, const double *centre, const double *moved,
                            double square) {
    const double blur = square_blur(c, centre, moved, square);
    return blur > 0 ? blur / sqrt(fmax(square, blur)) : 0;
}

/* Which of these clusters the row is in is open: the sum of the rows of each, less their centre,
 * may be off by this one's part. */
static void blur_means(check *c, const double *centres, double weight, nearest found) {
    const double blur = distance_blur(c, centres + found.best * c->n, NULL, found.least);
    for (int64_t m = 0; m < c->k; m++) {
        const double *centre = centres + m * c->n, square = square_of(c, centre);
        const double away = sqrt(square) - sqrt(found.least);
        if (away > blur + distance_blur(c, centre, NULL, square)) continue;
        for (int64_t j = 0; j < c->n; j++)
            c->means_blur[m * c->n + j] += weight * fabs(c->row[j] - centre[j]);
    }
}

static void label_row(check *c, const double *centres, int64_t i) {
    const double weight = mg_sample_weight(c->p, i);
    const nearest found = nearest_of(c, centres);
    const double *best = centres + found.best * c->n, *other = centres + found.next * c->n;
    c->labels[i] = (int32_t)found.best;
    c->inertia += (long double)(weight * found.least);
    c->inertia_blur += weight * square_blur(c, best, NULL, found.least);
    if (found.second > 0 && found.second < (double)INFINITY) {
        const double near = sqrt(found.least), next = sqrt(found.second);
        const double blur =
            distance_blur(c, best, NULL, found.least) + distance_blur(c, other, NULL, found.second);
        c->second += (long double)(weight * (1 - near / next));
        c->second_blur += weight * fmin(1, blur / next);
        c->open[i] = next - near <= blur;
        c->size_blur += c->open[i] ? weight : 0;
        c->open_weight[found.best] += c->open[i] ? weight : 0;
        if (c->open[i]) blur_means(c, centres, weight, found);
    }
    c->weights[found.best] += (long double)weight;
    for (int64_t j = 0; j < c->n; j++) {
        const int64_t at = found.best * c->n + j;
        c->sums[at] += (long double)weight * (long double)c->row[j];
        c->means_blur[at] += weight * (c->unit_of_rows * fabs(c->row[j]) + value_blur(c, j));
    }
}

static margin_status label_rows(mg_fit *fit, check *c, const double *centres) {
    for (int64_t i = 0; i < c->p->count; i++) {
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        label_row(c, centres, i);
    }
    return MARGIN_OK;
}

/* Centres to means; what that gains: nothing in a column where rounding may be all of it. */
static void divide(check *c, const double *centres) {
    for (int64_t m = 0; m < c->k; m++)
        c->sizes[m] = (double)c->weights[m];
    for (int64_t at = 0; at < c->k * c->n; at++) {
        const double size = c->sizes[at / c->n];
        c->means[at] = size > 0 ? (double)(c->sums[at] / (long double)size) : centres[at];
        c->means_blur[at] = size > 0 ? c->means_blur[at] / size : 0;
        const double moved = fabs(c->means[at] - centres[at]), blur = c->means_blur[at];
        const double least = fmax(0, moved - blur);
        c->gain += size * moved * moved;
        c->least_gain += size * least * least;
        c->most_gain += size * (moved + blur) * (moved + blur);
    }
}

/* Rows that have another nearest mean than centre; *doubtful: rows that rounding may count or not,
 * as two means are equally far from them. */
static margin_status count_moves(mg_fit *fit, check *c, int64_t *moved, int64_t *doubtful) {
    *moved = *doubtful = 0;
    for (int64_t i = 0; i < c->p->count; i++) {
        const int64_t own = c->labels[i] * c->n;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        mg_row_expand(&c->p->x, mg_sample_row(c->p, i), c->row);
        const nearest found = nearest_of(c, c->means);
        const int64_t best = found.best * c->n, next = found.next * c->n;
        const double square = square_of(c, c->means + own), near = sqrt(found.least);
        const double blur = distance_blur(c, c->means + best, c->means_blur + best, found.least);
        const double own_blur = distance_blur(c, c->means + own, c->means_blur + own, square);
        const double next_blur =
            distance_blur(c, c->means + next, c->means_blur + next, found.second);
        const bool is_farther = sqrt(square) - near > blur + own_blur;
        *moved += best != own && is_farther;
        *doubtful += (best != own && !is_farther) || sqrt(found.second) - near <= blur + next_blur;
    }
    return MARGIN_OK;
}

/* The gain as a part of the inertia: what is claimed must lie between what rounding lets it be.
 * Returns the least. */
static double claim_gain(mg_fit *fit, const check *c) {
    const double whole = fmax((double)c->inertia, c->gain);
    const double left = whole - c->inertia_blur - (c->gain - c->least_gain);
    const double gain = c->gain > 0 ? c->gain / whole : 0;
    const double least = c->least_gain > 0
                             ? c->least_gain / (whole + c->inertia_blur + (c->most_gain - c->gain))
                             : 0;
    const double most = !(c->most_gain > 0) ? 0 : left > 0 ? fmin(1, c->most_gain / left) : 1;
    const bool is_less = margin_report_item_value(fit->claimed, "gain") < gain;
    mg_report_claim(&fit->report, &fit->verified, "gain", gain,
                    is_less ? gain - least : most - gain);
    return least;
}

/* Of few rows. How many of those that may be in either cluster are in one is told by its size. */
static margin_status claim_silhouette(mg_fit *fit, const check *c, const double *sizes) {
    const double told = margin_report_item_value(fit->claimed, MG_SILHOUETTE_ROWS);
    const double asked = isnan(told) ? (double)INFINITY : told;
    const mg_clustered rows = {.x = &c->p->x,
                               .index = c->p->index,
                               .weight = c->p->weight,
                               .count = c->p->count,
                               .k = c->k,
                               .asked =
                                   mg_silhouette_asked(c->p->count, asked * (double)c->p->count),
                               .labels = c->labels,
                               .sizes = sizes,
                               .blur = c->p->blur,
                               .made = c->p->made,
                               .open = c->open,
                               .open_weight = c->open_weight};
    double value, rounding;
    if (c->p->count > MG_MOST_SILHOUETTE || c->k < 2) return MARGIN_OK;
    if (isnan(margin_report_item_value(fit->claimed, "silhouette"))) return MARGIN_OK; /* no time */
    for (int64_t m = 0; m < c->k; m++)
        c->open_weight[m] = fmax(0, sizes[m] - (c->sizes[m] - c->open_weight[m]));
    MG_TRY(mg_silhouette(fit->context, &rows, &value, &rounding, fit->error));
    mg_report_claim(&fit->report, &fit->verified, "silhouette", value, rounding);
    if (rows.asked < rows.count)
        mg_report_claim(&fit->report, &fit->verified, MG_SILHOUETTE_ROWS, (double)rows.asked, 0);
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
    const int64_t numbers = c.k * c.n;
    c.unit = MG_ROUNDING + DBL_EPSILON * (double)c.n;
    c.unit_of_rows = mg_rows_rounding(c.p->count, MG_BLOCK_ROWS);
    MG_NEW_ZERO(heap, c.row, c.n + 2 * c.k + 2 * numbers, "the proof", fit->error);
    c.sizes = c.row + c.n;
    c.means = c.sizes + c.k;
    c.means_blur = c.means + numbers;
    c.open_weight = c.means_blur + numbers;
    MG_GO_NEW(heap, c.sums, numbers + c.k, "the proof", fit->error);
    memset(c.sums, 0, (size_t)(numbers + c.k) * sizeof *c.sums);
    c.weights = c.sums + numbers;
    MG_GO_NEW(heap, c.labels, c.p->count, "the proof", fit->error);
    MG_GO_NEW(heap, c.open, c.p->count, "the proof", fit->error);
    memset(c.open, 0, (size_t)c.p->count * sizeof *c.open);
    MG_GO(label_rows(fit, &c, v->centres));
    divide(&c, v->centres);
    MG_GO(count_moves(fit, &c, &moved, &doubtful));
    for (int64_t m = 0; m < c.k; m++) {
        total += c.sizes[m];
        least = fmin(least, c.sizes[m]);
        greatest = fmax(greatest, c.sizes[m]);
        if (!(fabs(c.sizes[m] - v->sizes[m]) <= c.size_blur + c.unit_of_rows * c.sizes[m]))
            fit->verified.contradiction = "the sizes of the clusters are not those of the data";
    }
    mg_report_formula(report, "inertia = sum_i min_c |x_i - c|^2");
    report->objective = (double)c.inertia;
    fit->verified.objective = c.inertia_blur + c.unit_of_rows * report->objective;
    mg_report_claim(report, &fit->verified, "moved", (double)moved, (double)doubtful);
    const double gain = claim_gain(fit, &c);
    const bool is_fixed = gain <= report->tolerance && (report->tolerance > 0 || moved <= doubtful);
    report->status = is_fixed ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    mg_report_claim(report, &fit->verified, "smallest_cluster", least,
                    c.size_blur + c.unit_of_rows * least);
    mg_report_claim(report, &fit->verified, "largest_cluster", greatest,
                    c.size_blur + c.unit_of_rows * greatest);
    mg_report_claim(report, &fit->verified, "simple_silhouette",
                    c.k > 1 ? (double)c.second / total : (double)NAN,
                    c.second_blur / total + c.unit_of_rows);
    status = claim_silhouette(fit, &c, v->sizes);
done:
    MG_FREE(heap, c.open, c.labels, c.sums, c.row);
    return status;
}
