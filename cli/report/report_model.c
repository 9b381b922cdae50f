/* What a report says of the model alone: what it is, what was minimised, how far it is from the
 * least possible, its weights, and how to make it again. */
#include "report_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Model ----------------------------------------------------------------------------------- */

static margin_status put_parts(cli_session *session, cli_text *page, const char *text) {
    margin_spec *spec = NULL;
    const margin_status status = margin_spec_parse(session->context, text, &spec, &session->error);
    if (status < 0) return status;
    text_puts(page, "<p><code>");
    html_text(page, text);
    text_puts(page, "</code></p>\n");
    html_table(page, "part|what it does");
    for (int64_t k = 0; k < margin_spec_steps(spec); k++) {
        const margin_component *part = margin_spec_step(spec, k);
        text_puts(page, "<tr><td><code>");
        html_text(page, part->name);
        text_puts(page, "</code></td><td style=\"white-space:normal\">");
        html_text(page, part->summary);
        text_puts(page, "</td></tr>\n");
    }
    html_table_end(page);
    margin_spec_free(spec);
    return status;
}

int report_model(cli_session *session, cli_text *page, const margin_model *model) {
    const margin_report *report = margin_model_report(model);
    const margin_component *learner = margin_model_learner(model);
    cli_text line = {0};
    html_section(page, "The model");
    const margin_status status = put_parts(session, page, margin_model_spec(model));
    if (status < 0) return cli_failed(session, status);
    text_puts(page, "<p>");
    text_printf(page, "%s: <code>", learner->abilities & MARGIN_IS_RULE ? "Rule" : "Minimised");
    html_text(page, report->formula);
    text_puts(page, "</code>");
    text_penalty(&line, report);
    if (line.data) html_text(page, line.data);
    text_free(&line);
    text_puts(page, "</p>\n<p class=\"pale\">After ");
    html_text(page, learner->source);
    text_puts(page, ".</p>\n");
    text_puts(page, "<p>Trained on ");
    text_count(&line, report->rows, "rows");
    text_puts(&line, " with ");
    text_count(&line, report->columns, "columns");
    if (line.data) html_text(page, line.data);
    text_free(&line);
    if (!isnan(report->train_accuracy)) {
        text_puts(page, ", accuracy there ");
        html_number(page, report->train_accuracy);
    }
    if (!isnan(report->train_rmse)) {
        text_puts(page, ", rmse there ");
        html_number(page, report->train_rmse);
    }
    const double scored = margin_report_item_value(report, "scored_rows");
    if (!isnan(scored)) text_printf(page, " (on %.0f of them, spread evenly)", scored);
    text_puts(page, ".</p>\n");
    return EXIT_DONE;
}

/* ---- Proof ----------------------------------------------------------------------------------- */

static void put_quoted(cli_text *page, const char *word) {
    cli_text quoted = {0};
    const bool plain =
        word[0] && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                      "UVWXYZ0123456789_-./,=")];
    if (!plain) text_puts(&quoted, "'");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            text_puts(&quoted, "'\\''");
        else
            text_add(&quoted, c, 1);
    if (!plain) text_puts(&quoted, "'");
    if (quoted.data) html_text(page, quoted.data);
    page->failed = page->failed || quoted.failed;
    text_free(&quoted);
}

/* The options that this page was made with, as far as they matter to the command. */
static void put_options(cli_text *page, const cli_arguments *a, const char *command) {
    for (int k = 0; k < cli_option_count; k++) {
        const cli_option *o = &cli_options[k];
        const void *field = (const char *)a + o->field;
        const bool has_value = o->kind == KIND_TEXT || o->kind == KIND_INPUT;
        const bool given = has_value ? *(const char *const *)field != NULL
                                     : o->kind == KIND_SWITCH && *(const bool *)field;
        const bool own = field == (const void *)&a->quiet ||
                         (!strcmp(command, "fit") &&
                          (field == (const void *)&a->target || field == (const void *)&a->strict ||
                           field == (const void *)&a->allow));
        if (!given || own || !cli_option_applies(o, cli_find_command(command))) continue;
        text_printf(page, " %s", o->name);
        if (!has_value) continue;
        text_puts(page, " ");
        put_quoted(page, *(const char *const *)field);
    }
}

