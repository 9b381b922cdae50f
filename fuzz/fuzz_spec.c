/* Specs: what is accepted prints in a canonical form that reads back to itself, variants of sets
 * are specs of their own; what is refused names a place in the text. */
#include "fuzz.h"

#include "model/spec/spec_components.h"

static void check_variant(const margin_spec *spec, int64_t index) {
    margin_spec *variant = NULL;
    margin_error error;
    FUZZ_CHECK(mg_spec_variant(spec, index, &variant, &error) == MARGIN_OK);
    FUZZ_CHECK(margin_spec_variants(variant) == 1);
    margin_spec_free(variant);
}

static void check_accepted(const margin_spec *spec) {
    margin_spec *again = NULL;
    margin_error error;
    const int64_t variants = margin_spec_variants(spec);
    FUZZ_CHECK(margin_spec_parse(NULL, margin_spec_text(spec), &again, &error) == MARGIN_OK);
    FUZZ_CHECK(strcmp(margin_spec_text(spec), margin_spec_text(again)) == 0);
    FUZZ_CHECK(variants >= 1 && variants == margin_spec_variants(again));
    for (int c = 0; c < spec->component_count; c++)
        for (int k = 0; k < spec->components[c].info->option_count; k++)
            FUZZ_CHECK(
                mg_option_equal(&spec->components[c].options[k], &again->components[c].options[k]));
    check_variant(spec, 0);
    check_variant(spec, variants - 1);
    check_variant(spec, variants / 2);
    margin_spec_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = 0;
    margin_spec *spec = NULL;
    margin_error error = {.position = -7};
    const margin_status status = margin_spec_parse(NULL, text, &spec, &error);
    if (status == MARGIN_OK) {
        check_accepted(spec);
    } else {
        FUZZ_CHECK(status == MARGIN_ERROR_SPEC && spec == NULL);
        FUZZ_CHECK(error.position >= 0 && error.position <= (int64_t)strlen(text));
        FUZZ_CHECK(error.column == error.position + 1 && error.line == 1);
        FUZZ_CHECK(strlen(error.text) > 20);
    }
    margin_spec_free(spec);
    free(text);
    return 0;
}
