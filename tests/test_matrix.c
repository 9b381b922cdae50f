/* Matrix views: what the check lets through and what it refuses by name, NaN and infinity found at
 * the right place, row access and copies in every combination of types. */
#include "support/support.h"

#include "data/matrix/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Helpers -------------------------------------------------------------------------------- */

static void assert_refused(const margin_matrix *x, const char *part, int64_t row) {
    margin_context *context = support_context(NULL, 3);
    margin_error error = {0};
    assert_int_equal(mg_matrix_check(context, x, "x", &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, part);
    assert_int_equal(error.row, row);
    assert_int_equal(mg_matrix_check(context, x, "x", NULL), MARGIN_ERROR_ARGUMENT);
    error = (margin_error){0};
    assert_int_equal(mg_matrix_check(NULL, x, "x", &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, part);
    assert_int_equal(error.row, row);
    margin_context_free(context);
}

static void assert_accepted(const margin_matrix *x) {
    margin_context *context = support_context(NULL, 3);
    margin_error error = {0};
    margin_status status = mg_matrix_check(context, x, "x", &error);
    if (status == MARGIN_OK) status = mg_matrix_check(NULL, x, "x", &error);
    if (status != MARGIN_OK) fail_msg("refused: %s", error.text);
    margin_context_free(context);
}

/* The same small sparse matrix in all eight combinations of types:
 *   row 0: 1 . -2     row 1: . . .     row 2: . 3 .     row 3: 4 5 6 */
enum { SMALL_ROWS = 4, SMALL_COLUMNS = 3, SMALL_STORED = 6 };
static const double small_dense[SMALL_ROWS][SMALL_COLUMNS] = {
    {1, 0, -2}, {0, 0, 0}, {0, 3, 0}, {4, 5, 6}};
static const double small_f64[SMALL_STORED] = {1, -2, 3, 4, 5, 6};
static const float small_f32[SMALL_STORED] = {1, -2, 3, 4, 5, 6};
static const int32_t small_indices_i32[SMALL_STORED] = {0, 2, 1, 0, 1, 2};
static const int64_t small_indices_i64[SMALL_STORED] = {0, 2, 1, 0, 1, 2};
static const int32_t small_starts_i32[SMALL_ROWS + 1] = {0, 2, 2, 3, 6};
static const int64_t small_starts_i64[SMALL_ROWS + 1] = {0, 2, 2, 3, 6};

static margin_matrix small_csr(int combination) {
    bool f32 = combination & 1, index_i64 = combination & 2, start_i32 = combination & 4;
    margin_matrix x =
        margin_csr_f64(small_f64, small_indices_i32, small_starts_i64, SMALL_ROWS, SMALL_COLUMNS);
    if (f32) {
        x = margin_csr_f32(small_f32, small_indices_i32, small_starts_i64, SMALL_ROWS,
                           SMALL_COLUMNS);
    }
    if (index_i64) {
        x.column_indices = small_indices_i64;
        x.index_type = MARGIN_I64;
    }
    if (start_i32) {
        x.row_starts = small_starts_i32;
        x.start_type = MARGIN_I32;
    }
    return x;
}

/* ---- Views ---------------------------------------------------------------------------------- */

static void constructors_fill_every_field(void **state) {
    (void)state;
    double d[6] = {0};
    float f[6] = {0};
    margin_matrix a = margin_dense_f64(d, 2, 3, 3), b = margin_dense_f32(f, 2, 2, 3);
    assert_ptr_equal(a.values, d);
    assert_int_equal(a.value_type, MARGIN_F64);
    assert_int_equal(a.rows, 2);
    assert_int_equal(a.columns, 3);
    assert_int_equal(a.stride, 3);
    assert_false(mg_is_csr(&a));
    assert_int_equal(b.value_type, MARGIN_F32);
    assert_int_equal(b.columns, 2);
    assert_int_equal(b.stride, 3);
    margin_matrix c = small_csr(0), e = small_csr(1);
    assert_true(mg_is_csr(&c) && mg_is_csr(&e));
    assert_int_equal(c.value_type, MARGIN_F64);
    assert_int_equal(e.value_type, MARGIN_F32);
    assert_int_equal(c.start_type, MARGIN_I64);
    assert_int_equal(c.index_type, MARGIN_I32);
}

static void vectors_of_every_type_read_the_same(void **state) {
    (void)state;
    const double f64[] = {-3, 7, 1e6};
    const float f32[] = {-3, 7, 1e6F};
    const int32_t i32[] = {-3, 7, 1000000};
    const int64_t i64[] = {-3, 7, 1000000};
    margin_vector vectors[] = {margin_values_f64(f64, 3), margin_values_f32(f32, 3),
                               margin_labels_i32(i32, 3), margin_labels_i64(i64, 3)};
    for (int v = 0; v < 4; v++) {
        assert_int_equal(vectors[v].count, 3);
        for (int k = 0; k < 3; k++)
            assert_true(mg_vector_f64(&vectors[v], k) == f64[k]);
    }
    const uint8_t bytes[] = {0, 255};
    const margin_vector u8 = margin_labels_u8(bytes, 2);
    assert_true(mg_vector_f64(&u8, 1) == 255);
}

static void good_views_are_accepted(void **state) {
    (void)state;
    double values[12] = {(double)NAN, (double)INFINITY};
    margin_matrix dense = margin_dense_f64(values, 3, 2, 4);
    assert_accepted(&dense);
    dense = margin_dense_f64(NULL, 0, 5, 5);
    assert_accepted(&dense);
    dense = margin_dense_f64(NULL, 5, 0, 0);
    assert_accepted(&dense);
    for (int c = 0; c < 8; c++) {
        margin_matrix x = small_csr(c);
        assert_accepted(&x);
    }
    /* a slice of a larger matrix: the first start is not 0 */
    margin_matrix slice = small_csr(0);
    slice.row_starts = small_starts_i64 + 2;
    slice.rows = 2;
    assert_accepted(&slice);
    const int64_t zeros[4] = {0};
    margin_matrix empty = margin_csr_f64(NULL, NULL, zeros, 3, 2);
    assert_accepted(&empty);
    empty.rows = 0;
    assert_accepted(&empty);
}

static void bad_dense_views_are_refused(void **state) {
    (void)state;
    double values[12] = {0};
    assert_refused(NULL, "x is NULL", 0);
    margin_matrix x = margin_dense_f64(values, -1, 2, 2);
    assert_refused(&x, "-1 rows x 2 columns is not a shape", 0);
    x = margin_dense_f64(values, 2, -2, 2);
    assert_refused(&x, "not a shape", 0);
    x = margin_dense_f64(values, 2, 4, 3);
    assert_refused(&x, "stride 3 is less than its 4 columns", 0);
    x = margin_dense_f64(values, INT64_MAX / 2, 2, 100);
    assert_refused(&x, "more than memory can hold", 0);
    x = margin_dense_f64(values, 0, 2, INT64_MAX / 4);
    assert_refused(&x, "more than memory can hold", 0);
    x = margin_dense_f64(NULL, 2, 2, 2);
    assert_refused(&x, "values is NULL for 2 x 2 numbers", 0);
    x = margin_dense_f64(values, 2, 2, 2);
    x.value_type = MARGIN_I32;
    assert_refused(&x, "value_type must be", 0);
    x.value_type = (margin_type)0;
    assert_refused(&x, "value_type must be", 0);
    x = margin_dense_f64((const double *)(const void *)((const char *)values + 4), 2, 2, 2);
    assert_refused(&x, "aligned", 0);
}

static void bad_sparse_views_are_refused(void **state) {
    (void)state;
    margin_matrix x = small_csr(0);
    x.start_type = MARGIN_F64;
    assert_refused(&x, "start_type", 0);
    x = small_csr(0);
    x.index_type = (margin_type)0;
    assert_refused(&x, "index_type", 0);
    x = small_csr(0);
    x.values = NULL;
    assert_refused(&x, "NULL for 6 stored numbers", 0);
    x = small_csr(0);
    x.column_indices = NULL;
    assert_refused(&x, "NULL for 6 stored numbers", 0);
    x = small_csr(0);
    x.rows = INT64_MAX;
    assert_refused(&x, "more than memory can hold", 0);
    x = small_csr(0);
    x.row_starts = (const char *)small_starts_i64 + 4;
    assert_refused(&x, "aligned", 0);

    const int64_t negative[] = {-1, 2, 2, 3, 6}, falling[] = {0, 2, 1, 3, 6};
    x = small_csr(0);
    x.row_starts = negative;
    assert_refused(&x, "row_starts begins with -1", 0);
    x.row_starts = falling;
    assert_refused(&x, "goes down from 2 to 1 after row 2", 2);
    /* a start far outside must be found before it is followed */
    const int64_t wild[] = {0, INT64_C(1) << 40, 2, 3, 6};
    x.row_starts = wild;
    assert_refused(&x, "goes down", 2);
}

static void bad_column_indices_are_refused(void **state) {
    (void)state;
    static const struct {
        int32_t indices[SMALL_STORED];
        const char *part;
        int64_t row;
    } cases[] = {
        {{0, 3, 1, 0, 1, 2}, "row 1 has column index 3, outside its 3 columns", 1},
        {{0, -1, 1, 0, 1, 2}, "row 1 has column index -1, outside", 1},
        {{-1, 1, 1, 0, 1, 2}, "row 1 has column index -1, outside", 1},
        {{0, 2, 1, 0, 2, 2}, "row 4 has column index 2 after 2", 4},
        {{0, 2, 1, 1, 0, 2}, "row 4 has column index 0 after 1", 4},
        {{2, 0, 5, 1, 0, 2}, "row 1 has column index 0 after 2", 1},
        {{0, 2, INT32_MAX, 0, 1, 2}, "row 3 has column index 2147483647", 3},
        {{0, 2, INT32_MIN, 0, 1, 2}, "row 3 has column index -2147483648", 3},
    };
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        margin_matrix x = small_csr(0);
        x.column_indices = cases[c].indices;
        assert_refused(&x, cases[c].part, cases[c].row);
        int64_t wide[SMALL_STORED];
        for (int k = 0; k < SMALL_STORED; k++)
            wide[k] = cases[c].indices[k];
        x.column_indices = wide;
        x.index_type = MARGIN_I64;
        assert_refused(&x, cases[c].part, cases[c].row);
    }
}

/* Many blocks, several threads, two wrong rows: the first one is named. */
static void first_wrong_row_is_named_on_any_number_of_threads(void **state) {
    (void)state;
    enum { ROWS = 30000, WIDTH = 5 };
    int32_t *indices = malloc(sizeof *indices * ROWS * WIDTH);
    double *values = calloc((size_t)ROWS * WIDTH, sizeof *values);
    int64_t *starts = malloc(sizeof *starts * (ROWS + 1));
    for (int i = 0; i <= ROWS; i++)
        starts[i] = (int64_t)i * WIDTH;
    for (int k = 0; k < ROWS * WIDTH; k++)
        indices[k] = k % WIDTH;
    margin_matrix x = margin_csr_f64(values, indices, starts, ROWS, WIDTH);
    assert_accepted(&x);
    indices[29000 * WIDTH + 2] = 0;
    indices[17001 * WIDTH + 4] = WIDTH;
    for (int threads = 1; threads <= 8; threads *= 2) {
        margin_context *context = support_context(NULL, threads);
        margin_error error;
        assert_int_equal(mg_matrix_check(context, &x, "x", &error), MARGIN_ERROR_ARGUMENT);
        assert_int_equal(error.row, 17002);
        margin_context_free(context);
    }
    indices[29000 * WIDTH + 2] = 2;
    indices[17001 * WIDTH + 4] = 4;
    starts[12345] += 100;
    assert_refused(&x, "row_starts goes down from 61825 to 61730 after row 12346", 12346);
    free(indices);
    free(values);
    free(starts);
}

static void cancelled_context_ends_the_checks(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    margin_context_cancel(context);
    margin_error error;
    margin_matrix x = small_csr(0);
    assert_int_equal(mg_matrix_check(context, &x, "x", &error), MARGIN_ERROR_CANCELLED);
    margin_data data = {.x = x};
    assert_int_equal(mg_matrix_check_finite(context, &data, false, &error), MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
}

/* ---- NaN and infinity ----------------------------------------------------------------------- */

static margin_status check_finite(const margin_data *data, bool allow_nan, margin_error *error) {
    margin_context *context = support_context(NULL, 3);
    margin_status status = mg_matrix_check_finite(context, data, allow_nan, error);
    margin_context_free(context);
    return status;
}

/* Every special value at every place of a small matrix, with and without padding. */
static void special_values_are_found_wherever_they_are(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 5, STRIDE = 6 };
    static const double specials[] = {(double)NAN, (double)-NAN, (double)INFINITY,
                                      -(double)INFINITY};
    double f64[ROWS * STRIDE];
    float f32[ROWS * STRIDE];
    for (int place = 0; place < ROWS * STRIDE; place++) {
        for (int s = 0; s < MG_LENGTH(specials); s++) {
            for (int k = 0; k < ROWS * STRIDE; k++) {
                f64[k] = k == place ? specials[s] : k % 3 == 0 ? 1.7976931348623157e308 : -0.0;
                f32[k] = k == place ? (float)specials[s] : k % 3 == 0 ? 3.4028234e38F : -0.0F;
            }
            int row = place / STRIDE, column = place % STRIDE;
            bool padding = column == STRIDE - 1, nan = isnan(specials[s]);
            for (int type = 0; type < 2; type++) {
                margin_data data = {.x = type ? margin_dense_f32(f32, ROWS, COLUMNS, STRIDE)
                                              : margin_dense_f64(f64, ROWS, COLUMNS, STRIDE)};
                margin_error error = {0};
                assert_int_equal(check_finite(&data, false, &error),
                                 padding ? MARGIN_OK : MARGIN_ERROR_DATA);
                if (!padding) {
                    char name[32];
                    assert_int_equal(error.row, row + 1);
                    assert_contains(error.text, mg_column_name(NULL, column, name));
                    assert_contains(error.text, nan ? "impute" : "inf");
                }
                assert_int_equal(check_finite(&data, true, &error),
                                 padding || nan ? MARGIN_OK : MARGIN_ERROR_DATA);
            }
        }
    }
}

static void finite_check_names_the_column_of_a_sparse_row(void **state) {
    (void)state;
    double values[SMALL_STORED];
    memcpy(values, small_f64, sizeof values);
    margin_matrix x = small_csr(0);
    x.values = values;
    const margin_column columns[] = {{.name = "age"}, {.name = "height"}, {.name = "weight"}};
    margin_data data = {.x = x, .columns = columns};
    margin_error error = {0};
    assert_int_equal(check_finite(&data, false, &error), MARGIN_OK);
    values[1] = (double)NAN;
    values[4] = -(double)INFINITY;
    assert_int_equal(check_finite(&data, false, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 1 has no value in column weight");
    assert_int_equal(check_finite(&data, true, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 4 has the value -inf in column height");
}

static void only_selected_rows_are_checked(void **state) {
    (void)state;
    double values[10] = {0, 1, 2, (double)NAN, 4, 5, (double)INFINITY, 7, 8, 9};
    margin_data data = {.x = margin_dense_f64(values, 10, 1, 1)};
    const int64_t clean[] = {9, 0, 5}, dirty[] = {9, 6, 1, 3};
    margin_error error = {0};
    data.selection = clean;
    data.selected = 3;
    assert_int_equal(check_finite(&data, false, &error), MARGIN_OK);
    data.selection = dirty;
    data.selected = 4;
    assert_int_equal(check_finite(&data, false, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.row, 4); /* the lowest row number, not the first selected */
    assert_int_equal(check_finite(&data, true, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.row, 7);
    data.selected = 1;
    assert_int_equal(check_finite(&data, true, &error), MARGIN_OK);
    data.selected = 0;
    assert_int_equal(check_finite(&data, false, &error), MARGIN_OK);
    data.x.values = NULL;
    data.x.columns = data.x.stride = 0;
    data.selection = NULL;
    assert_int_equal(check_finite(&data, false, &error), MARGIN_OK);
}

static void first_wrong_value_is_named_on_any_number_of_threads(void **state) {
    (void)state;
    enum { ROWS = 50000, COLUMNS = 20 };
    float *values = calloc((size_t)ROWS * COLUMNS, sizeof *values);
    values[(int64_t)48000 * COLUMNS + 3] = NAN;
    values[(int64_t)31234 * COLUMNS + 19] = NAN;
    margin_data data = {.x = margin_dense_f32(values, ROWS, COLUMNS, COLUMNS)};
    for (int threads = 1; threads <= 8; threads *= 2) {
        margin_context *context = support_context(NULL, threads);
        margin_error error;
        assert_int_equal(mg_matrix_check_finite(context, &data, false, &error), MARGIN_ERROR_DATA);
        assert_int_equal(error.row, 31235);
        assert_contains(error.text, "column x20");
        margin_context_free(context);
    }
    free(values);
}

/* ---- Rows and copies ------------------------------------------------------------------------ */

static void rows_expand_from_every_layout(void **state) {
    (void)state;
    double out[SMALL_COLUMNS];
    for (int c = 0; c < 8; c++) {
        margin_matrix x = small_csr(c);
        for (int i = 0; i < SMALL_ROWS; i++) {
            memset(out, 0x55, sizeof out);
            mg_row_expand(&x, i, out);
            assert_memory_equal(out, small_dense[i], sizeof out);
        }
    }
    const double f64[] = {1, 2, 99, 3, 4, 99};
    const float f32[] = {1, 2, 99, 3, 4, 99};
    margin_matrix a = margin_dense_f64(f64, 2, 2, 3), b = margin_dense_f32(f32, 2, 2, 3);
    mg_row_expand(&a, 1, out);
    assert_true(out[0] == 3 && out[1] == 4);
    mg_row_expand(&b, 1, out);
    assert_true(out[0] == 3 && out[1] == 4);
}

static void row_bytes_follow_the_layout(void **state) {
    (void)state;
    double d[20] = {0};
    margin_matrix x = margin_dense_f64(d, 2, 7, 10);
    assert_int_equal(mg_row_bytes(&x), 56); /* whatever the stride */
    x.value_type = MARGIN_F32;
    assert_int_equal(mg_row_bytes(&x), 28);
    for (int c = 0; c < 8; c++) {
        x = small_csr(c);
        assert_in_range(mg_row_bytes(&x), 12, 48);
        x.rows = 0;
        assert_in_range(mg_row_bytes(&x), 1, 48);
    }
}

static void column_names_fall_back_to_numbers(void **state) {
    (void)state;
    char buffer[32];
    const margin_column columns[] = {{.name = "age"}, {.name = NULL}};
    assert_string_equal(mg_column_name(columns, 0, buffer), "age");
    assert_string_equal(mg_column_name(columns, 1, buffer), "x2");
    assert_string_equal(mg_column_name(NULL, 0, buffer), "x1");
    assert_string_equal(mg_column_name(NULL, INT64_MAX - 1, buffer), "x9223372036854775807");
}

static void gathered_rows_equal_the_originals(void **state) {
    (void)state;
    static const int64_t rows[] = {3, 1, 0, 3, 2};
    enum { COUNT = 5 };
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 1);
    double out[SMALL_COLUMNS];
    float dense_f32[SMALL_ROWS * SMALL_COLUMNS];
    for (int k = 0; k < SMALL_ROWS * SMALL_COLUMNS; k++)
        dense_f32[k] = (float)(&small_dense[0][0])[k];
    for (int c = 0; c < 10; c++) {
        margin_matrix x =
            c < 8    ? small_csr(c)
            : c == 8 ? margin_dense_f64(&small_dense[0][0], SMALL_ROWS, 2, SMALL_COLUMNS)
                     : margin_dense_f32(dense_f32, SMALL_ROWS, SMALL_COLUMNS, SMALL_COLUMNS);
        mg_matrix_buffer buffer = {0};
        margin_error error;
        assert_int_equal(
            mg_matrix_gather(context->heap, &x, rows, COUNT, "a copy", &buffer, &error), MARGIN_OK);
        assert_int_equal(buffer.view.rows, COUNT);
        assert_int_equal(buffer.view.columns, x.columns);
        assert_int_equal(buffer.view.value_type, x.value_type);
        assert_int_equal(mg_is_csr(&buffer.view), mg_is_csr(&x));
        if (mg_is_csr(&x)) assert_int_equal(buffer.view.index_type, x.index_type);
        assert_int_equal(mg_matrix_check(context, &buffer.view, "copy", &error), MARGIN_OK);
        for (int i = 0; i < COUNT; i++) {
            mg_row_expand(&buffer.view, i, out);
            assert_memory_equal(out, small_dense[rows[i]], (size_t)x.columns * sizeof *out);
        }
        mg_matrix_buffer_free(&buffer);
        assert_null(buffer.view.values);
        mg_matrix_buffer_free(&buffer);
    }
    mg_matrix_buffer_free(NULL);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

static void impossible_sizes_are_refused(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    mg_matrix_buffer buffer = {0};
    margin_error error;
    assert_int_equal(mg_matrix_new_dense(context->heap, INT64_C(1) << 40, INT64_C(1) << 40,
                                         MARGIN_F64, "the moon", &buffer, &error),
                     MARGIN_ERROR_MEMORY);
    assert_contains(error.text, "the moon");
    assert_int_equal(mg_matrix_new_csr(context->heap, 1, INT64_C(1) << 31, 1, MARGIN_F64, "a map",
                                       &buffer, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "2147483648 columns");
    assert_int_equal(
        mg_matrix_new_csr(context->heap, 1, 5, INT64_MAX / 2, MARGIN_F64, "a map", &buffer, &error),
        MARGIN_ERROR_MEMORY);
    assert_null(buffer.view.values);
    assert_null(buffer.heap);
    margin_context_free(context);
}

static margin_status gather_body(margin_context *context, void *user, margin_error *error) {
    margin_matrix x = *(margin_matrix *)user;
    static const int64_t rows[] = {0, 3};
    mg_matrix_buffer buffer = {0};
    margin_status status =
        mg_matrix_gather(context->heap, &x, rows, 2, "chosen rows", &buffer, error);
    if (status < 0) assert_null(buffer.heap);
    mg_matrix_buffer_free(&buffer);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    margin_matrix x = small_csr(0);
    assert_true(support_fail_each_allocation(1, gather_body, &x) >= 3);
    x = margin_dense_f64(&small_dense[0][0], SMALL_ROWS, SMALL_COLUMNS, SMALL_COLUMNS);
    assert_true(support_fail_each_allocation(1, gather_body, &x) >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructors_fill_every_field),
        cmocka_unit_test(vectors_of_every_type_read_the_same),
        cmocka_unit_test(good_views_are_accepted),
        cmocka_unit_test(bad_dense_views_are_refused),
        cmocka_unit_test(bad_sparse_views_are_refused),
        cmocka_unit_test(bad_column_indices_are_refused),
        cmocka_unit_test(first_wrong_row_is_named_on_any_number_of_threads),
        cmocka_unit_test(cancelled_context_ends_the_checks),
        cmocka_unit_test(special_values_are_found_wherever_they_are),
        cmocka_unit_test(finite_check_names_the_column_of_a_sparse_row),
        cmocka_unit_test(only_selected_rows_are_checked),
        cmocka_unit_test(first_wrong_value_is_named_on_any_number_of_threads),
        cmocka_unit_test(rows_expand_from_every_layout),
        cmocka_unit_test(row_bytes_follow_the_layout),
        cmocka_unit_test(column_names_fall_back_to_numbers),
        cmocka_unit_test(gathered_rows_equal_the_originals),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
