/* The lines that people read of a report: what was learnt, how it ended, what bounds it. */
#include "cli.h"

#include <math.h>
#include <string.h>

void text_target(cli_text *text, const margin_model *model, const char *why) {
    const margin_column *target = margin_model_target(model);
    const int64_t count = margin_model_target_count(model);
    if (!target || count == 0) return;
    text_puts(text, count > 1 ? "targets     " : "target      ");
    if (count > 1)
        text_targets(text, model);
    else
        text_name(text, target->name, 0, 0);
    text_printf(text, "%s\n", why);
}

const char *cli_target_why(const cli_arguments *arguments, const margin_table *table) {
    const bool last = !arguments->target && !arguments->labels &&
                      cli_table_details(table).format == MARGIN_FORMAT_CSV;
    return last ? " (the last column; --target chooses another)" : "";
}

void text_table_target(cli_text *text, const margin_data *data, const char *why) {
    const int64_t count = data->targets > 1 ? data->targets : 1;
    if (!data->target) return;
    text_puts(text, count > 1 ? "targets     " : "target      ");
    for (int64_t t = 0; t < count; t++) {
        text_puts(text, t ? ", " : "");
        text_name(text, data->target[t].name, 0, count > 1 ? 40 : 0);
    }
    text_printf(text, "%s\n", why);
}

static bool is_rule(const margin_model *model) {
    return margin_model_learner(model)->abilities & MARGIN_IS_RULE;
}

void text_formula(cli_text *text, const margin_model *model, const margin_report *report) {
    text_printf(text, "%s%s", is_rule(model) ? "rule        " : "minimised   ", report->formula);
}

const char *cli_ending(const margin_model *model, const margin_report *report) {
    if (report->status != MARGIN_OK) return "stopped  ";
    return is_rule(model) ? "trained  " : "converged";
}

bool cli_has_gap(const margin_model *model, const margin_report *report) {
    return !is_rule(model) && !margin_model_centre(model, 0) && !isnan(report->gap);
}

void text_count(cli_text *text, int64_t count, const char *plural) {
    size_t length = strlen(plural);
    if (count == 1 && length > 4 && !strcmp(plural + length - 4, "sses"))
        length -= 2;
    else if (count == 1 && length > 1 && plural[length - 1] == 's')
        length--;
    text_printf(text, "%lld %.*s", (long long)count, (int)length, plural);
}

/* The penalty stands behind the formula it belongs to, in its three spellings. */
static bool is_penalty(const char *name) {
    return !strcmp(name, "C") || !strcmp(name, "alpha") || !strcmp(name, "lambda");
}

void text_penalty(cli_text *text, const margin_report *report) {
    const char *lead = "   ";
    for (int64_t i = 0; i < report->item_count; i++) {
        if (!is_penalty(report->items[i].name) || isnan(report->items[i].value)) continue;
        text_printf(text, "%s%s=", lead, report->items[i].name);
        text_short(text, report->items[i].value);
        lead = " ";
    }
}

void text_details(cli_text *text, const margin_report *report) {
    bool first = true;
    for (int64_t i = 0; i < report->item_count; i++) {
        const char *name = report->items[i].name;
        if (isnan(report->items[i].value) || is_penalty(name) || !strcmp(name, "scored_rows"))
            continue; /* those stand elsewhere */
        text_puts(text, first ? "details     " : ", ");
        for (const char *c = name; *c; c++)
            text_add(text, *c == '_' ? " " : c, 1);
        text_puts(text, " ");
        text_short(text, report->items[i].value);
        first = false;
    }
    if (!first) text_puts(text, "\n");
}
