/* Model files that a parser finds nothing wrong with: honest models of every learner and stage with
 * entries, spec, tensors or numbers changed and the right checksum. Each is refused with a
 * sentence, or every public function that takes a model works on it. */
#include "fuzz.h"
#include "fuzz_refusal.h"

#include "hostile_models.h"

#include <unistd.h>

static hostile_case cases[HOSTILE_MOST];
static hostile_file files[HOSTILE_MOST];
static int count;
static char path[64];

static margin_context *open_context(void) {
    const margin_context_options options = {.size = sizeof options,
                                            .threads = 1,
                                            .memory_limit = INT64_C(1) << 28,
                                            .time_limit = FUZZ_TIME_LIMIT};
    margin_context *context = NULL;
    FUZZ_CHECK(margin_context_create(&options, &context, NULL) == MARGIN_OK);
    return context;
}

static void remove_file(void) {
    unlink(path);
}

static void train_all(margin_context *context) {
    count = hostile_cases(cases);
    for (int k = 0; k < count; k++) {
        margin_model *model = NULL;
        margin_error error;
        void *bytes = NULL;
        FUZZ_CHECK(hostile_train(context, &cases[k], &model, &error) >= 0);
        FUZZ_CHECK(margin_model_encode(model, &bytes, &files[k].length, &error) == MARGIN_OK);
        files[k].bytes = malloc((size_t)files[k].length);
        FUZZ_CHECK(files[k].bytes != NULL);
        memcpy(files[k].bytes, bytes, (size_t)files[k].length);
        margin_bytes_free(model, bytes);
        margin_model_free(model);
    }
    snprintf(path, sizeof path, "/tmp/fuzz_model_entries.%ld", (long)getpid());
    atexit(remove_file);
}

static void check(margin_context *context, const hostile_file *file) {
    margin_model *model = NULL;
    margin_error error = {.status = MARGIN_OK};
    margin_status verified;
    const margin_status status =
        margin_model_decode(context, file->bytes, file->length, &model, &error);
    if (status != MARGIN_OK) {
        FUZZ_CHECK(fuzz_is_refusal(status, &error));
        FUZZ_CHECK(model == NULL && strlen(error.text) > 20);
        return;
    }
    const char *wrong = hostile_use(context, model, path, &verified, &error);
    if (wrong) fprintf(stderr, "%s: %s\n", wrong, error.text);
    FUZZ_CHECK(wrong == NULL);
    margin_model_free(model);
}

/* One byte chooses the model, one the number of changes, the rest what they are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stream stream = {data, size};
    margin_context *context = open_context();
    if (count == 0) train_all(context);
    const int number = fuzz_byte(&stream) % count;
    int changes = 1 + fuzz_byte(&stream) % 3;
    hostile_choices choices = {stream.data, stream.size};
    hostile_file file = hostile_change(&files[number], &choices);
    while (--changes > 0 && choices.count > 0 && file.bytes) {
        const hostile_file next = hostile_change(&file, &choices);
        free(file.bytes);
        file = next;
    }
    if (file.bytes) check(context, &file);
    free(file.bytes);
    margin_context_free(context);
    return 0;
}
