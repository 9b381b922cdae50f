/* Checks of borrowed matrix views: form, index order, NaN and infinity. Each is one sweep; the
 * place is looked for only after something was found. */
#include "data/matrix/matrix.h"

#include "base/text/number_text.h"

#include <math.h>
#include <string.h>

typedef uint64_t bits_f64;
typedef uint32_t bits_f32;
#define REAL_TYPES_TMPL "data/matrix/matrix_scan_tmpl.h"
#include "base/real_types_tmpl.h"

#define INDEX   int32_t
#define NAME(x) x##_i32
#include "data/matrix/matrix_index_tmpl.h"
#undef INDEX
#undef NAME

#define INDEX   int64_t
#define NAME(x) x##_i64
#include "data/matrix/matrix_index_tmpl.h"
#undef INDEX
#undef NAME

/* ---- Checks of a view ----------------------------------------------------------------------- */

static bool misaligned(const void *pointer, margin_type type) {
    return (uintptr_t)pointer % (uintptr_t)mg_type_size(type) != 0;
}

static margin_status check_dense(const margin_matrix *x, const char *name, margin_error *error) {
    MG_REQUIRE(x->stride >= x->columns, error, MARGIN_ERROR_ARGUMENT,
               "%s: stride %lld is less than its %lld columns", name, (long long)x->stride,
               (long long)x->columns);
    MG_REQUIRE(x->stride <= INT64_MAX / 8 / MG_MAX(x->rows, 1), error, MARGIN_ERROR_ARGUMENT,
               "%s: %lld rows of stride %lld are more than memory can hold", name,
               (long long)x->rows, (long long)x->stride);
    MG_REQUIRE(x->values || x->rows == 0 || x->columns == 0, error, MARGIN_ERROR_ARGUMENT,
               "%s: values is NULL for %lld x %lld numbers", name, (long long)x->rows,
               (long long)x->columns);
    return MARGIN_OK;
}

static margin_status check_columns(const margin_matrix *x, const char *name, margin_error *error) {
    MG_REQUIRE(!x->row_starts && !x->values, error, MARGIN_ERROR_ARGUMENT,
               "%s: %s are given, and values or row_starts too", name,
               x->arrays ? "arrays" : "column_values");
    MG_REQUIRE(MG_MAX(x->rows, 1) <= INT64_MAX / 8 / MG_MAX(x->columns, 1), error,
               MARGIN_ERROR_ARGUMENT, "%s: %lld rows of %lld columns are more than memory can hold",
               name, (long long)x->rows, (long long)x->columns);
    if (x->arrays) return mg_arrays_check(x, name, error);
    for (int64_t j = 0; j < x->columns && x->rows > 0; j++)
        MG_REQUIRE(x->column_values[j] && !misaligned(x->column_values[j], x->value_type), error,
                   MARGIN_ERROR_ARGUMENT,
                   "%s: column_values[%lld] is NULL or not aligned to its type", name,
                   (long long)j);
    return MARGIN_OK;
}

/* Work on all rows of a view at once: the first row that is wrong, kept as the least over blocks so
 * that the answer does not depend on their order. */
typedef struct row_scan {
    const margin_matrix *x;
    const int64_t *selection;
    bool allow_nan;
    _Atomic int64_t wrong; /* INT64_MAX: none yet */
} row_scan;

static margin_status scan_starts(const mg_block *block, void *argument) {
    row_scan *scan = argument;
    int64_t previous = mg_row_start(scan->x, block->first);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        int64_t next = mg_row_start(scan->x, i + 1);
        if (next < previous) {
            mg_note_row(&scan->wrong, i);
            break;
        }
        previous = next;
    }
    return MARGIN_OK;
}

static bool row_ascends(const margin_matrix *x, int64_t row) {
    int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
    if (x->index_type == MARGIN_I32)
        return ascending_i32(x->column_indices, first, last, x->columns);
    return ascending_i64(x->column_indices, first, last, x->columns);
}

static margin_status scan_indices(const mg_block *block, void *argument) {
    row_scan *scan = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (row_ascends(scan->x, i)) continue;
        mg_note_row(&scan->wrong, i);
        break;
    }
    return MARGIN_OK;
}

