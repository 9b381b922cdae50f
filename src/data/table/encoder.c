/* Category codes of single texts; the work is the dictionary's. */
#include "data/table/encoder.h"

#include "base/text/text.h"

#include <math.h>
#include <string.h>

enum { MOST_CATEGORIES = 1 << 24 }; /* codes must be exact in f32 */

static const char purpose[] = "the categories of a column";

margin_status mg_list_categories(const margin_column *column, mg_dictionary *list,
                                 margin_error *error) {
    for (int64_t k = 0; k < column->category_count; k++) {
        const char *name = column->categories[k];
        const int32_t code = mg_dictionary_code_exact(list, name, (int64_t)strlen(name));
        if (code == MG_DICTIONARY_MEMORY)
            return mg_no_memory(list->heap, column->category_count, sizeof(mg_dictionary_entry),
                                purpose, error);
        MG_REQUIRE(code == k, error, MARGIN_ERROR_ARGUMENT,
                   "the expected categories of column '%s' contain '%s' twice", column->name, name);
    }
    return MARGIN_OK;
}

margin_status mg_encoder_init(mg_heap *heap, const margin_column *expected,
                              const margin_read_options *options, bool target, mg_encoder *encoder,
                              margin_error *error) {
    const int32_t unknown = !options ? MARGIN_UNKNOWN_MISSING
                            : target ? options->unknown_target
                                     : options->unknown;
    mg_encoder made = {.heap = heap, .refuses = unknown == MARGIN_UNKNOWN_ERROR, .target = target};
    mg_dictionary_init(&made.texts, heap);
    if (expected && expected->kind == MARGIN_CATEGORICAL) {
        made.fixed = unknown != MARGIN_UNKNOWN_KEEP;
        const margin_status status = mg_list_categories(expected, &made.texts, error);
        made.listed = expected->category_count;
        if (status < 0) mg_encoder_free(&made);
        MG_TRY(status);
    }
    *encoder = made;
    return MARGIN_OK;
}

bool mg_encoder_knows(const mg_encoder *encoder, const char *text, int64_t length) {
    const int32_t code = mg_dictionary_find_exact(&encoder->texts, text, length);
    return code >= 0 && code < encoder->listed;
}

margin_status mg_encoder_refuse(const mg_encoder *encoder, const char *file, int64_t row,
                                const char *what, const char *text, int64_t length,
                                margin_error *error) {
    mg_name_list known = {.most = 12};
    for (int64_t k = 0; k < encoder->listed && !known.full; k++)
        mg_name_list_add(&known, encoder->texts.entries[k].text, "");
    return mg_fail_at(error, encoder->target ? MG_DATA(UNKNOWN_CLASS) : MG_DATA(UNKNOWN_CATEGORY),
                      (mg_place){.row = row + 1},
                      "%s: row %lld: '%s' in %s is unknown to the model, which knows %s", file,
                      (long long)row + 1, mg_excerpt(text, length).text, what, known.text);
}

margin_status mg_encoder_code(mg_encoder *encoder, const char *text, int64_t length, int64_t *code,
                              margin_error *error) {
    mg_dictionary *texts = &encoder->texts;
    *code = encoder->fixed ? mg_dictionary_find_exact(texts, text, length)
                           : mg_dictionary_code_exact(texts, text, length);
    encoder->unknown +=
        encoder->fixed ? *code < 0 : encoder->listed > 0 && *code >= encoder->listed;
    if (encoder->fixed || (*code >= 0 && *code < MOST_CATEGORIES)) return MARGIN_OK;
    if (*code == MG_DICTIONARY_MEMORY)
        return mg_no_memory(encoder->heap, texts->count + 1, sizeof(mg_dictionary_entry), purpose,
                            error);
    return mg_fail(error, MARGIN_ERROR_LIMIT,
                   "a column has more than %d categories; read it as numbers or leave it out",
                   MOST_CATEGORIES);
}

margin_status mg_encoder_finish(mg_encoder *encoder, margin_error *error) {
    const int64_t count = encoder->texts.count;
    int32_t *order = NULL;
    MG_SCOPED_ARENA(arena, encoder->heap);
    MG_NEW(encoder->heap, encoder->names, count, purpose, error);
    if (!encoder->fixed) {
        MG_NEW(encoder->heap, encoder->ranks, count, purpose, error);
        MG_ARENA_NEW(&arena, order, count, purpose, error);
        if (mg_dictionary_sort_behind(NULL, &encoder->texts, encoder->listed, order,
                                      encoder->ranks) < 0)
            return mg_no_memory(encoder->heap, count, sizeof *order, purpose, error);
    }
    for (int64_t k = 0; k < count; k++)
        encoder->names[k] = encoder->texts.entries[order ? order[k] : k].text;
    return MARGIN_OK;
}

void mg_encoder_free(mg_encoder *encoder) {
    if (!encoder->heap) return;
    mg_dictionary_free(&encoder->texts);
    MG_FREE(encoder->heap, (void *)encoder->names, encoder->ranks);
    *encoder = (mg_encoder){0};
}

static void encoder_rank(const mg_encoder *encoder, void *codes, margin_type type, int64_t count,
                         int64_t step) {
    const margin_matrix x = {.values = codes, .value_type = (int32_t)type};
    for (int64_t k = 0; encoder->ranks && k < count * step; k += step) {
        const double code = mg_stored_value(&x, k);
        if (code >= 0) mg_store_value(&x, k, (double)encoder->ranks[(int64_t)code]);
    }
}

margin_column mg_encoder_column(const mg_encoder *encoder, const char *name) {
    margin_column column = {.name = name,
                            .kind = MARGIN_CATEGORICAL,
                            .categories = encoder->names,
                            .category_count = encoder->texts.count};
    return column;
}

margin_status mg_encoder_describe(mg_encoder *encoder, const char *name, void *codes,
                                  margin_type type, int64_t count, int64_t step, mg_columns *out,
                                  margin_error *error) {
    MG_TRY(mg_encoder_finish(encoder, error));
    encoder_rank(encoder, codes, type, count, step);
    const margin_column column = mg_encoder_column(encoder, name);
    return mg_columns_copy(encoder->heap, &column, 1, out, error);
}
