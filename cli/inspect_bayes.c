/* margin inspect of naive Bayes: the probabilities that were counted, as a textbook has them, and
 * what tells a class from the others. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

/* People see at most so many columns, levels of a column and classes; classes in tables of BLOCK.
 */
enum { COLUMNS = 20, LEVELS = 20, CLASSES = 20, BLOCK = 4 };
enum { LABEL = 28, CELL = 15, NAME = 12 };

/* In the units of the table; values are those of the features. */
static bool likelihood(const margin_model *model, int64_t k, int64_t j, margin_likelihood *l,
                       int64_t capacity, double *probabilities) {
    double shift, scale;
    if (!margin_model_likelihood(model, k, j, l, capacity, probabilities)) return false;
    (void)margin_model_scale(model, j, &shift, &scale);
    l->mean = shift + scale * l->mean;
    l->deviation *= scale;
    return true;
}

/* ---- What tells a class from the others ------------------------------------------------------ */

enum { TELLING = 5, TELLING_JSON = 50 };

static const char *category_of(const margin_model *model, const margin_telling *t) {
    int64_t count;
    const margin_column *column = &margin_model_features(model, &count)[t->column];
    const bool known = t->category >= 0 && t->category < column->category_count;
    return known ? column->categories[t->category] : NULL;
}

/* 0 or 1 of a bernoulli column, or a value of the column in the units of the table. */
static double value_of(const margin_model *model, const margin_telling *t) {
    margin_likelihood l = {0};
    const bool switched = likelihood(model, 0, t->column, &l, 0, NULL) &&
                          l.distribution == MARGIN_DISTRIBUTION_BERNOULLI;
    return switched ? t->value : cli_in_units(model, t->column, t->value);
}

static void json_telling(cli_text *text, const margin_model *model) {
    margin_telling list[TELLING_JSON];
    int64_t columns;
    const margin_column *features = margin_model_features(model, &columns);
    if (margin_model_telling(model, 0, TELLING_JSON, list) == 0) return;
    json_open(text, "telling", '[');
    for (int64_t k = 0; k < margin_model_class_count(model); k++) {
        const int64_t count = margin_model_telling(model, k, TELLING_JSON, list);
        json_open(text, NULL, '[');
        for (int64_t i = 0; i < count; i++) {
            json_open(text, NULL, '{');
            json_string(text, "column", features[list[i].column].name);
            json_number(text, "evidence", list[i].evidence);
            if (category_of(model, &list[i]))
                json_string(text, "category", category_of(model, &list[i]));
            if (!isnan(list[i].value)) json_number(text, "value", value_of(model, &list[i]));
            if (!isnan(list[i].log_ratio)) json_number(text, "log_ratio", list[i].log_ratio);
            json_close(text, '}');
        }
        json_close(text, ']');
    }
    json_close(text, ']');
}

/* "odor=f 3.2": the column, what of it speaks most for the class, nats a row. */
static void print_telling(cli_text *text, const margin_model *model, int64_t k) {
    margin_telling list[TELLING];
    int64_t columns;
    const margin_column *features = margin_model_features(model, &columns);
    const int64_t count = margin_model_telling(model, k, TELLING, list);
    if (count == 0) return;
    text_puts(text, "telling     ");
    text_name(text, margin_model_class_name(model, k), 0, 24);
    text_puts(text, ":");
    for (int64_t i = 0; i < count && list[i].evidence > 0; i++) {
        const char *category = category_of(model, &list[i]);
        text_puts(text, i ? ", " : " ");
        text_name(text, features[list[i].column].name, 0, 24);
        if (category) {
            text_puts(text, "=");
            text_name(text, category, 0, 24);
        } else if (!isnan(list[i].value)) {
            text_puts(text, isnan(list[i].log_ratio) ? " about " : "=");
            text_short(text, value_of(model, &list[i]));
        }
        text_puts(text, " (");
        text_short(text, list[i].evidence);
        text_puts(text, ")");
    }
    text_puts(text, "\n");
}

/* ---- Probabilities, for programs ------------------------------------------------------------- */

static const char *const distributions[] = {"categorical", "gaussian", "bernoulli", "multinomial"};

/* Name of a level, NULL for numbers as categories. */
static const char *level_name(const margin_column *column, const margin_likelihood *l,
                              int64_t level) {
    return !l->values && level < column->category_count ? column->categories[level] : NULL;
}

enum part { PART_TOTAL, PART_COUNT, PART_P, PART_MEAN, PART_DEVIATION };

static double part_of(const margin_likelihood *l, enum part part) {
    const double parts[] = {l->total, l->count, l->p, l->mean, l->deviation};
    return parts[part];
}

