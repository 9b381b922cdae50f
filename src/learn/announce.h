/* What a fit says of itself before it begins, where it may take much: how much memory, how long,
 * and what would take less. A fit that cannot end is refused. */
#pragma once

#include "base/context.h"

typedef struct mg_announcement {
    const char *learner;
    int64_t rows;           /* of which it makes a matrix of rows x rows kernel values */
    int64_t matrix, whole;  /* bytes of this matrix that are kept, and of all of it */
    int64_t bytes;          /* at the peak, beside the data */
    int64_t room;           /* that the one that does not fit may have */
    bool fits, maps, waves; /* maps: nystroem has its kernel; waves: fourier, too */
    bool strict;            /* the solver asked for needs the whole matrix */
    double work, seconds;   /* multiply-adds, whatever the threads; the order of the time */
    int64_t problems;       /* of this size, one after the other; 0: one */
} mg_announcement;

/* Tells the context, and the log where it is much and more than any fit said before. LIMIT: it does
 * not fit, or would take hours and has no time limit. */
margin_status mg_announce(margin_context *context, const mg_announcement *a, margin_error *error);
