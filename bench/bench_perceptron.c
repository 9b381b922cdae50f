/* Times the perceptron on a file; bench_perceptron.py calls it in turn with scikit-learn.
 *
 *   bench_perceptron fit SPEC DATA LABELS|- f64|f32 REPEATS    one line per fit: seconds, updates,
 *                                                              misclassified rows, first weight
 *   bench_perceptron sums DATA LABELS|- GAMMA PASSES           the kernel perceptron (rbf) with
 * every score a sum of its own: seconds, updates
 */
#define _POSIX_C_SOURCE 200809L
#include <margin/margin.h>

#include <math.h>
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

static int read_table(margin_context *context, const char *path, const char *labels,
                      margin_type type, margin_table **table) {
    margin_read_options options = {.size = sizeof options, .value_type = type};
    margin_error error;
    options.labels = strcmp(labels, "-") == 0 ? NULL : labels;
    if (margin_table_read(context, path, &options, table, &error) < 0) return complain(&error);
    return 0;
}

static int fit_often(margin_context *context, char **words) {
    const margin_type type = strcmp(words[3], "f32") == 0 ? MARGIN_F32 : MARGIN_F64;
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_error error;
    int code = read_table(context, words[1], words[2], type, &table);
    if (code == 0 && margin_spec_parse(context, words[0], &spec, &error) < 0)
        code = complain(&error);
    for (int k = 0; code == 0 && k < atoi(words[4]); k++) {
        const margin_data data = margin_table_data(table);
        margin_model *model = NULL;
        margin_report report;
        const double start = seconds_now();
        if (margin_fit(context, spec, &data, &model, &report, &error) < 0) {
            code = complain(&error);
            break;
        }
        const double took = seconds_now() - start;
        const double *weights = margin_model_weights(model, 0);
        printf("%.6f %.0f %.0f %.12g\n", took, margin_report_item_value(&report, "mistakes"),
               margin_report_item_value(&report, "errors"), weights ? weights[0] : 0.0);
        margin_model_free(model);
    }
    margin_spec_free(spec);
    margin_table_free(table);
    return code;
}

/* ---- One sum per score: what the Gram matrix saves --------------------------------------------*/

static double squared_distance(const double *a, const double *b, int64_t columns) {
    double sum = 0.0;
    for (int64_t j = 0; j < columns; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static int64_t sums(const margin_data *data, double gamma, int passes) {
    const margin_matrix *x = &data->x;
    const double *values = x->values, *labels = data->y.values;
    double *alpha = calloc((size_t)x->rows, sizeof *alpha), b = 0.0;
    int64_t updates = 0;
    for (int pass = 0; alpha && pass < passes; pass++) {
        for (int64_t i = 0; i < x->rows; i++) {
            double score = b;
            for (int64_t j = 0; j < x->rows; j++)
                if (alpha[j] != 0.0)
                    score += alpha[j] *
                             exp(-gamma * squared_distance(values + i * x->stride,
                                                           values + j * x->stride, x->columns));
            const double sign = labels[i] > 0.0 ? 1.0 : -1.0;
            if (sign * score > 0.0) continue;
            alpha[i] += sign;
            b += sign;
            updates++;
        }
    }
    free(alpha);
    return updates;
}

static int time_sums(margin_context *context, char **words) {
    margin_table *table = NULL;
    if (read_table(context, words[0], words[1], MARGIN_F64, &table) != 0) return 1;
    const margin_data data = margin_table_data(table);
    int code = 0;
    if (data.x.row_starts || data.y.type != MARGIN_F64) {
        fprintf(stderr, "sums: dense data with numbers as labels is needed\n");
        code = 1;
    } else {
        const double start = seconds_now();
        const int64_t updates = sums(&data, atof(words[2]), atoi(words[3]));
        printf("%.6f %lld\n", seconds_now() - start, (long long)updates);
    }
    margin_table_free(table);
    return code;
}

int main(int count, char **words) {
    margin_context *context = NULL;
    margin_error error;
    if (margin_context_create(NULL, &context, &error) < 0) return complain(&error);
    int code = 1;
    if (count == 7 && strcmp(words[1], "fit") == 0)
        code = fit_often(context, words + 2);
    else if (count == 6 && strcmp(words[1], "sums") == 0)
        code = time_sums(context, words + 2);
    else
        fprintf(stderr, "see the first lines of bench_perceptron.c\n");
    margin_context_free(context);
    return code;
}
