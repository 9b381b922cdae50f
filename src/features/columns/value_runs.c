#include "features/columns/value_runs.h"

#include "base/cancelled_at.h"
#include "features/columns/row_chunk.h"

#include <math.h>
#include <string.h>

/* ---- Sorting ----------------------------------------------------------------------------------
 * Radix sort on the bits of the values, made ascending as unsigned numbers: negative numbers
 * complemented, positive ones with the sign bit set. */

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, DIGIT_VALUES = 1 << DIGIT_BITS };

static uint64_t sort_key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static unsigned digit_of(double value, int digit) {
    return (unsigned)(sort_key(value) >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

static void sort_few(mg_value_run *values, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const mg_value_run moved = values[i];
        const uint64_t key = sort_key(moved.value);
        int64_t k = i;
        for (; k > 0 && sort_key(values[k - 1].value) > key; k--)
            values[k] = values[k - 1];
        values[k] = moved;
    }
}

bool mg_sort_values(const margin_context *context, mg_value_run *values, int64_t count,
                    mg_value_run *scratch) {
    if (count < 32) {
        sort_few(values, count);
        return true;
    }
    int64_t counts[DIGITS][DIGIT_VALUES] = {{0}};
    for (int64_t i = 0; i < count; i++) {
        if (mg_cancelled_at(context, i)) return false;
        for (int digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(values[i].value, digit)]++;
    }
    mg_value_run *from = values, *to = scratch;
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t *const places = counts[digit];
        if (places[digit_of(from[0].value, digit)] == count) continue; /* all the same */
        int64_t place = 0;
        for (int v = 0; v < DIGIT_VALUES; v++) {
            const int64_t here = places[v];
            places[v] = place;
            place += here;
        }
        for (int64_t i = 0; i < count; i++) {
            if (mg_cancelled_at(context, i)) return false;
            to[places[digit_of(from[i].value, digit)]++] = from[i];
        }
        mg_value_run *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != values) memcpy(values, from, (size_t)count * sizeof *values);
    return true;
}

/* ---- Columns of a data set --------------------------------------------------------------------*/

/* A weight as a whole number of 2^-shift: all of them together stay below 2^118. What is smaller
 * than that beside the greatest weight is nothing, the same in any sum. */
static mg_u128 take_weight(const mg_column_reader *r, double weight) {
    return (mg_u128)ldexp(weight, r->shift);
}

static void sum_weights(mg_column_reader *r) {
    enum { BITS = 118 };
    double most = 0;
    int exponent, rows;
    for (int64_t i = 0; i < r->rows; i++)
        most = fmax(most, mg_row_weight(r->data, mg_selected_row(r->data, i)));
    frexp(most, &exponent);
    frexp((double)r->rows, &rows);
    r->shift = BITS - exponent - rows;
    for (int64_t i = 0; i < r->rows; i++)
        r->total += take_weight(r, mg_row_weight(r->data, mg_selected_row(r->data, i)));
}

margin_status mg_column_reader_open(margin_context *context, const margin_data *data,
                                    const bool *columns, mg_column_reader *reader,
                                    margin_error *error) {
    mg_column_reader made = {.context = context, .data = data, .rows = mg_selected_rows(data)};
    sum_weights(&made);
    if (mg_is_csr(&data->x))
        MG_TRY(mg_sparse_columns_make(context, &data->x, data->selection, made.rows, columns,
                                      &made.sparse, error));
    *reader = made;
    return MARGIN_OK;
}

void mg_column_reader_close(mg_column_reader *reader) {
    if (reader->context) mg_sparse_columns_free(reader->context->heap, &reader->sparse);
}

int64_t mg_column_runs_room(const mg_column_reader *reader) {
    return reader->rows + 1;
}

/* Values of the column that are not missing; *left is the weight of those that CSR does not store.
 */
static int64_t take_stored(const mg_column_reader *r, int64_t column, mg_value_run *runs,
                           mg_u128 *left) {
    const mg_sparse_columns *x = &r->sparse;
    const int64_t first = x->starts[column], last = x->starts[column + 1];
    int64_t count = 0;
    *left = r->total;
    for (int64_t k = first; k < last; k++) {
        const double weight = mg_row_weight(r->data, mg_selected_row(r->data, x->samples[k]));
        *left -= take_weight(r, weight);
        if (!isnan(x->values[k])) runs[count++] = (mg_value_run){x->values[k], weight};
    }
    return count;
}

static int64_t take_dense(const mg_column_reader *r, int64_t column, mg_value_run *runs) {
    const margin_matrix *x = &r->data->x;
    int64_t count = 0;
    for (int64_t i = 0; i < r->rows && !mg_cancelled_at(r->context, i); i++) {
        const int64_t row = mg_selected_row(r->data, i), at = row * x->stride + column;
        const double value = mg_stored_value(x, at);
        if (!isnan(value)) runs[count++] = (mg_value_run){value, mg_row_weight(r->data, row)};
    }
    return count;
}

int64_t mg_column_runs(const mg_column_reader *r, int64_t column, mg_value_run *runs,
                       mg_value_run *scratch) {
    mg_u128 zeros = 0, weight = 0;
    int64_t count =
        r->sparse.starts ? take_stored(r, column, runs, &zeros) : take_dense(r, column, runs);
    if (zeros > 0) runs[count++] = (mg_value_run){0, 0}; /* its weight comes below */
    for (int64_t k = 0; k < count; k++)
        runs[k].value += 0.0; /* -0 becomes 0: one value */
    if (!mg_sort_values(r->context, runs, count, scratch)) return 0;
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        if (kept == 0 || runs[kept - 1].value != runs[k].value) {
            runs[kept++] = runs[k];
            weight = runs[k].value == 0 ? zeros : 0;
        }
        weight += take_weight(r, runs[k].weight);
        runs[kept - 1].weight = ldexp((double)weight, -r->shift);
    }
    return kept;
}

double mg_runs_median(const mg_value_run *runs, int64_t count) {
    long double total = 0, sum = 0;
    for (int64_t k = 0; k < count; k++)
        total += (long double)runs[k].weight;
    for (int64_t k = 0; k < count; k++) {
        sum += (long double)runs[k].weight;
        const double below = (double)sum, half = (double)(total / 2);
        if (below > half || k == count - 1) return runs[k].value;
        if (below == half) return runs[k].value / 2 + runs[k + 1].value / 2;
    }
    return (double)NAN;
}
