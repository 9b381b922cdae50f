/* The kernels: included by an instruction-set file after its vector type `fvec` of FLANES numbers,
 * VECTORS of them for the rows of a tile. */

enum { TILE_ROWS = VECTORS * FLANES };

static void filter_round(const mg_filter_frame *frame, const double *x, float *out) {
    for (int64_t j = 0; j < frame->columns; j++)
        out[j] = (float)((x[j] - frame->origin[j]) * frame->scale);
}

static void filter_load(const float *const *rows, int64_t depth, float *to) {
    for (int64_t j = 0; j < depth; j += 4)
        for (int v = 0; v < VECTORS; v++) {
            fvec a[4];
            for (int p = 0; p < 4; p++)
                a[p] = fvec_quarters(rows + v * FLANES + p, j);
            fvec_turn(a);
            for (int p = 0; p < 4; p++)
                fvec_store(to + (j + p) * TILE_ROWS + v * FLANES, a[p]);
        }
}

/* The values of `groups` groups, one behind the other; both counts are constants where this is
 * called, their product at most MG_FILTER_MEMBERS. */
MG_INLINE void filter_product(const float *rows, int64_t columns, const float *strip,
                              const float *start, int groups, int members,
                              fvec c[MG_FILTER_MEMBERS][VECTORS]) {
#pragma GCC unroll 8
    for (int t = 0; t < groups * members; t++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            c[t][v] = fvec_set(start[t]);
    for (int64_t j = 0; j < columns; j++, strip += members, rows += TILE_ROWS) {
        fvec a[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            a[v] = fvec_load(rows + v * FLANES);
#pragma GCC unroll 8
        for (int t = 0; t < groups * members; t++) {
            const fvec b = fvec_set(strip[t / members * columns * members + t % members]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++)
                c[t][v] = fvec_fma(a[v], b, c[t][v]);
        }
    }
}

/* The values of one group into what is found so far. */
MG_INLINE void filter_take(fvec c[][VECTORS], int members, int64_t g, mg_filter_found *found) {
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++) {
        fvec least = c[0][v], next = fvec_set(FLT_MAX);
        fvec place = fvec_set((float)(g * MG_FILTER_MEMBERS));
#pragma GCC unroll 8
        for (int t = 1; t < members; t++) {
            const fvec here = fvec_set((float)(g * MG_FILTER_MEMBERS + t));
            next = fvec_min(next, fvec_max(least, c[t][v]));
            place = fvec_where(c[t][v], least, here, place);
            least = fvec_min(least, c[t][v]);
        }
        fvec_store(found->least + g * TILE_ROWS + v * FLANES, least);
        fvec_store(found->next + g * TILE_ROWS + v * FLANES, next);
        float *first = found->first + v * FLANES, *second = found->second + v * FLANES;
        float *best = found->place + v * FLANES;
        const fvec old = fvec_load(first);
        fvec_store(best, fvec_where(least, old, place, fvec_load(best)));
        fvec_store(second, fvec_min(fvec_min(fvec_load(second), next), fvec_max(old, least)));
        fvec_store(first, fvec_min(old, least));
    }
}

/* Few members leave the sums of several groups room in registers. groups: a multiple of 8. */
MG_INLINE void filter_groups(const float *rows, int64_t columns, const float *strip,
                             const float *start, int64_t groups, int members,
                             mg_filter_found *found) {
    const int together = members == 1 ? 8 : members == 2 ? 4 : members <= 4 ? 2 : 1;
    for (int64_t g = 0; g < groups; g += together) {
        fvec c[MG_FILTER_MEMBERS][VECTORS];
        filter_product(rows, columns, strip + g * columns * members, start + g * members, together,
                       members, c);
        for (int t = 0; t < together; t++)
            filter_take(c + t * members, members, g + t, found);
    }
}

#define EACH_GROUP(members)                                                                        \
    case members:                                                                                  \
        filter_groups(rows, columns, strip, start, groups, members, found);                        \
        break

static void filter_nearest(const float *rows, int64_t columns, const float *strip,
                           const float *start, int64_t groups, int64_t members,
                           mg_filter_found *found) {
    for (int r = 0; r < TILE_ROWS; r++) {
        found->first[r] = found->second[r] = FLT_MAX;
        found->place[r] = 0;
    }
    switch (members) {
        EACH_GROUP(1);
        EACH_GROUP(2);
        EACH_GROUP(3);
        EACH_GROUP(4);
        EACH_GROUP(5);
        EACH_GROUP(6);
        EACH_GROUP(7);
        EACH_GROUP(8);
    default:
        break;
    }
}

static void filter_bounds(const mg_filter_found *found, int64_t groups, const float *home,
                          const float *shift, float factor, float *const *bound) {
    const fvec zero = fvec_set(0), factors = fvec_set(factor);
    for (int v = 0; v < VECTORS; v++) {
        const fvec shifts = fvec_load(shift + v * FLANES), homes = fvec_load(home + v * FLANES);
        for (int64_t g = 0; g < groups; g += 4) {
            fvec a[4];
            for (int p = 0; p < 4; p++) {
                const int64_t at = (g + p) * TILE_ROWS + v * FLANES;
                const fvec here = fvec_set((float)(g + p)), least = fvec_load(found->least + at);
                const fvec next = fvec_load(found->next + at);
                fvec value = fvec_where(here, homes, least, next);
                value = fvec_where(homes, here, least, value);
                value = fvec_max(fvec_add(value, shifts), zero);
                a[p] = fvec_multiply(fvec_root(value), factors);
            }
            fvec_turn(a);
            for (int p = 0; p < 4; p++)
                fvec_put_quarters(a[p], bound + v * FLANES + p, g);
        }
    }
}

static int64_t drift_bounds(float *bound, const float *drift, int64_t count, float factor,
                            float reach) {
    int64_t near = 0;
    for (int64_t g = 0; g < count; g += FLANES) {
        const fvec moved = fvec_multiply(fvec_subtract(fvec_load(bound + g), fvec_load(drift + g)),
                                         fvec_set(factor));
        fvec_store(bound + g, moved);
        near += fvec_count(moved, fvec_set(reach));
    }
    return near;
}

/* `members` is a constant where this is called. */
MG_INLINE void filter_judge(const float *rows, int64_t columns, const float *strip,
                            const float *start, int members, mg_filter_draw *d) {
    fvec c[MG_FILTER_MEMBERS][VECTORS], may[VECTORS];
    const fvec zero = fvec_set(0);
    filter_product(rows, columns, strip, start, 1, members, c);
    for (int v = 0; v < VECTORS; v++)
        may[v] = zero;
    for (int t = 0; t < members; t++) {
        fvec gain = zero;
        for (int v = 0; v < VECTORS; v++) {
            const fvec near = fvec_load(d->near + v * FLANES), value = c[t][v];
            const fvec lower = fvec_add(value, fvec_load(d->shift + v * FLANES));
            const fvec about = fvec_add(value, fvec_load(d->square + v * FLANES));
            const fvec gained = fvec_max(fvec_subtract(near, about), zero);
            may[v] = fvec_add(may[v], fvec_where(lower, near, fvec_set((float)(1 << t)), zero));
            gain = fvec_fma(gained, fvec_load(d->weight + v * FLANES), gain);
        }
        d->gain[t] = fvec_sum(gain);
    }
    for (int v = 0; v < VECTORS; v++)
        fvec_store(d->may + v * FLANES, may[v]);
}

#define EACH_COUNT(members)                                                                        \
    case members:                                                                                  \
        filter_judge(rows, columns, strip, start, members, d);                                     \
        break

static void filter_draw(const float *rows, int64_t columns, const float *strip, const float *start,
                        int64_t members, mg_filter_draw *d) {
    switch (members) {
        EACH_COUNT(1);
        EACH_COUNT(2);
        EACH_COUNT(3);
        EACH_COUNT(4);
        EACH_COUNT(5);
        EACH_COUNT(6);
        EACH_COUNT(7);
        EACH_COUNT(8);
    default:
        break;
    }
}
