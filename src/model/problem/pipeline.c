/* Stages over a whole data set.
 *
 * The samples' rows are gathered first if they are not all rows: a row that takes no part must not
 * be able to fail a stage. Each intermediate matrix is freed as soon as the next one is there. */
#include "model/problem/pipeline.h"
#include "learn/kernels/kernel_options.h"
#include "model/problem/data_rows.h"

#include <math.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

/* A learner takes them as they are, a stage encodes them. */
static bool takes_categories(const margin_component *component) {
    return (component->abilities & MARGIN_CAN_CATEGORIES) != 0;
}

static bool takes_missing(const mg_learner *learner) {
    return (learner->info.abilities & MARGIN_CAN_MISSING) != 0;
}

bool mg_pipeline_takes_categories(const margin_spec *spec) {
    bool takes = false;
    for (int k = 0; k < spec->component_count; k++)
        takes = takes || takes_categories(spec->components[k].info);
    return takes;
}

/* Where in the text of a spec onehot belongs: behind a stage that fills in what is missing (and
 * keeps categories), else first. */
static int64_t place_of_onehot(const margin_spec *spec) {
    const bool kept = (spec->components[0].info->abilities & MARGIN_CAN_MISSING) != 0;
    const char *bar = kept ? strchr(spec->text, '|') : NULL;
    return bar ? bar - spec->text + 2 : 0;
}

static bool is_text(const char *category) {
    double value;
    return !margin_number_parse_f64(category, strlen(category), &value);
}

/* The first row whose category in column j is no number; -1: none. */
static int64_t first_text(const margin_data *data, const mg_samples *samples, int64_t j) {
    const margin_column *column = &data->columns[j];
    for (int64_t i = 0; i < samples->count && !mg_is_csr(&data->x); i++) {
        const int64_t row = mg_samples_row(samples, i);
        const double code = mg_dense_value(&data->x, row, j);
        if (code >= 0 && code < (double)column->category_count &&
            is_text(column->categories[(int64_t)code]))
            return row;
    }
    return -1;
}

static margin_status refuse_categories(const margin_data *data, const mg_samples *samples,
                                       const margin_spec *spec, margin_error *error) {
    const mg_spec_component *last = mg_spec_learner(spec);
    const bool given = last && mg_kernel_is_given(last->info, last->options);
    const int place = given ? 0 : (int)place_of_onehot(spec);
    int64_t j = 0;
    while (data->columns && j < data->x.columns && data->columns[j].kind != MARGIN_CATEGORICAL)
        j++;
    if (!data->columns || j == data->x.columns) return MARGIN_OK;
    const margin_column *column = &data->columns[j];
    const int64_t row = samples ? first_text(data, samples, j) : -1;
    const int64_t code = row < 0 ? 0 : (int64_t)mg_dense_value(&data->x, row, j);
    const char *shown = column->category_count > 0 ? column->categories[code] : "";
    return mg_fail_at(
        error, MG_DATA(CATEGORIES), (mg_place){.row = row + 1, .feature = j + 1},
        "column %s holds categories ('%.40s'%s%s), which have no numbers to compute "
        "with; leave it out%s%.*s%s%s",
        column->name, shown, column->category_count > 1 ? ", ..." : "",
        row < 0 && !is_text(shown) ? "; whole numbers beyond 2^53 are read as texts, too" : "",
        given ? "" : " or encode it: ", place, spec->text, given ? "" : "onehot | ",
        given ? "" : spec->text + place);
}

/* What the stages made must be finite before `what` sees it; the row is as the user counts. */
static margin_status check_made(margin_context *context, const mg_staged *staged,
                                const mg_samples *samples, bool allow_nan, const char *what,
                                margin_error *error) {
    margin_error found = {0};
    margin_data data = {.x = staged->x, .columns = staged->columns};
    char buffer[32];
    margin_status status = mg_matrix_check_finite(context, &data, allow_nan, &found);
    if (status == MARGIN_ERROR_DATA) {
        int64_t row = mg_samples_row(samples, found.row - 1);
        return mg_fail_at(
            error, MG_CAUSED(MARGIN_ERROR_DATA, found.cause), (mg_place){.row = row + 1},
            "row %lld has a missing or infinite value in column %s when %s gets it; "
            "fill gaps with 'impute | ...', bring large values to one scale before with "
            "'standardize | ...'",
            (long long)row + 1, mg_column_name(staged->columns, found.feature - 1, buffer), what);
    }
    if (status < 0 && error) *error = found;
    return status;
}

