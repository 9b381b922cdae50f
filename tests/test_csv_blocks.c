/* The CSV reader as a machine: any block size, any number of threads, any instruction set give the
 * same bytes; random tables come back as they were written; memory, limits, cancelling. */
#include "support/support.h"

#include "base/context.h"
#include "data/csv/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- A growing text ------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t length, capacity;
} writer;

static void add_bytes(writer *w, const char *bytes, size_t count) {
    if (count == 0) return;
    if (w->length + count > w->capacity) {
        w->capacity = 2 * (w->length + count);
        w->text = realloc(w->text, w->capacity);
        assert_non_null(w->text);
    }
    memcpy(w->text + w->length, bytes, count);
    w->length += count;
}

static void add(writer *w, const char *string) {
    add_bytes(w, string, strlen(string));
}

static void add_number(writer *w, const char *format, double value) {
    char text[400];
    snprintf(text, sizeof text, format, value);
    add(w, text);
}

/* ---- Reading with forced blocks ------------------------------------------------------------- */

static margin_status read_blocks(margin_context *context, const writer *w, int64_t block_bytes,
                                 const margin_read_options *options, margin_table **table,
                                 margin_error *error) {
    mg_source source;
    margin_status status =
        mg_source_memory(context, w->text, (int64_t)w->length, "t.csv", &source, error);
    if (status < 0) return status;
    status = mg_csv_read(context, &source, options, block_bytes, table, error);
    mg_source_close(&source);
    return status;
}

static bool same_bytes(const margin_vector *a, const margin_vector *b) {
    if (!a->values || !b->values) return a->values == b->values;
    return a->count == b->count &&
           memcmp(a->values, b->values, (size_t)a->count * sizeof(double)) == 0;
}

static void assert_same_column(const margin_column *a, const margin_column *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->category_count, b->category_count);
    for (int64_t k = 0; k < a->category_count; k++)
        assert_string_equal(a->categories[k], b->categories[k]);
}

static void assert_same_tables(const margin_table *a, const margin_table *b) {
    margin_data x = margin_table_data(a), y = margin_table_data(b);
    assert_int_equal(x.x.rows, y.x.rows);
    assert_int_equal(x.x.columns, y.x.columns);
    assert_int_equal(x.x.value_type, y.x.value_type);
    size_t bytes = (size_t)(x.x.rows * x.x.columns) * (x.x.value_type == MARGIN_F32 ? 4 : 8);
    assert_memory_equal(x.x.values, y.x.values, bytes);
    assert_true(same_bytes(&x.y, &y.y));
    assert_true(same_bytes(&x.weights, &y.weights));
    for (int64_t j = 0; j < x.x.columns; j++)
        assert_same_column(&x.columns[j], &y.columns[j]);
    assert_int_equal(x.target != NULL, y.target != NULL);
    if (x.target) assert_same_column(x.target, y.target);
    margin_table_details p = table_details(a), q = table_details(b);
    assert_int_equal(p.missing, q.missing);
    assert_int_equal(p.unknown_categories, q.unknown_categories);
    assert_int_equal(p.rows_dropped, q.rows_dropped);
}

/* Reads with many block sizes, thread counts and both instruction sets; all outcomes, errors too,
 * must be those of one large block. Returns that table, or NULL if it was refused. */
