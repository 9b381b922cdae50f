/* Which format a file has. */
#pragma once

#include "margin/data.h"

/* Format by name and options; ends with FORMAT and the list of known endings if it cannot tell. */
margin_status mg_format_find(const char *path, margin_format wanted, margin_format *format,
                             margin_error *error);
