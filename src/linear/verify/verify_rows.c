/* Least squares without a penalty and more columns than a factor is made of: no weights tell equal
 * rows apart, so that P* is at least what is left when each of them has the mean of all. And rows
 * that own a column can be fitted whatever the others do (learn/exact/owned_rows.h): P* is that of
 * the others, a problem of its own, of which the products tell. */
#include "learn/exact/owned_rows.h"
#include "linear/verify/verification.h"

#include <string.h>

typedef mg_real real;

typedef struct between {
    mg_arena arena;
    double *weights, *norm; /* samples, columns */
    mg_owned_rows rows;
    real *sum, *weight; /* rows: of residuals and weights */
} between;

static margin_status read_sums(mg_verification *k, between *b) {
    MG_TRY(MG_PIECES(&b->arena, "a verification", k->fit->error, MG_PIECE(b->weights, k->samples),
                     MG_PIECE(b->norm, k->columns), MG_PIECE(b->sum, k->samples),
                     MG_PIECE(b->weight, k->samples)));
    for (int64_t i = 0; i < k->samples; i++) {
        b->weights[i] = (double)k->c[i];
        b->sum[i] = b->weight[i] = 0.0L;
    }
    for (int64_t j = 0; j < k->columns; j++)
        b->norm[j] = k->far[j] > 0.0L ? 1.0 : 0.0;
    MG_TRY(mg_owned_rows_equal(k->fit->context, k->problem, b->weights, &b->arena, &b->rows,
                               k->fit->error));
    MG_TRY(mg_owned_rows_find(k->fit->context, k->problem, k->options->intercept, b->norm,
                              &b->arena, &b->rows, k->fit->error));
    for (int64_t i = 0; i < k->samples; i++) {
        if (!(b->weights[i] > 0.0)) continue;
        b->sum[b->rows.group[i]] += k->c[i] * ((real)k->problem->target[i] - k->scores[i]);
        b->weight[b->rows.group[i]] += k->c[i];
    }
    return MARGIN_OK;
}

static real distance_of_row(const between *b, int64_t place) {
    const int64_t g = b->rows.owners > 0 ? b->rows.order[place] : place;
    return b->sum[g] * b->sum[g] / b->weight[g];
}

/* The distance of the others alone. */
static margin_status find_others(mg_verification *k, between *b, real *distance) {
    const mg_owned_rows *o = &b->rows;
    const int64_t n = o->columns;
    mg_problem problem;
    mg_fit fit = *k->fit;
    mg_verification others = *k;
    real ignored;
    MG_TRY(mg_owned_rows_others(o, &b->arena, &problem, k->fit->error));
    MG_TRY(MG_PIECES(&b->arena, "a verification", k->fit->error, MG_PIECE(others.v, n + 1),
                     MG_PIECE(others.blur, n + 1), MG_PIECE(others.far, n + 1),
                     MG_PIECE(others.c, problem.count), MG_PIECE(others.scores, problem.count)));
    fit.claimed = NULL;
    others.fit = &fit;
    others.problem = &problem;
    others.samples = problem.count;
    others.columns = n;
    for (int64_t j = 0; j <= n; j++) {
        others.v[j] = others.blur[j] = 0.0L;
        others.far[j] = 1.0L;
    }
    for (int64_t i = 0; i < others.samples; i++) {
        const int64_t g = o->order[o->owners + i];
        others.c[i] = b->weight[g];
        others.scores[i] = (real)problem.target[i] - b->sum[g] / b->weight[g];
        MG_TRY(mg_verify_row(&others, i));
        for (int64_t e = 0; e < others.entries; e++)
            others.v[others.at[e]] -= 2.0L * b->sum[g] * others.values[e];
    }
    return mg_verify_by_products(&others, distance, &ignored);
}

static margin_status judge(mg_verification *k, between *b, real *distance) {
    const mg_owned_rows *o = &b->rows;
    real of_owners = 0.0L, of_others = 0.0L, others = (real)INFINITY;
    MG_TRY(read_sums(k, b));
    for (int64_t place = 0; place < o->rows; place++)
        *(place < o->owners ? &of_owners : &of_others) += distance_of_row(b, place);
    if (o->owners > 0) MG_TRY(find_others(k, b, &others));
    *distance = of_owners + fminl(of_others, others);
    return MARGIN_OK;
}

margin_status mg_verify_between_rows(mg_verification *k, mg_real *distance, mg_real *moved) {
    between b = {0};
    mg_arena_init(&b.arena, k->fit->context->heap);
    const margin_status status = judge(k, &b, distance);
    mg_arena_free(&b.arena);
    mg_verify_many_columns(k);
    *moved = k->rounding;
    return status;
}
