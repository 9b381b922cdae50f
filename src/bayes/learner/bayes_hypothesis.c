/* The hypothesis: tensors of counts, and the logarithms of probabilities that they make. */
#include "bayes/learner/bayes.h"
#include "bayes/learner/naive_bayes.h"
#include "learn/hypothesis/dual.h"

#include <string.h>

/* Means farther than this many deviations from 0 are centred first: see mg_bayes_view. */
static const double far_from_zero = 1e4;

static const double half_log_2pi = 0.91893853320467274178;

/* ---- Making one ------------------------------------------------------------------------------ */

enum { SMOOTHING, VAR_SMOOTHING, UNSEEN, PRIOR_SMOOTHING, SETTINGS };

margin_status mg_bayes_new(mg_heap *heap, const mg_bayes_layout *layout,
                           const mg_bayes_settings *settings, mg_hypothesis **h,
                           mg_bayes_counts *counts, margin_error *error) {
    const int64_t n = layout->columns, classes = layout->classes;
    MG_OWNED(mg_hypothesis, made);
    int32_t *kinds = NULL;
    int64_t *levels = NULL;
    double *values = NULL, *priors = NULL, *numbers = NULL;
    MG_TRY(mg_hypothesis_new(heap, &mg_hypothesis_bayes, n, classes, &made, error));
    MG_TRY(mg_bag_add(&made->bag, "settings", MARGIN_F64, SETTINGS, 0, &numbers, error));
    MG_TRY(mg_bag_add(&made->bag, "kinds", MARGIN_I32, n, 0, &kinds, error));
    MG_TRY(mg_bag_add(&made->bag, "levels", MARGIN_I64, n, 0, &levels, error));
    MG_TRY(mg_bag_add(&made->bag, "values", MARGIN_F64, layout->value_count, 0, &values, error));
    MG_TRY(mg_bag_add(&made->bag, "class_counts", MARGIN_F64, classes, 0, &counts->classes, error));
    MG_TRY(mg_bag_add(&made->bag, "statistics", MARGIN_F64, classes, layout->slots,
                      &counts->statistics, error));
    if (settings->priors) {
        MG_TRY(mg_bag_add(&made->bag, "priors", MARGIN_F64, classes, 0, &priors, error));
        memcpy(priors, settings->priors, (size_t)classes * sizeof *priors);
    }
    numbers[SMOOTHING] = settings->smoothing;
    numbers[VAR_SMOOTHING] = settings->var_smoothing;
    numbers[UNSEEN] = (double)settings->unseen;
    numbers[PRIOR_SMOOTHING] = settings->prior_smoothing;
    memcpy(kinds, layout->kinds, (size_t)n * sizeof *kinds);
    memcpy(levels, layout->levels, (size_t)n * sizeof *levels);
    if (layout->value_count > 0)
        memcpy(values, layout->values, (size_t)layout->value_count * sizeof *values);
    *h = made;
    made = NULL;
    return MARGIN_OK;
}

/* ---- Reading the tensors --------------------------------------------------------------------- */

static margin_status read_settings(const mg_hypothesis *h, mg_bayes_settings *settings,
                                   margin_error *error) {
    const double *numbers = NULL;
    MG_TRY(mg_bag_expect(&h->bag, "settings", MARGIN_F64, SETTINGS, 0, &numbers, error));
    const bool good = isfinite(numbers[SMOOTHING]) && numbers[SMOOTHING] >= 0 &&
                      isfinite(numbers[PRIOR_SMOOTHING]) && numbers[PRIOR_SMOOTHING] >= 0 &&
                      isfinite(numbers[VAR_SMOOTHING]) && numbers[VAR_SMOOTHING] >= 0 &&
                      (numbers[UNSEEN] == 0 || numbers[UNSEEN] == 1 || numbers[UNSEEN] == 2);
    MG_REQUIRE(good, error, MARGIN_ERROR_MODEL, "the settings of the bayes model are out of range");
    settings->smoothing = numbers[SMOOTHING];
    settings->prior_smoothing = numbers[PRIOR_SMOOTHING];
    settings->var_smoothing = numbers[VAR_SMOOTHING];
    settings->unseen = (mg_bayes_unseen)numbers[UNSEEN];
    settings->priors = NULL;
    if (!mg_bag_find(&h->bag, "priors")) return MARGIN_OK;
    MG_TRY(mg_bag_expect(&h->bag, "priors", MARGIN_F64, h->functions, 0, &settings->priors, error));
    for (int64_t k = 0; k < h->functions; k++)
        MG_REQUIRE(settings->priors[k] > 0 && isfinite(settings->priors[k]), error,
                   MARGIN_ERROR_MODEL, "a prior of the bayes model is not a probability");
    return MARGIN_OK;
}

