/* Pass 2 over one block: cells straight into the arrays, for any processor; csv_block_avx2.c is the
 * same file for AVX2.
 *
 * Two steps for every 4 KB: list where cells end, then convert each with its ends known. */
#include "data/csv/csv.h"
#include "data/source/token_tmpl.h"

#include <float.h>
#include <math.h>

#include "data/csv/csv_count_tmpl.h"
#include "data/csv/csv_list_tmpl.h"

/* Largest number of categories whose codes are exact. */
MG_INLINE int32_t csv_most_codes(const mg_csv_column *column) {
    return column->narrow ? 1 << 24 : INT32_MAX;
}

/* Rounded once, to the type of the column. */
MG_INLINE void csv_store_token(const mg_csv_column *column, int64_t row, mg_token token) {
    mg_csv_cell_set(column, row,
                    column->narrow
                        ? (double)mg_round_f32(token.significand, token.power, token.negative)
                        : mg_round_f64(token.significand, token.power, token.negative));
}

static bool csv_store_number(const mg_csv_column *column, int64_t row, const char *start,
                             int64_t length) {
    double value;
    float narrow = 0;
    const bool read = column->narrow ? mg_field_f32(start, (size_t)length, &narrow)
                                     : mg_field_f64(start, (size_t)length, &value);
    if (read) mg_csv_cell_set(column, row, column->narrow ? (double)narrow : value);
    return read;
}

static mg_csv_reason csv_missing_cell(const mg_csv_pass *pass, const mg_csv_column *column,
                                      int64_t row, mg_csv_result *result) {
    mg_csv_cell_set(column, row, (double)NAN);
    if (column->kind == MG_CSV_WEIGHT) return MG_CSV_BAD_WEIGHT;
    if (!pass->counting) return MG_CSV_FINE;
    if (column->required) return MG_CSV_NO_VALUE;
    if (pass->missing == MARGIN_MISSING_DROP) pass->dropped[row] = 1;
    result->missing += column->feature;
    return MG_CSV_FINE;
}

static mg_csv_reason csv_number_cell(const mg_csv_pass *pass, int64_t j, int64_t row,
                                     const char *start, int64_t length, mg_csv_worker *worker,
                                     mg_csv_result *result) {
    const mg_csv_column *column = &pass->columns[j];
    if (mg_csv_is_missing(start, length)) return csv_missing_cell(pass, column, row, result);
    bool padded = column->label && length > 1 && start[0] == '0';
    for (int64_t k = 1; k < length && padded; k++)
        padded = start[k] >= '0' && start[k] <= '9';
    const bool inexact = padded || (length > 15 && mg_number_loses_digits(start, length));
    if (inexact && column->exact) return MG_CSV_INEXACT;
    if (!csv_store_number(column, row, start, length) ||
        (inexact && column->kind == MG_CSV_NUMBER)) {
        if (column->kind != MG_CSV_NUMBER) return MG_CSV_NOT_NUMBER;
        worker->misfits[j] = 1;
        mg_csv_cell_set(column, row, (double)NAN);
        return MG_CSV_FINE;
    }
    if (column->kind != MG_CSV_WEIGHT) return MG_CSV_FINE;
    double weight = *(const double *)(const void *)(column->cells + row * column->step);
    return weight >= 0 && weight <= DBL_MAX ? MG_CSV_FINE : MG_CSV_BAD_WEIGHT;
}

static mg_csv_reason csv_text_cell(const mg_csv_pass *pass, int64_t j, int64_t row,
                                   mg_csv_cell cell, mg_csv_worker *worker, mg_csv_result *result) {
    const mg_csv_column *column = &pass->columns[j];
    if (MG_UNLIKELY(cell.quoting == MG_CSV_ESCAPED) &&
        !csv_unescape_cell(pass->heap, worker, &cell))
        return MG_CSV_MEMORY;
    int32_t code;
    if (column->kind == MG_CSV_TEXT) {
        code = mg_dictionary_code(&worker->dictionaries[column->slot], cell.text,
                                  (uint32_t)cell.length);
        if (code == MG_DICTIONARY_MEMORY) return MG_CSV_MEMORY;
        if (code < 0 || code > csv_most_codes(column)) return MG_CSV_TOO_MANY;
    } else {
        bool refused = false;
        code = csv_find_listed(pass->heap, column->list, worker, cell, &refused);
        if (refused) return MG_CSV_MEMORY;
        if (code < 0 && column->refuses) return MG_CSV_UNKNOWN;
        result->unknown += code < 0 && pass->counting;
        result->unknown_classes += code < 0 && pass->counting && !column->feature;
    }
    mg_csv_cell_set(column, row, code < 0 ? (double)NAN : (double)code);
    return MG_CSV_FINE;
}

