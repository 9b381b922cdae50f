/* Additions to a model: life, checks, and probabilities from scores by them. */
#include "model/object/additions.h"

#include "base/sort.h"
#include "model/object/model_object.h"

#include <math.h>
#include <string.h>

#define REFUSE(condition, ...) MG_REQUIRE(condition, error, MARGIN_ERROR_MODEL, __VA_ARGS__)

/* ---- Life ------------------------------------------------------------------------------------ */

margin_status mg_additions_new(mg_heap *heap, mg_additions **made, margin_error *error) {
    mg_additions *a = mg_new_zero(heap, 1, sizeof *a);
    if (!a) return mg_no_memory(heap, 1, sizeof *a, "additions to a model", error);
    a->bag = (mg_bag){.heap = heap, .owner = {"additions", "to the model"}};
    *made = a;
    return MARGIN_OK;
}

void mg_additions_free(mg_additions *a) {
    if (!a) return;
    for (int64_t k = 0; a->models && k < a->fold_count; k++)
        margin_model_free(a->models[k]);
    mg_bag_free(&a->bag);
    MG_FREE(a->bag.heap, a->models, a);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* A tensor by name (NULL: there is none) of that type and shape; rows -1: any number from 1 on;
 * columns 0: a vector. Numbers are finite. */
static margin_status expect(const mg_additions *a, const char *name, margin_type type, int64_t rows,
                            int64_t columns, const void *view, int64_t *count,
                            margin_error *error) {
    const mg_tensor *t = mg_bag_find(&a->bag, name);
    void *place = (void *)(uintptr_t)view;
    if (!t) return MARGIN_OK;
    REFUSE(t->shape[0] > 0, "its addition %s is empty", name);
    if (count) *count = t->shape[0];
    return type == MARGIN_F64 ? mg_bag_numbers(&a->bag, name, rows, columns, place, error)
                              : mg_bag_expect(&a->bag, name, type, rows, columns, place, error);
}

/* starts[0] = 0, ascending, the last `end`; `least` between two. */
static bool good_starts(const int64_t *starts, int64_t count, int64_t least, int64_t end) {
    if (starts[0] != 0 || starts[count] != end) return false;
    for (int64_t k = 0; k < count; k++)
        if (starts[k + 1] < starts[k] + least || starts[k + 1] > end) return false;
    return true;
}

static margin_status check_calibration(const margin_model *model, const mg_additions *a,
                                       int64_t knots, margin_error *error) {
    const int64_t curves = mg_curve_count(model);
    const int kinds = (a->sigmoid != NULL) + (a->inverse != NULL) + (a->knots != NULL);
    if (!kinds && !a->knot_starts) return MARGIN_OK;
    REFUSE(kinds == 1 && (a->knots != NULL) == (a->knot_starts != NULL) &&
               (model->decision != MG_DECIDE_VOTES || !a->inverse) &&
               model->task == MARGIN_CLASSIFY,
           "its calibration does not go with its answers");
    for (int64_t k = 0; a->sigmoid && k < curves; k++)
        REFUSE(a->sigmoid[2 * k] >= 0, "its calibration falls with the score");
    REFUSE(!a->inverse || *a->inverse >= 0, "its temperature is negative");
    if (!a->knots) return MARGIN_OK;
    REFUSE(good_starts(a->knot_starts, curves, 1, knots), "its calibration has no such knots");
    for (int64_t k = 0; k < curves; k++)
        for (int64_t i = a->knot_starts[k]; i < a->knot_starts[k + 1]; i++) {
            const double *knot = a->knots + 2 * i;
            REFUSE(knot[1] > 0 && knot[1] < 1, "its calibration leaves the probabilities");
            REFUSE(i == a->knot_starts[k] || (knot[0] > knot[-2] && knot[1] >= knot[-1]),
                   "its calibration falls with the score");
        }
    return MARGIN_OK;
}

static margin_status check_decision(const margin_model *model, const mg_additions *a,
                                    margin_error *error) {
    if (!a->threshold && !a->costs) return MARGIN_OK;
    REFUSE(!(a->threshold && a->costs) && margin_model_has_probabilities(model),
           "its decision does not go with its answers");
    REFUSE(!a->threshold || (model->classes == 2 && *a->threshold >= 0 && *a->threshold <= 1),
           "its threshold is none");
    return MARGIN_OK;
}

static margin_status check_coverage(const margin_model *model, const mg_additions *a, int64_t bytes,
                                    margin_error *error) {
    if (!a->level && !a->residuals && !a->left_out && !a->fold && !a->model_starts &&
        !a->model_bytes)
        return MARGIN_OK;
    REFUSE(a->level && a->residuals && model->task != MARGIN_CLUSTER && model->target.count == 1,
           "its coverage does not go with its answers");
    REFUSE(*a->level > 0 && *a->level < 1 && mg_rows_beyond(*a->level, a->rows) >= 1 &&
               mg_rows_beyond(*a->level, a->rows) <= a->rows,
           "its coverage is none that its %lld rows can promise", (long long)a->rows);
    for (int64_t i = 0; model->task == MARGIN_REGRESS && i < a->rows; i++)
        REFUSE(a->residuals[i] >= 0, "an error of its rows is negative");
    REFUSE((a->left_out != NULL) != (a->fold != NULL) &&
               (a->fold != NULL) == (a->model_starts != NULL) &&
               (a->fold != NULL) == (a->model_bytes != NULL),
           "its coverage is not whole");
    REFUSE(!a->left_out || (model->task == MARGIN_REGRESS && model->active == 0 &&
                            model->hypothesis->kind == &mg_hypothesis_linear),
           "its coverage is for a linear function of its input columns, which it is not");
    if (!a->fold) return MARGIN_OK;
    REFUSE(a->fold_count >= 2 && a->fold_count <= MG_MOST_FOLDS &&
               good_starts(a->model_starts, a->fold_count, 1, bytes),
           "its folds do not fit their models");
    for (int64_t i = 0; i < a->rows; i++)
        REFUSE(a->fold[i] >= 0 && a->fold[i] < a->fold_count, "its folds do not fit their models");
    return MARGIN_OK;
}

margin_status mg_additions_attach(margin_model *model, margin_error *error) {
    mg_additions *a = model->additions;
    const int64_t k = model->classes, curves = mg_curve_count(model),
                  width = model->hypothesis->columns + 1;
    int64_t knots = 0, bytes = 0, starts = 1;
    if (!a) return MARGIN_OK;
    MG_TRY(expect(a, "sigmoid", MARGIN_F64, curves, 2, &a->sigmoid, NULL, error));
    MG_TRY(expect(a, "inverse_temperature", MARGIN_F64, 1, 0, &a->inverse, NULL, error));
    MG_TRY(expect(a, "knots", MARGIN_F64, -1, 2, &a->knots, &knots, error));
    MG_TRY(expect(a, "knot_starts", MARGIN_I64, curves + 1, 0, &a->knot_starts, NULL, error));
    MG_TRY(expect(a, "threshold", MARGIN_F64, 1, 0, &a->threshold, NULL, error));
    MG_TRY(expect(a, "costs", MARGIN_F64, k, k, &a->costs, NULL, error));
    MG_TRY(expect(a, "coverage", MARGIN_F64, 1, 0, &a->level, NULL, error));
    MG_TRY(expect(a, "residuals", MARGIN_F64, -1, 0, &a->residuals, &a->rows, error));
    MG_TRY(expect(a, "left_out", MARGIN_F64, a->rows, width, &a->left_out, NULL, error));
    MG_TRY(expect(a, "fold", MARGIN_I32, a->rows, 0, &a->fold, NULL, error));
    MG_TRY(expect(a, "model_starts", MARGIN_I64, -1, 0, &a->model_starts, &starts, error));
    MG_TRY(expect(a, "models", MARGIN_U8, -1, 0, &a->model_bytes, &bytes, error));
    if (!a->models) a->fold_count = starts - 1;
    for (int t = 0; t < a->bag.count; t++) {
        const void *data = a->bag.tensors[t].data;
        REFUSE(data == a->sigmoid || data == a->inverse || data == a->knots ||
                   data == a->knot_starts || data == a->threshold || data == a->costs ||
                   data == a->level || data == a->residuals || data == a->left_out ||
                   data == a->fold || data == a->model_starts || data == a->model_bytes,
               "no part of a model is called %s", a->bag.tensors[t].name);
    }
    MG_TRY(check_calibration(model, a, knots, error));
    MG_TRY(check_decision(model, a, error));
    return check_coverage(model, a, bytes, error);
}

/* A fold gets the rows as they are aligned to the model, codes of categories included. */
static bool same_column(const margin_column *a, const margin_column *b) {
    if (a->kind != b->kind || a->category_count != b->category_count) return false;
    for (int64_t c = 0; c < a->category_count; c++)
        if (strcmp(a->categories[c], b->categories[c]) != 0) return false;
    return true;
}

margin_status mg_additions_check_fold(const margin_model *model, const margin_model *fold,
                                      margin_error *error) {
    bool same = !fold->additions && fold->task == model->task &&
                fold->decision == model->decision && fold->classes == model->classes &&
                fold->inputs.count == model->inputs.count &&
                fold->target.count == model->target.count &&
                fold->hypothesis->functions == model->hypothesis->functions;
    for (int64_t j = 0; same && j < model->inputs.count; j++)
        same = same_column(&fold->inputs.items[j], &model->inputs.items[j]);
    for (int64_t c = 0; same && model->class_names && c < model->classes; c++)
        same = fold->class_names && !strcmp(fold->class_names[c], model->class_names[c]);
    REFUSE(same, "a fold of its coverage is a model of something else");
    return MARGIN_OK;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

/* log sum exp f, about the greatest. */
static double log_sum(const double *scores, int64_t count) {
    double most = scores[0], sum = 0;
    for (int64_t c = 1; c < count; c++)
        most = MG_MAX(most, scores[c]);
    for (int64_t c = 0; c < count; c++)
        sum += exp(scores[c] - most);
    return most + log(sum);
}

int64_t mg_curve_count(const margin_model *model) {
    const int64_t k = model->classes;
    return k == 2 ? 1 : model->decision == MG_DECIDE_VOTES ? k * (k - 1) / 2 : k;
}

void mg_curve_inputs(const margin_model *model, const double *scores, double *inputs) {
    const int64_t k = model->classes;
    if (model->decision == MG_DECIDE_VOTES) {
        memcpy(inputs, scores, (size_t)mg_curve_count(model) * sizeof *inputs);
        return;
    }
    if (k == 2) {
        inputs[0] = model->hypothesis->functions == 2 ? scores[1] - scores[0] : scores[0];
        return;
    }
    const double total = log_sum(scores, k);
    for (int64_t c = 0; c < k; c++)
        inputs[c] = scores[c] - total;
}

static double sigmoid(double t) {
    return t >= 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t));
}

