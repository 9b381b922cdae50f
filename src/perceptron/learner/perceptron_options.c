/* Options of the perceptron: the table, the rules between options, the plain struct. */
#include "perceptron/learner/perceptron_options.h"
#include "learn/penalty.h"
#include "perceptron/learner/perceptron.h"

#include <math.h>

/* Passes where none are asked for. Plain weights can only be used if they separate, so they try for
 * long (perceptron_run.c: longer if they are proven to get there, no more if they never will or get
 * no nearer); pocket and averaged weights are good long before, and on overlapping classes every
 * limit is reached. */
enum { PASSES_PLAIN = 1000, PASSES_OTHER = 100 };

enum {
    FORM,
    VARIANT,
    ORDER,
    RATE,
    PASSES,
    KERNEL,
    GAMMA,
    SIGMA,
    DEGREE,
    COEF0,
    MULTICLASS,
    INTERCEPT,
    CLASS_WEIGHT,
    START,
    START_WEIGHTS,
    START_INTERCEPT,
    BATCH,
    BOUND
};

const margin_option mg_perceptron_option_table[MG_PERCEPTRON_OPTION_COUNT] = {
    [FORM] =
        MG_CHOICE("form", "primal", "primal|dual",
                  "primal keeps the weights, dual a coefficient per row and the Gram matrix; the "
                  "updates are the same"),
    [VARIANT] =
        MG_CHOICE("variant", "plain", "plain|pocket|averaged",
                  "what to return: the last weights, the best seen on all rows, or the average "
                  "over all steps"),
    [ORDER] = MG_CHOICE(
        "order", "sequential", "sequential|shuffled|first|random",
        "how rows are visited: one after the other, in a new random order each pass, "
        "always the first misclassified one from the top, or a random misclassified one each "
        "time"),
    [RATE] =
        MG_NUMBER("rate", "1", "step of an update; from a start at zero it only scales the weights",
                  .low = 0, .high = 1, .low_open = 1),
    [PASSES] = MG_INTEGER(
        "passes", NULL,
        "limit on passes over the rows, with order=first and random of as many updates "
        "as there are rows (default: as many as make progress, at most 1000, more where the "
        "data is proven to be separable; for pocket and averaged 100)",
        .low = 1, .high = MG_PERCEPTRON_MOST_PASSES, MG_RICHER),
    [KERNEL] = MG_CHOICE(
        "kernel", NULL, MG_KERNEL_CHOICES_OWN,
        "kernel form: k(x, z) in place of x.z, a coefficient per row in place of weights; user: a "
        "function of the program; precomputed: the data are the Gram matrix"),
    MG_OPTIONS_KERNEL_SHAPE, /* GAMMA to COEF0 */
    [MULTICLASS] = MG_CHOICE("multiclass", "ovr", "ovr|ovo|argmax",
                             "more than two classes: one against the rest, one against one, or all "
                             "score functions trained together"),
    [INTERCEPT] = MG_SWITCH("intercept", "yes", "move an intercept, too; no: through the origin"),
    [CLASS_WEIGHT] = MG_OPTION_CLASS_WEIGHT,
    [START] = MG_CHOICE("start", "zero", "zero|random",
                        "where to start: at zero, or at normal random numbers, by the seed"),
    [START_WEIGHTS] = MG_NUMBERS("start_weights", NULL,
                                 "weights to start from, one per column as the learner sees them "
                                 "(default zeros)",
                                 MG_ANY_NUMBER),
    [START_INTERCEPT] = MG_NUMBER("start_intercept", "0", "intercept to start from", MG_ANY_NUMBER),
    [BATCH] = MG_INTEGER("batch", NULL,
                         "gradient descent on the criterion: each step adds rate y x of all "
                         "misclassified rows among the next so many, or among all",
                         .low = 1, .high = 1e9, .choices = "all"),
    [BOUND] = MG_CHOICE(
        "bound", "auto", "auto|yes|no|steps",
        "decide separability, for the largest margin and the bound on updates: as long as "
        "the passes took, always, never, or always and a trace shows both inequalities "
        "of Novikoff's proof at each step"),
};

/* ---- Rules ------------------------------------------------------------------------------------*/

