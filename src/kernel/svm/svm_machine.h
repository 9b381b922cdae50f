/* Kernel support vector machines: classification, regression and one class on one dual solver. What
 * the files of the learner share. */
#pragma once

#include "kernel/smo/smo.h"
#include "learn/kernels/kernel_plan.h"

typedef struct mg_svm_options {
    bool regression, one_class;
    mg_kernel_choice kernel;
    mg_penalty penalty;
    double epsilon;        /* of the loss; 0 for classes */
    double nu;             /* of one class */
    double tolerance, kkt; /* kkt 0: not asked for */
    int64_t max_iterations;
} mg_svm_options;
mg_svm_options mg_svm_options_of(const margin_component *info, const mg_option_value *values,
                                 const mg_problem *problem);

/* The dual problem of a fit: its variables are the samples, in an order of its own. All arrays in
 * one arena. b = factor * beta are the coefficients of the model. */
typedef struct mg_svm_machine {
    mg_fit *fit;
    const mg_problem *problem;
    mg_svm_options options;
    mg_kernel kernel;
    mg_arena arena;
    int64_t bytes;               /* that rows of own, or else `spare` may take */
    float over;                  /* of mg_gram_request */
    float **spare;               /* for smaller problems of a shared gram; NULL: own lends it */
    mg_gram *own;                /* NULL: a shared one is read */
    const mg_gram *shared;       /* NULL: there is none */
    mg_gram *exact;              /* whole, in f64; NULL: the rows prove */
    margin_type type;            /* of the values that are read */
    int64_t *sample;             /* of each variable */
    double factor;               /* of the values in f32 */
    double *low, *high, *target; /* of the dual */
    float *diagonal;
    mg_stop stop;
    mg_pace pace; /* of rounds */
    mg_smo smo;
    /* Coefficients, and the gradient in f64 that they make where is_proven. */
    double *proven_beta, *proven_f;
    double *reach; /* greatest size of each coefficient at a proof */
    bool *is_proven;
    bool whole_proof; /* of every row, as somebody goes on from it */
    double kkt;       /* of the proof, in f64 */
    bool again;       /* it begins where the fit before ended, with its gradient */
    mg_kernel_curvature definite;
} mg_svm_machine;

/* The one that is read. */
MG_INLINE const mg_gram *mg_svm_gram(const mg_svm_machine *m) {
    return m->own ? m->own : m->shared;
}

/* Formula and items of a model with these options. */
void mg_svm_describe(const mg_svm_options *options, const mg_kernel *kernel, margin_report *report);

/* What the problem's rows cost in the dual: box and target of a sample, before the factor. */
void mg_svm_box(const mg_svm_options *options, const mg_problem *problem, int64_t sample,
                double *low, double *high, double *target);
/* What the variables add up to, before the factor. */
double mg_svm_total(const mg_svm_options *options, const mg_problem *problem);
/* A variable as the model has it: without the factor, and exactly on its bounds. */
double mg_svm_beta(const mg_svm_machine *m, int64_t v);

void mg_svm_machine_free(mg_heap *heap, void *machine);
/* Objective and gap where the machine is. */
void mg_svm_say_gap(const mg_svm_machine *m, margin_report *report);
/* low, high and target of the variables. */
void mg_svm_boxes(mg_svm_machine *m);

/* svm_start.c: of one class, at what adds up. */
margin_status mg_svm_start_one_class(mg_svm_machine *m);
/* The machine that the fit before left, if this one has the same dual but for its box: no longer
 * kept; NULL: none. */
mg_svm_machine *mg_svm_kept(const mg_fit *fit, const mg_svm_options *options,
                            const mg_kernel *kernel);
/* In the new box, with the gradient there. */
void mg_svm_again(mg_svm_machine *m);

/* Sets the gradient of the machine's variables in f64 (smo.f), from that of the last call and what
 * changed since (or from nothing, where the proof would hold and digits were lost on the way), and
 * from it up, lowest, primal and dual gap. Unless whole_proof, a row whose
 * variable is 0 keeps the solver's gradient in f32 where no rounding of it could make the row cost
 * anything: it then takes no part in the objective or the gap. */
margin_status mg_svm_prove(mg_svm_machine *m);
/* From nothing, where coefficients were so large once that the gradient may be their rounding. */
margin_status mg_svm_prove_again(mg_svm_machine *m);
/* The gap, or the KKT violation if that was asked for, is at most what it may be. */
bool mg_svm_is_proven(const mg_svm_machine *m);
/* The report's training accuracy, from the proof's gradient: where no sign is in doubt. won: of
 * each row of x, more by 1 where its class surely wins; NULL: not wanted. */
void mg_svm_judge(mg_svm_machine *m, atomic_int *won);
/* Sets m->definite: by the kernel, by what the solver met, or by a Cholesky factor. */
margin_status mg_svm_decide_definite(mg_svm_machine *m);

/* Samples by position, then by number. */
typedef struct mg_svm_placed {
    int64_t position, sample;
} mg_svm_placed;
int mg_svm_by_position(const void *a, const void *b);

/* What the fits of a call share. */
typedef struct mg_svm_shared {
    mg_kernel kernel;
    mg_gram *gram;  /* over all samples, in the order of their classes; NULL: each has its own */
    int64_t spare;  /* bytes that each of the fits may take for its smaller problems */
    float **spares; /* of each worker, who keeps them: fresh pages are dear */
    int64_t workers;
    int64_t *position;      /* of a row of x, in the gram */
    int64_t *rows, *places; /* of the gram's points */
    bool known;             /* how far its values are off: */
    mg_gram_error error;    /* by no weights, and */
    double *off;            /* what its points add */
    bool told;              /* without a gram: all fits were announced */
    /* Pairs that each row's own class wins, and last how many were counted: more than there are
     * where some were trained again. NULL: not known. */
    atomic_int *won;
} mg_svm_shared;

/* A fit by rows of its own, before it begins; told: it was announced; bytes: of those that stay;
 * over: of mg_gram_request. */
margin_status mg_svm_announce(const mg_fit *fit, const mg_kernel *kernel, bool told, int64_t *bytes,
                              float *over);
/* The machine of the last fit to these rows, if it will do, or a new one. */
margin_status mg_svm_machine_for(mg_fit *fit, const mg_svm_options *options,
                                 const mg_svm_shared *shared, mg_svm_machine **out);
/* From where the machine is to what its options ask for; ended: why it is there. */
margin_status mg_svm_solve(mg_svm_machine *m, margin_status *ended);
/* Fits with the gram given (NULL: one of its own); results in fit. */
margin_status mg_svm_train(mg_fit *fit, const mg_svm_shared *shared);
