/* Times softmax on a file; bench_softmax.py calls it in turn with its peer.
 *
 *   bench_softmax SPEC DATA LABELS|- THREADS REPEATS [WEIGHTS]
 *
 * One line per fit: seconds, objective, gap, steps. WEIGHTS: file for the last fit's functions, one
 * a line: weights, then the intercept. */
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

static int complain(const margin_error *error) {
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

static int write_functions(const char *path, const margin_model *model) {
    int64_t columns;
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    margin_model_features(model, &columns);
    for (int64_t k = 0; k < margin_model_score_count(model); k++) {
        for (int64_t j = 0; j < columns; j++)
            fprintf(file, "%.17g ", margin_model_weights(model, k)[j]);
        fprintf(file, "%.17g\n", margin_model_intercept(model, k));
    }
    return fclose(file) != 0;
}

static int fit_often(margin_context *context, const margin_spec *spec, const margin_data *data,
                     int repeats, const char *path) {
    for (int k = 0; k < repeats; k++) {
        margin_model *model = NULL;
        margin_report report;
        margin_error error;
        const double start = seconds_now();
        if (margin_fit(context, spec, data, &model, &report, &error) < 0) return complain(&error);
        printf("%.6f %.12g %.3g %lld\n", seconds_now() - start, report.objective, report.gap,
               (long long)report.iterations);
        const int code = path && k == repeats - 1 ? write_functions(path, model) : 0;
        margin_model_free(model);
        if (code) return code;
    }
    return 0;
}

static int run(margin_context *context, int count, char **words) {
    margin_read_options options = {.size = sizeof options};
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = 0;
    options.labels = strcmp(words[3], "-") == 0 ? NULL : words[3];
    if (margin_spec_parse(context, words[1], &spec, &error) < 0) return complain(&error);
    if (margin_table_read(context, words[2], &options, &table, &error) < 0) {
        code = complain(&error);
    } else {
        const margin_data data = margin_table_data(table);
        code = fit_often(context, spec, &data, atoi(words[5]), count > 6 ? words[6] : NULL);
    }
    margin_table_free(table);
    margin_spec_free(spec);
    return code;
}

int main(int count, char **words) {
    margin_context_options options = {.size = sizeof options};
    margin_context *context = NULL;
    margin_error error;
    if (count < 6 || count > 7) {
        fprintf(stderr, "see the first lines of bench_softmax.c\n");
        return 1;
    }
    options.threads = atoi(words[4]);
    if (margin_context_create(&options, &context, &error) < 0) return complain(&error);
    const int code = run(context, count, words);
    margin_context_free(context);
    return code;
}
