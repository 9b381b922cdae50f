/* Model to bytes. The header is made as text; then the same pieces are sent to the checksum, and to
 * the file or to memory. */
#include "base/sort.h"
#include "data/source/crc64.h"
#include "data/source/file_output.h"
#include "model/store/store.h"

#include <string.h>

/* One tensor on its way into the file. */
typedef struct piece {
    margin_tensor tensor;
    int64_t bytes;
} piece;

typedef struct store_writer {
    const margin_context *context; /* of the call; NULL: one that cannot be ended */
    const margin_model *model;
    piece *pieces;
    int64_t piece_count;
    mg_text head; /* length of the header, header, padding */
    int64_t length;
    margin_error *error;
} store_writer;

/* ---- Tensors --------------------------------------------------------------------------------- */

/* The tensors with numbers of `size` bytes; size 0: those without numbers, of any type. */
static void add_pieces_of_size(store_writer *w, int64_t size) {
    margin_tensor t = {.size = sizeof t};
    for (int64_t k = 0; margin_model_tensor(w->model, k, &t); k++) {
        const int64_t numbers = t.shape[0] * t.shape[1], width = mg_type_size((margin_type)t.type);
        if ((t.shape[0] > 0 ? width : 0) == size)
            w->pieces[w->piece_count++] = (piece){t, numbers * width};
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const piece *)a)->tensor.name, ((const piece *)b)->tensor.name);
}

/* All tensors: empty ones by name, for they have no place of their own to be read by; then those of
 * 8-byte numbers, so that each is aligned without gaps. */
static margin_status collect_pieces(store_writer *w) {
    static const int64_t sizes[] = {0, 8, 4, 1};
    const int64_t count = margin_model_tensor_count(w->model);
    MG_NEW(w->model->heap, w->pieces, 2 * count, "writing a model", w->error); /* half to sort */
    for (int k = 0; k < MG_LENGTH(sizes); k++) {
        add_pieces_of_size(w, sizes[k]);
        if (sizes[k] == 0)
            mg_sort_few_items(w->pieces, w->piece_count, sizeof *w->pieces, w->pieces + count,
                              by_name);
    }
    return MARGIN_OK;
}

/* ---- Header ---------------------------------------------------------------------------------- */

/* The stage as a spec with every option that has a value: a later change of defaults is noticed. */
static void write_stage_spec(mg_text *out, mg_heap *heap, const mg_fitted_stage *stage) {
    const margin_component *info = &stage->stage->info;
    const char *before = "(";
    mg_text text;
    mg_text_init(&text, heap);
    mg_text_puts(&text, info->name);
    for (int k = 0; k < info->option_count; k++) {
        if (!mg_option_has_value(&stage->options[k])) continue;
        mg_text_puts(&text, before);
        mg_text_puts(&text, info->options[k].name);
        mg_text_puts(&text, "=");
        mg_option_print(&info->options[k], &stage->options[k], &text);
        before = ", ";
    }
    if (*before == ',') mg_text_puts(&text, ")");
    if (text.failed)
        out->failed = true;
    else
        mg_store_write_text(out, "spec", text.data);
    mg_text_free(&text);
}

static void write_stages(mg_text *out, const margin_model *model) {
    mg_store_write_raw(out, "stages", "[");
    for (int s = 0; s < model->stage_count; s++) {
        const mg_fitted_stage *stage = &model->stages[s];
        mg_text_puts(out, s ? ",{" : "{");
        write_stage_spec(out, model->heap, stage);
        mg_store_write_integer(out, "columns_in", stage->columns_in);
        mg_store_write_integer(out, "columns_out", stage->columns_out);
        if (stage->columns.count)
            mg_store_write_columns(out, "columns", stage->columns.items, stage->columns.count);
        mg_text_puts(out, "}");
    }
    mg_text_puts(out, "]");
}

static void write_details(mg_text *out, const margin_model *model) {
    const mg_hypothesis *h = model->hypothesis;
    mg_text_puts(out, "{");
    mg_store_write_text(out, "task", mg_store_tasks[model->task - 1]);
    mg_store_write_text(out, "decision", mg_store_decisions[model->decision - 1]);
    if (model->class_names)
        mg_store_write_texts(out, "classes", (const char *const *)model->class_names,
                             model->classes);
    else
        mg_store_write_integer(out, "classes", model->classes);
    mg_store_write_columns(out, "target", model->target.items, model->target.count);
    mg_store_write_columns(out, "inputs", model->inputs.items, model->inputs.count);
    if (model->inputs.count > 0 && model->inputs.items[0].index_base)
        mg_store_write_integer(out, "index_base", model->inputs.items[0].index_base > 0);
    write_stages(out, model);
    mg_store_write_integer(out, "active", model->active);
    mg_store_write_raw(out, "hypothesis", "{");
    mg_store_write_text(out, "kind", h->kind->name);
    mg_store_write_integer(out, "columns", h->columns);
    mg_store_write_integer(out, "functions", h->functions);
    mg_text_puts(out, "}");
    mg_store_write_report(out, &model->report);
    mg_text_puts(out, "}");
}

