/* Nearest neighbours against plain loops: every method, metric, type and instruction set gives the
 * same rows and the same bits of distance. */
#include "support/support.h"

#include "base/machine/cpu.h"
#include "neighbors/learner/index.h"
#include "tiles_half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Points ---------------------------------------------------------------------------------- */

enum { UNIFORM, CLUSTERS, GRID, EQUAL, LINE, OUTLIER, TINY, HUGE_, MIXED, KINDS };

static double coordinate(int kind, int64_t i, int64_t j, uint64_t *state) {
    const double u = support_uniform(state);
    switch (kind) {
    case CLUSTERS:
        return (double)((i * 7 + j * 3) % 11) * 100 + support_normal(state);
    case GRID:
        return floor(u * 5) - 2;
    case EQUAL:
        return 0.1 + (double)j;
    case LINE:
        return j == 0 ? u : 3.7;
    case OUTLIER:
        return i == 3 ? 0 : 1e6 + (u - 0.5) * 1e-4;
    case TINY:
        return u * 1e-300;
    case HUGE_:
        return (u - 0.5) * 2e300;
    case MIXED:
        return i % 3 == 0 ? (u - 0.5) * 1e300 : i % 3 == 1 ? u * 1e-300 : u;
    default:
        return u;
    }
}

static double *make_points(int kind, int64_t rows, int64_t columns, uint64_t seed) {
    double *x = malloc((size_t)(rows * columns + 1) * sizeof *x);
    uint64_t state = seed;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            x[i * columns + j] = coordinate(kind, i, j, &state);
    return x;
}

/* ---- The plain answer ------------------------------------------------------------------------ */

/* The distance by its definition: the sums in the documented order. */
static double plain_distance(double p, const double *x, const double *q, int64_t columns) {
    double most = 0, sum = 0, lane[8] = {0};
    int64_t j = 0;
    for (int64_t i = 0; i < columns; i++)
        most = fmax(most, fabs(x[i] - q[i]));
    if (isinf(p) || most == 0) return most;
    int exponent = 0;
    if (p == 2) { /* exact scaling changes nothing where the plain sum is in range */
        frexp(most, &exponent);
        exponent = exponent < -1000 ? -1000 : exponent;
        if (exponent > -300 && exponent < 300) exponent = 0;
    }
    for (; columns >= 8 && j + 8 <= columns; j += 8)
        for (int l = 0; l < 8; l++) {
            const double gap = fabs(x[j + l] - q[j + l]);
            if (p == 1) lane[l] += gap;
            if (p == 2) lane[l] += ldexp(gap, -exponent) * ldexp(gap, -exponent);
        }
    sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    for (; j < columns; j++) {
        const double gap = fabs(x[j] - q[j]);
        sum += p == 1 ? gap : p == 2 ? ldexp(gap, -exponent) * ldexp(gap, -exponent) : 0;
    }
    if (p == 1) return sum;
    if (p == 2) return ldexp(sqrt(sum), exponent);
    sum = 0;
    for (int64_t i = 0; i < columns; i++)
        sum += pow(fabs(x[i] - q[i]) / most, p);
    return most * pow(sum, 1 / p);
}

