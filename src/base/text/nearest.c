#include "base/text/nearest.h"

#include "base/status.h"

#include <string.h>

enum { LONGEST_WORD = 64, SHORTEST_PREFIX = 3 };

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool same_letters(const char *a, const char *b, int64_t length) {
    for (int64_t i = 0; i < length; i++)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

bool mg_ends_with(const char *text, int64_t length, const char *ending) {
    int64_t tail = (int64_t)strlen(ending);
    return tail <= length && same_letters(text + length - tail, ending, tail);
}

/* Optimal string alignment: the edit distance of Damerau ("A technique for computer detection and
 * correction of spelling errors", CACM 1964), no part edited twice. Three rows of the table. */
int mg_edit_distance(const char *a, int64_t a_length, const char *b, int64_t b_length, int limit) {
    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD) return limit + 1;
    int rows[3][LONGEST_WORD + 1];
    int *before = rows[0], *above = rows[1], *current = rows[2];
    for (int j = 0; j <= b_length; j++)
        above[j] = before[j] = j;
    for (int i = 1; i <= a_length; i++) {
        current[0] = i;
        for (int j = 1; j <= b_length; j++) {
            const char x = lower(a[i - 1]), y = lower(b[j - 1]);
            int best = above[j - 1] + (x != y);
            best = MG_MIN(best, above[j] + 1);
            best = MG_MIN(best, current[j - 1] + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                best = MG_MIN(best, before[j - 2] + 1);
            current[j] = best;
        }
        int *const spare = before;
        before = above, above = current, current = spare;
    }
    return MG_MIN(above[b_length], limit + 1);
}

/* One slip in a short word, three in a long one. */
static int likely_slips(int64_t length) {
    return length < 5 ? 1 : length < 8 ? 2 : 3;
}

/* What other programs call a component, an option or a value. */
static const char *other_name(const char *word, int64_t length) {
    static const char *const names[][2] = {
        {"linear-regression", "least-squares"},
        {"ols", "least-squares"},
        {"lm", "least-squares"},
        {"logistic-regression", "logistic"},
        {"logit", "logistic"},
        {"svc", "svm"},
        {"svr", "svm"},
        {"nearest-neighbours", "knn"},
        {"nearest-neighbors", "knn"},
        {"neighbours", "knn"},
        {"neighbors", "knn"},
        {"n_neighbors", "k"},
        {"n_clusters", "k"},
        {"scale", "standardize"},
        {"zscore", "standardize"},
        {"gauss", "rbf"},
        {"gaussian", "rbf"},
    };
    for (int k = 0; k < MG_LENGTH(names); k++)
        if ((int64_t)strlen(names[k][0]) == length && mg_ends_with(word, length, names[k][0]))
            return names[k][1];
    return NULL;
}

mg_nearest mg_nearest_begin(const char *word, int64_t length) {
    return (mg_nearest){.word = word,
                        .length = length,
                        .distance = likely_slips(length) + 1,
                        .other = other_name(word, length)};
}

static bool begins_with(const char *known, int64_t known_length, const char *word, int64_t length) {
    return length >= SHORTEST_PREFIX && length <= known_length && same_letters(known, word, length);
}

void mg_nearest_offer(mg_nearest *nearest, const char *known, int64_t length) {
    const int limit = likely_slips(nearest->length);
    int distance = mg_edit_distance(nearest->word, nearest->length, known, length, limit);
    /* A word with every letter changed is another word; one that was cut off is not. */
    if (distance >= length || (distance > 0 && distance >= nearest->length)) distance = limit + 1;
    if (begins_with(known, length, nearest->word, nearest->length))
        distance = MG_MIN(distance, limit);
    const char *other = nearest->other;
    if (other && (int64_t)strlen(other) == length && same_letters(known, other, length))
        distance = 0;
    if (distance >= nearest->distance) return;
    nearest->distance = distance;
    nearest->best = known;
    nearest->best_length = length;
}
