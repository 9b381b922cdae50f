/* One problem under many penalties: the part of margin_path that a learner knows. */
#ifndef MG_PATH_H
#define MG_PATH_H

#include "learn/learner.h"
#include "margin/path.h"

struct mg_path {
    int64_t count;
    const mg_option_value *const *options; /* the learner's, for each penalty */
    margin_path_point *points; /* count: everything but spec; weights point to room of their own,
                                  columns numbers each */
};

#endif
