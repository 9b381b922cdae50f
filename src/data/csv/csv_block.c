/* The CSV parser for any processor; csv_block_avx2.c is the same file for AVX2. */
#include "data/csv/csv.h"
#include "data/source/token_tmpl.h"

#include <math.h>

#include "data/csv/csv_count_tmpl.h"
#include "data/csv/csv_list_tmpl.h"

#define CSV_REAL       double
#define CSV_ROUND      mg_round_f64
#define CSV_NAME(name) csv_##name##_f64
#include "data/csv/csv_block_tmpl.h"
#undef CSV_REAL
#undef CSV_ROUND
#undef CSV_NAME
#undef CSV_MOST_CODES

#define CSV_REAL       float
#define CSV_ROUND      mg_round_f32
#define CSV_NAME(name) csv_##name##_f32
#include "data/csv/csv_block_tmpl.h"

#if defined(MG_TOKEN_AVX2) && MG_TOKEN_AVX2
const mg_csv_kernels mg_csv_kernels_avx2 = {csv_count_block, csv_parse_f64, csv_parse_f32};
#else
const mg_csv_kernels mg_csv_kernels_ref = {csv_count_block, csv_parse_f64, csv_parse_f32};
#endif
