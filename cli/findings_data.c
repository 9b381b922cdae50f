/* Findings of a table and its splits: what makes a figure too good, or not worth much, whatever the
 * learner. */
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 20, LEAST_TWINS = 5, LOOK = 64 };

static double feature(const margin_data *data, int64_t i, int64_t j) {
    const int64_t at = i * data->x.stride + j;
    return data->x.value_type == MARGIN_F32 ? (double)((const float *)data->x.values)[at]
                                            : ((const double *)data->x.values)[at];
}

static double target(const margin_data *data, int64_t i) {
    return ((const double *)data->y.values)[i];
}

typedef struct {
    double x, y;
} pair;

static int by_x(const void *a, const void *b) {
    const pair *left = a, *right = b;
    if (left->x != right->x) return left->x < right->x ? -1 : 1;
    return (left->y > right->y) - (left->y < right->y);
}

/* ---- A column that holds the answer ---------------------------------------------------------- */

/* Whether each class lies in one run of the sorted values; of categories: each is of one class. */
static bool tells_classes(pair *pairs, int64_t count, bool categories) {
    double begun[LOOK]; /* class of each run */
    int64_t runs = 0, values = 1;
    qsort(pairs, (size_t)count, sizeof *pairs, by_x);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && pairs[i].x == pairs[i - 1].x && pairs[i].y != pairs[i - 1].y) return false;
        values += i > 0 && pairs[i].x != pairs[i - 1].x;
        if (i > 0 && pairs[i].y == pairs[i - 1].y) continue;
        for (int64_t k = 0; k < runs && k < LOOK && !categories; k++)
            if (begun[k] == pairs[i].y) return false;
        if (runs == LOOK && !categories) return false;
        if (runs < LOOK) begun[runs] = pairs[i].y;
        runs++;
    }
    return runs > 1 && (!categories || 2 * values <= count);
}

static bool tells_numbers(const pair *pairs, int64_t count) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < count; i++) {
        mx += pairs[i].x / (double)count;
        my += pairs[i].y / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        const double dx = pairs[i].x - mx, dy = pairs[i].y - my;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 && xy * xy >= 0.9999 * xx * yy;
}

/* Most columns are ruled out by some of the rows. */
static bool tells(const margin_data *data, int64_t column, bool classes, pair *pairs) {
    const bool categories = data->columns && data->columns[column].kind == MARGIN_CATEGORICAL;
    const int64_t rows = data->x.rows;
    if (categories && !classes) return false;
    for (int64_t step = rows / LOOK > 1 ? rows / LOOK : 1;; step = 1) {
        int64_t count = 0;
        for (int64_t i = 0; i < rows; i += step) {
            pairs[count] = (pair){feature(data, i, column), target(data, i)};
            count += !isnan(pairs[count].x) && !isnan(pairs[count].y);
        }
        if (count < LEAST_ROWS) return false;
        const bool found =
            classes ? tells_classes(pairs, count, categories) : tells_numbers(pairs, count);
        if (!found || step == 1) return found;
    }
}

static const char *name_of(const margin_data *data, int64_t column, char number[32]) {
    if (data->columns) return data->columns[column].name;
    snprintf(number, 32, "x%lld", (long long)column + 1);
    return number;
}

static void find_leak(const cli_session *session, const margin_data *data, bool classes,
                      cli_findings *found) {
    pair *pairs = malloc((size_t)data->x.rows * sizeof *pairs);
    char number[32];
    for (int64_t j = 0; pairs && j < data->x.columns; j++) {
        if (!tells(data, j, classes, pairs)) continue;
        cli_finding *made = cli_find(session, found, "leak",
                                     "look where the column comes from; --ignore leaves it out");
        if (made)
            snprintf(made->words, sizeof made->words,
                     "column %.80s alone gives the %s of every row: is it known before the answer?",
                     name_of(data, j, number), classes ? "class" : "number");
        break;
    }
    free(pairs);
}

/* ---- Rows of which there are several --------------------------------------------------------- */

typedef struct {
    uint64_t key;
    int64_t row;
} keyed_row;

