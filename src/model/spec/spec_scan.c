#include "model/spec/spec_scan.h"

#include "model/spec/spec_components.h"

#include <string.h>

margin_status mg_scanner_init(mg_scanner *scanner, const char *text, mg_arena *arena,
                              margin_error *error) {
    const int64_t length = (int64_t)strnlen(text, (size_t)MG_SPEC_MAX_BYTES + 1);
    if (length > MG_SPEC_MAX_BYTES)
        return mg_fail_spec(error, -1, "the spec is longer than %d bytes", MG_SPEC_MAX_BYTES);
    for (int64_t at = 0; at < length;) {
        const int step = mg_utf8_length(text + at, length - at);
        if (step == 0) return mg_fail_spec(error, at, "this is not UTF-8 text");
        at += step;
    }
    *scanner = (mg_scanner){.text = text, .length = length, .arena = arena, .error = error};
    return MARGIN_OK;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool at_dots(const mg_scanner *s, int64_t at) {
    return at + 1 < s->length && s->text[at] == '.' && s->text[at + 1] == '.';
}

static void take_word(mg_scanner *s, mg_token *token) {
    while (s->at < s->length && mg_is_bare_character(s->text[s->at]) && !at_dots(s, s->at))
        s->at++;
    token->kind = MG_TOKEN_WORD;
    token->length = s->at - token->position;
}

/* Takes off the quotes; \" \' and \\ stand for the second character. */
static margin_status take_quoted(mg_scanner *s, mg_token *token) {
    const char quote = s->text[s->at];
    int64_t end = s->at + 1, escapes = 0;
    for (; end < s->length && s->text[end] != quote; end++) {
        if (s->text[end] != '\\') continue;
        const char next = s->text[end + 1]; /* the final zero at the very end */
        if (next != '"' && next != '\'' && next != '\\')
            return mg_fail_spec(s->error, end,
                                "after a backslash only \", ' and \\ may follow; write \\\\ for a "
                                "backslash itself");
        escapes++;
        end++;
    }
    if (end >= s->length)
        return mg_fail_spec(s->error, token->position, "the quote %c is never closed", quote);
    token->kind = MG_TOKEN_QUOTED;
    token->text = s->text + s->at + 1;
    token->length = end - s->at - 1 - escapes;
    s->at = end + 1;
    if (escapes == 0) return MARGIN_OK;

    char *const plain = mg_arena_new(s->arena, token->length, 1);
    if (!plain) return mg_no_memory(s->arena->heap, token->length, 1, "a spec", s->error);
    const char *from = token->text;
    for (int64_t k = 0; k < token->length; k++) {
        if (*from == '\\') from++;
        plain[k] = *from++;
    }
    token->text = plain;
    return MARGIN_OK;
}

/* The bare value that the stray character at s->at stands in, [from, to): up to the end of the
 * arguments or to the comma before the next `name=`. False: it stands in none. */
static bool value_around(const mg_scanner *s, int64_t *from, int64_t *to) {
    static const char bounds[] = "|()={}\"'";
    int64_t first = s->at, last = s->at;
    while (first > 0 && !strchr(bounds, s->text[first - 1]))
        first--;
    if (first == 0 || s->text[first - 1] != '=') return false;
    while (last < s->length && !strchr(bounds, s->text[last]))
        last++;
    if (last < s->length && s->text[last] == '=')
        while (last > s->at && s->text[last] != ',')
            last--;
    *from = first;
    *to = last;
    return last > s->at;
}

static margin_status refuse_character(const mg_scanner *s) {
    int64_t from, to;
    const char next = s->text[s->at] == '[' ? s->text[s->at + 1] : 0;
    if (next >= '0' && next <= '9' && s->at > 0 && s->text[s->at - 1] == '=')
        return mg_fail_spec(s->error, s->at,
                            "the character '[' has no meaning here; a set to search over is "
                            "written {1, 10, 100} or {1e-3..1e3 log 7}, a list in quotes: "
                            "\"1,2,3\"");
    if (!value_around(s, &from, &to))
        return mg_fail_spec(s->error, s->at,
                            "the character '%c' has no meaning here; put texts "
                            "with such characters in quotes",
                            s->text[s->at]);
    return mg_fail_spec(s->error, s->at,
                        "the character '%c' has no meaning here; put the text in quotes: "
                        "%.*s\"%.*s\"%s",
                        s->text[s->at], (int)from, s->text, (int)(to - from), s->text + from,
                        s->text + to);
}

margin_status mg_scanner_next(mg_scanner *s, mg_token *token) {
    while (s->at < s->length && is_space(s->text[s->at]))
        s->at++;
    *token = (mg_token){MG_TOKEN_END, s->text + s->at, 0, s->at};
    if (s->at >= s->length) return MARGIN_OK;
    const char c = s->text[s->at];
    if (at_dots(s, s->at)) {
        token->kind = MG_TOKEN_DOTS;
        token->length = 2;
        s->at += 2;
    } else if (mg_is_bare_character(c)) {
        take_word(s, token);
    } else if (c == '"' || c == '\'') {
        return take_quoted(s, token);
    } else if (strchr("|()=,{}", c)) {
        token->kind = MG_TOKEN_SIGN;
        token->length = 1;
        s->at++;
    } else {
        return refuse_character(s);
    }
    return MARGIN_OK;
}
