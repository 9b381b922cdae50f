/* Kinds of learners that the catalogue need not have: regression, clustering, several classes at
 * once with probabilities, dense data only, no weights. Each is a toy, put into a spec by hand. */
#include "model_cases.h"

#include "learn/hypothesis/dual.h"
#include "model/spec/spec_components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* ---- Toys ------------------------------------------------------------------------------------ */

static margin_status make_linear(mg_fit *fit, int64_t functions, double **w, double **b) {
    mg_hypothesis *h = NULL;
    MG_TRY(mg_hypothesis_new(fit->context->heap, &mg_hypothesis_linear, fit->problem->x.columns,
                             functions, &h, fit->error));
    fit->hypothesis = h;
    MG_TRY(mg_bag_add(&h->bag, "weights", MARGIN_F64, functions, h->columns, w, fit->error));
    return mg_bag_add(&h->bag, "intercept", MARGIN_F64, functions, 0, b, fit->error);
}

static margin_status finish(mg_fit *fit, margin_status status) {
    if (status >= 0) status = mg_hypothesis_attach(fit->hypothesis, fit->error);
    if (status < 0) {
        mg_hypothesis_free(fit->hypothesis);
        fit->hypothesis = NULL;
        return status;
    }
    fit->report.gap = 0;
    mg_report_formula(&fit->report, "a toy");
    mg_report_reason(&fit->report, "done");
    return status;
}

static double value_of(const margin_matrix *x, int64_t row, int64_t column) {
    double values[16];
    mg_row_expand(x, row, values);
    return values[column];
}

/* Least squares on the first column alone. */
static margin_status fit_line(mg_fit *fit) {
    const mg_problem *p = fit->problem;
    double *w = NULL, *b = NULL, total = 0, mx = 0, my = 0, xx = 0, xy = 0;
    assert_int_equal(p->kind, MG_REGRESSION);
    for (int64_t i = 0; i < p->count; i++) {
        total += mg_sample_weight(p, i);
        mx += mg_sample_weight(p, i) * value_of(&p->x, mg_sample_row(p, i), 0);
        my += mg_sample_weight(p, i) * p->target[i];
    }
    mx /= total;
    my /= total;
    for (int64_t i = 0; i < p->count; i++) {
        double dx = value_of(&p->x, mg_sample_row(p, i), 0) - mx;
        xx += mg_sample_weight(p, i) * dx * dx;
        xy += mg_sample_weight(p, i) * dx * (p->target[i] - my);
    }
    margin_status status = make_linear(fit, 1, &w, &b);
    if (status >= 0) {
        w[0] = xy / xx;
        b[0] = my - w[0] * mx;
    }
    return finish(fit, status);
}

static const mg_learner toy_line = {
    .info = {.name = "line",
             .kind = MARGIN_LEARNER,
             .abilities = MARGIN_CAN_REGRESSION | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS},
    .makes = {&mg_hypothesis_linear},
    .fit = fit_line,
};

/* Nearest mean as linear functions: score of class c = m_c.x - |m_c|^2 / 2. Dense data only. */
static margin_status fit_means(mg_fit *fit) {
    const mg_problem *p = fit->problem;
    double *w = NULL, *b = NULL, counts[8] = {0};
    assert_false(mg_is_csr(&p->x));
    assert_int_equal(p->kind, MG_ARGMAX);
    margin_status status = make_linear(fit, p->classes, &w, &b);
    for (int64_t i = 0; status >= 0 && i < p->count; i++) {
        counts[p->code[i]] += 1;
        for (int64_t j = 0; j < p->x.columns; j++)
            w[p->code[i] * p->x.columns + j] += value_of(&p->x, mg_sample_row(p, i), j);
    }
    for (int c = 0; status >= 0 && c < p->classes; c++)
        for (int64_t j = 0; j < p->x.columns; j++) {
            double *m = &w[c * p->x.columns + j];
            *m /= counts[c];
            b[c] -= *m * *m / 2;
        }
    return finish(fit, status);
}

static void softmax(const double *scores, int64_t functions, int64_t classes, double *out) {
    double most = scores[0], sum = 0;
    assert_int_equal(functions, classes);
    for (int64_t c = 1; c < classes; c++)
        most = fmax(most, scores[c]);
    for (int64_t c = 0; c < classes; c++)
        sum += out[c] = exp(scores[c] - most);
    for (int64_t c = 0; c < classes; c++)
        out[c] /= sum;
}