static int by_distance(const void *a, const void *b) {
    const mg_neighbor *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static mg_neighbor *plain_order(double p, const double *x, int64_t rows, int64_t columns,
                                const double *q) {
    mg_neighbor *list = malloc((size_t)rows * sizeof *list);
    for (int64_t i = 0; i < rows; i++)
        list[i] = (mg_neighbor){plain_distance(p, x + i * columns, q, columns), (int32_t)i, 0};
    qsort(list, (size_t)rows, sizeof *list, by_distance);
    return list;
}

static void assert_same_list(const mg_neighbor *found, const mg_neighbor *expected, int64_t count,
                             const char *what) {
    for (int64_t n = 0; n < count; n++)
        if (found[n].row != expected[n].row || found[n].distance != expected[n].distance)
            fail_msg("%s, neighbour %d: row %d at %.17g, expected row %d at %.17g", what, (int)n,
                     (int)found[n].row, found[n].distance, (int)expected[n].row,
                     expected[n].distance);
}

/* ---- Indexes --------------------------------------------------------------------------------- */

static mg_hypothesis *make_index(margin_context *context, const double *x, int64_t rows,
                                 int64_t columns, double p, mg_neighbors_method method) {
    const margin_matrix view = margin_dense_f64(x, rows, columns, columns);
    const mg_neighbors_plan plan = {
        .x = &view, .rows = rows, .p = p, .k = MG_MIN(rows, 5), .method = method};
    mg_hypothesis *h = NULL;
    mg_neighbors_choice choice;
    margin_error error = {0};
    if (mg_neighbors_make(context, &plan, &h, &choice, &error) < 0) fail_msg("%s", error.text);
    if (method != MG_NEIGHBORS_AUTO) assert_int_equal(choice.tree, method == MG_NEIGHBORS_TREE);
    return h;
}

/* A query of one of several kinds: a row, near a row, far away. */
static void make_query(const double *x, int64_t rows, int64_t columns, int number, double *q) {
    uint64_t state = (uint64_t)number * 977 + 5;
    const int64_t row = (int64_t)(support_uniform(&state) * (double)rows);
    for (int64_t j = 0; j < columns; j++) {
        q[j] = x[row * columns + j];
        if (number % 4 == 1) q[j] += (support_uniform(&state) - 0.5) * 0.1 * fabs(q[j]);
        if (number % 4 == 2) q[j] = floor(support_uniform(&state) * 6) - 3 + 0.5;
        if (number % 16 == 3) q[j] *= -50;
        if (number % 16 == 7) q[j] = (support_uniform(&state) - 0.5) * 1e30;
        q[j] = fmax(-MG_NEIGHBORS_LARGEST, fmin(MG_NEIGHBORS_LARGEST, q[j]));
    }
}

typedef struct expectation {
    const double *x;
    int64_t rows, columns;
    double p;
    int64_t k;
    mg_neighbor **lists;
    int *seen;
    char what[120];
} expectation;

static void take_and_compare(void *argument, int64_t query, const double *q, mg_neighbor *list,
                             int64_t count, int64_t room) {
    expectation *e = argument;
    (void)q;
    if (count != MG_MIN(e->k, e->rows) || room != e->k)
        fail_msg("%s: %d neighbours", e->what, (int)count);
    assert_same_list(list, e->lists[query], count, e->what);
    e->seen[query]++;
}

/* The tiles in bfloat16, by plain C and by matrix registers: with the choice of f32 instead, and
 * where they are made to do it all the same. */
static void compare_half(margin_context *context, const mg_neighbors_batch *batch, expectation *e) {
    const mg_tile_ops *ops[3] = {&tiles_half, NULL, NULL};
#if defined(__x86_64__)
    if (mg_tile_ops_amx.product && mg_has_matrix_registers()) ops[1] = &mg_tile_ops_amx;
    if (mg_tile_ops_bf16.product && mg_has_half_products()) ops[2] = &mg_tile_ops_bf16;
#endif
    if (!mg_neighbors_tiles_pay(batch)) return;
    for (int n = 0; n < 6; n++) {
        if (!ops[n / 2]) continue;
        const size_t used = strlen(e->what);
        snprintf(e->what + used, sizeof e->what - used, ", half %d", n);
        memset(e->seen, 0, (size_t)batch->count * sizeof(int));
        assert_int_equal(mg_neighbors_run_tiles_by(context, batch, ops[n / 2], n % 2 != 0, NULL),
                         MARGIN_OK);
        for (int64_t i = 0; i < batch->count; i++)
            assert_int_equal(e->seen[i], 1);
        e->what[used] = 0;
    }
}

static void compare_all(margin_context *context, int kind, int64_t rows, int64_t columns, double p,
                        int64_t k, int queries) {
    double *x = make_points(kind, rows, columns, (uint64_t)(rows * 31 + columns));
    double *q = malloc((size_t)(queries * columns) * sizeof *q);
    expectation e = {.x = x, .rows = rows, .columns = columns, .p = p, .k = k};
    e.lists = malloc((size_t)queries * sizeof(mg_neighbor *));
    e.seen = calloc((size_t)queries, sizeof(int));
    for (int i = 0; i < queries; i++) {
        make_query(x, rows, columns, i, q + i * columns);
        e.lists[i] = plain_order(p, x, rows, columns, q + i * columns);
    }
    mg_neighbor *list = malloc((size_t)k * sizeof *list);
    for (int tree = 0; tree < 2; tree++) {
        if (tree && columns > MG_TREE_COLUMNS) break;
        mg_hypothesis *h =
            make_index(context, x, rows, columns, p, tree ? MG_NEIGHBORS_TREE : MG_NEIGHBORS_BRUTE);
        mg_neighbors *index = h->derived;
        for (mg_isa isa = MG_ISA_REF; isa <= mg_isa_level(); isa++) {
            index->isa = isa;
            snprintf(e.what, sizeof e.what, "kind %d, %d x %d, p=%g, k=%d, %s, %s", kind, (int)rows,
                     (int)columns, p, (int)k, tree ? "tree" : "brute", mg_isa_name(isa));
            for (int i = 0; i < queries; i++) {
                mg_search s = mg_search_nearest(q + i * columns, k, list);
                mg_neighbors_find(index, &s);
                assert_int_equal(s.count, MG_MIN(k, rows));
                assert_same_list(list, e.lists[i], s.count, e.what);
            }
            memset(e.seen, 0, (size_t)queries * sizeof(int));
            const mg_neighbors_batch batch = {.index = index,
                                              .queries = q,
                                              .count = queries,
                                              .stride = columns,
                                              .k = k,
                                              .radius = (double)INFINITY,
                                              .take = take_and_compare,
                                              .argument = &e};
            assert_int_equal(mg_neighbors_run(context, &batch, NULL), MARGIN_OK);
            for (int i = 0; i < queries; i++)
                assert_int_equal(e.seen[i], 1);
            if (!tree && isa == mg_isa_level()) compare_half(context, &batch, &e);
        }
        /* its tensors pass for those of a file */
        margin_error error = {0};
        h->view.other = NULL;
        if (mg_hypothesis_attach(h, &error) < 0) fail_msg("%s: %s", e.what, error.text);
        mg_hypothesis_free(h);
    }
    for (int i = 0; i < queries; i++)
        free(e.lists[i]);
    free(list);
    free(e.lists);
    free(e.seen);
    free(q);
    free(x);
}

static void test_kinds_of_points(void **state) {
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        compare_all(context, kind, 400, 2, 2, 5, 32);
        compare_all(context, kind, 300, 3, 2, 1, 32);
        compare_all(context, kind, 200, 9, 2, 40, 24);
        compare_all(context, kind, 200, 3, 1, 7, 20);
        compare_all(context, kind, 200, 5, (double)INFINITY, 7, 20);
        compare_all(context, kind, 200, 4, 3, 7, 20);
        compare_all(context, kind, 200, 4, 1.5, 7, 20);
    }
    margin_context_free(context);
}

