/* Where the solver begins: of one class, and where the last fit to the same rows ended. */
#include "kernel/svm/svm_machine.h"

#include <math.h>
#include <string.h>

/* One class starts with as many rows on their bound as the sum has room for. */
margin_status mg_svm_start_one_class(mg_svm_machine *m) {
    mg_smo *s = &m->smo;
    double left = s->total = mg_svm_total(&m->options, m->problem) / m->factor;
    int64_t *changed, count = 0;
    double *moved;
    MG_ARENA_NEW(&m->arena, changed, s->count, "the dual problem", m->fit->error);
    MG_ARENA_NEW(&m->arena, moved, s->count, "the dual problem", m->fit->error);
    for (; count < s->count && left > 0.0; count++) {
        s->beta[count] = moved[count] = fmin(left, s->high[count]);
        left -= moved[count];
        changed[count] = count;
    }
    MG_TRY(mg_smo_apply(s, changed, moved, count, m->fit->error));
    /* the optimum is 0 where f may vanish: relative to it there is no end */
    for (int64_t v = 0; v < s->count; v++)
        s->gap += 1e-10 * s->beta[v] * s->f[v];
    return MARGIN_OK;
}

/* ---- The last fit ---------------------------------------------------------------------------- */

mg_svm_machine *mg_svm_kept(const mg_fit *fit, const mg_svm_options *options,
                            const mg_kernel *kernel) {
    mg_svm_machine *m = fit->kept ? fit->kept->data : NULL;
    if (!m) return NULL;
    fit->kept->data = NULL;
    const bool same = m->options.regression == options->regression &&
                      m->options.epsilon == options->epsilon &&
                      mg_kernel_same(&m->kernel, kernel) && m->smo.count == fit->problem->count;
    if (!same) mg_svm_machine_free(fit->context->heap, m);
    return same ? m : NULL;
}

/* The share of the new box that a variable fills. */
static double filled(const mg_smo *s, int64_t v) {
    const double beta = s->beta[v];
    return beta == 0.0 ? 0.0 : beta / (beta > 0.0 ? s->high[v] : s->low[v]);
}

/* Variables and gradient times a number, those that fill the share exactly on the new bounds. */
static void stretch(mg_smo *s, double times, double share) {
    for (int64_t v = 0; v < s->count; v++) {
        const double bound = s->beta[v] > 0.0 ? s->high[v] : s->low[v];
        s->beta[v] = filled(s, v) >= share ? bound : times * s->beta[v];
        s->f[v] = times * (s->f[v] + s->target[v]) - s->target[v];
    }
}

/* Where most rows with a variable were on their bounds, all grow (or shrink) with these: as long as
 * they stay there, that is the optimum. Else they stay as they are, if the box has room. */
void mg_svm_again(mg_svm_machine *m) {
    static const double rounding = 1e-14;
    mg_smo *s = &m->smo;
    int64_t support = 0, bounded = 0;
    double most = 0.0;
    mg_svm_boxes(m);
    for (int64_t v = 0; v < s->count; v++)
        most = fmax(most, filled(s, v));
    const double share = most * (1.0 - rounding);
    for (int64_t v = 0; v < s->count; v++) {
        support += s->beta[v] != 0.0;
        bounded += s->beta[v] != 0.0 && filled(s, v) >= share;
    }
    if (isfinite(most) && most > 0.0 && (most > 1.0 || 2 * bounded > support))
        stretch(s, 1.0 / most, share);
    else if (!isfinite(most))
        for (int64_t v = 0; v < s->count; v++) {
            s->beta[v] = 0.0;
            s->f[v] = -s->target[v];
        }
    for (int64_t v = 0; v < s->count; v++)
        m->proven_beta[v] = mg_svm_beta(m, v);
    memcpy(m->proven_f, s->f, (size_t)s->count * sizeof *s->f);
    s->steps = s->rounds = 0;
    s->kkt = m->options.kkt;
    s->relative = m->options.tolerance;
    mg_smo_measure(s);
}
