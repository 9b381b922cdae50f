#include "hostile_tensors.h"

#include "model_cases.h"

#include "model/object/model_object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 6, AT_MOST = 60 };

static void poke(mg_tensor *tensor, int64_t at, int way) {
    static const double values[WAYS] = {NAN, INFINITY, -1, 1e301, 0, 3};
    static const int64_t whole[WAYS] = {-1, INT32_MAX, INT32_MIN, 0, 1, 50};
    switch (tensor->type) {
    case MARGIN_F64:
        ((double *)tensor->data)[at] = values[way];
        return;
    case MARGIN_F32:
        ((float *)tensor->data)[at] = (float)values[way];
        return;
    case MARGIN_I32:
        ((int32_t *)tensor->data)[at] = (int32_t)whole[way];
        return;
    case MARGIN_I64:
        ((int64_t *)tensor->data)[at] = way == 1 ? INT64_MAX : way == 2 ? INT64_MIN : whole[way];
        return;
    default:
        fail_msg("a tensor of another type");
    }
}

/* As after loading: nothing is known of the tensors. */
static margin_status attach_anew(mg_hypothesis *h, margin_error *error) {
    mg_free(h->heap, h->derived);
    h->derived = NULL;
    h->view.other = NULL;
    return mg_hypothesis_attach(h, error);
}

/* 1 if the tensors as they are now were refused. */
static int try_tensors(margin_model *model, const margin_matrix *x) {
    margin_error error = {0};
    const margin_status status = attach_anew(model->hypothesis, &error);
    if (status == MARGIN_OK) {
        free(scores_of(model, x));
        return 0;
    }
    assert_int_equal(status, MARGIN_ERROR_MODEL);
    assert_true(strlen(error.text) > 20);
    return 1;
}

static void try_shapes(margin_model *model, mg_tensor *tensor, const margin_matrix *x) {
    const mg_tensor whole = *tensor;
    for (int way = 0; way < 4; way++) {
        if (way == 0) strcpy(tensor->name, "other");
        if (way == 1) tensor->shape[0]--;
        if (way == 2) tensor->type = tensor->type == MARGIN_F64 ? MARGIN_I64 : MARGIN_U8;
        if (way == 3) tensor->dimensions = 3 - tensor->dimensions;
        const int refused = try_tensors(model, x);
        if (way > 0 && !refused) fail_msg("tensor %s of another shape or type", whole.name);
        *tensor = whole;
    }
}

double assert_tensors_checked(margin_model *model, const margin_matrix *x) {
    mg_hypothesis *h = model->hypothesis;
    int refused = 0, tried = 0;
    for (int t = 0; t < h->bag.count; t++) {
        mg_tensor *tensor = &h->bag.tensors[t];
        const int64_t count = tensor->shape[0] * MG_MAX(tensor->shape[1], 1);
        const size_t size = (size_t)mg_type_size(tensor->type);
        for (int64_t at = 0; at < count; at += 1 + count / AT_MOST)
            for (int way = 0; way < WAYS; way++, tried++) {
                char before[8], *place = (char *)tensor->data + (size_t)at * size;
                memcpy(before, place, size);
                poke(tensor, at, way);
                refused += try_tensors(model, x);
                memcpy(place, before, size);
            }
        if (count > 0) try_shapes(model, tensor, x);
    }
    assert_int_equal(attach_anew(h, NULL), MARGIN_OK);
    return (double)refused / (double)tried;
}
