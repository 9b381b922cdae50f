/* What a search tells while it runs, where folds and penalties are solved together: each chain of
 * settings to journal, caller and progress before the next one begins. */
#include "model_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/group_context.h"

typedef struct {
    margin_context *context; /* cancelled when the first setting is told; NULL: never */
    int64_t told;
    char activity[100]; /* the last progress of the search itself */
} witness;

static void hear_cell(const margin_search_cell *cell, int64_t done, int64_t count, void *user) {
    witness *w = user;
    assert_true(cell->mean > 0 && done <= count);
    if (++w->told == 1 && w->context) margin_context_cancel(w->context);
}

static int64_t count_lines(const char *path) {
    int64_t lines = 0;
    char *text = support_read_file(path, NULL);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    free(text);
    return lines;
}

/* Of one spec or two. */
static margin_status search(margin_context *in, const char *const texts[2], const margin_data *data,
                            const margin_splits *splits, const margin_search_options *options,
                            margin_search_result **found) {
    margin_error error = {0};
    const margin_spec *specs[2];
    const int64_t count = texts[1] ? 2 : 1;
    for (int64_t k = 0; k < count; k++)
        specs[k] = parse_text(in, texts[k]);
    const margin_status status =
        margin_search_specs(in, specs, count, data, splits, options, found, &error);
    if (status < 0 && status != MARGIN_ERROR_CANCELLED) fail_msg("%s: %s", texts[0], error.text);
    for (int64_t k = 0; k < count; k++)
        margin_spec_free((margin_spec *)specs[k]);
    return status;
}

static void assert_same(const margin_search_result *a, const margin_search_result *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->best, b->best);
    for (int64_t k = 0; k < a->count; k++)
        assert_memory_equal(margin_search_cell_at(a, k)->values,
                            margin_search_cell_at(b, k)->values,
                            (size_t)a->splits * sizeof(double));
}

/* Two chains of settings each; the search is cancelled when the first one is known. */
static void a_cancelled_search_goes_on(void **state) {
    (void)state;
    static const struct {
        const char *specs[2];
        bool numbers;
        int64_t folds;
    } cases[] = {
        {{"svm(kernel=rbf, gamma={0.1,1}, C={0.1,1,10,100})"}, false, 5},
        {{"logistic(C={0.01,0.1,1,10}, intercept={yes,no})"}, false, 5},
        {{"lasso(lambda={0.01,0.1,1,10}, intercept={yes,no})"}, true, 5},
        {{"ridge(alpha={0.01,0.1,1,10}, intercept={yes,no})"}, true, 5},
        {{"knn(k={1,2,3}, p=1)", "knn(k={1,2,3})"}, false, MARGIN_LEAVE_ONE_OUT},
    };
    char folder[SUPPORT_PATH], path[SUPPORT_PATH + 20];
    support_temp_dir(folder);
    snprintf(path, sizeof path, "%s/journal", folder);
    sample *s = sample_make(200, 4, 2, 0.3, 24);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        margin_data data = sample_data(s, DENSE_F64);
        if (cases[n].numbers) data.y = margin_values_f64(s->f64, s->rows);
        const margin_split_options cut = {.size = sizeof cut, .folds = cases[n].folds, .seed = 7};
        witness w = {.context = support_context(NULL, 1)};
        margin_search_options options = {
            .size = sizeof options, .journal = path, .finished = hear_cell, .user = &w};
        margin_search_result *found = NULL, *whole = NULL;
        margin_splits *splits;
        margin_error error = {0};
        assert_int_equal(margin_split(context, &data, &cut, &splits, &error), MARGIN_OK);
        search(context, cases[n].specs, &data, splits, NULL, &whole);
        const margin_status status =
            search(w.context, cases[n].specs, &data, splits, &options, &found);
        const int64_t lines = count_lines(path) - 1;
        if (status != MARGIN_ERROR_CANCELLED || lines != whole->count / 2 * whole->splits)
            fail_msg("%s: status %d, %d lines", cases[n].specs[0], (int)status, (int)lines);
        assert_int_equal(w.told, whole->count / 2);
        margin_context_resume(w.context);
        search(w.context, cases[n].specs, &data, splits, &options, &found);
        assert_int_equal(found->resumed, whole->count / 2);
        assert_int_equal(w.told, whole->count / 2 * 3); /* the known ones once more */
        assert_same(whole, found);
        margin_search_result_free(found);
        margin_search_result_free(whole);
        margin_splits_free(splits);
        margin_context_free(w.context);
        remove(path);
    }
    sample_free(s);
    support_temp_remove(folder);
}

