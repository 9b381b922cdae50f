/* svmlight and LIBSVM text to CSR.
 *
 * Two passes over blocks of whole lines: the first counts newlines and colons at memory speed, so
 * that the second can parse straight into the final arrays, without a copy and without touching
 * memory twice. Only comments, blank lines, query ids and dropped rows make the counts too large;
 * then the blocks are moved together afterwards. Blocks depend on the length of the text alone, and
 * nothing depends on them. */
#include "data/svmlight/svmlight.h"

#include "base/machine/cpu.h"

#include <math.h>
#include <string.h>

enum {
    SMALLEST_BLOCK = 1 << 16,
    LARGEST_BLOCK = 1 << 20, /* stays in the second-level cache, and cancels within a millisecond */
    BLOCKS_WANTED = 64,      /* enough for all threads to end at about the same time */
    SHOWN_BYTES = 40         /* of the text in a message */
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int64_t block_bytes(int64_t length) {
    const int64_t bytes = length / BLOCKS_WANTED;
    return MG_MAX(SMALLEST_BLOCK, MG_MIN(LARGEST_BLOCK, bytes));
}

/* Behind the end of the line that `at` lies in, which began at or before it: in steps, as a line
 * may be long. */
static margin_status find_line_end(const mg_svmlight *reader, const char *at, const char **end,
                                   margin_error *error) {
    const char *last = reader->source->text + reader->source->length, *newline = NULL;
    for (; at < last && newline == NULL; at += MG_MIN(last - at, (ptrdiff_t)LARGEST_BLOCK)) {
        if (mg_cancelled(reader->context)) return mg_fail_cancelled(error);
        newline = memchr(at, '\n', (size_t)MG_MIN(last - at, (ptrdiff_t)LARGEST_BLOCK));
    }
    *end = newline != NULL ? newline + 1 : last;
    return MARGIN_OK;
}

/* Only a block that is itself longer than a line may be can hold such a line, at its end. */
static margin_status check_line(const mg_svmlight *reader, const char *begin, const char *end,
                                margin_error *error) {
    const char *line = end - 1;
    if (end - begin <= MARGIN_MAX_LINE_BYTES) return MARGIN_OK;
    while (line > begin && line[-1] != '\n' && end - line <= MARGIN_MAX_LINE_BYTES)
        line--;
    if (end - line <= MARGIN_MAX_LINE_BYTES) return MARGIN_OK;
    return mg_fail_source(error, reader->source, begin - reader->source->text,
                          "from here on a line is longer than %lld bytes, which is the limit: is "
                          "this svmlight text?",
                          (long long)MARGIN_MAX_LINE_BYTES);
}

/* A block ends behind the first newline at or after the byte before its grid point. */
static margin_status cut_blocks(mg_svmlight *reader, margin_error *error) {
    const mg_source *source = reader->source;
    const int64_t bytes = block_bytes(source->length);
    reader->block_count = (source->length + bytes - 1) / bytes;
    MG_NEW(reader->context->heap, reader->blocks, reader->block_count, "the blocks of the text",
           error);
    const char *begin = source->text;
    for (int64_t b = 0; b < reader->block_count; b++) {
        const char *grid = source->text + MG_MIN((b + 1) * bytes, source->length), *end = begin;
        /* A line longer than a block leaves empty ones behind. */
        if (grid > begin) MG_TRY(find_line_end(reader, grid - 1, &end, error));
        MG_TRY(check_line(reader, begin, end, error));
        reader->blocks[b] = (mg_svmlight_block){.begin = begin, .end = end};
        begin = end;
    }
    return MARGIN_OK;
}

static margin_status count_task(void *argument, int64_t task, int worker) {
    mg_svmlight *reader = argument;
    mg_svmlight_block *block = &reader->blocks[task];
    const char *text = reader->source->text;
    (void)worker;
    reader->parser->count(block);
    mg_source_set_aside(reader->source, block->begin - text, block->end - text);
    return MARGIN_OK;
}

/* Gives every block its part of the arrays. */
static margin_status svmlight_make_room(mg_svmlight *reader, margin_error *error) {
    margin_table *table = reader->table;
    int64_t rows = 0, pairs = 0;
    for (int64_t b = 0; b < reader->block_count; b++) {
        rows += reader->blocks[b].row_room;
        pairs += reader->blocks[b].pair_room;
    }
    const margin_type type = reader->options.value_type == MARGIN_F32 ? MARGIN_F32 : MARGIN_F64;
    MG_TRY(mg_matrix_new_csr(table->heap, rows, 0, pairs, type, "the feature matrix", &table->x,
                             error));
    MG_NEW(table->heap, table->y, rows, "the labels", error);

    const margin_matrix *x = &table->x.view;
    const int64_t value_size = mg_type_size(type);
    int64_t *starts = (int64_t *)x->row_starts;
    starts[0] = 0;
    rows = pairs = 0;
    for (int64_t b = 0; b < reader->block_count; b++) {
        mg_svmlight_block *block = &reader->blocks[b];
        block->labels = table->y + rows;
        block->row_ends = starts + 1 + rows;
        block->columns = (int32_t *)x->column_indices + pairs;
        block->values = (char *)x->values + pairs * value_size;
        block->first_pair = pairs;
        rows += block->row_room;
        pairs += block->pair_room;
    }
    return MARGIN_OK;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* What a message says before and behind the word that it quotes. */
static const char *const sentences[][2] = {
    [MG_SVMLIGHT_NO_LABEL] = {"the line begins with '",
                              "' and not with a label; put one in front, 0 if it is not known"},
    [MG_SVMLIGHT_SEVERAL_LABELS] = {"'", "' is a list of labels; a row must have one"},
    [MG_SVMLIGHT_LABEL_NAME] = {"label '",
                                "' is not a number, but the model was trained on numbers"},
    [MG_SVMLIGHT_LABEL_INEXACT] = {"label '",
                                   "' is a whole number beyond 2^53, which no number of the model "
                                   "can be exactly; correct it"},
    [MG_SVMLIGHT_LABEL_INFINITE] = {"label '", "' is infinite or too large; labels are finite "
                                               "numbers or names"},
    [MG_SVMLIGHT_LABEL_MISSING] = {"the label '", "' is missing"},
    [MG_SVMLIGHT_NO_PAIR] = {"'", "' is not of the form index:value"},
    [MG_SVMLIGHT_INDEX_ZERO] = {"index ", " in a file that is to count from 1, as was said or as "
                                          "that of the model did; say that it counts from 0 or "
                                          "correct it"},
    [MG_SVMLIGHT_INDEX_LARGE] = {"index ", " is beyond the limit of 2147483646"},
    [MG_SVMLIGHT_INDEX_REPEATED] = {"index ", " is there twice in this line"},
    [MG_SVMLIGHT_INDEX_DESCENDS] = {"index ", " follows a larger one; the indices of a line must "
                                              "ascend"},
    [MG_SVMLIGHT_NO_VALUE] = {"'", "' is not a number"},
    [MG_SVMLIGHT_VALUE_INFINITE] = {"'", "' is infinite or too large; the largest "},
    [MG_SVMLIGHT_VALUE_MISSING] = {"the value '", "' is missing"}};

/* Bytes of the word at `place`, for messages. */
static int word_length(const mg_source *source, const char *place, const char *stops) {
    const char *end = source->text + source->length;
    int length = 0;
    while (place + length < end && length < SHOWN_BYTES && place[length] != 0 &&
           strchr(stops, place[length]) == NULL)
        length++;
    return length;
}

static margin_status fail_block(const mg_svmlight *reader, const mg_svmlight_block *block,
                                margin_error *error) {
    const mg_source *source = reader->source;
    const mg_svmlight_fault fault = block->fault;
    const bool in_index = fault > MG_SVMLIGHT_NO_PAIR && fault <= MG_SVMLIGHT_INDEX_DESCENDS;
    const char *largest = "";
    MG_REQUIRE(fault != MG_SVMLIGHT_CHANGED, error, MARGIN_ERROR_FILE,
               "%s changed while it was being read: read it again once it is complete",
               source->name);
    MG_TRY(mg_source_restore(source, error)); /* the message quotes it */
    const int64_t offset = block->place - source->text;
    const int shown = word_length(source, block->place,
                                  in_index                       ? ":"
                                  : fault == MG_SVMLIGHT_NO_PAIR ? " \t\r\n"
                                                                 : " \t\r\n#");
    if (fault == MG_SVMLIGHT_NO_VALUE && shown == 0)
        return mg_fail_source(error, source, offset, "there is no number behind the colon");
    if (fault == MG_SVMLIGHT_VALUE_INFINITE)
        largest = reader->options.value_type == MARGIN_F32 ? "f32 is 3.4e38" : "f64 is 1.8e308";
    return mg_fail_source(error, source, offset, "%s%.*s%s%s", sentences[fault][0], shown,
                          block->place, sentences[fault][1], largest);
}

static margin_status fail_parse(const mg_svmlight *reader, const mg_svmlight_block *block,
                                margin_error *error) {
    const margin_status status = fail_block(reader, block, error);
    if (error &&
        (block->fault == MG_SVMLIGHT_LABEL_MISSING || block->fault == MG_SVMLIGHT_VALUE_MISSING))
        error->cause = MARGIN_CAUSE_MISSING_VALUE;
    return status;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static margin_status parse_task(void *argument, int64_t task, int worker) {
    mg_svmlight *reader = argument;
    mg_svmlight_block *block = &reader->blocks[task];
    const char *text = reader->source->text;
    if (reader->options.value_type == MARGIN_F32)
        reader->parser->parse_f32(&reader->rules, block);
    else
        reader->parser->parse_f64(&reader->rules, block);
    if (block->fault != MG_SVMLIGHT_FINE) return MARGIN_ERROR_FORMAT;
    if (reader->rules.labels == MG_SVMLIGHT_NUMBERS_ELSE && block->named_label)
        return MARGIN_ERROR_FORMAT;
    /* The places of labels are looked at later. */
    if (reader->rules.labels != MG_SVMLIGHT_PLACES)
        mg_source_done(reader->source, block->begin - text, block->end - text);
    if (worker == 0)
        mg_progress(reader->context, "reading", (double)(block->end - text),
                    (double)reader->source->length, (double)NAN);
    return MARGIN_OK;
}

static void reset_blocks(mg_svmlight *reader) {
    for (int64_t b = 0; b < reader->block_count; b++) {
        mg_svmlight_block *block = &reader->blocks[b];
        block->rows = block->pairs = 0;
        block->rows_dropped = block->missing = block->unlabelled = 0;
        block->query_ids = block->named_label = false;
        block->fault = MG_SVMLIGHT_FINE;
    }
}

/* The first block that was given up, if any, ends the reading. A name among the labels makes all
 * labels names, which takes a second round. */
static margin_status parse_blocks(mg_svmlight *reader, margin_error *error) {
    for (;;) {
        reset_blocks(reader);
        const margin_status status =
            mg_parallel(reader->context, reader->block_count, parse_task, reader, NULL);
        if (status == MARGIN_OK) return MARGIN_OK;
        if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
        const mg_svmlight_block *block = reader->blocks;
        while (block->fault == MG_SVMLIGHT_FINE && !block->named_label)
            block++;
        if (block->fault != MG_SVMLIGHT_FINE) return fail_parse(reader, block, error);
        reader->rules.labels = MG_SVMLIGHT_PLACES;
        MG_TRY(mg_source_restore(reader->source, error));
    }
}

/* Moves the blocks together where fewer rows and pairs came than there was room for. */
static void join_blocks(mg_svmlight *reader) {
    margin_table *table = reader->table;
    margin_matrix *x = &table->x.view;
    const int64_t value_size = mg_type_size(x->value_type);
    int32_t *columns = (int32_t *)x->column_indices;
    int64_t *row_ends = (int64_t *)x->row_starts + 1;
    int64_t rows = 0, pairs = 0;
    for (int64_t b = 0; b < reader->block_count; b++) {
        const mg_svmlight_block *block = &reader->blocks[b];
        const int64_t shift = block->first_pair - pairs;
        if (shift > 0) {
            memmove(columns + pairs, block->columns, (size_t)block->pairs * sizeof *columns);
            memmove((char *)x->values + pairs * value_size, block->values,
                    (size_t)(block->pairs * value_size));
            for (int64_t i = 0; i < block->rows; i++)
                block->row_ends[i] -= shift;
        }
        if (block->labels > table->y + rows) {
            memmove(table->y + rows, block->labels, (size_t)block->rows * sizeof *table->y);
            memmove(row_ends + rows, block->row_ends, (size_t)block->rows * sizeof *row_ends);
        }
        rows += block->rows;
        pairs += block->pairs;
    }
    x->rows = rows;
}

static void sum_up(mg_svmlight *reader) {
    margin_table_details *details = &reader->table->details;
    reader->first_index = INT64_MAX;
    reader->last_index = -1;
    for (int64_t b = 0; b < reader->block_count; b++) {
        const mg_svmlight_block *block = &reader->blocks[b];
        details->rows_dropped += block->rows_dropped;
        details->missing += block->missing;
        reader->first_index = MG_MIN(reader->first_index, block->first_index);
        reader->last_index = MG_MAX(reader->last_index, block->last_index);
        if (reader->unlabelled == 0) reader->first_unlabelled = block->first_unlabelled;
        reader->unlabelled += block->unlabelled;
        reader->named_label |= block->named_label;
        reader->query_ids |= block->query_ids;
    }
}

static margin_status svmlight_check_rows(const mg_svmlight *reader, margin_error *error) {
    const margin_table *table = reader->table;
    MG_REQUIRE(table->x.view.rows > 0 || table->details.rows_dropped == 0, error, MARGIN_ERROR_DATA,
               "%s: every row has a missing value; none is left", table->name);
    MG_REQUIRE(table->x.view.rows > 0, error, MARGIN_ERROR_DATA, "%s has no rows", table->name);
    const bool all_alike = reader->unlabelled == 0 || reader->unlabelled == table->x.view.rows;
    if (all_alike || reader->rules.labels == MG_SVMLIGHT_SKIPPED) return MARGIN_OK;
    return mg_fail_source(error, reader->source, reader->first_unlabelled - reader->source->text,
                          "the line has no label, but others have; give it one, 0 if it is not "
                          "known");
}

/* ---- The reader ------------------------------------------------------------------------------ */

static const mg_svmlight_parser *choose_parser(void) {
#if defined(__x86_64__)
    if (mg_isa_level() >= MG_ISA_AVX2) return &mg_svmlight_avx2;
#endif
    return &mg_svmlight_portable;
}

static mg_svmlight_labels label_rule(const margin_read_options *options) {
    const margin_column *expected = options->expected_target;
    if (options->target != NULL && *options->target == 0) return MG_SVMLIGHT_SKIPPED;
    if (mg_expected_targets(options) > 1) return MG_SVMLIGHT_SKIPPED; /* columns are */
    if (options->target_optional == 2) return MG_SVMLIGHT_SKIPPED;
    if (expected == NULL) return MG_SVMLIGHT_NUMBERS_ELSE;
    return expected->kind == MARGIN_CATEGORICAL ? MG_SVMLIGHT_PLACES : MG_SVMLIGHT_NUMBERS;
}

static margin_status read_rows(mg_svmlight *reader, margin_error *error) {
    MG_TRY(cut_blocks(reader, error));
    MG_TRY(mg_parallel(reader->context, reader->block_count, count_task, reader, error));
    MG_TRY(svmlight_make_room(reader, error));
    MG_TRY(parse_blocks(reader, error));
    join_blocks(reader);
    sum_up(reader);
    return svmlight_check_rows(reader, error);
}

static margin_status fill_table(mg_svmlight *reader, margin_error *error) {
    mg_column_plan label;
    MG_TRY(read_rows(reader, error));
    MG_TRY(mg_svmlight_columns(reader, &label, error));
    MG_TRY(mg_svmlight_target(reader, &label, error));
    if (reader->query_ids)
        mg_log(reader->context, MARGIN_LOG_NOTE, "%s: the query ids (qid) were not read",
               reader->source->name);
    return MARGIN_OK;
}

/* As told, else as in the file of the model: one row need not have the index 0 that tells it. */
static int index_base(const mg_svmlight *reader) {
    const margin_read_options *options = &reader->options;
    const int told = options->index_base;
    const int expected = options->expected_count > 0 ? options->expected[0].index_base : 0;
    if (told && expected && told != expected)
        mg_log(reader->context, MARGIN_LOG_NOTE,
               "%s: indices are taken to count from %d, as told, and those of the file that the "
               "model was trained on counted from %d",
               reader->source->name, told > 0, expected > 0);
    return told ? told : expected;
}

static margin_status read_svmlight(margin_context *context, mg_source *source,
                                   const margin_read_options *options, margin_table **table,
                                   margin_error *error) {
    mg_svmlight reader = {.context = context, .source = source, .parser = choose_parser()};
    if (options != NULL) reader.options = *options;
    const int told_base = index_base(&reader);
    reader.rules = (mg_svmlight_rules){.text = source->text,
                                       .base = told_base < 0 ? 0 : 1,
                                       .zero_index = told_base <= 0,
                                       .missing = reader.options.missing,
                                       .label_required = mg_target_is_required(&reader.options),
                                       .labels = label_rule(&reader.options)};
    reader.rules.label_optional =
        reader.options.target_optional || reader.rules.labels == MG_SVMLIGHT_SKIPPED;
    margin_status status;
    MG_GO(mg_table_new(context->heap, source->name, &reader.table, error));
    reader.table->details.format = MARGIN_FORMAT_SVMLIGHT;
    MG_GO(fill_table(&reader, error));
    *table = reader.table;
    reader.table = NULL;
done:
    margin_table_free(reader.table);
    mg_free(context->heap, reader.blocks);
    return status;
}

static const char *const endings[] = {".svm", ".libsvm", ".svmlight", NULL};
const mg_reader mg_reader_svmlight = {MARGIN_FORMAT_SVMLIGHT, "svmlight", endings, read_svmlight};