static int by_key(const void *a, const void *b) {
    const keyed_row *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static uint64_t stir(uint64_t key, double value) {
    uint64_t bits;
    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    key = (key ^ bits) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 32;
}

static bool same_row(const margin_data *data, int64_t a, int64_t b) {
    for (int64_t j = 0; j < data->x.columns; j++) {
        const double left = feature(data, a, j), right = feature(data, b, j);
        if (left != right && !(isnan(left) && isnan(right))) return false;
    }
    return target(data, a) == target(data, b);
}

/* Tested rows of which an equal one is not in their own test part. fold[row]: -1 is never tested.
 */
static int64_t count_twins(const margin_data *data, const keyed_row *rows, int64_t count,
                           const int64_t *fold) {
    int64_t twins = 0;
    for (int64_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && rows[end].key == rows[first].key &&
               same_row(data, rows[first].row, rows[end].row))
            end++;
        int64_t least = fold[rows[first].row], most = least;
        for (int64_t k = first; k < end; k++) {
            least = fold[rows[k].row] < least ? fold[rows[k].row] : least;
            most = fold[rows[k].row] > most ? fold[rows[k].row] : most;
        }
        for (int64_t k = first; k < end && least != most; k++)
            twins += fold[rows[k].row] >= 0;
    }
    return twins;
}

/* The test part of each row in the first repeat; -1: it is in none, -2: it takes no part. */
static int64_t list_folds(const margin_data *data, const margin_splits *splits, int64_t *fold,
                          int64_t *scratch) {
    int64_t tested = 0;
    for (int64_t i = 0; i < data->x.rows; i++)
        fold[i] = -2;
    for (int64_t f = 0; f < margin_splits_folds(splits); f++) {
        const int64_t count = margin_splits_rows(splits, f, MARGIN_PART_TEST, scratch);
        for (int64_t k = 0; k < count; k++)
            fold[scratch[k]] = f;
        tested += count;
    }
    for (int64_t f = 0; f < (margin_splits_folds(splits) > 1 ? 2 : 1); f++) {
        const int64_t count = margin_splits_rows(splits, f, MARGIN_PART_TRAIN, scratch);
        for (int64_t k = 0; k < count; k++)
            if (fold[scratch[k]] == -2) fold[scratch[k]] = -1;
    }
    return tested;
}

static void find_twins(const cli_session *session, const margin_data *data,
                       const margin_splits *splits, cli_findings *found) {
    const int64_t n = data->x.rows;
    int64_t *fold = malloc(2 * (size_t)n * sizeof *fold), count = 0;
    keyed_row *rows = malloc((size_t)n * sizeof *rows);
    if (fold && rows) {
        const int64_t tested = list_folds(data, splits, fold, fold + n);
        for (int64_t i = 0; i < n; i++) {
            if (fold[i] == -2) continue;
            uint64_t key = stir(0, target(data, i));
            for (int64_t j = 0; j < data->x.columns; j++)
                key = stir(key, feature(data, i, j));
            rows[count++] = (keyed_row){key, i};
        }
        qsort(rows, (size_t)count, sizeof *rows, by_key);
        const int64_t twins = count_twins(data, rows, count, fold);
        cli_finding *made = NULL;
        if (twins >= LEAST_TWINS && 20 * twins > tested)
            made = cli_find(session, found, "duplicates",
                            "--groups with a column that names what belongs together, or leave "
                            "copies out");
        if (made)
            snprintf(
                made->words, sizeof made->words,
                "%lld of %lld tested rows have an equal one among rows that were learned from: "
                "those are remembered, not predicted",
                (long long)twins, (long long)tested);
    }
    free(rows);
    free(fold);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void find_rare(const cli_session *session, const margin_data *data,
                      const margin_splits *splits, cli_findings *found) {
    enum { LEAST = 5 };
    const int64_t n = data->x.rows, folds = splits ? margin_splits_folds(splits) : 0;
    const int64_t least = folds > LEAST && folds < n / 2 ? folds : LEAST;
    double *y = malloc((size_t)n * sizeof *y);
    int64_t count = 0, rarest = n + 1, rare = 0;
    double which = 0;
    for (int64_t i = 0; y && i < n; i++)
        if (!isnan(target(data, i))) y[count++] = target(data, i);
    if (y) qsort(y, (size_t)count, sizeof *y, cli_ascending);
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && y[end] == y[first];)
            end++;
        rare += end - first < least;
        if (end - first >= rarest) continue;
        rarest = end - first;
        which = y[first];
    }
    free(y);
    cli_finding *made = NULL;
    if (rare > 0)
        made = cli_find(session, found, "rare-class", "more rows of it, or join it with another");
    if (!made) return;
    char number[MARGIN_NUMBER_TEXT];
    const char *name = number;
    margin_number_print_f64(which, number);
    if (data->target && data->target->kind == MARGIN_CATEGORICAL)
        name = data->target->categories[(int64_t)which];
    snprintf(made->words, sizeof made->words,
             "class %.60s has %lld row%s, fewer than %lld: a figure about it is chance", name,
             (long long)rarest, rarest == 1 ? "" : "s", (long long)least);
}

