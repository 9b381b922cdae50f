/* Options of the perceptron: the table, the rules between options, the plain struct. */
#include "perceptron/learner/perceptron_options.h"

#include <math.h>

/* Passes where none are asked for. Plain weights can only be used if they separate, so they try for
 * long (perceptron_run.c: longer if they are proven to get there, not at all if they never will);
 * pocket and averaged weights are good long before, and on overlapping classes every limit is
 * reached. */
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
    START_WEIGHTS,
    START_INTERCEPT,
    BOUND
};

const margin_option mg_perceptron_option_table[MG_PERCEPTRON_OPTION_COUNT] = {
    [FORM] = {.name = "form",
              .type = MARGIN_OPTION_CHOICE,
              .default_text = "primal",
              .choices = "primal|dual",
              .help =
                  "primal keeps the weights, dual a coefficient per row and the Gram matrix; the "
                  "updates are the same"},
    [VARIANT] = {.name = "variant",
                 .type = MARGIN_OPTION_CHOICE,
                 .default_text = "plain",
                 .choices = "plain|pocket|averaged",
                 .help =
                     "what to return: the last weights, the best seen on all rows, or the average "
                     "over all steps"},
    [ORDER] =
        {.name = "order",
         .type = MARGIN_OPTION_CHOICE,
         .default_text = "sequential",
         .choices = "sequential|shuffled|first|random",
         .help =
             "how rows are visited: one after the other, in a new random order each pass, "
             "always the first misclassified one from the top, or a random misclassified one each "
             "time"},
    [RATE] = {.name = "rate",
              .type = MARGIN_OPTION_NUMBER,
              .low = 0,
              .high = 1,
              .low_open = 1,
              .default_text = "1",
              .help = "step of an update; from a start at zero it only scales the weights"},
    [PASSES] =
        {.name = "passes",
         .type = MARGIN_OPTION_INTEGER,
         .low = 1,
         .high = MG_PERCEPTRON_MOST_PASSES,
         .help = "limit on passes over the rows, with order=first and random of as many updates "
                 "as there are rows (default: 1000, more where it is known that it will end; for "
                 "pocket and averaged 100)"},
    [KERNEL] =
        {.name = "kernel",
         .type = MARGIN_OPTION_CHOICE,
         .choices = MG_KERNEL_CHOICES,
         .help = "kernel form: k(x, z) in place of x.z, a coefficient per row in place of weights"},
    [GAMMA] = {.name = "gamma",
               .type = MARGIN_OPTION_NUMBER,
               .low = 0,
               .high = (double)INFINITY,
               .low_open = 1,
               .high_open = 1,
               .choices = "scale",
               .group = "width",
               .help =
                   "factor in poly, rbf, sigmoid and laplacian; scale is 1/(columns x variance of "
                   "all values), the default of rbf and laplacian (poly, sigmoid: 1)"},
    [SIGMA] = {.name = "sigma",
               .type = MARGIN_OPTION_NUMBER,
               .low = 0,
               .high = (double)INFINITY,
               .low_open = 1,
               .high_open = 1,
               .group = "width",
               .help = "width of rbf: gamma = 1/(2 sigma^2)"},
    [DEGREE] = {.name = "degree",
                .type = MARGIN_OPTION_INTEGER,
                .low = 1,
                .high = 100,
                .default_text = "2",
                .help = "degree of poly"},
    [COEF0] = {.name = "coef0",
               .type = MARGIN_OPTION_NUMBER,
               .low = -(double)INFINITY,
               .high = (double)INFINITY,
               .low_open = 1,
               .high_open = 1,
               .default_text = "1",
               .help = "constant in poly and sigmoid"},
    [MULTICLASS] = {.name = "multiclass",
                    .type = MARGIN_OPTION_CHOICE,
                    .default_text = "ovr",
                    .choices = "ovr|ovo|argmax",
                    .help = "more than two classes: one against the rest, one against one, or all "
                            "score functions trained together"},
    [START_WEIGHTS] = {.name = "start_weights",
                       .type = MARGIN_OPTION_NUMBERS,
                       .low = -(double)INFINITY,
                       .high = (double)INFINITY,
                       .low_open = 1,
                       .high_open = 1,
                       .help = "weights to start from, one per column as the learner sees them "
                               "(default zeros)"},
    [START_INTERCEPT] = {.name = "start_intercept",
                         .type = MARGIN_OPTION_NUMBER,
                         .low = -(double)INFINITY,
                         .high = (double)INFINITY,
                         .low_open = 1,
                         .high_open = 1,
                         .default_text = "0",
                         .help = "intercept to start from"},
    [BOUND] = {.name = "bound",
               .type = MARGIN_OPTION_CHOICE,
               .default_text = "auto",
               .choices = "auto|yes|no",
               .help =
                   "decide separability, for the largest margin and the bound on updates: where "
                   "that is cheap, always, or never"},
};

