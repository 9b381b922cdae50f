/* margin evaluate: how good a model is on data with a known target, and whether its proof holds. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says that data or model cannot be had, and of an unknown class what can be done about it. */
static int refuse(cli_session *session, margin_status status) {
    margin_error *error = &session->error;
    const size_t length = strlen(error->text);
    if (error->cause == MARGIN_CAUSE_UNKNOWN_CLASS)
        snprintf(error->text + length, sizeof error->text - length,
                 "; or count such rows as errors (--unknown-classes wrong)");
    return cli_failed(session, status);
}

static int write_margins(cli_session *session, const margin_model *model, const margin_data *data) {
    const int64_t count = data->selection ? data->selected : data->x.rows;
    const size_t rows = (size_t)(count > 0 ? count : 1);
    double *functional = malloc(rows * sizeof *functional),
           *geometric = malloc(rows * sizeof *geometric);
    int code;
    if (!functional || !geometric) {
        fputs("margin: out of memory for the margins\n", stderr);
        code = EXIT_NO_MEMORY;
    } else {
        margin_status status =
            margin_margins(session->context, model, data, functional, geometric, &session->error);
        if (status < 0) {
            code = cli_failed(session, status);
        } else {
            cli_text text = {0};
            text_puts(&text, "row,functional,geometric\n");
            for (int64_t i = 0; i < count; i++) {
                const int64_t row = data->selection ? data->selection[i] : i;
                text_printf(&text, "%lld,", (long long)row + 1);
                text_number(&text, functional[i]);
                text_add(&text, ",", 1);
                if (!isnan(geometric[i])) text_number(&text, geometric[i]);
                text_add(&text, "\n", 1);
            }
            code = text_finish(session, &text, session->arguments->margins);
        }
    }
    free(functional);
    free(geometric);
    return code;
}

/* The proof, and of several targets the parts that it is made of. */
typedef struct {
    margin_status status;
    margin_report found;
    margin_report *parts; /* NULL: one target */
    int64_t count;
} verification;

static void json_parts(cli_text *text, const margin_model *model, const verification *v) {
    if (!v->parts) return;
    json_open(text, "targets", '[');
    for (int64_t t = 0; t < v->count; t++) {
        json_open(text, NULL, '{');
        json_string(text, "name", margin_model_target(model)[t].name);
        json_number(text, "objective", v->parts[t].objective);
        json_number(text, "gap", v->parts[t].gap);
        json_close(text, '}');
    }
    json_close(text, ']');
}

static void json_verification(cli_text *text, const margin_model *model, const verification *v) {
    const margin_report *found = &v->found;
    json_open(text, "verification", '{');
    json_bool(text, "holds", v->status == MARGIN_OK);
    json_string(text, "reason", found->reason);
    json_number(text, "objective", found->objective);
    json_number(text, "gap", found->gap);
    for (int64_t i = 0; i < found->item_count; i++)
        json_number(text, found->items[i].name, found->items[i].value);
    json_parts(text, model, v);
    json_close(text, '}');
}

static void print_claim(cli_text *text, const margin_model *model, const margin_report *found) {
    if (cli_has_gap(model, found)) {
        text_puts(text, "gap ");
        text_short(text, found->gap);
        text_puts(text, ", ");
    }
    text_puts(text, "objective ");
    text_short(text, found->objective);
    text_puts(text, "\n");
}

static void print_parts(cli_text *text, const margin_model *model, const verification *v) {
    for (int64_t t = 0; v->parts && t < v->count; t++) {
        text_puts(text, "            ");
        text_name(text, margin_model_target(model)[t].name, 0, 40);
        text_puts(text, ": ");
        print_claim(text, model, &v->parts[t]);
    }
}

/* Rows that a fit held back are none of its proof. */
static const char held_back[] =
    "if it was fitted with --holdout, give the same --holdout and --seed here";

static void print_held_back(cli_text *text, const margin_model *model, const margin_report *found) {
    const margin_report *trained = margin_model_report(model);
    if (found->rows <= trained->rows) return;
    text_printf(text, "            trained on %lld rows, and these are %lld: %s\n",
                (long long)trained->rows, (long long)found->rows, held_back);
}

static void print_verification(cli_text *text, const margin_model *model, const verification *v) {
    const margin_report *found = &v->found;
    text_printf(text, "\nproof       %s: ",
                v->status != MARGIN_OK ? "DOES NOT HOLD"
                : isinf(found->gap)    ? "none, but the report holds"
                                       : "holds");
    print_claim(text, model, found);
    text_printf(text, "            %s\n", found->reason);
    if (v->status != MARGIN_OK) print_held_back(text, model, found);
    print_parts(text, model, v);
    text_details(text, found);
}

static margin_status check_proof(cli_session *session, const margin_model *model,
                                 const margin_data *data, verification *v) {
    const int64_t rows = data->selection ? data->selected : data->x.rows;
    const size_t room = sizeof session->error.text;
    if (cli_several_targets(model)) {
        v->count = margin_model_target_count(model);
        v->parts = calloc((size_t)v->count, sizeof *v->parts);
        if (!v->parts) {
            snprintf(session->error.text, sizeof session->error.text,
                     "out of memory for the proofs of the targets");
            return MARGIN_ERROR_MEMORY;
        }
    }
    v->status = margin_verify_parts(session->context, model, data, &v->found, v->parts, v->count,
                                    &session->error);
    if (v->status == MARGIN_ERROR_DATA && rows > margin_model_report(model)->rows)
        snprintf(session->error.text + strlen(session->error.text),
                 room - strlen(session->error.text), "; %s", held_back);
    return v->status;
}

