/* The tensors of an index:
 *
 *   settings  F64, MG_SETTINGS numbers
 *   centre    F64, columns
 *   points    F32 or F64, rows x columns in order; with a tree 16 x leaves rows in its order
 *   row, leaf, box, child, least   the tree, see mg_tree
 *   class (I32) or value (F64), weight (F64, optional)   rows numbers each; none for a bare index
 *   radius    F64, 2 (optional): all rows within the first number vote; the second is an
 *             mg_empty_answer
 *   prior     F64, one for each function; with MG_EMPTY_PRIOR only
 */
#pragma once

#include "learn/hypothesis/dual.h"
#include "neighbors/search/neighbor_index.h"

enum {
    MG_SETTING_P,
    MG_SETTING_ROWS,
    MG_SETTING_SCALE,
    MG_SETTING_TREE,        /* 1, 0 */
    MG_SETTING_EXACT,       /* 1, 0 */
    MG_SETTING_K,           /* weight that votes */
    MG_SETTING_BY_DISTANCE, /* 1, 0 */
    MG_SETTINGS
};

/* What a query without a row within the radius gets. */
typedef enum mg_empty_answer { MG_EMPTY_NEAREST, MG_EMPTY_PRIOR, MG_EMPTY_NONE } mg_empty_answer;

/* Fills the view from tensors that are as this library makes them: all there, nothing checked. */
margin_status mg_neighbors_set_view(mg_hypothesis *h, margin_error *error);

/* ---- Making one ------------------------------------------------------------------------------ */

typedef enum mg_neighbors_method {
    MG_NEIGHBORS_AUTO,
    MG_NEIGHBORS_TREE,
    MG_NEIGHBORS_BRUTE
} mg_neighbors_method;

/* What was chosen, and the counts that decided. */
typedef struct mg_neighbors_choice {
    bool tree;
    bool guessed;      /* trees of some rows were enough to decide */
    int64_t probes;    /* queries tried on the last tree; 0: decided without */
    double visits;     /* mean number of nodes and leaves a probe visited, or would */
    double break_even; /* visits at which a scan costs as much */
} mg_neighbors_choice;

typedef struct mg_neighbors_plan {
    const margin_matrix *x; /* dense; finite, no larger than MG_NEIGHBORS_LARGEST */
    const int64_t *index;   /* row numbers of x; NULL: all */
    int64_t rows;
    double p;
    int64_t k; /* for the probe */
    mg_neighbors_method method;
} mg_neighbors_plan;

/* DATA if a value is too large, with its row, or for a tree of too many columns; LIMIT beyond 2^31
 * - 65 rows; MEMORY, CANCELLED. */
margin_status mg_neighbors_make(margin_context *context, const mg_neighbors_plan *plan,
                                mg_hypothesis **h, mg_neighbors_choice *choice,
                                margin_error *error);
/* What one query costs that visits so many nodes and leaves of a tree and finds so many rows: in
 * nanoseconds as they were measured once. */
double mg_neighbors_price(const mg_neighbors *index, double visits, double found);
/* Why, in a sentence. */
void mg_neighbors_explain(const mg_neighbors_choice *choice, const mg_neighbors *index, char *text,
                          size_t capacity);

extern const mg_hypothesis_kind mg_hypothesis_neighbors;
