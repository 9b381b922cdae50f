/* Filling in a margin_report. */
#pragma once

#include "base/caller_options.h"
#include "base/context.h"
#include "margin/model.h"

#include <float.h>

#define MG_REPORT MG_RESULT(margin_report, items)
/* Fills in the caller's place, if there is one (which was checked), with the time since `started`
 * and the threads of the context. */
void mg_report_give(const margin_report *found, const margin_context *context, double started,
                    margin_report *place);
/* No items, one sub-problem, every measured number NaN. */
void mg_report_init(margin_report *report);
/* Sets or replaces an item; the 17th is dropped (a defect, caught by a test over the registry). */
void mg_report_set(margin_report *report, const char *name, double value);
void mg_report_formula(margin_report *report, const char *text);
void mg_report_reason(margin_report *report, const char *format, ...) MG_PRINTF(2, 3);
/* The item of a learner whose answers for all training rows would cost more than its fit: of how
 * many of them, spread evenly, the report's accuracy, rmse and r2 are; NaN: nothing is known of
 * any. */
#define MG_SCORED_ROWS "scored_rows"
/* Which ones: of stretches of equal length, `finest` of them or half as many and so on, each stands
 * for one of its halves, drawn, and in the end for a row, drawn, as rows may be in turns. So those
 * of few stretches are among those of more. Finest: `most`, or half of it and so on down to the
 * least, so that there is a row for each. The stretch of `finer` in number k of `stretches`; and
 * its row, of `count` >= finest. */
int64_t mg_scored_finest(int64_t count, int64_t most, int64_t least);
int64_t mg_scored_stretch(int64_t stretches, int64_t k, int64_t finer);
int64_t mg_scored_row(int64_t count, int64_t finest, int64_t stretches, int64_t k);
/* Joins the report of the next sub-problem to that of those before it (the first one is simply
 * copied): objectives, iterations and counts of sub-problems add up, and so do the distances from
 * the optimum, so that gap is that of the sum: sum_k gap_k max(1, P_k) / max(1, sum_k P_k), NaN if
 * one is NaN; the worst status and reason win; of items: mistakes, updates, errors, norm,
 * support_vectors and bounded_vectors add up, margin, least_margin, and least_geometric_margin take
 * the least, the others the greatest, NaN where one is NaN. `label` names the sub-problem in the
 * reason. */
void mg_report_join(margin_report *into, const margin_report *part, const char *label);

/* The one rule of rounding, for verifications only: a sum that training made in double precision
 * may be off by this share of the sum of the absolute values of its terms. */
#define MG_ROUNDING (16.0 * DBL_EPSILON)
/* The same rule for a sum over rows: half a unit more for each row that is added in order. Equal
 * terms (a weight of 0.1, a target of 0 or 1) round to the same side each time. `block_rows`: of
 * the sweep that makes the sum (base/sweep.h). */
double mg_rows_rounding(int64_t rows, int64_t block_rows);

/* What a verification says beside its report: how far rounding may have moved the numbers of the
 * report that it compares with, absolutely (`gap`: objective less bound), and what of the model
 * contradicts itself. Of sub-problems everything adds up, and the first contradiction stays. */
typedef struct mg_verified {
    double objective, gap;
    double own; /* how far the gap may be off that was found; 0, as of sub-problems: as `gap` */
    double items[MARGIN_REPORT_ITEMS]; /* of the report's item at the same place */
    double rmse, r2;                   /* on the training rows, of mg_fit_score */
    double skew; /* how far values of a precomputed matrix are from their mirror images */
    const char *contradiction; /* a clause; NULL: none */
    const char *claimed;       /* a clause: what no more is claimed than; NULL: as reports say */
} mg_verified;
/* Sets an item and its rounding. */
void mg_report_claim(margin_report *report, mg_verified *verified, const char *name, double value,
                     double rounding);
void mg_verified_join(mg_verified *into, const mg_verified *part);
