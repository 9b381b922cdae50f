/* Options of svm where there is a kernel: what they are by default, and which mean nothing. */
#include "kernel/svm/kernel_svm.h"
#include "learn/kernels/kernel_options.h"

void mg_kernel_svm_defaults(const margin_component *info, mg_option_value *values) {
    mg_option_value *tol = &values[mg_option_index(info, "tol")];
    mg_option_value *multiclass = &values[mg_option_index(info, "multiclass")];
    if (!tol->given) tol->number = 1e-3;
    if (multiclass->given) return;
    multiclass->text = "ovo";
    multiclass->integer = 1;
}

void mg_svm_descent_defaults(const margin_component *info, mg_option_value *values) {
    mg_option_value *intercept = &values[mg_option_index(info, "intercept")];
    mg_kernel_svm_defaults(info, values);
    if (!intercept->given) intercept->integer = 0;
}

/* Of the options of svm those that mean nothing here, or nothing for one class. */
static margin_status refuse_others(const margin_component *info, const mg_option_value *values,
                                   margin_error *error) {
    static const char *const several[] = {"C",       "alpha",        "lambda",
                                          "epsilon", "class_weight", "multiclass"};
    const bool one = mg_option_is(info, values, "task", "one-class");
    for (int k = 0; k < MG_LENGTH(several); k++)
        MG_REQUIRE(!one || !mg_option_named(info, values, several[k])->given, error,
                   MARGIN_ERROR_SPEC,
                   "svm: %s means nothing for one class, of which nu says how many rows may be "
                   "outliers; leave it out",
                   several[k]);
    MG_REQUIRE(mg_option_is(info, values, "loss", "hinge"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel the loss is the hinge; leave loss=squared-hinge out");
    MG_REQUIRE(!mg_option_is(info, values, "multiclass", "argmax"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel take multiclass=ovo or ovr");
    return MARGIN_OK;
}

static margin_status check_machine(const margin_component *info, const mg_option_value *values,
                                   margin_error *error) {
    MG_TRY(refuse_others(info, values, error));
    MG_REQUIRE(!mg_asks_no_penalty(info, values), error, MARGIN_ERROR_SPEC,
               "svm: a kernel machine needs a penalty; give C a finite value");
    MG_REQUIRE(!mg_option_named(info, values, "epsilon")->given ||
                   !mg_option_is(info, values, "task", "classify"),
               error, MARGIN_ERROR_SPEC,
               "svm: epsilon belongs to regression: say task=regress, or leave it out");
    return mg_kernel_options_check(info, values, error);
}

margin_status mg_kernel_svm_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    MG_REQUIRE(mg_option_is(info, values, "solver", "auto"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel there is one solver, and for classes also gd; leave solver=%s "
               "out",
               mg_option_named(info, values, "solver")->text);
    MG_REQUIRE(mg_option_named(info, values, "intercept")->integer != 0, error, MARGIN_ERROR_SPEC,
               "svm: with a kernel there is always an intercept; leave intercept=no out");
    return check_machine(info, values, error);
}

margin_status mg_svm_descent_check(const margin_component *info, const mg_option_value *values,
                                   margin_error *error) {
    static const char *const others[] = {"schedule",        "decay", "start_weights",
                                         "start_intercept", "kkt",   "epsilon"};
    for (int k = 0; k < MG_LENGTH(others); k++)
        MG_REQUIRE(!mg_option_named(info, values, others[k])->given, error, MARGIN_ERROR_SPEC,
                   "svm: with a kernel %s means nothing to solver=gd; leave it out", others[k]);
    MG_REQUIRE(mg_option_named(info, values, "intercept")->integer == 0, error, MARGIN_ERROR_SPEC,
               "svm: with a kernel solver=gd has no intercept; leave one of them out");
    return check_machine(info, values, error);
}
