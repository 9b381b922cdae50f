/* Conjugate gradients with the Hessian of one function. */
#include "linear/objective/conjugate.h"

#include <string.h>

typedef struct vectors {
    double *conjugate, *image, *solved, *weights;
} vectors;

/* image = H conjugate */
static margin_status conjugate_apply(const mg_conjugate *m, const vectors *v, margin_error *error) {
    const mg_objective *o = m->objective;
    const int64_t p = o->columns;
    const double offset =
        mg_design_from_coordinates(o->design, m->centre, m->factor, v->conjugate, v->weights);
    double total;
    MG_TRY(mg_design_product(o->design, m->chosen, m->count, m->weights, v->weights,
                             o->intercept ? offset : 0.0, v->image, &total, error));
    for (int64_t j = 0; j < p; j++) {
        const double ridge = m->ridge ? m->ridge[j] : o->penalty.rho;
        v->image[j] = m->factor[j] * (v->image[j] - m->centre[j] * total + ridge * v->weights[j]);
    }
    v->image[p] = (o->intercept ? total : 0.0) + m->added * v->conjugate[p];
    return MARGIN_OK;
}

static double conjugate_precondition(const mg_conjugate *m, const vectors *v) {
    const int64_t size = m->objective->columns + 1;
    for (int64_t j = 0; j < size; j++)
        v->solved[j] = m->residual[j] / m->diagonal[j];
    return mg_vector_ops_for(m->objective->design->isa)->dot(m->residual, v->solved, size);
}

margin_status mg_conjugate_gradients(const mg_conjugate *m, int64_t *steps, margin_error *error) {
    static const double breakdown = 1e-14;
    const int64_t size = m->objective->columns + 1;
    const mg_vector_ops *ops = mg_vector_ops_for(m->objective->design->isa);
    const vectors v = {m->work, m->work + size, m->work + 2 * size, m->work + 3 * size};
    double rest = conjugate_precondition(m, &v);
    const double enough = m->share * rest;
    double fallen = 0.0;
    memset(m->direction, 0, (size_t)size * sizeof *m->direction);
    memcpy(v.conjugate, v.solved, (size_t)size * sizeof *v.conjugate);
    for (*steps = 0; *steps < m->most && rest > enough; ++*steps) {
        if (mg_stop_check(m->stop, 0) != MARGIN_OK) break;
        MG_TRY(conjugate_apply(m, &v, error));
        const double curvature = ops->dot(v.conjugate, v.image, size), before = rest;
        if (!(curvature > breakdown * rest)) break;
        ops->add(m->direction, rest / curvature, v.conjugate, size);
        ops->add(m->residual, -rest / curvature, v.image, size);
        rest = conjugate_precondition(m, &v);
        fallen += before * before / curvature;
        if (m->enough && m->enough(m->state, m->residual, *steps + 1, fallen)) {
            ++*steps;
            break;
        }
        for (int64_t j = 0; j < size; j++)
            v.conjugate[j] = v.solved[j] + rest / before * v.conjugate[j];
    }
    return MARGIN_OK;
}
