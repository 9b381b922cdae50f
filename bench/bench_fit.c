/* Times fits of a spec: the program of every bench_*.py that trains models.
 *
 *   bench_fit SPEC DATA [NAME=VALUE...]
 *
 * DATA is a file, or made:ROWSxCOLUMNSxCLASSES for normal numbers made here, with labels from a
 * noisy linear rule (CLASSES 1: a value). One JSON object a line and fit on standard output.
 *
 *   labels=FILE    target of npy and idx files       type=f32     of the values (f64)
 *   targets=FILE   npy matrix of several targets     threads=N    0: all cores
 *   target=no      no target at all                  repeats=N    fits (1)
 *   weights=FILE   for raw doubles of the last fit: for each score its weights and its intercept
 *   predict=yes    also times labelling all rows on all threads
 *   seed=N         of every random choice (0)
 *   path=yes       SPEC holds a set of penalties: the path, then its points fitted one by one */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <jansson.h>

typedef struct bench_case {
    margin_context *context;
    margin_spec *spec;
    margin_table *table, *targets;
    double *x, *y;
    float *narrow;
    margin_data data;
} bench_case;

/* VALUE of the word NAME=VALUE, or `otherwise`. */
static const char *option(char **words, const char *name, const char *otherwise) {
    const size_t length = strlen(name);
    for (; *words; words++)
        if (strncmp(*words, name, length) == 0 && (*words)[length] == '=')
            return *words + length + 1;
    return otherwise;
}

static int check_options(char **words) {
    static const char *const names[] = {"labels",  "target",  "targets", "type", "threads",
                                        "repeats", "weights", "predict", "path", "seed"};
    enum { COUNT = sizeof names / sizeof names[0] };
    for (; *words; words++) {
        int known = 0;
        for (int k = 0; k < COUNT; k++)
            known |= option((char *[]){*words, NULL}, names[k], NULL) != NULL;
        if (!known) return complain(*words), complain("no such option: see the top of bench_fit.c");
    }
    return 0;
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* The class with the greatest noisy score; with one, the value itself. */
static double made_target(const double *row, const double *rule, int64_t columns, int64_t classes,
                          uint64_t *state) {
    double most = -INFINITY;
    int64_t best = 0;
    for (int64_t k = 0; k < classes; k++) {
        double score = -log(-log(next_uniform(state) + 1e-300));
        for (int64_t j = 0; j < columns; j++)
            score += row[j] * rule[k * columns + j];
        if (score > most) {
            most = score;
            best = k;
        }
    }
    return classes == 1 ? most : (double)best;
}

static int make_data(bench_case *c, int64_t rows, int64_t columns, int64_t classes, int narrow) {
    uint64_t state = 1;
    if (rows < 1 || columns < 1 || classes < 1) return complain("made: sizes from 1 are needed");
    double *rule = malloc((size_t)(classes * columns) * sizeof *rule);
    double *row = malloc((size_t)columns * sizeof *row);
    const size_t values = (size_t)(rows * columns);
    if (narrow)
        c->narrow = malloc(values * sizeof *c->narrow);
    else
        c->x = malloc(values * sizeof *c->x);
    c->y = malloc((size_t)rows * sizeof *c->y);
    const int code = !rule || !row || !c->y || (narrow ? !c->narrow : !c->x);
    for (int64_t k = 0; code == 0 && k < classes * columns; k++)
        rule[k] = 1.5 * next_normal(&state) / sqrt((double)columns);
    for (int64_t i = 0; code == 0 && i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            row[j] = next_normal(&state);
            if (narrow)
                c->narrow[i * columns + j] = (float)row[j];
            else
                c->x[i * columns + j] = row[j];
        }
        c->y[i] = made_target(row, rule, columns, classes, &state);
    }
    c->data.x = narrow ? margin_dense_f32(c->narrow, rows, columns, columns)
                       : margin_dense_f64(c->x, rows, columns, columns);
    c->data.y = margin_values_f64(c->y, rows);
    free(rule);
    free(row);
    return code ? complain("out of memory") : 0;
}

static int read_data(bench_case *c, const char *path, char **words, int narrow) {
    margin_read_options options = {.size = sizeof options,
                                   .value_type = narrow ? MARGIN_F32 : MARGIN_F64,
                                   .labels = option(words, "labels", NULL),
                                   .target = option(words, "target", NULL) ? "" : NULL};
    const char *targets = option(words, "targets", NULL);
    margin_error error;
    if (margin_table_read(c->context, path, &options, &c->table, &error) < 0)
        return complain(error.text);
    c->data = margin_table_data(c->table);
    if (targets) {
        options =
            (margin_read_options){.size = sizeof options, .value_type = MARGIN_F64, .target = ""};
        if (margin_table_read(c->context, targets, &options, &c->targets, &error) < 0)
            return complain(error.text);
        const margin_matrix y = margin_table_data(c->targets).x;
        c->data.y = margin_values_f64(y.values, y.rows * y.columns);
        c->data.targets = y.columns;
    }
    return 0;
}

static long long data_bytes(const margin_data *data) {
    const long long width = data->x.value_type == MARGIN_F32 ? 4 : 8;
    return stored_values(&data->x) * (data->x.row_starts ? width + 4 : width) +
           (long long)data->y.count * (long long)sizeof(double);
}

/* ---- Fits ------------------------------------------------------------------------------------ */

