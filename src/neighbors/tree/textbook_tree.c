/* The kd-tree of textbooks, for looking at: Bentley, "Multidimensional binary search trees used for
 * associative searching", 1975. */
#include "base/sort.h"
#include "data/matrix/matrix.h"
#include "margin/neighbors.h"

#include <math.h>

typedef struct column_order {
    const margin_matrix *x;
    int64_t column;
} column_order;

static double value_of(const margin_matrix *x, int64_t row, int64_t column) {
    return mg_stored_value(x, row * x->stride + column);
}

static bool textbook_before(int64_t a, int64_t b, const void *argument) {
    const column_order *o = argument;
    const double left = value_of(o->x, a, o->column), right = value_of(o->x, b, o->column);
    return left < right || (left == right && a < b);
}

/* A part of the rows still to be made a tree. */
typedef struct part {
    int64_t first, last, parent, depth;
    int64_t *place; /* where its root is to be written */
} part;

static margin_status textbook_check_rows(margin_context *context, const margin_matrix *x,
                                         const margin_textbook_node *nodes, const int64_t *root,
                                         margin_error *error) {
    MG_GIVEN(error, {x, "matrix"}, {nodes, "place for the nodes"}, {root, "place for the root"});
    MG_TRY(mg_matrix_check(context, x, "x", error));
    MG_REQUIRE(!mg_is_csr(x) && x->rows > 0 && x->columns > 0, error, MARGIN_ERROR_ARGUMENT,
               "the textbook's tree needs a dense matrix with rows and columns");
    const margin_data data = {.x = *x};
    return mg_matrix_check_finite(context, &data, false, error);
}

static margin_status make_tree(margin_context *context, const margin_matrix *x,
                               margin_textbook_node *nodes, int64_t *root, margin_error *error) {
    enum { MOST_DEPTH = 64 }; /* halves: at most 63 levels, one part of each waits */
    part waiting[MOST_DEPTH];
    int64_t *order, *scratch, top = -1;
    int height = 0;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the textbook's tree", error, MG_PIECE(order, x->rows),
                     MG_PIECE(scratch, x->rows)));
    for (int64_t i = 0; i < x->rows; i++)
        order[i] = i;
    waiting[height++] = (part){0, x->rows, -1, 0, &top};
    while (height > 0) {
        const part p = waiting[--height];
        const column_order by = {x, p.depth % x->columns};
        if (mg_cancelled(context) ||
            !mg_sort(context, order + p.first, p.last - p.first, scratch, textbook_before, &by))
            return mg_fail_cancelled(error);
        const int64_t middle = p.first + (p.last - p.first) / 2, row = order[middle];
        *p.place = row;
        nodes[row] = (margin_textbook_node){by.column, p.parent, -1, -1, p.depth};
        if (middle + 1 < p.last)
            waiting[height++] = (part){middle + 1, p.last, row, p.depth + 1, &nodes[row].right};
        if (p.first < middle)
            waiting[height++] = (part){p.first, middle, row, p.depth + 1, &nodes[row].left};
    }
    *root = top;
    return MARGIN_OK;
}

margin_status margin_textbook_tree(margin_context *context, const margin_matrix *x,
                                   margin_textbook_node *nodes, int64_t *root,
                                   margin_error *error) {
    margin_status status;
    MG_REQUIRE(context, error, MARGIN_ERROR_ARGUMENT, "the context is NULL");
    margin_context call = mg_context_call(context);
    MG_GO(textbook_check_rows(&call, x, nodes, root, error));
    status = make_tree(&call, x, nodes, root, error);
done:
    return mg_call_status(&call, status, "before the tree was made", error);
}
