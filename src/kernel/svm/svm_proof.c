/* The proof of a solution: its gradient once more, with kernel values in f64. */
#include "kernel/svm/svm_machine.h"

#include <math.h>
#include <string.h>

/* Rows of which products are wanted, and the variables that make them. */
typedef struct proof_lists {
    int64_t *rows, *variables;             /* rows of x, and the variables they belong to */
    int64_t *support;                      /* rows of x; of a precomputed matrix its columns */
    int64_t *other_rows, *other_variables; /* scratch */
    double *weights, *products;
    double *off;    /* of the gram's points: what f32 adds to errors */
    double *errors; /* of each variable: what f32 may have done to its gradient; NULL: anything */
    int64_t count, support_count;
} proof_lists;

static const char proof_purpose[] = "the proof of the solution";

/* The variables whose coefficients differ from `base` (NULL: from 0), with the difference. */
static void list_changes(const mg_svm_machine *m, const double *base, proof_lists *lists) {
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    lists->support_count = 0;
    for (int64_t v = 0; v < m->smo.count; v++) {
        const int64_t i = m->sample[v];
        const double change = mg_svm_beta(m, v) - (base ? base[v] : 0.0);
        if (change == 0.0) continue;
        lists->support[lists->support_count] = mg_point_right(&m->kernel, &points, i);
        lists->weights[lists->support_count++] = change;
    }
}

/* What f32 may have done to a gradient: it came from at most these coefficients in f32, and from
 * those of the last proof in f64. */
static void find_errors(const mg_svm_machine *m, proof_lists *lists) {
    const int64_t n = m->smo.count, *place = m->smo.place;
    double *errors = lists->errors;
    mg_gram_error error;
    lists->errors = NULL;
    if (m->whole_proof || m->type != MARGIN_F32) return;
    if (!mg_gram_error_start(mg_svm_gram(m), &error, lists->off)) return;
    for (int64_t v = 0; v < n; v++)
        mg_gram_error_add(&error, fabs(mg_svm_beta(m, v)) + m->reach[v],
                          lists->off[place ? place[v] : v]);
    for (int64_t v = 0; v < n; v++)
        errors[v] = mg_gram_error_at(&error, lists->off[place ? place[v] : v]);
    lists->errors = errors;
}

/* Whether the proof needs the gradient of a row in f64: not where it costs nothing and does not
 * decide the intercept, whatever f32 did to it. */
static bool is_needed(const mg_svm_machine *m, const proof_lists *lists, double intercept,
                      int64_t v) {
    const mg_smo *s = &m->smo;
    if (!lists->errors || s->beta[v] != 0.0) return true;
    const double r = s->f[v] + intercept, error = lists->errors[v];
    if (mg_smo_right(s, v) - error <= s->up || mg_smo_left(s, v) + error >= s->lowest) return true;
    return (s->high[v] > 0.0 && -r - s->epsilon + error > 0.0) ||
           (s->low[v] < 0.0 && r - s->epsilon + error > 0.0);
}

static void list_needed(const mg_svm_machine *m, bool proven, proof_lists *lists) {
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    const double intercept = mg_smo_intercept(&m->smo);
    lists->count = 0;
    for (int64_t v = 0; v < m->smo.count; v++) {
        if (m->is_proven[v] != proven || !is_needed(m, lists, intercept, v)) continue;
        lists->rows[lists->count] = mg_point_row(&points, m->sample[v]);
        lists->variables[lists->count++] = v;
    }
}

/* Puts the rows that are support, too, in front, in its order. Whether that is all support. */
static bool begins_with_support(proof_lists *lists) {
    int64_t met = 0, others = 0;
    for (int64_t k = 0; k < lists->count; k++) {
        const int64_t row = lists->rows[k], variable = lists->variables[k];
        if (met < lists->support_count && row == lists->support[met]) {
            lists->rows[met] = row;
            lists->variables[met++] = variable;
        } else {
            lists->other_rows[others] = row;
            lists->other_variables[others++] = variable;
        }
    }
    memcpy(lists->rows + met, lists->other_rows, (size_t)others * sizeof *lists->rows);
    memcpy(lists->variables + met, lists->other_variables,
           (size_t)others * sizeof *lists->variables);
    return met == lists->support_count;
}

static margin_status proof_multiply(mg_svm_machine *m, proof_lists *lists, const double *squares) {
    const margin_matrix *x = &m->problem->x;
    const int64_t square = begins_with_support(lists) ? lists->support_count : 0;
    mg_kernel_scratch *scratch;
    mg_kernel_block block = {.x = x,
                             .z = x,
                             .x_rows = lists->rows,
                             .x_count = square,
                             .z_rows = lists->support,
                             .z_count = lists->support_count,
                             .x_squares = squares,
                             .z_squares = squares};
    margin_error *error = m->fit->error;
    MG_TRY(mg_kernel_scratch_new(m->fit->context, &m->kernel, x, x, &scratch, error));
    margin_status status =
        mg_kernel_multiply_square(scratch, &block, lists->weights, lists->products, error);
    block.x_rows += square;
    block.x_count = lists->count - square;
    double *others = lists->products + square;
    if (status >= 0)
        status =
            mg_kernel_fail(mg_kernel_multiply(scratch, &block, lists->weights, 1, others), error);
    mg_kernel_scratch_free(scratch);
    return status;
}