/* The table of this page where it has as many rows as the model was trained on. */
static const char *training_data(const cli_arguments *a, const margin_model *model,
                                 const margin_data *data) {
    const bool fits = data && data->x.rows == margin_model_report(model)->rows;
    return fits && strcmp(a->words[1], "-") != 0 ? a->words[1] : NULL;
}

static void put_training_path(cli_text *page, const char *path) {
    text_puts(page, " ");
    put_quoted(page, path ? path : "TRAINING_DATA");
}

void report_proof(cli_session *session, cli_text *page, const margin_model *model,
                  const margin_data *data) {
    const cli_arguments *a = session->arguments;
    const margin_report *report = margin_model_report(model);
    html_section(page, "The proof");
    text_puts(page, "<p>");
    if (!cli_has_gap(model, report)) {
        html_text(page, margin_model_learner(model)->abilities & MARGIN_IS_RULE
                            ? "This learner follows a rule and minimises nothing, so there is "
                              "nothing to be short of."
                            : "Nothing tells how low the objective could be: a better model of "
                              "this kind may exist.");
    } else if (isinf(report->gap)) {
        html_text(page, "There is no bound of how far this model is from the best one.");
    } else {
        text_puts(page, "The objective is ");
        html_number(page, report->objective);
        text_puts(page, ", and no model of this kind has one that is lower by more than ");
        html_number(page, report->gap);
        text_puts(page, report->objective > 1 ? " of it" : "");
        text_puts(page, " (the gap");
        if (report->tolerance > 0) {
            text_puts(page, "; asked for: ");
            html_number(page, report->tolerance);
        }
        text_puts(page, "), whatever the data are.");
        if (report->status == MARGIN_OK)
            text_puts(page, " More training would change next to nothing.");
    }
    text_puts(page, "</p>\n");
    if (report->status != MARGIN_OK)
        html_say(page, "Training stopped before the tolerance was reached.");
    if (report->reason[0]) html_say(page, report->reason);
    if (!cli_has_gap(model, report)) return;
    text_puts(page, "<p>Anybody can check it on the training data:</p>\n<pre>margin evaluate ");
    put_quoted(page, a->words[0]);
    put_training_path(page, training_data(a, model, data));
    put_options(page, a, "evaluate");
    text_puts(page, " --verify</pre>\n");
}

/* What the model knows of its training data, and what it does not. */
static void put_training_data(cli_text *page, const margin_model *model, const char *path) {
    enum { MOST = 20 };
    int64_t count;
    const margin_column *columns = margin_model_columns(model, &count);
    text_printf(page, "<p>The model was trained on %lld rows",
                (long long)margin_model_report(model)->rows);
    for (int64_t j = 0; j < count && j < MOST; j++) {
        text_puts(page, j ? ", " : " with the columns ");
        html_text(page, columns[j].name);
    }
    if (count > MOST) text_printf(page, ", ... (%lld)", (long long)count);
    text_puts(page, path ? "; this table has as many." : ".");
    text_puts(page, " What chose rows and columns (--ignore, --missing, --holdout, --weights) or "
                    "was drawn by chance (--seed, --groups) is not in the model: where the fit had "
                    "such options, give them again.</p>\n");
}

/* Names with commas in them cannot stand in a list. */
static void put_targets(cli_text *page, const margin_model *model) {
    const margin_column *targets = margin_model_target(model);
    const int64_t count = margin_model_target_count(model);
    cli_text list = {0};
    for (int64_t t = 0; t < count; t++) {
        const bool listed = count == 1 || !strchr(targets[t].name, ',');
        text_printf(&list, "%s%s", t ? "," : "", listed ? targets[t].name : "NUMBER");
    }
    if (count > 0) text_puts(page, " --target ");
    if (list.data) put_quoted(page, list.data);
    page->failed = page->failed || list.failed;
    text_free(&list);
}