/* On the line between two knots, level beyond the first and the last. */
static double between_knots(const double *knots, int64_t count, double s) {
    const int64_t last = count - 1;
    int64_t behind;
    if (s <= knots[0]) return knots[1];
    if (s >= knots[2 * last]) return knots[2 * last + 1];
    MG_BISECT(behind, 1, last, knots[2 * behind] <= s);
    const double *b = knots + 2 * behind, *a = b - 2;
    return a[1] + (b[1] - a[1]) * ((s - a[0]) / (b[0] - a[0]));
}

static double curve(const mg_additions *a, int64_t c, double s) {
    if (isnan(s)) return s;
    if (a->inverse) return sigmoid(*a->inverse * s);
    if (a->sigmoid) return sigmoid(a->sigmoid[2 * c] * s + a->sigmoid[2 * c + 1]);
    return between_knots(a->knots + 2 * a->knot_starts[c],
                         a->knot_starts[c + 1] - a->knot_starts[c], s);
}

/* P(second) / P(first) of a pair, within what can be added up and turned round. */
static double pair_odds(const mg_additions *a, int64_t pair, double s) {
    static const double most = 1e300;
    const double p = a->knots ? curve(a, pair, s) : 0.0;
    const double odds =
        a->knots ? (1 - p) / p : exp(-(a->sigmoid[2 * pair] * s + a->sigmoid[2 * pair + 1]));
    return odds > most ? most : odds < 1 / most ? 1 / most : odds;
}

