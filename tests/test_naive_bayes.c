/* Naive Bayes against a textbook example, scikit-learn, and an oracle of plain loops over columns
 * of every distribution with gaps, weights and zero counts. */
#include "hostile_tensors.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;
#define OK(expression)                                                                             \
    do {                                                                                           \
        if ((expression) < 0) fail_msg("%s", error.text);                                          \
    } while (0)

/* ---- A textbook example ---------------------------------------------------------------------- */

/* x1 numbers, x2 categories S M L, y: 0 is -, 1 is +. */
static const double book_x[30] = {1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 2, 0, 2, 1, 2,
                                  1, 2, 2, 2, 2, 3, 2, 3, 1, 3, 1, 3, 2, 3, 2};
static const double book_y[15] = {0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0};
static const char *const sizes[] = {"S", "M", "L"}, *const signs[] = {"-", "+"};
static const margin_column book_columns[2] = {
    {.name = "x1"},
    {.name = "x2", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3}};
static const margin_column book_target = {
    .name = "y", .kind = MARGIN_CATEGORICAL, .categories = signs, .category_count = 2};

static margin_data book_data(void) {
    return (margin_data){.x = margin_dense_f64(book_x, 15, 2, 2),
                         .y = margin_values_f64(book_y, 15),
                         .columns = book_columns,
                         .target = &book_target};
}

/* Class number of - and +: by name, '+' comes first. */
enum { PLUS, MINUS };

static void test_textbook(void **state) {
    margin_context *context = *state;
    margin_data data = book_data();
    const double query[2] = {2, 0};
    const margin_matrix x = margin_dense_f64(query, 1, 2, 2);
    double scores[2], p[2];
    int64_t label;
    margin_model *model =
        fit_text(context, "naive-bayes(smoothing=0, distribution=categorical)", &data, NULL);
    assert_string_equal(margin_model_class_name(model, PLUS), "+");
    OK(margin_scores(model, &x, scores, &error));
    assert_close(exp(scores[PLUS]), 1.0 / 45, 1e-14);
    assert_close(exp(scores[MINUS]), 1.0 / 15, 1e-14);
    margin_model_free(model);
    model = fit_text(context, "naive-bayes(categorical=x1)", &data, NULL);
    OK(margin_scores(model, &x, scores, &error));
    assert_close(exp(scores[PLUS]), 10.0 / 17 * 4 / 12 * 2 / 12, 1e-14); /* 0.0327 */
    assert_close(exp(scores[MINUS]), 7.0 / 17 * 3 / 9 * 4 / 9, 1e-14);   /* 0.0610 */
    OK(margin_predict(model, &x, &label, &error));
    assert_int_equal(label, MINUS);
    OK(margin_probabilities(model, &x, p, &error));
    assert_close(p[MINUS], 0.0610 / (0.0610 + 0.0327), 1e-3);
    assert_close(p[PLUS] + p[MINUS], 1, 1e-15);
    margin_model_free(model);
}

/* What the model says of a class and column: counts and probabilities of the levels. */
static void assert_table(const margin_model *model, int64_t k, int64_t j, const double counts[3],
                         double smoothing) {
    const double total = counts[0] + counts[1] + counts[2];
    margin_likelihood l = {0};
    double p[3];
    assert_int_equal(margin_model_likelihood(model, k, j, &l, 3, p), 1);
    assert_int_equal(l.distribution, MARGIN_DISTRIBUTION_CATEGORICAL);
    assert_int_equal(l.levels, 3);
    assert_true(l.total == total && isnan(l.p) && isnan(l.count) && isnan(l.mean));
    for (int a = 0; a < 3; a++) {
        assert_true(l.counts[a] == counts[a]);
        assert_close(p[a], (counts[a] + smoothing) / (total + 3 * smoothing), 1e-15);
        if (j == 0) assert_true(l.values[a] == a + 1);
    }
    if (j == 1) assert_null(l.values);
}

static void test_textbook_tables(void **state) {
    margin_data data = book_data();
    const double x1[2][3] = {{2, 3, 4}, {3, 2, 1}}, x2[2][3] = {{1, 4, 4}, {3, 2, 1}};
    margin_likelihood l = {.levels = 77};
    double weight, p[3] = {5, 5, 5};
    for (int lambda = 0; lambda < 2; lambda++) {
        margin_model *model = fit_text(*state,
                                       lambda ? "naive-bayes(categorical=x1)"
                                              : "naive-bayes(smoothing=0, categorical=x1)",
                                       &data, NULL);
        assert_close(margin_model_prior(model, PLUS, NULL), lambda ? 10.0 / 17 : 0.6, 1e-15);
        assert_close(margin_model_prior(model, MINUS, &weight), lambda ? 7.0 / 17 : 0.4, 1e-15);
        assert_true(weight == 6);
        for (int k = PLUS; k <= MINUS; k++) {
            assert_table(model, k, 0, x1[k], lambda);
            assert_table(model, k, 1, x2[k], lambda);
        }
        margin_model_free(model);
    }
    margin_model *model =
        fit_text(*state, "naive-bayes(prior_smoothing=0, categorical=x1)", &data, NULL);
    margin_report found = {0};
    assert_close(margin_model_prior(model, PLUS, NULL), 0.6, 1e-15);
    assert_table(model, PLUS, 0, x1[PLUS], 1); /* the rest is smoothed */
    assert_int_equal(margin_verify(*state, model, &data, &found, NULL), MARGIN_OK);
    margin_model_free(model);
    model = fit_text(*state, "naive-bayes(smoothing=0, prior_smoothing=3)", &data, NULL);
    assert_close(margin_model_prior(model, PLUS, NULL), 12.0 / 21, 1e-15);
    assert_int_equal(margin_verify(*state, model, &data, &found, NULL), MARGIN_OK);
    margin_model_free(model);
    model = fit_text(*state, "naive-bayes(priors=\"0.9 0.1\")", &data, NULL);
    assert_true(margin_model_prior(model, MINUS, &weight) == 0.1 && weight == 6);
    assert_true(isnan(margin_model_prior(model, 2, NULL)));
    assert_true(isnan(margin_model_prior(model, -1, NULL)));
    /* no more levels than there is room for, and nothing where there is nothing */
    assert_int_equal(margin_model_likelihood(model, 0, 2, &l, 3, p), 0);
    assert_int_equal(margin_model_likelihood(model, 0, -1, &l, 3, p), 0);
    assert_int_equal(margin_model_likelihood(model, 2, 0, &l, 3, p), 0);
    assert_int_equal(margin_model_likelihood(model, -1, 0, &l, 3, p), 0);
    assert_true(l.levels == 77 && p[0] == 5);
    assert_int_equal(margin_model_likelihood(model, 0, 1, &l, 2, p), 1);
    assert_true(l.levels == 3 && p[1] < 1 && p[2] == 5);
    assert_int_equal(margin_model_likelihood(model, 0, 1, &l, 0, NULL), 1);
    margin_model_free(model);
    model = fit_text(*state, "onehot | logistic", &data, NULL);
    assert_true(isnan(margin_model_prior(model, 0, NULL)));
    assert_int_equal(margin_model_likelihood(model, 0, 0, &l, 0, NULL), 0);
    margin_model_free(model);
}

