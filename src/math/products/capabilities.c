#include "base/caller_options.h"
#include "base/machine/cores.h"
#include "base/machine/cpu.h"
#include "math/products/lapack.h"

void margin_capabilities(margin_capabilities_info *info) {
    const mg_result_type type = MG_RESULT(margin_capabilities_info, cores);
    const margin_capabilities_info found = {.instruction_set = mg_isa_name(mg_isa_level()),
                                            .lapack = mg_lapack_description(),
                                            .cores = mg_cores_allowed()};
    if (mg_result_check(info, type, NULL) >= 0) mg_result_give(info, type, &found);
}
