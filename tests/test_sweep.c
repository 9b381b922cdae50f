/* Sweep: the fixed tree, bit for bit, against an implementation that knows nothing of threads. */
#include "support/support.h"

#include "base/sweep.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 8 };

/* ---- Reference ----
 * Leaves one after the other as the header states them, then the tree by recursion. */

static int64_t reference_leaf_size(int64_t block) {
    int64_t size = 1;
    while (block >= 128 * size)
        size *= 2;
    return size;
}

static void reference_tree(const mg_accumulator *accumulator, void *argument, int64_t first,
                           int64_t end, int64_t block_rows, int64_t rows, void *state) {
    if (end - first <= reference_leaf_size(first)) {
        accumulator->init(state, argument);
        for (int64_t i = first; i < end; i++) {
            int64_t row = i * block_rows;
            mg_block block = {i, row, MG_MIN(block_rows, rows - row), 0};
            assert_true(accumulator->add(state, &block, argument) >= 0);
        }
        return;
    }
    int64_t half = 1;
    while (2 * half < end - first)
        half *= 2;
    void *right = malloc((size_t)accumulator->state_size);
    reference_tree(accumulator, argument, first, first + half, block_rows, rows, state);
    reference_tree(accumulator, argument, first + half, end, block_rows, rows, right);
    accumulator->merge(state, right, argument);
    free(right);
}

static void reference_sweep(const mg_accumulator *accumulator, void *argument, int64_t rows,
                            int64_t block_rows, void *state) {
    int64_t blocks = (rows + block_rows - 1) / block_rows;
    reference_tree(accumulator, argument, 0, blocks, block_rows, rows, state);
    if (accumulator->finish) assert_true(accumulator->finish(state, argument) >= 0);
}

/* ---- An accumulator whose result depends on every detail ----
 * A hash of the whole expression (which blocks, in which order, merged how) and sums in f32, whose
 * rounding depends on it too. */

typedef struct trail {
    uint64_t hash;
    int64_t first, end; /* rows covered */
    float sums[5];
    bool broken, finished;
} trail;

typedef struct trail_data {
    const float *values;
    atomic_int alive; /* states between init and merge */
    atomic_int most_alive;
    atomic_int misaligned;
} trail_data;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x =
        (a ^ 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u + (b << 1 | 1) * 0x94D049BB133111EBu;
    return x ^ x >> 29;
}

static void trail_init(void *state, void *argument) {
    trail_data *data = argument;
    trail *t = state;
    int alive = atomic_fetch_add(&data->alive, 1) + 1, most = atomic_load(&data->most_alive);
    while (alive > most && !atomic_compare_exchange_weak(&data->most_alive, &most, alive)) {
    }
    if ((uintptr_t)state % 64 != 0) atomic_fetch_add(&data->misaligned, 1);
    memset(t, 0, sizeof *t);
    t->hash = 1;
    t->first = t->end = -1;
}

static margin_status trail_add(void *state, const mg_block *block, void *argument) {
    const trail_data *data = argument;
    trail *t = state;
    if (t->first < 0) t->first = t->end = block->first;
    t->broken |= t->end != block->first;
    t->end = block->first + block->count;
    t->hash = mix(mix(t->hash, (uint64_t)block->index), (uint64_t)block->count);
    for (int64_t i = block->first; i < t->end; i++)
        t->sums[i % 5] += data->values[i];
    return MARGIN_OK;
}

static void trail_merge(void *into, const void *from, void *argument) {
    trail_data *data = argument;
    trail *left = into;
    const trail *right = from;
    atomic_fetch_sub(&data->alive, 1);
    left->broken |= right->broken || left->end != right->first;
    left->end = right->end;
    left->hash = mix(mix(left->hash, 77), right->hash);
    for (int i = 0; i < 5; i++)
        left->sums[i] += right->sums[i];
}

static margin_status trail_finish(void *state, void *argument) {
    trail *t = state;
    (void)argument;
    t->broken |= t->finished;
    t->finished = true;
    return MARGIN_OK;
}

static const mg_accumulator trail_accumulator = {.state_size = sizeof(trail),
                                                 .init = trail_init,
                                                 .add = trail_add,
                                                 .merge = trail_merge,
                                                 .finish = trail_finish};

static float *make_values(int64_t count) {
    float *values = malloc((size_t)(count + 1) * sizeof *values);
    uint64_t random = 11;
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(support_normal(&random) * (i % 3 == 0 ? 1e4 : 1e-3));
    return values;
}

