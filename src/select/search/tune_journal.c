/* The file that lets an interrupted search go on. First line: what is searched, with a checksum of
 * data, splits and options; then a line for each fit that is finished:
 *   cell split share value training status gap fit_seconds predict_seconds, a tab, a reason
 * Numbers are in their shortest exact form, so that a table is the same whichever way its cells
 * came. What a limit on time or memory ended is not kept: another run may get further. A last line
 * without an end is of a search that was killed and is cut off. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "data/source/crc64.h"
#include "select/search/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL "margin-search "

struct mg_journal {
    int file;
    char *text; /* the whole file as it was */
    int64_t length;
    char *lines; /* the first of them */
};

static margin_status fail_file(const mg_tune *s, const char *what, margin_error *error) {
    return mg_fail_file(error, errno, "cannot %s the journal %.600s: %s", what, s->options.journal,
                        strerror(errno));
}

static margin_status fail_format(const mg_tune *s, const char *why, margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_FORMAT,
                   "%.600s %s; give another name, or remove the file to start anew",
                   s->options.journal, why);
}

/* ---- What is searched ------------------------------------------------------------------------ */

static void add_vector(mg_crc64 *crc, const margin_vector *vector) {
    mg_crc64_add(crc, &vector->count, sizeof vector->count);
    if (vector->values)
        mg_crc64_add(crc, vector->values, vector->count * mg_type_size(vector->type));
}

static void add_matrix(mg_crc64 *crc, const margin_matrix *x) {
    const int64_t size = mg_type_size(x->value_type), shape[2] = {x->rows, x->columns};
    mg_crc64_add(crc, shape, sizeof shape);
    if (!mg_is_csr(x)) {
        for (int64_t i = 0; i < x->rows; i++)
            mg_crc64_add(crc, (const char *)x->values + i * x->stride * size, x->columns * size);
        return;
    }
    const int64_t start_size = mg_type_size(x->start_type);
    const int64_t stored = mg_row_start(x, x->rows);
    mg_crc64_add(crc, x->row_starts, (x->rows + 1) * start_size);
    mg_crc64_add(crc, x->column_indices, stored * mg_type_size(x->index_type));
    mg_crc64_add(crc, x->values, stored * size);
}

static void add_text(mg_crc64 *crc, const char *text) {
    mg_crc64_add(crc, text, (int64_t)strlen(text) + 1);
}

static void add_columns(mg_crc64 *crc, const margin_column *columns, int64_t count) {
    for (int64_t j = 0; columns && j < count; j++) {
        mg_crc64_add(crc, &columns[j].kind, sizeof columns[j].kind);
        add_text(crc, columns[j].name);
        for (int64_t k = 0; k < columns[j].category_count; k++)
            add_text(crc, columns[j].categories[k]);
    }
}

static margin_status add_splits(const mg_tune *s, mg_crc64 *crc, margin_error *error) {
    int64_t *rows;
    MG_NEW(s->heap, rows, s->samples.count, "the rows of a fold", error);
    for (int64_t k = 0; k < s->split_count; k++)
        for (int32_t part = MARGIN_PART_TRAIN; part <= MARGIN_PART_TEST; part++) {
            const int64_t count = margin_splits_rows(s->splits, k, part, rows);
            mg_crc64_add(crc, rows, count * (int64_t)sizeof *rows);
        }
    mg_free(s->heap, rows);
    return MARGIN_OK;
}

