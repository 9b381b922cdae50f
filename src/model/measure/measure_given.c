/* margin_measure: predictions as a caller has them, checked and brought into one form. */
#include "data/matrix/matrix.h"
#include "model/measure/outcome.h"

#include <math.h>

/* The rows of weight > 0 of what was given, in one form. */
typedef struct {
    mg_heap *heap;
    mg_arena arena;
    int64_t *rows;      /* which they are */
    const double *loss; /* of all rows; NULL: from their probabilities */
    mg_outcome outcome;
} measured_rows;

/* Why a number that should be finite cannot be used. */
static margin_cause number_cause(double value) {
    return isnan(value)   ? MARGIN_CAUSE_MISSING_VALUE
           : isinf(value) ? MARGIN_CAUSE_INFINITE_VALUE
                          : MARGIN_CAUSE_NONE;
}

static margin_status fail_row(margin_cause cause, int64_t row, const char *what, double value,
                              const char *remedy, margin_error *error) {
    return mg_fail_at(error, MG_CAUSED(MARGIN_ERROR_DATA, cause), (mg_place){.row = row + 1},
                      "row %lld: the %s is %s; %s", (long long)row + 1, what, mg_about(value).text,
                      remedy);
}

static margin_status check_vector(const margin_vector *v, int64_t count, const char *name,
                                  margin_error *error) {
    MG_REQUIRE(v->count == count, error, MARGIN_ERROR_ARGUMENT,
               "%s has %lld entries, where %lld are needed", name, (long long)v->count,
               (long long)count);
    MG_REQUIRE(mg_type_size(v->type) > 0 && v->type != MARGIN_U64, error, MARGIN_ERROR_ARGUMENT,
               "%s has a type that is none of a margin_vector", name);
    return MARGIN_OK;
}

static margin_status check_shapes(const margin_predictions *p, margin_error *error) {
    const bool classes = p->task == MARGIN_CLASSIFY;
    MG_REQUIRE(classes || p->task == MARGIN_REGRESS, error, MARGIN_ERROR_ARGUMENT,
               "the task of the predictions is %d; it is MARGIN_CLASSIFY or MARGIN_REGRESS",
               (int)p->task);
    MG_REQUIRE(p->rows > 0, error, MG_DATA(NO_ROWS), "there are no predictions to measure");
    MG_REQUIRE(p->targets >= 0 && (!classes || p->targets <= 1), error, MARGIN_ERROR_ARGUMENT,
               "%lld targets of the predictions", (long long)p->targets);
    const int64_t targets = MG_MAX(p->targets, (int64_t)1);
    MG_REQUIRE(p->rows <= (INT64_MAX / 16) / targets, error, MARGIN_ERROR_ARGUMENT,
               "so many rows and targets cannot be");
    MG_REQUIRE(!classes || (p->classes >= 2 && p->classes <= 10000 &&
                            p->rows <= INT64_MAX / 16 / p->classes),
               error, MARGIN_ERROR_ARGUMENT, "%lld classes; 2 to 10000 are measured",
               (long long)p->classes);
    MG_REQUIRE(p->truth.values, error, MARGIN_ERROR_ARGUMENT, "the truth is NULL");
    MG_TRY(check_vector(&p->truth, p->rows * targets, "truth", error));
    if (p->weights.values) MG_TRY(check_vector(&p->weights, p->rows, "weights", error));
    MG_REQUIRE(p->predicted.values || (classes && p->probabilities), error, MARGIN_ERROR_ARGUMENT,
               "there are no predictions to compare the truth with");
    if (!p->predicted.values) return MARGIN_OK;
    return check_vector(&p->predicted, p->rows * targets, "predicted", error);
}

/* ---- Rows that count ------------------------------------------------------------------------- */

