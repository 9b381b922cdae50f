/* margin predict: a CSV table whose last column is the prediction, or last columns, one a target.
 */
#include "command_predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    kept_columns kept;
    const char *separator;
    bool json;
    const margin_model *model;
    margin_matrix x;
    int64_t *labels; /* classification, clustering */
    double *values;  /* regression: rows x targets */
    int64_t targets;
    double *lower, *upper; /* a regression that promises a coverage: rows each; else NULL */
    uint8_t *sets;         /* classes: rows x classes */
    double *extra;         /* rows x extra_count: scores or probabilities, or NULL */
    int64_t extra_count;
} prediction;

static void score_name(cli_text *text, const margin_model *model, int64_t score) {
    int64_t first, second;
    margin_model_score_classes(model, score, &first, &second);
    cli_text name = {0};
    if (margin_model_class_name(model, first))
        text_printf(&name, "score(%s", margin_model_class_name(model, first));
    else
        text_printf(&name, "score(%lld", (long long)first + 1);
    if (second >= 0) text_printf(&name, ":%s", margin_model_class_name(model, second));
    text_puts(&name, ")");
    text_cell(text, name.data ? name.data : "");
    text_free(&name);
}

static void print_header(cli_text *text, const prediction *p, bool probabilities) {
    kept_header(text, &p->kept, p->separator);
    for (int64_t k = 0; k < p->extra_count; k++) {
        if (probabilities) {
            cli_text name = {0};
            text_printf(&name, "P(%s)", margin_model_class_name(p->model, k));
            text_cell(text, name.data ? name.data : "");
            text_free(&name);
        } else if (p->values && p->targets > 1) {
            cli_text name = {0};
            text_printf(&name, "score(%s)", margin_model_target(p->model)[k].name);
            text_cell(text, name.data ? name.data : "");
            text_free(&name);
        } else if (p->values) {
            text_puts(text, "score");
        } else {
            score_name(text, p->model, k);
        }
        text_puts(text, p->separator);
    }
    const margin_column *target = margin_model_target(p->model);
    const char *made = margin_model_class_name(p->model, 0) ? "prediction" : "cluster";
    if (!target) text_printf(text, kept_has(&p->kept, made) ? "prediction(%s)" : "%s", made);
    for (int64_t t = 0; target && t < margin_model_target_count(p->model); t++) {
        cli_text name = {0};
        const bool kept = kept_has(&p->kept, target[t].name);
        text_printf(&name, kept ? "prediction(%s)" : "%s", target[t].name);
        text_puts(text, t ? p->separator : "");
        text_cell(text, name.data ? name.data : "");
        text_free(&name);
    }
    if (p->lower) text_printf(text, "%slower%supper", p->separator, p->separator);
    if (p->sets) text_printf(text, "%sset", p->separator);
    text_puts(text, "\n");
}

/* The classes in the set of a row, separated by blanks; a class with a blank in its name is in
 * quotes. */
static void print_set(cli_text *text, const prediction *p, int64_t row) {
    const int64_t classes = margin_model_class_count(p->model);
    cli_text set = {0};
    for (int64_t c = 0; c < classes; c++) {
        const char *name = margin_model_class_name(p->model, c);
        const char *quote = strchr(name, ' ') ? "'" : "";
        if (!p->sets[row * classes + c]) continue;
        text_printf(&set, "%s%s%s%s", set.length ? " " : "", quote, name, quote);
    }
    text_cell(text, set.data ? set.data : "");
    text_free(&set);
}

static void print_interval(cli_text *text, const prediction *p, int64_t row) {
    text_puts(text, p->separator);
    if (!isnan(p->lower[row])) text_number(text, p->lower[row]);
    text_puts(text, p->separator);
    if (!isnan(p->upper[row])) text_number(text, p->upper[row]);
}

