/* Times fits of columns of types of their own against the same numbers in rows of f64.
 *
 *   bench_typed SPEC ROWS COLUMNS LABELS REPEATS
 *
 * Columns are f64, i32, u8 and f32 with a validity bitmap in turn. LABELS 1: a class, 0: a value.
 * One JSON object: median seconds of the processor of one thread, fits in turn. The models must
 * have the same bytes. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

enum { TYPES = 4, MOST_REPEATS = 99 };

typedef struct typed_data {
    int64_t rows, columns;
    double *x, *y;
    margin_array *arrays;
    uint8_t *validity;
} typed_data;

/* One column, and the same numbers in the rows. */
static int make_column(typed_data *d, int64_t j, uint64_t *state) {
    static const int32_t types[TYPES] = {MARGIN_F64, MARGIN_I32, MARGIN_U8, MARGIN_F32};
    const int which = (int)(j % TYPES);
    double *values = malloc((size_t)d->rows * sizeof *values);
    d->arrays[j] = (margin_array){.values = values, .type = types[which]};
    if (!values) return complain("out of memory");
    if (types[which] == MARGIN_F32) d->arrays[j].validity = d->validity;
    for (int64_t i = 0; i < d->rows; i++) {
        double value = 20 * next_normal(state);
        if (which == 1) ((int32_t *)(void *)values)[i] = (int32_t)(value = rint(value));
        if (which == 2) ((uint8_t *)values)[i] = (uint8_t)(value = rint(fmin(fabs(value), 255)));
        if (which == 3) value = ((float *)(void *)values)[i] = (float)value;
        if (which == 0) values[i] = value;
        d->x[i * d->columns + j] = value;
    }
    return 0;
}

static int make(typed_data *d, int labels) {
    const size_t rows = (size_t)d->rows, columns = (size_t)d->columns;
    uint64_t state = 1;
    d->x = malloc(rows * columns * sizeof *d->x);
    d->y = malloc(rows * sizeof *d->y);
    d->arrays = calloc(columns, sizeof *d->arrays);
    d->validity = malloc(rows / 8 + 1);
    if (!d->x || !d->y || !d->arrays || !d->validity) return complain("out of memory");
    memset(d->validity, 255, rows / 8 + 1);
    for (int64_t j = 0; j < d->columns; j++)
        if (make_column(d, j, &state)) return 1;
    for (int64_t i = 0; i < d->rows; i++) {
        double value = 20 * sqrt((double)d->columns) * next_normal(&state);
        for (int64_t j = 0; j < d->columns; j++)
            value += (double)(j / TYPES % 3 - 1) * d->x[i * d->columns + j];
        d->y[i] = labels ? value > 0 : value;
    }
    return 0;
}

static int compare_numbers(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int fit(margin_context *context, const margin_spec *spec, const margin_data *data,
               double *seconds, margin_model **model) {
    margin_error error;
    margin_model_free(*model);
    *model = NULL;
    const clock_t start = clock();
    if (margin_fit(context, spec, data, model, NULL, &error) < 0) return complain(error.text);
    *seconds = (double)(clock() - start) / (double)CLOCKS_PER_SEC;
    return 0;
}

static int same_bytes(const margin_model *a, const margin_model *b) {
    void *one = NULL, *other = NULL;
    int64_t length = 0, other_length = 0;
    margin_error error;
    const int code = margin_model_encode(a, &one, &length, &error) < 0 ||
                     margin_model_encode(b, &other, &other_length, &error) < 0;
    const int same = code == 0 && length == other_length && !memcmp(one, other, (size_t)length);
    margin_bytes_free(a, one);
    margin_bytes_free(b, other);
    return code ? complain(error.text), 0 : same;
}

static int time_fits(margin_context *context, const margin_spec *spec, const typed_data *d,
                     int repeats) {
    double seconds[2][MOST_REPEATS];
    margin_model *models[2] = {NULL, NULL};
    const margin_matrix layouts[2] = {margin_dense_f64(d->x, d->rows, d->columns, d->columns),
                                      margin_columns_typed(d->arrays, d->rows, d->columns)};
    int code = repeats < 1 || repeats > MOST_REPEATS ? complain("repeats: 1 to 99") : 0;
    for (int r = 0; code == 0 && r < repeats; r++)
        for (int k = 0; code == 0 && k < 2; k++) {
            const margin_data data = {.x = layouts[k], .y = margin_values_f64(d->y, d->rows)};
            code = fit(context, spec, &data, &seconds[k][r], &models[k]);
        }
    if (code == 0 && !same_bytes(models[0], models[1])) code = complain("other bytes");
    for (int k = 0; code == 0 && k < 2; k++)
        qsort(seconds[k], (size_t)repeats, sizeof(double), compare_numbers);
    if (code == 0)
        printf("{\"rows\": %.6f, \"typed\": %.6f}\n", seconds[0][repeats / 2],
               seconds[1][repeats / 2]);
    margin_model_free(models[0]);
    margin_model_free(models[1]);
    return code;
}

int main(int count, char **words) {
    const margin_context_options one = {.size = sizeof one, .threads = 1};
    margin_context *context = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    if (count != 6) return complain("usage: see the top of bench_typed.c");
    typed_data d = {.rows = atoll(words[2]), .columns = atoll(words[3])};
    int code = margin_context_create(&one, &context, &error) < 0 ||
                       margin_spec_parse(context, words[1], &spec, &error) < 0
                   ? complain(error.text)
                   : 0;
    if (code == 0) code = make(&d, atoi(words[4]));
    if (code == 0) code = time_fits(context, spec, &d, atoi(words[5]));
    for (int64_t j = 0; d.arrays && j < d.columns; j++)
        free((void *)d.arrays[j].values);
    free(d.validity);
    free(d.arrays);
    free(d.y);
    free(d.x);
    margin_spec_free(spec);
    margin_context_free(context);
    return code;
}