static const mg_learner toy_means = {
    .info = {.name = "means", .kind = MARGIN_LEARNER, .abilities = MARGIN_CAN_MULTICLASS},
    .makes = {&mg_hypothesis_linear},
    .fit = fit_means,
    .probabilities = softmax,
};

/* The first two rows are the centres. */
static margin_status fit_centres(mg_fit *fit) {
    const mg_problem *p = fit->problem;
    double *w = NULL, *b = NULL;
    assert_int_equal(p->kind, MG_CLUSTERING);
    margin_status status = make_linear(fit, 2, &w, &b);
    for (int c = 0; status >= 0 && c < 2; c++)
        for (int64_t j = 0; j < p->x.columns; j++) {
            double m = value_of(&p->x, mg_sample_row(p, c), j);
            w[c * p->x.columns + j] = m;
            b[c] -= m * m / 2;
        }
    return finish(fit, status);
}

static const mg_learner toy_centres = {
    .info = {.name = "centres", .kind = MARGIN_LEARNER, .abilities = MARGIN_CAN_SPARSE},
    .makes = {&mg_hypothesis_linear},
    .fit = fit_centres,
};

/* Weights that run away. */
static margin_status fit_infinite(mg_fit *fit) {
    double *w = NULL, *b = NULL;
    margin_status status = make_linear(fit, 1, &w, &b);
    if (status >= 0) w[0] = (double)INFINITY;
    fit->report.gap = 0;
    return status;
}

static const mg_learner toy_infinite = {
    .info = {.name = "runaway", .kind = MARGIN_LEARNER, .abilities = MARGIN_CAN_TWO_CLASS},
    .makes = {&mg_hypothesis_linear},
    .fit = fit_infinite,
};

/* Lines for several targets, two at a time. */
static _Atomic int shares, releases, alone, twos, others;

static void release_many(mg_heap *heap, void *data) {
    releases++;
    mg_free(heap, data);
}

static margin_status share_many(mg_shared *shared) {
    shares++;
    assert_int_equal(shared->fits, 5);
    assert_int_equal(shared->differ, MG_DIFFER_TARGETS);
    assert_int_equal(shared->whole->count, 6);
    double *number;
    MG_NEW(shared->context->heap, number, 1, "a toy", shared->error);
    *number = 7;
    shared->data = number;
    shared->release = release_many;
    shared->together = 2;
    return MARGIN_OK;
}

static margin_status fit_one(mg_fit *fit) {
    if (!fit->shared || *(const double *)fit->shared->data != 7) others++;
    alone++;
    return fit_line(fit);
}

static margin_status fit_two(mg_fit *fits, int64_t count) {
    margin_status status = MARGIN_OK;
    if (count != 2 || fits[0].shared != fits[1].shared) others++;
    twos++;
    for (int64_t k = 0; k < count && status >= 0; k++)
        status = fit_line(&fits[k]);
    return status;
}

#define TOY_MANY                                                                                   \
    .info = {.name = "lines",                                                                      \
             .kind = MARGIN_LEARNER,                                                               \
             .abilities = MARGIN_CAN_REGRESSION | MARGIN_CAN_TARGETS},                             \
    .makes = {&mg_hypothesis_linear}, .share = share_many, .fit = fit_one, .fit_many = fit_two
static const mg_learner toy_many = {TOY_MANY, .differ = MG_DIFFER_TARGETS};
static const mg_learner toy_signs = {TOY_MANY, .differ = MG_DIFFER_SIGNS}; /* not of targets */

/* A spec of one toy, after the stages of `stages` (a spec text with any learner, or NULL). */
static margin_spec *toy_spec(margin_context *context, const mg_learner *learner,
                             const char *stages) {
    margin_spec *spec = parse_text(context, stages ? stages : "perceptron");
    mg_spec_component *last = &spec->components[spec->component_count - 1];
    last->info = &learner->info;
    last->learner = learner;
    return spec;
}

