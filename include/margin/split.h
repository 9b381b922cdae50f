/* margin/split.h - rows to learn from, and rows to judge by.
 *
 *   margin_split_options options = {.size = sizeof options, .folds = 5, .stratify = 1};
 *   margin_splits *splits;
 *   if (margin_split(context, &data, &options, &splits, &error) < 0) return complain(error.text);
 *   for (int64_t i = 0; i < margin_splits_count(splits); i++) {
 *       int64_t count = margin_splits_size(splits, i, MARGIN_PART_TRAIN);
 *       margin_splits_rows(splits, i, MARGIN_PART_TRAIN, rows);  // rows: room for `count`
 *       data.selection = rows, data.selected = count;
 *       ...
 */
#ifndef MARGIN_SPLIT_H
#define MARGIN_SPLIT_H

#include "margin/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is split are the selected rows of weight > 0 of a data set; a row selected twice is refused
 * (DATA), as it could stand on both sides. Every split has each of them in at most one part. */
typedef struct margin_split_options {
    size_t size;
    /* Folds (k-fold): so many splits, each row is tested in one of them. 2 .. rows; rows is
     * leave-one-out; MARGIN_LEAVE_ONE_OUT stands for it, with groups for as many folds as groups.
     * 0: one split into parts of stated shares. */
    int64_t folds;
    double test;       /* folds = 0: share of the rows in (0, 1) to test on */
    double validation; /* folds = 0: share of the rows to choose by, 0: none */
    int64_t repeats;   /* the same again, drawn anew; 0 counts as 1; at most 100000 splits in all */
    uint64_t seed;     /* what is drawn derives from it alone */
    int32_t stratify; /* 1: every class of y has its share in every part, to within one row. A class
                         of one row stays in training; one with fewer rows than folds is DATA */
    int32_t in_order; /* 1: rows are not shuffled: folds are runs of rows, the test part the last */
    /* x.rows numbers or none. Rows of equal group are never on two sides; fewer groups than parts
     * are DATA. The parts are as equal as the sizes of the groups let a greedy choice make them;
     * the first repeat places the largest first, later ones mix their order. */
    margin_vector groups;
    /* x.rows numbers or none: training rows are earlier than those they are tested on. Folds:
     * the rows in order of time are cut into folds + 1 runs, and split i learns from the first i +
     * 1 and tests on the next. Rows of equal time stay together. Not with groups, stratify,
     * repeats. */
    margin_vector time;
} margin_split_options;

#define MARGIN_LEAVE_ONE_OUT (-1)

typedef enum margin_part {
    MARGIN_PART_TRAIN = 0,
    MARGIN_PART_TEST = 1,
    MARGIN_PART_VALIDATION = 2
} margin_part;

typedef struct margin_splits margin_splits;

/* Draws the splits. ARGUMENT: options that exclude each other, shares out of range, lengths. DATA:
 * fewer rows, groups, times or members of a class than parts; a group, time or class that is NaN,
 * by row; an empty part. MEMORY, LIMIT, CANCELLED. Memory: 16 bytes a row and repeat. Cost: a sort
 * of classes, groups or times, and a pass for each repeat; groups: groups * folds. */
MARGIN_API MARGIN_CHECKED margin_status margin_split(margin_context *context,
                                                     const margin_data *data,
                                                     const margin_split_options *options,
                                                     margin_splits **splits, margin_error *error);
MARGIN_API void margin_splits_free(margin_splits *splits);

/* Number of splits: folds * repeats. Split f + folds * r is fold f of repeat r. */
MARGIN_API int64_t margin_splits_count(const margin_splits *splits);
MARGIN_API int64_t margin_splits_folds(const margin_splits *splits); /* 1 for stated shares */
/* Rows of a part (margin_part), 0 for what there is none of. */
MARGIN_API int64_t margin_splits_size(const margin_splits *splits, int64_t split, int32_t part);
/* Writes their row numbers, in the order of the data set's selection, into rows (room for
 * margin_splits_size); returns how many. Cost: a test part its own rows, a training part a pass
 * over all. Any number of threads may use one object. */
MARGIN_API int64_t margin_splits_rows(const margin_splits *splits, int64_t split, int32_t part,
                                      int64_t *rows);

#ifdef __cplusplus
}
#endif
#endif
