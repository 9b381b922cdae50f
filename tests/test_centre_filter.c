/* The filter of centres in each instruction set: its bounds against distances in f64. */
#include "base/random.h"
#include "cluster/centres/centre_filter.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 16, COLUMNS = 13, DEPTH = 16, ROWS = MG_FILTER_MOST_ROWS };

typedef struct scene {
    const mg_filter_ops *ops;
    mg_filter_frame frame;
    int64_t members;
    double origin[COLUMNS];
    double x[ROWS * COLUMNS], centres[GROUPS * MG_FILTER_MEMBERS * COLUMNS];
    int32_t order[GROUPS * MG_FILTER_MEMBERS]; /* as many a group as it has room for */
    float points[ROWS * DEPTH], squares[ROWS], tile[ROWS * DEPTH];
    float strip[GROUPS * MG_FILTER_MEMBERS * COLUMNS];
    float start[GROUPS * MG_FILTER_MEMBERS], share[GROUPS * MG_FILTER_MEMBERS];
    float least[GROUPS * ROWS], next[GROUPS * ROWS];
    mg_filter_found found;
} scene;

static double number(uint64_t index, double offset) {
    return 4 * mg_random_unit(9, MG_RANDOM_START, index) - 2 + offset;
}

/* `members` centres a group, but for one that is missing in every third. */
static void make(scene *s, mg_isa isa, int64_t members, double offset) {
    const float *rows[ROWS];
    float scratch[COLUMNS];
    memset(s, 0, sizeof *s);
    s->ops = mg_filter_ops_for(isa);
    s->members = members;
    for (int64_t v = 0; v < COLUMNS; v++)
        s->origin[v] = offset;
    for (int64_t v = 0; v < ROWS * COLUMNS; v++)
        s->x[v] = number((uint64_t)v, offset);
    for (int64_t v = 0; v < GROUPS * MG_FILTER_MEMBERS * COLUMNS; v++)
        s->centres[v] = number((uint64_t)v + 10000, offset);
    for (int32_t at = 0; at < GROUPS * MG_FILTER_MEMBERS; at++) {
        const int32_t g = at / MG_FILTER_MEMBERS, t = at % MG_FILTER_MEMBERS;
        s->order[at] = t < members - (members > 1 && g % 3 == 0) ? at : -1;
    }
    s->frame = (mg_filter_frame){s->origin, 0.25, (COLUMNS + 16) * 0x1.05p-24, COLUMNS};
    for (int64_t r = 0; r < ROWS; r++) {
        s->squares[r] = mg_filter_point(&s->frame, s->x + r * COLUMNS, s->points + r * DEPTH);
        rows[r] = s->points + r * DEPTH;
    }
    assert_true(mg_filter_pack(&s->frame, s->centres, s->order, MG_FILTER_MEMBERS, GROUPS, members,
                               s->strip, s->start, s->share, scratch));
    s->found.least = s->least;
    s->found.next = s->next;
    s->ops->load(rows, DEPTH, s->tile);
}

static double square_of(const scene *s, int64_t r, int32_t centre) {
    double sum = 0;
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double d = s->x[r * COLUMNS + j] - s->centres[centre * COLUMNS + j];
        sum += d * d;
    }
    return sum;
}

/* Least two squared distances of row r to a group, INFINITY where there is none; *best: centre. */
static void least_two(const scene *s, int64_t r, int64_t g, double two[2], int32_t *best) {
    two[0] = two[1] = (double)INFINITY;
    for (int64_t t = 0; t < MG_FILTER_MEMBERS; t++) {
        const int32_t centre = s->order[g * MG_FILTER_MEMBERS + t];
        const double square = centre < 0 ? (double)INFINITY : square_of(s, r, centre);
        if (square < two[0]) {
            two[1] = two[0];
            two[0] = square;
            *best = centre;
        } else if (square < two[1]) {
            two[1] = square;
        }
    }
}

static void check_bounds(const scene *s, int64_t r, const float *bound, int64_t home) {
    for (int64_t g = 0; g < GROUPS; g++) {
        double two[2];
        int32_t best;
        least_two(s, r, g, two, &best);
        const double distance = sqrt(two[g == home]);
        assert_true((double)bound[g] <= distance);
        if (distance < (double)INFINITY) assert_true((double)bound[g] >= 0.999 * distance - 1e-6);
    }
}

