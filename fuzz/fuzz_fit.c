/* Random small fits: see tests/fit_case.h for what a case is and what has to hold. */
#include "fuzz.h"

#include "../tests/fit_case.h"

static margin_context *context_of(int threads) {
    margin_context *context = NULL;
    const margin_context_options options = {
        .size = sizeof options, .threads = threads, .time_limit = FIT_CASE_SECONDS};
    FUZZ_CHECK(margin_context_create(&options, &context, NULL) == MARGIN_OK);
    return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static margin_context *one, *three;
    static fit_outcome outcome;
    if (size < 2) return 0;
    if (!one) one = context_of(1);
    if (!three) three = context_of(3);
    fit_case_run(one, three, data, (int64_t)size, &outcome);
    if (outcome.complaint[0]) {
        fprintf(stderr, "%s on %s: %s\n", outcome.spec, outcome.data, outcome.complaint);
        abort();
    }
    return 0;
}
