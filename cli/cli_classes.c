/* --classes: labels that are classes, whether rows have them or not. */
#include "fit_held_out.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The next word of a list with commas, without blanks around it; NULL: there is none. */
static char *next_word(char **rest) {
    char *word = *rest;
    if (!word) return NULL;
    char *end = strchr(word, ',');
    *rest = end ? end + 1 : NULL;
    if (!end) end = word + strlen(word);
    while (is_blank(*word))
        word++;
    while (end > word && is_blank(end[-1]))
        end--;
    *end = '\0';
    return word;
}

static int64_t find_name(const margin_column *target, const char *word) {
    int64_t k = 0;
    while (k < target->category_count && strcmp(target->categories[k], word) != 0)
        k++;
    return k;
}

/* The target with this class among its categories; returns its code. */
static double add_name(cli_declared *d, const char *word) {
    const int64_t code = find_name(&d->target, word);
    if (code == d->target.category_count) d->names[d->target.category_count++] = word;
    return (double)code;
}

static bool make_room(cli_declared *d, const margin_column *target, const char *list) {
    const size_t most = strlen(list) + 1; /* words */
    const size_t known = target ? (size_t)target->category_count : 0;
    d->text = malloc(most);
    d->labels = malloc(most * sizeof *d->labels);
    d->names = malloc((known + most) * sizeof *d->names);
    if (!d->text || !d->labels || !d->names) return false;
    memcpy(d->text, list, most);
    if (known) memcpy((void *)d->names, target->categories, known * sizeof *d->names);
    if (target) d->target = *target;
    d->target.categories = d->names;
    return true;
}

int cli_declare_classes(cli_session *session, margin_data *data, cli_declared *d) {
    const char *list = session->arguments->classes;
    if (!list) return EXIT_DONE;
    if (!make_room(d, data->target, list)) return EXIT_NO_MEMORY;
    const bool names = data->target && data->target->kind == MARGIN_CATEGORICAL;
    int64_t count = 0;
    char *rest = d->text;
    for (const char *word; (word = next_word(&rest)) != NULL; count++) {
        if (names)
            d->labels[count] = add_name(d, word);
        else if (!margin_number_parse_f64(word, strlen(word), &d->labels[count]))
            return cli_usage_error(cli_find_command("fit"),
                                   "--classes has '%s', and the target has numbers", word);
    }
    data->classes = margin_values_f64(d->labels, count);
    if (names) data->target = &d->target;
    return EXIT_DONE;
}

void cli_declared_free(cli_declared *d) {
    free(d->text);
    free(d->labels);
    free((void *)d->names);
}
