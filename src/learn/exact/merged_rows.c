/* Finding equal samples: by hash in parts, then compared with the one that stands for them. */
#include "learn/exact/merged_rows.h"

#include <string.h>

enum {
    PART_BITS = 6,
    PARTS = 1 << PART_BITS, /* of the hashes, by their highest bits */
    MOST_PROBES = 128       /* in a table: what is not found by then counts as distinct */
};

static const char purpose[] = "equal rows";

typedef struct merge_job {
    margin_context *context;
    const mg_problem *problem;
    uint64_t *hashes;        /* samples */
    int32_t *first;          /* samples: the first sample that this one equals, perhaps itself */
    int32_t *order;          /* samples: by part, ascending in each */
    int32_t *tables;         /* room for the parts' tables */
    int64_t part[PARTS + 1]; /* bounds in `order` */
} merge_job;

/* ---- Hashes ---------------------------------------------------------------------------------- */

/* The terms of the values are added up, so that they do not wait for each other. */
MG_INLINE uint64_t term(uint64_t bits, int64_t column) {
    uint64_t t = bits ^ ((uint64_t)column + 1) * 0x9e3779b97f4a7c15U;
    t = (t ^ (t >> 32)) * 0xd6e8feb86659fd93U;
    return t ^ (t >> 29);
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t mg_sample_hash(const mg_problem *p, int64_t i) {
    const margin_matrix *x = &p->x;
    const int64_t row = mg_sample_row(p, i);
    const int64_t begin = mg_row_start(x, row), end = mg_row_start(x, row + 1);
    uint64_t hash = (uint64_t)(end - begin) + (p->sign ? (uint64_t)(p->sign[i] > 0) << 32 : 0);
    if (p->target) hash += term(bits_of(p->target[i]), -2);
    if (x->value_type == MARGIN_F64 && x->index_type == MARGIN_I32) {
        const uint64_t *bits = x->values;
        const int32_t *columns = x->column_indices;
        for (int64_t k = begin; k < end; k++)
            hash += term(bits[k], columns[k]);
    } else {
        for (int64_t k = begin; k < end; k++)
            hash += term(bits_of(mg_stored_value(x, k)), mg_column_index(x, k));
    }
    hash = (hash ^ (hash >> 31)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 32);
}

static margin_status hash_block(const mg_block *block, void *argument) {
    const merge_job *job = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        job->hashes[i] = mg_sample_hash(job->problem, i);
    return MARGIN_OK;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static int64_t part_of(uint64_t hash) {
    return (int64_t)(hash >> (64 - PART_BITS));
}

static void sort_into_parts(merge_job *job) {
    int64_t at[PARTS];
    memset(job->part, 0, sizeof job->part);
    for (int64_t i = 0; i < job->problem->count; i++)
        job->part[part_of(job->hashes[i]) + 1]++;
    for (int k = 0; k < PARTS; k++) {
        job->part[k + 1] += job->part[k];
        at[k] = job->part[k];
    }
    for (int64_t i = 0; i < job->problem->count; i++)
        job->order[at[part_of(job->hashes[i])]++] = (int32_t)i;
}

/* The part's table has a power of two of places, one or two for each sample: where it gets full,
 * rows do not repeat enough anyway. */
static int32_t *table_of(const merge_job *job, int64_t part, uint64_t *mask) {
    const int64_t begin = job->part[part], count = job->part[part + 1] - begin;
    int64_t places = 1;
    while (places < count)
        places *= 2;
    *mask = (uint64_t)places - 1;
    int32_t *table = job->tables + 2 * begin;
    memset(table, -1, (size_t)places * sizeof *table);
    return table;
}

/* The sample of this hash that came first. */
static int32_t look_up(const merge_job *job, int32_t *table, uint64_t mask, int32_t i) {
    const uint64_t hash = job->hashes[i];
    for (uint64_t probe = 0; probe < MOST_PROBES; probe++) {
        int32_t *place = &table[(hash + probe) & mask];
        if (*place < 0) *place = i;
        if (job->hashes[*place] == hash) return *place;
    }
    return i;
}

static margin_status match_part(void *argument, int64_t part, int worker) {
    const merge_job *job = argument;
    (void)worker;
    if (job->part[part] == job->part[part + 1]) return MARGIN_OK;
    uint64_t mask;
    int32_t *table = table_of(job, part, &mask);
    for (int64_t k = job->part[part]; k < job->part[part + 1]; k++)
        job->first[job->order[k]] = look_up(job, table, mask, job->order[k]);
    return MARGIN_OK;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static bool same_bytes(const void *values, margin_type type, int64_t a, int64_t b, int64_t count) {
    const int64_t size = mg_type_size(type);
    const char *bytes = values;
    return count == 0 || memcmp(bytes + a * size, bytes + b * size, (size_t)(count * size)) == 0;
}

static bool are_equal(const mg_problem *p, int64_t i, int64_t k) {
    const margin_matrix *x = &p->x;
    const int64_t row = mg_sample_row(p, i), other = mg_sample_row(p, k);
    const int64_t a = mg_row_start(x, row), b = mg_row_start(x, other);
    const int64_t count = mg_row_start(x, row + 1) - a;
    if (count != mg_row_start(x, other + 1) - b) return false;
    if (p->sign && p->sign[i] != p->sign[k]) return false;
    if (p->target && bits_of(p->target[i]) != bits_of(p->target[k])) return false;
    return same_bytes(x->column_indices, x->index_type, a, b, count) &&
           same_bytes(x->values, x->value_type, a, b, count);
}

static margin_status compare_block(const mg_block *block, void *argument) {
    const merge_job *job = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        if (job->first[i] != i && !are_equal(job->problem, i, job->first[i]))
            job->first[i] = (int32_t)i;
    return MARGIN_OK;
}

/* ---- Merging --------------------------------------------------------------------------------- */

static int64_t count_distinct(const merge_job *job) {
    int64_t distinct = 0;
    for (int64_t i = 0; i < job->problem->count; i++)
        distinct += job->first[i] == i;
    return distinct;
}

static void merged_fill(const merge_job *job, mg_merged_rows *merged) {
    const mg_problem *p = job->problem;
    int32_t made = 0;
    for (int64_t i = 0; i < p->count; i++) {
        if (job->first[i] != i) {
            merged->group[i] = merged->group[job->first[i]];
            merged->weight[merged->group[i]] += mg_sample_weight(p, i);
            continue;
        }
        merged->index[made] = mg_sample_row(p, i);
        merged->original[made] = mg_sample_original(p, i);
        merged->weight[made] = mg_sample_weight(p, i);
        if (p->sign) merged->sign[made] = p->sign[i];
        if (p->target) merged->target[made] = p->target[i];
        merged->group[i] = made++;
    }
}

static margin_status merged_make(const merge_job *job, int64_t distinct, mg_merged_rows *merged,
                                 margin_error *error) {
    const mg_problem *p = job->problem;
    mg_arena *arena = &merged->arena;
    mg_arena_init(arena, job->context->heap);
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(merged->group, p->count),
                     MG_PIECE(merged->index, distinct), MG_PIECE(merged->original, distinct),
                     MG_PIECE(merged->weight, distinct)));
    if (p->sign) MG_ARENA_NEW(arena, merged->sign, distinct, purpose, error);
    if (p->target) MG_ARENA_NEW(arena, merged->target, distinct, purpose, error);
    merged_fill(job, merged);
    merged->problem = *p;
    merged->problem.count = distinct;
    merged->problem.index = merged->index;
    merged->problem.original = merged->original;
    merged->problem.sign = merged->sign;
    merged->problem.target = merged->target;
    merged->problem.weight = merged->weight;
    return MARGIN_OK;
}

void mg_merged_rows_free(mg_merged_rows *merged) {
    if (merged->arena.heap) mg_arena_free(&merged->arena);
    memset(merged, 0, sizeof *merged);
}

/* ---- Whether --------------------------------------------------------------------------------- */

/* By the limit and not by what is left of it: that may depend on what other threads do. */
static bool may_pay(const margin_context *context, const mg_problem *p) {
    enum { BYTES = 64, SHARE = 4 }; /* of a sample at most; of the limit */
    const int64_t limit = mg_heap_limit(context->heap);
    if (!mg_is_csr(&p->x) || p->maker || p->kind == MG_ARGMAX) return false;
    if (p->count < MG_LEAST_MERGED || p->count > INT32_MAX) return false;
    return limit == 0 || p->count <= limit / SHARE / BYTES;
}

static margin_status find_equals(merge_job *job, int64_t *distinct) {
    const int64_t count = job->problem->count;
    MG_TRY(mg_sweep_each(job->context, count, MG_BLOCK_ROWS, hash_block, job, NULL));
    sort_into_parts(job);
    MG_TRY(mg_parallel(job->context, PARTS, match_part, job, NULL));
    *distinct = count_distinct(job);
    if (*distinct > count / 4 * 3) return MARGIN_OK;
    MG_TRY(mg_sweep_each(job->context, count, MG_BLOCK_ROWS, compare_block, job, NULL));
    *distinct = count_distinct(job);
    return MARGIN_OK;
}

static margin_status merge_with(merge_job *job, mg_arena *arena, mg_merged_rows *merged,
                                margin_error *error) {
    const int64_t count = job->problem->count;
    int64_t distinct = 0;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(job->hashes, count),
                     MG_PIECE(job->first, count), MG_PIECE(job->order, count),
                     MG_PIECE(job->tables, 2 * count)));
    if (find_equals(job, &distinct) < 0) return mg_fail_cancelled(error);
    return distinct <= count / 4 * 3 ? merged_make(job, distinct, merged, error) : MARGIN_OK;
}

margin_status mg_merge_rows(margin_context *context, const mg_problem *problem,
                            mg_merged_rows *merged, margin_error *error) {
    merge_job job = {.context = context, .problem = problem};
    mg_arena arena;
    *merged = (mg_merged_rows){0};
    if (!may_pay(context, problem)) return MARGIN_OK;
    mg_arena_init(&arena, context->heap);
    const margin_status status = merge_with(&job, &arena, merged, error);
    mg_arena_free(&arena);
    if (status < 0) mg_merged_rows_free(merged);
    return status;
}
