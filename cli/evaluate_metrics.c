/* What margin evaluate found, for people and as JSON. */
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

/* Of each class; a figure that does not apply is null. */
static void json_class_table(cli_text *text, const margin_model *model, const margin_metrics *m) {
    margin_class_metrics c = {.size = sizeof c};
    json_open(text, "per_class", '[');
    for (int64_t k = 0; margin_metrics_class(m, k, &c); k++) {
        json_open(text, NULL, '{');
        json_string(text, "class", margin_model_class_name(model, k));
        json_number(text, "rows", c.rows);
        json_number(text, "predicted", c.predicted);
        json_number(text, "precision", c.precision);
        json_number(text, "recall", c.recall);
        json_number(text, "f1", c.f1);
        json_number(text, "auc", c.auc);
        json_number(text, "average_precision", c.average_precision);
        json_close(text, '}');
    }
    json_close(text, ']');
}

static void json_intervals(cli_text *text, const margin_metrics *m) {
    const margin_metric *metric;
    double ends[2];
    bool open = false;
    for (int64_t k = 0; (metric = margin_metric_at(k)); k++) {
        if (!margin_metrics_interval(m, metric->name, &ends[0], &ends[1])) continue;
        if (!open) json_open(text, "intervals", '{');
        open = true;
        json_numbers(text, metric->name, ends, 2);
    }
    if (open) json_close(text, '}');
}

void json_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    const struct {
        const char *name;
        double value;
    } margins[] = {{"mean_margin", m->mean_margin},
                   {"least_margin", m->least_margin},
                   {"least_geometric_margin", m->least_geometric_margin}};
    const margin_metric *metric;
    json_integer(text, "rows", m->rows);
    for (int64_t k = 0; (metric = margin_metric_at(k)); k++) {
        const double value = margin_metrics_value(m, metric->name);
        if (!isnan(value)) json_number(text, metric->name, value);
    }
    for (size_t i = 0; i < sizeof margins / sizeof margins[0]; i++)
        if (!isnan(margins[i].value)) json_number(text, margins[i].name, margins[i].value);
    if (m->unknown > 0) json_number(text, "unknown", m->unknown);
    json_intervals(text, m);
    json_target_metrics(text, model, m);
    if (m->task == MARGIN_CLUSTER) json_numbers(text, "sizes", m->cluster_sizes, m->classes);
    if (m->task != MARGIN_CLASSIFY) return;
    double least;
    const double cost = cli_mean_cost(model, m, &least);
    if (!isnan(cost)) json_number(text, "cost", cost);
    json_classes(text, "classes", model);
    json_class_table(text, model, m);
    json_confusion(text, m);
}

double cli_mean_cost(const margin_model *model, const margin_metrics *m, double *least) {
    const double *costs = margin_model_costs(model);
    const int64_t k = m->classes;
    double sum = 0, rows = 0;
    *least = (double)NAN;
    if (!costs || !m->confusion) return (double)NAN;
    for (int64_t i = 0; i < k * k; i++) {
        sum += m->confusion[i] * costs[i];
        rows += m->confusion[i];
    }
    for (int64_t answer = 0; answer < k; answer++) {
        double always = 0;
        for (int64_t i = 0; i < k * k; i++)
            always += m->confusion[i] * costs[i / k * k + answer] / rows;
        *least = fmin(*least, always); /* of NaN: the other */
    }
    return sum / rows;
}

/* A line of one metric, with its interval if there is one. */
static void print_metric(cli_text *text, const margin_metrics *m, const char *label,
                         const char *name, const char *what) {
    const double value = margin_metrics_value(m, name);
    double low, high;
    if (isnan(value)) return;
    text_printf(text, "%-12s", label);
    text_short(text, value);
    if (margin_metrics_interval(m, name, &low, &high)) {
        text_puts(text, " (");
        text_short(text, low);
        text_puts(text, " to ");
        text_short(text, high);
        text_puts(text, ")");
    }
    text_printf(text, "%s\n", what);
}

/* ---- Classes --------------------------------------------------------------------------------- */

enum { CLASSES_SHOWN = 30, FIGURES = 5 };

