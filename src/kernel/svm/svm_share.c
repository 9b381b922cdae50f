/* Classes against the rest and pairs of classes: one Gram matrix for all of them. */
#include "base/sort.h"
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"
#include "math/rows/byte_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void shared_free(mg_heap *heap, void *data) {
    mg_svm_shared *s = data;
    if (!s) return;
    mg_gram_free(s->gram);
    for (int64_t k = 0; k < s->workers; k++)
        mg_free(heap, s->spares[k]);
    MG_FREE(heap, s->spares, s->position, s->rows, s->places, s->off, s->won, s);
}

/* Samples in the order of their classes, each class in its own order; of bytes in that of the words
 * that are not 0: neighbours then have zeros in common, which are not multiplied. */
static margin_status list_by_class(const mg_problem *p, margin_context *context, float over,
                                   mg_svm_shared *s, margin_error *error) {
    static const char purpose[] = "the order of the rows";
    const mg_kernel_points points = mg_kernel_points_of(p);
    mg_heap *heap = context->heap;
    mg_svm_placed *list;
    int32_t *words;
    MG_SCOPED_ARENA(arena, heap);
    MG_NEW(heap, s->position, p->x.rows, purpose, error);
    MG_NEW(heap, s->rows, p->count, purpose, error);
    MG_NEW(heap, s->places, p->count, purpose, error);
    MG_NEW(heap, s->off, p->count, purpose, error);
    MG_ARENA_NEW(&arena, list, 2 * p->count, purpose, error);
    MG_ARENA_NEW(&arena, words, p->count, purpose, error);
    if (mg_byte_words(context, &p->x, points.rows, p->count, over, words) < 0)
        return mg_fail_cancelled(error);
    for (int64_t i = 0; i < p->count; i++)
        list[i] = (mg_svm_placed){((int64_t)p->code[i] << 32) + words[i], i};
    if (!mg_sort_items(context, list, p->count, sizeof *list, list + p->count, mg_svm_by_position))
        return mg_fail_cancelled(error);
    for (int64_t at = 0; at < p->count; at++) {
        const int64_t i = list[at].sample;
        s->rows[at] = mg_point_row(&points, i);
        s->places[at] = mg_point_place(&points, i);
        s->position[s->rows[at]] = at;
    }
    return MARGIN_OK;
}

/* ---- Scores of the samples ------------------------------------------------------------------- */

typedef struct rough_work {
    const mg_svm_shared *own;
    const mg_problem *problem;
    const mg_hypothesis *h;
    bool counted;        /* what each pair won */
    const float *values; /* of the gram; NULL: there is none */
    int64_t ld;
    double *weights;       /* of the values, a coefficient each */
    int64_t *places;       /* in the gram, the same */
    mg_gram_error *errors; /* of each function */
    double *rounding;      /* the same */
    double *room;          /* of each worker: scores and errors of a sample */
    mg_rough_visit *visit;
    void *argument;
} rough_work;

/* Weights and rows of all functions, and how far from those of f64 their sums may be: each of the
 * two sums has a rounding for each of its terms, of a size of at most all of them. */
static void list_weights(const rough_work *work) {
    const mg_hypothesis *h = work->h;
    int64_t k = 0;
    for (int64_t f = 0; f < h->functions; f++) {
        mg_gram_error *error = &work->errors[f];
        const int64_t first = k, last = h->view.expansion.starts[f + 1];
        *error = work->own->error;
        for (; k < last; k++) {
            const int64_t key = h->view.expansion.keys[h->view.expansion.entries[k]];
            work->places[k] = work->own->position[key];
            work->weights[k] = h->view.expansion.coefficients[k] / work->own->gram->factor;
            mg_gram_error_add(error, fabs(work->weights[k]), work->own->off[work->places[k]]);
        }
        work->rounding[f] = DBL_EPSILON * (double)(last - first + 2) *
                            (error->sum + fabs(h->view.expansion.intercept[f]));
    }
}