/* What was settled after the fit. */
static void put_promises(cli_text *page, const margin_model *model) {
    const char *calibration = cli_calibration(model);
    const double *costs = margin_model_costs(model);
    const int64_t classes = margin_model_class_count(model);
    if (calibration) text_printf(page, " --calibrate %s", calibration);
    if (costs) text_puts(page, " --costs '");
    for (int64_t k = 0; costs && k < classes * classes; k++) {
        text_puts(page, k == 0 ? "" : k % classes ? "," : ";");
        text_number(page, costs[k]);
    }
    if (costs) text_puts(page, "'");
    if (!isnan(margin_model_threshold(model))) {
        text_puts(page, " --threshold ");
        text_number(page, margin_model_threshold(model));
    }
    if (!isnan(margin_model_coverage(model))) {
        text_puts(page, " --coverage ");
        text_number(page, margin_model_coverage(model));
    }
}

void report_commands(cli_session *session, cli_text *page, const margin_model *model,
                     const margin_data *data) {
    const cli_arguments *a = session->arguments;
    const char *path = training_data(a, model, data);
    html_section(page, "To make it again");
    text_puts(page, "<pre>margin fit ");
    put_quoted(page, margin_model_spec(model));
    put_training_path(page, path);
    if (!a->labels) put_targets(page, model);
    put_promises(page, model);
    put_options(page, a, "fit");
    text_puts(page, " -o ");
    put_quoted(page, a->words[0]);
    text_puts(page, "\nmargin report ");
    put_quoted(page, a->words[0]);
    if (data) text_puts(page, " ");
    if (data) put_quoted(page, a->words[1]);
    put_options(page, a, "report");
    text_puts(page, " -o report.html</pre>\n");
    put_training_data(page, model, path);
}

/* ---- Weights --------------------------------------------------------------------------------- */

typedef struct {
    int64_t feature;
    double weight, size;
} ranked_weight;

static int by_size(const void *a, const void *b) {
    const ranked_weight *left = a, *right = b;
    if (left->size != right->size) return left->size > right->size ? -1 : 1;
    return left->feature < right->feature ? -1 : 1;
}

typedef struct {
    double weight, mean, squares;
    int64_t count;
} moments;

static void add_value(moments *m, double value, double weight) {
    if (!isfinite(value) || !(weight > 0)) return;
    const double off = value - m->mean;
    m->weight += weight;
    m->mean += off * (weight / m->weight);
    m->squares += weight * off * (value - m->mean);
    m->count++;
}

/* Sample standard deviation, of rows with weights that of margin_importance_column. */
static double deviation_of(const moments *m) {
    const double count = (double)m->count;
    return m->count > 1 ? sqrt(m->squares / m->weight * (count / (count - 1))) : 0;
}

/* Moments of what the weights are multiplied with, over dense rows, some of them at a time. */
static margin_status add_rows(cli_session *session, const margin_model *model,
                              const margin_data *data, int64_t features, moments *list) {
    const int64_t step = 1 + 100000 / (features + 1);
    const int64_t size = data->x.value_type == MARGIN_F32 ? sizeof(float) : sizeof(double);
    const double *weights = data->weights.values;
    double *made = malloc((size_t)(step * features + 1) * sizeof *made);
    margin_status status = made ? MARGIN_OK : MARGIN_ERROR_MEMORY;
    for (int64_t i = 0; i < data->x.rows && status >= 0; i += step) {
        margin_matrix part = data->x;
        part.rows = i + step < data->x.rows ? step : data->x.rows - i;
        part.values = (const char *)data->x.values + i * data->x.stride * size;
        status = margin_model_transform(session->context, model, &part, made, &session->error);
        for (int64_t k = 0; k < part.rows * features && status >= 0; k++)
            add_value(&list[k % features], made[k], weights ? weights[i + k / features] : 1);
    }
    free(made);
    return status;
}

