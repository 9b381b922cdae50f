/* Classes against the rest and pairs of classes: one Gram matrix for all of them. */
#include "base/sort.h"
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void shared_free(mg_heap *heap, void *data) {
    mg_svm_shared *s = data;
    if (!s) return;
    mg_gram_free(s->gram);
    MG_FREE(heap, s->position, s->rows, s->places, s->samples, s->off, s->won, s);
}

/* Samples in the order of their classes, each class in its own order. */
static margin_status list_by_class(const mg_problem *p, mg_heap *heap, mg_svm_shared *s,
                                   margin_error *error) {
    static const char purpose[] = "the order of the rows";
    const mg_kernel_points points = mg_kernel_points_of(p);
    int64_t at = 0;
    MG_NEW(heap, s->position, p->x.rows, purpose, error);
    MG_NEW(heap, s->rows, p->count, purpose, error);
    MG_NEW(heap, s->places, p->count, purpose, error);
    MG_NEW(heap, s->samples, p->count, purpose, error);
    MG_NEW(heap, s->off, p->count, purpose, error);
    for (int c = 0; c < p->classes; c++)
        for (int64_t i = 0; i < p->count; i++) {
            if (p->code[i] != c) continue;
            s->rows[at] = mg_point_row(&points, i);
            s->places[at] = mg_point_place(&points, i);
            s->samples[at] = i;
            s->position[s->rows[at]] = at;
            at++;
        }
    return MARGIN_OK;
}

/* ---- Scores of the samples ------------------------------------------------------------------- */

/* By the values in f32, a block of columns of the gram at a time. */
enum { ROUGH_COLUMNS = 256 };

typedef struct rough_work {
    const mg_svm_shared *shared;
    const mg_hypothesis *h;
    const mg_gram_tile_ops *ops;
    double *weights;       /* of the f32 values */
    const float **rows;    /* of the gram, a coefficient each */
    mg_gram_error *errors; /* of each function */
    double *rounding;      /* the same */
    double *room;          /* of each worker: scores of a block, scores and errors of a sample */
    const float **here;    /* of each worker: the columns of its block */
    mg_rough_visit *visit;
    void *argument;
} rough_work;

/* Weights and rows of all functions, and how far from those of f64 their sums may be: each of the
 * two sums has a rounding for each of its terms, of a size of at most all of them. */
static void list_weights(const rough_work *work) {
    const mg_gram *gram = work->shared->gram;
    const mg_hypothesis *h = work->h;
    int64_t ld, k = 0;
    const float *values = mg_gram_values(gram, &ld);
    for (int64_t f = 0; f < h->functions; f++) {
        mg_gram_error *error = &work->errors[f];
        const int64_t first = k, last = h->view.expansion.starts[f + 1];
        *error = work->shared->error;
        for (; k < last; k++) {
            const int64_t key = h->view.expansion.keys[h->view.expansion.entries[k]];
            const int64_t place = work->shared->position[key];
            work->weights[k] = h->view.expansion.coefficients[k] / gram->factor;
            work->rows[k] = values + place * ld;
            mg_gram_error_add(error, fabs(work->weights[k]), work->shared->off[place]);
        }
        work->rounding[f] = DBL_EPSILON * (double)(last - first + 2) *
                            (error->sum + fabs(h->view.expansion.intercept[f]));
    }
}

static margin_status rough_task(void *argument, int64_t task, int worker) {
    const rough_work *work = argument;
    const mg_hypothesis *h = work->h;
    const int64_t first = task * ROUGH_COLUMNS, *starts = h->view.expansion.starts;
    const int64_t count = MG_MIN(ROUGH_COLUMNS, work->shared->gram->points.count - first);
    const float **here = work->here + worker * starts[h->functions];
    double *block = work->room + worker * (ROUGH_COLUMNS + 2) * h->functions;
    double *scores = block + ROUGH_COLUMNS * h->functions, *errors = scores + h->functions;
    for (int64_t k = 0; k < starts[h->functions]; k++)
        here[k] = work->rows[k] + first;
    for (int64_t f = 0; f < h->functions; f++) {
        double *sums = block + f * ROUGH_COLUMNS;
        for (int64_t j = 0; j < count; j++)
            sums[j] = h->view.expansion.intercept[f];
        work->ops->sum(sums, count, here + starts[f], work->weights + starts[f],
                       starts[f + 1] - starts[f]);
    }
    for (int64_t j = 0; j < count; j++) {
        for (int64_t f = 0; f < h->functions; f++) {
            scores[f] = block[f * ROUGH_COLUMNS + j];
            errors[f] = work->rounding[f] +
                        mg_gram_error_at(&work->errors[f], work->shared->off[first + j]);
        }
        work->visit(&(mg_rough){work->shared->samples[first + j], worker, scores, errors},
                    work->argument);
    }
    return MARGIN_OK;
}

