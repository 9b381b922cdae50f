/* Up to eight queries that lie close together, by one walk of the tree: boxes are tested against
 * the box of the queries, then against all queries at once, and a leaf is loaded once for those
 * that want it. Each query keeps its own notes and limits, so its answer is that of its own search.
 */

enum {
    CLOSE = 48, /* leaves that touch the box of the queries */
    WAITING = 512
};

typedef struct packet {
    mg_search *searches;
    int count;
    unsigned alive; /* queries that are not left to their own searches */
    float widest;   /* greatest limit */
    float q[MG_PACKET][MG_PACKET_COLUMNS];
    float at[MG_PACKET_COLUMNS][MG_PACKET];
    float low[MG_PACKET_COLUMNS], high[MG_PACKET_COLUMNS];
    float limit[MG_PACKET]; /* -1: wants nothing */
    mg_reach reach[MG_PACKET];
    notes noted[MG_PACKET];
    int64_t leaf[CLOSE];
    float value[CLOSE][MG_PACKET];
    int close;
} packet;

MG_INLINE bool begin_packet(packet *p, const mg_neighbors *index, mg_search *searches, int count,
                            int64_t columns) {
    p->searches = searches;
    p->count = count;
    p->alive = (1u << count) - 1;
    p->widest = 0;
    p->close = 0;
    for (int i = 0; i < count; i++) {
        mg_search *s = &searches[i];
        mg_list_begin(s);
        if (!mg_search_reach(index, MG_FILTER_SQUARES, s->q, p->q[i], &p->reach[i])) return false;
        p->limit[i] = mg_search_limit(&p->reach[i], s->worst);
        p->widest = MG_MAX(p->widest, p->limit[i]);
        begin_notes(&p->noted[i], s->k);
    }
    for (int i = count; i < MG_PACKET; i++)
        p->limit[i] = -1;
    for (int64_t j = 0; j < columns; j++) {
        p->low[j] = p->high[j] = p->q[0][j];
        for (int i = 0; i < MG_PACKET; i++) {
            const float at = p->q[i < count ? i : 0][j];
            p->at[j][i] = at;
            p->low[j] = MG_MIN(p->low[j], at);
            p->high[j] = MG_MAX(p->high[j], at);
        }
    }
    return true;
}

/* Of a node's boxes to the box of the queries: at most those to each query. */
MG_INLINE lanes8 shared_values(const float *box, const packet *p, int64_t columns) {
    lanes8 sum = lanes8_set(0);
    for (int64_t j = 0; j < columns; j++, box += 16) {
        const lanes8 below = lanes8_subtract(lanes8_load(box), lanes8_set(p->high[j]));
        const lanes8 above = lanes8_subtract(lanes8_set(p->low[j]), lanes8_load(box + 8));
        const lanes8 gap = lanes8_max(lanes8_max(below, above), lanes8_set(0));
        sum = lanes8_add(sum, lanes8_multiply(gap, gap));
    }
    return sum;
}

/* Of one box to each query. */
MG_INLINE lanes8 own_values(const mg_tree *tree, int64_t lane, const packet *p, int64_t columns) {
    const float *box = tree->box + lane / MG_BRANCH * columns * 16 + lane % MG_BRANCH;
    lanes8 sum = lanes8_set(0);
    for (int64_t j = 0; j < columns; j++, box += 16) {
        const lanes8 at = lanes8_load(p->at[j]);
        const lanes8 below = lanes8_subtract(lanes8_set(box[0]), at);
        const lanes8 above = lanes8_subtract(at, lanes8_set(box[8]));
        const lanes8 gap = lanes8_max(lanes8_max(below, above), lanes8_set(0));
        sum = lanes8_add(sum, lanes8_multiply(gap, gap));
    }
    return sum;
}

/* A leaf for the queries `wanted`. */
MG_INLINE void share_leaf(packet *p, const mg_neighbors *index, int64_t leaf, unsigned wanted,
                          int64_t columns, bool single) {
    float widest = 0;
    for (; wanted; wanted &= wanted - 1) {
        const int i = __builtin_ctz(wanted);
        notes *n = &p->noted[i];
        if (n->count > NOTED - MG_LEAF) sift_notes(n, p->limit[i]);
        if (MG_UNLIKELY(n->count > NOTED - MG_LEAF)) { /* equal distances: on its own */
            p->alive &= ~(1u << i);
            p->limit[i] = -1;
            continue;
        }
        note_leaf(index, &p->searches[i], n, leaf, p->q[i], columns, single, &p->limit[i],
                  &p->reach[i]);
    }
    for (int i = 0; i < MG_PACKET; i++)
        widest = MG_MAX(widest, p->limit[i]);
    p->widest = widest;
}

