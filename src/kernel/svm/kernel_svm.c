/* What a kernel machine takes: options that it has not, and models that are its own. */
#include "kernel/svm/kernel_svm.h"

#include "kernel/svm/svm_machine.h"

#include <math.h>

/* Options of the linear machine that mean nothing here. */
static margin_status refuse_linear(const margin_component *info, const mg_option_value *values,
                                   margin_error *error) {
    static const char *const none[] = {"rate",  "schedule",      "decay",
                                       "batch", "start_weights", "start_intercept"};
    for (int k = 0; k < MG_LENGTH(none); k++)
        MG_REQUIRE(!mg_option_named(info, values, none[k])->given, error, MARGIN_ERROR_SPEC,
                   "svm: %s belongs to the linear machine; leave it out with a kernel", none[k]);
    MG_REQUIRE(mg_option_is(info, values, "solver", "auto"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel there is one solver; leave solver=%s out",
               mg_option_named(info, values, "solver")->text);
    MG_REQUIRE(mg_option_is(info, values, "loss", "hinge"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel the loss is the hinge; leave loss=squared-hinge out");
    MG_REQUIRE(mg_option_named(info, values, "intercept")->integer != 0, error, MARGIN_ERROR_SPEC,
               "svm: with a kernel there is always an intercept; leave intercept=no out");
    MG_REQUIRE(!mg_option_is(info, values, "multiclass", "argmax"), error, MARGIN_ERROR_SPEC,
               "svm: with a kernel take multiclass=ovo or ovr");
    return MARGIN_OK;
}

/* One class has neither a penalty beside nu nor a target. */
static margin_status check_one_class(const margin_component *info, const mg_option_value *values,
                                     margin_error *error) {
    static const char *const none[] = {"C",       "alpha",        "lambda",
                                       "epsilon", "class_weight", "multiclass"};
    const bool one = mg_option_is(info, values, "task", "one-class");
    for (int k = 0; one && k < MG_LENGTH(none); k++)
        MG_REQUIRE(!mg_option_named(info, values, none[k])->given, error, MARGIN_ERROR_SPEC,
                   "svm: %s means nothing for one class, of which nu says how many rows may be "
                   "outliers; leave it out",
                   none[k]);
    MG_REQUIRE(one || !mg_option_named(info, values, "nu")->given, error, MARGIN_ERROR_SPEC,
               "svm: nu belongs to task=one-class; leave it out");
    return MARGIN_OK;
}

margin_status mg_kernel_svm_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    MG_TRY(refuse_linear(info, values, error));
    MG_TRY(check_one_class(info, values, error));
    MG_REQUIRE(!mg_asks_no_penalty(info, values), error, MARGIN_ERROR_SPEC,
               "svm: a kernel machine needs a penalty; give C a finite value");
    MG_REQUIRE(!mg_option_named(info, values, "epsilon")->given ||
                   !mg_option_is(info, values, "task", "classify"),
               error, MARGIN_ERROR_SPEC,
               "svm: epsilon belongs to regression (task=regress); leave it out");
    return mg_kernel_options_check(info, values, error);
}
