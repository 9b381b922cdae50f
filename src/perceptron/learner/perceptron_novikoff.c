/* Novikoff's proof in numbers: the largest margin gamma, the bound (R/gamma)^2 on updates, and both
 * inequalities step by step. With u the unit vector of the largest margin, steps of rate eta from
 * v_0 and v = (w, b) (of kernels: in feature space),
 *
 *   v_k . u >= v_0 . u + k eta gamma      as an update adds eta y (x, 1) . u >= eta gamma
 *   |v_k|^2 <= |v_0|^2 + k eta^2 R^2      as it is made where y (x, 1) . v <= 0
 *
 * Any u that separates will do: that of a kernel is as near to the best as coordinate descent gets.
 */
#include "perceptron/learner/perceptron_run.h"

#include <math.h>
#include <string.h>

/* With bound=auto the search for the largest margin may read as many numbers as the passes did, and
 * these at least: a tenth of a millisecond, and some where passes have no end in sight, as an
 * answer is worth more there. */
static const double least_work = 0.1 * MG_FEW_NUMBERS, least_work_stuck = 2.0 * MG_FEW_NUMBERS;

double mg_perceptron_numbers(const mg_perceptron_run *run) {
    return mg_row_length(&run->problem->x) * (double)run->count;
}

/* ---- The largest margin ---------------------------------------------------------------------- */

bool mg_perceptron_asks_for_margin(const mg_perceptron_options *options) {
    return options->bound == MG_BOUND_YES || options->bound == MG_BOUND_STEPS;
}

/* Numbers that the search may yet read. */
static double work_left(const mg_perceptron_run *run) {
    if (mg_perceptron_asks_for_margin(&run->options)) return (double)INFINITY;
    if (run->options.bound == MG_BOUND_NO || run->options.expansion) return 0.0;
    if (run->options.constant == 0.0) return 0.0; /* what is sought has an intercept */
    const double work = mg_perceptron_numbers(run) * (double)run->passes;
    return fmax(work, run->stuck ? least_work_stuck : least_work) - run->separation_work;
}

/* A proof that there is no hyperplane rests on up to one row more than there are columns, and each
 * that comes in reads the members many times over and the pool once (separation_search.c: 16 times,
 * and about a thousand rows). A margin takes the way there, the way to the widest one, and some
 * looks at all rows. Whoever may not read so much need not begin. */
static bool is_out_of_reach(const mg_perceptron_run *run) {
    enum { POOL = 1000, MEMBER = 16, LOOKS = 8 };
    const double rows = (double)MG_MIN(run->columns + 1, run->count);
    const double read = (double)MG_MIN(run->count, POOL) + MEMBER / 2 * rows;
    const double change = rows * read * (double)run->columns;
    return (run->stuck ? change : 2.0 * change + LOOKS * mg_perceptron_numbers(run)) >
           work_left(run);
}

static margin_status separate_columns(mg_perceptron_run *run) {
    mg_separation found;
    MG_TRY(mg_perceptron_check_data(run));
    const margin_status status = mg_separate(run->context, run->problem, MG_SEPARATE_UNIT,
                                             work_left(run), &found, run->fit->error);
    if (status < 0) return status;
    const bool limited = status == MARGIN_STOPPED_ITERATIONS || status == MARGIN_STOPPED_TIME;
    run->verdict = found.verdict;
    run->separation_work += found.work;
    if (found.verdict == MG_SEPARABLE && !limited) run->separation_margin = found.margin;
    if (run->direction) {
        memcpy(run->direction, found.weights, (size_t)run->columns * sizeof *run->direction);
        run->direction[run->columns] = found.intercept;
    }
    mg_separation_free(&found);
    return MARGIN_OK;
}

/* The hard margin by its dual, min |v|^2/2 - sum a with v = sum a_i y_i (phi(x_i), 1) and a >= 0,
 * one coefficient at a time. Whatever a is, v/|v| has the margin min y v.x / |v|, and no unit
 * vector has more than |v| / sum a. */
