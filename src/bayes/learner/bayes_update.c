/* More rows for a model: their statistics are counted as in a fit and added to those it has. */
#include "bayes/learner/bayes.h"

#include <string.h>

typedef struct update {
    mg_fit *fit;
    const mg_update_map *map;
    const mg_bayes_view *old;
    mg_bayes_layout layout; /* of the new model */
    int64_t *levels;
    double *values, *new_values;
} update;

/* Ascending union of two lists; out has room for both. */
static int64_t unite(const double *a, int64_t count_a, const double *b, int64_t count_b,
                     double *out) {
    int64_t i = 0, j = 0, count = 0;
    while (i < count_a || j < count_b) {
        const bool first = j == count_b || (i < count_a && a[i] <= b[j]);
        const double value = first ? a[i] : b[j];
        i += i < count_a && a[i] == value;
        j += j < count_b && b[j] == value;
        out[count++] = value;
    }
    return count;
}

/* Levels of all columns: codes as the problem describes them, values of both. */
static margin_status unite_values(update *u) {
    const mg_problem *p = u->fit->problem;
    const mg_bayes_layout *old = &u->old->layout;
    margin_context *context = u->fit->context;
    int64_t room = old->value_count, from = 0, to = 0;
    MG_NEW(context->heap, u->levels, old->columns, "the columns of a model", u->fit->error);
    MG_TRY(mg_bayes_find_values(context, p, old->kinds, u->levels, &u->new_values, u->fit->error));
    for (int64_t j = 0; j < old->columns; j++)
        room += old->kinds[j] == MG_BAYES_VALUES ? u->levels[j] : 0;
    MG_NEW(context->heap, u->values, room, "the values of columns", u->fit->error);
    for (int64_t j = 0; j < old->columns; j++) {
        if (old->kinds[j] != MG_BAYES_VALUES) continue;
        const int64_t more = u->levels[j];
        u->levels[j] = unite(old->values + old->first_value[j], old->levels[j],
                             u->new_values + from, more, u->values + to);
        from += more;
        to += u->levels[j];
    }
    return MARGIN_OK;
}

/* Slot in the new model of slot s of column j of the old one. */
static int64_t place_of(const update *u, int64_t j, int64_t s) {
    const mg_bayes_layout *old = &u->old->layout;
    const int32_t *codes = u->map->code_of ? u->map->code_of[j] : NULL;
    int64_t level = s;
    if (old->kinds[j] == MG_BAYES_CODES && codes) level = codes[s];
    if (old->kinds[j] == MG_BAYES_VALUES)
        level = mg_bayes_level(&u->layout, j, old->values[old->first_value[j] + s]);
    return u->layout.first[j] + level;
}

/* What the model had, in its new places; the new counts are added to it. */
static void add_column(const update *u, int64_t j, const double *had, double *now) {
    const mg_bayes_layout *old = &u->old->layout;
    double *counted = now + u->layout.first[j];
    if (old->kinds[j] == MG_BAYES_GAUSSIAN) {
        double moments[MG_BAYES_MOMENTS];
        memcpy(moments, had + old->first[j], sizeof moments);
        mg_bayes_join_moments(moments, counted); /* the earlier rows first */
        memcpy(counted, moments, sizeof moments);
        return;
    }
    const int64_t end = j + 1 < old->columns ? old->first[j + 1] : old->slots;
    const bool listed = old->kinds[j] == MG_BAYES_CODES || old->kinds[j] == MG_BAYES_VALUES;
    const int64_t count = listed ? old->levels[j] : end - old->first[j];
    for (int64_t s = 0; s < count; s++)
        now[place_of(u, j, s)] += had[old->first[j] + s];
}

static void add_old(const update *u, mg_bayes_counts *counts) {
    const mg_bayes_layout *old = &u->old->layout;
    for (int64_t k = 0; k < old->classes; k++) {
        const int64_t to = u->map->class_of ? u->map->class_of[k] : k;
        counts->classes[to] += u->old->counts[k];
        for (int64_t j = 0; j < old->columns; j++)
            add_column(u, j, u->old->statistics + k * old->slots,
                       counts->statistics + to * u->layout.slots);
    }
}

margin_status mg_bayes_update(mg_fit *fit, const mg_hypothesis *had, const mg_update_map *map) {
    update u = {.fit = fit, .map = map, .old = mg_bayes_view_of(had)};
    const mg_problem *p = fit->problem;
    mg_heap *heap = fit->context->heap;
    mg_bayes_counts counts = {0};
    mg_hypothesis *h = NULL;
    margin_status status;
    MG_REQUIRE(!u.old->settings.priors || p->classes == u.old->layout.classes, fit->error,
               MG_DATA(UNKNOWN_CLASS),
               "the data has classes that the model was given no priors for; train anew");
    MG_GO(unite_values(&u));
    u.layout = (mg_bayes_layout){.columns = had->columns,
                                 .classes = p->classes,
                                 .kinds = u.old->layout.kinds,
                                 .levels = u.levels,
                                 .values = u.values};
    MG_GO(mg_bayes_layout_make(heap, &u.layout, fit->error));
    MG_GO(mg_bayes_new(heap, &u.layout, &u.old->settings, &h, &counts, fit->error));
    MG_GO(mg_bayes_count(fit->context, p, &u.layout, &counts, fit->error));
    add_old(&u, &counts);
    MG_GO(mg_bayes_finish(fit, &u.layout, &u.old->settings, &counts, h));
    h = NULL;
done:
    mg_hypothesis_free(h);
    mg_bayes_layout_free(&u.layout);
    MG_FREE(heap, u.new_values, u.values, u.levels);
    return status;
}
