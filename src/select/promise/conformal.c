/* Intervals and sets that hold the truth in a stated share of cases.
 *
 * Numbers: jackknife+ and CV+ (Barber, Candes, Ramdas and Tibshirani, Annals of Statistics 49,
 * 2021): with R_i the error at row i of the fit without it and f_-i(x) its prediction, the interval
 * goes from the k-th least of f_-i(x) - R_i to the k-th greatest of f_-i(x) + R_i, k = floor((1 -
 * level) (n + 1)). Classes: cross-conformal (Vovk, Annals of Mathematics and AI 74, 2015): a class
 * is in the set if more than (1 - level) (n + 1) - 1 rows look at least as strange by the fit that
 * did not see them, strangeness being minus the functional margin. */
#include "base/sort.h"
#include "model/judge/judge.h"
#include "select/promise/cross_fit.h"

#include <math.h>
#include <string.h>

/* How little a class is like a row: minus its functional margin there. */
static double strangeness_of(const margin_model *model, const double *scores, int32_t code) {
    int64_t first, second;
    return -mg_sample_margin(model, scores, code, &first, &second);
}

margin_status mg_cover_folds(margin_context *context, margin_model *model, const mg_crossed *c,
                             margin_error *error) {
    const int64_t n = c->samples.count;
    double *residuals;
    void **bytes = NULL;
    int64_t *lengths = NULL, *starts, total = 0;
    mg_bag *bag = &model->additions->bag;
    int32_t *fold;
    unsigned char *all;
    margin_status status = MARGIN_OK;
    MG_TRY(mg_add_numbers(model, "residuals", n, 0, &residuals, error));
    for (int64_t i = 0; i < n; i++) {
        const double *f = c->scores + i * c->functions;
        residuals[i] =
            c->targets ? fabs(c->targets[i] - f[0]) : strangeness_of(model, f, c->codes[i]);
        if (!isfinite(residuals[i]))
            return mg_fail(error, MARGIN_ERROR_DATA,
                           "row %lld has no finite prediction by the fit that did not see it, and "
                           "no coverage can be promised; leave such rows out",
                           (long long)mg_samples_row(&c->samples, i) + 1);
    }
    MG_TRY(mg_bag_add(bag, "fold", MARGIN_I32, n, 0, &fold, error));
    MG_TRY(mg_bag_add(bag, "model_starts", MARGIN_I64, c->folds + 1, 0, &starts, error));
    memcpy(fold, c->fold, (size_t)n * sizeof *fold);
    bytes = mg_new_zero(context->heap, c->folds, sizeof *bytes);
    lengths = mg_new_zero(context->heap, c->folds, sizeof *lengths);
    if (!bytes || !lengths) {
        status = mg_no_memory(context->heap, c->folds, sizeof *bytes, "the folds", error);
        goto done;
    }
    for (int64_t k = 0; k < c->folds; k++) {
        MG_GO(margin_model_encode(c->models[k], &bytes[k], &lengths[k], error));
        starts[k + 1] = total += lengths[k];
    }
    MG_GO(mg_bag_add(bag, "models", MARGIN_U8, total, 0, &all, error));
    for (int64_t k = 0; k < c->folds; k++)
        memcpy(all + starts[k], bytes[k], (size_t)lengths[k]);
done:
    for (int64_t k = 0; bytes && k < c->folds; k++)
        margin_bytes_free(c->models[k], bytes[k]);
    MG_FREE(context->heap, lengths, bytes);
    return status;
}

/* ---- Prediction ------------------------------------------------------------------------------ */

typedef struct {
    margin_context *context;
    const margin_model *model;
    const mg_additions *additions;
    const margin_matrix *x;
    const int64_t *rows;  /* NULL: in order */
    const double *scores; /* folds x count x functions; NULL: left_out serves */
    int64_t count;
    double *lower, *upper, *scratch; /* scratch: 2 n and a row for each worker */
    uint8_t *sets;
} covering;

