/* poly: products of columns up to a degree. */
#include "features/made/poly.h"

#include "features/columns/row_chunk.h"
#include "features/columns/stages.h"
#include "learn/column_choice.h"

#include <string.h>

/* ---- Columns of 0 and 1 ---------------------------------------------------------------------- */

typedef struct binary_walk {
    const margin_data *data;
    int64_t columns;
} binary_walk;

static void clear_flags(void *state, void *argument) {
    memset(state, 0, (size_t)((const binary_walk *)argument)->columns);
}

static margin_status flag_others(void *state, const mg_block *block, void *argument) {
    const margin_data *data = ((const binary_walk *)argument)->data;
    const bool sparse = mg_is_csr(&data->x);
    uint8_t *others = state;
    mg_row_chunk chunk;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_selected_row(data, i);
        for (int64_t at = mg_chunk_begin(&data->x, row); mg_chunk_next(&data->x, row, &at, &chunk);)
            for (int64_t k = 0; k < chunk.count; k++) {
                const double value = chunk.values[k];
                others[sparse ? chunk.columns[k] : chunk.first + k] |= value != 0 && value != 1;
            }
    }
    return MARGIN_OK;
}

static void merge_flags(void *into, const void *from, void *argument) {
    uint8_t *flags = into;
    const uint8_t *more = from;
    for (int64_t j = 0; j < ((const binary_walk *)argument)->columns; j++)
        flags[j] |= more[j];
}

/* others[j] = 1: some value of column j is neither 0 nor 1. */
static margin_status find_others(margin_context *context, const margin_data *data, uint8_t *others,
                                 margin_error *error) {
    binary_walk walk = {data, data->x.columns};
    const mg_accumulator flags = {.state_size = data->x.columns,
                                  .init = clear_flags,
                                  .add = flag_others,
                                  .merge = merge_flags};
    return mg_sweep(context, mg_selected_rows(data), mg_block_rows(mg_row_bytes(&data->x)), &flags,
                    &walk, others, error);
}

/* ---- Fit ------------------------------------------------------------------------------------- */

static int64_t integer_option(const mg_option_value *options, const char *name) {
    return mg_stage_option(&mg_stage_poly, options, name)->integer;
}

/* What the options and the columns say; factors are still to be set. */
static mg_poly_view view_of(const mg_option_value *options, int64_t columns) {
    return (mg_poly_view){.bias = integer_option(options, "bias"),
                          .degree = integer_option(options, "degree"),
                          .columns = columns};
}

static mg_poly_scaling scaling_of(const mg_option_value *options) {
    return (mg_poly_scaling)integer_option(options, "scaled");
}

/* The dot product is a kernel's only if every product is there. */
static margin_status check_scaled(const mg_option_value *options, margin_error *error) {
    const bool whole = !integer_option(options, "interactions") &&
                       integer_option(options, "bias") &&
                       !mg_stage_option(&mg_stage_poly, options, "columns")->text;
    MG_REQUIRE(whole || scaling_of(options) == MG_POLY_PLAIN, error, MARGIN_ERROR_SPEC,
               "poly: scaled makes dot products those of a kernel, which takes all products: leave "
               "out interactions, columns and bias=no");
    return MARGIN_OK;
}

static margin_status count_columns(mg_heap *heap, mg_poly_view *view, double *columns,
                                   margin_error *error) {
    double *counts, runs;
    MG_NEW(heap, counts, view->factors, "the products of the columns", error);
    mg_poly_size(view, counts, columns, &runs);
    if (*columns <= MG_POLY_MOST_COLUMNS) view->run_count = (int64_t)runs;
    mg_free(heap, counts);
    return MARGIN_OK;
}

static margin_status refuse_size(const mg_poly_view *view, double columns, margin_error *error) {
    return mg_fail(
        error, MARGIN_ERROR_LIMIT,
        "poly(degree=%lld) would make %s columns of %lld, and the limit is %d; lower the "
        "degree, name the columns to multiply (columns=), or leave out powers "
        "(interactions=yes)",
        (long long)view->degree, mg_number(columns).text, (long long)view->columns,
        MG_POLY_MOST_COLUMNS);
}