static void assert_same_trail(const trail *a, const trail *b, int64_t rows, int threads) {
    bool same = a->hash == b->hash && a->first == b->first && a->end == b->end && !a->broken &&
                a->finished && memcmp(a->sums, b->sums, sizeof a->sums) == 0;
    if (!same) fail_msg("%lld rows on %d threads", (long long)rows, threads);
}

static void bits_are_those_of_the_reference(void **state) {
    (void)state;
    static const int64_t blocks[] = {1,   2,   3,    4,    5,    6,    7,    8,   9,
                                     31,  64,  65,   127,  128,  129,  130,  131, 255,
                                     256, 257, 258,  300,  511,  512,  515,  516, 517,
                                     700, 999, 1000, 1023, 1024, 1025, 2047, 2049};
    enum { BLOCK_ROWS = 7 };
    float *values = make_values(2049 * BLOCK_ROWS);
    margin_context *contexts[MOST_THREADS];
    for (int t = 0; t < MOST_THREADS; t++)
        contexts[t] = support_context(NULL, t + 1);
    for (int i = 0; i < MG_LENGTH(blocks); i++) {
        for (int last = 1; last <= BLOCK_ROWS; last += 3) { /* rows of the last block */
            int64_t rows = (blocks[i] - 1) * BLOCK_ROWS + last;
            trail_data data = {.values = values};
            _Alignas(64) trail expected, got;
            reference_sweep(&trail_accumulator, &data, rows, BLOCK_ROWS, &expected);
            for (int t = 0; t < MOST_THREADS; t++) {
                margin_error error;
                memset(&got, 0x77, sizeof got);
                assert_int_equal(mg_sweep(contexts[t], rows, BLOCK_ROWS, &trail_accumulator, &data,
                                          &got, &error),
                                 MARGIN_OK);
                assert_same_trail(&got, &expected, rows, t + 1);
            }
        }
    }
    for (int t = 0; t < MOST_THREADS; t++)
        margin_context_free(contexts[t]);
    free(values);
}

/* The order of a plain sum shows: the reference must not be so tame that any tree passes. */
static void the_tree_shows_in_the_bits(void **state) {
    (void)state;
    enum { ROWS = 7000 };
    float *values = make_values(ROWS);
    trail_data data = {.values = values};
    trail tree, line = {.hash = 0};
    reference_sweep(&trail_accumulator, &data, ROWS, 7, &tree);
    for (int64_t i = 0; i < ROWS; i++)
        line.sums[i % 5] += values[i];
    assert_memory_not_equal(tree.sums, line.sums, sizeof line.sums);
    free(values);
}

static void no_rows_give_an_empty_state(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 3);
    trail_data data = {0};
    _Alignas(64) trail got;
    margin_error error;
    assert_int_equal(mg_sweep(context, 0, 7, &trail_accumulator, &data, &got, &error), MARGIN_OK);
    assert_int_equal(got.hash, 1);
    assert_int_equal(got.first, -1);
    assert_true(got.finished && !got.broken);
    margin_context_free(context);
}

static void finish_is_optional_and_its_status_passes(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    trail_data data = {0};
    _Alignas(64) trail got;
    mg_accumulator unfinished = trail_accumulator;
    unfinished.finish = NULL;
    assert_int_equal(mg_sweep(context, 0, 7, &unfinished, &data, &got, NULL), MARGIN_OK);
    assert_false(got.finished);
    margin_context_free(context);
}

/* ---- Memory ---- */

static void few_states_are_alive(void **state) {
    (void)state;
    enum { BLOCKS = 20000, WIDE = 100 * 1024 };
    float *values = make_values(BLOCKS);
    mg_accumulator wide = trail_accumulator;
    wide.state_size = WIDE;
    trail *got = aligned_alloc(64, WIDE);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        margin_context *context = support_context(NULL, threads);
        trail_data data = {.values = values};
        assert_int_equal(mg_sweep(context, BLOCKS, 1, &wide, &data, got, NULL), MARGIN_OK);
        assert_int_equal(data.misaligned, 0);
        /* unfinished: a leaf a thread, and where the next begins; beside the path from the root to
         * each of these at most 10 finished nodes (there are about 600 leaves) */
        int most = threads + (threads + 1) * 10;
        assert_true(atomic_load(&data.most_alive) <= most);
        assert_true(margin_context_peak_memory(context) < most * (WIDE + 200) + 100000);
        margin_context_free(context);
    }
    free(got);
    free(values);
}

