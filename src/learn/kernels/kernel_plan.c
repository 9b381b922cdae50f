/* The estimate. What it counts are the arrays that grow with the samples, as the files of each way
 * take them (arenas round them up, by ENDS), and those of a round and of a thread; tests hold it to
 * the real peak. */
#include "learn/kernels/kernel_plan.h"

#include "math/gram/gram.h"
#include "math/products/band_form.h"
#include "math/products/symmetric_product.h"
#include "math/rows/byte_rows.h"

#include <math.h>
#include <string.h>

/* Bytes a sample: to the end, and for each function; while it solves. Gigabytes that the matrix may
 * have. Products with it (of conjugate gradients: work_of) and factors that are expected. */
static const struct way {
    mg_gram_storage storage;
    double held, function, solving;
    int gigabytes;
    double products, factors;
} ways[] = {[MG_WAY_ROWS] = {MG_GRAM_ROWS, 101.0, 0.0, 80.0, 4, 3.0, 0.0},
            [MG_WAY_SHARED] = {MG_GRAM_ROWS, 101.0, 0.0, 80.0, 8, 3.0, 0.0},
            [MG_WAY_FACTOR] = {MG_GRAM_SQUARE, 48.0, 48.0, 512.0, 4, 0.0, 1.0},
            [MG_WAY_FORM] = {MG_GRAM_SQUARE, 312.0, 48.0, 272.0, 4, 0.0, 4.0},
            [MG_WAY_CONJUGATE] = {MG_GRAM_TRIANGLE, 56.0, 88.0, 536.0, 4, 0.0, 0.0},
            [MG_WAY_PATH] = {MG_GRAM_SQUARE, 1000.0, 0.0, 0.0, 4, 0.0, 30.0},
            [MG_WAY_NEWTON_FACTOR] = {MG_GRAM_SQUARE, 144.0, 0.0, 512.0, 4, 0.0, 10.0},
            [MG_WAY_NEWTON] = {MG_GRAM_TRIANGLE, 248.0, 0.0, 0.0, 4, 100.0, 0.0}};

int64_t mg_gram_before(int64_t count, int64_t index) {
    enum { SQUARE = MG_GRAM_BLOCK * MG_GRAM_BLOCK };
    return index * MG_GRAM_BLOCK * count - SQUARE * (index * (index - 1) / 2);
}

int64_t mg_system_bytes(mg_gram_storage storage, int64_t count) {
    const int64_t whole = count / MG_GRAM_BLOCK, rest = count % MG_GRAM_BLOCK;
    if (storage == MG_GRAM_NONE) return 0;
    if (storage == MG_GRAM_ROWS) return mg_gram_bytes(count, MARGIN_F32, count);
    if (count > 0 && count > INT64_MAX / 8 / count) return INT64_MAX;
    if (storage == MG_GRAM_SQUARE) return count * count * 8;
    return (mg_gram_before(count, whole) + rest * rest) * 8;
}

int64_t mg_kernel_set_size(int64_t count) {
    return MG_MIN(count >= 10000 ? 1024 : count >= 3000 ? 512 : 256, count);
}

int64_t mg_kernel_spare(const mg_kernel_sizes *s) {
    return (int64_t)fmin((double)s->count * (double)s->count / fmin((double)s->functions, 8.0),
                         1 << 30);
}

