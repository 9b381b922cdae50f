/* Options of kernels: rules, values, and gamma from the data. */
#include "learn/kernels/kernel_options.h"

#include "math/rows/row_pair.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the words of MG_KERNEL_CHOICES_OWN, in their order. */
static const mg_kernel_kind kinds[] = {
    MG_KERNEL_LINEAR,  MG_KERNEL_POLY,      MG_KERNEL_RBF,      MG_KERNEL_EXP,
    MG_KERNEL_SIGMOID, MG_KERNEL_LAPLACIAN, MG_KERNEL_FUNCTION, MG_KERNEL_PRECOMPUTED};

static bool uses_gamma(mg_kernel_kind kind) {
    return kind == MG_KERNEL_POLY || kind == MG_KERNEL_RBF || kind == MG_KERNEL_SIGMOID ||
           kind == MG_KERNEL_LAPLACIAN;
}

static mg_kernel_kind kind_of(const margin_component *info, const mg_option_value *values) {
    const mg_option_value *kernel = mg_option_named(info, values, "kernel");
    return mg_option_has_value(kernel) ? kinds[kernel->integer] : MG_KERNEL_LINEAR;
}

static double gamma_of_sigma(double sigma) {
    return 0.5 / (sigma * sigma);
}

margin_status mg_kernel_options_check(const margin_component *info, const mg_option_value *values,
                                      margin_error *error) {
    const mg_option_value *sigma = mg_option_named(info, values, "sigma");
    const double gamma = sigma->given ? gamma_of_sigma(sigma->number) : 1.0;
    MG_REQUIRE(gamma > 0.0 && isfinite(gamma), error, MARGIN_ERROR_SPEC,
               "%s: 1/(2 sigma^2) is beyond double precision for sigma=%s", info->name,
               mg_number(sigma->number).text);
    return MARGIN_OK;
}

mg_kernel_choice mg_kernel_options_of(const margin_component *info, const mg_option_value *values) {
    const mg_option_value *gamma = mg_option_named(info, values, "gamma"),
                          *sigma = mg_option_named(info, values, "sigma");
    const mg_kernel_kind kind = kind_of(info, values);
    mg_kernel_choice choice = {
        .kernel = {.kind = kind,
                   .coef0 = mg_option_named(info, values, "coef0")->number,
                   .degree = (int)mg_option_named(info, values, "degree")->integer}};
    if (!uses_gamma(kind)) return choice;
    choice.kernel.gamma = (double)NAN;
    if (sigma->given)
        choice.kernel.gamma = gamma_of_sigma(sigma->number);
    else if (gamma->given && gamma->text)
        choice.rule = strcmp(gamma->text, "scale") == 0 ? MG_GAMMA_SCALE : MG_GAMMA_MEDIAN;
    else if (gamma->given)
        choice.kernel.gamma = gamma->number;
    else if (kind == MG_KERNEL_POLY || kind == MG_KERNEL_SIGMOID)
        choice.kernel.gamma = 1.0;
    else
        choice.rule = MG_GAMMA_SCALE;
    return choice;
}

mg_kernel_points mg_kernel_points_of(const mg_problem *problem) {
    return (mg_kernel_points){problem->x, problem->index, problem->original, problem->count};
}

/* The first sample with gamma |x|^2 above `most`, or -1. */
static int64_t far_sample(const mg_problem *p, double gamma, double most) {
    const mg_row_ops *ops = mg_row_ops_for(&p->x, mg_isa_level());
    for (int64_t i = 0; i < p->count; i++)
        if (!(fabs(gamma) * ops->square(&p->x, mg_sample_row(p, i)) <= most)) return i;
    return -1;
}

/* Nothing can be said of rounding where an argument is infinite. */
static margin_status check_range(const mg_kernel *kernel, const char *learner, const mg_problem *p,
                                 margin_error *error) {
    const int64_t i = far_sample(p, kernel->gamma, DBL_MAX / 4.0);
    MG_REQUIRE(i < 0, error, MG_DATA(OVERFLOW),
               "gamma=%s times the square of row %lld leaves the range of numbers: %sscale the "
               "columns first (standardize | %s(...))",
               mg_number(kernel->gamma).text, (long long)mg_sample_original(p, i) + 1,
               far_sample(p, 1.0, DBL_MAX) < 0 ? "give a smaller gamma, or " : "", learner);
    return MARGIN_OK;
}

static bool all_equal(const mg_problem *p) {
    for (int64_t i = 1; i < p->count; i++)
        if (mg_row_pair(&p->x, mg_sample_row(p, 0), &p->x, mg_sample_row(p, i)).difference > 0.0)
            return false;
    return true;
}

