/* Category codes of single texts; the work is the dictionary's. */
#include "data/table/encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CATEGORIES = 1 << 24 }; /* codes must be exact in f32 */

static const char purpose[] = "the categories of a column";

/* The expected categories as the first ones of a dictionary. */
static margin_status list_expected(const margin_column *expected, mg_encoder *encoder,
                                   margin_error *error) {
    for (int64_t k = 0; k < expected->category_count; k++) {
        const char *name = expected->categories[k];
        const int32_t code = mg_dictionary_code_exact(&encoder->texts, name, (int64_t)strlen(name));
        if (code == MG_DICTIONARY_MEMORY)
            return mg_no_memory(encoder->heap, expected->category_count,
                                sizeof(mg_dictionary_entry), purpose, error);
        MG_REQUIRE(code == k, error, MARGIN_ERROR_ARGUMENT,
                   "the expected categories of column '%s' contain '%s' twice", expected->name,
                   name);
    }
    encoder->listed = expected->category_count;
    return MARGIN_OK;
}

margin_status mg_encoder_init(mg_heap *heap, const margin_column *expected, margin_unknown unknown,
                              mg_encoder *encoder, margin_error *error) {
    mg_encoder made = {.heap = heap, .refuses = unknown == MARGIN_UNKNOWN_ERROR};
    mg_dictionary_init(&made.texts, heap);
    if (expected && expected->kind == MARGIN_CATEGORICAL) {
        made.fixed = unknown != MARGIN_UNKNOWN_KEEP;
        made.count = made.fixed ? expected->category_count : 0;
        MG_TRY(mg_name_index_make(heap, expected->categories, expected->category_count,
                                  &made.expected, error));
        const margin_status status = made.fixed ? MARGIN_OK : list_expected(expected, &made, error);
        if (status < 0) mg_encoder_free(&made);
        MG_TRY(status);
    }
    *encoder = made;
    return MARGIN_OK;
}

bool mg_encoder_knows(const mg_encoder *encoder, const char *text, int64_t length) {
    bool several;
    return mg_name_find(&encoder->expected, text, length, &several) >= 0;
}

margin_status mg_encoder_refuse(const mg_encoder *encoder, const char *file, int64_t row,
                                const char *what, const char *text, int64_t length,
                                margin_error *error) {
    enum { SHOWN = 12, ROOM = 400, LONGEST = 40 };
    char known[ROOM] = "";
    size_t used = 0;
    int64_t k = 0;
    for (; k < encoder->expected.count && k < SHOWN && used + LONGEST + 4 < ROOM; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.*s", k ? ", " : "",
                                 LONGEST, encoder->expected.sorted[k].name);
    return mg_fail_at(error, MG_DATA(UNKNOWN_CATEGORY), (mg_place){.row = row + 1},
                      "%s: row %lld: '%.*s' in %s is unknown to the model, which knows %s%s", file,
                      (long long)row + 1, (int)MG_MIN(length, (int64_t)LONGEST), text, what, known,
                      k < encoder->expected.count ? ", ..." : "");
}

margin_status mg_encoder_code(mg_encoder *encoder, const char *text, int64_t length, int64_t *code,
                              margin_error *error) {
    if (encoder->fixed) {
        bool several;
        *code = mg_name_find(&encoder->expected, text, length, &several);
        encoder->unknown += *code < 0;
        return MARGIN_OK;
    }
    *code = mg_dictionary_code_exact(&encoder->texts, text, length);
    encoder->unknown += encoder->listed > 0 && *code >= encoder->listed;
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
    bool sorted =
        mg_dictionary_sort_behind(&encoder->texts, encoder->listed, order, encoder->ranks);
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
    MG_FREE(encoder->heap, (void *)encoder->names, encoder->ranks);
    *encoder = (mg_encoder){0};
}

static void encoder_rank(const mg_encoder *encoder, void *codes, margin_type type, int64_t count,
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

margin_status mg_encoder_describe(mg_encoder *encoder, const char *name, void *codes,
                                  margin_type type, int64_t count, int64_t step, mg_columns *out,
                                  margin_error *error) {
    MG_TRY(mg_encoder_finish(encoder, error));
    encoder_rank(encoder, codes, type, count, step);
    const margin_column column = mg_encoder_column(encoder, name);
    return mg_columns_copy(encoder->heap, &column, 1, out, error);
}
