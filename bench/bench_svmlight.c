/* Reads svmlight files and times it; bench_svmlight.py calls it in turn with its peers.
 *
 *   bench_svmlight read FILE f64|f32 REPEATS    one line per reading: seconds; then rows, columns,
 *                                               stored values, bytes of the table, most memory held
 *   bench_svmlight dump FILE OUT                the stored values as raw doubles
 */
#define _POSIX_C_SOURCE 200809L
#include <margin/data.h>

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

static long long stored_values(const margin_matrix *x) {
    return (long long)((const int64_t *)x->row_starts)[x->rows];
}

static int read_often(margin_context *context, const char *path, const char *type, int repeats) {
    margin_read_options options = {.size = sizeof options,
                                   .format = MARGIN_FORMAT_SVMLIGHT,
                                   .value_type =
                                       strcmp(type, "f32") == 0 ? MARGIN_F32 : MARGIN_F64};
    long long rows = 0, columns = 0, stored = 0;
    for (int k = 0; k < repeats; k++) {
        margin_table *table = NULL;
        margin_error error;
        double start = seconds_now();
        if (margin_table_read(context, path, &options, &table, &error) < 0) return complain(&error);
        printf("%.6f\n", seconds_now() - start);
        margin_data data = margin_table_data(table);
        rows = data.x.rows;
        columns = data.x.columns;
        stored = stored_values(&data.x);
        margin_table_free(table);
    }
    long long width = options.value_type == MARGIN_F32 ? 4 : 8;
    printf("%lld %lld %lld %lld %lld\n", rows, columns, stored, stored * (width + 4) + rows * 16,
           peak_resident());
    return 0;
}

static int dump(margin_context *context, const char *path, const char *out) {
    margin_read_options options = {.size = sizeof options, .format = MARGIN_FORMAT_SVMLIGHT};
    margin_table *table = NULL;
    margin_error error;
    if (margin_table_read(context, path, &options, &table, &error) < 0) return complain(&error);
    margin_data data = margin_table_data(table);
    margin_status status =
        margin_file_write(out, data.x.values, stored_values(&data.x) * 8, &error);
    margin_table_free(table);
    return status < 0 ? complain(&error) : 0;
}

int main(int count, char **words) {
    margin_context *context = NULL;
    margin_error error;
    if (count < 4) return fputs("usage: see the top of bench_svmlight.c\n", stderr), 1;
    if (margin_context_create(NULL, &context, &error) < 0) return complain(&error);
    int code = !strcmp(words[1], "read") && count == 5
                   ? read_often(context, words[2], words[3], atoi(words[4]))
                   : dump(context, words[2], words[3]);
    margin_context_free(context);
    return code;
}
