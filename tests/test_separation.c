/* Separability: known answers, and certificates checked from the raw data by code that shares
 * nothing with the solver. */
#include "support/support.h"

#include "base/random.h"
#include "perceptron/separation/separation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Oracle ------------------------------------------------------------------------------- */

static long double product(const mg_problem *p, int64_t sample, const double *w) {
    long double sum = 0;
    double *row = malloc((size_t)p->x.columns * sizeof *row);
    mg_row_expand(&p->x, mg_sample_row(p, sample), row);
    for (int64_t j = 0; j < p->x.columns; j++)
        sum += (long double)row[j] * (long double)w[j];
    free(row);
    return sum;
}

/* Least y (w.x + b), from nothing but the data and the answer. */
static double least_margin(const mg_problem *p, const mg_separation *s) {
    long double least = (long double)INFINITY;
    for (int64_t i = 0; i < p->count; i++)
        least = fminl(least, p->sign[i] * (product(p, i, s->weights) + (long double)s->intercept));
    return (double)least;
}

/* Difference of the weighted means of the two classes; also checks that the weights are convex. */
static void mean_difference(const mg_problem *p, const mg_separation *s, double *difference) {
    double sum[2] = {0, 0}, *row = malloc((size_t)p->x.columns * sizeof *row);
    memset(difference, 0, (size_t)p->x.columns * sizeof *difference);
    for (int64_t k = 0; k < s->count; k++) {
        int64_t i = s->samples[k];
        assert_in_range(i, 0, p->count - 1);
        assert_true(s->coefficients[k] > 0);
        sum[p->sign[i] < 0] += s->coefficients[k];
        mg_row_expand(&p->x, mg_sample_row(p, i), row);
        for (int64_t j = 0; j < p->x.columns; j++)
            difference[j] += p->sign[i] * s->coefficients[k] * row[j];
    }
    assert_true(fabs(sum[0] - 1) < 1e-12 && fabs(sum[1] - 1) < 1e-12);
    free(row);
}

static void check_proof(const mg_problem *p, const mg_separation *s) {
    double *difference = malloc((size_t)p->x.columns * sizeof *difference);
    mean_difference(p, s, difference);
    const int64_t columns = p->x.columns;
    double *row = malloc((size_t)columns * 3 * sizeof *row);
    double *low = row + columns, *high = low + columns;
    for (int64_t i = 0; i < p->count; i++) {
        mg_row_expand(&p->x, mg_sample_row(p, i), row);
        for (int64_t j = 0; j < columns; j++) {
            low[j] = i ? fmin(low[j], row[j]) : row[j];
            high[j] = i ? fmax(high[j], row[j]) : row[j];
        }
    }
    for (int64_t j = 0; j < columns; j++)
        if (high[j] > low[j]) assert_true(fabs(difference[j]) <= 1.01e-9 * (high[j] - low[j]));
    free(row);
    free(difference);
}

/* The hyperplane holds for every row, and half the distance of two points of the hulls bounds any
 * margin from above. */
static void check_hyperplane(const mg_problem *p, const mg_separation *s, double gap) {
    double norm = 0, bound = 0, *difference = malloc((size_t)p->x.columns * sizeof *difference);
    for (int64_t j = 0; j < p->x.columns; j++)
        norm += s->weights[j] * s->weights[j];
    assert_true(fabs(norm - 1) < 1e-12);
    double least = least_margin(p, s);
    assert_true(least > 0);
    assert_true(fabs(least - s->margin) <= 1e-6 * s->margin);
    mean_difference(p, s, difference);
    for (int64_t j = 0; j < p->x.columns; j++)
        bound += difference[j] * difference[j];
    bound = sqrt(bound) / 2;
    assert_true(s->margin <= bound * (1 + 1e-6));
    assert_true(s->margin >= bound * (1 - gap));
    assert_true(s->margin_gap <= gap);
    free(difference);
}

static mg_separation separate(margin_context *context, const mg_problem *p,
                              mg_separation_kind kind) {
    mg_separation s;
    margin_error error = {0};
    margin_status status = mg_separate(context, p, kind, (double)INFINITY, &s, &error);
    if (status < 0) print_error("%s\n", error.text);
    /* what is separable, but not known to be the widest, is said to have stopped */
    assert_int_equal(status, s.verdict == MG_SEPARABLE && s.margin_gap > 1e-6
                                 ? MARGIN_STOPPED_STALLED
                                 : MARGIN_OK);
    return s;
}

