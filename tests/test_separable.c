/* margin_separable on tables: the public question, answered on real data and checked from the table
 * alone. */
#include "support/support.h"

#include "margin/margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_table *read_table(margin_context *context, const char *path, const char *target,
                                const char *ignore) {
    margin_read_options options = {.size = sizeof options, .target = target, .ignore = ignore};
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    return table;
}

static double value(const margin_data *data, int64_t row, int64_t column) {
    return ((const double *)data->x.values)[row * data->x.stride + column];
}

static void check_hyperplane(const margin_data *data, const margin_separation *s) {
    double norm = 0;
    long double least = INFINITY;
    for (int64_t j = 0; j < s->columns; j++)
        norm += s->weights[j] * s->weights[j];
    assert_close(norm, 1, 1e-12);
    for (int64_t i = 0; i < data->x.rows; i++) {
        long double f = s->intercept;
        for (int64_t j = 0; j < s->columns; j++)
            f += (long double)s->weights[j] * value(data, i, j);
        bool positive = ((const double *)data->y.values)[i] == 1;
        least = fminl(least, positive ? f : -f);
    }
    assert_true(least > 0);
    assert_true(fabs((double)least - s->margin) <= 1e-6 * s->margin);
    assert_true(s->margin_gap <= 1e-6);
}

static void add_side(const margin_data *data, const int64_t *rows, const double *weights,
                     int64_t count, double label, double sign, double *difference) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
        assert_true(weights[k] > 0);
        assert_true(((const double *)data->y.values)[rows[k]] == label);
        sum += weights[k];
        for (int64_t j = 0; j < data->x.columns; j++)
            difference[j] += sign * weights[k] * value(data, rows[k], j);
    }
    assert_close(sum, 1, 1e-12);
}

static void check_proof(const margin_data *data, const margin_separation *s) {
    double *difference = calloc((size_t)s->columns, sizeof *difference);
    add_side(data, s->positive_rows, s->positive_weights, s->positive_count, 1, 1, difference);
    add_side(data, s->negative_rows, s->negative_weights, s->negative_count, 0, -1, difference);
    for (int64_t j = 0; j < s->columns; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < data->x.rows; i++) {
            low = fmin(low, value(data, i, j));
            high = fmax(high, value(data, i, j));
        }
        assert_true(fabs(difference[j]) <= 1.01e-9 * (high - low));
    }
    assert_true(s->residual <= 1e-9);
    free(difference);
}

static void check_table(margin_context *context, margin_table *table, int separable) {
    margin_data data = margin_table_data(table);
    margin_separation s = {0};
    margin_error error = {0};
    margin_status status = margin_separable(context, &data, &s, &error);
    if (status < 0) fail_msg("%s", error.text);
    assert_int_equal(status, MARGIN_OK);
    assert_int_equal(s.separable, separable);
    if (separable)
        check_hyperplane(&data, &s);
    else
        check_proof(&data, &s);
    margin_separation_free(&s);
    margin_table_free(table);
}

/* ---- Iris, which comes with the source ------------------------------------------------------- */

/* Writes the lines of iris with `out` left out and every kind but `kept` called "other". */
static void write_iris(char path[SUPPORT_PATH], const char *dir, const char *out,
                       const char *kept) {
    char source[SUPPORT_PATH], *copy = calloc(1, 1 << 16), *text, *line;
    size_t length;
    text = support_read_file(support_source(source, "examples/data/iris.csv"), &length);
    for (char *next = text; (line = next) != NULL && *line;) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (out && strstr(line, out)) continue;
        char *kind = strrchr(line, ',') + 1;
        strncat(copy, line, (size_t)(kind - line));
        strcat(copy, line == text || !kept || !strcmp(kind, kept) ? kind : "other");
        strcat(copy, "\n");
    }
    support_write_text(path, dir, "iris-part.csv", copy);
    free(text);
    free(copy);
}

static void setosa_stands_apart(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 2);
    support_temp_dir(dir);
    write_iris(path, dir, NULL, "setosa");
    check_table(context, read_table(context, path, NULL, NULL), 1);
    support_temp_remove(dir);
    margin_context_free(context);
}

static void versicolor_and_virginica_overlap(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 2);
    support_temp_dir(dir);
    write_iris(path, dir, "setosa", NULL);
    check_table(context, read_table(context, path, NULL, NULL), 0);
    support_temp_remove(dir);
    margin_context_free(context);
}

/* ---- Published tables ------------------------------------------------------------------------ */

static void check_published(const char *name, const char *target, const char *ignore,
                            int separable) {
    char path[SUPPORT_PATH];
    SUPPORT_DATA_OR_SKIP(path, name);
    margin_context *context = support_context(NULL, 3);
    check_table(context, read_table(context, path, target, ignore), separable);
    margin_context_free(context);
}

static void wdbc_is_separable(void **state) {
    (void)state;
    check_published("tabular/wdbc.csv", "2", "1", 1);
}

static void sonar_is_separable(void **state) {
    (void)state;
    check_published("tabular/sonar.csv", NULL, NULL, 1);
}

static void ionosphere_is_not_separable(void **state) {
    (void)state;
    check_published("tabular/ionosphere.csv", NULL, NULL, 0);
}

