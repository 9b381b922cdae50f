/* Reading a table: which format, then that format's reader. Adding a format is one line here. */
#include "data/reader/reader.h"

#include "base/caller_options.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "data/arrow/arrow_batches.h"
#include "data/source/source.h"
#include "data/table/table.h"

#include <string.h>

static const mg_reader *const readers[] = {&mg_reader_csv, &mg_reader_svmlight, &mg_reader_npy,
                                           &mg_reader_idx, &mg_reader_arrow};

/* ---- By name -------------------------------------------------------------------------------- */

static const mg_reader *reader_by_ending(const char *path) {
    int64_t length = (int64_t)strlen(path);
    if (mg_ends_with(path, length, ".gz")) length -= 3;
    for (int r = 0; r < MG_LENGTH(readers); r++)
        for (const char *const *ending = readers[r]->endings; *ending; ending++)
            if (mg_ends_with(path, length, *ending)) return readers[r];
    return NULL;
}

static const mg_reader *reader_by_format(margin_format format) {
    for (int r = 0; r < MG_LENGTH(readers); r++)
        if (readers[r]->format == format) return readers[r];
    return NULL;
}

static margin_status reader_fail_unknown(const char *path, margin_error *error) {
    mg_name_list list = {0};
    for (int r = 0; r < MG_LENGTH(readers); r++)
        for (const char *const *ending = readers[r]->endings; *ending; ending++)
            mg_name_list_add(&list, *ending, "");
    return mg_fail(error, MARGIN_ERROR_FORMAT,
                   "%s: the format cannot be told from the name; known endings are %s (and each "
                   "with .gz); or say which format it is",
                   path, list.text);
}

margin_status mg_format_find(const char *path, margin_format wanted, margin_format *format,
                             margin_error *error) {
    const mg_reader *found = reader_by_format(wanted);
    MG_REQUIRE(found || wanted == MARGIN_FORMAT_AUTO, error, MARGIN_ERROR_ARGUMENT,
               "format is %d, which has no meaning", (int)wanted);
    if (!found) found = strcmp(path, "-") == 0 ? &mg_reader_csv : reader_by_ending(path);
    if (!found) return reader_fail_unknown(path, error);
    *format = found->format;
    return MARGIN_OK;
}

/* ---- By content ----------------------------------------------------------------------------- */

/* Endings that say which CSV dialect or program, so that nothing needs to be guessed. The others
 * that CSV goes by (.txt, .data, .train, ...) are used for svmlight, too. */
static bool is_surely_csv(const char *path) {
    int64_t length = (int64_t)strlen(path);
    if (mg_ends_with(path, length, ".gz")) length -= 3;
    return mg_ends_with(path, length, ".csv") || mg_ends_with(path, length, ".tsv") ||
           mg_ends_with(path, length, ".tab");
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* "label index:value index:value ...": the first line of data decides. */
static bool looks_like_svmlight(const char *text, int64_t length) {
    const char *at = text, *end = text + length;
    while (at < end && (*at == '#' || *at == '\n' || *at == '\r')) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    while (at < end && *at != ' ' && *at != '\t' && *at != '\n') {
        if (*at == ':' || *at == ',' || *at == ';') return false; /* in the label */
        at++;
    }
    bool pairs = false;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        if (at == end || *at == '\n' || *at == '#') return pairs;
        if (end - at > 4 && memcmp(at, "qid:", 4) == 0) at += 3;
        const char *colon = skip_digits(at, end);
        if (colon == end || *colon != ':') return false;
        pairs = true;
        for (at = colon + 1; at < end && *at != ' ' && *at != '\t' && *at != '\n'; at++)
            if (*at == ',' || *at == ';' || *at == '"') return false;
    }
}

static bool looks_like_npy(const char *text, int64_t length) {
    return length >= 6 && memcmp(text, "\x93NUMPY", 6) == 0;
}

static bool looks_like_idx(const char *text, int64_t length) {
    static const char kinds[] = "\x08\x09\x0b\x0c\x0d\x0e";
    return length >= 8 && text[0] == 0 && text[1] == 0 && text[2] && strchr(kinds, text[2]) &&
           text[3] >= 1 && text[3] <= 4;
}

static bool looks_like_parquet(const char *text, int64_t length) {
    return length >= 4 && memcmp(text, "PAR1", 4) == 0;
}

