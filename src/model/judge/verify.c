/* margin_verify: what the model's report claims, found again from the model and the data.
 *
 * Compared are: task, formula, rows, columns, classes, sub-problems; the tolerance (that of the
 * spec), the order of several targets, status (converged or not), objective, gap (no lower than
 * what is found); accuracy, rmse and r2 on the training rows, here of the model's own predictions;
 * every item that the learner's verification finds (an exact silhouette and a perceptron's margin
 * if they are there); that counts are whole numbers; the gamma of a rule; that the number of
 * iterations is none below 0; that the folded weights are those of the learner, folded; that the
 * stages are what this data (of an updated model its first rows) gives, but for what a seed draws,
 * and that the model knows its categories; and what the learner says of dual coefficients, signs
 * and intercepts. Not compared is what describes the work and cannot be found from the model:
 * iterations, reason, which limit stopped it, and the items of unknown_item; nor what was settled
 * after the fit.
 *
 * Numbers agree if they differ by no more than what rounding may have made of them, which the
 * learner says (mg_verified), by the one rule of learn/report.h, and by the constants below. What
 * stages make is taken as it is at first: the instruction set of the fit makes the same bits. Only
 * a model that does not hold so is allowed what rounding may have made of it (blur.c). */
#include "base/cancelled_at.h"
#include "base/sweep.h"
#include "model/judge/kernel_gap.h"
#include "model/predict/align.h"
#include "model/predict/fit_score.h"
#include "model/predict/predict.h"
#include "model/problem/data_rows.h"
#include "model/problem/multiclass.h"
#include "neighbors/learner/index.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The scores are of the model's own predictions, which another instruction set adds up otherwise;
 * of targets without an error nothing but rounding is left, and so of an objective beside 1. Of a
 * gap six digits count. */
static const double other_order = 1e-9, nothing = 1e-12, gap_digits = 1e-6;
static const double least = 1e-250; /* below it products have left the range of numbers */

typedef struct comparison {
    const margin_report *stored;
    margin_report *found;
    const mg_verified *verified;
    const char *name; /* of the first number that differs; NULL: none so far */
    double was, is;
} comparison;

static void differ(comparison *c, const char *name, double was, double is) {
    if (c->name) return;
    c->name = name;
    c->was = was;
    c->is = is;
}

static void compare(comparison *c, const char *name, double was, double is, double allowed) {
    if (was == is || (isnan(was) && isnan(is))) return;
    if (isfinite(is) && fabs(was - is) <= allowed + least) return;
    differ(c, name, was, is);
}

/* Of the last sum itself, over rows. */
static double part_of(const comparison *c, double number) {
    return mg_rows_rounding(c->found->rows, MG_BLOCK_ROWS) * fabs(number);
}

static void compare_exactly(comparison *c, const char *name, double was, double is) {
    if (was != is && !(isnan(was) && isnan(is))) differ(c, name, was, is);
}

static void compare_shape(comparison *c) {
    compare_exactly(c, "task", c->stored->task, c->found->task);
    compare_exactly(c, "number of rows", (double)c->stored->rows, (double)c->found->rows);
    compare_exactly(c, "number of columns", (double)c->stored->columns, (double)c->found->columns);
    compare_exactly(c, "number of classes", (double)c->stored->classes, (double)c->found->classes);
    compare_exactly(c, "number of sub-problems", (double)c->stored->subproblems,
                    (double)c->found->subproblems);
    if (c->stored->iterations < 0)
        differ(c, "number of iterations", (double)c->stored->iterations, 0);
}

/* A gap is a bound: a lower one found is as good. That of a model that stopped may be infinite: it
 * has none; where none is found, none may be claimed. */
