/* margin report: what a model is and is worth, as one page that needs nothing else. */
#include "cli_search.h"
#include "report_page.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a reader of the page should know beside its figures. */
static void put_findings(const cli_session *session, cli_text *page, const margin_model *model,
                         const margin_data *data, cli_findings *found) {
    const bool classes = margin_model_task(model) == MARGIN_CLASSIFY;
    cli_finding *made = NULL;
    if (data) cli_find_in_data(session, data, NULL, margin_model_spec(model), classes, found);
    if (margin_model_report(model)->status > 0)
        made = cli_find(session, found, "stopped", "a higher max_iter or --time-limit");
    if (made) snprintf(made->words, sizeof made->words, "training stopped before its tolerance");
    if (!data && found->count == 0) return;
    html_section(page, "Checks");
    if (found->count == 0) {
        html_say(page, "Nothing was found that makes the figures too good or worth little.");
        return;
    }
    html_table(page, "code|what was found|what helps");
    for (int k = 0; k < found->count; k++) {
        const char *const cells[] = {found->list[k].words, found->list[k].remedy};
        text_puts(page, "<tr><td><code>");
        html_text(page, found->list[k].code);
        text_puts(page, "</code></td>");
        for (int c = 0; c < 2; c++) {
            text_puts(page, "<td style=\"white-space:normal\">");
            html_text(page, cells[c]);
            text_puts(page, "</td>");
        }
        text_puts(page, "</tr>\n");
    }
    html_table_end(page);
}

static int write_page(cli_session *session, const margin_model *model, const margin_table *table) {
    const cli_arguments *a = session->arguments;
    const margin_column *target = margin_model_target(model);
    const margin_data whole = table ? margin_table_data(table) : (margin_data){0};
    const margin_data *data = table ? &whole : NULL;
    cli_text page = {0}, title = {0};
    cli_findings findings = {0};
    int code = EXIT_DONE;
    text_puts(&title, margin_model_learner(model)->name);
    if (target && margin_model_target_count(model) == 1) {
        text_puts(&title, " for ");
        text_name(&title, target->name, 0, 60);
    }
    html_begin(&page, a->title ? a->title : title.data ? title.data : "");
    text_free(&title);
    if (table) code = report_columns(session, &page, table);
    if (!code) code = report_model(session, &page, model);
    report_proof(session, &page, model, data);
    if (!code && table) code = report_rows(session, &page, model, data);
    put_findings(session, &page, model, data, &findings);
    report_weights(session, &page, model, data);
    report_commands(session, &page, model, data);
    html_end(&page);
    if (!code) {
        code = text_finish(session, &page, a->output);
        if (!code) cli_note_written(session, "page");
        return code ? code : cli_findings_code(session, &findings);
    }
    text_free(&page);
    return code;
}

static int check_arguments(const cli_arguments *a) {
    const cli_command *report = cli_find_command("report");
    const char *option = a->word_count < 2 ? cli_table_option(a) : NULL;
    if (option) return cli_usage_error(report, "%s is about a table, and none is given", option);
    if (isatty(STDOUT_FILENO) && (!a->output || !strcmp(a->output, "-")))
        return cli_usage_error(report, "a page is no text to read in a terminal: -o PAGE.html "
                                       "writes it to a file");
    return EXIT_DONE;
}

int run_report(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    int code = check_arguments(arguments);
    if (!code) code = cli_session_open(&session, arguments);
    if (code) return code;
    const margin_status status = cli_load_to_judge(&session, &model, &table);
    code = status < 0 ? cli_failed(&session, status) : write_page(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