static margin_status sweep_once(margin_context *context, void *user, margin_error *error) {
    _Alignas(64) trail got;
    trail_data data = {.values = user};
    return mg_sweep(context, 300, 1, &trail_accumulator, &data, &got, error);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    float *values = make_values(300);
    assert_true(support_fail_each_allocation(1, sweep_once, values) >= 5);
    /* with threads the number of states varies; none may leak, and the text is there */
    for (int n = 1; n < 6; n++) {
        support_heap heap;
        support_heap_init(&heap);
        margin_context *context = support_context(&heap, 4);
        margin_error error = {0};
        atomic_store(&heap.fail_at, atomic_load(&heap.calls) + n);
        atomic_store(&heap.fail_all_after, true);
        margin_status status = sweep_once(context, values, &error);
        long long failures = atomic_load(&heap.failures);
        assert_int_equal(status, failures > 0 ? MARGIN_ERROR_MEMORY : MARGIN_OK);
        if (failures > 0) assert_contains(error.text, "partial result");
        margin_context_free(context);
        support_assert_nothing_live(&heap);
    }
    free(values);
}

static void the_memory_limit_is_named(void **state) {
    (void)state;
    margin_context_options options = {.size = sizeof options, .threads = 1};
    margin_context *context;
    margin_error error;
    float *values = make_values(300);
    trail_data data = {.values = values};
    enum { WIDE = 1 << 20 };
    mg_accumulator wide = trail_accumulator;
    wide.state_size = WIDE;
    void *got = aligned_alloc(64, WIDE);
    options.memory_limit = 2500000;
    assert_int_equal(margin_context_create(&options, &context, &error), MARGIN_OK);
    assert_int_equal(mg_sweep(context, 300, 1, &wide, &data, got, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "too little for a partial result (1 MiB)");
    margin_context_free(context);
    free(got);
    free(values);
}

/* ---- Failure and cancel ---- */

typedef struct stumble {
    margin_context *context;
    int64_t fails_from, cancels_at;
    atomic_int finished, blocks;
} stumble;

static void stumble_init(void *state, void *argument) {
    (void)argument;
    *(int64_t *)state = 0;
}

static margin_status stumble_add(void *state, const mg_block *block, void *argument) {
    stumble *s = argument;
    *(int64_t *)state += block->count;
    atomic_fetch_add(&s->blocks, 1);
    if (block->index == s->cancels_at) margin_context_cancel(s->context);
    if (block->index == s->fails_from) return MARGIN_ERROR_DATA;
    return block->index > s->fails_from ? MARGIN_ERROR_FILE : MARGIN_OK;
}

static void stumble_merge(void *into, const void *from, void *argument) {
    (void)argument;
    *(int64_t *)into += *(const int64_t *)from;
}

static margin_status stumble_finish(void *state, void *argument) {
    stumble *s = argument;
    (void)state;
    atomic_fetch_add(&s->finished, 1);
    return MARGIN_STOPPED_STALLED;
}

static const mg_accumulator stumble_accumulator = {.state_size = sizeof(int64_t),
                                                   .init = stumble_init,
                                                   .add = stumble_add,
                                                   .merge = stumble_merge,
                                                   .finish = stumble_finish};

static void the_first_failing_block_counts(void **state) {
    (void)state;
    static const int64_t at[] = {0, 1, 2, 17, 127, 128, 129, 200, 313, 499};
    for (int threads = 1; threads <= 4; threads++) {
        support_heap heap;
        support_heap_init(&heap);
        margin_context *context = support_context(&heap, threads);
        int64_t sum;
        for (int i = 0; i < MG_LENGTH(at); i++) {
            stumble s = {.context = context, .fails_from = at[i], .cancels_at = -1};
            margin_error error = {.status = MARGIN_OK};
            assert_int_equal(mg_sweep(context, 1000, 2, &stumble_accumulator, &s, &sum, &error),
                             MARGIN_ERROR_DATA);
            assert_int_equal(atomic_load(&s.finished), 0);
            assert_int_equal(error.status, MARGIN_OK); /* the sentence is the accumulator's */
        }
        stumble s = {.context = context, .fails_from = 500, .cancels_at = -1};
        assert_int_equal(mg_sweep(context, 999, 2, &stumble_accumulator, &s, &sum, NULL),
                         MARGIN_STOPPED_STALLED);
        assert_int_equal(atomic_load(&s.finished), 1);
        assert_int_equal(sum, 999);
        margin_context_free(context);
        support_assert_nothing_live(&heap);
    }
}

static void a_cancelled_sweep_ends_soon(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        int64_t sum;
        margin_error error;
        stumble s = {.context = context, .fails_from = INT64_MAX, .cancels_at = 700};
        int64_t rows = (int64_t)1 << 40; /* blocks of the last leaf: 2^33 */
        assert_int_equal(mg_sweep(context, rows, 1, &stumble_accumulator, &s, &sum, &error),
                         MARGIN_ERROR_CANCELLED);
        assert_int_equal(error.status, MARGIN_ERROR_CANCELLED);
        assert_contains(error.text, "interrupted");
        assert_int_equal(atomic_load(&s.finished), 0);
        if (threads == 1) assert_int_equal(atomic_load(&s.blocks), 701); /* amid a leaf */
        margin_context_free(context);
    }
}

