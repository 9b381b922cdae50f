#include "verify_cases.h"

#include "model/object/model_object.h"
#include "neighbors/learner/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 50, MOST_COLUMNS = 6, SPEC = 300 };

typedef struct random_case {
    int64_t rows, columns, classes; /* classes 0: a regression; 1: clusters */
    double x[MOST_ROWS * MOST_COLUMNS], y[MOST_ROWS], weights[MOST_ROWS];
    float floats[MOST_ROWS * MOST_COLUMNS];
    int32_t indices[MOST_ROWS * MOST_COLUMNS];
    int64_t starts[MOST_ROWS + 1];
    double stored[MOST_ROWS * MOST_COLUMNS];
    margin_data data;
    bool certified; /* by a gap */
    char stages[80], learner[40], options[160], spec[SPEC];
} random_case;

static uint64_t pick(uint64_t *random, uint64_t count) {
    return (support_random(random) >> 16) % count;
}

static double power(uint64_t *random, double most) {
    return pow(10, most * (2 * support_uniform(random) - 1));
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void fill_rows(random_case *c, uint64_t *random) {
    const bool sparse = pick(random, 3) == 0;
    for (int64_t j = 0; j < c->columns; j++) {
        const double size = power(random, 2), offset = pick(random, 2) ? 0 : 3 * size;
        const bool counts = pick(random, 4) == 0;
        for (int64_t i = 0; i < c->rows; i++) {
            double *value = &c->x[i * c->columns + j];
            *value = offset * !sparse + size * support_normal(random);
            if (counts) *value = (double)(int)pick(random, 4);
            if (sparse && pick(random, 2)) *value = 0;
            *value = (double)(float)*value;
        }
    }
}

static void fill_targets(random_case *c, uint64_t *random) {
    const double noise = power(random, 1), size = power(random, 1);
    for (int64_t i = 0; i < c->rows; i++) {
        double score = 0;
        for (int64_t j = 0; j < c->columns; j++)
            score += (j % 2 ? -1 : 1) * c->x[i * c->columns + j];
        score += noise * support_normal(random);
        if (c->classes == 0)
            c->y[i] = size * score;
        else
            c->y[i] = i < c->classes ? (double)i : fmod(fabs(floor(score)), (double)c->classes);
        c->weights[i] = (double)(1 + pick(random, 9)) / 4;
    }
}

static void fill_layout(random_case *c, uint64_t *random) {
    int64_t filled = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        for (int64_t j = 0; j < c->columns; j++) {
            const double value = c->x[i * c->columns + j];
            c->floats[i * c->columns + j] = (float)value;
            if (value == 0) continue;
            c->stored[filled] = value;
            c->indices[filled++] = (int32_t)j;
        }
        c->starts[i + 1] = filled;
    }
    c->data = (margin_data){.x = margin_dense_f64(c->x, c->rows, c->columns, c->columns)};
    switch (pick(random, 4)) {
    case 0:
        c->data.x = margin_csr_f64(c->stored, c->indices, c->starts, c->rows, c->columns);
        break;
    case 1:
        c->data.x = margin_dense_f32(c->floats, c->rows, c->columns, c->columns);
        break;
    }
    if (c->classes != 1) c->data.y = margin_values_f64(c->y, c->rows);
    if (pick(random, 3) == 0) c->data.weights = margin_values_f64(c->weights, c->rows);
}

/* ---- Specs ----------------------------------------------------------------------------------- */

static const char *const classifiers[] = {
    "logistic",    "svm", "softmax",    "exponential",     "logistic",   "perceptron",
    "naive-bayes", "knn", "svm-kernel", "kernel-logistic", "svm-kernel", "kernel-ridge"};
static const char *const regressions[] = {"least-squares", "ridge", "lasso",      "elastic-net",
                                          "ridge",         "knn",   "svm-kernel", "kernel-ridge"};
static const char *const kernels[] = {
    "rbf", "poly", "linear", "exp", "sigmoid", "laplacian", "rbf", "poly, degree=3, coef0=0.5"};
static const char *const stages[] = {"",
                                     "",
                                     "standardize",
                                     "minmax",
                                     "normalize",
                                     "standardize | minmax",
                                     "poly",
                                     "standardize(columns=1)",
                                     "impute(with=median)",
                                     "standardize | rbf(centres=4)",
                                     "fourier(features=6)",
                                     "nystroem(centres=4)"};

