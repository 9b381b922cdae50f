#ifndef MARGIN_SPEC_H
#define MARGIN_SPEC_H
#include "margin/base.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_spec margin_spec;
MARGIN_API MARGIN_CHECKED margin_status margin_spec_parse(margin_context *context, const char *text,
                                                          margin_spec **spec, margin_error *error);
MARGIN_API void margin_spec_free(margin_spec *spec);
MARGIN_API const char *margin_spec_text(const margin_spec *spec);
MARGIN_API int64_t margin_spec_variants(const margin_spec *spec);
MARGIN_API MARGIN_CHECKED margin_status margin_spec_variant(const margin_spec *spec, int64_t index,
                                                            margin_spec **variant,
                                                            margin_error *error);
typedef enum margin_option_type {
    MARGIN_OPTION_NUMBER,
    MARGIN_OPTION_INTEGER,
    MARGIN_OPTION_CHOICE,
    MARGIN_OPTION_SWITCH,
    MARGIN_OPTION_NUMBERS,
    MARGIN_OPTION_TEXT
} margin_option_type;
typedef enum margin_option_role {
    MARGIN_ROLE_NONE = 0,
    MARGIN_ROLE_TOLERANCE = 1,
    MARGIN_ROLE_SIMPLER = 2,
    MARGIN_ROLE_RICHER = 3
} margin_option_role;
typedef struct margin_option {
    const char *name;
    int32_t type;
    double low, high;
    int32_t low_open, high_open;
    const char *default_text;
    const char *choices;
    const char *group;
    const char *help;
    const char *when;
    int32_t role;
} margin_option;
enum margin_ability {
    MARGIN_CAN_TWO_CLASS = 1,
    MARGIN_CAN_MULTICLASS = 2,
    MARGIN_CAN_REGRESSION = 4,
    MARGIN_CAN_SPARSE = 8,
    MARGIN_CAN_WEIGHTS = 16,
    MARGIN_CAN_PROBABILITY = 32,
    MARGIN_CAN_TRACE = 64,
    MARGIN_CAN_ARGMAX = 128,
    MARGIN_CAN_MISSING = 256,
    MARGIN_CAN_CATEGORIES = 512,
    MARGIN_CAN_CLUSTER = 1024,
    MARGIN_CAN_TARGETS = 2048,
    MARGIN_IS_RULE =
        4096
};
typedef enum margin_component_kind { MARGIN_STAGE = 1, MARGIN_LEARNER = 2 } margin_component_kind;
typedef struct margin_component {
    const char *name;
    int32_t kind;
    const char *summary;
    const char *formula;
    const char *source;
    const char *page;
    uint32_t abilities;
    int32_t option_count;
    const margin_option *options;
} margin_component;
MARGIN_API const margin_option *margin_component_option(const margin_component *component,
                                                        int64_t number);
MARGIN_API int margin_component_count(void);
MARGIN_API const margin_component *margin_component_at(int index);
MARGIN_API const margin_component *
margin_component_find(const char *name);
MARGIN_API int64_t margin_spec_steps(const margin_spec *spec);
MARGIN_API const margin_component *margin_spec_step(const margin_spec *spec, int64_t step);
typedef struct margin_setting {
    size_t size;
    const char *option;
    int32_t given;
    int64_t values;
    double number;
    const char *word;
    const double *numbers;
    int64_t count;
} margin_setting;
MARGIN_API int margin_spec_setting(const margin_spec *spec, int64_t step, const char *option,
                                   margin_setting *setting);
MARGIN_API MARGIN_CHECKED margin_status margin_spec_with(const margin_spec *spec, int64_t step,
                                                         const margin_setting *setting,
                                                         margin_spec **changed,
                                                         margin_error *error);
MARGIN_API const margin_component *margin_spec_learner(const margin_spec *spec);
#ifdef __cplusplus
}
#endif
#endif
