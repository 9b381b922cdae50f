/* csv_block.c with the token readers for AVX2. */
#define MG_TOKEN_AVX2 1
#include "data/csv/csv_block.c"
