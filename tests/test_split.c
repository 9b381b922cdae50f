/* margin_split: what its parts are, whatever the seed, and what it refuses. */
#include "margin/split.h"
#include "support/group_context.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 103, CLASSES = 4 };

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* Rows of classes 0..3 in shares of about 1/2, 1/4, 1/6, 1/12; groups of 1 to 5 neighbouring rows;
 * times that go up and stay. */
typedef struct {
    double x[ROWS], y[ROWS], group[ROWS], time[ROWS];
    margin_data data;
} made;

static void make(made *m) {
    static const int class_of[12] = {0, 1, 0, 2, 0, 1, 0, 3, 0, 2, 0, 1};
    int group = 0, left = 1;
    for (int i = 0; i < ROWS; i++) {
        m->x[i] = i;
        m->y[i] = class_of[i * 7 % 12];
        m->group[i] = group * 1.5 - 20;
        m->time[(i * 10) % ROWS] = i / 2;
        if (--left == 0) {
            group++;
            left = 1 + group % 5;
        }
    }
    m->data =
        (margin_data){.x = margin_dense_f64(m->x, ROWS, 1, 1), .y = margin_values_f64(m->y, ROWS)};
}

static margin_splits *split(const margin_data *data, const margin_split_options *o) {
    margin_splits *splits = NULL;
    OK(margin_split(context, data, o, &splits, &error));
    return splits;
}

/* Part of each row of the data (-1: none), all of whose lists must be without repeats. */
static void parts_of(const margin_splits *s, int64_t number, int part[ROWS]) {
    int64_t rows[ROWS];
    for (int i = 0; i < ROWS; i++)
        part[i] = -1;
    for (int32_t p = 0; p < 3; p++) {
        const int64_t count = margin_splits_rows(s, number, p, rows);
        assert_int_equal(count, margin_splits_size(s, number, p));
        for (int64_t i = 0; i < count; i++) {
            assert_int_equal(part[rows[i]], -1);
            if (i > 0) assert_true(rows[i] > rows[i - 1]);
            part[rows[i]] = p;
        }
    }
}

static void test_folds(void **state) {
    (void)state;
    made m;
    make(&m);
    for (int stratify = 0; stratify < 2; stratify++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            const margin_split_options o = {
                .size = sizeof o, .folds = 5, .repeats = 3, .stratify = stratify, .seed = seed};
            margin_splits *s = split(&m.data, &o);
            int tested[3][ROWS] = {{0}}, fold_of[3][ROWS], part[ROWS];
            assert_int_equal(margin_splits_count(s), 15);
            assert_int_equal(margin_splits_folds(s), 5);
            for (int64_t k = 0; k < 15; k++) {
                int in_class[CLASSES] = {0}, all[CLASSES] = {0};
                parts_of(s, k, part);
                const int64_t test = margin_splits_size(s, k, MARGIN_PART_TEST);
                assert_true(test == ROWS / 5 || test == ROWS / 5 + 1);
                assert_int_equal(test + margin_splits_size(s, k, MARGIN_PART_TRAIN), ROWS);
                for (int i = 0; i < ROWS; i++) {
                    all[(int)m.y[i]]++;
                    if (part[i] != MARGIN_PART_TEST) continue;
                    tested[k / 5][i]++;
                    fold_of[k / 5][i] = (int)k % 5;
                    in_class[(int)m.y[i]]++;
                }
                for (int c = 0; c < CLASSES && stratify; c++)
                    assert_true(fabs(in_class[c] - all[c] / 5.0) < 1);
            }
            for (int i = 0; i < ROWS; i++)
                assert_true(tested[0][i] == 1 && tested[1][i] == 1 && tested[2][i] == 1);
            assert_memory_not_equal(fold_of[0], fold_of[1], sizeof fold_of[0]);
            assert_int_equal(margin_splits_size(s, 15, 0), 0);
            margin_splits_free(s);
        }
}

static void measurements_are_no_classes(void **state) {
    (void)state;
    made m;
    margin_splits *s = NULL;
    const margin_split_options o = {.size = sizeof o, .test = 0.5, .stratify = 1};
    make(&m);
    for (int i = 0; i < ROWS; i++)
        m.y[i] = i < 6 ? 1 : i + 0.5;
    assert_int_equal(margin_split(context, &m.data, &o, &s, &error), MARGIN_ERROR_DATA);
    assert_non_null(strstr(error.text, "the target looks like a measurement"));
}

