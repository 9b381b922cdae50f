#include "model_cases.h"

#include <stdlib.h>
#include <string.h>

static void *array(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) fail_msg("out of memory");
    return memory;
}

static void fill_values(sample *s, uint64_t *random) {
    for (int64_t k = 0; k < s->rows * s->columns; k++)
        if (support_random(random) % 3 != 0)
            s->f64[k] = (double)((int)(support_random(random) % 33) - 16) / 8;
}

static bool occurs(const sample *s, int64_t label) {
    for (int64_t i = 0; i < s->rows; i++)
        if (s->labels[i] == (double)label) return true;
    return false;
}

/* Classes by hidden functions; one of the first rows is relabelled if a class does not occur. */
static void fill_labels(sample *s, double noise, uint64_t *random) {
    double *w = array(s->classes * s->columns, sizeof *w);
    for (int64_t k = 0; k < s->classes * s->columns; k++)
        w[k] = (double)((int)(support_random(random) % 9) - 4);
    for (int64_t i = 0; i < s->rows; i++) {
        double best = 0;
        for (int64_t c = 0; c < s->classes; c++) {
            double score = (double)c * 0.01;
            for (int64_t j = 0; j < s->columns; j++)
                score += w[c * s->columns + j] * s->f64[i * s->columns + j];
            if (c > 0 && score <= best) continue;
            best = score;
            s->labels[i] = (double)c;
        }
        if (support_uniform(random) < noise)
            s->labels[i] = (double)(support_random(random) % (uint64_t)s->classes);
    }
    for (int64_t c = 0; c < s->classes && c < s->rows; c++)
        if (!occurs(s, c)) s->labels[c] = (double)c;
    free(w);
}

static void fill_layouts(sample *s) {
    int64_t k = 0, wide = s->columns + SAMPLE_PADDING;
    for (int64_t i = 0; i < s->rows; i++) {
        for (int64_t j = 0; j < s->columns; j++) {
            double value = s->f64[i * s->columns + j];
            s->f32[i * s->columns + j] = (float)value;
            s->wide_f64[i * wide + j] = value;
            s->wide_f32[i * wide + j] = (float)value;
            if (value == 0) continue;
            s->stored_f64[k] = value;
            s->stored_f32[k] = (float)value;
            s->index_i32[k] = (int32_t)j;
            s->index_i64[k++] = j;
        }
        for (int64_t j = s->columns; j < wide; j++) /* must never be looked at */
            s->wide_f64[i * wide + j] = (double)(s->wide_f32[i * wide + j] = 1e30f);
        s->start_i32[i + 1] = (int32_t)k;
        s->start_i64[i + 1] = k;
    }
    s->stored = k;
}

sample *sample_make(int64_t rows, int64_t columns, int64_t classes, double noise, uint64_t seed) {
    sample *s = array(1, sizeof *s);
    int64_t numbers = rows * columns, wide = rows * (columns + SAMPLE_PADDING);
    s->rows = rows;
    s->columns = columns;
    s->classes = classes;
    s->f64 = array(numbers, sizeof *s->f64);
    s->f32 = array(numbers, sizeof *s->f32);
    s->wide_f64 = array(wide, sizeof *s->wide_f64);
    s->wide_f32 = array(wide, sizeof *s->wide_f32);
    s->stored_f64 = array(numbers, sizeof *s->stored_f64);
    s->stored_f32 = array(numbers, sizeof *s->stored_f32);
    s->index_i32 = array(numbers, sizeof *s->index_i32);
    s->index_i64 = array(numbers, sizeof *s->index_i64);
    s->start_i32 = array(rows + 1, sizeof *s->start_i32);
    s->start_i64 = array(rows + 1, sizeof *s->start_i64);
    s->labels = array(rows, sizeof *s->labels);
    fill_values(s, &seed);
    fill_labels(s, noise, &seed);
    fill_layouts(s);
    return s;
}

void sample_free(sample *s) {
    free(s->f64);
    free(s->f32);
    free(s->wide_f64);
    free(s->wide_f32);
    free(s->stored_f64);
    free(s->stored_f32);
    free(s->index_i32);
    free(s->index_i64);
    free(s->start_i32);
    free(s->start_i64);
    free(s->labels);
    free(s);
}

margin_matrix sample_view(const sample *s, int layout) {
    margin_matrix x = margin_dense_f64(s->f64, s->rows, s->columns, s->columns);
    switch (layout) {
    case DENSE_F32:
        return margin_dense_f32(s->f32, s->rows, s->columns, s->columns);
    case STRIDED_F64:
        return margin_dense_f64(s->wide_f64, s->rows, s->columns, s->columns + SAMPLE_PADDING);
    case STRIDED_F32:
        return margin_dense_f32(s->wide_f32, s->rows, s->columns, s->columns + SAMPLE_PADDING);
    case CSR_F64_I32_I64:
    case CSR_F64_I64_I32:
    case CSR_F64_I32_I32:
        x = margin_csr_f64(s->stored_f64, s->index_i32, s->start_i64, s->rows, s->columns);
        break;
    case CSR_F32_I32_I64:
    case CSR_F32_I64_I64:
        x = margin_csr_f32(s->stored_f32, s->index_i32, s->start_i64, s->rows, s->columns);
        break;
    }
    if (layout == CSR_F64_I64_I32 || layout == CSR_F32_I64_I64) {
        x.column_indices = s->index_i64;
        x.index_type = MARGIN_I64;
    }
    if (layout == CSR_F64_I64_I32 || layout == CSR_F64_I32_I32) {
        x.row_starts = s->start_i32;
        x.start_type = MARGIN_I32;
    }
    return x;
}

