/* Bytes to read: a mapped file, an inflated .gz, standard input, or memory.
 *
 * `text` is readable from 64 bytes before to 64 bytes after [0, length), and those guard bytes are
 * zero, so that token readers may load whole vectors anywhere. Regular files are mapped between two
 * guard pages; a file that may shrink while it is read (SIGBUS) is guarded by reading instead of
 * mapping where the file system says it is not local or is being written - see source.c for what
 * was chosen and why. Pages behind the parser are given back (mg_source_done) so that peak memory
 * is about the result. Gzip is told by its first two bytes; concatenated members are read through;
 * a truncated or damaged stream is FORMAT with the offset. */
#ifndef MG_SOURCE_H
#define MG_SOURCE_H

#include "base/context.h"

typedef struct mg_source {
    const char *text;
    int64_t length;
    const char *name; /* for messages */
    bool compressed;  /* was .gz */
    void *inner;
    mg_heap *heap;
} mg_source;

margin_status mg_source_open(margin_context *context, const char *path, mg_source *source,
                             margin_error *error);
margin_status mg_source_memory(margin_context *context, const void *bytes, int64_t length,
                               const char *name, mg_source *source, margin_error *error);
void mg_source_close(mg_source *source);
/* The bytes [first, last) were parsed and need not stay in memory; they stay readable for a mapped
 * file. */
void mg_source_done(mg_source *source, int64_t first, int64_t last);

/* Line and column (from 1, bytes) of an offset: counts newlines, only called after an error. */
void mg_source_position(const mg_source *source, int64_t offset, int64_t *line, int64_t *column);

/* FORMAT error "name:line:column: sentence". */
margin_status mg_fail_source(margin_error *error, const mg_source *source, int64_t offset,
                             const char *format, ...) MG_PRINTF(4, 5);

#endif
