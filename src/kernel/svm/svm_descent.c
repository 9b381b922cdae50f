/* The textbook's recipe: subgradient descent on the coefficients, without an intercept. */
#include "kernel/machine/kernel_fit.h"
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"

margin_status mg_svm_descent_share(mg_shared *shared) {
    const margin_component *info = &shared->learner->info;
    const mg_kernel_choice choice = mg_kernel_options_of(info, shared->options);
    MG_TRY(mg_kernel_share(shared, &choice, info->name));
    shared->together = shared->fits;
    return MARGIN_OK;
}

margin_status mg_svm_descent_fit_many(mg_fit *fits, int64_t count) {
    const mg_svm_options options =
        mg_svm_options_of(&fits[0].learner->info, fits[0].options, fits[0].problem);
    mg_kernel_task task = {.choice = &options.kernel,
                           .loss = mg_loss_get(MG_LOSS_HINGE),
                           .penalty = options.penalty,
                           .needs_definite = true,
                           .tolerance = options.tolerance,
                           .minimise = mg_kernel_descend};
    MG_TRY(mg_kernel_store(&task, fits, count, MG_WAY_NEWTON, false));
    return mg_kernel_fit_all(&task, fits, count);
}

margin_status mg_svm_descent_fit(mg_fit *fit) {
    MG_TRY(mg_svm_descent_fit_many(fit, 1));
    return fit->report.status;
}

margin_status mg_svm_descent_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    return mg_kernel_point_verify(fit, hypothesis, mg_loss_get(MG_LOSS_HINGE));
}
