/* Options of a caller that may be older or newer than this library. */
#ifndef MG_CALLER_OPTIONS_H
#define MG_CALLER_OPTIONS_H

#include "base/status.h"

#include <stddef.h>

/* Bytes of a struct up to and with its last field of the first version. */
#define MG_SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Copies the options `given` (NULL: none) into `options`, which has `size` bytes. Both begin with a
 * size_t that counts the bytes of the caller's struct, 0 for `first_size`, those of the first
 * version. What the caller does not have is zero; what this library does not know may only be zero,
 * its default: anything else asks for what cannot be done. ARGUMENT then, and for a size below
 * first_size. `type` is the name of the struct. */
margin_status mg_options_take(const void *given, size_t first_size, const char *type, void *options,
                              size_t size, margin_error *error);

#endif
