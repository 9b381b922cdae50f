/* margin fit: read, train, report, save. */
#include "cli.h"
#include "fit_held_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Trace ----------------------------------------------------------------------------------- */

typedef struct {
    cli_text text;
    int64_t weight_count; /* -1: the header is not written yet */
    int64_t alpha_count;
    bool has_distance, has_proof;
} trace_writer;

static void trace_names(cli_text *text, const char *name, int64_t count) {
    for (int64_t j = 0; j < count; j++)
        text_printf(text, ",%s%lld", name, (long long)j + 1);
}

static void trace_header(trace_writer *writer, const margin_trace_step *step) {
    writer->weight_count = step->weights ? step->weight_count : 0;
    writer->alpha_count = step->subproblems > 1 ? 0 : step->alpha_count; /* parts differ in rows */
    writer->has_distance = step->distance != NULL;
    writer->has_proof = step->novikoff != NULL;
    text_puts(&writer->text, "step,row,errors,b");
    trace_names(&writer->text, "w", writer->weight_count);
    text_puts(&writer->text, writer->has_distance ? ",loss,distance" : ",loss");
    trace_names(&writer->text, "alpha", writer->alpha_count);
    trace_names(&writer->text, "n", writer->alpha_count);
    if (writer->has_proof) text_puts(&writer->text, ",along,least_along,square,greatest_square");
    text_puts(&writer->text, step->subproblems > 1 ? ",subproblem\n" : "\n");
}

static void trace_number(cli_text *text, double value) {
    text_add(text, ",", 1);
    if (!isnan(value)) text_number(text, value);
}