/* ---- Walk without states, block sizes ---- */

typedef struct visits {
    atomic_int row[1000];
    atomic_int wrong;
    int64_t fails_from;
    int threads;
} visits;

static margin_status visit_rows(const mg_block *block, void *argument) {
    visits *v = argument;
    if (block->first != block->index * 30 || block->worker < 0 || block->worker >= v->threads)
        atomic_fetch_add(&v->wrong, 1);
    for (int64_t i = 0; i < block->count; i++)
        atomic_fetch_add(&v->row[block->first + i], 1);
    if (block->index == v->fails_from) return MARGIN_ERROR_DATA;
    return block->index > v->fails_from ? MARGIN_ERROR_FILE : MARGIN_OK;
}

static void every_row_is_visited_once(void **state) {
    (void)state;
    static const int64_t rows[] = {0, 1, 29, 30, 31, 900, 999, 1000};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        for (int i = 0; i < MG_LENGTH(rows); i++) {
            visits *v = calloc(1, sizeof *v);
            v->fails_from = 1000;
            v->threads = threads;
            assert_int_equal(mg_sweep_each(context, rows[i], 30, visit_rows, v, NULL), MARGIN_OK);
            for (int64_t k = 0; k < 1000; k++)
                assert_int_equal(atomic_load(&v->row[k]), k < rows[i] ? 1 : 0);
            assert_int_equal(atomic_load(&v->wrong), 0);
            v->fails_from = 3;
            assert_int_equal(mg_sweep_each(context, rows[i], 30, visit_rows, v, NULL),
                             rows[i] > 90 ? MARGIN_ERROR_DATA : MARGIN_OK);
            free(v);
        }
        margin_context_free(context);
    }
}

static void block_sizes_follow_the_row_size(void **state) {
    (void)state;
    assert_int_equal(mg_block_rows(0), 4096);
    assert_int_equal(mg_block_rows(1), 4096);
    assert_int_equal(mg_block_rows(64), 4096);
    assert_int_equal(mg_block_rows(65), 2048);
    assert_int_equal(mg_block_rows(800), 256);
    assert_int_equal(mg_block_rows(4096), 64);
    assert_int_equal(mg_block_rows(1 << 30), 64);
    assert_int_equal(mg_block_rows(INT64_MAX), 64);
    for (int64_t bytes = 0; bytes < 10000; bytes++) {
        int64_t rows = mg_block_rows(bytes);
        assert_true(rows >= 64 && rows <= MG_BLOCK_ROWS && (rows & (rows - 1)) == 0);
        assert_true(rows == 64 || rows * bytes <= 256 * 1024);
        assert_true(rows == MG_BLOCK_ROWS || 2 * rows * bytes > 256 * 1024);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_reference),
        cmocka_unit_test(the_tree_shows_in_the_bits),
        cmocka_unit_test(no_rows_give_an_empty_state),
        cmocka_unit_test(finish_is_optional_and_its_status_passes),
        cmocka_unit_test(few_states_are_alive),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_memory_limit_is_named),
        cmocka_unit_test(the_first_failing_block_counts),
        cmocka_unit_test(a_cancelled_sweep_ends_soon),
        cmocka_unit_test(every_row_is_visited_once),
        cmocka_unit_test(block_sizes_follow_the_row_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
