/* Products of matrices for LAPACK: C += alpha A B in packed parts (Goto and van de Geijn, "Anatomy
 * of high-performance matrix multiplication", ACM TOMS 34, 2008), and what is made of them.
 *
 * A tile holds `width` neighbouring rows of C, and as many columns as it has "rows": C is
 * column-major here and row-major there. */
#include "math/products/blas.h"

#include <float.h>
#include <string.h>

/* ---- The way out ----------------------------------------------------------------------------- */

/* The call that this thread is in. Fortran's argument lists have no place for it. */
static _Thread_local mg_blas_call *inside;

/* Multiply-adds between two looks at the clock: a fraction of a millisecond, in plain C a few. */
static const double work_per_look = 1e6;

static margin_status look(const mg_blas_call *call) {
    if (mg_cancelled(call->stop->context)) return MARGIN_ERROR_CANCELLED;
    return mg_clock() >= call->stop->deadline ? MARGIN_STOPPED_TIME : MARGIN_OK;
}

mg_blas_call *mg_blas_now(double work) {
    mg_blas_call *call = inside;
    call->work += work;
    if (call->work < work_per_look) return call;
    call->work = 0.0;
    call->ended = look(call);
    if (call->ended != MARGIN_OK) longjmp(call->way_out, 1);
    return call;
}

/* Sizes, and the numbers of all the room. */
static int64_t blas_size(mg_blas_call *call, int64_t order) {
    enum { DEPTH = 128, TALL = 240, WIDE = 768, BLOCK = 64, CHUNK = 240 };
    const mg_isa isa = mg_isa_level();
    const margin_matrix shape = margin_dense_f64(NULL, 1, 1, 1);
    order = MG_MAX(order, 1);
    call->tiles = mg_symmetric_ops_for(isa, false);
    call->vectors = mg_vector_ops_for(isa);
    call->rows = mg_row_ops_for(&shape, isa);
    call->depth = MG_MIN(DEPTH, order);
    call->tall = MG_MIN(TALL, order);
    call->wide = MG_MIN(WIDE, order);
    call->block = MG_MIN(BLOCK, order);
    call->chunk = MG_MIN(CHUNK, order);
    return mg_symmetric_packed(call->tiles, call->tall, call->depth) +
           mg_symmetric_packed(call->tiles, call->wide, call->depth) +
           call->block * (call->block + call->chunk);
}

int64_t mg_blas_room(int64_t order) {
    mg_blas_call call = {0};
    return blas_size(&call, order);
}

static margin_status blas_prepare(mg_blas_call *call, int64_t order, margin_error *error) {
    const int64_t count = blas_size(call, order);
    MG_NEW(call->stop->context->heap, call->left, count, "the workspace of a matrix factorisation",
           error);
    call->right = call->left + mg_symmetric_packed(call->tiles, call->tall, call->depth);
    call->square = call->right + mg_symmetric_packed(call->tiles, call->wide, call->depth);
    call->part = call->square + call->block * call->block;
    return MARGIN_OK;
}

margin_status mg_blas_run(const mg_stop *stop, int64_t order, void (*body)(void *), void *argument,
                          margin_error *error) {
    mg_blas_call call = {.stop = stop};
    call.ended = look(&call);
    if (call.ended == MARGIN_OK) {
        MG_TRY(blas_prepare(&call, order, error));
        inside = &call;
        if (setjmp(call.way_out) == 0) body(argument);
        inside = NULL;
        mg_free(stop->context->heap, call.left);
    }
    return call.ended < 0 ? mg_fail_cancelled(error) : call.ended;
}

/* Before each root of a secular equation, which is as long as the matrix is wide: a look each. */
double mg_blas_dlamch(const char *name, size_t length) {
    (void)length;
    if (inside) mg_blas_now(work_per_look); /* a question for workspace is outside */
    switch (*name | 32) {
    case 'e':
        return DBL_EPSILON / 2.0;
    case 'p':
        return DBL_EPSILON;
    case 'b':
        return 2.0;
    case 'n':
        return DBL_MANT_DIG;
    case 'r':
        return 1.0;
    case 'm':
        return DBL_MIN_EXP;
    case 'l':
        return DBL_MAX_EXP;
    case 'o':
        return DBL_MAX;
    default:
        return DBL_MIN; /* safe minimum, underflow threshold */
    }
}

/* ---- C += alpha A B -------------------------------------------------------------------------- */

/* Element (i, k) lies at at[i * across + k * along]; one of the strides is 1. Of the right factor i
 * is the column. */
typedef struct operand {
    const double *at;
    int64_t across, along;
} operand;