static void print_cells(cli_text *text, const double cells[FIGURES]) {
    for (int k = 0; k < FIGURES; k++) {
        cli_text cell = {0};
        if (!isnan(cells[k])) text_short(&cell, cells[k]);
        text_printf(text, " %10s", cell.data ? cell.data : "-");
        text_free(&cell);
    }
    text_puts(text, "\n");
}

/* A line for each class, and their means. */
static void print_class_table(cli_text *text, const margin_model *model, const margin_metrics *m) {
    static const char *const means[3][4] = {
        {"mean", "precision_macro", "recall_macro", "f1_macro"},
        {"mean by rows", "precision_weighted", "recall_weighted", "f1_weighted"},
        {"all together", "precision_micro", "recall_micro", "f1_micro"}};
    margin_class_metrics c = {.size = sizeof c};
    text_printf(text, "\n%-20s %10s %10s %10s %10s %10s\n", "class", "rows", "precision", "recall",
                "F1", "AUC");
    for (int64_t k = 0; k < CLASSES_SHOWN && margin_metrics_class(m, k, &c); k++) {
        const double cells[FIGURES] = {c.rows, c.precision, c.recall, c.f1, c.auc};
        text_name(text, margin_model_class_name(model, k), 20, 20);
        print_cells(text, cells);
    }
    if (m->classes > CLASSES_SHOWN)
        text_printf(text, "and %lld more classes (--json has them all)\n",
                    (long long)(m->classes - CLASSES_SHOWN));
    for (int i = 0; i < 3; i++) {
        const double cells[FIGURES] = {
            m->weight, margin_metrics_value(m, means[i][1]), margin_metrics_value(m, means[i][2]),
            margin_metrics_value(m, means[i][3]), i == 0 && m->classes > 2 ? m->auc : (double)NAN};
        text_printf(text, "%-20s", means[i][0]);
        print_cells(text, cells);
    }
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

static void print_sizes(cli_text *text, const margin_model *model, const margin_metrics *m) {
    enum { SHOWN = 20 };
    text_puts(text, "sizes      ");
    for (int64_t c = 0; c < m->classes && c < SHOWN; c++) {
        const char *name = margin_model_class_name(model, c);
        if (name) text_printf(text, "%s %s", c ? "," : "", name);
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
    print_metric(text, m, "accuracy", "accuracy", "");
    print_metric(text, m, "error", "error", "");
    double least;
    const double cost = cli_mean_cost(model, m, &least);
    if (!isnan(cost))
        text_printf(text, "%-12s%.6g a row; the same answer for all rows %.6g\n", "cost", cost,
                    least);
    print_metric(text, m, "log loss", "log_loss",
                 isinf(m->log_loss) ? " (a row's class was given the probability 0)" : "");
    print_metric(text, m, "Brier score", "brier", "");
    print_metric(text, m, "AUC", "auc", what);
    print_metric(text, m, "precision", "precision", what);
    print_metric(text, m, "recall", "recall", what);
    print_metric(text, m, "F1", "f1", what);
    if (!isnan(m->least_margin)) {
        text_puts(text, "margin      ");
        text_short(text, m->least_margin);
        text_puts(text, " at least (functional: y f(x))\n");
    }
    text_free(&of);
    print_class_table(text, model, m);
    if (!(m->unknown > 0)) return;
    text_puts(text, "unknown     ");
    text_short(text, m->unknown);
    text_printf(text,
                " row%s of classes that the model does not know: errors, and one class more\n",
                m->unknown > 1 ? "s" : "");
}

void text_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    text_target(text, model, "");
    text_printf(text, "rows        %lld\n", (long long)m->rows);
    print_classes(text, model, m);
    print_metric(text, m, "rmse", "rmse", "");
    print_metric(text, m, "mae", "mae", "");
    print_metric(text, m, "r2", "r2", "");
    if (m->targets) text_puts(text, "\n");
    text_target_metrics(text, model, m);
    print_metric(text, m, "inertia", "inertia", "");
    print_metric(text, m, "silhouette", "silhouette", "");
    if (m->task == MARGIN_CLUSTER) print_sizes(text, model, m);
    if (m->task == MARGIN_CLASSIFY) print_confusion(text, model, m);
}