static margin_status take_rows(const margin_predictions *p, measured_rows *r, margin_error *error) {
    double *weights = NULL, total = 0;
    int64_t count = 0;
    MG_ARENA_NEW(&r->arena, r->rows, p->rows, "the rows that count", error);
    if (p->weights.values) MG_ARENA_NEW(&r->arena, weights, p->rows, "the weights", error);
    for (int64_t i = 0; i < p->rows; i++) {
        const double weight = weights ? mg_vector_f64(&p->weights, i) : 1.0;
        if (!(weight >= 0) || isinf(weight))
            return fail_row(MARGIN_CAUSE_WEIGHTS, i, "weight", weight,
                            "weights are numbers from 0 on", error);
        if (weight == 0) continue;
        if (weights) weights[count] = weight;
        total += weight;
        r->rows[count++] = i;
    }
    MG_REQUIRE(count > 0, error, MG_DATA(NO_ROWS),
               "all %lld rows have the weight 0, so that none is left", (long long)p->rows);
    MG_REQUIRE(isfinite(total), error, MG_DATA(WEIGHTS),
               "the weights add up to more than a number can hold; scale them down");
    r->outcome = (mg_outcome){.task = (margin_task)p->task, .rows = count, .weights = weights};
    return MARGIN_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

static margin_status read_class(const margin_vector *v, int64_t row, int64_t classes,
                                const char *what, int64_t *found, margin_error *error) {
    const double value = mg_vector_f64(v, row);
    if (!(value >= -1 && value < (double)classes) || value != floor(value))
        return fail_row(MARGIN_CAUSE_UNKNOWN_CLASS, row, what, value,
                        "classes are numbered from 0, and -1 is none of them", error);
    *found = (int64_t)value;
    return MARGIN_OK;
}

static margin_status read_classes(const margin_predictions *p, measured_rows *r,
                                  margin_error *error) {
    int32_t *truth;
    int64_t *predicted, code = 0;
    MG_ARENA_NEW(&r->arena, truth, r->outcome.rows, "the true classes", error);
    MG_ARENA_NEW(&r->arena, predicted, r->outcome.rows, "the predicted classes", error);
    for (int64_t i = 0; i < r->outcome.rows; i++) {
        MG_TRY(read_class(&p->truth, r->rows[i], p->classes, "true class", &code, error));
        truth[i] = (int32_t)code;
        if (p->predicted.values)
            MG_TRY(read_class(&p->predicted, r->rows[i], p->classes, "predicted class",
                              &predicted[i], error));
    }
    r->outcome.classes = p->classes;
    r->outcome.truth = truth;
    r->outcome.predicted = predicted;
    return MARGIN_OK;
}

/* A row of probabilities; they come from any arithmetic, so their sum is 1 to 1e-4. */
static margin_status check_row(const double *p, int64_t classes, int64_t row, margin_error *error) {
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (!(p[c] >= 0 && p[c] <= 1))
            return fail_row(number_cause(p[c]), row, "probability of a class", p[c],
                            "it lies between 0 and 1", error);
        sum += p[c];
    }
    if (fabs(sum - 1) <= 1e-4) return MARGIN_OK;
    return fail_row(MARGIN_CAUSE_NONE, row, "sum of the probabilities", sum, "it must be 1", error);
}

static margin_status read_probabilities(const margin_predictions *p, measured_rows *r,
                                        margin_error *error) {
    const int64_t k = p->classes, columns = k == 2 ? 1 : k;
    double *loss, *brier, *scores = NULL;
    MG_ARENA_NEW(&r->arena, loss, r->outcome.rows, "the losses of the rows", error);
    MG_ARENA_NEW(&r->arena, brier, r->outcome.rows, "the losses of the rows", error);
    if (!p->scores)
        MG_ARENA_NEW(&r->arena, scores, columns * r->outcome.rows, "the scores of the rows", error);
    for (int64_t i = 0; i < r->outcome.rows; i++) {
        const double *row = p->probabilities + r->rows[i] * k;
        const int32_t truth = r->outcome.truth[i];
        MG_TRY(check_row(row, k, r->rows[i], error));
        loss[i] = truth < 0 ? 0 : r->loss ? r->loss[r->rows[i]] : -log(row[truth]);
        brier[i] = truth >= 0 ? mg_brier(row, k, truth) : 0;
        for (int64_t c = 0; scores && c < columns; c++)
            scores[i * columns + c] = row[k == 2 ? 1 : c];
        if (p->predicted.values) continue;
        int64_t best = 0;
        for (int64_t c = 1; c < k; c++)
            if (row[c] > row[best]) best = c;
        ((int64_t *)r->outcome.predicted)[i] = best;
    }
    r->outcome.loss = loss;
    r->outcome.brier = brier;
    r->outcome.scores = scores;
    return MARGIN_OK;
}

