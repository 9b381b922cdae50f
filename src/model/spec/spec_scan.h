/* Cuts the text of a spec into tokens. */
#pragma once

#include "learn/options.h"

typedef enum mg_token_kind {
    MG_TOKEN_END,
    MG_TOKEN_WORD,   /* names, numbers, bare values */
    MG_TOKEN_QUOTED, /* text without its quotes and escapes */
    MG_TOKEN_DOTS,   /* .. */
    MG_TOKEN_SIGN    /* one of | ( ) = , { } : text[0] */
} mg_token_kind;

typedef struct mg_token {
    mg_token_kind kind;
    const char *text; /* in the spec, or in the arena if it had escapes */
    int64_t length;
    int64_t position; /* of its first byte, a quote included */
} mg_token;

typedef struct mg_scanner {
    const char *text;
    int64_t length, at;
    mg_arena *arena;
    margin_error *error;
} mg_scanner;

/* Refuses a text that is too long or not UTF-8. */
margin_status mg_scanner_init(mg_scanner *scanner, const char *text, mg_arena *arena,
                              margin_error *error);
/* SPEC on a stray character or an open quote, MEMORY. */
margin_status mg_scanner_next(mg_scanner *scanner, mg_token *token);
