/* Conversion of array items to one type: included by array.c with REAL and NAME(x) (adds the
 * suffix) defined. */

/* count <= CHUNK packed items in the machine's byte order. */
static void NAME(convert)(mg_array_kind kind, const item_buffer *items, int64_t count, REAL *to,
                          int64_t to_step) {
    switch (kind) {
    case MG_ARRAY_F16:
        CONVERT(half_value(items->u16[k]));
    case MG_ARRAY_F32:
        CONVERT(items->f32[k]);
    case MG_ARRAY_F64:
        CONVERT(items->f64[k]);
    case MG_ARRAY_I8:
        CONVERT(items->i8[k]);
    case MG_ARRAY_I16:
        CONVERT(items->i16[k]);
    case MG_ARRAY_I32:
        CONVERT(items->i32[k]);
    case MG_ARRAY_I64:
        CONVERT(items->i64[k]);
    case MG_ARRAY_U8:
        CONVERT(items->u8[k]);
    case MG_ARRAY_U16:
        CONVERT(items->u16[k]);
    case MG_ARRAY_U32:
        CONVERT(items->u32[k]);
    case MG_ARRAY_U64:
        CONVERT(items->u64[k]);
    case MG_ARRAY_BOOL:
        CONVERT(items->u8[k] != 0);
    case MG_ARRAY_BYTES:
    case MG_ARRAY_UCS4:
        break; /* not numbers; callers ask mg_array_is_text */
    }
}

void NAME(mg_array_read)(const mg_array *array, const char *from, int64_t step, int64_t count,
                         REAL *to, int64_t to_step) {
    const int size = array->item_bytes;
    const bool swap = array->big_endian != mg_host_is_big_endian() && size > 1;
    const bool same = sizeof(REAL) == 8 ? array->kind == MG_ARRAY_F64 : array->kind == MG_ARRAY_F32;
    if (same && !swap && step == size && to_step == 1) {
        memcpy(to, from, (size_t)count * sizeof *to);
        return;
    }
    item_buffer items;
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t part = MG_MIN(count - done, CHUNK);
        gather(from + done * step, step, size, part, &items);
        if (swap) swap_bytes(&items, size, part);
        NAME(convert)(array->kind, &items, part, to + done * to_step, to_step);
    }
}
