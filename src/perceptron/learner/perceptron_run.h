/* One training of a perceptron, shared by the files of this folder.
 *
 *   perceptron_run.c      who is visited when, and when it ends
 *   perceptron_order.c    permutations
 *   perceptron_primal.c   scores from weights: two classes, or several trained together
 *   perceptron_dual.c     scores kept up to date through the Gram matrix
 *   perceptron_lanes.c    several that differ in their signs, on sparse rows
 *   perceptron_pocket.c   the best state seen          perceptron_average.c   the mean state
 *   perceptron_judge.c    errors, criterion, least margin, radius of a state
 *   perceptron_novikoff.c largest margin, bound on updates, the proof step by step
 *   perceptron_result.c   hypothesis, report, reason */
#pragma once

#include "math/gram/gram.h"
#include "perceptron/learner/perceptron_options.h"
#include "perceptron/separation/separation.h"

typedef struct mg_perceptron_run mg_perceptron_run;

/* What is learnt, as one block of numbers (so that pocket and average need not know what they
 * mean) and the parts of it. */
typedef struct mg_perceptron_state {
    double *numbers;
    double *weights;   /* functions x columns; NULL for expansions */
    double *alpha;     /* one per sample; NULL in primal form */
    double *intercept; /* functions */
} mg_perceptron_state;

/* How scores are had and corrected. Samples are those of the problem. */
typedef struct mg_perceptron_form {
    /* The first position in [first, last) of the visiting order whose sample is misclassified, or
     * last. */
    int64_t (*next)(mg_perceptron_run *run, int64_t first, int64_t last);
    bool (*wrong)(mg_perceptron_run *run, int64_t sample);
    /* Moves the state by rate * step towards the sample (and the sums of the average by clock times
     * that). */
    margin_status (*update)(mg_perceptron_run *run, int64_t sample, double step);
    /* After a pass without mistakes: are there none with scores made afresh? NULL: they always are
     * fresh. */
    margin_status (*confirm)(mg_perceptron_run *run, bool *clean);
} mg_perceptron_form;

extern const mg_perceptron_form mg_perceptron_two_class, mg_perceptron_argmax, mg_perceptron_dual;

typedef struct mg_perceptron_judgement {
    int64_t errors;        /* samples that are misclassified: margin <= 0 */
    double error_weight;   /* the sum of their weights */
    long double criterion; /* the sum of -margin over them, weighted */
    double least;          /* least margin of all samples */
    double nearest;        /* least |margin| */
    double square;         /* greatest squared norm of a sample, where it was asked for */
} mg_perceptron_judgement;

enum { MG_POCKET_CANDIDATES = 16 };

typedef struct mg_perceptron_pocket {
    mg_perceptron_state best;
    double best_errors, best_streak; /* weight of its errors; of samples right in a row */
    /* States waiting for their errors to be counted, all in one sweep: weights one behind the
     * other, then the intercepts (the layout of mg_row_ops.scores). Primal form only. */
    double *weights, *intercepts, streak[MG_POCKET_CANDIDATES];
    int waiting, room;
    int regardless; /* states looked at in this pass although they were right nowhere */
} mg_perceptron_pocket;

/* Permutations of the passes [first, first + ready), one behind the other. NULL where the order
 * does not change. */
typedef struct mg_perceptron_orders {
    int64_t *samples, *rows;
    int8_t *sign;
    int64_t room, first, ready;
} mg_perceptron_orders;

struct mg_perceptron_run {
    mg_fit *fit;
    margin_context *context;
    const mg_problem *problem;
    mg_perceptron_options options;
    mg_arena arena;
    const mg_row_ops *rows;
    const mg_vector_ops *vectors;
    const mg_perceptron_form *form;
    int64_t count, columns, functions;
    double total_weight;
    int64_t block_rows; /* of sweeps over the samples */
    int64_t chunk;      /* positions between two polls */

    const int64_t *order; /* sample at each position of this pass; NULL: their own order */
    mg_row_scan scan;     /* rows and signs at each position */
    mg_perceptron_orders orders;

