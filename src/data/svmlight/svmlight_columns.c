/* What the columns of an svmlight text are: where indices begin, how many there are, which ones are
 * features. Values stay where they were parsed unless columns are left out or serve as target or
 * weights, which only options of the caller bring about. */
#include "base/sort.h"
#include "data/svmlight/svmlight.h"
#include "data/table/names.h"

#include <math.h>
#include <string.h>

enum { SHIFT_BLOCK = 1 << 16 }; /* indices per task */

/* ---- Indices from 0 -------------------------------------------------------------------------- */

static margin_status shift_block(const mg_block *block, void *argument) {
    int32_t *columns = (int32_t *)argument + block->first;
    for (int64_t k = 0; k < block->count; k++)
        columns[k]++;
    return MARGIN_OK;
}

/* Indices were taken to count from 1, as most files do. */
static margin_status settle_base(mg_svmlight *reader, margin_error *error) {
    const margin_matrix *x = &reader->table->x.view;
    if (reader->rules.base == 0 || reader->first_index != 0) return MARGIN_OK;
    reader->rules.base = 0;
    const int64_t pairs = ((const int64_t *)x->row_starts)[x->rows];
    if (mg_sweep_each(reader->context, pairs, SHIFT_BLOCK, shift_block, (void *)x->column_indices,
                      NULL) < 0)
        return mg_fail_cancelled(error);
    return MARGIN_OK;
}

/* ---- References ------------------------------------------------------------------------------
 * Columns are called x1, x2, ... or by number, negative ones from the end. A list of what was
 * referred to is kept and nothing per column: hashed features reach any index. A column with
 * another part stays in its place without values, so that the indices keep their meaning and a
 * model reads the same file without being told again. */

typedef struct part {
    int64_t column;
    mg_role role;
    int64_t target; /* its place among the targets */
} part;

typedef struct parts {
    part *items; /* by column once sorted */
    int64_t count;
    int64_t targets; /* columns that are */
    mg_column_plan *label;
    int64_t columns;
    const char *file;
    margin_error *error;
} parts;

static bool refers_to_columns(const margin_read_options *options) {
    const char *target = options->target;
    return options->ignore != NULL || options->weights != NULL || options->categorical != NULL ||
           (target != NULL && *target != 0 && strcmp(target, MG_SVMLIGHT_LABEL) != 0);
}

static bool is_label(const char *text, int64_t length) {
    return length == (int64_t)strlen(MG_SVMLIGHT_LABEL) &&
           memcmp(text, MG_SVMLIGHT_LABEL, (size_t)length) == 0;
}

static margin_status find_column(const parts *p, const char *text, int64_t length, const char *what,
                                 int64_t *column) {
    const bool named = length > 1 && *text == 'x';
    const int64_t found = mg_column_number(text + named, length - named, p->columns);
    MG_REQUIRE(found >= 0 && found < p->columns, p->error, MARGIN_ERROR_DATA,
               "%s: no column '%.*s' (%s): the columns are called x1 to x%lld or by number, the "
               "label '%s'",
               p->file, (int)MG_MIN(length, 60), text, what, (long long)p->columns,
               MG_SVMLIGHT_LABEL);
    *column = found;
    return MARGIN_OK;
}

static margin_status add_part(parts *p, const char *text, int64_t length, mg_role role) {
    const char *what = role == MG_ROLE_TARGET   ? "the target"
                       : role == MG_ROLE_WEIGHT ? "the weights"
                                                : "to be ignored";
    if (is_label(text, length) && role == MG_ROLE_IGNORED) {
        p->label->role = MG_ROLE_IGNORED;
        return MARGIN_OK;
    }
    part *added = &p->items[p->count];
    MG_TRY(find_column(p, text, length, what, &added->column));
    added->role = role;
    if (role == MG_ROLE_TARGET) added->target = p->targets++;
    p->count++;
    return MARGIN_OK;
}

static margin_status add_category(parts *p, const char *text, int64_t length, mg_role unused) {
    (void)unused;
    MG_REQUIRE(is_label(text, length), p->error, MARGIN_ERROR_DATA,
               "%s: column '%.*s' cannot be a category: svmlight files hold numbers, only their "
               "label can be one",
               p->file, (int)MG_MIN(length, 60), text);
    p->label->categorical = true;
    return MARGIN_OK;
}

/* Calls `add` for every item of a list "1,x7". */
static margin_status for_each_listed(parts *p, const char *list, mg_role role,
                                     margin_status (*add)(parts *, const char *, int64_t,
                                                          mg_role)) {
    for (mg_listed l = {.next = list}; mg_next_listed(&l);)
        MG_TRY(add(p, l.item, l.length, role));
    return MARGIN_OK;
}

