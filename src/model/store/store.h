/* Model files from the inside; the format is described in docs/format.md.
 *
 *   store_write.c    model -> bytes
 *   store_read.c     bytes -> model
 *   store_header.c   bytes -> checked header: checksum, table of tensors, metadata
 *   store_columns.c  descriptions of columns, both ways
 *   store_report.c   the report, both ways
 *   store_json.c     typed access to parsed JSON */
#pragma once

#include "model/object/model_object.h"

#include <jansson.h>

#define MG_STORE_VERSION   1
#define MG_STORE_PREFIX    "{\"__metadata__\":{\"checksum\":\"crc64-xz:"
#define MG_STORE_HEADER    INT64_C(67108864) /* most bytes of a header */
#define MG_STORE_VALUES    INT64_C(2000000)  /* most values of a description, see mg_store_values */
#define MG_STORE_DIGITS    16
#define MG_STORE_ALIGNMENT 64                 /* of the first tensor in the file */
#define MG_STORE_STEP      (INT64_C(1) << 20) /* bytes between two looks whether to end */

/* Columns that may be described by their number alone: this many, or one per byte of the file. More
 * would let a small file ask for much memory. */
#define MG_STORE_FREE_COLUMNS INT64_C(4000000)

/* ---- Reading ----------------------------------------------------------------------------------*/

typedef struct mg_stored_tensor {
    char name[64];
    margin_type type;
    int dimensions;
    int64_t shape[2];
    int64_t first, last; /* bytes in the data part */
    bool taken;          /* used for a part of the model */
} mg_stored_tensor;

typedef struct mg_store_reader {
    margin_context *context;
    mg_heap *heap;
    const char *name; /* of the file, for messages */
    const unsigned char *bytes;
    int64_t length;
    json_t *header;  /* the whole header */
    json_t *details; /* the metadata entry "model", parsed */
    const unsigned char *data;
    int64_t data_length;
    mg_stored_tensor *tensors; /* by place in the file */
    int64_t tensor_count;
    bool nested; /* a fold of a model: without additions of its own */
    bool keeps;  /* the bytes outlive the model: large tensors of its hypothesis stay in them */
    margin_error *error;
} mg_store_reader;

/* MODEL: "name is not a usable model file: ...". */
margin_status mg_fail_stored(const mg_store_reader *reader, const char *format, ...)
    MG_PRINTF(2, 3);

/* As margin_model_decode, and _load or _map (mapped), which refuse an index without targets. */
margin_status mg_store_decode(margin_context *context, const void *bytes, int64_t length,
                              margin_model **model, margin_error *error);
margin_status mg_store_load(margin_context *context, const char *path, bool mapped,
                            margin_model **model, margin_error *error);

/* Whether a text that begins so may be a model file (an mg_source_look): a pipe or a .gz that is
 * none is not read to its end. */
margin_status mg_store_look(const char *name, const char *head, int64_t length,
                            int64_t *longest_line, margin_error *error);
/* Checks everything that can be checked without knowing what models are. */
margin_status mg_store_read_header(mg_store_reader *reader);
void mg_store_reader_free(mg_store_reader *reader);
/* Entry of the metadata, NULL if there is none. */
const char *mg_store_metadata(const mg_store_reader *reader, const char *key);
/* Values of a JSON text, or more: what a parser takes memory for. Objects and lists count as four.
 */
int64_t mg_store_values(const char *text, int64_t length);

/* ---- Fields of an object: MODEL if missing, of another type or out of range ------------------ */

margin_status mg_json_integer(const mg_store_reader *reader, const json_t *object, const char *key,
                              int64_t low, int64_t high, int64_t *value);
margin_status mg_json_text(const mg_store_reader *reader, const json_t *object, const char *key,
                           const char **text);
/* Numbers are stored as text, so that NaN and infinity exist and no locale matters. */
margin_status mg_json_number(const mg_store_reader *reader, const json_t *object, const char *key,
                             double *value);
margin_status mg_json_array(const mg_store_reader *reader, const json_t *object, const char *key,
                            const json_t **array);
margin_status mg_json_object(const mg_store_reader *reader, const json_t *object, const char *key,
                             const json_t **value);
/* Index of the text among `words`. */
margin_status mg_json_word(const mg_store_reader *reader, const json_t *object, const char *key,
                           const char *const *words, int count, int *index);

/* ---- Parts, both ways ------------------------------------------------------------------------ */

void mg_store_write_text(mg_text *out, const char *key, const char *value);
void mg_store_write_integer(mg_text *out, const char *key, int64_t value);
void mg_store_write_number(mg_text *out, const char *key, double value);
void mg_store_write_raw(mg_text *out, const char *key, const char *json);
void mg_store_write_texts(mg_text *out, const char *key, const char *const *values, int64_t count);

void mg_store_write_columns(mg_text *out, const char *key, const margin_column *columns,
                            int64_t count);
margin_status mg_store_read_columns(const mg_store_reader *reader, const json_t *object,
                                    const char *key, mg_columns *columns);

void mg_store_write_report(mg_text *out, const margin_report *report);
margin_status mg_store_read_report(const mg_store_reader *reader, const json_t *object,
                                   margin_report *report);

/* Words of the file for the enums, in their order from 1. */
extern const char *const mg_store_tasks[4], *const mg_store_decisions[4], *const mg_store_types[5];

/* Numbers are little-endian in the file; reverses the bytes of each number of `size` bytes. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MG_STORE_SWAPS 1
#else
#define MG_STORE_SWAPS 0
#endif
void mg_store_swap(unsigned char *to, const unsigned char *from, int64_t length, int64_t size);

/* ---- Whole files ----------------------------------------------------------------------------- */

/* Puts the right checksum into bytes that are a whole file (for tests and fuzzing). False if they
 * do not begin as one. */
bool mg_store_seal(unsigned char *bytes, int64_t length);