static void test_shares(void **state) {
    (void)state;
    made m;
    make(&m);
    m.y[50] = 9; /* alone in its class */
    for (int stratify = 0; stratify < 2; stratify++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            const margin_split_options o = {.size = sizeof o,
                                            .test = 0.2,
                                            .validation = 0.25,
                                            .stratify = stratify,
                                            .seed = seed};
            margin_splits *s = split(&m.data, &o);
            int part[ROWS], in[3][10] = {{0}};
            parts_of(s, 0, part);
            assert_int_equal(margin_splits_count(s), 1);
            assert_int_equal(margin_splits_size(s, 0, MARGIN_PART_TEST), 21);
            assert_int_equal(margin_splits_size(s, 0, MARGIN_PART_VALIDATION), 26);
            assert_int_equal(margin_splits_size(s, 0, MARGIN_PART_TRAIN), 56);
            for (int i = 0; i < ROWS; i++)
                in[part[i]][(int)m.y[i]]++;
            for (int c = 0; c < CLASSES && stratify; c++) {
                const int all = in[0][c] + in[1][c] + in[2][c];
                assert_true(fabs(in[1][c] - 0.2 * all) < 1.5);
                assert_true(fabs(in[2][c] - 0.25 * all) < 1.5);
            }
            if (stratify) assert_int_equal(part[50], MARGIN_PART_TRAIN);
            margin_splits_free(s);
        }
}

static void test_groups(void **state) {
    (void)state;
    made m;
    make(&m);
    for (int stratify = 0; stratify < 2; stratify++)
        for (int shares = 0; shares < 2; shares++) {
            const margin_split_options o = {.size = sizeof o,
                                            .folds = shares ? 0 : 4,
                                            .test = shares ? 0.25 : 0,
                                            .stratify = stratify,
                                            .groups = margin_values_f64(m.group, ROWS)};
            margin_splits *s = split(&m.data, &o);
            for (int64_t k = 0; k < margin_splits_count(s); k++) {
                int part[ROWS];
                parts_of(s, k, part);
                for (int i = 1; i < ROWS; i++)
                    if (m.group[i] == m.group[i - 1]) assert_int_equal(part[i], part[i - 1]);
                const int64_t test = margin_splits_size(s, k, MARGIN_PART_TEST);
                assert_true(llabs(test - ROWS / 4) <= (stratify ? 5 : 2));
            }
            margin_splits_free(s);
        }
    /* as many folds as groups */
    const margin_split_options o = {.size = sizeof o,
                                    .folds = MARGIN_LEAVE_ONE_OUT,
                                    .groups = margin_values_f64(m.group, ROWS)};
    margin_splits *s = split(&m.data, &o);
    assert_int_equal(margin_splits_count(s), (int64_t)(m.group[ROWS - 1] + 20) * 2 / 3 + 1);
    margin_splits_free(s);
    const uint64_t wide[ROWS] = {0}; /* would lose digits */
    const margin_split_options of_wide = {
        .size = sizeof o,
        .folds = 4,
        .groups = {.values = wide, .count = ROWS, .type = MARGIN_U64}};
    margin_error wrong;
    assert_int_equal(margin_split(context, &m.data, &of_wide, &s, &wrong), MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(wrong.text, "groups"));
}

/* The folds of a repeat without their numbers: the first row of each row's fold. */
static void cut_of(const margin_splits *s, int64_t repeat, int cut[ROWS]) {
    int64_t rows[ROWS];
    for (int64_t k = 0; k < margin_splits_folds(s); k++) {
        const int64_t split = repeat * margin_splits_folds(s) + k;
        const int64_t count = margin_splits_rows(s, split, MARGIN_PART_TEST, rows);
        for (int64_t i = 0; i < count; i++)
            cut[rows[i]] = (int)rows[0];
    }
}

/* Groups of unlike sizes (2, 3, .. 13 rows, and one of 13) are cut otherwise in each repeat and by
 * each seed, into folds of about one size. */
static void repeats_of_groups_differ(void **state) {
    (void)state;
    enum { REPEATS = 4 };
    made m;
    int cut[2 * REPEATS][ROWS], group = 2, left = 2;
    make(&m);
    for (int i = 0; i < ROWS; i++) {
        m.group[i] = group;
        if (--left == 0) left = ++group;
    }
    for (uint64_t seed = 0; seed < 2; seed++) {
        const margin_split_options o = {.size = sizeof o,
                                        .folds = 4,
                                        .repeats = REPEATS,
                                        .seed = seed,
                                        .groups = margin_values_f64(m.group, ROWS)};
        margin_splits *s = split(&m.data, &o);
        for (int r = 0; r < REPEATS; r++)
            cut_of(s, r, cut[(int)seed * REPEATS + r]);
        for (int64_t k = 0; k < margin_splits_count(s); k++)
            assert_true(llabs(margin_splits_size(s, k, MARGIN_PART_TEST) - ROWS / 4) <= 4);
        margin_splits_free(s);
    }
    assert_memory_equal(cut[0], cut[REPEATS], sizeof cut[0]); /* the first: the largest first */
    for (int a = 0; a < 2 * REPEATS; a++)
        for (int b = 0; b < a; b++)
            if (b != 0 || a != REPEATS) assert_memory_not_equal(cut[a], cut[b], sizeof cut[a]);
}

