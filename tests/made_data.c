#include "made_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE_SHARE = 8 };

/* What is special about a made table. */
enum {
    PLAIN = 0,
    SEPARABLE = 1, /* classes without noise */
    MOSTLY_ZERO = 2,
    DEPENDENT = 4, /* the last two columns are sums of others */
    WEIGHTED = 8,  /* weights 0 to 3 */
    REPEATED = 16, /* values -1, 0, 1 only: many equal rows */
    SCALED = 32,   /* columns from 2^-10 to 2^10, off centre */
    MISSING = 64,  /* some values are NaN */
    COUNTS = 128   /* whole numbers that are not negative */
};

typedef struct recipe {
    const char *name;
    int64_t rows, columns;
    int classes; /* 0: a regression */
    int targets, kind;
    uint64_t seed;
} recipe;

static const recipe recipes[] = {
    {"two", 200, 8, 2, 1, PLAIN, 1},
    {"two-apart", 60, 5, 2, 1, SEPARABLE, 2},
    {"two-wide", 30, 80, 2, 1, PLAIN, 3},
    {"two-sparse", 300, 40, 2, 1, MOSTLY_ZERO, 4},
    {"two-weighted", 120, 5, 2, 1, WEIGHTED, 5},
    {"two-repeated", 240, 4, 2, 1, REPEATED, 6},
    {"two-scaled", 150, 6, 2, 1, SCALED, 7},
    {"two-long", 9000, 4, 2, 1, PLAIN, 8},
    {"two-dependent", 90, 7, 2, 1, DEPENDENT, 9},
    {"two-missing", 90, 5, 2, 1, MISSING, 10},
    {"three", 150, 6, 3, 1, PLAIN, 11},
    {"three-apart", 60, 6, 3, 1, SEPARABLE, 12},
    {"three-weighted", 100, 5, 3, 1, WEIGHTED, 13},
    {"five-words", 160, 250, 5, 1, MOSTLY_ZERO | COUNTS, 14},
    {"ten", 400, 6, 10, 1, PLAIN, 15},
    {"line", 120, 10, 0, 1, PLAIN, 16},
    {"line-wide", 30, 80, 0, 1, PLAIN, 17},
    {"line-dependent", 80, 8, 0, 1, DEPENDENT, 18},
    {"line-weighted", 100, 5, 0, 1, WEIGHTED, 19},
    {"line-scaled", 150, 6, 0, 1, SCALED, 20},
    {"line-sparse", 250, 60, 0, 1, MOSTLY_ZERO, 21},
    {"line-long", 9000, 5, 0, 1, PLAIN, 22},
    {"line-missing", 80, 4, 0, 1, MISSING, 23},
    {"three-targets", 90, 6, 0, 3, PLAIN, 24},
};

static const char *const tables[] = {"cars", "iris", "points", "wine", "xor"};

static void *array(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) fail_msg("out of memory");
    return memory;
}

/* ---- Made ------------------------------------------------------------------------------------ */

static double short_number(double x) {
    return rint(x * 64) / 64;
}

static double draw_value(const recipe *r, uint64_t *random) {
    double value = short_number(support_normal(random));
    if (r->kind & REPEATED) value = (double)(int)(support_random(random) % 3) - 1;
    if ((r->kind & MOSTLY_ZERO) && support_random(random) % SPARSE_SHARE != 0) value = 0;
    if (r->kind & COUNTS) value = ceil(fabs(value));
    return value;
}

static void fill_features(const recipe *r, double *x, uint64_t *random) {
    int64_t n = r->columns;
    for (int64_t i = 0; i < r->rows; i++) {
        double *row = x + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = draw_value(r, random);
        if (!(r->kind & DEPENDENT)) continue;
        row[n - 1] = 2 * row[0];
        row[n - 2] = row[1] - row[2] + 1;
    }
}

/* Hidden linear functions, one for each class or target; noise as large as the signal's half. */
static void fill_target(const recipe *r, const double *x, double *y, uint64_t *random) {
    int functions = r->classes ? r->classes : r->targets;
    double *w = array(functions * r->columns, sizeof *w), score[16];
    for (int64_t k = 0; k < functions * r->columns; k++)
        w[k] = short_number(support_normal(random));
    double noise = r->kind & SEPARABLE ? 0 : 0.5 * sqrt((double)r->columns);
    for (int64_t i = 0; i < r->rows; i++) {
        int best = 0;
        for (int c = 0; c < functions; c++) {
            score[c] = noise * support_normal(random);
            for (int64_t j = 0; j < r->columns; j++)
                score[c] += w[c * r->columns + j] * x[i * r->columns + j];
            if (!r->classes) y[i * functions + c] = short_number(score[c]);
            if (score[c] > score[best]) best = c;
        }
        if (r->classes) y[i] = best;
    }
    free(w);
}