/* The same for rows that are only made when they are read. */
typedef struct made_check {
    margin_context *context;
    const mg_staged *staged;
    double *rows; /* per worker: `size` numbers */
    int64_t at_once, size;
    double growth; /* of rows that have inner values; else 0 */
} made_check;

/* Not finite where something is not that is made of these rows. */
static double sum_made(const made_check *check, const int64_t *numbers, int64_t count,
                       double *rows) {
    enum { SUMS = 8 };
    const mg_row_maker *maker = &check->staged->maker;
    const int64_t columns = check->staged->x.columns, all = count * columns;
    double sums[SUMS] = {0}, sum = 0;
    int64_t j = 0;
    if (check->growth > 0)
        mg_rows_make_inner(maker, numbers, count, rows);
    else
        mg_rows_make(maker, numbers, count, rows + check->at_once * columns, rows);
    for (; j + SUMS <= all; j += SUMS)
        for (int64_t s = 0; s < SUMS; s++)
            sums[s] += check->growth > 0 ? fabs(rows[j + s]) : rows[j + s] * 0.0;
    for (; j < all; j++)
        sum += check->growth > 0 ? fabs(rows[j]) : rows[j] * 0.0;
    for (int64_t s = 0; s < SUMS; s++)
        sum += sums[s];
    return sum * fmax(check->growth, 1.0);
}

static margin_status check_made_block(const mg_block *block, void *argument) {
    const made_check *check = argument;
    const mg_staged *staged = check->staged;
    const int64_t last = block->first + block->count;
    double *rows = check->rows + check->size * block->worker;
    int64_t numbers[MG_ROWS_AT_ONCE];
    for (int64_t i = block->first, count; i < last; i += count) {
        if (mg_cancelled(check->context)) return MARGIN_ERROR_CANCELLED; /* a row may take long */
        count = MG_MIN(check->at_once, last - i);
        for (int64_t k = 0; k < count; k++)
            numbers[k] = staged->index ? staged->index[i + k] : i + k;
        if (!isfinite(sum_made(check, numbers, count, rows))) return MARGIN_ERROR_DATA;
    }
    return MARGIN_OK;
}

static margin_status name_made_row(const mg_staged *staged, const mg_samples *samples, double *row,
                                   margin_error *error) {
    int64_t column = 0, i = 0;
    char buffer[32];
    for (; i < samples->count; i++) {
        mg_row_make(&staged->maker, staged->index ? staged->index[i] : i, row);
        for (column = 0; column < staged->x.columns && isfinite(row[column]);)
            column++;
        if (column < staged->x.columns) break;
    }
    if (i == samples->count) return MARGIN_OK; /* inner values alone were too large */
    const int64_t number = mg_samples_row(samples, i) + 1;
    return mg_fail_at(error, MG_DATA(OVERFLOW), (mg_place){.row = number},
                      "row %lld: column %s, made by %s, is not finite: scale the columns before "
                      "(standardize | %s)",
                      (long long)number, mg_column_name(staged->columns, column, buffer),
                      staged->maker.stage->stage->info.name, staged->maker.stage->stage->info.name);
}

