/* Times a path of ridge penalties, and the same penalties one by one; bench_path.py calls it in turn
 * with scikit-learn.
 *
 *   bench_path SPEC DATA LABELS REPEATS    one line per run: seconds of the path, of the single
 *                                          fits; then a line: best spec, its leave-one-out error */
#define _POSIX_C_SOURCE 200809L
#include <margin/margin.h>

#include <stdio.h>
#include <stdlib.h>
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

static int fit_points(margin_context *context, const margin_path_result *path,
                      const margin_data *data) {
    margin_error error;
    for (int64_t k = 0; k < path->count; k++) {
        margin_spec *spec = NULL;
        margin_model *model = NULL;
        if (margin_spec_parse(context, path->points[k].spec, &spec, &error) < 0 ||
            margin_fit(context, spec, data, &model, NULL, &error) < 0)
            return complain(error.text);
        margin_model_free(model);
        margin_spec_free(spec);
    }
    return 0;
}

static int run_once(margin_context *context, const margin_spec *spec, const margin_data *data,
                    int last) {
    margin_path_result path;
    margin_error error;
    const double start = seconds_now();
    if (margin_path(context, spec, data, &path, &error) < 0) return complain(error.text);
    const double between = seconds_now();
    const int code = fit_points(context, &path, data);
    printf("%.6f %.6f\n", between - start, seconds_now() - between);
    if (last)
        printf("%s %.12g\n", path.points[path.best].spec,
               path.points[path.best].leave_one_out_rmse);
    margin_path_free(&path);
    return code;
}

int main(int count, char **words) {
    if (count != 5) return complain("usage: see the head of this file");
    margin_read_options options = {.size = sizeof options, .labels = words[3]};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = 0;
    if (margin_context_create(NULL, &context, &error) < 0 ||
        margin_table_read(context, words[2], &options, &table, &error) < 0 ||
        margin_spec_parse(context, words[1], &spec, &error) < 0)
        code = complain(error.text);
    const int repeats = atoi(words[4]);
    for (int k = 0; code == 0 && k < repeats; k++) {
        const margin_data data = margin_table_data(table);
        code = run_once(context, spec, &data, k + 1 == repeats);
    }
    margin_spec_free(spec);
    margin_table_free(table);
    margin_context_free(context);
    return code;
}
