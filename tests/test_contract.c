/* What every learner and every stage of the catalogue promises, checked for each of them: one
 * battery over specs that are made from the catalogue itself. A new component is covered by being
 * registered; where it lacks an ability, that the lack is said is checked instead. */
#include "contract_specs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The same input gives the same model ----------------------------------------------------- */

static void test_threads_and_refits(void **state) {
    contract *f = *state;
    margin_context *contexts[4];
    for (int t = 0; t < 4; t++)
        contexts[t] = support_context(NULL, t + 1);
    FOR_EACH_SPEC(f, e) {
        margin_data data =
            sample_data(contract_sample(f, many), many ? CSR_F32_I32_I64 : DENSE_F64);
        margin_model *first = fit_text(contexts[0], e->text, &data, NULL);
        for (int t = 0; t < 4; t++) {
            margin_model *again = fit_text(contexts[t], e->text, &data, NULL);
            assert_same_model(first, again);
            margin_model_free(again);
        }
        margin_model_free(first);
    }
    for (int t = 0; t < 4; t++)
        margin_context_free(contexts[t]);
}

/* Rows enough for several blocks: merging must not depend on threads or on the stride either. */
static void test_threads_on_many_rows(void **state) {
    contract *f = *state;
    sample *s = sample_make(9000, 6, 2, 0.02, 7);
    margin_context *contexts[3] = {support_context(NULL, 1), support_context(NULL, 2),
                                   support_context(NULL, 4)};
    for (const entry *e = f->entries; e < f->entries + f->count; e++) {
        /* with order=first and random, each pick walks over the rows */
        bool slow = strstr(e->text, "kernel") || strstr(e->text, "dual") ||
                    strstr(e->text, "nystroem") || strstr(e->text, "fourier") ||
                    strstr(e->text, "order=first") || strstr(e->text, "order=random");
        margin_data data = sample_data(s, DENSE_F32), wide = sample_data(s, STRIDED_F32);
        if (slow) data.x.rows = data.y.count = wide.x.rows = wide.y.count = 300;
        margin_model *models[4];
        for (int t = 0; t < 4; t++) {
            models[t] = fit_text(contexts[t % 3], e->text, t < 3 ? &data : &wide, NULL);
            assert_same_model(models[0], models[t]);
        }
        for (int t = 0; t < 4; t++)
            margin_model_free(models[t]);
    }
    for (int t = 0; t < 3; t++)
        margin_context_free(contexts[t]);
    sample_free(s);
}

/* Values are exact in every layout, so learners that see the data as it is agree to the bit; after
 * a stage, types and sums may differ in the last place, and more columns than rows magnify that.
 * Labels are the same; of sparse rows, whose kernel values may differ in the last place, a fit that
 * was stopped on its way may have taken another one: both are as near the optimum as they say. */
static double distance_of(const margin_report *report) {
    return report->gap * fmax(1, fabs(report->objective));
}

static void test_layouts(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        const sample *s = contract_sample(f, many);
        margin_data dense = sample_data(s, DENSE_F64);
        const double rows = (double)s->rows;
        margin_report expected = {0}, report = {0};
        margin_model *plain = fit_text(f->context, e->text, &dense, &expected);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const bool is_sparse = layout >= CSR_F64_I32_I64;
            margin_data data = sample_data(s, layout);
            margin_model *model = fit_text(f->context, e->text, &data, &report);
            if (layout == STRIDED_F64) assert_same_model(plain, model);
            if (is_sparse && report.status != MARGIN_OK && report.gap > 0)
                assert_true(fabs(report.objective - expected.objective) <=
                            fmax(distance_of(&report), distance_of(&expected)));
            else if (margin_model_task(model) == MARGIN_CLASSIFY)
                assert_true(fabs(report.train_accuracy - expected.train_accuracy) * rows <= 0.5);
            else
                assert_close(report.train_rmse, expected.train_rmse, e->stage ? 1e-3 : 1e-6);
            assert_int_equal(report.rows, s->rows);
            margin_model_free(model);
        }
        margin_model_free(plain);
    }
}