/* ---- scikit-learn 1.9 ------------------------------------------------------------------------ */

enum { ROWS = 40, COLUMNS = 4 };

typedef struct {
    double x[ROWS * COLUMNS], counts[ROWS * COLUMNS], y[ROWS], weights[ROWS];
} formula;

static void fill_formula(formula *f) {
    for (int i = 0; i < ROWS; i++) {
        f->y[i] = i * 5 % 7 % 3;
        f->weights[i] = 1 + (i % 3) / 2.0;
        for (int j = 0; j < COLUMNS; j++) {
            const int value = (i * 7 + j * 13 + i * j * 3) % 17;
            f->x[i * COLUMNS + j] = value / 4.0;
            f->counts[i * COLUMNS + j] = value % 5;
        }
    }
}

/* Scores of rows 0, 7 and 39. */
static void assert_scores(margin_context *context, const char *spec, const margin_data *data,
                          const double expected[9]) {
    const int rows[3] = {0, 7, 39};
    margin_model *model = fit_text(context, spec, data, NULL);
    double *scores = scores_of(model, &data->x);
    for (int q = 0; q < 3; q++)
        for (int k = 0; k < 3; k++)
            assert_close(scores[rows[q] * 3 + k], expected[q * 3 + k], 1e-12);
    free(scores);
    margin_model_free(model);
}

static void test_scikit_learn(void **state) {
    formula f;
    fill_formula(&f);
    margin_data data = {.x = margin_dense_f64(f.x, ROWS, COLUMNS, COLUMNS),
                        .y = margin_values_f64(f.y, ROWS)};
    const double gaussian[9] = {-7.9411711160136829, -7.5635172085883964, -6.7185718117376139,
                                -10.105083171979976, -9.5720467427564788, -11.066986963781872,
                                -8.314119789156031,  -8.2420530846392666, -7.1258478546493995};
    assert_scores(*state, "naive-bayes", &data, gaussian);
    const double weighted[9] = {-8.2771837301190985, -7.3604666620293546, -6.6176809485518397,
                                -9.9393749283806727, -10.263743317187686, -10.684461071328863,
                                -8.64183175011663,   -7.8654985194535252, -7.1658622275035722};
    data.weights = margin_values_f64(f.weights, ROWS);
    assert_scores(*state, "naive-bayes", &data, weighted);

    data = (margin_data){.x = margin_dense_f64(f.counts, ROWS, COLUMNS, COLUMNS),
                         .y = margin_values_f64(f.y, ROWS)};
    const double multinomial[9] = {-11.997671035355529, -9.8793079714395269, -10.478133465206712,
                                   -1.6094379124341003, -1.2039728043259361, -0.69314718055994529,
                                   -7.2338360239636454, -6.4795296231192658, -6.2845679146438123};
    assert_scores(*state,
                  "naive-bayes(distribution=multinomial, smoothing=0.5, priors=\"0.2 0.3 0.5\")",
                  &data, multinomial);
    const double categorical[9] = {-8.4287711547491728, -6.6888374804623059, -7.1022707582196469,
                                   -7.5584175180620434, -7.0253097170835179, -7.1022707582196469,
                                   -7.7254716027252091, -7.0253097170835179, -6.429326284977221};
    assert_scores(*state,
                  "naive-bayes(distribution=categorical, smoothing=0.5, priors=\"0.2 0.3 0.5\")",
                  &data, categorical);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        f.counts[k] = f.counts[k] > 2 ? 1 : 0;
    const double bernoulli[9] = {-4.9259494892214368, -3.6546415874706968, -3.5948129450748691,
                                 -3.3740814286088145, -2.9767618790415398, -2.5731616975428877,
                                 -3.3740814286088145, -2.9767618790415398, -2.5731616975428877};
    assert_scores(*state,
                  "naive-bayes(distribution=bernoulli, smoothing=0.5, priors=\"0.2,0.3,0.5\")",
                  &data, bernoulli);
}

/* ---- The oracle: columns of every distribution, gaps, weights -------------------------------- */

/* Columns: c codes (3), v values {-1.5, 2, 7}, g1 g2 gaussian, b1 b2 bernoulli, m1 m2 m3
 * multinomial. */
enum { CODES, VALUES, G1, G2, B1, B2, M1, M2, M3, MIXED };
static const char *const mixed_names[MIXED] = {"c", "v", "g1", "g2", "b1", "b2", "m1", "m2", "m3"};
static const double listed[3] = {-1.5, 2, 7};

typedef struct {
    int64_t rows;
    double *x, *y, *w;
    margin_column columns[MIXED];
} mixed;

static const char mixed_options[] = "categorical=v, bernoulli=\"b1,b2\", multinomial=\"m1,m2,m3\"";

static mixed mixed_make(int64_t rows, double gaps, uint64_t seed) {
    mixed m = {.rows = rows,
               .x = calloc((size_t)(rows * MIXED), sizeof(double)),
               .y = calloc((size_t)rows, sizeof(double)),
               .w = calloc((size_t)rows, sizeof(double))};
    for (int j = 0; j < MIXED; j++)
        m.columns[j] = (margin_column){.name = mixed_names[j]};
    m.columns[CODES] = (margin_column){
        .name = "c", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3};
    for (int64_t i = 0; i < rows; i++) {
        const int k = (int)(i % 3);
        double *x = m.x + i * MIXED;
        m.y[i] = k;
        m.w[i] = 0.5 + (double)(i % 4) / 4;
        x[CODES] = (double)((support_random(&seed) % 4 + (uint64_t)k) % 3);
        x[VALUES] = listed[(support_random(&seed) % 5 + (uint64_t)k) % 3];
        x[G1] = support_normal(&seed) + k;
        x[G2] = 5 * support_normal(&seed) - 100 * k;
        x[B1] = support_uniform(&seed) < 0.2 + 0.3 * k;
        x[B2] = support_uniform(&seed) < 0.5 ? 0 : 2.5;
        for (int j = M1; j <= M3; j++)
            x[j] = (double)(support_random(&seed) % (uint64_t)(2 + k + j - M1));
        for (int j = 0; j < MIXED; j++)
            if (support_uniform(&seed) < gaps) x[j] = (double)NAN;
    }
    return m;
}

static void mixed_free(mixed *m) {
    free(m->x);
    free(m->y);
    free(m->w);
}

static margin_data mixed_data(const mixed *m) {
    return (margin_data){.x = margin_dense_f64(m->x, m->rows, MIXED, MIXED),
                         .y = margin_values_f64(m->y, m->rows),
                         .weights = margin_values_f64(m->w, m->rows),
                         .columns = m->columns};
}

/* Weight of the rows of class k for which column j is there and `test` of its value holds. */
static double weight_where(const mixed *m, int k, int j, double value) {
    double sum = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        const double x = m->x[i * MIXED + j];
        if ((int)m->y[i] != k || isnan(x)) continue;
        if (isnan(value) || x == value || (isinf(value) && x > 0)) sum += m->w[i];
    }
    return sum;
}

