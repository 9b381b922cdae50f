/* margin_importance_measure: columns shuffled one after the other in a copy of the rows. */
#include "margin/importance.h"

#include "base/cancelled_at.h"
#include "base/random.h"
#include "model/predict/align.h"
#include "model/problem/samples.h"

#include <math.h>

enum { USUAL_REPEATS = 5, MOST_REPEATS = 1000, MOST_SHUFFLES = 1 << 24 };

struct margin_importance {
    mg_arena arena;
    const margin_metric *metric;
    double base;
    int64_t count;
    margin_importance_column *columns;
};

void margin_importance_free(margin_importance *m) {
    if (m) mg_arena_end(m->arena);
}

const char *margin_importance_metric(const margin_importance *m) {
    return m->metric->name;
}
double margin_importance_base(const margin_importance *m) {
    return m->base;
}
int64_t margin_importance_count(const margin_importance *m) {
    return m->count;
}

int margin_importance_of(const margin_importance *m, int64_t column,
                         margin_importance_column *found) {
    const mg_result_type type = MG_RESULT(margin_importance_column, weight_per_deviation);
    if (column < 0 || column >= m->count || mg_result_check(found, type, NULL) < 0) return 0;
    mg_result_give(found, type, &m->columns[column]);
    return 1;
}

/* ---- Work ------------------------------------------------------------------------------------ */

typedef struct {
    margin_context *context;
    const margin_model *model;
    margin_data data; /* with x as a copy of its own */
    double *x;        /* rows x columns */
    mg_samples samples;
    double *kept; /* a column's values, by sample */
    int64_t *order;
    uint64_t seed;
    int64_t repeats;
} shuffling;

static margin_status measure(const shuffling *s, const margin_metric *metric, double *value,
                             margin_error *error) {
    const margin_evaluate_options options = {.size = sizeof options, .unknown_wrong = 1};
    margin_metrics metrics = {.size = sizeof metrics};
    MG_TRY(margin_evaluate_with(s->context, s->model, &s->data, &options, &metrics, error));
    *value = margin_metrics_value(&metrics, metric->name);
    margin_metrics_free(&metrics);
    return MARGIN_OK;
}

static margin_status shuffle_column(const shuffling *s, const margin_importance *m, int64_t j,
                                    double *worse, margin_error *error) {
    const int64_t n = s->samples.count, columns = s->data.x.columns;
    double value;
    for (int64_t i = 0; i < n; i++)
        s->kept[i] = s->x[mg_samples_row(&s->samples, i) * columns + j];
    if (mg_cancelled(s->context)) return mg_fail_cancelled(error);
    for (int64_t r = 0; r < s->repeats; r++) {
        for (int64_t i = 0; i < n; i++)
            s->order[i] = i;
        if (!mg_random_shuffle_many(s->context, s->seed, MG_RANDOM_SAMPLE,
                                    (uint64_t)(j * s->repeats + r), s->order, n))
            return mg_fail_cancelled(error);
        for (int64_t i = 0; i < n; i++) {
            if (mg_cancelled_at(s->context, i)) return mg_fail_cancelled(error);
            s->x[mg_samples_row(&s->samples, i) * columns + j] = s->kept[s->order[i]];
        }
        MG_TRY(measure(s, m->metric, &value, error));
        worse[r] = m->metric->greater ? m->base - value : value - m->base;
    }
    for (int64_t i = 0; i < n; i++)
        s->x[mg_samples_row(&s->samples, i) * columns + j] = s->kept[i];
    return MARGIN_OK;
}

/* Mean and sample standard deviation. */
static void importance_moments(const double *values, int64_t count, double *mean,
                               double *deviation) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* Sample standard deviation of a column over the rows that count, each by its weight. */
static double column_deviation(const shuffling *s, int64_t j) {
    const int64_t n = s->samples.count;
    double weight = 0, mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double w = mg_samples_weight(&s->samples, i);
        const double off = s->x[mg_samples_row(&s->samples, i) * s->data.x.columns + j] - mean;
        weight += w;
        mean += off * (w / weight);
        squares += w * off * off * (1 - w / weight);
    }
    return n > 1 ? sqrt(squares / weight * ((double)n / (double)(n - 1))) : 0;
}

static double weight_per_deviation(const shuffling *s, int64_t j) {
    const mg_hypothesis *h = s->model->hypothesis;
    double squares = 0;
    if (h->kind != &mg_hypothesis_linear || s->model->active > 0) return (double)NAN;
    const double deviation = column_deviation(s, j);
    if (h->functions == 1) return h->view.linear.weights[j] * deviation;
    for (int64_t f = 0; f < h->functions; f++)
        squares +=
            h->view.linear.weights[f * h->columns + j] * h->view.linear.weights[f * h->columns + j];
    return sqrt(squares / (double)h->functions) * deviation;
}

