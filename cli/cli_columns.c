/* Columns that an option names, of a table or a model that is already read: as those of a table are
 * named to the library. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct naming {
    const char *option, *of;
    const margin_column *columns;
    int64_t count;
    int64_t *chosen;
    int64_t chosen_count;
} naming;

static int64_t find_name(const margin_column *columns, int64_t count, const char *word,
                         size_t length) {
    for (int64_t j = 0; j < count; j++)
        if (strlen(columns[j].name) == length && !memcmp(columns[j].name, word, length)) return j;
    return -1;
}

double cli_weight_of(const margin_data *data, int64_t row) {
    return data->weights.values ? ((const double *)data->weights.values)[row] : 1;
}

int64_t cli_column_find(const margin_column *columns, int64_t count, const char *word,
                        size_t length) {
    const int64_t named = find_name(columns, count, word, length);
    double number;
    if (named >= 0 || !margin_number_parse_f64(word, length, &number)) return named;
    for (int64_t j = 0; j < count; j++)
        if (number == (double)(j + 1) || number == (double)(j - count)) return j;
    return -1;
}

static int64_t find(const naming *n, const char *word, size_t length) {
    return cli_column_find(n->columns, n->count, word, length);
}

static int refuse(const naming *n, const char *word, size_t length) {
    const char *near = NULL;
    size_t least = length > 7 ? 4 : length > 4 ? 3 : length > 1 ? 2 : 1;
    for (int64_t j = 0; j < n->count; j++) {
        const size_t distance = cli_edit_distance(word, length, n->columns[j].name);
        if (distance < least) near = n->columns[j].name;
        if (distance < least) least = distance;
    }
    fprintf(stderr, "margin: %s: no column '%.*s' (%s)", n->of, (int)length, word, n->option);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else
        fprintf(stderr, ": choose of %lld, from '%s' to '%s'\n", (long long)n->count,
                n->columns[0].name, n->columns[n->count - 1].name);
    return EXIT_BAD_INPUT;
}

static int take(naming *n, int64_t first, int64_t last) {
    const int64_t more = last - first + 1;
    int64_t *room = realloc(n->chosen, (size_t)(n->chosen_count + more) * sizeof *room);
    if (!room) fputs("margin: out of memory for the numbers of the columns\n", stderr);
    if (!room) return EXIT_NO_MEMORY;
    n->chosen = room;
    for (int64_t j = first; j <= last; j++)
        n->chosen[n->chosen_count++] = j;
    return EXIT_DONE;
}

/* A column, or "a..b" where none is called so. */
static int take_item(naming *n, const char *word, size_t length) {
    size_t dots = find(n, word, length) < 0 ? 1 : length;
    while (dots < length && (dots + 2 >= length || memcmp(word + dots, "..", 2) != 0))
        dots++;
    const char *end = dots < length ? word + dots + 2 : word;
    const size_t end_length = (size_t)(word + length - end);
    const int64_t first = find(n, word, dots), last = find(n, end, end_length);
    if (first < 0) return refuse(n, word, dots);
    if (last < 0) return refuse(n, end, end_length);
    if (first <= last) return take(n, first, last);
    fprintf(stderr, "margin: %s: the columns %.*s (%s) run backwards\n", n->of, (int)length, word,
            n->option);
    return EXIT_BAD_INPUT;
}

int cli_columns(const char *option, const char *of, const margin_column *columns, int64_t count,
                const char *list, int64_t **chosen, int64_t *chosen_count) {
    naming n = {.option = option, .of = of, .columns = columns, .count = count};
    const bool whole = find_name(columns, count, list, strlen(list)) >= 0;
    int code = EXIT_DONE;
    for (const char *word = list; *word && !code;) {
        size_t length = whole ? strlen(word) : strcspn(word, ",");
        const char *next = word + length + (word[length] == ',');
        for (; !whole && length && *word == ' '; length--)
            word++;
        while (!whole && length && word[length - 1] == ' ')
            length--;
        if (length) code = take_item(&n, word, length);
        word = next;
    }
    *chosen = n.chosen;
    *chosen_count = n.chosen_count;
    return code;
}
