/* Indexes of neighbours in files. */
#include "model/predict/model_neighbors.h"
#include "model/store/store.h"

margin_status margin_neighbors_save(const margin_neighbors *index, const char *path,
                                    margin_error *error) {
    MG_GIVEN(error, {index, "index"}, {path, "path"});
    return margin_model_save(index->model, path, error);
}

static margin_status load_index(margin_context *context, const char *path, bool mapped,
                                margin_neighbors **index, margin_error *error) {
    margin_model *model = NULL;
    MG_REQUIRE(index, error, MARGIN_ERROR_ARGUMENT, "the place for the index is NULL");
    MG_GIVEN(error, {context, "context"}, {path, "path"});
    MG_TRY(mapped ? mg_store_map(context, path, &model, error)
                  : mg_store_load(context, path, &model, error));
    const margin_status status = mg_neighbors_over(model, false, path, index, error);
    if (status < 0) margin_model_free(model);
    return status;
}

margin_status margin_neighbors_load(margin_context *context, const char *path,
                                    margin_neighbors **index, margin_error *error) {
    return load_index(context, path, false, index, error);
}

margin_status margin_neighbors_map(margin_context *context, const char *path,
                                   margin_neighbors **index, margin_error *error) {
    return load_index(context, path, true, index, error);
}