static margin_model *fit_toy(margin_context *context, const mg_learner *learner, const char *stages,
                             const margin_data *data, margin_report *report) {
    margin_spec *spec = toy_spec(context, learner, stages);
    margin_model *model = NULL;
    OK(margin_fit(context, spec, data, &model, report, &error));
    margin_spec_free(spec);
    return model;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_regression(void **state) {
    margin_context *context = *state;
    static const char *const stages[] = {NULL, "standardize | perceptron",
                                         "minmax | standardize | perceptron"};
    const double x[6] = {1, 2, 3, 4, 5, 6}, line[6] = {3.5, 5.5, 7.5, 9.5, 11.5, 13.5};
    const double noisy[6] = {3, 6, 7.5, 9.5, 11, 14};
    double weights[6] = {1, 2, 1, 0, 3, 1};
    for (size_t n = 0; n < 3; n++) {
        margin_data data = {.x = margin_dense_f64(x, 6, 1, 1), .y = margin_values_f64(line, 6)};
        margin_report report = {0};
        margin_model *model = fit_toy(context, &toy_line, stages[n], &data, &report);
        assert_int_equal(margin_model_task(model), MARGIN_REGRESS);
        assert_int_equal(margin_model_class_count(model), 0);
        assert_int_equal(report.classes, 0);
        assert_close(margin_model_weights(model, 0)[0], 2, 1e-13); /* in original units */
        assert_close(margin_model_intercept(model, 0), 1.5, 1e-13);
        assert_close(report.train_r2, 1, 1e-12);
        assert_true(report.train_rmse < 1e-12 && isnan(report.train_accuracy));
        double values[6];
        int64_t labels[6];
        OK(margin_predict_values(model, &data.x, values, &error));
        for (int i = 0; i < 6; i++)
            assert_close(values[i], line[i], 1e-12);
        assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, "margin_predict_values");
        assert_int_equal(margin_margins(context, model, &data, values, NULL, &error),
                         MARGIN_ERROR_ARGUMENT);

        data.y.values = noisy;
        data.weights = margin_values_f64(weights, 6);
        margin_metrics m = {.size = sizeof m};
        OK(margin_evaluate(context, model, &data, &m, &error));
        double squares = 0, misses = 0;
        for (int i = 0; i < 6; i++) {
            squares += weights[i] * (noisy[i] - line[i]) * (noisy[i] - line[i]);
            misses += weights[i] * fabs(noisy[i] - line[i]);
        }
        assert_close(m.rmse, sqrt(squares / 8), 1e-12);
        assert_close(m.mae, misses / 8, 1e-12);
        assert_true(isnan(m.accuracy) && isnan(m.auc) && !m.confusion);
        assert_true(m.weight == 8);
        margin_metrics_free(&m);
        margin_model_free(model);
    }
}

static void test_regression_refusals(void **state) {
    margin_context *context = *state;
    const double x[3] = {1, 2, 3};
    double y[3] = {1, (double)NAN, 2};
    const char *const names[2] = {"a", "b"};
    margin_column target = {
        .name = "kind", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .y = margin_values_f64(y, 3)};
    margin_spec *spec = toy_spec(context, &toy_line, NULL);
    margin_model *model = NULL;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 2 has no value in the target y");
    y[1] = 1;
    data.target = &target;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "a regression needs numbers");
    assert_null(model);
    margin_spec_free(spec);
}

static void test_native_classes(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(90, 4, 3, 0.05, 5);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout); /* sparse data is filled in first */
        margin_report report = {0};
        margin_model *model = fit_toy(context, &toy_means, NULL, &data, &report);
        assert_int_equal(report.subproblems, 1);
        assert_int_equal(margin_model_score_count(model), 3);
        assert_true(margin_model_has_probabilities(model));
        double p[270], loss = 0;
        int64_t labels[90];
        OK(margin_probabilities(model, &data.x, p, &error));
        OK(margin_predict(model, &data.x, labels, &error));
        for (int i = 0; i < 90; i++) {
            for (int c = 0; c < 3; c++)
                assert_true(p[3 * i + c] <= p[3 * i + labels[i]]);
            loss -= log(p[3 * i + (int)s->labels[i]]);
        }
        double parallel[270];
        OK(margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_PROBABILITIES, parallel,
                                   &error));
        assert_memory_equal(p, parallel, sizeof p);
        margin_metrics m = {.size = sizeof m};
        OK(margin_evaluate(context, model, &data, &m, &error));
        assert_close(m.log_loss, loss / 90, 1e-12);
        assert_close(m.accuracy, report.train_accuracy, 1e-15);
        margin_metrics_free(&m);
        margin_model_free(model);
    }
    sample_free(s);
}