static margin_status shuffle_columns(shuffling *s, margin_importance *m, margin_error *error) {
    double *worse;
    MG_SCOPED_ARENA(arena, s->context->heap);
    MG_ARENA_NEW(&arena, worse, s->repeats, "the repeats", error);
    MG_TRY(measure(s, m->metric, &m->base, error));
    MG_REQUIRE(!isnan(m->base), error, MARGIN_ERROR_ARGUMENT, "'%s' has no %s on these rows",
               s->model->spec, m->metric->name);
    for (int64_t j = 0; j < m->count; j++) {
        margin_importance_column *c = &m->columns[j];
        c->size = sizeof *c;
        MG_TRY(shuffle_column(s, m, j, worse, error));
        importance_moments(worse, s->repeats, &c->mean, &c->deviation);
        c->weight_per_deviation = weight_per_deviation(s, j);
        mg_progress(s->context, "working", (double)(j + 1), (double)m->count, (double)NAN);
    }
    return MARGIN_OK;
}

/* The rows in the model's columns, written out in full. */
static margin_status copy_rows(shuffling *s, const mg_aligned *aligned, margin_error *error) {
    const margin_matrix *x = &aligned->data.x;
    MG_NEW(s->context->heap, s->x, x->rows * x->columns, "a copy of the rows", error);
    for (int64_t i = 0; i < x->rows; i++) {
        if (mg_cancelled_at(s->context, i)) return mg_fail_cancelled(error);
        mg_row_expand(x, i, s->x + i * x->columns);
    }
    s->data = aligned->data;
    s->data.x = margin_dense_f64(s->x, x->rows, x->columns, x->columns);
    return MARGIN_OK;
}

static margin_status choose_metric(const margin_model *model, const char *name,
                                   const margin_metric **metric, margin_error *error) {
    const char *usual = model->task == MARGIN_CLASSIFY  ? "accuracy"
                        : model->task == MARGIN_REGRESS ? "rmse"
                                                        : "inertia";
    MG_TRY(mg_model_predicts(model, error));
    *metric = margin_metric_find(name ? name : usual);
    MG_REQUIRE(model->task != MARGIN_CLUSTER || model->decision != MG_DECIDE_SIGN, error,
               MARGIN_ERROR_ARGUMENT,
               "one class has no metric that a shuffled column could make worse");
    MG_REQUIRE(*metric && (*metric)->task == (int32_t)model->task, error, MARGIN_ERROR_ARGUMENT,
               "'%s' is no metric of %s", name ? name : usual,
               model->task == MARGIN_CLASSIFY  ? "classes"
               : model->task == MARGIN_REGRESS ? "numbers"
                                               : "clusters");
    return MARGIN_OK;
}

static margin_status work(shuffling *s, const margin_data *data, margin_importance *m,
                          margin_error *error) {
    mg_heap *heap = s->context->heap;
    mg_aligned aligned = {0};
    margin_status status;
    m->count = s->model->inputs.count;
    MG_ARENA_NEW(&m->arena, m->columns, m->count, "the importance of the columns", error);
    MG_TRY(mg_align(s->context, s->model, data, &aligned, error));
    MG_GO(copy_rows(s, &aligned, error));
    MG_GO(mg_samples_make(heap, &s->data, &s->samples, error));
    MG_GO_NEW(heap, s->kept, s->samples.count, "a column", error);
    MG_GO_NEW(heap, s->order, s->samples.count, "the order of the rows", error);
    status = shuffle_columns(s, m, error);
done:
    MG_FREE(heap, s->order, s->kept);
    mg_samples_free(&s->samples);
    mg_free(heap, s->x);
    mg_aligned_free(&aligned);
    return status;
}

static margin_status weigh_columns(margin_context *context, const margin_model *model,
                                   const margin_data *data, const margin_importance_options *given,
                                   margin_importance **importance, margin_error *error) {
    margin_importance_options o;
    MG_REQUIRE(data && importance, error, MARGIN_ERROR_ARGUMENT,
               "data and a place for the result are needed");
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_importance_options, seed),
                           "margin_importance_options", &o, sizeof o, error));
    MG_TRY(mg_data_check_columns(context, data, error));
    if (o.repeats == 0) o.repeats = USUAL_REPEATS;
    MG_REQUIRE(o.repeats >= 1 && o.repeats <= MOST_REPEATS, error, MARGIN_ERROR_ARGUMENT,
               "%lld repeats; give 1 to %d", (long long)o.repeats, MOST_REPEATS);
    MG_REQUIRE(model->inputs.count <= MOST_SHUFFLES / o.repeats, error, MARGIN_ERROR_LIMIT,
               "%lld columns shuffled %lld times are more than can be told apart",
               (long long)model->inputs.count, (long long)o.repeats);
    const margin_metric *metric = NULL;
    MG_TRY(choose_metric(model, o.metric, &metric, error));
    margin_importance *m;
    MG_NEW_OWNER(context->heap, m, "the importance of columns", error);
    m->metric = metric;
    shuffling s = {.context = context, .model = model, .seed = o.seed, .repeats = o.repeats};
    const margin_status status = work(&s, data, m, error);
    if (status < 0)
        margin_importance_free(m);
    else
        *importance = m;
    return status < 0 ? status : MARGIN_OK;
}

margin_status margin_importance_measure(margin_context *context, const margin_model *model,
                                        const margin_data *data,
                                        const margin_importance_options *given,
                                        margin_importance **importance, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, weigh_columns(&call, model, data, given, importance, error),
                          "before all columns had been shuffled", error);
}