static const mg_reader *reader_by_content(const mg_source *source) {
    if (looks_like_npy(source->text, source->length)) return &mg_reader_npy;
    if (looks_like_idx(source->text, source->length)) return &mg_reader_idx;
    if (mg_arrow_looks(source->text, source->length)) return &mg_reader_arrow;
    if (looks_like_svmlight(source->text, source->length)) return &mg_reader_svmlight;
    return &mg_reader_csv;
}

static margin_status choose_reader(const mg_source *source, const char *path, margin_format wanted,
                                   const mg_reader **reader, margin_error *error) {
    *reader = reader_by_format(wanted);
    MG_REQUIRE(*reader || wanted == MARGIN_FORMAT_AUTO, error, MARGIN_ERROR_ARGUMENT,
               "format is %d, which has no meaning", (int)wanted);
    if (*reader) return MARGIN_OK;
    *reader = strcmp(path, "-") == 0 ? NULL : reader_by_ending(path);
    if (!*reader || (*reader == &mg_reader_csv && !is_surely_csv(path)))
        *reader = reader_by_content(source);
    MG_REQUIRE(
        *reader != &mg_reader_csv || !looks_like_parquet(source->text, source->length), error,
        MARGIN_ERROR_FORMAT,
        "%s: is a Parquet file, which is not read: have the program that made it, or duckdb, "
        "write an Arrow stream (COPY (FROM 'x.parquet') TO 'x.arrows' (FORMAT ARROWS)) or "
        "CSV",
        source->name);
    return MARGIN_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The options of a caller of any version; what holds for every format is checked here. */
static margin_status take_options(const margin_read_options *given, margin_read_options *o,
                                  margin_error *error) {
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_read_options, target_complete),
                           "margin_read_options", o, sizeof *o, error));
    const struct {
        const char *name;
        int64_t value, low, high;
    } numbers[] = {
        {"missing", o->missing, MARGIN_MISSING_KEEP, MARGIN_MISSING_CATEGORY},
        {"header", o->header, MARGIN_HEADER_AUTO, MARGIN_HEADER_NO},
        {"index_base", o->index_base, -1, 1},
        {"expected_targets", o->expected_targets, 0, MG_MAX_TARGETS},
        {"target_optional", o->target_optional, 0, 2},
        {"unknown", o->unknown, MARGIN_UNKNOWN_MISSING, MARGIN_UNKNOWN_ERROR},
        {"unknown_target", o->unknown_target, MARGIN_UNKNOWN_MISSING, MARGIN_UNKNOWN_ERROR},
        {"svmlight_columns", o->svmlight_columns, 0, INT32_MAX}};
    for (int k = 0; k < MG_LENGTH(numbers); k++)
        MG_REQUIRE(numbers[k].value >= numbers[k].low && numbers[k].value <= numbers[k].high, error,
                   MARGIN_ERROR_ARGUMENT,
                   "%s is %lld, which has no meaning: it is from %lld to %lld", numbers[k].name,
                   (long long)numbers[k].value, (long long)numbers[k].low,
                   (long long)numbers[k].high);
    MG_REQUIRE(o->value_type == 0 || o->value_type == MARGIN_F64 || o->value_type == MARGIN_F32,
               error, MARGIN_ERROR_ARGUMENT,
               "value_type is %d; it must be MARGIN_F64 or MARGIN_F32", (int)o->value_type);
    MG_REQUIRE(o->expected_count >= 0 && (o->expected || o->expected_count == 0), error,
               MARGIN_ERROR_ARGUMENT, "expected is NULL but expected_count is %lld",
               (long long)o->expected_count);
    return MARGIN_OK;
}

/* A file of labels goes with arrays: other tables have their target within. */
static margin_status refuse_labels(const mg_reader *reader, const char *name,
                                   const margin_read_options *options, margin_error *error) {
    MG_REQUIRE(!options->labels || reader == &mg_reader_npy || reader == &mg_reader_idx, error,
               MARGIN_ERROR_ARGUMENT,
               "%s: labels in a file of their own (margin_read_options.labels) go with npy and idx "
               "data, and this is %s: its target is in the table itself "
               "(margin_read_options.target)",
               name, reader->name);
    return MARGIN_OK;
}

/* Reads an open source and closes it. `name` is the path as given. */
static margin_status read_source(margin_context *context, mg_source *source, const char *name,
                                 const margin_read_options *options, margin_table **table,
                                 margin_error *error) {
    const mg_reader *reader = NULL;
    margin_table *made = NULL;
    margin_status status = choose_reader(source, name, options->format, &reader, error);
    if (status == MARGIN_OK) status = refuse_labels(reader, name, options, error);
    if (status == MARGIN_OK) status = reader->read(context, source, options, &made, error);
    if (status == MARGIN_OK) status = mg_source_unchanged(source, error);
    mg_source_close(source);
    if (status == MARGIN_OK)
        *table = made;
    else
        margin_table_free(made);
    return status;
}

