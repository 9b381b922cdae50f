/* What follows from true and predicted classes alone. */
#include "model/measure/outcome.h"

#include <math.h>
#include <string.h>

double mg_brier(const double *p, int64_t classes, int32_t truth) {
    double sum = 0;
    if (classes == 2) return (1 - p[truth]) * (1 - p[truth]);
    for (int64_t c = 0; c < classes; c++)
        sum += (p[c] - (c == truth)) * (p[c] - (c == truth));
    return sum;
}

double mg_score_classes(const int64_t *labels, const int32_t *codes, const double *weights,
                        int64_t rows) {
    double right = 0, total = 0;
    int64_t matches = 0;
    for (int64_t i = 0; i < rows && !weights; i++)
        matches += labels[i] == codes[i];
    if (!weights) return (double)matches / (double)rows;
    for (int64_t i = 0; i < rows; i++) {
        total += weights[i];
        if (labels[i] == codes[i]) right += weights[i];
    }
    return right / total;
}

/* 0 / 0 counts as 0: a class that is never predicted is never predicted rightly. */
static double classes_share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

typedef struct {
    double precision, recall, f1;
} figures;

static figures figures_of(double right, double rows, double given) {
    return (figures){classes_share(right, given), classes_share(right, rows),
                     classes_share(2 * right, rows + given)};
}

/* Means over the classes that occur or were predicted, and weighted by their rows. The `unknown`
 * rows of classes that are none of them are one more, of which nothing is right. */
static void average(const double *right, const double *rows, const double *given, int64_t classes,
                    double unknown, double value[MG_MEASURED]) {
    figures sum = {0, 0, 0}, weighted = {0, 0, 0};
    double occur = unknown > 0, present = occur, total = unknown;
    for (int64_t c = 0; c < classes; c++) {
        const figures f = figures_of(right[c], rows[c], given[c]);
        if (!(rows[c] + given[c] > 0)) continue;
        present++;
        occur += rows[c] > 0;
        total += rows[c];
        sum = (figures){sum.precision + f.precision, sum.recall + f.recall, sum.f1 + f.f1};
        weighted = (figures){weighted.precision + rows[c] * f.precision,
                             weighted.recall + rows[c] * f.recall, weighted.f1 + rows[c] * f.f1};
    }
    value[MG_BALANCED_ACCURACY] = occur > 0 ? sum.recall / occur : (double)NAN;
    value[MG_PRECISION_MACRO] = classes_share(sum.precision, present);
    value[MG_RECALL_MACRO] = classes_share(sum.recall, present);
    value[MG_F1_MACRO] = classes_share(sum.f1, present);
    value[MG_PRECISION_WEIGHTED] = classes_share(weighted.precision, total);
    value[MG_RECALL_WEIGHTED] = classes_share(weighted.recall, total);
    value[MG_F1_WEIGHTED] = classes_share(weighted.f1, total);
}

/* Means of what the rows lose by their probabilities. */
static void measure_losses(const mg_outcome *o, double value[MG_MEASURED]) {
    double loss = 0, brier = 0, known = 0;
    for (int64_t i = 0; i < o->rows; i++) {
        const double weight = mg_outcome_weight(o, i);
        if (o->truth[i] < 0 || !(weight > 0)) continue;
        known += weight;
        if (o->loss) loss += weight * o->loss[i];
        if (o->brier) brier += weight * o->brier[i];
    }
    value[MG_LOG_LOSS] = o->loss && known > 0 ? loss / known : (double)NAN;
    value[MG_BRIER] = o->brier && known > 0 ? brier / known : (double)NAN;
}

void mg_measure_classes(const mg_outcome *o, double *scratch, double value[MG_MEASURED]) {
    const int64_t classes = o->classes;
    double *right = scratch, *rows = right + classes, *given = rows + classes;
    double hits = 0, total = 0, answered = 0, unknown = 0;
    memset(scratch, 0, (size_t)(3 * classes) * sizeof *scratch);
    for (int64_t i = 0; i < o->rows; i++) {
        const double weight = mg_outcome_weight(o, i);
        const int64_t truth = o->truth[i], predicted = o->predicted[i];
        total += weight;
        *(truth >= 0 ? &rows[truth] : &unknown) += weight;
        if (predicted < 0) continue;
        answered += weight;
        given[predicted] += weight;
        if (truth != predicted) continue;
        right[truth] += weight;
        hits += weight;
    }
    value[MG_ACCURACY] = hits / total;
    value[MG_ERROR] = 1 - value[MG_ACCURACY];
    average(right, rows, given, classes, unknown, value);
    value[MG_PRECISION_MICRO] = classes_share(hits, answered);
    value[MG_RECALL_MICRO] = classes_share(hits, total);
    value[MG_F1_MICRO] = classes_share(2 * hits, answered + total);
    const figures second = figures_of(right[1], rows[1], given[1]);
    value[MG_PRECISION] = classes == 2 ? second.precision : value[MG_PRECISION_MACRO];
    value[MG_RECALL] = classes == 2 ? second.recall : value[MG_RECALL_MACRO];
    value[MG_F1] = classes == 2 ? second.f1 : value[MG_F1_MACRO];
    if (o->loss || o->brier) measure_losses(o, value);
}

void mg_class_table(const mg_outcome *o, double *confusion, margin_class_metrics *table) {
    const int64_t classes = o->classes;
    memset(confusion, 0, (size_t)(classes * classes) * sizeof *confusion);
    memset(table, 0, (size_t)classes * sizeof *table);
    for (int64_t i = 0; i < o->rows; i++) {
        const double weight = mg_outcome_weight(o, i);
        const int64_t truth = o->truth[i], predicted = o->predicted[i];
        if (truth >= 0) table[truth].rows += weight;
        if (predicted >= 0) table[predicted].predicted += weight;
        if (truth >= 0 && predicted >= 0) confusion[truth * classes + predicted] += weight;
    }
    for (int64_t c = 0; c < classes; c++) {
        margin_class_metrics *t = &table[c];
        const figures f = figures_of(confusion[c * classes + c], t->rows, t->predicted);
        t->size = sizeof *t;
        t->precision = t->predicted > 0 ? f.precision : (double)NAN;
        t->recall = t->rows > 0 ? f.recall : (double)NAN;
        t->f1 = t->rows + t->predicted > 0 ? f.f1 : (double)NAN;
        t->auc = t->average_precision = (double)NAN;
    }
}