static margin_status check_rows_made(margin_context *context, const mg_staged *staged,
                                     const mg_samples *samples, margin_error *error) {
    made_check check = {
        .context = context, .staged = staged, .at_once = mg_stage_at_once(staged->maker.stage)};
    if (staged->maker.stage->stage->inner && staged->maker.source.value_type == MARGIN_F64 &&
        staged->maker.after_count == 0) /* which are not looked at by inner values */
        check.growth = mg_stage_inner_growth(staged->maker.stage);
    check.size = check.at_once * staged->x.columns + mg_row_maker_scratch(&staged->maker);
    MG_NEW(context->heap, check.rows, mg_threads(context) * check.size, "rows that are made",
           error);
    margin_status status =
        mg_sweep_each(context, samples->count, mg_block_rows(mg_row_bytes(&staged->x)),
                      check_made_block, &check, NULL);
    if (status == MARGIN_ERROR_DATA)
        status = name_made_row(staged, samples, check.rows, error);
    else if (status < 0)
        status = mg_fail_cancelled(error);
    mg_free(context->heap, check.rows);
    return status;
}

/* ---- Running the stages ---------------------------------------------------------------------- */

void mg_staged_free(mg_staged *staged) {
    mg_matrix_buffer_free(&staged->buffer);
    mg_free(staged->heap, staged->scale);
    memset(staged, 0, sizeof *staged);
}

static void take_buffer(mg_staged *staged, const mg_matrix_buffer *buffer) {
    mg_matrix_buffer_free(&staged->buffer);
    staged->buffer = *buffer;
    staged->x = buffer->view;
    staged->made = true;
}

static void start(const margin_data *data, const mg_samples *samples, const margin_model *model,
                  mg_staged *staged) {
    memset(staged, 0, sizeof *staged);
    staged->x = data->x;
    staged->index = samples->rows;
    staged->columns = model->inputs.items;
    staged->heap = samples->heap;
    staged->target.divisor = 1;
}

/* Leaves the rows that take no part behind. */
static margin_status pipeline_gather(const mg_samples *samples, mg_staged *staged,
                                     margin_error *error) {
    if (!staged->index) return MARGIN_OK;
    mg_matrix_buffer gathered = {0};
    MG_TRY(mg_matrix_gather(samples->heap, &staged->x, samples->rows, samples->count,
                            "the selected rows", &gathered, error));
    take_buffer(staged, &gathered);
    staged->index = NULL;
    return MARGIN_OK;
}

static margin_status apply_stage(margin_context *context, const mg_fitted_stage *fitted,
                                 mg_staged *staged, margin_error *error) {
    mg_matrix_buffer made = {0};
    MG_TRY(mg_stage_apply(context, fitted, &staged->x, &made, error));
    take_buffer(staged, &made);
    if (fitted->columns.count > 0) staged->columns = fitted->columns.items;
    return MARGIN_OK;
}

/* What a stage may learn from. The first one sees the caller's data, so that it names rows as the
 * caller counts them; later ones the staged rows, with `targets` of the samples. */
static margin_data stage_data(const margin_data *data, const mg_samples *samples,
                              const mg_staged *staged, const double *targets) {
    margin_data seen = {.x = staged->x, .columns = staged->columns, .target = data->target};
    if (staged->made) {
        if (samples->weights) seen.weights = margin_values_f64(samples->weights, samples->count);
        if (targets) seen.y = margin_values_f64(targets, samples->count);
        return seen;
    }
    seen.y = data->y;
    if (samples->weights) seen.weights = data->weights;
    seen.selection = samples->rows;
    seen.selected = samples->count;
    return seen;
}

static margin_status copy_targets(const margin_data *data, const mg_samples *samples,
                                  double **targets, margin_error *error) {
    if (!data->y.values) return MARGIN_OK;
    MG_NEW(samples->heap, *targets, samples->count, "the targets", error);
    for (int64_t i = 0; i < samples->count; i++)
        (*targets)[i] = mg_vector_f64(&data->y, mg_samples_row(samples, i));
    return MARGIN_OK;
}

/* Anew where its numbers have changed. */
static margin_status attach_stage(mg_fitted_stage *fitted, margin_error *error) {
    mg_free(fitted->heap, (void *)fitted->view);
    fitted->view = NULL;
    return fitted->stage->attach ? fitted->stage->attach(fitted, error) : MARGIN_OK;
}