static margin_table *read_all_ways(const writer *w, margin_read_options options,
                                   margin_error *error) {
    static const int64_t sizes[] = {1, 2, 3, 13, 63, 64, 65, 127, 1000, 4095, 4096, 5000, 70000};
    margin_context *one = support_context(NULL, 1);
    margin_table *wanted = NULL;
    options.size = sizeof options;
    margin_status status = read_blocks(one, w, INT64_C(1) << 40, &options, &wanted, error);
    for (int threads = 1; threads <= 4; threads += 3) {
        margin_context *context = support_context(NULL, threads);
        for (int ref = 0; ref < 2; ref++) {
            if (ref)
                setenv("MARGIN_ISA", "ref", 1);
            else
                unsetenv("MARGIN_ISA");
            for (int k = 0; k < MG_LENGTH(sizes); k++) {
                if (w->length / (size_t)sizes[k] > 20000) continue;
                margin_table *found = NULL;
                margin_error also = {0};
                assert_int_equal(read_blocks(context, w, sizes[k], &options, &found, &also),
                                 status);
                if (status < 0) {
                    assert_string_equal(also.text, error->text);
                    assert_int_equal(also.line, error->line);
                    assert_int_equal(also.row, error->row);
                    continue;
                }
                assert_same_tables(wanted, found);
                margin_table_free(found);
            }
        }
        margin_context_free(context);
    }
    unsetenv("MARGIN_ISA");
    margin_context_free(one);
    return wanted;
}

static void assert_reads_all_ways(const writer *w, margin_read_options options) {
    margin_error error = {0};
    margin_table *table = read_all_ways(w, options, &error);
    if (!table) fail_msg("%s", error.text);
    margin_table_free(table);
}

/* ---- Torture -------------------------------------------------------------------------------- */

/* Everything at once: CRLF and LF, quoted separators and newlines, doubled quotes, blank lines of
 * all kinds at all distances, missing values, no last newline. */
static void write_torture(writer *w, int rows, uint64_t seed) {
    static const char *const texts[] = {
        "plain", " padded ", "\"a,b\"", "\"two\nlines\"", "\"\"\"q\"\"\"", "\"\r\n\r\n\"",
        "'it'",  "",         "?",       "\"\"",           "caf\xe9",       "\"\n\n,\"\"\n\""};
    static const char *const numbers[] = {"1", "-2.5", " 3e5 ",  "\"4\"",
                                          "",  "NA",   "1e-300", "0.1234567890123456789"};
    static const char *const ends[] = {"\n", "\r\n", "\n\n", "\r\n\r\n\n", "\n\n\n\n\n\r\n"};
    uint64_t state = seed;
    add(w, "\xef\xbb\xbf# note \"\nn,\"t,\",m,u\n");
    for (int i = 0; i < rows; i++) {
        add(w, numbers[support_random(&state) % 8]);
        add(w, ",");
        add(w, texts[support_random(&state) % 12]);
        add(w, ",");
        add(w, numbers[support_random(&state) % 8]);
        add(w, ",");
        add(w, texts[support_random(&state) % 12]);
        if (i + 1 < rows) add(w, ends[support_random(&state) % 5]);
    }
}

static void torture_is_the_same_in_all_blocks(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        writer w = {0};
        write_torture(&w, seed < 4 ? 40 : 1500, seed);
        assert_reads_all_ways(&w, (margin_read_options){.target = "", .separator = ','});
        assert_reads_all_ways(&w, (margin_read_options){.target = "2",
                                                        .separator = ',',
                                                        .value_type = MARGIN_F32,
                                                        .missing = MARGIN_MISSING_DROP});
        assert_reads_all_ways(
            &w, (margin_read_options){.target = "", .separator = ',', .ignore = "2,4"});
        free(w.text);
    }
}

static void errors_are_the_same_in_all_blocks(void **unused) {
    (void)unused;
    static const char *const faults[] = {"1,x\n", "1,x,2,y,3\n", "1,a\"b,2,c\n",  "1,\"x,2,y\n",
                                         "\n1\n", ",,,,\n",      "1,\"a\"b,2,c\n"};
    for (int fault = 0; fault < MG_LENGTH(faults); fault++) {
        for (int place = 0; place < 3; place++) {
            writer w = {0};
            margin_error error = {0};
            write_torture(&w, 1 + 60 * place, 77);
            add(&w, "\n");
            add(&w, faults[fault]);
            if (place < 2) add(&w, "5,b,6,c\n\n7,d,8,e\n");
            margin_table *table =
                read_all_ways(&w, (margin_read_options){.target = "", .separator = ','}, &error);
            assert_null(table);
            assert_true(error.line > 1);
            free(w.text);
        }
    }
}