static operand operand_of(const double *a, const int *ld, bool plain) {
    return (operand){a, plain ? 1 : *ld, plain ? *ld : 1};
}

static operand part_of(const operand *o, int64_t i, int64_t k) {
    return (operand){o->at + i * o->across + k * o->along, o->across, o->along};
}

static void pack(const mg_symmetric_ops *tiles, const operand *o, int64_t count, int64_t lines,
                 double *to) {
    const mg_affine plain = {NULL, NULL, NULL};
    const int64_t width = tiles->width;
    if (o->across == 1) {
        for (int64_t k = 0; k < lines; k++)
            tiles->pack_f64(o->at + k * o->along, count, &plain, 1.0, lines, to + k * width);
        return;
    }
    for (int64_t first = 0; first < count; first += width, to += width * lines)
        for (int64_t i = 0; i < width; i++) {
            const double *from = o->at + (first + i) * o->across;
            const bool there = first + i < count;
            for (int64_t k = 0; k < lines; k++)
                to[k * width + i] = there ? from[k * o->along] : 0.0;
        }
}

enum { WHOLE, LOWER, UPPER }; /* parts of C */

typedef struct product {
    mg_blas_call *call;
    int part;
    int64_t rows, columns, lines; /* of C; of the packed part */
    double alpha;
    double *c; /* from its element (0, 0), whatever of it is packed */
    int64_t ldc;
} product;

/* Whether element (i, j) belongs to the part. */
static bool is_wanted(const product *p, int64_t i, int64_t j) {
    return p->part == WHOLE || (p->part == LOWER ? i >= j : i <= j);
}

/* What crosses an edge of C or of its part, by way of a buffer. */
static void blas_add_part(const product *p, const double *left, const double *right, int64_t i,
                          int64_t j) {
    enum { MOST_ROWS = 8, MOST_WIDTH = 48 };
    const mg_symmetric_ops *tiles = p->call->tiles;
    const int64_t last_i = MG_MIN(i + tiles->width, p->rows);
    const int64_t last_j = MG_MIN(j + tiles->rows, p->columns);
    const int vectors = (int)((last_i - i + tiles->lanes - 1) / tiles->lanes);
    double part[MOST_ROWS * MOST_WIDTH];
    memset(part, 0, sizeof part);
    tiles->tile(p->lines, right, left, vectors, p->alpha, part, tiles->width);
    for (int64_t s = j; s < last_j; s++)
        for (int64_t r = i; r < last_i; r++)
            if (is_wanted(p, r, s)) p->c[r + s * p->ldc] += part[(s - j) * tiles->width + r - i];
}

/* The tile from element (i, j). */
static void add_tile(const product *p, const double *left, const double *right, int64_t i,
                     int64_t j) {
    const mg_symmetric_ops *tiles = p->call->tiles;
    const int64_t last_i = i + tiles->width - 1, last_j = j + tiles->rows - 1;
    if (p->part == LOWER ? last_i < j : p->part == UPPER && i > last_j) return;
    const bool inside_c = last_i < p->rows && last_j < p->columns;
    if (inside_c && is_wanted(p, i, last_j) && is_wanted(p, last_i, j))
        tiles->tile(p->lines, right, left, tiles->width / tiles->lanes, p->alpha,
                    p->c + i + j * p->ldc, p->ldc);
    else
        blas_add_part(p, left, right, i, j);
}

/* Rows [i, last_i) and columns [j, last_j), packed in call->left and call->right. */
static void add_packed(const product *p, int64_t i, int64_t last_i, int64_t j, int64_t last_j) {
    const mg_symmetric_ops *tiles = p->call->tiles;
    const int64_t width = tiles->width, panel = width * p->lines;
    for (int64_t s = j; s < last_j; s += width) {
        mg_blas_now((double)(width * (last_i - i) * p->lines));
        for (int64_t r = i; r < last_i; r += width)
            for (int64_t t = s; t < MG_MIN(s + width, last_j); t += tiles->rows)
                add_tile(p, p->call->left + (r - i) / width * panel,
                         p->call->right + (s - j) / width * panel + t - s, r, t);
    }
}

