/* What stands behind stages alone: a learner that learns nothing, and the hypothesis that hands a
 * row on as they make it. */
#include "features/columns/stages.h"

#include <string.h>

static margin_status identity_attach(mg_hypothesis *h, margin_error *error) {
    MG_REQUIRE(h->functions == h->columns && h->bag.count == 0, error, MARGIN_ERROR_MODEL,
               "the model hands on %lld of %lld columns, or holds numbers besides its stages",
               (long long)h->functions, (long long)h->columns);
    return MARGIN_OK;
}

static margin_status identity_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                     int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++)
        mg_row_expand(x, first + i, out + i * h->columns);
    return MARGIN_OK;
}

const mg_hypothesis_kind mg_hypothesis_identity = {
    .name = "identity", .attach = identity_attach, .scores = identity_scores};

static margin_status transform_fit(mg_fit *fit) {
    const int64_t columns = fit->problem->x.columns;
    margin_report *report = &fit->report;
    MG_TRY(mg_hypothesis_new(fit->context->heap, &mg_hypothesis_identity, columns, columns,
                             &fit->hypothesis, fit->error));
    MG_TRY(mg_hypothesis_attach(fit->hypothesis, fit->error));
    report->status = MARGIN_OK;
    report->iterations = 1;
    memcpy(report->iteration_name, "passes", 7);
    mg_report_formula(report, mg_learner_transform.info.formula);
    mg_report_reason(report, "the stages were fitted; there is nothing to minimise");
    return MARGIN_OK;
}

const mg_learner mg_learner_transform = {
    .info = {.name = "transform",
             .kind = MARGIN_LEARNER,
             .summary = "Stages alone: rows as the stages make them",
             .formula = "the columns that the stages make",
             .source = "",
             .page = "docs/stages.md",
             .abilities =
                 MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | MARGIN_CAN_CATEGORIES | MARGIN_IS_RULE},
    .makes = {&mg_hypothesis_identity},
    /* so that what nobody reads is not made */
    .takes_affine = true,
    .takes_made_rows = true,
    .reads_no_rows = true,
    .fit = transform_fit,
};
