/* Reading the target of one row, for what learns classes (target.c) and what looks them up
 * (target_codes.c). */
#pragma once

#include "model/problem/samples.h"

#define MG_LABEL_LONG 9007199254740992.0 /* 2^53: whole numbers beyond it may be rounded */

const char *mg_target_name(const margin_data *data);
bool mg_target_is_categorical(const margin_data *data);
/* learner: who needs it; NULL: whoever reads it. */
margin_status mg_target_require(const margin_data *data, const char *learner, margin_error *error);

/* The number `value` that a target has in a row, if it can stand for itself. */
margin_status mg_label_check(const char *name, int64_t row, double value, margin_error *error);
/* The label of a row as a number that stands for itself. */
margin_status mg_label_read(const margin_data *data, int64_t row, double *label,
                            margin_error *error);
/* The category of a row. */
margin_status mg_label_category(const margin_data *data, int64_t row, int64_t *category,
                                margin_error *error);
/* An integer of 64 bits that f64 may not hold: as a label it is a name, its digits. */
bool mg_label_is_long(const margin_data *data, int64_t row);
/* The text of a row's label; returns its length. */
int mg_label_print(const margin_data *data, int64_t row, char text[MARGIN_NUMBER_TEXT]);
