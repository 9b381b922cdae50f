/* Model files: the bytes as they are, then with length and checksum made right, so that what lies
 * behind those is reached. What is accepted predicts without trouble and encodes to bytes that
 * decode to the same bytes again. */
#include "fuzz.h"
#include "fuzz_refusal.h"

#include "model/store/store.h"

enum { ROWS = 3, MOST_NUMBERS = 1 << 20 };

static void predict(margin_context *context, const margin_model *model) {
    int64_t columns;
    margin_model_columns(model, &columns);
    const int64_t scores = margin_model_score_count(model);
    if (columns * ROWS > MOST_NUMBERS || scores * ROWS > MOST_NUMBERS) return;
    double *values = malloc(sizeof(double) * (size_t)(columns * ROWS));
    double *out = malloc(sizeof(double) * (size_t)(scores * ROWS));
    FUZZ_CHECK(values && out);
    for (int64_t k = 0; k < columns * ROWS; k++)
        values[k] = (double)(k % 5) - 1;
    const margin_matrix x = margin_dense_f64(values, ROWS, columns, columns);
    int64_t labels[ROWS];
    margin_error error;
    const margin_status status =
        margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_SCORES, out, &error);
    FUZZ_CHECK(status == MARGIN_OK || status == MARGIN_ERROR_DATA); /* onehot(unknown=error) */
    if (margin_model_task(model) == MARGIN_CLASSIFY) {
        const margin_status labelled =
            margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_LABELS, labels, &error);
        FUZZ_CHECK(labelled == MARGIN_OK || labelled == MARGIN_ERROR_DATA);
        for (int i = 0; labelled == MARGIN_OK && i < ROWS; i++)
            FUZZ_CHECK(labels[i] >= -1 && labels[i] < margin_model_class_count(model));
    }
    free(values);
    free(out);
}

static void round_trip(margin_context *context, const margin_model *model) {
    void *first = NULL, *second = NULL;
    int64_t first_length, second_length;
    margin_model *again = NULL;
    margin_error error;
    const margin_status status = margin_model_encode(model, &first, &first_length, &error);
    if (status == MARGIN_ERROR_LIMIT) return;
    FUZZ_CHECK(status == MARGIN_OK);
    FUZZ_CHECK(margin_model_decode(context, first, first_length, &again, &error) == MARGIN_OK);
    FUZZ_CHECK(margin_model_encode(again, &second, &second_length, &error) == MARGIN_OK);
    FUZZ_CHECK(first_length == second_length && memcmp(first, second, (size_t)first_length) == 0);
    margin_bytes_free(model, first);
    margin_bytes_free(again, second);
    margin_model_free(again);
}

static void check(margin_context *context, const uint8_t *bytes, size_t size) {
    margin_model *model = NULL;
    margin_error error = {.status = MARGIN_OK};
    const margin_status status = margin_model_decode(context, bytes, (int64_t)size, &model, &error);
    if (status != MARGIN_OK) {
        FUZZ_CHECK(fuzz_is_refusal(status, &error));
        FUZZ_CHECK(model == NULL && strlen(error.text) > 20);
        return;
    }
    predict(context, model);
    round_trip(context, model);
    margin_model_free(model);
}

/* Length of the header: to the end of the object that begins at bytes[8], and spaces behind it. */
static size_t find_header(const uint8_t *bytes, size_t size) {
    int depth = 0, quoted = 0;
    for (size_t k = 8; k < size; k++) {
        if (quoted && bytes[k] == '\\')
            k++;
        else if (bytes[k] == '"')
            quoted = !quoted;
        else if (!quoted && bytes[k] == '{')
            depth++;
        else if (!quoted && bytes[k] == '}' && --depth == 0) {
            for (k++; k < size && k % 64 != 0 && bytes[k] == ' ';)
                k++;
            return k - 8;
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = INT64_C(1) << 30};
    margin_context *context = NULL;
    FUZZ_CHECK(margin_context_create(&options, &context, NULL) == MARGIN_OK);
    check(context, data, size);
    uint8_t *sealed = malloc(size + 1);
    FUZZ_CHECK(sealed != NULL);
    if (size > 0) memcpy(sealed, data, size);
    const size_t header = find_header(sealed, size);
    for (int k = 0; k < 8 && header > 0; k++)
        sealed[k] = (uint8_t)(header >> (8 * k) & 255);
    if (mg_store_seal(sealed, (int64_t)size)) check(context, sealed, size);
    free(sealed);
    margin_context_free(context);
    return 0;
}
