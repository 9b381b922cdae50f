/* What is settled after a fit: --calibrate, --coverage, --threshold, --costs. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_probability(const char *option, const char *word, double *value) {
    if (margin_number_parse_f64(word, strlen(word), value) && *value > 0 && *value <= 1)
        return EXIT_DONE;
    return cli_usage_error(NULL, "%s takes a number between 0 and 1, not '%s'", option, word);
}

/* "0,1;5,0": a row for each true class, numbers separated by commas. */
static int read_costs(const char *text, margin_promise_options *o, double **costs) {
    int64_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ',' || *c == ';';
    *costs = malloc((size_t)count * sizeof **costs);
    if (!*costs) {
        fputs("margin: out of memory for the costs\n", stderr);
        return EXIT_NO_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        const size_t length = strcspn(text, ",;");
        if (!margin_number_parse_f64(text, length, *costs + i))
            return cli_usage_error(NULL,
                                   "--costs takes a row of numbers for each class, as '0,1;5,0'; "
                                   "'%.*s' is none",
                                   (int)length, text);
        text += length + (text[length] != 0);
    }
    o->costs = *costs;
    o->cost_count = count;
    return EXIT_DONE;
}

static int32_t calibration_of(const char *word) {
    if (!word) return MARGIN_CALIBRATE_NONE;
    return !strcmp(word, "sigmoid")    ? MARGIN_CALIBRATE_SIGMOID
           : !strcmp(word, "isotonic") ? MARGIN_CALIBRATE_ISOTONIC
                                       : MARGIN_CALIBRATE_TEMPERATURE;
}

/* --threshold takes a number, or the name of a metric to choose one by. */
static int read_threshold(const char *word, margin_promise_options *o) {
    if (!word) return EXIT_DONE;
    if (margin_metric_find(word)) {
        o->threshold_metric = word;
        return EXIT_DONE;
    }
    return cli_probability("--threshold", word, &o->threshold);
}

/* What a promise takes from folds is not judged in the order that rows are held out in. */
static void note_order(const cli_session *session, const margin_promise_options *o) {
    const cli_arguments *a = session->arguments;
    if ((!a->time && !a->in_order) || !(o->calibrate || o->coverage > 0 || o->threshold_metric))
        return;
    cli_note(session,
             "%s cuts off the rows held out alone: %s is settled by fits to shuffled rows, for "
             "rows that come in no special order",
             a->time ? "--time" : "--in-order",
             a->calibrate  ? "--calibrate"
             : a->coverage ? "--coverage"
                           : "--threshold");
}

int cli_promise(cli_session *session, const margin_data *data, margin_model **model) {
    const cli_arguments *a = session->arguments;
    margin_promise_options o = {
        .size = sizeof o, .calibrate = calibration_of(a->calibrate), .seed = (uint64_t)a->seed};
    double *costs = NULL;
    margin_table *groups = NULL;
    margin_model *promised;
    if (!a->calibrate && !a->coverage && !a->threshold && !a->costs) return EXIT_DONE;
    int code = read_threshold(a->threshold, &o);
    if (!code && a->coverage &&
        !margin_number_parse_f64(a->coverage, strlen(a->coverage), &o.coverage))
        code =
            cli_usage_error(NULL, "--coverage takes a share, 0.9 for most, not '%s'", a->coverage);
    if (!code && a->coverage && !(o.coverage > 0 && o.coverage < 1))
        code = cli_usage_error(NULL, "--coverage takes a share between 0 and 1, not '%s'",
                               a->coverage);
    if (!code && a->costs) code = read_costs(a->costs, &o, &costs);
    if (!code) code = cli_groups(session, data->x.rows, &groups, &o.groups);
    if (!code) {
        note_order(session, &o);
        const margin_status status =
            margin_promise(session->context, *model, data, &o, &promised, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    margin_table_free(groups);
    free(costs);
    if (code) return code;
    margin_model_free(*model);
    *model = promised;
    return EXIT_DONE;
}

const char *cli_calibration(const margin_model *model) {
    static const char *const names[] = {NULL, "sigmoid", "isotonic", "temperature"};
    return names[margin_model_calibration(model)];
}

void text_promises(cli_text *text, const margin_model *model,
                   const margin_coverage_found *held_out) {
    const double threshold = margin_model_threshold(model), coverage = margin_model_coverage(model);
    if (margin_model_calibration(model))
        text_printf(text, "calibrated  by %s, from fits that did not see the rows\n",
                    cli_calibration(model));
    if (!isnan(threshold)) {
        text_puts(text, "decides     ");
        text_name(text, margin_model_class_name(model, 1), 0, 40);
        text_puts(text, " from a probability of ");
        text_short(text, threshold);
        text_puts(text, " on\n");
    }
    if (margin_model_costs(model)) text_puts(text, "decides     by least expected cost\n");
    if (isnan(coverage)) return;
    text_puts(text, "coverage    ");
    text_short(text, coverage);
    text_printf(text, " of future rows (%s)",
                margin_model_task(model) == MARGIN_REGRESS ? "predict gives intervals"
                                                           : "predict gives sets of classes");
    if (held_out && held_out->rows) {
        text_puts(text, ", ");
        text_short(text, held_out->covered);
        text_puts(text, " of the held-out ones");
    }
    text_puts(text, "\n");
}

void json_promises(cli_text *text, const margin_model *model) {
    const double threshold = margin_model_threshold(model), coverage = margin_model_coverage(model);
    const int64_t classes = margin_model_class_count(model);
    if (margin_model_calibration(model)) json_string(text, "calibration", cli_calibration(model));
    if (!isnan(threshold)) json_number(text, "threshold", threshold);
    if (margin_model_costs(model))
        json_numbers(text, "costs", margin_model_costs(model), classes * classes);
    if (!isnan(coverage)) json_number(text, "coverage", coverage);
}

void json_coverage(cli_text *text, const margin_coverage_found *found) {
    if (!found->rows) return;
    json_open(text, "coverage", '{');
    json_number(text, "asked", found->asked);
    json_number(text, "found", found->covered);
    json_number(text, "width", found->width);
    json_close(text, '}');
}
