/* Cutting a problem with many classes into parts. */
#include "model/problem/multiclass.h"

#include <stdio.h>
#include <string.h>

/* ---- The whole ------------------------------------------------------------------------------- */

void mg_split_free(mg_split *split) {
    if (!split->heap) return;
    MG_FREE(split->heap, split->class_samples, split->class_starts, split->weights, split->values,
            split->codes);
    memset(split, 0, sizeof *split);
}

/* Samples by class, ascending within each. */
static margin_status sort_by_class(mg_split *split, margin_error *error) {
    int64_t classes = split->whole.classes, count = split->whole.count;
    const char *purpose = "the rows of each class";
    MG_NEW(split->heap, split->class_starts, classes + 2, purpose, error);
    MG_NEW(split->heap, split->class_samples, count, purpose, error);
    int64_t *ends = split->class_starts + 1;
    memset(split->class_starts, 0, (size_t)(classes + 2) * sizeof *ends);
    for (int64_t i = 0; i < count; i++)
        ends[split->codes[i] + 1]++;
    for (int64_t c = 0; c < classes; c++)
        ends[c + 1] += ends[c];
    for (int64_t i = 0; i < count; i++)
        split->class_samples[ends[split->codes[i]]++] = i;
    return MARGIN_OK;
}

/* A class without rows, if one was declared: rules have an answer for it, and what walks from row
 * to row has where it begins. */
static margin_status check_occurring(const mg_split *split, const margin_model *model,
                                     margin_error *error) {
    const int64_t classes = model->classes;
    int64_t *rows, c = 0;
    if (model->learner->info.abilities & MARGIN_IS_RULE) return MARGIN_OK;
    if (mg_learner_more_of(model->learner)->walks && split->reduction != MG_REDUCE_PAIRS)
        return MARGIN_OK;
    MG_NEW_ZERO(split->heap, rows, classes, "the rows of each class", error);
    for (int64_t i = 0; i < split->whole.count; i++)
        rows[split->codes[i]]++;
    while (c < classes && rows[c] > 0)
        c++;
    mg_free(split->heap, rows);
    MG_REQUIRE(c == classes, error, MG_DATA(FEW_ROWS),
               "no row has the class '%s', which is declared: %s needs rows of every class; "
               "naive-bayes and knn do not, nor does the linear perceptron but for multiclass=ovo",
               model->class_names[c], model->learner->info.name);
    return MARGIN_OK;
}

static margin_status read_targets(margin_context *context, const margin_data *data,
                                  const mg_samples *samples, const mg_target_scale *scale,
                                  const margin_model *model, mg_split *split, margin_error *error) {
    if (model->task == MARGIN_CLASSIFY) {
        MG_NEW(split->heap, split->codes, samples->count, "the classes of the rows", error);
        split->whole.code = split->codes;
        MG_TRY(mg_target_codes(context, data, samples, model, false, split->codes, error));
        return data->classes.values ? check_occurring(split, model, error) : MARGIN_OK;
    }
    if (model->task != MARGIN_REGRESS) return MARGIN_OK;
    const int64_t numbers = mg_data_targets(data) * samples->count;
    MG_NEW(split->heap, split->values, numbers, "the targets", error);
    split->whole.target = split->values;
    MG_TRY(mg_target_values(context, data, samples, split->values, error));
    for (int64_t i = 0; i < numbers; i++)
        split->values[i] = (split->values[i] - scale->offset) / scale->divisor;
    return MARGIN_OK;
}

