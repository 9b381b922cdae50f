/* margin evaluate: how good a model is on data with a known target, and whether its proof holds. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_confusion(cli_text *text, const margin_metrics *m) {
    json_open(text, "confusion", '[');
    for (int64_t i = 0; i < m->classes; i++)
        json_numbers(text, NULL, m->confusion + i * m->classes, m->classes);
    json_close(text, ']');
}

static void json_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"accuracy", m->accuracy},
                   {"error", m->error},
                   {"log_loss", m->log_loss},
                   {"auc", m->auc},
                   {"f1", m->f1},
                   {"rmse", m->rmse},
                   {"mae", m->mae},
                   {"r2", m->r2},
                   {"inertia", m->inertia},
                   {"silhouette", m->silhouette},
                   {"mean_margin", m->mean_margin},
                   {"least_margin", m->least_margin},
                   {"least_geometric_margin", m->least_geometric_margin}};
    json_integer(text, "rows", m->rows);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!isnan(numbers[i].value)) json_number(text, numbers[i].name, numbers[i].value);
    json_target_metrics(text, model, m);
    if (m->task == MARGIN_CLUSTER) json_numbers(text, "sizes", m->cluster_sizes, m->classes);
    if (m->task == MARGIN_CLASSIFY) {
        json_classes(text, "classes", model);
        json_confusion(text, m);
    }
}

static void print_number(cli_text *text, const char *name, double value) {
    if (isnan(value)) return;
    text_printf(text, "%-13s", name);
    text_short(text, value);
    text_puts(text, "\n");
}

static void print_confusion(cli_text *text, const margin_model *model, const margin_metrics *m) {
    enum { LARGEST = 30 };
    if (m->classes > LARGEST) return;
    text_puts(text, "\ntrue \\ predicted\n");
    text_printf(text, "%-16s", "");
    for (int64_t k = 0; k < m->classes; k++) {
        text_puts(text, " ");
        text_name(text, margin_model_class_name(model, k), -10, 10);
    }
    for (int64_t i = 0; i < m->classes; i++) {
        text_puts(text, "\n");
        text_name(text, margin_model_class_name(model, i), 16, 16);
        for (int64_t k = 0; k < m->classes; k++) {
            cli_text cell = {0};
            text_short(&cell, m->confusion[i * m->classes + k]);
            text_printf(text, " %10s", cell.data ? cell.data : "");
            text_free(&cell);
        }
    }
    text_puts(text, "\n");
}

static void print_sizes(cli_text *text, const margin_metrics *m) {
    enum { SHOWN = 20 };
    text_puts(text, "sizes       ");
    for (int64_t c = 0; c < m->classes && c < SHOWN; c++) {
        text_puts(text, " ");
        text_short(text, m->cluster_sizes[c]);
    }
    if (m->classes > SHOWN)
        text_printf(text, " and %lld more clusters", (long long)(m->classes - SHOWN));
    text_puts(text, "\n");
}

static void print_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    text_printf(text, "rows         %lld\n", (long long)m->rows);
    print_number(text, "accuracy", m->accuracy);
    print_number(text, "error", m->error);
    print_number(text, "log loss", m->log_loss);
    print_number(text, "AUC", m->auc);
    print_number(text, "F1", m->f1);
    print_number(text, "rmse", m->rmse);
    print_number(text, "mae", m->mae);
    print_number(text, "r2", m->r2);
    if (m->targets) text_puts(text, "\n");
    text_target_metrics(text, model, m);
    print_number(text, "inertia", m->inertia);
    print_number(text, "silhouette", m->silhouette);
    if (m->task == MARGIN_CLUSTER) print_sizes(text, m);
    print_number(text, "least margin", m->least_margin);
    if (m->task == MARGIN_CLASSIFY) print_confusion(text, model, m);
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

static void print_parts(cli_text *text, const margin_model *model, const verification *v) {
    for (int64_t t = 0; v->parts && t < v->count; t++) {
        text_puts(text, "            ");
        text_name(text, margin_model_target(model)[t].name, 0, 40);
        text_puts(text, ": objective ");
        text_number(text, v->parts[t].objective);
        text_puts(text, ", gap ");
        text_number(text, v->parts[t].gap);
        text_puts(text, "\n");
    }
}

static void print_verification(cli_text *text, const margin_model *model, const verification *v) {
    const margin_report *found = &v->found;
    text_printf(text, "\nproof       %s: objective ",
                v->status == MARGIN_OK ? "holds" : "DOES NOT HOLD");
    text_number(text, found->objective);
    text_puts(text, ", gap ");
    text_number(text, found->gap);
    for (int64_t i = 0; i < found->item_count; i++) {
        if (isnan(found->items[i].value)) continue;
        text_printf(text, ", %s ", found->items[i].name);
        text_short(text, found->items[i].value);
    }
    text_printf(text, "\n            %s\n", found->reason);
    print_parts(text, model, v);
}

static margin_status check_proof(cli_session *session, const margin_model *model,
                                 const margin_data *data, verification *v) {
    if (cli_several_targets(model)) {
        v->count = margin_model_target_count(model);
        v->parts = malloc((size_t)v->count * sizeof *v->parts);
        if (!v->parts) {
            snprintf(session->error.text, sizeof session->error.text,
                     "out of memory for the proofs of the targets");
            return MARGIN_ERROR_MEMORY;
        }
    }
    v->status = margin_verify_parts(session->context, model, data, &v->found, v->parts, v->count,
                                    &session->error);
    return v->status;
}

static int evaluate_data(cli_session *session, const margin_model *model, margin_data data) {
    const cli_arguments *a = session->arguments;
    margin_metrics metrics;
    verification proven = {.status = MARGIN_OK};
    double start = cli_clock();
    margin_status proof = MARGIN_OK, status;
    status = margin_evaluate(session->context, model, &data, &metrics, &session->error);
    if (status < 0) return cli_failed(session, status);
    if (a->verify) proof = check_proof(session, model, &data, &proven);
    session->work_seconds = cli_clock() - start;
    int code = EXIT_DONE;
    if (proof < 0) code = cli_failed(session, proof);
    if (!code && a->margins) code = write_margins(session, model, &data);
    if (!code) {
        cli_text text = {0};
        if (a->json) {
            json_open(&text, NULL, '{');
            json_metrics(&text, model, &metrics);
            if (a->verify) json_verification(&text, model, &proven);
            json_open(&text, "seconds", '{');
            json_number(&text, "read", session->read_seconds);
            json_number(&text, "evaluate", session->work_seconds);
            json_number(&text, "total", cli_elapsed(session));
            json_close(&text, '}');
            json_close(&text, '}');
            text_puts(&text, "\n");
        } else {
            print_metrics(&text, model, &metrics);
            if (a->verify) print_verification(&text, model, &proven);
        }
        code = text_finish(session, &text, a->output);
        if (!code && proof > 0) code = EXIT_STOPPED_EARLY;
    }
    free(proven.parts);
    margin_metrics_free(&metrics);
    return code;
}

static int evaluate_table(cli_session *session, const margin_model *model,
                          const margin_table *table) {
    margin_data data = margin_table_data(table);
    int64_t *rows;
    int code = cli_drop_unknown_classes(session, model, &data, &rows);
    if (!code) code = evaluate_data(session, model, data);
    free(rows);
    return code;
}

int run_evaluate(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    if (status >= 0)
        status = cli_read_for_model(
            &session, model, arguments->words[1],
            margin_model_task(model) != MARGIN_CLUSTER ? CLI_NEEDS_TARGET : CLI_MAY_HAVE_TARGET,
            &table);
    code = status < 0 ? cli_failed(&session, status) : evaluate_table(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
