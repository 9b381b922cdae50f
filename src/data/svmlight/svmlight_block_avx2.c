/* The svmlight block parser with AVX2. */
#if defined(__x86_64__)
#define MG_TOKEN_AVX2   1
#define SVMLIGHT_PARSER mg_svmlight_avx2
#include "data/svmlight/svmlight_block_tmpl.h"
#endif