/* Any cell, the long way. */
static __attribute__((noinline)) mg_csv_reason
csv_careful_cell(const mg_csv_pass *pass, int64_t j, int64_t row, const char *start,
                 const char *stop, mg_csv_worker *worker, mg_csv_result *result) {
    const mg_csv_column *column = &pass->columns[j];
    if (column->kind == MG_CSV_SKIPPED || (column->kind == MG_CSV_UNUSED && !pass->has_quotes))
        return MG_CSV_FINE;
    mg_csv_cell cell = mg_csv_cell_of(start, stop, pass->has_quotes);
    if (cell.quoting == MG_CSV_DAMAGED) return MG_CSV_QUOTES;
    if (column->kind == MG_CSV_UNUSED) return MG_CSV_FINE;

    start = cell.text;
    stop = cell.text + cell.length;
    mg_csv_trim(&start, &stop); /* inside quotes */
    if (column->kind == MG_CSV_TEXT || column->kind == MG_CSV_LISTED) {
        const bool missing = mg_csv_is_missing(start, stop - start);
        if (missing && !column->names_missing) return csv_missing_cell(pass, column, row, result);
        if (missing) cell = (mg_csv_cell){MG_CSV_MISSING_NAME, MG_CSV_MISSING_LENGTH, MG_CSV_PLAIN};
        if (missing && !pass->counting) result->missing--; /* as a number it was counted */
        return csv_text_cell(pass, j, row, cell, worker, result);
    }
    return csv_number_cell(pass, j, row, start, stop - start, worker, result);
}

/* A plain number takes the short way. */
MG_INLINE mg_csv_reason csv_convert(const mg_csv_pass *pass, int64_t j, int64_t row,
                                    const char *start, const char *stop, mg_csv_worker *worker,
                                    mg_csv_result *result) {
    const mg_csv_column *column = &pass->columns[j];
    if (MG_LIKELY(column->kind <= MG_CSV_STRICT)) {
        const mg_token token = mg_token_field(start, (size_t)(stop - start));
        const bool whole_beyond_f64 = token.power == 0 && token.significand >> DBL_MANT_DIG;
        const bool padded = column->label && *start == '0';
        if (MG_LIKELY(token.ok && !whole_beyond_f64 && !padded)) {
            csv_store_token(column, row, token);
            return MG_CSV_FINE;
        }
    }
    return csv_careful_cell(pass, j, row, start, stop, worker, result);
}

static void csv_parse(const mg_csv_pass *pass, int64_t block, mg_csv_worker *worker) {
    mg_csv_result *const result = &pass->results[block];
    const int64_t row_end = pass->blocks[block + 1].row;
    const char *const limit = pass->text + pass->blocks[block + 1].start;
    const char *const text_end = pass->text + pass->end;
    const char *cell = pass->text + pass->blocks[block].start, *row_start = cell;
    int64_t row = pass->blocks[block].row, j = 0;
    uint64_t inside = 0;
    const bool blanks = pass->separator == MG_CSV_BLANKS;
    mg_csv_reason reason = MG_CSV_FINE;

    for (const char *step = cell; step < limit; step += MG_CSV_STEP) {
        const int64_t bytes = MG_MIN(limit - step, (int64_t)MG_CSV_STEP);
        csv_prefetch(step + MG_CSV_STEP);
        uint32_t *const ends = worker->ends;
        uint32_t *ends_stop = csv_list_ends(pass, step, bytes, &inside, ends);
        if (step + bytes == text_end) *ends_stop++ = (uint32_t)bytes;
        for (const uint32_t *next = ends; next < ends_stop; next++) {
            const char *const stop = step + *next;
            bool line_ends = stop == text_end || *stop == '\n', row_ends = line_ends;
            if (MG_UNLIKELY(blanks)) {
                const csv_blank kind = csv_judge_blank(pass->text, cell, stop, text_end, &row_ends);
                if (kind == CSV_BLANK_ROW) row_start = cell;
                if (kind == CSV_BLANK_ROW) goto ragged;
                cell += kind == CSV_BLANK_MORE ? stop + 1 - cell : 0;
                if (kind == CSV_BLANK_MORE) continue;
            }
            if (MG_UNLIKELY(j == 0)) {
                if (line_ends && csv_is_blank_line(cell, stop)) {
                    cell = stop + 1;
                    continue;
                }
                if (row == row_end) goto changed;
                row_start = cell;
            }
            reason = csv_convert(pass, j, row, cell, stop, worker, result);
            if (MG_UNLIKELY(reason != MG_CSV_FINE)) goto failed;
            cell = stop + 1;
            if (!row_ends) {
                if (MG_UNLIKELY(++j == pass->column_count)) goto ragged;
            } else {
                if (MG_UNLIKELY(j + 1 != pass->column_count)) goto ragged;
                j = 0;
                row++;
            }
        }
    }
    if (row == row_end && j == 0) return;
changed:
    reason = MG_CSV_CHANGED;
    goto failed;
ragged:
    reason = MG_CSV_RAGGED;
    cell = row_start;
failed:
    result->reason = reason;
    result->offset = cell - pass->text;
    result->column = j;
    result->row = row;
}

#if defined(MG_TOKEN_AVX2) && MG_TOKEN_AVX2
const mg_csv_kernels mg_csv_kernels_avx2 = {csv_count_block, csv_parse};
#else
const mg_csv_kernels mg_csv_kernels_ref = {csv_count_block, csv_parse};
#endif
