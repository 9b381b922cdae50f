/* The outside of a model file: lengths, checksum, JSON, table of tensors. Nothing here knows what a
 * model is. */
#include "base/sort.h"
#include "data/source/crc64.h"
#include "model/store/store.h"

#include <string.h>

/* A tensor's entry has 21 values, and there are some hundred others. */
enum { LENGTH_BYTES = 8, TENSOR_LIMIT = 2048, HEADER_VALUES = 22 * TENSOR_LIMIT };

static int64_t prefix_length(void) {
    return (int64_t)strlen(MG_STORE_PREFIX);
}

/* ---- Checksum -------------------------------------------------------------------------------- */

/* The checksum that the bytes of a file ought to carry; false: the call is to end. */
static bool store_checksum(const margin_context *context, const unsigned char *bytes,
                           int64_t length, char digits[MG_STORE_DIGITS + 1]) {
    static const char zeros[MG_STORE_DIGITS + 1] = "0000000000000000";
    const int64_t before = LENGTH_BYTES + prefix_length();
    mg_crc64 crc;
    mg_crc64_begin(&crc);
    mg_crc64_add(&crc, bytes, before);
    mg_crc64_add(&crc, zeros, MG_STORE_DIGITS);
    for (int64_t at = before + MG_STORE_DIGITS; at < length; at += MG_STORE_STEP) {
        if (context && mg_cancelled(context)) return false;
        mg_crc64_add(&crc, bytes + at, MG_MIN(MG_STORE_STEP, length - at));
    }
    for (int k = 0; k < MG_STORE_DIGITS; k++)
        digits[k] = "0123456789abcdef"[mg_crc64_value(&crc) >> (60 - 4 * k) & 15];
    digits[MG_STORE_DIGITS] = '\0';
    return true;
}

static bool has_prefix(const unsigned char *bytes, int64_t length) {
    return length > LENGTH_BYTES + prefix_length() + MG_STORE_DIGITS &&
           memcmp(bytes + LENGTH_BYTES, MG_STORE_PREFIX, (size_t)prefix_length()) == 0;
}

bool mg_store_seal(unsigned char *bytes, int64_t length) {
    char digits[MG_STORE_DIGITS + 1];
    if (!has_prefix(bytes, length) || !store_checksum(NULL, bytes, length, digits)) return false;
    memcpy(bytes + LENGTH_BYTES + prefix_length(), digits, MG_STORE_DIGITS);
    return true;
}

static margin_status check_checksum(const mg_store_reader *r) {
    char digits[MG_STORE_DIGITS + 1];
    const unsigned char *stored = r->bytes + LENGTH_BYTES + prefix_length();
    if (!store_checksum(r->context, r->bytes, r->length, digits))
        return mg_fail_cancelled(r->error);
    if (memcmp(digits, stored, MG_STORE_DIGITS) == 0) return MARGIN_OK;
    return mg_fail_stored(r,
                          "it is damaged: its contents have the checksum %s, it was written with "
                          "%.16s; copy it again or train again",
                          digits, (const char *)stored);
}

void mg_store_swap(unsigned char *to, const unsigned char *from, int64_t length, int64_t size) {
    for (int64_t at = 0; at + size <= length; at += size)
        for (int64_t k = 0; k < size; k++)
            to[at + k] = from[at + size - 1 - k];
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Every value needs a comma, colon or bracket before it. */
int64_t mg_store_values(const char *text, int64_t length) {
    enum { CONTAINER = 4 };
    int64_t values = 1;
    bool quoted = false;
    for (int64_t k = 0; k < length; k++) {
        const char c = text[k];
        if (c == '"') quoted = !quoted;
        if (quoted && c == '\\') k++;
        if (!quoted) values += c == ',' || c == ':' ? 1 : c == '[' || c == '{' ? CONTAINER : 0;
    }
    return values;
}

/* Jansson allocates outside the heap: what the heap's limit would refuse is refused here, and a
 * text of more values than a model has is not begun. */
static margin_status parse_json(const mg_store_reader *r, const char *text, int64_t length,
                                int64_t most, const char *what, json_t **json) {
    enum { BYTES_PER_VALUE = 160 };
    json_error_t found;
    const int64_t values = mg_store_values(text, length), limit = mg_heap_limit(r->heap),
                  bytes = values * BYTES_PER_VALUE + 2 * length;
    if (values > most)
        return mg_fail_stored(r, "%s has more values than that of a model, which has at most %lld",
                              what, (long long)most);
    if (limit > 0 && bytes > limit - mg_heap_held(r->heap))
        return mg_fail(r->error, MARGIN_ERROR_LIMIT,
                       "%s: reading %s may take %s, more than the memory limit leaves", r->name,
                       what, mg_bytes((uint64_t)bytes).text);
    *json = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &found);
    if (*json) return MARGIN_OK;
    if (json_error_code(&found) == json_error_out_of_memory)
        return mg_fail_memory(r->error, (size_t)bytes, what);
    return mg_fail_stored(r, "%s is not valid JSON: %s at byte %d", what, found.text,
                          found.position);
}

