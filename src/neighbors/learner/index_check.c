/* The kind of hypothesis: its view, and the checks that make tensors from a hostile file safe. A
 * lying box could only give wrong neighbours, never touch memory it should not; it is refused all
 * the same. */
#include "neighbors/learner/knn.h"

#include <string.h>

/* ---- View ------------------------------------------------------------------------------------ */

static const void *data_of(const mg_hypothesis *h, const char *name) {
    const mg_tensor *tensor = mg_bag_find(&h->bag, name);
    return tensor ? tensor->data : NULL;
}

static void view_tree(const mg_hypothesis *h, mg_neighbors *view, bool exact) {
    view->tree_store = (mg_tree){.nodes = mg_bag_find(&h->bag, "box")->shape[0],
                                 .leaves = mg_bag_find(&h->bag, "leaf")->shape[0],
                                 .box = data_of(h, "box"),
                                 .child = data_of(h, "child"),
                                 .least = data_of(h, "least"),
                                 .leaf = data_of(h, "leaf"),
                                 .row = data_of(h, "row"),
                                 .exact = exact};
    view->tree = &view->tree_store;
}

static void view_radius(const mg_hypothesis *h, mg_neighbors *view) {
    const double *radius = data_of(h, "radius");
    view->radius = radius ? radius[0] : (double)INFINITY;
    view->prior = data_of(h, "prior");
    view->nearest_stands = radius && radius[1] == MG_EMPTY_NEAREST;
    if (radius) view->k = (double)INFINITY;
}

/* Rows to look at first: as many as have the weight k if they are like the average. */
static int64_t first_reach(const mg_neighbors *view) {
    double mean = 0;
    for (int64_t i = 0; view->weight && i < view->rows; i++)
        mean += view->weight[i] / (double)view->rows;
    if (!view->weight) mean = 1;
    const double wanted = ceil(view->k / mean);
    const double most = (double)MG_MIN(view->rows, MG_NEIGHBORS_LIST);
    return (int64_t)MG_MAX(1, MG_MIN(wanted, most));
}

/* A mean is never larger than the values, but the sum that it comes from may be. */
static void view_values(mg_neighbors *view) {
    double total = view->weight ? 0 : (double)view->rows;
    view->value_scale = 1;
    for (int64_t i = 0; view->value && i < view->rows; i++) {
        view->most_value = fmax(view->most_value, fabs(view->value[i]));
        if (view->weight) total += view->weight[i];
    }
    if (!(view->most_value > 0 && isfinite(view->most_value))) return;
    const int exponent = ilogb(view->most_value) + ilogb(total);
    if (exponent > 1020) view->value_scale = ldexp(1, 1020 - exponent);
}