/* After the target: what the columns tell of it stays as it was. */
static void spoil(const recipe *r, double *x, uint64_t *random) {
    for (int64_t k = 0; k < r->rows * r->columns; k++) {
        int power = (int)(k % r->columns * 20 / (r->columns - 1)) - 10;
        if (r->kind & SCALED) x[k] = ldexp(x[k] + 3, power);
        if ((r->kind & MISSING) && support_random(random) % 10 == 0) x[k] = NAN;
    }
}

static made_data make(const recipe *r) {
    made_data made = {0};
    uint64_t random = r->seed;
    made.x = array(r->rows * r->columns, sizeof *made.x);
    made.y = array(r->rows * r->targets, sizeof *made.y);
    fill_features(r, made.x, &random);
    fill_target(r, made.x, made.y, &random);
    if (r->kind & WEIGHTED) {
        made.weights = array(r->rows, sizeof *made.weights);
        for (int64_t i = 0; i < r->rows; i++)
            made.weights[i] = (double)(support_random(&random) % 4);
        made.data.weights = margin_values_f64(made.weights, r->rows);
    }
    spoil(r, made.x, &random);
    made.data.x = margin_dense_f64(made.x, r->rows, r->columns, r->columns);
    made.data.y = margin_values_f64(made.y, r->rows * r->targets);
    made.data.targets = r->targets;
    return made;
}

/* ---- Of examples/data ------------------------------------------------------------------------ */

static made_data of_table(margin_context *context, const char *name) {
    made_data made = {0};
    margin_error error = {0};
    char file[64], path[SUPPORT_PATH];
    snprintf(file, sizeof file, "examples/data/%s.csv", name);
    support_source(path, file);
    if (margin_table_read(context, path, NULL, &made.table, &error) < 0) fail_msg("%s", error.text);
    made.data = margin_table_data(made.table);
    const margin_matrix *x = &made.data.x;
    made.x = array(x->rows * x->columns, sizeof *made.x);
    for (int64_t i = 0; i < x->rows; i++)
        memcpy(made.x + i * x->columns, (const double *)x->values + i * x->stride,
               (size_t)x->columns * sizeof *made.x);
    return made;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static int64_t gather(made_data *made, bool sparse) {
    const margin_matrix *x = &made->data.x;
    int64_t count = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        for (int64_t j = 0; j < x->columns; j++) {
            double value = made->x[i * x->columns + j];
            if (sparse && value == 0) continue;
            made->index[count] = (int32_t)j;
            made->f64[count++] = value;
        }
        made->start[i + 1] = count;
    }
    return count;
}

static void lay_out(made_data *made, bool sparse, bool single) {
    int64_t rows = made->data.x.rows, columns = made->data.x.columns;
    made->f64 = array(rows * columns, sizeof *made->f64);
    made->f32 = array(rows * columns, sizeof *made->f32);
    made->index = array(rows * columns, sizeof *made->index);
    made->start = array(rows + 1, sizeof *made->start);
    int64_t count = gather(made, sparse);
    for (int64_t k = 0; k < count; k++)
        made->f32[k] = (float)made->f64[k];
    if (sparse)
        made->data.x = single ? margin_csr_f32(made->f32, made->index, made->start, rows, columns)
                              : margin_csr_f64(made->f64, made->index, made->start, rows, columns);
    else
        made->data.x = single ? margin_dense_f32(made->f32, rows, columns, columns)
                              : margin_dense_f64(made->f64, rows, columns, columns);
}

made_data made_data_get(margin_context *context, const char *name, bool sparse, bool single) {
    made_data made = {0};
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++)
        if (strcmp(recipes[k].name, name) == 0) made = make(&recipes[k]);
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (strcmp(tables[k], name) == 0) made = of_table(context, name);
    if (!made.x) fail_msg("there is no data set %s", name);
    lay_out(&made, sparse, single);
    return made;
}

void made_data_free(made_data *made) {
    margin_table_free(made->table);
    free(made->x);
    free(made->y);
    free(made->weights);
    free(made->f64);
    free(made->f32);
    free(made->index);
    free(made->start);
}
