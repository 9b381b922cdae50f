/* A Gram matrix from its request to its diagonal; its rows are in gram_store.c. */
#include "math/gram/gram_tiles.h"
#include "math/gram/kernel_tile.h"

#include <float.h>
#include <math.h>

static const char purpose[] = "rows of the Gram matrix";

void mg_gram_free(mg_gram *gram) {
    if (!gram) return;
    mg_heap *heap = gram->heap;
    mg_kernel_scratch_free(gram->scratch);
    mg_gram_tiles_free(gram->tiles);
    mg_arena_free(&gram->arena);
    MG_FREE(heap, gram->values, gram);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Rows begin on cache lines. */
static int64_t line_of(int64_t points, margin_type type) {
    const int64_t each = 64 / mg_type_size(type);
    return (points + each - 1) / each * each;
}

int64_t mg_gram_bytes(int64_t points, margin_type type, int64_t rows) {
    const int64_t row =
        points < INT64_MAX / 64 ? line_of(points, type) * mg_type_size(type) : points;
    return rows > 0 && row > INT64_MAX / rows ? INT64_MAX : rows * row;
}

static margin_status new_slots(mg_gram *gram, int64_t bytes, bool by_rows, margin_error *error) {
    const int64_t count = gram->points.count, row = gram->ld * gram->size;
    gram->slots = MG_MIN(MG_MAX(row > 0 ? bytes / row : 0, 2), count);
    gram->whole = gram->slots == count && !by_rows;
    MG_REQUIRE(mg_gram_bytes(count, gram->type, gram->slots) < INT64_MAX, error, MARGIN_ERROR_LIMIT,
               "%s: more than memory can hold", purpose);
    MG_NEW_BYTES(gram->heap, gram->values, gram->slots * row, purpose, error);
    MG_ARENA_NEW(&gram->arena, gram->pointers, gram->slots, purpose, error);
    if (gram->whole) return MARGIN_OK;
    MG_TRY(MG_PIECES(&gram->arena, purpose, error, MG_PIECE(gram->missing, gram->slots),
                     MG_PIECE(gram->slot_of, count), MG_PIECE(gram->row_of, gram->slots),
                     MG_PIECE(gram->last, gram->slots), MG_PIECE(gram->spare, gram->slots)));
    for (int64_t i = 0; i < count; i++)
        gram->slot_of[i] = -1;
    return MARGIN_OK;
}

/* The points as blocks list them. */
static margin_status list_points(mg_gram *gram, margin_error *error) {
    const int64_t count = gram->points.count;
    const bool places = gram->kernel.kind == MG_KERNEL_PRECOMPUTED;
    MG_TRY(MG_PIECES(&gram->arena, purpose, error, MG_PIECE(gram->some_rows, count),
                     MG_PIECE(gram->some_places, count), MG_PIECE(gram->row, count)));
    gram->place = gram->row;
    if (places) MG_ARENA_NEW(&gram->arena, gram->place, count, purpose, error);
    for (int64_t i = 0; i < count; i++) {
        gram->row[i] = mg_point_row(&gram->points, i);
        if (places) gram->place[i] = mg_point_place(&gram->points, i);
    }
    gram->points.rows = gram->row;
    if (places) gram->points.places = gram->place;
    return MARGIN_OK;
}

mg_kernel_block mg_gram_block_of(mg_gram *gram, const int64_t *points, int64_t count,
                                 const int64_t *others, int64_t other_count) {
    for (int64_t k = 0; points && k < count; k++)
        gram->some_rows[k] = gram->row[points[k]];
    for (int64_t k = 0; others && k < other_count; k++)
        gram->some_places[k] = gram->place[others[k]];
    return (mg_kernel_block){.x = &gram->points.x,
                             .z = &gram->points.x,
                             .x_rows = points ? gram->some_rows : gram->row,
                             .z_rows = others ? gram->some_places : gram->place,
                             .x_count = count,
                             .z_count = other_count,
                             .x_squares = gram->squares,
                             .z_squares = gram->squares};
}

/* ---- Diagonal -------------------------------------------------------------------------------- */

/* k(x, x) from the squared norm, by the same steps as in a block: x.x is the squared norm and the
 * distance is 0. */
static void diagonal_of_squares(mg_gram *gram, const double *squares) {
    const mg_isa isa = mg_isa_level();
    const bool distances = mg_kernel_basis_of(gram->kernel.kind) == MG_OF_DISTANCES;
    for (int64_t i = 0; i < gram->points.count; i++) {
        const double square = squares[mg_point_row(&gram->points, i)];
        gram->diagonal[i] = distances ? 0.0 : square;
        mg_kernel_finish(isa, &gram->kernel, square, &square, &gram->diagonal[i], 1);
    }
}

static margin_status diagonal_one_by_one(mg_gram *gram) {
    for (int64_t i = 0; i < gram->points.count; i++) {
        const mg_kernel_block block = mg_gram_block_of(gram, &i, 1, &i, 1);
        MG_TRY(mg_kernel_fill_with(gram->scratch, &block, &gram->diagonal[i], 1));
    }
    return MARGIN_OK;
}

static margin_status fill_diagonal(margin_context *context, mg_gram *gram, margin_error *error) {
    const mg_kernel_basis basis = mg_kernel_basis_of(gram->kernel.kind);
    double *squares;
    MG_ARENA_NEW(&gram->arena, gram->diagonal, gram->points.count, purpose, error);
    if (basis == MG_OF_NONE) return mg_kernel_fail(diagonal_one_by_one(gram), error);
    MG_ARENA_NEW(&gram->arena, squares, gram->points.x.rows, purpose, error);
    bool *wanted;
    MG_NEW_ZERO(gram->heap, wanted, gram->points.x.rows, purpose, error);
    for (int64_t i = 0; i < gram->points.count; i++)
        wanted[gram->row[i]] = true;
    const margin_status status = mg_row_squares(context, &gram->points.x, wanted, squares);
    mg_free(gram->heap, wanted);
    MG_TRY(mg_kernel_fail(status, error));
    diagonal_of_squares(gram, squares);
    if (basis == MG_OF_SQUARES) gram->squares = squares;
    return MARGIN_OK;
}

static margin_status check_diagonal(mg_gram *gram, margin_error *error) {
    const bool bounded = mg_kernel_is_bounded(gram->kernel.kind); /* maybe not by the diagonal */
    double most = 0.0;
    for (int64_t i = 0; i < gram->points.count; i++) {
        MG_TRY(mg_kernel_check_value(gram->diagonal[i], mg_point_place(&gram->points, i), error));
        most = fmax(most, fabs(gram->diagonal[i]));
    }
    gram->factor =
        bounded || gram->type == MARGIN_F64 || !(1.0 / most < (double)INFINITY) ? 1.0 : 1.0 / most;
    return MARGIN_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static margin_status gram_prepare(margin_context *context, mg_gram *gram,
                                  const mg_gram_request *request, margin_error *error) {
    MG_TRY(mg_kernel_check(context, &gram->kernel, &gram->points, error));
    MG_TRY(mg_kernel_scratch_new(context, &gram->kernel, &gram->points.x, &gram->points.x,
                                 &gram->scratch, error));
    MG_TRY(list_points(gram, error));
    MG_TRY(new_slots(gram, request->bytes, request->by_rows, error));
    MG_TRY(fill_diagonal(context, gram, error));
    MG_TRY(check_diagonal(gram, error));
    if (gram->type != MARGIN_F32) return MARGIN_OK;
    return mg_gram_tiles_new(context, &gram->kernel, &gram->points, gram->factor, request->over,
                             &gram->tiles, error);
}

margin_status mg_gram_create(margin_context *context, const mg_gram_request *request, mg_gram **out,
                             margin_error *error) {
    mg_gram *gram;
    MG_NEW(context->heap, gram, 1, purpose, error);
    *gram = (mg_gram){.heap = context->heap,
                      .points = request->points,
                      .kernel = request->kernel,
                      .type = request->type,
                      .size = mg_type_size(request->type),
                      .ld = line_of(request->points.count, request->type)};
    mg_arena_init(&gram->arena, context->heap);
    const margin_status status = gram_prepare(context, gram, request, error);
    if (status < 0) {
        mg_gram_free(gram);
        return status;
    }
    *out = gram;
    return MARGIN_OK;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* The points may lie far from 0: f64 then loses digits, too, of squares (a chain of roundings, of
 * |x|^2, |z|^2 and 2 x.z) and of what is centred. */
static double loss_of_squares(const mg_gram *gram) {
    double most = 0.0;
    for (int64_t i = 0; i < gram->points.count; i++)
        most = fmax(most, gram->squares[gram->row[i]]);
    return 4.0 * gram->kernel.gamma * most * (double)(gram->points.x.columns + 8) * DBL_EPSILON;
}

bool mg_gram_error_start(const mg_gram *gram, mg_gram_error *error, double *off) {
    *error = (mg_gram_error){0};
    if (!gram->tiles || !mg_gram_tiles_error(gram->tiles, &error->each, off)) return false;
    error->each += loss_of_squares(gram);
    return true;
}