/* Two groups of which the smaller one, placed first, would go where the larger one follows. */
static void no_repeat_leaves_a_part_empty(void **state) {
    (void)state;
    made m;
    make(&m);
    for (int i = 0; i < ROWS; i++)
        m.group[i] = i < 41;
    const margin_split_options o = {
        .size = sizeof o, .test = 0.2, .repeats = 50, .groups = margin_values_f64(m.group, ROWS)};
    margin_splits *s = split(&m.data, &o);
    for (int64_t k = 0; k < 50; k++)
        assert_int_equal(margin_splits_size(s, k, MARGIN_PART_TEST), 41);
    margin_splits_free(s);
}

/* What is trained on is earlier than what is tested on. */
static void test_times(void **state) {
    (void)state;
    made m;
    make(&m);
    for (int kind = 0; kind < 3; kind++) {
        const margin_split_options o = {.size = sizeof o,
                                        .folds = kind == 0 ? 6 : 0,
                                        .test = kind ? 0.2 : 0,
                                        .validation = kind == 2 ? 0.2 : 0,
                                        .time = margin_values_f64(m.time, ROWS)};
        margin_splits *s = split(&m.data, &o);
        assert_int_equal(margin_splits_count(s), kind == 0 ? 6 : 1);
        for (int64_t k = 0; k < margin_splits_count(s); k++) {
            double last[3] = {-1, -1, -1}, first[3] = {1e9, 1e9, 1e9};
            int part[ROWS];
            parts_of(s, k, part);
            for (int i = 0; i < ROWS; i++) {
                if (part[i] < 0) continue;
                last[part[i]] = fmax(last[part[i]], m.time[i]);
                first[part[i]] = fmin(first[part[i]], m.time[i]);
            }
            assert_true(last[MARGIN_PART_TRAIN] < first[MARGIN_PART_TEST]);
            if (kind < 2) continue;
            assert_true(last[MARGIN_PART_TRAIN] < first[MARGIN_PART_VALIDATION]);
            assert_true(last[MARGIN_PART_VALIDATION] < first[MARGIN_PART_TEST]);
        }
        margin_splits_free(s);
    }
}

static void test_leave_one_out_and_order(void **state) {
    (void)state;
    made m;
    make(&m);
    margin_split_options o = {.size = sizeof o, .folds = MARGIN_LEAVE_ONE_OUT};
    margin_splits *s = split(&m.data, &o);
    int64_t rows[ROWS];
    assert_int_equal(margin_splits_count(s), ROWS);
    for (int64_t k = 0; k < ROWS; k++) {
        assert_int_equal(margin_splits_rows(s, k, MARGIN_PART_TEST, rows), 1);
        assert_int_equal(rows[0], k);
        assert_int_equal(margin_splits_rows(s, k, MARGIN_PART_TRAIN, rows), ROWS - 1);
    }
    margin_splits_free(s);
    o = (margin_split_options){.size = sizeof o, .test = 0.1, .in_order = 1};
    s = split(&m.data, &o);
    assert_int_equal(margin_splits_rows(s, 0, MARGIN_PART_TEST, rows), 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(rows[i], ROWS - 10 + i);
    margin_splits_free(s);
}

/* Only selected rows of weight above 0; the same for any number of threads and each time. */
static void test_selection(void **state) {
    (void)state;
    made m;
    int64_t selection[40], rows[ROWS];
    double weights[ROWS];
    make(&m);
    for (int i = 0; i < 40; i++)
        selection[i] = 100 - 2 * i;
    for (int i = 0; i < ROWS; i++)
        weights[i] = i % 10 != 0;
    m.data.weights = margin_values_f64(weights, ROWS);
    m.data.selection = selection;
    m.data.selected = 40;
    const margin_split_options o = {.size = sizeof o, .test = 0.3, .seed = 7};
    int64_t first[ROWS];
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *c = support_context(NULL, threads);
        margin_splits *s;
        OK(margin_split(c, &m.data, &o, &s, &error));
        memset(rows, 0, sizeof rows);
        const int64_t test = margin_splits_rows(s, 0, MARGIN_PART_TEST, rows);
        assert_int_equal(test + margin_splits_size(s, 0, MARGIN_PART_TRAIN), 32);
        for (int64_t i = 0; i < test; i++)
            assert_true(rows[i] % 2 == 0 && rows[i] % 10 != 0 && rows[i] >= 22);
        if (threads > 1) assert_memory_equal(first, rows, sizeof rows);
        memcpy(first, rows, sizeof rows);
        margin_splits_free(s);
        margin_context_free(c);
    }
}

