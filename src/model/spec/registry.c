/* The catalogue: every stage and learner, one line each. */
#include "bayes/learner/naive_bayes.h"
#include "cluster/learner/kmeans_learner.h"
#include "features/columns/stages.h"
#include "kernel/logistic/kernel_logistic.h"
#include "kernel/ridge/kernel_ridge.h"
#include "linear/learners/linear_learner.h"
#include "linear/squares/least_squares.h"
#include "model/spec/spec_components.h"
#include "neighbors/learner/knn.h"
#include "perceptron/learner/perceptron.h"

#include <string.h>

/* Each list by name, one a line. */
/* clang-format off */
static const mg_stage *const stages[] = {
    &mg_stage_fourier,
    &mg_stage_impute,
    &mg_stage_minmax,
    &mg_stage_normalize,
    &mg_stage_nystroem,
    &mg_stage_onehot,
    &mg_stage_poly,
    &mg_stage_rbf,
    &mg_stage_standardize,
};
static const mg_learner *const learners[] = {
    &mg_learner_elastic_net,
    &mg_learner_exponential,
    &mg_learner_kernel_logistic,
    &mg_learner_kernel_ridge,
    &mg_learner_kmeans,
    &mg_learner_knn,
    &mg_learner_lasso,
    &mg_learner_least_squares,
    &mg_learner_logistic,
    &mg_learner_naive_bayes,
    &mg_learner_perceptron,
    &mg_learner_ridge,
    &mg_learner_softmax,
    &mg_learner_svm,
};
static const mg_hypothesis_kind *const kinds[] = {
    &mg_hypothesis_bayes,
    &mg_hypothesis_centres,
    &mg_hypothesis_expansion,
    &mg_hypothesis_identity,
    &mg_hypothesis_linear,
    &mg_hypothesis_neighbors,
};
/* clang-format on */

int margin_component_count(void) {
    return MG_LENGTH(stages) + MG_LENGTH(learners);
}

const margin_option *margin_component_option(const margin_component *component, int64_t number) {
    if (!component || number < 0 || number >= component->option_count) return NULL;
    return &component->options[number];
}

const margin_component *margin_component_at(int index) {
    const mg_stage *stage = mg_stage_at(index);
    const mg_learner *learner = mg_learner_at(index);
    return stage ? &stage->info : learner ? &learner->info : NULL;
}

const margin_component *margin_component_find(const char *name) {
    for (int index = 0; name && index < margin_component_count(); index++) {
        const margin_component *component = margin_component_at(index);
        if (strcmp(component->name, name) == 0) return component;
    }
    return NULL;
}

const mg_stage *mg_stage_at(int index) {
    return index >= 0 && index < MG_LENGTH(stages) ? stages[index] : NULL;
}

const mg_learner *mg_learner_at(int index) {
    const int place = index - MG_LENGTH(stages);
    return index >= 0 && place >= 0 && place < MG_LENGTH(learners) ? learners[place] : NULL;
}

const mg_stage *mg_stage_find(const char *name) {
    for (int k = 0; k < MG_LENGTH(stages); k++)
        if (strcmp(stages[k]->info.name, name) == 0) return stages[k];
    return NULL;
}

const mg_learner *mg_learner_find(const char *name) {
    for (int k = 0; k < MG_LENGTH(learners); k++)
        if (strcmp(learners[k]->info.name, name) == 0) return learners[k];
    return NULL;
}

bool mg_is_transform(const mg_learner *learner) {
    return learner == &mg_learner_transform;
}

const mg_learner *mg_learner_of(const mg_learner *entry, const mg_option_value *options) {
    return entry->variant ? entry->variant(options) : entry;
}

const mg_hypothesis_kind *mg_hypothesis_kind_find(const char *name) {
    for (int k = 0; k < MG_LENGTH(kinds); k++)
        if (strcmp(kinds[k]->name, name) == 0) return kinds[k];
    return NULL;
}
