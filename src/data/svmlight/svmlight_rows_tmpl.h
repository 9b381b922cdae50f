/* Rows with values of type REAL; included by svmlight_block_tmpl.h. */

/* Where the next pair goes. */
typedef struct NAME(output) {
    int32_t *column;
    const int32_t *column_end;
    REAL *value;
} NAME(output);

/* The number behind a colon, whatever it looks like. NULL after a fault; *drop: the row is not
 * wanted. */
static const char *NAME(careful_value)(const mg_svmlight_rules *rules, mg_svmlight_block *block,
                                       const char *p, REAL *value, bool *drop) {
    const char *behind = NAME(mg_read)(p, block->end, value);
    if (behind == NULL || !at_token_end(behind, block->end))
        return fail(block, MG_SVMLIGHT_NO_VALUE, p);
    if (isinf(*value)) return fail(block, MG_SVMLIGHT_VALUE_INFINITE, p);
    if (isnan(*value)) {
        if (rules->missing == MARGIN_MISSING_ERROR)
            return fail(block, MG_SVMLIGHT_VALUE_MISSING, p);
        *drop |= rules->missing == MARGIN_MISSING_DROP;
        block->missing++;
    }
    return behind;
}

/* Reads the pairs from `p` to the end of the line and returns that, NULL after a fault. */
static const char *NAME(read_pairs)(const mg_svmlight_rules *rules, mg_svmlight_block *block,
                                    const char *p, NAME(output) * out, bool *drop) {
    const char *const end = block->end;
    int32_t *column = out->column;
    REAL *value = out->value;
    int64_t previous = rules->zero_index ? -1 : 0;
    for (;;) {
        const mg_pair pair = mg_pair_at(p);
        int64_t index = pair.index;
        const bool fast = pair.number.ok && index > previous && column < out->column_end;
        if (MG_LIKELY(fast)) {
            *value =
                NAME(mg_round)(pair.number.significand, pair.number.power, pair.number.negative);
            const char *behind = p + pair.number.length;
            if (MG_UNLIKELY(*behind != ' ' && !at_token_end(behind, end)))
                return fail(block, MG_SVMLIGHT_NO_VALUE, behind_colon(p));
            /* Without a positive exponent no number of 19 digits is too large. */
            if (MG_UNLIKELY(pair.number.power > 0 && isinf(*value)))
                return fail(block, MG_SVMLIGHT_VALUE_INFINITE, behind_colon(p));
            p = behind;
        } else {
            const careful_step step = careful_index(rules, block, &p, previous, &index);
            if (step == LOOK_AGAIN) continue;
            if (step == LINE_ENDS) break;
            if (step == GIVEN_UP) return NULL;
            if (column >= out->column_end) return fail(block, MG_SVMLIGHT_CHANGED, p);
            p = NAME(careful_value)(rules, block, p, value, drop);
            if (p == NULL) return NULL;
        }
        *column++ = (int32_t)(index - rules->base);
        value++;
        previous = index;
        if (MG_LIKELY(*p == ' '))
            p++;
        else if (at_line_end(p, end))
            break;
    }
    if (column != out->column) block->last_index = MG_MAX(block->last_index, previous);
    out->column = column;
    out->value = value;
    return p;
}

static void NAME(parse)(const mg_svmlight_rules *rules, mg_svmlight_block *block) {
    NAME(output) out = {block->columns, block->columns + block->pair_room, block->values};
    const char *p = block->begin, *const end = block->end;
    int64_t row = 0;
    block->first_index = INT64_MAX;
    block->last_index = -1;
    while (p < end) {
        p = skip_blanks(p);
        if (at_line_end(p, end)) {
            p = next_line(p, end);
            continue;
        }
        if (row == block->row_room) {
            fail(block, MG_SVMLIGHT_CHANGED, p);
            return;
        }
        const NAME(output) row_begin = out;
        const int64_t missing_before = block->missing;
        double label;
        bool drop = false;
        const char *const line = p;
        p = read_label(rules, block, line, &label, &drop);
        if (p == NULL) return;
        const bool labelled = p != line;
        p = NAME(read_pairs)(rules, block, p + (*p == ' '), &out, &drop);
        if (p == NULL) return;
        if (out.column != row_begin.column)
            block->first_index =
                MG_MIN(block->first_index, (int64_t)*row_begin.column + rules->base);
        if (MG_UNLIKELY(drop)) {
            out = row_begin;
            block->missing = missing_before;
            block->rows_dropped++;
        } else {
            if (MG_UNLIKELY(!labelled) && block->unlabelled++ == 0) block->first_unlabelled = line;
            block->labels[row] = label;
            block->row_ends[row++] = block->first_pair + (out.column - block->columns);
        }
        p = next_line(p, end);
    }
    block->rows = row;
    block->pairs = out.column - block->columns;
}