/* Field by field: the padding has no value. */
static void assert_same_views(const margin_data *a, const margin_data *b) {
    assert_memory_equal(&a->x, &b->x, offsetof(margin_matrix, index_type));
    assert_int_equal(a->x.index_type, b->x.index_type);
    assert_memory_equal(&a->y, &b->y, offsetof(margin_vector, type));
    assert_memory_equal(&a->weights, &b->weights, offsetof(margin_vector, type));
    assert_ptr_equal(a->columns, b->columns);
    assert_ptr_equal(a->target, b->target);
    assert_ptr_equal(a->selection, b->selection);
    assert_int_equal(a->selected, b->selected);
}

static void test_inputs_unchanged(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        uint64_t seed = many ? 102 : 101;
        const sample *s = contract_sample(f, many);
        sample *fresh = sample_make(s->rows, s->columns, s->classes, 0.05, seed);
        size_t numbers = (size_t)(s->rows * s->columns);
        for (int layout = DENSE_F64; layout <= CSR_F32_I32_I64; layout++) {
            margin_data data = sample_data(s, layout), before = data;
            margin_model *model = fit_text(f->context, e->text, &data, NULL);
            double *scores = scores_of(model, &data.x);
            assert_same_views(&data, &before);
            free(scores);
            margin_model_free(model);
        }
        assert_memory_equal(s->f64, fresh->f64, numbers * sizeof *s->f64);
        assert_memory_equal(s->f32, fresh->f32, numbers * sizeof *s->f32);
        assert_memory_equal(s->stored_f64, fresh->stored_f64, numbers * sizeof *s->stored_f64);
        assert_memory_equal(s->index_i32, fresh->index_i32, numbers * sizeof *s->index_i32);
        assert_memory_equal(s->start_i64, fresh->start_i64,
                            (size_t)(s->rows + 1) * sizeof *s->start_i64);
        assert_memory_equal(s->labels, fresh->labels, (size_t)s->rows * sizeof *s->labels);
        sample_free(fresh);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void test_absent_rows(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        const sample *s = contract_sample(f, many);
        double weights[70], *values = malloc((size_t)(70 * s->columns) * sizeof *values);
        double labels[70], gathered_labels[70];
        double *gathered = malloc((size_t)(70 * s->columns) * sizeof *gathered);
        size_t row_bytes = (size_t)s->columns * sizeof *values;
        int64_t selection[70], count = 0;
        memcpy(values, s->f64, 70 * row_bytes);
        memcpy(labels, s->labels, sizeof labels);
        for (int64_t i = 0; i < 70; i++) {
            weights[i] = i % 7 != 3;
            if (weights[i] > 0) {
                memcpy(gathered + count * s->columns, s->f64 + i * s->columns, row_bytes);
                gathered_labels[count] = labels[i];
                selection[count++] = i;
            } else { /* may hold anything */
                for (int64_t j = 0; j < s->columns; j++)
                    values[i * s->columns + j] = j % 2 ? (double)NAN : (double)INFINITY;
                labels[i] = (double)NAN;
            }
        }
        margin_data data = sample_data(s, DENSE_F64), copy = data;
        data.x.values = values;
        data.y.values = labels;
        copy.x.values = gathered;
        copy.y.values = gathered_labels;
        copy.x.rows = copy.y.count = count;
        margin_model *alone = fit_text(f->context, e->text, &copy, NULL);
        data.weights = margin_values_f64(weights, 70);
        margin_model *weighted = fit_text(f->context, e->text, &data, NULL);
        data.weights.values = NULL;
        data.selection = selection;
        data.selected = count;
        margin_model *selected = fit_text(f->context, e->text, &data, NULL);
        assert_same_model(weighted, selected);
        double *left = scores_of(alone, &copy.x), *right = scores_of(selected, &copy.x);
        assert_memory_equal(left, right,
                            (size_t)(count * margin_model_score_count(alone)) * sizeof *left);
        free(left);
        free(right);
        margin_model_free(alone);
        margin_model_free(weighted);
        margin_model_free(selected);
        free(gathered);
        free(values);
    }
}

