/* A host that was compiled against the headers of 0.1 and runs with the library as it is now. */
#include "margin/margin.h"

#include <stdio.h>
#include <string.h>

/* A struct without a size ends behind these fields for the library (MG_SIZE_UP_TO in its sources),
 * which are the last ones here. */
#define ENDS(type, field)                                                                          \
    _Static_assert(sizeof(type) - offsetof(type, field) - sizeof(((type *)0)->field) <             \
                       sizeof(size_t),                                                             \
                   #type " has more fields")
ENDS(margin_capabilities_info, cores);
ENDS(margin_class_metrics, average_precision);
ENDS(margin_context_options, seed_given);
ENDS(margin_coverage_found, width);
ENDS(margin_evaluate_options, level);
ENDS(margin_fit_options, part);
ENDS(margin_importance_column, weight_per_deviation);
ENDS(margin_importance_options, seed);
ENDS(margin_likelihood, values);
ENDS(margin_measure_options, level);
ENDS(margin_metrics, inner);
ENDS(margin_neighbors_info, reason);
ENDS(margin_neighbors_lists, inner);
ENDS(margin_neighbors_options, k);
ENDS(margin_path_result, inner);
ENDS(margin_predictions, scores);
ENDS(margin_promise_options, groups);
ENDS(margin_read_options, target_complete);
ENDS(margin_report, items);
ENDS(margin_search_difference, high);
ENDS(margin_search_options, user);
ENDS(margin_separable_options, positive);
ENDS(margin_separation, inner);
ENDS(margin_setting, count);
ENDS(margin_split_options, time);
ENDS(margin_statistics_options, target);
ENDS(margin_statistics_result, inner);
ENDS(margin_table_details, name);
ENDS(margin_tensor, values);
ENDS(margin_transformed, inner);
ENDS(margin_write_options, labels);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, error.text);               \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int count_step(const margin_trace_step *step, void *user) {
    *(int *)user += step->subproblems == 1;
    return 0;
}

static int count_progress(const margin_progress *progress, void *user) {
    (void)progress, (void)user;
    return 0;
}

enum { ROWS = 60, COLUMNS = 2 };

