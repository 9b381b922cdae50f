/* Named tensors: making, finding, checking, freeing. */
#include "learn/hypothesis/bag.h"

#include <math.h>
#include <string.h>

void mg_bag_free(mg_bag *bag) {
    for (int k = 0; k < bag->count; k++)
        if (!bag->tensors[k].borrowed) mg_free(bag->heap, bag->tensors[k].data);
}

/* A tensor without data; NULL: no room, or a shape or name that is none. */
static mg_tensor *next_tensor(mg_bag *bag, const char *name, margin_type type, int64_t rows,
                              int64_t columns) {
    mg_tensor *tensor = &bag->tensors[bag->count];
    const size_t length = strlen(name);
    if (bag->count == MG_MAX_TENSORS || length >= sizeof tensor->name) return NULL;
    if (rows < 0 || columns < 0 || rows > INT64_MAX / MG_MAX(columns, 1)) return NULL;
    *tensor =
        (mg_tensor){.type = type, .dimensions = columns > 0 ? 2 : 1, .shape = {rows, columns}};
    memcpy(tensor->name, name, length);
    return tensor;
}

margin_status mg_bag_promise(mg_bag *bag, const char *name, margin_type type, int64_t rows,
                             int64_t columns, margin_error *error) {
    if (!next_tensor(bag, name, type, rows, columns))
        return mg_no_memory(bag->heap, -1, 1, "the model", error);
    bag->count++;
    return MARGIN_OK;
}

static margin_status fill_tensor(const mg_bag *bag, mg_tensor *tensor, void *data,
                                 margin_error *error) {
    const size_t size = (size_t)mg_type_size(tensor->type);
    const int64_t numbers = tensor->shape[0] * MG_MAX(tensor->shape[1], 1);
    tensor->data = mg_new_zero(bag->heap, numbers, size);
    if (!tensor->data) return mg_no_memory(bag->heap, numbers, size, "the model", error);
    memcpy(data, &tensor->data, sizeof tensor->data);
    return MARGIN_OK;
}

margin_status mg_bag_fill(mg_bag *bag, const char *name, void *data, margin_error *error) {
    mg_tensor *tensor = &bag->tensors[mg_bag_find(bag, name) - bag->tensors];
    if (!tensor->data) return fill_tensor(bag, tensor, data, error);
    memcpy(data, &tensor->data, sizeof tensor->data); /* an attempt before failed later on */
    return MARGIN_OK;
}

margin_status mg_bag_add(mg_bag *bag, const char *name, margin_type type, int64_t rows,
                         int64_t columns, void *data, margin_error *error) {
    MG_TRY(mg_bag_promise(bag, name, type, rows, columns, error));
    return fill_tensor(bag, &bag->tensors[bag->count - 1], data, error);
}

bool mg_bag_borrow(mg_bag *bag, const char *name, margin_type type, int64_t rows, int64_t columns,
                   const void *data) {
    mg_tensor *tensor = next_tensor(bag, name, type, rows, columns);
    if (!tensor) return false;
    memcpy(&tensor->data, &data, sizeof data); /* read only, though the type does not say so */
    tensor->borrowed = true;
    bag->count++;
    return true;
}

const mg_tensor *mg_bag_find(const mg_bag *bag, const char *name) {
    for (int k = 0; k < bag->count; k++)
        if (strcmp(bag->tensors[k].name, name) == 0) return &bag->tensors[k];
    return NULL;
}

margin_status mg_bag_expect(const mg_bag *bag, const char *name, margin_type type, int64_t rows,
                            int64_t columns, void *data, margin_error *error) {
    const mg_tensor *tensor = mg_bag_find(bag, name);
    const char *const *of = bag->owner;
    MG_REQUIRE(tensor, error, MARGIN_ERROR_MODEL, "the %s %s has no tensor '%s'", of[0], of[1],
               name);
    MG_REQUIRE(tensor->type == type, error, MARGIN_ERROR_MODEL,
               "tensor '%s' of the %s %s has another number type than it must have", name, of[0],
               of[1]);
    MG_REQUIRE(
        tensor->dimensions == (columns > 0 ? 2 : 1) && (rows < 0 || tensor->shape[0] == rows) &&
            (columns == 0 || tensor->shape[1] == columns),
        error, MARGIN_ERROR_MODEL, "tensor '%s' of the %s %s has another shape than %lld x %lld",
        name, of[0], of[1], (long long)rows, (long long)MG_MAX(columns, 1));
    memcpy(data, &tensor->data, sizeof tensor->data);
    return MARGIN_OK;
}

margin_status mg_bag_numbers(const mg_bag *bag, const char *name, int64_t rows, int64_t columns,
                             const double **numbers, margin_error *error) {
    MG_TRY(mg_bag_expect(bag, name, MARGIN_F64, rows, columns, numbers, error));
    const int64_t count = mg_bag_find(bag, name)->shape[0] * MG_MAX(columns, 1);
    for (int64_t k = 0; k < count; k++) {
        if (mg_bag_ended(bag, k)) return mg_fail_cancelled(error);
        MG_REQUIRE(isfinite((*numbers)[k]), error, MARGIN_ERROR_MODEL,
                   "tensor '%s' of the %s %s holds a number that is not finite", name,
                   bag->owner[0], bag->owner[1]);
    }
    return MARGIN_OK;
}