margin_data sample_data(const sample *s, int layout) {
    margin_data data = {.x = sample_view(s, layout)};
    data.y = margin_values_f64(s->labels, s->rows);
    return data;
}

margin_spec *parse_text(margin_context *context, const char *text) {
    margin_error error = {0};
    margin_spec *spec = NULL;
    if (margin_spec_parse(context, text, &spec, &error) < 0) fail_msg("%s: %s", text, error.text);
    return spec;
}

margin_model *fit_text(margin_context *context, const char *text, const margin_data *data,
                       margin_report *report) {
    margin_error error = {0};
    margin_model *model = NULL;
    margin_spec *spec = parse_text(context, text);
    if (margin_fit(context, spec, data, &model, report, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return model;
}

void fit_refused(margin_context *context, const char *text, const margin_data *data,
                 margin_status status, const char *part) {
    margin_error error = {0};
    margin_model *const untouched = (margin_model *)(void *)&error;
    margin_model *model = untouched;
    margin_report report = {0}, before = {0};
    memset(&report, 0x5C, sizeof report);
    report.size = sizeof report;
    memcpy(&before, &report, sizeof report);
    margin_spec *spec = parse_text(context, text);
    margin_status found = margin_fit(context, spec, data, &model, &report, &error);
    margin_spec_free(spec);
    if (found != status)
        fail_msg("%s: status %d, not %d; %s", text, (int)found, (int)status, error.text);
    assert_int_equal(error.status, status);
    assert_contains(error.text, part);
    assert_ptr_equal(model, untouched);
    assert_memory_equal(&report, &before, sizeof report);
}

margin_status verify_model(margin_context *context, const margin_model *model,
                           const margin_data *data, margin_report *found) {
    margin_error error = {0};
    const margin_status status = margin_verify(context, model, data, found, &error);
    if (status < 0) fail_msg("%s: %s", margin_model_spec(model), error.text);
    return status;
}

void assert_verified(margin_context *context, const margin_model *model, const margin_data *data) {
    margin_report found = {0};
    const margin_status status = verify_model(context, model, data, &found);
    if (status != MARGIN_OK) fail_msg("%s: %s", margin_model_spec(model), found.reason);
}

void assert_not_verified(margin_context *context, const margin_model *model,
                         const margin_data *data, const char *reason) {
    margin_report found = {0};
    const margin_status status = verify_model(context, model, data, &found);
    if (status != MARGIN_STOPPED_STALLED || !strstr(found.reason, reason))
        fail_msg("%s: %s", margin_model_spec(model), found.reason);
}

double *scores_of(const margin_model *model, const margin_matrix *x) {
    margin_error error = {0};
    double *scores = array(x->rows * margin_model_score_count(model), sizeof *scores);
    if (margin_scores(model, x, scores, &error) < 0) fail_msg("%s", error.text);
    return scores;
}

void assert_same_model(const margin_model *a, const margin_model *b) {
    void *bytes[2] = {NULL, NULL};
    int64_t lengths[2] = {0, 0};
    margin_error error = {0};
    if (margin_model_encode(a, &bytes[0], &lengths[0], &error) < 0 ||
        margin_model_encode(b, &bytes[1], &lengths[1], &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)lengths[0]);
    margin_bytes_free(a, bytes[0]);
    margin_bytes_free(b, bytes[1]);
}

margin_status attempt_fit(margin_context *context, void *user, margin_error *error) {
    const fit_attempt *attempt = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report found = {0};
    margin_status status = margin_spec_parse(context, attempt->spec, &spec, error);
    if (status >= 0) status = margin_fit(context, spec, &attempt->data, &model, NULL, error);
    if (status >= 0) status = margin_verify(context, model, &attempt->data, &found, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

margin_report fit_table(const char *path, const margin_read_options *options, const char *spec,
                        double objective, double share) {
    margin_context *context = support_context(NULL, 2);
    margin_table *table;
    margin_error error = {0};
    margin_report report = {0}, found = {0};
    if (margin_table_read(context, path, options, &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    margin_model *model = fit_text(context, spec, &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_close(report.objective, objective, share);
    if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
        fail_msg("%s %s", error.text, found.reason);
    margin_model_free(model);
    margin_table_free(table);
    margin_context_free(context);
    return report;
}
