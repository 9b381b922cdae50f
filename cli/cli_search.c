/* Options of the commands that search. */
#include "cli_search.h"

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
