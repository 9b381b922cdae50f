/* Panels of MG_BAND columns: what is below the band is made 0 by reflections from the left, which
 * then go through the rest of the matrix from both sides:
 *
 *   P = (1 - V T V') R
 *   A -= V W' + W V',   W = Y - V (T' V' Y) / 2,   Y = A V T */
#include "math/products/band_form.h"

#include "math/products/blas.h"
#include "math/rows/row_ops.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 128 }; /* columns of the matrix in a product */

typedef struct reduction {
    const mg_band_form *form;
    const mg_vector_ops *ops;
    double *v, *y, *w; /* n x MG_BAND, column-major: of a panel */
    double *square, *small;
} reduction;

/* A panel: rows from `row` on of the columns from `first` on, and its reflections. */
typedef struct panel {
    int64_t first, row, rows;
    int count;
    double *corner, *turns; /* its first element; T, row-major MG_BAND x MG_BAND */
} panel;

static panel panel_at(const mg_band_form *form, int64_t first) {
    const int64_t row = first + MG_BAND, rows = form->n - row;
    return (panel){.first = first,
                   .row = row,
                   .rows = rows,
                   .count = (int)MG_MIN(rows, MG_BAND),
                   .corner = form->a + row * form->ld + first,
                   .turns = form->turns + first * MG_BAND};
}

/* ---- A panel --------------------------------------------------------------------------------- */

/* v (1 first) and tau of the reflection that leaves only x[0]; returned: what that becomes. */
static double reflection(const mg_vector_ops *ops, double *x, int64_t count, double *tau) {
    double most = 0.0;
    *tau = 0.0;
    for (int64_t i = 1; i < count; i++)
        most = fmax(most, fabs(x[i]));
    if (!(most > 0.0)) return x[0];
    most = fmax(most, fabs(x[0]));
    for (int64_t i = 0; i < count; i++)
        x[i] /= most;
    const double length = copysign(sqrt(ops->square(x, count)), -x[0]), pivot = x[0] - length;
    *tau = -pivot / length;
    for (int64_t i = 1; i < count; i++)
        x[i] /= pivot;
    return length * most;
}

/* The panel becomes R and V, r->v the same V with its ones and zeros. */
static void reflect_panel(const reduction *r, const panel *p, double *tau) {
    const int64_t rows = p->rows, ld = r->form->ld;
    double *v = r->v;
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < MG_BAND; j++)
            v[j * rows + i] = p->corner[i * ld + j];
    for (int j = 0; j < p->count; j++) {
        double *column = v + j * rows + j;
        const int64_t count = rows - j;
        const double left = reflection(r->ops, column, count, &tau[j]);
        column[0] = 1.0;
        for (int k = j + 1; k < MG_BAND; k++) {
            double *other = v + k * rows + j;
            r->ops->add(other, -tau[j] * r->ops->dot(column, other, count), column, count);
        }
        p->corner[j * ld + j] = left;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < MG_BAND; j++) {
            if (i == j) continue;
            p->corner[i * ld + j] = v[j * rows + i];
            if (i < j) v[j * rows + i] = 0.0;
        }
}

/* T, a column after the other: T_j = -tau_j T V' v_j. */
static void make_turns(const reduction *r, const panel *p, const double *tau) {
    memset(p->turns, 0, MG_BAND * MG_BAND * sizeof *p->turns);
    for (int j = 0; j < p->count; j++) {
        double products[MG_BAND];
        for (int i = 0; i < j; i++)
            products[i] = r->ops->dot(r->v + i * p->rows + j, r->v + j * p->rows + j, p->rows - j);
        for (int i = 0; i < j; i++)
            for (int k = i; k < j; k++)
                p->turns[i * MG_BAND + j] -= tau[j] * p->turns[i * MG_BAND + k] * products[k];
        p->turns[j * MG_BAND + j] = tau[j];
    }
}

