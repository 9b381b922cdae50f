/* Columns of texts that were meant to be something else. Decided from the counts that dictionaries
 * keep, so from all cells of a column, never from a sample. */
#include "data/csv/csv.h"

enum {
    LEAST_NUMBERS = 10, /* fewer numbers than that do not make a column numeric */
    TEXT_SHARE = 10,    /* a text in fewer than one of so many cells is a stray one */
    MANY_VALUES = 100,  /* different numbers: measured, not a set of codes */
    MOST_F32_CODES = 1 << 24
};

typedef struct contents {
    int64_t numbers, texts, different_numbers; /* cells, cells, values */
    bool written_numbers;                      /* all texts are like 3,14 or $1,200.50 or 5 % */
} contents;

static const char *behind_sign(const char *at) {
    return at + (*at == '-' || *at == '+');
}

static const char *behind_currency(const char *at) {
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3"}; /* dollar, euro, pound */
    for (int k = 0; k < MG_LENGTH(signs); k++)
        if (strncmp(at, signs[k], strlen(signs[k])) == 0) return at + strlen(signs[k]);
    return at;
}

/* Digits with one comma, or with one before every three. NULL: neither. */
static const char *behind_commas(const char *at) {
    static const char digits[] = "0123456789";
    size_t length = strspn(at, digits);
    const bool several = strspn(at, "0123456789,") > length && strchr(at + length + 1, ',');
    if (length == 0) return NULL;
    for (at += length; *at == ','; at += length + 1) {
        length = strspn(at + 1, digits);
        if (length == 0 || (several && length != 3)) return NULL;
    }
    return *at == '.' ? at + 1 + strspn(at + 1, digits) : at;
}

/* Of a text that is no number as it stands. */
static bool is_written_number(const mg_dictionary_entry *entry) {
    const char *at = behind_commas(behind_sign(behind_currency(behind_sign(entry->text))));
    if (!at) return false;
    at += strspn(at, " ");
    at += *at == '%';
    return at == entry->text + entry->length;
}

static contents look_at_values(const mg_dictionary *values) {
    contents found = {.written_numbers = true};
    for (int64_t k = 0; k < values->count; k++) {
        const mg_dictionary_entry *entry = &values->entries[k];
        mg_csv_cell cell = {entry->text, entry->length, MG_CSV_PLAIN};
        if (mg_csv_content_of(&cell) == MG_CSV_IS_NUMBER) {
            found.numbers += entry->seen;
            found.different_numbers++;
        } else {
            found.texts += entry->seen;
            found.written_numbers &= is_written_number(entry);
        }
    }
    return found;
}

/* As margin/data.h says. */
static bool texts_are_stray(const contents *found) {
    int64_t cells = found->numbers + found->texts;
    if (found->texts == 0 || found->numbers < LEAST_NUMBERS) return false;
    return found->texts * TEXT_SHARE < cells ||
           (found->texts < found->numbers && found->different_numbers > MANY_VALUES);
}

static bool has_zero_byte(const mg_dictionary *values) {
    for (int64_t k = 0; k < values->count; k++)
        if (memchr(values->entries[k].text, '\0', values->entries[k].length)) return true;
    return false;
}

static margin_status judge_column(const mg_csv *csv, int64_t j) {
    bool narrow = csv->table->x.view.value_type == MARGIN_F32 && csv->cells[j].feature;
    MG_REQUIRE(!narrow || csv->categories[j].count <= MOST_F32_CODES, csv->error,
               MARGIN_ERROR_LIMIT,
               "%s: column '%s' has %lld categories, more than an f32 table can number: read it as "
               "f64 or ignore it",
               csv->source->name, csv->names[j], (long long)csv->categories[j].count);
    if (has_zero_byte(&csv->categories[j])) return mg_csv_fail_zero_byte(csv, j);
    if (csv->plan[j].categorical) return MARGIN_OK;
    contents found = look_at_values(&csv->categories[j]);
    if (found.texts && found.written_numbers) return mg_csv_fail_written_number(csv, j);
    if (texts_are_stray(&found)) return mg_csv_fail_stray(csv, j, found.numbers, found.texts);
    return MARGIN_OK;
}

margin_status mg_csv_judge_columns(const mg_csv *csv) {
    for (int64_t j = 0; j < csv->columns; j++)
        if (csv->orders[j]) MG_TRY(judge_column(csv, j));
    return MARGIN_OK;
}