/* The leaves about the queries: each query begins where it lies. */
MG_INLINE void share_close(packet *p, const mg_neighbors *index, int64_t columns, bool single) {
    unsigned done[CLOSE];
    for (int c = 0; c < p->close; c++) {
        const lanes8 values = lanes8_load(p->value[c]);
        done[c] = lanes8_within(values, 0) & lanes8_within_each(values, lanes8_load(p->limit));
        if (done[c]) share_leaf(p, index, p->leaf[c], done[c], columns, single);
    }
    for (int c = 0; c < p->close; c++) {
        const lanes8 values = lanes8_load(p->value[c]);
        const unsigned wanted = lanes8_within_each(values, lanes8_load(p->limit)) & ~done[c];
        if (wanted) share_leaf(p, index, p->leaf[c], wanted, columns, single);
    }
    p->close = 0;
}

/* Puts the boxes of a node that some query may want on the stack, the nearest last. */
MG_INLINE int share_node(const packet *p, const mg_neighbors *index, int64_t node, int64_t columns,
                         bool single, pending *stack, int height) {
    const mg_tree *tree = index->tree;
    const lanes8 values = shared_values(tree->box + node * columns * 16, p, columns);
    const unsigned hits = lanes8_within(values, p->widest);
    float value[MG_BRANCH];
    lanes8_store(value, values);
    for (unsigned rest = hits; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const unsigned nearer = lanes8_within(values, value[lane]);
        const unsigned equal = lanes8_equal(values, value[lane]);
        const int farther = __builtin_popcount(hits & ~nearer) +
                            __builtin_popcount(hits & equal & ((1u << lane) - 1));
        const int32_t child = tree->child[node * MG_BRANCH + lane];
        if (child < 0) fetch_leaf(index, ~child, columns, single);
        stack[height + farther] = (pending){value[lane], child, node * MG_BRANCH + lane};
    }
    return height + __builtin_popcount(hits);
}

/* Boxes that touch the box of the queries come first. False: too much to keep in mind. */
MG_INLINE bool walk_close(packet *p, const mg_neighbors *index, int64_t columns, bool single,
                          pending *stack, int *height) {
    pending touching[MG_TREE_DEPTH * (MG_BRANCH - 1) + MG_BRANCH + 1];
    int count = 1;
    touching[0] = (pending){0, 0, 0};
    while (count > 0) {
        const pending next = touching[--count];
        if (next.child < 0) {
            p->leaf[p->close] = ~next.child;
            lanes8_store(p->value[p->close++], own_values(index->tree, next.lane, p, columns));
            if (p->close == CLOSE) share_close(p, index, columns, single);
            continue;
        }
        if (*height > WAITING - MG_BRANCH) return false;
        int end = share_node(p, index, next.child, columns, single, stack, *height);
        while (end > *height && stack[end - 1].value == 0)
            touching[count++] = stack[--end];
        *height = end;
    }
    share_close(p, index, columns, single);
    return true;
}

MG_INLINE bool walk_packet(packet *p, const mg_neighbors *index, int64_t columns, bool single) {
    pending stack[WAITING];
    int height = 0;
    if (!walk_close(p, index, columns, single, stack, &height)) return false;
    while (height > 0) {
        const pending next = stack[--height];
        if (!(next.value <= p->widest)) continue;
        const unsigned wanted = lanes8_within_each(own_values(index->tree, next.lane, p, columns),
                                                   lanes8_load(p->limit));
        if (!wanted) continue;
        if (next.child < 0) {
            share_leaf(p, index, ~next.child, wanted, columns, single);
            continue;
        }
        if (height > WAITING - MG_BRANCH) return false;
        height = share_node(p, index, next.child, columns, single, stack, height);
    }
    return true;
}

static void search_query(const mg_neighbors *index, mg_search *s);

MG_INLINE void search_packet(const mg_neighbors *index, mg_search *searches, int count,
                             int64_t columns, bool single) {
    packet p;
    if (!begin_packet(&p, index, searches, count, columns) ||
        !walk_packet(&p, index, columns, single))
        p.alive = 0;
    for (int i = 0; i < count; i++) {
        mg_search *s = &searches[i];
        double most = mg_search_most(s->worst);
        if (p.alive >> i & 1)
            rank_notes(index, s, &p.noted[i], columns, single, p.limit[i], &most);
        else
            search_query(index, s);
    }
}

#define WAY(name, columns, single)                                                                 \
    static __attribute__((noinline)) void name(const mg_neighbors *index, mg_search *searches,     \
                                               int count) {                                        \
        search_packet(index, searches, count, columns, single);                                    \
    }
WAY(packet_2, 2, false)
WAY(packet_3, 3, false)
WAY(packet_any, index->columns, false)
WAY(packet_f32, index->columns, true)
#undef WAY

static void search_together(const mg_neighbors *index, mg_search *searches, int count) {
    if (index->single)
        packet_f32(index, searches, count);
    else if (index->columns == 2)
        packet_2(index, searches, count);
    else if (index->columns == 3)
        packet_3(index, searches, count);
    else
        packet_any(index, searches, count);
}
