/* Tables and models as the options ask for them. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

margin_table_details cli_table_details(const margin_table *table) {
    margin_table_details details = {.size = sizeof details};
    margin_table_info(table, &details);
    return details;
}

margin_format cli_format(const cli_arguments *arguments) {
    static const struct {
        const char *name;
        margin_format format;
    } formats[] = {{"csv", MARGIN_FORMAT_CSV},           {"tsv", MARGIN_FORMAT_CSV},
                   {"svmlight", MARGIN_FORMAT_SVMLIGHT}, {"svm", MARGIN_FORMAT_SVMLIGHT},
                   {"libsvm", MARGIN_FORMAT_SVMLIGHT},   {"npy", MARGIN_FORMAT_NPY},
                   {"idx", MARGIN_FORMAT_IDX},           {"arrow", MARGIN_FORMAT_ARROW}};
    for (size_t i = 0; arguments->format && i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(arguments->format, formats[i].name)) return formats[i].format;
    return MARGIN_FORMAT_AUTO;
}

/* What the first steps of a spec, at most so many, can do between them. */
static int abilities_of(const char *text, int64_t most) {
    margin_spec *spec = NULL;
    int abilities = 0;
    if (!text || margin_spec_parse(NULL, text, &spec, NULL) < 0) return 0;
    for (int64_t k = 0; k < margin_spec_steps(spec) && k < most; k++) {
        const margin_component *step = margin_spec_step(spec, k);
        if (strcmp(step->name, "transform") != 0) abilities |= (int)step->abilities; /* of stages */
    }
    margin_spec_free(spec);
    return abilities;
}

static bool takes_missing(const char *spec) {
    return abilities_of(spec, 1) & MARGIN_CAN_MISSING;
}

margin_missing cli_missing(const cli_arguments *arguments, const char *spec) {
    const char *asked = arguments->missing;
    if (asked && !strcmp(asked, "drop")) return MARGIN_MISSING_DROP;
    if (asked && !strcmp(asked, "error")) return MARGIN_MISSING_ERROR;
    if (asked && !strcmp(asked, "keep")) return MARGIN_MISSING_CATEGORY;
    return takes_missing(spec) ? MARGIN_MISSING_KEEP : MARGIN_MISSING_ERROR;
}

static char separator_of(const cli_arguments *arguments) {
    const char *word = arguments->separator;
    if (!word) return arguments->format && !strcmp(arguments->format, "tsv") ? '\t' : 0;
    if (!strcmp(word, "tab")) return '\t';
    return strcmp(word, "space") != 0 && strcmp(word, "blank") != 0 ? word[0] : ' ';
}

static margin_read_options read_options(const cli_arguments *a) {
    return (margin_read_options){
        .size = sizeof(margin_read_options),
        .format = cli_format(a),
        .target = a->no_target ? "" : a->target,
        .weights = a->weights,
        .ignore = a->ignore,
        .categorical = a->categorical,
        .labels = a->labels,
        .header = a->header      ? MARGIN_HEADER_YES
                  : a->no_header ? MARGIN_HEADER_NO
                                 : MARGIN_HEADER_AUTO,
        .separator = separator_of(a),
        .index_base = a->one_based    ? 1
                      : a->zero_based ? -1
                                      : 0,
        .value_type = a->float32 ? MARGIN_F32 : 0,
    };
}

/* Reads once more, with missing values: only after an error, and not what is gone once read. */
static bool holds_categories(cli_session *session, const char *path, margin_read_options options) {
    margin_table *table = NULL;
    bool found = false;
    options.missing = MARGIN_MISSING_KEEP;
    options.target_complete = 0;
    if (!strcmp(path, "-") || margin_table_read(session->context, path, &options, &table, NULL) < 0)
        return false;
    const margin_data data = margin_table_data(table);
    for (int64_t j = 0; data.columns && j < data.x.columns; j++)
        found |= data.columns[j].kind == MARGIN_CATEGORICAL;
    margin_table_free(table);
    return found;
}

