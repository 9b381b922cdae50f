/* Small calls from C, and what fits hold.
 *
 *   bench_calls     a line a spec: microseconds of a fit of 50 x 5 numbers, nanoseconds of one row
 *                   predicted (processor seconds of one thread, the least of several batches); then
 *                   megabytes that a fit of 20,000 x 50 holds beside the table, by rows, by columns
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

enum { ROWS = 50, COLUMNS = 5, BATCHES = 15, FITS = 100, CALLS = 2000, MANY = 20000, WIDE = 50 };

static const char *const specs[] = {
    "least-squares", "ridge",       "lasso(lambda=0.01)",     "logistic",          "softmax", "svm",
    "perceptron",    "naive-bayes", "standardize | logistic", "knn(task=classify)"};

static double processor_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Columns after each other; labels 0 and 1 by the first, with noise. */
static void make(int64_t rows, int64_t columns, double *x, double *y) {
    uint64_t state = 1;
    for (int64_t k = 0; k < rows * columns; k++)
        x[k] = next_normal(&state);
    for (int64_t i = 0; i < rows; i++)
        y[i] = x[i] + next_normal(&state) > 0;
}

static margin_model *fit(margin_context *context, const margin_spec *spec,
                         const margin_data *data) {
    margin_model *model = NULL;
    return margin_fit(context, spec, data, &model, NULL, NULL) < 0 ? NULL : model;
}

static int time_calls(margin_context *context, const char *text) {
    static double x[ROWS * COLUMNS], y[ROWS];
    make(ROWS, COLUMNS, x, y);
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    const margin_matrix row = margin_dense_f64(x, 1, COLUMNS, COLUMNS);
    double best_fit = INFINITY, best_row = INFINITY, value;
    int64_t label;
    margin_error error;
    margin_spec *spec;
    if (margin_spec_parse(context, text, &spec, &error) < 0) return complain(error.text);
    margin_model *model = fit(context, spec, &data);
    if (!model) return complain(text);
    const int numbers = margin_model_class_count(model) == 0;
    for (int b = 0; b < BATCHES; b++) {
        double start = processor_now();
        for (int k = 0; k < FITS; k++)
            margin_model_free(fit(context, spec, &data));
        best_fit = fmin(best_fit, (processor_now() - start) / FITS);
        start = processor_now();
        for (int k = 0; k < CALLS; k++)
            if ((numbers ? margin_predict_values(model, &row, &value, NULL)
                         : margin_predict(model, &row, &label, NULL)) < 0)
                return complain(text);
        best_row = fmin(best_row, (processor_now() - start) / CALLS);
    }
    printf("%-24s %6.1f us %6.0f ns\n", text, 1e6 * best_fit, 1e9 * best_row);
    margin_model_free(model);
    margin_spec_free(spec);
    return 0;
}

/* Megabytes beside the table; a context of its own, whose peak it is. */
static double held(const char *text, const margin_data *data) {
    const margin_context_options options = {.size = sizeof options, .threads = 1};
    margin_context *context;
    margin_spec *spec = NULL;
    double most = NAN;
    if (margin_context_create(&options, &context, NULL) < 0) return most;
    if (margin_spec_parse(context, text, &spec, NULL) >= 0) {
        margin_model *model = fit(context, spec, data);
        if (model) most = 1e-6 * (double)margin_context_peak_memory(context);
        margin_model_free(model);
    }
    margin_spec_free(spec);
    margin_context_free(context);
    return most;
}

static int weigh(void) {
    double *x = malloc(sizeof *x * MANY * WIDE), *y = malloc(sizeof *y * MANY);
    const double *columns[WIDE];
    if (!x || !y) return complain("out of memory");
    make(MANY, WIDE, x, y);
    for (int j = 0; j < WIDE; j++)
        columns[j] = x + (size_t)j * MANY;
    const margin_data in_rows = {.x = margin_dense_f64(x, MANY, WIDE, WIDE),
                                 .y = margin_values_f64(y, MANY)},
                      by_columns = {.x = margin_columns_f64(columns, MANY, WIDE),
                                    .y = margin_values_f64(y, MANY)};
    for (size_t k = 0; k + 1 < sizeof specs / sizeof *specs; k++) /* but for knn */
        printf("%-24s %6.1f MB %6.1f MB\n", specs[k], held(specs[k], &in_rows),
               held(specs[k], &by_columns));
    free(x);
    free(y);
    return 0;
}

int main(void) {
    const margin_context_options options = {.size = sizeof options, .threads = 1};
    margin_context *context;
    int failed = margin_context_create(&options, &context, NULL) < 0;
    for (size_t k = 0; k < sizeof specs / sizeof *specs && !failed; k++)
        failed = time_calls(context, specs[k]);
    margin_context_free(context);
    return failed || weigh();
}