/* ---- Table of tensors ------------------------------------------------------------------------ */

static margin_status fail_tensor(const mg_store_reader *r, const char *name, const char *what) {
    return mg_fail_stored(r, "its tensor %s %s", mg_excerpt(name, (int64_t)strlen(name)).text,
                          what);
}

static bool read_type(const char *text, margin_type *type) {
    int k = 0;
    while (text && k < MG_LENGTH(mg_store_types) && strcmp(mg_store_types[k], text) != 0)
        k++;
    *type = (margin_type)(k + 1);
    return text && k < MG_LENGTH(mg_store_types);
}

/* A list of `count` whole numbers from 0. */
static bool read_list(const json_t *list, size_t count, int64_t *numbers) {
    if (!json_is_array(list) || json_array_size(list) != count) return false;
    for (size_t k = 0; k < count; k++) {
        const json_t *item = json_array_get(list, k);
        if (!json_is_integer(item) || json_integer_value(item) < 0) return false;
        numbers[k] = json_integer_value(item);
    }
    return true;
}

static margin_status read_shape(const mg_store_reader *r, const json_t *entry,
                                mg_stored_tensor *tensor) {
    const json_t *shape = json_object_get(entry, "shape");
    const size_t dimensions = json_array_size(shape); /* 0 if it is no list */
    if (dimensions < 1 || dimensions > 2 || !read_list(shape, dimensions, tensor->shape))
        return fail_tensor(r, tensor->name, "has no shape of one or two sizes");
    tensor->dimensions = (int)dimensions;
    const int64_t size = mg_type_size(tensor->type), rows = tensor->shape[0];
    const int64_t width = dimensions == 2 ? tensor->shape[1] : 1;
    if (width < 1 || width > INT64_MAX / size || rows > INT64_MAX / (width * size) ||
        rows * width * size != tensor->last - tensor->first)
        return fail_tensor(r, tensor->name, "has a shape that does not fit its bytes");
    return MARGIN_OK;
}

static margin_status read_tensor(const mg_store_reader *r, const char *name, const json_t *entry,
                                 mg_stored_tensor *tensor) {
    int64_t offsets[2];
    if (strlen(name) >= sizeof tensor->name) return fail_tensor(r, name, "has too long a name");
    *tensor = (mg_stored_tensor){.taken = false};
    strcpy(tensor->name, name);
    if (!read_type(json_string_value(json_object_get(entry, "dtype")), &tensor->type))
        return fail_tensor(r, name, "has no number type that this version knows");
    if (!read_list(json_object_get(entry, "data_offsets"), 2, offsets) || offsets[0] > offsets[1] ||
        offsets[1] > r->data_length)
        return fail_tensor(r, name, "lies outside of the file");
    tensor->first = offsets[0];
    tensor->last = offsets[1];
    return read_shape(r, entry, tensor);
}