/* Returns the values of the description. */
static int64_t write_metadata(mg_text *out, const margin_model *model) {
    mg_text details;
    mg_text_init(&details, model->heap);
    write_details(&details, model);
    mg_text_puts(out, MG_STORE_PREFIX "0000000000000000\"");
    mg_store_write_text(out, "format", "margin");
    mg_text_format(out, ",\"format_version\":\"%d\"", MG_STORE_VERSION);
    mg_store_write_text(out, "margin_version", margin_version());
    mg_store_write_text(out, "spec", model->spec);
    if (details.failed)
        out->failed = true;
    else
        mg_store_write_text(out, "model", details.data);
    mg_text_puts(out, "}");
    const int64_t values = details.failed ? 0 : mg_store_values(details.data, details.length);
    mg_text_free(&details);
    return values;
}

static void write_table(store_writer *w, mg_text *out) {
    int64_t end = 0;
    for (int64_t k = 0; k < w->piece_count; k++) {
        const piece *p = &w->pieces[k];
        mg_store_write_raw(out, p->tensor.name, "{");
        mg_store_write_text(out, "dtype", mg_store_types[p->tensor.type - 1]);
        mg_store_write_raw(out, "shape", "[");
        mg_text_integer(out, p->tensor.shape[0]);
        if (p->tensor.rank == 2) mg_text_puts(out, ",");
        if (p->tensor.rank == 2) mg_text_integer(out, p->tensor.shape[1]);
        mg_text_puts(out, "]");
        mg_store_write_raw(out, "data_offsets", "[");
        mg_text_integer(out, end);
        mg_text_puts(out, ",");
        mg_text_integer(out, end += p->bytes);
        mg_text_puts(out, "]}");
    }
    w->length = end;
}

/* The header with its length before it and spaces behind it. */
static margin_status make_head(store_writer *w) {
    mg_text *out = &w->head;
    mg_text_add(out, "\0\0\0\0\0\0\0\0", 8);
    const int64_t values = write_metadata(out, w->model);
    write_table(w, out);
    mg_text_puts(out, "}");
    while (!out->failed && out->length % MG_STORE_ALIGNMENT)
        mg_text_puts(out, " ");
    if (out->failed)
        return mg_no_memory(w->model->heap, out->length + 1, 1, "writing a model", w->error);
    const int64_t header = out->length - 8;
    MG_REQUIRE(header <= MG_STORE_HEADER, w->error, MARGIN_ERROR_LIMIT,
               "the names and descriptions of this model take %s, more than the %s of the file "
               "format",
               mg_bytes((uint64_t)header).text, mg_bytes((uint64_t)MG_STORE_HEADER).text);
    MG_REQUIRE(values <= MG_STORE_VALUES, w->error, MARGIN_ERROR_LIMIT,
               "this model has about %lld names of columns, categories and classes, more than the "
               "%lld of the file format",
               (long long)values, (long long)MG_STORE_VALUES);
    for (int k = 0; k < 8; k++)
        out->data[k] = (char)(header >> (8 * k) & 255);
    w->length += out->length;
    return MARGIN_OK;
}

/* ---- Sending --------------------------------------------------------------------------------- */

typedef margin_status (*sink)(void *to, const void *bytes, int64_t length, margin_error *error);

static margin_status send_piece(const store_writer *w, const piece *p, sink send, void *to) {
    unsigned char part[4096];
    const int64_t size = mg_type_size((margin_type)p->tensor.type);
    const int64_t step = MG_STORE_SWAPS ? (int64_t)sizeof part : MG_STORE_STEP;
    for (int64_t at = 0; at < p->bytes; at += step) {
        const unsigned char *bytes = (const unsigned char *)p->tensor.values + at;
        const int64_t length = MG_MIN(step, p->bytes - at);
        if (w->context && mg_cancelled(w->context)) return mg_fail_cancelled(w->error);
        if (MG_STORE_SWAPS) mg_store_swap(part, bytes, length, size);
        MG_TRY(send(to, MG_STORE_SWAPS ? part : bytes, length, w->error));
    }
    return MARGIN_OK;
}