static void the_first_missing_value_is_named_in_all_blocks(void **unused) {
    (void)unused;
    writer w = {0};
    margin_error error = {0};
    for (int i = 0; i < 500; i++)
        add(&w, i % 100 == 99 ? "1,\n" : "1,2\n");
    assert_null(read_all_ways(&w,
                              (margin_read_options){.target = "",
                                                    .header = MARGIN_HEADER_NO,
                                                    .missing = MARGIN_MISSING_ERROR},
                              &error));
    assert_int_equal(error.line, 100);
    assert_int_equal(error.row, 100);
    free(w.text);
}

/* ---- Types that show late ------------------------------------------------------------------- */

/* The reader looks at some rows at the beginnings of its blocks, which for such a file are 64 KB
 * apart. There it finds numbers, texts only later: as many as pass for categories. */
static bool out_of_sight(const writer *w) {
    return w->length % (1 << 16) > (1 << 13);
}

static void a_text_that_comes_late_changes_the_type(void **unused) {
    (void)unused;
    writer w = {0};
    for (int i = 0; i < 30000; i++) {
        bool late = out_of_sight(&w) && i % 3;
        add(&w, late ? "k" : "");
        add_number(&w, "%.0f", i % 90);
        add(&w, i % 777 == 5 ? ",\n" : ",2.5\n");
    }
    margin_read_options options = {.target = "", .header = MARGIN_HEADER_NO};
    margin_error error = {0};
    margin_table *table = read_all_ways(&w, options, &error);
    assert_non_null(table);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.columns[0].kind, MARGIN_CATEGORICAL);
    assert_int_equal(data.columns[0].category_count, 150);
    assert_string_equal(data.columns[0].categories[149], "k89");
    assert_int_equal(data.columns[1].kind, MARGIN_NUMERIC);
    assert_int_equal(table_details(table).missing, 39);
    /* As if it had been told. */
    options.categorical = "1";
    options.size = sizeof options;
    margin_context *context = support_context(NULL, 2);
    margin_table *told = NULL;
    assert_int_equal(read_blocks(context, &w, 0, &options, &told, NULL), MARGIN_OK);
    assert_same_tables(table, told);
    margin_table_free(table);
    margin_table_free(told);
    margin_context_free(context);
    free(w.text);
}

static void a_late_type_in_gzip_is_read_again(void **unused) {
    (void)unused;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    writer w = {0};
    for (int i = 0; i < 60000; i++)
        add(&w, out_of_sight(&w) && i % 3 ? "x,1.5\n" : "7,2.5\n");
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%.900s/late.csv.gz", dir);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, w.text, (unsigned)w.length), w.length);
    gzclose(file);
    margin_context *context = support_context(NULL, 3);
    margin_read_options options = {
        .size = sizeof options, .target = "", .header = MARGIN_HEADER_NO};
    margin_table *packed = NULL, *plain = NULL;
    margin_error error;
    assert_int_equal(margin_table_read(context, path, &options, &packed, &error), MARGIN_OK);
    assert_int_equal(read_blocks(context, &w, 0, &options, &plain, &error), MARGIN_OK);
    assert_same_tables(packed, plain);
    margin_table_free(packed);
    margin_table_free(plain);
    /* And for the line of an error. */
    file = gzopen(path, "ab");
    gzputs(file, "1,2,3\n");
    gzclose(file);
    assert_int_equal(margin_table_read(context, path, &options, &packed, &error),
                     MARGIN_ERROR_FORMAT);
    assert_int_equal(error.line, 60001);
    margin_context_free(context);
    support_temp_remove(dir);
    free(w.text);
}

/* ---- A text that changes between the passes -------------------------------------------------- */

/* One block said to hold `rows` rows of two numbers; room for `rows` of them and not a byte more.
 */
