/* Pass 1 over one block: newlines outside quotes, for both states the block may start in. Included
 * once per instruction set, after token_tmpl.h. */

enum { COUNT_AHEAD = 2048 }; /* bytes to prefetch ahead: over the end of the page */

/* Newlines in `newlines` that end a blank line, given the chunk and what stood before it. `before`
 * holds the two characters in front of the chunk as bits: 1 newline directly before, 2 newline two
 * before, 4 carriage return directly before. */
MG_INLINE uint64_t csv_blank_ends(mg_chunk chunk, uint64_t newlines, unsigned before) {
    uint64_t after_newline = newlines << 1 | (before & 1);
    uint64_t second_after = newlines << 2 | (uint64_t)(before & 1) << 1 | (before >> 1 & 1);
    uint64_t blank = newlines & after_newline;
    if (MG_UNLIKELY(newlines & second_after)) {
        uint64_t returns = mg_chunk_equal(chunk, '\r');
        uint64_t after_return = returns << 1 | (before >> 2 & 1);
        blank |= newlines & after_return & second_after;
    }
    return blank;
}

MG_INLINE unsigned csv_before(const char *at) {
    return (unsigned)(at[-1] == '\n') | (unsigned)(at[-2] == '\n') << 1 |
           (unsigned)(at[-1] == '\r') << 2;
}

/* Notes the newlines that count if the block starts in `state`. */
MG_INLINE void csv_note_newlines(mg_csv_count *count, int state, uint64_t newlines, uint64_t blank,
                                 int64_t offset) {
    if (newlines == 0) return;
    if (count->first[state] < 0) {
        int bit = __builtin_ctzll(newlines);
        count->first[state] = offset + bit;
        count->first_is_blank[state] = (blank >> bit & 1) != 0;
    }
    count->last[state] = offset + 63 - __builtin_clzll(newlines);
    count->rows[state] += mg_count_bits(newlines & ~blank);
}

static void csv_count_block(const char *text, int64_t first, int64_t last, mg_csv_count *count) {
    *count = (mg_csv_count){.first = {-1, -1}, .last = {-1, -1}};
    uint64_t inside = 0; /* all ones: in quotes, if the block starts outside */
    for (int64_t offset = first; offset < last; offset += 64) {
        __builtin_prefetch(text + offset + COUNT_AHEAD);
        const mg_chunk chunk = mg_chunk_load(text + offset);
        uint64_t newlines = mg_chunk_equal(chunk, '\n');
        uint64_t quotes = mg_chunk_equal(chunk, '"');
        if (MG_UNLIKELY(last - offset < 64)) {
            const uint64_t keep = ((uint64_t)1 << (last - offset)) - 1;
            newlines &= keep;
            quotes &= keep;
        }
        uint64_t quoted = inside;
        if (MG_UNLIKELY(quotes)) {
            quoted ^= mg_prefix_xor(quotes);
            inside = (uint64_t)((int64_t)quoted >> 63);
            count->any_quotes = true;
        }
        const uint64_t blank = csv_blank_ends(chunk, newlines, csv_before(text + offset));
        csv_note_newlines(count, 0, newlines & ~quoted, blank, offset);
        if (MG_UNLIKELY(count->any_quotes))
            csv_note_newlines(count, 1, newlines & quoted, blank, offset);
    }
    count->odd_quotes = inside != 0;
}
