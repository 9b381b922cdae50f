/* What the columns of a table hold, in one pass.
 *
 * Columns are independent of each other, so tasks take groups of neighbouring columns, each over
 * all rows in order: nothing has to be merged across threads and the result cannot depend on them.
 * In a dense table a group is a cache line wide, so memory is read once.
 *
 * Means and deviations: two passes over a block of values, blocks joined by the rule of Chan, Golub
 * and LeVeque ("Updating formulae and a pairwise algorithm for computing sample variances", 1979).
 */
#include "data/dictionary/dictionary.h"
#include "data/table/table.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 4096,     /* values whose moments are taken at a time */
    FIRST_BLOCK = 16, /* room for values of a column at first */
    DENSE_GROUP = 8,  /* columns per task */
    CSR_GROUP = 1024,
    MOST_DISTINCT = 1000, /* counted exactly up to here */
    WHOLE_LIMIT = 53      /* every double from 2^53 on is whole */
};

/* ---- One column ----------------------------------------------------------------------------- */

typedef struct moments {
    int64_t count;
    double mean, squares; /* squares: sum of (value - mean)^2 */
} moments;

static void join_moments(moments *into, const moments *later) {
    if (later->count == 0) return;
    if (into->count == 0) {
        *into = *later;
        return;
    }
    int64_t count = into->count + later->count;
    double step = later->mean - into->mean, share = (double)later->count / (double)count;
    into->squares += later->squares + step * step * (double)into->count * share;
    into->mean += step * share;
    into->count = count;
}

/* Mean first, then squares about it. */
static moments moments_of(const double *values, int64_t count) {
    moments made = {.count = count};
    if (count == 0) return made;
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += values[k];
    made.mean = sum / (double)count;
    for (int64_t k = 0; k < count; k++)
        made.squares += (values[k] - made.mean) * (values[k] - made.mean);
    return made;
}

typedef struct column_state {
    int64_t missing, zeros;
    double minimum, maximum;
    bool fractions;
    moments total;
    mg_dictionary set; /* of the values; heap NULL: more than MOST_DISTINCT */
    double last;       /* of the set; values often repeat */
    double *block;     /* BLOCK values whose moments are not in `total` yet */
    int64_t block_count, block_room;
    int64_t *seen; /* per category; NULL: numbers */
} column_state;

static margin_status begin_column(mg_heap *heap, const margin_column *column, column_state *state) {
    *state = (column_state){
        .minimum = (double)INFINITY, .maximum = (double)-INFINITY, .last = (double)NAN};
    mg_dictionary_init(&state->set, heap);
    if (column->kind != MARGIN_CATEGORICAL) return MARGIN_OK;
    state->seen = mg_new_zero(heap, column->category_count, sizeof *state->seen);
    return state->seen ? MARGIN_OK : MARGIN_ERROR_MEMORY;
}

static void end_column(mg_heap *heap, column_state *state) {
    mg_dictionary_free(&state->set);
    MG_FREE(heap, state->seen, state->block);
}

static bool is_whole(double value) {
    double size = fabs(value), limit = (double)((int64_t)1 << WHOLE_LIMIT);
    return size >= limit || (double)(int64_t)value == value;
}

static void end_block(column_state *state) {
    moments block = moments_of(state->block, state->block_count);
    join_moments(&state->total, &block);
    state->block_count = 0;
}

/* The block grows with what is in it: most columns of a wide sparse table have few values. */
static bool add_to_block(mg_heap *heap, column_state *state, double value) {
    int64_t count = state->block_count;
    if (count == BLOCK) {
        end_block(state);
        count = 0;
    } else if (count == state->block_room) {
        int64_t room = MG_MIN(MG_MAX(4 * count, (int64_t)FIRST_BLOCK), (int64_t)BLOCK);
        double *larger = mg_resize(heap, state->block, room, sizeof *larger);
        if (!larger) return false;
        state->block = larger;
        state->block_room = room;
    }
    state->block[count] = value;
    state->block_count = count + 1;
    return true;
}

/* False if memory ran out. */
static bool note_distinct(column_state *state, double value) {
    char bits[MG_DICTIONARY_OVERREAD] = {0};
    if (!state->set.heap || value == state->last) return true;
    value += 0.0; /* -0 and 0 are one value */
    state->last = value;
    memcpy(bits, &value, sizeof value);
    if (mg_dictionary_code(&state->set, bits, sizeof value) < 0) return false;
    if (state->set.count > MOST_DISTINCT) mg_dictionary_free(&state->set);
    return true;
}

