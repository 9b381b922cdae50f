/* What is added to a model after its fit: calibrated probabilities, the decision they are for, and
 * what prediction sets need. A bag of tensors, like a hypothesis, so that files need to know
 * nothing of it; `attach` makes those of a hostile file safe. */
#pragma once

#include "learn/hypothesis/hypothesis.h"
#include "margin/model.h"

#include <math.h>

enum { MG_MOST_FOLDS = 100 };

typedef struct mg_additions {
    mg_bag bag;

    /* ---- What attach makes of them; NULL: none ---- */
    /* Calibration, of one curve for two classes, else one for each, or for each pair. */
    const double *sigmoid;      /* curves x (a, b): 1 / (1 + exp(-(a s + b))), a >= 0 */
    const double *inverse;      /* 1 / temperature, >= 0 */
    const double *knots;        /* rows (s, p): p ascends with s */
    const int64_t *knot_starts; /* curves + 1 */
    const double *threshold;    /* two classes: the second where its probability is at least this */
    const double *costs;        /* classes x classes, [true][answer] */
    const double *level;        /* coverage asked for */
    const double *residuals;    /* of each training row, by the fit that did not see it */
    int64_t rows;               /* their number */
    const double *left_out;     /* rows x (columns + 1): weights and intercept without that row */
    const int32_t *fold;        /* of each row: which of `models` did not see it */
    const int64_t *model_starts; /* bytes of model k: [starts[k], starts[k + 1]) of model_bytes */
    const unsigned char *model_bytes;
    int64_t fold_count;
    margin_model **models; /* fold_count, owned; decoded from the bytes by the model store */
} mg_additions;

margin_status mg_additions_new(mg_heap *heap, mg_additions **made, margin_error *error);
void mg_additions_free(mg_additions *a);
/* Checks model->additions against the rest of the model and sets the views; idempotent. MODEL. */
margin_status mg_additions_attach(margin_model *model, margin_error *error);
/* Whether a fold model, once decoded, can stand for the model: same answers, same columns. */
margin_status mg_additions_check_fold(const margin_model *model, const margin_model *fold,
                                      margin_error *error);

/* Curves of a calibration: 1 for two classes, one per pair that votes, else one per class. */
int64_t mg_curve_count(const margin_model *model);
/* Of `rows` residuals, how many may lie beyond each end of a prediction interval: its ends are the
 * values of that rank from below and from above. A coverage needs 1 <= that <= rows. The product is
 * a whole number in many a case, and rounded. */
MG_INLINE int64_t mg_rows_beyond(double level, int64_t rows) {
    return (int64_t)floor((1 - level) * (double)(rows + 1) + 1e-9);
}
/* What curves are functions of: for two classes f_1 - f_0 or the one score; for pairs their scores;
 * else f_c - log sum_k exp f_k. */
void mg_curve_inputs(const margin_model *model, const double *scores, double *inputs);

/* P(class), calibrated where the model is. The model has some. */
void mg_probabilities(const margin_model *model, const double *scores, double *p);
/* Whether the scores alone do not decide. */
bool mg_decides_by_probability(const margin_model *model);
/* The class of a row by its probabilities: least expected cost, else the threshold, else the
 * greatest (two equal ones: the second of two classes, else the lower). -1: one is NaN. */
int64_t mg_decide_probable(const margin_model *model, const double *p);
/* What is greatest at that class, ties aside: minus the expected cost, the distance of P from the
 * threshold, or P. */
void mg_probable_scores(const margin_model *model, const double *p, double *out);
