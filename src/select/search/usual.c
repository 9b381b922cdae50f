/* The specs that are worth trying on a data set of which nothing else is known. */
#include "base/cancelled_at.h"
#include "learn/column_choice.h"
#include "model/problem/target_labels.h"
#include "select/search/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SPEC_TEXT = 200 };

typedef struct usual_grid {
    const char *learner, *spec;
    margin_task task;
    int least_classes;
    bool dense; /* its stages or itself fill sparse data in */
    int64_t most_rows, most_columns;
} usual_grid;

/* From the cheapest to the dearest: where time is up, the first ones have been tried. */
static const usual_grid usual[] = {
    {"naive-bayes", "naive-bayes", MARGIN_CLASSIFY, 2, false, 0, 0},
    {"logistic", "standardize | logistic(C={0.01,0.1,1,10,100})", MARGIN_CLASSIFY, 2, false, 0, 0},
    {"softmax", "standardize | softmax(C={0.01,0.1,1,10,100})", MARGIN_CLASSIFY, 3, false, 0, 0},
    {"svm", "standardize | svm(C={0.01,0.1,1,10})", MARGIN_CLASSIFY, 2, false, 0, 0},
    {"knn", "standardize | knn(k={1,3,5,9,15,25}, task=classify)", MARGIN_CLASSIFY, 2, true, 100000,
     200},
    {"kernel-logistic", "standardize | kernel-logistic(kernel=rbf, C={1,10})", MARGIN_CLASSIFY, 2,
     true, 3000, 1000},
    {"svm", "standardize | svm(kernel=rbf, C={1,10,100})", MARGIN_CLASSIFY, 2, true, 20000, 1000},
    {"least-squares", "least-squares", MARGIN_REGRESS, 0, false, 0, 2000},
    {"ridge", "standardize | ridge(alpha={0.1..1000 log 5})", MARGIN_REGRESS, 0, false, 0, 2000},
    {"lasso", "standardize(target=yes) | lasso(lambda={0.001..1 log 4})", MARGIN_REGRESS, 0, false,
     0, 0},
    {"ridge", "poly(degree=2) | standardize | ridge(alpha={0.1..1000 log 5})", MARGIN_REGRESS, 0,
     true, 0, 40},
    {"knn", "standardize | knn(k={1,3,5,9,15,25}, task=regress)", MARGIN_REGRESS, 0, true, 100000,
     200},
    {"kernel-ridge", "standardize | kernel-ridge(kernel=rbf, alpha={0.01,0.1,1})", MARGIN_REGRESS,
     0, true, 5000, 1000},
};

typedef struct kind_of_data {
    margin_task task;
    int64_t classes; /* up to 3 */
    bool missing, categories;
} kind_of_data;

static void look_at_target(const margin_data *data, const mg_samples *samples, kind_of_data *kind) {
    const bool numbers = !mg_target_is_categorical(data);
    double seen[3];
    kind->task = MARGIN_CLASSIFY;
    if (data->targets > 1 || (numbers && !mg_target_looks_like_classes(data, samples))) {
        kind->task = MARGIN_REGRESS;
        return;
    }
    for (int64_t i = 0; i < samples->count && kind->classes < 3; i++) {
        const double value = mg_vector_f64(&data->y, mg_samples_row(samples, i));
        int64_t at = 0;
        while (at < kind->classes && seen[at] != value)
            at++;
        if (at == kind->classes) seen[kind->classes++] = value;
    }
}

static margin_status look_for_missing(const margin_context *context, const margin_data *data,
                                      const mg_samples *samples, bool *missing) {
    for (int64_t i = 0; i < samples->count; i++) {
        if (mg_cancelled_at(context, i)) return MARGIN_ERROR_CANCELLED;
        for (int64_t j = 0; j < data->x.columns; j++) {
            const double value = mg_dense_value(&data->x, mg_samples_row(samples, i), j);
            *missing = isnan(value) || (value == -1 && mg_is_categorical(data->columns, j));
            if (*missing) return MARGIN_OK;
        }
    }
    return MARGIN_OK;
}

static bool suits(const usual_grid *grid, const kind_of_data *kind, const margin_data *data,
                  int64_t rows) {
    return grid->task == kind->task && kind->classes >= grid->least_classes &&
           !(grid->dense && mg_is_csr(&data->x)) && (!grid->most_rows || rows <= grid->most_rows) &&
           (!grid->most_columns || data->x.columns <= grid->most_columns);
}

/* The grid behind the stages that the data ask for. */
static void spec_for(const usual_grid *grid, const kind_of_data *kind, char text[SPEC_TEXT]) {
    const bool alone = !strchr(grid->spec, '|');
    const unsigned can = margin_component_find(grid->learner)->abilities;
    const bool fills = kind->missing && !(alone && (can & MARGIN_CAN_MISSING));
    const bool encodes = kind->categories && !(alone && (can & MARGIN_CAN_CATEGORIES));
    snprintf(text, SPEC_TEXT, "%s%s%s", fills ? "impute | " : "", encodes ? "onehot | " : "",
             grid->spec);
}

margin_status margin_usual_specs(margin_context *context, const margin_data *data, int64_t capacity,
                                 margin_spec **specs, int64_t *count, margin_error *error) {
    mg_samples samples = {0};
    kind_of_data kind = {0};
    int64_t made = 0;
    margin_status status;
    MG_REQUIRE(context && data && count && (specs || capacity == 0), error, MARGIN_ERROR_ARGUMENT,
               "%s is NULL",
               !context ? "the context"
               : !data  ? "the data set"
                        : "a place for the specs");
    margin_context call = mg_context_call(context);
    MG_GO(mg_data_check_columns(&call, data, error));
    MG_GO(mg_target_require(data, NULL, error));
    MG_GO(mg_samples_make(context->heap, data, &samples, error));
    look_at_target(data, &samples, &kind);
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        kind.categories |= data->columns[j].kind == MARGIN_CATEGORICAL;
    if (!mg_is_csr(&data->x)) MG_GO(look_for_missing(&call, data, &samples, &kind.missing));
    for (size_t k = 0; k < sizeof usual / sizeof *usual && made < capacity; k++) {
        char text[SPEC_TEXT];
        if (!suits(&usual[k], &kind, data, samples.count)) continue;
        spec_for(&usual[k], &kind, text);
        MG_GO(margin_spec_parse(context, text, &specs[made], error));
        made++;
    }
    *count = made;
done:
    for (int64_t k = 0; status < 0 && k < made; k++) {
        margin_spec_free(specs[k]);
        specs[k] = NULL;
    }
    mg_samples_free(&samples);
    if (status == MARGIN_ERROR_CANCELLED) mg_fail_cancelled(error);
    return mg_call_status(&call, status, "before the data were looked at: allow more", error);
}
