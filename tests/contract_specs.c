#include "contract_specs.h"

#include "learn/learner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_option(const margin_component *component, const char *name) {
    for (int o = 0; o < component->option_count; o++)
        if (strcmp(component->options[o].name, name) == 0) return true;
    return false;
}

/* Enough passes to learn, few enough to be quick; only if the learner knows the option. */
static const char *limit_of(const margin_component *learner) {
    if (has_option(learner, "passes")) return "passes=6";
    return has_option(learner, "max_iter") ? "max_iter=50" : "";
}

/* Adds a spec unless its options exclude each other. */
static void add_spec(contract *f, const margin_component *stage, const margin_component *learner,
                     const char *option, const char *value, int value_length) {
    if ((option || stage) && f->passed_over++ % SUPPORT_SLOWER != 0) return;
    assert_true(f->count < MOST_SPECS);
    entry *e = &f->entries[f->count];
    const char *limit = limit_of(learner);
    if (option && strncmp(limit, option, strlen(option)) == 0) limit = "";
    snprintf(e->text, sizeof e->text, "%s%s%s(%s%s%s%s%.*s)", stage ? stage->name : "",
             stage ? " | " : "", learner->name, limit, limit[0] && option ? ", " : "",
             option ? option : "", option ? "=" : "", value_length, value ? value : "");
    e->learner = learner;
    e->stage = stage;

    margin_spec *spec = NULL;
    margin_error error = {0};
    margin_data data = sample_data(f->two, DENSE_F64);
    margin_model *model = NULL;
    margin_status status = margin_spec_parse(f->context, e->text, &spec, &error);
    if (status >= 0) status = margin_fit(f->context, spec, &data, &model, NULL, &error);
    margin_spec_free(spec);
    margin_model_free(model);
    if (status == MARGIN_ERROR_SPEC && option) return; /* does not go with the other options */
    /* counts: the sample has none, and a stage has no such option */
    if (status == MARGIN_ERROR_DATA && option && strstr(error.text, "not negative")) return;
    if (status == MARGIN_ERROR_DATA && option && strstr(error.text, "not square")) return;
    /* kernel=sigmoid is no inner product: there may be no least */
    if (status == MARGIN_ERROR_DATA && option && strstr(error.text, "not positive definite"))
        return;
    if (status < 0) fail_msg("%s: %s", e->text, error.text);
    f->count++;
}

/* Every stage with one learner of each kind; others with the stages that concern learners too, the
 * affine ones. */
static bool goes_with(const margin_component *stage, const margin_component *learner) {
    static const char *const all[] = {"logistic", "perceptron", "ridge"};
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++)
        if (strcmp(learner->name, all[k]) == 0) return true;
    return mg_stage_find(stage->name)->affine != NULL;
}

static void add_learner(contract *f, const margin_component *learner) {
    add_spec(f, NULL, learner, NULL, NULL, 0);
    for (int o = 0; o < learner->option_count; o++) {
        const margin_option *option = &learner->options[o];
        const char *choice = option->type == MARGIN_OPTION_CHOICE ? option->choices : NULL;
        while (choice) {
            const char *end = strchr(choice, '|');
            int length = end ? (int)(end - choice) : (int)strlen(choice);
            add_spec(f, NULL, learner, option->name, choice, length);
            if (has_option(learner, "multiclass") && strcmp(option->name, "multiclass") != 0 &&
                strcmp(option->name, "solver") != 0) {
                char pairs[64]; /* and each choice for pairs of classes */
                snprintf(pairs, sizeof pairs, "%.*s, multiclass=ovo", length, choice);
                add_spec(f, NULL, learner, option->name, pairs, (int)strlen(pairs));
            }
            choice = end ? end + 1 : NULL;
        }
        if (option->type == MARGIN_OPTION_SWITCH) {
            add_spec(f, NULL, learner, option->name, "yes", 3);
            add_spec(f, NULL, learner, option->name, "no", 2);
        }
    }
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *stage = margin_component_at(i);
        if (stage->kind == MARGIN_STAGE && goes_with(stage, learner))
            add_spec(f, stage, learner, NULL, NULL, 0);
    }
}

int contract_set_up(void **state) {
    contract *f = calloc(1, sizeof *f);
    f->context = support_context(NULL, 2);
    f->two = sample_make(70, 5, 2, 0.05, 101);
    f->three = sample_make(70, 5, 3, 0.05, 102);
    int learners = 0;
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *component = margin_component_at(i);
        if (component->kind != MARGIN_LEARNER) continue;
        add_learner(f, component);
        learners++;
    }
    assert_true(learners >= 1);
    assert_true(f->count > learners);
    *state = f;
    return 0;
}

int contract_tear_down(void **state) {
    contract *f = *state;
    if (!f) return 0; /* the set-up failed */
    sample_free(f->two);
    sample_free(f->three);
    margin_context_free(f->context);
    free(f);
    return 0;
}

const sample *contract_sample(const contract *f, int many) {
    return many ? f->three : f->two;
}