/* Standard deviation of each feature; NULL where no dense rows tell it. */
static double *find_spreads(cli_session *session, const margin_model *model,
                            const margin_data *data, int64_t features) {
    if (!data || data->x.row_starts) return NULL;
    moments *list = calloc((size_t)features + 1, sizeof *list);
    double *spread = malloc((size_t)(features + 1) * sizeof *spread);
    if (list && spread && add_rows(session, model, data, features, list) >= 0) {
        for (int64_t j = 0; j < features; j++)
            spread[j] = deviation_of(&list[j]);
    } else {
        free(spread);
        spread = NULL;
    }
    free(list);
    return spread;
}

static void put_weights(cli_text *page, const margin_model *model, int64_t score,
                        const ranked_weight *list, int64_t count, bool compared) {
    enum { SHOWN = 20 };
    int64_t features;
    const margin_column *columns = margin_model_features(model, &features);
    html_table(page, compared ? "column|weight|for one standard deviation|" : "column|weight|");
    for (int64_t k = 0; k < count && k < SHOWN; k++) {
        const ranked_weight *w = &list[k];
        const double share = list[0].size > 0 ? w->size / list[0].size : 0;
        text_puts(page, "<tr>");
        html_cell(page, columns[w->feature].name);
        html_cell_number(page, margin_model_weights(model, score)[w->feature]);
        if (compared) html_cell_number(page, w->weight);
        text_printf(page, "<td><span class=\"bar%s\" style=\"width:%.2frem\"></span></td></tr>\n",
                    w->weight < 0 ? " less" : "", 8 * share);
    }
    text_puts(page, "<tr><td>intercept</td>");
    html_cell_number(page, margin_model_intercept(model, score));
    text_puts(page, compared ? "<td></td><td></td></tr>\n" : "<td></td></tr>\n");
    html_table_end(page);
    if (count > SHOWN)
        text_printf(page, "<p class=\"pale\">The %d largest of %lld.</p>\n", (int)SHOWN,
                    (long long)count);
}

static void put_score_name(cli_text *page, const margin_model *model, int64_t score) {
    int64_t first, second;
    margin_model_score_classes(model, score, &first, &second);
    const char *name = margin_model_class_name(model, first);
    if (!name) return;
    text_puts(page, "<p>Weights above 0 speak for <b>");
    html_text(page, name);
    text_puts(page, "</b>");
    if (second >= 0) {
        text_puts(page, " and against <b>");
        html_text(page, margin_model_class_name(model, second));
        text_puts(page, "</b>");
    }
    text_puts(page, ".</p>\n");
}

void report_weights(cli_session *session, cli_text *page, const margin_model *model,
                    const margin_data *data) {
    enum { MOST_SCORES = 12 };
    int64_t features;
    const int64_t scores = margin_model_score_count(model);
    margin_model_features(model, &features);
    if (scores < 1 || !margin_model_weights(model, 0)) return;
    double *spread = find_spreads(session, model, data, features);
    ranked_weight *list = malloc((size_t)(features + 1) * sizeof *list);
    if (!list) {
        page->failed = true;
        free(spread);
        return;
    }
    html_section(page, "The weights");
    html_say(page, spread ? "In the units of the table, and times the standard deviation of each "
                            "column here, so that they compare; the largest first."
                          : "In the units of the table, the largest first; where units differ, "
                            "sizes do not compare.");
    for (int64_t k = 0; k < scores && k < MOST_SCORES; k++) {
        for (int64_t j = 0; j < features; j++) {
            const double weight = margin_model_weights(model, k)[j] * (spread ? spread[j] : 1);
            list[j] = (ranked_weight){j, weight, fabs(weight)};
        }
        qsort(list, (size_t)features, sizeof *list, by_size);
        put_score_name(page, model, k);
        put_weights(page, model, k, list, features, spread != NULL);
    }
    free(spread);
    free(list);
}
