/* Times k-means on a file; bench_kmeans.py calls it in turn with scikit-learn.
 *
 *   bench_kmeans SPEC DATA f64|f32 REPEATS    one line per fit: seconds, inertia, iterations */
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

static int fit_once(margin_context *context, const margin_spec *spec, const margin_data *data) {
    margin_model *model = NULL;
    margin_report report;
    margin_error error;
    const double start = seconds_now();
    if (margin_fit(context, spec, data, &model, &report, &error) < 0) return complain(error.text);
    printf("%.6f %.12g %lld\n", seconds_now() - start, report.objective,
           (long long)report.iterations);
    margin_model_free(model);
    return 0;
}

int main(int count, char **words) {
    if (count != 5) return complain("usage: see the head of this file");
    margin_read_options options = {.size = sizeof options,
                                   .value_type =
                                       strcmp(words[3], "f32") == 0 ? MARGIN_F32 : MARGIN_F64,
                                   .target = ""};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = 0;
    if (margin_context_create(NULL, &context, &error) < 0 ||
        margin_table_read(context, words[2], &options, &table, &error) < 0 ||
        margin_spec_parse(context, words[1], &spec, &error) < 0)
        code = complain(error.text);
    for (int k = 0; code == 0 && k < atoi(words[4]); k++) {
        const margin_data data = margin_table_data(table);
        code = fit_once(context, spec, &data);
    }
    margin_spec_free(spec);
    margin_table_free(table);
    margin_context_free(context);
    return code;
}
