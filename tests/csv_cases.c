#include "csv_cases.h"

#include <stdio.h>
#include <string.h>

margin_context *csv_context;

int csv_set_up(void **state) {
    (void)state;
    csv_context = support_context(NULL, 2);
    return 0;
}

int csv_tear_down(void **state) {
    (void)state;
    margin_context_free(csv_context);
    return 0;
}

const char CSV_NULL[] = "";

static margin_read_options complete(margin_read_options options) {
    options.size = sizeof options;
    if (!options.target)
        options.target = "";
    else if (options.target == CSV_NULL)
        options.target = NULL;
    return options;
}

margin_table *csv_read(const char *text, size_t length, margin_read_options options) {
    margin_table *table = NULL;
    margin_error error = {0};
    options = complete(options);
    margin_status status =
        margin_table_parse(csv_context, text, (int64_t)length, "t.csv", &options, &table, &error);
    if (status < 0) fail_msg("%s", error.text);
    return table;
}

double csv_value(const margin_table *table, int64_t row, int64_t column) {
    margin_data data = margin_table_data(table);
    assert_true(row < data.x.rows && column < data.x.columns);
    return data.x.value_type == MARGIN_F32
               ? (double)((const float *)data.x.values)[row * data.x.stride + column]
               : ((const double *)data.x.values)[row * data.x.stride + column];
}

void csv_values(margin_table *table, int64_t rows, int64_t columns, const double *values) {
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, rows);
    assert_int_equal(data.x.columns, columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double wanted = values[i * columns + j], found = csv_value(table, i, j);
            if (isnan(wanted) ? !isnan(found) : found != wanted)
                fail_msg("cell (%lld, %lld) is %.17g, not %.17g", (long long)i, (long long)j, found,
                         wanted);
        }
    margin_table_free(table);
}

void csv_categories(const margin_column *column, const char *joined) {
    char found[500] = "";
    assert_int_equal(column->kind, MARGIN_CATEGORICAL);
    for (int64_t k = 0; k < column->category_count; k++) {
        if (k) strcat(found, "/");
        strncat(found, column->categories[k], 100);
    }
    assert_string_equal(found, joined);
}

void csv_names(const margin_table *table, const char *joined) {
    margin_data data = margin_table_data(table);
    char found[500] = "";
    for (int64_t j = 0; j < data.x.columns; j++) {
        if (j) strcat(found, "/");
        strncat(found, data.columns[j].name, 100);
    }
    assert_string_equal(found, joined);
}

void csv_refused(const char *text, size_t length, margin_read_options options, margin_status wanted,
                 int line, int column, const char *sentence) {
    margin_table *table = NULL;
    margin_error error = {0};
    options = complete(options);
    margin_status status =
        margin_table_parse(csv_context, text, (int64_t)length, "t.csv", &options, &table, &error);
    if (status != wanted) fail_msg("status %d, not %d: %s", status, wanted, error.text);
    assert_null(table);
    assert_contains(error.text, "t.csv");
    assert_contains(error.text, sentence);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    if (line) {
        char place[64];
        snprintf(place, sizeof place, "t.csv:%d:%d: ", line, column);
        assert_contains(error.text, place);
    }
}

static const char *const cities[] = {"Bonn", "caf\xc3\xa9", "Kiel", "x \"y\""};
const margin_column csv_model_columns[2] = {
    {.name = "town", .kind = MARGIN_CATEGORICAL, .categories = cities, .category_count = 4},
    {.name = "age"}};
static const char *const answers[] = {"yes", "no"}; /* a model may have any order */
const margin_column csv_model_target = {
    .name = "ok", .kind = MARGIN_CATEGORICAL, .categories = answers, .category_count = 2};
