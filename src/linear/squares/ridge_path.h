/* Ridge under many penalties at once; see learn/path.h. */
#ifndef MG_RIDGE_PATH_H
#define MG_RIDGE_PATH_H

#include "learn/path.h"
#include "linear/squares/least_squares.h"

/* penalties: path->count. Fills path->points but spec. LIMIT, MEMORY, CANCELLED, DATA (overflow).
 */
margin_status mg_ridge_path(mg_fit *fit, const mg_penalty *penalties, bool intercept,
                            mg_path *path);

#endif
