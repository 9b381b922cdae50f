/* Register tiles of kernel values in f32, and sums of their rows: included by one file per
 * instruction set after its vectors, with TILE_ROWS, TILE_VECTORS and SCALAR_FMA(a, b, c) defined.
 */
#include "math/gram/gram_tiles.h"

#include <math.h>
#include <string.h>

enum { TILE_COLUMNS = TILE_VECTORS * FLANES, TILE_LINE = 16 /* numbers of a cache line */ };

/* 2^x for x <= 127, within two units in the last place, and never below 2^-125. The polynomial is
 * within 3e-9 of 2^r for |r| <= 1/2 (least greatest relative error, coefficients rounded one after
 * the other). */
MG_INLINE fvec fvec_exp2(fvec x) {
    static const float c[] = {0x1.5f0830p-10f, 0x1.3b2de0p-7f, 0x1.c6af7cp-5f,
                              0x1.ebfbdcp-3f,  0x1.62e430p-1f, 1.0f};
    x = fvec_max(x, fvec_set(-125.0f));
    const fvec k = fvec_round(x), r = fvec_subtract(x, k);
    fvec q = fvec_set(0x1.416b6ap-13f);
    for (int i = 0; i < MG_LENGTH(c); i++)
        q = fvec_fma(q, r, fvec_set(c[i]));
    return fvec_scale(q, k);
}

MG_INLINE fvec tile_power(fvec a, int n) {
    fvec result = fvec_set(1.0f);
    for (; n > 0; n >>= 1, a = fvec_multiply(a, a))
        if (n & 1) result = fvec_multiply(result, a);
    return result;
}

MG_INLINE fvec tile_finish(const mg_tile_finish *f, fvec sum, fvec squares) {
    const fvec one = fvec_set(1.0f);
    if (f->kind == MG_KERNEL_RBF)
        return fvec_exp2(fvec_min(fvec_add(sum, squares), fvec_set(0.0f)));
    if (f->kind == MG_KERNEL_LAPLACIAN) return fvec_exp2(fvec_subtract(fvec_set(0.0f), sum));
    const fvec z = fvec_fma(fvec_set(f->slope), sum, fvec_set(f->offset));
    if (f->kind == MG_KERNEL_POLY) return tile_power(z, f->degree);
    if (f->kind == MG_KERNEL_EXP) return fvec_exp2(z);
    if (f->kind != MG_KERNEL_SIGMOID) return z;
    const fvec e = fvec_exp2(fvec_min(z, fvec_set(60.0f))); /* of tanh: e^(2 z) */
    return fvec_subtract(one, fvec_divide(fvec_set(2.0f), fvec_add(e, one)));
}

MG_INLINE void tile_store(const mg_gram_tile *t, int r, const fvec *values) {
    float row[TILE_COLUMNS];
    if (t->columns == TILE_COLUMNS) {
        for (int v = 0; v < TILE_VECTORS; v++)
            fvec_store(t->out[r] + v * FLANES, values[v]);
        return;
    }
    for (int v = 0; v < TILE_VECTORS; v++)
        fvec_store(row + v * FLANES, values[v]);
    memcpy(t->out[r], row, (size_t)t->columns * sizeof *row);
}

/* Adds the chunk at column `from` to the sums, or begins with it. `absolute` is a constant where
 * this is called; a chunk's sums stay in registers. Where values will go is fetched meanwhile:
 * their rows are long out of the caches. */
MG_INLINE void tile_add_chunk(const mg_gram_tile *t, int64_t from, bool absolute) {
    const int64_t depth = MG_MIN(MG_TILE_CHUNK, t->depth - from);
    const float *a = t->a + from * TILE_ROWS, *b = t->b + from * TILE_COLUMNS;
    const bool more = !t->first || from > 0;
    const int ahead = t->last ? t->rows : 0;
    fvec sum[TILE_ROWS][TILE_VECTORS];
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < TILE_VECTORS; v++)
            sum[r][v] = fvec_set(0.0f);
    for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_COLUMNS) {
        fvec right[TILE_VECTORS];
        for (int v = 0; v < TILE_VECTORS; v++)
            right[v] = fvec_load(b + v * FLANES);
        for (int c = 0; k < ahead && c < TILE_COLUMNS; c += TILE_LINE)
            __builtin_prefetch(t->out[k] + c, 1);
        for (int r = 0; r < TILE_ROWS; r++) {
            const fvec left = fvec_set(a[r]);
            for (int v = 0; v < TILE_VECTORS; v++)
                sum[r][v] = absolute
                                ? fvec_add(sum[r][v], fvec_absolute(fvec_subtract(left, right[v])))
                                : fvec_fma(left, right[v], sum[r][v]);
        }
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < TILE_VECTORS; v++) {
            float *to = t->sums + r * TILE_COLUMNS + v * FLANES;
            fvec_store(to, more ? fvec_add(fvec_load(to), sum[r][v]) : sum[r][v]);
        }
}