static margin_status svm_rough(const mg_shared *shared, const mg_hypothesis *h,
                               mg_rough_visit *visit, void *argument, margin_error *error) {
    const mg_svm_shared *s = shared->data;
    const int64_t entries = h->view.expansion.starts[h->functions], n = s->gram->points.count;
    const int64_t workers = mg_threads(shared->context);
    rough_work work = {.shared = s,
                       .h = h,
                       .ops = MG_ISA_TABLE(mg_isa_level(), mg_gram_tile_ops),
                       .visit = visit,
                       .argument = argument};
    MG_SCOPED_ARENA(arena, shared->context->heap);
    MG_TRY(MG_PIECES(&arena, "scores of the rows", error, MG_PIECE(work.weights, entries),
                     MG_PIECE(work.rows, entries), MG_PIECE(work.rounding, h->functions),
                     MG_PIECE(work.errors, h->functions),
                     MG_PIECE(work.room, workers * (ROUGH_COLUMNS + 2) * h->functions),
                     MG_PIECE(work.here, workers * entries)));
    list_weights(&work);
    return mg_parallel(shared->context, (n + ROUGH_COLUMNS - 1) / ROUGH_COLUMNS, rough_task, &work,
                       NULL);
}

/* ---- Pairs that were won --------------------------------------------------------------------- */

/* A class that wins all pairs it has part in, where others may win one fewer, is the answer without
 * scores of the others. */
static margin_status svm_won(const mg_shared *shared, const mg_hypothesis *h, mg_rough_visit *visit,
                             void *argument, margin_error *error) {
    const mg_svm_shared *s = shared->data;
    const mg_problem *p = shared->whole;
    double *scores, *errors;
    MG_NEW(shared->context->heap, scores, 2 * h->functions, "scores of the rows", error);
    errors = scores + h->functions;
    for (int64_t i = 0; i < p->count; i++) {
        const int c = p->code[i];
        const bool all = s->won[mg_sample_row(p, i)] == p->classes - 1;
        for (int64_t a = 0, f = 0; a < p->classes; a++)
            for (int64_t b = a + 1; b < p->classes; b++, f++) {
                scores[f] = a == c ? 1.0 : -1.0;
                errors[f] = all && (a == c || b == c) ? 0.0 : (double)INFINITY;
            }
        visit(&(mg_rough){i, 0, scores, errors}, argument);
    }
    mg_free(shared->context->heap, scores);
    return MARGIN_OK;
}

/* Of rows that are samples once. */
static margin_status count_won(mg_shared *shared, mg_svm_shared *s) {
    const mg_problem *p = shared->whole;
    mg_heap *heap = shared->context->heap;
    bool once = true;
    MG_NEW_ZERO(heap, s->won, p->x.rows, "the pairs that rows win", shared->error);
    for (int64_t i = 0; i < p->count; i++)
        once = once && s->won[mg_sample_row(p, i)]++ == 0;
    if (once) {
        shared->rough = svm_won;
    } else {
        mg_free(heap, s->won);
        s->won = NULL;
    }
    return MARGIN_OK;
}

/* ---- What is shared ------------------------------------------------------------------------- */