static margin_status send_all(const store_writer *w, sink send, void *to) {
    MG_TRY(send(to, w->head.data, w->head.length, w->error));
    for (int64_t k = 0; k < w->piece_count; k++)
        MG_TRY(send_piece(w, &w->pieces[k], send, to));
    return MARGIN_OK;
}

static margin_status to_checksum(void *to, const void *bytes, int64_t length, margin_error *error) {
    (void)error;
    mg_crc64_add(to, bytes, length);
    return MARGIN_OK;
}

static margin_status to_file(void *to, const void *bytes, int64_t length, margin_error *error) {
    return mg_output_write(to, bytes, length, error);
}

static margin_status to_memory(void *to, const void *bytes, int64_t length, margin_error *error) {
    unsigned char **at = to;
    (void)error;
    memcpy(*at, bytes, (size_t)length);
    *at += length;
    return MARGIN_OK;
}

/* The zeros in the place of the checksum are what it is computed over. */
static margin_status seal(store_writer *w) {
    mg_crc64 crc;
    mg_crc64_begin(&crc);
    MG_TRY(send_all(w, to_checksum, &crc));
    const uint64_t value = mg_crc64_value(&crc);
    char *const digits = w->head.data + 8 + strlen(MG_STORE_PREFIX);
    for (int k = 0; k < MG_STORE_DIGITS; k++)
        digits[k] = "0123456789abcdef"[value >> (60 - 4 * k) & 15];
    return MARGIN_OK;
}

static margin_status writer_init(store_writer *w, const margin_context *context,
                                 const margin_model *model, margin_error *error) {
    *w = (store_writer){.context = context, .model = model, .error = error};
    mg_text_init(&w->head, model->heap);
    MG_TRY(collect_pieces(w));
    MG_TRY(make_head(w));
    return seal(w);
}

static void writer_free(store_writer *w) {
    mg_free(w->model->heap, w->pieces);
    mg_text_free(&w->head);
}

/* ---- Public ---------------------------------------------------------------------------------- */

margin_status margin_model_save(const margin_model *model, const char *path, margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {path, "path"});
    store_writer w;
    mg_output *output = NULL;
    margin_status status;
    MG_GO(writer_init(&w, NULL, model, error));
    MG_GO(mg_output_open(model->heap, path, &output, error));
    MG_GO(send_all(&w, to_file, output));
    status = mg_output_commit(output, error);
    output = NULL;
done:
    mg_output_abandon(output);
    writer_free(&w);
    return status;
}

static margin_status encode(const margin_context *context, const margin_model *model, void **bytes,
                            int64_t *length, margin_error *error) {
    store_writer w;
    margin_status status;
    unsigned char *made = NULL, *at;
    MG_GO(writer_init(&w, context, model, error));
    MG_GO_NEW(model->heap, made, w.length, "the bytes of a model", error);
    at = made;
    MG_GO(send_all(&w, to_memory, &at));
    *bytes = made;
    *length = w.length;
    made = NULL;
done:
    mg_free(model->heap, made);
    writer_free(&w);
    return status;
}

margin_status margin_model_encode(const margin_model *model, void **bytes, int64_t *length,
                                  margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {bytes, "bytes"}, {length, "length"});
    return encode(NULL, model, bytes, length, error);
}

margin_status mg_model_copy(margin_context *context, const margin_model *model, margin_model **copy,
                            margin_error *error) {
    void *bytes = NULL;
    int64_t length = 0;
    MG_TRY(encode(context, model, &bytes, &length, error));
    const margin_status status = mg_store_decode(context, bytes, length, copy, error);
    margin_bytes_free(model, bytes);
    return status;
}

margin_status margin_model_encoded_size(const margin_model *model, int64_t *length,
                                        margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {length, "length"});
    store_writer w;
    const margin_status status = writer_init(&w, NULL, model, error);
    if (status >= 0) *length = w.length;
    writer_free(&w);
    return status;
}

margin_status margin_model_encode_into(const margin_model *model, void *bytes, int64_t capacity,
                                       int64_t *length, margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {bytes, "bytes"}, {length, "length"});
    store_writer w;
    margin_status status;
    unsigned char *at = bytes;
    MG_GO(writer_init(&w, NULL, model, error));
    if (capacity < w.length)
        MG_GO(mg_fail(error, MARGIN_ERROR_ARGUMENT,
                      "the model takes %lld bytes and there is room for %lld; ask "
                      "margin_model_encoded_size before",
                      (long long)w.length, (long long)capacity));
    MG_GO(send_all(&w, to_memory, &at));
    *length = w.length;
done:
    writer_free(&w);
    return status;
}

void margin_bytes_free(const margin_model *model, void *bytes) {
    if (model) mg_free(model->heap, bytes);
}
