/* The option class_weight: weights of classes become weights of their rows, before the problem is
 * cut, so that they mean the same for every learner and in every part. */
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "model/problem/multiclass.h"

#include <string.h>

/* ---- From text to a weight for each class ---------------------------------------------------- */

/* A comma in a name has a backslash before it, and so has a backslash. */
static bool says_name(const char *text, int64_t length, const char *name) {
    int64_t at = 0;
    for (; *name && at < length; name++, at++) {
        if (text[at] == '\\' && at + 1 < length) at++;
        if (text[at] != *name) return false;
    }
    return !*name && at == length;
}

static int64_t find_class(const margin_model *model, const char *name, int64_t length) {
    for (int64_t c = 0; c < model->classes; c++)
        if (says_name(name, length, model->class_names[c])) return c;
    return -1;
}

static int64_t item_length(const char *text) {
    int64_t length = 0;
    while (text[length] && text[length] != ',')
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    return length;
}

static margin_status refuse_class(const margin_model *model, const char *name, int64_t length,
                                  margin_error *error) {
    mg_nearest nearest = mg_nearest_begin(name, length);
    for (int64_t c = 0; c < model->classes; c++)
        mg_nearest_offer(&nearest, model->class_names[c], (int64_t)strlen(model->class_names[c]));
    const char *known = nearest.best ? nearest.best : model->class_names[0];
    return mg_fail(error, MARGIN_ERROR_SPEC, "class_weight: there is no class '%s'; %s '%.80s'",
                   mg_excerpt(name, length).text,
                   nearest.best ? "did you mean" : "one that is:", known);
}

/* "name:weight"; a name may hold colons itself. */
static margin_status read_item(const margin_model *model, const char *item, int64_t length,
                               double *weights, margin_error *error) {
    int64_t colon = length - 1;
    double weight = 0.0;
    while (colon >= 0 && item[colon] != ':')
        colon--;
    MG_REQUIRE(colon >= 0, error, MARGIN_ERROR_SPEC,
               "class_weight: '%s' is not none, balanced or a list such as \"yes:2,no:1\"",
               mg_excerpt(item, length).text);
    const char *number = item + colon + 1;
    const int64_t digits = length - colon - 1;
    MG_REQUIRE(margin_number_parse_f64(number, (size_t)digits, &weight) && weight > 0.0 &&
                   weight < 1e300,
               error, MARGIN_ERROR_SPEC,
               "class_weight: '%s' is not a weight for class '%s'; weights are above 0 (give rows "
               "the weight 0 to leave them out)",
               mg_excerpt(number, digits).text, mg_excerpt(item, colon).text);
    const int64_t c = find_class(model, item, colon);
    if (c < 0) return refuse_class(model, item, colon, error);
    weights[c] = weight;
    return MARGIN_OK;
}

static margin_status read_list(const margin_model *model, const char *text, double *weights,
                               margin_error *error) {
    for (int64_t c = 0; c < model->classes; c++)
        weights[c] = 1.0;
    while (*text) {
        const int64_t length = item_length(text);
        MG_TRY(read_item(model, text, length, weights, error));
        text += length + (text[length] == ',');
    }
    return MARGIN_OK;
}

static void write_item(const char *name, double weight, mg_text *out) {
    for (; *name; name++) {
        if (*name == ',' || *name == '\\') mg_text_puts(out, "\\");
        mg_text_add(out, name, 1);
    }
    mg_text_puts(out, ":");
    mg_text_number(out, weight);
}

margin_status mg_class_weight_spec(const margin_spec *spec, const margin_model *model,
                                   const double *weights, int64_t count, margin_spec **weighed,
                                   margin_error *error) {
    MG_SCOPED(mg_text, text);
    MG_REQUIRE(model->classes > 0, error, MARGIN_ERROR_ARGUMENT,
               "class weights are for classes, and this target has numbers");
    MG_REQUIRE(count == model->classes, error, MARGIN_ERROR_ARGUMENT,
               "there are %lld class weights and %lld classes", (long long)count,
               (long long)model->classes);
    for (int64_t c = 0; c < count; c++)
        MG_REQUIRE(weights[c] > 0 && weights[c] < 1e300, error, MARGIN_ERROR_ARGUMENT,
                   "class_weights[%lld] is %s; weights are above 0", (long long)c,
                   mg_number(weights[c]).text);
    mg_text_init(&text, model->heap);
    for (int64_t c = 0; c < count; c++) {
        if (c > 0) mg_text_puts(&text, ",");
        write_item(model->class_names[c], weights[c], &text);
    }
    MG_TRY(mg_text_check(&text, "the weights of the classes", error));
    const margin_setting setting = {
        .size = sizeof setting, .option = "class_weight", .given = 1, .word = text.data};
    return margin_spec_with(spec, margin_spec_steps(spec) - 1, &setting, weighed, error);
}

/* rows / (classes x rows of the class), rows by their weights: the classes weigh the same in sum,
 * and the sum over all rows stays what it was. */
static void class_weight_balance(const mg_split *split, double *weights) {
    const mg_problem *whole = &split->whole;
    double total = 0.0;
    memset(weights, 0, (size_t)whole->classes * sizeof *weights);
    for (int64_t i = 0; i < whole->count; i++) {
        weights[whole->code[i]] += mg_sample_weight(whole, i);
        total += mg_sample_weight(whole, i);
    }
    for (int c = 0; c < whole->classes; c++)
        if (weights[c] > 0.0) weights[c] = total / (whole->classes * weights[c]);
}

/* ---- To the rows ----------------------------------------------------------------------------- */

margin_status mg_split_weigh(const mg_spec_component *learner, const margin_model *model,
                             mg_split *split, margin_error *error) {
    const mg_option_value *option = mg_spec_option(learner, "class_weight");
    mg_problem *whole = &split->whole;
    double *of_class, *weights;
    MG_SCOPED_ARENA(arena, split->heap);
    if (!option || !option->text || !whole->code || strcmp(option->text, "none") == 0)
        return MARGIN_OK;
    MG_ARENA_NEW(&arena, of_class, whole->classes, "the weights of the classes", error);
    if (strcmp(option->text, "balanced") == 0)
        class_weight_balance(split, of_class);
    else
        MG_TRY(read_list(model, option->text, of_class, error));
    MG_NEW(split->heap, weights, whole->count, "the weights of the rows", error);
    for (int64_t i = 0; i < whole->count; i++)
        weights[i] = mg_sample_weight(whole, i) * of_class[whole->code[i]];
    whole->given = whole->weight;
    whole->weight = split->weights = weights;
    whole->classes_weigh = true;
    return MARGIN_OK;
}
