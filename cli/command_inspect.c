/* margin inspect: what a model holds. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void json_score_name(cli_text *text, const margin_model *model, int64_t score) {
    int64_t first, second;
    margin_model_score_classes(model, score, &first, &second);
    if (!margin_model_class_name(model, first)) {
        json_integer(text, NULL, first + 1);
        return;
    }
    if (second < 0) {
        json_string(text, NULL, margin_model_class_name(model, first));
        return;
    }
    json_open(text, NULL, '[');
    json_string(text, NULL, margin_model_class_name(model, first));
    json_string(text, NULL, margin_model_class_name(model, second));
    json_close(text, ']');
}

/* Of one score function a number or a list; of several a list of them. */
static void json_intercepts(cli_text *text, const margin_model *model, int64_t scores,
                            int64_t chosen) {
    if (scores == 1 || chosen >= 0) {
        json_number(text, "intercept", margin_model_intercept(model, chosen < 0 ? 0 : chosen));
        return;
    }
    json_open(text, "intercept", '[');
    for (int64_t k = 0; k < scores; k++)
        json_number(text, NULL, margin_model_intercept(model, k));
    json_close(text, ']');
}

static void json_weights(cli_text *text, const margin_model *model, int64_t scores,
                         int64_t chosen) {
    int64_t features;
    margin_model_features(model, &features);
    if (scores == 1 || chosen >= 0) {
        json_numbers(text, "weights", margin_model_weights(model, chosen < 0 ? 0 : chosen),
                     features);
        return;
    }
    json_open(text, "weights", '[');
    for (int64_t k = 0; k < scores; k++)
        json_numbers(text, NULL, margin_model_weights(model, k), features);
    json_close(text, ']');
}

enum dual_part { DUAL_ROWS, DUAL_COEFFICIENTS, DUAL_SIGNS, DUAL_UPDATES };

static void json_dual_part(cli_text *text, const char *key, const margin_model *model,
                           int64_t score, enum dual_part part) {
    const int64_t *rows;
    const double *lists[3];
    int64_t count = margin_model_dual(model, score, &rows, &lists[0], &lists[1], &lists[2]);
    json_open(text, key, '[');
    for (int64_t i = 0; i < count; i++) {
        if (part == DUAL_ROWS)
            json_integer(text, NULL, rows[i] + 1);
        else if (lists[part - 1])
            json_number(text, NULL, lists[part - 1][i]);
    }
    json_close(text, ']');
}

/* A perceptron counts its updates; for others they are the coefficients again. */
static bool has_updates(const margin_model *model) {
    return !isnan(margin_report_item_value(margin_model_report(model), "mistakes"));
}

static void json_dual(cli_text *text, const margin_model *model, int64_t scores) {
    const int parts = has_updates(model) ? DUAL_UPDATES : DUAL_SIGNS;
    static const char *const names[] = {"rows", "coefficients", "signs", "updates"};
    for (int part = DUAL_ROWS; part <= parts; part++) {
        if (scores == 1) {
            json_dual_part(text, names[part], model, 0, (enum dual_part)part);
            continue;
        }
        json_open(text, names[part], '[');
        for (int64_t k = 0; k < scores; k++)
            json_dual_part(text, NULL, model, k, (enum dual_part)part);
        json_close(text, ']');
    }
}

