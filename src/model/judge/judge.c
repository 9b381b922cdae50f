/* A labelled data set seen through a model: what metrics, margins and proofs start from. */
#include "model/judge/judge.h"

#include <math.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------- */

static margin_status read_targets(const margin_data *data, bool unknown, mg_judged *judged,
                                  margin_error *error) {
    mg_heap *heap = judged->context->heap;
    int64_t count = judged->samples.count;
    if (judged->model->task == MARGIN_CLUSTER) return MARGIN_OK;
    if (judged->model->task == MARGIN_REGRESS) {
        MG_NEW(heap, judged->targets, judged->model->target.count * count, "the targets", error);
        return mg_target_values(judged->context, data, &judged->samples, judged->targets, error);
    }
    MG_NEW(heap, judged->codes, count, "the classes of the rows", error);
    return mg_target_codes(judged->context, data, &judged->samples, judged->model, unknown,
                           judged->codes, error);
}

/* The first column of a row with a category that the model does not know; -1: none. */
static int64_t unknown_column(const mg_judged *judged, int64_t row) {
    const margin_matrix *x = &judged->aligned.data.x;
    const mg_columns *inputs = &judged->model->inputs;
    for (int64_t j = 0; !mg_is_csr(x) && j < inputs->count; j++) {
        const double value = mg_dense_value(x, row, j);
        if (inputs->items[j].kind == MARGIN_CATEGORICAL &&
            !(value < (double)inputs->items[j].category_count) && !isnan(value))
            return j;
    }
    return -1;
}

static margin_status check_scores(const mg_judged *judged, margin_error *error) {
    int64_t functions = judged->model->hypothesis->functions;
    for (int64_t k = 0; k < judged->samples.count * functions; k++) {
        if (!isnan(judged->scores[k])) continue;
        int64_t row = mg_samples_row(&judged->samples, k / functions);
        const int64_t column = unknown_column(judged, row);
        if (column >= 0 && margin_model_unknown(judged->model) == MARGIN_UNKNOWN_ERROR)
            return mg_fail_at(
                error, MG_DATA(UNKNOWN_CATEGORY), (mg_place){.row = row + 1, .feature = column + 1},
                "row %lld has a category in column %s that was not in the training "
                "data, and '%s' refuses those",
                (long long)row + 1, judged->model->inputs.items[column].name, judged->model->spec);
        return mg_fail_at(error, MG_DATA(MISSING_VALUE), (mg_place){.row = row + 1},
                          "row %lld has a missing value (or one the model does not know, or a "
                          "negative count; or, with knn(empty=none), no neighbour within the "
                          "radius) and so no prediction; "
                          "leave such rows out, or train with 'impute | ...'",
                          (long long)row + 1);
    }
    return MARGIN_OK;
}

static margin_status score_samples(mg_judged *judged, margin_error *error) {
    const mg_samples *samples = &judged->samples;
    int64_t functions = judged->model->hypothesis->functions;
    MG_REQUIRE(samples->count <= INT64_MAX / 8 / functions, error, MARGIN_ERROR_LIMIT,
               "%lld rows have too many scores", (long long)samples->count);
    MG_NEW(judged->context->heap, judged->scores, samples->count * functions,
           "the scores of the rows", error);
    MG_TRY(mg_predict_rows(judged->context, judged->model, &judged->aligned.data.x, samples->rows,
                           samples->count, MARGIN_OUTPUT_SCORES, false, judged->scores, error));
    return check_scores(judged, error);
}

margin_status mg_judge_open(margin_context *context, const margin_model *model,
                            const margin_data *data, bool unknown, mg_judged *judged,
                            margin_error *error) {
    mg_judged made = {.context = context, .model = model};
    margin_status status;
    MG_REQUIRE(model, error, MARGIN_ERROR_ARGUMENT, "the model is NULL");
    MG_TRY(mg_model_predicts(model, error));
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(mg_target_count_check(model, data, error));
    MG_TRY(mg_align(context, model, data, &made.aligned, error));
    MG_GO(mg_samples_make(context->heap, data, &made.samples, error));
    MG_GO(read_targets(data, unknown, &made, error));
    MG_GO(score_samples(&made, error));
    *judged = made;
    return MARGIN_OK;
done:
    mg_judge_close(&made);
    return status;
}

void mg_judge_close(mg_judged *judged) {
    if (!judged->context) return;
    mg_heap *heap = judged->context->heap;
    MG_FREE(heap, judged->scores, judged->targets, judged->codes);
    mg_samples_free(&judged->samples);
    mg_aligned_free(&judged->aligned);
    memset(judged, 0, sizeof *judged);
}

/* ---- Margins --------------------------------------------------------------------------------- */

static double class_margin(const double *scores, int64_t classes, int32_t code, int64_t *second) {
    int64_t best = code == 0 ? 1 : 0;
    for (int64_t c = best + 1; c < classes; c++)
        if (c != code && scores[c] > scores[best]) best = c;
    *second = best;
    return scores[code] - scores[best];
}

static double pair_margin(const double *scores, int64_t classes, int32_t code, int64_t *first) {
    double least = (double)INFINITY;
    for (int64_t c = 0; c < classes; c++) {
        if (c == code) continue;
        int64_t pair =
            c < code ? mg_pair_number(classes, c, code) : mg_pair_number(classes, code, c);
        double towards = c < code ? -scores[pair] : scores[pair];
        if (towards >= least) continue;
        least = towards;
        *first = pair;
    }
    return least;
}

double mg_sample_margin(const margin_model *model, const double *scores, int32_t code,
                        int64_t *first, int64_t *second) {
    *first = model->decision == MG_DECIDE_ARGMAX ? code : 0;
    *second = -1;
    switch (model->decision) {
    case MG_DECIDE_SIGN:
        return code == 1 ? scores[0] : -scores[0];
    case MG_DECIDE_ARGMAX:
        return class_margin(scores, model->classes, code, second);
    case MG_DECIDE_VOTES:
        return pair_margin(scores, model->classes, code, first);
    case MG_DECIDE_VALUE:
        break;
    }
    return (double)NAN;
}
