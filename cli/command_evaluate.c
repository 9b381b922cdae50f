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
                   {"precision", m->precision},
                   {"recall", m->recall},
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

static void print_number(cli_text *text, const char *name, double value, const char *what) {
    if (isnan(value)) return;
    text_printf(text, "%-12s", name);
    text_short(text, value);
    text_printf(text, "%s\n", what);
}

/* ---- Confusion ------------------------------------------------------------------------------- */

static int characters(const char *name) {
    int count = 0;
    for (; *name; name++)
        count += ((unsigned char)*name & 0xc0) != 0x80;
    return count;
}

/* Widths of the names in front of the rows and of a column of the matrix. */
static void measure_confusion(const margin_model *model, const margin_metrics *m, int *front,
                              int *width) {
    *front = 16; /* "true \ predicted" */
    *width = 0;
    for (int64_t k = 0; k < m->classes; k++) {
        const int length = characters(margin_model_class_name(model, k));
        *width = length > *width ? length : *width;
    }
    *width = *width > 10 ? 10 : *width;
    for (int64_t i = 0; i < m->classes * m->classes; i++) {
        cli_text cell = {0};
        text_short(&cell, m->confusion[i]);
        *width = (int)cell.length > *width ? (int)cell.length : *width;
        text_free(&cell);
    }
}

static void print_matrix(cli_text *text, const margin_model *model, const margin_metrics *m,
                         int front, int width) {
    text_puts(text, "\ntrue \\ predicted\n");
    text_printf(text, "%*s", front, "");
    for (int64_t k = 0; k < m->classes; k++) {
        text_puts(text, " ");
        text_name(text, margin_model_class_name(model, k), -width, width);
    }
    for (int64_t i = 0; i < m->classes; i++) {
        text_puts(text, "\n");
        text_name(text, margin_model_class_name(model, i), front, front);
        for (int64_t k = 0; k < m->classes; k++) {
            cli_text cell = {0};
            text_short(&cell, m->confusion[i * m->classes + k]);
            text_printf(text, " %*s", width, cell.data ? cell.data : "");
            text_free(&cell);
        }
    }
    text_puts(text, "\n");
}

/* The next place off the diagonal: the greatest count behind (count, place), -1: none. */
static int64_t next_mistake(const margin_metrics *m, double count, int64_t place) {
    int64_t best = -1;
    for (int64_t i = 0; i < m->classes * m->classes; i++) {
        const double here = m->confusion[i];
        const bool behind = here < count || (here <= count && i > place);
        if (i % (m->classes + 1) == 0 || !behind || !(here > 0)) continue;
        if (best < 0 || here > m->confusion[best]) best = i;
    }
    return best;
}

static void print_mistakes(cli_text *text, const margin_model *model, const margin_metrics *m) {
    enum { SHOWN = 10 };
    int64_t at = next_mistake(m, HUGE_VAL, -1);
    text_puts(text, "\nmost frequent mistakes (--json has the whole matrix)\n");
    for (int shown = 0; at >= 0 && shown < SHOWN; shown++) {
        text_puts(text, "  ");
        text_name(text, margin_model_class_name(model, at / m->classes), 16, 16);
        text_puts(text, " taken for ");
        text_name(text, margin_model_class_name(model, at % m->classes), 16, 16);
        text_puts(text, " ");
        text_short(text, m->confusion[at]);
        text_puts(text, "\n");
        at = next_mistake(m, m->confusion[at], at);
    }
}

static void print_confusion(cli_text *text, const margin_model *model, const margin_metrics *m) {
    enum { LARGEST = 1000 };
    int front, width;
    if (m->classes > LARGEST) return;
    measure_confusion(model, m, &front, &width);
    if (front + m->classes * (width + 1) <= CLI_WIDTH)
        print_matrix(text, model, m, front, width);
    else
        print_mistakes(text, model, m);
}

static void print_sizes(cli_text *text, const margin_metrics *m) {
    enum { SHOWN = 20 };
    text_puts(text, "sizes      ");
    for (int64_t c = 0; c < m->classes && c < SHOWN; c++) {
        text_puts(text, " ");
        text_short(text, m->cluster_sizes[c]);
    }
    if (m->classes > SHOWN)
        text_printf(text, " and %lld more clusters", (long long)(m->classes - SHOWN));
    text_puts(text, "\n");
}

static void print_classes(cli_text *text, const margin_model *model, const margin_metrics *m) {
    cli_text of = {0};
    if (m->task != MARGIN_CLASSIFY) return;
    text_puts(&of, " (");
    if (m->classes == 2) {
        text_puts(&of, "of ");
        text_name(&of, margin_model_class_name(model, 1), 0, 40);
    } else {
        text_puts(&of, "mean of the classes");
    }
    text_puts(&of, ")");
    const char *what = of.data ? of.data : "";
    print_number(text, "accuracy", m->accuracy, "");
    print_number(text, "error", m->error, "");
    print_number(text, "log loss", m->log_loss, "");
    print_number(text, "AUC", m->auc, what);
    print_number(text, "precision", m->precision, what);
    print_number(text, "recall", m->recall, what);
    print_number(text, "F1", m->f1, what);
    print_number(text, "margin", m->least_margin, " at least (functional: y f(x))");
    text_free(&of);
}

static void print_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    text_target(text, model, "");
    text_printf(text, "rows        %lld\n", (long long)m->rows);
    print_classes(text, model, m);
    print_number(text, "rmse", m->rmse, "");
    print_number(text, "mae", m->mae, "");
    print_number(text, "r2", m->r2, "");
    if (m->targets) text_puts(text, "\n");
    text_target_metrics(text, model, m);
    print_number(text, "inertia", m->inertia, "");
    print_number(text, "silhouette", m->silhouette, "");
    if (m->task == MARGIN_CLUSTER) print_sizes(text, m);
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

static void print_verification(cli_text *text, const margin_model *model, const verification *v) {
    const margin_report *found = &v->found;
    text_printf(text, "\nproof       %s: ", v->status == MARGIN_OK ? "holds" : "DOES NOT HOLD");
    print_claim(text, model, found);
    text_printf(text, "            %s\n", found->reason);
    print_parts(text, model, v);
    text_details(text, found);
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
    margin_metrics metrics = {.size = sizeof metrics};
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
