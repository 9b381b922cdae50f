/* A spec as data: its steps, what each says, the same spec with one thing said otherwise. */
#include "model/spec/spec_parser.h"

#include <math.h>
#include <string.h>

int64_t margin_spec_steps(const margin_spec *spec) {
    return spec ? mg_spec_written(spec) : 0;
}

static const mg_spec_component *step_at(const margin_spec *spec, int64_t step) {
    return spec && step >= 0 && step < mg_spec_written(spec) ? &spec->components[step] : NULL;
}

const margin_component *margin_spec_step(const margin_spec *spec, int64_t step) {
    const mg_spec_component *c = step_at(spec, step);
    return c ? c->info : NULL;
}

int margin_spec_setting(const margin_spec *spec, int64_t step, const char *option,
                        margin_setting *setting) {
    const mg_spec_component *c = step_at(spec, step);
    const int k = c && option ? mg_option_index(c->info, option) : -1;
    const mg_result_type type = MG_RESULT(margin_setting, count);
    if (k < 0 || mg_result_check(setting, type, NULL) < 0) return 0;
    const mg_option_value *value = &c->options[k];
    const int set = mg_spec_set_of(spec, step, k);
    const bool is_switch = c->info->options[k].type == MARGIN_OPTION_SWITCH;
    const margin_setting found = {.option = c->info->options[k].name,
                                  .given = value->given,
                                  .values = set < 0 ? 1 : spec->sets[set].count,
                                  .number = is_switch ? (double)value->integer : value->number,
                                  .word = value->text,
                                  .numbers = value->numbers,
                                  .count = value->count};
    mg_result_give(setting, type, &found);
    return 1;
}

/* What the caller said as the value of an option; ranges and words are the parser's to check. */
static margin_status value_of(const margin_component *info, const margin_option *option,
                              const margin_setting *setting, mg_option_value *value,
                              margin_error *error) {
    const margin_option_type type = option->type;
    const bool texts = type == MARGIN_OPTION_CHOICE || type == MARGIN_OPTION_TEXT;
    *value = (mg_option_value){.given = true, .number = setting->number, .integer = -1};
    if (type == MARGIN_OPTION_SWITCH) {
        MG_REQUIRE(setting->number == 0 || setting->number == 1, error, MARGIN_ERROR_ARGUMENT,
                   "%s of %s is a switch: its number is 0 or 1", option->name, info->name);
        value->integer = (int64_t)setting->number;
    } else if (type == MARGIN_OPTION_NUMBERS) {
        MG_REQUIRE(setting->numbers && setting->count > 0, error, MARGIN_ERROR_ARGUMENT,
                   "%s of %s is a list of numbers, and there are none", option->name, info->name);
        value->numbers = setting->numbers;
        value->count = setting->count;
    } else {
        MG_REQUIRE(setting->word || !texts, error, MARGIN_ERROR_ARGUMENT,
                   "%s of %s is a word, and it is NULL", option->name, info->name);
        value->text = setting->word;
    }
    return MARGIN_OK;
}

/* The text of the spec with that value, in which the parser then finds what is wrong with it. */
static margin_status print_with(const margin_spec *spec, int64_t step, int option,
                                const mg_option_value *value, mg_text *out, margin_error *error) {
    margin_spec changed = *spec;
    const mg_spec_component *c = &spec->components[step];
    const int set = mg_spec_set_of(spec, step, option);
    mg_spec_component components[MG_SPEC_MAX_COMPONENTS + 1];
    mg_option_value *options;
    MG_NEW(spec->heap, options, c->info->option_count, "the options of a spec", error);
    memcpy(components, spec->components, (size_t)spec->component_count * sizeof *components);
    memcpy(options, c->options, (size_t)c->info->option_count * sizeof *options);
    options[option] = *value;
    components[step].options = options;
    changed.components = components;
    if (set >= 0) {
        changed.set_count--;
        memmove(changed.sets + set, changed.sets + set + 1,
                (size_t)(changed.set_count - set) * sizeof *changed.sets);
    }
    mg_spec_print(&changed, NULL, out);
    mg_free(spec->heap, options);
    return mg_text_check(out, "the text of a spec", error);
}

margin_status margin_spec_with(const margin_spec *spec, int64_t step, const margin_setting *setting,
                               margin_spec **changed, margin_error *error) {
    margin_setting asked;
    mg_option_value value = {0};
    MG_GIVEN(error, {spec, "spec"}, {setting, "setting"}, {changed, "place for the changed spec"});
    MG_TRY(mg_options_take(setting, MG_SIZE_UP_TO(margin_setting, count), "margin_setting", &asked,
                           sizeof asked, error));
    const mg_spec_component *c = step_at(spec, step);
    MG_REQUIRE(c, error, MARGIN_ERROR_ARGUMENT, "the spec has no step %lld (from 0)",
               (long long)step);
    const int option = asked.option ? mg_option_index(c->info, asked.option) : -1;
    MG_REQUIRE(option >= 0, error, MARGIN_ERROR_ARGUMENT, "%s has no option %s", c->info->name,
               asked.option ? asked.option : "NULL");
    if (asked.given) MG_TRY(value_of(c->info, &c->info->options[option], &asked, &value, error));
    mg_text text;
    mg_text_init(&text, spec->heap);
    margin_status status = print_with(spec, step, option, &value, &text, error);
    if (status >= 0) status = mg_spec_parse(spec->heap, text.data, changed, error);
    mg_text_free(&text);
    return status;
}