static int64_t count_items(const char *list) {
    int64_t items = list != NULL;
    for (; list != NULL && *list != 0; list++)
        items += *list == ',';
    return items;
}

static int by_column(const void *a, const void *b) {
    const int64_t left = ((const part *)a)->column, right = ((const part *)b)->column;
    return (left > right) - (left < right);
}

static margin_status collect_parts(const margin_read_options *options, parts *p) {
    const char *target = options->target, *weights = options->weights;
    const bool by_label = target == NULL || *target == 0 || strcmp(target, MG_SVMLIGHT_LABEL) == 0;
    MG_TRY(for_each_listed(p, options->ignore, MG_ROLE_IGNORED, add_part));
    MG_TRY(for_each_listed(p, options->categorical, MG_ROLE_FEATURE, add_category));
    if (weights != NULL && *weights != 0)
        MG_TRY(add_part(p, weights, (int64_t)strlen(weights), MG_ROLE_WEIGHT));
    if (!by_label) {
        p->label->role = MG_ROLE_IGNORED;
        MG_TRY(for_each_listed(p, target, MG_ROLE_TARGET, add_part));
        const int64_t expected = mg_expected_targets(options);
        MG_REQUIRE(expected == 0 || expected == p->targets, p->error, MARGIN_ERROR_DATA,
                   "%s: the model has %lld target%s and '%s' names %lld", p->file,
                   (long long)expected, expected == 1 ? "" : "s", target, (long long)p->targets);
    }
    mg_sort_few_items(p->items, p->count, sizeof *p->items, p->items + p->count, by_column);
    for (int64_t k = 1; k < p->count; k++)
        MG_REQUIRE(
            p->items[k].column != p->items[k - 1].column ||
                (p->items[k].role == p->items[k - 1].role && p->items[k].role != MG_ROLE_TARGET),
            p->error, MARGIN_ERROR_DATA, "%s: column x%lld is given two parts", p->file,
            (long long)p->items[k].column + 1);
    return MARGIN_OK;
}

/* ---- Columns left out ------------------------------------------------------------------------ */

/* NULL: a feature. */
static const part *part_of(const parts *p, int64_t column) {
    int64_t at;
    MG_BISECT(at, 0, p->count, p->items[at].column < column);
    return at < p->count && p->items[at].column == column ? &p->items[at] : NULL;
}

/* Keeps the features below `limit`; target and weights go to their vectors, filled with zeros. */
static void select_values(margin_table *table, const parts *p, int64_t limit) {
    const margin_matrix *x = &table->x.view;
    int32_t *columns = (int32_t *)x->column_indices;
    int64_t *starts = (int64_t *)x->row_starts;
    int64_t kept = 0, begin = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        const int64_t end = starts[i + 1];
        for (int64_t k = begin; k < end; k++) {
            const double value = mg_stored_value(x, k);
            const part *other = part_of(p, columns[k]);
            if (!other && columns[k] < limit) {
                columns[kept] = columns[k];
                mg_store_value(x, kept++, value);
                continue;
            }
            if (other && other->role == MG_ROLE_TARGET)
                table->y[i * p->targets + other->target] = value;
            if (other && other->role == MG_ROLE_WEIGHT) table->weights[i] = value;
            table->details.missing -= isnan(value);
        }
        begin = end;
        starts[i + 1] = kept;
    }
}

/* Zeros in place of the labels, and the names of the columns; of a model those that it has. */
static margin_status make_targets(margin_table *table, const parts *p,
                                  const margin_column *expected, margin_error *error) {
    char(*names)[32] = NULL;
    margin_column *columns = NULL;
    margin_status status;
    if (p->targets == 0) return MARGIN_OK;
    mg_free(table->heap, table->y);
    MG_NEW_ZERO(table->heap, table->y, table->x.view.rows * p->targets, "the targets", error);
    MG_GO_NEW(table->heap, names, p->targets, "the names of the targets", error);
    MG_GO_NEW(table->heap, columns, p->targets, "the names of the targets", error);
    for (int64_t k = 0; k < p->count; k++) {
        const part *item = &p->items[k];
        if (item->role != MG_ROLE_TARGET) continue;
        const char *name = mg_column_name(NULL, item->column, names[item->target]);
        const bool known = expected && expected[item->target].kind == MARGIN_NUMERIC;
        columns[item->target] = (margin_column){.name = known ? expected[item->target].name : name};
    }
    status = mg_columns_copy(table->heap, columns, p->targets, &table->target, error);
    table->has_target = status >= 0;
done:
    MG_FREE(table->heap, columns, names);
    return status;
}