int main(void) {
    static double x[ROWS * COLUMNS], y[ROWS], probabilities[ROWS * 2];
    static int32_t labels[ROWS];
    static const char *const names[] = {"no", "yes"};
    const margin_column columns[COLUMNS] = {{.name = "height"}, {.name = "width"}};
    const margin_column target = {
        .name = "fits", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    margin_error error = {0};
    margin_context *context;
    margin_spec *spec;
    margin_model *model, *again;
    int steps = 0;
    const margin_context_options options = {
        .size = sizeof options, .threads = 2, .progress = count_progress};
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = (double)(i % 7) - 3;
        x[2 * i + 1] = (double)(i % 11) / 4;
        y[i] = 2 * x[2 * i] - x[2 * i + 1] + (i % 5) * 0.1;
        labels[i] = y[i] + (i % 3) > 0;
    }
    margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                        .y = margin_labels_i32(labels, ROWS),
                        .columns = columns,
                        .target = &target};
    CHECK(margin_context_create(&options, &context, &error) == MARGIN_OK);
    CHECK(margin_spec_parse(context, "standardize | logistic(solver=gd)", &spec, &error) ==
          MARGIN_OK);

    /* without a size: as long as in 0.1, whose last fields are not overlooked */
    const margin_fit_options weighed = {.class_weights = y, .class_weight_count = 7};
    CHECK(margin_fit_with(context, spec, &data, &weighed, &model, NULL, &error) ==
          MARGIN_ERROR_ARGUMENT);
    const margin_context_options alone = {.kernel_threads = 7};
    margin_context *other;
    CHECK(margin_context_create(&alone, &other, &error) == MARGIN_ERROR_ARGUMENT);

    const margin_fit_options how = {.size = sizeof how, .trace = count_step, .user = &steps};
    margin_report report = {.size = sizeof report}, found = {.size = sizeof found};
    CHECK(margin_fit_with(context, spec, &data, &how, &model, &report, &error) == MARGIN_OK);
    CHECK(steps > 1 && report.size == sizeof report && report.rows == ROWS);
    CHECK(report.gap <= report.tolerance && strstr(report.formula, "log"));
    CHECK(margin_report_item_value(&report, "C") == 1);
    CHECK(margin_verify(context, model, &data, &found, &error) == MARGIN_OK);
    CHECK(strcmp(margin_model_class_name(model, 1), "yes") == 0);

    margin_metrics metrics = {.size = sizeof metrics};
    CHECK(margin_evaluate(context, model, &data, &metrics, &error) == MARGIN_OK);
    CHECK(metrics.accuracy > 0.7 && metrics.confusion[0] + metrics.confusion[1] > 0);
    margin_metrics_free(&metrics);
    CHECK(margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_PROBABILITIES,
                                  probabilities, &error) == MARGIN_OK);
    CHECK(probabilities[0] + probabilities[1] > 0.999);

    margin_tensor tensor = {.size = sizeof tensor}, found_tensor = {.size = sizeof found_tensor};
    CHECK(margin_model_tensor_count(model) > 0 && margin_model_tensor(model, 0, &tensor));
    CHECK(margin_model_tensor_find(model, tensor.name, &found_tensor));
    CHECK(tensor.values && found_tensor.values == tensor.values);
    margin_setting setting = {.size = sizeof setting};
    CHECK(margin_spec_setting(spec, 1, "C", &setting) && setting.number == 1);
    const margin_component *logistic = margin_component_find("logistic");
    CHECK(logistic && logistic->kind == MARGIN_LEARNER && logistic->option_count > 3);
    CHECK(margin_component_option(logistic, 0)->name[0]);

    void *bytes;
    int64_t length;
    CHECK(margin_model_encode(model, &bytes, &length, &error) == MARGIN_OK);
    CHECK(margin_model_decode(context, bytes, length, &again, &error) == MARGIN_OK);
    CHECK(margin_model_report(again)->objective == report.objective);
    margin_bytes_free(model, bytes);
    margin_model_free(again);
    margin_model_free(model);
    margin_spec_free(spec);

    margin_separation separation = {.size = sizeof separation};
    CHECK(margin_separable(context, &data, &separation, &error) >= 0 && separation.rows == ROWS);
    margin_separation_free(&separation);

    data.target = NULL;
    data.y = margin_values_f64(y, ROWS);
    margin_path_result path = {.size = sizeof path};
    CHECK(margin_spec_parse(context, "ridge(alpha={0.1,1,10})", &spec, &error) == MARGIN_OK);
    CHECK(margin_path(context, spec, &data, &path, &error) == MARGIN_OK && path.count == 3);
    CHECK(margin_path_point_at(&path, path.best)->leave_one_out_rmse > 0);
    margin_path_free(&path);
    margin_spec_free(spec);
    CHECK(margin_spec_parse(context, "least-squares", &spec, &error) == MARGIN_OK);
    CHECK(margin_fit(context, spec, &data, &model, NULL, &error) == MARGIN_OK);
    margin_statistics_result statistics = {.size = sizeof statistics};
    CHECK(margin_statistics(context, model, &data, NULL, &statistics, &error) == MARGIN_OK);
    CHECK(strcmp(margin_statistics_coefficient(&statistics, 0)->name, "height") == 0);
    margin_statistics_free(&statistics);
    margin_model_free(model);
    margin_spec_free(spec);

    static const char text[] = "a;b;c\n1;2;u\n3;4;v\n";
    margin_table *table;
    const margin_read_options read = {.size = sizeof read, .target = "c"};
    CHECK(margin_table_parse(context, text, sizeof text - 1, "t.csv", &read, &table, &error) ==
          MARGIN_OK);
    margin_table_details details = {.size = sizeof details};
    margin_table_info(table, &details);
    CHECK(details.separator == ';' && details.has_header &&
          margin_table_data(table).x.columns == 2);
    margin_column_summary summaries[3];
    CHECK(margin_table_summarize(context, table, summaries, 3, &error) == MARGIN_OK);
    CHECK(summaries[1].mean == 3);
    margin_table_free(table);
    margin_context_free(context);
    puts("a host of 0.1 runs");
    return 0;
}