typedef struct hard_margin {
    mg_perceptron_run *run;
    double *a, *margins; /* y_i (phi(x_i), 1) . v */
} hard_margin;

static margin_status raise_margin(hard_margin *h, int64_t i, double *moved) {
    mg_perceptron_run *run = h->run;
    const int8_t *sign = run->problem->sign;
    const double curvature = run->gram->diagonal[i] + 1.0;
    const double next = curvature > 0.0 ? h->a[i] + (1.0 - h->margins[i]) / curvature : 0.0;
    const double step = fmax(next, 0.0) - h->a[i];
    margin_status status = MARGIN_OK;
    if (step == 0.0) return MARGIN_OK;
    const double *row = mg_perceptron_gram_row(run, i, &status);
    if (!row) return status;
    for (int64_t j = 0; j < run->count; j++)
        h->margins[j] += step * sign[i] * sign[j] * (row[j] + 1.0);
    h->a[i] += step;
    *moved = fmax(*moved, fabs(step) * sqrt(curvature));
    return MARGIN_OK;
}

/* True: as near to the largest margin as asked. */
static bool is_widest(hard_margin *h) {
    mg_perceptron_run *run = h->run;
    double least = (double)INFINITY, square = 0.0, sum = 0.0;
    for (int64_t i = 0; i < run->count; i++) {
        least = fmin(least, h->margins[i]);
        square += h->a[i] * h->margins[i];
        sum += h->a[i];
    }
    const double length = sqrt(fmax(square, 0.0));
    if (!(least > 0.0) || !(length > 0.0)) return false;
    if (least / length <= run->separation_margin) return false;
    run->verdict = MG_SEPARABLE;
    run->separation_margin = least / length;
    for (int64_t i = 0; run->direction && i < run->count; i++)
        run->direction[i] = h->margins[i] / length;
    return least / length >= (1.0 - 1e-6) * length / sum;
}

static margin_status separate_kernel(mg_perceptron_run *run) {
    enum { SWEEPS = 1000 };
    hard_margin h = {run, NULL, NULL};
    MG_ARENA_NEW(&run->arena, h.a, 2 * run->count, "the largest margin", run->fit->error);
    h.margins = h.a + run->count;
    memset(h.a, 0, (size_t)(2 * run->count) * sizeof *h.a);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double moved = 0.0;
        for (int64_t i = 0; i < run->count; i++) {
            if (mg_cancelled(run->context)) return mg_fail_cancelled(run->fit->error);
            MG_TRY(raise_margin(&h, i, &moved));
        }
        if (is_widest(&h) || moved == 0.0) return MARGIN_OK;
        if (mg_stop_check(&run->stop, run->passes) != MARGIN_STOPPED_TIME) continue;
        run->separation_margin = (double)NAN; /* not the one that another fit finds */
        return MARGIN_STOPPED_TIME;
    }
    return MARGIN_OK;
}

margin_status mg_perceptron_kernel_margin(mg_fit *fit, const mg_kernel *kernel, double *margin) {
    mg_perceptron_run run = {.fit = fit,
                             .context = fit->context,
                             .problem = fit->problem,
                             .count = fit->problem->count,
                             .kernel = *kernel,
                             .gram_bytes = mg_context_room(fit->context, MG_PERCEPTRON_GRAM),
                             .stop = mg_stop_make(fit->context, -1),
                             .separation_margin = (double)NAN};
    mg_arena_init(&run.arena, fit->context->heap);
    margin_status status = mg_perceptron_gram_begin(&run);
    if (status == MARGIN_OK) status = separate_kernel(&run);
    if (status == MARGIN_STOPPED_TIME) status = mg_fail_cancelled(fit->error);
    *margin = run.separation_margin;
    mg_gram_free(run.gram);
    mg_arena_free(&run.arena);
    return status;
}