static void test_sizes(void **state) {
    margin_context *context = support_context(NULL, 3);
    static const int64_t rows[] = {1, 2, 15, 16, 17, 32, 33, 128, 129, 1025};
    (void)state;
    for (int r = 0; r < MG_LENGTH(rows); r++)
        for (int64_t columns = 1; columns <= 20; columns += columns < 9 ? 1 : 5) {
            compare_all(context, UNIFORM, rows[r], columns, 2, 3, 8);
            compare_all(context, GRID, rows[r], columns, 2, 6, 8);
        }
    compare_all(context, UNIFORM, 200, 900, 2, 5, 32);
    compare_all(context, CLUSTERS, 300, 70, 2, 4, 30);
    compare_all(context, CLUSTERS, 300, 64, 1, 4, 30);
    margin_context_free(context);
}

/* Several buckets, several generations, and blocks of tiles with slices. */
static void test_many_rows(void **state) {
    margin_context *context = support_context(NULL, 4);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        compare_all(context, kind, 5000, 3, 2, 5, 12);
    compare_all(context, UNIFORM, 9000, 10, 2, 3, 30);
    compare_all(context, GRID, 9000, 6, 2, 12, 30);
    compare_all(context, EQUAL, 9000, 6, 2, 100, 24);
    compare_all(context, UNIFORM, 70000, 2, 2, 8, 6);
    compare_all(context, CLUSTERS, 900, 300, 2, 4, 100);
    margin_context_free(context);
}

/* Every kind of points through the tiles, and panels in parts. */
static void test_tiles(void **state) {
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        compare_all(context, kind, 400, 6, 2, 4, 40);
        compare_all(context, kind, 300, 40, 2, 9, 33);
        compare_all(context, kind, 1500, 5, 2, 40, 40); /* guessed thresholds */
    }
    compare_all(context, UNIFORM, 2000, 20, 2, 5, 70);
    compare_all(context, UNIFORM, 130, 2100, 2, 2, 24);
    margin_context_free(context);
}