static void print_rows(cli_text *text, const prediction *p) {
    for (int64_t i = 0; i < p->x.rows; i++) {
        const size_t start = text->length;
        kept_cells(text, &p->kept, i, p->separator);
        for (int64_t k = 0; k < p->extra_count; k++) {
            if (!isnan(p->extra[i * p->extra_count + k]))
                text_number(text, p->extra[i * p->extra_count + k]);
            text_puts(text, p->separator);
        }
        for (int64_t t = 0; p->values && t < p->targets; t++) {
            text_puts(text, t ? p->separator : "");
            if (!isnan(p->values[i * p->targets + t]))
                text_number(text, p->values[i * p->targets + t]);
        }
        if (p->values)
            ; /* done */
        else if (p->labels[i] >= 0 && margin_model_class_name(p->model, p->labels[i]))
            text_cell(text, margin_model_class_name(p->model, p->labels[i]));
        else if (p->labels[i] >= 0)
            text_printf(text, "%lld", (long long)p->labels[i] + 1);
        if (p->lower) print_interval(text, p, i);
        if (p->sets) {
            text_puts(text, p->separator);
            print_set(text, p, i);
        }
        if (text->length == start) text_puts(text, "\"\""); /* a blank line would be no row */
        text_add(text, "\n", 1);
    }
}

static void json_sets(cli_text *text, const prediction *p) {
    const int64_t classes = margin_model_class_count(p->model);
    json_open(text, "sets", '[');
    for (int64_t i = 0; i < p->x.rows; i++) {
        json_open(text, NULL, '[');
        for (int64_t c = 0; c < classes; c++)
            if (p->sets[i * classes + c])
                json_string(text, NULL, margin_model_class_name(p->model, c));
        json_close(text, ']');
    }
    json_close(text, ']');
}