static bool has_dual(const margin_model *model) {
    return margin_model_score_count(model) > 0 &&
           margin_model_dual(model, 0, NULL, NULL, NULL, NULL) > 0;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static void json_centres(cli_text *text, const margin_model *model) {
    int64_t features;
    margin_model_features(model, &features);
    if (!margin_model_centre(model, 0)) return;
    json_open(text, "centres", '[');
    for (int64_t c = 0; c < margin_model_class_count(model); c++) {
        json_open(text, NULL, '[');
        for (int64_t j = 0; j < features; j++)
            json_number(text, NULL, cli_in_units(model, j, margin_model_centre(model, c)[j]));
        json_close(text, ']');
    }
    json_close(text, ']');
}

/* A line for each cluster: its size, and where its centre is in the first columns. */
static void print_centres(cli_text *text, const margin_model *model) {
    enum { SHOWN = 6 };
    int64_t features;
    const margin_column *columns = margin_model_features(model, &features);
    for (int64_t c = 0; margin_model_centre(model, c); c++) {
        const double *centre = margin_model_centre(model, c);
        text_printf(text, "cluster %-4lld", (long long)c + 1);
        text_short(text, margin_model_cluster_size(model, c));
        text_puts(text, " rows about");
        for (int64_t j = 0; j < features && j < SHOWN; j++) {
            text_puts(text, j ? ", " : " ");
            text_name(text, columns[j].name, 0, 24);
            text_puts(text, " ");
            text_short(text, cli_in_units(model, j, centre[j]));
        }
        text_puts(text, features > SHOWN ? ", ...\n" : "\n");
    }
}

static void json_model(cli_text *text, const margin_model *model, int64_t chosen) {
    const margin_report *report = margin_model_report(model);
    int64_t scores = margin_model_score_count(model), columns, features;
    json_open(text, NULL, '{');
    json_string(text, "spec", margin_model_spec(model));
    json_string(text, "task", task_name(margin_model_task(model)));
    json_classes(text, "classes", model);
    json_target(text, model, chosen);
    const margin_column *inputs = margin_model_columns(model, &columns);
    json_open(text, "inputs", '[');
    for (int64_t j = 0; j < columns; j++)
        json_string(text, NULL, inputs[j].name);
    json_close(text, ']');
    const margin_column *list = margin_model_features(model, &features);
    json_open(text, "features", '[');
    for (int64_t j = 0; j < features; j++)
        json_string(text, NULL, list[j].name);
    json_close(text, ']');
    json_units(text, model);
    if (scores > 1 && !cli_several_targets(model)) {
        json_open(text, "classes_of", '[');
        for (int64_t k = 0; k < scores; k++)
            json_score_name(text, model, k);
        json_close(text, ']');
    }
    if (scores && margin_model_weights(model, 0)) json_weights(text, model, scores, chosen);
    if (scores && !isnan(margin_model_intercept(model, 0)))
        json_intercepts(text, model, scores, chosen);
    if (has_dual(model)) json_dual(text, model, scores);
    json_bayes(text, model);
    json_centres(text, model);
    json_promises(text, model);
    json_open(text, "report", '{');
    json_integer(text, "rows", report->rows);
    json_integer(text, "columns", report->columns);
    json_report(text, report);
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

/* ---- For people ------------------------------------------------------------------------------ */

static void print_score_title(cli_text *text, const margin_model *model, int64_t score) {
    int64_t first, second;
    margin_model_score_classes(model, score, &first, &second);
    bool rest = second < 0;
    if (margin_model_class_count(model) == 0) {
        const bool several = margin_model_target_count(model) > 1;
        text_puts(text, several ? "\nvalue of " : "\nvalue");
        if (several) text_name(text, margin_model_target(model)[score].name, 0, 0);
        text_puts(text, "\n");
        return;
    }
    if (margin_model_score_count(model) == 1 && margin_model_class_count(model) == 2) rest = true;
    text_puts(text, rest && second < 0 ? "\nscore of " : "\nscore, positive for ");
    text_name(text, margin_model_class_name(model, first), 0, 0);
    if (!rest) {
        text_puts(text, ", negative for ");
        text_name(text, margin_model_class_name(model, second), 0, 0);
    }
    text_puts(text, "\n");
}

static void print_weights(cli_text *text, const margin_model *model, int64_t score) {
    int64_t features;
    const margin_column *list = margin_model_features(model, &features);
    const double *weights = margin_model_weights(model, score);
    for (int64_t j = 0; j < features; j++) {
        text_puts(text, "  ");
        text_name(text, list[j].name, 28, 0);
        text_puts(text, " ");
        text_short(text, weights[j]);
        text_puts(text, "\n");
    }
}

static void print_dual(cli_text *text, const margin_model *model, int64_t score) {
    const int64_t *rows;
    const double *coefficients, *signs, *updates;
    int64_t count = margin_model_dual(model, score, &rows, &coefficients, &signs, &updates),
            used = 0;
    for (int64_t i = 0; i < count; i++)
        used += coefficients[i] > 0;
    const bool counted = has_updates(model);
    text_printf(text, "  %lld of %lld rows have a coefficient (alpha, class sign%s)\n",
                (long long)used, (long long)margin_model_report(model)->rows,
                counted ? ", updates" : "");
    for (int64_t i = 0; i < count; i++) {
        if (!(coefficients[i] > 0)) continue;
        text_printf(text, "  row %-8lld ", (long long)rows[i] + 1);
        text_short(text, coefficients[i]);
        text_printf(text, "  %c", signs[i] > 0 ? '+' : '-');
        if (counted) {
            text_puts(text, "  ");
            text_short(text, updates[i]);
        }
        text_puts(text, "\n");
    }
}

/* chosen: the target whose weights are shown, -1: of all. */
static void print_model(cli_text *text, const margin_model *model, int64_t chosen) {
    const margin_report *report = margin_model_report(model);
    text_printf(text, "spec        %s\n", margin_model_spec(model));
    text_target(text, model, "");
    if (margin_model_class_count(model) && margin_model_class_name(model, 0)) {
        text_puts(text, "classes     ");
        for (int64_t k = 0; k < margin_model_class_count(model); k++) {
            text_puts(text, k ? ", " : "");
            text_name(text, margin_model_class_name(model, k), 0, 0);
        }
        text_puts(text, "\n");
    }
    text_puts(text, "trained on  ");
    text_count(text, report->rows, "rows");
    text_puts(text, ", ");
    text_count(text, report->columns, "columns");
    text_puts(text, "\n");
    text_formula(text, model, report);
    text_penalty(text, report);
    text_printf(text, "\n%s   %s\n", cli_ending(model, report), report->reason);
    if (!(margin_model_learner(model)->abilities & MARGIN_IS_RULE)) text_details(text, report);
    text_promises(text, model, NULL);
    text_units(text, model);
    print_centres(text, model);
    text_bayes(text, model);
    for (int64_t k = 0; k < margin_model_score_count(model); k++) {
        if (isnan(margin_model_intercept(model, k))) break;
        if (chosen >= 0 && k != chosen) continue;
        print_score_title(text, model, k);
        if (margin_model_weights(model, k)) print_weights(text, model, k);
        text_printf(text, "  %-28s ", "(intercept)");
        text_short(text, margin_model_intercept(model, k) + 0.0); /* no -0 */
        text_puts(text, "\n");
        if (has_dual(model)) print_dual(text, model, k);
    }
}

/* One word too many or too few: data go with --statistics and with nothing else. */
static int check_words(const cli_arguments *arguments) {
    const cli_command *command = cli_find_command("inspect");
    if (arguments->word_count > 1 && !arguments->statistics)
        return cli_usage_error(command, "'%s' is one word too many, unless --statistics is given",
                               arguments->words[1]);
    if (arguments->word_count < 2 && arguments->statistics)
        return cli_usage_error(command,
                               "--statistics needs the data that the model was trained on");
    return EXIT_DONE;
}

static int inspect(cli_session *session, const margin_model *model) {
    const cli_arguments *arguments = session->arguments;
    cli_text text = {0};
    int code = cli_choose_target(session, model, "inspect", arguments->words[1], false);
    const int64_t shown = cli_several_targets(model) ? session->target : -1;
    if (code) return code;
    if (arguments->statistics)
        code = cli_statistics(session, model, &text);
    else if (arguments->json)
        json_model(&text, model, shown);
    else
        print_model(&text, model, shown);
    if (!code) return text_finish(session, &text, arguments->output);
    text_free(&text);
    return code;
}

int run_inspect(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    int code = check_words(arguments);
    if (!code) code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    code = status < 0 ? cli_failed(&session, status) : inspect(&session, model);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