margin_status mg_neighbors_set_view(mg_hypothesis *h, margin_error *error) {
    const double *settings = data_of(h, "settings");
    const mg_tensor *points = mg_bag_find(&h->bag, "points");
    mg_neighbors *view = h->derived ? h->derived : mg_new_zero(h->heap, 1, sizeof *view);
    if (!view) return mg_no_memory(h->heap, 1, sizeof *view, "an index of neighbours", error);
    *view = (mg_neighbors){.isa = mg_isa_level(),
                           .metric = mg_metric_of(settings[MG_SETTING_P]),
                           .rows = (int64_t)settings[MG_SETTING_ROWS],
                           .columns = h->columns,
                           .single = points->type == MARGIN_F32,
                           .points = points->data,
                           .centre = data_of(h, "centre"),
                           .scale = settings[MG_SETTING_SCALE],
                           .code = data_of(h, "class"),
                           .value = data_of(h, "value"),
                           .weight = data_of(h, "weight"),
                           .k = settings[MG_SETTING_K],
                           .by_distance = settings[MG_SETTING_BY_DISTANCE] != 0};
    view_radius(h, view);
    view_values(view);
    if (settings[MG_SETTING_TREE] != 0) view_tree(h, view, settings[MG_SETTING_EXACT] != 0);
    view->reach = first_reach(view);
    h->derived = view;
    h->view.other = view;
    return MARGIN_OK;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

#define REFUSE(condition, ...) MG_REQUIRE(condition, error, MARGIN_ERROR_MODEL, __VA_ARGS__)

static margin_status check_settings(const mg_hypothesis *h, const double *s, margin_error *error) {
    int exponent;
    REFUSE(s[MG_SETTING_P] >= 1, "the neighbors model has a metric that is none");
    REFUSE(s[MG_SETTING_ROWS] >= 1 && s[MG_SETTING_ROWS] < (double)INT32_MAX &&
               s[MG_SETTING_ROWS] == floor(s[MG_SETTING_ROWS]),
           "the neighbors model has no number of rows");
    REFUSE(s[MG_SETTING_SCALE] > 0 && isfinite(s[MG_SETTING_SCALE]) &&
               isfinite(1 / s[MG_SETTING_SCALE]) && frexp(s[MG_SETTING_SCALE], &exponent) == 0.5,
           "the scale of the neighbors model is not a power of two");
    for (int k = MG_SETTING_TREE; k < MG_SETTINGS; k++)
        REFUSE(k == MG_SETTING_K || s[k] == 0 || s[k] == 1,
               "a setting of the neighbors model is neither 0 nor 1");
    REFUSE(s[MG_SETTING_K] >= 1 && s[MG_SETTING_K] <= 0x1p53,
           "the neighbors model asks for no neighbours");
    REFUSE(s[MG_SETTING_TREE] == 0 || h->columns <= MG_TREE_COLUMNS,
           "the tree of the neighbors model has too many columns");
    return MARGIN_OK;
}

static margin_status check_numbers(const mg_bag *bag, const void *data, bool single, int64_t count,
                                   const char *name, margin_error *error) {
    for (int64_t k = 0; k < count; k++) {
        if (mg_bag_ended(bag, k)) return mg_fail_cancelled(error);
        const double value = single ? (double)((const float *)data)[k] : ((const double *)data)[k];
        REFUSE(fabs(value) <= MG_NEIGHBORS_LARGEST,
               "tensor '%s' of the neighbors model holds a number that is no coordinate", name);
    }
    return MARGIN_OK;
}

static margin_status check_points(const mg_hypothesis *h, int64_t slots, margin_error *error) {
    const mg_tensor *points = mg_bag_find(&h->bag, "points");
    const void *data = NULL;
    REFUSE(points && (points->type == MARGIN_F32 || points->type == MARGIN_F64),
           "the neighbors model has no points");
    MG_TRY(mg_bag_expect(&h->bag, "points", points->type, slots, h->columns, (void *)&data, error));
    return check_numbers(&h->bag, data, points->type == MARGIN_F32, slots * h->columns, "points",
                         error);
}

/* Filters in f32 hold no more: rows beyond would be passed over. */
static bool within_reach(double scaled) {
    return fabs(scaled) < MG_SCALED_MOST;
}

/* Without a tree: with one its leaves are checked. */
static margin_status check_reach(const mg_bag *bag, const mg_neighbors *view, margin_error *error) {
    for (int64_t i = 0; i < view->rows; i++) {
        if (mg_bag_ended(bag, i)) return mg_fail_cancelled(error);
        for (int64_t j = 0; j < view->columns; j++)
            REFUSE(within_reach(mg_neighbors_scaled(view, i, j)),
                   "the scale of the neighbors model is not that of its points");
    }
    return MARGIN_OK;
}

/* Every row once. */
static margin_status index_check_rows(const mg_hypothesis *h, int64_t rows, int64_t leaves,
                                      const int32_t *row, margin_error *error) {
    uint8_t *seen = mg_new_zero(h->heap, rows, 1);
    int64_t count = 0;
    bool good = true;
    if (!seen) return mg_no_memory(h->heap, rows, 1, "checking a tree", error);
    for (int64_t slot = 0; slot < leaves * MG_LEAF && good; slot++) {
        if (row[slot] == -1) continue;
        good = row[slot] >= 0 && row[slot] < rows && !seen[row[slot]];
        if (good) seen[row[slot]] = 1;
        count++;
    }
    mg_free(h->heap, seen);
    REFUSE(good && count == rows, "the leaves of the neighbors model do not hold each row once");
    return MARGIN_OK;
}

/* The filter values of a leaf are those of its points, and lie within its box. */
static bool leaf_fits(const mg_neighbors *view, int64_t leaf, const float *box, int lane) {
    const mg_tree *tree = view->tree;
    const double step = 1 / view->scale;
    for (int64_t slot = leaf * MG_LEAF, l = 0; l < MG_LEAF; l++, slot++)
        for (int64_t j = 0; j < view->columns; j++) {
            const float value = tree->leaf[(leaf * view->columns + j) * MG_LEAF + l];
            if (tree->row[slot] < 0) {
                if (value != INFINITY) return false;
                continue;
            }
            if (value != (float)mg_neighbors_scaled(view, slot, j)) return false;
            if (!within_reach((double)value)) return false;
            if (tree->exact &&
                (double)value * step + view->centre[j] != mg_neighbors_coordinate(view, slot, j))
                return false;
            if (box && !(box[j * 16 + lane] <= value && value <= box[j * 16 + 8 + lane]))
                return false;
        }
    return true;
}

static int32_t least_of_leaf(const mg_tree *tree, int64_t leaf) {
    int32_t least = INT32_MAX;
    for (int l = 0; l < MG_LEAF; l++) {
        const int32_t row = tree->row[leaf * MG_LEAF + l];
        if (row >= 0 && row < least) least = row;
    }
    return least;
}

/* Lane of a node over another node: the box holds the boxes below, the least row is theirs. */
static bool node_fits(const mg_neighbors *view, int64_t below, const float *box, int lane,
                      int32_t least) {
    const mg_tree *tree = view->tree;
    int32_t found = INT32_MAX;
    for (int l = 0; l < MG_BRANCH; l++) {
        const float *inner = tree->box + below * view->columns * 16;
        found = MG_MIN(found, tree->least[below * MG_BRANCH + l]);
        if (inner[l] > inner[8 + l]) continue; /* no child */
        for (int64_t j = 0; j < view->columns; j++)
            if (!(box[j * 16 + lane] <= inner[j * 16 + l] &&
                  inner[j * 16 + 8 + l] <= box[j * 16 + 8 + lane]))
                return false;
    }
    return found == least;
}

typedef struct walk {
    uint8_t *depth; /* of each node; 0: no parent yet */
    uint8_t *used_leaf;
    int64_t leaves;
} walk;

static bool lane_fits(const mg_neighbors *view, int64_t node, int lane, walk *w) {
    const mg_tree *tree = view->tree;
    const float *box = tree->box + node * view->columns * 16;
    const int32_t child = tree->child[node * MG_BRANCH + lane];
    const int32_t least = tree->least[node * MG_BRANCH + lane];
    if (box[lane] > box[8 + lane]) { /* empty */
        for (int64_t j = 0; j < view->columns; j++)
            if (box[j * 16 + lane] != INFINITY || box[j * 16 + 8 + lane] != -INFINITY) return false;
        return child == 0 && least == INT32_MAX;
    }
    if (child < 0) {
        if (~child >= tree->leaves || w->used_leaf[~child]) return false;
        w->used_leaf[~child] = 1;
        w->leaves++;
        return least == least_of_leaf(tree, ~child) && leaf_fits(view, ~child, box, lane);
    }
    if (child <= node || child >= tree->nodes || w->depth[child]) return false;
    w->depth[child] = (uint8_t)(w->depth[node] + 1);
    return w->depth[child] < MG_TREE_DEPTH && node_fits(view, child, box, lane, least);
}

/* Each node but the first and each leaf hangs below one lane of an earlier node. */
static margin_status check_nodes(const mg_bag *bag, const mg_neighbors *view, walk *w,
                                 margin_error *error) {
    const mg_tree *tree = view->tree;
    bool fits = tree->nodes > 0 || (tree->leaves == 1 && leaf_fits(view, 0, NULL, 0));
    if (tree->nodes > 0) w->depth[0] = 1;
    for (int64_t node = 0; node < tree->nodes && fits; node++) {
        if (mg_bag_ended(bag, node * 64)) return mg_fail_cancelled(error); /* of 64 leaves */
        fits = w->depth[node] > 0;
        for (int lane = 0; lane < MG_BRANCH && fits; lane++)
            fits = lane_fits(view, node, lane, w);
    }
    REFUSE(fits && (tree->nodes == 0 || w->leaves == tree->leaves),
           "the boxes and leaves of the neighbors model are not a tree over its points");
    return MARGIN_OK;
}

static margin_status check_tree(const mg_hypothesis *h, const mg_neighbors *view,
                                margin_error *error) {
    walk w = {0};
    margin_status status;
    MG_TRY(index_check_rows(h, view->rows, view->tree->leaves, view->tree->row, error));
    w.depth = mg_new_zero(h->heap, view->tree->nodes, 1);
    w.used_leaf = mg_new_zero(h->heap, view->tree->leaves, 1);
    if (!w.depth || !w.used_leaf)
        status = mg_no_memory(h->heap, view->tree->nodes, 1, "checking a tree", error);
    else
        status = check_nodes(&h->bag, view, &w, error);
    MG_FREE(h->heap, w.depth, w.used_leaf);
    return status;
}

static margin_status check_tree_shapes(const mg_hypothesis *h, int64_t rows, margin_error *error) {
    const mg_tensor *leaf = mg_bag_find(&h->bag, "leaf"), *box = mg_bag_find(&h->bag, "box");
    const void *unused = NULL;
    REFUSE(leaf && box && leaf->shape[0] >= 1 && leaf->shape[0] <= rows &&
               rows <= leaf->shape[0] * MG_LEAF && leaf->shape[0] < INT32_MAX / MG_LEAF &&
               box->shape[0] < leaf->shape[0],
           "the neighbors model has no tree, or one of another size than its points");
    const int64_t leaves = leaf->shape[0], nodes = box->shape[0];
    MG_TRY(check_points(h, leaves * MG_LEAF, error));
    MG_TRY(mg_bag_expect(&h->bag, "row", MARGIN_I32, leaves * MG_LEAF, 0, (void *)&unused, error));
    MG_TRY(mg_bag_expect(&h->bag, "leaf", MARGIN_F32, leaves, h->columns * MG_LEAF, (void *)&unused,
                         error));
    MG_TRY(
        mg_bag_expect(&h->bag, "box", MARGIN_F32, nodes, h->columns * 16, (void *)&unused, error));
    MG_TRY(mg_bag_expect(&h->bag, "child", MARGIN_I32, nodes, MG_BRANCH, (void *)&unused, error));
    return mg_bag_expect(&h->bag, "least", MARGIN_I32, nodes, MG_BRANCH, (void *)&unused, error);
}

static margin_status check_targets(const mg_hypothesis *h, int64_t rows, double k,
                                   margin_error *error) {
    const int32_t *code = NULL;
    const double *value = NULL, *weight = NULL;
    double total = (double)rows;
    const bool classes = mg_bag_find(&h->bag, "class") != NULL;
    REFUSE(!classes || !mg_bag_find(&h->bag, "value"),
           "the neighbors model has classes and values at once");
    if (classes) {
        MG_TRY(mg_bag_expect(&h->bag, "class", MARGIN_I32, rows, 0, &code, error));
        for (int64_t i = 0; i < rows; i++)
            REFUSE(code[i] >= 0 && code[i] < h->functions,
                   "a row of the neighbors model has a class that is none");
    } else if (mg_bag_find(&h->bag, "value")) {
        REFUSE(h->functions == 1, "the neighbors model has values and several functions");
        MG_TRY(mg_bag_expect(&h->bag, "value", MARGIN_F64, rows, 0, &value, error));
        for (int64_t i = 0; i < rows; i++)
            REFUSE(isfinite(value[i]), "a target of the neighbors model is no number");
    }
    if (mg_bag_find(&h->bag, "weight")) {
        MG_TRY(mg_bag_expect(&h->bag, "weight", MARGIN_F64, rows, 0, &weight, error));
        total = 0;
        for (int64_t i = 0; i < rows; i++) {
            REFUSE(weight[i] > 0 && isfinite(weight[i]),
                   "a weight of the neighbors model is not positive");
            total += weight[i];
        }
    }
    REFUSE(k <= total * (1 + 1e-9) && isfinite(total),
           "the neighbors model asks for more neighbours than it has rows");
    return MARGIN_OK;
}

static margin_status check_radius(const mg_hypothesis *h, margin_error *error) {
    const double *radius = NULL, *prior = NULL;
    const bool limited = mg_bag_find(&h->bag, "radius") != NULL;
    bool wanted = false;
    if (limited) {
        MG_TRY(mg_bag_expect(&h->bag, "radius", MARGIN_F64, 2, 0, &radius, error));
        REFUSE(radius[0] >= 0 && (radius[1] == MG_EMPTY_NEAREST || radius[1] == MG_EMPTY_PRIOR ||
                                  radius[1] == MG_EMPTY_NONE),
               "the radius of the neighbors model is none");
        wanted = radius[1] == MG_EMPTY_PRIOR;
    }
    REFUSE((mg_bag_find(&h->bag, "prior") != NULL) == wanted,
           "the neighbors model has shares of classes without a use, or none where they are used");
    if (!wanted) return MARGIN_OK;
    MG_TRY(mg_bag_expect(&h->bag, "prior", MARGIN_F64, h->functions, 0, &prior, error));
    for (int64_t f = 0; f < h->functions; f++)
        REFUSE(isfinite(prior[f]), "a share of the neighbors model is no number");
    return MARGIN_OK;
}

/* Tensors that no part of an index is made of. */
static margin_status check_names(const mg_hypothesis *h, bool tree, margin_error *error) {
    static const char *const known[] = {"settings", "centre", "points", "class", "value",
                                        "weight",   "radius", "prior",  "row",   "leaf",
                                        "box",      "child",  "least"};
    const int count = tree ? MG_LENGTH(known) : MG_LENGTH(known) - 5;
    for (int t = 0; t < h->bag.count; t++) {
        bool found = false;
        for (int k = 0; k < count; k++)
            found = found || strcmp(h->bag.tensors[t].name, known[k]) == 0;
        REFUSE(found, "the neighbors model has a tensor '%s' too many", h->bag.tensors[t].name);
    }
    return MARGIN_OK;
}

/* Checks tensors from anywhere, then fills the view (index_check.c). */
static margin_status neighbors_check(mg_hypothesis *h, margin_error *error) {
    const double *settings = NULL, *centre = NULL;
    MG_TRY(mg_bag_expect(&h->bag, "settings", MARGIN_F64, MG_SETTINGS, 0, &settings, error));
    MG_TRY(check_settings(h, settings, error));
    const int64_t rows = (int64_t)settings[MG_SETTING_ROWS];
    const bool tree = settings[MG_SETTING_TREE] != 0;
    MG_TRY(check_names(h, tree, error));
    MG_TRY(mg_bag_expect(&h->bag, "centre", MARGIN_F64, h->columns, 0, &centre, error));
    MG_TRY(check_numbers(&h->bag, centre, false, h->columns, "centre", error));
    MG_TRY(tree ? check_tree_shapes(h, rows, error) : check_points(h, rows, error));
    MG_TRY(check_radius(h, error));
    MG_TRY(
        check_targets(h, rows, mg_bag_find(&h->bag, "radius") ? 0 : settings[MG_SETTING_K], error));
    MG_TRY(mg_neighbors_set_view(h, error));
    margin_status status = tree ? check_tree(h, mg_neighbors_view(h), error)
                                : check_reach(&h->bag, mg_neighbors_view(h), error);
    if (status < 0) h->view.other = NULL;
    return status;
}

/* What a fit made is known to be right. */
static margin_status index_attach(mg_hypothesis *h, margin_error *error) {
    return h->view.other ? mg_neighbors_set_view(h, error) : neighbors_check(h, error);
}

const mg_hypothesis_kind mg_hypothesis_neighbors = {
    .name = "neighbors",
    .dense = true,
    .attach = index_attach,
    .scores = mg_knn_scores,
    .scores_batch = mg_knn_scores_batch,
};
