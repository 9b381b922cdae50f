/* Splits and options of the commands that search. */
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers or codes of one column of the file beside the table. *held owns them. */
static int read_column(cli_session *session, const char *option, const char *name,
                       const margin_data *data, double **values) {
    const char *path = session->arguments->words[session->arguments->word_count > 1];
    margin_table *table = NULL;
    if (!strcmp(path, "-"))
        return cli_usage_error(NULL, "%s reads the data twice; give a file, not standard input",
                               option);
    const margin_read_options options = {.size = sizeof options, .target = name};
    margin_status status =
        margin_table_read(session->context, path, &options, &table, &session->error);
    if (status < 0) return cli_failed(session, status);
    const margin_data found = margin_table_data(table);
    int code = EXIT_DONE;
    if (found.x.rows != data->x.rows || found.y.type != MARGIN_F64) {
        code = cli_usage_error(NULL, "%s goes with tables of which no row is left out", option);
    } else if (!(*values = malloc((size_t)data->x.rows * sizeof **values))) {
        fputs("margin: out of memory\n", stderr);
        code = EXIT_NO_MEMORY;
    } else {
        memcpy(*values, found.y.values, (size_t)data->x.rows * sizeof **values);
    }
    margin_table_free(table);
    return code;
}

int cli_split(cli_session *session, const margin_data *data, margin_splits **splits) {
    enum { USUAL_FOLDS = 5 };
    const cli_arguments *a = session->arguments;
    double *groups = NULL, *time = NULL;
    margin_split_options options = {.size = sizeof options,
                                    .folds = a->leave_one_out ? MARGIN_LEAVE_ONE_OUT
                                             : a->folds > 0   ? (int64_t)a->folds
                                                              : USUAL_FOLDS,
                                    .repeats = (int64_t)a->repeat,
                                    .seed = (uint64_t)a->seed,
                                    .stratify = a->stratify,
                                    .in_order = a->in_order};
    int code = EXIT_DONE;
    if (a->groups) code = read_column(session, "--groups", a->groups, data, &groups);
    if (!code && a->time) code = read_column(session, "--time", a->time, data, &time);
    if (groups) options.groups = margin_values_f64(groups, data->x.rows);
    if (time) options.time = margin_values_f64(time, data->x.rows);
    if (!code) {
        const margin_status status =
            margin_split(session->context, data, &options, splits, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    free(time);
    free(groups);
    return code;
}

margin_search_options cli_search_options(const cli_session *session) {
    const cli_arguments *a = session->arguments;
    margin_search_options options = {.size = sizeof options,
                                     .most_cells = (int64_t)a->cells,
                                     .metric = a->metric,
                                     .cell_seconds = a->time_limit,
                                     .journal = a->journal,
                                     .predictions = a->predictions != NULL,
                                     .training = a->training};
    if (a->random > 0) {
        options.method = MARGIN_SEARCH_RANDOM;
        options.count = (int64_t)a->random;
    }
    if (a->halving) options.method = MARGIN_SEARCH_HALVING;
    return options;
}

const char *cli_cell_ending(const margin_search_cell *cell) {
    if (cell->status < 0) return "failed";
    if (cell->dropped) return "dropped";
    return cell->status > 0 ? "stopped" : "converged";
}

int cli_write_choice(cli_session *session, const margin_search_result *table,
                     const margin_data *data) {
    const char *path = session->arguments->output;
    const int64_t choice = session->arguments->one_se ? table->best_one_se : table->best;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    if (!path || choice < 0) return EXIT_DONE;
    const int code = cli_writes_to(path);
    if (code) return code;
    margin_status status = margin_spec_parse(
        session->context, margin_search_cell_at(table, choice)->spec, &spec, &session->error);
    if (status >= 0)
        status = margin_fit(session->context, spec, data, &model, NULL, &session->error);
    if (status >= 0 && margin_model_save(model, path, &session->error) < 0)
        status = session->error.status;
    margin_model_free(model);
    margin_spec_free(spec);
    return status < 0 ? cli_failed(session, status) : EXIT_DONE;
}
