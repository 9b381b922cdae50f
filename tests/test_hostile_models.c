/* Model files that agree with their checksum and not with themselves: refused with a sentence, or
 * whatever uses the model works. */
#include "hostile_models.h"

#include "support/group_folder.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hostile_case cases[HOSTILE_MOST];

static margin_context *limited_context(void) {
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = INT64_C(1) << 28};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

/* NULL: the case does not go with its data. */
static margin_model *train(margin_context *context, const hostile_case *c) {
    margin_model *model = NULL;
    margin_error error = {0};
    const margin_status status = hostile_train(context, c, &model, &error);
    if (status < 0) fail_msg("%s: %s", c->spec, error.text);
    return model;
}

static hostile_file encode(const margin_model *model) {
    void *bytes = NULL;
    hostile_file file = {0};
    assert_int_equal(margin_model_encode(model, &bytes, &file.length, NULL), MARGIN_OK);
    file.bytes = malloc((size_t)file.length);
    memcpy(file.bytes, bytes, (size_t)file.length);
    margin_bytes_free(model, bytes);
    return file;
}

/* True: it is usable, and was used. */
static bool try_file(margin_context *context, const hostile_file *file, const char *path,
                     const char *what) {
    margin_model *model = NULL;
    margin_error error = {0};
    margin_status verified;
    const margin_status status =
        margin_model_decode(context, file->bytes, file->length, &model, &error);
    if (status < 0) {
        if (status != MARGIN_ERROR_MODEL && status != MARGIN_ERROR_LIMIT)
            fail_msg("%s: status %d: %s", what, (int)status, error.text);
        assert_contains(error.text, "the model ");
        return false;
    }
    const char *wrong = hostile_use(context, model, path, &verified, &error);
    if (wrong) fail_msg("%s: %s: %s", what, wrong, error.text);
    margin_model_free(model);
    return true;
}

