/* The list of products of poly. A product of degree t + 1 is one of degree t times a factor that
 * does not come before its last one, so the products of one parent lie side by side. */
#include "features/made/poly.h"

#include <math.h>

bool mg_poly_next(const uint8_t *repeats, int64_t factors, int64_t *next) {
    for (int64_t f = factors - 1; f >= 0; f--) {
        const bool excludes = repeats[f] == MG_POLY_EXCLUDES;
        if (repeats[f] > MG_POLY_EXCLUDES || (excludes && f + 1 == factors)) return false;
        next[f] = repeats[f] == MG_POLY_REPEATS ? f : excludes ? next[f + 1] : f + 1;
        if (excludes && next[f] == f + 1) return false; /* the one behind it repeats */
    }
    return true;
}

/* counts[f]: products of the degree at hand whose last factor is f. Those of the next degree are
 * the sum over all that f may follow, which come first. */
static double count_next(const mg_poly_view *view, double *counts) {
    int64_t followed = view->factors;
    double sum = 0.0;
    for (int64_t f = 1; f < view->factors; f++)
        counts[f] += counts[f - 1];
    for (int64_t f = view->factors - 1; f >= 0; f--) {
        while (followed > 0 && view->next[followed - 1] > f)
            followed--;
        counts[f] = followed > 0 ? counts[followed - 1] : 0.0;
        sum += counts[f];
    }
    return sum;
}

void mg_poly_size(const mg_poly_view *view, double *counts, double *columns, double *runs) {
    double products = (double)view->factors;
    *columns = (double)(view->bias + view->columns);
    *runs = 0.0;
    for (int64_t f = 0; f < view->factors; f++)
        counts[f] = 1.0;
    for (int64_t degree = 2; degree <= view->degree && products > 0.0; degree++) {
        *runs += products;
        products = count_next(view, counts);
        *columns += products;
    }
}

/* The run of `parent`, whose last factor is `last`; returns the column behind it. */
static int64_t add_run(const mg_poly_view *view, int64_t parent, int64_t last, int64_t start,
                       mg_poly_run *run) {
    const int64_t first = view->next[last];
    *run = (mg_poly_run){parent, first, view->factors - first, start};
    return start + run->count;
}

void mg_poly_list(const mg_poly_view *view, mg_poly_run *runs) {
    int64_t column = view->bias + view->columns, made = 0;
    for (; made < MG_MIN(view->factors, view->run_count); made++)
        column = add_run(view, view->bias + view->factor[made], made, column, &runs[made]);
    for (int64_t from = 0; made < view->run_count; from++)
        for (int64_t k = 0; k < runs[from].count && made < view->run_count; k++, made++)
            column = add_run(view, runs[from].start + k, runs[from].first + k, column, &runs[made]);
}

/* sqrt(degree! / (degree - t)!) for the power, as the factorials of equal factors are in there. */
static double poly_terms_weight_of(mg_poly_scaling scaling, int64_t degree, int64_t t,
                                   double square) {
    for (int64_t k = 0; k < t && scaling == MG_POLY_POWER; k++)
        square *= (double)(degree - k);
    return sqrt(square);
}

void mg_poly_weigh(const mg_poly_view *view, mg_poly_scaling scaling, int64_t *counts,
                   double *weights) {
    const int64_t columns = view->run_count > 0 ? view->runs[view->run_count - 1].start +
                                                      view->runs[view->run_count - 1].count
                                                : view->bias + view->columns;
    int64_t *factors = counts, *equal = counts + columns; /* in all, and the last one */
    factors[0] = equal[0] = 0;
    weights[0] = 1.0;
    for (int64_t j = view->bias; j < view->bias + view->columns; j++) {
        factors[j] = equal[j] = 1;
        weights[j] = 1.0;
    }
    for (int64_t r = 0; r < view->run_count; r++) {
        const mg_poly_run *run = &view->runs[r];
        for (int64_t k = 0; k < run->count; k++) { /* the first repeats the parent's last one */
            const int64_t column = run->start + k;
            factors[column] = factors[run->parent] + 1;
            equal[column] = k == 0 ? equal[run->parent] + 1 : 1;
            weights[column] = weights[run->parent] / (double)equal[column];
        }
    }
    for (int64_t j = 0; j < columns; j++)
        weights[j] = poly_terms_weight_of(scaling, view->degree, factors[j], weights[j]);
}