static mg_csv_reason parse_claimed(const mg_csv_kernels *kernels, const char *text, int64_t rows) {
    enum { GUARD = 64 };
    const int64_t length = (int64_t)strlen(text);
    char *guarded = calloc(1, (size_t)length + 2 * GUARD);
    memcpy(guarded + GUARD, text, (size_t)length);
    double *values = malloc((size_t)rows * 2 * sizeof *values);
    mg_csv_column columns[2] = {{.feature = true, .cells = (char *)values, .step = 16},
                                {.feature = true, .cells = (char *)(values + 1), .step = 16}};
    const mg_csv_block blocks[2] = {{0, 0}, {length, rows}};
    mg_csv_result result = {.reason = MG_CSV_FINE};
    const mg_csv_pass pass = {.text = guarded + GUARD,
                              .end = length,
                              .separator = ',',
                              .counting = true,
                              .column_count = 2,
                              .columns = columns,
                              .blocks = blocks,
                              .results = &result};
    uint8_t misfits[2] = {0};
    mg_csv_worker worker = {.misfits = misfits,
                            .ends = calloc(MG_CSV_STEP + 64, sizeof *worker.ends)};
    kernels->parse(&pass, 0, &worker);
    free(worker.ends);
    free(values);
    free(guarded);
    return result.reason;
}

static void a_text_that_changes_between_the_passes_is_noticed(void **unused) {
    (void)unused;
    const mg_csv_kernels *kernels[] = {&mg_csv_kernels_ref, &mg_csv_kernels_ref};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) kernels[1] = &mg_csv_kernels_avx2;
#endif
    for (int k = 0; k < 2; k++) {
        assert_int_equal(parse_claimed(kernels[k], "1,2\n3,4\n5,6", 3), MG_CSV_FINE);
        assert_int_equal(parse_claimed(kernels[k], "1,2\n3,4\n5,6", 2), MG_CSV_CHANGED);
        assert_int_equal(parse_claimed(kernels[k], "1,2\n3,4\n5,6", 4), MG_CSV_CHANGED);
        assert_int_equal(parse_claimed(kernels[k], "1,2\n\n\n\n\n", 1), MG_CSV_FINE);
        assert_int_equal(parse_claimed(kernels[k], "1,2\n,", 1), MG_CSV_CHANGED);
    }
}

/* ---- Random tables -------------------------------------------------------------------------- */

enum { RANDOM_COLUMNS = 7, RANDOM_ROWS = 400 };

/* A number as text, and its value as libc reads it. */
static double add_random_number(writer *w, uint64_t *state) {
    static const char *const formats[] = {"%.17g", "%.3f", "%.0f", "%g", "%.9e", "%+.2f", "%.12g"};
    char text[400];
    double scale = pow(10, (double)(support_random(state) % 30) - 15);
    snprintf(text, sizeof text, formats[support_random(state) % 7], support_normal(state) * scale);
    bool quoted = support_random(state) % 10 == 0;
    if (quoted) add(w, "\"");
    add(w, text);
    if (quoted) add(w, "\"");
    return strtod(text, NULL);
}

static void quote(writer *w, const char *text) {
    add(w, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"') add(w, "\"");
        add_bytes(w, c, 1);
    }
    add(w, "\"");
}