static void check_nearest(scene *s) {
    float bound[ROWS][GROUPS], *to[ROWS], home[ROWS], shift[ROWS];
    s->ops->nearest(s->tile, COLUMNS, s->strip, s->start, GROUPS, s->members, &s->found);
    for (int64_t r = 0; r < s->ops->rows; r++) {
        to[r] = bound[r];
        home[r] = r % 2 ? floorf(s->found.place[r] / MG_FILTER_MEMBERS) : -1;
        shift[r] = r == 2 ? -INFINITY : s->squares[r] - mg_filter_slack(&s->frame, s->squares[r]);
    }
    s->ops->bounds(&s->found, GROUPS, home, shift, 4 * (1 - 1e-6F), to);
    for (int64_t r = 0; r < s->ops->rows; r++) {
        double least = (double)INFINITY, second = (double)INFINITY;
        int32_t nearest = -1;
        for (int64_t g = 0; g < GROUPS; g++) {
            double two[2];
            int32_t best = -1;
            least_two(s, r, g, two, &best);
            second = fmin(second, fmin(two[1], fmax(two[0], least)));
            if (two[0] < least) nearest = best;
            least = fmin(least, two[0]);
        }
        assert_int_equal((int32_t)s->found.place[r], nearest);
        assert_close(16 * (double)(s->found.first[r] + s->squares[r]), least, 1e-4);
        assert_close(16 * (double)(s->found.second[r] + s->squares[r]), second, 1e-4);
        if (r == 2)
            for (int64_t g = 0; g < GROUPS; g++)
                assert_true(bound[r][g] == 0);
        else
            check_bounds(s, r, bound[r], (int64_t)home[r]);
    }
}

/* Bits and gains of the candidates in group 1. */
static void check_draw(const scene *s) {
    const int64_t n = s->ops->rows, at = s->members;
    mg_filter_draw d;
    double gain[MG_FILTER_MEMBERS] = {0};
    for (int64_t r = 0; r < n; r++) {
        d.square[r] = s->squares[r];
        d.shift[r] = r == 1 ? -INFINITY : d.square[r] - mg_filter_slack(&s->frame, d.square[r]);
        d.near[r] = (float)(square_of(s, r, s->order[MG_FILTER_MEMBERS]) / 16 * (1 + 2e-6));
        d.weight[r] = r % 3 == 0 ? 0 : 2.5F;
    }
    s->ops->draw(s->tile, COLUMNS, s->strip + at * COLUMNS, s->start + at, s->members, &d);
    for (int64_t r = 0; r < n; r++)
        for (int64_t t = 0; t < s->members; t++) {
            const double square = square_of(s, r, s->order[MG_FILTER_MEMBERS + t]) / 16;
            const bool may = (int)d.may[r] >> t & 1;
            if (square < (double)d.near[r] || r == 1) assert_true(may);
            if (square > 1.001 * (double)d.near[r] + 1e-3 && r != 1) assert_false(may);
            gain[t] += (double)d.weight[r] * fmax(0, (double)d.near[r] - square);
        }
    for (int64_t t = 0; t < s->members; t++)
        assert_close((double)d.gain[t], gain[t], 1e-3);
}

static void check_drift(const scene *s) {
    float bound[32], drift[32];
    int64_t near = 0;
    for (int64_t g = 0; g < 32; g++) {
        bound[g] = (float)(g * 7 % 32);
        drift[g] = (float)(g % 3);
        near += bound[g] - drift[g] <= 5;
    }
    assert_int_equal(s->ops->drift(bound, drift, 32, 1, 5), near);
    for (int64_t g = 0; g < 32; g++)
        assert_true(bound[g] == (float)(g * 7 % 32 - g % 3));
}

static void test_each_isa(void **state) {
    (void)state;
    scene *s = malloc(sizeof *s);
    assert_non_null(s);
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int64_t members = 1; members <= MG_FILTER_MEMBERS; members++) {
            make(s, (mg_isa)isa, members, 3);
            check_nearest(s);
            check_draw(s);
            check_drift(s);
        }
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_isa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
