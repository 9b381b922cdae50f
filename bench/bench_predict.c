/* Times prediction through the public interface (row S17: one row in less than a microsecond, no
 * allocation) and over many rows on all threads. bench_predict.py adds scikit-learn's figures.
 *
 *   bench_predict [COLUMNS [ROWS]]     one line per case: nanoseconds for one row at a time,
 *                                      nanoseconds per row in one call, and on all threads
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

enum { REPEATS = 7, CALLS = 20000, TRAINING = 400 };

typedef struct {
    int64_t rows, columns;
    double *x, *labels;
    float *narrow;
    int32_t *indices;
    int64_t *starts;
} rows;

static int make_rows(int64_t count, int64_t columns, int classes, rows *r) {
    uint64_t state = 1;
    size_t numbers = (size_t)(count * columns);
    *r = (rows){.rows = count, .columns = columns};
    r->x = malloc(numbers * sizeof *r->x);
    r->narrow = malloc(numbers * sizeof *r->narrow);
    r->indices = malloc(numbers * sizeof *r->indices);
    r->starts = malloc((size_t)(count + 1) * sizeof *r->starts);
    r->labels = malloc((size_t)count * sizeof *r->labels);
    if (!r->x || !r->narrow || !r->indices || !r->starts || !r->labels) return 1;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++) {
            double value = 2 * next_uniform(&state) - 1;
            sum += value * (double)(j % 3 - 1);
            r->x[i * columns + j] = value;
            r->narrow[i * columns + j] = (float)value;
            r->indices[i * columns + j] = (int32_t)j;
        }
        r->starts[i] = i * columns;
        r->labels[i] = classes == 2 ? sum > 0 : (double)((int)(sum + 100) % classes);
    }
    r->starts[count] = count * columns;
    return 0;
}

static void free_rows(rows *r) {
    free(r->x);
    free(r->narrow);
    free(r->indices);
    free(r->starts);
    free(r->labels);
}

static margin_matrix view_of(const rows *r, char layout, int64_t first, int64_t count) {
    if (layout == 'f')
        return margin_dense_f32(r->narrow + first * r->columns, count, r->columns, r->columns);
    if (layout == 's')
        return margin_csr_f64(r->x, r->indices, r->starts + first, count, r->columns);
    return margin_dense_f64(r->x + first * r->columns, count, r->columns, r->columns);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over the repeats of the seconds that `calls` single rows take, per row, in ns. */
static double time_single(const margin_model *model, const rows *r, char layout) {
    double took[REPEATS];
    margin_error error;
    int64_t label, sum = 0;
    for (int k = 0; k < REPEATS; k++) {
        double start = seconds_now();
        for (int64_t call = 0; call < CALLS; call++) {
            margin_matrix x = view_of(r, layout, call % r->rows, 1);
            if (margin_predict(model, &x, &label, &error) < 0) return -1;
            sum += label;
        }
        took[k] = (seconds_now() - start) / CALLS * 1e9;
    }
    if (sum < 0) puts("impossible"); /* so that nothing is left out */
    qsort(took, REPEATS, sizeof took[0], ascending);
    return took[REPEATS / 2];
}

static double time_many(margin_context *context, const margin_model *model, const rows *r,
                        char layout, int64_t *labels) {
    double took[REPEATS];
    margin_error error;
    margin_matrix x = view_of(r, layout, 0, r->rows);
    for (int k = 0; k < REPEATS; k++) {
        double start = seconds_now();
        margin_status status =
            context
                ? margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_LABELS, labels, &error)
                : margin_predict(model, &x, labels, &error);
        if (status < 0) return -1;
        took[k] = (seconds_now() - start) / (double)r->rows * 1e9;
    }
    qsort(took, REPEATS, sizeof took[0], ascending);
    return took[REPEATS / 2];
}

static int run_case(margin_context *context, const char *text, char layout, int classes,
                    int64_t columns, int64_t count) {
    rows r = {0};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    int64_t *labels = malloc((size_t)count * sizeof *labels);
    int code = !labels || make_rows(count, columns, classes, &r);
    margin_data data = {.x = view_of(&r, 'd', 0, count < TRAINING ? count : TRAINING)};
    data.y = margin_values_f64(r.labels, data.x.rows);
    if (code == 0 && (margin_spec_parse(context, text, &spec, &error) < 0 ||
                      margin_fit(context, spec, &data, &model, NULL, &error) < 0)) {
        fprintf(stderr, "%s\n", error.text);
        code = 1;
    }
    if (code == 0)
        printf("%-44s %-6s %2d classes  one row %8.1f ns   row of many %8.1f ns   on all threads "
               "%8.1f ns\n",
               text,
               layout == 'f'   ? "f32"
               : layout == 's' ? "csr"
                               : "f64",
               classes, time_single(model, &r, layout), time_many(NULL, model, &r, layout, labels),
               time_many(context, model, &r, layout, labels));
    margin_model_free(model);
    margin_spec_free(spec);
    free_rows(&r);
    free(labels);
    return code;
}

int main(int count, char **words) {
    int64_t columns = count > 1 ? atoll(words[1]) : 20, many = count > 2 ? atoll(words[2]) : 20000;
    margin_context *context = NULL;
    margin_error error;
    margin_capabilities_info machine = {0};
    static const char *const specs[] = {
        "perceptron(passes=5)", "standardize | perceptron(passes=5)",
        "normalize | perceptron(passes=5)", "perceptron(passes=5, multiclass=ovo)",
        "perceptron(kernel=rbf, passes=5)"};
    if (columns < 1 || many < 1 || margin_context_create(NULL, &context, &error) < 0) return 1;
    margin_capabilities(&machine);
    printf("margin %s, %s, %d cores; %lld columns\n", margin_version(), machine.instruction_set,
           machine.cores, (long long)columns);
    int code = 0;
    for (int k = 0; k < 5 && code == 0; k++)
        code = run_case(context, specs[k], 'd', k == 3 ? 10 : 2, columns, many);
    if (code == 0) code = run_case(context, specs[0], 'f', 2, columns, many);
    if (code == 0) code = run_case(context, specs[0], 's', 2, columns, many);
    margin_context_free(context);
    return code;
}