static margin_status read_layout(const mg_hypothesis *h, mg_bayes_layout *layout,
                                 margin_error *error) {
    const mg_tensor *values = mg_bag_find(&h->bag, "values");
    *layout = (mg_bayes_layout){.columns = h->columns, .classes = h->functions};
    MG_TRY(mg_bag_expect(&h->bag, "kinds", MARGIN_I32, h->columns, 0, &layout->kinds, error));
    MG_TRY(mg_bag_expect(&h->bag, "levels", MARGIN_I64, h->columns, 0, &layout->levels, error));
    MG_REQUIRE(values && values->type == MARGIN_F64 && values->dimensions == 1, error,
               MARGIN_ERROR_MODEL, "the bayes model has no list of values");
    layout->values = values->data;
    MG_TRY(mg_bayes_layout_make(h->heap, layout, error));
    bool good = layout->value_count == values->shape[0];
    for (int64_t j = 0; j < h->columns && good; j++) {
        if (layout->kinds[j] != MG_BAYES_VALUES) continue;
        const double *list = layout->values + layout->first_value[j];
        for (int64_t v = 0; v < layout->levels[j]; v++)
            good = good && isfinite(list[v]) && (v == 0 || list[v - 1] < list[v]);
    }
    if (good) return MARGIN_OK;
    mg_bayes_layout_free(layout);
    return mg_fail(error, MARGIN_ERROR_MODEL,
                   "the values of the bayes model do not fit its columns");
}

