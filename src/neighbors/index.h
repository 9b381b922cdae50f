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
#ifndef MG_INDEX_H
#define MG_INDEX_H

#include "learn/dual.h"
#include "neighbors/neighbors.h"

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
/* Checks tensors from anywhere, then fills the view (index_check.c). */
margin_status mg_neighbors_check(mg_hypothesis *h, margin_error *error);

#endif