/* ---- The rest of the matrix ------------------------------------------------------------------ */

static void multiply(const char *turned, int64_t m, int64_t n, int64_t k, double alpha,
                     const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc) {
    const int rows = (int)m, columns = (int)n, depth = (int)k, a_ld = (int)lda, b_ld = (int)ldb,
              c_ld = (int)ldc;
    mg_blas_dgemm(&turned[0], &turned[1], &rows, &columns, &depth, &alpha, a, &a_ld, b, &b_ld,
                  &beta, c, &c_ld, 1, 1);
}

/* r->w = A V, A the rest; its lower triangle by rows is an upper one by columns. */
static void multiply_rest(const reduction *r, const panel *p) {
    const int64_t rows = p->rows, ld = r->form->ld;
    const double *rest = r->form->a + p->row * (ld + 1);
    memset(r->w, 0, (size_t)(rows * p->count) * sizeof *r->w);
    for (int64_t first = 0; first < rows; first += BLOCK) {
        const int64_t size = MG_MIN(BLOCK, rows - first), last = first + size;
        const double *corner = rest + first * (ld + 1), *below = corner + size * ld;
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j <= i; j++)
                r->square[i * size + j] = r->square[j * size + i] = corner[i * ld + j];
        multiply("NN", size, p->count, size, 1.0, r->square, size, r->v + first, rows, 1.0,
                 r->w + first, rows);
        multiply("NN", size, p->count, rows - last, 1.0, below, ld, r->v + last, rows, 1.0,
                 r->w + first, rows);
        multiply("TN", rows - last, p->count, size, 1.0, below, ld, r->v + first, rows, 1.0,
                 r->w + last, rows);
    }
}

static void update_rest(const reduction *r, const panel *p) {
    const int64_t rows = p->rows;
    const int n = (int)rows, k = p->count, ld = (int)r->form->ld;
    const double minus = -1.0, one = 1.0;
    double *v_y = r->small, *turned = v_y + MG_BAND * MG_BAND;
    /* by columns the rows of T are those of T' */
    multiply("NT", rows, k, k, 1.0, r->w, rows, p->turns, MG_BAND, 0.0, r->y, rows);
    multiply("TN", k, k, rows, 1.0, r->v, rows, r->y, rows, 0.0, v_y, MG_BAND);
    multiply("NN", k, k, k, 1.0, p->turns, MG_BAND, v_y, MG_BAND, 0.0, turned, MG_BAND);
    multiply("NN", rows, k, k, -0.5, r->v, rows, turned, MG_BAND, 1.0, r->y, rows);
    mg_blas_dsyr2k("U", "N", &n, &k, &minus, r->v, &n, r->y, &n, &one,
                   r->form->a + p->row * (r->form->ld + 1), &ld, 1, 1);
}

static void reduce(void *argument) {
    const reduction *r = argument;
    for (int64_t first = 0; first + MG_BAND + 1 < r->form->n; first += MG_BAND) {
        const panel p = panel_at(r->form, first);
        double tau[MG_BAND];
        reflect_panel(r, &p, tau);
        make_turns(r, &p, tau);
        multiply_rest(r, &p);
        update_rest(r, &p);
    }
}

static int64_t own_room(int64_t n) {
    return 3 * n * MG_BAND + 2 * MG_BAND * MG_BAND + BLOCK * BLOCK;
}

int64_t mg_band_room(int64_t n) {
    const int64_t most = (int64_t)1 << 40; /* what has more rows has no matrix */
    return own_room(MG_MIN(n, most)) + mg_blas_room(n);
}