static void check(margin_context *context, const mg_problem *p, mg_verdict verdict, double gap) {
    mg_separation s = separate(context, p, MG_SEPARATE_WIDEST);
    assert_int_equal(s.verdict, verdict);
    if (verdict == MG_SEPARABLE)
        check_hyperplane(p, &s, gap);
    else
        check_proof(p, &s);
    mg_separation_free(&s);
}

static mg_problem problem_of(const double *x, const int8_t *sign, int64_t rows, int64_t columns) {
    return (mg_problem){.kind = MG_TWO_CLASS,
                        .x = margin_dense_f64(x, rows, columns, columns),
                        .count = rows,
                        .classes = 2,
                        .sign = sign};
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void textbook_points_have_margin_root_two(void **state) {
    (void)state;
    double x[] = {3, 3, 4, 3, 1, 1};
    int8_t y[] = {1, 1, -1};
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(x, y, 3, 2);
    mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
    assert_close(s.margin, sqrt(2), 1e-14);
    assert_close(s.weights[0], sqrt(0.5), 1e-14);
    assert_close(s.intercept, -2 * sqrt(2), 1e-14);
    mg_separation_free(&s);
    /* over unit (w, b): w = (1/2, 1/2), b = -2 is best up to its norm 3/sqrt(2), least margin 1 */
    s = separate(context, &p, MG_SEPARATE_UNIT);
    assert_close(s.margin, sqrt(2) / 3, 1e-12);
    assert_close(s.intercept / s.weights[0], -4, 1e-10);
    mg_separation_free(&s);
    margin_context_free(context);
}

static void xor_has_the_proof_of_halves(void **state) {
    (void)state;
    double x[] = {0, 0, 1, 1, 0, 1, 1, 0};
    int8_t y[] = {1, 1, -1, -1};
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(x, y, 4, 2);
    mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
    assert_int_equal(s.verdict, MG_NOT_SEPARABLE);
    assert_int_equal(s.count, 4);
    for (int k = 0; k < 4; k++)
        assert_close(s.coefficients[k], 0.5, 1e-14);
    mg_separation_free(&s);
    margin_context_free(context);
}

static void small_cases_are_decided(void **state) {
    (void)state;
    static const struct {
        double x[8];
        int8_t y[4];
        int64_t rows, columns;
        mg_verdict verdict;
    } cases[] = {
        {{0, 1}, {1, -1}, 2, 1, MG_SEPARABLE},
        {{1, 1}, {1, -1}, 2, 1, MG_NOT_SEPARABLE},                            /* a tie */
        {{0, 0, 1, 1, 1, 1, 1, 0}, {1, 1, -1, -1}, 4, 2, MG_NOT_SEPARABLE},   /* a tie among more */
        {{0, 0, 1, 0, 0.5, 0, 0, 1}, {1, 1, -1, -1}, 4, 2, MG_NOT_SEPARABLE}, /* hulls touch */
        {{0, 0, 1, 0, 0.5, 1e-9, 0, 1}, {1, 1, -1, -1}, 4, 2, MG_SEPARABLE},  /* and just not */
        {{1e300, -1e300, 1e299, -1e299}, {1, -1, 1, -1}, 4, 1, MG_SEPARABLE},
        {{1e-300, 2e-300, 3e-300, 4e-300}, {1, 1, -1, -1}, 4, 1, MG_SEPARABLE},
        {{7, 7, 7, 7}, {1, -1, 1, -1}, 4, 1, MG_NOT_SEPARABLE}, /* a constant column */
    };
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        mg_problem p = problem_of(cases[k].x, cases[k].y, cases[k].rows, cases[k].columns);
        mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
        if (s.verdict != cases[k].verdict) print_error("case %d\n", k);
        assert_int_equal(s.verdict, cases[k].verdict);
        mg_separation_free(&s);
    }
    margin_context_free(context);
}