/* Adds to the sentence about a missing value what the command can do about it. */
static void advise_missing(cli_session *session, const char *path,
                           const margin_read_options *options) {
    char *text = session->error.text;
    const size_t length = strlen(text), room = sizeof session->error.text - length;
    const bool target = strstr(text, "the target") || strstr(text, "the label");
    if (session->error.cause != MARGIN_CAUSE_MISSING_VALUE) return;
    if (target && takes_missing(session->spec))
        snprintf(
            text + length, room,
            ": take such rows out of the file (--missing drop would leave out every row with a "
            "missing value)");
    else if (target || takes_missing(session->spec))
        snprintf(text + length, room, ": leave such rows out (--missing drop)");
    else if (options->expected)
        snprintf(text + length, room,
                 ": pass over such rows (--missing drop), or train a model that fills them in "
                 "(margin fit 'impute | ...')");
    else if (session->spec && strstr(session->spec, "kernel=precomputed"))
        snprintf(text + length, room,
                 ", and no other values of a Gram matrix can stand for it: compute it, or take its "
                 "row and the column of that row out of the file");
    else if (session->spec && strstr(session->spec, "impute"))
        snprintf(text + length, room,
                 ": put impute first in the spec, in front of what takes no missing value");
    else if (session->spec)
        snprintf(text + length, room,
                 ": fill in means and most frequent categories ('impute | %s%s'), leave such rows "
                 "out (--missing drop)%s",
                 !(abilities_of(session->spec, INT64_MAX) & MARGIN_CAN_CATEGORIES) &&
                         holds_categories(session, path, *options)
                     ? "onehot | "
                     : "",
                 session->spec,
                 session->fits ? ", or take it for a category of its own where the column holds "
                                 "categories (--missing keep)"
                               : "");
    else
        snprintf(text + length, room, ": leave such rows out (--missing drop)");
}

static int64_t first_categories(const margin_data *data) {
    int64_t j = 0;
    while (data->columns && j < data->x.columns && data->columns[j].kind != MARGIN_CATEGORICAL)
        j++;
    return data->columns ? j : data->x.columns;
}

void cli_advise_data(cli_session *session, const margin_data *data, const char *file) {
    margin_error *error = &session->error;
    const int64_t j = first_categories(data);
    const bool categories = j < data->x.columns && strstr(error->text, "; leave it out");
    const bool row = file && error->row > 0 && error->line == 0;
    cli_text more = {0}, mixed = {0};
    if (row || categories) text_puts(&more, " (");
    if (row) text_printf(&more, "row %lld of the data in %s", (long long)error->row, file);
    if (row && categories) text_puts(&more, "; ");
    if (categories) text_printf(&more, "--ignore %s leaves it out", data->columns[j].name);
    if (row || categories) text_puts(&more, ")");
    if (categories) text_numbers_among_texts(&mixed, data, j);
    if (mixed.data)
        text_printf(&more, ". %s: empty such cells if they stand for missing values", mixed.data);
    const size_t length = strlen(error->text);
    snprintf(error->text + length, sizeof error->text - length, "%s", more.data ? more.data : "");
    text_free(&more);
    text_free(&mixed);
}

static margin_status read_timed(cli_session *session, const char *path,
                                const margin_read_options *options, margin_table **table) {
    double start = cli_clock();
    margin_status status =
        margin_table_read(session->context, path, options, table, &session->error);
    session->read_seconds += cli_clock() - start;
    if (status < 0) advise_missing(session, path, options);
    if (status < 0) return status;
    const margin_table_details details = cli_table_details(*table);
    if (details.rows_dropped)
        cli_note(session, "%lld row%s with missing values left out",
                 (long long)details.rows_dropped, text_plural(details.rows_dropped));
    return status;
}

