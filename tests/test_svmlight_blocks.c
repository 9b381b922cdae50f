/* svmlight text of many blocks: a plain second reader written with strtod, sameness over
 * instruction sets, threads and block borders, packed files, public data sets. */
#include "support/support.h"

#include "base/context.h"
#include "data/source/source.h"
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support/group_context.h"

static margin_status read_bytes(margin_context *in, const char *text, size_t length,
                                const margin_read_options *options, margin_table **table,
                                margin_error *error) {
    mg_source source;
    margin_status status = mg_source_memory(in, text, (int64_t)length, "f.svm", &source, error);
    if (status < 0) return status;
    status = mg_reader_svmlight.read(in, &source, options, table, error);
    mg_source_close(&source);
    return status;
}

/* ---- A second reader ------------------------------------------------------------------------- */

typedef struct made_text {
    char *text;
    size_t length;
    int64_t rows, pairs;
    double *labels, *values;
    int32_t *columns;
    int64_t *starts;
} made_text;

static int below(uint64_t *state, int bound) {
    return (int)(support_random(state) % (uint64_t)bound);
}

static char *put_number(char *out, uint64_t *state) {
    const double x = support_normal(state) * 100;
    switch (below(state, 6)) {
    case 0:
        out += sprintf(out, "%d", below(state, 1000));
        break;
    case 1:
        out += sprintf(out, "%.17g", x);
        break;
    case 2:
        out += sprintf(out, "%+.25e", x);
        break;
    case 3:
        out += sprintf(out, "%.3e", x * 1e-9);
        break;
    case 4:
        out += sprintf(out, "%.6f", x);
        break;
    default:
        out += sprintf(out, "%g", x);
    }
    return out;
}

static char *put_blank(char *out, uint64_t *state, bool noisy) {
    if (!noisy || below(state, 10) != 0) {
        *out++ = ' ';
        return out;
    }
    for (int k = below(state, 4); k >= 0; k--)
        *out++ = " \t"[below(state, 2)];
    return out;
}

/* A text of `rows` rows and what is in it, told by strtod. `noisy`: with everything the format
 * allows between them. */
static made_text make_text(int64_t rows, int most_pairs, bool noisy, uint64_t seed) {
    const int64_t pairs = rows * most_pairs;
    made_text made = {.rows = rows,
                      .text = malloc((size_t)(rows * 200 + pairs * 64)),
                      .labels = malloc((size_t)rows * sizeof(double)),
                      .values = malloc((size_t)(pairs + 1) * sizeof(double)),
                      .columns = malloc((size_t)(pairs + 1) * sizeof(int32_t)),
                      .starts = malloc((size_t)(rows + 1) * sizeof(int64_t))};
    assert_true(made.text && made.labels && made.values && made.columns && made.starts);
    uint64_t state = seed;
    char *out = made.text;
    for (int64_t i = 0; i < rows; i++) {
        while (noisy && below(&state, 20) == 0)
            out += sprintf(out, "%s", below(&state, 2) ? "# 7:7 : not: a row\n" : " \t\r\n");
        made.starts[i] = made.pairs;
        made.labels[i] = below(&state, 100) / 4.0;
        out += sprintf(out, "%g", made.labels[i]);
        if (noisy && below(&state, 30) == 0) out += sprintf(out, " qid:%d", below(&state, 99));
        int32_t index = 0;
        for (int k = below(&state, most_pairs + 1); k > 0; k--) {
            index += 1 + below(&state, k % 7 == 0 ? 1000000 : 3);
            out = put_blank(out, &state, noisy);
            out += sprintf(out, "%d:", (int)index);
            char *number = out;
            out = put_number(out, &state);
            *out = 0;
            made.values[made.pairs] = strtod(number, NULL);
            made.columns[made.pairs++] = index - 1;
        }
        if (noisy && below(&state, 10) == 0) out += sprintf(out, " # 1:2");
        if (noisy && below(&state, 10) == 0) out += sprintf(out, "\r");
        if (i + 1 < rows || below(&state, 2) == 0) *out++ = '\n';
    }
    made.starts[rows] = made.pairs;
    made.length = (size_t)(out - made.text);
    return made;
}

static void free_made(made_text *made) {
    free(made->text);
    free(made->labels);
    free(made->values);
    free(made->columns);
    free(made->starts);
}

static void assert_same_as_made(const margin_table *table, const made_text *made) {
    const margin_matrix *x = &table->x.view;
    assert_int_equal(x->rows, made->rows);
    assert_memory_equal(x->row_starts, made->starts, (size_t)(made->rows + 1) * sizeof(int64_t));
    if (made->pairs > 0) {
        assert_memory_equal(x->column_indices, made->columns,
                            (size_t)made->pairs * sizeof(int32_t));
        assert_memory_equal(x->values, made->values, (size_t)made->pairs * sizeof(double));
    }
    assert_memory_equal(table->y, made->labels, (size_t)made->rows * sizeof(double));
}

static void assert_made_reads(const made_text *made, int threads) {
    margin_context *own = support_context(NULL, threads);
    const margin_read_options options = {.svmlight_columns = 1};
    margin_table *table = NULL;
    margin_error error;
    if (read_bytes(own, made->text, made->length, &options, &table, &error) < 0)
        fail_msg("%s", error.text);
    assert_same_as_made(table, made);
    margin_table_free(table);
    margin_context_free(own);
}