/* ---- From a matrix that stays ---------------------------------------------------------------- */

/* The penalties of a search prove one after the other: from the second on they add the rows of a
 * whole matrix in f64. Not by the room that other threads leave: bits depend on this. */
static margin_status hold_exact(mg_svm_machine *m) {
    enum { MOST_ROWS = 4096 };
    margin_context *context = m->fit->context;
    const int64_t n = m->smo.count;
    if (!m->again || m->exact || n > MOST_ROWS || mg_heap_limit(context->heap) > 0)
        return MARGIN_OK;
    const mg_gram_request request = {.kernel = m->kernel,
                                     .points = mg_kernel_points_of(m->problem),
                                     .type = MARGIN_F64,
                                     .bytes = mg_gram_bytes(n, MARGIN_F64, n)};
    mg_heap_announce(context->heap, request.bytes); /* beside what the fit takes */
    MG_TRY(mg_gram_create(context, &request, &m->exact, m->fit->error));
    return mg_gram_fill(m->exact, context, m->fit->error);
}

static margin_status add_changes(mg_svm_machine *m) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t n = m->smo.count;
    int64_t ld;
    const double *values = mg_gram_values(m->exact, &ld);
    for (int64_t v = 0; v < n; v++) {
        const double beta = mg_svm_beta(m, v);
        if (beta == m->proven_beta[v]) continue;
        if (mg_cancelled(m->fit->context)) return mg_fail_cancelled(m->fit->error);
        ops->add(m->proven_f, beta - m->proven_beta[v], values + v * ld, n);
        m->proven_beta[v] = beta;
        m->reach[v] = fmax(m->reach[v], fabs(beta));
    }
    memcpy(m->smo.f, m->proven_f, (size_t)n * sizeof *m->smo.f);
    mg_smo_measure(&m->smo);
    return MARGIN_OK;
}

/* ---- From the rows --------------------------------------------------------------------------- */

/* The gradients of the rows listed, from what they were plus the products. */
static margin_status prove_listed(mg_svm_machine *m, bool proven, proof_lists *lists,
                                  const double *squares) {
    MG_TRY(proof_multiply(m, lists, squares));
    for (int64_t k = 0; k < lists->count; k++) {
        const int64_t v = lists->variables[k];
        m->proven_f[v] = lists->products[k] + (proven ? m->proven_f[v] : -m->smo.target[v]);
        m->smo.f[v] = m->proven_f[v];
    }
    for (int64_t v = 0; v < m->smo.count && proven; v++)
        m->is_proven[v] = false;
    for (int64_t k = 0; k < lists->count; k++)
        m->is_proven[lists->variables[k]] = true;
    return MARGIN_OK;
}

/* What was proven follows the change, unless fewer are not 0 than changed; then rows that are
 * needed and not proven, until there is no such row at the intercept that they make. */
static margin_status prove_rows(mg_svm_machine *m, proof_lists *lists, const double *squares) {
    const int64_t n = m->smo.count;
    find_errors(m, lists);
    list_changes(m, NULL, lists);
    const int64_t support = lists->support_count;
    list_needed(m, true, lists);
    list_changes(m, m->proven_beta, lists);
    if (lists->support_count < support)
        MG_TRY(prove_listed(m, true, lists, squares));
    else
        memset(m->is_proven, 0, (size_t)n * sizeof *m->is_proven);
    list_changes(m, NULL, lists);
    for (int64_t v = 0; v < n; v++) {
        m->proven_beta[v] = mg_svm_beta(m, v);
        m->reach[v] = fmax(m->reach[v], fabs(m->proven_beta[v]));
    }
    for (;;) {
        mg_smo_measure(&m->smo);
        list_needed(m, false, lists);
        if (lists->count == 0) return MARGIN_OK;
        MG_TRY(prove_listed(m, false, lists, squares));
    }
}

static margin_status prove_changes(mg_svm_machine *m) {
    margin_context *context = m->fit->context;
    margin_error *error = m->fit->error;
    const int64_t n = m->smo.count;
    const mg_gram *gram = mg_svm_gram(m);
    proof_lists lists = {0};
    MG_TRY(hold_exact(m));
    if (m->exact) return add_changes(m);
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, proof_purpose, error, MG_PIECE(lists.rows, n),
                     MG_PIECE(lists.variables, n), MG_PIECE(lists.support, n),
                     MG_PIECE(lists.other_rows, n), MG_PIECE(lists.other_variables, n),
                     MG_PIECE(lists.weights, n), MG_PIECE(lists.products, n),
                     MG_PIECE(lists.errors, n), MG_PIECE(lists.off, gram->points.count)));
    return prove_rows(m, &lists, gram->squares);
}