/* Weights that are all one are no weights; others are taken, or refused by name. */
static void test_weights(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        double ones[70], some[70];
        for (int i = 0; i < 70; i++) {
            ones[i] = 1;
            some[i] = 1 + i % 3;
        }
        margin_data data = sample_data(contract_sample(f, many), DENSE_F64);
        margin_model *plain = fit_text(f->context, e->text, &data, NULL);
        data.weights = margin_values_f64(ones, 70);
        margin_model *weighted = fit_text(f->context, e->text, &data, NULL);
        assert_same_model(plain, weighted);
        margin_model_free(plain);
        margin_model_free(weighted);
        data.weights = margin_values_f64(some, 70);
        if (e->learner->abilities & MARGIN_CAN_WEIGHTS) {
            weighted = fit_text(f->context, e->text, &data, NULL);
            margin_model_free(weighted);
        } else {
            fit_refused(f->context, e->text, &data, MARGIN_ERROR_ARGUMENT, "no sample weights");
        }
    }
}

/* A row of weight k is k copies of it one behind the other. Left out: specs that shuffle (they
 * keep the copies of a weighted row together and those of equal rows not) and order=first (its
 * limit counts rows). */
static void test_weights_are_copies(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        const sample *s = contract_sample(f, many);
        if (!(e->learner->abilities & MARGIN_CAN_WEIGHTS)) continue;
        if (strstr(e->text, "shuffle") || strstr(e->text, "order=first") ||
            strstr(e->text, "order=random"))
            continue;
        if (strstr(e->text, "solver=sgd") || strstr(e->text, "solver=minibatch")) continue;
        /* these shuffle too; test_dual_cd and test_crammer_singer have them in full */
        if (strstr(e->text, "solver=dual_cd") || strstr(e->text, "loss=hinge")) continue;
        if (strstr(e->text, "svm(") && strstr(e->text, "multiclass=argmax")) continue;
        /* the limit on steps of two rows is met first; test_kernel_svm has the optimum */
        if (strstr(e->text, "svm(") &&
            (strstr(e->text, "kernel=") || strstr(e->text, "task=regress")))
            continue;
        /* a step on the coefficients of copies moves the function once for each of them */
        if (strstr(e->text, "kernel-") && strstr(e->text, "solver=gd")) continue;
        double weights[70], labels[140];
        double *copies = malloc((size_t)(140 * s->columns) * sizeof *copies);
        int64_t count = 0;
        for (int64_t i = 0; i < 70; i++) {
            weights[i] = (double)(1 + i % 3 / 2 - (i % 11 == 5)); /* 0, 1, 2 */
            for (double k = 0; k < weights[i]; k++, count++) {
                memcpy(copies + count * s->columns, s->f64 + i * s->columns,
                       (size_t)s->columns * sizeof *copies);
                labels[count] = s->labels[i];
            }
        }
        margin_report reports[2] = {0};
        margin_data data = sample_data(s, DENSE_F64), copied = data;
        data.weights = margin_values_f64(weights, 70);
        copied.x.values = copies;
        copied.x.rows = copied.y.count = count;
        copied.y.values = labels;
        margin_model *weighted = fit_text(f->context, e->text, &data, &reports[0]);
        margin_model *written = fit_text(f->context, e->text, &copied, &reports[1]);
        double *left = scores_of(weighted, &data.x), *right = scores_of(written, &data.x);
        /* a proven gap of g leaves weights within the root of g of the optimum */
        const double near = reports[0].tolerance > 0 ? sqrt(reports[0].tolerance) : 1e-9;
        for (int64_t k = 0; k < 70 * margin_model_score_count(weighted); k++)
            if (fabs(left[k] - right[k]) > near * fmax(1, fabs(right[k])))
                fail_msg("%s: %.17g with weights, %.17g with copies", e->text, left[k], right[k]);
        /* and so may put a row that is as near to 0 on either side */
        const double few = reports[0].tolerance > 1e-6 ? 3.0 / 70 : 1e-12;
        assert_close(reports[0].train_accuracy, reports[1].train_accuracy, few);
        free(left);
        free(right);
        margin_model_free(weighted);
        margin_model_free(written);
        free(copies);
    }
}

