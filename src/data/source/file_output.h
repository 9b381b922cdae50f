/* Output that appears whole or not at all: temporary file beside the target (O_EXCL, same mode
 * rules as a new file), write, fsync, rename, fsync of the folder. ".gz" compresses on the way. "-"
 * is standard output. On failure or mg_output_abandon the temporary file is removed and an older
 * file stays as it was. */
#pragma once

#include "data/source/gzip_piece.h"

typedef struct mg_output mg_output;
margin_status mg_output_open(mg_heap *heap, const char *path, mg_output **output,
                             margin_error *error);
/* Refuses a path that is a folder or ends like one. */
margin_status mg_output_check_name(const char *path, margin_error *error);
margin_status mg_output_write(mg_output *output, const void *bytes, int64_t length,
                              margin_error *error);
/* True if the bytes are compressed on their way. Then they may also come in pieces that somebody
 * else compressed; both ways can be mixed. */
bool mg_output_packs(const mg_output *output);
margin_status mg_output_write_piece(mg_output *output, const mg_gzip_piece *piece,
                                    margin_error *error);
/* Writes what is left, to the disk; the file does not appear yet. */
margin_status mg_output_finish(mg_output *output, margin_error *error);
/* Completes the file; frees the output either way. FILE with the system's reason ("No space left on
 * device"). */
margin_status mg_output_commit(mg_output *output, margin_error *error);
void mg_output_abandon(mg_output *output); /* NULL is fine */
