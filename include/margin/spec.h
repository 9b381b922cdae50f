/* margin/spec.h - what to train, in one notation for C, shell, Python and model files, and the
 * catalogue of everything a spec may name.
 *
 *   spec      = component { "|" component }      the last one is a learner, the others are stages
 *   component = name [ "(" [ option { "," option } ] ")" ]
 *   option    = name "=" ( value | set )
 *   value     = word | number | "quoted text" | 'quoted text'
 *   set       = "{" value { "," value } "}" | "{" low ".." high ( "log" | "lin" ) count "}"
 *             | "{" low ".." high "}"           each whole number from low to high
 *
 * White space is free. A word is made of letters, digits and _ - + . (not two points in a row); in
 * quoted text \" \' and \\ stand for the second character. Examples:
 *   perceptron
 *   minmax | perceptron(form=dual, rate=0.5)
 *   standardize | perceptron(kernel=rbf, sigma={0.5..2 log 3})        a set to search over
 */
#ifndef MARGIN_SPEC_H
#define MARGIN_SPEC_H

#include "margin/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed and checked spec: immutable, may be used from many threads. */
typedef struct margin_spec margin_spec;

/* Parses and checks names, option names, types and ranges against the catalogue. `context` may be
 * NULL (malloc). Fails with SPEC; error->position is the byte offset, error->column that plus one;
 * the text names the nearest known word. */
MARGIN_API MARGIN_CHECKED margin_status margin_spec_parse(margin_context *context, const char *text,
                                                          margin_spec **spec, margin_error *error);
MARGIN_API void margin_spec_free(margin_spec *spec);

/* Canonical text: names and given options only, in the catalogue's order, numbers in shortest form.
 * Parsing it again gives an equal spec. Valid while the spec lives. */
MARGIN_API const char *margin_spec_text(const margin_spec *spec);

/* How many specs the sets in it stand for (1: none). margin_fit refuses more than 1. A set with one
 * value is that value. Limits: 10000 values in a set, 10^9 variants, 1 MiB of text. */
MARGIN_API int64_t margin_spec_variants(const margin_spec *spec);

/* The spec without sets that number `index` (from 0, the last set varies fastest) stands for.
 * ARGUMENT if there is no such number. */
MARGIN_API MARGIN_CHECKED margin_status margin_spec_variant(const margin_spec *spec, int64_t index,
                                                            margin_spec **variant,
                                                            margin_error *error);

/* ---- Catalogue ---------------------------------------------------------------------------------
 * Constant data: the single source of argument checks, help, man page, completion and reference
 * pages. */

typedef enum margin_option_type {
    MARGIN_OPTION_NUMBER,  /* a real number in [low, high] or an open interval; "inf" where high
                              allows it */
    MARGIN_OPTION_INTEGER, /* a whole number in [low, high] */
    MARGIN_OPTION_CHOICE,  /* one of `choices` */
    MARGIN_OPTION_SWITCH,  /* yes/no, true/false, 1/0 */
    MARGIN_OPTION_NUMBERS, /* quoted list of numbers: "1 0.5 -2" */
    MARGIN_OPTION_TEXT     /* word or quoted string, checked by the component itself */
} margin_option_type;

/* What a number does, where a program has to know. */
typedef enum margin_option_role {
    MARGIN_ROLE_NONE = 0,
    MARGIN_ROLE_TOLERANCE = 1, /* the gap that is asked for */
    MARGIN_ROLE_SIMPLER = 2,   /* the greater, the simpler the model: neighbours, penalties */
    MARGIN_ROLE_RICHER = 3     /* the greater, the closer it follows the data: C, degree */
} margin_option_role;

typedef struct margin_option {
    const char *name;
    int32_t type; /* margin_option_type */
    double low, high;
    int32_t low_open, high_open; /* 1: the bound itself is excluded */
    const char *default_text;    /* as it would be written; NULL: decided from the data, see help */
    const char *choices; /* "primal|dual" or NULL; words that NUMBER or INTEGER take as well */
    const char *group;   /* options of one group exclude each other ("penalty": C, alpha, lambda;
                            "width": gamma, sigma), or NULL; a default of one of them holds where
                            none is given */
    const char *help;    /* one sentence without final stop */
    const char *when;    /* "solver=gd|sgd|minibatch": only for those choices of that option; given
                            for another, its default included, it is SPEC in a fit. NULL: for all,
                            or it depends on more than one option, as the help says */
    int32_t role; /* margin_option_role; by it a search tells the simplest of settings that are as
                     good (margin_search_result.best_one_se) */
} margin_option;

