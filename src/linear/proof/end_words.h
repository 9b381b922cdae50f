/* Why a smooth minimisation ended, in one sentence, and what all solvers say of limits. */
#ifndef MG_SMOOTH_WORDS_H
#define MG_SMOOTH_WORDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mg_smooth_words {
    margin_status ended; /* why the steps ended */
    bool separated;      /* without a penalty, and every row is on its side */
    bool recession;      /* without a penalty, the loss falls for ever in some direction */
    bool separable;      /* and with recession: every row gets on its side */
    bool limited;        /* without a penalty: too many columns for the proof's matrix */
    double gap, tolerance;
    int64_t steps;
} mg_smooth_words;

/* Of any minimisation; `unit` names what was counted: "steps". status OK: the gap is proven. */
void mg_explain_end(margin_status status, const char *unit, int64_t count, double gap,
                    double tolerance, char *why, size_t room);
void mg_smooth_explain(const mg_smooth_words *words, char *why, size_t room);

#endif