/* Makes the vectors that columns are to fill. */
static margin_status make_vectors(margin_table *table, const parts *p,
                                  const margin_column *expected, margin_error *error) {
    const int64_t rows = table->x.view.rows;
    MG_TRY(make_targets(table, p, expected, error));
    for (int64_t k = 0; k < p->count; k++) {
        if (p->items[k].role == MG_ROLE_WEIGHT && table->weights == NULL) {
            table->weights = mg_new_zero(table->heap, rows, sizeof *table->weights);
            if (table->weights == NULL)
                return mg_no_memory(table->heap, rows, sizeof *table->weights, "the weights",
                                    error);
        }
    }
    return MARGIN_OK;
}

static margin_status apply_parts(mg_svmlight *reader, int64_t columns, int64_t limit,
                                 mg_column_plan *label, margin_error *error) {
    mg_heap *heap = reader->context->heap;
    const margin_read_options *options = &reader->options;
    const int64_t most = 2 + count_items(options->ignore) + count_items(options->target);
    parts p = {.label = label, .columns = columns, .file = reader->source->name, .error = error};
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, p.items, 2 * most, "the parts of columns", error); /* half to sort */
    MG_TRY(collect_parts(options, &p));
    MG_TRY(make_vectors(reader->table, &p, options->expected_target, error));
    select_values(reader->table, &p, limit);
    return MARGIN_OK;
}

static margin_status check_expected(const mg_svmlight *reader, margin_error *error) {
    const margin_read_options *options = &reader->options;
    for (int64_t j = 0; options->expected != NULL && j < options->expected_count; j++)
        MG_REQUIRE(options->expected[j].kind == MARGIN_NUMERIC, error, MARGIN_ERROR_DATA,
                   "%s: column %s of the model is a category, and svmlight files hold numbers; "
                   "give the data as CSV",
                   reader->source->name, options->expected[j].name);
    return MARGIN_OK;
}

/* Beyond these, columns get descriptions only if that takes less memory than the data: hashed
 * features may reach any index. */
enum { NAMED_COLUMNS = MARGIN_MAX_CSV_COLUMNS };

margin_status mg_svmlight_columns(mg_svmlight *reader, mg_column_plan *label, margin_error *error) {
    const margin_read_options *options = &reader->options;
    const margin_column *target = options->expected_target;
    margin_table *table = reader->table;
    MG_TRY(check_expected(reader, error));
    MG_REQUIRE(mg_expected_targets(options) < 2 || options->target || options->target_optional,
               error, MARGIN_ERROR_DATA,
               "%s: a row has one label, and the model has %lld targets; name the columns that "
               "hold them",
               reader->source->name, (long long)options->expected_targets);
    MG_TRY(settle_base(reader, error));
    *label = (mg_column_plan){.role = reader->rules.labels == MG_SVMLIGHT_SKIPPED ? MG_ROLE_IGNORED
                                                                                  : MG_ROLE_TARGET,
                              .categorical = target != NULL && target->kind == MARGIN_CATEGORICAL,
                              .expected = target};

    int64_t columns = reader->last_index + (reader->rules.base == 0 || reader->last_index < 0);
    columns = MG_MAX(columns, options->svmlight_columns);
    MG_REQUIRE(columns > 0 || options->expected != NULL, error, MARGIN_ERROR_DATA,
               "%s: no row has a feature", table->name);
    const int64_t limit = options->expected != NULL ? options->expected_count : columns;
    if (refers_to_columns(options))
        MG_TRY(apply_parts(reader, MG_MAX(columns, limit), limit, label, error));
    else if (columns > limit)
        select_values(table, &(parts){0}, limit);
    if (columns > limit)
        mg_log(reader->context, MARGIN_LOG_NOTE,
               "%s: columns x%lld to x%lld were left out, as the model was trained on %lld",
               reader->source->name, (long long)limit + 1, (long long)columns, (long long)limit);
    table->x.view.columns = limit;
    if (options->expected != NULL)
        return mg_columns_copy(table->heap, options->expected, limit, &table->columns, error);
    const int64_t pairs = mg_row_start(&table->x.view, table->x.view.rows);
    if (limit > NAMED_COLUMNS && limit > pairs) return MARGIN_OK;
    MG_TRY(mg_columns_numbered(table->heap, "x", limit, &table->columns, error));
    for (int64_t j = 0; j < limit; j++)
        table->columns.items[j].index_base = reader->rules.base == 0 ? -1 : 1;
    return MARGIN_OK;
}