/* ---- Rules ------------------------------------------------------------------------------------*/

static bool uses_gamma(int64_t kernel) {
    return kernel == MG_KERNEL_POLY || kernel == MG_KERNEL_RBF || kernel == MG_KERNEL_SIGMOID ||
           kernel == MG_KERNEL_LAPLACIAN;
}

/* The option is given although `kernel` does not use it. */
static margin_status refuse_unused(const mg_option_value *values, int option, bool used,
                                   const char *users, margin_error *error) {
    MG_REQUIRE(!values[option].given || used, error, MARGIN_ERROR_SPEC,
               "perceptron: %s belongs to kernel=%s; leave it out or choose that kernel",
               mg_perceptron_option_table[option].name, users);
    return MARGIN_OK;
}

static double gamma_of_sigma(double sigma) {
    return 0.5 / (sigma * sigma);
}

margin_status mg_perceptron_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    (void)info;
    const bool has_kernel = values[KERNEL].given;
    const int64_t kernel = has_kernel ? values[KERNEL].integer : MG_KERNEL_LINEAR;
    const bool expansion = kernel != MG_KERNEL_LINEAR;
    MG_REQUIRE(!(has_kernel && values[FORM].given && values[FORM].integer == 0), error,
               MARGIN_ERROR_SPEC,
               "perceptron: form=primal has no kernel; leave out form, or say form=dual");
    MG_TRY(
        refuse_unused(values, GAMMA, uses_gamma(kernel), "poly, rbf, sigmoid or laplacian", error));
    MG_TRY(refuse_unused(values, SIGMA, kernel == MG_KERNEL_RBF, "rbf", error));
    MG_TRY(refuse_unused(values, DEGREE, kernel == MG_KERNEL_POLY, "poly", error));
    MG_TRY(refuse_unused(values, COEF0, kernel == MG_KERNEL_POLY || kernel == MG_KERNEL_SIGMOID,
                         "poly or sigmoid", error));
    const double gamma = values[SIGMA].given ? gamma_of_sigma(values[SIGMA].number) : 1.0;
    MG_REQUIRE(gamma > 0.0 && isfinite(gamma), error, MARGIN_ERROR_SPEC,
               "perceptron: 1/(2 sigma^2) is beyond double precision for sigma=%s",
               mg_number(values[SIGMA].number).text);
    MG_REQUIRE(!(expansion && values[START_WEIGHTS].given), error, MARGIN_ERROR_SPEC,
               "perceptron: start_weights needs a linear form; with a kernel there is one "
               "coefficient per row and no weights");
    MG_REQUIRE(!(values[MULTICLASS].integer == 2 && (has_kernel || values[FORM].integer == 1)),
               error, MARGIN_ERROR_SPEC,
               "perceptron: multiclass=argmax has the primal form only; use multiclass=ovr or ovo "
               "with form=dual and kernels");
    return MARGIN_OK;
}

static double gamma_of(const mg_option_value *values, mg_kernel_kind kind) {
    if (values[SIGMA].given) return gamma_of_sigma(values[SIGMA].number);
    if (values[GAMMA].given && !values[GAMMA].text) return values[GAMMA].number;
    return kind == MG_KERNEL_POLY || kind == MG_KERNEL_SIGMOID ? 1.0 : (double)NAN;
}

mg_perceptron_options mg_perceptron_options_of(const mg_option_value *values) {
    const mg_kernel_kind kind =
        values[KERNEL].given ? (mg_kernel_kind)values[KERNEL].integer : MG_KERNEL_LINEAR;
    mg_perceptron_options o = {
        .variant = (mg_perceptron_variant)values[VARIANT].integer,
        .order = (mg_perceptron_order)values[ORDER].integer,
        .bound = (mg_perceptron_bound)values[BOUND].integer,
        .dual = values[KERNEL].given || values[FORM].integer == 1,
        .expansion = kind != MG_KERNEL_LINEAR,
        .rate = values[RATE].number,
        .passes_given = values[PASSES].given,
        .kernel = {.kind = kind,
                   .coef0 = values[COEF0].number,
                   .degree = (int)values[DEGREE].integer},
        .start_weights = values[START_WEIGHTS].numbers,
        .start_count = values[START_WEIGHTS].count,
        .start_intercept = values[START_INTERCEPT].number,
    };
    o.passes = o.passes_given          ? values[PASSES].integer
               : o.variant == MG_PLAIN ? PASSES_PLAIN
                                       : PASSES_OTHER;
    if (uses_gamma(kind)) {
        o.kernel.gamma = gamma_of(values, kind);
        o.scale = isnan(o.kernel.gamma) || (values[GAMMA].given && values[GAMMA].text);
    }
    return o;
}
