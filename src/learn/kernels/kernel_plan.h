/* What fits with a kernel take, from sizes alone and before they begin: where the Gram matrix goes,
 * bytes at the peak, an order of the time. */
#pragma once

#include "learn/announce.h"
#include "learn/kernels/kernel_options.h"

typedef enum mg_gram_storage {
    MG_GRAM_SQUARE,   /* count x count, row-major */
    MG_GRAM_TRIANGLE, /* its upper triangle, in blocks of rows: half of that */
    MG_GRAM_NONE,     /* not at all: made again for every product */
    MG_GRAM_ROWS      /* rows in f32 that stay, as many as there is room for */
} mg_gram_storage;

typedef enum mg_kernel_way {
    MG_WAY_ROWS,          /* svm by rows of its own */
    MG_WAY_SHARED,        /* several svm by one matrix in f32 */
    MG_WAY_FACTOR,        /* kernel ridge by a Cholesky factor */
    MG_WAY_FORM,          /* by a band form, in a search */
    MG_WAY_CONJUGATE,     /* by conjugate gradients */
    MG_WAY_PATH,          /* by eigenvectors, for a path of penalties */
    MG_WAY_NEWTON_FACTOR, /* Newton's method, also gradient descent */
    MG_WAY_NEWTON
} mg_kernel_way;

typedef struct mg_kernel_sizes {
    const char *learner, *linear; /* linear: as of an announcement, where the kernel is definite */
    mg_kernel_kind kernel;
    mg_kernel_words words;
    bool labels;       /* of two classes */
    bool definite;     /* the kernel is an inner product, whatever the rows */
    margin_matrix x;   /* its shape, and whether it is sparse */
    float over;        /* of mg_gram_request */
    int64_t count;     /* samples: rows of the Gram matrix */
    int64_t functions; /* to be found, with that matrix */
    double samples;    /* of all functions, each its own; pairs of classes have fewer than all */
    int threads;
} mg_kernel_sizes;
/* Of fits to as many samples as this one. */
mg_kernel_sizes mg_kernel_sizes_of(const mg_fit *fit, const mg_kernel *kernel, int64_t functions);

typedef struct mg_kernel_plan {
    mg_gram_storage storage;
    bool chosen; /* it fits so many threads as are planned for, whatever there are */
    mg_announcement says;
} mg_kernel_plan;
/* What fits, or the least that does not: `says` is for mg_announce. */
mg_kernel_plan mg_kernel_plan_make(const margin_context *context, const mg_kernel_sizes *sizes,
                                   mg_kernel_way way);

/* Of others that keep rows: scratch of all threads, with lengths of the rows; and the model in
 * which all rows take part, with its dual form. */
double mg_kernel_beside_bytes(const mg_kernel_sizes *sizes);
double mg_kernel_model_bytes(const mg_kernel_sizes *sizes);

/* Of a triangle, rows of a block; numbers of the blocks before block `index`, whose row i begins at
 * its first column. */
enum { MG_GRAM_BLOCK = 256 };
int64_t mg_gram_before(int64_t count, int64_t index);
/* Bytes of the whole matrix, INT64_MAX if they are more. */
int64_t mg_system_bytes(mg_gram_storage storage, int64_t count);
/* Variables of a working set, of a problem of so many. */
int64_t mg_kernel_set_size(int64_t count);
/* Bytes that each of several fits by one matrix takes for its smaller problems. */
int64_t mg_kernel_spare(const mg_kernel_sizes *sizes);
