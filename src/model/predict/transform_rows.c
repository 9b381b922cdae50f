/* Rows through the stages of a model, and back. */
#include "model/predict/align.h"
#include "model/problem/data_rows.h"
#include "model/problem/pipeline.h"

#include <math.h>

#define TRANSFORMED MG_RESULT(margin_transformed, inner)

/* What a result points to, with a reference to the heap that it lies in. */
typedef struct owner {
    mg_heap *heap;
    mg_matrix_buffer buffer;
} owner;

static void free_transformed(owner *o) {
    mg_heap *heap = o->heap;
    mg_matrix_buffer_free(&o->buffer);
    mg_free(heap, o);
    mg_heap_release(heap);
}

/* The buffer of what the stages made; where none made anything, a copy of the rows. */
static margin_status take_rows(mg_staged *staged, int64_t rows, owner *o, margin_error *error) {
    if (staged->made) {
        o->buffer = staged->buffer;
        staged->buffer = (mg_matrix_buffer){0};
        return MARGIN_OK;
    }
    int64_t *all;
    MG_NEW(o->heap, all, rows, "the numbers of the rows", error);
    for (int64_t i = 0; i < rows; i++)
        all[i] = i;
    const margin_status status =
        mg_matrix_gather(o->heap, &staged->x, all, rows, "the rows", &o->buffer, error);
    mg_free(o->heap, all);
    return status;
}

static margin_status transform_run(margin_context *context, const margin_model *model,
                                   const margin_data *data, owner *o, margin_error *error) {
    MG_SCOPED(mg_samples, samples);
    MG_SCOPED(mg_staged, staged);
    MG_TRY(mg_samples_make(context->heap, data, &samples, error));
    MG_TRY(mg_pipeline_transform(context, model, data, &samples, &staged, error));
    return take_rows(&staged, samples.count, o, error);
}

margin_status margin_transform(margin_context *context, const margin_model *model,
                               const margin_data *data, margin_transformed *result,
                               margin_error *error) {
    mg_aligned aligned = {0};
    mg_matrix_buffer copy = {0};
    owner *o = NULL;
    margin_status status;
    MG_GIVEN(error, {context, "context"}, {model, "model"}, {data, "data set"});
    MG_TRY(mg_result_check(result, TRANSFORMED, error));
    margin_data rows = *data;
    rows.y.values = rows.weights.values = NULL;
    rows.targets = 0;
    rows.target = NULL;
    margin_context call = mg_context_call(context);
    MG_GO(mg_data_check_columns(&call, &rows, error));
    MG_GO(mg_align(&call, model, &rows, &aligned, error));
    MG_GO(mg_data_in_rows(&call, &aligned.data, &copy, error));
    MG_GO_NEW(context->heap, o, 1, "the result", error);
    *o = (owner){.heap = mg_heap_retain(context->heap)};
    MG_GO(transform_run(&call, model, &aligned.data, o, error));
    const margin_transformed found = {.x = o->buffer.view, .inner = o};
    mg_result_give(result, TRANSFORMED, &found);
    o = NULL;
done:
    if (o) free_transformed(o);
    mg_matrix_buffer_free(&copy);
    mg_aligned_free(&aligned);
    return mg_call_status(&call, status, "before all rows were through the stages", error);
}

void margin_transformed_free(margin_transformed *result) {
    if (!result || !result->inner) return;
    free_transformed(result->inner);
    mg_result_give(result, TRANSFORMED, &(margin_transformed){0});
}

margin_status margin_transform_inverse(const margin_model *model, const margin_matrix *x,
                                       double *rows_out, margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {x, "matrix x"});
    for (int s = 0; s < model->stage_count; s++)
        MG_REQUIRE(model->stages[s].stage->affine, error, MARGIN_ERROR_ARGUMENT,
                   "%s has no way back; minmax and standardize have",
                   model->stages[s].stage->info.name);
    const int64_t columns = model->inputs.count;
    MG_REQUIRE(x->columns == columns, error, MG_CAUSE(MARGIN_ERROR_ARGUMENT, COLUMNS),
               "x has %lld columns and the stages make %lld", (long long)x->columns,
               (long long)columns);
    MG_REQUIRE(rows_out || x->rows == 0, error, MARGIN_ERROR_ARGUMENT,
               "there is nowhere to write the rows to: the output is NULL");
    MG_TRY(mg_matrix_check(NULL, x, "x", error));
    for (int64_t i = 0; i < x->rows; i++)
        mg_row_expand(x, i, rows_out + i * columns);
    for (int s = model->stage_count - 1; s >= 0; s--)
        for (int64_t j = 0; j < columns; j++) {
            double offset, divisor;
            model->stages[s].stage->affine(&model->stages[s], j, &offset, &divisor);
            for (int64_t i = 0; i < x->rows; i++) {
                double *value = &rows_out[i * columns + j];
                *value = isinf(divisor) ? offset : offset + divisor * *value;
            }
        }
    return MARGIN_OK;
}