static margin_status fit_stage(margin_context *context, const mg_spec_component *component,
                               const margin_data *data, const mg_row_maker *maker, int number,
                               margin_model *model, margin_error *error) {
    mg_fitted_stage *fitted = &model->stages[number];
    MG_TRY(mg_fitted_stage_init(fitted, context->heap, component->stage, component->options,
                                data->x.columns, error));
    fitted->maker = maker;
    fitted->before = model->stages;
    fitted->before_count = number;
    fitted->stored = model->refitted ? &model->refitted->stages[number] : NULL;
    margin_status status = component->stage->fit(context, data, fitted->options, fitted, error);
    fitted->maker = NULL;
    if (status >= 0) status = attach_stage(fitted, error);
    if (status >= 0 && model->refitted)
        status = mg_stage_compare(context, fitted, data, maker, mg_blur_before(model->blur, number),
                                  fitted->stored, error);
    fitted->before = fitted->stored = NULL;
    fitted->before_count = 0;
    MG_TRY(status);
    return model->refitted ? attach_stage(fitted, error) : MARGIN_OK;
}

static margin_status describe_inputs(const margin_data *data, margin_model *model,
                                     margin_error *error) {
    return data->columns
               ? mg_columns_copy(model->heap, data->columns, data->x.columns, &model->inputs, error)
               : mg_columns_numbered(model->heap, "x", data->x.columns, &model->inputs, error);
}

static margin_status pipeline_check_rows(margin_context *context, const margin_data *data,
                                         const mg_samples *samples, bool allow_nan,
                                         margin_error *error) {
    margin_data chosen = *data;
    chosen.selection = samples->rows;
    chosen.selected = samples->count;
    return mg_matrix_check_finite(context, &chosen, allow_nan, error);
}

/* Kernel values with each row, which no stage may change column by column. */
static margin_status check_given(margin_context *context, const margin_spec *spec,
                                 const margin_data *data, const mg_samples *samples,
                                 margin_error *error) {
    const char *learner = mg_spec_learner(spec)->info->name,
               *stage = spec->components[0].info->name;
    margin_error found = {0};
    MG_REQUIRE(spec->component_count == 1, error, MARGIN_ERROR_SPEC,
               "%s(kernel=precomputed) takes a Gram matrix as it is, and %s in front of it changes "
               "each column by itself: leave it out, or take a kernel of the rows (%s | "
               "%s(kernel=rbf))",
               learner, stage, stage, learner);
    return mg_kernel_explain_gap(pipeline_check_rows(context, data, samples, false, &found), &found,
                                 error);
}

/* ---- Stages left to the learner ----------------------------------------------------------------
 * Stages [first, count) just before a learner that takes them so: one whose rows need not be
 * stored, and affine ones behind it. */

/* Stage k of a model, or of a spec that is to become one. */
static const mg_stage *stage_at(const margin_model *model, const margin_spec *spec, int k) {
    return spec ? spec->components[k].stage : model->stages[k].stage;
}

static int first_left(const margin_model *model, const margin_spec *spec) {
    const mg_learner *learner = spec ? mg_spec_learner(spec)->learner : model->learner;
    int first = spec ? spec->component_count - 1 : model->stage_count;
    bool made = learner->takes_made_rows;
    while (learner->takes_affine && first > 0 && stage_at(model, spec, first - 1)->affine) {
        first--;
        made = made && stage_at(model, spec, first)->fits_made_rows;
    }
    made = made && first > 0 && stage_at(model, spec, first - 1)->kept_bytes > 0;
    return first - made;
}

/* Rows that take part. */
static int64_t rows_of(const margin_data *data) {
    const int64_t rows = data->selection ? data->selected : data->x.rows;
    int64_t count = 0;
    if (!data->weights.values) return rows;
    for (int64_t i = 0; i < rows; i++)
        count += mg_vector_f64(&data->weights, data->selection ? data->selection[i] : i) > 0;
    return count;
}

