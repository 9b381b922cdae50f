/* The dual variables that a linear model keeps, or that its scores make, brought into their box and
 * into balance where there is an intercept: by the rule of the training, in extended precision. */
#include "linear/verify/verification.h"

#include <string.h>

typedef mg_real real;

/* The entry of function m for sample i, in its order: alpha times its sign, 0 if there is none. */
static real take_entry(mg_verification *k, int64_t i, int64_t m, int64_t *at) {
    const mg_hypothesis *h = k->h;
    if (*at >= h->dual_starts[m + 1] || h->dual_rows[*at] != mg_sample_original(k->problem, i))
        return 0.0L;
    const double alpha = h->dual_coefficients[*at], sign = h->dual_signs[*at];
    const bool positive =
        k->loss->coupled ? mg_verify_is_own(k, i, m) : mg_verify_sign(k, i) > 0.0L;
    if (!(alpha >= 0.0) || (sign > 0.0) != positive)
        k->fit->verified.contradiction = "a dual coefficient of the model has the wrong sign";
    if (h->dual_updates[*at] != alpha)
        k->fit->verified.contradiction =
            "the dual coefficients of the model are not those of its last update";
    (*at)++;
    return (real)alpha * (real)sign;
}

/* Those that the model keeps; of coupled losses alpha = c (1[k = y] - q_k). */
static void take_dual(mg_verification *k) {
    static const real above = 1.0L + 1e-9L;
    const mg_hypothesis *h = k->h;
    if (!h->dual_starts && k->loss->smooth) return;
    for (int64_t m = 0; m < k->functions; m++) {
        int64_t at = h->dual_starts ? h->dual_starts[m] : 0;
        for (int64_t i = 0; i < k->samples; i++) {
            const real alpha = h->dual_starts ? take_entry(k, i, m, &at) : 0.0L;
            if (fabsl(alpha) >
                k->c[i] * (k->loss->coupled ? above : (real)k->loss->dual_high * above))
                k->fit->verified.contradiction =
                    "a dual coefficient of the model is above its bound";
            k->u[i * k->functions + m] = k->loss->coupled
                                             ? (real)mg_verify_is_own(k, i, m) - alpha / k->c[i]
                                         : h->dual_starts ? mg_verify_sign(k, i) * alpha / k->c[i]
                                                          : k->u[i];
        }
        if (h->dual_starts && at != h->dual_starts[m + 1])
            k->fit->verified.contradiction =
                "a dual coefficient of the model belongs to no row of the data";
    }
}

/* Into the box, or the simplex. */
static void clip(mg_verification *k) {
    for (int64_t i = 0; i < k->samples; i++) {
        real *u = k->u + i * k->functions, sum = 0.0L;
        if (!k->loss->coupled) {
            u[0] = fminl(fmaxl(u[0], (real)k->loss->dual_low), (real)k->loss->dual_high);
            continue;
        }
        for (int64_t m = 0; m < k->functions; m++)
            sum += u[m] = fmaxl(u[m], 0.0L);
        for (int64_t m = 0; m < k->functions; m++)
            u[m] = sum > 0.0L ? u[m] / sum : (real)mg_verify_is_own(k, i, m);
    }
}

/* One function: the class whose variables add up to more shrinks; residuals lose their mean. */
static void balance_one(mg_verification *k) {
    real positive = 0.0L, negative = 0.0L, weight = 0.0L;
    for (int64_t i = 0; i < k->samples; i++) {
        *(mg_verify_sign(k, i) > 0.0L ? &positive : &negative) += k->c[i] * k->u[i];
        weight += k->c[i];
    }
    for (int64_t i = 0; i < k->samples; i++) {
        if (!k->loss->margin_based)
            k->u[i] -= positive / weight;
        else if (mg_verify_sign(k, i) > 0.0L && positive > negative)
            k->u[i] *= negative / positive;
        else if (mg_verify_sign(k, i) < 0.0L && negative > positive)
            k->u[i] *= positive / negative;
    }
}