static int write_weights(const char *path, const margin_model *model) {
    int64_t columns;
    FILE *file = fopen(path, "wb");
    if (!file) return complain(path);
    size_t written = 0;
    const int64_t scores = margin_model_score_count(model);
    margin_model_features(model, &columns);
    for (int64_t f = 0; f < scores && margin_model_weights(model, f); f++) {
        const double intercept = margin_model_intercept(model, f);
        written += fwrite(margin_model_weights(model, f), sizeof(double), (size_t)columns, file);
        written += fwrite(&intercept, sizeof intercept, 1, file);
    }
    const int whole = written == (size_t)(scores * (columns + 1));
    return fclose(file) != 0 || !whole ? complain(path) : 0;
}

static void set_number(json_t *object, const char *name, double value) {
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static json_t *describe(const margin_report *report, double seconds, double cpu) {
    json_t *line = json_object(), *items = json_object();
    set_number(line, "seconds", seconds);
    set_number(line, "cpu_seconds", cpu);
    set_number(line, "objective", report->objective);
    set_number(line, "gap", report->gap);
    set_number(line, "train_accuracy", report->train_accuracy);
    json_object_set_new(line, "status", json_integer(report->status));
    json_object_set_new(line, "steps", json_integer(report->iterations));
    json_object_set_new(line, "threads", json_integer(report->threads));
    json_object_set_new(line, "reason", json_string(report->reason));
    for (int64_t k = 0; k < report->item_count; k++)
        set_number(items, report->items[k].name, report->items[k].value);
    json_object_set_new(line, "items", items);
    return line;
}

static void print_line(json_t *line) {
    json_dumpf(line, stdout, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    putchar('\n');
    fflush(stdout);
    json_decref(line);
}

static int time_labels(const bench_case *c, const margin_model *model, json_t *line) {
    margin_error error;
    int64_t *labels = calloc((size_t)c->data.x.rows, sizeof *labels);
    if (!labels) return complain("out of memory");
    const double start = seconds_now();
    const margin_status status = margin_predict_parallel(c->context, model, &c->data.x,
                                                         MARGIN_OUTPUT_LABELS, labels, &error);
    set_number(line, "predict_seconds", seconds_now() - start);
    free(labels);
    return status < 0 ? complain(error.text) : 0;
}

static int fit_once(const bench_case *c, char **words, const char *weights) {
    margin_model *model = NULL;
    margin_report report = {0};
    margin_error error;
    forget_peak();
    const long long before = resident("VmRSS");
    const double start = seconds_now();
    const clock_t cpu = clock();
    if (margin_fit(c->context, c->spec, &c->data, &model, &report, &error) < 0)
        return complain(error.text);
    json_t *line =
        describe(&report, seconds_now() - start, (double)(clock() - cpu) / (double)CLOCKS_PER_SEC);
    json_object_set_new(line, "data_bytes", json_integer(data_bytes(&c->data)));
    json_object_set_new(line, "more_bytes", json_integer(resident("VmHWM") - before));
    int code = option(words, "predict", NULL) ? time_labels(c, model, line) : 0;
    if (code == 0 && weights) code = write_weights(weights, model);
    print_line(line);
    margin_model_free(model);
    return code;
}

static int fit_points(const bench_case *c, const margin_path_result *path) {
    margin_error error;
    for (int64_t k = 0; k < path->count; k++) {
        margin_spec *spec = NULL;
        margin_model *model = NULL;
        const int code =
            margin_spec_parse(c->context, margin_path_point_at(path, k)->spec, &spec, &error) < 0 ||
            margin_fit(c->context, spec, &c->data, &model, NULL, &error) < 0;
        margin_model_free(model);
        margin_spec_free(spec);
        if (code) return complain(error.text);
    }
    return 0;
}

static int path_once(const bench_case *c) {
    margin_path_result path = {0};
    margin_error error;
    const double start = seconds_now();
    if (margin_path(c->context, c->spec, &c->data, &path, &error) < 0) return complain(error.text);
    const double between = seconds_now();
    const int code = fit_points(c, &path);
    json_t *line = json_object();
    set_number(line, "seconds", between - start);
    set_number(line, "fits_seconds", seconds_now() - between);
    json_object_set_new(line, "points", json_integer(path.count));
    json_object_set_new(line, "best", json_string(margin_path_point_at(&path, path.best)->spec));
    set_number(line, "best_rmse", margin_path_point_at(&path, path.best)->leave_one_out_rmse);
    print_line(line);
    margin_path_free(&path);
    return code;
}

static int run(bench_case *c, char **words) {
    const margin_context_options with = {.size = sizeof with,
                                         .threads = atoi(option(words, "threads", "0")),
                                         .seed = strtoull(option(words, "seed", "0"), NULL, 10)};
    const char *weights = option(words, "weights", NULL);
    const int narrow = strcmp(option(words, "type", "f64"), "f32") == 0;
    const int repeats = atoi(option(words, "repeats", "1"));
    long long rows = 0, columns = 0, classes = 0;
    margin_error error;
    if (check_options(words + 3)) return 1;
    if (margin_context_create(&with, &c->context, &error) < 0 ||
        margin_spec_parse(c->context, words[1], &c->spec, &error) < 0)
        return complain(error.text);
    int code = sscanf(words[2], "made:%lldx%lldx%lld", &rows, &columns, &classes) == 3
                   ? make_data(c, rows, columns, classes, narrow)
                   : read_data(c, words[2], words + 3, narrow);
    for (int k = 0; code == 0 && k < repeats; k++)
        code = option(words, "path", NULL) ? path_once(c)
                                           : fit_once(c, words, k + 1 == repeats ? weights : NULL);
    return code;
}

int main(int count, char **words) {
    bench_case c = {0};
    if (count < 3) return complain("usage: see the top of bench_fit.c");
    const int code = run(&c, words);
    margin_table_free(c.targets);
    margin_table_free(c.table);
    margin_spec_free(c.spec);
    margin_context_free(c.context);
    free(c.x);
    free(c.narrow);
    free(c.y);
    return code;
}
