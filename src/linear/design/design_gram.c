/* Weighted Grams of a design: which way, and what both share. */
#include "linear/design/design_gram.h"
#include "learn/announce.h"

#include <float.h>
#include <string.h>

int64_t mg_design_gram_size(const mg_design *d, const mg_weighted_gram *request) {
    const int64_t columns = request->columns ? request->column_count : d->columns;
    return columns + 1 + (request->extra != NULL);
}

/* e_j = (scale x + shift - centre) * factor, centred in x where that can be. */
static void gram_compose(mg_gram_job *job) {
    const mg_design *d = job->design;
    const mg_weighted_gram *request = job->request;
    job->plain = !d->scale && !d->shift && !request->centre && !request->factor;
    for (int64_t k = 0; k < job->columns; k++) {
        const int64_t j = request->columns ? request->columns[k] : k; /* of x */
        const double scale = d->scale ? d->scale[j] : 1.0;
        const double factor = request->factor ? request->factor[j] : 1.0;
        const double back =
            (request->centre ? request->centre[j] : 0.0) - (d->shift ? d->shift[j] : 0.0);
        job->centre[k] = scale != 0 ? back / scale : 0.0;
        job->scale[k] = scale * factor;
        job->shift[k] = scale != 0 ? 0.0 : -back * factor;
    }
}

/* Rows that are more than a seventh full go through the tiles, which are so much faster for each
 * product. */
static bool is_sparse(const margin_matrix *x) {
    if (!mg_is_csr(x)) return false;
    const int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    return stored < x->rows * x->columns / 7;
}

double mg_design_gram_rounding(const mg_design *d) {
    enum { FIXED = 64 }; /* of values, and of blocks that are added up */
    const int64_t depth = mg_symmetric_ops_for(d->isa, false)->depth;
    if (is_sparse(&d->problem->x)) return (double)INFINITY;
    return DBL_EPSILON / 2.0 * (double)(depth + d->samples / depth + FIXED);
}

margin_status mg_gram_clear(const mg_gram_job *job, double *gram) {
    for (int64_t r = 0; r < job->size; r++) {
        memset(gram + r * job->size, 0, (size_t)job->size * sizeof *gram);
        if (mg_cancelled(job->design->context)) return mg_fail_cancelled(job->error);
    }
    return MARGIN_OK;
}

static void gram_mirror(double *gram, int64_t size) {
    enum { EDGE = 8 }; /* of the upper half a line of cache at a time */
    for (int64_t first = 0; first < size; first += EDGE)
        for (int64_t s = 0, last = MG_MIN(first + EDGE, size); s < last; s++)
            for (int64_t r = MG_MAX(first, s + 1); r < last; r++)
                gram[s * size + r] = gram[r * size + s];
}

margin_status mg_design_gram(mg_design *d, const mg_weighted_gram *request, double *gram,
                             margin_error *error) {
    const bool sparse = is_sparse(&d->problem->x);
    MG_SCOPED_ARENA(arena, d->heap);
    mg_gram_job job = {.design = d,
                       .arena = &arena,
                       .request = request,
                       .size = mg_design_gram_size(d, request),
                       .count = request->chosen ? request->count : d->samples,
                       .columns = request->columns ? request->column_count : d->columns,
                       .error = error};
    MG_TRY(MG_PIECES(&arena, "the scale of the columns", error, MG_PIECE(job.centre, job.columns),
                     MG_PIECE(job.scale, job.columns), MG_PIECE(job.shift, job.columns)));
    mg_announce_products(d->context, job.size);
    gram_compose(&job);
    if (sparse && request->columns) {
        MG_ARENA_NEW(&arena, job.place, d->columns, "the places of the columns", error);
        memset(job.place, -1, (size_t)d->columns * sizeof *job.place);
        for (int64_t k = 0; k < job.columns; k++)
            job.place[request->columns[k]] = (int32_t)k;
    }
    MG_TRY(sparse ? mg_gram_of_sparse(&job, gram) : mg_gram_by_tiles(&job, gram));
    gram_mirror(gram, job.size);
    return MARGIN_OK;
}