/* "", or one that is 0 now and then. */
static void choose_penalty(char penalty[40], uint64_t *random) {
    static const char *const names[] = {"C", "alpha", "lambda"};
    const uint64_t name = pick(random, 3);
    penalty[0] = 0;
    if (pick(random, 3) == 0) return;
    if (pick(random, 8) == 0)
        snprintf(penalty, 40, ", %s=%s", names[name], name ? "0" : "inf");
    else
        snprintf(penalty, 40, ", %s=%.3g", names[name], power(random, 3));
}

static void choose_linear(random_case *c, uint64_t *random) {
    char penalty[40] = "";
    const char *extra = "";
    const bool is_svm = strcmp(c->learner, "svm") == 0;
    const bool one = strcmp(c->learner, "softmax") != 0;
    if (strcmp(c->learner, "least-squares") != 0) choose_penalty(penalty, random);
    switch (pick(random, 6)) {
    case 0:
        extra = ", tol=0.01";
        break;
    case 1:
        extra = ", intercept=no";
        break;
    case 2:
        extra = c->classes > 2 && one ? ", multiclass=ovo" : ", tol=1e-08";
        break;
    case 3:
        extra = is_svm ? ", loss=squared-hinge" : "";
        break;
    case 4:
        extra = is_svm && c->classes > 2 ? ", multiclass=argmax" : "";
        break;
    default:
        break;
    }
    snprintf(c->options, sizeof c->options, "%s%s", penalty, extra);
}

static void choose_kernel(random_case *c, uint64_t *random) {
    char penalty[40] = "", task[40] = "";
    const bool is_svm = strcmp(c->learner, "svm-kernel") == 0;
    if (is_svm) strcpy(c->learner, "svm");
    if (c->classes != 1) choose_penalty(penalty, random);
    if (c->classes == 1)
        snprintf(task, sizeof task, ", task=one-class, nu=%.3g",
                 0.05 + 0.9 * support_uniform(random));
    else if (c->classes == 0)
        snprintf(task, sizeof task, ", task=regress%s",
                 is_svm && pick(random, 2) ? ", epsilon=0.5" : "");
    else if (pick(random, 3) == 0)
        snprintf(task, sizeof task, ", multiclass=ovo");
    const char *kernel = kernels[pick(random, 8)];
    if (strcmp(kernel, "exp") == 0) strcpy(c->stages, "normalize"); /* not beyond all numbers */
    snprintf(c->options, sizeof c->options, ", kernel=%s%s%s%s", kernel, penalty, task,
             pick(random, 4) ? "" : ", tol=0.01");
}

static bool is_one_of(const char *name, const char *const *names, int count) {
    for (int k = 0; k < count; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return false;
}

static void choose_spec(random_case *c, uint64_t *random) {
    static const char *const plain[] = {"perceptron", "naive-bayes", "knn", "kmeans"};
    static const char *const kernel[] = {"svm-kernel", "kernel-ridge", "kernel-logistic"};
    const int regression = c->classes == 0;
    const char *name = regression ? regressions[pick(random, 8)] : classifiers[pick(random, 12)];
    if (c->classes == 1) name = pick(random, 2) ? "kmeans" : "svm-kernel";
    snprintf(c->learner, sizeof c->learner, "%s", name);
    c->certified = !is_one_of(name, plain, 4);
    snprintf(c->stages, sizeof c->stages, "%s", stages[pick(random, 12)]);
    c->options[0] = 0;
    if (c->classes == 1 && !c->certified)
        snprintf(c->options, sizeof c->options, ", k=2");
    else if (is_one_of(name, kernel, 3))
        choose_kernel(c, random);
    else if (c->certified)
        choose_linear(c, random);
    snprintf(c->spec, sizeof c->spec, "%s%s%s(%s)", c->stages, c->stages[0] ? " | " : "",
             c->learner, c->options + 2 * !!c->options[0]);
}

static void make_case(random_case *c, bool certified, uint64_t *random) {
    do {
        memset(c, 0, sizeof *c);
        c->rows = 8 + (int64_t)pick(random, MOST_ROWS - 8);
        c->columns = 1 + (int64_t)pick(random, MOST_COLUMNS);
        c->classes = (int64_t)pick(random, 5);
        if (c->classes == 1 && pick(random, 3)) c->classes = 0;
        choose_spec(c, random);
    } while (certified && !c->certified);
    fill_rows(c, random);
    fill_targets(c, random);
    fill_layout(c, random);
}

/* NULL: refused, because of what the data or the options are. */
static margin_model *fit_case(margin_context *context, const random_case *c) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    if (margin_spec_parse(context, c->spec, &spec, &error) < 0)
        fail_msg("%s: %s", c->spec, error.text);
    const margin_status status = margin_fit(context, spec, &c->data, &model, NULL, &error);
    margin_spec_free(spec);
    if (status < 0 && status != MARGIN_ERROR_SPEC && status != MARGIN_ERROR_DATA &&
        status != MARGIN_ERROR_ARGUMENT)
        fail_msg("%s: %s", c->spec, error.text);
    return status < 0 ? NULL : model;
}

