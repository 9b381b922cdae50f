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
    bool decimal_commas;                       /* all texts are like 3,14 */
} contents;

static bool is_decimal_comma(const mg_dictionary_entry *entry) {
    const char *at = entry->text + (*entry->text == '-' || *entry->text == '+');
    size_t whole = strspn(at, "0123456789");
    if (whole == 0 || at[whole] != ',') return false;
    size_t fraction = strspn(at + whole + 1, "0123456789");
    return fraction > 0 && at + whole + 1 + fraction == entry->text + entry->length;
}

static contents look_at_values(const mg_dictionary *values) {
    contents found = {.decimal_commas = true};
    for (int64_t k = 0; k < values->count; k++) {
        const mg_dictionary_entry *entry = &values->entries[k];
        mg_csv_cell cell = {entry->text, entry->length, MG_CSV_PLAIN};
        if (mg_csv_content_of(&cell) == MG_CSV_IS_NUMBER) {
            found.numbers += entry->seen;
            found.different_numbers++;
        } else {
            found.texts += entry->seen;
            found.decimal_commas &= is_decimal_comma(entry);
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
    if (found.texts && found.decimal_commas) return mg_csv_fail_decimal_comma(csv, j);
    if (texts_are_stray(&found)) return mg_csv_fail_stray(csv, j, found.numbers, found.texts);
    return MARGIN_OK;
}

margin_status mg_csv_judge_columns(const mg_csv *csv) {
    for (int64_t j = 0; j < csv->columns; j++)
        if (csv->orders[j]) MG_TRY(judge_column(csv, j));
    return MARGIN_OK;
}
