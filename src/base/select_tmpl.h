/* Selection: included by sort.c with REAL and NAME(x) defined. */

REAL NAME(mg_select)(REAL *numbers, int64_t count, int64_t place) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const REAL pivot = numbers[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (numbers[i] < pivot)
                i++;
            while (numbers[j] > pivot)
                j--;
            if (i > j) break;
            const REAL held = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = held;
        }
        if (place <= j)
            high = j;
        else if (place >= i)
            low = i;
        else
            break;
    }
    return numbers[place];
}
