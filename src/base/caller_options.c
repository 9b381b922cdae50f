/* Structs of a caller that may be older or newer than this library. */
#include "base/caller_options.h"

#include <string.h>

margin_status mg_options_take(const void *given, size_t first_size, const char *type, void *options,
                              size_t size, margin_error *error) {
    size_t given_size = 0;
    memset(options, 0, size);
    if (given) {
        memcpy(&given_size, given, sizeof given_size);
        const int broken = given_size % _Alignof(double) != 0; /* cuts a field: no sizeof does */
        if (!given_size) given_size = first_size;
        MG_REQUIRE(given_size >= first_size && !broken, error, MARGIN_ERROR_ARGUMENT,
                   "options.size is %zu; set it to sizeof(%s), which is %zu", given_size, type,
                   size);
        for (size_t k = size; k < given_size; k++)
            MG_REQUIRE(((const char *)given)[k] == 0, error, MARGIN_ERROR_ARGUMENT,
                       "the options were made for a later version (size %zu, here %zu) and set "
                       "what this one does not know; use a newer libmargin",
                       given_size, size);
        memcpy(options, given, MG_MIN(given_size, size));
    }
    memcpy(options, &size, sizeof size);
    return MARGIN_OK;
}

static size_t result_size(const void *place, mg_result_type type) {
    size_t size;
    memcpy(&size, place, sizeof size);
    return size ? size : type.first;
}

margin_status mg_result_check(const void *place, mg_result_type type, margin_error *error) {
    MG_REQUIRE(place, error, MARGIN_ERROR_ARGUMENT, "the place for the result, a %s, is NULL",
               type.name);
    const size_t size = result_size(place, type);
    MG_REQUIRE(size >= type.first && size <= 16 * type.now, error, MARGIN_ERROR_ARGUMENT,
               "the size of the result is %zu; set it to sizeof(%s), which is %zu", size, type.name,
               type.now);
    return MARGIN_OK;
}

void mg_result_give(void *place, mg_result_type type, const void *found) {
    size_t given;
    const size_t size = result_size(place, type);
    memcpy(&given, place, sizeof given);
    memset(place, 0, size);
    memcpy(place, found, MG_MIN(size, type.now));
    memcpy(place, &given, sizeof given);
}