static margin_status read_scores(const margin_predictions *p, measured_rows *r,
                                 margin_error *error) {
    const int64_t columns = p->classes == 2 ? 1 : p->classes;
    double *scores;
    MG_ARENA_NEW(&r->arena, scores, columns * r->outcome.rows, "the scores of the rows", error);
    for (int64_t i = 0; i < r->outcome.rows; i++)
        for (int64_t c = 0; c < columns; c++) {
            const double score = p->scores[r->rows[i] * columns + c];
            if (isnan(score))
                return fail_row(number_cause(score), r->rows[i], "score", score,
                                "it must be a number", error);
            scores[i * columns + c] = score;
        }
    r->outcome.scores = scores;
    return MARGIN_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static margin_status read_numbers(const margin_predictions *p, measured_rows *r,
                                  margin_error *error) {
    const int64_t targets = MG_MAX(p->targets, (int64_t)1), rows = r->outcome.rows;
    double *target, *value;
    MG_ARENA_NEW(&r->arena, target, targets * rows, "the targets", error);
    MG_ARENA_NEW(&r->arena, value, targets * rows, "the predicted values", error);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < targets; t++) {
            const int64_t k = r->rows[i] * targets + t;
            const double y = mg_vector_f64(&p->truth, k), f = mg_vector_f64(&p->predicted, k);
            if (!isfinite(y))
                return fail_row(number_cause(y), r->rows[i], "target", y, "leave such rows out",
                                error);
            if (!isfinite(f))
                return fail_row(number_cause(f), r->rows[i], "prediction", f, "leave such rows out",
                                error);
            target[t * rows + i] = y;
            value[i * targets + t] = f;
        }
    r->outcome.targets = targets;
    r->outcome.target = target;
    r->outcome.value = value;
    return MARGIN_OK;
}

static margin_status read_rows(const margin_predictions *p, measured_rows *r, margin_error *error) {
    MG_TRY(take_rows(p, r, error));
    if (p->task == MARGIN_REGRESS) return read_numbers(p, r, error);
    MG_TRY(read_classes(p, r, error));
    if (p->probabilities) MG_TRY(read_probabilities(p, r, error));
    return p->scores ? read_scores(p, r, error) : MARGIN_OK;
}

static margin_status measure(margin_context *context, const margin_predictions *given,
                             const double *loss, const margin_measure_options *options,
                             margin_metrics *metrics, margin_error *error) {
    margin_predictions p;
    margin_measure_options o;
    margin_metrics found;
    MG_TRY(mg_result_check(metrics, MG_METRICS_RESULT, error));
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_predictions, scores), "margin_predictions",
                           &p, sizeof p, error));
    MG_TRY(mg_measure_options_take(options, &o, error));
    MG_TRY(check_shapes(&p, error));
    measured_rows r = {.heap = context->heap, .loss = loss};
    mg_arena_init(&r.arena, context->heap);
    margin_status status = read_rows(&p, &r, error);
    if (status >= 0) status = mg_measure_outcome(context, &r.outcome, &o, &found, error);
    if (status >= 0) mg_result_give(metrics, MG_METRICS_RESULT, &found);
    mg_arena_free(&r.arena);
    return status;
}

margin_status mg_measure_losses(margin_context *context, const margin_predictions *given,
                                const double *loss, const margin_measure_options *options,
                                margin_metrics *metrics, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {given, "place of the predictions"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, measure(&call, given, loss, options, metrics, error),
                          "before all rows were judged", error);
}

margin_status margin_measure(margin_context *context, const margin_predictions *given,
                             const margin_measure_options *options, margin_metrics *metrics,
                             margin_error *error) {
    return mg_measure_losses(context, given, NULL, options, metrics, error);
}