/* Every stage with every learner and every function; what is honest is proven. */
static void test_honest(void **state) {
    margin_context *context = support_context(NULL, 2);
    const int count = hostile_cases(cases);
    char path[SUPPORT_PATH];
    (void)state;
    assert_true(count > 100 && count < HOSTILE_MOST);
    for (int k = 0; k < count; k++) {
        margin_error error = {0};
        margin_status verified;
        margin_model *model = train(context, &cases[k]);
        const char *wrong =
            hostile_use(context, model, in_folder(path, "honest.margin"), &verified, &error);
        if (wrong) fail_msg("%s: %s: %s", cases[k].spec, wrong, error.text);
        if (verified != MARGIN_OK)
            fail_msg("%s: verified %d: %s", cases[k].spec, (int)verified, error.text);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_changed(void **state) {
    enum { CHANGES = 60, CHOICES = 32 };
    margin_context *context = limited_context();
    const int count = hostile_cases(cases);
    uint64_t random = 20;
    int used = 0, tried = 0;
    char path[SUPPORT_PATH];
    (void)state;
    for (int k = 0; k < count; k++) {
        margin_model *model = train(context, &cases[k]);
        const hostile_file file = encode(model);
        margin_model_free(model);
        for (int n = 0; n < CHANGES; n++) {
            unsigned char bytes[CHOICES];
            for (int b = 0; b < CHOICES; b++)
                bytes[b] = (unsigned char)(support_random(&random) >> 20);
            hostile_choices choices = {bytes, CHOICES};
            const hostile_file changed = hostile_change(&file, &choices);
            char what[HOSTILE_SPEC + 40];
            snprintf(what, sizeof what, "%s, change %d", cases[k].spec, n);
            used += try_file(context, &changed, in_folder(path, "changed.margin"), what);
            tried++;
            free(changed.bytes);
        }
        free(file.bytes);
    }
    print_message("%d of %d changed files were usable\n", used, tried);
    assert_true(used > tried / 20 && used < tried / 2);
    margin_context_free(context);
}

/* One entry changed so that the parts of the model contradict each other. */
static void test_contradictions(void **state) {
    static const struct {
        const char *spec;
        hostile_target target;
        const char *from, *to, *part;
    } changes[] = {
        {"softmax", THREE_NAMES, "\\\"subproblems\\\":1", "\\\"subproblems\\\":2", "sub-problems"},
        {"softmax", THREE_NAMES, "\\\"subproblems\\\":1", "\\\"subproblems\\\":1000000000",
         "sub-problems"},
        {"softmax", THREE_NAMES, "\\\"argmax\\\"", "\\\"votes\\\"", "the way the model decides"},
        {"logistic", THREE_NAMES, "\\\"subproblems\\\":3", "\\\"subproblems\\\":1", "sub-problems"},
        {"logistic", THREE_NAMES, "\"spec\":\"logistic\"", "\"spec\":\"softmax\"", "sub-problems"},
        {"logistic", THREE_NAMES, "\"spec\":\"logistic\"", "\"spec\":\"kmeans(k=3)\"",
         "kmeans is not a learner for the task"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "\"spec\":\"perceptron(kernel=rbf)\"",
         "\"spec\":\"naive-bayes\"", "naive-bayes makes no hypothesis of the kind expansion"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "\"spec\":\"perceptron(kernel=rbf)\"",
         "\"spec\":\"knn\"", "knn makes no hypothesis of the kind expansion"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "kernel=rbf", "kernel=laplacian", "another kernel"},
        {"perceptron", TWO_CLASSES, "\"spec\":\"perceptron\"", "\"spec\":\"perceptron(form=dual)\"",
         "has not the form"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"logistic\"",
         "logistic makes no hypothesis of the kind neighbors"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"naive-bayes\"",
         "naive-bayes makes no hypothesis of the kind neighbors"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(k=3)\"", "in another way"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(p=1)\"", "in another way"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(radius=5)\"", "in another way"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"", "\"spec\":\"logistic\"",
         "logistic makes no hypothesis of the kind bayes"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"",
         "\"spec\":\"naive-bayes(smoothing=2)\"", "other settings"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"",
         "\"spec\":\"naive-bayes(distribution=bernoulli)\"", "another distribution"},
        {"ridge", VALUES, "\"spec\":\"ridge\"", "\"spec\":\"logistic(C=inf)\"",
         "logistic is not a learner for the task"},
        {"ridge", TWO_VALUES, "\"spec\":\"ridge\"", "\"spec\":\"lasso\"", "2 target columns"},
        {"kmeans(k=3)", NO_TARGET, "\"spec\":\"kmeans(k=3)\"", "\"spec\":\"kmeans(k=4)\"",
         "3 centres"},
        {"standardize | ridge", VALUES, "\"spec\":\"standardize | ridge\"",
         "\"spec\":\"standardize(target=yes) | ridge\"", "another target than its spec says"},
        {"standardize | ridge", VALUES, "\\\"active\\\":0", "\\\"active\\\":1",
         "applies 1 of its 1 stages"},
        {"ridge", VALUES, "\\\"columns\\\":3,\\\"classes\\\"", "\\\"columns\\\":2,\\\"classes\\\"",
         "2 columns"},
        {"ridge", VALUES, "\\\"inputs\\\":3",
         "\\\"inputs\\\":[\\\"a\\\",\\\"b\\\",{\\\"name\\\":\\\"c\\\",\\\"categories\\\":[]}]",
         "column c of the model holds categories"},
    };
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        hostile_case c = {.target = changes[k].target};
        strcpy(c.spec, changes[k].spec);
        margin_model *model = train(context, &c), *loaded = NULL;
        const hostile_file file = encode(model);
        const hostile_file forged = hostile_replace(&file, changes[k].from, changes[k].to);
        margin_error error = {0};
        if (!forged.bytes) fail_msg("%s: there is no %s", c.spec, changes[k].from);
        const margin_status status =
            margin_model_decode(context, forged.bytes, forged.length, &loaded, &error);
        if (status != MARGIN_ERROR_MODEL)
            fail_msg("%s: %s: status %d: %s", c.spec, changes[k].to, (int)status, error.text);
        assert_contains(error.text, "the model is not a usable model file: ");
        assert_contains(error.text, changes[k].part);
        free(forged.bytes);
        free(file.bytes);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Rows that have passed stages are no index for rows that have not. */
static void test_neighbors_behind_stages(void **state) {
    const hostile_case c = {.spec = "standardize | knn(k=3)", .target = TWO_CLASSES};
    margin_context *context = support_context(NULL, 1);
    margin_neighbors *index = NULL;
    margin_error error = {0};
    char path[SUPPORT_PATH];
    (void)state;
    margin_model *model = train(context, &c);
    assert_int_equal(margin_model_save(model, in_folder(path, "staged.margin"), NULL), MARGIN_OK);
    assert_int_equal(margin_neighbors_load(context, path, &index, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "is the model standardize | knn(k=3), whose rows have passed");
    assert_null(index);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_neighbors_behind_stages),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
