/* The svmlight block parser in plain C. */
#define SVMLIGHT_PARSER mg_svmlight_portable
#include "data/svmlight/svmlight_block_tmpl.h"