/* Dense rows, from 64 MB on, with the memory they take. */
static void tell_size(margin_context *context, const margin_data *data, int64_t columns) {
    static const double told = 64 << 20;
    const int64_t rows = mg_selected_rows(data);
    const double bytes = (double)rows * (double)columns * sizeof(double);
    if (mg_is_csr(&data->x) || bytes < told || bytes > 1e18)
        mg_log(context, MARGIN_LOG_NOTE, "poly makes %lld columns of %lld", (long long)columns,
               (long long)data->x.columns);
    else
        mg_log(context, MARGIN_LOG_NOTE, "poly makes %lld columns of %lld: %s for %lld rows",
               (long long)columns, (long long)data->x.columns, mg_bytes((uint64_t)bytes).text,
               (long long)rows);
}

/* The factor of column j, where `before` (-1: none) is that of the factor before it. */
static uint8_t kind_of(const mg_fitted_stage *fitted, const uint8_t *others, bool interactions,
                       int64_t before, int64_t j, uint8_t *kind_before) {
    if (others[j]) return interactions ? MG_POLY_ONCE : MG_POLY_REPEATS;
    if (before >= 0 && !others[before] && mg_stage_same_indicated(fitted, before, j))
        *kind_before = MG_POLY_EXCLUDES;
    return MG_POLY_ONCE;
}

/* Tensors: the factors and what may be multiplied with them. */
static margin_status set_tensors(const bool *chosen, const uint8_t *others, bool interactions,
                                 mg_poly_view *view, mg_fitted_stage *fitted, margin_error *error) {
    int64_t before = -1;
    for (int64_t j = 0; j < view->columns; j++)
        view->factors += chosen[j];
    int64_t *factor;
    uint8_t *repeats;
    MG_TRY(mg_bag_add(&fitted->bag, "factor", MARGIN_I64, view->factors, 0, &factor, error));
    MG_TRY(mg_bag_add(&fitted->bag, "repeats", MARGIN_U8, view->factors, 0, &repeats, error));
    view->factor = factor;
    for (int64_t j = 0; j < view->columns; j++) {
        if (!chosen[j]) continue;
        *factor++ = j;
        *repeats = kind_of(fitted, others, interactions, before, j, repeats - (before >= 0));
        repeats++;
        before = j;
    }
    return MARGIN_OK;
}

static margin_status poly_choose(margin_context *context, const margin_data *data,
                                 const mg_option_value *options, bool *chosen,
                                 margin_error *error) {
    const char *list = mg_stage_option(&mg_stage_poly, options, "columns")->text;
    for (int64_t j = 0; j < data->x.columns; j++)
        MG_REQUIRE(!mg_is_categorical(data->columns, j), error, MG_DATA(CATEGORIES),
                   "poly: column %s holds categories, which cannot be multiplied; encode them "
                   "first: onehot | poly",
                   data->columns[j].name);
    return mg_choose_columns(context->heap, "poly", data, list, chosen, error);
}

static margin_status set_names(const margin_data *data, const mg_poly_view *view,
                               mg_fitted_stage *fitted, margin_error *error);

static margin_status poly_fit(margin_context *context, const margin_data *data,
                              const mg_option_value *options, mg_fitted_stage *fitted,
                              margin_error *error) {
    mg_poly_view view = view_of(options, data->x.columns);
    mg_poly_run *runs;
    uint8_t *others;
    int64_t *next;
    bool *chosen;
    double columns;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(check_scaled(options, error));
    MG_TRY(MG_PIECES(&arena, "the choice of columns", error, MG_PIECE(chosen, view.columns),
                     MG_PIECE(others, view.columns)));
    MG_TRY(poly_choose(context, data, options, chosen, error));
    MG_TRY(find_others(context, data, others, error));
    if (scaling_of(options) != MG_POLY_PLAIN) memset(others, 1, (size_t)view.columns);
    MG_TRY(set_tensors(chosen, others, integer_option(options, "interactions") != 0, &view, fitted,
                       error));
    MG_ARENA_NEW(&arena, next, view.factors, "the products of the columns", error);
    (void)mg_poly_next(mg_bag_find(&fitted->bag, "repeats")->data, view.factors, next);
    view.next = next;
    MG_TRY(count_columns(context->heap, &view, &columns, error));
    if (columns > MG_POLY_MOST_COLUMNS) return refuse_size(&view, columns, error);
    fitted->columns_out = (int64_t)columns;
    tell_size(context, data, fitted->columns_out);
    MG_ARENA_NEW(&arena, runs, view.run_count, "the products of the columns", error);
    mg_poly_list(&view, runs);
    view.runs = runs;
    return set_names(data, &view, fitted, error);
}

