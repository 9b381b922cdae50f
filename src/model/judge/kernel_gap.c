/* The dual of the whole kernel at the dual variables of a machine over landmarks. */
#include "model/judge/kernel_gap.h"

#include "features/made/kernel_map.h"
#include "learn/penalty.h"
#include "math/gram/kernel.h"
#include "model/problem/pipeline.h"

#include <math.h>
#include <string.h>

static const char gap_purpose[] = "the gap of the whole kernel";

/* The support vectors of one function, as they come to the last stage. */
typedef struct gap_run {
    margin_context *context;
    const mg_kernel *kernel;
    mg_staged staged;
    int64_t count;
    const double *alpha, *sign;
    double *beta, *products, *squares;
    margin_error *error;
} gap_run;

static margin_status multiply(gap_run *run) {
    const margin_matrix *x = &run->staged.x;
    const bool squares = mg_kernel_basis_of(run->kernel->kind) == MG_OF_SQUARES;
    mg_kernel_scratch *scratch;
    const mg_kernel_block block = {.x = x,
                                   .z = x,
                                   .x_count = run->count,
                                   .z_count = run->count,
                                   .x_squares = run->squares,
                                   .z_squares = run->squares};
    if (squares)
        MG_TRY(mg_kernel_fail(mg_row_squares(run->context, x, NULL, run->squares), run->error));
    MG_TRY(mg_kernel_scratch_new(run->context, run->kernel, x, x, &scratch, run->error));
    const margin_status status =
        mg_kernel_multiply_square(scratch, &block, run->beta, run->products, run->error);
    mg_kernel_scratch_free(scratch);
    return status;
}

/* *dual += sum alpha - b'Kb / (2 rho) */
static margin_status add_dual(gap_run *run, double rho, double *dual) {
    MG_SCOPED_ARENA(arena, run->context->heap);
    MG_TRY(MG_PIECES(&arena, gap_purpose, run->error, MG_PIECE(run->beta, run->count),
                     MG_PIECE(run->products, run->count), MG_PIECE(run->squares, run->count)));
    for (int64_t i = 0; i < run->count; i++)
        run->beta[i] = run->alpha[i] * run->sign[i];
    MG_TRY(multiply(run));
    for (int64_t i = 0; i < run->count; i++)
        *dual += run->alpha[i] - run->beta[i] * run->products[i] / (2.0 * rho);
    return MARGIN_OK;
}

/* Of function f: its rows pass the stages before the last. */
static margin_status add_function(gap_run *run, const margin_model *model, const margin_data *data,
                                  int64_t f, double rho, double *dual) {
    const mg_hypothesis *h = model->hypothesis;
    const int64_t first = h->dual_starts[f];
    margin_model before = *model;
    const mg_samples samples = {.heap = run->context->heap,
                                .count = run->count = h->dual_starts[f + 1] - first,
                                .rows = h->dual_rows + first};
    if (run->count == 0) return MARGIN_OK;
    before.stage_count--;
    run->alpha = h->dual_coefficients + first;
    run->sign = h->dual_signs + first;
    MG_TRY(mg_pipeline_transform(run->context, &before, data, &samples, &run->staged, run->error));
    const margin_status status = add_dual(run, rho, dual);
    mg_staged_free(&run->staged);
    return status;
}

/* The hinge of two classes (or several such), behind nystroem. */
static bool is_over_landmarks(const margin_model *model, const mg_spec_component *learner,
                              mg_kernel *kernel) {
    return model->stage_count > 0 && model->hypothesis->dual_starts &&
           model->hypothesis->kind == &mg_hypothesis_linear &&
           mg_nystroem_kernel(&model->stages[model->stage_count - 1], kernel) &&
           strcmp(model->learner->info.name, "svm") == 0 &&
           mg_option_is(learner->info, learner->options, "loss", "hinge") &&
           !mg_option_is(learner->info, learner->options, "multiclass", "argmax");
}

margin_status mg_kernel_gap(margin_context *context, const margin_model *model,
                            const mg_spec_component *learner, const margin_data *data,
                            double objective, double *gap, margin_error *error) {
    const double rho = mg_penalty_of(learner->info, learner->options, 0.0, 1.0).rho;
    mg_kernel kernel;
    gap_run run = {.context = context, .kernel = &kernel, .error = error};
    double dual = 0.0;
    *gap = (double)NAN;
    if (!(rho > 0.0) || !is_over_landmarks(model, learner, &kernel)) return MARGIN_OK;
    for (int64_t f = 0; f < model->hypothesis->functions; f++)
        MG_TRY(add_function(&run, model, data, f, rho, &dual));
    *gap = fmax(objective - dual, 0.0) / fmax(1.0, objective);
    return MARGIN_OK;
}