static void cover_number(const covering *c, int64_t at, double *scratch) {
    const mg_additions *a = c->additions;
    const int64_t n = a->rows, width = c->model->hypothesis->columns,
                  k = mg_rows_beyond(*a->level, n);
    double *low = scratch, *high = scratch + n, *row = scratch + 2 * n;
    bool gap = false;
    if (!c->scores) mg_row_expand(c->x, c->rows ? c->rows[at] : at, row);
    for (int64_t i = 0; i < n; i++) {
        double f;
        if (c->scores) {
            f = c->scores[a->fold[i] * c->count + at];
        } else {
            const double *w = a->left_out + i * (width + 1);
            f = w[width];
            for (int64_t j = 0; j < width; j++)
                f += w[j] * row[j];
        }
        gap |= !isfinite(f);
        low[i] = f - a->residuals[i];
        high[i] = f + a->residuals[i];
    }
    c->lower[at] = gap ? (double)NAN : mg_select(low, n, k - 1);
    c->upper[at] = gap ? (double)NAN : mg_select(high, n, n - k);
}

static void cover_classes(const covering *c, int64_t at) {
    const mg_additions *a = c->additions;
    const int64_t k = c->model->classes, functions = c->model->hypothesis->functions;
    for (int32_t y = 0; y < k; y++) {
        double strange[MG_MOST_FOLDS];
        int64_t as_strange = 0;
        for (int64_t f = 0; f < a->fold_count; f++)
            strange[f] = strangeness_of(c->model, c->scores + (f * c->count + at) * functions, y);
        for (int64_t i = 0; i < a->rows; i++)
            as_strange += a->residuals[i] >= strange[a->fold[i]];
        c->sets[at * k + y] =
            (double)(as_strange + 1) > (1 - *a->level) * (double)(a->rows + 1) + 1e-9;
    }
}

static margin_status cover_block(const mg_block *block, void *argument) {
    const covering *c = argument;
    const int64_t room = 2 * c->additions->rows + c->model->inputs.count;
    for (int64_t at = block->first; at < block->first + block->count; at++) {
        if (mg_cancelled(c->context)) return MARGIN_ERROR_CANCELLED;
        if (c->sets)
            cover_classes(c, at);
        else
            cover_number(c, at, c->scratch + block->worker * room);
    }
    return MARGIN_OK;
}

/* What the fits of the folds say of each row. */
static margin_status fold_scores(const covering *c, double *scores, margin_error *error) {
    const int64_t functions = c->model->hypothesis->functions;
    for (int64_t k = 0; k < c->additions->fold_count; k++)
        MG_TRY(mg_predict_rows(c->context, c->additions->models[k], c->x, c->rows, c->count,
                               MARGIN_OUTPUT_SCORES, false, scores + k * c->count * functions,
                               error));
    return MARGIN_OK;
}

static margin_status cover_rows(covering *c, margin_error *error) {
    enum { ROWS = 16 };
    const mg_additions *a = c->additions;
    double *scores;
    MG_SCOPED_ARENA(arena, c->context->heap);
    MG_ARENA_NEW(&arena, c->scratch,
                 margin_context_threads(c->context) * (2 * a->rows + c->model->inputs.count),
                 "scratch for intervals", error);
    if (a->fold) {
        MG_ARENA_NEW(&arena, scores, a->fold_count * c->count * c->model->hypothesis->functions,
                     "the scores by the folds", error);
        MG_TRY(fold_scores(c, scores, error));
        c->scores = scores;
    }
    return mg_sweep_each(c->context, c->count, ROWS, cover_block, c, error);
}

static margin_status cover(margin_context *context, const margin_model *model,
                           const margin_data *data, double *lower, double *upper, uint8_t *sets,
                           margin_error *error) {
    MG_SCOPED(mg_aligned, aligned);
    MG_REQUIRE(context && model && data && (sets || (lower && upper)), error, MARGIN_ERROR_ARGUMENT,
               "a model, data and a place for the answers are needed");
    MG_REQUIRE(model->additions && model->additions->level, error, MARGIN_ERROR_ARGUMENT,
               "the model promises no coverage; train one with margin_promise_options.coverage");
    MG_REQUIRE((model->task == MARGIN_REGRESS) == (sets == NULL), error, MARGIN_ERROR_ARGUMENT,
               model->task == MARGIN_REGRESS ? "numbers have intervals, not sets"
                                             : "classes have sets, not intervals");
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(mg_align(context, model, data, &aligned, error));
    covering c = {.context = context,
                  .model = model,
                  .additions = model->additions,
                  .x = &aligned.data.x,
                  .rows = data->selection,
                  .count = data->selection ? data->selected : data->x.rows,
                  .lower = lower,
                  .upper = upper,
                  .sets = sets};
    return c.count > 0 ? cover_rows(&c, error) : MARGIN_OK;
}

