/* The list of products of poly. A product of degree t + 1 is one of degree t times a factor that
 * does not come before its last one, so the products of one parent lie side by side. */
#include "features/poly.h"

static int64_t first_factor(const mg_poly_view *view, int64_t last) {
    return view->repeats[last] ? last : last + 1;
}

/* counts[f]: products of the degree at hand whose last factor is f. */
static double count_next(const mg_poly_view *view, double *counts) {
    double before = 0.0, sum = 0.0;
    for (int64_t f = 0; f < view->factors; f++) {
        const double own = counts[f];
        counts[f] = before + (view->repeats[f] ? own : 0.0);
        before += own;
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
    const int64_t first = first_factor(view, last);
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
