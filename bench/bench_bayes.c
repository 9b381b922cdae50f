/* Times naive Bayes on a file; bench_bayes.py calls it in turn with scikit-learn.
 *
 *   bench_bayes SPEC DATA LABELS f64|f32 REPEATS    one line per repeat: seconds of the fit,
 * seconds to label all rows, training accuracy */
#define _POSIX_C_SOURCE 200809L
#include <margin/margin.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int complain(const char *text) {
    fprintf(stderr, "%s\n", text);
    return 1;
}

static int measure(margin_context *context, const margin_spec *spec, const margin_data *data,
                   int64_t *labels) {
    margin_model *model = NULL;
    margin_report report;
    margin_error error;
    const double start = seconds_now();
    if (margin_fit(context, spec, data, &model, &report, &error) < 0) return complain(error.text);
    const double fitted = seconds_now();
    if (margin_predict_parallel(context, model, &data->x, MARGIN_OUTPUT_LABELS, labels, &error) < 0)
        return complain(error.text);
    printf("%.6f %.6f %.6f\n", fitted - start, seconds_now() - fitted, report.train_accuracy);
    margin_model_free(model);
    return 0;
}

int main(int count, char **words) {
    if (count != 6) return complain("usage: see the head of this file");
    const bool single = strcmp(words[4], "f32") == 0;
    margin_read_options options = {
        .size = sizeof options, .value_type = single ? MARGIN_F32 : MARGIN_F64, .labels = words[3]};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = 0;
    if (margin_context_create(NULL, &context, &error) < 0 ||
        margin_table_read(context, words[2], &options, &table, &error) < 0 ||
        margin_spec_parse(context, words[1], &spec, &error) < 0)
        code = complain(error.text);
    const margin_data data = table ? margin_table_data(table) : (margin_data){0};
    int64_t *labels = malloc((size_t)(data.x.rows + 1) * sizeof *labels);
    for (int k = 0; code == 0 && labels && k < atoi(words[5]); k++)
        code = measure(context, spec, &data, labels);
    free(labels);
    margin_spec_free(spec);
    margin_table_free(table);
    margin_context_free(context);
    return code;
}