/* ---- Queries that share a walk --------------------------------------------------------------- */

typedef struct close_case {
    const mg_neighbors *index;
    double radius;
    int64_t answered, found;
    const char *what;
} close_case;

/* The order of the scan, which knows no boxes. */
static void take_and_scan(void *argument, int64_t query, const double *q, mg_neighbor *list,
                          int64_t count, int64_t room) {
    close_case *c = argument;
    mg_neighbor expected[MG_PACKET_NEIGHBORS];
    mg_search s = mg_search_within(q, room, c->radius, expected);
    mg_neighbors_scan(c->index, &s, 0, mg_neighbors_slots(c->index));
    if (count != s.count) fail_msg("%s, query %d: %d rows", c->what, (int)query, (int)count);
    assert_same_list(list, expected, count, c->what);
    c->answered++;
    c->found += count;
}

static void ask_close(margin_context *context, int kind, int64_t columns, bool single) {
    enum { ROWS = 600, QUERIES = 130 };
    double *x = make_points(kind, ROWS, columns, 7);
    float *narrow = malloc((size_t)(ROWS * columns) * sizeof *narrow);
    double *q = malloc((size_t)(QUERIES * columns) * sizeof *q);
    uint64_t state = 3;
    for (int64_t i = 0; i < ROWS * columns; i++)
        narrow[i] = (float)fmax(-1e30, fmin(1e30, x[i]));
    for (int64_t i = 0; i < QUERIES; i++) /* about a few rows, some on them, one far */
        for (int64_t j = 0; j < columns; j++) {
            const double at = x[(i % 7) * 80 * columns + j];
            q[i * columns + j] = i % 5 == 0 ? at : at + 0.05 * support_normal(&state) * fabs(at);
            if (i == 40) q[i * columns + j] = 1e18;
            q[i * columns + j] = fmax(-1e300, fmin(1e300, q[i * columns + j]));
        }
    const margin_matrix view = single ? margin_dense_f32(narrow, ROWS, columns, columns)
                                      : margin_dense_f64(x, ROWS, columns, columns);
    for (int64_t k = 1; k <= MG_PACKET_NEIGHBORS; k += MG_PACKET_NEIGHBORS - 1) {
        const mg_neighbors_plan plan = {
            .x = &view, .rows = ROWS, .p = 2, .k = k, .method = MG_NEIGHBORS_TREE};
        mg_hypothesis *h = NULL;
        mg_neighbors_choice choice;
        char what[100];
        assert_int_equal(mg_neighbors_make(context, &plan, &h, &choice, NULL), MARGIN_OK);
        mg_neighbors *index = h->derived;
        for (mg_isa isa = MG_ISA_REF; isa <= mg_isa_level(); isa++) {
            snprintf(what, sizeof what, "close, kind %d, %d columns, k=%d, %s, %s", kind,
                     (int)columns, (int)k, single ? "f32" : "f64", mg_isa_name(isa));
            index->isa = isa;
            for (int limited = 0; limited < 2; limited++) {
                close_case c = {index, limited ? 0.05 : (double)INFINITY, 0, 0, what};
                const mg_neighbors_batch batch = {.index = index,
                                                  .queries = q,
                                                  .count = QUERIES,
                                                  .stride = columns,
                                                  .k = k,
                                                  .radius = c.radius,
                                                  .take = take_and_scan,
                                                  .argument = &c};
                assert_int_equal(mg_neighbors_run(context, &batch, NULL), MARGIN_OK);
                assert_int_equal(c.answered, QUERIES);
                assert_true(limited || c.found > 0);
            }
        }
        mg_hypothesis_free(h);
    }
    free(x);
    free(narrow);
    free(q);
}

static void test_close_queries(void **state) {
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ask_close(context, kind, 2, false);
        ask_close(context, kind, 3, kind % 2 != 0);
        ask_close(context, kind, 8, kind % 2 == 0);
    }
    ask_close(context, UNIFORM, 1, false);
    ask_close(context, GRID, 5, false);
    margin_context_free(context);
}

/* ---- Radius, and beyond a neighbour ---------------------------------------------------------- */

