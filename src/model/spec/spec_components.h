/* A spec from the inside. */
#pragma once

#include "learn/learner.h"

/* Of MG_OWNED: what is handed over is set to NULL. */
MG_INLINE void margin_spec_drop(margin_spec **spec) {
    margin_spec_free(*spec);
}

/* Limits, refused clearly beyond. */
enum {
    MG_SPEC_MAX_BYTES = 1 << 20,
    MG_SPEC_MAX_COMPONENTS = 64,
    MG_SPEC_MAX_SET = 10000, /* values of one set */
    MG_SPEC_MAX_SETS = 30    /* never reached: each set doubles the variants */
};
#define MG_SPEC_MAX_VARIANTS INT64_C(1000000000)

/* A set of two or more values to search over. While a set stands for an option, the option's entry
 * in mg_spec_component holds the set's first value. */
typedef struct mg_spec_set {
    int component, option;
    int64_t count;
    const mg_option_value *values; /* {a,b,c}: count values; NULL: a range */
    double low, high;              /* {low..high log|lin count} */
    bool logarithmic;
    bool each; /* {low..high}: every whole number */
} mg_spec_set;

typedef struct mg_spec_component {
    const margin_component *info; /* of the stage or the learner below */
    const mg_stage *stage;        /* exactly one of the two is not NULL */
    const mg_learner *learner;    /* the last component: the variant that its options mean */
    mg_option_value *options;     /* info->option_count values, defaults filled in */
} mg_spec_component;

struct margin_spec {
    mg_heap *heap;
    mg_arena arena; /* all that the values point to */
    char *text;     /* canonical */
    int component_count, set_count;
    mg_spec_component *components;      /* stages, then the learner: of stages alone `transform` */
    mg_spec_set sets[MG_SPEC_MAX_SETS]; /* in the order of the canonical text */
    int64_t variants;                   /* product of the sets' counts */
};

/* The learner: the last component. */
const mg_spec_component *mg_spec_learner(const margin_spec *spec);

/* What a learner's word means with these options: its entry in the catalogue, or the variant of
 * that. The parser asks it for every spec, those of model files and of sets among them, and nobody
 * else needs to. With a set the first value decides until one is chosen. */
const mg_learner *mg_learner_of(const mg_learner *entry, const mg_option_value *options);

/* The learner of stages alone, which no text names. */
bool mg_is_transform(const mg_learner *learner);
/* Components that the text names. */
int mg_spec_written(const margin_spec *spec);

/* Value of one option of a component, NULL if the component has no such option. */
const mg_option_value *mg_spec_option(const mg_spec_component *component, const char *name);

/* Value k of a set. The end points of a range are exact; the values between are rounded to 13
 * significant digits (so {1e-3..1e3 log 7} holds 0.01 and not its neighbour), for INTEGER options
 * to the nearest whole number. */
mg_option_value mg_spec_set_value(const margin_spec *spec, const mg_spec_set *set, int64_t k);

/* The place in each set that variant `index` (0..variants-1, the last set varies fastest) stands
 * for, and back, a place below 0 counting as the first one. */
void mg_spec_places(const margin_spec *spec, int64_t index, int64_t *places);
int64_t mg_spec_index(const margin_spec *spec, const int64_t *places);

/* The spec without sets that these places make; an option whose place is below 0 is not given. */
margin_status mg_spec_at(const margin_spec *spec, const int64_t *places, margin_spec **variant,
                         margin_error *error);
margin_status mg_spec_variant(const margin_spec *spec, int64_t index, margin_spec **variant,
                              margin_error *error);