/* Many blocks, quiet and noisy, plain C and the best instruction set, one thread and several. */
static void large_texts_read_like_strtod(void **unused) {
    (void)unused;
    for (int round = 0; round < 6; round++) {
        made_text made = make_text(6000, round % 3 == 0 ? 3 : 25, round >= 2, 11 + (unsigned)round);
        assert_made_reads(&made, 4);
        setenv("MARGIN_ISA", "ref", 1);
        assert_made_reads(&made, 1);
        unsetenv("MARGIN_ISA");
        free_made(&made);
    }
}

/* Block borders at every place of a line, and lines longer than blocks. */
static void block_borders_do_not_matter(void **unused) {
    (void)unused;
    made_text made = make_text(2500, 12, true, 21);
    assert_true(made.length > 2 * 65536);
    char *shifted = malloc(made.length + 400);
    assert_non_null(shifted);
    for (size_t shift = 1; shift < 120; shift += 3) {
        memset(shifted, '#', shift);
        shifted[shift - 1] = '\n';
        memcpy(shifted + shift, made.text, made.length);
        made_text moved = made;
        moved.text = shifted;
        moved.length += shift;
        assert_made_reads(&moved, 2);
    }
    free(shifted);
    free_made(&made);
    for (int rows = 1; rows < 8; rows++) {
        made = make_text(rows, 12000, false, 30 + (unsigned)rows);
        assert_made_reads(&made, 2);
        free_made(&made);
    }
}

static void the_first_mistake_is_reported(void **unused) {
    (void)unused;
    made_text made = make_text(20000, 20, true, 41);
    int64_t line = 1;
    char *place = made.text;
    for (int64_t k = 0; k < 9000; k++, line++)
        place = strchr(place, '\n') + 1;
    /* Two spoilt lines in different blocks; whichever thread is first, the upper one counts. */
    char *second = strchr(made.text + made.length - 3000, '\n') + 1;
    *place = '@', place[1] = ',';
    *second = '@', second[1] = ',';
    char expected[100];
    sprintf(expected, "f.svm:%lld:1: '@,", (long long)line);
    for (int k = 0; k < 5; k++) {
        margin_table *table;
        margin_error error;
        assert_int_equal(read_bytes(context, made.text, made.length, NULL, &table, &error),
                         MARGIN_ERROR_FORMAT);
        assert_contains(error.text, expected);
        assert_int_equal(error.line, line);
    }
    free_made(&made);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Packed text cannot be looked at twice without inflating it again; a name among the last labels
 * and a mistake both need that. */
static void packed_texts(void **unused) {
    (void)unused;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 8];
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%s/a.gz", dir);
    made_text made = make_text(30000, 10, false, 51);
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        gzFile file = gzopen(path, "wb1");
        assert_int_equal(gzwrite(file, made.text, (unsigned)made.length), made.length);
        assert_true(gzputs(file, spoilt ? "\nname 1:1\n1 1:x\n" : "\nname 1:1\n") > 0);
        assert_int_equal(gzclose(file), Z_OK);
        mg_source source;
        margin_error error;
        margin_table *table = NULL;
        assert_int_equal(mg_source_open(context, path, NULL, &source, &error), MARGIN_OK);
        const margin_status status =
            mg_reader_svmlight.read(context, &source, NULL, &table, &error);
        mg_source_close(&source);
        if (spoilt) {
            assert_int_equal(status, MARGIN_ERROR_FORMAT);
            assert_contains(error.text, ": 'x' is not a number");
        } else {
            assert_int_equal(status, MARGIN_OK);
            assert_int_equal(table->x.view.rows, made.rows + 1);
            assert_int_equal(table->target.items[0].category_count, 101);
            const double last = table->y[made.rows];
            assert_string_equal(table->target.items[0].categories[(int)last], "name");
            margin_table_free(table);
        }
    }
    free_made(&made);
    support_temp_remove(dir);
}

static void public_data_sets(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int64_t rows, columns, pairs;
        double label;
        int64_t with_label;
    } sets[] = {{"libsvm/heart_scale", 270, 13, 3378, 1, 120},
                {"libsvm/svmguide1", 3089, 4, 12356, 1, 2000},
                {"libsvm/svmguide1.t", 4000, 4, 16000, 0, 2000},
                {"libsvm/a9a", 32561, 123, 451592, 1, 7841},
                {"libsvm/a9a.t", 16281, 122, 225731, 1, 3846},
                {"libsvm/agaricus.txt.train", 6513, 126, 143286, 1, 3140},
                {"libsvm/agaricus.txt.test", 1611, 126, 35442, 0, 835}};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        char path[SUPPORT_PATH];
        mg_source source;
        margin_error error;
        margin_table *table;
        SUPPORT_DATA_OR_SKIP(path, sets[k].name);
        assert_int_equal(mg_source_open(context, path, NULL, &source, &error), MARGIN_OK);
        assert_int_equal(mg_reader_svmlight.read(context, &source, NULL, &table, &error),
                         MARGIN_OK);
        mg_source_close(&source);
        assert_int_equal(table->x.view.rows, sets[k].rows);
        assert_int_equal(table->x.view.columns, sets[k].columns);
        assert_int_equal(mg_row_start(&table->x.view, sets[k].rows), sets[k].pairs);
        int64_t with_label = 0;
        for (int64_t i = 0; i < sets[k].rows; i++)
            with_label += table->y[i] == sets[k].label;
        assert_int_equal(with_label, sets[k].with_label);
        margin_table_free(table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_texts_read_like_strtod),
        cmocka_unit_test(block_borders_do_not_matter),
        cmocka_unit_test(the_first_mistake_is_reported),
        cmocka_unit_test(packed_texts),
        cmocka_unit_test(public_data_sets),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