static void test_abilities(void **state) {
    margin_context *context = *state;
    sample *s = sample_make(20, 4, 3, 0, 5);
    margin_data data = sample_data(s, DENSE_F64);
    double weights[20];
    for (int i = 0; i < 20; i++)
        weights[i] = i % 2;
    margin_spec *spec = toy_spec(context, &toy_means, NULL);
    margin_model *model = NULL;
    data.weights = margin_values_f64(weights, 20);
    OK(margin_fit(context, spec, &data, &model, NULL, &error)); /* 0 and 1 only choose rows */
    assert_int_equal(margin_model_report(model)->rows, 10);
    margin_model_free(model);
    weights[3] = 2;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "means takes no sample weights");
    margin_spec_free(spec);

    spec = toy_spec(context, &toy_infinite, "standardize | perceptron");
    data = sample_data(s, DENSE_F64);
    for (int i = 0; i < 20; i++)
        s->labels[i] = i % 2;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "left the range of numbers");
    margin_spec_free(spec);
    sample_free(s);
}

static void test_clusters(void **state) {
    margin_context *context = *state;
    static const char *const stages[] = {NULL, "minmax | perceptron", "normalize | perceptron"};
    const double x[10] = {0, 0, 9, 9, 1, 0, 8, 9, 9, 7};
    const int64_t expected[5] = {0, 1, 0, 1, 1};
    for (size_t n = 0; n < 3; n++) {
        margin_data data = {.x = margin_dense_f64(x, 5, 2, 2)}; /* no target */
        margin_report report = {0};
        margin_model *model = fit_toy(context, &toy_centres, stages[n], &data, &report);
        assert_int_equal(margin_model_task(model), MARGIN_CLUSTER);
        assert_int_equal(margin_model_class_count(model), 2);
        assert_null(margin_model_class_name(model, 0));
        assert_null(margin_model_target(model));
        assert_int_equal(report.classes, 2);
        assert_true(isnan(report.train_accuracy));
        int64_t labels[5];
        OK(margin_predict(model, &data.x, labels, &error));
        if (n < 2) assert_memory_equal(labels, expected, sizeof expected);
        margin_metrics m = {.size = sizeof m};
        double margins[5];
        OK(margin_evaluate(context, model, &data, &m, &error));
        assert_int_equal(m.task, MARGIN_CLUSTER);
        if (n < 2) assert_true(m.cluster_sizes[0] == 2 && m.cluster_sizes[1] == 3);
        margin_metrics_free(&m);
        assert_int_equal(margin_margins(context, model, &data, margins, NULL, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, "clusters");
        margin_model_free(model);
    }
}

/* `share` is asked once and released once; groups are as large as it said, the last one by `fit`;
 * nobody fits together what differs in something else. */
static void test_sharing(void **state) {
    const mg_learner *learners[] = {&toy_many, &toy_signs};
    const int by_twos[] = {2, 0}, by_one[] = {1, 5};
    const double x[6] = {1, 2, 3, 4, 5, 6};
    double y[30];
    for (int i = 0; i < 30; i++)
        y[i] = (i % 5 + 1) * x[i / 5];
    const margin_data data = {
        .x = margin_dense_f64(x, 6, 1, 1), .y = margin_values_f64(y, 30), .targets = 5};
    for (int n = 0; n < 2; n++) {
        shares = releases = alone = twos = others = 0;
        margin_model *model = fit_toy(*state, learners[n], NULL, &data, NULL);
        assert_int_equal(shares, 1);
        assert_int_equal(releases, 1);
        assert_int_equal(twos, by_twos[n]);
        assert_int_equal(alone, by_one[n]);
        assert_int_equal(others, 0);
        for (int t = 0; t < 5; t++)
            assert_close(margin_model_weights(model, t)[0], t + 1, 1e-13);
        margin_model_free(model);
    }
}

static margin_status toy_body(margin_context *context, void *user, margin_error *failure) {
    const mg_learner *const *learner = user;
    sample *s = sample_make(20, 4, 3, 0, 5);
    margin_data data = sample_data(s, CSR_F64_I32_I64);
    margin_model *model = NULL;
    margin_spec *spec = NULL;
    margin_status status = margin_spec_parse(context, "normalize | perceptron", &spec, failure);
    if (status >= 0) {
        spec->components[1].info = &(*learner)->info;
        spec->components[1].learner = *learner;
        status = margin_fit(context, spec, &data, &model, NULL, failure);
    }
    margin_model_free(model);
    margin_spec_free(spec);
    sample_free(s);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    const mg_learner *learners[] = {&toy_line, &toy_means, &toy_centres};
    for (size_t n = 0; n < 3; n++)
        assert_true(support_fail_each_allocation(1, toy_body, &learners[n]) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regression),     cmocka_unit_test(test_regression_refusals),
        cmocka_unit_test(test_native_classes), cmocka_unit_test(test_abilities),
        cmocka_unit_test(test_clusters),       cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