/* A number of each class. */
static void json_part(cli_text *text, const char *key, const margin_model *model, int64_t j,
                      enum part part) {
    margin_likelihood l = {0};
    json_open(text, key, '[');
    for (int64_t k = 0; k < margin_model_class_count(model); k++)
        if (likelihood(model, k, j, &l, 0, NULL)) json_number(text, NULL, part_of(&l, part));
    json_close(text, ']');
}

static void json_levels(cli_text *text, const margin_model *model, int64_t j,
                        const margin_column *column, const margin_likelihood *first) {
    const int64_t classes = margin_model_class_count(model);
    margin_likelihood l = {0};
    double *p = malloc((size_t)first->levels * sizeof *p + 1);
    if (!p) text->failed = true;
    json_open(text, "levels", '[');
    for (int64_t level = 0; level < first->levels; level++)
        if (first->values)
            json_number(text, NULL, cli_in_units(model, j, first->values[level]));
        else if (level_name(column, first, level))
            json_string(text, NULL, level_name(column, first, level));
        else
            json_null(text, NULL);
    json_close(text, ']');
    json_open(text, "count", '[');
    for (int64_t k = 0; k < classes; k++)
        if (likelihood(model, k, j, &l, 0, NULL)) json_numbers(text, NULL, l.counts, l.levels);
    json_close(text, ']');
    json_open(text, "p", '[');
    for (int64_t k = 0; p && k < classes; k++)
        if (likelihood(model, k, j, &l, first->levels, p)) json_numbers(text, NULL, p, l.levels);
    json_close(text, ']');
    free(p);
}

static void json_likelihood(cli_text *text, const margin_model *model, int64_t j,
                            const margin_column *column) {
    margin_likelihood first = {0};
    if (!likelihood(model, 0, j, &first, 0, NULL)) return;
    json_open(text, NULL, '{');
    json_string(text, "column", column->name);
    json_string(text, "distribution", distributions[first.distribution]);
    json_part(text, "total", model, j, PART_TOTAL);
    switch (first.distribution) {
    case MARGIN_DISTRIBUTION_CATEGORICAL:
        json_levels(text, model, j, column, &first);
        break;
    case MARGIN_DISTRIBUTION_GAUSSIAN:
        json_part(text, "mean", model, j, PART_MEAN);
        json_part(text, "deviation", model, j, PART_DEVIATION);
        break;
    default:
        json_part(text, "count", model, j, PART_COUNT);
        json_part(text, "p", model, j, PART_P);
    }
    json_close(text, '}');
}

void json_bayes(cli_text *text, const margin_model *model) {
    const int64_t classes = margin_model_class_count(model);
    int64_t columns;
    const margin_column *features = margin_model_features(model, &columns);
    if (isnan(margin_model_prior(model, 0, NULL))) return;
    json_open(text, "priors", '[');
    for (int64_t k = 0; k < classes; k++)
        json_number(text, NULL, margin_model_prior(model, k, NULL));
    json_close(text, ']');
    json_open(text, "class_count", '[');
    for (int64_t k = 0; k < classes; k++) {
        double weight = 0;
        (void)margin_model_prior(model, k, &weight);
        json_number(text, NULL, weight);
    }
    json_close(text, ']');
    json_open(text, "likelihoods", '[');
    for (int64_t j = 0; j < columns; j++)
        json_likelihood(text, model, j, &features[j]);
    json_close(text, ']');
    json_telling(text, model);
}

/* ---- Probabilities, for people --------------------------------------------------------------- */

/* "0.4444 (3)" */
static void add_share(cli_text *cell, double p, double count) {
    text_short(cell, p);
    text_puts(cell, " (");
    text_short(cell, count);
    text_puts(cell, ")");
}

static void add_cell(cli_text *cell, const margin_likelihood *l, double p, int64_t level) {
    if (l->distribution == MARGIN_DISTRIBUTION_CATEGORICAL) {
        add_share(cell, p, l->counts[level]);
    } else if (l->distribution != MARGIN_DISTRIBUTION_GAUSSIAN) {
        add_share(cell, l->p, l->count);
    } else {
        text_short(cell, l->mean);
        text_puts(cell, l->deviation > 0 ? " +- " : " (constant)");
        if (l->deviation > 0) text_short(cell, l->deviation);
    }
}

/* Appends at most `most` characters (0: all) of a cell, with blanks to `width`, and clears it. */
static void put_cell(cli_text *text, cli_text *cell, int width, int most) {
    text_puts(text, " ");
    text_name(text, cell->data ? cell->data : "", width, most);
    text->failed = text->failed || cell->failed;
    text_free(cell);
}

