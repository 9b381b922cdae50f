/* Indexes of neighbours in files. */
#include "model/predict/model_neighbors.h"
#include "model/store/store.h"

#include <stdio.h>

margin_status margin_neighbors_save(const margin_neighbors *index, const char *path,
                                    margin_error *error) {
    MG_REQUIRE(index && path, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL",
               index ? "path" : "index");
    return margin_model_save(index->model, path, error);
}

static margin_status load(margin_context *context, const char *path, bool mapped,
                          margin_neighbors **index, margin_error *error) {
    margin_model *model = NULL;
    MG_REQUIRE(index, error, MARGIN_ERROR_ARGUMENT, "the place for the index is NULL");
    MG_REQUIRE(context && path, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL",
               context ? "path" : "context");
    MG_TRY(mapped ? mg_store_map(context, path, &model, error)
                  : mg_store_load(context, path, &model, error));
    margin_neighbors *made = NULL;
    margin_status status = MARGIN_OK;
    if (model->hypothesis->kind != &mg_hypothesis_neighbors)
        status = mg_fail(error, MARGIN_ERROR_MODEL, "%s is a model, but holds no neighbours: %s",
                         path, model->spec);
    else if (model->stage_count > 0)
        status = mg_fail(error, MARGIN_ERROR_MODEL,
                         "%s is the model %s, whose rows have passed its stages, so that queries "
                         "would meet them in other units; predict with it, or build an index of "
                         "what margin_model_transform makes of the rows",
                         path, model->spec);
    else if (!(made = mg_new_zero(model->heap, 1, sizeof *made)))
        status = mg_no_memory(model->heap, 1, sizeof *made, "the index", error);
    if (status < 0) {
        margin_model_free(model);
        return status;
    }
    made->model = model;
    made->view = mg_neighbors_view(model->hypothesis);
    snprintf(made->reason, sizeof made->reason, "%s, as it was saved",
             made->view->tree ? "kd-tree" : "brute force");
    *index = made;
    return MARGIN_OK;
}

margin_status margin_neighbors_load(margin_context *context, const char *path,
                                    margin_neighbors **index, margin_error *error) {
    return load(context, path, false, index, error);
}

margin_status margin_neighbors_map(margin_context *context, const char *path,
                                   margin_neighbors **index, margin_error *error) {
    return load(context, path, true, index, error);
}