/* Affine stages read rows one by one. */
static bool takes_columns(const margin_spec *spec, const margin_data *data) {
    const mg_spec_component *last = mg_spec_learner(spec);
    const bool stages = spec->component_count > 1;
    if (first_left(NULL, spec) > 0 || (stages && !spec->components[0].stage->affine)) return false;
    return last->learner->takes_columns &&
           last->learner->takes_columns(last->info, last->options, rows_of(data), data->x.columns);
}

margin_status mg_pipeline_rows(margin_context *context, const margin_spec *spec,
                               const margin_data *data, margin_data *seen, mg_matrix_buffer *copy,
                               margin_error *error) {
    *seen = *data;
    if (mg_is_by_columns(&data->x) && takes_columns(spec, data)) return MARGIN_OK;
    return mg_data_in_rows(context, seen, copy, error);
}

/* scale and shift of all of them: s (scale x + shift) + t. */
static margin_status leave_affine(const margin_model *model, int first, mg_staged *staged,
                                  margin_error *error) {
    const int64_t n = staged->x.columns;
    double *next;
    if (first == model->stage_count) return MARGIN_OK;
    MG_NEW(staged->heap, staged->scale, 4 * n, "the scale of the columns", error);
    staged->shift = staged->scale + n;
    next = staged->shift + n;
    for (int64_t j = 0; j < n; j++) {
        staged->scale[j] = 1;
        staged->shift[j] = 0;
    }
    for (int s = first; s < model->stage_count; s++) {
        mg_stage_affine(&model->stages[s], next, next + n);
        for (int64_t j = 0; j < n; j++) {
            staged->scale[j] *= next[j];
            staged->shift[j] = next[j] * staged->shift[j] + next[n + j];
        }
    }
    return MARGIN_OK;
}

/* What a fitted stage makes when it is read. */
static void leave_rows(const mg_fitted_stage *fitted, mg_staged *staged) {
    staged->maker = (mg_row_maker){.stage = fitted, .source = staged->x};
    staged->x = mg_row_maker_shape(&staged->maker);
    if (fitted->columns.count > 0) staged->columns = fitted->columns.items;
}

/* The same, stored unless it would be large. */
static margin_status leave_made(margin_context *context, const mg_fitted_stage *fitted,
                                const mg_samples *samples, mg_staged *staged, margin_error *error) {
    const double bytes = (double)samples->count * (double)fitted->columns_out *
                         (double)mg_type_size(staged->x.value_type);
    if (mg_is_csr(&staged->x) || staged->x.columns > MG_MADE_FROM ||
        bytes <= (double)mg_context_room(context, fitted->stage->kept_bytes)) {
        MG_TRY(pipeline_gather(samples, staged, error));
        return apply_stage(context, fitted, staged, error);
    }
    leave_rows(fitted, staged);
    return check_rows_made(context, staged, samples, error);
}

static margin_status leave_stages(margin_context *context, const margin_model *model, int first,
                                  const mg_samples *samples, mg_staged *staged,
                                  margin_error *error) {
    const mg_fitted_stage *fitted = &model->stages[first];
    if (fitted->stage->kept_bytes > 0) {
        MG_TRY(leave_made(context, fitted, samples, staged, error));
        first++;
    }
    return leave_affine(model, first, staged, error);
}

/* The last check before the learner. `missing`: no stage has refused or filled gaps. */
static margin_status check_last(margin_context *context, const margin_data *data,
                                const mg_samples *samples, const mg_staged *staged, bool missing,
                                const mg_learner *learner, margin_error *error) {
    const bool allow_nan = takes_missing(learner);
    if (staged->maker.stage) return MARGIN_OK; /* checked when it was set */
    if (staged->made)
        return check_made(context, staged, samples, allow_nan, learner->info.name, error);
    return missing && !allow_nan ? pipeline_check_rows(context, data, samples, false, error)
                                 : MARGIN_OK;
}

/* ---- The whole line -------------------------------------------------------------------------- */

/* Fits the stages [first, last); each is applied before the next one is fitted, the last one only
 * if `apply_last`. `missing`: see check_last. */
