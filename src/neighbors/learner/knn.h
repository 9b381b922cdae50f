/* The learner: votes and means of the nearest rows. */
#pragma once

#include "learn/learner.h"
#include "neighbors/learner/index.h"

extern const mg_learner mg_learner_knn;

/* Votes, or sums of targets, of the neighbours so far. */
typedef struct mg_tally {
    const mg_neighbors *index;
    double *out;
    double taken;   /* weight so far */
    double nearest; /* distance of the first */
    double shares;  /* sum of the votes' weights */
} mg_tally;
/* NaN in every function. */
void mg_knn_no_answer(double *out, int64_t functions);
/* Takes neighbours until their weight is k. True: it is. */
bool mg_knn_take(mg_tally *t, const mg_neighbor *list, int64_t count);
/* Votes become shares, and sums means. */
void mg_knn_divide(const mg_tally *t, int64_t functions);
/* Scores from the neighbours of q: shares of the votes by class, or the mean target. The row of
 * weight w counts as w rows one behind the other; the last one takes part with what is left of k.
 * `list` holds the first `count` neighbours in order and has room for `room`; where they do not
 * suffice, more are looked for. */
void mg_knn_vote(const mg_neighbors *index, int64_t functions, const double *q, mg_neighbor *list,
                 int64_t count, int64_t room, double *out);
margin_status mg_knn_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                            int64_t count, double *out);
margin_status mg_knn_scores_batch(margin_context *context, const mg_hypothesis *h,
                                  const margin_matrix *x, double *out, margin_error *error);

/* How votes are taken: among the rows of weight k, or all within the radius. */
typedef struct mg_knn_voting {
    double k;
    double radius; /* NaN: none; then k counts */
    mg_empty_answer empty;
    bool by_distance;
} mg_knn_voting;

/* The scores of `rows` (dense f64) by fits that differ in the voting from `h`, which is that of the
 * first and has the most neighbours. `left_out`: the rows are those of h, in order, and each is
 * answered for without itself. LIMIT: not for these (weights; a row has too few others). */
margin_status mg_knn_answers(margin_context *context, const mg_hypothesis *h,
                             const mg_knn_voting *votings, int64_t count, const margin_matrix *rows,
                             bool left_out, double *const *scores, margin_error *error);

/* Adds class or value and weight, and the settings of votes, to a bare index. */
margin_status mg_knn_add_targets(mg_hypothesis *h, const mg_problem *problem,
                                 const mg_knn_voting *voting, margin_error *error);

/* Answering for all training rows costs many times what the index does (of 60,000 images 24 s): so
 * many, drawn, tell the training accuracy to a standard error of 1.6 % at most; where even these
 * cost more than a pass over the rows, half as many and so on, down to the least, which are proven:
 * 8.8 %. */
enum { MG_KNN_SCORED = 1024, MG_KNN_LEAST = 32 };

/* knn_verify.c */
margin_status mg_knn_claim(mg_fit *fit, const mg_hypothesis *h);
margin_status mg_knn_verify(mg_fit *fit, const mg_hypothesis *h);
