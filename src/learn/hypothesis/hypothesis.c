/* A hypothesis: making, freeing, attaching. */
#include "learn/hypothesis/dual.h"

margin_status mg_hypothesis_new(mg_heap *heap, const mg_hypothesis_kind *kind, int64_t columns,
                                int64_t functions, mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *made = mg_new_zero(heap, 1, sizeof *made);
    if (!made) return mg_no_memory(heap, 1, sizeof *made, "the model", error);
    made->kind = kind;
    made->heap = heap;
    made->bag = (mg_bag){.heap = heap, .owner = {kind->name, "model"}};
    made->columns = columns;
    made->functions = functions;
    *h = made;
    return MARGIN_OK;
}

void mg_hypothesis_free(mg_hypothesis *h) {
    if (!h) return;
    mg_bag_free(&h->bag);
    MG_FREE(h->heap, h->derived, h);
}

margin_status mg_hypothesis_attach(mg_hypothesis *h, margin_error *error) {
    MG_REQUIRE(h->functions > 0 && h->columns > 0, error, MARGIN_ERROR_MODEL,
               "a %s model of %lld score functions over %lld columns is none", h->kind->name,
               (long long)h->functions, (long long)h->columns);
    h->isa = mg_isa_level();
    MG_TRY(mg_dual_attach(h, error));
    return h->kind->attach(h, error);
}