static int ignore_step(const margin_trace_step *step, void *user) {
    (void)step;
    ++*(int *)user;
    return 0;
}

static void test_trace(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        int steps = 0;
        /* of kernel machines descent alone has steps to show */
        if (strstr(e->text, "kernel-") && !strstr(e->text, "solver=gd")) continue;
        margin_data data = sample_data(contract_sample(f, many), DENSE_F64);
        margin_fit_options options = {.size = sizeof options, .trace = ignore_step, .user = &steps};
        margin_spec *spec = parse_text(f->context, e->text);
        margin_model *model = NULL;
        margin_error error = {0};
        margin_status status =
            margin_fit_with(f->context, spec, &data, &options, &model, NULL, &error);
        if (margin_spec_learner(spec)->abilities & MARGIN_CAN_TRACE) {
            if (status < 0 || steps == 0) fail_msg("%s: %s", e->text, error.text);
            margin_model *plain = fit_text(f->context, e->text, &data, NULL);
            assert_same_model(plain, model);
            margin_model_free(plain);
        } else {
            assert_int_equal(status, MARGIN_ERROR_ARGUMENT);
            assert_contains(error.text, "cannot trace");
        }
        margin_model_free(model);
        margin_spec_free(spec);
    }
}

/* ---- Prediction, files, proofs --------------------------------------------------------------- */

static void test_prediction(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        const sample *s = contract_sample(f, many);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            margin_data data = sample_data(s, layout);
            margin_model *model = fit_text(f->context, e->text, &data, NULL);
            int64_t functions = margin_model_score_count(model), labels[70], label;
            double *scores = scores_of(model, &data.x);
            double *one = malloc((size_t)(70 * functions) * sizeof *one);
            margin_error error = {0};
            const bool classifies = margin_model_task(model) != MARGIN_REGRESS; /* or clusters */
            assert_int_equal(margin_predict_parallel(f->context, model, &data.x,
                                                     MARGIN_OUTPUT_SCORES, one, &error),
                             MARGIN_OK);
            assert_memory_equal(one, scores, (size_t)(70 * functions) * sizeof *one);
            if (classifies)
                assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_OK);
            else
                assert_int_equal(margin_predict(model, &data.x, labels, &error),
                                 MARGIN_ERROR_ARGUMENT);
            for (int64_t i = 0; i < 70; i += 3) {
                int64_t row = i;
                margin_matrix single = data.x;
                single.rows = 1;
                if (!single.row_starts)
                    single.values =
                        (const char *)single.values +
                        (size_t)(row * single.stride) * (single.value_type == MARGIN_F32 ? 4 : 8);
                else
                    single.row_starts = (const char *)single.row_starts +
                                        (size_t)row * (single.start_type == MARGIN_I32 ? 4 : 8);
                assert_int_equal(margin_scores(model, &single, one, &error), MARGIN_OK);
                assert_memory_equal(one, scores + row * functions, (size_t)functions * sizeof *one);
                if (!classifies) {
                    assert_int_equal(margin_predict_values(model, &single, one, &error), MARGIN_OK);
                    assert_memory_equal(one, scores + row, sizeof *one);
                    continue;
                }
                assert_int_equal(margin_predict(model, &single, &label, &error), MARGIN_OK);
                assert_int_equal(label, labels[row]);
                assert_in_range(label, 0, margin_model_class_count(model) - 1);
            }
            if (margin_model_has_probabilities(model)) {
                int64_t classes = margin_model_class_count(model);
                double *p = malloc((size_t)(70 * classes) * sizeof *p);
                assert_int_equal(margin_probabilities(model, &data.x, p, &error), MARGIN_OK);
                for (int i = 0; i < 70; i++) {
                    double sum = 0;
                    for (int64_t c = 0; c < classes; c++) {
                        sum += p[i * classes + c];
                        assert_true(p[i * classes + c] <= p[i * classes + labels[i]]);
                    }
                    assert_close(sum, 1, 1e-12);
                }
                free(p);
            } else {
                assert_int_equal(margin_probabilities(model, &data.x, one, &error),
                                 MARGIN_ERROR_ARGUMENT);
            }
            free(one);
            free(scores);
            margin_model_free(model);
        }
    }
}

