/* log P(c) + sum_j log P(x_j | c) for rows.
 *
 * A fused pass adds the columns family by family: gaussian ones four rows at a time, those with
 * tables cell by cell, counts and 0/1 columns in vectors, or of sparse rows only where they are not
 * 0. What the pass cannot do, gaps and factors that are 0 where a product needs care, shows as NaN
 * or is known before; such rows are added up again value by value. */
#include "bayes/learner/bayes.h"
#include "bayes/rows/bayes_entries.h"
#include "math/rows/sparse_row.h"

#include <string.h>

enum { GROUP = 32, ROOM = 2048, COLUMNS = 256 };

/* ---- Values of a row ------------------------------------------------------------------------- */

/* Asked for in ascending order of columns. */
typedef struct row_cursor {
    const margin_matrix *x;
    int64_t at, end; /* entries; of a dense row its first number */
    bool sparse;
} row_cursor;

static row_cursor cursor_of(const margin_matrix *x, int64_t row) {
    if (mg_is_csr(x)) return (row_cursor){x, mg_row_start(x, row), mg_row_start(x, row + 1), true};
    return (row_cursor){x, row * x->stride, 0, false};
}

MG_INLINE double bayes_value_at(row_cursor *c, int64_t column) {
    if (!c->sparse) return mg_stored_value(c->x, c->at + column);
    while (c->at < c->end && mg_column_index(c->x, c->at) < column)
        c->at++;
    const bool stored = c->at < c->end && mg_column_index(c->x, c->at) == column;
    return stored ? mg_stored_value(c->x, c->at) : 0;
}

/* ---- Value by value -------------------------------------------------------------------------- */

/* out[k] += log P(x_j = value | k); a missing value adds nothing. */
static void bayes_scores_add_value(const mg_bayes_view *v, int64_t j, int64_t place, double value,
                                   double *out) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t classes = layout->classes, n = layout->gaussians;
    if (isnan(value)) return;
    if (layout->kinds[j] == MG_BAYES_GAUSSIAN) {
        for (int64_t k = 0; k < classes; k++) {
            const int64_t at = k * n + place;
            const double t = (value - v->centre[place]) * v->slope[at] + v->offset[at];
            if (v->slope[at] > 0) out[k] += v->level[at] - t * t;
        }
        return;
    }
    if (layout->kinds[j] <= MG_BAYES_VALUES) {
        const int64_t row = v->table_row[j] + mg_bayes_level(layout, j, value);
        for (int64_t k = 0; k < classes; k++)
            out[k] += v->tables[row * classes + k];
        return;
    }
    const bool counts = layout->kinds[j] == MG_BAYES_MULTINOMIAL;
    if (counts && value == 0) return;
    for (int64_t k = 0; k < classes; k++) {
        const int64_t at = place * classes + k;
        if (counts)
            out[k] += value > 0 ? value * v->linear_on[at] : (double)NAN;
        else
            out[k] += value > 0 ? v->linear_one[at] : v->linear_off[at];
    }
}

static void score_carefully(const mg_bayes_view *v, const margin_matrix *x, int64_t row,
                            double *out) {
    const mg_bayes_layout *layout = &v->layout;
    row_cursor cursor = cursor_of(x, row);
    int64_t place[3] = {0, 0, 0};
    memcpy(out, v->log_prior, (size_t)layout->classes * sizeof *out);
    for (int64_t j = 0; j < layout->columns; j++) {
        const int32_t kind = layout->kinds[j];
        const int family = kind == MG_BAYES_GAUSSIAN ? 0 : kind <= MG_BAYES_VALUES ? 1 : 2;
        bayes_scores_add_value(v, j, place[family]++, bayes_value_at(&cursor, j), out);
    }
}

/* ---- A group of rows ------------------------------------------------------------------------- */

/* Gaussian columns [first, first + count) of rows, next to each other as f64. */
static void bayes_scores_gather(const mg_bayes_view *v, const margin_matrix *x, int64_t row,
                                int64_t rows, int64_t first, int64_t count, double *out) {
    const int64_t *columns = v->layout.gaussian + first;
    for (int64_t i = 0; i < rows; i++, out += count) {
        row_cursor cursor = cursor_of(x, row + i);
        for (int64_t g = 0; g < count; g++)
            out[g] = bayes_value_at(&cursor, columns[g]);
    }
}

/* Rows whose gaussian columns lie in memory as they are needed; wide ones in pieces, so that what
 * belongs to the classes stays in the cache. */
static void add_stored(const mg_bayes_view *v, const margin_matrix *x, int64_t row, int64_t rows,
                       double *out) {
    const int64_t n = v->layout.gaussians, size = mg_type_size(x->value_type);
    const int64_t ahead = mg_bayes_rows_ahead(n * size);
    const mg_bayes_rows *kernel = mg_bayes_rows_for(v->isa, x->value_type == MARGIN_F32);
    const void *at[GROUP + MG_BAYES_AHEAD];
    const int64_t step = n < 2 * COLUMNS ? n : COLUMNS;
    for (int64_t first = 0; first < n; first += step) {
        for (int64_t i = 0; i < rows + ahead; i++)
            at[i] =
                (const char *)x->values + (MG_MIN(row + i, x->rows - 1) * x->stride + first) * size;
        kernel->scores(at, ahead, rows, MG_MIN(step, n - first),
                       v->centred ? v->centre + first : NULL, v->slope + first, v->offset + first,
                       n, v->layout.classes, out);
    }
}