enum margin_ability {
    MARGIN_CAN_TWO_CLASS = 1,  /* needs multiclass=... for more classes */
    MARGIN_CAN_MULTICLASS = 2, /* more than two classes natively */
    MARGIN_CAN_REGRESSION = 4,
    MARGIN_CAN_SPARSE = 8,   /* CSR without making it dense */
    MARGIN_CAN_WEIGHTS = 16, /* sample weights */
    MARGIN_CAN_PROBABILITY = 32,
    MARGIN_CAN_TRACE = 64,
    MARGIN_CAN_ARGMAX = 128,     /* multiclass=argmax: K score functions trained together */
    MARGIN_CAN_MISSING = 256,    /* NaN in its input: the first component of a spec decides */
    MARGIN_CAN_CATEGORIES = 512, /* categorical columns; a stage encodes them */
    MARGIN_CAN_CLUSTER = 1024,   /* without a target: clusters, or one class and its outliers */
    MARGIN_CAN_TARGETS = 2048,   /* several targets of a regression at once */
    MARGIN_IS_RULE =
        4096 /* minimises nothing: the formula of its report is the rule that answers */
};

typedef enum margin_component_kind { MARGIN_STAGE = 1, MARGIN_LEARNER = 2 } margin_component_kind;

typedef struct margin_component {
    const char *name;
    int32_t kind;        /* margin_component_kind */
    const char *summary; /* one line */
    const char *formula; /* what is minimised or computed, plain text */
    const char *source;  /* paper or book */
    const char *page;    /* documentation page, "docs/perceptron.md" */
    uint32_t abilities;  /* margin_ability bits */
    int32_t option_count;
    const margin_option *options; /* for margin_component_option: step through them with that */
} margin_component;

/* Option `number` of a component, from 0; NULL beyond the last. */
MARGIN_API const margin_option *margin_component_option(const margin_component *component,
                                                        int64_t number);

/* All components, stages first, each group by name. Index 0..count-1. */
MARGIN_API int margin_component_count(void);
MARGIN_API const margin_component *margin_component_at(int index); /* NULL out of range */
MARGIN_API const margin_component *
margin_component_find(const char *name); /* NULL if there is none */

/* ---- A spec as data ---------------------------------------------------------------------------
 * Steps are the components of a spec in order, the learner last. What is handed out belongs to the
 * catalogue or to the spec and is valid as long as that lives. */

MARGIN_API int64_t margin_spec_steps(const margin_spec *spec);
/* NULL out of range. A word may stand for several learners (perceptron(kernel=rbf)): this is the
 * one meant, under the same name. */
MARGIN_API const margin_component *margin_spec_step(const margin_spec *spec, int64_t step);

typedef struct margin_setting {
    size_t size;           /* sizeof(margin_setting), set by the caller; 0: that of version 0.1 */
    const char *option;    /* its name in the catalogue */
    int32_t given;         /* 1: the spec says so; 0: the default */
    int64_t values;        /* how many the spec gives; above 1 a set to search over, of which this
                              is the first */
    double number;         /* NUMBER, INTEGER; SWITCH: 1 or 0; NaN where a word stands, and where
                              there is no default before the data are seen */
    const char *word;      /* CHOICE, TEXT, and a word in the place of a number; else NULL */
    const double *numbers; /* NUMBERS: `count` of them, or NULL */
    int64_t count;
} margin_setting;
/* What a step says of one of its options. Returns 1; 0, with nothing written, if there is no such
 * step or option. */
MARGIN_API int margin_spec_setting(const margin_spec *spec, int64_t step, const char *option,
                                   margin_setting *setting);
/* The spec with setting->option of that step changed, `spec` stays as it is: to its default if
 * `given` is 0, else to `number`, `numbers` or `word` as the option's type wants (a NUMBER or
 * INTEGER to `word` unless that is NULL). `values` plays no part. ARGUMENT: no such step or option,
 * nothing to set it to; SPEC: a value out of range, or one that excludes another (the place counts
 * in the text of the changed spec). Numbers go through text: a list of many (start) is printed and
 * read again, takes at most 1 MiB and stays in the spec of a model. */
MARGIN_API MARGIN_CHECKED margin_status margin_spec_with(const margin_spec *spec, int64_t step,
                                                         const margin_setting *setting,
                                                         margin_spec **changed,
                                                         margin_error *error);

/* The learner of a spec, its last component. */
MARGIN_API const margin_component *margin_spec_learner(const margin_spec *spec);

#ifdef __cplusplus
}
#endif
#endif