static margin_status fit_stages(margin_context *context, const margin_spec *spec, int first,
                                int last, bool apply_last, const margin_data *data,
                                const mg_samples *samples, const double *targets, bool *missing,
                                margin_model *model, mg_staged *staged, margin_error *error) {
    for (int s = first; s < last; s++) {
        const mg_spec_component *component = &spec->components[s];
        if (s > 0) {
            *missing = *missing && component->stage->takes_missing;
            MG_TRY(check_made(context, staged, samples, *missing, component->info->name, error));
        }
        margin_data seen = stage_data(data, samples, staged, targets);
        MG_TRY(fit_stage(context, component, &seen, NULL, s, model, error));
        if (s + 1 == last && !apply_last) break;
        MG_TRY(pipeline_gather(samples, staged, error));
        MG_TRY(apply_stage(context, &model->stages[s], staged, error));
    }
    return MARGIN_OK;
}

/* Fits the affine stages from `first` on to rows that are made when they are read. */
static margin_status fit_to_made(margin_context *context, const margin_spec *spec, int first,
                                 const margin_data *data, const mg_samples *samples,
                                 const double *targets, margin_model *model, mg_staged *staged,
                                 margin_error *error) {
    mg_row_maker maker = staged->maker;
    const margin_data seen = stage_data(data, samples, staged, targets);
    maker.after = &model->stages[first];
    for (int s = first; s < spec->component_count - 1; s++, maker.after_count++)
        MG_TRY(fit_stage(context, &spec->components[s], &seen, &maker, s, model, error));
    return MARGIN_OK;
}

/* Fits the stages that are left to the learner; what an affine one makes is seen by the next one
 * only. */
static margin_status fit_left(margin_context *context, const margin_spec *spec, int first,
                              const margin_data *data, const mg_samples *samples,
                              const double *targets, bool *missing, margin_model *model,
                              mg_staged *staged, margin_error *error) {
    const int stages = spec->component_count - 1;
    if (first < stages && spec->components[first].stage->kept_bytes > 0) {
        MG_TRY(fit_stages(context, spec, first, first + 1, false, data, samples, targets, missing,
                          model, staged, error));
        MG_TRY(leave_made(context, &model->stages[first], samples, staged, error));
        first++;
    }
    if (staged->maker.stage)
        MG_TRY(fit_to_made(context, spec, first, data, samples, targets, model, staged, error));
    if (first < stages && !staged->maker.stage) {
        mg_staged seen = *staged;
        seen.buffer = (mg_matrix_buffer){0};
        margin_status status = fit_stages(context, spec, first, stages, false, data, samples,
                                          targets, missing, model, &seen, error);
        mg_staged_free(&seen);
        MG_TRY(status);
    }
    return leave_affine(model, first, staged, error);
}

/* Whether nobody asks for what the last stage makes, and missing values cannot get through it. */
static bool is_unread(const margin_spec *spec, const mg_learner *learner) {
    if (!learner->reads_no_rows || spec->component_count < 2) return false;
    const mg_stage *last = spec->components[spec->component_count - 2].stage;
    return !last->affine && !last->takes_missing;
}

