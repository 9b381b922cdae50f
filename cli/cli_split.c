/* Splits as the options ask for them: --holdout, -k, --stratify, --groups, --time, --repeat. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share: between 0 and 1. */
static int read_share(const char *option, const char *word, double *share) {
    if (!word) return EXIT_DONE;
    if (margin_number_parse_f64(word, strlen(word), share) && *share > 0 && *share < 1)
        return EXIT_DONE;
    return cli_usage_error(NULL, "%s takes a share of the rows between 0 and 1, not '%s'", option,
                           word);
}

bool cli_is_classes(const margin_data *data, const margin_spec *spec) {
    enum { MOST = 20 };
    double seen[MOST];
    int64_t count = 0;
    if (!data->y.values || data->targets > 1) return false;
    if (spec && (margin_spec_learner(spec)->abilities & MARGIN_CAN_CLUSTER)) return false;
    if (data->target && data->target->kind == MARGIN_CATEGORICAL) return true;
    if (spec && !(margin_spec_learner(spec)->abilities & MARGIN_CAN_REGRESSION)) return true;
    if (spec &&
        !(margin_spec_learner(spec)->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS)))
        return false;
    const int64_t rows = data->selection ? data->selected : data->x.rows;
    for (int64_t i = 0; i < rows; i++) {
        const double y = ((const double *)data->y.values)[data->selection ? data->selection[i] : i];
        int64_t k = 0;
        if (isnan(y)) continue;
        while (k < count && seen[k] != y)
            k++;
        if (k < count) continue;
        if (count == MOST || y != floor(y)) return false;
        seen[count++] = y;
    }
    return true;
}

/* The column that --groups or --time names, read as a target would be: a second time. */
static int read_column(cli_session *session, const char *option, const char *column, int64_t rows,
                       margin_table **table, margin_vector *values) {
    const char *path = session->path;
    if (!column) return EXIT_DONE;
    if (!strcmp(path, "-"))
        return cli_usage_error(NULL, "%s reads the data twice; give a file, not standard input",
                               option);
    const margin_status status = cli_read_column(session, path, option, column, table);
    if (status < 0) return cli_failed(session, status);
    *values = margin_table_data(*table).y;
    if (values->count == rows) return EXIT_DONE;
    return cli_usage_error(NULL, "%s goes with tables of which no row is left out", option);
}

int cli_groups(cli_session *session, int64_t rows, margin_table **table, margin_vector *groups) {
    return read_column(session, "--groups", session->arguments->groups, rows, table, groups);
}

/* "2024-03-17", and whatever follows: such text sorts as the times do. */
static bool is_iso_date(const char *text) {
    static const char form[] = "dddd-dd-dd";
    for (size_t k = 0; form[k]; k++)
        if (form[k] == '-' ? text[k] != '-' : text[k] < '0' || text[k] > '9') return false;
    return text[10] < '0' || text[10] > '9';
}

static int read_times(cli_session *session, int64_t rows, cli_split_request *asked) {
    const char *name = session->arguments->time;
    const int code = read_column(session, "--time", name, rows, &asked->time, &asked->options.time);
    const margin_column *column = code || !name ? NULL : margin_table_data(asked->time).target;
    if (!column || column->kind != MARGIN_CATEGORICAL) return code;
    for (int64_t c = 0; c < column->category_count; c++)
        if (!is_iso_date(column->categories[c]))
            return cli_usage_error(NULL,
                                   "--time takes numbers or dates such as 2024-03-17, and column "
                                   "%s holds '%.40s', whose place in time is not known",
                                   name, column->categories[c]);
    return EXIT_DONE;
}

static int64_t folds_of(const cli_arguments *a) {
    enum { USUAL_FOLDS = 5 };
    if (a->leave_one_out) return MARGIN_LEAVE_ONE_OUT;
    if (a->folds > 0) return (int64_t)a->folds;
    return a->holdout ? 0 : USUAL_FOLDS;
}

static bool needs_rows(const char *metric) {
    return !strcmp(metric, "auc") || !strcmp(metric, "average_precision") || !strcmp(metric, "r2");
}

int cli_split_asked(cli_session *session, const margin_data *data, bool stratify,
                    cli_split_request *asked) {
    const cli_arguments *a = session->arguments;
    const bool free = !a->groups && !a->time && !a->in_order;
    margin_split_options *o = &asked->options;
    *asked = (cli_split_request){.options = {.size = sizeof *o,
                                             .folds = folds_of(a),
                                             .repeats = (int64_t)a->repeat,
                                             .seed = (uint64_t)a->seed,
                                             .stratify = a->stratify || (stratify && free),
                                             .in_order = a->in_order}};
    if (a->stratify && data->y.values && !cli_is_classes(data, NULL))
        return cli_usage_error(NULL,
                               "--stratify shares out classes, and the target%s%s holds numbers: "
                               "leave --stratify out",
                               data->target ? " " : "", data->target ? data->target->name : "");
    int code = read_share("--holdout", a->holdout, &o->test);
    if (!code && a->leave_one_out && a->metric && needs_rows(a->metric))
        return cli_usage_error(NULL,
                               "--metric %s is not defined on single rows, as --leave-one-out "
                               "tests them: take folds (-k 10) or another metric",
                               a->metric);
    if (!code) code = read_share("--validation", a->validation, &o->validation);
    if (!code)
        code =
            read_column(session, "--groups", a->groups, data->x.rows, &asked->groups, &o->groups);
    if (!code) code = read_times(session, data->x.rows, asked);
    return code;
}

void cli_split_asked_free(cli_split_request *asked) {
    margin_table_free(asked->groups);
    margin_table_free(asked->time);
}

int cli_split_shares(cli_session *session, const margin_data *data, bool stratify,
                     margin_splits **splits) {
    cli_split_request asked;
    int code = cli_split_asked(session, data, stratify, &asked);
    if (!code) {
        const margin_status status =
            margin_split(session->context, data, &asked.options, splits, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    cli_split_asked_free(&asked);
    return code;
}

int cli_split(cli_session *session, const margin_data *data, margin_splits **splits) {
    return cli_split_shares(session, data, false, splits);
}

int cli_split_part(const margin_splits *splits, int64_t split, margin_part part, margin_data *data,
                   int64_t **rows) {
    const int64_t count = margin_splits_size(splits, split, (int32_t)part);
    *rows = malloc((size_t)(count + 1) * sizeof **rows);
    if (!*rows) {
        fputs("margin: out of memory for the rows of a part\n", stderr);
        return EXIT_NO_MEMORY;
    }
    data->selected = margin_splits_rows(splits, split, (int32_t)part, *rows);
    data->selection = *rows;
    return EXIT_DONE;
}
