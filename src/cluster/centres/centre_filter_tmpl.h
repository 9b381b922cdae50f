/* The kernels: included by an instruction-set file after its vector type `wide` of WIDE numbers,
 * VECTORS of them for the rows of a tile. */

enum { TILE_ROWS = VECTORS * WIDE };

static void load(const float *const *rows, int64_t depth, float *to) {
    for (int64_t j = 0; j < depth; j += 4)
        for (int v = 0; v < VECTORS; v++) {
            wide a[4];
            for (int p = 0; p < 4; p++)
                a[p] = wide_quarters(rows + v * WIDE + p, j);
            wide_turn(a);
            for (int p = 0; p < 4; p++)
                wide_store(to + (j + p) * TILE_ROWS + v * WIDE, a[p]);
        }
}

/* The values of a group; `members` is a constant where this is called. */
MG_INLINE void product(const float *rows, int64_t columns, const float *strip, const float *start,
                       int members, wide c[MG_FILTER_MEMBERS][VECTORS]) {
#pragma GCC unroll 8
    for (int t = 0; t < members; t++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            c[t][v] = wide_set(start[t]);
    for (int64_t j = 0; j < columns; j++, strip += members, rows += TILE_ROWS) {
        wide a[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            a[v] = wide_load(rows + v * WIDE);
#pragma GCC unroll 8
        for (int t = 0; t < members; t++) {
            const wide b = wide_set(strip[t]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++)
                c[t][v] = wide_fma(a[v], b, c[t][v]);
        }
    }
}

/* One group into what is found so far. */
MG_INLINE void group(const float *rows, int64_t columns, const float *strip, const float *start,
                     int members, int64_t g, mg_filter_found *found) {
    wide c[MG_FILTER_MEMBERS][VECTORS];
    product(rows, columns, strip, start, members, c);
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++) {
        wide least = c[0][v], next = wide_set(FLT_MAX);
        wide place = wide_set((float)(g * MG_FILTER_MEMBERS));
#pragma GCC unroll 8
        for (int t = 1; t < members; t++) {
            const wide here = wide_set((float)(g * MG_FILTER_MEMBERS + t));
            next = wide_min(next, wide_max(least, c[t][v]));
            place = wide_where(c[t][v], least, here, place);
            least = wide_min(least, c[t][v]);
        }
        wide_store(found->least + g * TILE_ROWS + v * WIDE, least);
        wide_store(found->next + g * TILE_ROWS + v * WIDE, next);
        float *first = found->first + v * WIDE, *second = found->second + v * WIDE;
        float *best = found->place + v * WIDE;
        const wide old = wide_load(first);
        wide_store(best, wide_where(least, old, place, wide_load(best)));
        wide_store(second, wide_min(wide_min(wide_load(second), next), wide_max(old, least)));
        wide_store(first, wide_min(old, least));
    }
}

#define EACH_GROUP(members)                                                                        \
    case members:                                                                                  \
        for (int64_t g = 0; g < groups; g++)                                                       \
            group(rows, columns, strip + g * columns * (members), start + g * (members), members,  \
                  g, found);                                                                       \
        break

static void nearest(const float *rows, int64_t columns, const float *strip, const float *start,
                    int64_t groups, int64_t members, mg_filter_found *found) {
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

static void bounds(const mg_filter_found *found, int64_t groups, const float *home,
                   const float *shift, float factor, float *const *bound) {
    const wide zero = wide_set(0), factors = wide_set(factor);
    for (int v = 0; v < VECTORS; v++) {
        const wide shifts = wide_load(shift + v * WIDE), homes = wide_load(home + v * WIDE);
        for (int64_t g = 0; g < groups; g += 4) {
            wide a[4];
            for (int p = 0; p < 4; p++) {
                const int64_t at = (g + p) * TILE_ROWS + v * WIDE;
                const wide here = wide_set((float)(g + p)), least = wide_load(found->least + at);
                const wide next = wide_load(found->next + at);
                wide value = wide_where(here, homes, least, next);
                value = wide_where(homes, here, least, value);
                value = wide_max(wide_add(value, shifts), zero);
                a[p] = wide_multiply(wide_root(value), factors);
            }
            wide_turn(a);
            for (int p = 0; p < 4; p++)
                wide_put_quarters(a[p], bound + v * WIDE + p, g);
        }
    }
}

static int64_t drift_bounds(float *bound, const float *drift, int64_t count, float factor,
                            float reach) {
    int64_t near = 0;
    for (int64_t g = 0; g < count; g += WIDE) {
        const wide moved = wide_multiply(wide_subtract(wide_load(bound + g), wide_load(drift + g)),
                                         wide_set(factor));
        wide_store(bound + g, moved);
        near += wide_count(moved, wide_set(reach));
    }
    return near;
}

/* `members` is a constant where this is called. */
MG_INLINE void judge(const float *rows, int64_t columns, const float *strip, const float *start,
                     int members, mg_filter_draw *d) {
    wide c[MG_FILTER_MEMBERS][VECTORS], may[VECTORS];
    const wide zero = wide_set(0);
    product(rows, columns, strip, start, members, c);
    for (int v = 0; v < VECTORS; v++)
        may[v] = zero;
    for (int t = 0; t < members; t++) {
        wide gain = zero;
        for (int v = 0; v < VECTORS; v++) {
            const wide near = wide_load(d->near + v * WIDE), value = c[t][v];
            const wide lower = wide_add(value, wide_load(d->shift + v * WIDE));
            const wide about = wide_add(value, wide_load(d->square + v * WIDE));
            const wide gained = wide_max(wide_subtract(near, about), zero);
            may[v] = wide_add(may[v], wide_where(lower, near, wide_set((float)(1 << t)), zero));
            gain = wide_fma(gained, wide_load(d->weight + v * WIDE), gain);
        }
        d->gain[t] = wide_sum(gain);
    }
    for (int v = 0; v < VECTORS; v++)
        wide_store(d->may + v * WIDE, may[v]);
}

#define EACH_COUNT(members)                                                                        \
    case members:                                                                                  \
        judge(rows, columns, strip, start, members, d);                                            \
        break

static void draw(const float *rows, int64_t columns, const float *strip, const float *start,
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
