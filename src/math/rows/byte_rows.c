#include "math/rows/byte_rows.h"

#include "base/machine/cpu.h"

enum { LEAST = 32, MOST = 16000 /* columns */ };

static bool get_row(const margin_matrix *x, int64_t row, float over, uint8_t *to,
                    mg_byte_point *point) {
#if defined(__x86_64__)
    return mg_byte_row_vnni(x, row, over, to, point);
#else
    (void)x, (void)row, (void)over, (void)to, (void)point;
    return false;
#endif
}

typedef struct look_work {
    const margin_matrix *x;
    const int64_t *rows;
    float over;
    atomic_bool none; /* a row was met that is none */
} look_work;

static margin_status look_at_rows(const mg_block *block, void *argument) {
    look_work *work = argument;
    uint8_t bytes[MOST + 16];
    mg_byte_point point;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (atomic_load_explicit(&work->none, memory_order_relaxed)) break;
        if (!get_row(work->x, work->rows ? work->rows[i] : i, work->over, bytes, &point))
            atomic_store_explicit(&work->none, true, memory_order_relaxed);
    }
    return MARGIN_OK;
}

bool mg_byte_is(const margin_matrix *x, int64_t row, float over, mg_byte_point *point) {
    uint8_t bytes[MOST + 16];
    const bool may_be = !mg_is_csr(x) && !mg_is_by_columns(x) && x->columns >= LEAST &&
                        x->columns <= MOST && mg_has_byte_products();
    return may_be && get_row(x, row, over, bytes, point);
}

float mg_byte_over(margin_context *context, const margin_matrix *x, const int64_t *rows,
                   int64_t count) {
    static const float overs[] = {1.0f, 255.0f}; /* as they are, and pixels up to 1 */
    for (int k = 0; k < MG_LENGTH(overs) && count > 0; k++) {
        look_work work = {x, rows, overs[k], false};
        mg_byte_point point;
        if (!mg_byte_is(x, rows ? rows[0] : 0, overs[k], &point)) continue;
        const int64_t block = mg_block_rows(mg_row_bytes(x));
        if (mg_sweep_each(context, count, block, look_at_rows, &work, NULL) < 0) return 0.0f;
        if (!work.none) return overs[k];
    }
    return 0.0f;
}

typedef struct words_work {
    const margin_matrix *x;
    const int64_t *rows;
    float over;
    int32_t *words;
} words_work;

static margin_status count_words(const mg_block *block, void *argument) {
    const words_work *work = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        mg_byte_point point = {0, 0, 0};
        if (work->over > 0.0f)
            (void)mg_byte_is(work->x, work->rows ? work->rows[i] : i, work->over, &point);
        work->words[i] = point.words;
    }
    return MARGIN_OK;
}

margin_status mg_byte_words(margin_context *context, const margin_matrix *x, const int64_t *rows,
                            int64_t count, float over, int32_t *words) {
    words_work work = {x, rows, over, words};
    return mg_sweep_each(context, count, mg_block_rows(mg_row_bytes(x)), count_words, &work, NULL);
}

bool mg_byte_pack(const margin_matrix *x, int64_t row, float over, bool left, int64_t width,
                  float *to, mg_byte_point *point) {
    uint8_t bytes[MOST + 16];
    memset(bytes + x->columns / 16 * 16, 0, 16);
    const bool is_bytes = get_row(x, row, over, bytes, point);
    for (int64_t j = 0; j < MG_BYTE_LINES(x->columns); j++) {
        memcpy(to + j * width, bytes + 4 * j, sizeof *to);
        if (left) to[j * width] = mg_byte_signs(to[j * width]);
    }
    return is_bytes;
}

void mg_byte_mark(const float *panel, int64_t lines, int64_t width, uint32_t none,
                  uint32_t *marks) {
    uint32_t words[32];
    memset(marks, 0, (size_t)MG_BYTE_MARKS(lines) * sizeof *marks);
    for (int64_t k = 0; k < lines; k++, panel += width) {
        uint32_t other = 0;
        memcpy(words, panel, (size_t)width * sizeof *words);
        for (int64_t j = 0; j < width; j++)
            other |= words[j] ^ none;
        marks[k / 32] |= (uint32_t)(other != 0) << k % 32;
    }
}
