/* Options of the commands that search. */
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

margin_search_options cli_search_options(const cli_session *session) {
    const cli_arguments *a = session->arguments;
    margin_search_options options = {.size = sizeof options,
                                     .most_cells = (int64_t)a->cells,
                                     .metric = a->metric,
                                     .cell_seconds = a->time_limit,
                                     .journal = a->journal,
                                     .predictions = a->predictions != NULL,
                                     .training = a->training,
                                     .baseline = !a->leave_one_out};
    if (a->random > 0) {
        options.method = MARGIN_SEARCH_RANDOM;
        options.count = (int64_t)a->random;
    }
    if (a->halving) options.method = MARGIN_SEARCH_HALVING;
    return options;
}

int cli_target_first(cli_session *session, const margin_data *data) {
    cli_text text = {0};
    if (session->arguments->json || !isatty(STDOUT_FILENO)) return EXIT_DONE;
    text_table_target(&text, data, session->target_why);
    return text_finish(session, &text, NULL);
}

void text_target_on_top(cli_text *text, const cli_session *session, const margin_data *data) {
    if (!isatty(STDOUT_FILENO)) text_table_target(text, data, session->target_why);
}

void json_table_target(cli_text *text, const margin_data *data) {
    if (data->target && data->targets <= 1) json_string(text, "target", data->target->name);
}

void cli_note_left_out(const cli_session *session, int64_t settings,
                       const margin_search_result *table) {
    const double drawn = session->arguments->random;
    const int64_t asked = drawn > 0 && drawn < (double)settings ? (int64_t)drawn : settings;
    if (table->count < asked)
        cli_note(session,
                 "%lld settings are tried as %lld: an option that another choice of the learner "
                 "takes, as degree with kernel=poly, is left out of the others",
                 (long long)asked, (long long)table->count);
}

const char *cli_why_none(const margin_search_result *table) {
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        if (cell->status == 0 && isinf(cell->mean))
            return table->task == MARGIN_CLASSIFY
                       ? "every setting failed, stopped early or has an infinite loss; --metric "
                         "brier is finite where a class was given the probability 0"
                       : "every setting failed, stopped early or has an infinite loss";
    }
    return table->stopped + table->failed > 0
               ? "every setting failed or stopped early"
               : "the metric is not defined on the test rows of a fold; --stratify, fewer folds or "
                 "another metric help";
}

int cli_no_best(const margin_search_result *table) {
    if (table->stopped > 0) return EXIT_STOPPED_EARLY;
    for (int64_t k = 0; k < table->count; k++)
        if (margin_search_cell_at(table, k)->status == MARGIN_ERROR_LIMIT) return EXIT_NO_MEMORY;
    return EXIT_BAD_INPUT;
}

const char *cli_cell_ending(const margin_search_cell *cell) {
    if (cell->status < 0) return "failed";
    if (cell->dropped) return "dropped";
    return cell->status > 0 ? "stopped" : "converged";
}

margin_status cli_fit_setting(cli_session *session, const margin_data *data, const char *setting,
                              margin_model **model) {
    margin_spec *spec = NULL;
    margin_status status = margin_spec_parse(session->context, setting, &spec, &session->error);
    if (status >= 0)
        status = margin_fit(session->context, spec, data, model, NULL, &session->error);
    margin_spec_free(spec);
    return status;
}

int cli_keep_choice(cli_session *session, const margin_model *model, margin_status status,
                    cli_choice *choice) {
    const char *path = session->arguments->output;
    if (!path) return EXIT_DONE;
    if (status == MARGIN_ERROR_CANCELLED) return cli_failed(session, status);
    const int code = model ? cli_writes_to(path) : EXIT_DONE;
    if (code) return code;
    if (model && margin_model_save(model, path, &session->error) < 0)
        status = session->error.status;
    choice->written = status >= 0;
    choice->status = status;
    if (status < 0)
        choice->error = session->error;
    else if (status > 0)
        snprintf(choice->error.text, sizeof choice->error.text, "%s",
                 margin_model_report(model)->reason);
    return EXIT_DONE;
}

int cli_choice_code(cli_session *session, const cli_choice *choice, int code) {
    if (choice->status < 0) {
        session->error = choice->error;
        return cli_failed(session, choice->status);
    }
    if (choice->status == 0) return code;
    cli_warn("the fit to all rows, which is in %s, stopped early: %s", session->arguments->output,
             choice->error.text);
    return cli_exit_code(choice->status);
}

void json_choice(cli_text *text, const cli_session *session, const cli_choice *choice) {
    if (!session->arguments->output) return;
    if (choice->written)
        json_string(text, "model", session->arguments->output);
    else
        json_null(text, "model");
}