    mg_perceptron_state now;
    double *updates;         /* of each sample, for the trace of a dual form; NULL: not needed */
    int64_t length;          /* of a state */
    mg_perceptron_state sum; /* averaged: the sum of (clock at the update) * update */
    double clock;            /* weight of the visits so far */
    double streak;           /* weight of the samples right in a row */
    mg_perceptron_pocket pocket;

    mg_kernel kernel; /* of the dual form */
    mg_gram *gram;    /* dual form */
    int64_t gram_bytes;
    double *scores;  /* dual: of every sample, without intercept; argmax: of one sample */
    bool unchecked;  /* nobody has looked for NaN and infinity yet */
    bool goes_on;    /* begins where an earlier fit ended, so that there is no bound */
    double *scratch; /* `scratch_size` numbers per thread, for scores of rows */
    int64_t scratch_size;

    mg_stop stop;
    bool has_ended; /* among others, and how */
    margin_status ended;
    int64_t mistakes, passes, pass_mistakes;
    int64_t least_mistakes, least_pass; /* of the last pass that was progress */
    bool stuck;     /* no progress: asks for a proof, or has ended without one */
    int64_t *wrong; /* of a batch */

    mg_verdict verdict;
    double separation_margin; /* the largest, |(w, b)| = 1; NaN: not separable, or not known */
    double separation_work;   /* numbers read in search of it */
    /* bound=steps with a trace: the unit vector of the largest margin, columns + 1 numbers; of an
     * expansion its margin at each sample. NULL: not asked for. */
    double *direction;
    double proof_radius; /* R^2 */
    margin_novikoff proof, proof_start;
};

/* ---- perceptron_run.c */
/* A pass that settles nothing may never end: here plain weights ask for a proof at the latest. */
enum { MG_PASSES_BEFORE_PROOF = 16 };
/* So many numbers are read in about a millisecond: nobody need save that. */
enum { MG_FEW_NUMBERS = 1000 * 1000 };
/* Visits until nothing is misclassified (OK), a limit is met (above 0), or a failure. */
margin_status mg_perceptron_passes(mg_perceptron_run *run);
/* Counts a pass that is done and says whether to go on: OK and not clean. clean: nothing is
 * misclassified, as far as the pass can say. */
margin_status mg_perceptron_after_pass(mg_perceptron_run *run, bool *clean);
/* Between rows: > 0: out of time. */
margin_status mg_perceptron_poll(mg_perceptron_run *run);

/* ---- perceptron_lanes.c */
/* Up to MG_ROW_LANES runs that differ in their signs only walk together for as long as that pays;
 * those that have ended say so. */
margin_status mg_perceptron_lanes(mg_perceptron_run *runs, int64_t count);

/* ---- perceptron_result.c */
/* Refuses NaN and infinity, if nobody has looked for them. */
margin_status mg_perceptron_check_data(mg_perceptron_run *run);
/* Refuses weights that are not finite, and what made them so. */
margin_status mg_perceptron_check_weights(mg_perceptron_run *run, const mg_perceptron_state *state);

/* ---- perceptron_order.c */
margin_status mg_perceptron_order_begin(mg_perceptron_run *run);
/* Sets order and scan for the pass that comes. */
margin_status mg_perceptron_order_next(mg_perceptron_run *run);

/* ---- states */
margin_status mg_perceptron_state_new(mg_perceptron_run *run, mg_perceptron_state *state);
void mg_perceptron_state_copy(const mg_perceptron_run *run, mg_perceptron_state *to,
                              const mg_perceptron_state *from);

/* ---- perceptron_dual.c */
margin_status
mg_perceptron_announce(mg_perceptron_run *run); /* of the dual form, before all else */
margin_status mg_perceptron_dual_begin(mg_perceptron_run *run);
/* Of run->kernel, in gram_bytes: whole up to MG_PERCEPTRON_GRAM (8192 rows) or half of what the
 * memory limit leaves; beyond it is a cache of the rows used last. */
