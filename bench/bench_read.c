/* Reads CSV and svmlight files and times it; bench_csv.py and bench_svmlight.py call it in turn
 * with their peers.
 *
 *   bench_read write FILE ROWS COLUMNS DIGITS    CSV of normal numbers; DIGITS 0: shortest exact
 *   bench_read read FILE f64|f32 REPEATS         a line each: seconds; then rows, columns, bytes of
 *                                                the table, most memory the process held
 *   bench_read convert FILE LABELS OUT           npy to what OUT's ending says
 *   bench_read dump FILE OUT                     the stored features as raw doubles, row after row
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

static int write_table(const char *path, long rows, long columns, int digits) {
    FILE *file = fopen(path, "w");
    char text[64];
    uint64_t state = 1;
    if (!file) return complain(path);
    for (long j = 0; j < columns; j++)
        fprintf(file, "x%ld%c", j + 1, j + 1 < columns ? ',' : '\n');
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < columns; j++) {
            const double value = next_normal(&state);
            const int length = digits ? snprintf(text, sizeof text, "%.*g", digits, value)
                                      : margin_number_print_f64(value, text);
            text[length] = j + 1 < columns ? ',' : '\n';
            fwrite(text, 1, (size_t)length + 1, file);
        }
    }
    return fclose(file) == 0 ? 0 : complain(path);
}

/* Values, with their column numbers and row starts if sparse, and the target. */
static long long table_bytes(const margin_matrix *x) {
    const long long width = x->value_type == MARGIN_F32 ? 4 : 8;
    return x->row_starts ? stored_values(x) * (width + 4) + (long long)x->rows * 16
                         : (stored_values(x) + (long long)x->rows) * width;
}

static int read_often(margin_context *context, const char *path, const char *type, int repeats) {
    const margin_read_options options = {
        .size = sizeof options, .value_type = strcmp(type, "f32") == 0 ? MARGIN_F32 : MARGIN_F64};
    for (int k = 0; k < repeats; k++) {
        margin_table *table = NULL;
        margin_error error;
        const double start = seconds_now();
        if (margin_table_read(context, path, &options, &table, &error) < 0)
            return complain(error.text);
        printf("%.6f\n", seconds_now() - start);
        const margin_matrix x = margin_table_data(table).x;
        if (k + 1 == repeats)
            printf("%lld %lld %lld %lld\n", (long long)x.rows, (long long)x.columns,
                   table_bytes(&x), resident("VmHWM"));
        margin_table_free(table);
    }
    return 0;
}

static int dump(margin_context *context, const char *path, const char *out) {
    const margin_read_options options = {.size = sizeof options, .target = ""};
    margin_table *table = NULL;
    margin_error error;
    if (margin_table_read(context, path, &options, &table, &error) < 0) return complain(error.text);
    const margin_matrix x = margin_table_data(table).x;
    const margin_status status =
        margin_file_write(out, x.values, stored_values(&x) * (int64_t)sizeof(double), &error);
    margin_table_free(table);
    return status < 0 ? complain(error.text) : 0;
}

static int convert(margin_context *context, const char *path, const char *labels, const char *out) {
    const margin_read_options options = {.size = sizeof options, .labels = labels};
    margin_table *table = NULL;
    margin_error error;
    if (margin_table_read(context, path, &options, &table, &error) < 0) return complain(error.text);
    const margin_data data = margin_table_data(table);
    const margin_status status = margin_data_write(context, &data, out, NULL, &error);
    margin_table_free(table);
    return status < 0 ? complain(error.text) : 0;
}

int main(int count, char **words) {
    margin_context *context = NULL;
    margin_error error;
    int code;
    if (margin_context_create(NULL, &context, &error) < 0) return complain(error.text);
    if (count == 6 && strcmp(words[1], "write") == 0)
        code = write_table(words[2], atol(words[3]), atol(words[4]), atoi(words[5]));
    else if (count == 5 && strcmp(words[1], "read") == 0)
        code = read_often(context, words[2], words[3], atoi(words[4]));
    else if (count == 5 && strcmp(words[1], "convert") == 0)
        code = convert(context, words[2], words[3], words[4]);
    else if (count == 4 && strcmp(words[1], "dump") == 0)
        code = dump(context, words[2], words[3]);
    else
        code = complain("usage: see the top of bench_read.c");
    margin_context_free(context);
    return code;
}
