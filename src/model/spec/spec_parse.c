/* Text to spec: grammar, names, options. Sets are in spec_sets.c. */
#include "base/text/nearest.h"
#include "features/columns/stages.h"
#include "model/spec/spec_parser.h"

#include <stdio.h>
#include <string.h>

margin_status mg_parser_next(mg_parser *p) {
    return mg_scanner_next(&p->scanner, &p->token);
}

bool mg_parser_at(const mg_parser *p, char sign) {
    return p->token.kind == MG_TOKEN_SIGN && p->token.text[0] == sign;
}

/* "found ')'", for the end of a sentence. */
mg_found_text mg_parser_found(const mg_parser *p) {
    mg_found_text found;
    if (p->token.kind == MG_TOKEN_END)
        snprintf(found.text, sizeof found.text, "the end of the spec");
    else
        snprintf(found.text, sizeof found.text, "\"%s\"",
                 mg_excerpt(p->token.text, p->token.length).text);
    return found;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static mg_name_list names_of(margin_component_kind kind) {
    mg_name_list list = {0};
    for (int k = 0; k < margin_component_count(); k++)
        if (margin_component_at(k)->kind == (int32_t)kind)
            mg_name_list_add(&list, margin_component_at(k)->name, "");
    return list;
}

/* Well-known methods of other libraries, which are no slips of the pen: rf is not rbf. */
static bool is_elsewhere(const mg_token *t) {
    static const char *const names[] = {
        "adaboost", "boosting",      "dbscan",  "decision-tree", "decisiontree", "forest",
        "gbm",      "gmm",           "lda",     "lightgbm",      "mlp",          "neural-network",
        "pca",      "random-forest", "qda",     "randomforest",  "rf",           "svd",
        "tree",     "tsne",          "xgboost", "catboost",      "umap",         "nn"};
    for (int k = 0; k < MG_LENGTH(names); k++)
        if ((int64_t)strlen(names[k]) == t->length && mg_ends_with(t->text, t->length, names[k]))
            return true;
    return false;
}

static margin_status fail_unknown_component(const mg_parser *p) {
    const mg_token *t = &p->token;
    const bool elsewhere = is_elsewhere(t);
    mg_nearest nearest = mg_nearest_begin(t->text, t->length);
    for (int k = 0; k < margin_component_count(); k++) {
        const char *name = margin_component_at(k)->name;
        mg_nearest_offer(&nearest, name, (int64_t)strlen(name));
    }
    if (nearest.best && !elsewhere)
        return mg_fail_spec(p->error, t->position,
                            "there is no stage or learner %s; did you mean %s?",
                            mg_excerpt(t->text, t->length).text, nearest.best);
    return mg_fail_spec(p->error, t->position, "%s%s%s; learners: %s; stages: %s",
                        elsewhere ? "" : "there is no stage or learner ",
                        mg_excerpt(t->text, t->length).text,
                        elsewhere ? " is not part of margin" : "", names_of(MARGIN_LEARNER).text,
                        names_of(MARGIN_STAGE).text);
}

static const margin_component *find_component(const char *name, int64_t length) {
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *component = margin_component_at(k);
        if ((int64_t)strlen(component->name) == length &&
            memcmp(component->name, name, (size_t)length) == 0)
            return component;
    }
    return NULL;
}

static int find_option(const margin_component *info, const mg_token *key) {
    for (int k = 0; k < info->option_count; k++)
        if ((int64_t)strlen(info->options[k].name) == key->length &&
            memcmp(info->options[k].name, key->text, (size_t)key->length) == 0)
            return k;
    return -1;
}

static margin_status fail_unknown_option(const mg_parser *p, const margin_component *info) {
    const mg_token *key = &p->token;
    mg_nearest nearest = mg_nearest_begin(key->text, key->length);
    mg_name_list known = {0};
    char meant[100] = "";
    for (int k = 0; k < info->option_count; k++) {
        const char *name = info->options[k].name;
        mg_nearest_offer(&nearest, name, (int64_t)strlen(name));
        mg_name_list_add(&known, name, "");
    }
    if (nearest.best) snprintf(meant, sizeof meant, "did you mean %s? ", nearest.best);
    return mg_fail_spec(p->error, key->position, "%s has no option %s; %s%s%s", info->name,
                        mg_excerpt(key->text, key->length).text, meant,
                        info->option_count ? "it takes " : "it takes no options", known.text);
}

/* ---- Options --------------------------------------------------------------------------------- */

static mg_spec_component *last_component(const mg_parser *p) {
    return &p->spec->components[p->spec->component_count - 1];
}

