/* Model files: what is written comes back, byte for byte; other readers, and files of old versions.
 */
#include "store_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- Round trip ------------------------------------------------------------------------------ */

static void assert_same_columns(const margin_column *a, const margin_column *b, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        assert_string_equal(a[j].name, b[j].name);
        assert_int_equal(a[j].kind, b[j].kind);
        assert_int_equal(a[j].category_count, b[j].category_count);
        for (int64_t k = 0; k < a[j].category_count; k++)
            assert_string_equal(a[j].categories[k], b[j].categories[k]);
    }
}

static bool same_number(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void assert_same_reports(const margin_report *a, const margin_report *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->subproblems, b->subproblems);
    assert_true(same_number(a->objective, b->objective) && same_number(a->gap, b->gap) &&
                same_number(a->tolerance, b->tolerance) &&
                same_number(a->train_accuracy, b->train_accuracy) &&
                same_number(a->train_rmse, b->train_rmse) && same_number(a->train_r2, b->train_r2));
    assert_string_equal(a->iteration_name, b->iteration_name);
    assert_string_equal(a->formula, b->formula);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->item_count, b->item_count);
    for (int64_t k = 0; k < a->item_count; k++) {
        assert_string_equal(a->items[k].name, b->items[k].name);
        assert_true(same_number(a->items[k].value, b->items[k].value));
    }
    assert_true(b->seconds == 0 && b->threads == 0);
}

static void assert_same_predictions(const margin_model *a, const margin_model *b) {
    const margin_matrix x = margin_dense_f64(store_points, 6, 3, 3);
    double left[6 * 3], right[6 * 3];
    int64_t labels[6], other[6];
    assert_int_equal(margin_model_score_count(a), margin_model_score_count(b));
    assert_int_equal(margin_scores(a, &x, left, NULL), MARGIN_OK);
    assert_int_equal(margin_scores(b, &x, right, NULL), MARGIN_OK);
    assert_memory_equal(left, right, (size_t)(6 * margin_model_score_count(a)) * sizeof *left);
    assert_int_equal(margin_predict(a, &x, labels, NULL), MARGIN_OK);
    assert_int_equal(margin_predict(b, &x, other, NULL), MARGIN_OK);
    assert_memory_equal(labels, other, sizeof labels);
}

static void assert_same_models(const margin_model *a, const margin_model *b) {
    int64_t count, other;
    assert_string_equal(margin_model_spec(a), margin_model_spec(b));
    assert_int_equal(margin_model_task(a), margin_model_task(b));
    assert_int_equal(a->decision, b->decision);
    assert_int_equal(a->active, b->active);
    assert_int_equal(margin_model_class_count(a), margin_model_class_count(b));
    for (int64_t c = 0; c < margin_model_class_count(a); c++) {
        assert_string_equal(margin_model_class_name(a, c), margin_model_class_name(b, c));
        assert_true(!a->class_values == !b->class_values);
        if (a->class_values) assert_true(a->class_values[c] == b->class_values[c]);
    }
    const margin_column *inputs = margin_model_columns(a, &count);
    const margin_column *others = margin_model_columns(b, &other);
    assert_int_equal(count, other);
    assert_same_columns(inputs, others, count);
    assert_same_columns(margin_model_target(a), margin_model_target(b), 1);
    inputs = margin_model_features(a, &count);
    others = margin_model_features(b, &other);
    assert_int_equal(count, other);
    if (inputs) assert_same_columns(inputs, others, count);
    assert_same_reports(margin_model_report(a), margin_model_report(b));
    assert_same_predictions(a, b);
}

