/* Sets of values to search over: {a,b,c}, {low..high log|lin count} and {low..high}. */
#include "base/text/decimal.h"
#include "model/spec/spec_parser.h"

#include <math.h>
#include <string.h>

/* ---- Values of a range ----------------------------------------------------------------------- */

/* So many that a person would write no more, so few that rounding errors do not reach them. */
enum { DIGITS = 13 };

/* Nearest multiple of 10^power. Where the scale would overflow the value stays as it is. */
static double round_to_power(double value, int power) {
    const double scaled = round(fabs(value) * pow(10, -power));
    if (!(scaled < 1e18)) return value;
    return mg_round_f64((uint64_t)scaled, power, value < 0);
}

/* Significant digits at the magnitude of `scale`. */
static double round_digits(double value, double scale) {
    return round_to_power(value, (int)floor(log10(fabs(scale))) + 1 - DIGITS);
}

static double range_value(const mg_spec_set *set, int64_t k) {
    const double low = set->low, high = set->high;
    if (k == 0) return low;
    if (k == set->count - 1) return high;
    const double part = (double)k / (double)(set->count - 1);
    double value;
    if (set->logarithmic) {
        const double ratio = high / low; /* may overflow */
        value = isfinite(ratio) ? low * pow(ratio, part) : pow(low, 1 - part) * pow(high, part);
        value = round_digits(value, value);
    } else {
        value = round_digits(low * (1 - part) + high * part, fmax(fabs(low), fabs(high)));
    }
    return fmin(fmax(value, low), high);
}

