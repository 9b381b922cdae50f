/* Steps and changes of gradients, and the two-loop recursion. */
#include "math/rows/lbfgs_pairs.h"

enum { PIECE = 1 << 15 }; /* numbers; shorter vectors are one piece */

mg_lbfgs_pairs mg_lbfgs_pairs_make(margin_context *context, mg_isa isa, int64_t size, int room,
                                   double *memory) {
    return (mg_lbfgs_pairs){.context = context,
                            .vectors = mg_vector_ops_for(isa),
                            .size = size,
                            .room = room,
                            .steps = memory,
                            .changes = room > 0 ? memory + room * size : NULL};
}

void mg_lbfgs_pairs_clear(mg_lbfgs_pairs *pairs) {
    pairs->count = 0;
}

static int pair_at(const mg_lbfgs_pairs *pairs, int age) {
    return (pairs->oldest + age) % pairs->room;
}

/* ---- Long vectors ---------------------------------------------------------------------------- */

typedef struct vector_job {
    const mg_lbfgs_pairs *pairs;
    const double *a, *b;
    double *y, factor;
    double *sums; /* of each piece */
} vector_job;

enum { MOST_PIECES = 1024 };

/* Pieces are longer where there would be more than MOST_PIECES. */
static int64_t piece_of(const mg_lbfgs_pairs *pairs) {
    return MG_MAX(PIECE, (pairs->size + MOST_PIECES - 1) / MOST_PIECES);
}

static margin_status dot_piece(const mg_block *block, void *argument) {
    const vector_job *job = argument;
    job->sums[block->index] =
        job->pairs->vectors->dot(job->a + block->first, job->b + block->first, block->count);
    return MARGIN_OK;
}

static margin_status add_piece(const mg_block *block, void *argument) {
    const vector_job *job = argument;
    job->pairs->vectors->add(job->y + block->first, job->factor, job->a + block->first,
                             block->count);
    return MARGIN_OK;
}

/* A cancelled walk leaves nonsense, as the caller is about to find out. */
double mg_lbfgs_dot(const mg_lbfgs_pairs *pairs, const double *a, const double *b) {
    if (pairs->size <= PIECE) return pairs->vectors->dot(a, b, pairs->size);
    double sums[MOST_PIECES] = {0.0}, sum = 0.0;
    vector_job job = {.pairs = pairs, .a = a, .b = b, .sums = sums};
    const int64_t piece = piece_of(pairs);
    (void)!mg_sweep_each(pairs->context, pairs->size, piece, dot_piece, &job, NULL);
    for (int64_t k = 0; k * piece < pairs->size; k++)
        sum += sums[k];
    return sum;
}

static void pairs_add(const mg_lbfgs_pairs *pairs, double *y, double factor, const double *x) {
    vector_job job = {.pairs = pairs, .a = x, .y = y, .factor = factor};
    if (pairs->size <= PIECE)
        pairs->vectors->add(y, factor, x, pairs->size);
    else
        (void)!mg_sweep_each(pairs->context, pairs->size, piece_of(pairs), add_piece, &job, NULL);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

void mg_lbfgs_pairs_next(mg_lbfgs_pairs *pairs, double **step, double **change) {
    const int64_t at = pair_at(pairs, pairs->count) * pairs->size;
    *step = pairs->steps + at;
    *change = pairs->changes + at;
}

bool mg_lbfgs_pairs_keep(mg_lbfgs_pairs *pairs) {
    const int k = pair_at(pairs, pairs->count);
    pairs->product[k] =
        mg_lbfgs_dot(pairs, pairs->steps + k * pairs->size, pairs->changes + k * pairs->size);
    const bool fits = pairs->product[k] > 0.0;
    if (!fits && pairs->count < pairs->room) return false;
    if (!fits) pairs->count--; /* its place was that of the oldest */
    if (fits && pairs->count < pairs->room)
        pairs->count++;
    else
        pairs->oldest = (pairs->oldest + 1) % pairs->room;
    return fits;
}

const double *mg_lbfgs_pairs_change(const mg_lbfgs_pairs *pairs, double *product) {
    if (pairs->count == 0) return NULL;
    const int last = pair_at(pairs, pairs->count - 1);
    *product = pairs->product[last];
    return pairs->changes + last * pairs->size;
}

void mg_lbfgs_pairs_before(mg_lbfgs_pairs *pairs, double *d) {
    for (int age = pairs->count - 1; age >= 0; age--) {
        const int k = pair_at(pairs, age);
        pairs->share[k] =
            mg_lbfgs_dot(pairs, pairs->steps + k * pairs->size, d) / pairs->product[k];
        pairs_add(pairs, d, -pairs->share[k], pairs->changes + k * pairs->size);
    }
}

void mg_lbfgs_pairs_after(mg_lbfgs_pairs *pairs, double *d) {
    for (int age = 0; age < pairs->count; age++) {
        const int k = pair_at(pairs, age);
        const double back =
            mg_lbfgs_dot(pairs, pairs->changes + k * pairs->size, d) / pairs->product[k];
        pairs_add(pairs, d, pairs->share[k] - back, pairs->steps + k * pairs->size);
    }
}