/* The sentence for the first entry of `row` that is out of order or range. */
static margin_status fail_indices(const margin_matrix *x, int64_t row, const char *name,
                                  margin_error *error) {
    mg_place place = {.row = row + 1};
    int64_t previous = -1;
    for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++) {
        int64_t index = mg_column_index(x, k);
        if (index < 0 || index >= x->columns)
            return mg_fail_at(error, MARGIN_ERROR_ARGUMENT, place,
                              "%s: row %lld has column index %lld, outside its %lld columns", name,
                              (long long)row + 1, (long long)index, (long long)x->columns);
        if (index <= previous)
            return mg_fail_at(error, MARGIN_ERROR_ARGUMENT, place,
                              "%s: row %lld has column index %lld after %lld; the indices of a row "
                              "must ascend without duplicates",
                              name, (long long)row + 1, (long long)index, (long long)previous);
        previous = index;
    }
    return mg_fail_at(error, MARGIN_ERROR_ARGUMENT, place, "%s: row %lld changed during the call",
                      name, (long long)row + 1);
}

static margin_status check_csr_fields(const margin_matrix *x, const char *name,
                                      margin_error *error) {
    MG_REQUIRE(x->start_type == MARGIN_I32 || x->start_type == MARGIN_I64, error,
               MARGIN_ERROR_ARGUMENT, "%s: start_type must be MARGIN_I32 or MARGIN_I64", name);
    MG_REQUIRE(x->index_type == MARGIN_I32 || x->index_type == MARGIN_I64, error,
               MARGIN_ERROR_ARGUMENT, "%s: index_type must be MARGIN_I32 or MARGIN_I64", name);
    MG_REQUIRE(!misaligned(x->row_starts, x->start_type) &&
                   !misaligned(x->column_indices, x->index_type),
               error, MARGIN_ERROR_ARGUMENT,
               "%s: row_starts and column_indices must be aligned to their type", name);
    MG_REQUIRE(x->rows < INT64_MAX / 8, error, MARGIN_ERROR_ARGUMENT,
               "%s: %lld rows are more than memory can hold", name, (long long)x->rows);
    MG_REQUIRE(mg_row_start(x, 0) >= 0, error, MARGIN_ERROR_ARGUMENT,
               "%s: row_starts begins with %lld", name, (long long)mg_row_start(x, 0));
    return MARGIN_OK;
}

static margin_status fail_starts(const margin_matrix *x, int64_t row, const char *name,
                                 margin_error *error) {
    return mg_fail_at(error, MARGIN_ERROR_ARGUMENT, (mg_place){.row = row + 1},
                      "%s: row_starts goes down from %lld to %lld after row %lld", name,
                      (long long)mg_row_start(x, row), (long long)mg_row_start(x, row + 1),
                      (long long)row + 1);
}

static margin_status check_stored(const margin_matrix *x, const char *name, margin_error *error) {
    int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    MG_REQUIRE(stored == 0 || (x->values && x->column_indices), error, MARGIN_ERROR_ARGUMENT,
               "%s: values or column_indices is NULL for %lld stored numbers", name,
               (long long)stored);
    return MARGIN_OK;
}

