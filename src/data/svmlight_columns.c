/* What the columns of an svmlight text are: where indices begin, how many there are, which ones are
 * features. Values stay where they were parsed unless columns are left out or serve as target or
 * weights, which only options of the caller bring about. */
#include "data/svmlight.h"

#include <math.h>
#include <string.h>

enum { SHIFT_BLOCK = 1 << 16 }; /* indices per task */

/* What becomes of a column: its place among the features, or one of these. */
enum { LEFT_OUT = -1, IS_TARGET = -2, IS_WEIGHT = -3 };

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
    if (mg_sweep_each(reader->context, pairs, SHIFT_BLOCK, shift_block, (void *)x->column_indices) <
        0)
        return mg_fail_cancelled(error);
    return MARGIN_OK;
}

/* ---- Columns left out ------------------------------------------------------------------------ */

typedef struct selection {
    const int32_t *fate; /* of each column, or NULL: every one below `limit` stays in its place */
    int64_t limit;       /* features from here on are left out */
    double *target, *weights;
} selection;

static int32_t fate_of(const selection *s, int32_t column) {
    const int32_t fate = s->fate != NULL ? s->fate[column] : column;
    return fate >= s->limit ? LEFT_OUT : fate;
}

static double value_at(const margin_matrix *x, int64_t k) {
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[k]
                                       : ((const double *)x->values)[k];
}

static void move_value(const margin_matrix *x, int64_t from, int64_t to) {
    if (x->value_type == MARGIN_F32)
        ((float *)x->values)[to] = ((const float *)x->values)[from];
    else
        ((double *)x->values)[to] = ((const double *)x->values)[from];
}

static void select_columns(margin_table *table, const selection *s) {
    const margin_matrix *x = &table->x.view;
    int32_t *columns = (int32_t *)x->column_indices;
    int64_t *starts = (int64_t *)x->row_starts;
    int64_t kept = 0, begin = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        const int64_t end = starts[i + 1];
        for (int64_t k = begin; k < end; k++) {
            const int32_t fate = fate_of(s, columns[k]);
            const double value = value_at(x, k);
            if (fate >= 0) {
                columns[kept] = fate;
                move_value(x, k, kept++);
                continue;
            }
            if (fate == IS_TARGET) s->target[i] = value;
            if (fate == IS_WEIGHT) s->weights[i] = value;
            table->details.missing -= isnan(value);
        }
        begin = end;
        starts[i + 1] = kept;
    }
}

/* ---- Roles ----------------------------------------------------------------------------------- */

/* Columns by the names x1, x2, ..., with the label as the last one. */
typedef struct roles {
    mg_columns numbered;
    const char **names;
    mg_column_plan *plan;
    int32_t *fate;
    margin_column *chosen;
    int64_t features;
} roles;

static void roles_free(mg_heap *heap, roles *r) {
    mg_columns_free(&r->numbered);
    mg_free(heap, (void *)r->names);
    mg_free(heap, r->plan);
    mg_free(heap, r->fate);
    mg_free(heap, r->chosen);
}

static bool refers_to_columns(const margin_read_options *options) {
    const char *target = options->target;
    return options->ignore != NULL || options->weights != NULL || options->categorical != NULL ||
           (target != NULL && *target != 0 && strcmp(target, MG_SVMLIGHT_LABEL) != 0);
}

static margin_status plan_roles(const mg_svmlight *reader, int64_t columns, roles *r,
                                margin_error *error) {
    mg_heap *heap = reader->context->heap;
    margin_read_options options = reader->options;
    if (options.target == NULL) options.target = MG_SVMLIGHT_LABEL;
    options.expected = NULL; /* a sparse file may have fewer columns than the model */
    MG_TRY(mg_columns_numbered(heap, columns, &r->numbered, error));
    MG_NEW(heap, r->names, columns + 1, "the names of the columns", error);
    MG_NEW(heap, r->plan, columns + 1, "the roles of the columns", error);
    MG_NEW(heap, r->fate, columns, "the roles of the columns", error);
    MG_NEW(heap, r->chosen, columns, "the names of the columns", error);
    for (int64_t j = 0; j < columns; j++)
        r->names[j] = r->numbered.items[j].name;
    r->names[columns] = MG_SVMLIGHT_LABEL;
    int64_t features;
    return mg_plan_columns(heap, r->names, false, columns + 1, &options, reader->source->name,
                           r->plan, &features, error);
}