margin_status mg_parse_value(mg_parser *p, int option, mg_option_value *value) {
    const margin_component *info = last_component(p)->info;
    const mg_token *t = &p->token;
    if (t->kind != MG_TOKEN_WORD && t->kind != MG_TOKEN_QUOTED)
        return mg_fail_spec(p->error, t->position, "a value for %s of %s is missing; found %s",
                            info->options[option].name, info->name, mg_parser_found(p).text);
    const mg_written written = {t->text, t->length, t->position, t->kind == MG_TOKEN_QUOTED};
    MG_TRY(mg_option_read(info->name, &info->options[option], &written, &p->spec->arena, value,
                          p->error));
    return mg_parser_next(p);
}

/* Refuses an option that was given before, and a second one of an exclusive group. */
static margin_status check_alone(const mg_parser *p, int option) {
    const mg_spec_component *c = last_component(p);
    const margin_option *table = c->info->options;
    const int64_t position = p->token.position;
    if (c->options[option].given)
        return mg_fail_spec(p->error, position, "%s of %s is given twice", table[option].name,
                            c->info->name);
    for (int k = 0; table[option].group && k < c->info->option_count; k++)
        if (c->options[k].given && table[k].group &&
            strcmp(table[k].group, table[option].group) == 0)
            return mg_fail_spec(p->error, position, "%s and %s of %s exclude each other; give one",
                                table[k].name, table[option].name, c->info->name);
    return MARGIN_OK;
}

/* key=value */
static margin_status parse_option(mg_parser *p) {
    mg_spec_component *c = last_component(p);
    if (p->token.kind != MG_TOKEN_WORD)
        return mg_fail_spec(p->error, p->token.position,
                            "the name of an option of %s is missing; found %s", c->info->name,
                            mg_parser_found(p).text);
    const int option = find_option(c->info, &p->token);
    if (option < 0) return fail_unknown_option(p, c->info);
    MG_TRY(check_alone(p, option));
    MG_TRY(mg_parser_next(p));
    const char *name = c->info->options[option].name;
    if (!mg_parser_at(p, '='))
        return mg_fail_spec(p->error, p->token.position,
                            "%s needs a value, written %s=...; found %s", name, name,
                            mg_parser_found(p).text);
    MG_TRY(mg_parser_next(p));
    return mg_parser_at(p, '{') ? mg_parse_set(p, option, &c->options[option])
                                : mg_parse_value(p, option, &c->options[option]);
}

/* "(" [ option { "," option } ] ")", the bracket being the token */
static margin_status parse_options(mg_parser *p) {
    const int64_t open = p->token.position;
    const char *name = last_component(p)->info->name;
    MG_TRY(mg_parser_next(p));
    bool more = !mg_parser_at(p, ')');
    while (more) {
        MG_TRY(parse_option(p));
        more = mg_parser_at(p, ',');
        if (more) MG_TRY(mg_parser_next(p));
    }
    if (p->token.kind == MG_TOKEN_END)
        return mg_fail_spec(p->error, open, "the bracket ( after %s is never closed", name);
    if (!mg_parser_at(p, ')'))
        return mg_fail_spec(p->error, p->token.position,
                            "a comma or ) is missing before %s; options of %s are separated by "
                            "commas",
                            mg_parser_found(p).text, name);
    return mg_parser_next(p);
}

/* ---- Components ------------------------------------------------------------------------------ */

static margin_status fill_defaults(mg_parser *p, mg_spec_component *c) {
    const int count = c->info->option_count;
    MG_ARENA_NEW(&p->spec->arena, c->options, MG_MAX(count, 1), "a spec", p->error);
    for (int k = 0; k < count; k++)
        MG_TRY(mg_option_default(c->info->name, &c->info->options[k], &p->spec->arena,
                                 &c->options[k], p->error));
    return MARGIN_OK;
}

static margin_status fail_no_name(const mg_parser *p) {
    const bool first = p->spec->component_count == 0;
    const int64_t position = p->token.position;
    if (p->token.kind == MG_TOKEN_END && first)
        return mg_fail_spec(p->error, position,
                            "the spec is empty; it names a learner, for example perceptron, and "
                            "before it any stages: standardize | perceptron");
    if (p->token.kind == MG_TOKEN_END)
        return mg_fail_spec(p->error, position,
                            "a learner is missing after the last |, for example perceptron");
    return mg_fail_spec(p->error, position, "the name of a stage or learner is missing; found %s%s",
                        mg_parser_found(p).text,
                        p->token.length == 1 && *p->token.text == '{'
                            ? ": a set holds values of an option, and learners are compared as "
                              "specs of their own (margin compare)"
                            : "");
}

