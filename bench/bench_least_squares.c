/* Times least squares and ridge on a file; bench_least_squares.py calls it in turn with
 * scikit-learn.
 *
 *   bench_least_squares SPEC DATA LABELS f64|f32 REPEATS WEIGHTS    one line per fit: seconds, gap;
 *                                                                   the last w and b go to WEIGHTS
 */
#define _POSIX_C_SOURCE 200809L
#include <margin/margin.h>

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

static int write_weights(const char *path, const margin_model *model) {
    int64_t count;
    const double b = margin_model_intercept(model, 0);
    FILE *file = fopen(path, "wb");
    if (!file) return complain(path);
    margin_model_features(model, &count);
    const size_t written = fwrite(margin_model_weights(model, 0), sizeof b, (size_t)count, file) +
                           fwrite(&b, sizeof b, 1, file);
    return fclose(file) != 0 || written != (size_t)count + 1 ? complain(path) : 0;
}

static int fit_once(margin_context *context, const margin_spec *spec, const margin_data *data,
                    const char *weights) {
    margin_model *model = NULL;
    margin_report report;
    margin_error error;
    const double start = seconds_now();
    if (margin_fit(context, spec, data, &model, &report, &error) < 0) return complain(error.text);
    printf("%.6f %.3g\n", seconds_now() - start, report.gap);
    const int code = write_weights(weights, model);
    margin_model_free(model);
    return code;
}

int main(int count, char **words) {
    if (count != 7) return complain("usage: see the head of this file");
    margin_read_options options = {.size = sizeof options,
                                   .value_type =
                                       strcmp(words[4], "f32") == 0 ? MARGIN_F32 : MARGIN_F64,
                                   .labels = words[3]};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = 0;
    if (margin_context_create(NULL, &context, &error) < 0 ||
        margin_table_read(context, words[2], &options, &table, &error) < 0 ||
        margin_spec_parse(context, words[1], &spec, &error) < 0)
        code = complain(error.text);
    for (int k = 0; code == 0 && k < atoi(words[5]); k++) {
        const margin_data data = margin_table_data(table);
        code = fit_once(context, spec, &data, words[6]);
    }
    margin_spec_free(spec);
    margin_table_free(table);
    margin_context_free(context);
    return code;
}