/* A row that both classes have is the proof by itself: no weights of 1e-16 on others. */
static void ties_are_proofs_of_two_rows(void **state) {
    (void)state;
    double x[] = {1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0};
    int8_t y[] = {-1, 1, 1, -1, -1, 1, 1, 1, -1, 1, -1, -1};
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(x, y, 12, 1);
    mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
    assert_int_equal(s.verdict, MG_NOT_SEPARABLE);
    assert_int_equal(s.count, 2);
    assert_true(s.coefficients[0] == 1 && s.coefficients[1] == 1);
    mg_separation_free(&s);
    margin_context_free(context);
}

/* Where a column's range is beyond double precision nothing is claimed. */
static void infinite_ranges_prove_nothing(void **state) {
    (void)state;
    double x[] = {1.7e308, 1, 1.7e308, 2, -1.7e308, 3, -1.7e308, 1};
    int8_t y[] = {1, 1, -1, -1};
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(x, y, 4, 2);
    for (int kind = MG_SEPARATE_WIDEST; kind <= MG_SEPARATE_UNIT; kind++) {
        mg_separation s;
        assert_int_equal(
            mg_separate(context, &p, (mg_separation_kind)kind, (double)INFINITY, &s, NULL),
            MARGIN_STOPPED_STALLED);
        assert_int_equal(s.verdict, MG_UNDECIDED);
        assert_int_equal(s.count, 0);
        assert_true(s.residual > 1);
        mg_separation_free(&s);
    }
    margin_context_free(context);
}

/* Sums of a column may leave the range of numbers although its values do not. */
static void great_values_on_one_side(void **state) {
    (void)state;
    double x[] = {1.5e308, 1.6e308, 1.7e308, 1.4e308};
    int8_t y[] = {1, -1, -1, 1};
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(x, y, 4, 1);
    mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
    assert_int_equal(s.verdict, MG_SEPARABLE);
    assert_true(s.weights[0] == -1);
    assert_true(fabs(s.margin / 5e306 - 1) < 1e-9);
    mg_separation_free(&s);
    margin_context_free(context);
}

/* ---- Random data with a known plane ---------------------------------------------------------- */

typedef struct {
    double *x;
    int8_t *y;
    int64_t rows, columns;
} random_data;

/* Normal rows labelled by a random plane; rows nearer to it than `clearance` are moved away (0:
 * labels partly random). */
static random_data make_random(int64_t rows, int64_t columns, double clearance,
                               double scale_decades) {
    random_data d = {malloc((size_t)(rows * columns) * sizeof(double)), malloc((size_t)rows), rows,
                     columns};
    uint64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        double f = 0, *row = d.x + i * columns;
        for (int64_t j = 0; j < columns; j++) {
            row[j] = mg_random_normal(7, MG_RANDOM_TEST, k++);
            f += row[j] * ((double)(j % 3) - 0.5);
        }
        d.y[i] = f >= 0 ? 1 : -1;
        if (clearance == 0 && i % 10 == 0) d.y[i] = (int8_t)-d.y[i];
        row[0] -= 2 * clearance * d.y[i]; /* the weight of column 0 is -1/2 */
        for (int64_t j = 0; j < columns; j++)
            row[j] = row[j] * pow(10, scale_decades * ((double)j / (double)columns - 0.5)) + 3;
    }
    return d;
}

static void free_random(random_data *d) {
    free(d->x);
    free(d->y);
}

static void random_planes_are_found(void **state) {
    (void)state;
    static const struct {
        int64_t rows, columns;
        double clearance, decades;
    } cases[] = {{50, 3, 0.1, 0},    {50, 3, 0.1, 8},   {400, 20, 0.01, 0}, {400, 20, 0.01, 4},
                 {3000, 8, 1e-3, 0}, {60, 100, 0.1, 0}, {30, 2500, 0.1, 0}};
    margin_context *context = support_context(NULL, 3);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        random_data d =
            make_random(cases[k].rows, cases[k].columns, cases[k].clearance, cases[k].decades);
        mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
        check(context, &p, MG_SEPARABLE, 1e-6);
        free_random(&d);
    }
    margin_context_free(context);
}

static void random_noise_is_refuted(void **state) {
    (void)state;
    static const struct {
        int64_t rows, columns;
        double decades;
    } cases[] = {{200, 3, 0}, {200, 3, 8}, {2000, 40, 0}, {2000, 40, 6}, {2500, 300, 0}};
    margin_context *context = support_context(NULL, 3);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        random_data d = make_random(cases[k].rows, cases[k].columns, 0, cases[k].decades);
        mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
        check(context, &p, MG_NOT_SEPARABLE, 0);
        free_random(&d);
    }
    margin_context_free(context);
}