static double plain_gaussian(const mixed *m, int k, int j, double value) {
    double variances[2] = {0, 0}, all[4][3] = {{0}};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < m->rows; i++)
            for (int g = G1; g <= G2; g++) {
                const double x = m->x[i * MIXED + g];
                if (isnan(x)) continue;
                for (int own = 0; own < 2; own++) { /* all classes; this class and column */
                    double *sums = all[own ? 3 : g - G1];
                    if (own && ((int)m->y[i] != k || g != j)) continue;
                    if (pass == 0) {
                        sums[0] += m->w[i];
                        sums[1] += m->w[i] * x;
                    } else {
                        const double away = x - sums[1] / sums[0];
                        sums[2] += m->w[i] * away * away;
                    }
                }
            }
    for (int g = 0; g < 2; g++)
        variances[g] = all[g][2] / all[g][0];
    const double mean = all[3][1] / all[3][0];
    const double variance = all[3][2] / all[3][0] + 1e-9 * fmax(variances[0], variances[1]);
    return -0.5 * log(2 * acos(-1.0) * variance) - (value - mean) * (value - mean) / 2 / variance;
}

static double plain_score(const mixed *m, const double *x, int k, double lambda) {
    double total = 0, own = 0, words = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        total += m->w[i];
        if ((int)m->y[i] != k) continue;
        own += m->w[i];
        for (int j = M1; j <= M3; j++)
            if (!isnan(m->x[i * MIXED + j])) words += m->w[i] * m->x[i * MIXED + j];
    }
    double score = log((own + lambda) / (total + 3 * lambda));
    for (int j = 0; j < MIXED; j++) {
        if (isnan(x[j])) continue;
        const double there = weight_where(m, k, j, (double)NAN);
        if (j <= VALUES) {
            score += log((weight_where(m, k, j, x[j]) + lambda) / (there + 3 * lambda));
        } else if (j <= G2) {
            score += plain_gaussian(m, k, j, x[j]);
        } else if (j <= B2) {
            const double ones = weight_where(m, k, j, (double)INFINITY);
            score += log(((x[j] > 0 ? ones : there - ones) + lambda) / (there + 2 * lambda));
        } else if (x[j] > 0) {
            double sum = 0;
            for (int64_t i = 0; i < m->rows; i++)
                if ((int)m->y[i] == k && !isnan(m->x[i * MIXED + j]))
                    sum += m->w[i] * m->x[i * MIXED + j];
            score += x[j] * log((sum + lambda) / (words + 3 * lambda));
        }
    }
    return score;
}

/* Parameters again from the raw rows. */
static void assert_likelihoods(const mixed *m, const margin_model *model, double lambda) {
    margin_likelihood l = {0};
    double p[3], weight;
    for (int k = 0; k < 3; k++) {
        double rows = 0, words = 0;
        for (int64_t i = 0; i < m->rows; i++) {
            if ((int)m->y[i] != k) continue;
            rows += m->w[i];
            for (int j = M1; j <= M3; j++)
                words += isnan(m->x[i * MIXED + j]) ? 0 : m->w[i] * m->x[i * MIXED + j];
        }
        (void)margin_model_prior(model, k, &weight);
        assert_close(weight, rows, 1e-12);
        for (int j = 0; j < MIXED; j++) {
            const double there = weight_where(m, k, j, (double)NAN);
            double sum = 0;
            assert_int_equal(margin_model_likelihood(model, k, j, &l, 3, p), 1);
            assert_close(l.total, j < M1 ? there : words, 1e-12);
            for (int a = 0; a < 3 && j <= VALUES; a++) {
                const double count = weight_where(m, k, j, j == CODES ? a : listed[a]);
                assert_close(l.counts[a], count, 1e-12);
                assert_close(p[a], (count + lambda) / (there + 3 * lambda), 1e-12);
            }
            if (j == G1 || j == G2) {
                const double at = -0.5 * log(2 * acos(-1.0)) - log(l.deviation);
                assert_int_equal(l.distribution, MARGIN_DISTRIBUTION_GAUSSIAN);
                assert_close(plain_gaussian(m, k, j, l.mean), at, 1e-11);
                assert_close(plain_gaussian(m, k, j, l.mean + l.deviation), at - 0.5, 1e-11);
            } else if (j == B1 || j == B2) {
                assert_int_equal(l.distribution, MARGIN_DISTRIBUTION_BERNOULLI);
                assert_close(l.count, weight_where(m, k, j, (double)INFINITY), 1e-12);
                assert_close(l.p, (l.count + lambda) / (there + 2 * lambda), 1e-12);
            } else if (j >= M1) {
                for (int64_t i = 0; i < m->rows; i++)
                    if ((int)m->y[i] == k && !isnan(m->x[i * MIXED + j]))
                        sum += m->w[i] * m->x[i * MIXED + j];
                assert_int_equal(l.distribution, MARGIN_DISTRIBUTION_MULTINOMIAL);
                assert_close(l.count, sum, 1e-12);
                assert_close(l.p, (sum + lambda) / (words + 3 * lambda), 1e-12);
            }
        }
    }
}

