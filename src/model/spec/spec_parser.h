/* What the parts of the parser share: spec_parse.c (grammar) and spec_sets.c (sets). */
#pragma once

#include "model/spec/spec_components.h"
#include "model/spec/spec_scan.h"

typedef struct mg_parser {
    mg_scanner scanner;
    mg_token token; /* the next one, not used up yet */
    margin_spec *spec;
    margin_error *error;
} mg_parser;

margin_status mg_parser_next(mg_parser *parser); /* uses the token up and reads the one behind */
bool mg_parser_at(const mg_parser *parser, char sign);

typedef struct mg_found_text {
    char text[80];
} mg_found_text;
mg_found_text mg_parser_found(const mg_parser *parser); /* the token for a message, quoted */

/* Reads the token as a value of an option of the last component, and goes on. */
margin_status mg_parse_value(mg_parser *parser, int option, mg_option_value *value);
/* Reads a set, its opening brace being the token; *value becomes its first value. */
margin_status mg_parse_set(mg_parser *parser, int option, mg_option_value *value);

/* Text of the spec with value chosen[k] of set k, below 0: without that option (chosen NULL: the
 * sets themselves). */
void mg_spec_print(const margin_spec *spec, const int64_t *chosen, mg_text *out);
margin_status mg_spec_parse(mg_heap *heap, const char *text, margin_spec **spec,
                            margin_error *error);
/* The set that stands for an option, -1: none. */
int mg_spec_set_of(const margin_spec *spec, int64_t component, int option);
