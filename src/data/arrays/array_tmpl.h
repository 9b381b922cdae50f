/* Numbers of an array in one type: included by array.c with REAL and NAME(x) (adds the suffix)
 * defined. */
void NAME(mg_array_read)(const mg_array *array, const char *from, int64_t step, int64_t count,
                         REAL *to, int64_t to_step) {
    const bool swap = array->big_endian != mg_host_is_big_endian() && array->item_bytes > 1;
    const bool packed = swap || array->kind == MG_ARRAY_F16 || array->kind == MG_ARRAY_BOOL;
    REAL numbers[CHUNK];
    char room[8 * CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK, from += CHUNK * step) {
        const int64_t part = MG_MIN(count - done, CHUNK);
        REAL *out = to_step == 1 ? to + done : numbers;
        margin_array items = {.values = from, .stride = step};
        if (packed) items = unpack(array, from, step, part, room);
        items.type = (int32_t)types[array->kind];
        NAME(mg_column_read)(&items, NULL, 0, part, out);
        for (int64_t k = 0; to_step != 1 && k < part; k++)
            to[(done + k) * to_step] = numbers[k];
    }
}
