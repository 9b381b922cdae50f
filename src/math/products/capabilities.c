#include "base/cpu.h"
#include "base/pool.h"
#include "math/products/lapack.h"

void margin_capabilities(margin_capabilities_info *info) {
    info->instruction_set = mg_isa_name(mg_isa_level());
    info->lapack = mg_lapack_description();
    info->cores = mg_cores_allowed();
}