/* On the calling thread alone without a context. */
static margin_status matrix_scan(margin_context *context, int64_t block_rows,
                                 margin_status (*scan_block)(const mg_block *, void *),
                                 row_scan *scan, margin_error *error) {
    const mg_block all = {.count = scan->x->rows};
    if (!context) return scan_block(&all, scan);
    const margin_status status =
        mg_sweep_each(context, all.count, block_rows, scan_block, scan, NULL);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

static margin_status check_csr(margin_context *context, const margin_matrix *x, const char *name,
                               margin_error *error) {
    /* All starts first: only then are the ranges safe to look into. */
    row_scan scan = {.x = x, .wrong = INT64_MAX};
    MG_TRY(matrix_scan(context, MG_BLOCK_ROWS, scan_starts, &scan, error));
    if (scan.wrong < INT64_MAX) return fail_starts(x, scan.wrong, name, error);
    MG_TRY(check_stored(x, name, error));
    MG_TRY(matrix_scan(context, mg_block_rows(mg_row_bytes(x)), scan_indices, &scan, error));
    return scan.wrong < INT64_MAX ? fail_indices(x, scan.wrong, name, error) : MARGIN_OK;
}

static bool any_reserved(const void *const *fields, int count) {
    for (int k = 0; k < count; k++)
        if (fields[k]) return true;
    return false;
}

static margin_status check_form(const margin_matrix *x, const char *name, margin_error *error) {
    MG_REQUIRE(x, error, MARGIN_ERROR_ARGUMENT, "%s is NULL", name);
    MG_REQUIRE(x->rows >= 0 && x->columns >= 0, error, MARGIN_ERROR_ARGUMENT,
               "%s: %lld rows x %lld columns is not a shape", name, (long long)x->rows,
               (long long)x->columns);
    MG_REQUIRE(x->value_type == MARGIN_F64 || x->value_type == MARGIN_F32, error,
               MARGIN_ERROR_ARGUMENT, "%s: value_type must be MARGIN_F64 or MARGIN_F32", name);
    MG_REQUIRE(!misaligned(x->values, x->value_type), error, MARGIN_ERROR_ARGUMENT,
               "%s: values must be aligned to their type", name);
    MG_REQUIRE(!x->reserved_word && !x->reserved, error, MARGIN_ERROR_ARGUMENT, MG_NOT_ZERO, name);
    if (mg_is_by_columns(x)) return check_columns(x, name, error);
    return mg_is_csr(x) ? check_csr_fields(x, name, error) : check_dense(x, name, error);
}

margin_status mg_matrix_check_any(margin_context *context, const margin_matrix *x, const char *name,
                                  margin_error *error) {
    MG_TRY(check_form(x, name, error));
    return mg_is_csr(x) ? check_csr(context, x, name, error) : MARGIN_OK;
}

margin_status mg_matrix_check(margin_context *context, const margin_matrix *x, const char *name,
                              margin_error *error) {
    MG_TRY(mg_matrix_check_any(context, x, name, error));
    MG_REQUIRE(!mg_is_by_columns(x), error, MARGIN_ERROR_ARGUMENT,
               "%s is given by columns, and this works with rows: put them together "
               "(margin_dense_f64)",
               name);
    return MARGIN_OK;
}

/* ---- Checks of a data set ------------------------------------------------------------------- */

static margin_status check_numbers(const margin_vector *v, const char *name, margin_error *error) {
    if (!v->values) return MARGIN_OK;
    MG_REQUIRE(v->type != MARGIN_BITS, error, MARGIN_ERROR_ARGUMENT,
               "%s: type must not be MARGIN_BITS, which columns alone are of: write the bits (a "
               "boolean target of Arrow) out as bytes of 0 and 1, MARGIN_U8",
               name);
    MG_REQUIRE(
        mg_type_size((margin_type)v->type) > 0 && v->type != MARGIN_U64, error,
        MARGIN_ERROR_ARGUMENT,
        "%s: type must be MARGIN_F64, MARGIN_F32 or one of integers, but not MARGIN_U64 (numbers "
        "below 2^63 are the same as MARGIN_I64)",
        name);
    MG_REQUIRE(!misaligned(v->values, v->type), error, MARGIN_ERROR_ARGUMENT,
               "%s: values must be aligned to their type", name);
    MG_REQUIRE(!v->reserved_word && !v->reserved, error, MARGIN_ERROR_ARGUMENT, MG_NOT_ZERO, name);
    return MARGIN_OK;
}

static margin_status check_vector(const margin_vector *v, int64_t rows, const char *name,
                                  margin_error *error) {
    MG_TRY(check_numbers(v, name, error));
    MG_REQUIRE(!v->values || v->count == rows, error, MARGIN_ERROR_ARGUMENT,
               "%s has %s and x has %s", name, mg_counted(v->count, "numbers").text,
               mg_counted(rows, "rows").text);
    return MARGIN_OK;
}

static margin_status check_description(const margin_column *column, const char *where,
                                       const char *name, margin_error *error) {
    MG_REQUIRE(!any_reserved(column->reserved, MG_LENGTH(column->reserved)), error,
               MARGIN_ERROR_ARGUMENT, MG_NOT_ZERO, name);
    MG_REQUIRE(column->index_base >= -1 && column->index_base <= 1, error, MARGIN_ERROR_ARGUMENT,
               "%s %s: index_base is %d and not -1, 0 or 1", where, name, (int)column->index_base);
    if (column->kind == MARGIN_NUMERIC) return MARGIN_OK;
    MG_REQUIRE(column->kind == MARGIN_CATEGORICAL, error, MARGIN_ERROR_ARGUMENT,
               "%s %s is neither numeric nor categorical", where, name);
    MG_REQUIRE(column->category_count >= 0 && (column->categories || column->category_count == 0),
               error, MARGIN_ERROR_ARGUMENT, "%s %s has no list of categories", where, name);
    for (int64_t k = 0; k < column->category_count; k++)
        MG_REQUIRE(column->categories[k], error, MARGIN_ERROR_ARGUMENT,
                   "%s %s: category %lld has no name", where, name, (long long)k);
    return MARGIN_OK;
}

static margin_status check_selection(const margin_data *data, margin_error *error) {
    if (!data->selection) return MARGIN_OK;
    MG_REQUIRE(data->selected >= 0, error, MARGIN_ERROR_ARGUMENT, "selection: %lld rows",
               (long long)data->selected);
    for (int64_t i = 0; i < data->selected; i++)
        MG_REQUIRE(data->selection[i] >= 0 && data->selection[i] < data->x.rows, error,
                   MARGIN_ERROR_ARGUMENT,
                   "selection[%lld] is row %lld (counted from 0), and x has %s", (long long)i,
                   (long long)data->selection[i], mg_counted(data->x.rows, "rows").text);
    return MARGIN_OK;
}

typedef margin_status (*matrix_check)(margin_context *context, const margin_matrix *x,
                                      const char *name, margin_error *error);

static margin_status check_views(margin_context *context, const margin_data *data,
                                 matrix_check check, margin_error *error) {
    char buffer[32];
    MG_REQUIRE(!any_reserved(data->reserved, MG_LENGTH(data->reserved)), error,
               MARGIN_ERROR_ARGUMENT, MG_NOT_ZERO, "the data set");
    MG_TRY(check(context, &data->x, "x", error));
    MG_REQUIRE(data->targets == 0 || data->targets == 1, error, MARGIN_ERROR_ARGUMENT,
               "the data has %lld targets, and this works with one: choose it",
               (long long)data->targets);
    MG_TRY(check_vector(&data->y, data->x.rows, "y", error));
    MG_TRY(check_vector(&data->weights, data->x.rows, "weights", error));
    MG_TRY(check_numbers(&data->classes, "classes", error));
    MG_REQUIRE(!data->classes.values || data->classes.count >= 0, error, MARGIN_ERROR_ARGUMENT,
               "classes: %lld numbers", (long long)data->classes.count);
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        MG_TRY(check_description(&data->columns[j], "column",
                                 mg_column_name(data->columns, j, buffer), error));
    if (data->target) {
        const char *name = data->target->name ? data->target->name : "y";
        MG_TRY(check_description(data->target, "target", name, error));
    }
    return check_selection(data, error);
}

static margin_status check_targets(margin_context *context, const margin_data *data,
                                   matrix_check check, margin_error *error) {
    margin_data one = *data;
    if (data->targets <= 1) return check_views(context, data, check, error);
    MG_REQUIRE(data->targets <= MG_MAX_TARGETS, error, MARGIN_ERROR_LIMIT,
               "%lld targets are more than the limit of %d", (long long)data->targets,
               (int)MG_MAX_TARGETS);
    MG_REQUIRE(data->y.values && data->x.rows >= 0 && data->y.count % data->targets == 0 &&
                   data->y.count / data->targets == data->x.rows,
               error, MARGIN_ERROR_ARGUMENT,
               "y has %lld numbers; %lld targets of %lld rows take rows x targets",
               (long long)data->y.count, (long long)data->targets, (long long)data->x.rows);
    one.y.count = data->x.rows;
    one.targets = 1;
    MG_TRY(check_views(context, &one, check, error));
    for (int64_t t = 1; data->target && t < data->targets; t++) {
        const char *name = data->target[t].name ? data->target[t].name : "y";
        MG_TRY(check_description(&data->target[t], "target", name, error));
    }
    return MARGIN_OK;
}

margin_status mg_views_check_targets(margin_context *context, const margin_data *data,
                                     margin_error *error) {
    return check_targets(context, data, mg_matrix_check, error);
}

margin_status mg_views_check_columns(margin_context *context, const margin_data *data,
                                     margin_error *error) {
    return check_targets(context, data, mg_matrix_check_any, error);
}

/* ---- NaN and infinity ----------------------------------------------------------------------- */

/* from[first..last) of either type; `last` - `first` may be many rows. */
static bool range_is_wrong(const row_scan *scan, const void *from, int64_t first, int64_t last) {
    if (first >= last) return false;
    if (scan->x->value_type == MARGIN_F32) {
        const float *values = (const float *)from + first;
        return scan->allow_nan ? has_infinite_f32(values, last - first)
                               : has_nonfinite_f32(values, last - first);
    }
    const double *values = (const double *)from + first;
    return scan->allow_nan ? has_infinite_f64(values, last - first)
                           : has_nonfinite_f64(values, last - first);
}

/* The same of a column of a type of its own, as rows will have it. */
static bool array_is_wrong(const row_scan *scan, int64_t column, int64_t row, int64_t count) {
    enum { PART = 128 };
    const margin_array *a = &scan->x->arrays[column];
    union {
        double f64[PART];
        float f32[PART];
    } values;
    bool wrong = false;
    for (int64_t at = 0; at < count && !wrong; at += PART) {
        const int64_t part = MG_MIN(count - at, PART);
        if (scan->x->value_type == MARGIN_F32)
            mg_column_read_f32(a, NULL, row + at, part, values.f32);
        else
            mg_column_read_f64(a, NULL, row + at, part, values.f64);
        wrong = range_is_wrong(scan, &values, 0, part);
    }
    return wrong;
}

static bool rows_are_wrong(const row_scan *scan, int64_t row, int64_t count) {
    const margin_matrix *x = scan->x;
    const int64_t stride = x->stride;
    bool wrong = false;
    if (mg_is_by_columns(x)) {
        for (int64_t j = 0; j < x->columns && !wrong; j++)
            wrong = x->arrays ? array_is_wrong(scan, j, row, count)
                              : range_is_wrong(scan, x->column_values[j], row, row + count);
        return wrong;
    }
    if (mg_is_csr(x))
        return range_is_wrong(scan, x->values, mg_row_start(x, row), mg_row_start(x, row + count));
    if (stride == x->columns || count == 1)
        return range_is_wrong(scan, x->values, row * stride,
                              (row + count - 1) * stride + x->columns);
    for (int64_t i = row; i < row + count && !wrong; i++)
        wrong = range_is_wrong(scan, x->values, i * stride, i * stride + x->columns);
    return wrong;
}

bool mg_rows_have_infinity(const margin_matrix *x, int64_t row, int64_t count) {
    const row_scan scan = {.x = x, .allow_nan = true};
    return rows_are_wrong(&scan, row, count);
}

static margin_status scan_values(const mg_block *block, void *argument) {
    row_scan *scan = argument;
    if (!scan->selection && !rows_are_wrong(scan, block->first, block->count)) return MARGIN_OK;
    for (int64_t k = block->first; k < block->first + block->count; k++) {
        int64_t row = scan->selection ? scan->selection[k] : k;
        if (rows_are_wrong(scan, row, 1)) mg_note_row(&scan->wrong, row);
    }
    return MARGIN_OK;
}

static margin_status fail_value(const margin_data *data, int64_t row, bool allow_nan,
                                margin_error *error) {
    const margin_matrix *x = &data->x;
    const bool sparse = mg_is_csr(x);
    const int64_t first = sparse ? mg_row_start(x, row) : 0;
    const int64_t last = sparse ? mg_row_start(x, row + 1) : x->columns;
    int64_t k = first;
    double value = (double)NAN;
    for (; k < last; k++) {
        value = sparse ? mg_stored_value(x, k) : mg_dense_value(x, row, k);
        if (k == last - 1 || (allow_nan ? isinf(value) : !isfinite(value))) break;
    }
    char buffer[32];
    const int64_t column = sparse ? mg_column_index(x, k) : k;
    const char *name = mg_column_name(data->columns, column, buffer);
    mg_place place = {.row = row + 1, .feature = column + 1};
    if (isnan(value))
        return mg_fail_at(error, MG_DATA(MISSING_VALUE), place,
                          "row %lld has no value in column %s; fill gaps with 'impute | ...' or "
                          "leave such rows out (MARGIN_MISSING_DROP)",
                          (long long)row + 1, name);
    return mg_fail_at(error, MG_DATA(INFINITE_VALUE), place,
                      "row %lld has the value %s in column %s; infinite values cannot be used, "
                      "nor numbers beyond the range of the type, which become infinite: correct "
                      "them or leave the column out "
                      "(margin_read_options.ignore)",
                      (long long)row + 1, mg_number(value).text, name);
}

margin_status mg_matrix_check_finite(margin_context *context, const margin_data *data,
                                     bool allow_nan, margin_error *error) {
    row_scan scan = {&data->x, data->selection, allow_nan, INT64_MAX};
    int64_t count = data->selection ? data->selected : data->x.rows;
    if (count == 0 || data->x.columns == 0) return MARGIN_OK;
    margin_status status = mg_sweep_each(context, count, mg_block_rows(mg_row_bytes(&data->x)),
                                         scan_values, &scan, NULL);
    if (status < 0) return mg_fail_cancelled(error);
    int64_t wrong = atomic_load(&scan.wrong);
    return wrong < INT64_MAX ? fail_value(data, wrong, allow_nan, error) : MARGIN_OK;
}
