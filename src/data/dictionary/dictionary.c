#include "data/dictionary/dictionary.h"
#include "base/sort.h"

#include <string.h>

enum {
    FIRST_CAPACITY = 8,
    FIRST_TEXT_BLOCK = 256,      /* text blocks double from here ... */
    LARGEST_TEXT_BLOCK = 1 << 20 /* ... to here; a longer text gets its own */
};

typedef struct mg_dictionary_text {
    struct mg_dictionary_text *next;
    int64_t used, capacity;
    char bytes[];
} text_block;

void mg_dictionary_init(mg_dictionary *dictionary, mg_heap *heap) {
    *dictionary = (mg_dictionary){.heap = heap};
}

void mg_dictionary_free(mg_dictionary *dictionary) {
    if (!dictionary->heap) return;
    MG_FREE(dictionary->heap, dictionary->entries, dictionary->slots);
    while (dictionary->texts) {
        text_block *next = dictionary->texts->next;
        mg_free(dictionary->heap, dictionary->texts);
        dictionary->texts = next;
    }
    *dictionary = (mg_dictionary){0};
}

/* ---- Hash ----------------------------------------------------------------------------------- */

static uint64_t fold(uint64_t a, uint64_t b) {
    mg_u128 product = (mg_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two 64 x 64 bit products mix the ends and the length, one more each eight bytes between them. */
static uint64_t hash_text(const char *text, uint32_t length, mg_dictionary_key key) {
    const uint64_t odd_1 = 0x9e3779b97f4a7c15u, odd_2 = 0xd6e8feb86659fd93u;
    uint64_t hash = fold(key.low ^ odd_1, (key.high ^ odd_2) + length);
    for (uint32_t k = 8; length > 16 && k + 8 < length; k += 8)
        hash = fold(hash ^ mg_load_8(text + k), odd_2);
    return fold(hash ^ odd_1, odd_2);
}

static bool same_text(const mg_dictionary_entry *entry, const char *text, uint32_t length,
                      mg_dictionary_key key) {
    return entry->low == key.low && entry->high == key.high && entry->length == length &&
           (length <= 16 || memcmp(entry->text, text, length) == 0);
}

/* ---- Growing -------------------------------------------------------------------------------- */

static bool grow_slots(mg_dictionary *dictionary, uint64_t slots) {
    uint64_t *larger = mg_new_zero(dictionary->heap, (int64_t)slots, sizeof *larger);
    if (!larger) return false;
    for (int64_t k = 0; k < dictionary->count; k++) {
        const mg_dictionary_entry *entry = &dictionary->entries[k];
        uint64_t hash =
            hash_text(entry->text, entry->length, (mg_dictionary_key){entry->low, entry->high});
        uint64_t at = hash & (slots - 1);
        while (larger[at])
            at = (at + 1) & (slots - 1);
        larger[at] = hash >> 32 << 32 | (uint64_t)(k + 1);
    }
    mg_free(dictionary->heap, dictionary->slots);
    dictionary->slots = larger;
    dictionary->slot_mask = slots - 1;
    return true;
}

/* Room for one entry more; the table stays at most half full. */
static bool reserve_entry(mg_dictionary *dictionary) {
    if (dictionary->count < dictionary->capacity) return true;
    int64_t capacity = MG_MAX(dictionary->capacity * 2, (int64_t)FIRST_CAPACITY);
    mg_dictionary_entry *larger =
        mg_resize(dictionary->heap, dictionary->entries, capacity, sizeof *dictionary->entries);
    if (!larger) return false;
    dictionary->entries = larger;
    if (!grow_slots(dictionary, (uint64_t)capacity * 2)) return false;
    dictionary->capacity = capacity;
    return true;
}

/* A copy with a zero behind it and enough room that its key can be read. */
static const char *copy_text(mg_dictionary *dictionary, const char *text, uint32_t length) {
    int64_t bytes = (int64_t)length + MG_DICTIONARY_OVERREAD;
    text_block *block = dictionary->texts;
    if (!block || block->capacity - block->used < bytes) {
        int64_t capacity =
            block ? MG_MIN(block->capacity * 2, (int64_t)LARGEST_TEXT_BLOCK) : FIRST_TEXT_BLOCK;
        capacity = MG_MAX(capacity, bytes);
        block = mg_new(dictionary->heap, (int64_t)sizeof *block + capacity, 1);
        if (!block) return NULL;
        *block = (text_block){.next = dictionary->texts, .capacity = capacity};
        dictionary->texts = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, length);
    memset(copy + length, 0, MG_DICTIONARY_OVERREAD);
    /* The next text may begin in the zeros but the first: they are there to be read over only. */
    block->used += (int64_t)length + 1;
    return copy;
}

/* ---- Codes ---------------------------------------------------------------------------------- */

int32_t mg_dictionary_find(const mg_dictionary *dictionary, const char *text, uint32_t length) {
    if (dictionary->count == 0) return -1;
    mg_dictionary_key key = mg_dictionary_key_of(text, length);
    uint64_t hash = hash_text(text, length, key);
    for (uint64_t at = hash & dictionary->slot_mask; dictionary->slots[at];
         at = (at + 1) & dictionary->slot_mask) {
        uint64_t slot = dictionary->slots[at];
        if (slot >> 32 != hash >> 32) continue;
        int32_t code = (int32_t)((uint32_t)slot - 1);
        if (same_text(&dictionary->entries[code], text, length, key)) return code;
    }
    return -1;
}

static int32_t add_new(mg_dictionary *dictionary, const char *text, uint32_t length,
                       mg_dictionary_key key) {
    if (dictionary->count >= INT32_MAX - 1) return MG_DICTIONARY_FULL;
    if (!reserve_entry(dictionary)) return MG_DICTIONARY_MEMORY;
    const char *copy = copy_text(dictionary, text, length);
    if (!copy) return MG_DICTIONARY_MEMORY;
    int32_t code = (int32_t)dictionary->count++;
    dictionary->entries[code] = (mg_dictionary_entry){
        .low = key.low, .high = key.high, .text = copy, .seen = 1, .length = length};
    uint64_t hash = hash_text(copy, length, key), at = hash & dictionary->slot_mask;
    while (dictionary->slots[at])
        at = (at + 1) & dictionary->slot_mask;
    dictionary->slots[at] = hash >> 32 << 32 | (uint64_t)(uint32_t)(code + 1);
    dictionary->last = code;
    return code;
}

int32_t mg_dictionary_add(mg_dictionary *dictionary, const char *text, uint32_t length,
                          mg_dictionary_key key) {
    int32_t code = mg_dictionary_find(dictionary, text, length);
    if (code < 0) return add_new(dictionary, text, length, key);
    dictionary->entries[code].seen++;
    dictionary->last = code;
    return code;
}

/* The text where it may be read over: itself, or its copy among zeros. */
static const char *overreadable(const char *text, int64_t length,
                                char room[2 * MG_DICTIONARY_OVERREAD]) {
    if (length >= MG_DICTIONARY_OVERREAD) return text;
    memset(room, 0, 2 * MG_DICTIONARY_OVERREAD);
    return memcpy(room, text, (size_t)length);
}

int32_t mg_dictionary_code_exact(mg_dictionary *dictionary, const char *text, int64_t length) {
    char room[2 * MG_DICTIONARY_OVERREAD];
    if (length > INT32_MAX) return MG_DICTIONARY_FULL;
    return mg_dictionary_code(dictionary, overreadable(text, length, room), (uint32_t)length);
}

int32_t mg_dictionary_find_exact(const mg_dictionary *dictionary, const char *text,
                                 int64_t length) {
    char room[2 * MG_DICTIONARY_OVERREAD];
    if (length > INT32_MAX) return -1;
    return mg_dictionary_find(dictionary, overreadable(text, length, room), (uint32_t)length);
}

/* ---- Order ---------------------------------------------------------------------------------- */

typedef struct sort_item {
    uint64_t key; /* eight bytes behind what all texts begin with, the first one on top */
    const mg_dictionary_entry *entry;
} sort_item;

static int by_text(const void *a, const void *b) {
    const sort_item *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    const mg_dictionary_entry *x = left->entry, *y = right->entry;
    int order = memcmp(x->text, y->text, MG_MIN(x->length, y->length));
    if (order) return order;
    return x->length < y->length ? -1 : x->length > y->length;
}

/* Bytes that all texts begin with: "user_1", "user_2", ... should not be told apart by memcmp. */
static uint32_t common_beginning(const mg_dictionary *dictionary) {
    const mg_dictionary_entry *first = dictionary->entries;
    uint32_t common = dictionary->count ? first->length : 0;
    for (int64_t k = 1; k < dictionary->count && common; k++) {
        const mg_dictionary_entry *entry = &dictionary->entries[k];
        uint32_t same = 0;
        common = MG_MIN(common, entry->length);
        while (same < common && first->text[same] == entry->text[same])
            same++;
        common = same;
    }
    return common;
}

static uint64_t sort_key(const mg_dictionary_entry *entry, uint32_t skip) {
    uint32_t left = entry->length - skip;
    uint64_t bytes = mg_load_8(entry->text + skip); /* what follows the text is readable */
    if (left < 8) bytes = left == 0 ? 0 : bytes << (64 - 8 * left) >> (64 - 8 * left);
    return __builtin_bswap64(bytes);
}

/* order[rank] = code and rank[code] = rank in bytewise order of the texts (a prefix comes first).
 */
static margin_status dictionary_sort(const margin_context *context, const mg_dictionary *dictionary,
                                     int32_t *order, int32_t *rank) {
    int64_t count = dictionary->count;
    sort_item *items = mg_new(dictionary->heap, 2 * count, sizeof *items);
    if (!items) return MARGIN_ERROR_MEMORY;
    uint32_t skip = common_beginning(dictionary);
    for (int64_t k = 0; k < count; k++)
        items[k] = (sort_item){sort_key(&dictionary->entries[k], skip), &dictionary->entries[k]};
    const bool sorted = mg_sort_items(context, items, count, sizeof *items, items + count, by_text);
    for (int64_t k = 0; k < count && sorted; k++) {
        int32_t code = (int32_t)(items[k].entry - dictionary->entries);
        order[k] = code;
        rank[code] = (int32_t)k;
    }
    mg_free(dictionary->heap, items);
    return sorted ? MARGIN_OK : MARGIN_ERROR_CANCELLED;
}

margin_status mg_dictionary_sort_behind(const margin_context *context,
                                        const mg_dictionary *dictionary, int64_t first,
                                        int32_t *order, int32_t *rank) {
    int64_t at = dictionary->count;
    MG_TRY(dictionary_sort(context, dictionary, order, rank));
    for (int64_t k = at; k-- > 0;) /* from the end, so that nothing is overwritten too early */
        if (order[k] >= first) order[--at] = order[k];
    for (int64_t k = 0; k < first; k++)
        order[k] = (int32_t)k;
    for (int64_t k = 0; k < dictionary->count; k++)
        rank[order[k]] = (int32_t)k;
    return MARGIN_OK;
}