static int by_place(const void *a, const void *b) {
    const mg_stored_tensor *left = a, *right = b;
    if (left->first != right->first) return left->first < right->first ? -1 : 1;
    if (left->last != right->last) return left->last < right->last ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Tensors follow one another without gap or overlap and fill the data part. */
static margin_status check_cover(const mg_store_reader *r) {
    int64_t end = 0;
    for (int64_t k = 0; k < r->tensor_count; k++) {
        if (r->tensors[k].first != end)
            return fail_tensor(r, r->tensors[k].name, "overlaps another one or leaves a gap");
        end = r->tensors[k].last;
    }
    if (end != r->data_length)
        return mg_fail_stored(r, "%lld bytes at its end belong to no tensor",
                              (long long)(r->data_length - end));
    return MARGIN_OK;
}

static margin_status read_table(mg_store_reader *r) {
    const int64_t count = (int64_t)json_object_size(r->header) - 1; /* __metadata__ aside */
    if (count > TENSOR_LIMIT)
        return mg_fail_stored(r, "it has %lld tensors; models have at most %d", (long long)count,
                              TENSOR_LIMIT);
    MG_NEW(r->heap, r->tensors, 2 * count, "the table of tensors", r->error); /* half to sort */
    for (void *at = json_object_iter(r->header); at; at = json_object_iter_next(r->header, at)) {
        const char *name = json_object_iter_key(at);
        if (strcmp(name, "__metadata__") == 0) continue;
        MG_TRY(read_tensor(r, name, json_object_iter_value(at), &r->tensors[r->tensor_count]));
        r->tensor_count++;
    }
    mg_sort_few_items(r->tensors, r->tensor_count, sizeof *r->tensors, r->tensors + count,
                      by_place);
    return check_cover(r);
}

/* ---- Metadata -------------------------------------------------------------------------------- */

const char *mg_store_metadata(const mg_store_reader *r, const char *key) {
    return json_string_value(json_object_get(json_object_get(r->header, "__metadata__"), key));
}

static margin_status check_version(const mg_store_reader *r) {
    const char *format = mg_store_metadata(r, "format");
    const char *version = mg_store_metadata(r, "format_version");
    const char *writer = mg_store_metadata(r, "margin_version");
    double number;
    if (!format || strcmp(format, "margin") != 0 || !version || !writer ||
        !margin_number_parse_f64(version, strlen(version), &number))
        return mg_fail_stored(r, "it does not say which format and version it has");
    if (number > MG_STORE_VERSION)
        return mg_fail_stored(r,
                              "margin %s wrote it in format version %s, and this is margin %s, "
                              "which reads up to version %d; update margin, or train again with "
                              "this one",
                              mg_excerpt(writer, (int64_t)strlen(writer)).text,
                              mg_excerpt(version, (int64_t)strlen(version)).text, margin_version(),
                              MG_STORE_VERSION);
    if (number != MG_STORE_VERSION)
        return mg_fail_stored(r, "there is no format version %s",
                              mg_excerpt(version, (int64_t)strlen(version)).text);
    return MARGIN_OK;
}

static uint64_t read_length(const unsigned char *bytes) {
    uint64_t length = 0;
    for (int k = LENGTH_BYTES - 1; k >= 0; k--)
        length = length << 8 | bytes[k];
    return length;
}

margin_status mg_store_look(const char *name, const char *head, int64_t length,
                            int64_t *longest_line, margin_error *error) {
    const mg_store_reader r = {.name = name, .error = error};
    (void)longest_line;
    const int64_t prefix = MG_MIN(prefix_length(), length - LENGTH_BYTES);
    if (read_length((const unsigned char *)head) <= (uint64_t)MG_STORE_HEADER &&
        memcmp(head + LENGTH_BYTES, MG_STORE_PREFIX, (size_t)prefix) == 0)
        return MARGIN_OK;
    return mg_fail_stored(&r, "it does not begin as one");
}

/* Length of the header, checked against that of the file. */
static margin_status check_lengths(const mg_store_reader *r, int64_t *header_length) {
    if (r->length < LENGTH_BYTES) return mg_fail_stored(r, "it is too short to be one");
    const uint64_t length = read_length(r->bytes);
    if (length > (uint64_t)MG_STORE_HEADER || (int64_t)length > r->length - LENGTH_BYTES ||
        !has_prefix(r->bytes, (int64_t)length + LENGTH_BYTES))
        return mg_fail_stored(r, "it does not begin as one, or its beginning was cut off");
    *header_length = (int64_t)length;
    return MARGIN_OK;
}

margin_status mg_store_read_header(mg_store_reader *r) {
    int64_t header_length = 0;
    MG_TRY(check_lengths(r, &header_length));
    MG_TRY(check_checksum(r));
    MG_TRY(parse_json(r, (const char *)r->bytes + LENGTH_BYTES, header_length, HEADER_VALUES,
                      "its header", &r->header));
    MG_TRY(check_version(r));
    r->data = r->bytes + LENGTH_BYTES + header_length;
    r->data_length = r->length - LENGTH_BYTES - header_length;
    MG_TRY(read_table(r));
    const char *details = mg_store_metadata(r, "model");
    if (!details) return mg_fail_stored(r, "it does not describe a model");
    return parse_json(r, details, (int64_t)strlen(details), MG_STORE_VALUES,
                      "the description of the model", &r->details);
}

void mg_store_reader_free(mg_store_reader *r) {
    json_decref(r->details);
    json_decref(r->header);
    mg_free(r->heap, r->tensors);
    r->details = r->header = NULL;
    r->tensors = NULL;
}