static void test_oracle(void **state) {
    for (int run = 0; run < 4; run++) {
        char spec[200];
        mixed m = mixed_make(60, run & 1 ? 0.15 : 0, (uint64_t)(90 + run));
        margin_data data = mixed_data(&m);
        const double lambda = run < 2 ? 1 : 0.125;
        snprintf(spec, sizeof spec, "naive-bayes(smoothing=%s, %s)", run < 2 ? "1" : "0.125",
                 mixed_options);
        margin_report report = {0}, found = {0};
        margin_model *model = fit_text(*state, spec, &data, &report);
        double *scores = scores_of(model, &data.x);
        for (int64_t i = 0; i < m.rows; i++)
            for (int k = 0; k < 3; k++)
                assert_close(scores[i * 3 + k], plain_score(&m, m.x + i * MIXED, k, lambda), 1e-11);
        assert_likelihoods(&m, model, lambda);
        OK(margin_verify(*state, model, &data, &found, &error));
        assert_true(found.gap < 1e-12);
        assert_close(found.objective, report.objective, 1e-12);
        double missing = 0;
        for (int64_t n = 0; n < m.rows * MIXED; n++)
            if (isnan(m.x[n])) missing += m.w[n / MIXED];
        assert_close(margin_report_item_value(&report, "missing_values"), missing, 1e-12);
        /* other rows are not what it was trained on */
        m.x[MIXED + G1] += 3;
        assert_int_equal(margin_verify(*state, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
        m.x[MIXED + G1] -= 3;
        m.x[CODES] = isnan(m.x[CODES]) ? 1 : (double)NAN;
        assert_int_equal(margin_verify(*state, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
        free(scores);
        margin_model_free(model);
        mixed_free(&m);
    }
}

/* The objective is the least: other probabilities cost more. Moved counts are other probabilities,
 * and a model of them, verified against the first rows, has the gap that lies between. */
static void test_optimum(void **state) {
    mixed m = mixed_make(90, 0.1, 5), other = mixed_make(90, 0.1, 6);
    margin_data data = mixed_data(&m), others = mixed_data(&other);
    char spec[200];
    margin_report report = {0}, found = {0};
    snprintf(spec, sizeof spec, "naive-bayes(%s)", mixed_options);
    margin_model *model = fit_text(*state, spec, &data, &report);
    margin_model *moved = fit_text(*state, spec, &others, NULL);
    assert_int_equal(margin_verify(*state, moved, &data, &found, &error), MARGIN_STOPPED_STALLED);
    assert_true(found.gap > 1e-4);
    assert_true(found.objective > report.objective);
    /* up to what var_smoothing adds, which is another number there */
    assert_close(found.objective * (1 - found.gap), report.objective, 1e-6);
    margin_model_free(moved);
    margin_model_free(model);
    mixed_free(&m);
    mixed_free(&other);
}

/* ---- Layouts, threads ------------------------------------------------------------------------ */

/* Sparse data: the zeros of every distribution, gaps among the stored values. */
static void test_sparse(void **state) {
    const char *const specs[] = {"naive-bayes", "naive-bayes(distribution=categorical)",
                                 "naive-bayes(distribution=bernoulli)",
                                 "naive-bayes(distribution=multinomial)",
                                 "naive-bayes(categorical=2, bernoulli=3, multinomial=\"1,5\")"};
    sample *s = sample_make(200, 6, 3, 0.1, 8);
    uint64_t seed = 4;
    for (int64_t k = 0; k < 200 * 6; k++) { /* counts, some missing */
        s->f64[k] = fabs(s->f64[k]) > 1 ? floor(fabs(4 * s->f64[k])) / 4 : 0;
        if (s->f64[k] > 0 && support_uniform(&seed) < 0.05) s->f64[k] = (double)NAN;
    }
    int64_t stored = 0;
    for (int64_t i = 0; i < 200; i++) {
        s->start_i64[i] = stored;
        for (int64_t j = 0; j < 6; j++) {
            const double value = s->f64[i * 6 + j];
            if (value == 0) continue;
            s->stored_f64[stored] = value;
            s->index_i32[stored++] = (int32_t)j;
        }
    }
    s->start_i64[200] = stored;
    for (size_t n = 0; n < sizeof specs / sizeof specs[0]; n++) {
        margin_data dense = sample_data(s, DENSE_F64), sparse = sample_data(s, CSR_F64_I32_I64);
        margin_report reports[2] = {0}, found = {0};
        margin_model *a = fit_text(*state, specs[n], &dense, &reports[0]);
        margin_model *b = fit_text(*state, specs[n], &sparse, &reports[1]);
        double *left = scores_of(a, &dense.x), *right = scores_of(b, &sparse.x),
               *other = scores_of(a, &sparse.x);
        for (int64_t k = 0; k < 200 * 3; k++) {
            assert_close(left[k], right[k], 1e-11);
            assert_close(left[k], other[k], 1e-12);
        }
        assert_close(reports[0].objective, reports[1].objective, 1e-12);
        for (int64_t j = 0; j < 6; j++) {
            margin_likelihood la = {0}, lb = {0};
            double pa[64] = {0}, pb[64] = {0};
            assert_int_equal(margin_model_likelihood(a, 1, j, &la, 64, pa), 1);
            assert_int_equal(margin_model_likelihood(b, 1, j, &lb, 64, pb), 1);
            assert_int_equal(la.distribution, lb.distribution);
            assert_close(la.total, lb.total, 1e-12);
            for (int level = 0; level < 64; level++)
                assert_close(pa[level], pb[level], 1e-12);
            if (!isnan(la.p)) assert_close(la.p, lb.p, 1e-12);
            if (isnan(la.mean)) continue;
            assert_close(la.mean, lb.mean, 1e-12);
            assert_close(la.deviation, lb.deviation, 1e-12);
        }
        assert_int_equal(margin_verify(*state, b, &sparse, &found, &error), MARGIN_OK);
        free(left);
        free(right);
        free(other);
        margin_model_free(a);
        margin_model_free(b);
    }
    sample_free(s);
}

static void test_threads(void **state) {
    (void)state;
    mixed m = mixed_make(9000, 0.0, 77);
    m.x[7000 * MIXED + G2] = (double)NAN; /* one block value by value, the others not */
    char spec[200];
    snprintf(spec, sizeof spec, "naive-bayes(%s)", mixed_options);
    margin_model *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_data data = mixed_data(&m);
        margin_model *model = fit_text(context, spec, &data, NULL);
        if (!first) {
            margin_report found = {0};
            assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
            first = model;
        } else {
            assert_same_model(first, model);
            margin_model_free(model);
        }
        margin_context_free(context);
    }
    margin_model_free(first);
    mixed_free(&m);
}

/* Variances that E[x^2] - E[x]^2 would lose, and means a million deviations from each other. */
static void test_far_from_zero(void **state) {
    enum { N = 3000 };
    double *x = malloc(2 * N * sizeof *x), *near = malloc(2 * N * sizeof *near), y[N];
    uint64_t seed = 12;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        near[2 * i] = floor(64 * support_normal(&seed)) / 64 + (i % 2);
        near[2 * i + 1] = floor(64 * support_normal(&seed)) / 64;
        x[2 * i] = near[2 * i] + 0x1p40;
        x[2 * i + 1] = near[2 * i + 1] - 0x1p38;
    }
    margin_data data = {.x = margin_dense_f64(x, N, 2, 2), .y = margin_values_f64(y, N)};
    margin_data close = {.x = margin_dense_f64(near, N, 2, 2), .y = margin_values_f64(y, N)};
    margin_model *far = fit_text(*state, "naive-bayes", &data, NULL);
    margin_model *at_hand = fit_text(*state, "naive-bayes", &close, NULL);
    double *a = scores_of(far, &data.x), *b = scores_of(at_hand, &close.x);
    for (int k = 0; k < 2 * N; k++) /* the means themselves are rounded at 2^40 */
        assert_close(a[k], b[k], 2e-3);
    free(a);
    free(b);
    free(x);
    free(near);
    margin_model_free(far);
    margin_model_free(at_hand);
}

/* The last digits of far means, beside variances of nearly 0, are no false claim. */
static void test_far_single_rows(void **state) {
    enum { N = 5, WIDE = 6 };
    static const double y[N] = {0, 1, 2, 3, 4};
    static const double weights[N] = {0.7003, 0.8086, 0.3777, 0.8166, 0.3663};
    double x[N * WIDE];
    uint64_t seed = 3;
    for (int k = 0; k < N * WIDE; k++)
        x[k] = 1e9 + support_normal(&seed);
    margin_data data = {.x = margin_dense_f64(x, N, WIDE, WIDE), .y = margin_values_f64(y, N)};
    data.weights = margin_values_f64(weights, N);
    margin_model *model = fit_text(*state, "naive-bayes", &data, NULL);
    margin_report found = {0};
    margin_error problem = {0};
    const margin_status status = margin_verify(*state, model, &data, &found, &problem);
    if (status != MARGIN_OK) fail_msg("%s%s", problem.text, found.reason);
    x[0] += 1e-3;
    assert_int_equal(margin_verify(*state, model, &data, &found, &problem), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
}

/* ---- Zero probabilities, unseen categories --------------------------------------------------- */

static void test_zero_counts(void **state) {
    /* class 0 has only 0 in the first column, class 1 only 1 and 2 in the second */
    const double x[12] = {0, 0, 0, 1, 0, 2, 1, 1, 0, 2, 1, 2}, y[6] = {0, 0, 0, 1, 1, 1};
    const margin_data data = {.x = margin_dense_f64(x, 6, 2, 2), .y = margin_values_f64(y, 6)};
    const double query[6] = {1, 1, 1, 0, 0, 0};
    const margin_matrix q = margin_dense_f64(query, 3, 2, 2);
    const char *const specs[2] = {"naive-bayes(smoothing=0, distribution=categorical)",
                                  "naive-bayes(smoothing=0, distribution=bernoulli)"};
    for (int n = 0; n < 2; n++) {
        margin_report report = {0};
        double scores[6], p[6];
        int64_t labels[3];
        margin_model *model = fit_text(*state, specs[n], &data, &report);
        assert_contains(report.reason, "smoothing=0 gives probability 0 to 2 pairs");
        assert_close(margin_report_item_value(&report, "zero_counts"), 2, 0);
        OK(margin_scores(model, &q, scores, &error));
        OK(margin_probabilities(model, &q, p, &error));
        OK(margin_predict(model, &q, labels, &error));
        assert_true(isinf(scores[0]) && scores[0] < 0 && isfinite(scores[1]));
        assert_true(p[0] == 0 && p[1] == 1 && labels[0] == 1);
        /* no class can have made the second row: the priors alone */
        assert_close(scores[2], log(0.5), 1e-15);
        assert_close(scores[3], log(0.5), 1e-15);
        assert_true(p[2] == 0.5 && p[3] == 0.5 && labels[1] == 0);
        assert_true(p[4] == 1 && p[5] == 0 && labels[2] == 0);
        margin_report found = {0};
        assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
        margin_model_free(model);
    }
}

static void test_unseen(void **state) {
    margin_data data = book_data();
    const char *const words[3] = {"smooth", "ignore", "error"};
    const double query[6] = {2, 3, 9, 0, 2, (double)NAN}; /* no such size; no such number; a gap */
    const margin_matrix x = margin_dense_f64(query, 3, 2, 2);
    for (int n = 0; n < 3; n++) {
        char spec[100];
        double scores[6];
        int64_t labels[3];
        snprintf(spec, sizeof spec, "naive-bayes(distribution=categorical, unseen=%s)", words[n]);
        margin_model *model = fit_text(*state, spec, &data, NULL);
        OK(margin_scores(model, &x, scores, &error));
        OK(margin_predict(model, &x, labels, &error));
        const double alone = log(10.0 / 17 * 4 / 12); /* + and x1 = 2 */
        assert_close(scores[4], alone, 1e-14);
        if (n == 0) assert_close(scores[0], alone + log(1.0 / 12), 1e-14);
        if (n == 1) assert_close(scores[0], alone, 1e-14);
        if (n == 1) assert_close(scores[2], log(10.0 / 17 * 2 / 12), 1e-14);
        if (n == 2) assert_true(isnan(scores[0]) && isnan(scores[3]) && labels[0] == -1);
        assert_int_equal(labels[2], PLUS);
        margin_model_free(model);
    }
}

/* Numbers that were rounded to single precision on one side only are the categories they were. */
static void test_single_precision(void **state) {
    static const double x[6] = {0.1, 0.2, 0.3, 0.1, 0.2, 0.3}, y[6] = {0, 1, 1, 0, 0, 1};
    static const float rounded[6] = {0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F};
    static const double others[3] = {0.10001, 1e300, -0.1};
    const char *const spec = "naive-bayes(distribution=categorical, unseen=error)";
    const margin_matrix wide = margin_dense_f64(x, 6, 1, 1),
                        narrow = margin_dense_f32(rounded, 6, 1, 1),
                        unseen = margin_dense_f64(others, 3, 1, 1);
    margin_data data = {.x = wide, .y = margin_values_f64(y, 6)};
    for (int fitted = 0; fitted < 2; fitted++) {
        double a[12], b[12];
        int64_t labels[3];
        data.x = fitted ? narrow : wide;
        margin_model *model = fit_text(*state, spec, &data, NULL);
        OK(margin_scores(model, &wide, a, &error));
        OK(margin_scores(model, &narrow, b, &error));
        OK(margin_predict(model, &unseen, labels, &error));
        for (int i = 0; i < 6; i++)
            assert_true(isfinite(a[i]) && a[i] == b[i]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(labels[i], -1);
        margin_model_free(model);
    }
}

static void test_underflow(void **state) {
    enum { N = 3000 }; /* columns: densities of e^-4000 and less */
    double *x = malloc(4 * N * sizeof *x), p[2];
    const double y[4] = {0, 0, 1, 1};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < N; j++)
            x[i * N + j] = 10 * y[i] + (i % 2) + 0.01 * (j % 7);
    margin_data data = {.x = margin_dense_f64(x, 4, N, N), .y = margin_values_f64(y, 4)};
    margin_model *model = fit_text(*state, "naive-bayes", &data, NULL);
    double *row = malloc(N * sizeof *row);
    for (int j = 0; j < N; j++)
        row[j] = 5.4; /* far from both */
    const margin_matrix q = margin_dense_f64(row, 1, N, N);
    OK(margin_probabilities(model, &q, p, &error));
    assert_true(isfinite(p[0]) && fabs(p[0] + p[1] - 1) < 1e-12);
    free(row);
    free(x);
    margin_model_free(model);
}

/* ---- Bad input, awkward input ---------------------------------------------------------------- */

static void test_refusals(void **state) {
    margin_data data = book_data();
    fit_refused(*state, "naive-bayes(distribution=gaussian)", &data, MARGIN_ERROR_DATA,
                "column x2 holds categories");
    fit_refused(*state, "naive-bayes(categorical=x1, gaussian=\"x2,x1\")", &data, MARGIN_ERROR_SPEC,
                "column x1 is named by both categorical and gaussian");
    fit_refused(*state, "naive-bayes(gaussian=x7)", &data, MARGIN_ERROR_DATA,
                "naive-bayes: the data has no column x7");
    fit_refused(*state, "naive-bayes(priors=\"0.2 0.3 0.5\")", &data, MARGIN_ERROR_SPEC,
                "priors has 3 numbers and the data 2 classes");
    fit_refused(*state, "naive-bayes(priors=\"0.2 0.3\")", &data, MARGIN_ERROR_SPEC, "add up to 1");
    fit_refused(*state, "naive-bayes(priors=\"1 0\")", &data, MARGIN_ERROR_SPEC, "above 0");
    fit_refused(*state, "naive-bayes(priors=equal, prior_smoothing=1)", &data, MARGIN_ERROR_SPEC,
                "prior_smoothing is for priors that are learnt");
    fit_refused(*state, "naive-bayes(priors=often)", &data, MARGIN_ERROR_SPEC, "'often'");
    double x[30];
    memcpy(x, book_x, sizeof x);
    data.x.values = x;
    x[11] = 3;
    fit_refused(*state, "naive-bayes", &data, MARGIN_ERROR_DATA,
                "row 6 has the code 3 in column x2, which has 3 categories");
    x[11] = 0.5;
    fit_refused(*state, "naive-bayes", &data, MARGIN_ERROR_DATA, "row 6 has the code 0.5");
    x[11] = 0;
    x[8] = -1;
    fit_refused(*state, "naive-bayes(multinomial=x1)", &data, MARGIN_ERROR_DATA,
                "row 5 has the value -1 in column x1; multinomial columns hold counts");
    x[8] = (double)INFINITY;
    fit_refused(*state, "naive-bayes", &data, MARGIN_ERROR_DATA, "row 5");
    mixed m = mixed_make(300, 0, 3);
    data = mixed_data(&m);
    fit_refused(*state, "naive-bayes(categorical=g1)", &data, MARGIN_ERROR_DATA,
                "column g1 has more than 100 different values");
    mixed_free(&m);
}

/* Found while counting, in every kind of column, and named as any other learner does. */
static void test_infinite(void **state) {
    mixed m = mixed_make(6000, 0.1, 5);
    const margin_data all = mixed_data(&m);
    int64_t some[3000];
    char spec[200], part[120];
    snprintf(spec, sizeof spec, "naive-bayes(%s)", mixed_options);
    for (int64_t i = 0; i < 3000; i++)
        some[i] = 2 * i + 1;
    for (int j = 0; j < MIXED; j++) {
        double *cell = &m.x[4321 * MIXED + j], *later = &m.x[5001 * MIXED + (j + 1) % MIXED];
        const double held = *cell, after = *later;
        margin_data data = all;
        *cell = j % 2 ? (double)INFINITY : -(double)INFINITY;
        *later = (double)INFINITY;
        snprintf(part, sizeof part, "row 4322 has the value %sinf in column %s; infinite values",
                 j % 2 ? "" : "-", m.columns[j].name);
        fit_refused(*state, spec, &data, MARGIN_ERROR_DATA, part);
        data.selection = some;
        data.selected = 3000;
        fit_refused(*state, spec, &data, MARGIN_ERROR_DATA, part);
        *cell = held;
        *later = after;
    }
    mixed_free(&m);
    sample *s = sample_make(300, 6, 2, 0.1, 3);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout);
        const int64_t wide = 11 * sample_view(s, STRIDED_F64).stride + 4;
        s->stored_f64[70] = s->f64[70] = s->wide_f64[wide] = (double)INFINITY;
        s->stored_f32[70] = s->f32[70] = s->wide_f32[wide] = INFINITY;
        fit_refused(*state, "naive-bayes", &data, MARGIN_ERROR_DATA, "infinite values cannot");
        fit_refused(*state, "standardize | naive-bayes", &data, MARGIN_ERROR_DATA, "infinite");
    }
    sample_free(s);
}

/* Squares of 1e-300 are 0: such a column is not constant, and one of equal values is. */
static void test_tiny(void **state) {
    const double values[8] = {3, 1e-300, 3, 2e-300, 3, 5e-300, 3, 9e-300};
    const int32_t labels[4] = {0, 1, 0, 1};
    margin_data data = {.x = margin_dense_f64(values, 4, 2, 2), .y = margin_labels_i32(labels, 4)};
    fit_refused(*state, "naive-bayes", &data, MARGIN_ERROR_DATA,
                "column x2, such as 3e-300, differ by too little for their squares");
    fit_refused(*state, "naive-bayes(var_smoothing=0)", &data, MARGIN_ERROR_DATA, "column x2");
    margin_model *model = fit_text(*state, "minmax | naive-bayes", &data, NULL);
    assert_close(margin_report_item_value(margin_model_report(model), "constant_columns"), 1, 0);
    margin_model_free(model);
}

/* Wide rows go in pieces, classes in pairs, rows in fours: in every layout the same scores, and of
 * a row by itself the same bits. */
static void test_pieces(void **state) {
    for (int64_t classes = 2; classes <= 5; classes++) {
        sample *s = sample_make(203, 700, classes, 0.2, 8);
        const margin_data first = sample_data(s, CSR_F64_I32_I64);
        margin_model *model = fit_text(*state, "naive-bayes", &first, NULL);
        double *expected = scores_of(model, &first.x);
        for (int layout = 0; layout < CSR_F64_I32_I64; layout++) {
            margin_data data = sample_data(s, layout);
            double *scores = scores_of(model, &data.x), alone[5];
            for (int64_t k = 0; k < 203 * classes; k++)
                assert_close(scores[k], expected[k], 1e-12);
            for (int64_t i = 0; i < 203; i++) {
                const int size = layout == DENSE_F64 || layout == STRIDED_F64 ? 8 : 4;
                margin_matrix row = data.x;
                row.values = (const char *)row.values + i * row.stride * size;
                row.rows = 1;
                OK(margin_scores(model, &row, alone, &error));
                assert_memory_equal(alone, scores + i * classes, (size_t)classes * 8);
            }
            free(scores);
            margin_model *same = fit_text(*state, "naive-bayes", &data, NULL);
            scores = scores_of(same, &data.x);
            for (int64_t k = 0; k < 203 * classes; k++)
                assert_close(scores[k], expected[k], 1e-9);
            free(scores);
            margin_model_free(same);
        }
        free(expected);
        margin_model_free(model);
        sample_free(s);
    }
}

static void test_constant_columns(void **state) {
    /* the first is constant, the second in class 1 only */
    double x[18] = {5, 1, 0, 5, 2, 1, 5, 3, 3, 5, 7, 2, 5, 7, 5, 5, 7, 4},
           y[6] = {0, 0, 0, 1, 1, 1};
    margin_data data = {.x = margin_dense_f64(x, 6, 3, 3), .y = margin_values_f64(y, 6)};
    margin_report report = {0};
    margin_model *model = fit_text(*state, "naive-bayes", &data, &report);
    assert_contains(report.reason, "1 constant column is left out");
    margin_likelihood l = {0};
    assert_int_equal(margin_model_likelihood(model, 1, 0, &l, 0, NULL), 1);
    assert_true(l.mean == 5 && l.deviation == 0 && l.total == 3);
    assert_int_equal(margin_model_likelihood(model, 1, 1, &l, 0, NULL), 1);
    assert_true(l.mean == 7 && l.deviation > 0 && l.deviation < 1e-3); /* var_smoothing */
    double *scores = scores_of(model, &data.x);
    for (int k = 0; k < 12; k++)
        assert_true(isfinite(scores[k]));
    free(scores);
    margin_model_free(model);
    fit_refused(*state, "naive-bayes(var_smoothing=0)", &data, MARGIN_ERROR_DATA,
                "column x2 has the variance 0 in one of the classes, where it is always 7");
    data.x.columns = 1; /* nothing but constants: the priors */
    y[5] = 0;
    model = fit_text(*state, "naive-bayes(var_smoothing=0)", &data, &report);
    scores = scores_of(model, &data.x);
    assert_close(scores[0], log(5.0 / 8), 1e-15);
    free(scores);
    margin_model_free(model);
}

/* All values of a column missing in one class, and in all. */
static void test_empty_columns(void **state) {
    const double nan = (double)NAN;
    const double x[12] = {1, nan, 2, nan, 3, nan, nan, nan, nan, nan, nan, nan};
    const double y[6] = {0, 0, 0, 1, 1, 1};
    margin_data data = {.x = margin_dense_f64(x, 6, 2, 2), .y = margin_values_f64(y, 6)};
    const char *const specs[] = {"naive-bayes",
                                 "naive-bayes(distribution=categorical)",
                                 "naive-bayes(distribution=categorical, smoothing=0)",
                                 "naive-bayes(distribution=bernoulli)",
                                 "naive-bayes(distribution=bernoulli, smoothing=0)",
                                 "naive-bayes(distribution=multinomial)"};
    for (size_t n = 0; n < sizeof specs / sizeof specs[0]; n++) {
        margin_report found = {0};
        margin_model *model = fit_text(*state, specs[n], &data, NULL);
        double *scores = scores_of(model, &data.x);
        for (int k = 0; k < 12; k++)
            if (isnan(scores[k])) fail_msg("%s: a score is NaN", specs[n]);
        free(scores);
        margin_likelihood l = {0};
        double p[3] = {0};
        assert_int_equal(margin_model_likelihood(model, 1, 0, &l, 3, p), 1);
        assert_true(l.total == 0);
        if (n == 0) assert_true(l.mean == 2); /* as over all classes */
        if (n == 0) assert_close(l.deviation, sqrt(2.0 / 3), 1e-8);
        if (n == 1 || n == 2) assert_close(p[2], 1.0 / 3, 1e-15);
        if (n == 3 || n == 4) assert_close(l.p, 0.5, 1e-15);
        if (n == 5) assert_close(l.p, 0.5, 1e-15);
        assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
        void *bytes = NULL;
        int64_t length = 0;
        margin_model *copy = NULL;
        OK(margin_model_encode(model, &bytes, &length, &error));
        OK(margin_model_decode(*state, bytes, length, &copy, &error));
        assert_same_model(model, copy);
        margin_bytes_free(model, bytes);
        margin_model_free(copy);
        margin_model_free(model);
    }
}

/* ---- Published results ----------------------------------------------------------------------- */

/* adult.names: naive Bayes errs on 16.12 % of the test rows without '?'. Its numbers were cut into
 * classes first; taken as normal they do worse, so only the neighbourhood is asked for here, and
 * the exact value of this model. */
static void test_adult(void **state) {
    char train[SUPPORT_PATH], test[SUPPORT_PATH];
    SUPPORT_DATA_OR_SKIP(train, "tabular/adult-train.csv");
    SUPPORT_DATA_OR_SKIP(test, "tabular/adult-test.csv");
    margin_table *tables[2] = {NULL, NULL};
    margin_read_options options = {
        .size = sizeof options, .missing = MARGIN_MISSING_DROP, .target = "15"};
    OK(margin_table_read(*state, train, &options, &tables[0], &error));
    margin_data data = margin_table_data(tables[0]);
    assert_int_equal(data.x.rows, 30162);
    margin_model *model = fit_text(*state, "naive-bayes", &data, NULL);
    options.expected = margin_model_columns(model, &options.expected_count);
    OK(margin_table_read(*state, test, &options, &tables[1], &error));
    margin_data asked = margin_table_data(tables[1]); /* its labels end with a stop */
    assert_int_equal(asked.x.rows, 15060);
    int64_t *labels = malloc(15060 * sizeof *labels), wrong = 0;
    OK(margin_predict(model, &asked.x, labels, &error));
    for (int64_t i = 0; i < 15060; i++) {
        const char *said = margin_model_class_name(model, labels[i]);
        const char *is = asked.target->categories[(int64_t)((const double *)asked.y.values)[i]];
        wrong += strncmp(said, is, strlen(said)) != 0;
    }
    print_message("adult: error %.4f\n", (double)wrong / 15060);
    assert_true(wrong > 15060 * 15 / 100 && wrong < 15060 * 20 / 100);
    free(labels);
    margin_model_free(model);
    margin_table_free(tables[0]);
    margin_table_free(tables[1]);
}

/* ---- More rows later ------------------------------------------------------------------------- */

/* The second part has a class and categories that the first has not, and the other way round. */
static void test_update(void **state) {
    static const char *const letters[] = {"a", "b", "c", "d"}, *const first[] = {"a", "c"};
    static const char *const second[] = {"b", "c", "d"}, *const names[] = {"q", "r", "s"};
    enum { N = 200, FIRST = 120 };
    double x[N * 4], y[N], parts[N * 4], labels[N];
    uint64_t seed = 17;
    for (int i = 0; i < N; i++) {
        const bool early = i < FIRST;
        const int code =
            early ? (int)(support_random(&seed) % 2) * 2 : 1 + (int)(support_random(&seed) % 3);
        y[i] =
            early ? (double)(support_random(&seed) % 2) * 2 : (double)(support_random(&seed) % 3);
        x[4 * i] = code;
        x[4 * i + 1] = support_normal(&seed) + y[i];
        x[4 * i + 2] = (double)(support_random(&seed) % (early ? 3 : 5)) - 1;
        x[4 * i + 3] = (double)(support_random(&seed) % 3);
        if (support_uniform(&seed) < 0.1) x[4 * i + i % 4] = (double)NAN;
        memcpy(parts + 4 * i, x + 4 * i, 4 * sizeof *x);
        if (!isnan(x[4 * i])) parts[4 * i] = early ? code / 2 : code - 1;
        labels[i] = early ? y[i] / 2 : y[i];
    }
    static const char *const early_names[] = {"q", "s"};
    margin_column columns[4] = {
        {.name = "k", .kind = MARGIN_CATEGORICAL, .categories = letters, .category_count = 4},
        {.name = "g"},
        {.name = "v"},
        {.name = "m"}};
    margin_column target = {
        .name = "y", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3};
    margin_data all = {.x = margin_dense_f64(x, N, 4, 4),
                       .y = margin_values_f64(y, N),
                       .columns = columns,
                       .target = &target};
    margin_column a_columns[4], b_columns[4], a_target = target;
    memcpy(a_columns, columns, sizeof columns);
    memcpy(b_columns, columns, sizeof columns);
    a_columns[0].categories = first;
    a_columns[0].category_count = 2;
    b_columns[0].categories = second;
    b_columns[0].category_count = 3;
    a_target.categories = early_names;
    a_target.category_count = 2;
    margin_data a = {.x = margin_dense_f64(parts, FIRST, 4, 4),
                     .y = margin_values_f64(labels, FIRST),
                     .columns = a_columns,
                     .target = &a_target};
    margin_data b = {.x = margin_dense_f64(parts + 4 * FIRST, N - FIRST, 4, 4),
                     .y = margin_values_f64(labels + FIRST, N - FIRST),
                     .columns = b_columns,
                     .target = &target};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const char *spec = gaussian ? "naive-bayes(categorical=v, multinomial=m)"
                                    : "naive-bayes(categorical=v, multinomial=m, bernoulli=g)";
        margin_report whole = {0}, report = {0}, found = {0};
        margin_model *at_once = fit_text(*state, spec, &all, &whole);
        margin_model *part = fit_text(*state, spec, &a, NULL), *updated = NULL;
        OK(margin_update(*state, part, &b, &updated, &report, &error));
        assert_int_equal(report.rows, N);
        assert_int_equal(margin_model_class_count(updated), 3);
        assert_true(isnan(report.train_accuracy));
        assert_close(report.objective, whole.objective, 1e-12);
        assert_close(margin_report_item_value(&report, "missing_values"),
                     margin_report_item_value(&whole, "missing_values"), 0);
        double *left = scores_of(at_once, &all.x), *right = scores_of(updated, &all.x);
        for (int k = 0; k < 3 * N; k++)
            assert_close(left[k], right[k], gaussian ? 1e-12 : 0);
        assert_int_equal(margin_verify(*state, updated, &all, &found, &error), MARGIN_OK);
        assert_int_equal(margin_model_class_count(part), 2); /* as it was */
        assert_int_equal(margin_model_columns(updated, NULL)[0].category_count, 4);
        assert_int_equal(margin_model_target(updated)->category_count, 3);
        free(left);
        free(right);
        margin_model_free(updated);
        margin_model_free(part);
        margin_model_free(at_once);
    }
    margin_model *model = fit_text(*state, "naive-bayes(priors=equal)", &a, NULL), *none = NULL;
    assert_int_equal(margin_update(*state, model, &b, &none, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "given no priors");
    b_columns[1] = b_columns[0];
    b_columns[1].name = "g";
    for (int i = FIRST; i < N; i++)
        parts[4 * i + 1] = 0; /* a code that there is */
    assert_int_equal(margin_update(*state, model, &b, &none, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "holds categories and the model was trained on numbers");
    margin_model_free(model);
    a.columns = b.columns = NULL;
    b.x.columns = 3;
    model = fit_text(*state, "impute | perceptron(passes=3)", &a, NULL);
    assert_int_equal(margin_update(*state, model, &a, &none, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "perceptron cannot take more rows later");
    assert_null(none);
    margin_model_free(model);
}

typedef struct {
    margin_data first, second;
} halves;

static margin_status update_body(margin_context *context, void *user, margin_error *failure) {
    const halves *h = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL, *updated = NULL;
    char text[200];
    snprintf(text, sizeof text, "naive-bayes(%s)", mixed_options);
    margin_status status = margin_spec_parse(context, text, &spec, failure);
    if (status >= 0) status = margin_fit(context, spec, &h->first, &model, NULL, failure);
    if (status >= 0) status = margin_update(context, model, &h->second, &updated, NULL, failure);
    margin_model_free(updated);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_update_allocations(void **state) {
    (void)state;
    static const char *const others[] = {"M", "XL", "S"};
    mixed m = mixed_make(50, 0.1, 19);
    halves h = {mixed_data(&m), mixed_data(&m)};
    margin_column columns[MIXED];
    memcpy(columns, m.columns, sizeof columns);
    columns[CODES].categories = others;
    h.second.columns = columns;
    assert_true(support_fail_each_allocation(1, update_body, &h) > 40);
    mixed_free(&m);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status fit_body(margin_context *context, void *user, margin_error *failure) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    char text[200];
    snprintf(text, sizeof text, "naive-bayes(priors=equal, %s)", mixed_options);
    margin_status status = margin_spec_parse(context, text, &spec, failure);
    if (status >= 0) status = margin_fit(context, spec, user, &model, NULL, failure);
    margin_report found = {0};
    if (status >= 0) status = margin_verify(context, model, user, &found, failure);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    mixed m = mixed_make(50, 0.1, 19);
    margin_data data = mixed_data(&m);
    assert_true(support_fail_each_allocation(1, fit_body, &data) > 20);
    assert_true(support_fail_each_allocation(3, fit_body, &data) > 20);
    mixed_free(&m);
}

/* The first row of a class far away and of next to no weight: nothing cancels, value by value (a
 * gap, sparse data) as little as in blocks. */
static void test_light_outlier(void **state) {
    enum { MANY = 400 };
    double x[2 * MANY], y[MANY], weights[MANY];
    int64_t starts[MANY + 1], columns[2 * MANY];
    uint64_t random = 5;
    margin_report found = {0};
    for (int i = 0; i < MANY; i++) {
        x[2 * i] = i < 2 ? 1e9 : support_normal(&random) + i % 2;
        x[2 * i + 1] = support_normal(&random);
        y[i] = i % 2;
        weights[i] = i < 2 ? 1e-12 : 1;
        starts[i + 1] = 2 * i + 2;
        columns[2 * i] = 0;
        columns[2 * i + 1] = 1;
    }
    starts[0] = 0;
    margin_data data = {.x = margin_dense_f64(x, MANY, 2, 2),
                        .y = margin_values_f64(y, MANY),
                        .weights = margin_values_f64(weights, MANY)};
    for (int way = 0; way < 3; way++) {
        if (way == 1) x[7] = NAN;
        if (way == 2) {
            x[7] = 0;
            data.x.row_starts = starts;
            data.x.column_indices = columns;
            data.x.start_type = data.x.index_type = MARGIN_I64;
        }
        margin_model *model = fit_text(*state, "naive-bayes", &data, NULL);
        assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
        assert_true(found.gap < 1e-9);
        margin_model_free(model);
    }
}

static void test_hostile(void **state) {
    static const char *const specs[] = {
        "naive-bayes(categorical=1, multinomial=\"2,3\", bernoulli=4)",
        "naive-bayes(smoothing=0, unseen=error, priors=equal)",
        "naive-bayes(distribution=categorical, unseen=ignore)"};
    double x[5 * 40], y[40];
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 5; j++)
            x[5 * i + j] = (i * (j + 3) + i / 7) % (4 + j);
        y[i] = i % 3;
    }
    const margin_data data = {.x = margin_dense_f64(x, 40, 5, 5), .y = margin_values_f64(y, 40)};
    for (int n = 0; n < 3; n++) {
        margin_model *model = fit_text(*state, specs[n], &data, NULL);
        assert_true(assert_tensors_checked(model, &data.x) > 0.4);
        margin_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_textbook_tables),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_light_outlier),
        cmocka_unit_test(test_scikit_learn),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_far_from_zero),
        cmocka_unit_test(test_far_single_rows),
        cmocka_unit_test(test_zero_counts),
        cmocka_unit_test(test_unseen),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_underflow),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_infinite),
        cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_constant_columns),
        cmocka_unit_test(test_empty_columns),
        cmocka_unit_test(test_adult),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_update_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