/* ---- Scale ----------------------------------------------------------------------------------- */

static bool is_one_of(const char *const *list, const char *word) {
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list;
}

/* The learner of a spec if it weighs columns by their size, and nothing in front brings these to
 * one scale; else NULL. */
static const char *weighing_learner(const cli_session *session, const char *text) {
    static const char *const minds[] = {
        "knn",        "svm",         "logistic",    "softmax",      "ridge",
        "lasso",      "kmeans",      "elastic-net", "kernel-ridge", "kernel-logistic",
        "perceptron", "exponential", NULL};
    static const char *const scales[] = {"standardize", "minmax", NULL};
    margin_setting kernel = {.size = sizeof kernel};
    margin_spec *spec = NULL;
    if (margin_spec_parse(session->context, text, &spec, NULL) < 0) return NULL;
    const int64_t last = margin_spec_steps(spec) - 1;
    const char *name = margin_spec_step(spec, last)->name; /* the catalogue's */
    bool weighs = is_one_of(minds, name);
    for (int64_t k = 0; k < last; k++)
        weighs &= !is_one_of(scales, margin_spec_step(spec, k)->name);
    if (margin_spec_setting(spec, last, "kernel", &kernel) && kernel.word)
        weighs &= strcmp(kernel.word, "precomputed") != 0;
    margin_spec_free(spec);
    return weighs ? name : NULL;
}

static double deviation_of(const margin_data *data, int64_t column) {
    double mean = 0, squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < data->x.rows; i++) {
        const double value = feature(data, i, column), off = value - mean;
        if (!isfinite(value)) continue;
        mean += off / (double)++count;
        squares += off * (value - mean);
    }
    return count > 0 ? sqrt(squares / (double)count) : 0;
}

static void find_scale(const cli_session *session, const margin_data *data, const char *spec,
                       cli_findings *found) {
    const char *learner = weighing_learner(session, spec);
    char number[32], other[32];
    double least = (double)INFINITY, most = 0;
    int64_t low = 0, high = 0;
    if (!learner) return;
    for (int64_t j = 0; j < data->x.columns; j++) {
        const double spread = deviation_of(data, j);
        if ((data->columns && data->columns[j].kind == MARGIN_CATEGORICAL) || !(spread > 0))
            continue;
        if (spread < least) low = j;
        if (spread > most) high = j;
        least = fmin(least, spread);
        most = fmax(most, spread);
    }
    if (!(most > 30 * least)) return;
    cli_finding *made = cli_find(session, found, "scale", "standardize | in front of the learner");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "%s weighs columns by their size, and %.50s spreads %.3g times as far as %.50s",
                 learner, name_of(data, high, number), most / least, name_of(data, low, other));
}

/* ---- All ------------------------------------------------------------------------------------- */

static void find_identifier(const cli_session *session, const margin_data *data,
                            cli_findings *found) {
    const int64_t column = cli_next_identifier(data, 0);
    cli_finding *made = NULL;
    if (column < data->x.columns)
        made = cli_find(session, found, "identifier", "--ignore leaves it out");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "column %.80s is different in every row, as an identifier is: it cannot say "
                 "anything about new rows",
                 data->columns[column].name);
}

void cli_find_in_data(const cli_session *session, const margin_data *data,
                      const margin_splits *splits, const char *spec, bool classes,
                      cli_findings *found) {
    if (data->x.row_starts || !data->x.rows) return;
    find_identifier(session, data, found);
    if (spec) find_scale(session, data, spec, found);
    if (data->targets > 1 || data->y.type != MARGIN_F64 || !data->y.values) return;
    if (data->x.columns > 1) find_leak(session, data, classes, found);
    if (classes) find_rare(session, data, splits, found);
    if (splits) find_twins(session, data, splits, found);
}