/* Adds alpha a b, `depth` products to a sum. */
static void add_product(product *p, const operand *a, const operand *b, int64_t depth) {
    const mg_blas_call *call = p->call;
    for (int64_t j = 0; j < p->columns; j += call->wide)
        for (int64_t k = 0; k < depth; k += call->depth) {
            const int64_t last_j = MG_MIN(j + call->wide, p->columns);
            const operand right = part_of(b, j, k);
            p->lines = MG_MIN(call->depth, depth - k);
            pack(call->tiles, &right, last_j - j, p->lines, call->right);
            for (int64_t i = 0; i < p->rows; i += call->tall) {
                const int64_t last_i = MG_MIN(i + call->tall, p->rows);
                const operand left = part_of(a, i, k);
                if (p->part == LOWER ? last_i <= j : p->part == UPPER && i >= last_j) continue;
                pack(call->tiles, &left, last_i - i, p->lines, call->left);
                add_packed(p, i, last_i, j, last_j);
            }
        }
}

/* c = beta c */
static void blas_scale(const product *p, double beta) {
    if (beta == 1.0) return;
    for (int64_t j = 0; j < p->columns; j++)
        for (int64_t i = 0; i < p->rows; i++) {
            double *c = p->c + i + j * p->ldc;
            if (is_wanted(p, i, j)) *c = beta == 0.0 ? 0.0 : beta * *c;
        }
}

static bool is(const char *option, char letter) {
    return (*option | 32) == letter;
}

void mg_blas_dgemm(const char *transpose_a, const char *transpose_b, const int *m, const int *n,
                   const int *k, const double *alpha, const double *a, const int *lda,
                   const double *b, const int *ldb, const double *beta, double *c, const int *ldc,
                   size_t length_a, size_t length_b) {
    const operand left = operand_of(a, lda, is(transpose_a, 'n'));
    const operand right = operand_of(b, ldb, !is(transpose_b, 'n'));
    product p = {.call = mg_blas_now(0.0), .alpha = *alpha, .c = c, .ldc = *ldc};
    (void)length_a;
    (void)length_b;
    p.rows = *m;
    p.columns = *n;
    blas_scale(&p, *beta);
    if (*alpha != 0.0) add_product(&p, &left, &right, *k);
}

void mg_blas_dsyrk(const char *uplo, const char *transpose, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *beta,
                   double *c, const int *ldc, size_t length_uplo, size_t length_transpose) {
    const operand factor = operand_of(a, lda, is(transpose, 'n'));
    product p = {.call = mg_blas_now(0.0), .alpha = *alpha, .c = c, .ldc = *ldc};
    (void)length_uplo;
    (void)length_transpose;
    p.part = is(uplo, 'l') ? LOWER : UPPER;
    p.rows = p.columns = *n;
    blas_scale(&p, *beta);
    if (*alpha != 0.0) add_product(&p, &factor, &factor, *k);
}