bool mg_svm_is_proven(const mg_svm_machine *m) {
    const mg_smo *s = &m->smo;
    if (m->options.kkt > 0.0) return s->lowest - s->up <= m->options.kkt;
    return s->dual_gap <= s->gap + m->options.tolerance * fabs(s->primal);
}

margin_status mg_svm_prove_again(mg_svm_machine *m) {
    static const double most = 4.0;  /* verification allows for 16 roundings of what it is now */
    double reached = 0.0, now = 0.0; /* sizes of the sums for a row */
    for (int64_t v = 0; v < m->smo.count; v++) {
        const double length = sqrt(fabs((double)m->diagonal[v]));
        reached += length * m->reach[v];
        now += length * fabs(m->proven_beta[v]);
    }
    if (reached <= most * now) return MARGIN_OK;
    for (int64_t v = 0; v < m->smo.count; v++) {
        m->proven_beta[v] = 0.0;
        m->proven_f[v] = -m->smo.target[v];
    }
    return prove_changes(m);
}

/* What the factor rounds to its bound is on it. What rounding of larger coefficients left of their
 * sum goes to the largest inside its box. */
static void balance(mg_svm_machine *m) {
    mg_smo *s = &m->smo;
    long double missing = (long double)(mg_svm_total(&m->options, m->problem) / m->factor);
    double sizes = 0.0;
    int64_t most = -1;
    for (int64_t v = 0; v < s->count; v++) {
        double low, high, target;
        mg_svm_box(&m->options, m->problem, m->sample[v], &low, &high, &target);
        if (m->factor * s->beta[v] >= high) s->beta[v] = s->high[v];
        if (m->factor * s->beta[v] <= low) s->beta[v] = s->low[v];
        const double size = fabs(s->beta[v]);
        missing -= (long double)s->beta[v];
        sizes += size;
        if (s->beta[v] > s->low[v] && s->beta[v] < s->high[v] &&
            (most < 0 || size > fabs(s->beta[most])))
            most = v;
    }
    if (most < 0 || !(fabs((double)missing) > 1e-10 * sizes)) return;
    const double moved = s->beta[most] + (double)missing;
    if (!(moved >= s->low[most] && moved <= s->high[most])) return;
    s->beta[most] = moved;
    m->whole_proof = true;
}

margin_status mg_svm_prove(mg_svm_machine *m) {
    balance(m);
    MG_TRY(prove_changes(m));
    return mg_svm_is_proven(m) ? mg_svm_prove_again(m) : MARGIN_OK;
}

/* ---- The training rows ----------------------------------------------------------------------- */

/* A row that was not proven lies beyond its margin. Near 0 rounding could turn the sign. No
 * accuracy with weights, as those of classes are among them. */
void mg_svm_judge(mg_svm_machine *m, atomic_int *won) {
    const mg_smo *s = &m->smo;
    const double intercept = mg_smo_intercept(s);
    double most = 0.0, sum = 0.0;
    int64_t right = 0, doubts = 0;
    if (m->options.regression || m->options.one_class || (m->problem->weight && !won)) return;
    if (!mg_svm_gram(m) || !mg_kernel_is_definite(&m->kernel)) return;
    const mg_gram *gram = mg_svm_gram(m);
    for (int64_t i = 0; i < gram->points.count; i++)
        most = fmax(most, gram->diagonal[i]);
    for (int64_t v = 0; v < s->count; v++)
        sum += fabs(mg_svm_beta(m, v));
    for (int64_t v = 0; v < s->count; v++) {
        const double score = s->f[v] + s->target[v] + intercept;
        const bool told = !m->is_proven[v] || fabs(score) > 1e-11 * (sum * most + fabs(intercept));
        const bool wins = told && (score > 0.0) == (m->problem->sign[m->sample[v]] > 0);
        if (won && wins) won[mg_sample_row(m->problem, m->sample[v])]++;
        doubts += !told;
        right += wins;
    }
    if (won) won[m->problem->x.rows]++;
    if (doubts == 0 && !m->problem->weight)
        m->fit->report.train_accuracy = (double)right / (double)s->count;
}

margin_status mg_svm_decide_definite(mg_svm_machine *m) {
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    m->definite = MG_KERNEL_INDEFINITE;
    if (m->smo.indefinite && !mg_kernel_is_definite(&m->kernel)) return MARGIN_OK;
    return mg_kernel_decide(m->fit->context, &m->kernel, &points, &m->definite, m->fit->error);
}