/* One for all where there is room; without it each fit keeps rows of its own. */
static margin_status make_gram(mg_shared *shared, mg_svm_shared *s) {
    const mg_problem *p = shared->whole;
    const mg_fit whole = {.context = shared->context,
                          .learner = shared->learner,
                          .problem = p,
                          .options = shared->options};
    mg_kernel_sizes sizes = mg_kernel_sizes_of(&whole, &s->kernel, shared->fits);
    if (shared->differ & MG_DIFFER_ROWS) sizes.samples = (double)p->count * (p->classes - 1);
    const mg_kernel_plan plan = mg_kernel_plan_make(shared->context, &sizes, MG_WAY_SHARED);
    if (!plan.chosen) return MARGIN_OK;
    s->spare = mg_kernel_spare(&sizes);
    MG_TRY(mg_announce(shared->context, &plan.says, shared->error));
    MG_TRY(list_by_class(p, shared->context->heap, s, shared->error));
    const mg_gram_request request = {.kernel = s->kernel,
                                     .points = {p->x, s->rows, s->places, p->count},
                                     .type = MARGIN_F32,
                                     .bytes = plan.says.matrix,
                                     .over = sizes.over};
    MG_TRY(mg_gram_create(shared->context, &request, &s->gram, shared->error));
    if (mg_gram_error_start(s->gram, &s->error, s->off)) shared->rough = svm_rough;
    return mg_gram_fill(s->gram, shared->context, shared->error);
}

margin_status mg_kernel_svm_share(mg_shared *shared) {
    const margin_component *info = &shared->learner->info;
    const mg_svm_options options = mg_svm_options_of(info, shared->options, shared->whole);
    mg_heap *heap = shared->context->heap;
    mg_svm_shared *s;
    margin_status status;
    shared->together = shared->fits;
    if (shared->differ & MG_DIFFER_FOLDS) return MARGIN_OK;
    MG_NEW(heap, s, 1, "what the classes share", shared->error);
    memset(s, 0, sizeof *s);
    MG_GO(mg_kernel_resolve(shared->context, &options.kernel, info->name, shared->whole, &s->kernel,
                            shared->error));
    if (shared->fits > 1 && shared->whole->code) MG_GO(make_gram(shared, s));
    if (!s->gram && (shared->differ & MG_DIFFER_ROWS)) MG_GO(count_won(shared, s));
    shared->data = s;
    shared->release = shared_free;
    shared->together = s->gram ? 1 : shared->fits;
    return MARGIN_OK;
done:
    shared_free(heap, s);
    return status;
}

/* ---- Fits ------------------------------------------------------------------------------------ */

/* Pairs are counted in one call: one that is trained again must not count twice. */
static const mg_svm_shared *begin_count(const mg_fit *fit) {
    const mg_svm_shared *shared = fit->shared ? fit->shared->data : NULL;
    if (shared && shared->won)
        memset(shared->won, 0, (size_t)fit->problem->x.rows * sizeof *shared->won);
    return shared;
}

margin_status mg_kernel_svm_fit(mg_fit *fit) {
    return mg_svm_train(fit, begin_count(fit));
}

/* Those that do not fit are refused before the first begins. */
static margin_status announce_largest(const mg_fit *fits, int64_t count, const mg_kernel *kernel) {
    int64_t largest = 0, bytes;
    float over;
    for (int64_t k = 1; k < count; k++)
        if (fits[k].problem->count > fits[largest].problem->count) largest = k;
    return mg_svm_announce(&fits[largest], kernel, false, &bytes, &over);
}

/* Without one matrix for all: one after the other, each with all threads and its share of the time
 * that is left. */
margin_status mg_kernel_svm_fit_many(mg_fit *fits, int64_t count) {
    if (fits[0].shared->differ & MG_DIFFER_FOLDS) return mg_svm_folds(fits, count);
    const mg_svm_shared *shared = begin_count(fits);
    margin_status status = MARGIN_OK;
    if (shared && !shared->gram) {
        status = announce_largest(fits, count, &shared->kernel);
        ((mg_svm_shared *)fits[0].shared->data)->told = true;
    }
    for (int64_t k = 0; k < count && status >= 0; k++) {
        margin_context *whole = fits[k].context, own;
        const double now = mg_clock(), left = whole->deadline - now;
        mg_context_copy(whole, &own);
        if (!isinf(left)) own.deadline = now + left / (double)(count - k);
        fits[k].context = &own;
        status = mg_svm_train(&fits[k], shared);
        fits[k].context = whole;
        mg_progress(whole, "training", (double)k + 1, (double)count, (double)NAN);
    }
    if (status < 0) mg_fits_undo(fits, count);
    return MG_MIN(status, MARGIN_OK);
}