void mg_blas_dsyr2k(const char *uplo, const char *transpose, const int *n, const int *k,
                    const double *alpha, const double *a, const int *lda, const double *b,
                    const int *ldb, const double *beta, double *c, const int *ldc,
                    size_t length_uplo, size_t length_transpose) {
    const operand first = operand_of(a, lda, is(transpose, 'n'));
    const operand second = operand_of(b, ldb, is(transpose, 'n'));
    product p = {.call = mg_blas_now(0.0), .alpha = *alpha, .c = c, .ldc = *ldc};
    (void)length_uplo;
    (void)length_transpose;
    p.part = is(uplo, 'l') ? LOWER : UPPER;
    p.rows = p.columns = *n;
    blas_scale(&p, *beta);
    if (*alpha == 0.0) return;
    add_product(&p, &first, &second, *k);
    add_product(&p, &second, &first, *k);
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* op(a): element (i, k) at a[i * across + k * along]. */
typedef struct triangle {
    operand a;
    int64_t order;
    bool left, upper, unit; /* left: b = a b, else b = b a */
} triangle;

/* The block on the diagonal from element `first`, with its zeros, column-major. */
static void fill_square(const triangle *t, int64_t first, int64_t size, double *square) {
    const operand from = part_of(&t->a, first, first);
    for (int64_t k = 0; k < size; k++)
        for (int64_t i = 0; i < size; i++) {
            const bool there = t->upper ? i < k : i > k;
            const double value = from.at[i * from.across + k * from.along];
            square[i + k * size] = there ? value : i != k ? 0.0 : t->unit ? 1.0 : value;
        }
}

/* The rows (columns) of b from `first` on that belong to a block of the triangle become their part
 * of the product; those of b that it needs besides are as they came. b: t->order x count numbers,
 * or the other way round. */
static void multiply_block(mg_blas_call *call, const triangle *t, int64_t first, int64_t count,
                           double *b, int64_t ldb) {
    const int64_t size = MG_MIN(call->block, t->order - first), last = first + size;
    const int64_t rows = t->left ? size : count, columns = t->left ? count : size;
    /* those that are not replaced yet */
    const bool behind = t->left == t->upper;
    const int64_t from = behind ? last : 0, others = behind ? t->order - last : first;
    product p = {.call = call, .alpha = 1.0, .ldc = ldb, .rows = rows, .columns = columns};
    p.c = t->left ? b + first : b + first * ldb;
    fill_square(t, first, size, call->square);
    for (int64_t j = 0; j < columns; j++) {
        memcpy(call->part + j * rows, p.c + j * ldb, (size_t)rows * sizeof *b);
        memset(p.c + j * ldb, 0, (size_t)rows * sizeof *b);
    }
    const operand part = {call->part, t->left ? rows : 1, t->left ? 1 : rows};
    const operand square = {call->square, t->left ? 1 : size, t->left ? size : 1};
    const operand rest = {t->left ? b + from : b + from * ldb, t->left ? ldb : 1,
                          t->left ? 1 : ldb};
    const operand beside = part_of(&t->a, t->left ? first : from, t->left ? from : first);
    const operand turned = {beside.at, beside.along, beside.across};
    if (t->left) {
        add_product(&p, &square, &part, size);
        add_product(&p, &beside, &rest, others);
    } else {
        add_product(&p, &part, &square, size);
        add_product(&p, &rest, &turned, others);
    }
}

void mg_blas_dtrmm(const char *side, const char *uplo, const char *transpose, const char *diagonal,
                   const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                   double *b, const int *ldb, size_t length_side, size_t length_uplo,
                   size_t length_transpose, size_t length_diagonal) {
    mg_blas_call *call = mg_blas_now(0.0);
    const bool plain = is(transpose, 'n'), left = is(side, 'l');
    const triangle t = {.a = operand_of(a, lda, plain),
                        .order = left ? *m : *n,
                        .left = left,
                        .upper = is(uplo, 'u') == plain,
                        .unit = is(diagonal, 'u')};
    const product whole = {.c = b, .ldc = *ldb, .rows = *m, .columns = *n};
    const int64_t others = left ? *n : *m, blocks = (t.order + call->block - 1) / call->block;
    (void)length_side, (void)length_uplo, (void)length_transpose, (void)length_diagonal;
    blas_scale(&whole, *alpha);
    for (int64_t first = 0; first < others; first += call->chunk)
        for (int64_t k = 0; k < blocks; k++) {
            const int64_t block = t.left == t.upper ? k : blocks - 1 - k;
            multiply_block(call, &t, block * call->block, MG_MIN(call->chunk, others - first),
                           b + (left ? first * *ldb : first), *ldb);
        }
}

/* In place, column by column. */
static void invert_upper(int64_t size, double *u) {
    for (int64_t k = 0; k < size; k++) {
        double *column = u + k * size;
        const double own = 1.0 / column[k];
        for (int64_t i = 0; i < k; i++) {
            double sum = 0.0;
            for (int64_t l = i; l < k; l++)
                sum += u[i + l * size] * column[l];
            column[i] = -sum * own;
        }
        column[k] = own;
    }
}

/* `count` columns of b, from the last rows up: b = square^-1 (b - beside rest). */
static void solve_block(mg_blas_call *call, const triangle *t, int64_t first, int64_t count,
                        double *b, int64_t ldb) {
    const int64_t size = MG_MIN(call->block, t->order - first), last = first + size;
    product p = {.call = call, .c = b + first, .ldc = ldb, .rows = size, .columns = count};
    const operand beside = part_of(&t->a, first, last), rest = {b + last, ldb, 1};
    const operand square = {call->square, 1, size}, part = {call->part, size, 1};
    fill_square(t, first, size, call->square);
    invert_upper(size, call->square);
    p.alpha = -1.0;
    add_product(&p, &beside, &rest, t->order - last);
    for (int64_t j = 0; j < count; j++) {
        memcpy(call->part + j * size, p.c + j * ldb, (size_t)size * sizeof *b);
        memset(p.c + j * ldb, 0, (size_t)size * sizeof *b);
    }
    p.alpha = 1.0;
    add_product(&p, &square, &part, size);
}

void mg_blas_solve_upper(int64_t order, int64_t count, const double *a, int64_t lda, double *b,
                         int64_t ldb) {
    mg_blas_call *call = mg_blas_now(0.0);
    const triangle t = {.a = {a, 1, lda}, .order = order, .left = true, .upper = true};
    const int64_t blocks = (order + call->block - 1) / call->block;
    for (int64_t first = 0; first < count; first += call->chunk)
        for (int64_t k = blocks - 1; k >= 0; k--)
            solve_block(call, &t, k * call->block, MG_MIN(call->chunk, count - first),
                        b + first * ldb, ldb);
}
