#include "margin/base.h"

#define TEXT_OF(x)       #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)

const char *margin_version(void) {
    return TEXT_OF_VALUE(MARGIN_VERSION_MAJOR) "." TEXT_OF_VALUE(
        MARGIN_VERSION_MINOR) "." TEXT_OF_VALUE(MARGIN_VERSION_PATCH);
}