/* From P(i | i or j) of all pairs: P(i) in proportion to 1 / (1 + sum_j P(j | i or j) / P(i | i or
 * j)), which is P(i) where some P has these pairs, and rises with the score of every pair of i
 * (Price, Knerr, Personnaz and Dreyfus, NIPS 7, 1995). */
static void couple_pairs(const margin_model *model, const double *scores, double *p) {
    const int64_t k = model->classes;
    double sum = 0;
    for (int64_t c = 0; c < k; c++)
        p[c] = 1;
    for (int64_t i = 0, pair = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++, pair++) {
            const double odds = pair_odds(model->additions, pair, scores[pair]);
            p[i] += odds;
            p[j] += 1 / odds;
        }
    for (int64_t c = 0; c < k; c++)
        sum += p[c] = 1 / p[c];
    for (int64_t c = 0; c < k; c++)
        p[c] /= sum;
}

static bool calibrated(const mg_additions *a) {
    return a && (a->sigmoid || a->inverse || a->knots);
}

void mg_probabilities(const margin_model *model, const double *scores, double *p) {
    const mg_additions *a = model->additions;
    const int64_t k = model->classes;
    if (!calibrated(a)) {
        model->learner->probabilities(scores, model->hypothesis->functions, k, p);
        return;
    }
    if (model->decision == MG_DECIDE_VOTES) {
        couple_pairs(model, scores, p);
        return;
    }
    mg_curve_inputs(model, scores, p);
    if (k == 2) {
        p[1] = curve(a, 0, p[0]);
        p[0] = 1 - p[1];
        return;
    }
    double sum = 0;
    for (int64_t c = 0; a->inverse && c < k; c++)
        p[c] *= *a->inverse;
    const double total = a->inverse ? log_sum(p, k) : 0;
    for (int64_t c = 0; c < k; c++) {
        p[c] = a->inverse ? exp(p[c] - total) : curve(a, c, p[c]);
        sum += p[c];
    }
    for (int64_t c = 0; c < k; c++)
        p[c] /= sum;
}