/* A constant column, however large, says nothing; the unit of all columns does not matter. */
static void units_and_constants_do_not_matter(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const double units[] = {1e-150, 1e-20, 1, 1e20, 1e150};
    static const int64_t widths[] = {4, 2100}; /* the second: without centres */
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < MG_LENGTH(units) * MG_LENGTH(widths); k++) {
        const int64_t columns = widths[k % MG_LENGTH(widths)];
        const double unit = units[k / MG_LENGTH(widths)];
        for (int noise = 0; noise < 2; noise++) {
            const int64_t rows = noise ? 3 * columns : 21;
            random_data d = make_random(rows, 4, noise ? 0 : 0.1, 0);
            double *x = calloc((size_t)(rows * columns), sizeof *x);
            for (int64_t i = 0; i < rows; i++) {
                for (int64_t j = 0; j < 3; j++)
                    x[i * columns + j * (columns / 4)] = d.x[4 * i + j] * unit;
                x[(i + 1) * columns - 1] = 3.3 * unit;
            }
            mg_problem p = problem_of(x, d.y, rows, columns);
            mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
            mg_verdict verdict = s.verdict;
            mg_separation_free(&s);
            assert_int_not_equal(verdict, MG_UNDECIDED);
            if (verdict == MG_SEPARABLE && unit < 1e100)
                check(context, &p, verdict, 1e-6);
            else if (verdict == MG_NOT_SEPARABLE)
                check(context, &p, verdict, 0);
            free(x);
            free_random(&d);
        }
    }
    margin_context_free(context);
}

/* Wide rows with columns of very different size, where rounding once made the search go round in
 * circles. */
static void rounding_does_not_keep_the_search_going(void **state) {
    (void)state;
    enum { rows = 14, used = 5, columns = 3000 };
    static const int32_t where[used] = {68, 740, 936, 1880, 1912};
    static const double x[rows][used] = {
        {100, -2e-7, 0, 0, -1e5},   {200, 2e-7, -2, 1e-3, 0}, {-100, -1e-7, 0, 2e-3, 0},
        {0, 2e-7, -1, -1e-3, -2e5}, {0, 0, 0, 0, 1e5},        {0, 2e-7, 0, -1e-3, 0},
        {200, 2e-7, 1, 1e-3, 2e5},  {200, 0, -1, -2e-3, 1e5}, {0, 0, 0, 0, -1e5},
        {0, 1e-7, 0, 0, 0},         {100, 0, 2, 0, -2e5},     {100, -2e-7, 0, 2e-3, 0},
        {0, -1e-7, -2, 0, -1e5},    {0, 1e-7, 0, 0, 0}};
    static const int8_t y[rows] = {1, -1, 1, -1, 1, -1, -1, -1, 1, -1, -1, 1, 1, -1};
    int32_t indices[rows * used];
    int64_t starts[rows + 1];
    for (int k = 0; k < rows * used; k++)
        indices[k] = where[k % used];
    for (int i = 0; i <= rows; i++)
        starts[i] = (int64_t)i * used;
    margin_context *context = support_context(NULL, 1);
    mg_problem p = problem_of(NULL, y, rows, columns);
    p.x = margin_csr_f64(&x[0][0], indices, starts, rows, columns);
    mg_separation s = separate(context, &p, MG_SEPARATE_WIDEST);
    assert_int_equal(s.verdict, MG_SEPARABLE);
    assert_true(least_margin(&p, &s) > 0.999e-8);
    mg_separation_free(&s);
    margin_context_free(context);
}

/* The unit margin is below the widest one, and both agree with the bounds that relate them. */
static void unit_margin_relates_to_widest(void **state) {
    (void)state;
    random_data d = make_random(300, 5, 0.05, 0);
    margin_context *context = support_context(NULL, 2);
    mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
    mg_separation widest = separate(context, &p, MG_SEPARATE_WIDEST);
    mg_separation unit = separate(context, &p, MG_SEPARATE_UNIT);
    double norm = unit.intercept * unit.intercept;
    for (int64_t j = 0; j < d.columns; j++)
        norm += unit.weights[j] * unit.weights[j];
    assert_close(norm, 1, 1e-12);
    assert_close(least_margin(&p, &unit), unit.margin, 1e-12);
    assert_true(unit.margin <= widest.margin);
    assert_true(unit.margin >= widest.margin / hypot(1, widest.intercept) * (1 - 1e-12));
    mg_separation_free(&widest);
    mg_separation_free(&unit);
    margin_context_free(context);
    free_random(&d);
}