static void test_radius_and_after(void **state) {
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const int64_t rows = 400, columns = 3;
        double *x = make_points(kind, rows, columns, 77), q[3];
        mg_neighbor *list = malloc((size_t)rows * sizeof *list);
        for (int tree = 0; tree < 2; tree++) {
            mg_hypothesis *h = make_index(context, x, rows, columns, 2,
                                          tree ? MG_NEIGHBORS_TREE : MG_NEIGHBORS_BRUTE);
            const mg_neighbors *index = mg_neighbors_view(h);
            for (int i = 0; i < 20; i++) {
                make_query(x, rows, columns, i, q);
                mg_neighbor *all = plain_order(2, x, rows, columns, q);
                mg_search s = mg_search_nearest(q, 0, NULL);
                s.radius = all[60].distance; /* is within */
                int64_t within = 0;
                while (within < rows && all[within].distance <= s.radius)
                    within++;
                mg_neighbors_find(index, &s);
                assert_int_equal(s.count, within);
                s.list = list;
                mg_neighbors_find(index, &s);
                mg_neighbors_sort(list, s.count);
                assert_same_list(list, all, within, "radius");
                s = mg_search_nearest(q, 50, list);
                for (int64_t at = 0; at < rows; at += 50) {
                    mg_neighbors_find(index, &s);
                    assert_int_equal(s.count, 50);
                    assert_same_list(list, all + at, 50, "after");
                    s.after = list[49];
                }
                mg_neighbors_find(index, &s);
                assert_int_equal(s.count, 0);
                free(all);
            }
            mg_hypothesis_free(h);
        }
        free(list);
        free(x);
    }
    margin_context_free(context);
}

/* ---- Cost ------------------------------------------------------------------------------------ */

/* What must not happen: that equal points, a grid or one far row make the tree visit everything. */
static void test_visits(void **state) {
    margin_context *context = support_context(NULL, 2);
    static const int kinds[] = {UNIFORM, CLUSTERS, EQUAL, OUTLIER, LINE, GRID};
    (void)state;
    for (int n = 0; n < MG_LENGTH(kinds); n++) {
        const int64_t rows = 20000, columns = 3;
        double *x = make_points(kinds[n], rows, columns, 5), q[3];
        mg_hypothesis *h = make_index(context, x, rows, columns, 2, MG_NEIGHBORS_TREE);
        mg_neighbor list[5];
        double visits = 0;
        for (int i = 0; i < 64; i++) {
            memcpy(q, x + i * 311 * columns, sizeof q);
            if (i % 2) q[0] += 1e-5;
            mg_search s = mg_search_nearest(q, 5, list);
            mg_neighbors_find(mg_neighbors_view(h), &s);
            visits += (double)s.visits / 64;
        }
        if (visits > 60) fail_msg("kind %d: %g visits a query", kinds[n], visits);
        mg_hypothesis_free(h);
        free(x);
    }
    margin_context_free(context);
}

/* ---- Threads, memory ------------------------------------------------------------------------- */

static void test_threads(void **state) {
    const int64_t rows = 70000, columns = 3;
    double *x = make_points(CLUSTERS, rows, columns, 8);
    mg_hypothesis *first = NULL;
    margin_context *contexts[4];
    (void)state;
    for (int t = 0; t < 4; t++) {
        contexts[t] = support_context(NULL, t + 1);
        mg_hypothesis *h = make_index(contexts[t], x, rows, columns, 2, MG_NEIGHBORS_TREE);
        if (!first) first = h;
        assert_int_equal(h->bag.count, first->bag.count);
        for (int k = 0; k < h->bag.count; k++) {
            const mg_tensor *a = &h->bag.tensors[k], *b = &first->bag.tensors[k];
            assert_memory_equal(a->shape, b->shape, sizeof a->shape);
            assert_memory_equal(
                a->data, b->data,
                (size_t)(a->shape[0] * MG_MAX(a->shape[1], 1) * mg_type_size(a->type)));
        }
        if (h != first) mg_hypothesis_free(h);
    }
    mg_hypothesis_free(first);
    for (int t = 0; t < 4; t++)
        margin_context_free(contexts[t]);
    free(x);
}

typedef struct failing {
    const double *x;
    int64_t rows, columns;
    mg_neighbors_method method;
} failing;

static void ignore(void *argument, int64_t query, const double *q, mg_neighbor *list, int64_t count,
                   int64_t room) {
    (void)argument, (void)query, (void)q, (void)list, (void)count, (void)room;
}

