/* Classes against the rest and pairs of classes: one Gram matrix for all of them. */
#include "base/sort.h"
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"

#include <math.h>
#include <string.h>

static void shared_free(mg_heap *heap, void *data) {
    mg_svm_shared *s = data;
    if (!s) return;
    mg_gram_free(s->gram);
    MG_FREE(heap, s->position, s->rows, s->places, s);
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
    for (int c = 0; c < p->classes; c++)
        for (int64_t i = 0; i < p->count; i++) {
            if (p->code[i] != c) continue;
            s->rows[at] = mg_point_row(&points, i);
            s->places[at] = mg_point_place(&points, i);
            s->position[s->rows[at]] = at;
            at++;
        }
    return MARGIN_OK;
}

/* One for all where there is room; without it each fit keeps rows of its own. */
static margin_status make_gram(mg_shared *shared, mg_svm_shared *s) {
    const mg_problem *p = shared->whole;
    const mg_fit whole = {.context = shared->context, .learner = shared->learner, .problem = p};
    const mg_kernel_sizes sizes = mg_kernel_sizes_of(&whole, &s->kernel, shared->fits);
    const mg_kernel_plan plan = mg_kernel_plan_make(shared->context, &sizes, MG_WAY_SHARED);
    if (!plan.chosen) return MARGIN_OK;
    s->spare = mg_kernel_spare(&sizes);
    MG_TRY(mg_announce(shared->context, &plan.says, shared->error));
    MG_TRY(list_by_class(p, shared->context->heap, s, shared->error));
    const mg_gram_request request = {.kernel = s->kernel,
                                     .points = {p->x, s->rows, s->places, p->count},
                                     .type = MARGIN_F32,
                                     .bytes = plan.says.matrix};
    MG_TRY(mg_gram_create(shared->context, &request, &s->gram, shared->error));
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
    shared->data = s;
    shared->release = shared_free;
    shared->together = s->gram ? 1 : shared->fits;
    return MARGIN_OK;
done:
    shared_free(heap, s);
    return status;
}

margin_status mg_kernel_svm_fit(mg_fit *fit) {
    return mg_svm_train(fit, fit->shared ? fit->shared->data : NULL);
}

/* Without one matrix for all: one after the other, each with all threads and its share of the time
 * that is left. */
margin_status mg_kernel_svm_fit_many(mg_fit *fits, int64_t count) {
    margin_status status = MARGIN_OK;
    for (int64_t k = 0; k < count && status >= 0; k++) {
        margin_context *whole = fits[k].context, own;
        const double now = mg_clock(), left = whole->deadline - now;
        mg_context_copy(whole, &own);
        if (!isinf(left)) own.deadline = now + left / (double)(count - k);
        fits[k].context = &own;
        status = mg_kernel_svm_fit(&fits[k]);
        fits[k].context = whole;
        mg_progress(whole, "training", (double)k + 1, (double)count, (double)NAN);
    }
    if (status < 0) mg_fits_undo(fits, count);
    return MG_MIN(status, MARGIN_OK);
}