/* From the plan to what happens to each column. */
static margin_status settle_fates(const mg_svmlight *reader, int64_t columns, roles *r,
                                  margin_error *error) {
    margin_table *table = reader->table;
    const int64_t rows = table->x.view.rows;
    for (int64_t j = 0; j < columns; j++) {
        const mg_column_plan *plan = &r->plan[j];
        MG_REQUIRE(!plan->categorical, error, MARGIN_ERROR_DATA,
                   "%s: column %s cannot be a category: svmlight files hold numbers, only their "
                   "label can be one",
                   table->name, r->names[j]);
        switch (plan->role) {
        case MG_ROLE_FEATURE:
            r->chosen[r->features] = r->numbered.items[j];
            r->fate[j] = (int32_t)r->features++;
            break;
        case MG_ROLE_TARGET:
            r->fate[j] = IS_TARGET;
            memset(table->y, 0, (size_t)rows * sizeof *table->y);
            table->has_target = true;
            MG_TRY(mg_columns_copy(table->heap, &r->numbered.items[j], 1, &table->target, error));
            break;
        case MG_ROLE_WEIGHT:
            r->fate[j] = IS_WEIGHT;
            table->weights = mg_new_zero(table->heap, rows, sizeof *table->weights);
            if (table->weights == NULL)
                return mg_no_memory(table->heap, rows, sizeof *table->weights, "the weights",
                                    error);
            break;
        case MG_ROLE_IGNORED:
            r->fate[j] = LEFT_OUT;
        }
    }
    MG_REQUIRE(r->features > 0, error, MARGIN_ERROR_DATA, "%s: no column is left for features",
               table->name);
    return MARGIN_OK;
}

static margin_status apply_roles(mg_svmlight *reader, int64_t columns, mg_column_plan *label,
                                 margin_error *error) {
    margin_table *table = reader->table;
    const margin_read_options *options = &reader->options;
    roles r = {0};
    margin_status status;
    MG_GO(plan_roles(reader, columns, &r, error));
    MG_GO(settle_fates(reader, columns, &r, error));
    label->role = r.plan[columns].role == MG_ROLE_TARGET ? MG_ROLE_TARGET : MG_ROLE_IGNORED;
    label->categorical |= r.plan[columns].categorical;
    const bool as_model = options->expected != NULL;
    const selection s = {.fate = r.fate,
                         .limit = as_model ? options->expected_count : r.features,
                         .target = table->y,
                         .weights = table->weights};
    select_columns(table, &s);
    table->x.view.columns = s.limit;
    if (!as_model) status = mg_columns_copy(table->heap, r.chosen, s.limit, &table->columns, error);
done:
    roles_free(reader->context->heap, &r);
    return status;
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

/* Hashed features may reach any index; beyond this the names would take more memory than the data,
 * and the columns stay without descriptions. */
enum { NAMED_COLUMNS = 1 << 24 };

margin_status mg_svmlight_columns(mg_svmlight *reader, mg_column_plan *label, margin_error *error) {
    const margin_read_options *options = &reader->options;
    const margin_column *target = options->expected_target;
    margin_table *table = reader->table;
    MG_TRY(check_expected(reader, error));
    MG_TRY(settle_base(reader, error));
    *label = (mg_column_plan){.role = reader->rules.labels == MG_SVMLIGHT_SKIPPED ? MG_ROLE_IGNORED
                                                                                  : MG_ROLE_TARGET,
                              .categorical = target != NULL && target->kind == MARGIN_CATEGORICAL,
                              .expected = target};

    int64_t columns = reader->last_index + (reader->rules.base == 0 || reader->last_index < 0);
    columns = MG_MAX(columns, options->svmlight_columns);
    MG_REQUIRE(columns > 0 || options->expected != NULL, error, MARGIN_ERROR_DATA,
               "%s: no row has a feature", table->name);
    if (refers_to_columns(options)) {
        MG_TRY(apply_roles(reader, columns, label, error));
    } else {
        if (options->expected != NULL && columns > options->expected_count)
            select_columns(table, &(selection){.limit = options->expected_count});
        table->x.view.columns = options->expected != NULL ? options->expected_count : columns;
    }
    if (table->columns.items != NULL) return MARGIN_OK;
    if (options->expected == NULL && table->x.view.columns > NAMED_COLUMNS) return MARGIN_OK;
    if (options->expected == NULL)
        return mg_columns_numbered(table->heap, table->x.view.columns, &table->columns, error);
    return mg_columns_copy(table->heap, options->expected, options->expected_count, &table->columns,
                           error);
}