static void print_json(cli_text *text, cli_session *session, const prediction *p) {
    json_open(text, NULL, '{');
    json_integer(text, "rows", p->x.rows);
    if (p->targets > 1) {
        json_open(text, "targets", '[');
        for (int64_t t = 0; t < p->targets; t++)
            json_string(text, NULL, margin_model_target(p->model)[t].name);
        json_close(text, ']');
    }
    json_open(text, "predictions", '[');
    for (int64_t i = 0; i < p->x.rows; i++) {
        if (p->values && p->targets > 1)
            json_numbers(text, NULL, p->values + i * p->targets, p->targets);
        else if (p->values)
            json_number(text, NULL, p->values[i]);
        else if (p->labels[i] < 0)
            json_null(text, NULL);
        else if (margin_model_class_name(p->model, p->labels[i]))
            json_string(text, NULL, margin_model_class_name(p->model, p->labels[i]));
        else
            json_integer(text, NULL, p->labels[i] + 1);
    }
    json_close(text, ']');
    if (p->lower) {
        json_numbers(text, "lower", p->lower, p->x.rows);
        json_numbers(text, "upper", p->upper, p->x.rows);
    }
    if (p->sets) json_sets(text, p);
    if (p->extra) {
        json_open(text, session->arguments->probabilities ? "probabilities" : "scores", '[');
        for (int64_t i = 0; i < p->x.rows; i++)
            json_numbers(text, NULL, p->extra + i * p->extra_count, p->extra_count);
        json_close(text, ']');
    }
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "predict", session->work_seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

static margin_status compute(cli_session *session, prediction *p) {
    const cli_arguments *a = session->arguments;
    margin_status status = MARGIN_OK;
    double start = cli_clock();
    if (p->labels)
        status = margin_predict_parallel(session->context, p->model, &p->x, MARGIN_OUTPUT_LABELS,
                                         p->labels, &session->error);
    else
        status = margin_predict_parallel(session->context, p->model, &p->x, MARGIN_OUTPUT_VALUES,
                                         p->values, &session->error);
    if (status >= 0 && p->extra)
        status = margin_predict_parallel(session->context, p->model, &p->x,
                                         a->probabilities ? MARGIN_OUTPUT_PROBABILITIES
                                                          : MARGIN_OUTPUT_SCORES,
                                         p->extra, &session->error);
    const margin_data data = {.x = p->x};
    if (status >= 0 && p->lower)
        status = margin_predict_intervals(session->context, p->model, &data, p->lower, p->upper,
                                          &session->error);
    if (status >= 0 && p->sets)
        status = margin_predict_sets(session->context, p->model, &data, p->sets, &session->error);
    session->work_seconds = cli_clock() - start;
    return status;
}

static int64_t row_start(const margin_matrix *x, int64_t row) {
    if (!x->row_starts) return row * x->stride;
    return x->start_type == MARGIN_I32 ? ((const int32_t *)x->row_starts)[row]
                                       : ((const int64_t *)x->row_starts)[row];
}

static bool misses_a_value(const margin_matrix *x, int64_t row) {
    const int64_t first = row_start(x, row);
    const int64_t end = x->row_starts ? row_start(x, row + 1) : first + x->columns;
    for (int64_t at = first; at < end; at++)
        if (x->value_type == MARGIN_F32 ? isnan(((const float *)x->values)[at])
                                        : isnan(((const double *)x->values)[at]))
            return true;
    return false;
}

/* --missing drop: no prediction for a row with a missing value, in its place. */
static void leave_out_missing(prediction *p) {
    for (int64_t i = 0; i < p->x.rows; i++) {
        if (!misses_a_value(&p->x, i)) continue;
        if (p->labels) p->labels[i] = -1;
        if (p->lower) p->lower[i] = p->upper[i] = (double)NAN;
        for (int64_t c = 0; p->sets && c < margin_model_class_count(p->model); c++)
            p->sets[i * margin_model_class_count(p->model) + c] = 0;
        for (int64_t t = 0; p->values && t < p->targets; t++)
            p->values[i * p->targets + t] = (double)NAN;
        for (int64_t k = 0; k < p->extra_count; k++)
            p->extra[i * p->extra_count + k] = (double)NAN;
    }
}

/* malloc(0) may be NULL, which here means "not wanted". */
static void *numbers(int64_t count) {
    return malloc((size_t)(count > 0 ? count : 1) * 8);
}

static bool allocate(const cli_arguments *a, prediction *p) {
    bool regression = margin_model_task(p->model) == MARGIN_REGRESS;
    p->targets = margin_model_target_count(p->model);
    if (regression)
        p->values = numbers(p->x.rows * p->targets);
    else
        p->labels = numbers(p->x.rows);
    if (a->probabilities) p->extra_count = margin_model_class_count(p->model);
    if (a->scores) p->extra_count = margin_model_score_count(p->model);
    if (p->extra_count) p->extra = numbers(p->x.rows * p->extra_count);
    const bool covers = !isnan(margin_model_coverage(p->model));
    if (covers && regression) {
        p->lower = numbers(p->x.rows);
        p->upper = numbers(p->x.rows);
    } else if (covers) {
        p->sets = numbers(p->x.rows * margin_model_class_count(p->model) / 8 + 1);
    }
    return (p->values || p->labels) && (!p->extra_count || p->extra) &&
           (!covers || p->sets || (p->lower && p->upper));
}

/* A spec that refuses unknown categories refuses numbers that stand for them, too. */
static bool refused(const prediction *p, const char *path) {
    if (!p->labels || margin_model_unknown(p->model) != MARGIN_UNKNOWN_ERROR) return false;
    int64_t row = 0;
    while (row < p->x.rows && p->labels[row] >= 0)
        row++;
    if (row == p->x.rows) return false;
    fprintf(stderr,
            "margin: %s: row %lld has a value that was not in the training data, and '%s' refuses "
            "those\n",
            path, (long long)row + 1, margin_model_spec(p->model));
    return true;
}

static void note_unanswered(const cli_session *session, const prediction *p) {
    long long rows = 0;
    for (int64_t i = 0; i < p->x.rows; i++)
        rows += p->labels ? p->labels[i] < 0 : isnan(p->values[i * p->targets]) != 0;
    if (rows > 0)
        cli_note(session,
                 "%lld row%s no prediction: a value is missing or none that the model takes", rows,
                 rows == 1 ? " has" : "s have");
}

static bool ends_with(const char *name, const char *ending) {
    const size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && !strcmp(name + length - tail, ending);
}

/* CSV, tab-separated text or JSON by the name of the output; a name that says another format would
 * deceive whoever reads the file. */
static int choose_format(const cli_arguments *a, prediction *p) {
    static const char *const others[] = {".npy",   ".svm",     ".libsvm", ".svmlight",
                                         ".idx",   ".parquet", ".gz",     ".xlsx",
                                         ".arrow", ".arrows",  ".jsonl"};
    const char *path = a->output ? a->output : "";
    p->separator = ends_with(path, ".tsv") ? "\t" : ",";
    p->json = a->json || ends_with(path, ".json");
    for (size_t k = 0; !p->json && k < sizeof others / sizeof *others; k++)
        if (ends_with(path, others[k]))
            return cli_usage_error(cli_find_command("predict"),
                                   "-o %s: predictions are written as .csv, .tsv or .json, not as "
                                   "%s",
                                   path, others[k]);
    if (p->json && a->keep)
        return cli_usage_error(cli_find_command("predict"),
                               "--keep goes with predictions as a table, not with JSON");
    return EXIT_DONE;
}

static int write_answers(cli_session *session, const prediction *p) {
    const cli_arguments *a = session->arguments;
    cli_text text = {0};
    if (p->json) {
        print_json(&text, session, p);
    } else {
        print_header(&text, p, a->probabilities);
        print_rows(&text, p);
    }
    const int code = text_finish(session, &text, a->output);
    if (!code) note_unanswered(session, p);
    return code;
}

static int predict_table(cli_session *session, prediction *p, const margin_table *table) {
    const cli_arguments *a = session->arguments;
    margin_status status;
    p->x = margin_table_data(table).x;
    int code = kept_read(session, p->x.rows, &p->kept);
    if (code) return code;
    if (!allocate(a, p)) {
        fputs("margin: out of memory for the predictions\n", stderr);
        code = EXIT_NO_MEMORY;
    } else if ((status = compute(session, p)) < 0) {
        code = cli_failed(session, status);
    } else if (refused(p, a->words[1])) {
        code = EXIT_BAD_INPUT;
    } else {
        if (a->missing && !strcmp(a->missing, "drop")) leave_out_missing(p);
        code = write_answers(session, p);
    }
    free(p->labels);
    free(p->values);
    free(p->extra);
    free(p->lower);
    free(p->upper);
    free(p->sets);
    return code;
}

/* --threshold: the model with another one. */
static int change_threshold(cli_session *session, margin_model **model) {
    const char *word = session->arguments->threshold;
    margin_model *changed;
    double threshold;
    if (!word) return EXIT_DONE;
    const int code = cli_probability("--threshold", word, &threshold);
    if (code) return code;
    const margin_status status =
        margin_model_with_threshold(session->context, *model, threshold, &changed, &session->error);
    if (status < 0) return cli_failed(session, status);
    margin_model_free(*model);
    *model = changed;
    return EXIT_DONE;
}

int run_predict(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    prediction p = {0};
    int code = choose_format(arguments, &p);
    if (!code) code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    if (status >= 0) code = change_threshold(&session, &model);
    if (code) {
        /* said */
    } else if (status >= 0 && arguments->probabilities && !margin_model_has_probabilities(model)) {
        fprintf(stderr, "margin: '%s' gives scores, not probabilities: use --scores%s\n",
                margin_model_spec(model),
                margin_model_class_count(model) > 0 ? ", or fit it with --calibrate sigmoid" : "");
        code = EXIT_USAGE;
    } else {
        if (status >= 0)
            status =
                cli_read_for_model(&session, model, arguments->words[1], CLI_NO_TARGET, &table);
        p.model = model;
        code = status < 0 ? cli_failed(&session, status) : predict_table(&session, &p, table);
    }
    kept_free(&p.kept);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