bool mg_perceptron_two_sides(const mg_problem *p) {
    if (p->kind != MG_TWO_CLASS) return false;
    for (int64_t i = 1; i < p->count; i++)
        if (p->sign[i] != p->sign[0]) return true;
    return false;
}

margin_status mg_perceptron_separability(mg_perceptron_run *run) {
    const bool known = run->verdict == MG_NOT_SEPARABLE || !isnan(run->separation_margin);
    if (known || !mg_perceptron_two_sides(run->problem) || !(work_left(run) > 0.0) ||
        is_out_of_reach(run))
        return MARGIN_OK;
    return run->options.expansion ? separate_kernel(run) : separate_columns(run);
}

bool mg_perceptron_separable(const mg_perceptron_run *run) {
    return run->verdict == MG_SEPARABLE;
}

/* ---- The bound ------------------------------------------------------------------------------- */

static bool steps_are_whole(const mg_perceptron_options *options, const mg_problem *p) {
    for (int64_t i = 0; p->weight && i < p->count; i++)
        if (p->weight[i] != floor(p->weight[i])) return false;
    return options->batch == 0;
}

bool mg_perceptron_starts_at_zero(const mg_perceptron_options *o) {
    if (o->start_intercept != 0.0 || o->random_start) return false;
    for (int64_t j = 0; j < o->start_count; j++)
        if (o->start_weights[j] != 0.0) return false;
    return true;
}

double mg_perceptron_bound_of(const mg_perceptron_options *options, const mg_problem *problem,
                              double radius, double margin) {
    const double ratio = radius / margin;
    const bool holds = mg_perceptron_starts_at_zero(options) && steps_are_whole(options, problem);
    return holds ? ratio * ratio : (double)NAN;
}

/* ---- Step by step ---------------------------------------------------------------------------- */

/* v . u, and |v|^2 */
static void measure_state(const mg_perceptron_run *run, double *along, double *square) {
    const mg_perceptron_state *now = &run->now;
    const double b = now->intercept[0];
    *square = b * b;
    if (now->weights) {
        *along = run->direction[run->columns] * b;
        for (int64_t j = 0; j < run->columns; j++) {
            *along += run->direction[j] * now->weights[j];
            *square += now->weights[j] * now->weights[j];
        }
        return;
    }
    *along = 0.0;
    for (int64_t i = 0; i < run->count; i++) {
        *along += now->alpha[i] * run->direction[i];
        *square += now->alpha[i] * run->problem->sign[i] * run->scores[i];
    }
}

margin_status mg_perceptron_proof_begin(mg_perceptron_run *run) {
    const int64_t numbers = run->options.expansion ? run->count : run->columns + 1;
    mg_perceptron_judgement judged;
    if (run->options.bound != MG_BOUND_STEPS || !run->fit->trace) return MARGIN_OK;
    MG_ARENA_NEW(&run->arena, run->direction, numbers, "the largest margin", run->fit->error);
    MG_TRY(mg_perceptron_separability(run));
    MG_TRY(mg_perceptron_judge(run, &run->now, true, &judged));
    run->proof_radius = judged.square + 1.0;
    if (isnan(run->separation_margin)) memset(run->direction, 0, (size_t)numbers * sizeof(double));
    measure_state(run, &run->proof_start.along, &run->proof_start.square);
    return MARGIN_OK;
}

const margin_novikoff *mg_perceptron_proof(mg_perceptron_run *run) {
    const double steps =
        steps_are_whole(&run->options, run->problem) ? (double)run->mistakes : (double)NAN;
    const double rate = run->options.rate;
    margin_novikoff *proof = &run->proof;
    if (!run->direction) return NULL;
    measure_state(run, &proof->along, &proof->square);
    proof->least_along = run->proof_start.along + steps * rate * run->separation_margin;
    proof->greatest_square = run->proof_start.square + steps * rate * rate * run->proof_radius;
    if (isnan(run->separation_margin)) proof->along = proof->least_along = (double)NAN;
    return proof;
}