/* A NaN or an infinite value anywhere leaves no answer; what takes missing values answers. */
static void test_values_without_answer(void **state) {
    contract *f = *state;
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    FOR_EACH_SPEC(f, e) {
        const sample *s = contract_sample(f, many);
        margin_data data = sample_data(s, DENSE_F64);
        margin_model *model = fit_text(f->context, e->text, &data, NULL);
        const margin_component *first = e->stage ? e->stage : e->learner;
        const bool classifies = margin_model_task(model) != MARGIN_REGRESS;
        const int64_t functions = margin_model_score_count(model);
        for (int v = 0; v < 3; v++)
            for (int64_t j = 0; j < s->columns; j++) {
                const bool answers = v == 0 && (first->abilities & MARGIN_CAN_MISSING);
                /* whether a stage hands on what is missing is its own affair */
                if (v == 0 && !answers && (e->learner->abilities & MARGIN_CAN_MISSING)) continue;
                double row[8], scores[8];
                int64_t label = 7;
                margin_error error = {0};
                assert_true(s->columns <= 8 && functions <= 8);
                memcpy(row, s->f64, (size_t)s->columns * sizeof *row);
                row[j] = values[v];
                const margin_matrix x = margin_dense_f64(row, 1, s->columns, s->columns);
                double same[8];
                assert_int_equal(margin_scores(model, &x, scores, &error), MARGIN_OK);
                assert_int_equal(margin_predict_parallel(f->context, model, &x,
                                                         MARGIN_OUTPUT_SCORES, same, &error),
                                 MARGIN_OK);
                for (int64_t k = 0; k < functions; k++)
                    assert_int_equal(isnan(same[k]) != 0, isnan(scores[k]) != 0);
                for (int64_t k = 0; k < functions; k++)
                    if (answers == (isnan(scores[k]) != 0))
                        fail_msg("%s: score %g of %g", e->text, scores[k], values[v]);
                if (!classifies) continue;
                assert_int_equal(margin_predict(model, &x, &label, &error), MARGIN_OK);
                if (answers != (label >= 0))
                    fail_msg("%s: label %d of %g", e->text, (int)label, values[v]);
            }
        margin_model_free(model);
    }
}

/* A stage may make finite numbers of it, and learners that answer many rows at once see those. */
static void test_batches_without_answer(void **state) {
    const contract *f = *state;
    const sample *s = contract_sample(f, 0);
    enum { ROWS = 3 };
    double rows[ROWS * 8], scores[ROWS * 2];
    margin_error error = {0};
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(f->context, "rbf(centres=4) | knn", &data, NULL);
    memcpy(rows, s->f64, (size_t)(ROWS * s->columns) * sizeof *rows);
    rows[s->columns + 1] = (double)INFINITY;
    const margin_matrix x = margin_dense_f64(rows, ROWS, s->columns, s->columns);
    const int64_t functions = margin_model_score_count(model);
    assert_true(functions <= 2);
    assert_int_equal(
        margin_predict_parallel(f->context, model, &x, MARGIN_OUTPUT_SCORES, scores, &error),
        MARGIN_OK);
    for (int64_t i = 0; i < ROWS; i++)
        assert_int_equal(isnan(scores[i * functions]) != 0, i == 1);
    margin_model_free(model);
}

