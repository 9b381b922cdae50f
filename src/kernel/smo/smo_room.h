/* What the files of the working-set solver share. */
#pragma once

#include "kernel/smo/smo.h"

enum { MG_SMO_MOST = 1024 };

/* Scratch of one problem. */
typedef struct mg_smo_room {
    mg_arena arena;
    int64_t size, most;     /* of a working set: the next, and later ones */
    int64_t *set;           /* its members */
    int64_t members, fresh; /* fresh: chosen this round, the first of them */
    int64_t kept;           /* of the matrix before: so many of its first rows are the last now */
    uint16_t *up_key, *low_key;
    mg_smo_set inner;
    float *inner_matrix, *inner_diagonal;
    double *inner_least, *inner_most;
    int64_t *changed;
    double *moved;
} mg_smo_room;

/* A working set from the histogram of violations. */
void mg_smo_select(const mg_smo *s, mg_smo_room *room);
/* K of some variables: out[a * ld + b]. The last `kept` of them are those whose values are in the
 * first rows and columns. */
margin_status mg_smo_block(mg_smo *s, const int64_t *variables, int64_t count, int64_t kept,
                           float *out, int64_t ld, margin_error *error);
/* Whether the variables that can still move are few enough to be solved by themselves. */
bool mg_smo_can_shrink(const mg_smo *s, int64_t *active);
margin_status mg_smo_shrink(mg_smo *s, int64_t active, margin_error *error);

bool mg_smo_is_done(const mg_smo *s);
/* Progress is asked for over many rounds, as single ones may go backwards. */
typedef struct mg_smo_pace {
    double best;
    int64_t since;
} mg_smo_pace;
bool mg_smo_has_stalled(const mg_smo *s, mg_smo_pace *pace);