/* The first cell with a category that the model does not know: "row 4: sex 'other'". */
static void first_unknown(cli_text *text, const margin_model *model, const margin_data *data) {
    int64_t count;
    const margin_column *known = margin_model_columns(model, &count);
    for (int64_t i = 0; !data->x.row_starts && i < data->x.rows; i++)
        for (int64_t j = 0; j < count; j++) {
            const int64_t at = i * data->x.stride + j;
            const double code = data->x.value_type == MARGIN_F32
                                    ? (double)((const float *)data->x.values)[at]
                                    : ((const double *)data->x.values)[at];
            if (known[j].kind != MARGIN_CATEGORICAL || !(code >= (double)known[j].category_count))
                continue;
            text_printf(text, " (row %lld: ", (long long)i + 1);
            text_name(text, known[j].name, 0, 40);
            text_puts(text, " '");
            text_name(text, data->columns[j].categories[(int64_t)code], 0, 40);
            text_puts(text, "')");
            return;
        }
}

/* What becomes of such a category: stages do not change the columns of a learner that takes them.
 */
static const char *unknown_means(const margin_model *model) {
    int64_t count;
    const margin_column *features = margin_model_features(model, &count);
    for (int64_t j = 0; j < count; j++)
        if (features[j].kind == MARGIN_CATEGORICAL)
            return strstr(margin_model_spec(model), "unseen=ignore")
                       ? "is left out like a missing value (unseen=ignore)"
                       : "counts as a category that training has seen 0 times (unseen=smooth)";
    return "counts as none of the known ones (onehot(unknown=ignore))";
}

/* Categories that training never saw: how many, the first of them, and what they count as. */
static void note_unknown(const cli_session *session, const margin_model *model,
                         const margin_table *table) {
    const margin_table_details details = cli_table_details(table);
    const margin_data data = margin_table_data(table);
    const long long cells = details.unknown_categories - details.unknown_classes;
    cli_text first = {0};
    if (cells == 0) return;
    first_unknown(&first, model, &data);
    cli_note(session, "%lld cell%s categor%s unknown to the model%s; such a value %s", cells,
             cells == 1 ? " holds a" : "s hold", cells == 1 ? "y" : "ies",
             first.data ? first.data : "", unknown_means(model));
    text_free(&first);
}

/* Columns that only say how to split are no features. NULL: --ignore as it is. */
static char *ignored_too(const cli_arguments *a) {
    const char *lists[3] = {a->ignore, a->groups, a->time};
    size_t length = 4;
    if (!a->groups && !a->time) return NULL;
    for (int k = 0; k < 3; k++)
        length += lists[k] ? strlen(lists[k]) + 1 : 0;
    char *all = malloc(length), *end = all;
    if (!all) return NULL;
    *end = 0;
    for (int k = 0; k < 3; k++)
        if (lists[k]) end += sprintf(end, "%s%s", end > all ? "," : "", lists[k]);
    return all;
}

/* A column that is not there ("": any) by the option that named it, not by the role it was read in.
 */
static void name_option(cli_session *session, const char *role, const char *option,
                        const char *column) {
    static const char *const quotes[] = {"'", ""};
    char wrong[256], rest[sizeof session->error.text];
    for (int k = 0; column && k < 2; k++) {
        snprintf(wrong, sizeof wrong, "%.120s%s (%s)", column, quotes[k], role);
        char *found = strstr(session->error.text, wrong);
        if (!found) continue;
        snprintf(rest, sizeof rest, "%s", found + strlen(wrong));
        found += strlen(wrong) - strlen(role) - 2;
        snprintf(found, sizeof rest - (size_t)(found - session->error.text), "(%s)%s", option,
                 rest);
        return;
    }
}

static void name_split_options(cli_session *session) {
    name_option(session, "to be ignored", "--groups", session->arguments->groups);
    name_option(session, "to be ignored", "--time", session->arguments->time);
}

