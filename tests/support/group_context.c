/* A context for a whole test program. */
#include "support/group_context.h"

margin_context *context;

int support_open_context(void **state) {
    *state = context = support_context(NULL, 2);
    return 0;
}

int support_close_context(void **state) {
    (void)state;
    margin_context_free(context);
    return 0;
}
