/* The units of what a model shows: back in those of the table, or said which they are. */
#include "cli.h"

#include <math.h>
#include <string.h>

double cli_in_units(const margin_model *model, int64_t feature, double value) {
    double shift, scale;
    (void)margin_model_scale(model, feature, &shift, &scale);
    return shift + scale * value;
}

static bool is_scaled(const margin_model *model, int64_t feature) {
    double shift, scale;
    (void)margin_model_scale(model, feature, &shift, &scale);
    return shift != 0 || scale != 1;
}

int64_t cli_scaled_features(const margin_model *model) {
    int64_t features, scaled = 0;
    (void)margin_model_features(model, &features);
    for (int64_t j = 0; j < features; j++)
        scaled += is_scaled(model, j);
    return scaled;
}

/* "speed' = (speed - 15.4) / 5.24", as little of it as there is. */
static void put_scale(cli_text *text, const char *name, double shift, double scale) {
    text_name(text, name, 0, 24);
    text_puts(text, "' = ");
    if (scale == 0) {
        text_puts(text, "0");
        return;
    }
    text_puts(text, shift != 0 && scale != 1 ? "(" : "");
    text_name(text, name, 0, 24);
    if (shift != 0) {
        text_puts(text, shift < 0 ? " + " : " - ");
        text_short(text, fabs(shift));
        text_puts(text, scale != 1 ? ")" : "");
    }
    if (scale != 1) {
        text_puts(text, " / ");
        text_short(text, scale);
    }
}

enum { SHOWN = 6 };

static void put_more(cli_text *text, int64_t count) {
    if (count > SHOWN)
        text_printf(text, ", and %lld more (--json has all)", (long long)(count - SHOWN));
    text_puts(text, "\n");
}

/* How columns are scaled whose weights are shown. */
static void text_scales(cli_text *text, const margin_model *model, const char *what) {
    const int64_t scaled = cli_scaled_features(model);
    int64_t features, put = 0;
    const margin_column *columns = margin_model_features(model, &features);
    if (scaled == 0) return;
    text_printf(text, "units       %s: ", what);
    for (int64_t j = 0; j < features && put < SHOWN; j++) {
        double shift, scale;
        if (!is_scaled(model, j)) continue;
        (void)margin_model_scale(model, j, &shift, &scale);
        text_puts(text, put++ ? ", " : "");
        put_scale(text, columns[j].name, shift, scale);
    }
    put_more(text, scaled);
}

/* Made of scaled columns, or called like the column of the table in its place and not it (behind
 * normalize). */
static bool is_foreign(const margin_model *model, int64_t feature) {
    double shift, scale;
    int64_t count;
    const margin_column *inputs = margin_model_columns(model, &count);
    const int64_t from = margin_model_scale(model, feature, &shift, &scale);
    return from == -2 ||
           (from == -1 && feature < count &&
            strcmp(inputs[feature].name, margin_model_features(model, NULL)[feature].name) == 0);
}

static int64_t foreign_features(const margin_model *model) {
    int64_t features, foreign = 0;
    (void)margin_model_features(model, &features);
    for (int64_t j = 0; j < features; j++)
        foreign += is_foreign(model, j);
    return foreign;
}

/* Which values are not in the units of the table. */
static void text_made(cli_text *text, const margin_model *model) {
    const int64_t foreign = foreign_features(model);
    int64_t features, put = 0;
    const margin_column *columns = margin_model_features(model, &features);
    if (foreign == 0) return;
    text_puts(text, "units       not those of the table: ");
    for (int64_t j = 0; j < features && put < SHOWN; j++) {
        if (!is_foreign(model, j)) continue;
        text_puts(text, put++ ? ", " : "");
        text_name(text, columns[j].name, 0, 40);
    }
    put_more(text, foreign);
}

void text_units(cli_text *text, const margin_model *model) {
    const bool weights = margin_model_weights(model, 0) != NULL;
    if (weights)
        text_scales(text, model, "weights are of scaled columns");
    else if (margin_model_task(model) == MARGIN_TRANSFORM)
        text_scales(text, model, "columns are scaled");
    if (weights || margin_model_task(model) == MARGIN_TRANSFORM || margin_model_centre(model, 0) ||
        !isnan(margin_model_prior(model, 0, NULL)))
        text_made(text, model);
}

void json_units(cli_text *text, const margin_model *model) {
    int64_t features;
    double shift, scale;
    (void)margin_model_features(model, &features);
    if (cli_scaled_features(model) + foreign_features(model) == 0) return;
    json_open(text, "units", '{');
    json_open(text, "shift", '[');
    for (int64_t j = 0; j < features; j++) {
        (void)margin_model_scale(model, j, &shift, &scale);
        json_number(text, NULL, shift);
    }
    json_close(text, ']');
    json_open(text, "scale", '[');
    for (int64_t j = 0; j < features; j++) {
        (void)margin_model_scale(model, j, &shift, &scale);
        json_number(text, NULL, scale);
    }
    json_close(text, ']');
    json_open(text, "made", '[');
    for (int64_t j = 0; j < features; j++)
        if (is_foreign(model, j))
            json_string(text, NULL, margin_model_features(model, NULL)[j].name);
    json_close(text, ']');
    json_close(text, '}');
}