/* A line for each step. */
static int trace_step(const margin_trace_step *step, void *user) {
    trace_writer *writer = user;
    cli_text *text = &writer->text;
    if (writer->weight_count < 0) trace_header(writer, step);
    text_printf(text, "%lld,%lld,", (long long)step->step, (long long)step->row + 1);
    if (step->errors >= 0) text_printf(text, "%lld", (long long)step->errors);
    trace_number(text, step->intercept);
    for (int64_t j = 0; j < writer->weight_count; j++)
        trace_number(text, step->weights ? step->weights[j] : (double)NAN);
    trace_number(text, step->loss);
    if (writer->has_distance) trace_number(text, *step->distance);
    for (int64_t i = 0; i < writer->alpha_count; i++)
        trace_number(text, step->alpha[i]);
    for (int64_t i = 0; i < writer->alpha_count; i++)
        trace_number(text, step->updates[i]);
    if (writer->has_proof && step->novikoff) {
        trace_number(text, step->novikoff->along);
        trace_number(text, step->novikoff->least_along);
        trace_number(text, step->novikoff->square);
        trace_number(text, step->novikoff->greatest_square);
    }
    if (step->subproblems > 1) text_printf(text, ",%lld", (long long)step->subproblem + 1);
    text_add(text, "\n", 1);
    return 0;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* Rows of each class that took part, counted from the target as it was read. */
static void count_classes(const margin_model *model, const margin_data *data, int64_t *counts) {
    int64_t classes = margin_model_class_count(model);
    const margin_column *target = data->target;
    for (int64_t k = 0; k < (data->selection ? data->selected : data->x.rows); k++) {
        const int64_t i = data->selection ? data->selection[k] : k;
        if (!(cli_weight_of(data, i) > 0)) continue; /* it may hold anything */
        double value = ((const double *)data->y.values)[i];
        char number[MARGIN_NUMBER_TEXT];
        const char *name = number;
        if (target && target->kind == MARGIN_CATEGORICAL)
            name = target->categories[(int64_t)value];
        else
            margin_number_print_f64(value, number);
        for (int64_t c = 0; c < classes; c++)
            if (!strcmp(name, margin_model_class_name(model, c))) {
                counts[c]++;
                break;
            }
    }
}

/* The same, to be freed; NULL: they cannot be told. */
static int64_t *new_counts(const margin_model *model, const margin_data *data) {
    int64_t *counts = data->y.type == MARGIN_F64 && data->y.values
                          ? calloc((size_t)margin_model_class_count(model), sizeof *counts)
                          : NULL;
    if (counts) count_classes(model, data, counts);
    return counts;
}

/* All support is bounded, and no row of another class than the most frequent one is told. */
static void note_kernel(const cli_session *session, const margin_report *report,
                        const margin_model *model, const margin_data *data) {
    const double support = margin_report_item_value(report, "support_vectors");
    int64_t most = 0, all = 0, *counts = NULL;
    if (margin_report_item_value(report, "bounded_vectors") == support &&
        !isnan(margin_report_item_value(report, "gamma")) && !isnan(report->train_accuracy))
        counts = new_counts(model, data);
    for (int64_t c = 0; counts && c < margin_model_class_count(model); c++) {
        most = counts[c] > most ? counts[c] : most;
        all += counts[c];
    }
    free(counts);
    if (all == 0 || report->train_accuracy * (double)all > (double)most + 0.5) return;
    cli_note(session,
             "the kernel hardly tells the rows apart: all support vectors are bounded, and "
             "the rows are told no better than by their most frequent class; scale the "
             "columns (standardize | ...), or take a larger C, or another gamma or coef0");
}

static void describe_clusters(cli_text *text, const margin_model *model, int64_t shown) {
    const int64_t clusters = margin_model_class_count(model);
    if (margin_model_class_name(model, 0)) {
        text_puts(text, ", one class");
        return;
    }
    text_puts(text, ", ");
    text_count(text, clusters, "clusters");
    for (int64_t c = 0; c < clusters && clusters <= shown; c++) {
        text_puts(text, c ? ", " : " of ");
        text_short(text, margin_model_cluster_size(model, c));
    }
}

static void describe_classes(cli_text *text, const margin_model *model, const margin_data *data) {
    enum { SHOWN = 20 };
    int64_t classes = margin_model_class_count(model);
    if (margin_model_task(model) == MARGIN_CLUSTER) describe_clusters(text, model, SHOWN);
    if (!classes || margin_model_task(model) == MARGIN_CLUSTER) return;
    text_printf(text, ", %lld classes", (long long)classes);
    int64_t *counts = classes <= SHOWN ? new_counts(model, data) : NULL;
    if (!counts) return;
    for (int64_t k = 0; k < classes; k++) {
        text_puts(text, k ? ", " : ": ");
        text_name(text, margin_model_class_name(model, k), 0, 0);
        text_printf(text, " %lld", (long long)counts[k]);
    }
    free(counts);
}

static void describe_training(cli_text *text, const margin_report *report) {
    const double scored = margin_report_item_value(report, "scored_rows");
    if (isnan(report->train_accuracy) && isnan(report->train_rmse)) return;
    text_puts(text, "training    ");
    if (!isnan(report->train_accuracy)) {
        text_puts(text, "accuracy ");
        text_short(text, report->train_accuracy);
    } else {
        text_puts(text, "rmse ");
        text_short(text, report->train_rmse);
        text_puts(text, ", r2 ");
        text_short(text, report->train_r2);
    }
    if (!isnan(scored)) text_printf(text, ", on %.0f of these rows, spread evenly", scored);
    text_puts(text, "\n");
}

/* What the model is worth on the rows that were held out; nothing where none were. */
static void print_end(cli_text *text, const margin_model *model, const margin_report *report) {
    text_printf(text, "\n%s   ", cli_ending(model, report));
    if (cli_has_gap(model, report)) {
        text_puts(text, "gap ");
        text_short(text, report->gap);
        if (report->tolerance > 0 && !isinf(report->tolerance) &&
            (report->status == MARGIN_OK || report->gap > report->tolerance)) {
            text_puts(text, " of ");
            text_short(text, report->tolerance);
            text_puts(text, " asked");
        }
        text_puts(text, ", ");
    }
    text_count(text, report->iterations, report->iteration_name);
    text_puts(text, ", ");
    text_seconds(text, report->seconds);
    text_puts(text, " on ");
    text_count(text, report->threads, "threads");
    text_puts(text, "\n");
}

static void print_file(cli_text *text, const char *path) {
    struct stat file;
    if (!path) {
        text_puts(text, "model       not kept (-o FILE keeps it)\n");
    } else if (!stat(path, &file)) {
        text_printf(text, "model       %s, ", path);
        text_bytes(text, (double)file.st_size);
        text_puts(text, "\n");
    }
}

static void print_report(cli_text *text, const margin_report *report, const margin_model *model,
                         const cli_fit_rows *rows, const margin_metrics *training) {
    text_count(text, report->rows, "rows");
    text_puts(text, ", ");
    text_count(text, report->columns, "columns");
    describe_classes(text, model, &rows->train);
    text_puts(text, "\n");
    text_formula(text, model, report);
    text_penalty(text, report);
    print_end(text, model, report);
    if (report->reason[0])
        text_printf(text, "%s%s\n",
                    margin_model_learner(model)->abilities & MARGIN_IS_RULE ? "method      "
                                                                            : "because     ",
                    report->reason);
    text_details(text, report);
    describe_training(text, report);
    text_target_metrics(text, model, training);
    text_held_out(text, rows);
    text_promises(text, model, &rows->coverage);
}

static void json_answer(cli_text *text, cli_session *session, const margin_report *report,
                        const margin_model *model, const cli_fit_rows *rows,
                        const margin_metrics *training) {
    json_open(text, NULL, '{');
    json_string(text, "learner", margin_model_learner(model)->name);
    json_string(text, "spec", margin_model_spec(model));
    json_string(text, "task", task_name(report->task));
    if (!cli_several_targets(model)) json_target(text, model, -1);
    json_integer(text, "rows", report->rows);
    json_integer(text, "columns", report->columns);
    json_classes(text, "classes", model);
    json_report(text, report);
    json_target_metrics(text, model, training);
    json_held_out(text, rows);
    json_promises(text, model);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "fit", report->seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_integer(text, "threads", report->threads);
    json_memory(text, session);
    json_column_notes(text, session, &rows->train);
    if (rows->test_rows) json_findings(text, &rows->findings);
    if (session->arguments->output) json_string(text, "model", session->arguments->output);
    json_close(text, '}');
    text_puts(text, "\n");
}

/* ---- Command --------------------------------------------------------------------------------- */

/* --missing=mean is a stage, so that the model remembers the means. */
static char *full_spec(const cli_arguments *arguments) {
    const char *spec = arguments->words[0];
    bool fill = arguments->missing && !strcmp(arguments->missing, "mean");
    size_t length = strlen(spec) + 32;
    char *text = malloc(length);
    if (text) snprintf(text, length, "%s%s", fill ? "impute | " : "", spec);
    return text;
}

static bool has_task(const margin_component *learner) {
    for (int k = 0; k < learner->option_count; k++)
        if (!strcmp(learner->options[k].name, "task")) return true;
    return false;
}

/* A target of numbers, of which the rows of training might have so few that they pass for classes:
 * the whole table decides, and the spec says so. *settled: NULL where nothing is to be said. */
static margin_status settle_task(cli_session *session, const margin_spec *spec,
                                 const margin_table *table, const margin_data *train,
                                 margin_spec **settled) {
    const margin_data all = margin_table_data(table);
    const int64_t learner = margin_spec_steps(spec) - 1;
    margin_setting task = {.size = sizeof task};
    if (!train->selection || !all.y.values || !margin_spec_setting(spec, learner, "task", &task) ||
        task.given || cli_is_classes(&all, spec) || !cli_is_classes(train, spec))
        return MARGIN_OK;
    task.given = 1;
    task.word = "regress";
    return margin_spec_with(spec, learner, &task, settled, &session->error);
}

static bool all_whole(const margin_data *data) {
    const double *y = data->y.values;
    for (int64_t i = 0; i < data->y.count; i++)
        if (!isnan(y[i]) && y[i] != floor(y[i])) return false;
    return true;
}

/* Whole numbers may be classes or measurements: which of them, where the learner chose. */
static void text_task(cli_text *text, const margin_model *model, const margin_data *data,
                      const char *spec) {
    if (!has_task(margin_model_learner(model)) || !data->target ||
        data->target->kind == MARGIN_CATEGORICAL || data->targets > 1 || strstr(spec, "task=") ||
        strstr(spec, "epsilon=") || !all_whole(data))
        return;
    text_puts(text, margin_model_task(model) == MARGIN_CLASSIFY
                        ? "task        classification (task=regress predicts the numbers)\n"
                        : "task        regression (task=classify takes the numbers for classes)\n");
}

/* Stages alone have no target, and the column that would be one takes no part. */
static void text_left_out(cli_text *text, const margin_model *model, const margin_data *data,
                          const char *why) {
    if (margin_model_task(model) != MARGIN_TRANSFORM || !data->target) return;
    text_puts(text, "left out    ");
    text_name(text, data->target->name, 0, 0);
    text_printf(text, "%s\n", why);
}

static int save_and_report(cli_session *session, const margin_report *report,
                           const margin_model *model, const cli_fit_rows *rows,
                           trace_writer *trace) {
    const cli_arguments *arguments = session->arguments;
    if (arguments->output) {
        int code = cli_writes_to(arguments->output);
        if (code) return code;
        margin_status status = margin_model_save(model, arguments->output, &session->error);
        if (status < 0) return cli_failed(session, status);
    }
    if (arguments->trace) {
        int code = text_finish(session, &trace->text, arguments->trace);
        if (code) return code;
    }
    margin_metrics training = {.size = sizeof training};
    if (cli_several_targets(model)) { /* of each on the rows that it was trained on */
        const margin_status status =
            margin_evaluate(session->whole, model, &rows->train, &training, &session->error);
        if (status < 0) return cli_failed(session, status);
    }
    cli_text text = {0};
    if (arguments->json) {
        json_answer(&text, session, report, model, rows, &training);
    } else if (!arguments->quiet) {
        if (!rows->test_rows) cli_note_columns(session, &rows->train);
        cli_note_counts(session, model, &rows->train);
        note_kernel(session, report, model, &rows->train);
        text_target(&text, model, session->target_why);
        text_task(&text, model, &rows->train, session->spec);
        text_left_out(&text, model, &rows->train, session->target_why);
        print_report(&text, report, model, rows, &training);
        print_file(&text, arguments->output);
        text_findings(&text, &rows->findings);
    } else if (report->status != MARGIN_OK) {
        cli_warn("stopped early: %s", report->reason);
    }
    margin_metrics_free(&training);
    int code = text_finish(session, &text, NULL);
    if (!code) code = cli_exit_code(report->status);
    return code ? code : cli_findings_code(session, &rows->findings);
}

/* Adds to a refusal of the table which row of which file it is about, and the option that leaves
 * out a column of categories that nothing encodes. */
static void advise_fit(cli_session *session, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    margin_error *error = &session->error;
    const size_t length = strlen(error->text), room = sizeof error->text - length;
    if (error->status != MARGIN_ERROR_DATA) return;
    cli_advise_data(session, &data, cli_table_details(table).name);
    if (error->row == 0 && strstr(error->text, "the matrix is not square") &&
        data.x.columns < data.x.rows && data.target && !session->arguments->target)
        snprintf(error->text + length, room,
                 "; the last column, %s, was taken as the target: put the target in a column "
                 "behind the matrix (docs/kernel-svm.md)",
                 data.target->name);
}

static int fit_table(cli_session *session, const margin_spec *spec, const margin_table *table) {
    margin_model *model = NULL;
    margin_report report = {0};
    cli_fit_rows rows = {0};
    cli_declared declared = {0};
    trace_writer trace = {.weight_count = -1};
    margin_fit_options options = {.size = sizeof options, .user = &trace};
    if (session->arguments->trace) options.trace = trace_step;
    margin_spec *settled = NULL;
    int code = cli_hold_out(session, spec, table, &rows);
    if (!code) code = cli_declare_classes(session, &rows.train, &declared);
    if (!code) {
        margin_status status = settle_task(session, spec, table, &rows.train, &settled);
        if (status >= 0)
            status = margin_fit_with(session->context, settled ? settled : spec, &rows.train,
                                     &options, &model, &report, &session->error);
        if (status < 0) advise_fit(session, table);
        if (status < 0) code = cli_failed(session, status);
    }
    if (!code) code = cli_promise(session, &rows.train, &model);
    if (!code) report.train_accuracy = margin_model_report(model)->train_accuracy;
    if (!code) code = cli_judge_held_out(session, model, &rows);
    if (!code) code = save_and_report(session, &report, model, &rows, &trace);
    text_free(&trace.text);
    margin_spec_free(settled);
    margin_model_free(model);
    cli_fit_rows_free(&rows);
    cli_declared_free(&declared);
    return code;
}

/* Clusters are found without a target: the last column is then one like the others. */
static bool needs_target(const margin_spec *spec) {
    return !(margin_spec_learner(spec)->abilities & MARGIN_CAN_CLUSTER);
}

int run_fit(const cli_arguments *arguments) {
    cli_session session;
    margin_spec *spec = NULL;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    char *text = full_spec(arguments);
    if (!text) {
        fputs("margin: out of memory\n", stderr);
        cli_session_close(&session);
        return EXIT_NO_MEMORY;
    }
    margin_status status = margin_spec_parse(session.context, text, &spec, &session.error);
    session.spec = text;
    session.fits = true;
    if (status >= 0)
        status = cli_read_table(&session, arguments->words[1], needs_target(spec),
                                cli_missing(arguments, margin_spec_text(spec)), &table);
    code = status < 0 ? cli_failed(&session, status) : fit_table(&session, spec, table);
    margin_table_free(table);
    margin_spec_free(spec);
    free(text);
    cli_session_close(&session);
    return code;
}
