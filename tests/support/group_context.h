/* The context of support_open_context under a name, for a whole test program. Include it last:
 * names of parameters would shadow it. */
#ifndef GROUP_CONTEXT_H
#define GROUP_CONTEXT_H

#include "support/support.h"

extern margin_context *context;

#endif
