/* margin_separable: the separation solver on a data set with labels. */
#include "model/problem/data_rows.h"
#include "perceptron/separation/separation.h"

/* What margin_separation points into. */
typedef struct {
    mg_arena arena;
    mg_separation solved;
    int64_t *rows; /* positive rows, then negative rows */
    double *weights;
} separation_owner;

/* Which class is the positive one: the one that is asked for, else the greater of two. */
static margin_status positive_class(const margin_data *data, const margin_model *classes,
                                    const char *asked, int64_t *positive, margin_error *error) {
    const char *target = data->target ? data->target->name : "y";
    *positive = asked ? mg_class_of_name(classes, asked) : 1;
    MG_REQUIRE(*positive >= 0, error, MG_DATA(UNKNOWN_CLASS),
               "the target %s has no class '%s'; it has %s", target, asked,
               mg_list_classes(classes).text);
    MG_REQUIRE(asked || classes->classes == 2, error, MG_DATA(TARGET),
               "the target %s has %lld classes; separability is a question about two: name the one "
               "that stands against all others (margin_separable_options.positive %s), or leave "
               "out the rows of the others",
               target, (long long)classes->classes, classes->class_names[0]);
    return MARGIN_OK;
}

/* A class that was declared need not have a row. */
static margin_status check_sides(int64_t positive, int64_t count, const char *name,
                                 margin_error *error) {
    MG_REQUIRE(positive > 0 && positive < count, error, MG_DATA(ONE_CLASS),
               "%s row is of the class '%s'; separability is a question about rows of two",
               positive ? "every" : "no", name);
    return MARGIN_OK;
}

/* The two-class problem of a data set; `signs` and `samples` are to be freed by the caller. */
static margin_status make_problem(margin_context *context, const margin_data *data,
                                  const char *asked, mg_samples *samples, int8_t **signs,
                                  mg_problem *problem, margin_error *error) {
    MG_OWNED(margin_model, classes);
    int32_t *codes;
    int64_t positive, members = 0;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(mg_model_new(context->heap, &classes, error));
    MG_TRY(mg_target_learn(context, data, samples, classes, error));
    MG_TRY(positive_class(data, classes, asked, &positive, error));
    MG_ARENA_NEW(&arena, codes, samples->count, "the labels", error);
    MG_NEW(context->heap, *signs, samples->count, "the labels", error);
    MG_TRY(mg_target_codes(context, data, samples, classes, false, codes, error));
    for (int64_t i = 0; i < samples->count; i++) {
        (*signs)[i] = codes[i] == positive ? 1 : -1;
        members += codes[i] == positive;
    }
    MG_TRY(check_sides(members, samples->count, classes->class_names[positive], error));
    *problem = (mg_problem){.kind = MG_TWO_CLASS,
                            .x = data->x,
                            .columns = data->columns,
                            .index = samples->rows,
                            .count = samples->count,
                            .classes = 2,
                            .sign = *signs};
    return MARGIN_OK;
}

/* Splits the convex weights by class and turns samples into rows of the data. */
static margin_status fill_weights(separation_owner *owner, const mg_samples *samples,
                                  const int8_t *signs, margin_separation *result,
                                  margin_error *error) {
    const mg_separation *s = &owner->solved;
    MG_ARENA_NEW(&owner->arena, owner->rows, s->count, "the proof", error);
    MG_ARENA_NEW(&owner->arena, owner->weights, s->count, "the proof", error);
    int64_t at = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int64_t k = 0; k < s->count; k++) {
            if (signs[s->samples[k]] != sign) continue;
            owner->rows[at] = mg_samples_row(samples, s->samples[k]);
            owner->weights[at++] = s->coefficients[k];
        }
        if (sign > 0) result->positive_count = at;
    }
    result->negative_count = at - result->positive_count;
    result->positive_rows = owner->rows;
    result->positive_weights = owner->weights;
    result->negative_rows = owner->rows + result->positive_count;
    result->negative_weights = owner->weights + result->positive_count;
    return MARGIN_OK;
}

static void free_owner(separation_owner *owner) {
    mg_separation_free(&owner->solved);
    mg_arena_end(owner->arena);
}

static margin_status check_columns(const margin_data *data, margin_error *error) {
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        MG_REQUIRE(data->columns[j].kind == MARGIN_NUMERIC, error, MG_DATA(CATEGORIES),
                   "column %s holds categories; separability is a question about numbers: leave it "
                   "out, or name it as the target if it is",
                   data->columns[j].name);
    return MARGIN_OK;
}

margin_status margin_separable_with(margin_context *context, const margin_data *data,
                                    const margin_separable_options *given,
                                    margin_separation *result, margin_error *error) {
    const mg_result_type type = MG_RESULT(margin_separation, inner);
    MG_GIVEN(error, {context, "context"}, {data, "data set"});
    MG_TRY(mg_result_check(result, type, error));
    double start = mg_clock();
    mg_samples samples = {0};
    int8_t *signs = NULL;
    separation_owner *owner;
    mg_problem problem;
    margin_separation answer = {.rows = 0};
    margin_status status, decided;
    margin_separable_options asked;
    mg_taken taken = {0};
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_separable_options, positive),
                           "margin_separable_options", &asked, sizeof asked, error));
    MG_NEW_OWNER(context->heap, owner, "the answer", error);
    margin_context call = mg_context_call(context); /* its searches share one time limit */
    MG_GO(mg_data_take(&call, data, false, &taken, error));
    data = &taken.data;
    MG_GO(check_columns(data, error));
    MG_GO(mg_matrix_check_finite(&call, data, false, error));
    MG_GO(mg_samples_make(context->heap, data, &samples, error));
    MG_GO(make_problem(&call, data, asked.positive, &samples, &signs, &problem, error));
    MG_GO(mg_context_without_end(&call, error)); /* the search ends in time */
    MG_GO(decided = mg_separate(&call, &problem, MG_SEPARATE_WIDEST, (double)INFINITY,
                                &owner->solved, error));
    MG_GO(fill_weights(owner, &samples, signs, &answer, error));
    answer.separable = owner->solved.verdict == MG_SEPARABLE;
    answer.rows = samples.count;
    answer.columns = data->x.columns;
    answer.margin = owner->solved.margin;
    answer.intercept = owner->solved.intercept;
    answer.margin_gap = owner->solved.margin_gap;
    answer.weights = owner->solved.weights;
    answer.residual = owner->solved.residual;
    answer.iterations = owner->solved.iterations;
    answer.seconds = mg_clock() - start;
    answer.inner = owner;
    mg_result_give(result, type, &answer);
    status = decided;
done:
    if (status < 0) free_owner(owner);
    mg_samples_free(&samples);
    mg_taken_free(&taken);
    mg_free(context->heap, signs);
    return mg_call_status(&call, status, "before the search began: allow more", error);
}

margin_status margin_separable(margin_context *context, const margin_data *data,
                               margin_separation *result, margin_error *error) {
    return margin_separable_with(context, data, NULL, result, error);
}

void margin_separation_free(margin_separation *result) {
    if (!result || !result->inner) return;
    free_owner(result->inner);
    mg_result_give(result, MG_RESULT(margin_separation, inner), &(margin_separation){0});
}
