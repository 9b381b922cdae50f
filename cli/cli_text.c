/* Growing text, CSV cells and JSON. JSON is written here and not by a library because numbers are
 * to print in their shortest exact form, which general writers do not offer. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(cli_text *text, size_t extra) {
    if (text->failed) return false;
    size_t need = text->length + extra + 1;
    if (need <= text->capacity) return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add(cli_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_puts(cli_text *text, const char *string) {
    text_add(text, string, strlen(string));
}

const char *text_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

void text_printf(cli_text *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_number(cli_text *text, double value) {
    char number[MARGIN_NUMBER_TEXT];
    text_add(text, number, (size_t)margin_number_print_f64(value, number));
}

void text_short(cli_text *text, double value) {
    char number[64];
    bool whole = fabs(value) < 1e15 && value == floor(value);
    if (isnan(value)) value = fabs(value); /* NaN has no sign to speak of */
    snprintf(number, sizeof number, whole ? "%.0f" : "%.6g", value);
    text_puts(text, number);
}

void text_wrapped(cli_text *text, const char *words, int indent, int column) {
    while (*words) {
        int length = (int)strcspn(words, " ");
        if (column > indent && column + 1 + length > CLI_WIDTH) {
            text_printf(text, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            text_add(text, " ", 1);
            column++;
        } else if (column < indent) {
            text_printf(text, "%*s", indent - column, "");
            column = indent;
        }
        text_add(text, words, (size_t)length);
        column += length;
        words += length + (words[length] == ' ');
    }
    text_add(text, "\n", 1);
}

void text_cell(cli_text *text, const char *string) {
    size_t length = strlen(string);
    bool blank = length && (string[0] == ' ' || string[length - 1] == ' ');
    if (length && !blank && !strpbrk(string, ",\"\n\r\t;")) {
        text_add(text, string, length);
        return;
    }
    text_add(text, "\"", 1);
    for (const char *c = string; *c; c++)
        text_add(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    text_add(text, "\"", 1);
}

/* Bytes of the first `most` characters of UTF-8 (0: all), and how many characters they are. */
static size_t name_bytes(const char *name, int most, int *characters) {
    size_t length = 0;
    for (*characters = 0; name[length] && (most == 0 || *characters < most); ++*characters)
        do
            length++;
        while (((unsigned char)name[length] & 0xc0) == 0x80);
    return length;
}

void text_name(cli_text *text, const char *name, int width, int most) {
    int characters;
    size_t length = name_bytes(name, most, &characters);
    int blanks = abs(width) - characters;
    if (width < 0 && blanks > 0) text_printf(text, "%*s", blanks, "");
    for (size_t i = 0, end; i < length; i = end) {
        for (end = i; end < length && (unsigned char)name[end] >= 0x20 && name[end] != 0x7f; end++)
            if (name[end] == (char)0xc2 && ((unsigned char)name[end + 1] & 0xe0) == 0x80) break;
        text_add(text, name + i, end - i);
        if (end == length) break;
        text_add(text, "?", 1);
        end += (unsigned char)name[end] == 0xc2 ? 2 : 1; /* U+0080 to U+009F take two bytes */
    }
    if (width > 0 && blanks > 0) text_printf(text, "%*s", blanks, "");
}

void text_free(cli_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

int text_finish(cli_session *session, cli_text *text, const char *path) {
    cli_progress_end();
    int code = cli_writes_to(path);
    if (code) {
        text_free(text);
        return code;
    }
    if (text->failed) {
        fputs("margin: out of memory for the answer's text\n", stderr);
        code = EXIT_NO_MEMORY;
    } else {
        margin_status status = margin_file_write(path ? path : "-", text->data ? text->data : "",
                                                 (int64_t)text->length, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    text_free(text);
    return code;
}

void cli_note_written(const cli_session *session, const char *what) {
    const char *path = session->arguments->output;
    if (path && strcmp(path, "-") != 0) cli_note(session, "%s written to %s", what, path);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_text(cli_text *text, const char *string) {
    text_add(text, "\"", 1);
    for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_printf(text, "\\%c", *c);
        else if (*c < 0x20)
            text_printf(text, "\\u%04x", *c);
        else
            text_add(text, (const char *)c, 1);
    }
    text_add(text, "\"", 1);
}

static void json_key(cli_text *text, const char *key) {
    if (text->comma) text_puts(text, ", ");
    text->comma = true;
    if (!key) return;
    json_text(text, key);
    text_puts(text, ": ");
}

void json_open(cli_text *text, const char *key, char bracket) {
    json_key(text, key);
    text_add(text, &bracket, 1);
    text->comma = false;
}

void json_close(cli_text *text, char bracket) {
    text_add(text, &bracket, 1);
    text->comma = true;
}

void json_string(cli_text *text, const char *key, const char *value) {
    json_key(text, key);
    json_text(text, value);
}

void json_number(cli_text *text, const char *key, double value) {
    json_key(text, key);
    if (isfinite(value))
        text_number(text, value);
    else
        text_puts(text, "null");
}

void json_integer(cli_text *text, const char *key, int64_t value) {
    json_key(text, key);
    text_printf(text, "%lld", (long long)value);
}

void json_bool(cli_text *text, const char *key, bool value) {
    json_key(text, key);
    text_puts(text, value ? "true" : "false");
}

void json_null(cli_text *text, const char *key) {
    json_key(text, key);
    text_puts(text, "null");
}

void json_numbers(cli_text *text, const char *key, const double *values, int64_t count) {
    json_open(text, key, '[');
    for (int64_t i = 0; i < count; i++)
        json_number(text, NULL, values[i]);
    json_close(text, ']');
}

/* ---- Parts shared by answers ----------------------------------------------------------------- */

const char *task_name(margin_task task) {
    switch (task) {
    case MARGIN_CLASSIFY:
        return "classification";
    case MARGIN_REGRESS:
        return "regression";
    case MARGIN_CLUSTER:
        return "clustering";
    case MARGIN_TRANSFORM:
        return "transform";
    }
    return "";
}

static void json_train(cli_text *text, const margin_report *report) {
    json_open(text, "train", '{');
    if (!isnan(report->train_accuracy)) json_number(text, "accuracy", report->train_accuracy);
    if (!isnan(report->train_rmse)) json_number(text, "rmse", report->train_rmse);
    if (!isnan(report->train_r2)) json_number(text, "r2", report->train_r2);
    json_close(text, '}');
}

void json_report(cli_text *text, const margin_report *report) {
    json_string(text, "status", report->status == MARGIN_OK ? "converged" : "stopped");
    json_string(text, "reason", report->reason);
    json_number(text, "objective", report->objective);
    json_string(text, "formula", report->formula);
    json_number(text, "gap", report->gap);
    json_number(text, "tolerance", report->tolerance);
    json_integer(text, "iterations", report->iterations);
    json_string(text, "iteration_name", report->iteration_name);
    json_integer(text, "subproblems", report->subproblems);
    json_train(text, report);
    for (int64_t i = 0; i < report->item_count; i++)
        json_number(text, report->items[i].name, report->items[i].value);
}

void json_classes(cli_text *text, const char *key, const margin_model *model) {
    const int64_t count = margin_model_class_count(model);
    json_open(text, key, '[');
    for (int64_t i = 0; i < count; i++) {
        const char *name = margin_model_class_name(model, i);
        if (name)
            json_string(text, NULL, name);
        else
            json_integer(text, NULL, i + 1); /* clusters have numbers */
    }
    json_close(text, ']');
    if (!margin_model_centre(model, 0)) return;
    json_open(text, "sizes", '[');
    for (int64_t i = 0; i < count; i++)
        json_number(text, NULL, margin_model_cluster_size(model, i));
    json_close(text, ']');
}

void text_bytes(cli_text *text, double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1024;
    text_printf(text, unit && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void text_seconds(cli_text *text, double seconds) {
    if (seconds < 0.0095)
        text_printf(text, "%.1f ms", seconds * 1e3);
    else if (seconds < 1)
        text_printf(text, "%.0f ms", seconds * 1e3);
    else
        text_printf(text, "%.1f s", seconds);
}
