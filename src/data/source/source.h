/* Bytes to read: a mapped file, an inflated .gz, standard input, or memory.
 *
 * `text` is readable from 64 bytes before to 64 bytes after [0, length), and those guard bytes are
 * zero, so that token readers may load whole vectors anywhere. Regular files are mapped between two
 * guard pages; a file that may shrink while it is read (SIGBUS) is guarded by reading instead of
 * mapping where the file system is not local or the file was written to a moment ago - see source.c
 * for what was chosen and why. Pages behind the parser are given back (mg_source_done) so that peak
 * memory is about the result. Gzip is told by its first two bytes; concatenated members are read
 * through; a truncated or damaged stream is FORMAT with the offset.
 *
 * A source belongs to one call; only mg_source_done may be used by its tasks. */
#pragma once

#include "data/source/source_stream.h"

typedef struct mg_source {
    const char *text;
    int64_t length;
    const char *name; /* for messages */
    bool compressed;  /* was .gz */
    void *inner;
    mg_heap *heap;
} mg_source;

/* What is read into memory (a pipe, a .gz) is read on only if `look` likes the first MG_SOURCE_HEAD
 * bytes (NULL: always). A mapped file and a shorter one are not shown to it. */
margin_status mg_source_open(margin_context *context, const char *path, mg_source_look look,
                             mg_source *source, margin_error *error);
margin_status mg_source_memory(margin_context *context, const void *bytes, int64_t length,
                               const char *name, mg_source *source, margin_error *error);
void mg_source_close(mg_source *source);
/* The bytes [first, last) were parsed and need not stay in memory. They read as zeros or as before
 * until mg_source_restore. Safe from any thread; does nothing for pipes and memory, which cannot be
 * read again. */
void mg_source_done(const mg_source *source, int64_t first, int64_t last);
/* The bytes were read and will be needed again: gives back only what returns by itself (the pages
 * of a mapped file). */
void mg_source_set_aside(const mg_source *source, int64_t first, int64_t last);
/* Makes the whole text readable again (a second pass); inflates or reads it anew where needed. */
margin_status mg_source_restore(const mg_source *source, margin_error *error);
/* FILE if the file changed since it was opened: ask at the end, before the result is handed out. */
margin_status mg_source_unchanged(const mg_source *source, margin_error *error);

/* Line and column (from 1, bytes) of an offset: restores the text and counts newlines, only called
 * after an error. 0 if the text cannot be had any more. */
void mg_source_position(const mg_source *source, int64_t offset, int64_t *line, int64_t *column);

/* FORMAT error "name:line:column: sentence". */
margin_status mg_fail_source(margin_error *error, const mg_source *source, int64_t offset,
                             const char *format, ...) MG_PRINTF(4, 5);