static void compare_gap(comparison *c) {
    const double was = c->stored->gap, is = c->found->gap;
    const double size = MG_MAX(1, fabs(c->found->objective));
    const double rounding = isinf(is) ? 0.0 : c->verified->gap / size + gap_digits * is + nothing;
    const bool is_claimed = c->stored->status == MARGIN_OK;
    const bool holds = was >= 0 && is <= was + rounding;
    if (isnan(was) && !(is > rounding)) return;
    if (!holds || (is_claimed && was > c->stored->tolerance)) differ(c, "gap", was, is);
}

static void compare_numbers(comparison *c) {
    const margin_report *was = c->stored, *is = c->found;
    compare_exactly(c, "tolerance", was->tolerance, is->tolerance);
    compare(c, "objective", was->objective, is->objective,
            c->verified->objective + part_of(c, is->objective) + nothing);
    compare_gap(c);
    if (was->status == MARGIN_OK) compare_exactly(c, "status", was->status, is->status);
}

/* NaN where no time was left for it. */
static void compare_score(comparison *c, const char *name, double was, double is, double rounding,
                          bool may_lack) {
    if (!(may_lack && isnan(was)))
        compare(c, name, was, is, other_order * fabs(is) + nothing + rounding);
}

/* Errors that rounding excuses are none by the model's own answers. */
static void compare_scores(comparison *c, bool updated) {
    const margin_report *was = c->stored, *is = c->found;
    const bool late = was->status == MARGIN_STOPPED_TIME;
    compare_score(c, "training accuracy", was->train_accuracy, is->train_accuracy, 0,
                  late || updated);
    const double errors = margin_report_item_value(was, "errors");
    if (was->status == MARGIN_OK && margin_report_item_value(is, "errors") > errors)
        compare_score(c, "training accuracy", 1, is->train_accuracy, 0, false);
    compare_score(c, "training rmse", was->train_rmse, is->train_rmse, c->verified->rmse, late);
    compare_score(c, "training r2", was->train_r2, is->train_r2, c->verified->r2, late);
}

static void compare_items(comparison *c) {
    for (int64_t i = 0; i < c->found->item_count; i++) {
        const margin_report_item *item = &c->found->items[i];
        const double was = margin_report_item_value(c->stored, item->name);
        if (isinf(c->verified->items[i])) continue; /* rounding is all there is of it */
        compare(c, item->name, was, item->value, c->verified->items[i] + part_of(c, item->value));
    }
}

/* An item that a verification does not find tells of the work of its learner, or is none. */
static bool is_told(const mg_learner *learner, const char *item) {
    char name[40];
    snprintf(name, sizeof name, " %.36s ", item);
    if (strcmp(item, MG_STAGE_ROWS) == 0) return mg_learner_more_of(learner)->update;
    return learner->told && strstr(learner->told, name);
}

static const char *unknown_item(const margin_model *model, const margin_report *found) {
    for (int64_t i = 0; i < model->report.item_count; i++) {
        const margin_report_item *item = &model->report.items[i];
        bool known = isnan(item->value) || is_told(model->learner, item->name);
        for (int64_t k = 0; k < found->item_count && !known; k++)
            known = strcmp(found->items[k].name, item->name) == 0;
        if (!known) return item->name;
    }
    return NULL;
}

/* A count is a whole number, whatever rounding lets it be. */
static const char *broken_count(const margin_report *stored) {
    static const char counts[] = " best_run relocated mistakes rank errors support_vectors "
                                 "bounded_vectors nonzero ";
    for (int64_t i = 0; i < stored->item_count; i++) {
        const double value = stored->items[i].value;
        char name[40];
        snprintf(name, sizeof name, " %.36s ", stored->items[i].name);
        if (!strstr(counts, name) || isnan(value)) continue;
        if (!(value >= 0 && value - floor(value) == 0)) return stored->items[i].name;
    }
    return NULL;
}

/* Whether the model names its rows by number, or keeps them in their order. */
static bool names_rows(const margin_model *model) {
    const mg_hypothesis *h = model->hypothesis;
    return h->dual_starts || h->kind == &mg_hypothesis_expansion ||
           h->kind == &mg_hypothesis_neighbors;
}

