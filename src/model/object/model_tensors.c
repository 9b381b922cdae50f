/* The numbers of a model by the names of its file, for callers and for the writer of files. */
#include "model/object/model_object.h"

#include <stdio.h>
#include <string.h>

/* Tensors that share a prefix: those of a stage, of the hypothesis, of the additions. */
static const mg_bag *bag_at(const margin_model *model, int number,
                            char prefix[MARGIN_TENSOR_NAME]) {
    static const mg_bag none = {.count = 0};
    const int stages = model->stage_count;
    if (number < stages) {
        snprintf(prefix, MARGIN_TENSOR_NAME, "stage.%d.", number);
        return &model->stages[number].bag;
    }
    snprintf(prefix, MARGIN_TENSOR_NAME, "%s", number == stages ? "hypothesis." : "addition.");
    if (number == stages) return &model->hypothesis->bag;
    return model->additions ? &model->additions->bag : &none;
}

static int bag_count(const margin_model *model) {
    return model->stage_count + 2;
}

/* As much of it as the caller's struct holds. */
static int hand_out(const mg_tensor *tensor, const char *prefix, margin_tensor *out) {
    const mg_result_type type = MG_RESULT(margin_tensor, values);
    if (mg_result_check(out, type, NULL) < 0) return 0;
    margin_tensor made = {.type = (int32_t)tensor->type,
                          .rank = tensor->dimensions,
                          .shape = {tensor->shape[0], 1},
                          .values = tensor->data};
    if (tensor->dimensions == 2) made.shape[1] = tensor->shape[1];
    const size_t start = strlen(prefix), room = sizeof made.name - 1 - start;
    memcpy(made.name, prefix, start);
    memcpy(made.name + start, tensor->name, MG_MIN(strlen(tensor->name), room));
    mg_result_give(out, type, &made);
    return 1;
}

int64_t margin_model_tensor_count(const margin_model *model) {
    char prefix[MARGIN_TENSOR_NAME];
    int64_t count = model->class_values != NULL;
    for (int bag = 0; bag < bag_count(model); bag++)
        count += bag_at(model, bag, prefix)->count;
    return count;
}

int margin_model_tensor(const margin_model *model, int64_t index, margin_tensor *tensor) {
    char prefix[MARGIN_TENSOR_NAME];
    if (index < 0) return 0;
    if (model->class_values && index-- == 0) {
        const mg_tensor values = {.name = "class_values",
                                  .type = MARGIN_F64,
                                  .dimensions = 1,
                                  .shape = {model->classes, 0},
                                  .data = model->class_values};
        return hand_out(&values, "", tensor);
    }
    for (int bag = 0; bag < bag_count(model); bag++) {
        const mg_bag *found = bag_at(model, bag, prefix);
        if (index < found->count) return hand_out(&found->tensors[index], prefix, tensor);
        index -= found->count;
    }
    return 0;
}

int margin_model_tensor_find(const margin_model *model, const char *name, margin_tensor *tensor) {
    margin_tensor found = {.size = sizeof found};
    for (int64_t k = 0; margin_model_tensor(model, k, &found); k++)
        if (strcmp(found.name, name) == 0) return margin_model_tensor(model, k, tensor);
    return 0;
}
