/* Times fits of a spec on a file: the program of bench_l1, bench_logistic and bench_sparse, whose .py
 * files call it in turn with their peers.
 *
 *   bench_NAME SPEC DATA LABELS|- f64|f32 THREADS REPEATS [WEIGHTS]
 *
 * One line per fit: seconds, objective, gap, steps, intercept. WEIGHTS: file for the last fit,
 * one number a line: for each score function its weights and its intercept. */
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

static int write_weights(const char *path, const margin_model *model) {
    int64_t columns;
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    margin_model_features(model, &columns);
    for (int64_t f = 0; f < margin_model_score_count(model); f++) {
        for (int64_t j = 0; j < columns; j++)
            fprintf(file, "%.17g\n", margin_model_weights(model, f)[j]);
        fprintf(file, "%.17g\n", margin_model_intercept(model, f));
    }
    return fclose(file) != 0;
}

static int fit_often(margin_context *context, const margin_spec *spec, const margin_data *data,
                     int repeats, const char *weights) {
    for (int k = 0; k < repeats; k++) {
        margin_model *model = NULL;
        margin_report report;
        margin_error error;
        const double start = seconds_now();
        if (margin_fit(context, spec, data, &model, &report, &error) < 0) return complain(&error);
        printf("%.6f %.12g %.3g %lld %.6g\n", seconds_now() - start, report.objective, report.gap,
               (long long)report.iterations, margin_model_intercept(model, 0));
        if (k == 0) fprintf(stderr, "%s\n", report.reason);
        const int code = weights && k == repeats - 1 ? write_weights(weights, model) : 0;
        margin_model_free(model);
        if (code) return code;
    }
    return 0;
}

static int run(margin_context *context, char **words, const char *weights) {
    margin_read_options options = {.size = sizeof options};
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    options.labels = strcmp(words[2], "-") == 0 ? NULL : words[2];
    options.value_type = strcmp(words[3], "f32") == 0 ? MARGIN_F32 : MARGIN_F64;
    if (margin_spec_parse(context, words[0], &spec, &error) < 0) return complain(&error);
    int code = 0;
    if (margin_table_read(context, words[1], &options, &table, &error) < 0) code = complain(&error);
    if (code == 0) {
        const margin_data data = margin_table_data(table);
        code = fit_often(context, spec, &data, atoi(words[5]), weights);
    }
    margin_table_free(table);
    margin_spec_free(spec);
    return code;
}

int main(int count, char **words) {
    margin_context_options options = {.size = sizeof options};
    margin_context *context = NULL;
    margin_error error;
    if (count < 7 || count > 8) {
        fprintf(stderr, "see the first lines of bench_fit.c\n");
        return 1;
    }
    words++; /* now the numbers are those of the list above */
    options.threads = atoi(words[4]);
    if (margin_context_create(&options, &context, &error) < 0) return complain(&error);
    const int code = run(context, words, count == 8 ? words[6] : NULL);
    margin_context_free(context);
    return code;
}
