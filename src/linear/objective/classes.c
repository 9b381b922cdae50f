/* The objective of several classes trained together: making it, penalty, centre. */
#include "linear/objective/classes.h"

#include "base/pool.h"
#include "linear/design/design_block.h"
#include "linear/kernels/classes_rows.h"

#include <string.h>

static const char purpose[] = "the functions of the classes";

/* As the blocks of a design, for sums that are as long as all functions together. */
static int64_t block_rows_for(const mg_design *d, int64_t classes) {
    enum { LEAST_BLOCKS = 16, TIMES_SUMS = 8 };
    const int64_t row_bytes = MG_MAX(mg_row_bytes(&d->problem->x), 1);
    const bool sparse = mg_is_csr(&d->problem->x);
    const int64_t sum_bytes = (sparse ? 1 : d->columns) * classes * (int64_t)sizeof(double);
    int64_t rows = mg_block_rows(row_bytes + classes * (int64_t)sizeof(double));
    while (rows < TIMES_SUMS * sum_bytes / row_bytes && 2 * rows <= d->samples / LEAST_BLOCKS)
        rows *= 2;
    return rows;
}

/* Rows that are read twice while they lie in the second cache. */
static int64_t chunk_rows_for(const mg_design *d) {
    const int64_t bytes = 512 * 1024, fitting = bytes / MG_MAX(mg_row_bytes(&d->problem->x), 1);
    if (d->made) return d->chunk_rows;
    return MG_MAX(8, MG_MIN(fitting / 8 * 8, MG_CHUNK_ROWS));
}

static margin_status take_memory(mg_classes *o, margin_error *error) {
    const mg_design *d = o->design;
    const int64_t threads = mg_pool_threads(d->context->pool);
    const int64_t padded =
        (o->columns + MG_CLASSES_PADDING - 1) / MG_CLASSES_PADDING * MG_CLASSES_PADDING;
    /* scores, slopes and a few numbers for each class */
    o->scratch = (2 * o->chunk_rows + 2) * o->classes;
    MG_NEW(d->heap, o->c, o->samples, purpose, error);
    MG_NEW(d->heap, o->totals, o->classes, purpose, error);
    MG_NEW(d->heap, o->offsets, o->classes, purpose, error);
    MG_NEW(d->heap, o->work, threads * o->scratch, purpose, error);
    if (mg_is_csr(&d->problem->x)) {
        MG_NEW(d->heap, o->slopes, o->samples * o->classes, purpose, error);
        MG_NEW(d->heap, o->weights, o->columns * o->classes, purpose, error);
        return mg_sparse_columns_make(d, &o->by_column, error);
    }
    double *packed, *centre, *lost;
    MG_NEW(d->heap, packed, padded * o->classes, purpose, error);
    o->packed = packed;
    if (!d->centre) return MARGIN_OK;
    MG_NEW(d->heap, centre, padded, purpose, error);
    o->centre = centre;
    MG_NEW(d->heap, lost, padded, purpose, error);
    o->lost = lost;
    return MARGIN_OK;
}

static void weigh_samples(mg_classes *o) {
    const mg_problem *problem = o->design->problem;
    memset(o->totals, 0, (size_t)o->classes * sizeof *o->totals);
    for (int64_t i = 0; i < o->samples; i++) {
        o->c[i] = o->penalty.factor * mg_sample_weight(problem, i);
        o->totals[problem->code[i]] += o->c[i];
    }
}

margin_status mg_classes_create(mg_design *design, mg_classes_loss loss, const mg_penalty *penalty,
                                bool intercept, mg_classes *o, margin_error *error) {
    mg_classes made = {.design = design,
                       .loss = loss,
                       .penalty = *penalty,
                       .intercept = intercept,
                       .classes = design->problem->classes,
                       .columns = design->columns,
                       .samples = design->samples};
    margin_status status;
    made.block_rows = block_rows_for(design, made.classes);
    made.chunk_rows = chunk_rows_for(design);
    MG_GO(take_memory(&made, error));
    weigh_samples(&made);
    *o = made;
    return MARGIN_OK;
done:
    mg_classes_free(&made);
    return status;
}

void mg_classes_free(mg_classes *o) {
    if (!o->design) return;
    mg_heap *heap = o->design->heap;
    mg_sparse_columns_free(heap, &o->by_column);
    mg_free(heap, o->lost);
    mg_free(heap, o->centre);
    mg_free(heap, o->packed);
    mg_free(heap, o->weights);
    mg_free(heap, o->slopes);
    mg_free(heap, o->work);
    mg_free(heap, o->offsets);
    mg_free(heap, o->totals);
    mg_free(heap, o->c);
    memset(o, 0, sizeof *o);
}

double mg_classes_penalty(const mg_classes *o, const double *w) {
    const double rho = o->penalty.rho;
    /* a factor of 0 stays 0 where w has overflowed the square */
    if (!(rho > 0)) return 0.0;
    double sum = 0.0;
    for (int64_t k = 0; k < o->classes; k++)
        sum += mg_vector_ops_for(o->design->isa)->square(w + k * o->columns, o->columns);
    return rho / 2 * sum;
}

void mg_classes_centre(const mg_classes *o, double *w, double *b) {
    double across = 0.0;
    int64_t present = 0;
    for (int64_t j = 0; j < o->columns; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < o->classes; k++)
            sum += w[k * o->columns + j];
        for (int64_t k = 0; k < o->classes; k++)
            w[k * o->columns + j] -= sum / (double)o->classes;
    }
    for (int64_t k = 0; k < o->classes; k++) {
        if (!(o->totals[k] > 0.0)) continue;
        across += b[k];
        present++;
    }
    for (int64_t k = 0; k < o->classes && o->intercept; k++)
        b[k] -= across / (double)present;
}
