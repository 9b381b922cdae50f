/* Weighted Grams of a design: which way, and what both share. */
#include "linear/design_gram.h"

int64_t mg_design_gram_size(const mg_design *d, const mg_gram_request *request) {
    return d->columns + 1 + (request->extra != NULL);
}

/* e_j = (scale x + shift - centre) * factor, centred in x where that can be. */
static void compose(mg_gram_job *job) {
    const mg_design *d = job->design;
    const mg_gram_request *request = job->request;
    job->plain = !d->scale && !d->shift && !request->centre && !request->factor;
    for (int64_t j = 0; j < d->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0;
        const double factor = request->factor ? request->factor[j] : 1.0;
        const double back =
            (request->centre ? request->centre[j] : 0.0) - (d->shift ? d->shift[j] : 0.0);
        job->centre[j] = scale != 0 ? back / scale : 0.0;
        job->scale[j] = scale * factor;
        job->shift[j] = scale != 0 ? 0.0 : -back * factor;
    }
}

/* Rows that are more than a seventh full go through the tiles, which are so much faster for each
 * product. */
static bool is_sparse(const margin_matrix *x) {
    if (!mg_is_csr(x)) return false;
    const int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    return stored < x->rows * x->columns / 7;
}

static void mirror(int64_t size, double *gram) {
    for (int64_t r = 0; r < size; r++)
        for (int64_t s = 0; s < r; s++)
            gram[s * size + r] = gram[r * size + s];
}

margin_status mg_design_gram(mg_design *d, const mg_gram_request *request, double *gram,
                             margin_error *error) {
    mg_gram_job job = {.design = d,
                       .request = request,
                       .size = mg_design_gram_size(d, request),
                       .count = request->chosen ? request->count : d->samples,
                       .error = error};
    MG_NEW(d->heap, job.centre, 3 * d->columns, "the scale of the columns", error);
    job.scale = job.centre + d->columns;
    job.shift = job.scale + d->columns;
    compose(&job);
    margin_status status =
        is_sparse(&d->problem->x) ? mg_gram_of_sparse(&job, gram) : mg_gram_by_tiles(&job, gram);
    if (status >= 0) mirror(job.size, gram);
    mg_free(d->heap, job.centre);
    return status;
}