static void test_files(void **state) {
    contract *f = *state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%.*s/model.margin", SUPPORT_PATH - 20, dir);
    FOR_EACH_SPEC(f, e) {
        margin_data data =
            sample_data(contract_sample(f, many), many ? CSR_F64_I32_I64 : DENSE_F32);
        margin_error error = {0};
        void *bytes = NULL;
        int64_t length = 0;
        margin_report report = {0};
        margin_model *model = fit_text(f->context, e->text, &data, &report), *copy = NULL;
        if (margin_model_encode(model, &bytes, &length, &error) < 0 ||
            margin_model_decode(f->context, bytes, length, &copy, &error) < 0)
            fail_msg("%s: %s", e->text, error.text);
        assert_same_model(model, copy);
        assert_int_equal(margin_model_report(copy)->status, report.status);
        assert_string_equal(margin_model_report(copy)->reason, report.reason);
        double *a = scores_of(model, &data.x), *b = scores_of(copy, &data.x);
        size_t size = (size_t)(70 * margin_model_score_count(model)) * sizeof *a;
        assert_memory_equal(a, b, size);
        margin_model_free(copy);
        free(b);
        if (margin_model_save(model, path, &error) < 0 ||
            margin_model_load(f->context, path, &copy, &error) < 0)
            fail_msg("%s: %s", e->text, error.text);
        b = scores_of(copy, &data.x);
        assert_memory_equal(a, b, size);
        margin_model_free(copy);
        free(b);
        free(a);
        margin_bytes_free(model, bytes);
        margin_model_free(model);
    }
    support_temp_remove(dir);
}

static void test_reports_and_proofs(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        margin_data data = sample_data(contract_sample(f, many), DENSE_F64);
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        margin_model *model = fit_text(f->context, e->text, &data, &report);
        assert_true(report.item_count <
                    MARGIN_REPORT_ITEMS); /* a full table may have dropped one */
        assert_true(report.formula[0] && report.reason[0] && report.iteration_name[0]);
        assert_true(report.iterations >= 0 && report.seconds >= 0);
        assert_int_equal(report.rows, 70);
        assert_int_equal(report.columns, 5);
        assert_true(report.status > 0 || !(report.gap > report.tolerance));
        if (margin_model_task(model) == MARGIN_CLASSIFY) {
            assert_int_equal(report.classes, many ? 3 : 2);
            assert_true(report.train_accuracy > 1.0 / (many ? 3 : 2));
        }
        margin_status status = margin_verify(f->context, model, &data, &found, &error);
        if (status != MARGIN_OK)
            fail_msg("%s: %s", e->text, status < 0 ? error.text : found.reason);
        /* a loaded model can prove as much */
        void *bytes = NULL;
        int64_t length = 0;
        margin_model *copy = NULL;
        if (margin_model_encode(model, &bytes, &length, &error) < 0 ||
            margin_model_decode(f->context, bytes, length, &copy, &error) < 0)
            fail_msg("%s", error.text);
        assert_int_equal(margin_verify(f->context, copy, &data, &found, &error), MARGIN_OK);
        margin_bytes_free(model, bytes);
        margin_model_free(copy);
        margin_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_refits),
        cmocka_unit_test(test_threads_on_many_rows),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_inputs_unchanged),
        cmocka_unit_test(test_absent_rows),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_values_without_answer),
        cmocka_unit_test(test_batches_without_answer),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_reports_and_proofs),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