/* A bound may hold and be another number. */
static void describe_gap(const margin_report *stored, const margin_report *found, size_t capacity,
                         char *text) {
    const double was = stored->gap, is = found->gap;
    text[0] = 0;
    if (isnan(is) || was == is || fabs(was - is) <= gap_digits * fmin(was, is) + nothing) return;
    snprintf(text, capacity, " but for the gap: %s at most, reported as %s%s", mg_about(is).text,
             mg_about(was).text, is > was ? "; rounding may be all of the difference" : "");
}

/* What was not looked at, and what stages are of, is told. */
static void tell_agreement(const margin_model *model, const mg_verified *verified,
                           margin_report *found) {
    char stages[120] = "", gap[200];
    describe_gap(&model->report, found, sizeof gap, gap);
    if (isinf(found->gap))
        snprintf(gap, sizeof gap,
                 ", which has no bound: nothing says how low the objective could be");
    if (mg_model_is_updated(model))
        snprintf(stages, sizeof stages, "; its stages are those that its first %s rows give",
                 mg_number(margin_report_item_value(&model->report, MG_STAGE_ROWS)).text);
    mg_report_reason(found, "recomputed from the data and equal to the model's report%s%s%s%s%s",
                     gap, verified->claimed ? "; " : "", verified->claimed ? verified->claimed : "",
                     stages,
                     model->additions ? "; what was settled after the fit (calibration, threshold, "
                                        "costs, coverage) is not compared"
                                      : "");
}

/* Behind the learner's own words may stand how the target was scaled. */
static bool same_formula(const margin_model *model, const margin_report *found) {
    char told[sizeof found->formula];
    mg_target_scale scale;
    if (mg_model_target_scale(model, &scale, NULL) < 0) return false;
    mg_scaled_formula(&scale, found->formula, told, sizeof told);
    return strcmp(model->report.formula, told) == 0;
}

/* The first difference becomes the reason. */
static void compare_all(const margin_model *model, const mg_verified *verified, bool folded,
                        const char *stages, margin_report *found) {
    comparison c = {.stored = &model->report, .found = found, .verified = verified};
    const char *contradiction = verified->contradiction;
    const bool ordered = names_rows(model) || mg_model_is_updated(model);
    const char *order = ordered ? "the rows are in another order, or " : "";
    char item[80];
    const char *count = broken_count(&model->report);
    if (count) {
        snprintf(item, sizeof item, "its %.24s are counted, and not a whole number", count);
        contradiction = item;
    }
    if (unknown_item(model, found)) {
        snprintf(item, sizeof item, "its report has the item %.24s, which is none of %s",
                 unknown_item(model, found), model->learner->info.name);
        contradiction = item;
    }
    if (!folded)
        contradiction = "the weights are not those that the learner found, in the model's units";
    if (!same_formula(model, found))
        contradiction = "what it says was minimised is not what its spec minimises";
    compare_shape(&c);
    compare_numbers(&c);
    compare_scores(&c, mg_learner_more_of(model->learner)->update != NULL);
    compare_items(&c);
    found->status = c.name || contradiction || stages[0] ? MARGIN_STOPPED_STALLED : MARGIN_OK;
    if (stages[0])
        mg_report_reason(found,
                         "%s: this is not the data it was trained on, or %sthe model was changed",
                         stages, order);
    else if (c.name)
        mg_report_reason(found,
                         "the %s is %s on this data and %s in the model's report: this is not the "
                         "data it was trained on, or %sthe model was changed",
                         c.name, mg_number(c.is).text, mg_number(c.was).text, order);
    else if (contradiction)
        mg_report_reason(found, "%s: %sthe model was changed", contradiction, order);
    else
        tell_agreement(model, verified, found);
}

/* What rounding hides of the gap that was found: where that is more than was asked for, both fit
 * and verification are right in what they found, and neither can tell more. */