margin_status mg_split_make(margin_context *context, mg_reduction reduction,
                            const margin_data *data, const mg_samples *samples,
                            const mg_staged *staged, const margin_model *model, mg_split *split,
                            margin_error *error) {
    mg_split made = {.heap = samples->heap, .reduction = reduction};
    margin_status status;
    made.parts = mg_reduction_parts(reduction, model);
    MG_REQUIRE(made.parts <= MG_MAX_SUBPROBLEMS, error, MARGIN_ERROR_LIMIT,
               "%lld classes make %lld pairs, more than the limit of %lld; take multiclass=ovr",
               (long long)model->classes, (long long)made.parts, (long long)MG_MAX_SUBPROBLEMS);
    made.whole = (mg_problem){.kind = mg_whole_kind(model->task),
                              .x = staged->x,
                              .columns = staged->columns,
                              .index = staged->index,
                              .count = samples->count,
                              .classes = (int)model->classes,
                              .weight = samples->weights,
                              .original = samples->rows,
                              .scale = staged->scale,
                              .shift = staged->shift,
                              .maker = staged->maker.stage ? &staged->maker : NULL,
                              .made = staged->made,
                              .blur = staged->blur,
                              .blur_shares = staged->blur_shares,
                              .unchecked = staged->unchecked};
    MG_GO(read_targets(context, data, samples, &staged->target, model, &made, error));
    if (reduction == MG_REDUCE_PAIRS) MG_GO(sort_by_class(&made, error));
    *split = made;
    return MARGIN_OK;
done:
    mg_split_free(&made);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

void mg_part_free(mg_part *part) {
    if (!part->heap) return;
    MG_FREE(part->heap, part->weight, part->original, part->index, part->sign);
    memset(part, 0, sizeof *part);
}

/* All samples, those of one class positive. */
static margin_status make_rest(const mg_split *split, int64_t positive, mg_part *part,
                               margin_error *error) {
    MG_NEW(part->heap, part->sign, split->whole.count, "the signs of the rows", error);
    for (int64_t i = 0; i < split->whole.count; i++)
        part->sign[i] = split->codes[i] == positive ? 1 : -1;
    part->problem.sign = part->sign;
    return MARGIN_OK;
}

/* Sample k of a pair's part is sample i of the whole. */
static void set_pair_sample(const mg_split *split, mg_part *part, int64_t k, int64_t i,
                            bool positive) {
    const mg_problem *whole = &split->whole;
    part->sign[k] = positive ? 1 : -1;
    part->index[k] = mg_sample_row(whole, i);
    if (part->original) part->original[k] = mg_sample_original(whole, i);
    if (part->weight) part->weight[k] = whole->weight[i];
}

/* The samples of two classes, in the order of the whole. */
static margin_status make_pair(const mg_split *split, int64_t number, mg_part *part,
                               margin_error *error) {
    const mg_problem *whole = &split->whole;
    const char *purpose = "the rows of a pair of classes";
    int64_t first, second;
    mg_pair_of(whole->classes, number, &first, &second);
    const int64_t *a = split->class_samples + split->class_starts[first];
    const int64_t *b = split->class_samples + split->class_starts[second];
    const int64_t *a_end = split->class_samples + split->class_starts[first + 1];
    const int64_t *b_end = split->class_samples + split->class_starts[second + 1];
    int64_t count = (a_end - a) + (b_end - b);
    bool renumbered = whole->original && whole->original != whole->index;

    MG_NEW(part->heap, part->sign, count, purpose, error);
    MG_NEW(part->heap, part->index, count, purpose, error);
    if (renumbered) MG_NEW(part->heap, part->original, count, purpose, error);
    if (whole->weight) MG_NEW(part->heap, part->weight, count, purpose, error);
    for (int64_t k = 0; k < count; k++) {
        bool positive = b == b_end || (a < a_end && *a < *b);
        set_pair_sample(split, part, k, positive ? *a++ : *b++, positive);
    }
    part->problem.count = count;
    part->problem.sign = part->sign;
    part->problem.index = part->index;
    part->problem.original = renumbered ? part->original : part->index;
    part->problem.weight = part->weight;
    return MARGIN_OK;
}

margin_status mg_part_make(const mg_split *split, int64_t number, mg_part *part,
                           margin_error *error) {
    mg_part made = {.heap = split->heap, .problem = split->whole};
    margin_status status = MARGIN_OK;
    if (split->reduction == MG_REDUCE_TARGETS) {
        made.problem.target += number * made.problem.count;
    } else if (split->reduction != MG_REDUCE_NONE) {
        made.problem.kind = MG_TWO_CLASS;
        made.problem.classes = 2;
        made.problem.code = NULL;
    }
    if (split->reduction == MG_REDUCE_TWO) status = make_rest(split, 1, &made, error);
    if (split->reduction == MG_REDUCE_REST) status = make_rest(split, number, &made, error);
    if (split->reduction == MG_REDUCE_PAIRS) status = make_pair(split, number, &made, error);
    if (status < 0)
        mg_part_free(&made);
    else
        *part = made;
    return status;
}

void mg_part_label(const mg_split *split, const margin_model *model, int64_t number,
                   char label[MG_PART_LABEL]) {
    int64_t first = number, second = number;
    label[0] = 0;
    if (split->reduction == MG_REDUCE_REST)
        snprintf(label, MG_PART_LABEL, "%.80s against the rest", model->class_names[first]);
    if (split->reduction == MG_REDUCE_TARGETS)
        snprintf(label, MG_PART_LABEL, "target %.80s", model->target.items[number].name);
    if (split->reduction != MG_REDUCE_PAIRS) return;
    mg_pair_of(model->classes, number, &first, &second);
    snprintf(label, MG_PART_LABEL, "%.80s against %.80s", model->class_names[first],
             model->class_names[second]);
}
