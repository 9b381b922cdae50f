/* Category codes of single texts; the work is the dictionary's. */
#include "data/encoder.h"

#include <math.h>
#include <string.h>

enum { MOST_CATEGORIES = 1 << 24 }; /* codes must be exact in f32 */

static const char purpose[] = "the categories of a column";

margin_status mg_encoder_init(mg_heap *heap, const margin_column *expected, mg_encoder *encoder,
                              margin_error *error) {
    mg_encoder made = {.heap = heap};
    mg_dictionary_init(&made.texts, heap);
    if (expected && expected->kind == MARGIN_CATEGORICAL) {
        made.fixed = true;
        made.count = expected->category_count;
        MG_TRY(mg_name_index_make(heap, expected->categories, expected->category_count,
                                  &made.expected, error));
    }
    *encoder = made;
    return MARGIN_OK;
}

margin_status mg_encoder_code(mg_encoder *encoder, const char *text, int64_t length, int64_t *code,
                              margin_error *error) {
    if (encoder->fixed) {
        bool several;
        *code = mg_name_find(&encoder->expected, text, length, &several);
        return MARGIN_OK;
    }
    *code = mg_dictionary_code_exact(&encoder->texts, text, length);
    if (*code >= 0 && *code < MOST_CATEGORIES) return MARGIN_OK;
    if (*code == MG_DICTIONARY_MEMORY)
        return mg_no_memory(encoder->heap, encoder->texts.count + 1, sizeof(mg_dictionary_entry),
                            purpose, error);
    return mg_fail(error, MARGIN_ERROR_LIMIT,
                   "a column has more than %d categories; read it as numbers or leave it out",
                   MOST_CATEGORIES);
}

/* names[code] = text for the expected ones. */
static void name_expected(mg_encoder *encoder) {
    for (int64_t k = 0; k < encoder->count; k++)
        encoder->names[encoder->expected.sorted[k].column] = encoder->expected.sorted[k].name;
}

margin_status mg_encoder_finish(mg_encoder *encoder, margin_error *error) {
    if (!encoder->fixed) encoder->count = encoder->texts.count;
    MG_NEW(encoder->heap, encoder->names, encoder->count, purpose, error);
    if (encoder->fixed) {
        name_expected(encoder);
        return MARGIN_OK;
    }
    int32_t *order;
    MG_NEW(encoder->heap, encoder->ranks, encoder->count, purpose, error);
    MG_NEW(encoder->heap, order, encoder->count, purpose, error);
    bool sorted = mg_dictionary_sort(&encoder->texts, order, encoder->ranks);
    for (int64_t k = 0; sorted && k < encoder->count; k++)
        encoder->names[k] = encoder->texts.entries[order[k]].text;
    mg_free(encoder->heap, order);
    if (!sorted) return mg_no_memory(encoder->heap, encoder->count, sizeof *order, purpose, error);
    return MARGIN_OK;
}

void mg_encoder_free(mg_encoder *encoder) {
    if (!encoder->heap) return;
    mg_name_index_free(&encoder->expected);
    mg_dictionary_free(&encoder->texts);
    mg_free(encoder->heap, (void *)encoder->names);
    mg_free(encoder->heap, encoder->ranks);
    *encoder = (mg_encoder){0};
}

void mg_encoder_rank(const mg_encoder *encoder, void *codes, margin_type type, int64_t count,
                     int64_t step) {
    double *f64 = codes;
    float *f32 = codes;
    for (int64_t k = 0; encoder->ranks && k < count * step; k += step) {
        double code = type == MARGIN_F64 ? f64[k] : (double)f32[k];
        if (!(code >= 0)) continue;
        int32_t rank = encoder->ranks[(int64_t)code];
        if (type == MARGIN_F64)
            f64[k] = (double)rank;
        else
            f32[k] = (float)rank;
    }
}

margin_column mg_encoder_column(const mg_encoder *encoder, const char *name) {
    margin_column column = {.name = name,
                            .kind = MARGIN_CATEGORICAL,
                            .categories = encoder->names,
                            .category_count = encoder->count};
    return column;
}
