/* What both precisions of the block parser share: where cells end, texts of cells. Included once
 * per instruction set, after token_tmpl.h. */

/* Ends of cells (separators and newlines outside quotes) in the `bytes` bytes at `step`, relative
 * to it. `inside` carries the state of the quotes from step to step: all ones inside. */
static inline uint32_t *csv_list_ends(const mg_csv_pass *pass, const char *step, int64_t bytes,
                                      uint64_t *inside, uint32_t *ends) {
    for (int64_t offset = 0; offset < bytes; offset += 64) {
        const mg_chunk chunk = mg_chunk_load(step + offset);
        uint64_t stops = mg_chunk_equal(chunk, pass->separator) | mg_chunk_equal(chunk, '\n');
        if (MG_UNLIKELY(pass->separator == MG_CSV_BLANKS)) stops |= mg_chunk_equal(chunk, '\t');
        if (MG_UNLIKELY(pass->has_quotes)) {
            uint64_t quotes = mg_chunk_equal(chunk, '"');
            if (MG_UNLIKELY(bytes - offset < 64)) quotes &= ((uint64_t)1 << (bytes - offset)) - 1;
            if (quotes) {
                const uint64_t quoted = mg_prefix_xor(quotes) ^ *inside;
                stops &= ~quoted;
                *inside = (uint64_t)((int64_t)quoted >> 63);
            } else {
                stops &= ~*inside;
            }
        }
        if (MG_UNLIKELY(bytes - offset < 64)) stops &= ((uint64_t)1 << (bytes - offset)) - 1;
        ends = mg_list_bits(stops, (uint32_t)offset, ends);
    }
    return ends;
}

/* Asks for the next step's text while this one's is parsed: the processor's own prefetching stops
 * at the end of each page. An address behind the text does no harm. */
MG_INLINE void csv_prefetch(const char *step) {
    for (int offset = 0; offset < MG_CSV_STEP; offset += 64)
        __builtin_prefetch(step + offset);
}

MG_INLINE bool csv_is_blank_line(const char *start, const char *stop) {
    return start == stop || (start + 1 == stop && *start == '\r');
}

/* What the end of a cell at `stop` is where runs of blanks separate: of a cell, one more blank, or
 * of a row of nothing but blanks. *row_ends: set where only blanks are left of the line. */
typedef enum csv_blank { CSV_BLANK_CELL, CSV_BLANK_MORE, CSV_BLANK_ROW } csv_blank;

static csv_blank csv_judge_blank(const char *text, const char *cell, const char *stop,
                                 const char *text_end, bool *row_ends) {
    if (stop > cell || *row_ends) {
        *row_ends = *row_ends || (stop > cell && mg_csv_row_end(stop, text_end) != NULL);
        return CSV_BLANK_CELL;
    }
    const bool line_starts = cell == text || cell[-1] == '\n';
    return line_starts && mg_csv_row_end(stop, text_end) ? CSV_BLANK_ROW : CSV_BLANK_MORE;
}

/* Room for `bytes` and what a dictionary reads over. */
static bool csv_reserve_scratch(mg_heap *heap, mg_csv_worker *worker, int64_t bytes) {
    bytes += MG_DICTIONARY_OVERREAD;
    if (bytes <= worker->scratch_bytes) return true;
    char *larger = mg_resize(heap, worker->scratch, 2 * bytes, 1);
    if (!larger) return false;
    worker->scratch = larger;
    worker->scratch_bytes = 2 * bytes;
    return true;
}

/* Replaces the cell's text by one in the scratch without the doubling of quotes. */
static bool csv_unescape_cell(mg_heap *heap, mg_csv_worker *worker, mg_csv_cell *cell) {
    if (!csv_reserve_scratch(heap, worker, cell->length)) return false;
    cell->length = mg_csv_unescape(cell, worker->scratch);
    cell->text = worker->scratch;
    return true;
}

/* Code in a model's list, -1 if it is not there. A text that is not UTF-8 was Latin-1 when the
 * model was trained, too. */
static int32_t csv_find_listed(mg_heap *heap, const mg_dictionary *list, mg_csv_worker *worker,
                               mg_csv_cell cell, bool *refused) {
    int32_t code = mg_dictionary_find(list, cell.text, (uint32_t)cell.length);
    if (MG_LIKELY(code >= 0) || mg_is_utf8(cell.text, cell.length)) return code;
    /* The scratch may hold the text itself: write behind it. */
    bool own = cell.text == worker->scratch;
    int64_t behind = own ? cell.length : 0;
    *refused = !csv_reserve_scratch(heap, worker, behind + 2 * cell.length);
    if (*refused) return -1;
    char *wide = worker->scratch + behind;
    int64_t length = mg_csv_from_latin1(own ? worker->scratch : cell.text, cell.length, wide);
    return mg_dictionary_find(list, wide, (uint32_t)length);
}