static void assert_refused(const margin_data *data, const margin_splits *splits, const char *path,
                           const char *sentence) {
    const margin_search_options options = {.size = sizeof options, .journal = path};
    margin_spec *spec = parse_text(context, "naive-bayes(smoothing={1,2})");
    margin_search_result *found = NULL;
    margin_error error = {0};
    assert_int_equal(margin_search(context, spec, data, splits, &options, &found, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, sentence);
    margin_spec_free(spec);
}

/* A file that is no journal stays as it is, also where its last line has no end; and a journal is
 * of the columns as they were read. */
static void a_journal_is_of_one_search(void **state) {
    (void)state;
    static const char text[] = "x,y\n1,2\n3,4", *const names[] = {"a", "b", "c"};
    char folder[SUPPORT_PATH], path[SUPPORT_PATH];
    double x[30], y[30];
    size_t length;
    for (int i = 0; i < 30; i++) {
        x[i] = i % 3;
        y[i] = i % 2;
    }
    const margin_column town = {
        .name = "x1", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3};
    margin_data data = {.x = margin_dense_f64(x, 30, 1, 1), .y = margin_values_f64(y, 30)};
    const margin_split_options cut = {.size = sizeof cut, .folds = 3};
    margin_splits *splits;
    margin_search_result *found;
    margin_error error = {0};
    assert_int_equal(margin_split(context, &data, &cut, &splits, &error), MARGIN_OK);
    support_temp_dir(folder);
    support_write_text(path, folder, "table.csv", text);
    assert_refused(&data, splits, path, "is no journal");
    char *after = support_read_file(path, &length);
    assert_string_equal(after, text);
    free(after);
    remove(path);
    const margin_search_options options = {.size = sizeof options, .journal = path};
    const char *const specs[2] = {"naive-bayes(smoothing={1,2})", NULL};
    search(context, specs, &data, splits, &options, &found);
    margin_search_result_free(found);
    data.columns = &town;
    assert_refused(&data, splits, path, "of another search");
    data.columns = NULL;
    data.classes = margin_values_f64((double[3]){0, 1, 2}, 3);
    assert_refused(&data, splits, path, "of another search");
    margin_splits_free(splits);
    support_temp_remove(folder);
}

/* A setting that tells classes apart in another way does not start from the functions of the one
 * before: there are as many as pairs, or as classes. */
static void ways_of_classes_begin_anew(void **state) {
    (void)state;
    static const char *const specs[] = {
        "logistic(multiclass={ovr,ovo}, C={1,10})", "svm(multiclass={ovo,ovr}, C={1,10})",
        "svm(multiclass={ovr,ovo,argmax})", "perceptron(multiclass={ovo,ovr,argmax})"};
    sample *s = sample_make(120, 4, 5, 0.3, 24);
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_split_options cut = {.size = sizeof cut, .folds = 3};
    margin_splits *splits;
    margin_error error = {0};
    assert_int_equal(margin_split(context, &data, &cut, &splits, &error), MARGIN_OK);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_search_result *all, *one;
        search(context, (const char *[2]){specs[k]}, &data, splits, NULL, &all);
        for (int64_t c = 0; c < all->count; c++) {
            const margin_search_cell *cell = margin_search_cell_at(all, c);
            search(context, (const char *[2]){cell->spec}, &data, splits, NULL, &one);
            assert_memory_equal(cell->values, margin_search_cell_at(one, 0)->values,
                                3 * sizeof(double));
            margin_search_result_free(one);
        }
        margin_search_result_free(all);
    }
    margin_splits_free(splits);
    sample_free(s);
}

