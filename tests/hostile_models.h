/* Honest models of every learner behind every stage, files made from them with something changed
 * and the right checksum, and a call of every public function that takes a model. Used by a test
 * program and by a fuzz target, so it knows nothing of either. */
#ifndef HOSTILE_MODELS_H
#define HOSTILE_MODELS_H

#include "margin/margin.h"

#include <stdbool.h>

/* ---- Honest models --------------------------------------------------------------------------- */

/* Kinds of targets; the features are three columns, in NAMED one of them of categories. */
typedef enum hostile_target {
    NO_TARGET,
    TWO_CLASSES,
    THREE_NAMES,
    VALUES,
    TWO_VALUES
} hostile_target;

enum { HOSTILE_SPEC = 160, HOSTILE_MOST = 256, HOSTILE_ROWS = 16 };

typedef struct hostile_case {
    char spec[HOSTILE_SPEC];
    hostile_target target;
    bool named;  /* the last column holds categories */
    int promise; /* margin_calibration, and then a coverage and a decision, too; 0: none */
} hostile_case;

/* Each learner of the catalogue by itself, behind each stage, and some with options of their own.
 * Returns their number. */
int hostile_cases(hostile_case cases[HOSTILE_MOST]);

/* Trains it; the status of the fit. */
margin_status hostile_train(margin_context *context, const hostile_case *c, margin_model **model,
                            margin_error *error);

/* The training data of an honest model; for others something like it. False: its columns are too
 * many, or there is no memory. */
typedef struct hostile_data {
    margin_data data;
    double *x, *y;
    margin_column target;
    const char **names;
} hostile_data;
bool hostile_data_of(const margin_model *model, hostile_data *set);
void hostile_data_free(hostile_data *set);

/* ---- Changed files --------------------------------------------------------------------------- */

typedef struct hostile_file {
    unsigned char *bytes; /* free() it */
    int64_t length;
} hostile_file;

/* Where a change takes its choices from; 0 once they are used up. */
typedef struct hostile_choices {
    const unsigned char *bytes;
    size_t count;
} hostile_choices;

/* The file with one thing changed: an entry of the description, the spec, a tensor's name, shape or
 * type, a number. Length and checksum are right. */
hostile_file hostile_change(const hostile_file *file, hostile_choices *choices);

/* The file with the tensor `name` (of `type`, `columns` 0: a vector) behind its others; the numbers
 * are `numbers`, over and over. */
hostile_file hostile_add(const hostile_file *file, const char *name, const char *type, int64_t rows,
                         int64_t columns, const void *numbers, int64_t count);

/* The file with what a promise may add, whole in itself but not made for this model: a calibration,
 * a decision, a coverage with rows left out or with folds that are this file or `other`. */
hostile_file hostile_promise(const hostile_file *file, const hostile_file *other,
                             hostile_choices *choices);

/* The file with `from` in its header replaced by `to`; no bytes if the header has no `from`. */
hostile_file hostile_replace(const hostile_file *file, const char *from, const char *to);

/* ---- Use (hostile_use.c) -------------------------------------------------------------------- */

/* Calls every public function that takes a model, with data of its columns and classes. NULL, or
 * the name of one that failed without a sentence or for a reason that is no fault of the file.
 * `path`: a file to write and read again; NULL: none. `verified`: the status of margin_verify. */
const char *hostile_use(margin_context *context, const margin_model *model, const char *path,
                        margin_status *verified, margin_error *error);

#endif
