/* From a problem to its dual, and from the solution to a hypothesis and a report. */
#include "kernel/svm/svm_machine.h"

#include "base/sort.h"

#include <math.h>
#include <stdio.h>

/* ---- Options --------------------------------------------------------------------------------- */

mg_svm_options mg_svm_options_of(const margin_component *info, const mg_option_value *values,
                                 const mg_problem *problem) {
    const mg_option_value *kkt = mg_option_named(info, values, "kkt"),
                          *steps = mg_option_named(info, values, "max_iter");
    mg_svm_options o = {
        .regression = problem->kind == MG_REGRESSION,
        .one_class = problem->kind == MG_CLUSTERING,
        .nu = mg_option_named(info, values, "nu")->number,
        .kernel = mg_kernel_options_of(info, values),
        .penalty = mg_penalty_of(info, values, 0.0, mg_total_weight(problem)),
        .tolerance = mg_option_named(info, values, "tol")->number,
        .kkt = kkt->given ? kkt->number : 0.0,
        .max_iterations = steps->given ? steps->integer : -1,
    };
    if (o.regression) o.epsilon = mg_option_named(info, values, "epsilon")->number;
    if (o.kkt > 0.0) o.tolerance = (double)INFINITY;
    return o;
}

void mg_svm_box(const mg_svm_options *options, const mg_problem *problem, int64_t sample,
                double *low, double *high, double *target) {
    const double C = options->penalty.C * mg_sample_weight(problem, sample);
    const bool classes = !options->regression && !options->one_class;
    const int sign = options->one_class ? 1 : classes ? problem->sign[sample] : 0;
    *target = classes ? sign : options->one_class ? 0.0 : problem->target[sample];
    *low = sign > 0 ? 0.0 : -C;
    *high = sign < 0 ? 0.0 : C;
}

double mg_svm_total(const mg_svm_options *options, const mg_problem *problem) {
    return options->one_class ? options->nu * mg_total_weight(problem) : 0.0;
}

double mg_svm_beta(const mg_svm_machine *m, int64_t v) {
    const mg_smo *s = &m->smo;
    double low, high, target;
    if (m->factor == 1.0) return s->beta[v];
    mg_svm_box(&m->options, m->problem, m->sample[v], &low, &high, &target);
    return s->beta[v] == s->high[v] ? high : s->beta[v] == s->low[v] ? low : m->factor * s->beta[v];
}

/* ---- Variables ------------------------------------------------------------------------------- */

static const char purpose[] = "the dual problem";