static void random_tables_come_back(void **unused) {
    (void)unused;
    static const char *const words[] = {"a",
                                        "B b",
                                        "long text of more than sixteen bytes",
                                        "c,d",
                                        "e\n",
                                        "f\"g\"",
                                        "\xc3\xa9",
                                        "seventeen letters",
                                        "-",
                                        "."};
    uint64_t state = 5;
    for (int trial = 0; trial < 12; trial++) {
        writer w = {0};
        double values[RANDOM_ROWS][RANDOM_COLUMNS];
        const char *texts[RANDOM_ROWS];
        add(&w, "a,b,c,d,e,f,text\n");
        for (int i = 0; i < RANDOM_ROWS; i++) {
            for (int j = 0; j < RANDOM_COLUMNS - 1; j++) {
                bool missing = support_random(&state) % 20 == 0;
                values[i][j] = missing ? (double)NAN : add_random_number(&w, &state);
                add(&w, ",");
            }
            texts[i] = words[support_random(&state) % 10];
            quote(&w, texts[i]);
            add(&w, trial % 2 ? "\r\n" : "\n");
        }
        margin_error error = {0};
        margin_table *table =
            read_all_ways(&w, (margin_read_options){.target = "", .separator = ','}, &error);
        if (!table) fail_msg("%s", error.text);
        margin_data data = margin_table_data(table);
        assert_int_equal(data.x.rows, RANDOM_ROWS);
        const double *x = data.x.values;
        for (int i = 0; i < RANDOM_ROWS; i++, x += data.x.stride) {
            for (int j = 0; j < RANDOM_COLUMNS - 1; j++)
                assert_true(isnan(values[i][j]) ? isnan(x[j]) : x[j] == values[i][j]);
            assert_string_equal(data.columns[6].categories[(int)x[6]], texts[i]);
        }
        margin_table_free(table);
        free(w.text);
    }
}

/* ---- Size ----------------------------------------------------------------------------------- */

static void a_million_different_texts(void **unused) {
    SUPPORT_LARGE_CASE();
    (void)unused;
    enum { COUNT = 1000000 };
    writer w = {0};
    char line[40];
    for (int64_t i = 0; i < COUNT; i++) {
        int length = snprintf(line, sizeof line, "n%07lld,%lld\n",
                              (long long)((i * 7368787) % COUNT), (long long)(i % 3));
        add_bytes(&w, line, (size_t)length);
    }
    margin_context *context = support_context(NULL, 4);
    margin_read_options options = {
        .size = sizeof options, .target = "", .header = MARGIN_HEADER_NO};
    margin_table *table = NULL;
    margin_error error;
    if (read_blocks(context, &w, 0, &options, &table, &error) < 0) fail_msg("%s", error.text);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.columns[0].category_count, COUNT);
    const double *x = data.x.values;
    for (int64_t i = 0; i < COUNT; i++)
        assert_true(x[2 * i] == (double)((i * 7368787) % COUNT));
    /* Codes, texts and tables of up to four workers and their union: see dictionary.h. */
    assert_true(margin_context_peak_memory(context) < (int64_t)COUNT * 450);
    margin_table_free(table);
    margin_context_free(context);
    free(w.text);
}

static void many_columns(void **unused) {
    (void)unused;
    enum { COLUMNS = 30000 };
    writer w = {0};
    for (int row = 0; row < 4; row++)
        for (int j = 0; j < COLUMNS; j++) {
            add_number(&w, "%.0f", row * 10 + j % 7);
            add(&w, j + 1 < COLUMNS ? ";" : "\n");
        }
    margin_context *context = support_context(NULL, 2);
    margin_read_options options = {.size = sizeof options};
    margin_table *table = NULL;
    assert_int_equal(read_blocks(context, &w, 0, &options, &table, NULL), MARGIN_OK);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, 4);
    assert_int_equal(data.x.columns, COLUMNS - 1);
    assert_true(((const double *)data.x.values)[3 * data.x.stride + 20000] == 30 + 20000 % 7);
    assert_string_equal(data.target->name, "x30000");
    margin_table_free(table);
    margin_context_free(context);
    free(w.text);
}

static void too_many_columns_are_refused(void **unused) {
    (void)unused;
    writer w = {0};
    for (int j = 0; j <= MARGIN_MAX_CSV_COLUMNS; j++)
        add(&w, ",");
    margin_context *context = support_context(NULL, 2);
    margin_read_options options = {.size = sizeof options};
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(read_blocks(context, &w, 0, &options, &table, &error), MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "more than 1000000 columns");
    margin_context_free(context);
    free(w.text);
}

