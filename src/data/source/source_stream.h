/* Everything a descriptor or a block of memory delivers, inflated if it is gzip, as one text in
 * memory between zero guards. The part of a source that does not map files. */
#pragma once

#include "base/context.h"

enum {
    MG_SOURCE_GUARD = 64, /* zero bytes before and after every text */
    MG_SOURCE_HEAD = 64   /* bytes that are looked at before the rest is read */
};

/* Whether a text that begins with these bytes may be what is wanted; an error ends the reading. Of
 * a text with lines it sets the most bytes of one: at a longer one reading ends with FORMAT. */
typedef margin_status (*mg_source_look)(const char *name, const char *head, int64_t length,
                                        int64_t *longest_line, margin_error *error);

/* Where bytes come from. A regular file is read at offsets of its own, so that the descriptor's
 * position does not matter; a pipe is read as it comes. */
typedef struct mg_stream {
    const char *name;    /* for messages */
    int descriptor;      /* -1: memory */
    bool seekable;       /* a regular file */
    const char *bytes;   /* memory */
    int64_t length;      /* bytes of the memory or regular file; -1: not known */
    int64_t offset;      /* next byte to deliver */
    mg_source_look look; /* asked once about the beginning of the (inflated) text; NULL: nobody */
} mg_stream;

typedef struct mg_stream_text {
    char *block; /* owned: guard, text, guard */
    int64_t length;
    bool compressed;
} mg_stream_text;

/* Reads to the end. Memory: the text, and twice the text for a moment where its length was not
 * known beforehand. FILE (the system's reason), FORMAT (damaged or truncated gzip, with the
 * offset), MEMORY, LIMIT, CANCELLED. */
margin_status mg_stream_collect(margin_context *context, mg_stream *stream, mg_stream_text *text,
                                margin_error *error);

/* Reads the stream again into `text`, which holds `length` bytes; FILE if it now has another
 * length. */
margin_status mg_stream_repeat(margin_context *context, mg_stream *stream, char *text,
                               int64_t length, margin_error *error);

/* True if the stream starts with the two bytes of gzip. Reads them ahead only where it can seek. */
bool mg_stream_is_gzip(const mg_stream *stream);
