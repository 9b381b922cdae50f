/* tests/results.csv against what comes out now.
 *
 *   test_results             compares, and prints every row that differs
 *   test_results --rewrite   writes the file anew, for a change that is meant
 *
 * The first four fields of a row are the question: spec, data set (made_data.c), dense or csr, f64
 * or f32. A row that has only these gets its answer by --rewrite. The kernels are those of plain C,
 * so that every build with the same exp, log and LAPACK has the same bits; the first line of the
 * file says which. With others only status, objective and proof are compared. */
#include "made_data.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FILE_NAME[] = "tests/results.csv";
static const uint64_t HASH_START = 0xcbf29ce484222325u;
static const char HEADER[] =
    "spec,data,layout,type,status,objective,gap,iterations,support,nonzero,"
    "score,proof,model\n";

enum { STATUS = 4, OBJECTIVE, GAP, ITERATIONS, SUPPORT, NONZERO, SCORE, PROOF, MODEL, FIELDS };
enum { QUESTION = STATUS, FIELD_ROOM = 160, LINE_ROOM = 600 };

typedef struct row {
    char field[FIELDS][FIELD_ROOM];
} row;

/* ---- The file -------------------------------------------------------------------------------- */

/* One field to its comma or the end of the line; returns where the next one starts, NULL if there
 * is none. */
static const char *take_field(const char *text, char field[FIELD_ROOM]) {
    int length = 0;
    bool quoted = *text == '"';
    if (quoted) text++;
    for (; *text && *text != '\n'; text++) {
        if (quoted && *text == '"' && text[1] != '"') {
            quoted = false;
            continue;
        }
        if (quoted && *text == '"') text++;
        if (!quoted && *text == ',') break;
        assert_true(length + 1 < FIELD_ROOM);
        field[length++] = *text;
    }
    field[length] = 0;
    return *text == ',' ? text + 1 : NULL;
}

static row read_row(const char *line) {
    row r = {0};
    for (int k = 0; k < FIELDS && line; k++)
        line = take_field(line, r.field[k]);
    return r;
}