/* False if memory ran out. */
static bool summary_add_value(mg_heap *heap, column_state *state, double value) {
    if (isnan(value)) {
        state->missing++;
        return true;
    }
    if (state->seen) {
        state->seen[(int64_t)value]++;
        return true;
    }
    state->zeros += value == 0;
    if (value < state->minimum) state->minimum = value;
    if (value > state->maximum) state->maximum = value;
    state->fractions |= !is_whole(value);
    return add_to_block(heap, state, value) && note_distinct(state, value);
}

/* `count` zeros that are not stored. */
static bool add_zeros(column_state *state, int64_t count) {
    if (count == 0) return true;
    moments zeros = {.count = count};
    join_moments(&state->total, &zeros);
    if (state->seen) {
        state->seen[0] += count;
        return true;
    }
    state->zeros += count;
    state->minimum = fmin(state->minimum, 0);
    state->maximum = fmax(state->maximum, 0);
    return note_distinct(state, 0);
}

static void summarize_categories(const column_state *state, margin_column_summary *summary) {
    summary->type = "category";
    for (int64_t k = 0; k < summary->column.category_count; k++) {
        int64_t seen = state->seen[k];
        summary->count += seen;
        summary->distinct += seen > 0;
        if (seen > summary->top_count) {
            summary->top = k;
            summary->top_count = seen;
        }
    }
}

static void summarize_numbers(const column_state *state, margin_column_summary *summary) {
    summary->count = state->total.count;
    summary->zeros = state->zeros;
    summary->distinct = state->set.heap ? state->set.count : -1;
    bool few = summary->distinct >= 0 && summary->distinct <= 2;
    summary->type = few                ? summary->distinct == 2 ? "binary" : "constant"
                    : state->fractions ? "number"
                                       : "integer";
    if (summary->count == 0) return;
    summary->minimum = state->minimum;
    summary->maximum = state->maximum;
    summary->mean = state->total.mean;
    if (summary->count > 1)
        summary->deviation = sqrt(state->total.squares / (double)(summary->count - 1));
}

static margin_column_summary summarize(const column_state *state, const margin_column *column) {
    double none = (double)NAN;
    margin_column_summary summary = {.column = *column,
                                     .missing = state->missing,
                                     .minimum = none,
                                     .maximum = none,
                                     .mean = none,
                                     .deviation = none,
                                     .top = -1};
    if (state->seen)
        summarize_categories(state, &summary);
    else
        summarize_numbers(state, &summary);
    return summary;
}

/* ---- Groups of columns ---------------------------------------------------------------------- */

typedef struct job {
    margin_context *context;
    const margin_matrix *x;
    const margin_column *columns;
    margin_column_summary *summaries;
    int64_t group; /* columns per task */
} job;

static bool add_dense_block(mg_heap *heap, const margin_matrix *x, int64_t first, int64_t last,
                            int64_t column, column_state *state) {
    bool fine = true;
    int64_t at = first * x->stride + column;
    for (int64_t row = first; fine && row < last; row++, at += x->stride)
        fine = summary_add_value(heap, state, mg_stored_value(x, at));
    return fine;
}

static bool add_dense(const job *work, int64_t first, int64_t last, column_state *states) {
    const margin_matrix *x = work->x;
    for (int64_t row = 0; row < x->rows; row += BLOCK) {
        if (mg_cancelled(work->context)) return true; /* the run is over, whatever is in `states` */
        for (int64_t j = first; j < last; j++)
            if (!add_dense_block(work->context->heap, x, row, MG_MIN(row + BLOCK, x->rows), j,
                                 &states[j - first]))
                return false;
    }
    return true;
}