/* With weights a row without a target may have weight 0 and not count: the fit looks at that. */
margin_status cli_read_table(cli_session *session, const char *path, bool with_target,
                             margin_missing missing, margin_table **table) {
    session->path = path;
    margin_read_options options = read_options(session->arguments);
    options.missing = missing;
    options.target_complete = with_target && session->spec && !options.weights;
    if (!with_target && !options.target) options.target = "";
    char *list = session->spec ? ignored_too(session->arguments) : NULL;
    if (list) options.ignore = list;
    const margin_status status = read_timed(session, path, &options, table);
    if (status < 0 && list) name_split_options(session);
    if (status >= 0 && session->spec && options.ignore &&
        cli_table_details(*table).format == MARGIN_FORMAT_SVMLIGHT)
        cli_note(session,
                 "columns left out of a svmlight file stay in their place, empty; a model reads "
                 "them where they are not left out again: --ignore %s",
                 options.ignore);
    free(list);
    if (status >= 0) session->target_why = cli_target_why(session->arguments, *table);
    return status;
}

margin_status cli_read_column(cli_session *session, const char *path, const char *option,
                              const char *column, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    options.target = column;
    options.weights = options.ignore = options.labels = NULL;
    options.missing = MARGIN_MISSING_KEEP;
    cli_hold_notes(true); /* it was read before */
    const margin_status status = read_timed(session, path, &options, table);
    cli_hold_notes(false);
    if (status < 0) name_option(session, "the target", option, column);
    return status;
}

/* Columns found by their place, and a target that is not the model's. */
static void note_places(const cli_session *session, const margin_model *model,
                        const margin_table *table) {
    const margin_table_details details = cli_table_details(table);
    const margin_column *own = margin_model_target(model);
    const char *first = margin_model_columns(model, NULL)[0].name;
    const char *asked = session->arguments->target;
    double place;
    if (details.format == MARGIN_FORMAT_CSV && !details.has_header && strcmp(first, "x1") != 0)
        cli_note(session, "the file has no header: its columns are taken in the order of training");
    if (own && asked && *asked && margin_model_target_count(model) == 1 &&
        strcmp(own->name, asked) != 0 && !margin_number_parse_f64(asked, strlen(asked), &place))
        cli_note(session, "the model was trained on the target %s, and this is %s", own->name,
                 asked);
}

margin_status cli_read_for_model(cli_session *session, const margin_model *model, const char *path,
                                 cli_target need, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    session->path = path;
    const margin_report *report = margin_model_report(model);
    options.missing = cli_missing(session->arguments, margin_model_spec(model));
    options.expected = margin_model_columns(model, &options.expected_count);
    options.expected_target = margin_model_target(model);
    options.expected_targets = margin_model_target_count(model);
    if (need == CLI_NO_TARGET && options.missing == MARGIN_MISSING_DROP)
        options.missing = MARGIN_MISSING_KEEP;
    if (session->chooses_target) options.target = NULL;
    options.target_optional = need == CLI_NEEDS_TARGET ? 0 : need == CLI_MAY_HAVE_TARGET ? 1 : 2;
    options.svmlight_columns = report->columns;
    options.target_complete = need == CLI_NEEDS_TARGET && !options.weights;
    char *list = ignored_too(session->arguments); /* as the fit did */
    if (list) options.ignore = list;
    options.unknown = margin_model_unknown(model);
    const bool keep =
        options.missing == MARGIN_MISSING_DROP || cli_unknown_wrong(session->arguments);
    options.unknown_target = need != CLI_NEEDS_TARGET ? MARGIN_UNKNOWN_MISSING
                             : keep                   ? MARGIN_UNKNOWN_KEEP
                                                      : MARGIN_UNKNOWN_ERROR;
    const margin_status status = read_timed(session, path, &options, table);
    if (status < 0 && list) name_split_options(session);
    free(list);
    if (status >= 0) note_unknown(session, model, *table);
    if (status >= 0) note_places(session, model, *table);
    return status;
}

margin_status cli_read_texts(cli_session *session, const char *path, const char *option,
                             const char *as_text, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    options.target = "";
    options.weights = options.ignore = options.labels = NULL;
    options.categorical = as_text;
    const margin_status status = read_timed(session, path, &options, table);
    if (status < 0) name_option(session, "categorical", option, "");
    return status;
}