/* ---- Names: "1", "age", "age^2", "age height" ------------------------------------------------ */

typedef struct namer {
    const margin_column *columns;
    const mg_poly_view *view;
    int64_t *place; /* per run: the run of its parent, -1 for a factor's own */
    mg_text *texts;
} namer;

static void put_factor(const namer *n, int64_t factor, int64_t power) {
    char buffer[32], exponent[32];
    mg_text_puts(n->texts, mg_column_name(n->columns, n->view->factor[factor], buffer));
    if (power < 2) return;
    mg_text_puts(n->texts, "^");
    margin_number_print_f64((double)power, exponent);
    mg_text_puts(n->texts, exponent);
}

/* The factors of the parent of run r, in order; `last` (-1: none) is the factor that follows. Few
 * of them: as many as the degree. */
static void put_product(const namer *n, int64_t r, int64_t last) {
    enum { MOST = 64 };
    int64_t factors[MOST], count = 0, from = r;
    if (last >= 0) factors[count++] = last;
    for (; n->place[from] >= 0; from = n->place[from]) {
        const mg_poly_run *parent = &n->view->runs[n->place[from]];
        factors[count++] = parent->first + n->view->runs[from].parent - parent->start;
    }
    factors[count++] = from;
    while (count > 0) {
        int64_t power = 1;
        while (power < count && factors[count - 1 - power] == factors[count - 1])
            power++;
        put_factor(n, factors[count - 1], power);
        count -= power;
        if (count > 0) mg_text_puts(n->texts, " ");
    }
    mg_text_add(n->texts, "", 1);
}

static void put_all(const namer *n) {
    const mg_poly_view *view = n->view;
    char buffer[32];
    if (view->bias) {
        mg_text_puts(n->texts, "1");
        mg_text_add(n->texts, "", 1);
    }
    for (int64_t j = 0; j < view->columns; j++) {
        mg_text_puts(n->texts, mg_column_name(n->columns, j, buffer));
        mg_text_add(n->texts, "", 1);
    }
    for (int64_t r = 0; r < view->run_count; r++)
        for (int64_t k = 0; k < view->runs[r].count; k++) {
            const int64_t below = mg_poly_run_of(view, view->runs[r].start + k);
            if (below >= 0) n->place[below] = r;
            put_product(n, r, view->runs[r].first + k);
        }
}

static margin_status set_names(const margin_data *data, const mg_poly_view *view,
                               mg_fitted_stage *fitted, margin_error *error) {
    mg_heap *heap = fitted->heap;
    MG_SCOPED(mg_text, texts);
    namer n = {data->columns, view, NULL, &texts};
    mg_text_init(&texts, heap);
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, n.place, view->run_count, "the names of the columns", error);
    for (int64_t r = 0; r < view->run_count; r++)
        n.place[r] = -1;
    put_all(&n);
    return mg_columns_named(heap, &texts, fitted->columns_out, &fitted->columns, error);
}

/* ---- Attach ---------------------------------------------------------------------------------- */

static margin_status check_factors(const mg_poly_view *view, const uint8_t *repeats, int64_t *next,
                                   margin_error *error) {
    for (int64_t f = 0; f < view->factors; f++)
        MG_REQUIRE(view->factor[f] >= 0 && view->factor[f] < view->columns &&
                       (f == 0 || view->factor[f - 1] < view->factor[f]),
                   error, MARGIN_ERROR_MODEL, "the stage poly multiplies impossible columns");
    MG_REQUIRE(mg_poly_next(repeats, view->factors, next), error, MARGIN_ERROR_MODEL,
               "the stage poly multiplies impossible columns");
    return MARGIN_OK;
}

static margin_status weigh(mg_fitted_stage *fitted, mg_poly_view *view, double *weights,
                           margin_error *error) {
    int64_t *counts;
    MG_NEW(fitted->heap, counts, 2 * fitted->columns_out, "a stage", error);
    mg_poly_weigh(view, scaling_of(fitted->options), counts, weights);
    mg_free(fitted->heap, counts);
    view->weights = weights;
    return MARGIN_OK;
}

