/* NumPy's .npy files, versions 1 to 3.
 *
 * Magic, version, length of the header (2 or 4 bytes, little endian), then the header: a Python
 * dictionary with the keys descr, fortran_order and shape, blanks and a newline, then the items.
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * The dictionary is read by a grammar that knows just these values; anything else is refused. */
#include "data/arrays/array.h"

#include <string.h>

enum {
    MAGIC_BYTES = 6,
    MAX_DIMENSIONS = 32,    /* NumPy's own limit for long */
    MAX_TEXT_ITEM = 1 << 20 /* bytes of one text label */
};

static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

/* The header's text, and how far it was read. */
typedef struct header_text {
    const mg_source *source;
    const char *at, *end;
} header_text;

typedef struct npy_header {
    bool has_type, has_order, has_shape;
    bool column_major;
    int dimensions;
    int64_t shape[MAX_DIMENSIONS];
} npy_header;

static margin_status fail_header(const header_text *text, const char *expected,
                                 margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_FORMAT,
                   "%s: damaged .npy header at byte %lld: expected %s; save the array again with "
                   "numpy.save",
                   text->source->name, (long long)(text->at - text->source->text), expected);
}

/* ---- Parts of a Python dictionary ----------------------------------------------------------- */

static void npy_skip_blanks(header_text *text) {
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r'))
        text->at++;
}

/* Skips blanks and then `mark` if it comes next. */
static bool accept(header_text *text, char mark) {
    npy_skip_blanks(text);
    if (text->at == text->end || *text->at != mark) return false;
    text->at++;
    return true;
}

static bool accept_word(header_text *text, const char *word) {
    size_t length = strlen(word);
    npy_skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* 'text' or "text" without escapes; false leaves the position. */
static bool accept_string(header_text *text, const char **start, int *length) {
    npy_skip_blanks(text);
    const char *at = text->at;
    if (at == text->end || (*at != '\'' && *at != '"')) return false;
    const char *first = at + 1, *last = first;
    while (last < text->end && *last != *at && *last != '\\' && *last != '\n')
        last++;
    if (last == text->end || *last != *at || last - first > 64) return false;
    *start = first;
    *length = (int)(last - first);
    text->at = last + 1;
    return true;
}

/* Digits, possibly with the L that Python 2 wrote behind them. */
static bool accept_count(header_text *text, int64_t *value) {
    npy_skip_blanks(text);
    const char *first = text->at;
    int64_t read = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (__builtin_mul_overflow(read, (int64_t)10, &read) ||
            __builtin_add_overflow(read, (int64_t)(*text->at - '0'), &read))
            return false;
    if (text->at == first) return false;
    if (text->at < text->end && *text->at == 'L') text->at++;
    *value = read;
    return true;
}

/* ---- The three values ----------------------------------------------------------------------- */

static const char *type_trouble(const char *descr, int length) {
    static const struct {
        char kind;
        const char *text;
    } known[] = {{'O', "Python objects"},
                 {'c', "complex numbers"},
                 {'V', "raw records"},
                 {'M', "dates"},
                 {'m', "time spans"},
                 {'f', "numbers of this width"},
                 {'i', "numbers of this width"},
                 {'u', "numbers of this width"}};
    for (int k = 0; k < MG_LENGTH(known); k++)
        if (length > 1 && descr[1] == known[k].kind) return known[k].text;
    return "this type";
}

static margin_status fail_type(const header_text *text, const char *descr, int length,
                               margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_FORMAT,
                   "%s: holds items of type '%.*s'; %s cannot be read, convert the array with "
                   ".astype(float) first",
                   text->source->name, length, descr, type_trouble(descr, length));
}

