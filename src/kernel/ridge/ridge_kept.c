/* The Gram matrix of the samples, and its band form, from one penalty of a search to the
 * next. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>
#include <string.h>

typedef struct ridge_kept {
    mg_kernel_system system; /* context, problem and error are those of a fit that is over */
    mg_ridge_form form;
    bool worn;
} ridge_kept;

static void kept_free(mg_heap *heap, void *data) {
    ridge_kept *kept = data;
    margin_context context = {.heap = heap};
    kept->system.context = &context;
    mg_kernel_system_free(&kept->system);
    mg_ridge_form_free(heap, &kept->form);
    mg_free(heap, kept);
}

/* The form has the weights in it. */
static bool has_weights(const mg_ridge_form *form, const mg_problem *p) {
    for (int64_t i = 0; form->scale && i < p->count; i++)
        if (form->scale[i] != sqrt(mg_sample_weight(p, i))) return false;
    return true;
}

bool mg_ridge_take(mg_ridge_run *run, const mg_kernel *kernel) {
    mg_kept *from = run->fits[0].kept;
    mg_heap *heap = run->context->heap;
    ridge_kept *kept = from ? from->data : NULL;
    if (!kept) return false;
    from->data = NULL;
    const bool same = mg_kernel_same(&kept->system.kernel, kernel) &&
                      kept->system.count == run->count && has_weights(&kept->form, run->problem);
    if (same) {
        run->system = kept->system;
        run->system.context = run->context;
        run->system.problem = run->problem;
        run->system.error = run->error;
        run->form = kept->form;
        run->worn = kept->worn;
        mg_free(heap, kept);
    } else {
        kept_free(heap, kept);
    }
    return same;
}

static margin_status keep(mg_kept *to, const mg_kernel_system *system, const mg_ridge_form *form,
                          bool worn) {
    ridge_kept *kept;
    MG_NEW(system->context->heap, kept, 1, "what the penalties share", system->error);
    *kept = (ridge_kept){*system, *form, worn};
    if (to->data) to->release(system->context->heap, to->data);
    to->data = kept;
    to->release = kept_free;
    return MARGIN_OK;
}

margin_status mg_ridge_keep(mg_kept *to, const mg_kernel_system *system) {
    return keep(to, system, &(mg_ridge_form){0}, false);
}

margin_status mg_ridge_leave(mg_ridge_run *run) {
    mg_kept *to = run->fits[0].kept;
    if (!to || to->following <= 0 || !run->system.gram || run->system.storage != MG_GRAM_SQUARE ||
        !mg_ridge_is_direct(run->options, run->count)) /* which alone would take it */
        return MARGIN_OK;
    mg_kernel_scratch_free(run->system.scratch); /* which makes kernel values, of this context */
    run->system.scratch = NULL;
    MG_TRY(keep(to, &run->system, &run->form, run->worn));
    memset(&run->system, 0, sizeof run->system);
    run->form = (mg_ridge_form){0};
    return MARGIN_OK;
}