/* ---- Layouts, threads, failures -------------------------------------------------------------- */

static void layouts_and_threads_agree(void **state) {
    (void)state;
    enum { rows = 700, columns = 12 };
    random_data d = make_random(rows, columns, 0.02, 0);
    int32_t *indices = malloc(rows * columns * sizeof *indices);
    int64_t starts[rows + 1];
    for (int64_t k = 0; k < rows * columns; k++)
        indices[k] = (int32_t)(k % columns);
    for (int64_t i = 0; i <= rows; i++)
        starts[i] = i * columns;
    mg_problem dense = problem_of(d.x, d.y, rows, columns), sparse = dense;
    sparse.x = margin_csr_f64(d.x, indices, starts, rows, columns);
    mg_separation first = {0};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        mg_separation a = separate(context, &dense, MG_SEPARATE_WIDEST);
        mg_separation b = separate(context, &sparse, MG_SEPARATE_WIDEST);
        assert_close(a.margin, b.margin, 1e-9);
        if (threads == 1) {
            first = a;
        } else {
            assert_memory_equal(a.weights, first.weights, columns * sizeof(double));
            assert_true(a.intercept == first.intercept && a.margin == first.margin);
            mg_separation_free(&a);
        }
        mg_separation_free(&b);
        margin_context_free(context);
    }
    mg_separation_free(&first);
    free(indices);
    free_random(&d);
}

/* So many columns that points stay rows: of sparse ones only what is stored is read. */
static void wide_sparse_rows_are_as_dense_ones(void **state) {
    (void)state;
    enum { rows = 120, columns = 2400, stored = 6 };
    double *x = calloc((size_t)rows * columns, sizeof *x), values[rows * stored];
    int32_t indices[rows * stored];
    int64_t starts[rows + 1] = {0};
    int8_t y[rows];
    uint64_t random = 8;
    for (int k = 0; k < rows * stored; k++) { /* some columns in many rows, as words are */
        const int slot = k % stored;
        const double place = slot < 2 ? 6.0 : 400.0;
        indices[k] = slot * 400 + (int32_t)(place * support_uniform(&random));
        values[k] = 0.2 + support_uniform(&random);
        x[(k / stored) * columns + indices[k]] = values[k];
    }
    margin_context *context = support_context(NULL, 2);
    for (int i = 0; i < rows; i++) {
        y[i] = support_uniform(&random) < 0.5 ? 1 : -1;
        starts[i + 1] = (i + 1) * stored;
    }
    for (int contradicting = 0; contradicting < 2; contradicting++) {
        mg_problem dense = problem_of(x, y, rows, columns), sparse = dense;
        sparse.x = margin_csr_f64(values, indices, starts, rows, columns);
        for (int kind = 0; kind < 2; kind++) {
            mg_separation a = separate(context, &dense, (mg_separation_kind)kind);
            mg_separation b = separate(context, &sparse, (mg_separation_kind)kind);
            assert_int_equal(a.verdict, contradicting ? MG_NOT_SEPARABLE : MG_SEPARABLE);
            assert_int_equal(b.verdict, a.verdict);
            if (!contradicting) assert_close(b.margin, a.margin, 1e-9);
            if (!contradicting) assert_true(b.margin_gap <= 1e-6);
            mg_separation_free(&a);
            mg_separation_free(&b);
        }
        for (int k = 0; k < stored; k++) { /* the first two rows become equal */
            x[indices[k]] = x[columns + indices[stored + k]] = 0.0;
            indices[stored + k] = indices[k];
            values[stored + k] = values[k];
            x[indices[k]] = x[columns + indices[k]] = values[k];
        }
        y[1] = (int8_t)-y[0];
    }
    margin_context_free(context);
    free(x);
}

