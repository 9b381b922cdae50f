/* The kernel perceptron (rbf) with every score a sum of its own: what the Gram matrix saves.
 *
 *   peer_kernel_sums X Y ROWS COLUMNS GAMMA PASSES    raw doubles; prints seconds and updates */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

static double *read_numbers(const char *path, size_t count) {
    double *numbers = malloc(count * sizeof *numbers);
    FILE *file = fopen(path, "rb");
    const size_t got = numbers && file ? fread(numbers, sizeof *numbers, count, file) : 0;
    if (file) fclose(file);
    if (got == count) return numbers;
    free(numbers);
    return NULL;
}

static double squared_distance(const double *a, const double *b, long columns) {
    double sum = 0.0;
    for (long j = 0; j < columns; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static long train(const double *x, const double *y, double *alpha, long rows, long columns,
                  double gamma, int passes) {
    double b = 0.0;
    long updates = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (long i = 0; i < rows; i++) {
            double score = b;
            for (long j = 0; j < rows; j++)
                if (alpha[j] != 0.0)
                    score += alpha[j] * exp(-gamma * squared_distance(x + i * columns,
                                                                      x + j * columns, columns));
            const double sign = y[i] > 0.0 ? 1.0 : -1.0;
            if (sign * score > 0.0) continue;
            alpha[i] += sign;
            b += sign;
            updates++;
        }
    }
    return updates;
}

int main(int count, char **words) {
    if (count != 7) return complain("usage: see the top of peer_kernel_sums.c");
    const long rows = atol(words[3]), columns = atol(words[4]);
    double *x = read_numbers(words[1], (size_t)(rows * columns));
    double *y = read_numbers(words[2], (size_t)rows);
    double *alpha = calloc((size_t)rows, sizeof *alpha);
    const int code = x && y && alpha ? 0 : complain("cannot read the numbers");
    if (code == 0) {
        const double start = seconds_now();
        const long updates = train(x, y, alpha, rows, columns, atof(words[5]), atoi(words[6]));
        printf("%.6f %ld\n", seconds_now() - start, updates);
    }
    free(x);
    free(y);
    free(alpha);
    return code;
}