mg_kernel_sizes mg_kernel_sizes_of(const mg_fit *fit, const mg_kernel *kernel, int64_t functions) {
    const char *name = fit->learner->info.name;
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    return (mg_kernel_sizes){.learner = name,
                             .linear = mg_linear_instead(name, fit->problem->kind),
                             .kernel = kernel->kind,
                             .words = mg_kernel_given(&fit->learner->info, fit->options),
                             .definite = mg_kernel_is_definite(kernel),
                             .x = fit->problem->x,
                             .over =
                                 mg_byte_over(fit->context, &points.x, points.rows, points.count),
                             .count = fit->problem->count,
                             .labels = fit->problem->kind == MG_TWO_CLASS,
                             .functions = functions,
                             .samples = (double)functions * (double)fit->problem->count,
                             .threads = mg_threads(fit->context)};
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A tile of kernel values in f64, and panels of what it is made from, of a thread. */
static double scratch_bytes(const mg_kernel_sizes *s) {
    enum { SIDES = 64 + 128, TILE = 64 * 128, DEPTH = 256, SIDE = 8 };
    const double columns = (double)s->x.columns;
    if (s->kernel == MG_KERNEL_PRECOMPUTED) return 8.0 * TILE;
    if (s->kernel == MG_KERNEL_FUNCTION) return 8.0 * (SIDES * columns + 2 * TILE);
    if (mg_is_csr(&s->x) && columns > 8.0 * mg_row_length(&s->x))
        return 8.0 * (TILE + 0.5 * columns + SIDE * (double)mg_sparse_lines(&s->x));
    return 8.0 * (TILE + SIDES * fmin(columns, DEPTH));
}

/* Sums of a product of all values, half of which are made. */
static double square_bytes(const mg_kernel_sizes *s) {
    if (mg_kernel_basis_of(s->kernel) == MG_OF_NONE) return 0.0;
    return (double)mg_kernel_square_bytes(s->count);
}

/* So many rows in f32, and what they add to errors. */
static double narrow_bytes(const mg_kernel_sizes *s, double rows) {
    if (mg_is_csr(&s->x) || mg_kernel_basis_of(s->kernel) == MG_OF_NONE) return 0.0;
    double words = (double)s->x.columns;
    if (s->over > 0.0f && s->kernel != MG_KERNEL_LAPLACIAN) words = MG_BYTE_LINES(words) + 1;
    return 4.0 * (words + (s->kernel == MG_KERNEL_RBF ? 3.0 : 1.0)) * rows;
}

/* Of a coefficient: while functions are found, as they are put together, and in the model, there
 * with its dual form. */
enum { FOUND = 20, LISTED = 44, JOINED = 12, DUAL = 32 };

/* All rows as support: those of dense data also as panels, once more in f32 where rows are told
 * apart by them, with sizes of the coefficients. */
static double model_bytes(const mg_kernel_sizes *s, bool dual) {
    enum { INDEX = 8, ROW = 16, PANEL = 8, ROUGH = 4, SIZES = 16, MOST_PANELS = 1 << 28 };
    const double columns = (double)s->x.columns, value = (double)mg_type_size(s->x.value_type),
                 n = dual && s->functions == 1 ? fmin(s->samples, (double)s->x.rows)
                                               : (double)s->count;
    const bool rough = s->labels && !dual && s->kernel == MG_KERNEL_RBF;
    double row = mg_row_length(&s->x) * (value + INDEX);
    if (s->kernel == MG_KERNEL_PRECOMPUTED)
        row = 8.0 + INDEX;
    else if (!mg_is_csr(&s->x))
        row = columns *
              (value + (n * columns * PANEL <= MOST_PANELS ? PANEL : 0.0) + (rough ? ROUGH : 0.0));
    const double coefficient = JOINED + (dual ? DUAL : 0.0) + (rough ? SIZES : 0.0);
    return s->threads * scratch_bytes(s) + n * (ROW + row) + s->samples * coefficient;
}

/* Of svm: working sets, of a smaller problem too, of at most the rows kept, or the proof. */
static double round_bytes(const mg_kernel_sizes *s, const struct way *w, double matrix,
                          double threads) {
    enum { STRIP = 96, CHUNK = 1024 };
    const double n = (double)s->count, chunk = fmin(n, CHUNK) + STRIP * threads;
    const double set = fmin((double)mg_kernel_set_size(s->count), matrix / (4.0 * n));
    return w->held * n + fmax(5.0 * set * set + 48.0 * n + narrow_bytes(s, chunk),
                              w->solving * n + square_bytes(s) + threads * scratch_bytes(s));
}

/* Several side by side, and such a share of the samples of those that are done as their support;
 * then these together, with scores of the rows. Or one after the other, which gives its matrix back
 * before it lists its support. */
static double svm_bytes(const mg_kernel_sizes *s, const struct way *w, double matrix,
                        double share) {
    enum { SLOTS = 64, LIST = 48, ENDS = 1 << 17, SCORES = 16, SIDE = 480 };
    const double n = (double)s->count, found = share * s->samples * (FOUND + DUAL);
    const double rows = matrix + SLOTS * n + ENDS;
    if (w == &ways[MG_WAY_ROWS])
        return found * (1.0 - n / s->samples) +
               fmax(rows + narrow_bytes(s, n) + round_bytes(s, w, matrix, s->threads),
                    n * (w->held + LIST + LISTED + DUAL));
    mg_kernel_sizes one = *s;
    one.count = (int64_t)fmin(s->samples / (double)s->functions, n);
    const double together = fmin((double)s->functions, s->threads);
    const double each = round_bytes(&one, w, matrix, 1.0) + (double)mg_kernel_spare(s);
    const double scores = fmax(FOUND + DUAL, SCORES + 8.0 * s->threads);
    const double joined = share * s->samples * (JOINED + DUAL + scores);
    return rows +
           fmax(narrow_bytes(s, n + SIDE * s->threads),
                fmax(found + together * each, joined + together * (double)mg_kernel_spare(s)));
}

/* Of those that solve equations: what a product or a factor is made by, or the last function;
 * others are made, and the lists gone. Pivots have scratch of their own. */
static double equations_bytes(const mg_kernel_sizes *s, const struct way *w, double matrix) {
    enum { LEAST = 16, RANK = 1024, PIVOTS = 64, BLOCK = 256, ENDS = 1 << 15 };
    const double m = (double)s->count, k = (double)s->functions;
    const double width = mg_symmetric_ops_for(mg_isa_level(), false)->width;
    const double product = matrix > 0.0 ? 0.0 : square_bytes(s);
    double rank = 0.0, pivots = 0.0, beside = ENDS,
           most = 8.0 * (fmax(log2(m / BLOCK), 0.0) + s->threads);
    if (w == &ways[MG_WAY_NEWTON] && product > 0.0) most = 0.0;
    if (w == &ways[MG_WAY_FACTOR]) most = 8.0 * width * s->threads;
    if (w == &ways[MG_WAY_FORM]) most = 8.0 * (double)mg_band_room(s->count) / m;
    if (w == &ways[MG_WAY_PATH]) most = 24.0 * m; /* eigenvectors, and the workspace of LAPACK */
    if (w == &ways[MG_WAY_CONJUGATE]) {
        rank = fmin(fmax(2.0 * sqrt(m), LEAST), fmin(RANK, m));
        pivots = 8.0 * PIVOTS * (2.0 * PIVOTS + rank) + s->threads * scratch_bytes(s);
        beside += 3.0 * ENDS + 8.0 * (k + 1.0) * RANK;
        most *= k + 1.0;
    }
    return matrix + beside + m * (w->held + w->function * k + 8.0 * rank + (k - 1.0) * FOUND) +
           fmax(fmax(product + m * most, pivots + m * w->solving), m * LISTED);
}

double mg_kernel_beside_bytes(const mg_kernel_sizes *s) {
    const bool lengths = mg_kernel_basis_of(s->kernel) != MG_OF_NONE;
    return s->threads * scratch_bytes(s) + 8.0 * (lengths ? (double)s->x.rows : 0.0);
}

double mg_kernel_model_bytes(const mg_kernel_sizes *s) {
    return model_bytes(s, true);
}

static double peak_of(const mg_kernel_sizes *s, const struct way *w, double matrix, double share) {
    const bool squares = mg_kernel_basis_of(s->kernel) == MG_OF_SQUARES;
    const bool decides = !s->definite && s->count <= MG_MOST_DECIDED;
    const double m = (double)s->count, factor = decides ? m * (8.0 * m + 640.0) : 0.0; /* in f64 */
    const double bytes =
        w->storage == MG_GRAM_ROWS ? svm_bytes(s, w, matrix, share) : equations_bytes(s, w, matrix);
    return fmax(bytes, factor) + 8.0 * ((squares ? (double)s->x.rows : 0.0) + m) +
           s->threads * scratch_bytes(s);
}

static double work_of(const mg_kernel_sizes *s, const struct way *w, mg_gram_storage storage,
                      int64_t matrix) {
    enum { OF_A_VALUE = 8, AGAIN = 4, NARROW = 4 }; /* f32 is so much faster */
    enum { OF_A_TILE = 32, TOGETHER = 10 };         /* values that are summed where they are made */
    enum { STEPS = 5, OF_A_COLUMN = 2, MOST = 40 }; /* pivots stand for rows of few columns */
    const double m = (double)s->count, length = mg_row_length(&s->x), value = length + OF_A_VALUE;
    const double products =
        w == &ways[MG_WAY_CONJUGATE] ? fmin(STEPS + OF_A_COLUMN * length, MOST) : w->products;
    const double times = matrix < mg_system_bytes(storage, s->count) ? AGAIN : 1.0;
    if (storage == MG_GRAM_ROWS) return m * m / NARROW * (times * value + w->products);
    if (storage == MG_GRAM_NONE) return products * m * m * (length + OF_A_TILE) / TOGETHER;
    return m * m * (0.5 * value + products + w->factors * m / 3.0);
}

/* ---- The plan -------------------------------------------------------------------------------- */

static mg_kernel_plan plan_with(const margin_context *context, const mg_kernel_sizes *s,
                                const struct way *w, mg_gram_storage storage, int64_t matrix) {
    static const double a_second = 2e9; /* of a thread */
    static const double usual = 0.75;   /* support of several classes; all are to have room */
    const bool dual = w->storage == MG_GRAM_ROWS;
    /* how many rows svm supports is not known: said are all, if there may be room for them */
    const double model = model_bytes(s, dual), bytes = peak_of(s, w, (double)matrix, usual),
                 work = work_of(s, w, storage, matrix);
    /* rows that stay take half of what is left, as fewer will do; equations all but what they miss
     * in this estimate */
    const int64_t share = dual ? 1 : 2, most_matrix = ((int64_t)w->gigabytes << 30) / share;
    const int64_t room = share * mg_context_room(context, most_matrix),
                  left = 2 * mg_context_room(context, INT64_MAX);
    const double known = dual ? fmax(peak_of(s, w, (double)matrix, 1.0), model / 2.0)
                              : 17.0 / 16.0 * fmax(bytes, model);
    mg_kernel_plan plan = {storage,
                           false,
                           {.learner = s->learner,
                            .rows = s->count,
                            .matrix = matrix,
                            .whole = mg_system_bytes(w->storage, s->count),
                            .room = matrix > room ? room : left,
                            .linear = s->definite ? s->linear : NULL,
                            .waves = mg_kernel_has_waves(s->kernel),
                            .strict = storage == MG_GRAM_SQUARE,
                            .most = dual && model > bytes,
                            .threads = s->threads,
                            .work = work,
                            .seconds = work / a_second / s->threads}};
    memcpy(plan.says.words, s->words.text, sizeof plan.says.words);
    plan.says.fits = matrix <= room && known <= (double)left;
    const double most = fmin(fmax(bytes, model), plan.says.fits ? (double)left : 9e18);
    plan.says.bytes = most < 9e18 ? (int64_t)most : INT64_MAX;
    return plan;
}

/* Threads do not choose, as ways and few rows decide bits: there are fewer where all need too much.
 * Rows are fewer by halves where what is beside them needs the room; at least two. */
mg_kernel_plan mg_kernel_plan_make(const margin_context *context, const mg_kernel_sizes *s,
                                   mg_kernel_way way) {
    enum { PLANNED = 8 };
    const struct way *w = &ways[way];
    const int64_t least = mg_gram_bytes(s->count, MARGIN_F32, MG_MIN(s->count, 2));
    mg_gram_storage storage = w->storage;
    int64_t bytes = mg_system_bytes(storage, s->count);
    mg_kernel_sizes planned = *s;
    planned.threads = PLANNED;
    mg_kernel_plan plan = plan_with(context, &planned, w, storage, bytes);
    while (!plan.says.fits && way == MG_WAY_ROWS && bytes > least) {
        bytes = MG_MAX(bytes > plan.says.room ? plan.says.room : bytes / 2, least);
        plan = plan_with(context, &planned, w, storage, bytes);
    }
    if (!plan.says.fits && storage == MG_GRAM_TRIANGLE) {
        storage = MG_GRAM_NONE;
        bytes = 0;
    }
    const bool chosen = plan.says.fits;
    planned.threads = s->threads;
    do
        plan = plan_with(context, &planned, w, storage, bytes);
    while (!plan.says.fits && --planned.threads > 0);
    plan.chosen = chosen;
    return plan;
}
