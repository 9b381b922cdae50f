#include "base/cpu.h"
#include "base/pool.h"
#include "math/lapack.h"

#define TEXT_OF(x)       #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)

const char *margin_version(void) {
    return TEXT_OF_VALUE(MARGIN_VERSION_MAJOR) "." TEXT_OF_VALUE(
        MARGIN_VERSION_MINOR) "." TEXT_OF_VALUE(MARGIN_VERSION_PATCH);
}

void margin_capabilities(margin_capabilities_info *info) {
    info->instruction_set = mg_isa_name(mg_isa_level());
    info->lapack = mg_lapack_description();
    info->cores = mg_cores_allowed();
}
