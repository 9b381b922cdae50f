/* The rows of a search's folds. */
#include "learn/learner.h"

static void add_row(int64_t row, int64_t *position, int64_t *rows, int64_t *count) {
    if (position[row] >= 0) return;
    rows[*count] = row;
    position[row] = (*count)++;
}

int64_t mg_folds_rows(const mg_fit *fits, int64_t count, int64_t *position, int64_t *rows) {
    int64_t found = 0;
    for (int64_t row = 0; row < fits[0].problem->x.rows; row++)
        position[row] = -1;
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < fits[k].asked_count; i++)
            add_row(fits[k].asked[i], position, rows, &found);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < fits[k].problem->count; i++)
            add_row(mg_sample_row(fits[k].problem, i), position, rows, &found);
    return found;
}