/* A temperature changes no order of the classes. */
bool mg_decides_by_probability(const margin_model *model) {
    const mg_additions *a = model->additions;
    return a && (a->sigmoid || a->knots || a->threshold || a->costs);
}

/* Expected cost of answering c; without costs minus the probability. */
static double cost_of(const mg_additions *a, const double *p, int64_t classes, int64_t c) {
    double cost = -p[c];
    for (int64_t t = 0; a->costs && t < classes; t++)
        cost = (t ? cost : 0) + p[t] * a->costs[t * classes + c];
    return cost;
}

void mg_probable_scores(const margin_model *model, const double *p, double *out) {
    const mg_additions *a = model->additions;
    const int64_t k = model->classes;
    if (k == 2 && a->threshold && !a->costs) {
        out[1] = p[1] - *a->threshold;
        out[0] = -out[1];
        return;
    }
    for (int64_t c = 0; c < k; c++)
        out[c] = -cost_of(a, p, k, c);
}

int64_t mg_decide_probable(const margin_model *model, const double *p) {
    const mg_additions *a = model->additions;
    const int64_t k = model->classes;
    int64_t best = 0;
    double least = (double)INFINITY;
    for (int64_t c = 0; c < k; c++)
        if (isnan(p[c])) return -1;
    if (k == 2 && !a->costs) return p[1] >= (a->threshold ? *a->threshold : 0.5);
    for (int64_t c = 0; c < k; c++) {
        const double cost = cost_of(a, p, k, c);
        if (cost >= least) continue;
        best = c;
        least = cost;
    }
    return best;
}