static bool add_csr(const job *work, int64_t first, int64_t last, column_state *states) {
    const margin_matrix *x = work->x;
    mg_heap *heap = work->context->heap;
    for (int64_t row = 0; row < x->rows; row++) {
        if (row % BLOCK == 0 && mg_cancelled(work->context)) return true;
        int64_t stop = mg_row_start(x, row + 1);
        for (int64_t k = mg_row_find(x, row, first); k < stop; k++) {
            int64_t column = mg_column_index(x, k);
            if (column >= last) break;
            double value = mg_stored_value(x, k);
            if (!summary_add_value(heap, &states[column - first], value)) return false;
        }
    }
    for (int64_t j = 0; j < last - first; j++) {
        column_state *state = &states[j];
        int64_t stored = state->missing + state->total.count + state->block_count;
        for (int64_t k = 0; state->seen && k < work->columns[first + j].category_count; k++)
            stored += state->seen[k];
        if (!add_zeros(state, x->rows - stored)) return false;
    }
    return true;
}

static margin_status summarize_task(void *argument, int64_t task, int worker) {
    const job *work = argument;
    mg_heap *heap = work->context->heap;
    int64_t first = task * work->group, last = MG_MIN(first + work->group, work->x->columns);
    int64_t begun = 0;
    (void)worker;
    column_state *states = mg_new(heap, last - first, sizeof *states);
    margin_status status = states ? MARGIN_OK : MARGIN_ERROR_MEMORY;
    for (; status == MARGIN_OK && begun < last - first; begun++)
        status = begin_column(heap, &work->columns[first + begun], &states[begun]);
    if (status == MARGIN_OK) {
        bool fine = mg_is_csr(work->x) ? add_csr(work, first, last, states)
                                       : add_dense(work, first, last, states);
        if (!fine) status = MARGIN_ERROR_MEMORY;
    }
    for (int64_t j = 0; j < begun; j++) {
        end_block(&states[j]);
        if (status == MARGIN_OK)
            work->summaries[first + j] = summarize(&states[j], &work->columns[first + j]);
        end_column(heap, &states[j]);
    }
    mg_free(heap, states);
    return status;
}

/* Narrow tables: fewer columns a task, so that there is one for each thread. */
static int64_t group_size(const margin_context *context, const margin_matrix *x) {
    if (mg_is_csr(x)) return CSR_GROUP;
    int64_t share = x->columns / mg_threads(context);
    return MG_MAX(MG_MIN(share, (int64_t)DENSE_GROUP), (int64_t)1);
}

static margin_status run_job(margin_context *context, const margin_matrix *x,
                             const margin_column *columns, margin_column_summary *summaries,
                             margin_error *error) {
    job work = {context, x, columns, summaries, group_size(context, x)};
    int64_t tasks = (x->columns + work.group - 1) / work.group;
    margin_status status = mg_parallel(context, tasks, summarize_task, &work, NULL);
    if (status == MARGIN_ERROR_CANCELLED || mg_cancelled(context)) return mg_fail_cancelled(error);
    if (status < 0)
        return mg_no_memory(context->heap, x->columns, sizeof(column_state),
                            "the summary of a table", error);
    return MARGIN_OK;
}

static margin_status summarize_table(margin_context *context, const margin_table *table,
                                     margin_column_summary *summaries, int64_t capacity,
                                     margin_error *error) {
    int64_t columns = table->x.view.columns, wanted = columns + table->target.count;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_REQUIRE(table->columns.items || columns == 0, error, MARGIN_ERROR_LIMIT,
               "the table has %lld columns, too many to name and describe one by one",
               (long long)columns);
    MG_REQUIRE((summaries ? capacity : 0) >= wanted, error, MARGIN_ERROR_ARGUMENT,
               "room for %lld summaries, but the table has %lld columns and %lld target%s",
               (long long)(summaries ? capacity : 0), (long long)columns,
               (long long)table->target.count, table->target.count == 1 ? "" : "s");
    margin_column_summary *made;
    MG_ARENA_NEW(&arena, made, wanted, "the summary of a table", error);
    MG_TRY(run_job(context, &table->x.view, table->columns.items, made, error));
    if (table->has_target) {
        const int64_t targets = table->target.count;
        margin_matrix y = margin_dense_f64(table->y, table->x.view.rows, targets, targets);
        MG_TRY(run_job(context, &y, table->target.items, made + columns, error));
    }
    memcpy(summaries, made, (size_t)wanted * sizeof *made);
    return MARGIN_OK;
}

margin_status margin_table_summarize(margin_context *context, const margin_table *table,
                                     margin_column_summary *summaries, int64_t capacity,
                                     margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {table, "table"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, summarize_table(&call, table, summaries, capacity, error),
                          "before all rows were read", error);
}