margin_status mg_band_reduce(const mg_stop *stop, const mg_band_form *form, margin_error *error) {
    const int64_t part = form->n * MG_BAND;
    reduction r = {.form = form, .ops = mg_vector_ops_for(mg_isa_level())};
    MG_REQUIRE(form->ld <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "a matrix dimension of %lld is beyond 2147483647", (long long)form->ld);
    MG_NEW(stop->context->heap, r.v, own_room(form->n), "the workspace of a band form", error);
    r.y = r.v + part;
    r.w = r.y + part;
    r.small = r.w + part;
    r.square = r.small + 2 * MG_BAND * MG_BAND;
    const margin_status status = mg_blas_run(stop, form->n, reduce, &r, error);
    mg_free(stop->context->heap, r.v);
    return status;
}

/* ---- Solves ---------------------------------------------------------------------------------- */

enum { WIDTH = MG_BAND + 1 }; /* of a column of the factor, from the diagonal down */

/* Columns are followed by zeros meanwhile, so that all of them have one length. */
bool mg_band_factor(const mg_band_form *form, double shift, double *factor) {
    double column[2 * MG_BAND + 1] = {0};
    memset(factor, 0, (size_t)(form->n * WIDTH) * sizeof *factor);
    for (int64_t i = 0; i < form->n; i++)
        for (int64_t j = MG_MAX(i - MG_BAND, 0); j <= i; j++)
            factor[j * WIDTH + i - j] = form->a[i * form->ld + j];
    for (int64_t j = 0; j < form->n; j++) {
        double *own = factor + j * WIDTH;
        const double pivot = own[0] + shift, root = sqrt(pivot);
        if (!(pivot > 0.0)) return false;
        own[0] = root;
        for (int64_t i = 1; i < WIDTH; i++)
            own[i] /= root;
        memcpy(column, own, WIDTH * sizeof *own);
        for (int64_t k = 1; k <= MG_MIN(form->n - 1 - j, MG_BAND); k++) {
            double *other = own + k * WIDTH;
            for (int64_t i = 0; i < MG_BAND; i++)
                other[i] -= column[k] * column[k + i];
        }
    }
    return true;
}

/* x = Q_k x, or Q_k' x */
static void turn(const mg_band_form *form, const mg_vector_ops *ops, int64_t first, bool back,
                 double *x) {
    const panel p = panel_at(form, first);
    double w[MG_BAND] = {0}, turned[MG_BAND] = {0};
    x += p.row;
    for (int64_t i = 0; i < p.rows; i++) {
        const int64_t count = MG_MIN(i, p.count);
        ops->add(w, x[i], p.corner + i * form->ld, count);
        if (i < p.count) w[i] += x[i];
    }
    for (int i = 0; i < p.count; i++)
        for (int k = i; k < p.count; k++)
            if (back)
                turned[k] += p.turns[i * MG_BAND + k] * w[i];
            else
                turned[i] += p.turns[i * MG_BAND + k] * w[k];
    for (int64_t i = 0; i < p.rows; i++) {
        const int64_t count = MG_MIN(i, p.count);
        x[i] -= ops->dot(p.corner + i * form->ld, turned, count);
        if (i < p.count) x[i] -= turned[i];
    }
}

void mg_band_turn(const mg_band_form *form, bool back, int64_t vectors, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t panels = MG_MAX(form->n - 2, 0) / MG_BAND;
    for (int64_t k = 0; k < panels; k++)
        for (int64_t t = 0; t < vectors; t++)
            turn(form, ops, (back ? k : panels - 1 - k) * MG_BAND, back, x + t * form->n);
}

void mg_band_solve(const mg_band_form *form, const double *factor, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t n = form->n;
    for (int64_t j = 0; j < n; j++) {
        const double *own = factor + j * WIDTH;
        x[j] /= own[0];
        ops->add(x + j + 1, -x[j], own + 1, MG_MIN(n - 1 - j, MG_BAND));
    }
    for (int64_t j = n - 1; j >= 0; j--) {
        const double *own = factor + j * WIDTH;
        x[j] = (x[j] - ops->dot(own + 1, x + j + 1, MG_MIN(n - 1 - j, MG_BAND))) / own[0];
    }
}