mg_option_value mg_spec_set_value(const margin_spec *spec, const mg_spec_set *set, int64_t k) {
    if (set->values) return set->values[k];
    const margin_component *info = spec->components[set->component].info;
    mg_option_value value = {.given = true, .number = range_value(set, k), .integer = -1};
    if (info->options[set->option].type == MARGIN_OPTION_INTEGER) {
        value.number = round(value.number);
        value.integer = (int64_t)value.number;
    }
    return value;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

typedef struct place { /* which option a set is read for */
    const margin_option *option;
    int64_t position; /* of the opening brace */
} place;

static margin_status add_set(mg_parser *p, const mg_spec_set *set, int64_t position) {
    margin_spec *spec = p->spec;
    if (set->count > MG_SPEC_MAX_VARIANTS / spec->variants)
        return mg_fail_spec(p->error, position,
                            "the sets stand for more than %lld specs; use smaller ones",
                            (long long)MG_SPEC_MAX_VARIANTS);
    spec->variants *= set->count;
    int k = spec->set_count++;
    for (; k > 0 && spec->sets[k - 1].component == set->component &&
           spec->sets[k - 1].option > set->option;
         k--)
        spec->sets[k] = spec->sets[k - 1];
    spec->sets[k] = *set;
    return MARGIN_OK;
}

static margin_status fail_large(const mg_parser *p, const place *at) {
    return mg_fail_spec(p->error, at->position, "a set has at most %d values", MG_SPEC_MAX_SET);
}

/* Doubles the room of a list of values in the arena. */
static margin_status grow(mg_parser *p, mg_option_value **values, int64_t count, int64_t *room) {
    if (count < *room) return MARGIN_OK;
    const int64_t wanted = *room ? 2 * *room : 8;
    mg_option_value *more = mg_arena_new(&p->spec->arena, wanted, sizeof *more);
    if (!more) return mg_no_memory(p->spec->heap, wanted, sizeof *more, "a set", p->error);
    if (count) memcpy(more, *values, (size_t)count * sizeof *more);
    *values = more;
    *room = wanted;
    return MARGIN_OK;
}

static margin_status check_new(const mg_parser *p, const place *at, const mg_token *token,
                               const mg_option_value *values, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (mg_option_equal(&values[k], &values[count]))
            return mg_fail_spec(p->error, token->position, "%s is in the set of %s twice",
                                mg_excerpt(token->text, token->length).text, at->option->name);
    return MARGIN_OK;
}

/* Further values of {a,b,c}; the first is already read, the token stands behind it. */
static margin_status parse_list(mg_parser *p, int option, const place *at,
                                const mg_option_value *first, mg_spec_set *set) {
    mg_option_value *values = NULL;
    int64_t count = 1, room = 0;
    MG_TRY(grow(p, &values, 0, &room));
    values[0] = *first;
    while (mg_parser_at(p, ',')) {
        MG_TRY(mg_parser_next(p));
        if (count == MG_SPEC_MAX_SET) return fail_large(p, at);
        const mg_token token = p->token;
        MG_TRY(grow(p, &values, count, &room));
        MG_TRY(mg_parse_value(p, option, &values[count]));
        MG_TRY(check_new(p, at, &token, values, count));
        count++;
    }
    set->values = values;
    set->count = count;
    return MARGIN_OK;
}

static bool token_is(const mg_parser *p, const char *word) {
    return p->token.kind == MG_TOKEN_WORD && p->token.length == (int64_t)strlen(word) &&
           memcmp(p->token.text, word, strlen(word)) == 0;
}

/* The count at the end of a range. */
static margin_status parse_count(mg_parser *p, const place *at, mg_spec_set *set) {
    double count;
    if (p->token.kind != MG_TOKEN_WORD ||
        !margin_number_parse_f64(p->token.text, (size_t)p->token.length, &count) ||
        count != floor(count) || count < 2)
        return mg_fail_spec(p->error, p->token.position,
                            "the range of %s ends with how many values it gives, 2 or more, as in "
                            "{1..100 log 3}; found %s",
                            at->option->name, mg_parser_found(p).text);
    if (count > MG_SPEC_MAX_SET) return fail_large(p, at);
    set->count = (int64_t)count;
    return mg_parser_next(p);
}

/* Values of a range for whole numbers are rounded, and may then coincide. */
static margin_status check_whole(const mg_parser *p, const place *at, const mg_spec_set *set) {
    if (at->option->type != MARGIN_OPTION_INTEGER) return MARGIN_OK;
    for (int64_t k = 1; k < set->count; k++)
        if (mg_spec_set_value(p->spec, set, k).integer ==
            mg_spec_set_value(p->spec, set, k - 1).integer)
            return mg_fail_spec(p->error, at->position,
                                "%s takes whole numbers, and this range gives %lld twice; ask for "
                                "fewer values",
                                at->option->name,
                                (long long)mg_spec_set_value(p->spec, set, k).integer);
    return MARGIN_OK;
}

static margin_status check_bounds(const mg_parser *p, const place *at, const mg_spec_set *set) {
    if (!isfinite(set->low) || !isfinite(set->high) || !(set->low < set->high))
        return mg_fail_spec(p->error, at->position,
                            "a range goes from a lower to a higher number; %s..%s does not",
                            mg_number(set->low).text, mg_number(set->high).text);
    if (set->logarithmic && !(set->low > 0))
        return mg_fail_spec(p->error, at->position,
                            "a log range starts above 0; use lin, or list the values");
    return MARGIN_OK;
}

/* {low..high} of whole numbers: each of them. */
static margin_status count_each(mg_parser *p, const place *at, mg_spec_set *set) {
    MG_TRY(check_bounds(p, at, set));
    if (set->high - set->low >= MG_SPEC_MAX_SET) return fail_large(p, at);
    set->count = (int64_t)(set->high - set->low) + 1;
    set->each = true;
    return MARGIN_OK;
}

/* {low..high log|lin count} or, of whole numbers, {low..high}; low is already read, the token is
 * "..". */
static margin_status parse_range(mg_parser *p, int option, const place *at,
                                 const mg_option_value *low, mg_spec_set *set) {
    mg_option_value high;
    const int64_t dots = p->token.position;
    MG_TRY(mg_parser_next(p));
    MG_TRY(mg_parse_value(p, option, &high));
    const bool numeric =
        at->option->type == MARGIN_OPTION_NUMBER || at->option->type == MARGIN_OPTION_INTEGER;
    if (!numeric || low->text || high.text)
        return mg_fail_spec(p->error, dots,
                            "a range is made of numbers; list the values of %s: {a,b}",
                            at->option->name);
    set->low = low->number;
    set->high = high.number;
    if (mg_parser_at(p, '}') && at->option->type == MARGIN_OPTION_INTEGER)
        return count_each(p, at, set);
    set->logarithmic = token_is(p, "log");
    if (!set->logarithmic && !token_is(p, "lin"))
        return mg_fail_spec(p->error, p->token.position,
                            "a range needs log or lin and a count, as in {%s..%s lin 5}; found %s",
                            mg_number(set->low).text, mg_number(set->high).text,
                            mg_parser_found(p).text);
    MG_TRY(mg_parser_next(p));
    MG_TRY(parse_count(p, at, set));
    MG_TRY(check_bounds(p, at, set));
    return check_whole(p, at, set);
}

margin_status mg_parse_set(mg_parser *p, int option, mg_option_value *value) {
    margin_spec *spec = p->spec;
    const margin_component *info = spec->components[spec->component_count - 1].info;
    const place at = {&info->options[option], p->token.position};
    mg_spec_set set = {.component = spec->component_count - 1, .option = option};
    MG_TRY(mg_parser_next(p));
    if (mg_parser_at(p, '}'))
        return mg_fail_spec(p->error, at.position, "the set of %s is empty", at.option->name);
    if (mg_parser_at(p, '{'))
        return mg_fail_spec(p->error, p->token.position, "a set cannot hold another set");
    mg_option_value first;
    MG_TRY(mg_parse_value(p, option, &first));
    MG_TRY(p->token.kind == MG_TOKEN_DOTS ? parse_range(p, option, &at, &first, &set)
                                          : parse_list(p, option, &at, &first, &set));
    if (p->token.kind == MG_TOKEN_END)
        return mg_fail_spec(p->error, at.position, "the brace { after %s= is never closed",
                            at.option->name);
    if (!mg_parser_at(p, '}'))
        return mg_fail_spec(p->error, p->token.position,
                            "a comma or } is missing before %s in the set of %s",
                            mg_parser_found(p).text, at.option->name);
    MG_TRY(mg_parser_next(p));
    if (set.count > 1) MG_TRY(add_set(p, &set, at.position));
    *value = first;
    return MARGIN_OK;
}

/* ---- Variants -------------------------------------------------------------------------------- */

void mg_spec_places(const margin_spec *spec, int64_t index, int64_t *places) {
    for (int k = spec->set_count - 1; k >= 0; k--) {
        places[k] = index % spec->sets[k].count;
        index /= spec->sets[k].count;
    }
}

int64_t mg_spec_index(const margin_spec *spec, const int64_t *places) {
    int64_t index = 0;
    for (int k = 0; k < spec->set_count; k++)
        index = index * spec->sets[k].count + MG_MAX(places[k], 0);
    return index;
}

margin_status mg_spec_at(const margin_spec *spec, const int64_t *places, margin_spec **variant,
                         margin_error *error) {
    mg_text text;
    mg_text_init(&text, spec->heap);
    mg_spec_print(spec, places, &text);
    margin_status status = mg_text_check(&text, "the text of a spec", error);
    if (status >= 0) status = mg_spec_parse(spec->heap, text.data, variant, error);
    mg_text_free(&text);
    return status;
}

margin_status mg_spec_variant(const margin_spec *spec, int64_t index, margin_spec **variant,
                              margin_error *error) {
    int64_t places[MG_SPEC_MAX_SETS];
    mg_spec_places(spec, index, places);
    return mg_spec_at(spec, places, variant, error);
}

margin_status margin_spec_variant(const margin_spec *spec, int64_t index, margin_spec **variant,
                                  margin_error *error) {
    MG_GIVEN(error, {spec, "spec"}, {variant, "place for the variant"});
    MG_REQUIRE(index >= 0 && index < spec->variants, error, MARGIN_ERROR_ARGUMENT,
               "the spec stands for %lld specs, and there is no number %lld of them (from 0)",
               (long long)spec->variants, (long long)index);
    return mg_spec_variant(spec, index, variant, error);
}
