/* Tables and models as the options ask for them. */
#include "cli.h"

#include <string.h>

margin_format cli_format(const cli_arguments *arguments) {
    static const struct {
        const char *name;
        margin_format format;
    } formats[] = {{"csv", MARGIN_FORMAT_CSV},
                   {"svmlight", MARGIN_FORMAT_SVMLIGHT},
                   {"npy", MARGIN_FORMAT_NPY},
                   {"idx", MARGIN_FORMAT_IDX}};
    for (size_t i = 0; arguments->format && i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(arguments->format, formats[i].name)) return formats[i].format;
    return MARGIN_FORMAT_AUTO;
}

/* Whether the first component of a spec takes missing values. */
static bool takes_missing(const char *spec) {
    char name[64] = "";
    const size_t length = spec ? strcspn(spec, " (|") : 0;
    if (length < sizeof name) memcpy(name, spec ? spec : "", length);
    const margin_component *first = margin_component_find(name);
    return first && (first->abilities & MARGIN_CAN_MISSING);
}

margin_missing cli_missing(const cli_arguments *arguments, const char *spec) {
    const char *asked = arguments->missing;
    if (asked && !strcmp(asked, "drop")) return MARGIN_MISSING_DROP;
    if (asked && !strcmp(asked, "error")) return MARGIN_MISSING_ERROR;
    return takes_missing(spec) ? MARGIN_MISSING_KEEP : MARGIN_MISSING_ERROR;
}

static char separator_of(const cli_arguments *arguments) {
    const char *word = arguments->separator;
    if (!word) return 0;
    if (!strcmp(word, "tab")) return '\t';
    return strcmp(word, "space") != 0 ? word[0] : ' ';
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

static margin_status read_timed(cli_session *session, const char *path,
                                const margin_read_options *options, margin_table **table) {
    double start = cli_clock();
    margin_status status =
        margin_table_read(session->context, path, options, table, &session->error);
    session->read_seconds += cli_clock() - start;
    if (status < 0) return status;
    margin_table_details details = margin_table_info(*table);
    if (details.rows_dropped)
        cli_note(session, "%lld rows with missing values were left out",
                 (long long)details.rows_dropped);
    if (details.unknown_categories)
        cli_note(session,
                 "%lld cells hold categories that training never saw; they count as missing",
                 (long long)details.unknown_categories);
    return status;
}

margin_status cli_read_table(cli_session *session, const char *path, bool with_target,
                             margin_missing missing, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    options.missing = missing;
    if (!with_target && !options.target) options.target = "";
    return read_timed(session, path, &options, table);
}

margin_status cli_read_for_model(cli_session *session, const margin_model *model, const char *path,
                                 bool need_target, margin_table **table) {
    margin_read_options options = read_options(session->arguments);
    const margin_report *report = margin_model_report(model);
    options.missing = cli_missing(session->arguments, margin_model_spec(model));
    options.expected = margin_model_columns(model, &options.expected_count);
    options.expected_target = margin_model_target(model);
    options.expected_targets = margin_model_target_count(model);
    if (session->chooses_target) options.target = NULL;
    options.target_optional = !need_target;
    options.svmlight_columns = report->columns;
    return read_timed(session, path, &options, table);
}

margin_status cli_load_model(cli_session *session, const char *path, margin_model **model) {
    return margin_model_load(session->context, path, model, &session->error);
}
