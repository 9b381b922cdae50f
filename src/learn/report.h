/* Filling in a margin_report. */
#ifndef MG_REPORT_H
#define MG_REPORT_H

#include "base/context.h"
#include "margin/model.h"

/* No items, one sub-problem, every measured number NaN. */
void mg_report_init(margin_report *report);
/* Sets or replaces an item; the 17th is dropped (a defect, caught by a test over the registry). */
void mg_report_set(margin_report *report, const char *name, double value);
/* Of `verify` only, taken out before anybody sees them: the size of the terms that cancel in
 * lambda_max, and how far rounding may move the gap and (where it is more) the
 * objective, relative to it (joined: the greatest). */
#define MG_ITEM_ROUNDING           "gap rounding"
#define MG_ITEM_TERMS              "terms"
#define MG_ITEM_OBJECTIVE_ROUNDING "objective rounding"
void mg_report_formula(margin_report *report, const char *text);
void mg_report_reason(margin_report *report, const char *format, ...) MG_PRINTF(2, 3);
/* Joins the report of the next sub-problem to that of those before it (the first one is simply
 * copied): objectives, iterations and counts of sub-problems add up, the worst status, gap and
 * reason win (a NaN gap is the worst); of items: mistakes, updates, errors and support_vectors add
 * up, margin, least_margin and least_geometric_margin take the least, the
 * others the greatest, NaN where one is NaN. `label` names the sub-problem in the reason. */
void mg_report_join(margin_report *into, const margin_report *part, const char *label);

#endif