/* The view with its lists behind it: next, runs, then weights. */
static margin_status make_view(mg_fitted_stage *fitted, const mg_poly_view *view, int64_t *next,
                               margin_error *error) {
    const bool is_scaled = scaling_of(fitted->options) != MG_POLY_PLAIN;
    const int64_t bytes = (int64_t)sizeof *view + view->factors * (int64_t)sizeof *next +
                          view->run_count * (int64_t)sizeof(mg_poly_run) +
                          (is_scaled ? fitted->columns_out * (int64_t)sizeof(double) : 0);
    mg_poly_view *kept = mg_new(fitted->heap, bytes, 1);
    if (!kept) return mg_no_memory(fitted->heap, bytes, 1, "a stage", error);
    int64_t *const list = (int64_t *)(void *)(kept + 1);
    mg_poly_run *const runs = (mg_poly_run *)(void *)(list + view->factors);
    *kept = *view;
    memcpy(list, next, (size_t)view->factors * sizeof *next);
    kept->next = list;
    kept->runs = runs;
    mg_poly_list(kept, runs);
    fitted->view = kept;
    if (!is_scaled) return MARGIN_OK;
    return weigh(fitted, kept, (double *)(void *)(runs + view->run_count), error);
}

static margin_status poly_attach(mg_fitted_stage *fitted, margin_error *error) {
    mg_poly_view view = view_of(fitted->options, fitted->columns_in);
    const void *factor, *repeats;
    int64_t *next;
    double columns;
    MG_SCOPED_ARENA(arena, fitted->heap);
    MG_TRY(mg_bag_expect(&fitted->bag, "factor", MARGIN_I64, -1, 0, &factor, error));
    view.factors = mg_bag_find(&fitted->bag, "factor")->shape[0];
    MG_TRY(mg_bag_expect(&fitted->bag, "repeats", MARGIN_U8, view.factors, 0, &repeats, error));
    view.factor = factor;
    MG_ARENA_NEW(&arena, next, view.factors, "a stage", error);
    view.next = next;
    MG_TRY(check_factors(&view, repeats, next, error));
    MG_TRY(count_columns(fitted->heap, &view, &columns, error));
    if (fitted->bag.count != 2 || (double)fitted->columns_out != columns ||
        columns > MG_POLY_MOST_COLUMNS || fitted->columns.count != fitted->columns_out)
        return mg_fail(error, MARGIN_ERROR_MODEL,
                       "the stage poly makes other columns than it says");
    return make_view(fitted, &view, next, error);
}

static int64_t origin(const mg_fitted_stage *fitted, int64_t column, bool *indicates) {
    const mg_poly_view *view = fitted->view;
    const int64_t from = column - view->bias;
    *indicates = false;
    return from < view->columns && !view->weights ? from : -1;
}

static const margin_option options[] = {
    MG_INTEGER("degree", "2", "the most factors of a product", .low = 1, .high = 50, MG_RICHER),
    MG_SWITCH("interactions", "no", "only products of different columns, no powers"),
    MG_TEXT("columns", NULL,
            "columns to multiply: names or numbers from 1, separated by commas; without it all; "
            "the others stay as they are"),
    MG_SWITCH("bias", "yes", "start with a column of ones, the product of no factors"),
    MG_CHOICE(
        "scaled", "none", "none|poly|exp",
        "multiply each product so that dot products of rows are a kernel: (x.z + 1)^degree, or "
        "e^(x.z) as its series up to the degree"),
};

const mg_stage mg_stage_poly = {
    .info = {.name = "poly",
             .kind = MARGIN_STAGE,
             .summary = "all products of columns up to a degree, each once",
             .formula = "1, x_j, x_j x_k, ..., of at most `degree` factors",
             .source = "Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2nd "
                       "ed., 2009, section 5.1",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = poly_fit,
    .attach = poly_attach,
    .apply_row = mg_poly_apply_row,
    .apply = mg_poly_apply,
    .products = mg_poly_products,
    .origin = origin,
    .kept_bytes = 16 << 20};
