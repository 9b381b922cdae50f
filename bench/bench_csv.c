/* Reads CSV files and times it; bench_csv.py calls it in turn with pandas.
 *
 *   bench_csv write FILE ROWS COLUMNS DIGITS    a table of normal numbers; DIGITS 0: shortest exact
 *   bench_csv read FILE f64|f32 REPEATS         one line per reading: seconds; then rows, columns,
 *                                               bytes of the table, most memory the process held
 *   bench_csv dump FILE OUT                     the features as raw doubles, row after row
 */
#define _POSIX_C_SOURCE 200809L
#include <margin/data.h>

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

/* ---- write ---- */

static uint64_t state = 1;

static double uniform(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double normal(void) { /* Box and Muller */
    double radius = sqrt(-2 * log(1 - uniform()));
    return radius * cos(6.283185307179586 * uniform());
}

static int write_table(const char *path, long rows, long columns, int digits) {
    FILE *file = fopen(path, "w");
    char text[64];
    if (!file) return perror(path), 1;
    for (long j = 0; j < columns; j++)
        fprintf(file, "x%ld%c", j + 1, j + 1 < columns ? ',' : '\n');
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < columns; j++) {
            double value = normal();
            int length = digits ? snprintf(text, sizeof text, "%.*g", digits, value)
                                : margin_number_print_f64(value, text);
            text[length] = j + 1 < columns ? ',' : '\n';
            fwrite(text, 1, (size_t)length + 1, file);
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}

/* ---- read ---- */

/* Most memory resident so far, in bytes: file pages count, too. */
static long long peak_resident(void) {
    char line[256];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes * 1024;
}

static int read_often(margin_context *context, const char *path, const char *type, int repeats) {
    margin_read_options options = {
        .size = sizeof options, .value_type = strcmp(type, "f32") == 0 ? MARGIN_F32 : MARGIN_F64};
    margin_data data = {.x = {.rows = 0}};
    for (int k = 0; k < repeats; k++) {
        margin_table *table = NULL;
        margin_error error;
        const double start = seconds_now();
        if (margin_table_read(context, path, &options, &table, &error) < 0)
            return complain(&error);
        printf("%.6f\n", seconds_now() - start);
        data = margin_table_data(table);
        margin_table_free(table);
    }
    const long long bytes = (long long)(data.x.rows * (data.x.columns + 1)) *
                            (data.x.value_type == MARGIN_F32 ? 4 : 8);
    printf("%lld %lld %lld %lld\n", (long long)data.x.rows, (long long)data.x.columns, bytes,
           peak_resident());
    return 0;
}

static int dump(margin_context *context, const char *path, const char *out) {
    margin_read_options options = {.size = sizeof options, .target = ""};
    margin_table *table = NULL;
    margin_error error;
    if (margin_table_read(context, path, &options, &table, &error) < 0) return complain(&error);
    const margin_data data = margin_table_data(table);
    FILE *file = fopen(out, "wb");
    const size_t count = (size_t)(data.x.rows * data.x.columns);
    int code = !file || fwrite(data.x.values, sizeof(double), count, file) != count;
    if (file && fclose(file) != 0) code = 1;
    margin_table_free(table);
    return code;
}

int main(int argc, char **words) {
    margin_context *context = NULL;
    margin_error error;
    int code = 2;
    if (margin_context_create(NULL, &context, &error) < 0) return complain(&error);
    if (argc == 6 && strcmp(words[1], "write") == 0)
        code = write_table(words[2], atol(words[3]), atol(words[4]), atoi(words[5]));
    else if (argc == 5 && strcmp(words[1], "read") == 0)
        code = read_often(context, words[2], words[3], atoi(words[4]));
    else if (argc == 4 && strcmp(words[1], "dump") == 0)
        code = dump(context, words[2], words[3]);
    else
        fputs("usage: see the top of bench_csv.c\n", stderr);
    margin_context_free(context);
    return code;
}
