#if defined(__x86_64__)
#define MG_TOKEN_AVX2 1
#define TOKEN_READERS token_readers_avx2
#include "token_readers_tmpl.h"
#endif