/* Single rows outside, more of them inside: one measure of both. */
static void nested_values_are_of_one_metric(void **state) {
    (void)state;
    sample *s = sample_make(12, 2, 2, 0.3, 24);
    margin_data data = sample_data(s, DENSE_F64);
    data.y = margin_values_f64(s->f64, s->rows);
    const margin_split_options cut = {.size = sizeof cut, .folds = MARGIN_LEAVE_ONE_OUT},
                               inner = {.size = sizeof inner, .folds = 3};
    const margin_spec *spec = parse_text(context, "ridge(alpha={1,10})");
    margin_splits *splits;
    margin_nested_result *found[2];
    margin_error error = {0};
    assert_int_equal(margin_split(context, &data, &cut, &splits, &error), MARGIN_OK);
    for (int k = 0; k < 2; k++) {
        const margin_search_options options = {.size = sizeof options, .metric = k ? "mse" : NULL};
        assert_int_equal(margin_search_nested(context, &spec, 1, &data, splits, &inner, &options, 0,
                                              &found[k], &error),
                         MARGIN_OK);
    }
    assert_string_equal(found[0]->metric, "mse");
    for (int64_t k = 0; k < found[0]->splits; k++)
        assert_true(margin_nested_fold_at(found[0], k)->inside ==
                    margin_nested_fold_at(found[1], k)->inside);
    margin_nested_result_free(found[0]);
    margin_nested_result_free(found[1]);
    margin_splits_free(splits);
    margin_spec_free((margin_spec *)spec);
    sample_free(s);
}

/* Progress is shown every tenth of a second: the next one after a rest is. */
static void rest_once(const margin_search_cell *cell, int64_t done, int64_t count, void *user) {
    witness *w = user;
    (void)cell, (void)done, (void)count;
    if (++w->told == 4) nanosleep(&(struct timespec){0, 250000000}, NULL);
}

static int hear_progress(const margin_progress *progress, void *user) {
    witness *w = user;
    if (strstr(progress->activity, " settings"))
        snprintf(w->activity, sizeof w->activity, "%s", progress->activity);
    return 0;
}

static void progress_names_the_settings(void **state) {
    (void)state;
    witness w = {0};
    const margin_context_options watched = {
        .size = sizeof watched, .threads = 1, .progress = hear_progress, .user = &w};
    const margin_search_options options = {
        .size = sizeof options, .finished = rest_once, .user = &w};
    sample *s = sample_make(200, 4, 2, 0.3, 24);
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_split_options cut = {.size = sizeof cut, .folds = 5};
    margin_context *own;
    margin_search_result *found;
    margin_splits *splits;
    margin_error error = {0};
    assert_int_equal(margin_context_create(&watched, &own, &error), MARGIN_OK);
    assert_int_equal(margin_split(own, &data, &cut, &splits, &error), MARGIN_OK);
    search(own, (const char *[2]){"logistic(C={0.01,0.1,1,10}, intercept={yes,no})"}, &data, splits,
           &options, &found);
    assert_contains(w.activity, "4 of 8 settings, ");
    assert_contains(w.activity, " s left: logistic(");
    margin_search_result_free(found);
    margin_splits_free(splits);
    margin_context_free(own);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_search_goes_on),
        cmocka_unit_test(a_journal_is_of_one_search),
        cmocka_unit_test(ways_of_classes_begin_anew),
        cmocka_unit_test(nested_values_are_of_one_metric),
        cmocka_unit_test(progress_names_the_settings),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
