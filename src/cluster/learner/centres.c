/* Centres as a hypothesis: scores are negative squared distances. */
#include "cluster/learner/kmeans_learner.h"
#include "learn/hypothesis/dual.h"
#include "math/rows/sparse_row.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 512 }; /* columns of a row that lie on the stack at a time */

static margin_status check_numbers(const double *values, int64_t count, bool positive,
                                   const char *name, margin_error *error) {
    for (int64_t k = 0; k < count; k++)
        MG_REQUIRE(isfinite(values[k]) && (!positive || values[k] >= 0), error, MARGIN_ERROR_MODEL,
                   "tensor '%s' of the model of centres holds what is no %s", name,
                   positive ? "size" : "coordinate");
    return MARGIN_OK;
}

static margin_status centres_attach(mg_hypothesis *h, margin_error *error) {
    const double *centres = NULL, *sizes = NULL;
    const int64_t k = h->functions, n = h->columns;
    if (h->derived) return MARGIN_OK;
    MG_TRY(mg_bag_expect(&h->bag, "centres", MARGIN_F64, k, n, &centres, error));
    MG_TRY(mg_bag_expect(&h->bag, "sizes", MARGIN_F64, k, 0, &sizes, error));
    MG_TRY(check_numbers(centres, k * n, false, "centres", error));
    MG_TRY(check_numbers(sizes, k, true, "sizes", error));
    const int64_t head = (sizeof(mg_centres) + 63) / 64 * 64, tiles = mg_tile_count(k);
    const int64_t numbers = mg_tile_numbers(k, n), squares = mg_tiles_square_numbers(tiles, n);
    const int64_t bytes = head + 8 * (numbers + squares);
    char *block = mg_new(h->heap, bytes, 1);
    if (!block) return mg_no_memory(h->heap, bytes, 1, "the centres", error);
    mg_centres *view = (mg_centres *)(void *)block;
    double *values = (double *)(void *)(block + head), *end = values + numbers + squares;
    *view = (mg_centres){centres,
                         sizes,
                         {.values = values,
                          .blocks = values + numbers,
                          .squares = end - tiles * MG_TILE,
                          .n = n,
                          .block = mg_tiles_block(n),
                          .distances = mg_tile_distances_for(h->isa)}};
    mg_tile_pack(centres, NULL, k, n, values);
    for (int64_t g = 0; g < tiles; g++)
        mg_tiles_square(&view->tiles, g);
    h->derived = block;
    h->view.other = view;
    return MARGIN_OK;
}

/* A dense row in parts, of which those of other types are copied as f64; the sums of the parts are
 * added in order. */
static void score_in_parts(const mg_hypothesis *h, const mg_tile_distances distances,
                           const margin_matrix *x, int64_t row, double *out) {
    const mg_centres *v = mg_centres_of(h);
    const int64_t n = h->columns, k = h->functions;
    double part[CHUNK], squares[MG_TILE];
    for (int64_t c = 0; c < k; c++)
        out[c] = 0;
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, n - first), from = row * x->stride + first;
        const double *values = part;
        if (x->value_type == MARGIN_F64)
            values = (const double *)x->values + from;
        else
            mg_stored_values(x, from, count, part);
        for (int64_t g = 0; g < mg_tile_count(k); g++) {
            distances(values, v->tiles.values + (g * n + first) * MG_TILE, count, squares);
            for (int64_t l = 0; l < MG_TILE && g * MG_TILE + l < k; l++)
                out[g * MG_TILE + l] -= squares[l];
        }
    }
}

static void score_sparse(const mg_hypothesis *h, const mg_sparse_point *point, double *out) {
    const int64_t k = h->functions;
    double squares[MG_TILE];
    for (int64_t g = 0; g < mg_tile_count(k); g++) {
        mg_sparse_distances(point, &mg_centres_of(h)->tiles, g, squares);
        for (int64_t l = 0; l < MG_TILE && g * MG_TILE + l < k; l++)
            out[g * MG_TILE + l] = -squares[l];
    }
}

static margin_status centres_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                    int64_t count, double *out) {
    const mg_tile_distances distances = mg_tile_distances_for(h->isa);
    const mg_row_lanes *lanes = mg_is_csr(x) ? mg_row_lanes_for(x, h->isa) : NULL;
    for (int64_t i = 0; i < count; i++, out += h->functions) {
        if (!lanes) {
            score_in_parts(h, distances, x, first + i, out);
            continue;
        }
        const mg_sparse_point point = mg_sparse_point_of(x, lanes, first + i);
        score_sparse(h, &point, out);
    }
    return MARGIN_OK;
}

const mg_hypothesis_kind mg_hypothesis_centres = {
    .name = "centres",
    .attach = centres_attach,
    .scores = centres_scores,
};