static void print_row(const row *r, char line[LINE_ROOM]) {
    int at = snprintf(line, LINE_ROOM, "\"");
    for (const char *c = r->field[0]; *c; c++)
        at += snprintf(line + at, (size_t)(LINE_ROOM - at), *c == '"' ? "\"\"" : "%c", *c);
    at += snprintf(line + at, (size_t)(LINE_ROOM - at), "\"");
    for (int k = 1; k < FIELDS; k++)
        at += snprintf(line + at, (size_t)(LINE_ROOM - at), ",%s", r->field[k]);
    assert_true(at + 2 < LINE_ROOM);
    strcat(line, "\n");
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void put_number(char field[FIELD_ROOM], const char *format, double value) {
    if (!isnan(value)) snprintf(field, FIELD_ROOM, format, value);
}

static void put_nonzero(char field[FIELD_ROOM], const margin_model *model) {
    int64_t features = 0, nonzero = 0;
    margin_model_features(model, &features);
    if (!margin_model_weights(model, 0)) return;
    for (int64_t s = 0; s < margin_model_score_count(model); s++)
        for (int64_t j = 0; j < features; j++)
            nonzero += margin_model_weights(model, s)[j] != 0;
    snprintf(field, FIELD_ROOM, "%lld", (long long)nonzero);
}

static uint64_t hash_of(uint64_t hash, const void *bytes, int64_t length) { /* FNV-1a */
    for (int64_t k = 0; k < length; k++)
        hash = (hash ^ ((const uint8_t *)bytes)[k]) * 0x100000001b3u;
    return hash;
}

/* Of the tensors: all that was learned, and none of the words about it. */
static void put_hash(char field[FIELD_ROOM], const margin_model *model) {
    void *bytes = NULL;
    int64_t length = 0;
    margin_error error = {0};
    uint64_t header;
    if (margin_model_encode(model, &bytes, &length, &error) < 0) fail_msg("%s", error.text);
    memcpy(&header, bytes, sizeof header);
    int64_t start = 8 + (int64_t)header;
    uint64_t hash = hash_of(HASH_START, (const char *)bytes + start, length - start);
    margin_bytes_free(model, bytes);
    snprintf(field, FIELD_ROOM, "%016llx", (unsigned long long)hash);
}

static const char *proof_of(margin_context *context, const margin_model *model,
                            const margin_data *data) {
    margin_report found = {0};
    margin_error error = {0};
    margin_status status = margin_verify(context, model, data, &found, &error);
    if (status < 0 && status != MARGIN_ERROR_ARGUMENT) fail_msg("%s", error.text);
    return status < 0 ? "" : status == MARGIN_OK ? "holds" : "fails";
}

/* Nobody reads seventeen digits: what was computed has four, what the spec says has few. */
static void check_digits(const row *r, const char *sentence) {
    enum { MOST = 6 };
    int digits = 0;
    for (const char *p = strchr(sentence, '.'); p && *p; p++) {
        const bool counts = *p != '0' || digits > 0; /* 0.0001: one digit */
        digits = isdigit((unsigned char)*p) ? digits + counts : 0;
        if (digits > MOST) fail_msg("%s on %s: %s", r->field[0], r->field[1], sentence);
    }
}

static void put_report(row *r, const margin_report *report) {
    static const char *const words[] = {"converged", "iterations", "time", "stalled"};
    double score = report->task == MARGIN_REGRESS ? report->train_rmse : report->train_accuracy;
    snprintf(r->field[STATUS], FIELD_ROOM, "%s", words[report->status]);
    put_number(r->field[OBJECTIVE], "%.12g", report->objective);
    put_number(r->field[GAP], "%.2e", report->gap);
    put_number(r->field[ITERATIONS], "%.0f", (double)report->iterations);
    put_number(r->field[SUPPORT], "%.0f", margin_report_item_value(report, "support_vectors"));
    put_number(r->field[SCORE], "%.6g", score);
    check_digits(r, report->reason);
    check_digits(r, report->formula);
}

static row answer(margin_context *context, const row *question) {
    row r = {0};
    memcpy(r.field, question->field, QUESTION * sizeof *r.field);
    made_data made = made_data_get(context, r.field[1], strcmp(r.field[2], "csr") == 0,
                                   strcmp(r.field[3], "f32") == 0);
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report report = {0};
    margin_error error = {0};
    if (margin_spec_parse(context, r.field[0], &spec, &error) < 0 ||
        margin_fit(context, spec, &made.data, &model, &report, &error) < 0) {
        print_message("%s on %s: %s\n", r.field[0], r.field[1], error.text);
        snprintf(r.field[STATUS], FIELD_ROOM, "refused");
    } else {
        put_report(&r, &report);
        put_nonzero(r.field[NONZERO], model);
        snprintf(r.field[PROOF], FIELD_ROOM, "%s", proof_of(context, model, &made.data));
        put_hash(r.field[MODEL], model);
    }
    margin_model_free(model);
    margin_spec_free(spec);
    made_data_free(&made);
    return r;
}

/* ---- The two errands ------------------------------------------------------------------------- */

/* What bits depend on beside the code: functions of the C library, and LAPACK. */
static void describe_arithmetic(char line[LINE_ROOM]) {
    margin_capabilities_info info = {0};
    margin_capabilities(&info);
    uint64_t hash = HASH_START;
    for (int k = 1; k < 1000; k++) {
        volatile double at = k / 61.0; /* at run time, not by the compiler */
        double x = at;
        double y[] = {exp(-x), log(x), log1p(x), expm1(x), pow(x, 0.7), tanh(x), hypot(x, 3)};
        hash = hash_of(hash, y, sizeof y);
    }
    snprintf(line, LINE_ROOM, "# exp, log, ...: %016llx; LAPACK: %s\n", (unsigned long long)hash,
             info.lapack);
}

static bool same(const row *a, const row *b, bool same_arithmetic) {
    double was = strtod(a->field[OBJECTIVE], NULL), is = strtod(b->field[OBJECTIVE], NULL);
    for (int k = 0; k < FIELDS; k++)
        if ((same_arithmetic || k == STATUS || k == PROOF) && k != OBJECTIVE &&
            strcmp(a->field[k], b->field[k]) != 0)
            return false;
    return was == is || fabs(was - is) <= 1e-9 * fabs(was) + (same_arithmetic ? 0 : 1e-15);
}

/* Answers every question of the file; writes them, or prints the rows that differ. Returns the
 * number of these. */
static int go_through(const char *text, FILE *out) {
    margin_context *context = support_context(NULL, 2);
    char arithmetic[LINE_ROOM], before[LINE_ROOM], after[LINE_ROOM];
    describe_arithmetic(arithmetic);
    bool same_arithmetic = strncmp(text, arithmetic, strlen(arithmetic)) == 0;
    int differ = 0;
    if (out) fprintf(out, "%s%s", arithmetic, HEADER);
    if (!same_arithmetic) print_message("another C library or LAPACK: bits are not compared\n");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (*line != '"') continue;
        const row recorded = read_row(line), now = answer(context, &recorded);
        print_row(&recorded, before);
        print_row(&now, after);
        if (out) fputs(after, out);
        if (same(&recorded, &now, same_arithmetic)) continue;
        differ++;
        if (!out) print_message("was %snow %s", before, after);
    }
    margin_context_free(context);
    return differ;
}

static void results_are_those_recorded(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    char *text = support_read_file(support_source(path, FILE_NAME), NULL);
    int differ = go_through(text, NULL);
    free(text);
    if (differ)
        fail_msg("%d rows differ from %s; if they are meant to: test_results --rewrite", differ,
                 FILE_NAME);
}

static void rewrite(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    char *text = support_read_file(support_source(path, FILE_NAME), NULL), *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    assert_non_null(out);
    int differ = go_through(text, out);
    assert_int_equal(fclose(out), 0);
    margin_error error = {0};
    if (margin_file_write(path, made, (int64_t)length, &error) < 0) fail_msg("%s", error.text);
    free(made);
    free(text);
    print_message("%d rows of %s are new\n", differ, FILE_NAME);
}

int main(int argc, char **argv) {
    const struct CMUnitTest compare[] = {cmocka_unit_test(results_are_those_recorded)};
    const struct CMUnitTest write[] = {cmocka_unit_test(rewrite)};
    setenv("MARGIN_ISA", "ref", 1);
    if (argc > 1 && strcmp(argv[1], "--rewrite") == 0)
        return cmocka_run_group_tests(write, NULL, NULL);
    return cmocka_run_group_tests(compare, NULL, NULL);
}