/* The first line. */
static margin_status head_line(const mg_tune *s, mg_text *text, margin_error *error) {
    mg_crc64 *crc;
    MG_NEW(s->heap, crc, 1, "a checksum", error);
    mg_crc64_begin(crc);
    add_matrix(crc, &s->data->x);
    add_vector(crc, &s->data->y);
    add_vector(crc, &s->data->weights);
    add_columns(crc, s->data->columns, s->data->x.columns);
    add_columns(crc, s->data->target, mg_data_targets(s->data));
    add_vector(crc, &s->data->classes);
    mg_crc64_add(crc, &s->context->options.seed, sizeof s->context->options.seed);
    mg_crc64_add(crc, &s->options.method, sizeof s->options.method);
    mg_crc64_add(crc, &s->options.count, sizeof s->options.count);
    mg_crc64_add(crc, &s->options.training, sizeof s->options.training);
    const margin_status status = add_splits(s, crc, error);
    mg_text_format(text, JOURNAL "2 %016llx %lld settings %lld splits %s",
                   (unsigned long long)mg_crc64_value(crc), (long long)s->count,
                   (long long)s->split_count, s->metric->name);
    mg_free(s->heap, crc);
    for (int64_t k = 0; k < s->spec_count; k++)
        mg_text_format(text, "\t%s", s->specs[k]->text);
    mg_text_puts(text, "\n");
    if (status < 0) return status;
    return text->failed ? mg_no_memory(s->heap, text->length + 1, 1, "the journal", error)
                        : MARGIN_OK;
}

static bool next_number(const char **at, double *value) {
    while (**at == ' ')
        (*at)++;
    const size_t length = strcspn(*at, " \t");
    const bool found = margin_number_parse_f64(*at, length, value) != 0;
    *at += length;
    return found;
}

/* ---- The file -------------------------------------------------------------------------------- */

static margin_status write_all(const mg_tune *s, const mg_text *text, margin_error *error) {
    for (int64_t at = 0; at < text->length;) {
        const ssize_t written =
            write(s->journal->file, text->data + at, (size_t)(text->length - at));
        if (written < 0 && errno != EINTR) return fail_file(s, "write", error);
        if (written > 0) at += written;
    }
    return MARGIN_OK;
}

static margin_status read_all(const mg_tune *s, int64_t size, margin_error *error) {
    mg_journal *journal = s->journal;
    MG_NEW(s->heap, journal->text, size + 1, "the journal", error);
    while (journal->length < size) {
        const ssize_t got = pread(journal->file, journal->text + journal->length,
                                  (size_t)(size - journal->length), (off_t)journal->length);
        if (got < 0 && errno != EINTR) return fail_file(s, "read", error);
        if (got == 0) break;
        if (got > 0) journal->length += got;
    }
    journal->text[journal->length] = 0;
    return MARGIN_OK;
}

/* Cuts off the last line if it has no end; not before the file is known to be a journal. */
static margin_status cut_last_line(const mg_tune *s, margin_error *error) {
    mg_journal *journal = s->journal;
    const int64_t size = journal->length;
    while (journal->length > 0 && journal->text[journal->length - 1] != '\n')
        journal->length--;
    journal->text[journal->length] = 0;
    if (journal->length < size && ftruncate(journal->file, (off_t)journal->length) < 0)
        return fail_file(s, "write", error);
    return MARGIN_OK;
}

static margin_status start(const mg_tune *s, const mg_text *head, margin_error *error) {
    mg_journal *journal = s->journal;
    struct stat file;
    journal->file = open(s->options.journal, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->file < 0 || fstat(journal->file, &file) < 0) return fail_file(s, "open", error);
    if (!S_ISREG(file.st_mode))
        return fail_format(s, "is no file that lines can be kept in", error);
    MG_TRY(read_all(s, (int64_t)file.st_size, error));
    if (file.st_size == 0) return write_all(s, head, error);
    if (strncmp(journal->text, JOURNAL, strlen(JOURNAL)) != 0)
        return fail_format(s, "is no journal of a search", error);
    const int64_t shared = journal->length < head->length ? journal->length : head->length;
    if (memcmp(journal->text, head->data, (size_t)shared) != 0)
        return fail_format(s,
                           "is the journal of another search (spec, data, columns, splits, metric, "
                           "seed) or release",
                           error);
    MG_TRY(cut_last_line(s, error));
    if (journal->length == 0) return write_all(s, head, error);
    journal->lines = journal->text + head->length;
    return MARGIN_OK;
}

