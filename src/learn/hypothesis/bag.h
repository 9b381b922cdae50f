/* Named tensors: what a hypothesis, a fitted stage and the additions to a model consist of. So
 * saving, loading, comparing and freeing are written once. */
#pragma once

#include "base/cancelled_at.h"
#include "data/matrix/matrix.h"

typedef struct mg_tensor {
    char name[24];
    margin_type type;
    int dimensions; /* 1 or 2 */
    int64_t shape[2];
    void *data;    /* owned by the heap */
    bool borrowed; /* no: somebody else's, read only */
} mg_tensor;

enum { MG_MAX_TENSORS = 16 };

typedef struct mg_bag {
    mg_heap *heap;                /* borrowed */
    const margin_context *reader; /* while a file is read: the call that reads it; else NULL */
    const char *owner[2];         /* for messages, "linear", "model" */
    int count;
    mg_tensor tensors[MG_MAX_TENSORS];
} mg_bag;

/* Asked for each of many numbers or rows, i its number: whether they are being read, and the call
 * that reads them is to end. */
MG_INLINE bool mg_bag_ended(const mg_bag *bag, int64_t i) {
    return bag->reader && mg_cancelled_at(bag->reader, i);
}

void mg_bag_free(mg_bag *bag);
/* Adds a tensor (rows x columns; columns 0: one dimension) and sets *data (a pointer variable) to
 * its cleared numbers. MEMORY, LIMIT; MEMORY also for a name or a shape that is none. */
margin_status mg_bag_add(mg_bag *bag, const char *name, margin_type type, int64_t rows,
                         int64_t columns, void *data, margin_error *error);
/* The same without its numbers, and these. */
margin_status mg_bag_promise(mg_bag *bag, const char *name, margin_type type, int64_t rows,
                             int64_t columns, margin_error *error);
margin_status mg_bag_fill(mg_bag *bag, const char *name, void *data, margin_error *error);
/* The same with numbers that stay where they are and outlive the bag. False: no room. */
bool mg_bag_borrow(mg_bag *bag, const char *name, margin_type type, int64_t rows, int64_t columns,
                   const void *data);
const mg_tensor *mg_bag_find(const mg_bag *bag, const char *name); /* NULL: none */
/* Finds a tensor that must have this type and shape (rows < 0: any number of them) and sets *data
 * (a pointer variable). MODEL. */
margin_status mg_bag_expect(const mg_bag *bag, const char *name, margin_type type, int64_t rows,
                            int64_t columns, void *data, margin_error *error);
/* The same of finite doubles. MODEL, CANCELLED. */
margin_status mg_bag_numbers(const mg_bag *bag, const char *name, int64_t rows, int64_t columns,
                             const double **numbers, margin_error *error);
