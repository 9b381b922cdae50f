/* Some of the samples as an objective of their own, and the start that steps on them make, which
 * cost a small part of a pass each.
 *
 * The optimum of m samples is above that of all by about (columns / m) of the value, so that steps
 * go no further. They start on a part of the part, and so on down to as few rows as a factor is
 * made from. Rows are drawn in proportion to their weights. */
#include "base/scoped.h"
#include "linear/newton/smooth.h"

#include <string.h>

/* Least samples for each of a part; of a part for each that a factor takes; a random number's round
 * that no factor takes. */
enum { TIMES = 5, FACTORS = 4, ROUND = 1 << 22 };

static const char purpose[] = "a part of the rows";

static margin_status take_targets(const mg_problem *from, mg_smooth_part *part,
                                  margin_error *error) {
    const int64_t count = part->sample.count;
    int64_t *index;
    int8_t *sign = NULL;
    int32_t *code = NULL;
    double *target = NULL;
    MG_ARENA_NEW(&part->arena, index, count, purpose, error);
    if (from->sign) MG_ARENA_NEW(&part->arena, sign, count, purpose, error);
    if (from->code) MG_ARENA_NEW(&part->arena, code, count, purpose, error);
    if (from->target) MG_ARENA_NEW(&part->arena, target, count, purpose, error);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = part->sample.rows[k];
        index[k] = mg_sample_row(from, i);
        if (sign) sign[k] = from->sign[i];
        if (code) code[k] = from->code[i];
        if (target) target[k] = from->target[i];
    }
    part->problem.index = index;
    part->problem.sign = sign;
    part->problem.code = code;
    part->problem.target = target;
    return MARGIN_OK;
}

/* Where they would take much of the memory limit the rows are read where they are. */
static margin_status copy_rows(const mg_design *d, mg_smooth_part *part, margin_error *error) {
    const margin_matrix *x = &d->problem->x;
    const int64_t count = part->sample.count, columns = d->columns;
    double *rows;
    const int64_t bytes = count * columns * (int64_t)sizeof *rows;
    if (mg_is_csr(x) || !mg_fits_limit(d->heap, bytes, 8)) return MARGIN_OK;
    MG_ARENA_NEW(&part->arena, rows, count * columns, purpose, error);
    mg_design_copy_rows(d, part->sample.rows, count, rows);
    part->problem.x = x->value_type == MARGIN_F32
                          ? margin_dense_f32((const float *)(void *)rows, count, columns, columns)
                          : margin_dense_f64(rows, count, columns, columns);
    part->problem.index = NULL;
    part->problem.maker = NULL;
    return MARGIN_OK;
}

margin_status mg_smooth_take_part(mg_smooth *s, int64_t rows, int64_t round, mg_smooth_part *part) {
    const mg_objective *o = s->objective;
    margin_error *error = s->job->error;
    mg_penalty penalty = o->penalty;
    mg_arena_init(&part->arena, s->design->heap);
    MG_TRY(mg_smooth_sample(s, o->c, rows, round, &part->arena, &part->sample));
    part->problem = *s->design->problem;
    MG_TRY(take_targets(s->design->problem, part, error));
    MG_TRY(copy_rows(s->design, part, error));
    part->problem.count = part->sample.count;
    part->problem.weight = part->sample.weights;
    part->problem.original = NULL;
    part->problem.scale = s->design->scale;
    part->problem.shift = s->design->shift;
    penalty.factor = 1.0;
    MG_TRY(mg_design_create(s->design->context, &part->problem, &part->design, error));
    return mg_objective_create(&part->design, o->loss, &penalty, o->intercept, &part->objective,
                               error);
}

static margin_status step_on_part(mg_smooth *s) {
    mg_linear_job job = *s->job;
    mg_linear_solution solution = {.w = s->there.w, .b = s->there.b};
    MG_SCOPED(mg_smooth, of_part);
    job.objective = &s->part.objective;
    job.trace = NULL;
    memset(s->there.w, 0, (size_t)s->size * sizeof *s->there.w); /* not given */
    MG_TRY(mg_smooth_begin(&job, &solution, s, &of_part));
    MG_TRY(mg_smooth_descend(&of_part, (double)s->block / (double)of_part.samples));
    if (s->functions > 1 && mg_smooth_is_separated(&of_part)) /* on the way to infinity */
        mg_smooth_part_free(&s->part);
    else
        memcpy(s->here.w, of_part.here.w, (size_t)s->size * sizeof(double)); /* and b */
    return MARGIN_OK;
}

/* Of a class that it has not a part knows nothing. */
static bool has_all_classes(const mg_smooth *s) {
    for (int64_t k = 0; s->functions > 1 && k < s->functions; k++)
        if (s->objective->totals[k] > 0.0 && !(s->part.objective.totals[k] > 0.0)) return false;
    return true;
}

margin_status mg_smooth_start(mg_smooth *s) {
    static const double most_price = 2.0; /* of a factor, in passes */
    const int64_t least = mg_smooth_least_rows(s);
    const int64_t rows = MG_MIN(s->samples / TIMES, FACTORS * least);
    const bool worth = s->functions > 1
                           ? mg_smooth_can_whole(s)
                           : mg_smooth_can_factor(s, 1) &&
                                 mg_smooth_price(s, MG_BASE_BLOCKS, rows, true) <= most_price;
    if (rows < least / 2 || !worth) return MARGIN_OK;
    MG_TRY(mg_smooth_take_part(s, rows, ROUND, &s->part));
    if (has_all_classes(s)) return step_on_part(s);
    mg_smooth_part_free(&s->part);
    return MARGIN_OK;
}

void mg_smooth_part_free(mg_smooth_part *part) {
    mg_objective_free(&part->objective);
    mg_design_free(&part->design);
    mg_arena_free(&part->arena);
    memset(part, 0, sizeof *part);
}
