/* Canonical text of a spec, and what callers ask of one. */
#include "model/spec/spec_parser.h"

static void print_set(const margin_spec *spec, const mg_spec_set *set, mg_text *out) {
    const margin_option *option = &spec->components[set->component].info->options[set->option];
    mg_text_puts(out, "{");
    if (set->values) {
        for (int64_t k = 0; k < set->count; k++) {
            if (k) mg_text_puts(out, ",");
            mg_option_print(option, &set->values[k], out);
        }
    } else {
        mg_text_number(out, set->low);
        mg_text_puts(out, "..");
        mg_text_number(out, set->high);
        if (!set->each) {
            mg_text_puts(out, set->logarithmic ? " log " : " lin ");
            mg_text_integer(out, set->count);
        }
    }
    mg_text_puts(out, "}");
}

int mg_spec_set_of(const margin_spec *spec, int64_t component, int option) {
    for (int k = 0; k < spec->set_count; k++)
        if (spec->sets[k].component == component && spec->sets[k].option == option) return k;
    return -1;
}

static void print_component(const margin_spec *spec, int component, const int64_t *chosen,
                            mg_text *out) {
    const mg_spec_component *c = &spec->components[component];
    const char *before = "(";
    mg_text_puts(out, c->info->name);
    for (int k = 0; k < c->info->option_count; k++) {
        if (!c->options[k].given) continue;
        const int set = mg_spec_set_of(spec, component, k);
        if (set >= 0 && chosen && chosen[set] < 0) continue;
        mg_text_puts(out, before);
        mg_text_puts(out, c->info->options[k].name);
        mg_text_puts(out, "=");
        if (set >= 0 && !chosen) {
            print_set(spec, &spec->sets[set], out);
        } else {
            const mg_option_value value =
                set < 0 ? c->options[k] : mg_spec_set_value(spec, &spec->sets[set], chosen[set]);
            mg_option_print(&c->info->options[k], &value, out);
        }
        before = ", ";
    }
    if (*before == ',') mg_text_puts(out, ")");
}

void mg_spec_print(const margin_spec *spec, const int64_t *chosen, mg_text *out) {
    for (int k = 0; k < mg_spec_written(spec); k++) {
        if (k) mg_text_puts(out, " | ");
        print_component(spec, k, chosen, out);
    }
}

const char *margin_spec_text(const margin_spec *spec) {
    return spec ? spec->text : "";
}

int64_t margin_spec_variants(const margin_spec *spec) {
    return spec ? spec->variants : 0;
}

const margin_component *margin_spec_learner(const margin_spec *spec) {
    return mg_spec_learner(spec)->info;
}

const mg_spec_component *mg_spec_learner(const margin_spec *spec) {
    return &spec->components[spec->component_count - 1];
}

int mg_spec_written(const margin_spec *spec) {
    return spec->component_count - mg_is_transform(mg_spec_learner(spec)->learner);
}

const mg_option_value *mg_spec_option(const mg_spec_component *component, const char *name) {
    const int option = mg_option_index(component->info, name);
    return option < 0 ? NULL : &component->options[option];
}
