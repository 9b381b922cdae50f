/* Specs made from the catalogue: every learner with its defaults, with each choice of each option,
 * and behind stages. Under a sanitizer, which is several times slower, a share of the latter. */
#ifndef CONTRACT_SPECS_H
#define CONTRACT_SPECS_H

#include "model_cases.h"

enum { MOST_SPECS = 1000, SPEC_ROOM = 120 };

typedef struct {
    char text[SPEC_ROOM];
    const margin_component *learner, *stage; /* stage NULL: none */
} entry;

typedef struct {
    margin_context *context;
    entry entries[MOST_SPECS];
    int count, passed_over;
    sample *two, *three;
} contract;

int contract_set_up(void **state);
int contract_tear_down(void **state);

/* Two or three classes. */
const sample *contract_sample(const contract *f, int many);

#define FOR_EACH_SPEC(f, e)                                                                        \
    for (const entry *e = (f)->entries; e < (f)->entries + (f)->count; e++)                        \
        for (int many = 0; many < 2; many++)

#endif