margin_status mg_pipeline_fit(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const mg_samples *samples,
                              margin_model *model, mg_staged *staged, margin_error *error) {
    int stages = spec->component_count - 1, left = first_left(NULL, spec);
    const mg_learner *learner = mg_spec_learner(spec)->learner;
    bool missing = stages > 0 ? spec->components[0].stage->takes_missing : takes_missing(learner);
    double *targets = NULL;
    margin_status status;
    MG_REQUIRE(data->x.columns > 0, error, MG_DATA(COLUMNS), "the data has no feature columns");
    if (!mg_pipeline_takes_categories(spec)) MG_TRY(refuse_categories(data, samples, spec, error));
    const bool unchecked = stages == 0 && mg_learner_more_of(learner)->finds_infinite;
    if (mg_kernel_is_given(&learner->info, mg_spec_learner(spec)->options))
        MG_TRY(check_given(context, spec, data, samples, error));
    else if (!unchecked)
        MG_TRY(pipeline_check_rows(context, data, samples, missing, error));

    MG_TRY(describe_inputs(data, model, error));
    MG_TRY(mg_model_set_stages(model, stages, error));
    start(data, samples, model, staged);
    staged->unchecked = unchecked;
    if (stages > 1) MG_GO(copy_targets(data, samples, &targets, error));
    if (is_unread(spec, learner)) {
        MG_GO(fit_stages(context, spec, 0, stages, false, data, samples, targets, &missing, model,
                         staged, error));
        leave_rows(&model->stages[stages - 1], staged);
    } else {
        MG_GO(fit_stages(context, spec, 0, left, true, data, samples, targets, &missing, model,
                         staged, error));
        MG_GO(
            fit_left(context, spec, left, data, samples, targets, &missing, model, staged, error));
    }
    MG_GO(check_last(context, data, samples, staged, missing, learner, error));
    MG_GO(mg_model_target_scale(model, &staged->target, error));
    if (!takes_categories(mg_spec_learner(spec)->info)) {
        const margin_data made = {.x = staged->x, .columns = staged->columns};
        status = refuse_categories(&made, NULL, spec, error);
    }
done:
    mg_free(samples->heap, targets);
    if (status < 0) mg_staged_free(staged);
    return status;
}

margin_status mg_pipeline_apply(margin_context *context, const margin_model *model,
                                const margin_data *data, const mg_samples *samples,
                                mg_staged *staged, margin_error *error) {
    bool missing = model->stage_count > 0 ? model->stages[0].stage->takes_missing
                                          : takes_missing(model->learner);
    int left = first_left(model, NULL);
    margin_status status = MARGIN_OK;
    MG_TRY(pipeline_check_rows(context, data, samples, missing, error));
    start(data, samples, model, staged);
    for (int s = 0; s < left; s++) {
        MG_GO(pipeline_gather(samples, staged, error));
        MG_GO(apply_stage(context, &model->stages[s], staged, error));
    }
    if (left < model->stage_count)
        MG_GO(leave_stages(context, model, left, samples, staged, error));
    MG_GO(mg_model_target_scale(model, &staged->target, error));
    status = check_last(context, data, samples, staged, missing, model->learner, error);
done:
    if (status < 0) mg_staged_free(staged);
    return status;
}

margin_status mg_pipeline_transform(margin_context *context, const margin_model *model,
                                    const margin_data *data, const mg_samples *samples,
                                    mg_staged *staged, margin_error *error) {
    bool missing = model->stage_count == 0 || model->stages[0].stage->takes_missing;
    margin_status status;
    MG_TRY(pipeline_check_rows(context, data, samples, missing, error));
    start(data, samples, model, staged);
    MG_GO(pipeline_gather(samples, staged, error));
    for (int s = 0; s < model->stage_count; s++) {
        const mg_stage *stage = model->stages[s].stage;
        missing = missing && stage->takes_missing;
        if (s > 0) MG_GO(check_made(context, staged, samples, missing, stage->info.name, error));
        MG_GO(apply_stage(context, &model->stages[s], staged, error));
        if (s + 1 == model->stage_count && stage->kept_bytes > 0) /* powers may overflow */
            status = check_made(context, staged, samples, false, "the caller", error);
    }
done:
    if (status < 0) mg_staged_free(staged);
    return status;
}

margin_status mg_staged_densify(margin_context *context, mg_staged *staged, const char *learner,
                                margin_error *error) {
    mg_matrix_buffer made = {0};
    if (!mg_is_csr(&staged->x)) return MARGIN_OK;
    mg_log(context, MARGIN_LOG_NOTE, "%s works on dense data: %lld x %lld numbers are filled in",
           learner, (long long)staged->x.rows, (long long)staged->x.columns);
    MG_TRY(
        mg_stage_rows(context, NULL, &staged->x, "a dense copy of the sparse data", &made, error));
    take_buffer(staged, &made);
    return MARGIN_OK;
}