static void tell_rounding(const margin_model *model, const mg_verified *verified,
                          margin_report *found) {
    const double most = verified->own > 0 ? verified->own : verified->gap;
    const double hidden = most / MG_MAX(1, fabs(found->objective));
    if (isnan(found->gap)) return;
    mg_report_set(found, "rounding", hidden);
    if (found->status != MARGIN_OK || model->report.status != MARGIN_OK) return;
    if (!(hidden > found->tolerance && found->tolerance > 0)) return;
    char agreement[sizeof found->reason];
    snprintf(agreement, sizeof agreement, "%s", found->reason);
    mg_report_reason(found,
                     "%s; rounding of these numbers hides a gap of up to %s, more than tol=%s: "
                     "give a larger tol%s%s",
                     agreement, mg_about(hidden).text, mg_number(found->tolerance).text,
                     model->task == MARGIN_REGRESS ? ", take a constant off the target" : "",
                     strstr(model->spec, "precomputed")
                         ? ""
                         : ", or bring the columns near 0 and to one scale (standardize | ...)");
}

/* Whether a gap is claimed, which says what all other numbers are worth. */
static bool has_bound(const margin_report *found) {
    return !isnan(found->gap) && found->tolerance > 0;
}

/* The most that stages may have moved a sample by, as a part of its norm. */
static margin_status find_part_moved(margin_context *context, const mg_problem *p, double *part,
                                     margin_error *error) {
    double *row;
    *part = 0;
    MG_NEW(context->heap, row, p->x.columns, "a row that stages make", error);
    for (int64_t i = 0; i < p->count && !mg_cancelled_at(context, i); i++) {
        const double moved = mg_row_blur(p, mg_sample_row(p, i));
        double square = 0;
        mg_sample_values(p, i, row);
        for (int64_t j = 0; j < p->x.columns; j++) {
            const double value =
                (p->scale ? p->scale[j] : 1) * row[j] + (p->shift ? p->shift[j] : 0);
            square += value * value;
        }
        if (moved > 0) *part = fmax(*part, sqrt(moved / square));
    }
    mg_free(context->heap, row);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

/* The first number that may be off by more than a hundredth of itself; NULL: none. */
static const char *loose_number(const margin_report *found, const mg_verified *verified) {
    const double part = 0.01, few = 1e-6;
    if (verified->objective > part * fabs(found->objective) + few) return "objective";
    for (int64_t i = 0; i < found->item_count; i++)
        if (verified->items[i] > part * fabs(found->items[i].value) + few)
            return found->items[i].name;
    return NULL;
}

/* What stages may be off by must not hide more of a gap than was asked for, nor, where there is
 * none, what else is claimed: a model that agrees only so may be any. */
static void refuse_hidden(const margin_model *model, const mg_verified *verified, double part_moved,
                          margin_report *found) {
    static const double most = 1e-5;
    const double hidden = verified->gap / MG_MAX(1, fabs(found->objective));
    const char *loose = has_bound(found) ? NULL : loose_number(found, verified);
    char what[120] = "";
    if (found->status != MARGIN_OK || model->report.status != MARGIN_OK) return;
    if (has_bound(found) && hidden > found->tolerance)
        snprintf(what, sizeof what, "hides a gap of up to %s, more than tol=%s",
                 mg_about(hidden).text, mg_number(found->tolerance).text);
    else if (part_moved > most)
        snprintf(what, sizeof what, "moves rows by up to %s of themselves",
                 mg_about(part_moved).text);
    else if (loose)
        snprintf(what, sizeof what, "leaves the %.40s open", loose);
    if (!what[0]) return;
    found->status = MARGIN_STOPPED_STALLED;
    mg_report_reason(found,
                     "the columns that its stages make differ in their last digits from those of "
                     "the fit, and that %s: verify it with the instruction set of the fit",
                     what);
}

/* Of a machine over landmarks, whose own proof knows no other functions, that of all of them. */
static margin_status tell_kernel_gap(margin_context *context, const margin_model *model,
                                     const mg_spec_component *learner, const margin_data *data,
                                     margin_report *found, margin_error *error) {
    char agreement[sizeof found->reason];
    double gap;
    if (found->status != MARGIN_OK) return MARGIN_OK;
    const margin_status status =
        mg_kernel_gap(context, model, learner, data, found->objective, &gap, error);
    if (mg_timed_out(context, status)) return MARGIN_OK; /* it says more than the model does */
    if (status < 0 || isnan(gap)) return status;
    mg_report_set(found, "kernel_gap", gap);
    snprintf(agreement, sizeof agreement, "%s", found->reason);
    mg_report_reason(found,
                     "%s; among all functions of the kernel, not only those of the centres, the "
                     "gap is at most about %s",
                     agreement, mg_about(gap).text);
    return MARGIN_OK;
}

/* Of several targets each has its place by name: whether the data has one of the model's names at
 * another place. Names that it has not, or none, say nothing. */
static bool moves_targets(const margin_model *model, const margin_data *data) {
    const mg_columns *own = &model->target;
    for (int64_t t = 0; t < own->count && data->target && data->targets > 1; t++)
        for (int64_t k = 0; k < own->count && data->target[t].name; k++)
            if (k != t && strcmp(data->target[t].name, own->items[k].name) == 0) return true;
    return false;
}

static void verify_describe(const margin_model *model, const margin_data *data, int64_t rows,
                            margin_report *found) {
    found->task = model->task;
    found->rows = rows;
    found->columns = data->x.columns;
    found->classes = model->classes;
}

/* Of a model that took more rows later, stages and lists of categories are those of its first rows,
 * which become the selection. The caller frees *rows. */
static margin_status take_first(margin_context *context, const margin_model *model,
                                margin_data *data, mg_samples *samples, int64_t **rows,
                                margin_error *error) {
    if (!mg_model_is_updated(model)) return MARGIN_OK;
    samples->count = (int64_t)margin_report_item_value(&model->report, MG_STAGE_ROWS);
    MG_NEW(context->heap, *rows, samples->count, "the first rows", error);
    for (int64_t i = 0; i < samples->count; i++)
        (*rows)[i] = mg_samples_row(samples, i);
    data->selection = samples->rows = *rows;
    data->selected = samples->count;
    return MARGIN_OK;
}

/* Training knows every category that it has seen. */
static margin_status check_categories(margin_context *context, const margin_data *data,
                                      margin_error *error) {
    margin_data coded = *data;
    mg_matrix_buffer copy = {0};
    const margin_status status = mg_data_codes(context, true, &coded, &copy, error);
    mg_matrix_buffer_free(&copy);
    return status == MARGIN_ERROR_DATA
               ? mg_fail(error, MARGIN_ERROR_MODEL,
                         "the data has categories that the model does not know")
               : status;
}

/* Holds the lists of categories against the data, and fits the stages again. */
static margin_status refit_stages(margin_context *context, const margin_spec *spec,
                                  const margin_model *model, const mg_blur *blur,
                                  const margin_data *data, const mg_samples *samples,
                                  margin_error *differs, margin_error *error) {
    margin_error found = {0};
    margin_data first = *data;
    mg_samples seen = *samples;
    int64_t *rows = NULL;
    if (samples->count != model->report.rows) return MARGIN_OK; /* other data: that is told */
    MG_TRY(take_first(context, model, &first, &seen, &rows, error));
    margin_status status = check_categories(context, &first, &found);
    if (status >= 0 && model->stage_count > 0)
        status = mg_pipeline_refit(context, spec, model, blur, &first, &seen, &found);
    mg_free(context->heap, rows);
    if (status == MARGIN_ERROR_MODEL || status == MARGIN_ERROR_DATA) {
        *differs = found;
        return MARGIN_OK;
    }
    if (status < 0 && error) *error = found;
    return status;
}

/* Scores of neighbours where rounding may have moved what their stages make: those of the rows that
 * the model keeps, among which ties are those of the fit. rows: data->x.rows x columns. */
static margin_status score_kept(margin_context *context, const margin_data *data,
                                const mg_samples *samples, const margin_model *model, double *rows,
                                margin_report *found, mg_verified *verified, margin_error *error) {
    const mg_neighbors *index = mg_neighbors_view(model->hypothesis);
    const int64_t columns = index->columns;
    margin_model bare = *model;
    margin_data kept = *data;
    bare.active = bare.stage_count = 0;
    bare.inputs.count = columns;
    kept.x = margin_dense_f64(rows, data->x.rows, columns, columns);
    kept.columns = NULL;
    for (int64_t slot = 0; slot < mg_neighbors_slots(index); slot++) {
        const int64_t sample = index->tree ? index->tree->row[slot] : slot;
        for (int64_t j = 0; sample >= 0 && j < columns; j++)
            rows[mg_samples_row(samples, sample) * columns + j] =
                mg_neighbors_coordinate(index, slot, j);
    }
    return mg_fit_score(context, &kept, samples, NULL, &bare, found, verified, error);
}

static margin_status verify_score(margin_context *context, const margin_data *data,
                                  const mg_samples *samples, const margin_model *model,
                                  const mg_blur *blur, margin_report *found, mg_verified *verified,
                                  margin_error *error) {
    const mg_hypothesis *h = model->hypothesis;
    double *rows;
    if (h->kind != &mg_hypothesis_neighbors || !mg_blur_before(blur, model->stage_count))
        return mg_fit_score(context, data, samples, NULL, model, found, verified, error);
    const int64_t count = data->x.rows * h->columns;
    MG_NEW(context->heap, rows, count, "the rows that the model keeps", error);
    memset(rows, 0, (size_t)count * sizeof *rows);
    const margin_status status =
        score_kept(context, data, samples, model, rows, found, verified, error);
    mg_free(context->heap, rows);
    return status;
}

/* blurred: what stages make may be off by rounding. */
static margin_status verify(margin_context *context, const margin_model *model,
                            const margin_spec *spec, const margin_data *data, bool blurred,
                            margin_report *found, margin_report *parts, margin_error *error) {
    const mg_spec_component *learner = mg_spec_learner(spec);
    margin_error differs = {0};
    MG_SCOPED(mg_samples, samples);
    MG_SCOPED(mg_staged, staged);
    MG_SCOPED(mg_blur, blur);
    MG_SCOPED(mg_split, split);
    mg_reduction reduction;
    mg_decision decision;
    mg_verified verified = {0};
    bool folded = true;
    MG_TRY(mg_samples_make(context->heap, data, &samples, error));
    if (blurred) MG_TRY(mg_blur_make(context, model, data, &samples, &blur, error));
    MG_TRY(refit_stages(context, spec, model, &blur, data, &samples, &differs, error));
    MG_TRY(mg_pipeline_apply(context, model, data, &samples, &staged, error));
    staged.blur = mg_blur_before(&blur, model->stage_count);
    staged.blur_shares = staged.index ? NULL : blur.shares; /* rows are samples */
    if (!(learner->info->abilities & MARGIN_CAN_SPARSE))
        MG_TRY(mg_staged_densify(context, &staged, learner->info->name, error));
    MG_TRY(mg_reduction_choose(learner, model, &reduction, &decision, error));
    MG_TRY(mg_split_make(context, reduction, data, &samples, &staged, model, &split, error));
    MG_TRY(mg_split_weigh(learner, model, &split, error));
    MG_TRY(mg_split_verify(context, &split, learner, model, found, &verified, parts, error));
    verify_describe(model, data, samples.count, found);
    for (int64_t k = 0; parts && k < split.parts; k++)
        verify_describe(model, data, samples.count, &parts[k]);
    MG_TRY(verify_score(context, data, &samples, model, &blur, found, &verified, error));
    MG_TRY(mg_model_fold_check(model, &folded, error));
    if (!verified.contradiction && moves_targets(model, data))
        verified.contradiction = "its targets are in another order than those of the data";
    compare_all(model, &verified, folded, differs.text, found);
    tell_rounding(model, &verified, found);
    if (blurred) {
        double part_moved = 0;
        if (!has_bound(found)) MG_TRY(find_part_moved(context, &split.whole, &part_moved, error));
        refuse_hidden(model, &verified, part_moved, found);
    }
    return tell_kernel_gap(context, model, learner, data, found, error);
}

/* The caller's array, whose elements may be longer or shorter than here. */
static margin_report *part_at(margin_report *parts, int64_t k) {
    _Static_assert(MG_SIZE_UP_TO(margin_report, items) % _Alignof(margin_report) == 0,
                   "reports of version 0.1 lie side by side");
    const size_t size = parts->size ? parts->size : MG_SIZE_UP_TO(margin_report, items);
    margin_report *part = (margin_report *)(void *)((char *)parts + (size_t)k * size);
    part->size = parts->size;
    return part;
}

static margin_status new_reports(mg_heap *heap, int64_t count, margin_report **reports,
                                 margin_error *error) {
    MG_NEW(heap, *reports, count, "the reports", error);
    return MARGIN_OK;
}

static margin_status verify_with(margin_context *context, const margin_model *model,
                                 const margin_data *data, margin_report *found,
                                 margin_report *parts, int64_t capacity, margin_error *error) {
    double started = mg_clock();
    margin_spec *spec = NULL;
    margin_report report, *each = NULL;
    mg_aligned aligned = {0};
    margin_data seen;
    mg_matrix_buffer rows = {0};
    margin_status status;
    MG_TRY(mg_result_check(found, MG_REPORT, error));
    if (parts) MG_TRY(mg_result_check(parts, MG_REPORT, error));
    MG_REQUIRE(!parts || capacity >= model->report.subproblems, error, MARGIN_ERROR_ARGUMENT,
               "room for %lld reports; the model has %lld", (long long)capacity,
               (long long)model->report.subproblems);
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(mg_target_count_check(model, data, error));
    MG_REQUIRE(model->learner->verify, error, MARGIN_ERROR_ARGUMENT,
               "%s makes no claim that could be verified", model->learner->info.name);
    MG_TRY(mg_align_training(context, model, data, &aligned, error));
    MG_GO(margin_spec_parse(context, model->spec, &spec, error)); /* for the learner's options */
    MG_GO(mg_pipeline_rows(context, spec, &aligned.data, &seen, &rows, error));
    if (parts) MG_GO(new_reports(context->heap, model->report.subproblems, &each, error));
    MG_GO(verify(context, model, spec, &seen, false, &report, each, error));
    if (report.status != MARGIN_OK && mg_is_blurred(model))
        MG_GO(verify(context, model, spec, &seen, true, &report, each, error));
    mg_report_give(&report, context, started, found);
    for (int64_t k = 0; parts && k < model->report.subproblems; k++)
        mg_report_give(&each[k], context, started, part_at(parts, k));
    status = report.status;
done:
    mg_free(context->heap, each);
    mg_matrix_buffer_free(&rows);
    mg_aligned_free(&aligned);
    margin_spec_free(spec);
    return status;
}

margin_status margin_verify_parts(margin_context *context, const margin_model *model,
                                  const margin_data *data, margin_report *found,
                                  margin_report *parts, int64_t capacity, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, verify_with(&call, model, data, found, parts, capacity, error),
                          "before all was compared", error);
}

margin_status margin_verify(margin_context *context, const margin_model *model,
                            const margin_data *data, margin_report *found, margin_error *error) {
    return margin_verify_parts(context, model, data, found, NULL, 0, error);
}