/* A user who gives a gamma may ask for values of 1 and 0, which need no distances. */
static margin_status check_distances(margin_context *context, const mg_kernel_choice *choice,
                                     const char *learner, const mg_problem *p, double gamma,
                                     margin_error *error) {
    static const double zero = 700.0; /* exp(-zero), about */
    static const double most = 1e-6;  /* what rounding may make of an exponent */
    const int64_t i = far_sample(p, gamma, most / DBL_EPSILON);
    const mg_kernel_points points = mg_kernel_points_of(p);
    double median = (double)INFINITY;
    if (i < 0 || all_equal(p)) return MARGIN_OK;
    if (choice->rule == MG_GAMMA_GIVEN)
        MG_TRY(mg_kernel_median(context, MG_KERNEL_RBF, &points, p->weight, &median, error));
    MG_REQUIRE(gamma > 2.0 * zero * median, error, MG_DATA(OVERFLOW),
               "row %lld is so far from 0, beside the spread of the values, that rounding hides "
               "the distances between rows; scale the columns first (standardize | %s(...))",
               (long long)mg_sample_original(p, i) + 1, learner);
    return MARGIN_OK;
}

margin_status mg_kernel_resolve(margin_context *context, const mg_kernel_choice *choice,
                                const char *learner, const mg_problem *p, mg_kernel *kernel,
                                margin_error *error) {
    *kernel = choice->kernel;
    if (kernel->kind == MG_KERNEL_FUNCTION)
        return mg_kernel_own(context, learner, p, kernel, error);
    const double *weights = p->classes_weigh ? p->given : p->weight;
    if (choice->rule == MG_GAMMA_SCALE) {
        MG_TRY(mg_kernel_scale(context, &p->x, p->index, weights, p->count, &kernel->gamma, error));
    } else if (choice->rule == MG_GAMMA_MEDIAN) {
        const mg_kernel_points points = mg_kernel_points_of(p);
        MG_TRY(mg_kernel_median(context, kernel->kind, &points, weights, &kernel->gamma, error));
    }
    MG_REQUIRE(choice->rule == MG_GAMMA_GIVEN || (kernel->gamma > 0.0 && isfinite(kernel->gamma)),
               error, MG_DATA(OVERFLOW),
               "the values of the rows are too large for a kernel to see how far apart they are; "
               "scale the columns first (standardize | %s(...))",
               learner);
    if (kernel->kind != MG_KERNEL_RBF && kernel->kind != MG_KERNEL_SIGMOID) return MARGIN_OK;
    if (kernel->kind == MG_KERNEL_RBF)
        MG_TRY(check_distances(context, choice, learner, p, kernel->gamma, error));
    return check_range(kernel, learner, p, error);
}

void mg_kernel_report(const mg_penalty *penalty, const mg_kernel *kernel, const char *loss,
                      margin_report *report) {
    char text[sizeof report->formula];
    const bool sum = strcmp(penalty->spelling, "alpha") == 0;
    if (strcmp(penalty->spelling, "C") == 0)
        snprintf(text, sizeof text, "C sum %s + |f|^2/2", loss);
    else
        snprintf(text, sizeof text, "%s %s + %s |f|^2", sum ? "sum" : "mean", loss,
                 penalty->spelling);
    mg_report_formula(report, text);
    mg_report_penalty(report, penalty);
    if (uses_gamma(kernel->kind)) mg_report_set(report, "gamma", kernel->gamma);
}

margin_status mg_kernel_share(mg_shared *shared, const mg_kernel_choice *choice,
                              const char *learner) {
    mg_kernel *made;
    MG_NEW(shared->context->heap, made, 1, "the kernel", shared->error);
    const margin_status status =
        mg_kernel_resolve(shared->context, choice, learner, shared->whole, made, shared->error);
    if (status < 0) {
        mg_free(shared->context->heap, made);
        return status;
    }
    shared->data = made;
    shared->release = mg_free;
    return MARGIN_OK;
}

margin_status mg_kernel_of_fit(const mg_fit *fit, const mg_kernel_choice *choice,
                               const char *learner, mg_kernel *kernel) {
    if (!fit->shared || !fit->shared->data)
        return mg_kernel_resolve(fit->context, choice, learner, fit->problem, kernel, fit->error);
    *kernel = *(const mg_kernel *)fit->shared->data;
    return MARGIN_OK;
}