/* Every kind of model: decoded it is the same, and encoded again it has the same bytes. */
static void test_round_trip(void **state) {
    (void)state;
    for (int k = 0; k < STORE_CASES; k++) {
        margin_context *context = support_context(NULL, 2);
        margin_model *model = store_train(context, &store_cases[k]), *loaded = NULL;
        margin_error error = {0};
        store_bytes first = store_encode(model);
        if (margin_model_decode(context, first.bytes, first.length, &loaded, &error) < 0)
            fail_msg("%s: %s", store_cases[k].name, error.text);
        assert_same_models(model, loaded);
        store_bytes second = store_encode(loaded);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.bytes, second.bytes, (size_t)first.length);
        margin_context_free(context); /* the models outlive it */
        margin_model_free(model);
        assert_string_equal(margin_model_spec(loaded), margin_model_spec(loaded));
        margin_model_free(loaded);
        free(first.bytes);
        free(second.bytes);
    }
}

/* The bytes depend on data, spec and seed: not on threads, time or the run. */
static void test_same_bytes(void **state) {
    (void)state;
    for (int k = 0; k < STORE_CASES; k++) {
        const store_bytes one = store_encode_case(&store_cases[k], 1),
                          three = store_encode_case(&store_cases[k], 3);
        assert_int_equal(one.length, three.length);
        assert_memory_equal(one.bytes, three.bytes, (size_t)one.length);
        free(one.bytes);
        free(three.bytes);
    }
}

/* Tensors without numbers have no place that would tell their order. */
static void test_empty_tensors(void **state) {
    static const double x[4] = {0};
    static const int32_t labels[4] = {0, 1, 1, 0};
    const margin_data data = {.x = margin_dense_f64(x, 4, 1, 1), .y = margin_labels_i32(labels, 4)};
    margin_context *context = support_context(NULL, 1);
    margin_spec *spec = NULL;
    margin_model *model = NULL, *loaded = NULL;
    (void)state;
    assert_int_equal(margin_spec_parse(context, "svm(alpha=0, solver=gd, max_iter=5)", &spec, NULL),
                     MARGIN_OK);
    assert_true(margin_fit(context, spec, &data, &model, NULL, NULL) >= 0);
    margin_spec_free(spec);
    const store_bytes first = store_encode(model);
    assert_int_equal(margin_model_decode(context, first.bytes, first.length, &loaded, NULL),
                     MARGIN_OK);
    const store_bytes second = store_encode(loaded);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.bytes, second.bytes, (size_t)first.length);
    free(first.bytes);
    free(second.bytes);
    margin_model_free(model);
    margin_model_free(loaded);
    margin_context_free(context);
}

