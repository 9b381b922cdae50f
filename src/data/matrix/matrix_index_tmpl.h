/* Check of the column indices of CSR rows: included by matrix_check.c with INDEX (the integer type)
 * and NAME(x) (adds the suffix) defined. */

/* True if indices[first..last) ascend strictly within [0, columns). */
static bool NAME(ascending)(const INDEX *indices, int64_t first, int64_t last, int64_t columns) {
    if (first == last) return true;
    INDEX wrong = 0; /* no early exit: the loop becomes vector compares */
    for (int64_t k = first + 1; k < last; k++)
        wrong |= indices[k] <= indices[k - 1];
    return wrong == 0 && indices[first] >= 0 && (int64_t)indices[last - 1] < columns;
}