static margin_status read_counts(const mg_hypothesis *h, mg_bayes_view *view, margin_error *error) {
    const mg_bayes_layout *layout = &view->layout;
    MG_TRY(
        mg_bag_expect(&h->bag, "class_counts", MARGIN_F64, h->functions, 0, &view->counts, error));
    MG_TRY(mg_bag_expect(&h->bag, "statistics", MARGIN_F64, h->functions, layout->slots,
                         &view->statistics, error));
    bool good = true;
    double total = 0;
    for (int64_t k = 0; k < layout->classes; k++) {
        good = good && view->counts[k] >= 0;
        total += view->counts[k];
        for (int64_t s = 0; s < layout->slots; s++)
            good = good && isfinite(view->statistics[k * layout->slots + s]);
        for (int64_t j = 0; j < layout->columns; j++) {
            if (mg_bag_ended(&h->bag, j)) return mg_fail_cancelled(error);
            const double *slots = view->statistics + k * layout->slots + layout->first[j];
            const bool gaussian = layout->kinds[j] == MG_BAYES_GAUSSIAN;
            for (int64_t s = 0; s < mg_bayes_slots(layout, j); s++)
                good = good && (slots[s] >= 0 || (gaussian && s == MG_BAYES_MEAN));
            if (layout->kinds[j] == MG_BAYES_BERNOULLI)
                good = good && slots[MG_BAYES_ONES] <= slots[MG_BAYES_SEEN] * (1 + 1e-9);
        }
    }
    MG_REQUIRE(good && isfinite(total) && total > 0, error, MARGIN_ERROR_MODEL,
               "the counts of the bayes model are not counts");
    return MARGIN_OK;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

void mg_bayes_pool(const mg_bayes_layout *layout, const double *statistics, int64_t column,
                   double moments[MG_BAYES_MOMENTS]) {
    memset(moments, 0, MG_BAYES_MOMENTS * sizeof *moments);
    for (int64_t k = 0; k < layout->classes; k++)
        mg_bayes_join_moments(moments, statistics + k * layout->slots + layout->first[column]);
}

static double variance_of(const double *moments) {
    const double weight = moments[MG_BAYES_WEIGHT];
    return weight > 0 ? moments[MG_BAYES_SQUARES] / weight : 0;
}

double mg_bayes_epsilon(const mg_bayes_layout *layout, const double *statistics,
                        double var_smoothing) {
    double greatest = 0, moments[MG_BAYES_MOMENTS];
    for (int64_t g = 0; g < layout->gaussians; g++) {
        mg_bayes_pool(layout, statistics, layout->gaussian[g], moments);
        greatest = MG_MAX(greatest, variance_of(moments));
    }
    return var_smoothing * greatest;
}

/* (count + lambda) / (total + choices lambda) as a logarithm; where nothing was counted and nothing
 * is added, all choices are alike. */
static double log_share(double count, double total, double choices, double lambda) {
    const double below = total + choices * lambda;
    return below > 0 ? log(count + lambda) - log(below) : -log(choices);
}

static void set_priors(mg_bayes_view *view) {
    const int64_t classes = view->layout.classes;
    double total = 0;
    for (int64_t k = 0; k < classes; k++)
        total += view->counts[k];
    for (int64_t k = 0; k < classes; k++)
        view->log_prior[k] = view->settings.priors
                                 ? log(view->settings.priors[k])
                                 : log_share(view->counts[k], total, (double)classes,
                                             view->settings.prior_smoothing);
}

/* One column in all classes. */
static margin_status set_gaussian(mg_bayes_view *view, int64_t g, margin_error *error) {
    const mg_bayes_layout *layout = &view->layout;
    const int64_t n = layout->gaussians, j = layout->gaussian[g];
    double pooled[MG_BAYES_MOMENTS];
    mg_bayes_pool(layout, view->statistics, j, pooled);
    view->centre[g] = pooled[MG_BAYES_MEAN];
    for (int64_t k = 0; k < layout->classes; k++) {
        const double *own = view->statistics + k * layout->slots + layout->first[j];
        const double *moments = own[MG_BAYES_WEIGHT] > 0 ? own : pooled;
        const double variance = variance_of(moments) + view->epsilon;
        const int64_t at = k * n + g;
        view->slope[at] = view->offset[at] = view->level[at] = 0;
        if (!(variance_of(pooled) > 0)) continue; /* a constant column tells nothing */
        MG_REQUIRE(variance > 0 && isfinite(variance), error, MARGIN_ERROR_MODEL,
                   "column %lld of the bayes model has the variance %s in class %lld",
                   (long long)j + 1, mg_number(variance).text, (long long)k);
        view->slope[at] = 1 / sqrt(2 * variance);
        view->offset[at] = -(moments[MG_BAYES_MEAN] - view->centre[g]) * view->slope[at];
        view->level[at] = -half_log_2pi - 0.5 * log(variance);
        view->base[k] += view->level[at];
        if (fabs(moments[MG_BAYES_MEAN] * view->slope[at]) > far_from_zero) view->centred = true;
    }
    return MARGIN_OK;
}

static margin_status set_gaussians(mg_bayes_view *view, margin_error *error) {
    const mg_bayes_layout *layout = &view->layout;
    const int64_t n = layout->gaussians;
    for (int64_t g = 0; g < n; g++)
        MG_TRY(set_gaussian(view, g, error));
    if (view->centred) return MARGIN_OK;
    for (int64_t k = 0; k < layout->classes; k++)
        for (int64_t g = 0; g < n; g++) {
            const double *own =
                view->statistics + k * layout->slots + layout->first[layout->gaussian[g]];
            const double mean = own[MG_BAYES_WEIGHT] > 0 ? own[MG_BAYES_MEAN] : view->centre[g];
            view->offset[k * n + g] = -mean * view->slope[k * n + g];
        }
    memset(view->centre, 0, (size_t)n * sizeof *view->centre);
    return MARGIN_OK;
}

static void set_tables(mg_bayes_view *view) {
    const mg_bayes_layout *layout = &view->layout;
    const double lambda = view->settings.smoothing;
    int64_t row = 0;
    for (int64_t t = 0; t < layout->tables; t++) {
        const int64_t j = layout->table[t], levels = layout->levels[j];
        view->table_row[j] = row;
        for (int64_t k = 0; k < layout->classes; k++) {
            const double *slots = view->statistics + k * layout->slots + layout->first[j];
            double *out = view->tables + row * layout->classes + k, total = 0;
            for (int64_t level = 0; level < levels; level++)
                total += slots[level];
            for (int64_t level = 0; level < levels; level++)
                out[level * layout->classes] =
                    log_share(slots[level], total, (double)levels, lambda);
            /* a category that training never saw */
            double unseen = levels > 0 ? log_share(0, total, (double)levels, lambda) : 0;
            if (view->settings.unseen == MG_BAYES_IGNORE) unseen = 0;
            if (view->settings.unseen == MG_BAYES_REFUSE) unseen = (double)NAN;
            out[levels * layout->classes] = unseen;
        }
        row += levels + 1;
    }
}

static margin_status set_linears(const mg_bag *bag, mg_bayes_view *view, margin_error *error) {
    const mg_bayes_layout *layout = &view->layout;
    const double lambda = view->settings.smoothing;
    for (int64_t k = 0; k < layout->classes; k++) {
        const double *slots = view->statistics + k * layout->slots;
        int64_t words = 0;
        for (int64_t n = 0; n < layout->linears; n++)
            if (layout->kinds[layout->linear[n]] == MG_BAYES_MULTINOMIAL) {
                view->words[k] += slots[layout->first[layout->linear[n]]];
                words++;
            }
        view->word_columns = words;
        for (int64_t n = 0; n < layout->linears; n++) {
            if (mg_bag_ended(bag, n)) return mg_fail_cancelled(error);
            const double *own = slots + layout->first[layout->linear[n]];
            const int64_t at = n * layout->classes + k;
            if (layout->kinds[layout->linear[n]] == MG_BAYES_MULTINOMIAL) {
                view->linear_on[at] = log_share(own[0], view->words[k], (double)words, lambda);
                view->linear_across[k * layout->linears + n] = view->linear_on[at];
                view->linear_off[at] = view->linear_one[at] = 0;
                continue;
            }
            const double seen = own[MG_BAYES_SEEN], ones = own[MG_BAYES_ONES];
            view->linear_one[at] = log_share(ones, seen, 2, lambda);
            view->linear_off[at] = log_share(MG_MAX(seen - ones, 0.0), seen, 2, lambda);
            view->linear_on[at] = view->linear_one[at] - view->linear_off[at];
            view->linear_across[k * layout->linears + n] = view->linear_on[at];
            view->base[k] += view->linear_off[at];
            view->impossible_zeros |= isinf(view->linear_off[at]);
        }
    }
    return MARGIN_OK;
}

/* ---- Attach ---------------------------------------------------------------------------------- */

/* The view and its arrays in one block behind it. */
static margin_status make_view(mg_hypothesis *h, const mg_bayes_view *draft, mg_bayes_view **view,
                               margin_error *error) {
    const mg_bayes_layout *layout = &draft->layout;
    const int64_t classes = layout->classes, n = layout->columns;
    int64_t rows = 0;
    for (int64_t t = 0; t < layout->tables; t++)
        rows += layout->levels[layout->table[t]] + 1;
    const int64_t head = (int64_t)(sizeof **view + 63) / 64 * 64;
    const int64_t numbers = 3 * classes + layout->gaussians + 3 * classes * layout->gaussians +
                            rows * classes + 4 * layout->linears * classes + 3 * n + n;
    MG_REQUIRE(rows <= INT64_MAX / 64 / classes, error, MARGIN_ERROR_LIMIT,
               "the tables of the model are too large");
    char *block = mg_new_zero(h->heap, head + 8 * numbers, 1);
    if (!block) return mg_no_memory(h->heap, head + 8 * numbers, 1, "the model", error);
    *view = (mg_bayes_view *)(void *)block;
    **view = *draft;
    double *at = (double *)(void *)(block + head);
    mg_bayes_view *v = *view;
    v->log_prior = at, at += classes;
    v->base = at, at += classes;
    v->words = at, at += classes;
    v->centre = at, at += layout->gaussians;
    v->slope = at, at += classes * layout->gaussians;
    v->offset = at, at += classes * layout->gaussians;
    v->level = at, at += classes * layout->gaussians;
    v->tables = at, at += rows * classes;
    v->linear_on = at, at += layout->linears * classes;
    v->linear_off = at, at += layout->linears * classes;
    v->linear_one = at, at += layout->linears * classes;
    v->linear_across = at, at += layout->linears * classes;
    v->table_row = (int64_t *)(void *)at;
    /* the layout's lists move here: freed with the view */
    int64_t *lists = v->table_row + n;
    memcpy(lists, layout->first, (size_t)(3 * n) * sizeof *lists);
    v->layout.heap = NULL;
    v->layout.first = lists;
    v->layout.first_value = lists + n;
    v->layout.listed = lists + 2 * n;
    v->layout.gaussian = v->layout.listed;
    v->layout.table = v->layout.gaussian + layout->gaussians;
    v->layout.linear = v->layout.table + layout->tables;
    return MARGIN_OK;
}

static margin_status bayes_attach(mg_hypothesis *h, margin_error *error) {
    mg_bayes_view draft = {.isa = h->isa}, *view = NULL;
    margin_status status;
    if (h->derived) return MARGIN_OK;
    MG_TRY(read_settings(h, &draft.settings, error));
    MG_TRY(read_layout(h, &draft.layout, error));
    MG_GO(read_counts(h, &draft, error));
    MG_GO(make_view(h, &draft, &view, error));
    view->epsilon = mg_bayes_epsilon(&view->layout, view->statistics, view->settings.var_smoothing);
    set_priors(view);
    for (int64_t k = 0; k < h->functions; k++)
        view->base[k] = view->log_prior[k];
    MG_GO(set_gaussians(view, error));
    set_tables(view);
    MG_GO(set_linears(&h->bag, view, error));
    h->derived = view;
    h->view.other = view;
    view = NULL;
done:
    mg_free(h->heap, view);
    mg_bayes_layout_free(&draft.layout);
    return status;
}

const mg_hypothesis_kind mg_hypothesis_bayes = {
    .name = "bayes",
    .attach = bayes_attach,
    .scores = mg_bayes_scores,
};
