#include "linear/folds/folds.h"

#include "linear/design/design.h"
#include "math/products/lapack.h"

#include <string.h>

enum { MOST_COLUMNS = 1024 };

/* Of a column's squares in a fold and in all. */
#define LEAST_SPREAD 1e-10

/* ---- Sums ------------------------------------------------------------------------------------ */

margin_status mg_fold_tested(const mg_problem *whole, const mg_problem *train, int64_t *tested,
                             int64_t *count) {
    int64_t learned = 0;
    *count = 0;
    for (int64_t i = 0; i < whole->count; i++)
        if (learned < train->count && mg_sample_row(train, learned) == mg_sample_row(whole, i))
            learned++;
        else
            tested[(*count)++] = i;
    return learned == train->count ? MARGIN_OK : MARGIN_ERROR_LIMIT;
}

/* rows: some samples of the whole, whose places become those of their rows. */
static margin_status add_gram(const mg_fold_products *p, int64_t *rows, double *weights,
                              double *targets, int64_t count, double *gram) {
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = rows[k];
        weights[k] = mg_sample_weight(p->whole, i);
        targets[k] = p->whole->target[i] - p->level;
        rows[k] = mg_sample_row(p->whole, i);
    }
    const mg_fit *fit = &p->fits[0];
    const mg_problem problem = {.kind = MG_REGRESSION,
                                .x = p->whole->x,
                                .columns = p->whole->columns,
                                .index = rows,
                                .count = count,
                                .target = targets,
                                .weight = weights};
    const mg_weighted_gram request = {
        .weights = weights, .centre = p->centre, .extra = targets, .extra_spread = 1.0};
    MG_SCOPED(mg_design, design);
    MG_TRY(mg_design_create(fit->context, &problem, &design, fit->error));
    return mg_design_gram(&design, &request, gram, fit->error);
}

static margin_status add_folds(mg_fold_products *p) {
    const int64_t samples = p->whole->count, square = p->size * p->size;
    margin_error *error = p->fits[0].error;
    int64_t *tested, count, all = 0;
    double *weights, *targets, *sum = p->grams + p->folds * square;
    MG_TRY(MG_PIECES(p->arena, "the rows of the folds", error, MG_PIECE(tested, samples),
                     MG_PIECE(weights, samples), MG_PIECE(targets, samples)));
    for (int64_t f = 0; f < p->folds; f++) {
        double *gram = p->grams + f * square;
        if (mg_fold_tested(p->whole, p->fits[f * p->count].problem, tested, &count) < 0)
            return mg_folds_decline(error, "a training part holds other rows");
        all += count;
        MG_TRY(add_gram(p, tested, weights, targets, count, gram));
        for (int64_t k = 0; k < square; k++)
            sum[k] += gram[k];
    }
    return all == samples ? MARGIN_OK : mg_folds_decline(error, "they do not have each row once");
}

/* Means of some rows: any point near the data would do. */
static void find_centre(mg_fold_products *p) {
    enum { SOME = 1000 };
    const mg_problem *whole = p->whole;
    const int64_t count = MG_MIN(whole->count, SOME);
    memset(p->centre, 0, (size_t)p->columns * sizeof(double));
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k * (whole->count / count);
        mg_sample_values(whole, i, p->target);
        for (int64_t j = 0; j < p->columns; j++)
            p->centre[j] += (p->target[j] - p->centre[j]) / (double)(k + 1);
        p->level += (whole->target[i] - p->level) / (double)(k + 1);
    }
}

/* Room for so many matrices, or for one of each fold and their sum (0), and the centre. */
static margin_status fold_products_open(mg_fold_products *p, mg_fit *fits, int64_t count,
                                        int64_t matrices, mg_arena *arena) {
    const mg_problem *whole = fits[0].shared->whole;
    *p = (mg_fold_products){.fits = fits,
                            .whole = whole,
                            .columns = whole->x.columns,
                            .size = whole->x.columns + 2,
                            .arena = arena};
    while (p->count < count && fits[p->count].problem == fits[0].problem)
        p->count++;
    p->folds = count / p->count;
    bool can = p->columns <= MOST_COLUMNS && p->folds * p->count == count;
    for (int64_t k = 0; k < count; k++)
        can = can && fits[k].problem->x.values == whole->x.values;
    if (!can) return mg_folds_decline(fits[0].error, "too many columns, or rows of their own");
    const int64_t numbers = (matrices > 0 ? matrices : p->folds + 1) * p->size * p->size;
    MG_TRY(MG_PIECES(arena, "the products of the folds", fits[0].error, MG_PIECE(p->grams, numbers),
                     MG_PIECE(p->centre, p->columns), MG_PIECE(p->target, p->columns)));
    memset(p->grams, 0, (size_t)numbers * sizeof(double));
    find_centre(p);
    return MARGIN_OK;
}

