/* margin_gram: the Gram matrix that a learner with a kernel sees. */
#include "learn/kernels/kernel_options.h"
#include "model/problem/data_rows.h"
#include "model/problem/multiclass.h"

#include <math.h>

static margin_status check_learner(const mg_spec_component *learner, margin_error *error) {
    static const char *const names[] = {"kernel", "gamma", "sigma", "degree", "coef0"};
    for (int k = 0; k < MG_LENGTH(names); k++)
        MG_REQUIRE(mg_option_index(learner->info, names[k]) >= 0, error, MARGIN_ERROR_SPEC,
                   "%s has no kernel, and so no Gram matrix; take svm(kernel=...), "
                   "perceptron(kernel=...), kernel-ridge or kernel-logistic",
                   mg_is_transform(learner->learner) ? "a spec of stages alone"
                                                     : learner->info->name);
    const bool named = mg_option_named(learner->info, learner->options, "kernel")->given;
    MG_REQUIRE(!learner->learner->takes_affine || named, error, MARGIN_ERROR_SPEC,
               "%s without a kernel keeps weights and no Gram matrix; name one (kernel=linear)",
               learner->info->name);
    return mg_learner_check(learner->learner, learner->options, error);
}

static margin_status fill(margin_context *context, const mg_spec_component *learner,
                          const mg_problem *problem, double *values, margin_error *error) {
    const mg_kernel_choice choice = mg_kernel_options_of(learner->info, learner->options);
    mg_kernel kernel;
    double *squares;
    MG_TRY(mg_kernel_resolve(context, &choice, learner->info->name, problem, &kernel, error));
    const mg_kernel_points points = mg_kernel_points_of(problem);
    MG_TRY(mg_kernel_check(context, &kernel, &points, error));
    MG_NEW(context->heap, squares, problem->x.rows, "the Gram matrix", error);
    margin_status status = mg_row_squares(context, &problem->x, NULL, squares);
    const bool given = kernel.kind == MG_KERNEL_PRECOMPUTED;
    const mg_kernel_block block = {.x = &problem->x,
                                   .z = &problem->x,
                                   .x_rows = points.rows,
                                   .z_rows = given ? points.places : points.rows,
                                   .x_count = problem->count,
                                   .z_count = problem->count,
                                   .x_squares = squares,
                                   .z_squares = squares};
    if (status < 0)
        status = mg_kernel_fail(status, error);
    else
        status = mg_kernel_fill(context, &kernel, &block, values, problem->count, error);
    mg_free(context->heap, squares);
    return status;
}

static margin_status check_values(const double *values, const mg_problem *problem,
                                  margin_error *error) {
    const int64_t count = problem->count;
    int64_t k = 0;
    while (k < count * count && isfinite(values[k]))
        k++;
    MG_REQUIRE(k == count * count, error, MG_DATA(OVERFLOW),
               "the kernel value of rows %lld and %lld is beyond the range of numbers; scale the "
               "columns first (standardize | ...) or use kernel=rbf",
               (long long)mg_sample_original(problem, k / count) + 1,
               (long long)mg_sample_original(problem, k % count) + 1);
    return MARGIN_OK;
}

static margin_status gram_run(margin_context *context, const margin_spec *spec,
                              const margin_data *data, int64_t capacity, double *values,
                              int64_t *rows, margin_error *error) {
    const mg_spec_component *learner = mg_spec_learner(spec);
    MG_OWNED(margin_model, model);
    MG_SCOPED(mg_samples, samples);
    MG_SCOPED(mg_staged, staged);
    MG_TRY(mg_model_new(context->heap, &model, error));
    model->learner = learner->learner;
    model->task = MARGIN_CLUSTER; /* a target plays no part */
    MG_TRY(mg_samples_make(context->heap, data, &samples, error));
    if (samples.count > capacity / MG_MAX(samples.count, 1))
        MG_TRY(mg_fail(error, MARGIN_ERROR_ARGUMENT,
                       "the Gram matrix of %lld rows has more numbers than there is room for",
                       (long long)samples.count));
    MG_TRY(mg_pipeline_fit(context, spec, data, &samples, model, &staged, error));
    const mg_problem problem = {.kind = MG_CLUSTERING,
                                .x = staged.x,
                                .columns = staged.columns,
                                .index = staged.index,
                                .count = samples.count,
                                .weight = samples.weights,
                                .original = samples.rows};
    const margin_status status = fill(context, learner, &problem, values, error);
    MG_TRY(mg_kernel_explain(context, learner->info, learner->options, &problem, status, error));
    *rows = samples.count;
    return check_values(values, &problem, error);
}

margin_status margin_gram(margin_context *context, const margin_spec *spec, const margin_data *data,
                          int64_t capacity, double *values, int64_t *rows, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {spec, "spec"}, {values, "place for the matrix"},
             {rows, "place for the matrix"});
    MG_REQUIRE(spec->variants == 1, error, MARGIN_ERROR_SPEC,
               "'%s' stands for %lld specs; choose one", spec->text, (long long)spec->variants);
    MG_TRY(check_learner(mg_spec_learner(spec), error));
    margin_context call = mg_context_call(context);
    mg_taken taken;
    margin_status status = mg_data_take(&call, data, false, &taken, error);
    if (status >= 0) status = gram_run(&call, spec, &taken.data, capacity, values, rows, error);
    mg_taken_free(&taken);
    return mg_call_status(&call, status, "before the Gram matrix was there: allow more", error);
}
