/* Small models of every kind, for the tests of model files. */
#ifndef STORE_CASES_H
#define STORE_CASES_H

#include "support/support.h"

#include "margin/model.h"
#include "model/store/store.h"

typedef struct store_case {
    const char *name, *spec;
    bool sparse, floats, three, named;
} store_case;

enum { STORE_CASES = 10 };
extern const store_case store_cases[STORE_CASES];
extern const double store_points[18]; /* six rows of three columns */
const store_case *store_find_case(const char *name);
margin_model *store_train(margin_context *context, const store_case *c);

typedef struct store_bytes {
    unsigned char *bytes; /* free() it */
    int64_t length;
} store_bytes;
store_bytes store_encode(const margin_model *model);
store_bytes store_encode_case(const store_case *c, int threads);

#endif