margin_status mg_fold_products_whole(mg_fold_products *p, mg_fit *fits, int64_t count,
                                     mg_arena *arena, int64_t *rows, double *weights,
                                     double *targets) {
    MG_TRY(fold_products_open(p, fits, count, 1, arena));
    for (int64_t i = 0; i < p->whole->count; i++)
        rows[i] = i;
    return add_gram(p, rows, weights, targets, p->whole->count, p->grams);
}

/* ---- One fold -------------------------------------------------------------------------------- */

static margin_status centre_products(const mg_fold_products *p, int64_t f, mg_fold_system *s) {
    const int64_t n = p->columns, size = p->size, last = (size - 1) * size;
    const double *own = p->grams + f * size * size, *all = p->grams + p->folds * size * size;
    const mg_problem *problem = p->fits[f * p->count].problem;
    const double *scale = problem->scale;
    const double total = all[last + size - 1] - own[last + size - 1];
    const double target = all[last + n] - own[last + n];
    for (int64_t j = 0; j < n; j++) {
        const double sj = all[last + j] - own[last + j], dj = scale ? scale[j] : 1.0;
        for (int64_t k = 0; k < n; k++) {
            const double sk = all[last + k] - own[last + k], dk = scale ? scale[k] : 1.0;
            s->matrix[j * n + k] =
                dj * dk * (all[j * size + k] - own[j * size + k] - sj * sk / total);
        }
        s->slope[j] = dj * (all[j * size + n] - own[j * size + n] - sj * target / total);
        s->mean[j] = dj * (p->centre[j] + sj / total) + (problem->shift ? problem->shift[j] : 0.0);
        const double spread = s->matrix[j * n + j], most = dj * dj * all[j * size + j];
        s->length[j] = sqrt(most);
        if (most == 0.0)
            s->constant++;
        else if (!(spread > LEAST_SPREAD * most))
            return MARGIN_ERROR_LIMIT;
    }
    s->length[n] = sqrt(all[n * size + n]);
    s->square = fmax(all[n * size + n] - own[n * size + n] - target * target / total, 0.0);
    s->level = p->level + target / total;
    return s->constant < n ? MARGIN_OK : MARGIN_ERROR_LIMIT;
}

margin_status mg_fold_turn(const mg_fold_products *p, double *matrix, const double *slope,
                           double *values, double *turned, margin_error *error) {
    const int64_t n = p->columns;
    const mg_stop stop = mg_stop_make(p->fits[0].context, -1);
    int64_t info = 0;
    MG_TRY(mg_lapack_dsyevd(&stop, 'V', 'U', n, matrix, n, values, &info, error));
    for (int64_t l = 0; l < n; l++) {
        values[l] = fmax(values[l], 0.0);
        turned[l] = 0.0;
        for (int64_t j = 0; j < n; j++)
            turned[l] += matrix[l * n + j] * slope[j];
    }
    return info == 0 ? MARGIN_OK : MARGIN_ERROR_LIMIT;
}

double mg_fold_intercept(const mg_fold_system *s, const double *w, int64_t columns) {
    double b = s->level;
    for (int64_t j = 0; j < columns; j++)
        b -= w[j] * s->mean[j];
    return b;
}

typedef struct fold_work {
    mg_fold_products p;
    int64_t room;
    mg_fold_solve *solve;
    const mg_linear_options *options;
} fold_work;

static margin_status solve_fold(void *argument, int64_t f, int worker) {
    const fold_work *work = argument;
    const mg_fold_products *p = &work->p;
    const int64_t n = p->columns;
    mg_fold_system s = {0};
    double *room;
    (void)worker;
    MG_SCOPED_ARENA(arena, p->arena->heap);
    MG_TRY(MG_PIECES(&arena, "a fold", NULL, MG_PIECE(s.matrix, n * n), MG_PIECE(s.slope, n),
                     MG_PIECE(s.mean, n), MG_PIECE(s.length, n + 1),
                     MG_PIECE(room, work->room * n)));
    MG_TRY(centre_products(p, f, &s));
    return work->solve(p, f, &s, room, work->options);
}

margin_status mg_fold_products_solve(mg_fit *fits, int64_t count, int64_t room,
                                     mg_fold_solve *solve, const mg_linear_options *options) {
    fold_work work = {.room = room, .solve = solve, .options = options};
    const mg_fold_products *p = &work.p;
    margin_error *error = fits[0].error;
    MG_SCOPED_ARENA(arena, fits[0].context->heap);
    MG_TRY(fold_products_open(&work.p, fits, count, 0, &arena));
    MG_TRY(add_folds(&work.p));
    margin_status status = mg_parallel(fits[0].context, p->folds, solve_fold, &work, error);
    if (status == MARGIN_ERROR_MEMORY)
        status = mg_no_memory(arena.heap, p->columns, sizeof(double), "a fold", error);
    else if (status < 0 && status != MARGIN_ERROR_CANCELLED)
        status = mg_folds_decline(error, "their columns depend on each other too closely");
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}