static void test_files(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 40];
    support_temp_dir(dir);
    margin_context *context = support_context(NULL, 1);
    margin_model *model = store_train(context, store_find_case("named")), *loaded = NULL;
    const store_bytes bytes = store_encode(model);
    margin_error error = {0};
    static const char *const names[] = {"model.margin", "model.margin.gz"};
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        assert_int_equal(margin_model_save(model, path, &error), MARGIN_OK);
        if (margin_model_load(context, path, &loaded, &error) < 0) fail_msg("%s", error.text);
        assert_same_models(model, loaded);
        margin_model_free(loaded);
        size_t length;
        char *file = support_read_file(path, &length);
        if (k == 0) {
            assert_int_equal(length, bytes.length);
            assert_memory_equal(file, bytes.bytes, length);
        } else {
            assert_true(file[0] == '\x1f');
        }
        free(file);
    }
    snprintf(path, sizeof path, "%s/none.margin", dir);
    loaded = NULL;
    assert_int_equal(margin_model_load(context, path, &loaded, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, "none.margin");
    snprintf(path, sizeof path, "%s/no/such/folder.margin", dir);
    assert_int_equal(margin_model_save(model, path, &error), MARGIN_ERROR_FILE);
    snprintf(path, sizeof path, "%s/cut.margin", dir);
    char cut[SUPPORT_PATH];
    support_write_bytes(cut, dir, "cut.margin", bytes.bytes, (size_t)bytes.length - 9);
    assert_int_equal(margin_model_load(context, path, &loaded, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "cut.margin is not a usable model file: it is damaged");
    assert_null(loaded);
    margin_model_free(model);
    margin_context_free(context);
    free(bytes.bytes);
    support_temp_remove(dir);
}

static void test_arguments(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *model = store_train(context, &store_cases[0]), *out = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    assert_int_equal(margin_model_save(NULL, "x", NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_save(model, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(NULL, &bytes, &length, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(model, NULL, &length, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(model, &bytes, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(NULL, "x", 1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, NULL, 1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, "x", -1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, "x", 1, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(NULL, "x", &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(context, NULL, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(context, "x", NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, NULL, 0, &out, NULL), MARGIN_ERROR_MODEL);
    margin_bytes_free(NULL, NULL);
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status decode_body(margin_context *context, void *user, margin_error *error) {
    const store_bytes *e = user;
    margin_model *model = NULL;
    const margin_status status = margin_model_decode(context, e->bytes, e->length, &model, error);
    if (status < 0) assert_null(model);
    margin_model_free(model);
    return status;
}

static margin_status encode_body(margin_context *context, void *user, margin_error *error) {
    const store_bytes *e = user;
    margin_model *model = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    MG_TRY(margin_model_decode(context, e->bytes, e->length, &model, error));
    margin_status status = margin_model_encode(model, &bytes, &length, error);
    if (status < 0) assert_null(bytes);
    margin_bytes_free(model, bytes);
    if (status >= 0) {
        char dir[SUPPORT_PATH], path[SUPPORT_PATH + 20];
        support_temp_dir(dir);
        snprintf(path, sizeof path, "%s/m.margin", dir);
        status = margin_model_save(model, path, error);
        if (status >= 0) {
            margin_model *loaded = NULL;
            status = margin_model_load(context, path, &loaded, error);
            margin_model_free(loaded);
        }
        support_temp_remove(dir);
    }
    margin_model_free(model);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    static const char *const names[] = {"named", "kernel", "sparse", "ovo"};
    for (int k = 0; k < MG_LENGTH(names); k++) {
        store_bytes whole = store_encode_case(store_find_case(names[k]), 1);
        assert_true(support_fail_each_allocation(1, decode_body, &whole) > 15);
        assert_true(support_fail_each_allocation(1, encode_body, &whole) > 20);
        free(whole.bytes);
    }
}

static int end_it(void *user) {
    return ++*(int *)user > 0;
}

/* By a cancel and by the host's poll; a time limit does not end it. */
static void test_cancelled(void **state) {
    (void)state;
    int asked = 0;
    const margin_context_options ends[] = {{.size = sizeof ends[0], .threads = 1},
                                           {.size = sizeof ends[0], .poll = end_it, .user = &asked},
                                           {.size = sizeof ends[0], .time_limit = 1e-9}};
    for (int k = 0; k < STORE_CASES; k++) {
        store_bytes whole = store_encode_case(&store_cases[k], 1);
        char dir[SUPPORT_PATH], path[SUPPORT_PATH];
        support_temp_dir(dir);
        support_write_bytes(path, dir, "m.margin", whole.bytes, (size_t)whole.length);
        for (int e = 0; e < MG_LENGTH(ends); e++) {
            margin_context *context = NULL;
            margin_model *made[3] = {NULL, NULL, NULL};
            assert_int_equal(margin_context_create(&ends[e], &context, NULL), MARGIN_OK);
            if (e == 0) margin_context_cancel(context);
            const margin_status status[] = {
                margin_model_decode(context, whole.bytes, whole.length, &made[0], NULL),
                margin_model_load(context, path, &made[1], NULL),
                margin_model_map(context, path, &made[2], NULL)};
            for (int way = 0; way < 3; way++) {
                assert_int_equal(status[way], e < 2 ? MARGIN_ERROR_CANCELLED : MARGIN_OK);
                assert_true(!made[way] == (e < 2));
                margin_model_free(made[way]);
            }
            margin_context_free(context);
        }
        support_temp_remove(dir);
        free(whole.bytes);
    }
}

/* ---- Other readers --------------------------------------------------------------------------- */

/* Runs a command and gives its output; NULL if it exits with 77. */
static char *output_of(const char *command) {
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = calloc(1, 4096);
    const size_t length = fread(text, 1, 4095, pipe);
    text[length] = '\0';
    const int status = pclose(pipe);
    if (status == 77 * 256) {
        free(text);
        return NULL;
    }
    if (status != 0) fail_msg("%s: status %d: %s", command, status, text);
    return text;
}

/* The example of docs/format.md, taken from the page, on the model that it describes. */
static void test_page_example(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], script[SUPPORT_PATH], command[3 * SUPPORT_PATH];
    size_t length;
    support_temp_dir(dir);
    margin_context *context = support_context(NULL, 1);
    const double x[] = {3, 3, 4, 3, 1, 1, 0, 2};
    const int32_t y[] = {1, 1, 0, 0};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_labels_i32(y, 4)};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    char *page = support_read_file(support_source(path, "docs/format.md"), &length);
    assert_contains(page, "x1,x2,y\n3,3,1\n4,3,1\n1,1,0\n0,2,0\n");
    snprintf(path, sizeof path, "%.*s/m.margin", SUPPORT_PATH - 20, dir);
    if (margin_spec_parse(context, "minmax | perceptron", &spec, &error) < 0)
        fail_msg("%s", error.text);
    if (margin_fit(context, spec, &data, &model, NULL, &error) < 0 ||
        margin_model_save(model, path, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);

    char *code = strstr(page, "```python\n");
    assert_non_null(code);
    code += strlen("```python\n");
    char *end = strstr(code, "```");
    assert_non_null(end);
    char *expected = strstr(end, "It prints\n\n```\n");
    assert_non_null(expected);
    expected += strlen("It prints\n\n```\n");
    *end = '\0';
    *strstr(expected, "```") = '\0';
    support_write_text(script, dir, "example.py", code);
    snprintf(command, sizeof command,
             "command -v python3 >/dev/null || exit 77; python3 '%s' '%s' 2>&1", script, path);
    char *output = output_of(command);
    if (!output) {
        print_message("skipped: no python3\n");
    } else {
        assert_string_equal(output, expected);
    }
    free(output);
    free(page);
    support_temp_remove(dir);
}

/* The package safetensors opens every kind of model. */
static void test_safetensors_package(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], command[3 * SUPPORT_PATH];
    support_temp_dir(dir);
    bool missing = false;
    for (int k = 0; k < STORE_CASES && !missing; k++) {
        const store_bytes whole = store_encode_case(&store_cases[k], 1);
        support_write_bytes(path, dir, "m.safetensors", whole.bytes, (size_t)whole.length);
        snprintf(command, sizeof command,
                 "${MARGIN_PYTHON:-python3} - '%s' <<'END' 2>&1\n"
                 "import sys\n"
                 "try:\n"
                 "    import numpy\n"
                 "    from safetensors import safe_open\n"
                 "except ImportError:\n"
                 "    sys.exit(77)\n"
                 "with safe_open(sys.argv[1], framework='np') as f:\n"
                 "    assert f.metadata()['format'] == 'margin'\n"
                 "    assert sum(f.get_tensor(k).nbytes for k in f.keys()) > 0\n"
                 "    print(f.metadata()['spec'], end='')\n"
                 "END\n",
                 path);
        char *output = output_of(command);
        missing = !output;
        if (output) assert_true(strncmp(output, store_cases[k].spec, 6) == 0);
        free(output);
        free(whole.bytes);
    }
    support_temp_remove(dir);
    if (missing) {
        print_message("skipped: no python3 with safetensors and numpy\n");
        skip();
    }
}

/* ---- Fixtures -------------------------------------------------------------------------------- */

enum { MOST_SCORES = 6 * 3 };

static int64_t scores_of(const margin_model *model, double scores[MOST_SCORES]) {
    const margin_matrix x = margin_dense_f64(store_points, 6, 3, 3);
    assert_int_equal(margin_scores(model, &x, scores, NULL), MARGIN_OK);
    return 6 * margin_model_score_count(model);
}

/* Writes the fixtures anew, for a person to look at and commit. */
static void write_fixtures(margin_context *context, const char *folder) {
    char path[SUPPORT_PATH + 80], text[MARGIN_NUMBER_TEXT];
    snprintf(path, sizeof path, "%s/v1-scores.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 0; k < STORE_CASES; k++) {
        double scores[MOST_SCORES];
        margin_model *model = store_train(context, &store_cases[k]);
        snprintf(path, sizeof path, "%s/v1-%s.margin", folder, store_cases[k].name);
        assert_int_equal(margin_model_save(model, path, NULL), MARGIN_OK);
        const int64_t count = scores_of(model, scores);
        fprintf(file, "%s", store_cases[k].name);
        for (int64_t i = 0; i < count; i++) {
            margin_number_print_f64(scores[i], text);
            fprintf(file, " %s", text);
        }
        fprintf(file, "\n");
        margin_model_free(model);
    }
    fclose(file);
}

/* Files of format version 1, written when it was new, stay readable and keep their scores. */
static void test_fixtures(void **state) {
    (void)state;
    char path[SUPPORT_PATH], name[80];
    size_t length;
    margin_context *context = support_context(NULL, 1);
    if (getenv("MARGIN_WRITE_FIXTURES")) write_fixtures(context, getenv("MARGIN_WRITE_FIXTURES"));
    char *text = support_read_file(support_source(path, "tests/fixtures/v1-scores.txt"), &length);
    int read = 0;
    char *next_line = NULL, *next_word = NULL;
    for (char *line = strtok_r(text, "\n", &next_line); line;
         line = strtok_r(NULL, "\n", &next_line), read++) {
        double scores[MOST_SCORES], expected;
        margin_model *model = NULL;
        margin_error error = {0};
        snprintf(name, sizeof name, "tests/fixtures/v1-%s.margin", strtok_r(line, " ", &next_word));
        if (margin_model_load(context, support_source(path, name), &model, &error) < 0)
            fail_msg("%s", error.text);
        const int64_t count = scores_of(model, scores);
        for (int64_t k = 0; k < count; k++) {
            const char *word = strtok_r(NULL, " ", &next_word);
            assert_non_null(word);
            assert_true(margin_number_parse_f64(word, strlen(word), &expected));
            assert_close(scores[k], expected, 1e-12);
        }
        margin_model_free(model);
    }
    assert_int_equal(read, 10);
    free(text);
    margin_context_free(context);
}

/* What does not begin as a model is not read to its end, which may not come. */
static void test_streams(void **state) {
    (void)state;
    margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 32 << 20};
    margin_context *context;
    margin_model *model = NULL;
    margin_error error;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 20];
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    assert_int_equal(margin_model_load(context, "/dev/zero", &model, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "/dev/zero is not a usable model file: it does not begin as one");
    assert_int_equal(margin_model_map(context, "/dev/urandom", &model, &error), MARGIN_ERROR_MODEL);
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%s/zeros.margin.gz", dir);
    char *zeros = calloc(1, 64 << 20);
    gzFile file = gzopen(path, "wb1");
    assert_true(zeros && file);
    assert_int_equal(gzwrite(file, zeros, 64 << 20), 64 << 20);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(margin_model_load(context, path, &model, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "it does not begin as one");
    free(zeros);
    support_temp_remove(dir);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_empty_tensors), cmocka_unit_test(test_files),
        cmocka_unit_test(test_arguments),     cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_cancelled),     cmocka_unit_test(test_streams),
        cmocka_unit_test(test_page_example),  cmocka_unit_test(test_safetensors_package),
        cmocka_unit_test(test_fixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