static margin_status cover_call(margin_context *context, const margin_model *model,
                                const margin_data *data, double *lower, double *upper,
                                uint8_t *sets, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, cover(&call, model, data, lower, upper, sets, error),
                          "before all rows were answered", error);
}

margin_status margin_predict_intervals(margin_context *context, const margin_model *model,
                                       const margin_data *data, double *lower, double *upper,
                                       margin_error *error) {
    return cover_call(context, model, data, lower, upper, NULL, error);
}

margin_status margin_predict_sets(margin_context *context, const margin_model *model,
                                  const margin_data *data, uint8_t *sets, margin_error *error) {
    MG_REQUIRE(sets, error, MARGIN_ERROR_ARGUMENT, "the place for the sets is NULL");
    return cover_call(context, model, data, NULL, NULL, sets, error);
}

/* ---- How it holds ---------------------------------------------------------------------------- */

static margin_status judge_intervals(margin_context *context, const margin_model *model,
                                     const margin_data *data, const mg_samples *s,
                                     margin_coverage_found *found, margin_error *error) {
    double *numbers;
    MG_NEW(context->heap, numbers, 3 * s->count, "intervals", error);
    double *lower = numbers, *upper = numbers + s->count, *y = numbers + 2 * s->count;
    margin_status status = mg_target_values(context, data, s, y, error);
    margin_data rows = *data;
    if (s->rows) rows.selection = s->rows;
    if (s->rows) rows.selected = s->count;
    if (status >= 0) status = margin_predict_intervals(context, model, &rows, lower, upper, error);
    for (int64_t i = 0; status >= 0 && i < s->count; i++) {
        found->covered += lower[i] <= y[i] && y[i] <= upper[i];
        found->width += upper[i] - lower[i];
    }
    mg_free(context->heap, numbers);
    return status;
}

static margin_status judge_sets(margin_context *context, const margin_model *model,
                                const margin_data *data, const mg_samples *s,
                                margin_coverage_found *found, margin_error *error) {
    const int64_t k = model->classes;
    int32_t *codes;
    uint8_t *sets;
    margin_data rows = *data;
    if (s->rows) rows.selection = s->rows;
    if (s->rows) rows.selected = s->count;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_ARENA_NEW(&arena, codes, s->count, "the classes of the rows", error);
    MG_ARENA_NEW(&arena, sets, s->count * k, "sets of classes", error);
    MG_TRY(mg_target_codes(context, data, s, model, true, codes, error));
    MG_TRY(margin_predict_sets(context, model, &rows, sets, error));
    for (int64_t i = 0; i < s->count; i++) {
        found->covered += codes[i] >= 0 && sets[i * k + codes[i]];
        for (int64_t c = 0; c < k; c++)
            found->width += sets[i * k + c];
    }
    return MARGIN_OK;
}

static margin_status coverage(margin_context *context, const margin_model *model,
                              const margin_data *data, margin_coverage_found *given,
                              margin_error *error) {
    margin_coverage_found found = {0};
    mg_samples s = {0};
    const mg_result_type type = MG_RESULT(margin_coverage_found, width);
    MG_TRY(mg_result_check(given, type, error));
    MG_REQUIRE(model->additions && model->additions->level, error, MARGIN_ERROR_ARGUMENT,
               "the model promises no coverage");
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(mg_target_count_check(model, data, error));
    MG_TRY(mg_samples_make(context->heap, data, &s, error));
    const margin_status status = (model->task == MARGIN_REGRESS ? judge_intervals : judge_sets)(
        context, model, data, &s, &found, error);
    found.rows = s.count;
    found.asked = *model->additions->level;
    found.covered /= (double)s.count;
    found.width /= (double)s.count;
    mg_samples_free(&s);
    if (status >= 0) mg_result_give(given, type, &found);
    return status;
}

margin_status margin_coverage(margin_context *context, const margin_model *model,
                              const margin_data *data, margin_coverage_found *given,
                              margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, coverage(&call, model, data, given, error),
                          "before all rows were judged", error);
}