static void refused(const margin_data *data, margin_split_options o, margin_status status,
                    const char *text) {
    margin_splits *splits = (void *)&o;
    o.size = sizeof o;
    assert_int_equal(margin_split(context, data, &o, &splits, &error), status);
    assert_contains(error.text, text);
    assert_ptr_equal(splits, &o);
}

static void test_refusals(void **state) {
    (void)state;
    made m;
    make(&m);
    const margin_vector groups = margin_values_f64(m.group, ROWS);
    refused(&m.data, (margin_split_options){.folds = 1}, MARGIN_ERROR_ARGUMENT, "1 fold");
    refused(&m.data, (margin_split_options){.folds = 104}, MARGIN_ERROR_DATA,
            "103 rows cannot be split into 104 folds; take fewer");
    refused(&m.data, (margin_split_options){.test = 1}, MARGIN_ERROR_ARGUMENT,
            "the share of the test part is 1");
    refused(&m.data, (margin_split_options){.test = 0.5, .validation = 0.5}, MARGIN_ERROR_ARGUMENT,
            "leave nothing to train on");
    refused(&m.data, (margin_split_options){.folds = 2, .test = 0.5}, MARGIN_ERROR_ARGUMENT,
            "folds and shares exclude each other");
    refused(&m.data, (margin_split_options){.folds = 20, .stratify = 1}, MARGIN_ERROR_DATA,
            "class '2' has 17 rows, fewer than the 20 folds");
    refused(&m.data, (margin_split_options){.folds = 60, .groups = groups}, MARGIN_ERROR_DATA,
            "groups cannot be split into 60 folds");
    refused(&m.data, (margin_split_options){.folds = 5, .groups = groups, .time = groups},
            MARGIN_ERROR_ARGUMENT, "one way to be drawn");
    refused(&m.data, (margin_split_options){.folds = 5, .repeats = 2, .in_order = 1},
            MARGIN_ERROR_ARGUMENT, "one way to be split");
    refused(&m.data, (margin_split_options){.folds = 50, .repeats = 3000}, MARGIN_ERROR_ARGUMENT,
            "more than 100000 splits");
    refused(&m.data,
            (margin_split_options){.folds = 5, .groups = margin_values_f64(m.group, ROWS - 1)},
            MARGIN_ERROR_ARGUMENT, "groups has 102 entries and the data set 103 rows");
    double constant[ROWS] = {0};
    refused(&m.data,
            (margin_split_options){.test = 0.2, .groups = margin_values_f64(constant, ROWS)},
            MARGIN_ERROR_DATA, "1 group cannot be split into 2 parts");
    refused(&m.data,
            (margin_split_options){.folds = MARGIN_LEAVE_ONE_OUT,
                                   .time = margin_values_f64(constant, ROWS)},
            MARGIN_ERROR_DATA, "1 different time cannot be split into 2 folds");
    constant[ROWS - 1] = 1;
    refused(&m.data,
            (margin_split_options){
                .test = 0.2, .time = margin_values_f64(constant, ROWS), .validation = 0.2},
            MARGIN_ERROR_DATA, "2 different times cannot be split into 3 parts");
    constant[1] = 2, constant[2] = 3;
    refused(&m.data, (margin_split_options){.folds = 3, .time = margin_values_f64(constant, ROWS)},
            MARGIN_ERROR_DATA, "one time has so many rows that a part has none; take fewer folds");
    m.group[4] = (double)NAN;
    refused(&m.data, (margin_split_options){.folds = 5, .groups = groups}, MARGIN_ERROR_DATA,
            "row 5 has no group");
    int64_t twice[3] = {1, 2, 1};
    m.data.selection = twice;
    m.data.selected = 3;
    refused(&m.data, (margin_split_options){.folds = 2}, MARGIN_ERROR_DATA,
            "row 2 is selected twice");
    margin_splits_free(NULL);
}

static margin_status split_once(margin_context *c, void *user, margin_error *e) {
    made *m = user;
    const margin_split_options o = {.size = sizeof o,
                                    .folds = 4,
                                    .stratify = 1,
                                    .repeats = 2,
                                    .groups = margin_values_f64(m->group, ROWS)},
                               p = {.size = sizeof p, .test = 0.5, .stratify = 1};
    margin_splits *splits;
    margin_status status = margin_split(c, &m->data, &o, &splits, e);
    if (status < 0) return status;
    margin_splits_free(splits);
    status = margin_split(c, &m->data, &p, &splits, e);
    if (status >= 0) margin_splits_free(splits);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    made m;
    make(&m);
    assert_true(support_fail_each_allocation(2, split_once, &m) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(measurements_are_no_classes),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(repeats_of_groups_differ),
        cmocka_unit_test(no_repeat_leaves_a_part_empty),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_leave_one_out_and_order),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
