/* Labels of an svmlight text: numbers as they are, names (or numbers that are wanted as names) as
 * codes of sorted categories. */
#include "base/scoped.h"
#include "base/text/number_text.h"
#include "data/csv/csv_cell.h"
#include "data/svmlight/svmlight.h"
#include "data/table/encoder.h"

#include <math.h>
#include <string.h>

/* The word at an offset of the text. */
static int64_t label_length(const mg_source *source, int64_t offset) {
    const char *label = source->text + offset;
    int64_t length = 0;
    while (offset + length < source->length && strchr(" \t\r\n#", label[length]) == NULL)
        length++; /* the search finds the zero byte, too */
    return length;
}

static margin_status check_name(const mg_source *source, int64_t offset, int64_t length,
                                margin_error *error) {
    const char *label = source->text + offset, *behind = label + length;
    const bool inside = offset + length < source->length;
    const bool cut = inside && (*behind == 0 || (*behind == '\r' && behind[1] != '\n'));
    if (!cut && mg_is_utf8(label, length)) return MARGIN_OK;
    return mg_fail_source(error, source, offset, "the label is not text in UTF-8");
}

/* Numbers are one label however they are written: "+1" and "1.0" are "1". Those that f64 cannot
 * hold keep their digits. A model that was trained on texts may know the label as it stands there.
 */
static margin_status code_of_place(const mg_source *source, int64_t offset, mg_encoder *encoder,
                                   int64_t *code, margin_error *error) {
    const char *label = source->text + offset;
    const int64_t length = label_length(source, offset);
    double number;
    MG_TRY(check_name(source, offset, length, error));
    if (mg_number_loses_digits(label, length))
        return mg_encoder_code(encoder, label + (*label == '+'), length - (*label == '+'), code,
                               error);
    if (!margin_number_parse_f64(label, (size_t)length, &number))
        return mg_encoder_code(encoder, label, length, code, error);
    char text[MARGIN_NUMBER_TEXT];
    const int printed = margin_number_print_f64(number, text);
    const bool as_written =
        !mg_encoder_knows(encoder, text, printed) && mg_encoder_knows(encoder, label, length);
    return as_written ? mg_encoder_code(encoder, label, length, code, error)
                      : mg_encoder_code(encoder, text, printed, code, error);
}

static margin_status code_of_number(double number, mg_encoder *encoder, int64_t *code,
                                    margin_error *error) {
    char text[MARGIN_NUMBER_TEXT];
    const int length = margin_number_print_f64(number, text);
    return mg_encoder_code(encoder, text, length, code, error);
}

/* A class that the model does not know. */
static margin_status refuse_label(const mg_svmlight *reader, const mg_encoder *encoder, int64_t i,
                                  margin_error *error) {
    char number[MARGIN_NUMBER_TEXT];
    const char *label = number;
    int64_t length;
    const double y = reader->table->y[i];
    if (reader->rules.labels == MG_SVMLIGHT_PLACES) {
        label = reader->source->text + (int64_t)y;
        length = label_length(reader->source, (int64_t)y);
    } else {
        length = margin_number_print_f64(y, number);
    }
    return mg_encoder_refuse(encoder, reader->source->name, i, "the labels", label, length, error);
}

static margin_status encode_rows(const mg_svmlight *reader, mg_encoder *encoder,
                                 margin_error *error) {
    margin_table *table = reader->table;
    const bool places = reader->rules.labels == MG_SVMLIGHT_PLACES;
    for (int64_t i = 0; i < table->x.view.rows; i++) {
        int64_t code = -1;
        if (i % 4096 == 0 && mg_cancelled(reader->context)) return mg_fail_cancelled(error);
        if (isnan(table->y[i])) continue;
        MG_TRY(places ? code_of_place(reader->source, (int64_t)table->y[i], encoder, &code, error)
                      : code_of_number(table->y[i], encoder, &code, error));
        if (code < 0 && encoder->refuses) return refuse_label(reader, encoder, i, error);
        table->y[i] = code < 0 ? (double)NAN : (double)code;
    }
    table->details.unknown_categories += encoder->unknown;
    table->details.unknown_classes += encoder->unknown;
    return MARGIN_OK;
}

static margin_status make_categories(mg_svmlight *reader, const mg_column_plan *label,
                                     const char *name, margin_error *error) {
    margin_table *table = reader->table;
    MG_SCOPED(mg_encoder, encoder);
    MG_TRY(mg_encoder_init(table->heap, label->expected, &reader->options, true, &encoder, error));
    MG_TRY(encode_rows(reader, &encoder, error));
    return mg_encoder_describe(&encoder, name, table->y, MARGIN_F64, table->x.view.rows, 1,
                               &table->target, error);
}

margin_status mg_svmlight_target(mg_svmlight *reader, const mg_column_plan *label,
                                 margin_error *error) {
    margin_table *table = reader->table;
    if (table->has_target) return MARGIN_OK; /* a column serves as target */
    if (label->role != MG_ROLE_TARGET || reader->unlabelled == table->x.view.rows) {
        mg_free(table->heap, table->y);
        table->y = NULL;
        return MARGIN_OK;
    }
    table->has_target = true;
    const char *name = label->expected != NULL ? label->expected->name : MG_SVMLIGHT_LABEL;
    if (label->categorical || reader->rules.labels == MG_SVMLIGHT_PLACES)
        return make_categories(reader, label, name, error);
    const margin_column column = {.name = name};
    return mg_columns_copy(table->heap, &column, 1, &table->target, error);
}