margin_status mg_journal_open(mg_tune *s, margin_error *error) {
    mg_text head;
    if (!s->options.journal) return MARGIN_OK;
    MG_NEW(s->heap, s->journal, 1, "the journal", error);
    *s->journal = (mg_journal){.file = -1};
    mg_text_init(&head, s->heap);
    margin_status status = head_line(s, &head, error);
    if (status >= 0) status = start(s, &head, error);
    mg_text_free(&head);
    return status;
}

void mg_journal_close(mg_tune *s) {
    if (!s->journal) return;
    if (s->journal->file >= 0) close(s->journal->file);
    MG_FREE(s->heap, s->journal->text, s->journal);
    s->journal = NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

enum { NUMBERS = 9 };

static bool was_limited(int32_t status) {
    return status == MARGIN_STOPPED_TIME || status == MARGIN_ERROR_LIMIT;
}

margin_status mg_journal_add(mg_tune *s, const mg_cell *cell, int64_t split, margin_error *error) {
    const mg_slot *slot = &cell->slots[split];
    const double numbers[NUMBERS] = {(double)(cell - s->cells),
                                     (double)split,
                                     (double)s->share,
                                     slot->value,
                                     slot->training,
                                     (double)slot->status,
                                     slot->gap,
                                     (double)slot->fit_seconds,
                                     (double)slot->predict_seconds};
    mg_text text;
    if (!s->journal || was_limited(slot->status)) return MARGIN_OK;
    mg_text_init(&text, s->heap);
    for (int i = 0; i < NUMBERS; i++) {
        mg_text_number(&text, numbers[i]);
        mg_text_puts(&text, i + 1 < NUMBERS ? " " : "\t");
    }
    mg_text_puts(&text, slot->reason ? slot->reason : "");
    mg_text_puts(&text, "\n");
    const margin_status status =
        text.failed ? mg_no_memory(s->heap, text.length + 1, 1, "the journal", error)
                    : write_all(s, &text, error);
    mg_text_free(&text);
    return status;
}

static bool is_below(double number, int64_t count) {
    return number >= 0 && number < (double)count && number == floor(number);
}

/* Lines of other rounds are passed over, and what a limit ended. */
static margin_status take_line(const mg_tune *s, const char *line, margin_error *error) {
    double numbers[NUMBERS];
    const char *at = line;
    bool whole = true;
    for (int i = 0; whole && i < NUMBERS; i++)
        whole = next_number(&at, &numbers[i]);
    if (!whole || *at != '\t' || !is_below(numbers[0], s->count) ||
        !is_below(numbers[1], s->split_count) || !(numbers[5] >= MARGIN_ERROR_INTERNAL) ||
        !(numbers[5] <= MARGIN_STOPPED_STALLED))
        return fail_format(s, "holds a line that is no fit's", error);
    mg_cell *cell = &s->cells[(int64_t)numbers[0]];
    mg_slot *slot = &cell->slots[(int64_t)numbers[1]];
    if (!cell->active || numbers[2] != (double)s->share || was_limited((int32_t)numbers[5]))
        return MARGIN_OK;
    mg_slot_clear(s->heap, slot);
    slot->value = numbers[3];
    slot->training = numbers[4];
    slot->status = (int32_t)numbers[5];
    slot->gap = numbers[6];
    slot->fit_seconds = (float)numbers[7];
    slot->predict_seconds = (float)numbers[8];
    slot->state = MG_SLOT_KNOWN;
    const int64_t length = (int64_t)strcspn(at + 1, "\n");
    if (length == 0) return MARGIN_OK;
    return mg_take_text(s->heap, at + 1, length, "a reason", &slot->reason, error);
}

margin_status mg_journal_find(mg_tune *s, margin_error *error) {
    if (!s->journal || !s->journal->lines) return MARGIN_OK;
    for (const char *line = s->journal->lines; *line; line += strcspn(line, "\n") + 1)
        MG_TRY(take_line(s, line, error));
    return MARGIN_OK;
}
