/* Distinct texts and their codes: 0, 1, 2, ... in order of first appearance.
 *
 * An open-addressing table of 8-byte slots (a piece of the hash and the code) over an array of
 * entries; the bytes are copied, so nothing points into the caller's text. Texts of up to 16 bytes
 * are compared as two words. Memory: about 60 bytes and the text for each distinct value, up to
 * twice that while the table grows. Not for concurrent changes; finding is safe from any thread. */
#pragma once

#include "base/context.h"
#include "base/text/decimal.h"

typedef struct mg_dictionary_entry {
    uint64_t low, high; /* first and last eight bytes, see mg_dictionary_key */
    const char *text;   /* owned, zero-terminated; 16 bytes behind its start are readable */
    int64_t seen;       /* how often its code was asked for */
    uint32_t length;
} mg_dictionary_entry;

typedef struct mg_dictionary {
    mg_heap *heap;
    mg_dictionary_entry *entries;
    int64_t count, capacity;
    uint64_t *slots; /* hash << 32 | code + 1; 0: free */
    uint64_t slot_mask;
    struct mg_dictionary_text *texts; /* blocks of copied bytes */
    int32_t last;                     /* the code given last: values often repeat */
} mg_dictionary;

enum {
    MG_DICTIONARY_MEMORY = -1, /* the allocator refused */
    MG_DICTIONARY_FULL = -2,   /* more than 2^31 - 2 values */
    MG_DICTIONARY_OVERREAD = 16
};

void mg_dictionary_init(mg_dictionary *dictionary, mg_heap *heap);
void mg_dictionary_free(mg_dictionary *dictionary);

typedef struct mg_dictionary_key {
    uint64_t low, high;
} mg_dictionary_key;

/* The first eight bytes and those behind them, or, beyond 16, the last eight. Reads
 * MG_DICTIONARY_OVERREAD bytes at `text` whatever the length. */
MG_INLINE mg_dictionary_key mg_dictionary_key_of(const char *text, uint32_t length) {
    uint64_t low = mg_load_8(text), high = mg_load_8(text + 8);
    if (MG_LIKELY(length <= 16)) {
        if (length <= 8) {
            high = 0;
            low = length == 0 ? 0 : low << (64 - 8 * length) >> (64 - 8 * length);
        } else {
            high = high << (128 - 8 * length) >> (128 - 8 * length);
        }
    } else {
        high = mg_load_8(text + length - 8);
    }
    return (mg_dictionary_key){low, high};
}

/* The general way; adds the text if it is new. */
int32_t mg_dictionary_add(mg_dictionary *dictionary, const char *text, uint32_t length,
                          mg_dictionary_key key);

/* Code of text[0..length), added if it is new, or MG_DICTIONARY_MEMORY or _FULL. Counts it as seen.
 * Reads MG_DICTIONARY_OVERREAD bytes at `text`. */
MG_INLINE int32_t mg_dictionary_code(mg_dictionary *dictionary, const char *text, uint32_t length) {
    mg_dictionary_key key = mg_dictionary_key_of(text, length);
    if (MG_LIKELY(dictionary->count > 0) && length <= 16) {
        mg_dictionary_entry *last = &dictionary->entries[dictionary->last];
        if (last->low == key.low && last->high == key.high && last->length == length) {
            last->seen++;
            return dictionary->last;
        }
    }
    return mg_dictionary_add(dictionary, text, length, key);
}

/* The same for a text behind which nothing may be read. */
int32_t mg_dictionary_code_exact(mg_dictionary *dictionary, const char *text, int64_t length);

/* Code of a text, or -1 if it is not there. Reads MG_DICTIONARY_OVERREAD bytes at `text`; exact: no
 * more than the text. */
int32_t mg_dictionary_find(const mg_dictionary *dictionary, const char *text, uint32_t length);
int32_t mg_dictionary_find_exact(const mg_dictionary *dictionary, const char *text, int64_t length);

/* order[rank] = code and rank[code] = rank in bytewise order of the texts (a prefix comes first);
 * codes below `first` stay where they are and the others come behind them. MEMORY; CANCELLED if the
 * call is to end (no context: it goes on). Without a text of the error. */
margin_status mg_dictionary_sort_behind(const margin_context *context,
                                        const mg_dictionary *dictionary, int64_t first,
                                        int32_t *order, int32_t *rank);
