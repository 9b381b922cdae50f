/* Classes against the rest and pairs of classes: one Gram matrix for all of them. */
#include "base/sort.h"
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"

#include <math.h>
#include <string.h>

/* A whole matrix takes at most so much, and half of what a memory limit leaves. */
enum { WHOLE_GIGABYTES = 8 };

static void shared_free(mg_heap *heap, void *data) {
    mg_svm_shared *s = data;
    if (!s) return;
    mg_gram_free(s->gram);
    mg_free(heap, s->position);
    mg_free(heap, s->rows);
    mg_free(heap, s->places);
    mg_free(heap, s);
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

static margin_status make_gram(mg_shared *shared, mg_svm_shared *s) {
    const mg_problem *p = shared->whole;
    const int64_t whole = mg_gram_bytes(p->count, MARGIN_F32, p->count);
    if (whole > mg_context_room(shared->context, (int64_t)WHOLE_GIGABYTES << 30)) return MARGIN_OK;
    MG_TRY(list_by_class(p, shared->context->heap, s, shared->error));
    const mg_gram_request request = {.kernel = s->kernel,
                                     .points = {p->x, s->rows, s->places, p->count},
                                     .type = MARGIN_F32,
                                     .bytes = whole};
    MG_TRY(mg_gram_create(shared->context, &request, &s->gram, shared->error));
    mg_log(shared->context, MARGIN_LOG_NOTE,
           "one Gram matrix of %lld x %lld numbers for %lld problems takes %s", (long long)p->count,
           (long long)p->count, (long long)shared->fits, mg_bytes((uint64_t)whole).text);
    return mg_gram_fill(s->gram, shared->context, shared->error);
}

margin_status mg_kernel_svm_share(mg_shared *shared) {
    const margin_component *info = &shared->learner->info;
    const mg_svm_options options = mg_svm_options_of(info, shared->options, shared->whole);
    mg_heap *heap = shared->context->heap;
    mg_svm_shared *s;
    margin_status status;
    MG_NEW(heap, s, 1, "what the classes share", shared->error);
    memset(s, 0, sizeof *s);
    MG_GO(mg_kernel_resolve(shared->context, &options.kernel, info->name, shared->whole, &s->kernel,
                            shared->error));
    if (shared->fits > 1 && shared->whole->code) MG_GO(make_gram(shared, s));
    shared->data = s;
    shared->release = shared_free;
    shared->together = shared->fits;
    return MARGIN_OK;
done:
    shared_free(heap, s);
    return status;
}

margin_status mg_kernel_svm_fit(mg_fit *fit) {
    return mg_svm_train(fit, fit->shared ? fit->shared->data : NULL);
}

/* ---- Several problems ------------------------------------------------------------------------ */

typedef struct many_work {
    mg_fit *fits;
    int64_t count;
    double deadline;
    int sharers;
    margin_error *errors;
    margin_status *status;
} many_work;

/* The time that is left is divided among the problems that are left. */
static double share_of_time(const many_work *work, int64_t number) {
    const double left = (double)(work->count - number), now = mg_clock();
    if (isinf(work->deadline)) return work->deadline;
    return MG_MIN(now + (work->deadline - now) * MG_MIN(work->sharers / left, 1.0), work->deadline);
}

static margin_status many_task(void *argument, int64_t number, int worker) {
    many_work *work = argument;
    mg_fit *fit = &work->fits[number];
    margin_context *whole = fit->context, context;
    (void)worker;
    mg_context_part(whole, share_of_time(work, number), &context);
    context.sharers *= work->sharers;
    fit->context = &context;
    fit->error = &work->errors[number];
    work->status[number] = mg_kernel_svm_fit(fit);
    fit->context = whole;
    return work->status[number];
}

static margin_status run_many(many_work *work, bool side_by_side, margin_error *error) {
    margin_context *context = work->fits[0].context;
    margin_status status = MARGIN_OK;
    if (side_by_side) {
        work->sharers = (int)MG_MIN(work->count, (int64_t)mg_pool_threads(context->pool));
        status = mg_parallel(context, work->count, many_task, work);
    } else {
        for (int64_t k = 0; k < work->count && status >= 0; k++) {
            status = many_task(work, k, 0);
            mg_progress(context, "training", (double)k + 1, (double)work->count, (double)NAN);
        }
    }
    if (status >= 0) return MARGIN_OK;
    for (int64_t k = 0; k < work->count; k++) {
        mg_hypothesis_free(work->fits[k].hypothesis);
        work->fits[k].hypothesis = NULL;
        if (work->status[k] == status && error && status != MARGIN_ERROR_CANCELLED) {
            *error = work->errors[k];
            error = NULL;
        }
    }
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(error) : status;
}

/* With one matrix for all side by side, a thread each; else one after the other, all threads. */
margin_status mg_kernel_svm_fit_many(mg_fit *fits, int64_t count) {
    const mg_svm_shared *shared = fits[0].shared->data;
    margin_context *context = fits[0].context;
    margin_error *error = fits[0].error;
    many_work work = {fits, count, context->deadline, 1, NULL, NULL};
    margin_status status;
    MG_GO_NEW(context->heap, work.errors, count, "the problems of several classes", error);
    MG_GO_NEW(context->heap, work.status, count, "the problems of several classes", error);
    memset(work.status, 0, (size_t)count * sizeof *work.status);
    status = run_many(&work, shared->gram != NULL, error);
    for (int64_t k = 0; k < count; k++)
        fits[k].error = error;
done:
    mg_free(context->heap, work.status);
    mg_free(context->heap, work.errors);
    return status;
}