/* An index view answers as the copied rows do. */
static void index_views_equal_copies(void **state) {
    (void)state;
    random_data d = make_random(200, 4, 0.05, 0);
    int64_t index[100];
    int8_t sign[100];
    double copy[400];
    for (int i = 0; i < 100; i++) {
        index[i] = 199 - 2 * i;
        sign[i] = d.y[index[i]];
        memcpy(copy + 4 * i, d.x + 4 * index[i], 4 * sizeof(double));
    }
    margin_context *context = support_context(NULL, 2);
    mg_problem view = problem_of(d.x, sign, 200, 4), gathered = problem_of(copy, sign, 100, 4);
    view.index = index;
    view.count = 100;
    mg_separation a = separate(context, &view, MG_SEPARATE_WIDEST);
    mg_separation b = separate(context, &gathered, MG_SEPARATE_WIDEST);
    assert_memory_equal(a.weights, b.weights, 4 * sizeof(double));
    mg_separation_free(&a);
    mg_separation_free(&b);
    margin_context_free(context);
    free_random(&d);
}

/* What a search read is enough for it, bit for bit; less is not, and then nothing is claimed. */
static void the_work_may_be_limited(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    for (int noisy = 0; noisy < 2; noisy++) {
        random_data d = make_random(3000, 20, noisy ? 0 : 0.05, 0);
        mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
        mg_separation whole = separate(context, &p, MG_SEPARATE_UNIT), again, less;
        assert_true(whole.verdict != MG_UNDECIDED && whole.work > 0);
        assert_int_equal(
            mg_separate(context, &p, MG_SEPARATE_UNIT, whole.work, &again, &(margin_error){0}),
            MARGIN_OK);
        assert_memory_equal(again.weights, whole.weights, sizeof(double) * 20);
        assert_true(again.work == whole.work);
        assert_int_equal(
            mg_separate(context, &p, MG_SEPARATE_UNIT, 0.9 * whole.work, &less, &(margin_error){0}),
            MARGIN_STOPPED_ITERATIONS);
        assert_true(less.work < whole.work);
        assert_int_equal(less.verdict, noisy ? MG_UNDECIDED : MG_SEPARABLE);
        assert_true(noisy || less.margin_gap > 1e-6);
        mg_separation_free(&whole);
        mg_separation_free(&again);
        mg_separation_free(&less);
        free_random(&d);
    }
    margin_context_free(context);
}

static margin_status separate_body(margin_context *context, void *user, margin_error *error) {
    mg_separation s;
    margin_status status =
        mg_separate(context, user, MG_SEPARATE_WIDEST, (double)INFINITY, &s, error);
    if (status >= 0) mg_separation_free(&s);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    random_data d = make_random(60, 5, 0.05, 0);
    mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
    assert_true(support_fail_each_allocation(2, separate_body, &p) > 10);
    free_random(&d);
}

static void cancel_ends_the_search(void **state) {
    (void)state;
    random_data d = make_random(60, 5, 0.05, 0);
    mg_problem p = problem_of(d.x, d.y, d.rows, d.columns);
    margin_context *context = support_context(NULL, 2);
    margin_context_cancel(context);
    mg_separation s;
    margin_error error = {0};
    assert_int_equal(mg_separate(context, &p, MG_SEPARATE_WIDEST, (double)INFINITY, &s, &error),
                     MARGIN_ERROR_CANCELLED);
    assert_true(error.text[0] != 0);
    margin_context_free(context);
    free_random(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(textbook_points_have_margin_root_two),
        cmocka_unit_test(xor_has_the_proof_of_halves),
        cmocka_unit_test(small_cases_are_decided),
        cmocka_unit_test(ties_are_proofs_of_two_rows),
        cmocka_unit_test(infinite_ranges_prove_nothing),
        cmocka_unit_test(great_values_on_one_side),
        cmocka_unit_test(units_and_constants_do_not_matter),
        cmocka_unit_test(rounding_does_not_keep_the_search_going),
        cmocka_unit_test(random_planes_are_found),
        cmocka_unit_test(random_noise_is_refuted),
        cmocka_unit_test(unit_margin_relates_to_widest),
        cmocka_unit_test(layouts_and_threads_agree),
        cmocka_unit_test(index_views_equal_copies),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(cancel_ends_the_search),
        cmocka_unit_test(the_work_may_be_limited),
        cmocka_unit_test(wide_sparse_rows_are_as_dense_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