/* Two of three as a machine with other instructions would, whose sums round otherwise. */
static margin_status verify_anywhere(margin_context *context, const margin_model *model,
                                     const margin_data *data, uint64_t number, margin_report *found,
                                     margin_error *error) {
    static const char *const others[] = {NULL, "ref", "avx2"};
    const char *other = getenv("MARGIN_ISA") ? NULL : others[number % 3];
    if (other) setenv("MARGIN_ISA", other, 1);
    const margin_status status = margin_verify(context, model, data, found, error);
    if (other) unsetenv("MARGIN_ISA");
    return status;
}

void assert_honest_fits_verify(int count, uint64_t seed) {
    margin_context *context = support_context(NULL, 1);
    random_case *c = malloc(sizeof *c);
    int verified = 0, converged = 0, refused = 0, missed = 0;
    for (uint64_t number = seed; verified < count; number++) {
        uint64_t random = number;
        margin_report found = {0};
        margin_error error = {0};
        make_case(c, false, &random);
        margin_model *model = fit_case(context, c);
        if (!model) {
            assert_true(++refused < 20 + count);
            continue;
        }
        converged += margin_model_report(model)->status == MARGIN_OK;
        const margin_status status =
            verify_anywhere(context, model, &c->data, number, &found, &error);
        if (status != MARGIN_OK) {
            print_error("number %llu: %s: %s%s\n", (unsigned long long)number, c->spec,
                        found.reason, error.text);
            missed++;
        }
        verified++;
        margin_model_free(model);
    }
    assert_int_equal(missed, 0);
    assert_true(converged > count / 2);
    free(c);
    margin_context_free(context);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static double other(double value, uint64_t *random) {
    switch (pick(random, 4)) {
    case 0:
        return value * 1.01 + (value == 0);
    case 1:
        return value == 0 ? 0.5 : -value;
    case 2:
        return value + fmax(1, fabs(value)) / 8;
    default:
        return value * 0.5 - (value == 0);
    }
}

static bool change_tensors(mg_tensor *tensors, int count, uint64_t *random, char *what) {
    if (count == 0) return false;
    mg_tensor *t = &tensors[pick(random, (uint64_t)count)];
    const int64_t numbers = t->shape[0] * MG_MAX(t->shape[1], 1);
    if (numbers == 0) return false;
    const int64_t at = (int64_t)pick(random, (uint64_t)numbers);
    snprintf(what, 100, "tensor %s[%lld]", t->name, (long long)at);
    if (t->type == MARGIN_F64) {
        double *value = (double *)t->data + at;
        const double before = *value;
        if (!isfinite(before)) return false;
        *value = other(before, random);
        return fabs(*value - before) > 1e-12;
    }
    if (t->type != MARGIN_I64) return false;
    ((int64_t *)t->data)[at]++;
    return true;
}

static bool change_report(margin_report *r, uint64_t *random, char *what) {
    double *const numbers[] = {&r->objective,      &r->gap,        &r->tolerance,
                               &r->train_accuracy, &r->train_rmse, &r->train_r2};
    int64_t *const counts[] = {&r->rows, &r->columns, &r->classes, &r->subproblems};
    const int which = (int)pick(random, 13);
    snprintf(what, 100, "report number %d", which);
    if (which < 6) {
        if (isnan(*numbers[which]) || (which == 1 && r->gap < 1e-10)) return false;
        const double before = *numbers[which];
        *numbers[which] = pick(random, 4) ? other(before, random)
                                          : (double[]){NAN, INFINITY, -1}[pick(random, 3)];
        if (which == 1 && r->status != MARGIN_OK)
            return false; /* no claim but that it is not less */
        if (which ==
            1) /* a gap is a bound: more is as true up to the tolerance, less by rounding */
            return !(r->gap >= before - 0.05 * r->tolerance && r->gap <= r->tolerance);
        return !(fabs(*numbers[which] - before) <= 1e-12); /* what is left of residuals of 0 */
    }
    if (which < 10) {
        ++*counts[which - 6];
    } else if (which == 10) {
        r->iterations = -1;
    } else if (which == 11) {
        if (r->status == MARGIN_OK || r->gap <= r->tolerance) return false; /* as true */
        r->status = MARGIN_OK;
    } else {
        if (r->item_count == 0) return false;
        margin_report_item *item = &r->items[pick(random, (uint64_t)r->item_count)];
        static const char *const not_found[] = {"condition", "rank", "mistakes", "best_run",
                                                "relocated"};
        if (is_one_of(item->name, not_found, MG_LENGTH(not_found))) return false;
        if (!isfinite(item->value)) return false;
        if (strcmp(item->name, "leave_one_out_rmse") == 0 && /* rounding may hide it */
            margin_report_item_value(r, "condition") > 1e8)
            return false;
        snprintf(what, 100, "item %s", item->name);
        item->value = other(item->value, random);
    }
    return true;
}

/* What a seed draws is no claim. */
static bool change_stage(margin_model *model, uint64_t *random, char *what) {
    mg_fitted_stage *stage = &model->stages[pick(random, (uint64_t)model->stage_count)];
    return change_tensors(stage->bag.tensors, stage->bag.count, random, what) &&
           strncmp(what, "tensor frequencies[", 19) != 0 &&
           strncmp(what, "tensor centres[", 15) != 0;
}

/* The coefficient of a row of zeros for which k(0, x) = x.0 is 0 at all x: of no prediction. */
static bool weighs_nothing(const mg_hypothesis *h, const char *what) {
    int at;
    return h->kind == &mg_hypothesis_expansion &&
           sscanf(what, "tensor coefficients[%d]", &at) == 1 &&
           h->view.expansion.kernel.kind == MG_KERNEL_LINEAR &&
           h->view.expansion.squares[h->view.expansion.entries[at]] == 0;
}

/* As true as before: where neighbours are searched from, if the loader takes it; without a penalty
 * a dual form, which proves nothing about the loss; no accuracy, as after an update. */
static bool is_as_true(const margin_model *model, const char *what) {
    if (model->hypothesis->kind == &mg_hypothesis_neighbors)
        return strncmp(what, "tensor centre[", 14) == 0 || strcmp(what, "tensor settings[2]") == 0;
    if (weighs_nothing(model->hypothesis, what)) return true;
    if (strncmp(what, "tensor dual", 11) == 0)
        return !isfinite(margin_report_item_value(&model->report, "C"));
    return strcmp(what, "report number 3") == 0 && isnan(model->report.train_accuracy) &&
           mg_learner_more_of(model->learner)->update;
}

static bool change_model(margin_model *model, uint64_t *random, char *what) {
    mg_hypothesis *h = model->hypothesis;
    if (pick(random, 2))
        return change_report(&model->report, random, what) && !is_as_true(model, what);
    if (model->stage_count > 0 && pick(random, 4) == 0) return change_stage(model, random, what);
    return change_tensors(h->bag.tensors, h->bag.count, random, what) && !is_as_true(model, what);
}

/* What a reader would do with it, and then verification; 1: noticed. */
static bool is_noticed(margin_context *context, const margin_model *model, const random_case *c) {
    margin_model *read = NULL;
    margin_report found = {0};
    void *bytes = NULL;
    int64_t length = 0;
    margin_error error = {0};
    if (margin_model_encode(model, &bytes, &length, &error) < 0) return true;
    margin_status status = margin_model_decode(context, bytes, length, &read, &error);
    margin_bytes_free(model, bytes);
    if (status >= 0) status = margin_verify(context, read, &c->data, &found, &error);
    margin_model_free(read);
    return status != MARGIN_OK;
}

void assert_changes_are_noticed(int count, uint64_t seed) {
    margin_context *context = support_context(NULL, 1);
    random_case *c = malloc(sizeof *c);
    int changed = 0, missed = 0;
    for (uint64_t number = seed; changed < count; number++) {
        uint64_t random = number;
        char what[100] = "";
        make_case(c, number % 4 != 0, &random);
        margin_model *model = fit_case(context, c);
        if (!model) continue;
        const margin_report before = *margin_model_report(model);
        if (change_model(model, &random, what)) {
            changed++;
            if (!is_noticed(context, model, c)) {
                const margin_report *r = margin_model_report(model);
                print_error("number %llu: %s: %s (objective %.17g %.17g gap %g %g)\n",
                            (unsigned long long)number, c->spec, what, before.objective,
                            r->objective, before.gap, r->gap);
                missed++;
            }
        }
        margin_model_free(model);
    }
    assert_int_equal(missed, 0);
    free(c);
    margin_context_free(context);
}