int mg_svm_by_position(const void *a, const void *b) {
    const mg_svm_placed *x = a, *y = b;
    if (x->position != y->position) return x->position < y->position ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* In the order of a shared gram, so that the columns of a class lie side by side. */
static margin_status order_samples(mg_svm_machine *m, const mg_svm_shared *shared) {
    const int64_t n = m->problem->count;
    mg_svm_placed *list;
    int64_t *place;
    MG_ARENA_NEW(&m->arena, list, 2 * n, purpose, m->fit->error);
    MG_ARENA_NEW(&m->arena, place, n, purpose, m->fit->error);
    for (int64_t i = 0; i < n; i++)
        list[i] = (mg_svm_placed){shared->position[mg_sample_row(m->problem, i)], i};
    mg_sort_few_items(list, n, sizeof *list, list + n, mg_svm_by_position);
    for (int64_t v = 0; v < n; v++) {
        m->sample[v] = list[v].sample;
        place[v] = list[v].position;
    }
    m->smo.place = place;
    return MARGIN_OK;
}

static margin_status machine_new(mg_svm_machine *m) {
    const int64_t n = m->problem->count;
    mg_arena_init(&m->arena, m->fit->context->heap);
    MG_TRY(MG_PIECES(&m->arena, purpose, m->fit->error, MG_PIECE(m->sample, n), MG_PIECE(m->low, n),
                     MG_PIECE(m->high, n), MG_PIECE(m->target, n), MG_PIECE(m->smo.beta, n),
                     MG_PIECE(m->smo.f, n), MG_PIECE(m->smo.right, n), MG_PIECE(m->smo.left, n),
                     MG_PIECE(m->proven_beta, n), MG_PIECE(m->proven_f, n), MG_PIECE(m->reach, n),
                     MG_PIECE(m->diagonal, n), MG_PIECE(m->is_proven, n)));
    for (int64_t v = 0; v < n; v++)
        m->sample[v] = v;
    if (isfinite(m->stop.deadline) || m->stop.max_iterations >= 0)
        MG_ARENA_NEW(&m->arena, m->smo.best, 2 * n, purpose, m->fit->error);
    return MARGIN_OK;
}

/* Without what takes most memory. */
static void machine_empty(mg_svm_machine *m) {
    mg_gram_free(m->own);
    mg_gram_free(m->exact);
    m->own = m->exact = m->smo.gram = NULL;
}

static margin_status own_gram(mg_svm_machine *m, margin_type type) {
    const mg_gram_request request = {.kernel = m->kernel,
                                     .points = mg_kernel_points_of(m->problem),
                                     .type = type,
                                     .bytes = m->bytes,
                                     .over = m->over,
                                     .by_rows = true};
    m->type = type;
    machine_empty(m);
    if (m->spare) { /* its bytes are the gram's now */
        mg_free(m->arena.heap, *m->spare);
        *m->spare = NULL;
    }
    MG_TRY(mg_gram_create(m->fit->context, &request, &m->own, m->fit->error));
    m->smo.gram = m->smo.lender = m->own;
    m->smo.spare = (float *)(void *)m->own->values;
    m->smo.room = m->own->slots * m->own->ld;
    return MARGIN_OK;
}

void mg_svm_boxes(mg_svm_machine *m) {
    const int64_t n = m->smo.count;
    for (int64_t v = 0; v < n; v++) {
        mg_svm_box(&m->options, m->problem, m->sample[v], &m->low[v], &m->high[v], &m->target[v]);
        m->low[v] /= m->factor;
        m->high[v] /= m->factor;
    }
}

static void scale_variables(mg_svm_machine *m, const mg_gram *gram) {
    mg_smo *s = &m->smo;
    const int64_t n = s->count;
    const double *diagonal = gram->diagonal;
    m->factor = gram->factor;
    mg_svm_boxes(m);
    s->low = m->low;
    s->high = m->high;
    s->target = m->target;
    s->diagonal = m->diagonal;
    for (int64_t v = 0; v < n; v++) {
        m->diagonal[v] = (float)(m->factor * diagonal[s->place ? s->place[v] : v]);
        s->beta[v] = m->proven_beta[v] = m->reach[v] = 0.0;
        s->f[v] = m->proven_f[v] = -s->target[v];
        m->is_proven[v] = true;
    }
}

margin_status mg_svm_announce(const mg_fit *fit, const mg_kernel *kernel, bool told, int64_t *bytes,
                              float *over) {
    mg_kernel_sizes sizes = mg_kernel_sizes_of(fit, kernel, 1);
    sizes.samples *= (double)MG_MAX(fit->parts, 1);
    mg_kernel_plan plan = mg_kernel_plan_make(fit->context, &sizes, MG_WAY_ROWS);
    plan.says.problems = fit->parts;
    *bytes = plan.says.matrix;
    *over = sizes.over;
    return told ? MARGIN_OK : mg_announce(fit->context, &plan.says, fit->error);
}

static margin_status take_spare(mg_svm_machine *m, const mg_svm_shared *shared) {
    m->bytes = shared->spare;
    m->spare = &shared->spares[mg_worker(m->fit->shared->context)];
    if (!*m->spare) MG_NEW_BYTES(m->arena.heap, *m->spare, m->bytes, purpose, m->fit->error);
    m->smo.spare = *m->spare;
    m->smo.room = m->bytes / (int64_t)sizeof *m->smo.spare;
    return MARGIN_OK;
}

static margin_status prepare(mg_svm_machine *m, const mg_svm_shared *shared) {
    mg_smo *s = &m->smo;
    if (!shared || !shared->gram)
        MG_TRY(mg_svm_announce(m->fit, &m->kernel, shared && shared->told, &m->bytes, &m->over));
    *s = (mg_smo){.context = m->fit->context,
                  .stop = &m->stop,
                  .ops = MG_ISA_TABLE(mg_isa_level(), mg_smo_ops),
                  .tiles = MG_ISA_TABLE(mg_isa_level(), mg_gram_tile_ops),
                  .count = m->problem->count,
                  .epsilon = m->options.epsilon,
                  .kkt = m->options.kkt,
                  .relative = m->options.tolerance};
    MG_TRY(machine_new(m));
    if (shared && shared->gram) {
        if (shared->spares) MG_TRY(take_spare(m, shared)); /* folds have a place of their own */
        MG_TRY(order_samples(m, shared));
        m->shared = shared->gram;
        m->type = MARGIN_F32;
        s->matrix = mg_gram_values(shared->gram, &s->ld);
        scale_variables(m, shared->gram);
    } else {
        MG_TRY(own_gram(m, MARGIN_F32));
        scale_variables(m, m->own);
    }
    return m->options.one_class ? mg_svm_start_one_class(m) : MARGIN_OK;
}

/* ---- Solving --------------------------------------------------------------------------------- */

/* What single precision left: with rows in f64. */
static margin_status finish_and_prove(mg_svm_machine *m, margin_status *ended) {
    mg_smo *s = &m->smo;
    s->kkt = m->options.kkt;
    s->relative = 0.9 * m->options.tolerance;
    m->whole_proof = true;
    MG_TRY(mg_svm_prove(m));
    MG_TRY(own_gram(m, MARGIN_F64));
    *ended = mg_smo_finish(s, m->own, m->sample, m->factor, m->fit->error);
    if (*ended < 0) return *ended;
    MG_TRY(mg_svm_prove(m));
    if (*ended == MARGIN_OK && !mg_svm_is_proven(m)) *ended = MARGIN_STOPPED_STALLED;
    return MARGIN_OK;
}

/* The solver's values are f32. Where the proof in f64 says that this was not enough, it goes on
 * from the exact gradient: what it then adds is small, and so is its error. */
margin_status mg_svm_solve(mg_svm_machine *m, margin_status *ended) {
    enum { REFINEMENTS = 20 };
    mg_smo *s = &m->smo;
    double before = (double)INFINITY;
    *ended = MARGIN_OK;
    s->enough = m->options.tolerance / (m->options.penalty.rho * m->factor);
    if (m->again && mg_svm_is_proven(m)) return MARGIN_OK;
    m->pace = (mg_pace){.asked = mg_clock(), .behind = 1.0};
    m->stop.pace = &m->pace;
    for (int round = 0;; round++) {
        *ended = mg_smo_solve(s, m->fit->error);
        if (*ended < 0) return *ended;
        mg_stop_disarm(&m->stop);
        MG_TRY(mg_svm_prove(m));
        const double now = m->options.kkt > 0.0 ? s->lowest - s->up : s->dual_gap;
        if (*ended != MARGIN_OK || mg_svm_is_proven(m)) return MARGIN_OK;
        if (round == REFINEMENTS || !(now < 0.7 * before)) break;
        before = now;
        s->kkt *= 0.7;
        s->relative *= 0.7;
    }
    *ended = MARGIN_STOPPED_STALLED;
    return s->indefinite ? MARGIN_OK : finish_and_prove(m, ended);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Arrays over the support vectors, in the order of the samples. */
typedef struct support_list {
    int64_t count;
    int64_t *rows, *originals; /* rows of what the expansion is made from */
    double *coefficients, *sizes, *signs;
} support_list;

static margin_status list_support(mg_svm_machine *m, support_list *list) {
    const mg_smo *s = &m->smo;
    const int64_t n = s->count;
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    double *beta; /* of each sample */
    int64_t bounded = 0;
    MG_TRY(MG_PIECES(&m->arena, purpose, m->fit->error, MG_PIECE(list->rows, n),
                     MG_PIECE(list->originals, n), MG_PIECE(list->coefficients, n),
                     MG_PIECE(list->sizes, n), MG_PIECE(list->signs, n), MG_PIECE(beta, n)));
    for (int64_t v = 0; v < n; v++) {
        beta[m->sample[v]] = mg_svm_beta(m, v);
        bounded += s->beta[v] != 0.0 && (s->beta[v] == s->low[v] || s->beta[v] == s->high[v]);
    }
    for (int64_t i = 0; i < n; i++) {
        if (beta[i] == 0.0) continue;
        list->rows[list->count] = mg_point_right(&m->kernel, &points, i);
        list->originals[list->count] = mg_sample_original(m->problem, i);
        list->coefficients[list->count] = beta[i];
        list->sizes[list->count] = fabs(beta[i]);
        list->signs[list->count++] = beta[i] > 0.0 ? 1.0 : -1.0;
    }
    mg_report_set(&m->fit->report, "support_vectors", (double)list->count);
    mg_report_set(&m->fit->report, "bounded_vectors", (double)bounded);
    return MARGIN_OK;
}

/* The support vectors, and as its dual form which training rows they are: that carries the proof.
 */
static margin_status make_hypothesis(mg_svm_machine *m) {
    mg_hypothesis *h;
    support_list list = {0};
    MG_TRY(list_support(m, &list));
    MG_TRY(mg_expansion_make(m->fit->context->heap, &m->kernel, &m->problem->x, list.rows,
                             list.coefficients, list.count, mg_smo_intercept(&m->smo), &h,
                             m->fit->error));
    m->fit->hypothesis = h; /* the fit's, also where this fails */
    return mg_hypothesis_set_dual(h, list.count, list.originals, list.sizes, list.signs, list.sizes,
                                  m->fit->error);
}

static void say_why(mg_svm_machine *m, margin_status ended) {
    margin_report *report = &m->fit->report;
    const mg_number_text gap = mg_about(report->gap);
    report->status = ended;
    if (m->definite != MG_KERNEL_DEFINITE) {
        report->status = MARGIN_STOPPED_STALLED;
        report->gap = (double)INFINITY;
        mg_report_reason(
            report,
            "the kernel %s, so there is no proof: the model is a stationary point "
            "with KKT violation %s; take a kernel that is an inner product, such as rbf",
            mg_kernel_doubt(m->definite), mg_about(m->kkt).text);
    } else if (ended == MARGIN_OK) {
        mg_report_reason(report, "the duality gap is at most %s, the KKT violation %s", gap.text,
                         mg_about(m->kkt).text);
    } else if (ended == MARGIN_STOPPED_TIME) {
        mg_report_reason(report, "the time limit was reached at a gap of %s; allow more time",
                         gap.text);
    } else if (ended == MARGIN_STOPPED_ITERATIONS) {
        mg_report_reason(report, "%lld steps were made and the gap is %s; raise max_iter",
                         (long long)m->smo.steps, gap.text);
    } else {
        mg_report_reason(report,
                         "rounding, or steps that are too short, limit the gap, which is %s; %s%s",
                         gap.text, mg_kernel_scale_words(&m->kernel),
                         m->options.one_class ? "take a larger tol" : "lower C");
    }
}

void mg_svm_describe(const mg_svm_options *options, const mg_kernel *kernel,
                     margin_report *report) {
    const char *loss = options->regression ? "max(|y - f| - epsilon, 0)" : "max(1 - y f, 0)";
    mg_kernel_report(&options->penalty, kernel, loss, report);
    if (!options->one_class) return;
    report->item_count = 0; /* it has no penalty */
    mg_report_formula(report, "|f|^2/2 + sum max(rho - f, 0) - nu m rho");
    mg_report_set(report, "nu", options->nu);
    if (kernel->gamma > 0.0) mg_report_set(report, "gamma", kernel->gamma);
}

void mg_svm_say_gap(const mg_svm_machine *m, margin_report *report) {
    const double spelled = m->options.penalty.rho * m->factor;
    report->objective = spelled * m->smo.primal;
    report->gap = spelled * fmax(m->smo.dual_gap, 0.0) / fmax(1.0, fabs(report->objective));
    report->tolerance = m->options.tolerance;
}

static margin_status hand_over(mg_svm_machine *m, margin_status ended) {
    mg_smo *s = &m->smo;
    margin_report *report = &m->fit->report;
    m->kkt = fmax(s->lowest - s->up, 0.0);
    if (!isfinite(m->kkt)) m->kkt = 0.0; /* one side is empty: nothing can move */
    mg_svm_say_gap(m, report);
    MG_REQUIRE(isfinite(report->objective), m->fit->error, MG_DATA(OVERFLOW),
               "the objective leaves the range of numbers; %slower C",
               mg_kernel_scale_words(&m->kernel));
    /* beside an objective below 1 rounding may be all there is of less */
    const bool enough = m->options.kkt <= 0.0 && report->gap <= report->tolerance;
    if (ended == MARGIN_STOPPED_STALLED && enough) ended = MARGIN_OK;
    report->iterations = s->steps;
    snprintf(report->iteration_name, sizeof report->iteration_name, "steps");
    mg_svm_describe(&m->options, &m->kernel, report);
    MG_TRY(make_hypothesis(m));
    mg_report_set(report, "kkt", m->kkt);
    say_why(m, ended);
    return MARGIN_OK;
}

void mg_svm_machine_free(mg_heap *heap, void *machine) {
    mg_svm_machine *m = machine;
    if (!m) return;
    machine_empty(m);
    mg_arena_free(&m->arena);
    mg_free(heap, m);
}

margin_status mg_svm_machine_for(mg_fit *fit, const mg_svm_options *options,
                                 const mg_svm_shared *shared, mg_svm_machine **out) {
    mg_heap *heap = fit->context->heap;
    mg_kernel kernel;
    if (shared)
        kernel = shared->kernel;
    else
        MG_TRY(mg_kernel_resolve(fit->context, &options->kernel, fit->learner->info.name,
                                 fit->problem, &kernel, fit->error));
    mg_svm_machine *m = mg_svm_kept(fit, options, &kernel);
    const bool again = m != NULL;
    if (!again) MG_NEW(heap, m, 1, purpose, fit->error);
    if (!again) *m = (mg_svm_machine){.kernel = kernel};
    m->fit = fit;
    m->problem = fit->problem;
    m->options = *options;
    m->again = again;
    m->whole_proof = fit->kept != NULL;
    m->stop = mg_stop_make(fit->context, options->max_iterations);
    m->smo.context = fit->context;
    *out = m;
    if (!again) return prepare(m, shared);
    mg_svm_again(m);
    return MARGIN_OK;
}

margin_status mg_svm_train(mg_fit *fit, const mg_svm_shared *shared) {
    mg_svm_machine *m = NULL;
    margin_status status, ended = MARGIN_OK;
    const mg_svm_options options =
        mg_svm_options_of(&fit->learner->info, fit->options, fit->problem);
    MG_GO(mg_svm_machine_for(fit, &options, shared, &m));
    MG_GO(mg_svm_solve(m, &ended));
    if (ended != MARGIN_OK) MG_GO(mg_svm_prove_again(m));
    mg_svm_judge(m, shared ? shared->won : NULL);
    const bool keeps = fit->kept && !fit->kept->data && m->own && m->type == MARGIN_F32 &&
                       !options.one_class && !m->smo.indefinite;
    if (!keeps) machine_empty(m);
    MG_GO(mg_svm_decide_definite(m));
    status = hand_over(m, ended);
    if (status >= 0 && keeps) {
        fit->kept->data = m;
        fit->kept->release = mg_svm_machine_free;
        return status;
    }
done:
    mg_svm_machine_free(fit->context->heap, m);
    return status;
}