static void add_gaussians(const mg_bayes_view *v, const margin_matrix *x, int64_t row, int64_t rows,
                          double *out) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t n = layout->gaussians;
    const void *at[GROUP];
    double room[ROOM];
    if (n == layout->columns && !mg_is_csr(x)) {
        add_stored(v, x, row, rows, out);
        return;
    }
    for (int64_t first = 0; first < n; first += ROOM / GROUP) {
        const int64_t count = MG_MIN(ROOM / GROUP, n - first);
        bayes_scores_gather(v, x, row, rows, first, count, room);
        for (int64_t i = 0; i < rows; i++)
            at[i] = room + i * count;
        mg_bayes_rows_for(v->isa, false)
            ->scores(at, 0, rows, count, v->centred ? v->centre + first : NULL, v->slope + first,
                     v->offset + first, n, layout->classes, out);
    }
}

static void bayes_scores_add_row(double *out, const double *terms, int64_t classes) {
    for (int64_t k = 0; k < classes; k++)
        out[k] += terms[k];
}

static void add_tables(const mg_bayes_view *v, const margin_matrix *x, int64_t row, double *out) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t classes = layout->classes;
    row_cursor cursor = cursor_of(x, row);
    for (int64_t t = 0; t < layout->tables; t++) {
        const int64_t j = layout->table[t];
        const int64_t level = mg_bayes_level(layout, j, bayes_value_at(&cursor, j));
        if (level >= 0)
            bayes_scores_add_row(out, v->tables + (v->table_row[j] + level) * classes, classes);
    }
}

/* What the value of a column of counts or 0/1 values, n-th of its family, takes of linear_on; base
 * holds the zeros. */
static double factor_of(const mg_bayes_view *v, int64_t n, double value) {
    if (v->layout.kinds[v->layout.linear[n]] == MG_BAYES_MULTINOMIAL || isnan(value))
        return value >= 0 ? value : (double)NAN;
    return (double)(value > 0); /* no branch: as often as not */
}

static void add_sparse_linears(const mg_bayes_view *v, const margin_matrix *x, int64_t row,
                               double *out) {
    const mg_bayes_layout *layout = &v->layout;
    const bool counts = layout->kinds[0] == MG_BAYES_MULTINOMIAL;
    const int64_t end = mg_row_start(x, row + 1), classes = layout->classes;
    int64_t places[COLUMNS], n = 0;
    double factors[COLUMNS];
    for (int64_t at = mg_row_start(x, row), count; at < end; at += count) {
        int64_t used = 0;
        count = MG_MIN(COLUMNS, end - at);
        mg_stored_columns(x, at, count, places);
        mg_stored_values(x, at, count, factors);
        if (layout->alike) used = mg_bayes_factors(counts, count, places, factors);
        if (used < 0) out[0] = (double)NAN;
        for (int64_t e = 0; e < count && !layout->alike; e++) {
            while (n < layout->linears && layout->linear[n] < places[e])
                n++;
            if (n == layout->linears || layout->linear[n] != places[e]) continue;
            factors[used] = factor_of(v, n, factors[e]);
            places[used] = n;
            used += factors[used] != 0.0;
        }
        MG_ISA_TABLE(v->isa, mg_bayes_kernels)
            ->entries(places, factors, used, v->linear_on, classes, out);
    }
}

static void add_dense_linears(const mg_bayes_view *v, const margin_matrix *x, int64_t row,
                              int64_t rows, double *out) {
    const mg_bayes_layout *layout = &v->layout;
    const mg_bayes_rows *kernel = mg_bayes_rows_for(v->isa, x->value_type == MARGIN_F32);
    const void *at[GROUP];
    for (int64_t n = 0, run; n < layout->linears; n += run) {
        const int64_t j = layout->linear[n];
        run = mg_bayes_run(layout, n);
        for (int64_t i = 0; i < rows; i++)
            at[i] =
                (const char *)x->values + ((row + i) * x->stride + j) * mg_type_size(x->value_type);
        kernel->weigh(at, rows, run, layout->kinds[j] == MG_BAYES_MULTINOMIAL, v->linear_across + n,
                      layout->linears, layout->classes, out);
    }
}

static void bayes_scores_add_linears(const mg_bayes_view *v, const margin_matrix *x, int64_t row,
                                     int64_t rows, double *out) {
    if (!mg_is_csr(x)) {
        add_dense_linears(v, x, row, rows, out);
        return;
    }
    for (int64_t i = 0; i < rows && v->layout.linears > 0; i++)
        add_sparse_linears(v, x, row + i, out + i * v->layout.classes);
}

/* A row that no class can have made tells nothing: the priors stand alone. A row that the pass
 * could not do is done again. */
static void settle_row(const mg_bayes_view *v, const margin_matrix *x, int64_t row, double *out) {
    const int64_t classes = v->layout.classes;
    bool gap = v->impossible_zeros, possible = false;
    for (int64_t k = 0; k < classes && !gap; k++)
        gap = isnan(out[k]);
    if (gap) score_carefully(v, x, row, out);
    for (int64_t k = 0; k < classes && !possible; k++)
        possible = !isinf(out[k]);
    if (!possible) memcpy(out, v->log_prior, (size_t)classes * sizeof *out);
}

margin_status mg_bayes_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                              int64_t count, double *out) {
    const mg_bayes_view *v = mg_bayes_view_of(h);
    const int64_t classes = v->layout.classes;
    for (int64_t at = 0; at < count; at += GROUP) {
        const int64_t rows = MG_MIN(GROUP, count - at);
        double *scores = out + at * classes;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t k = 0; k < classes; k++)
                scores[i * classes + k] = v->base[k];
        add_gaussians(v, x, first + at, rows, scores);
        bayes_scores_add_linears(v, x, first + at, rows, scores);
        for (int64_t i = 0; i < rows; i++) {
            double *row = scores + i * classes;
            if (v->layout.tables > 0) add_tables(v, x, first + at + i, row);
            settle_row(v, x, first + at + i, row);
        }
    }
    return MARGIN_OK;
}