/* A row may reach over any number of blocks. */
static void a_cell_of_many_blocks(void **unused) {
    (void)unused;
    writer w = {0};
    add(&w, "a,b\n1,\"");
    for (int i = 0; i < 300000; i++)
        add(&w, i % 50 ? "x" : "\n");
    add(&w, "\"\n2,y\n");
    assert_reads_all_ways(&w, (margin_read_options){.target = "", .separator = ','});
    free(w.text);
}

/* ---- Failing -------------------------------------------------------------------------------- */

static margin_status read_small(margin_context *context, void *user, margin_error *error) {
    const writer *w = user;
    margin_table *table = NULL;
    margin_read_options options = {.size = sizeof options,
                                   .target = "2",
                                   .weights = "4",
                                   .ignore = "5",
                                   .missing = MARGIN_MISSING_DROP};
    margin_status status = read_blocks(context, w, 40, &options, &table, error);
    assert_int_equal(status == MARGIN_OK, table != NULL);
    margin_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    writer w = {0};
    /* Categories, a column whose type shows late, doubled quotes, Latin-1, repeated names. */
    add(&w, "a,a,b,w,u\n");
    for (int i = 0; i < 40; i++)
        add(&w, i < 20 ? "1,x,\"q\"\"\",1,z\n" : "k,caf\xe9,,2,z\n");
    for (int i = 0; i < 10; i++)
        add(&w, "2,y,v,3,z\n");
    assert_true(support_fail_each_allocation(1, read_small, &w) > 40);
    assert_true(support_fail_each_allocation(3, read_small, &w) > 40);
    free(w.text);
}

static void a_memory_limit_is_kept(void **unused) {
    (void)unused;
    writer w = {0};
    for (int i = 0; i < 50000; i++)
        add(&w, "1,2,3,4\n");
    margin_context_options with_limit = {.size = sizeof with_limit, .memory_limit = 1 << 20};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(margin_context_create(&with_limit, &context, NULL), MARGIN_OK);
    assert_int_equal(
        margin_table_parse(context, w.text, (int64_t)w.length, "t.csv", NULL, &table, &error),
        MARGIN_ERROR_LIMIT);
    assert_true(margin_context_peak_memory(context) <= 1 << 20);
    margin_context_free(context);
    free(w.text);
}

static int cancel_at_once(const margin_progress *progress, void *user) {
    (void)progress;
    ++*(int *)user;
    return 1;
}

static void reading_can_be_cancelled(void **unused) {
    (void)unused;
    writer w = {0};
    int calls = 0;
    for (int i = 0; i < 5000; i++)
        add(&w, "1,2,3,4\n");
    margin_context_options watched = {
        .size = sizeof watched, .progress = cancel_at_once, .user = &calls};
    margin_context *context = NULL;
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(margin_context_create(&watched, &context, NULL), MARGIN_OK);
    assert_int_equal(
        margin_table_parse(context, w.text, (int64_t)w.length, "t.csv", NULL, &table, &error),
        MARGIN_ERROR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_null(table);
    margin_context_free(context);
    free(w.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torture_is_the_same_in_all_blocks),
        cmocka_unit_test(errors_are_the_same_in_all_blocks),
        cmocka_unit_test(the_first_missing_value_is_named_in_all_blocks),
        cmocka_unit_test(a_text_that_comes_late_changes_the_type),
        cmocka_unit_test(a_late_type_in_gzip_is_read_again),
        cmocka_unit_test(a_text_that_changes_between_the_passes_is_noticed),
        cmocka_unit_test(random_tables_come_back),
        cmocka_unit_test(a_million_different_texts),
        cmocka_unit_test(many_columns),
        cmocka_unit_test(too_many_columns_are_refused),
        cmocka_unit_test(a_cell_of_many_blocks),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_memory_limit_is_kept),
        cmocka_unit_test(reading_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