static void add_label(cli_text *label, const margin_model *model, int64_t j,
                      const margin_likelihood *l, int64_t level) {
    int64_t columns;
    const margin_column *column = &margin_model_features(model, &columns)[j];
    const bool listed = l->distribution == MARGIN_DISTRIBUTION_CATEGORICAL;
    const char *name = level_name(column, l, level);
    if (l->distribution == MARGIN_DISTRIBUTION_MULTINOMIAL) text_puts(label, "theta ");
    text_name(label, column->name, 0, listed ? NAME : LABEL - 6);
    if (l->distribution == MARGIN_DISTRIBUTION_BERNOULLI) {
        text_puts(label, " > ");
        text_short(label, cli_in_units(model, j, 0));
    }
    if (listed) text_puts(label, " = ");
    if (name)
        text_name(label, name, 0, 0);
    else if (l->values)
        text_short(label, cli_in_units(model, j, l->values[level]));
}

/* Lines of a column in the classes [first, end). */
static void print_column(cli_text *text, const margin_model *model, int64_t j, int64_t first,
                         int64_t end) {
    int64_t columns;
    const margin_column *column = &margin_model_features(model, &columns)[j];
    double p[BLOCK][LEVELS] = {{0}};
    margin_likelihood l[BLOCK] = {0};
    cli_text cell = {0};
    for (int64_t k = first; k < end; k++)
        if (!likelihood(model, k, j, &l[k - first], LEVELS, p[k - first])) return;
    const bool listed = l[0].distribution == MARGIN_DISTRIBUTION_CATEGORICAL;
    const int64_t lines = listed ? l[0].levels : 1;
    for (int64_t line = 0; line < lines && line < LEVELS; line++) {
        text_puts(text, " ");
        add_label(&cell, model, j, &l[0], line);
        put_cell(text, &cell, LABEL, LABEL);
        for (int64_t k = first; k < end; k++) {
            add_cell(&cell, &l[k - first], p[k - first][line], line);
            put_cell(text, &cell, k + 1 < end ? CELL : 0, 0);
        }
        text_puts(text, "\n");
    }
    if (lines > LEVELS) {
        text_puts(text, "  ");
        text_name(text, column->name, 0, NAME);
        text_printf(text, ": and %lld more\n", (long long)(lines - LEVELS));
    }
}

static void print_block(cli_text *text, const margin_model *model, int64_t first, int64_t end) {
    int64_t columns;
    cli_text cell = {0};
    (void)margin_model_features(model, &columns);
    text_printf(text, "\n  %-*s", LABEL, "");
    for (int64_t k = first; k < end; k++) {
        text_name(&cell, margin_model_class_name(model, k), 0, CELL);
        put_cell(text, &cell, k + 1 < end ? CELL : 0, 0);
    }
    text_printf(text, "\n  %-*s", LABEL, "(prior)");
    for (int64_t k = first; k < end; k++) {
        double weight = 0;
        const double prior = margin_model_prior(model, k, &weight);
        add_share(&cell, prior, weight);
        put_cell(text, &cell, k + 1 < end ? CELL : 0, 0);
    }
    text_puts(text, "\n");
    for (int64_t j = 0; j < columns && j < COLUMNS; j++)
        print_column(text, model, j, first, end);
}

void text_bayes(cli_text *text, const margin_model *model) {
    const int64_t classes = margin_model_class_count(model);
    int64_t columns;
    margin_likelihood l = {0};
    bool gaussian = false;
    (void)margin_model_features(model, &columns);
    if (isnan(margin_model_prior(model, 0, NULL))) return;
    for (int64_t k = 0; k < classes; k++)
        print_telling(text, model, k);
    for (int64_t j = 0; j < columns && j < COLUMNS && !gaussian; j++)
        gaussian =
            likelihood(model, 0, j, &l, 0, NULL) && l.distribution == MARGIN_DISTRIBUTION_GAUSSIAN;
    text_puts(text, "\nP(value | class), in brackets what was counted");
    text_puts(text, gaussian ? "; gaussian: mean +- standard deviation\n" : "\n");
    for (int64_t k = 0; k < classes && k < CLASSES; k += BLOCK)
        print_block(text, model, k, k + BLOCK < classes ? k + BLOCK : classes);
    if (columns > COLUMNS || classes > CLASSES) {
        text_puts(text, "\n  and");
        if (columns > COLUMNS)
            text_printf(text, " %lld more columns", (long long)(columns - COLUMNS));
        if (columns > COLUMNS && classes > CLASSES) text_puts(text, ",");
        if (classes > CLASSES)
            text_printf(text, " %lld more classes", (long long)(classes - CLASSES));
        text_puts(text, ": --json has all\n");
    }
}