static margin_status build_and_ask(margin_context *context, void *user, margin_error *error) {
    const failing *f = user;
    const margin_matrix view = margin_dense_f64(f->x, f->rows, f->columns, f->columns);
    const mg_neighbors_plan plan = {
        .x = &view, .rows = f->rows, .p = 2, .k = 5, .method = f->method};
    mg_hypothesis *h = NULL;
    mg_neighbors_choice choice;
    margin_status status = mg_neighbors_make(context, &plan, &h, &choice, error);
    if (status < 0) return status;
    const mg_neighbors_batch batch = {.index = mg_neighbors_view(h),
                                      .queries = f->x,
                                      .count = 100,
                                      .stride = f->columns,
                                      .k = 5,
                                      .radius = (double)INFINITY,
                                      .take = ignore};
    status = mg_neighbors_run(context, &batch, error);
    mg_hypothesis_free(h);
    return status;
}

static void test_allocations(void **state) {
    double *x = make_points(UNIFORM, 5000, 12, 4);
    failing f = {x, 5000, 3, MG_NEIGHBORS_TREE};
    (void)state;
    assert_true(support_fail_each_allocation(2, build_and_ask, &f) > 10);
    f = (failing){x, 3000, 12, MG_NEIGHBORS_BRUTE};
    assert_true(support_fail_each_allocation(2, build_and_ask, &f) > 5);
    f = (failing){x, 5000, 12, MG_NEIGHBORS_AUTO};
    assert_true(support_fail_each_allocation(1, build_and_ask, &f) > 10);
    free(x);
}

/* ---- Choice ---------------------------------------------------------------------------------- */

static void test_choice(void **state) {
    margin_context *context = support_context(NULL, 2);
    (void)state;
    static const struct {
        int kind;
        int64_t rows, columns;
        bool tree;
        const char *told;
    } cases[] = {{UNIFORM, 50, 2, false, ""},
                 {UNIFORM, 500, 2, true, ""},
                 {LINE, 4000, 15, true, "(16 tried)"},
                 {LINE, 4000, 16, false, "over 4000 rows of 16 columns"},
                 {UNIFORM, 5000, 30, false, "of a sixteenth of the rows"},
                 {CLUSTERS, 5000, 12, true, "(16 tried)"},
                 {LINE, 5000, 40, true, ""},
                 {UNIFORM, 2000, 80, false, ""},
                 {CLUSTERS, 20000, 12, true, ""}};
    for (int n = 0; n < MG_LENGTH(cases); n++) {
        double *x = make_points(cases[n].kind, cases[n].rows, cases[n].columns, 3);
        const margin_matrix view =
            margin_dense_f64(x, cases[n].rows, cases[n].columns, cases[n].columns);
        const mg_neighbors_plan plan = {.x = &view, .rows = cases[n].rows, .p = 2, .k = 5};
        mg_hypothesis *h = NULL;
        mg_neighbors_choice choice;
        char text[300];
        assert_int_equal(mg_neighbors_make(context, &plan, &h, &choice, NULL), MARGIN_OK);
        mg_neighbors_explain(&choice, mg_neighbors_view(h), text, sizeof text);
        if (choice.tree != cases[n].tree) fail_msg("case %d: %s", n, text);
        assert_contains(text, choice.tree ? "kd-tree" : "brute force");
        assert_contains(text, cases[n].told);
        mg_hypothesis_free(h);
        free(x);
    }
    margin_context_free(context);
}

/* A scan looks at its context. */
static void test_cancelled(void **state) {
    margin_context *context = support_context(NULL, 1);
    double *x = make_points(UNIFORM, 300, 3, 8);
    mg_hypothesis *h = make_index(context, x, 300, 3, 1.5, MG_NEIGHBORS_BRUTE);
    mg_neighbor list[4];
    mg_search s = mg_search_nearest(x, 4, list);
    (void)state;
    s.context = context;
    mg_neighbors_find(mg_neighbors_view(h), &s);
    assert_int_equal(s.count, 4);
    margin_context_cancel(context);
    mg_neighbors_find(mg_neighbors_view(h), &s);
    assert_int_equal(s.count, 0);
    s.context = NULL;
    mg_neighbors_find(mg_neighbors_view(h), &s);
    assert_int_equal(s.count, 4);
    mg_hypothesis_free(h);
    free(x);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_points), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many_rows),       cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_close_queries),   cmocka_unit_test(test_radius_and_after),
        cmocka_unit_test(test_visits),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocations),     cmocka_unit_test(test_choice),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