margin_status mg_kernel_fits(const margin_component *info, const mg_problem *problem,
                             const mg_option_value *options, const mg_hypothesis *h,
                             margin_error *error) {
    const mg_kernel_choice choice = mg_kernel_options_of(info, options);
    const mg_kernel *asked = &choice.kernel, *has = &h->view.expansion.kernel;
    (void)problem;
    MG_REQUIRE(
        has->kind == asked->kind && has->degree == asked->degree && has->coef0 == asked->coef0 &&
            (choice.rule != MG_GAMMA_GIVEN || has->gamma == asked->gamma),
        error, MARGIN_ERROR_MODEL, "the model has another kernel than its %s asks for", info->name);
    return MARGIN_OK;
}

margin_status mg_kernel_verify(margin_context *context, const margin_component *info,
                               const mg_option_value *options, const mg_problem *whole,
                               const mg_hypothesis *h, mg_verified *verified, margin_error *error) {
    static const double other_order = 1e-9;
    mg_kernel kernel;
    if (h->kind != &mg_hypothesis_expansion) return MARGIN_OK;
    const mg_kernel_choice choice = mg_kernel_options_of(info, options);
    if (choice.rule == MG_GAMMA_GIVEN) return MARGIN_OK;
    const double has = h->view.expansion.kernel.gamma;
    const margin_status status =
        mg_kernel_resolve(context, &choice, info->name, whole, &kernel, error);
    if (status < 0 && status != MARGIN_ERROR_DATA) return status;
    if (status < 0 || !(fabs(kernel.gamma - has) <= other_order * has))
        verified->contradiction = "its gamma is not what the spec's rule makes of the rows";
    return MARGIN_OK;
}

bool mg_kernel_is_given(const margin_component *info, const mg_option_value *values) {
    return mg_option_index(info, "kernel") >= 0 &&
           mg_option_is(info, values, "kernel", "precomputed");
}

margin_status mg_kernel_explain_gap(margin_status status, const margin_error *found,
                                    margin_error *error) {
    if (status == MARGIN_ERROR_DATA && found->row > 0 && found->feature > 0)
        return mg_fail_at(error, MG_CAUSED(MARGIN_ERROR_DATA, found->cause),
                          (mg_place){.row = found->row, .feature = found->feature},
                          "kernel=precomputed: row %lld has no finite value in the column of row "
                          "%lld, and no other values of a Gram matrix can stand for it: compute "
                          "it, or leave out both the row and its column",
                          (long long)found->row, (long long)found->feature);
    if (status < 0 && error) *error = *found;
    return status;
}

mg_kernel_name mg_kernel_describe(const mg_kernel *kernel) {
    mg_kernel_name name;
    int64_t length = 0;
    int choice = 0;
    while (choice + 1 < MG_LENGTH(kinds) && kinds[choice] != kernel->kind)
        choice++;
    const char *word = mg_choice_at(MG_KERNEL_CHOICES_OWN, choice, &length);
    if (kernel->kind == MG_KERNEL_PRECOMPUTED)
        snprintf(name.text, sizeof name.text, "of given values");
    else if (!uses_gamma(kernel->kind))
        snprintf(name.text, sizeof name.text, "%.*s", (int)length, word);
    else
        snprintf(name.text, sizeof name.text, "%.*s with gamma %s", (int)length, word,
                 mg_about(kernel->gamma).text);
    return name;
}

const char *mg_kernel_definite_words(const mg_kernel *kernel) {
    return kernel->kind == MG_KERNEL_PRECOMPUTED
               ? "values that are inner products, with no eigenvalue below 0"
               : "a kernel that is an inner product (rbf, laplacian, linear, poly with coef0 >= 0)";
}

const char *mg_kernel_scale_words(const mg_kernel *kernel) {
    return kernel->kind == MG_KERNEL_PRECOMPUTED ? ""
                                                 : "scale the columns (standardize | ...), or ";
}

mg_kernel_words mg_kernel_given(const margin_component *info, const mg_option_value *values) {
    static const char *const names[] = {"kernel", "gamma", "sigma", "degree", "coef0"};
    mg_kernel_words words = {""};
    size_t length = 0;
    for (int k = 0; k < MG_LENGTH(names); k++) {
        const mg_option_value *value = mg_option_named(info, values, names[k]);
        if (!value->given || (value->text && strcmp(value->text, "rbf") == 0)) continue;
        const size_t room = sizeof words.text - length;
        const size_t more =
            (size_t)snprintf(words.text + length, room, ", %s=%s", names[k],
                             value->text ? value->text : mg_number(value->number).text);
        length += more < room ? more : 0;
        words.text[length] = 0; /* a word that does not fit is left out */
    }
    return words;
}
