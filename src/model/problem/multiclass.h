/* From a problem with many classes to problems a learner solves, and back.
 *
 * Two classes: one problem, positive for class 1. One-versus-rest: problem c, positive for class c.
 * Several targets: problem t, of target t. One-versus-one: a problem per pair (i, j), positive for
 * i; only rows of the two classes, through an index: x is never copied. Argmax, regression,
 * clustering: one problem as it is. */
#pragma once

#include "model/problem/pipeline.h"

/* The most sub-problems of one fit. */
enum { MG_MAX_SUBPROBLEMS = 100000 };

/* The whole problem and how it is cut. */
typedef struct mg_split {
    mg_heap *heap;
    mg_reduction reduction;
    mg_problem whole; /* kind and sign are not used for TWO, REST and PAIRS */
    int64_t parts;
    int32_t *codes;        /* owned: whole.code */
    double *values;        /* owned: whole.target, one target after the other */
    double *weights;       /* owned: whole.weight where classes have weights of their own */
    int64_t *class_starts; /* PAIRS: samples of class c are [class_starts[c], class_starts[c+1]) */
    int64_t *class_samples;
    int64_t **labels; /* where training may leave the heap's: the class that the model answers for
                         each sample, or MG_IN_DOUBT; NULL: not wanted */
} mg_split;

/* Reads the targets and prepares the split of the staged samples. The split points into `staged`
 * and `samples`. */
margin_status mg_split_make(margin_context *context, mg_reduction reduction,
                            const margin_data *data, const mg_samples *samples,
                            const mg_staged *staged, const margin_model *model, mg_split *split,
                            margin_error *error);
/* Weights of classes, where the learner has the option class_weight (none, balanced, or
 * "name:weight,...", a backslash before a comma or backslash of a name): they multiply the weights
 * of the samples. SPEC if there is no such class. */
margin_status mg_split_weigh(const mg_spec_component *learner, const margin_model *model,
                             mg_split *split, margin_error *error);
/* The spec with these weights, one for each class, as that option of its learner. */
margin_status mg_class_weight_spec(const margin_spec *spec, const margin_model *model,
                                   const double *weights, int64_t count, margin_spec **weighed,
                                   margin_error *error);
void mg_split_free(mg_split *split);

/* What one part needs beside the whole: its problem and the arrays that it owns. */
typedef struct mg_part {
    mg_heap *heap;
    mg_problem problem;
    int8_t *sign;
    int64_t *index, *original;
    double *weight;
} mg_part;
margin_status mg_part_make(const mg_split *split, int64_t number, mg_part *part,
                           margin_error *error);
void mg_part_free(mg_part *part);

/* "setosa against the rest", "setosa against virginica", cut where it is too long. */
enum { MG_PART_LABEL = 200 };
void mg_part_label(const mg_split *split, const margin_model *model, int64_t number,
                   char label[MG_PART_LABEL]);

/* Asks the learner what fits share: everything but the results is set. Frees the learner's part. */
margin_status mg_share(const mg_learner *learner, mg_shared *shared);
void mg_shared_free(mg_shared *shared);

/* The parts of an earlier fit with other options, as its learner found them: where the next one may
 * begin. */
typedef struct mg_starts {
    mg_hypothesis **parts;
    int64_t count;
    bool follows; /* another fit, which may use what this one keeps */
    mg_kept kept; /* of a problem of one part, or of the rows of all (keeps_rows) */
} mg_starts;

/* Trains every part, side by side, each on one thread (a single part: on all threads; with a trace:
 * one after the other), and joins hypotheses and reports in the order of the parts. The whole has
 * converged if its own gap is at most the tolerance: where it is not though all parts have, they
 * are trained once more, to a tolerance for which it must be. `starts`: NULL; or parts: none, or
 * one for each part. each: the reports of the parts, or NULL. */
margin_status mg_split_train(margin_context *context, const mg_split *split,
                             const mg_spec_component *learner, const margin_model *model,
                             const mg_trace *trace, mg_starts *starts, mg_hypothesis **hypothesis,
                             margin_report *report, margin_report *each, margin_error *error);

/* Lets the learner verify every part of a finished model, joined in the same way. parts: what was
 * found of each, or NULL. */
margin_status mg_split_verify(margin_context *context, const mg_split *split,
                              const mg_spec_component *learner, const margin_model *model,
                              margin_report *report, mg_verified *verified, margin_report *parts,
                              margin_error *error);