/* `kind` is a constant where this is called. */
MG_INLINE void tile_give(const mg_gram_tile *t, mg_kernel_kind kind) {
    const mg_tile_finish finish = {kind, t->finish.slope, t->finish.offset, t->finish.degree};
    for (int r = 0; r < t->rows; r++) {
        const fvec square = fvec_set(t->a_square[r]);
        fvec values[TILE_VECTORS];
        for (int v = 0; v < TILE_VECTORS; v++)
            values[v] = tile_finish(&finish, fvec_load(t->sums + r * TILE_COLUMNS + v * FLANES),
                                    fvec_add(square, fvec_load(t->b_square + v * FLANES)));
        tile_store(t, r, values);
    }
}

static void tile_run(const mg_gram_tile *t) {
    const bool absolute = t->finish.kind == MG_KERNEL_LAPLACIAN;
    for (int64_t k = 0; k == 0 || k < t->depth; k += MG_TILE_CHUNK)
        if (absolute)
            tile_add_chunk(t, k, true);
        else
            tile_add_chunk(t, k, false);
    if (t->last && t->finish.kind == MG_KERNEL_RBF)
        tile_give(t, MG_KERNEL_RBF);
    else if (t->last)
        tile_give(t, t->finish.kind);
}

/* Like the dot product of a point with itself. */
static void tile_square(int64_t depth, const float *b, float *squares) {
    for (int v = 0; v < TILE_VECTORS; v++) {
        fvec total = fvec_set(0.0f);
        for (int64_t k = 0; k < depth; k += MG_TILE_CHUNK) {
            fvec sum = fvec_set(0.0f);
            for (int64_t j = k; j < MG_MIN(k + MG_TILE_CHUNK, depth); j++) {
                const fvec value = fvec_load(b + j * TILE_COLUMNS + v * FLANES);
                sum = fvec_fma(value, value, sum);
            }
            total = k > 0 ? fvec_add(total, sum) : sum;
        }
        fvec_store(squares + v * FLANES, fvec_multiply(fvec_set(-0.5f), total));
    }
}

/* ---- Sums of rows ---------------------------------------------------------------------------- */

enum { SUM_ROWS = 8 };

/* ahead: as many rows follow, whose numbers are fetched meanwhile. */
MG_INLINE void tile_add_rows(double *sums, int64_t columns, const float *const *rows,
                             const double *weights, int count, bool ahead) {
    vec w[SUM_ROWS];
    int64_t j = 0;
    for (int k = 0; k < count; k++)
        w[k] = vec_set(weights[k]);
    for (; j + LANES <= columns; j += LANES) {
        vec sum = vec_load(sums + j);
        for (int k = 0; k < count; k++)
            sum = vec_fma(w[k], vec_widen(rows[k] + j), sum);
        vec_store(sums + j, sum);
        for (int k = 0; ahead && j % FLANES == 0 && k < count; k++)
            __builtin_prefetch(rows[count + k] + j);
    }
    for (; j < columns; j++)
        for (int k = 0; k < count; k++)
            sums[j] = SCALAR_FMA(weights[k], (double)rows[k][j], sums[j]);
}

static void tile_sum(double *sums, int64_t columns, const float *const *rows, const double *weights,
                     int64_t count) {
    int64_t k = 0;
    for (; k + SUM_ROWS <= count; k += SUM_ROWS)
        tile_add_rows(sums, columns, rows + k, weights + k, SUM_ROWS, k + 2 * SUM_ROWS <= count);
    for (; k < count; k++)
        tile_add_rows(sums, columns, rows + k, weights + k, 1, false);
}

static void tile_sum_two(double *const *sums, const float *values, const int32_t *rows,
                         int64_t first, const float *const *weights, int64_t count) {
    enum { LISTS = 2 };
    float part[TILE_COLUMNS];
    for (int64_t k = 0; k < count; k += MG_SUM_ROWS) {
        fvec sum[LISTS][TILE_VECTORS];
        for (int v = 0; v < LISTS * TILE_VECTORS; v++)
            sum[v / TILE_VECTORS][v % TILE_VECTORS] = fvec_set(0.0f);
        for (int64_t j = k; j < MG_MIN(k + MG_SUM_ROWS, count); j++)
            for (int v = 0; v < TILE_VECTORS; v++) {
                const float *line = values + (rows[j] - first) * TILE_COLUMNS;
                for (int l = 0; l < LISTS; l++)
                    sum[l][v] =
                        fvec_fma(fvec_set(weights[l][j]), fvec_load(line + v * FLANES), sum[l][v]);
            }
        for (int l = 0; l < LISTS; l++) {
            for (int v = 0; v < TILE_VECTORS; v++)
                fvec_store(part + v * FLANES, sum[l][v]);
            for (int c = 0; c < TILE_COLUMNS; c += LANES)
                vec_store(sums[l] + c, vec_add(vec_load(sums[l] + c), vec_widen(part + c)));
        }
    }
}

#define GRAM_TILE_TABLE                                                                            \
    { TILE_ROWS, TILE_COLUMNS, tile_run, tile_square, tile_sum, tile_sum_two }