/* Byte order, kind and width of a type text such as <f8. */
static bool find_kind(char kind, int64_t width, mg_array *array) {
    static const struct {
        char kind;
        int width;
        mg_array_kind value;
    } kinds[] = {{'f', 8, MG_ARRAY_F64}, {'f', 4, MG_ARRAY_F32}, {'f', 2, MG_ARRAY_F16},
                 {'i', 1, MG_ARRAY_I8},  {'i', 2, MG_ARRAY_I16}, {'i', 4, MG_ARRAY_I32},
                 {'i', 8, MG_ARRAY_I64}, {'u', 1, MG_ARRAY_U8},  {'u', 2, MG_ARRAY_U16},
                 {'u', 4, MG_ARRAY_U32}, {'u', 8, MG_ARRAY_U64}, {'b', 1, MG_ARRAY_BOOL}};
    if ((kind == 'U' || kind == 'S') && width > 0 && width <= MAX_TEXT_ITEM / 4) {
        array->kind = kind == 'U' ? MG_ARRAY_UCS4 : MG_ARRAY_BYTES;
        array->item_bytes = (int)width * (kind == 'U' ? 4 : 1);
        return true;
    }
    for (int k = 0; k < MG_LENGTH(kinds); k++)
        if (kinds[k].kind == kind && kinds[k].width == width) {
            array->kind = kinds[k].value;
            array->item_bytes = kinds[k].width;
            return true;
        }
    return false;
}

static margin_status read_type(header_text *text, mg_array *array, margin_error *error) {
    npy_skip_blanks(text);
    MG_REQUIRE(text->at == text->end || *text->at != '[', error, MARGIN_ERROR_FORMAT,
               "%s: is a structured array; save its columns as one plain array of numbers",
               text->source->name);
    const char *descr;
    int length;
    if (!accept_string(text, &descr, &length)) return fail_header(text, "a type text", error);
    header_text width_text = {text->source, descr + 2, descr + length};
    int64_t width = 0;
    if (length < 3 || !memchr("<>|", descr[0], 3) || !accept_count(&width_text, &width) ||
        width_text.at != width_text.end || !find_kind(descr[1], width, array))
        return fail_type(text, descr, length, error);
    bool has_order =
        array->kind == MG_ARRAY_UCS4 || (array->kind != MG_ARRAY_BYTES && array->item_bytes > 1);
    if (has_order && descr[0] == '|') return fail_type(text, descr, length, error);
    array->big_endian = descr[0] == '>';
    return MARGIN_OK;
}

static margin_status read_order(header_text *text, npy_header *header, margin_error *error) {
    header->column_major = accept_word(text, "True");
    if (header->column_major || accept_word(text, "False")) return MARGIN_OK;
    return fail_header(text, "True or False", error);
}

/* (), (3,), (3, 4), (3, 4,) */
static margin_status read_shape(header_text *text, npy_header *header, margin_error *error) {
    if (!accept(text, '(')) return fail_header(text, "a shape such as (3, 4)", error);
    header->dimensions = 0;
    bool comma = false;
    while (!accept(text, ')')) {
        if (header->dimensions > 0 && !comma) return fail_header(text, "',' or ')'", error);
        if (header->dimensions == MAX_DIMENSIONS)
            return fail_header(text, "at most 32 dimensions", error);
        if (!accept_count(text, &header->shape[header->dimensions]))
            return fail_header(text, "a size that is a whole number, 0 or more", error);
        header->dimensions++;
        comma = accept(text, ',');
    }
    if (header->dimensions == 1 && !comma) return fail_header(text, "',' behind one size", error);
    return MARGIN_OK;
}

static margin_status read_entry(header_text *text, npy_header *header, mg_array *array,
                                margin_error *error) {
    const char *key;
    int length;
    if (!accept_string(text, &key, &length)) return fail_header(text, "a key in quotes", error);
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    bool *const seen[] = {&header->has_type, &header->has_order, &header->has_shape};
    int which = 0;
    while (which < 3 && (strlen(names[which]) != (size_t)length ||
                         memcmp(names[which], key, (size_t)length) != 0))
        which++;
    if (which == 3 || *seen[which]) {
        text->at = key;
        return fail_header(text, "descr, fortran_order and shape once each", error);
    }
    *seen[which] = true;
    if (!accept(text, ':')) return fail_header(text, "':'", error);
    if (which == 0) return read_type(text, array, error);
    if (which == 1) return read_order(text, header, error);
    return read_shape(text, header, error);
}

