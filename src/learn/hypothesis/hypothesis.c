/* A hypothesis as a bag of tensors: making, finding, freeing, attaching. */
#include "learn/hypothesis/dual.h"

#include <string.h>

margin_status mg_hypothesis_new(mg_heap *heap, const mg_hypothesis_kind *kind, int64_t columns,
                                int64_t functions, mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *made = mg_new_zero(heap, 1, sizeof *made);
    if (!made) return mg_no_memory(heap, 1, sizeof *made, "the model", error);
    made->kind = kind;
    made->heap = heap;
    made->columns = columns;
    made->functions = functions;
    *h = made;
    return MARGIN_OK;
}

void mg_hypothesis_free(mg_hypothesis *h) {
    if (!h) return;
    for (int i = 0; i < h->tensor_count; i++)
        if (!h->tensors[i].borrowed) mg_free(h->heap, h->tensors[i].data);
    MG_FREE(h->heap, h->derived, h);
}

/* A tensor without data; NULL: no room, or a shape or name that is none. */
static mg_tensor *next_tensor(mg_hypothesis *h, const char *name, margin_type type, int64_t rows,
                              int64_t columns) {
    const size_t length = strlen(name);
    if (h->tensor_count == MG_MAX_TENSORS || length >= sizeof h->tensors[0].name) return NULL;
    if (rows < 0 || columns < 0 || rows > INT64_MAX / MG_MAX(columns, 1)) return NULL;
    mg_tensor *tensor = &h->tensors[h->tensor_count];
    memset(tensor, 0, sizeof *tensor);
    memcpy(tensor->name, name, length);
    tensor->type = type;
    tensor->dimensions = columns > 0 ? 2 : 1;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
    return tensor;
}

void *mg_hypothesis_tensor(mg_hypothesis *h, const char *name, margin_type type, int64_t rows,
                           int64_t columns) {
    mg_tensor *tensor = next_tensor(h, name, type, rows, columns);
    if (!tensor) return NULL;
    tensor->data = mg_new_zero(h->heap, rows * MG_MAX(columns, 1), (size_t)mg_type_size(type));
    if (!tensor->data) return NULL;
    h->tensor_count++;
    return tensor->data;
}

bool mg_hypothesis_borrow(mg_hypothesis *h, const char *name, margin_type type, int64_t rows,
                          int64_t columns, const void *data) {
    mg_tensor *tensor = next_tensor(h, name, type, rows, columns);
    if (!tensor) return false;
    memcpy(&tensor->data, &data, sizeof data); /* read only, though the type does not say so */
    tensor->borrowed = true;
    h->tensor_count++;
    return true;
}

margin_status mg_hypothesis_tensor_new(mg_hypothesis *h, const char *name, margin_type type,
                                       int64_t rows, int64_t columns, void *data,
                                       margin_error *error) {
    void *made = mg_hypothesis_tensor(h, name, type, rows, columns);
    if (!made)
        return mg_no_memory(h->heap, rows * MG_MAX(columns, 1), (size_t)mg_type_size(type),
                            "the model", error);
    memcpy(data, &made, sizeof made);
    return MARGIN_OK;
}

const mg_tensor *mg_tensor_find(const mg_hypothesis *h, const char *name) {
    for (int i = 0; i < h->tensor_count; i++)
        if (strcmp(h->tensors[i].name, name) == 0) return &h->tensors[i];
    return NULL;
}

margin_status mg_hypothesis_expect(const mg_hypothesis *h, const char *name, margin_type type,
                                   int64_t rows, int64_t columns, void *data, margin_error *error) {
    const mg_tensor *tensor = mg_tensor_find(h, name);
    MG_REQUIRE(tensor, error, MARGIN_ERROR_MODEL, "the %s model has no tensor '%s'", h->kind->name,
               name);
    MG_REQUIRE(tensor->type == type, error, MARGIN_ERROR_MODEL,
               "tensor '%s' of the %s model has another number type than it must have", name,
               h->kind->name);
    MG_REQUIRE(tensor->dimensions == (columns > 0 ? 2 : 1) && tensor->shape[0] == rows &&
                   (columns == 0 || tensor->shape[1] == columns),
               error, MARGIN_ERROR_MODEL,
               "tensor '%s' of the %s model has another shape than %lld x %lld", name,
               h->kind->name, (long long)rows, (long long)MG_MAX(columns, 1));
    memcpy(data, &tensor->data, sizeof tensor->data);
    return MARGIN_OK;
}

margin_status mg_hypothesis_attach(mg_hypothesis *h, margin_error *error) {
    MG_REQUIRE(h->functions > 0 && h->columns > 0, error, MARGIN_ERROR_MODEL,
               "a %s model of %lld score functions over %lld columns is none", h->kind->name,
               (long long)h->functions, (long long)h->columns);
    h->isa = mg_isa_level();
    MG_TRY(mg_dual_attach(h, error));
    return h->kind->attach(h, error);
}
