/* Models of several targets: which one is meant, and what is said of all. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool cli_scores_pairs(const margin_model *model) {
    int64_t other = -1;
    margin_model_score_classes(model, 0, NULL, &other);
    return margin_model_class_count(model) > 2 && other >= 0;
}

bool cli_several_targets(const margin_model *model) {
    return margin_model_target_count(model) > 1;
}

/* ---- One of them ----------------------------------------------------------------------------- */

enum { LISTED = 8 };

void text_targets(cli_text *text, const margin_model *model) {
    const int64_t count = margin_model_target_count(model);
    for (int64_t t = 0; t < count && t < LISTED; t++) {
        text_puts(text, t ? ", " : "");
        text_name(text, margin_model_target(model)[t].name, 0, 40);
    }
    if (count > LISTED) text_puts(text, ", ...");
}

void json_target(cli_text *text, const margin_model *model, int64_t chosen) {
    const margin_column *target = margin_model_target(model);
    const bool all = cli_several_targets(model) && chosen < 0;
    if (target && !all) json_string(text, "target", target[chosen < 0 ? 0 : chosen].name);
    if (!all) return;
    json_open(text, "targets", '[');
    for (int64_t t = 0; t < margin_model_target_count(model); t++)
        json_string(text, NULL, target[t].name);
    json_close(text, ']');
}

static int refuse_choice(const cli_command *command, const margin_model *model, const char *word) {
    cli_text names = {0};
    text_targets(&names, model);
    const char *list = names.data ? names.data : "";
    const int code =
        word ? cli_usage_error(command, "the model has no target '%s'; it has %s", word,
                               *list ? list : "none")
             : cli_usage_error(
                   command, "the model has several targets: choose one of %s with --target", list);
    text_free(&names);
    return code;
}

/* Without a table there are no columns to name. */
static int refuse_columns(const cli_command *command, const cli_arguments *a) {
    const char *option = a->weights       ? "--weights"
                         : a->ignore      ? "--ignore"
                         : a->categorical ? "--categorical"
                                          : NULL;
    return option
               ? cli_usage_error(command, "%s names columns of a table, and none is given", option)
               : EXIT_DONE;
}

int cli_choose_target(cli_session *session, const margin_model *model, const char *name,
                      const char *table, bool must) {
    const char *word = session->arguments->target;
    const cli_command *command = cli_find_command(name);
    const int code = table ? EXIT_DONE : refuse_columns(command, session->arguments);
    if (code) return code;
    session->chooses_target = cli_several_targets(model);
    session->target = session->chooses_target ? -1 : 0;
    if (!session->chooses_target && (table || !word)) return EXIT_DONE;
    if (word)
        session->target = cli_column_find(margin_model_target(model),
                                          margin_model_target_count(model), word, strlen(word));
    return session->target < 0 && (word || must) ? refuse_choice(command, model, word) : EXIT_DONE;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void json_if(cli_text *text, const char *key, double value) {
    if (!isnan(value)) json_number(text, key, value);
}

void json_target_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    if (m->targets == 0) return;
    json_open(text, "targets", '[');
    for (int64_t t = 0; t < m->targets; t++) {
        json_open(text, NULL, '{');
        json_string(text, "name", margin_model_target(model)[t].name);
        json_if(text, "rmse", m->target_rmse[t]);
        json_if(text, "mae", m->target_mae[t]);
        json_if(text, "r2", m->target_r2[t]);
        json_close(text, '}');
    }
    json_close(text, ']');
}

static void put(cli_text *text, double value) {
    cli_text number = {0};
    if (isnan(value))
        text_puts(&number, "-");
    else
        text_short(&number, value);
    text_printf(text, " %12s", number.data ? number.data : "");
    text_free(&number);
}

void text_target_metrics(cli_text *text, const margin_model *model, const margin_metrics *m) {
    if (m->targets == 0) return;
    text_printf(text, "%-24s %12s %12s %12s\n", "target", "rmse", "mae", "r2");
    for (int64_t t = 0; t < m->targets; t++) {
        text_name(text, margin_model_target(model)[t].name, 24, 24);
        put(text, m->target_rmse[t]);
        put(text, m->target_mae[t]);
        put(text, m->target_r2[t]);
        text_puts(text, "\n");
    }
}