/* Several: classes with too much give to those with too little, of samples whose own share is small
 * more, or where that is not enough of all alike. */
typedef struct shares {
    real *excess; /* functions: what each has too much */
    real *gives;  /* functions: of which so much can be taken */
    bool spare;   /* by the part that is not the own share */
} shares;

static real part_given(const mg_verification *k, const shares *s, int64_t i) {
    return s->spare ? -mg_verify_share(k, i, k->problem->code[i]) : 1.0L;
}

static void find_shares(const mg_verification *k, shares *s) {
    real *should = s->gives + k->functions;
    memset(s->excess, 0, (size_t)(3 * k->functions) * sizeof *s->excess);
    s->spare = true;
    for (int64_t i = 0; i < k->samples; i++) {
        const real others = part_given(k, s, i);
        should[k->problem->code[i]] += k->c[i];
        for (int64_t m = 0; m < k->functions; m++) {
            s->excess[m] += k->c[i] * mg_verify_share(k, i, m);
            s->gives[m] += k->c[i] * k->u[i * k->functions + m] * others;
        }
    }
    for (int64_t m = 0; m < k->functions; m++)
        s->spare = s->spare && s->gives[m] >= s->excess[m];
    for (int64_t m = 0; m < k->functions && !s->spare; m++)
        s->gives[m] = should[m] + s->excess[m];
}

/* The training's excess is rounded, and so are the shares that it moves, and who gets them. */
static margin_status blur_shares(mg_verification *k, const shares *s) {
    const int64_t size = k->columns + 1;
    real lack = 0.0L, doubt = 0.0L;
    for (int64_t m = 0; m < k->functions; m++) {
        lack += fmaxl(-s->excess[m], 0.0L);
        doubt += k->blur[m * size + k->columns];
    }
    doubt = doubt < lack ? doubt / lack : 1.0L;
    for (int64_t i = 0; i < k->samples; i++) {
        const real part = part_given(k, s, i);
        real taken = 0.0L;
        for (int64_t m = 0; m < k->functions; m++)
            if (s->gives[m] > 0.0L)
                taken += (k->blur[m * size + k->columns] + doubt * fmaxl(s->excess[m], 0.0L)) *
                         k->u[i * k->functions + m] / s->gives[m];
        MG_TRY(mg_verify_row(k, i));
        for (int64_t m = 0; m < k->functions; m++)
            for (int64_t e = 0; e < k->entries - 1; e++)
                k->blur[m * size + k->at[e]] += k->c[i] * part * taken * k->sizes[e];
    }
    return MARGIN_OK;
}

static void balance_shares(mg_verification *k, const shares *s) {
    real lack = 0.0L;
    for (int64_t m = 0; m < k->functions; m++)
        lack += fmaxl(-s->excess[m], 0.0L);
    for (int64_t i = 0; i < k->samples && lack > 0.0L; i++) {
        const real part = part_given(k, s, i);
        real *q = k->u + i * k->functions, taken = 0.0L;
        for (int64_t m = 0; m < k->functions; m++) {
            const real given =
                s->excess[m] > 0.0L ? q[m] * part * s->excess[m] / s->gives[m] : 0.0L;
            taken += given;
            q[m] -= given;
        }
        for (int64_t m = 0; m < k->functions; m++)
            q[m] += taken * fmaxl(-s->excess[m], 0.0L) / lack;
    }
}

margin_status mg_verify_dual(mg_verification *k) {
    shares s = {0};
    MG_SCOPED_ARENA(arena, k->fit->context->heap);
    take_dual(k);
    clip(k);
    if (!k->options->intercept) return MARGIN_OK;
    if (!k->loss->coupled) {
        balance_one(k);
        return MARGIN_OK;
    }
    MG_ARENA_NEW(&arena, s.excess, 3 * k->functions, "a verification", k->fit->error);
    s.gives = s.excess + k->functions;
    find_shares(k, &s);
    MG_TRY(blur_shares(k, &s));
    balance_shares(k, &s);
    return MARGIN_OK;
}