margin_status cli_read_more_for_model(cli_session *session, const margin_model *model,
                                      const char *path, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    options.missing = cli_missing(session->arguments, margin_model_spec(model));
    options.expected = margin_model_columns(model, &options.expected_count);
    options.expected_target = margin_model_target(model);
    options.svmlight_columns = margin_model_report(model)->columns;
    options.target_complete = !options.weights;
    options.unknown = MARGIN_UNKNOWN_KEEP;
    options.unknown_target = MARGIN_UNKNOWN_KEEP;
    return read_timed(session, path, &options, table);
}

/* ---- Rows whose class a model does not know -------------------------------------------------- */

bool cli_unknown_wrong(const cli_arguments *arguments) {
    return arguments->unknown_classes && !strcmp(arguments->unknown_classes, "wrong");
}

/* Whether the model knows the label of a row. */
static bool knows_class(const margin_model *model, const margin_data *data, int64_t row) {
    const margin_column *target = data->target;
    const double label = ((const double *)data->y.values)[row];
    char number[MARGIN_NUMBER_TEXT];
    const char *name = number;
    if (isnan(label)) return false;
    margin_number_print_f64(label, number);
    if (target && target->kind == MARGIN_CATEGORICAL) name = target->categories[(int64_t)label];
    for (int64_t c = 0; c < margin_model_class_count(model); c++)
        if (!strcmp(name, margin_model_class_name(model, c))) return true;
    return false;
}

int cli_drop_unknown_classes(cli_session *session, const margin_model *model, margin_data *data,
                             int64_t **rows) {
    const char *missing = session->arguments->missing;
    int64_t kept = 0, last = -1;
    bool known = false;
    *rows = NULL;
    if (!missing || strcmp(missing, "drop") != 0 || cli_unknown_wrong(session->arguments) ||
        margin_model_task(model) != MARGIN_CLASSIFY || !data->y.values ||
        data->y.type != MARGIN_F64)
        return EXIT_DONE;
    *rows = malloc((size_t)(data->x.rows + 1) * sizeof **rows);
    if (!*rows) {
        fputs("margin: out of memory for the numbers of the rows\n", stderr);
        return EXIT_NO_MEMORY;
    }
    const double *labels = data->y.values;
    for (int64_t i = 0; i < data->x.rows; i++) {
        if (last < 0 || labels[i] != labels[last]) known = knows_class(model, data, i);
        last = i;
        if (known) (*rows)[kept++] = i;
    }
    if (kept == data->x.rows) return EXIT_DONE;
    if (kept == 0) {
        fputs("margin: the model knows the class of none of the rows\n", stderr);
        return EXIT_BAD_INPUT;
    }
    cli_note(session, "%lld row%s left out, whose class the model does not know",
             (long long)(data->x.rows - kept), text_plural(data->x.rows - kept));
    data->selection = *rows;
    data->selected = kept;
    return EXIT_DONE;
}

/* A spec where a model is wanted: no file has that name, and it is told how to come by a model. */
static margin_status refuse_spec(cli_session *session, const char *words, margin_status status) {
    margin_spec *spec = NULL;
    if (margin_spec_parse(session->context, words, &spec, NULL) < 0) return status;
    margin_spec_free(spec);
    snprintf(session->error.text, sizeof session->error.text,
             "'%.150s' is a spec, and a model is wanted: margin fit '%.150s' DATA -o my.margin "
             "makes one",
             words, words);
    return MARGIN_ERROR_SPEC;
}

margin_status cli_load_model(cli_session *session, const char *path, margin_model **model) {
    const margin_status status = margin_model_load(session->context, path, model, &session->error);
    return status < 0 && session->error.system_error == ENOENT ? refuse_spec(session, path, status)
                                                               : status;
}

margin_status cli_load_to_judge(cli_session *session, margin_model **model, margin_table **table) {
    const cli_arguments *a = session->arguments;
    const margin_status status = cli_load_model(session, a->words[0], model);
    if (status < 0 || a->word_count < 2) return status;
    const bool needs = margin_model_task(*model) < MARGIN_CLUSTER;
    return cli_read_for_model(session, *model, a->words[1],
                              needs ? CLI_NEEDS_TARGET : CLI_MAY_HAVE_TARGET, table);
}