/* What is read into memory, a pipe or a device without end, is read on only if it begins as what it
 * is said to be, and as long as it has lines if it is no array. */
static margin_status look_npy(const char *name, const char *head, int64_t length,
                              int64_t *longest_line, margin_error *error) {
    (void)longest_line;
    MG_REQUIRE(looks_like_npy(head, length), error, MARGIN_ERROR_FORMAT,
               "%s: is not an .npy file (it does not begin with \\x93NUMPY)", name);
    return MARGIN_OK;
}

static margin_status look_idx(const char *name, const char *head, int64_t length,
                              int64_t *longest_line, margin_error *error) {
    (void)longest_line;
    MG_REQUIRE(looks_like_idx(head, length), error, MARGIN_ERROR_FORMAT,
               "%s: is not an idx file (it does not begin with two zero bytes, the type of its "
               "numbers and 1 to 4 dimensions)",
               name);
    return MARGIN_OK;
}

static margin_status look_lines(const char *name, const char *head, int64_t length,
                                int64_t *longest_line, margin_error *error) {
    (void)name, (void)head, (void)length, (void)error;
    *longest_line = MARGIN_MAX_LINE_BYTES;
    return MARGIN_OK;
}

static margin_status look_any(const char *name, const char *head, int64_t length,
                              int64_t *longest_line, margin_error *error) {
    if (looks_like_npy(head, length) || looks_like_idx(head, length) ||
        mg_arrow_looks(head, length) || looks_like_parquet(head, length))
        return MARGIN_OK;
    return look_lines(name, head, length, longest_line, error);
}

static mg_source_look look_of(const char *path, margin_format format) {
    const mg_reader *reader = format ? reader_by_format(format) : reader_by_ending(path);
    if (!reader || reader == &mg_reader_arrow ||
        (!format && reader == &mg_reader_csv && !is_surely_csv(path)))
        return look_any;
    return reader == &mg_reader_npy ? look_npy : reader == &mg_reader_idx ? look_idx : look_lines;
}

static const char out_of_time[] = "before the table was read: allow more";

margin_status margin_table_read(margin_context *context, const char *path,
                                const margin_read_options *options, margin_table **table,
                                margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {path, "path"}, {table, "table"});
    margin_read_options known;
    mg_source source;
    MG_TRY(take_options(options, &known, error));
    margin_context call = mg_context_call(context);
    margin_status status =
        mg_source_open(&call, path, look_of(path, (margin_format)known.format), &source, error);
    if (status == MARGIN_OK) status = read_source(&call, &source, path, &known, table, error);
    return mg_call_status(&call, status, out_of_time, error);
}

margin_status margin_table_parse(margin_context *context, const void *bytes, int64_t length,
                                 const char *name, const margin_read_options *options,
                                 margin_table **table, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {table, "table"});
    margin_read_options known;
    mg_source source;
    MG_TRY(take_options(options, &known, error));
    margin_context call = mg_context_call(context);
    margin_status status = mg_source_memory(&call, bytes, length, name, &source, error);
    if (status == MARGIN_OK)
        status = read_source(&call, &source, source.name, &known, table, error);
    return mg_call_status(&call, status, out_of_time, error);
}

static margin_status read_arrow(margin_context *context, struct ArrowArrayStream *stream,
                                const margin_read_options *options, margin_table **table,
                                margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {stream, "stream"}, {table, "table"});
    margin_read_options known;
    MG_REQUIRE(stream->release, error, MARGIN_ERROR_ARGUMENT,
               "the stream has been released already");
    MG_REQUIRE(stream->get_schema && stream->get_next && stream->get_last_error, error,
               MARGIN_ERROR_ARGUMENT, "the stream lacks some of its functions");
    MG_TRY(take_options(options, &known, error));
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, mg_arrow_table(&call, stream, NULL, &known, table, error),
                          out_of_time, error);
}

margin_status margin_table_from_arrow(margin_context *context, struct ArrowArrayStream *stream,
                                      const margin_read_options *options, margin_table **table,
                                      margin_error *error) {
    const margin_status status = read_arrow(context, stream, options, table, error);
    if (stream && stream->release) stream->release(stream);
    return status;
}
