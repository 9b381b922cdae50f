/* Times an index of neighbours; bench_neighbors.py calls it in turn with its peers.
 *
 *   bench_neighbors POINTS QUERIES K auto|tree|brute THREADS REPEATS [f32]
 *
 * POINTS and QUERIES are npy files. One line per repeat: seconds of the build, of all queries, sum
 * of the distances (for comparing answers).
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

typedef struct run {
    margin_context *context;
    margin_matrix points, queries;
    int64_t k;
    margin_neighbors_method method;
    int64_t *rows;
    double *distances;
} run;

static int time_once(const run *r) {
    margin_neighbors *index = NULL;
    margin_error error;
    margin_neighbors_info info = {0};
    const margin_neighbors_options options = {
        .size = sizeof options, .method = r->method, .k = r->k};
    const double start = seconds_now();
    if (margin_neighbors_build(r->context, &r->points, &options, &index, &error) < 0)
        return complain(error.text);
    const double built = seconds_now();
    if (margin_neighbors_nearest(r->context, index, &r->queries, r->k, r->rows, r->distances,
                                 &error) < 0)
        return complain(error.text);
    const double end = seconds_now();
    double sum = 0;
    for (int64_t n = 0; n < r->queries.rows * r->k; n++)
        sum += r->distances[n];
    margin_neighbors_describe(index, &info);
    printf("%.6f %.6f %.9g %s\n", built - start, end - built, sum, info.reason);
    margin_neighbors_free(index);
    return 0;
}

int main(int count, char **words) {
    if (count < 7) return complain("usage: see the head of this file");
    const margin_context_options with = {.size = sizeof with, .threads = atoi(words[5])};
    const margin_read_options options = {
        .size = sizeof options, .target = "", .value_type = count > 7 ? MARGIN_F32 : MARGIN_F64};
    margin_table *points = NULL, *queries = NULL;
    margin_error error;
    run r = {.k = atoi(words[3]),
             .method = strcmp(words[4], "tree") == 0    ? MARGIN_NEIGHBORS_TREE
                       : strcmp(words[4], "brute") == 0 ? MARGIN_NEIGHBORS_BRUTE
                                                        : MARGIN_NEIGHBORS_AUTO};
    int code = 0;
    if (margin_context_create(&with, &r.context, &error) < 0 ||
        margin_table_read(r.context, words[1], &options, &points, &error) < 0 ||
        margin_table_read(r.context, words[2], &options, &queries, &error) < 0)
        return complain(error.text);
    r.points = margin_table_data(points).x;
    r.queries = margin_table_data(queries).x;
    r.rows = malloc((size_t)(r.queries.rows * r.k) * sizeof *r.rows);
    r.distances = malloc((size_t)(r.queries.rows * r.k) * sizeof *r.distances);
    if (!r.rows || !r.distances) return complain("out of memory");
    memset(r.rows, 0, (size_t)(r.queries.rows * r.k) * sizeof *r.rows);
    memset(r.distances, 0, (size_t)(r.queries.rows * r.k) * sizeof *r.distances);
    for (int repeat = 0; code == 0 && repeat < atoi(words[6]); repeat++)
        code = time_once(&r);
    free(r.rows);
    free(r.distances);
    margin_table_free(points);
    margin_table_free(queries);
    margin_context_free(r.context);
    return code;
}
