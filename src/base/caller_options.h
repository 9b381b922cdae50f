/* Structs of a caller that may be older or newer than this library: options that it gives, places
 * for results. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* MG_SIZE_UP_TO(type, field), below: bytes of a struct up to and with its last field of the first
 * version. */

/* Copies the options `given` (NULL: none) into `options`, which has `size` bytes. Both begin with a
 * size_t that counts the bytes of the caller's struct, 0 for `first_size`, those of the first
 * version. What the caller does not have is zero; what this library does not know may only be zero,
 * its default: anything else asks for what cannot be done. ARGUMENT then, for a size below
 * first_size, and for one that is no multiple of 8 bytes, which cuts a field. `type` is the name of
 * the struct. */
margin_status mg_options_take(const void *given, size_t first_size, const char *type, void *options,
                              size_t size, margin_error *error);

/* A struct that a caller has room for and this library fills in; it begins with a size_t as above.
 * `last` is its last field of the first version. */
typedef struct mg_result_type {
    const char *name;
    size_t first, now;
} mg_result_type;
#define MG_RESULT(type, last) ((mg_result_type){#type, MG_SIZE_UP_TO(type, last), sizeof(type)})

/* ARGUMENT if the place is NULL or its size is none of any version (it was not set). */
margin_status mg_result_check(const void *place, mg_result_type type, margin_error *error);
/* Copies what was found into a place that was checked, as much as it has room for; its size stays,
 * what this library does not know becomes 0. */
void mg_result_give(void *place, mg_result_type type, const void *found);

/* The version of these headers is the first one: no field comes behind (tests/abi/host.c says the
 * same of the frozen ones). */
#define MG_SIZE_UP_TO(type, field)                                                                 \
    (offsetof(type, field) + sizeof(((type *)0)->field) + 0 * sizeof(MG_IS_LAST(type, field)))
#define MG_IS_LAST(type, field)                                                                    \
    struct {                                                                                       \
        _Static_assert(sizeof(type) - offsetof(type, field) - sizeof(((type *)0)->field) <         \
                           sizeof(size_t),                                                         \
                       #type " has more fields than version 0.1");                                 \
        int unused;                                                                                \
    }