#define MG_PERCEPTRON_GRAM ((int64_t)512 << 20)
margin_status mg_perceptron_gram_begin(mg_perceptron_run *run);
/* A row of the Gram matrix; NULL: a failure. */
const double *mg_perceptron_gram_row(mg_perceptron_run *run, int64_t sample, margin_status *status);
/* run->scores of all samples from a state's coefficients (expansion) or weights. */
margin_status mg_perceptron_dual_refresh(mg_perceptron_run *run, const mg_perceptron_state *state);

/* ---- perceptron_judge.c */
/* Scores of samples [first, first + count) for `functions` weight vectors. */
void mg_perceptron_sample_scores(const mg_perceptron_run *run, int64_t first, int64_t count,
                                 const double *weights, const double *intercepts, int64_t functions,
                                 double *out);
/* The margin of a sample from the scores of its functions: y f, or the score of its class minus the
 * best other. */
double mg_perceptron_margin(const mg_problem *problem, int64_t sample, const double *scores);
/* Judges a state on all samples; expansions by run->scores as they are. squares: with the greatest
 * squared norm (in feature space for kernels). */
margin_status mg_perceptron_judge(mg_perceptron_run *run, const mg_perceptron_state *state,
                                  bool squares, mg_perceptron_judgement *out);

/* ---- perceptron_pocket.c */
margin_status mg_perceptron_pocket_begin(mg_perceptron_run *run);
/* The state as it is, before an update ends its streak. */
margin_status mg_perceptron_pocket_offer(mg_perceptron_run *run);
/* Counts the errors of those that wait. */
margin_status mg_perceptron_pocket_settle(mg_perceptron_run *run);
/* The last state has its turn too. */
margin_status mg_perceptron_pocket_end(mg_perceptron_run *run);

/* ---- perceptron_average.c */
void mg_perceptron_average(const mg_perceptron_run *run, mg_perceptron_state *out);
/* The steps make no mistakes any more: goes on (without walking) until the average makes none
 * either. */
margin_status mg_perceptron_average_settle(mg_perceptron_run *run, mg_perceptron_state *average);

/* ---- perceptron_novikoff.c */
/* Numbers stored for the samples. */
double mg_perceptron_numbers(const mg_perceptron_run *run);
/* Decides separability if options and size allow; OK, or a failure. */
margin_status mg_perceptron_separability(mg_perceptron_run *run);
/* Whether there is something to separate: one class alone may be all that a part of the rows has.
 */
bool mg_perceptron_two_sides(const mg_problem *problem);
bool mg_perceptron_separable(const mg_perceptron_run *run);
/* Whether a fit with these options looks for the largest margin whatever that takes. */
bool mg_perceptron_asks_for_margin(const mg_perceptron_options *options);
/* That of a kernel, as a fit finds it. */
margin_status mg_perceptron_kernel_margin(mg_fit *fit, const mg_kernel *kernel, double *margin);
bool mg_perceptron_starts_at_zero(const mg_perceptron_options *options); /* as its spec says */
/* On the updates from zero with whole steps, (radius / margin)^2; else NaN. */
double mg_perceptron_bound_of(const mg_perceptron_options *options, const mg_problem *problem,
                              double radius, double margin);
/* Before the first step, if the trace is to show the proof; then what it shows of the state as it
 * is (NULL: nothing). */
margin_status mg_perceptron_proof_begin(mg_perceptron_run *run);
const margin_novikoff *mg_perceptron_proof(mg_perceptron_run *run);

/* ---- perceptron_result.c */
/* |w|; in feature space w.w = sum_i alpha_i y_i (f(x_i) - b), with run->scores made for the state.
 */
double mg_perceptron_norm(const mg_perceptron_run *run, const mg_perceptron_state *state);
margin_status mg_perceptron_result(mg_perceptron_run *run, margin_status ended);
const char *mg_perceptron_formula(const mg_problem *problem, const mg_perceptron_options *options);
/* No criterion is below 0; but it is 0 for a function that is 0 on every row, too, of which it says
 * nothing: NaN. */
MG_INLINE double mg_perceptron_gap(double criterion, bool all_wrong) {
    return all_wrong && criterion == 0.0 ? (double)NAN : criterion / fmax(1.0, criterion);
}
