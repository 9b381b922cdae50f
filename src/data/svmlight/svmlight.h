/* The parts of the svmlight reader: reading the rows (svmlight.c), then giving columns and labels
 * their meaning. */
#pragma once

#include "data/source/source.h"
#include "data/svmlight/svmlight_block.h"
#include "data/table/table.h"

typedef struct mg_svmlight {
    margin_context *context;
    const mg_source *source;
    margin_read_options options;
    const mg_svmlight_parser *parser;
    mg_svmlight_rules rules;
    mg_svmlight_block *blocks;
    int64_t block_count;
    margin_table *table;

    /* Over all blocks; indices as written, first > last: there are none. */
    int64_t first_index, last_index;
    int64_t unlabelled;
    const char *first_unlabelled;
    bool named_label, query_ids;
} mg_svmlight;

/* The column that holds a row's label, for references by name. */
#define MG_SVMLIGHT_LABEL "label"

/* Decides what indices count from, how many columns there are, and which of them are features,
 * target or weights. `label` tells what part the label plays and whether it is a category. */
margin_status mg_svmlight_columns(mg_svmlight *reader, mg_column_plan *label, margin_error *error);

/* Makes the labels that were read the table's target: numbers, or categories if they are names or
 * wanted as such. */
margin_status mg_svmlight_target(mg_svmlight *reader, const mg_column_plan *label,
                                 margin_error *error);