/* How the coverage that a model promises holds on these rows. rows 0: it promises none. */
static int find_coverage(cli_session *session, const margin_model *model, const margin_data *data,
                         margin_coverage_found *found) {
    *found = (margin_coverage_found){.size = sizeof *found};
    if (isnan(margin_model_coverage(model))) return EXIT_DONE;
    const margin_status status =
        margin_coverage(session->context, model, data, found, &session->error);
    return status < 0 ? cli_failed(session, status) : EXIT_DONE;
}

static void print_coverage(cli_text *text, const margin_model *model,
                           const margin_coverage_found *found) {
    if (!found->rows) return;
    text_puts(text, "coverage    ");
    text_short(text, found->covered);
    text_puts(text, ", ");
    text_short(text, found->asked);
    text_puts(text, margin_model_task(model) == MARGIN_REGRESS ? " promised, mean width "
                                                               : " promised, classes in a set ");
    text_short(text, found->width);
    text_puts(text, "\n");
}

/* By the rows of `data`, a proof by those of `trained`. */
static int evaluate_data(cli_session *session, const margin_model *model, margin_data data,
                         const margin_data *trained) {
    const cli_arguments *a = session->arguments;
    margin_metrics metrics = {.size = sizeof metrics};
    verification proven = {.status = MARGIN_OK};
    margin_evaluate_options options = {.size = sizeof options,
                                       .unknown_wrong = cli_unknown_wrong(a),
                                       .bootstrap = (int64_t)a->bootstrap,
                                       .seed = (uint64_t)a->seed};
    const int wrong = cli_confidence(a, &options.level);
    if (wrong) return wrong;
    double start = cli_clock();
    margin_status proof = MARGIN_OK, status;
    status =
        margin_evaluate_with(session->context, model, &data, &options, &metrics, &session->error);
    if (status < 0) return refuse(session, status);
    if (a->verify) proof = check_proof(session, model, trained, &proven);
    session->work_seconds = cli_clock() - start;
    margin_coverage_found coverage = {0};
    int code = find_coverage(session, model, &data, &coverage);
    if (!code && proof < 0) code = cli_failed(session, proof);
    if (!code && a->margins) code = write_margins(session, model, &data);
    if (!code) {
        cli_text text = {0};
        if (a->json) {
            json_open(&text, NULL, '{');
            if (!cli_several_targets(model)) json_target(&text, model, -1);
            json_metrics(&text, model, &metrics);
            json_coverage(&text, &coverage);
            if (a->verify) json_verification(&text, model, &proven);
            json_open(&text, "seconds", '{');
            json_number(&text, "read", session->read_seconds);
            json_number(&text, "evaluate", session->work_seconds);
            json_number(&text, "total", cli_elapsed(session));
            json_close(&text, '}');
            json_close(&text, '}');
            text_puts(&text, "\n");
        } else {
            text_metrics(&text, model, &metrics);
            print_coverage(&text, model, &coverage);
            if (a->verify) print_verification(&text, model, &proven);
        }
        code = text_finish(session, &text, a->output);
        if (!code && proof > 0) code = EXIT_STOPPED_EARLY;
    }
    free(proven.parts);
    margin_metrics_free(&metrics);
    return code;
}

/* The rows that a fit with --holdout trained on, and those that it held back. */
static int evaluate_parts(cli_session *session, const margin_model *model,
                          const margin_table *table) {
    margin_data test = margin_table_data(table), train = test;
    margin_splits *splits = NULL;
    margin_spec *spec = NULL;
    int64_t *rows[2] = {NULL, NULL};
    const margin_status status =
        margin_spec_parse(session->context, margin_model_spec(model), &spec, &session->error);
    int code = status < 0 ? cli_failed(session, status)
                          : cli_split_shares(session, &test, cli_is_classes(&test, spec), &splits);
    if (!code) code = cli_split_part(splits, 0, MARGIN_PART_TRAIN, &train, &rows[0]);
    if (!code) code = cli_split_part(splits, 0, MARGIN_PART_TEST, &test, &rows[1]);
    if (!code) code = evaluate_data(session, model, test, &train);
    margin_splits_free(splits);
    margin_spec_free(spec);
    free(rows[0]);
    free(rows[1]);
    return code;
}

static int evaluate_table(cli_session *session, const margin_model *model,
                          const margin_table *table) {
    margin_data data = margin_table_data(table);
    int64_t *rows;
    if (session->arguments->holdout) return evaluate_parts(session, model, table);
    int code = cli_drop_unknown_classes(session, model, &data, &rows);
    if (!code) code = evaluate_data(session, model, data, &data);
    free(rows);
    return code;
}

int run_evaluate(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    const margin_status status = cli_load_to_judge(&session, &model, &table);
    code = status < 0 ? refuse(&session, status) : evaluate_table(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
