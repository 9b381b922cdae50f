/* Indexes of neighbours in files. */
#include "model/predict/model_neighbors.h"
#include "model/store/store.h"

margin_status margin_neighbors_save(const margin_neighbors *index, const char *path,
                                    margin_error *error) {
    MG_GIVEN(error, {index, "index"}, {path, "path"});
    return margin_model_save(index->model, path, error);
}

margin_status margin_neighbors_encoded_size(const margin_neighbors *index, int64_t *length,
                                            margin_error *error) {
    MG_GIVEN(error, {index, "index"});
    return margin_model_encoded_size(index->model, length, error);
}

margin_status margin_neighbors_encode_into(const margin_neighbors *index, void *bytes,
                                           int64_t capacity, int64_t *length, margin_error *error) {
    MG_GIVEN(error, {index, "index"});
    return margin_model_encode_into(index->model, bytes, capacity, length, error);
}

/* The index of a model that was read, which it frees where it is none. */
static margin_status index_over(margin_model *model, const char *name, margin_neighbors **index,
                                margin_error *error) {
    const margin_status status = mg_neighbors_over(model, false, name, index, error);
    if (status < 0) margin_model_free(model);
    return status;
}

margin_status margin_neighbors_decode(margin_context *context, const void *bytes, int64_t length,
                                      margin_neighbors **index, margin_error *error) {
    margin_model *model = NULL;
    MG_GIVEN(error, {context, "context"}, {index, "place for the index"});
    MG_TRY(mg_store_decode(context, bytes, length, &model, error));
    return index_over(model, "what was decoded", index, error);
}

static margin_status load_index(margin_context *context, const char *path, bool mapped,
                                margin_neighbors **index, margin_error *error) {
    margin_model *model = NULL;
    MG_REQUIRE(index, error, MARGIN_ERROR_ARGUMENT, "the place for the index is NULL");
    MG_GIVEN(error, {context, "context"}, {path, "path"});
    MG_TRY(mg_store_load(context, path, mapped, &model, error));
    return index_over(model, path, index, error);
}

margin_status margin_neighbors_load(margin_context *context, const char *path,
                                    margin_neighbors **index, margin_error *error) {
    return load_index(context, path, false, index, error);
}

margin_status margin_neighbors_map(margin_context *context, const char *path,
                                   margin_neighbors **index, margin_error *error) {
    return load_index(context, path, true, index, error);
}