static margin_status parse_component(mg_parser *p) {
    margin_spec *spec = p->spec;
    if (p->token.kind != MG_TOKEN_WORD) return fail_no_name(p);
    const margin_component *info = find_component(p->token.text, p->token.length);
    if (!info) return fail_unknown_component(p);
    if (spec->component_count == MG_SPEC_MAX_COMPONENTS)
        return mg_fail_spec(p->error, p->token.position, "a spec has at most %d components",
                            MG_SPEC_MAX_COMPONENTS);
    mg_spec_component *c = &spec->components[spec->component_count++];
    *c = (mg_spec_component){.info = info};
    if (info->kind == MARGIN_STAGE)
        c->stage = mg_stage_find(info->name);
    else
        c->learner = mg_learner_find(info->name);
    MG_TRY(fill_defaults(p, c));
    const int64_t position = p->token.position;
    MG_TRY(mg_parser_next(p));
    if (mg_parser_at(p, '(')) MG_TRY(parse_options(p));
    if (c->learner) {
        c->learner = mg_learner_of(c->learner, c->options);
        c->info = info = &c->learner->info;
        if (c->learner->defaults) c->learner->defaults(info, c->options);
    }

    const bool last = p->token.kind == MG_TOKEN_END;
    if (!last && !mg_parser_at(p, '|'))
        return mg_fail_spec(p->error, p->token.position,
                            "after %s only | and another component may follow, and options go in "
                            "brackets: %s(name=value); found %s",
                            info->name, info->name, mg_parser_found(p).text);
    if (!last && c->learner)
        return mg_fail_spec(p->error, position,
                            "%s is a learner and must come last; only stages may come before |",
                            info->name);
    return MARGIN_OK;
}

static margin_status parse_text(mg_parser *p) {
    MG_TRY(mg_parser_next(p));
    MG_TRY(parse_component(p));
    while (mg_parser_at(p, '|')) {
        MG_TRY(mg_parser_next(p));
        MG_TRY(parse_component(p));
    }
    if (last_component(p)->stage)
        p->spec->components[p->spec->component_count++] = (mg_spec_component){
            .info = &mg_learner_transform.info, .learner = &mg_learner_transform};
    return MARGIN_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static margin_status set_canonical_text(margin_spec *spec, margin_error *error) {
    mg_text text;
    mg_text_init(&text, spec->heap);
    mg_spec_print(spec, NULL, &text);
    const margin_status status = mg_text_check(&text, "the text of a spec", error);
    if (status < 0) mg_text_free(&text);
    if (status >= 0) spec->text = text.data;
    return status;
}

margin_status mg_spec_parse(mg_heap *heap, const char *text, margin_spec **spec,
                            margin_error *error) {
    margin_status status;
    margin_spec *made = mg_new_zero(heap, 1, sizeof *made);
    if (!made) return mg_no_memory(heap, 1, sizeof *made, "a spec", error);
    made->heap = mg_heap_retain(heap);
    made->variants = 1;
    mg_arena_init(&made->arena, heap);
    mg_parser parser = {.spec = made, .error = error};
    made->components =
        mg_arena_new(&made->arena, MG_SPEC_MAX_COMPONENTS + 1, sizeof *made->components);
    if (!made->components)
        MG_GO(
            mg_no_memory(heap, MG_SPEC_MAX_COMPONENTS, sizeof *made->components, "a spec", error));
    MG_GO(mg_scanner_init(&parser.scanner, text, &made->arena, error));
    MG_GO(parse_text(&parser));
    MG_GO(set_canonical_text(made, error));
    *spec = made;
    made = NULL;
done:
    margin_spec_free(made);
    return status;
}

margin_status margin_spec_parse(margin_context *context, const char *text, margin_spec **spec,
                                margin_error *error) {
    MG_GIVEN(error, {text, "text"}, {spec, "spec"});
    if (context) return mg_spec_parse(context->heap, text, spec, error);
    mg_heap *heap;
    MG_TRY(mg_heap_create(NULL, 0, &heap, error));
    const margin_status status = mg_spec_parse(heap, text, spec, error);
    mg_heap_release(heap);
    return status;
}

void margin_spec_free(margin_spec *spec) {
    if (!spec) return;
    mg_heap *heap = spec->heap;
    mg_free(heap, spec->text);
    mg_arena_free(&spec->arena);
    mg_free(heap, spec);
    mg_heap_release(heap);
}
