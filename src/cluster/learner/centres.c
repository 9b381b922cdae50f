/* Centres as a hypothesis: scores are negative squared distances. */
#include "cluster/centres/centre_tiles.h"
#include "cluster/learner/kmeans_learner.h"
#include "learn/hypothesis/dual.h"

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
    const int64_t head = 64, bytes = head + 8 * mg_tile_numbers(k, n);
    char *block = mg_new(h->heap, bytes, 1);
    if (!block) return mg_no_memory(h->heap, bytes, 1, "the centres", error);
    mg_centres *view = (mg_centres *)(void *)block;
    *view = (mg_centres){centres, sizes, (double *)(void *)(block + head)};
    mg_tile_pack(centres, NULL, k, n, view->tiles);
    h->derived = block;
    h->view.other = view;
    return MARGIN_OK;
}

/* Columns [first, first + count) of a row, as f64. *entry: where its stored values go on. */
static void take_columns(const margin_matrix *x, int64_t row, int64_t first, int64_t count,
                         int64_t *entry, double *out) {
    if (!mg_is_csr(x)) {
        for (int64_t j = 0; j < count; j++)
            out[j] = mg_stored_value(x, row * x->stride + first + j);
        return;
    }
    memset(out, 0, (size_t)count * sizeof *out);
    const int64_t end = mg_row_start(x, row + 1);
    for (; *entry < end && mg_column_index(x, *entry) < first + count; ++*entry)
        out[mg_column_index(x, *entry) - first] = mg_stored_value(x, *entry);
}

/* A row in parts, for other layouts than dense f64; the sums of the parts are added in order. */
static void score_in_parts(const mg_hypothesis *h, const mg_tile_distances distances,
                           const margin_matrix *x, int64_t row, double *out) {
    const mg_centres *v = mg_centres_of(h);
    const int64_t n = h->columns, k = h->functions;
    int64_t entry = mg_is_csr(x) ? mg_row_start(x, row) : 0;
    double part[CHUNK], squares[MG_TILE];
    for (int64_t c = 0; c < k; c++)
        out[c] = 0;
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, n - first);
        const double *values = part;
        if (!mg_is_csr(x) && x->value_type == MARGIN_F64)
            values = (const double *)x->values + row * x->stride + first;
        else
            take_columns(x, row, first, count, &entry, part);
        for (int64_t g = 0; g < mg_tile_count(k); g++) {
            distances(values, v->tiles + (g * n + first) * MG_TILE, count, squares);
            for (int64_t l = 0; l < MG_TILE && g * MG_TILE + l < k; l++)
                out[g * MG_TILE + l] -= squares[l];
        }
    }
}

static margin_status centres_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                    int64_t count, double *out) {
    const mg_tile_distances distances = mg_tile_distances_for(h->isa);
    for (int64_t i = 0; i < count; i++)
        score_in_parts(h, distances, x, first + i, out + i * h->functions);
    return MARGIN_OK;
}

const mg_hypothesis_kind mg_hypothesis_centres = {
    .name = "centres",
    .attach = centres_attach,
    .scores = centres_scores,
};