static void banknotes_are_not_separable(void **state) {
    (void)state;
    check_published("tabular/banknote_authentication.csv", NULL, NULL, 0);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static const double four[] = {0, 0, 1, 1, 0, 1, 1, 0};

static margin_data four_points(const int32_t *labels) {
    return (margin_data){.x = margin_dense_f64(four, 4, 2, 2), .y = margin_labels_i32(labels, 4)};
}

static void refuses(margin_status expected, const margin_data *data, const char *word) {
    margin_context *context = support_context(NULL, 1);
    margin_separation s = {.rows = -7};
    margin_error error = {0};
    assert_int_equal(margin_separable(context, data, &s, &error), expected);
    assert_contains(error.text, word);
    assert_int_equal(s.rows, -7);
    margin_context_free(context);
}

static void bad_questions_are_refused(void **state) {
    (void)state;
    const int32_t one[] = {1, 1, 1, 1}, three[] = {1, 2, 3, 1}, two[] = {0, 0, 1, 1};
    double hole[8];
    memcpy(hole, four, sizeof hole);
    hole[5] = (double)NAN;
    margin_data data = four_points(one);
    refuses(MARGIN_ERROR_DATA, &data, "two classes");
    const int32_t declared[] = {1, 2}, others[] = {0, 1};
    data.classes = margin_labels_i32(declared, 2);
    refuses(MARGIN_ERROR_DATA, &data, "no row is of the class '2'");
    data.classes = margin_labels_i32(others, 2);
    refuses(MARGIN_ERROR_DATA, &data, "every row is of the class '1'");
    data = four_points(three);
    refuses(MARGIN_ERROR_DATA, &data, "3 classes");
    data = four_points(two);
    data.x.values = hole;
    refuses(MARGIN_ERROR_DATA, &data, "row 3");
    data.x = margin_dense_f64(four, 0, 2, 2);
    data.y.count = 0;
    refuses(MARGIN_ERROR_DATA, &data, "row");
}

/* Rows of weight 0 are absent, and a selection asks about its rows only. */
static void weights_and_selections_count(void **state) {
    (void)state;
    const int32_t xor [] = {1, 1, 0, 0};
    const double weights[] = {1, 0, 1, 1};
    const int64_t rows[] = {3, 2, 0};
    margin_context *context = support_context(NULL, 1);
    margin_data weighted = four_points(xor), selected = four_points(xor);
    weighted.weights = margin_values_f64(weights, 4);
    selected.selection = rows;
    selected.selected = 3;
    margin_separation a = {0}, b = {0};
    margin_error error = {0};
    assert_int_equal(margin_separable(context, &weighted, &a, &error), MARGIN_OK);
    assert_int_equal(margin_separable(context, &selected, &b, &error), MARGIN_OK);
    assert_true(a.separable && b.separable && a.rows == 3 && b.rows == 3);
    assert_close(a.margin, b.margin, 1e-12);
    assert_close(a.margin, sqrt(0.5) / 2, 1e-12);
    margin_separation_free(&a);
    margin_separation_free(&b);
    margin_context_free(context);
}

/* Of three groups on a line the outer ones stand apart from the rest, the middle one does not. The
 * widest hyperplane between 0 and the others is x = 1 in the middle of 0 and 2; the middle one
 * needs the proof 4 = (0 + 8)/2. Names are read as numbers where labels are. */
static void one_class_against_the_rest(void **state) {
    (void)state;
    static const double line[] = {0, 8, 2, 4, 6};
    static const int32_t labels[] = {7, 9, 8, 8, 8};
    const margin_data data = {.x = margin_dense_f64(line, 5, 1, 1),
                              .y = margin_labels_i32(labels, 5)};
    margin_context *context = support_context(NULL, 1);
    margin_separable_options options = {.size = sizeof options, .positive = "7.0"};
    margin_separation s = {0};
    margin_error error = {0};
    assert_int_equal(margin_separable_with(context, &data, &options, &s, &error), MARGIN_OK);
    assert_true(s.separable && s.rows == 5);
    assert_close(s.margin, 1, 1e-9);
    assert_close(s.weights[0], -1, 1e-12);
    assert_close(s.intercept, 1, 1e-9);
    margin_separation_free(&s);
    options.positive = "8";
    assert_int_equal(margin_separable_with(context, &data, &options, &s, &error), MARGIN_OK);
    assert_false(s.separable);
    double means[2] = {0, 0};
    for (int64_t k = 0; k < s.positive_count; k++) {
        assert_int_equal(labels[s.positive_rows[k]], 8);
        means[0] += s.positive_weights[k] * line[s.positive_rows[k]];
    }
    for (int64_t k = 0; k < s.negative_count; k++) {
        assert_int_not_equal(labels[s.negative_rows[k]], 8);
        means[1] += s.negative_weights[k] * line[s.negative_rows[k]];
    }
    assert_close(means[0], means[1], 1e-8);
    margin_separation_free(&s);
    options.positive = "5";
    assert_int_equal(margin_separable_with(context, &data, &options, &s, &error),
                     MARGIN_ERROR_DATA);
    assert_contains(error.text, "no class '5'; it has 7, 8, 9");
    options.size = 3;
    assert_int_equal(margin_separable_with(context, &data, &options, &s, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_separable(context, &data, &s, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "margin_separable_options.positive 7");
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setosa_stands_apart),
        cmocka_unit_test(versicolor_and_virginica_overlap),
        cmocka_unit_test(wdbc_is_separable),
        cmocka_unit_test(sonar_is_separable),
        cmocka_unit_test(ionosphere_is_not_separable),
        cmocka_unit_test(banknotes_are_not_separable),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(weights_and_selections_count),
        cmocka_unit_test(one_class_against_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