static margin_status read_dictionary(header_text *text, npy_header *header, mg_array *array,
                                     margin_error *error) {
    if (!accept(text, '{')) return fail_header(text, "'{'", error);
    while (!accept(text, '}')) {
        MG_TRY(read_entry(text, header, array, error));
        if (accept(text, ',')) continue;
        if (!accept(text, '}')) return fail_header(text, "',' or '}'", error);
        break;
    }
    npy_skip_blanks(text);
    if (text->at != text->end) return fail_header(text, "nothing behind '}'", error);
    if (!header->has_type || !header->has_order || !header->has_shape)
        return fail_header(text, "the keys descr, fortran_order and shape", error);
    return MARGIN_OK;
}

/* ---- The file ------------------------------------------------------------------------------- */

static uint32_t little_endian(const char *bytes, int count) {
    uint32_t value = 0;
    for (int k = count - 1; k >= 0; k--)
        value = value << 8 | (unsigned char)bytes[k];
    return value;
}

/* Finds the header's text and thereby where the items begin. */
static margin_status find_header(const mg_source *source, header_text *text, margin_error *error) {
    MG_REQUIRE(source->length >= MAGIC_BYTES + 2 && memcmp(source->text, magic, MAGIC_BYTES) == 0,
               error, MARGIN_ERROR_FORMAT,
               "%s: is not an .npy file (it does not begin with \\x93NUMPY and a version)",
               source->name);
    int version = (unsigned char)source->text[MAGIC_BYTES];
    MG_REQUIRE(version >= 1 && version <= 3, error, MARGIN_ERROR_FORMAT,
               "%s: is an .npy file of version %d; versions 1 to 3 are known", source->name,
               version);
    int64_t begin = MAGIC_BYTES + 2 + (version == 1 ? 2 : 4);
    int64_t length = source->length < begin ? INT64_MAX
                                            : (int64_t)little_endian(source->text + MAGIC_BYTES + 2,
                                                                     version == 1 ? 2 : 4);
    MG_REQUIRE(length <= source->length - begin, error, MARGIN_ERROR_FORMAT,
               "%s: the file ends inside its .npy header; it is damaged or cut off", source->name);
    text->source = source;
    text->at = source->text + begin;
    text->end = text->at + length;
    return MARGIN_OK;
}

/* Rows are the first dimension, all others together make the columns: images become flat rows. */
static margin_status shape_table(const mg_source *source, const npy_header *header, int64_t *rows,
                                 int64_t *columns, margin_error *error) {
    MG_REQUIRE(header->dimensions > 0, error, MARGIN_ERROR_FORMAT,
               "%s: holds a single number, shape (); a table has rows", source->name);
    MG_REQUIRE(header->dimensions <= 2 || !header->column_major, error, MARGIN_ERROR_FORMAT,
               "%s: has %d dimensions in Fortran order; save it as two-dimensional or in C order",
               source->name, header->dimensions);
    *rows = header->shape[0];
    *columns = 1;
    for (int k = 1; k < header->dimensions; k++)
        MG_REQUIRE(!__builtin_mul_overflow(*columns, header->shape[k], columns), error,
                   MARGIN_ERROR_FORMAT, "%s: the shape in the header is impossibly large",
                   source->name);
    return MARGIN_OK;
}

margin_status mg_npy_describe(const mg_source *source, mg_array *array, margin_error *error) {
    header_text text = {0};
    npy_header header = {0};
    mg_array described = {0};
    int64_t rows = 0, columns = 0;
    MG_TRY(find_header(source, &text, error));
    const int64_t offset = text.end - source->text;
    MG_TRY(read_dictionary(&text, &header, &described, error));
    MG_TRY(shape_table(source, &header, &rows, &columns, error));
    MG_TRY(mg_array_place(source, offset, rows, columns, header.column_major, &described, error));
    *array = described;
    return MARGIN_OK;
}

static margin_status read_npy(margin_context *context, mg_source *source,
                              const margin_read_options *options, margin_table **table,
                              margin_error *error) {
    mg_array array;
    MG_TRY(mg_npy_describe(source, &array, error));
    return mg_array_table(context, &array, MARGIN_FORMAT_NPY, options, table, error);
}

static const char *const endings[] = {".npy", NULL};
const mg_reader mg_reader_npy = {MARGIN_FORMAT_NPY, "npy", endings, read_npy};