static double score_at(const rough_work *work, int64_t f, const float *row) {
    enum { CHAINS = 4 };
    double sum[CHAINS] = {work->h->view.expansion.intercept[f]};
    int64_t k = work->h->view.expansion.starts[f], end = work->h->view.expansion.starts[f + 1];
    for (; k + CHAINS <= end; k += CHAINS)
        for (int c = 0; c < CHAINS; c++)
            sum[c] += work->weights[k + c] * (double)row[work->places[k + c]];
    for (; k < end; k++)
        sum[0] += work->weights[k] * (double)row[work->places[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* A class that wins all pairs it has part in, where others may win one fewer, is the answer without
 * scores of the others. */
static margin_status rough_task(void *argument, int64_t i, int worker) {
    const rough_work *work = argument;
    const mg_svm_shared *s = work->own;
    const mg_problem *p = work->problem;
    const int64_t row = mg_sample_row(p, i), n = work->h->functions;
    const int64_t place = work->values ? s->position[row] : 0;
    const bool told = work->counted && s->won[row] == p->classes - 1;
    double *scores = work->room + 2 * worker * n, *errors = scores + n;
    for (int64_t f = 0, a = 0, b = 1; f < n; f++) {
        if (told || !work->values) {
            scores[f] = a == p->code[i] ? 1.0 : -1.0;
            errors[f] = told && (a == p->code[i] || b == p->code[i]) ? 0.0 : (double)INFINITY;
        } else {
            scores[f] = score_at(work, f, work->values + place * work->ld);
            errors[f] = work->rounding[f] + mg_gram_error_at(&work->errors[f], s->off[place]);
        }
        if (++b == p->classes) b = ++a + 1;
    }
    work->visit(&(mg_rough){i, worker, scores, errors}, work->argument);
    return MARGIN_OK;
}

static margin_status svm_rough(const mg_shared *shared, const mg_hypothesis *h,
                               mg_rough_visit *visit, void *argument, margin_error *error) {
    const mg_svm_shared *s = shared->data;
    const int64_t entries = s->known ? h->view.expansion.starts[h->functions] : 0;
    rough_work work = {.own = s,
                       .problem = shared->whole,
                       .h = h,
                       .counted = s->won && s->won[shared->whole->x.rows] == h->functions,
                       .visit = visit,
                       .argument = argument};
    MG_SCOPED_ARENA(arena, shared->context->heap);
    MG_TRY(MG_PIECES(&arena, "scores of the rows", error, MG_PIECE(work.weights, entries),
                     MG_PIECE(work.places, entries), MG_PIECE(work.rounding, h->functions),
                     MG_PIECE(work.errors, h->functions),
                     MG_PIECE(work.room, 2 * mg_threads(shared->context) * h->functions)));
    if (s->known) work.values = mg_gram_values(s->gram, &work.ld);
    if (s->known) list_weights(&work);
    return mg_parallel(shared->context, shared->whole->count, rough_task, &work, NULL);
}

/* Of rows that are samples once. */
static margin_status count_won(mg_shared *shared, mg_svm_shared *s) {
    const mg_problem *p = shared->whole;
    mg_heap *heap = shared->context->heap;
    bool once = true;
    MG_NEW_ZERO(heap, s->won, p->x.rows + 1, "the pairs that rows win", shared->error);
    for (int64_t i = 0; i < p->count; i++)
        once = once && s->won[mg_sample_row(p, i)]++ == 0;
    if (once) {
        shared->rough = svm_rough;
        for (int64_t i = 0; i < p->x.rows; i++)
            s->won[i] = 0;
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
    MG_TRY(mg_announce(shared->context, &plan.says, shared->error));
    const int64_t workers = mg_threads(shared->context);
    s->spare = mg_kernel_spare(&sizes);
    MG_NEW_ZERO(shared->context->heap, s->spares, workers, "what the classes share", shared->error);
    s->workers = workers;
    MG_TRY(list_by_class(p, shared->context, sizes.over, s, shared->error));
    const mg_gram_request request = {.kernel = s->kernel,
                                     .points = {p->x, s->rows, s->places, p->count},
                                     .type = MARGIN_F32,
                                     .bytes = plan.says.matrix,
                                     .over = sizes.over};
    MG_TRY(mg_gram_create(shared->context, &request, &s->gram, shared->error));
    s->known = mg_gram_error_start(s->gram, &s->error, s->off);
    if (s->known) shared->rough = svm_rough;
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
    if (shared->differ & MG_DIFFER_ROWS) MG_GO(count_won(shared, s));
    shared->data = s;
    shared->release = shared_free;
    shared->together = s->gram ? 1 : shared->fits;
    return MARGIN_OK;
done:
    shared_free(heap, s);
    return status;
}

/* ---- Fits ------------------------------------------------------------------------------------ */

margin_status mg_kernel_svm_fit(mg_fit *fit) {
    return mg_svm_train(fit, fit->shared ? fit->shared->data : NULL);
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
    const mg_svm_shared *shared = fits[0].shared->data;
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
