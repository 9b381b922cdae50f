/* The functions of a learner that its option table and its loss tell apart from others. */
#include "linear/learners/linear_learner.h"

#include <string.h>

mg_loss_kind mg_linear_loss_of(const mg_fit *fit) {
    const mg_linear_family *family = fit->learner->family;
    return family->loss_of ? family->loss_of(fit) : family->loss;
}

mg_linear_options mg_linear_options_for(const mg_fit *fit) {
    const mg_linear_family *family = fit->learner->family;
    mg_linear_options o = mg_linear_options_of(fit, &fit->learner->info, family->l1_ratio);
    o.residual = family->loss == MG_LOSS_SQUARED;
    return o;
}

margin_status mg_linear_fit_one(mg_fit *fit) {
    return mg_linear_fit(fit, 1);
}

margin_status mg_linear_verify_one(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_linear_options o = mg_linear_options_for(fit);
    return mg_linear_verify(fit, &o, mg_linear_loss_of(fit), hypothesis);
}

margin_status mg_linear_share(mg_shared *shared) {
    const margin_matrix *x = &shared->whole->x;
    const char *solver = mg_option_named(&shared->learner->info, shared->options, "solver")->text;
    const bool visits = strcmp(solver, "auto") == 0 ? x->columns > MG_MANY_COLUMNS
                                                    : strcmp(solver, mg_solver_dual_cd.name) == 0;
    if (visits && mg_is_csr(x)) shared->together = MG_MOST_TOGETHER;
    return MARGIN_OK;
}

static bool has_word(const margin_component *info, const mg_option_value *options, const char *name,
                     const char *word) {
    return mg_option_index(info, name) >= 0 && mg_option_is(info, options, name, word);
}

bool mg_linear_takes_columns(const margin_component *info, const mg_option_value *options,
                             int64_t rows, int64_t columns) {
    return rows > columns && !has_word(info, options, "multiclass", "ovo") &&
           !has_word(info, options, "solver", mg_solver_dual_cd.name);
}

margin_status mg_linear_fit_penalties(mg_fit *fits, int64_t count,
                                      margin_status (*solve)(mg_fit *fits, int64_t count,
                                                             const mg_linear_options *options)) {
    mg_linear_options *options;
    MG_SCOPED_ARENA(arena, fits[0].context->heap);
    MG_ARENA_NEW(&arena, options, count, "the penalties", fits[0].error);
    for (int64_t k = 0; k < count; k++)
        options[k] = mg_linear_options_for(&fits[k]);
    return solve(fits, count, options);
}
