/* What a fit says of itself before it begins, where it may take much: how much memory, how long,
 * and what would take less. A fit that cannot end is refused. */
#pragma once

#include "learn/learner.h"

typedef struct mg_announcement {
    const char *learner;
    const char *linear;    /* that may take its place behind nystroem; NULL: none */
    int64_t rows;          /* of which it makes a matrix of rows x rows kernel values */
    int64_t matrix, whole; /* bytes of this matrix that are kept, and of all of it */
    int64_t bytes;         /* at the peak, beside the data */
    int64_t room;          /* that the one that does not fit may have */
    char words[100];       /* ", kernel=..." as the learner was given */
    bool fits, waves;      /* waves: fourier has its kernel, too */
    bool strict;           /* the solver asked for needs the whole matrix */
    bool most;             /* bytes: if all rows take part in the model */
    int threads;          /* that it may take, fewer than there are where memory is short; 0: all */
    double work, seconds; /* multiply-adds, whatever the threads; the order of the time */
    int64_t problems;     /* of this size, one after the other; 0: one */
} mg_announcement;

/* Of the learner `name` on such a problem: what is cheaper behind nystroem. NULL: nothing is. */
const char *mg_linear_instead(const char *name, mg_problem_kind kind);
/* From here on the context has no more threads than these. Tells the context, and the log where it
 * is much and more than any fit said before. LIMIT: it does not fit, or would take hours and has no
 * time limit. */
margin_status mg_announce(margin_context *context, const mg_announcement *a, margin_error *error);
/* The same of the products of so many columns, that are held already: told where they are many. */
void mg_announce_products(margin_context *context, int64_t columns);
