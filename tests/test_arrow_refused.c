/* Streams of Arrow batches that fail or lie are refused; all is released on every way out. */
#include "arrow_maker.h"

#include "margin/margin.h"
#include "support/group_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const margin_read_options no_target = {.size = sizeof no_target, .target = ""};

static void errors_of_the_stream_are_told(void **state) {
    (void)state;
    for (int at = 0; at < 4; at++) {
        for (int words_too = 0; words_too < 2; words_too++) {
            arrow_maker maker;
            margin_table *table;
            margin_error error = {0};
            maker_rows(&maker, 1000);
            maker.fail_at = at;
            maker.code = EIO;
            maker.words = words_too ? "the disk is gone" : NULL;
            assert_int_equal(maker_read(context, &maker, NULL, &table, &error), MARGIN_ERROR_FILE);
            assert_contains(error.text, words_too ? "the disk is gone" : strerror(EIO));
            assert_int_equal(error.system_error, EIO);
        }
    }
}

static void arguments_are_checked_and_the_stream_released(void **state) {
    (void)state;
    margin_error error;
    margin_table *table = NULL;
    arrow_maker maker;
    const margin_read_options odd = {.size = sizeof odd, .value_type = MARGIN_I32};
    for (int k = 0; k < 3; k++) {
        maker_rows(&maker, MAKER_ROWS);
        struct ArrowArrayStream stream = maker_stream(&maker);
        assert_int_equal(margin_table_from_arrow(k == 0 ? NULL : context, &stream,
                                                 k == 1 ? &odd : NULL, k == 2 ? NULL : &table,
                                                 &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_null(stream.release);
        maker_end(&maker);
        assert_int_equal(maker.live, 0);
        assert_int_equal(margin_table_from_arrow(context, &stream, NULL, &table, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, "released");
    }
    assert_int_equal(margin_table_from_arrow(context, NULL, NULL, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    maker_begin(&maker);
    maker_assert_refused(context, &maker, NULL, MARGIN_ERROR_DATA, "no columns");
    maker_begin(&maker);
    maker.format = "g";
    maker_assert_refused(context, &maker, NULL, MARGIN_ERROR_FORMAT, "single values");
    maker_begin(&maker);
    maker_column(&maker, "g", "a", NULL);
    maker_assert_refused(context, &maker, &no_target, MARGIN_ERROR_DATA, "no rows");
    maker_begin(&maker);
    maker_column(&maker, "g", "\xff", NULL);
    maker_assert_refused(context, &maker, &no_target, MARGIN_ERROR_FORMAT, "not UTF-8");
    maker_begin(&maker);
    maker_column(&maker, NULL, "a", NULL);
    maker_assert_refused(context, &maker, &no_target, MARGIN_ERROR_FORMAT, "lacks column 1");
}

/* Each lie is told to a batch of a number, texts of each layout and a dictionary. */
static struct ArrowArray *batch_to_spoil(arrow_maker *maker) {
    const int64_t number[] = {0, 1, 2, 1};
    static const char *const texts[] = {"one text that is long", "two", "three",
                                        "one text that is long"};
    maker_begin(maker);
    maker_column(maker, "l", "number", NULL);
    maker_column(maker, "u", "text", NULL);
    maker_column(maker, "U", "large", NULL);
    maker_column(maker, "vu", "view", NULL);
    maker_column(maker, "l", "codes", "u");
    struct ArrowArray columns[] = {
        maker_numbers(maker, 4, 0, number, 8, NULL), maker_texts(maker, 4, 0, texts, "u"),
        maker_texts(maker, 4, 0, texts, "U"), maker_texts(maker, 4, 0, texts, "vu"),
        maker_numbers(maker, 4, 0, number, 8, NULL)};
    maker_give_dictionary(&columns[4], maker_texts(maker, 3, 0, texts, "u"));
    return maker_batch(maker, 4, 0, columns);
}

static void drop_buffer(struct ArrowArray *array, int k) {
    free((void *)(uintptr_t)array->buffers[k]);
    array->buffers[k] = NULL;
}

static void *buffer_of(struct ArrowArray *batch, int column, int k) {
    return (void *)(uintptr_t)batch->children[column]->buffers[k];
}

/* False behind the last one. */
static bool spoil_lengths(struct ArrowArray *batch, int lie) {
    struct ArrowArray **c = batch->children;
    switch (lie) {
    case 0:
        batch->length = -1;
        break;
    case 1:
        batch->offset = -1;
        break;
    case 2:
        batch->offset = INT64_MAX;
        break;
    case 3:
        batch->length = 5;
        break;
    case 4:
        batch->offset = 1;
        break;
    case 5:
        c[0]->length = 3;
        break;
    case 6:
        c[0]->length = INT64_MAX;
        break;
    case 7:
        c[0]->offset = INT64_MAX - 1;
        break;
    case 8:
        c[0]->offset = -1;
        break;
    case 9:
        c[1]->null_count = 5;
        break;
    case 10:
        c[1]->null_count = -2;
        break;
    case 11:
        c[0]->null_count = 1;
        break; /* without a bitmap */
    case 12:
        drop_buffer(c[0], 1);
        break;
    case 13:
        drop_buffer(c[1], 1);
        break;
    case 14:
        drop_buffer(c[1], 2);
        break;
    case 15:
        drop_buffer(c[3], 2);
        break;
    case 16:
        drop_buffer(c[3], 3);
        break;
    case 17:
        c[0]->n_buffers = 1, free((void *)(uintptr_t)c[0]->buffers[1]);
        break;
    case 18:
        c[2]->n_buffers = 2, free((void *)(uintptr_t)c[2]->buffers[2]);
        break;
    case 19:
        c[4]->dictionary->length = -1;
        break;
    case 20:
        c[4]->dictionary->length = 1;
        break;
    case 21:
        drop_buffer(c[4]->dictionary, 1);
        break;
    case 22:
        c[0]->release(c[0]);
        break;
    case 23:
        batch->null_count = 1;
        break;
    default:
        return false;
    }
    return true;
}

static bool spoil_values(struct ArrowArray *batch, int lie) {
    int32_t *ends = buffer_of(batch, 1, 1), *view = buffer_of(batch, 3, 1);
    int64_t *wide = buffer_of(batch, 2, 1), *code = buffer_of(batch, 4, 1);
    char *text = buffer_of(batch, 1, 2);
    switch (lie) {
    case 0:
        ends[1] = -1;
        break;
    case 1:
        ends[0] = -5;
        break;
    case 2:
        ends[2] = ends[1] - 1;
        break;
    case 3:
        wide[1] = INT64_MIN;
        break;
    case 4:
        wide[0] = wide[1] + 1;
        break;
    case 5:
        view[0] = -1;
        break;
    case 6:
        view[0] = INT32_MAX;
        break;
    case 7:
        view[2] = 1;
        break; /* one buffer there is */
    case 8:
        view[2] = -1;
        break;
    case 9:
        view[3] = -1;
        break;
    case 10:
        view[3] = INT32_MAX;
        break;
    case 11:
        code[3] = 3;
        break;
    case 12:
        code[3] = -1;
        break;
    case 13:
        code[0] = INT64_MAX;
        break;
    case 14:
        code[0] = INT64_MIN;
        break;
    case 15:
        text[0] = 0;
        break;
    case 16:
        text[1] = (char)0xff;
        break;
    default:
        return false;
    }
    return true;
}

static void lies_are_refused(void **state) {
    (void)state;
    for (int part = 0; part < 2; part++) {
        for (int lie = 0;; lie++) {
            arrow_maker maker;
            margin_table *table;
            margin_error error = {0};
            struct ArrowArray *batch = batch_to_spoil(&maker);
            if (!(part ? spoil_values(batch, lie) : spoil_lengths(batch, lie))) {
                maker_end(&maker);
                break;
            }
            const margin_status status = maker_read(context, &maker, &no_target, &table, &error);
            if (status != MARGIN_ERROR_FORMAT)
                fail_msg("lie %d of %d: %d, %s", lie, part, status, error.text);
            assert_contains(error.text, "the Arrow stream");
        }
    }
    /* a batch of other columns, a dictionary that is not there */
    for (int lie = 0; lie < 3; lie++) {
        arrow_maker maker;
        struct ArrowArray *batch = batch_to_spoil(&maker);
        struct ArrowArray **last = &batch->children[4];
        if (lie == 0) {
            (*last)->release(*last), free(*last);
            batch->n_children = 4;
        } else if (lie == 1) {
            (*last)->release(*last), free(*last), *last = NULL;
        } else {
            (*last)->dictionary->release((*last)->dictionary);
            free((*last)->dictionary), (*last)->dictionary = NULL;
        }
        maker_assert_refused(context, &maker, &no_target, MARGIN_ERROR_FORMAT,
                             "the Arrow stream: batch 1");
    }
}

/* ---- Memory and ends ------------------------------------------------------------------------ */

static margin_status read_body(margin_context *with, void *user, margin_error *error) {
    arrow_maker maker;
    margin_table *table;
    (void)user;
    maker_rows(&maker, 100);
    const margin_read_options options = {.size = sizeof options, .missing = MARGIN_MISSING_DROP};
    const margin_status status = maker_read(with, &maker, &options, &table, error);
    if (status == MARGIN_OK) margin_table_free(table);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, read_body, NULL) > 20);
}

/* Arrays of nulls have no buffers, and so any length. */
static void rows_without_values_are_bounded(void **state) {
    static const margin_read_options options = {
        .size = sizeof options, .target = "", .missing = MARGIN_MISSING_KEEP};
    static const int64_t lengths[] = {3, INT64_C(1) << 40};
    (void)state;
    for (int k = 0; k < 2; k++) {
        arrow_maker maker;
        margin_table *table = NULL;
        margin_error error = {0};
        maker_begin(&maker);
        maker_column(&maker, "n", "a", NULL);
        maker_column(&maker, "n", "b", NULL);
        for (int b = 0; b < 2; b++) {
            struct ArrowArray columns[] = {maker_nulls(&maker, lengths[k]),
                                           maker_nulls(&maker, lengths[k])};
            maker_batch(&maker, lengths[k], 0, columns);
        }
        const margin_status status = maker_read(context, &maker, &options, &table, &error);
        assert_int_equal(status, k ? MARGIN_ERROR_LIMIT : MARGIN_OK);
        if (k) assert_contains(error.text, "has 1099511627776 rows and no value");
        if (!k) assert_int_equal(margin_table_data(table).x.rows, 6);
        margin_table_free(table);
    }
}

static void a_cancelled_read_releases_all(void **state) {
    (void)state;
    arrow_maker maker;
    margin_table *table;
    margin_error error;
    maker_rows(&maker, 100);
    margin_context_cancel(context);
    assert_int_equal(maker_read(context, &maker, NULL, &table, &error), MARGIN_ERROR_CANCELLED);
    margin_context_resume(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_the_stream_are_told),
        cmocka_unit_test(arguments_are_checked_and_the_stream_released),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(failing_allocations_leave_nothing),
        cmocka_unit_test(rows_without_values_are_bounded),
        cmocka_unit_test(a_cancelled_read_releases_all),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