/* Starts and steps that contradict each other. */
static margin_status check_steps(const mg_option_value *values, margin_error *error) {
    const bool random = values[START].integer == 1, batch = values[BATCH].given;
    MG_REQUIRE(!random || !(values[START_WEIGHTS].given || values[START_INTERCEPT].given), error,
               MARGIN_ERROR_SPEC,
               "perceptron: start=random and %s are two starts; leave one of them out",
               values[START_WEIGHTS].given ? "start_weights" : "start_intercept");
    MG_REQUIRE(!batch || values[VARIANT].integer == MG_PLAIN, error, MARGIN_ERROR_SPEC,
               "perceptron: variant=%s looks at single corrections; leave out batch",
               values[VARIANT].text);
    MG_REQUIRE(!batch || values[ORDER].integer < MG_FIRST, error, MARGIN_ERROR_SPEC,
               "perceptron: order=%s picks single rows; leave out batch", values[ORDER].text);
    MG_REQUIRE(!batch || values[MULTICLASS].integer != 2, error, MARGIN_ERROR_SPEC,
               "perceptron: multiclass=argmax corrects row by row; leave out batch");
    MG_REQUIRE(values[INTERCEPT].integer || !values[START_INTERCEPT].given, error,
               MARGIN_ERROR_SPEC,
               "perceptron: there is no start_intercept without an intercept; leave one of them "
               "out");
    const bool steps = values[BOUND].integer == MG_BOUND_STEPS;
    MG_REQUIRE(values[INTERCEPT].integer || !(steps || values[BOUND].integer == MG_BOUND_YES),
               error, MARGIN_ERROR_SPEC,
               "perceptron: bound=%s seeks hyperplanes with an intercept; leave out intercept=no",
               values[BOUND].text);
    MG_REQUIRE(!steps || !batch, error, MARGIN_ERROR_SPEC,
               "perceptron: bound=steps is a proof for single corrections; leave out batch");
    MG_REQUIRE(!steps || values[MULTICLASS].integer != 2, error, MARGIN_ERROR_SPEC,
               "perceptron: bound=steps is a proof for two classes; use multiclass=ovr or ovo");
    return MARGIN_OK;
}

margin_status mg_perceptron_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    const bool has_kernel = values[KERNEL].given;
    const bool expansion = mg_kernel_options_of(info, values).kernel.kind != MG_KERNEL_LINEAR;
    MG_TRY(check_steps(values, error));
    MG_REQUIRE(!(has_kernel && values[FORM].given && values[FORM].integer == 0), error,
               MARGIN_ERROR_SPEC,
               "perceptron: form=primal has no kernel; leave out form, or say form=dual");
    MG_TRY(mg_kernel_options_check(info, values, error));
    MG_REQUIRE(!(expansion && (values[START_WEIGHTS].given || values[START].integer == 1)), error,
               MARGIN_ERROR_SPEC,
               "perceptron: %s needs a linear form; with a kernel there is one coefficient per row "
               "and no weights",
               values[START_WEIGHTS].given ? "start_weights" : "start=random");
    MG_REQUIRE(!(values[MULTICLASS].integer == 2 && (has_kernel || values[FORM].integer == 1)),
               error, MARGIN_ERROR_SPEC,
               "perceptron: multiclass=argmax has the primal form only; use multiclass=ovr or ovo "
               "with form=dual and kernels");
    return MARGIN_OK;
}

mg_perceptron_options mg_perceptron_options_of(const mg_option_value *values) {
    const mg_kernel_choice choice = mg_kernel_options_of(&mg_learner_perceptron.info, values);
    mg_perceptron_options o = {
        .variant = (mg_perceptron_variant)values[VARIANT].integer,
        .order = (mg_perceptron_order)values[ORDER].integer,
        .bound = (mg_perceptron_bound)values[BOUND].integer,
        .dual = values[KERNEL].given || values[FORM].integer == 1,
        .expansion = choice.kernel.kind != MG_KERNEL_LINEAR,
        .rate = values[RATE].number,
        .passes_given = values[PASSES].given,
        .choice = choice,
        .random_start = values[START].integer == 1,
        .batch = !values[BATCH].given ? 0
                 : values[BATCH].text ? INT64_MAX
                                      : values[BATCH].integer,
        .start_weights = values[START_WEIGHTS].numbers,
        .start_count = values[START_WEIGHTS].count,
        .start_intercept = values[START_INTERCEPT].number,
        .constant = values[INTERCEPT].integer ? 1.0 : 0.0,
    };
    o.passes = o.passes_given          ? values[PASSES].integer
               : o.variant == MG_PLAIN ? PASSES_PLAIN
                                       : PASSES_OTHER;
    return o;
}
