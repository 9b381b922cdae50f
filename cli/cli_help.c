/* Help texts, made from the command and option tables. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static void print_wrapped(const char *words, int indent, int column) {
    cli_text text = {0};
    text_wrapped(&text, words, indent, column);
    fputs(text.data ? text.data : "\n", stdout);
    text_free(&text);
}

static void print_option(const cli_option *option) {
    char head[64];
    int length = snprintf(head, sizeof head, "  %s%s%s", option->name, option->value ? " " : "",
                          option->value ? option->value : "");
    if (option->letter) {
        snprintf(head, sizeof head, "  -%c, %s%s%s", option->letter, option->name,
                 option->value ? " " : "", option->value ? option->value : "");
        length = (int)strlen(head);
    }
    fputs(head, stdout);
    if (length >= 26) putchar('\n');
    print_wrapped(option->help, 26, length >= 26 ? 0 : length);
}

static void print_command_help(const cli_command *command) {
    printf("margin %s - %s\n\nusage: margin %s %s\n\n", command->name, command->summary,
           command->name, command->usage);
    print_wrapped(command->text, 0, 0);
    printf("\noptions\n");
    for (int i = 0; i < cli_option_count; i++)
        if (cli_option_applies(&cli_options[i], command)) print_option(&cli_options[i]);
}

void cli_print_help(const cli_command *command) {
    if (command) {
        print_command_help(command);
        return;
    }
    puts("margin - classical machine learning whose every model comes with a proof\n\n"
         "  margin fit perceptron iris.csv -o iris.margin     train, report, save\n"
         "  margin predict iris.margin new.csv                predict\n"
         "  margin separable wdbc.csv                         is there a separating hyperplane?\n\n"
         "commands");
    for (int i = 0; i < cli_command_count; i++) {
        printf("  %-10s", cli_commands[i].name);
        print_wrapped(cli_commands[i].summary, 14, 12);
    }
    puts(
        "\nDATA is a table: .csv .tsv, .svm .libsvm .svmlight, .npy, idx, .arrows, each also .gz; "
        "- is "
        "standard input.\n"
        "'margin help COMMAND' lists the options of a command, 'margin learners' what a spec may "
        "name.\n"
        "exit codes: 0 done, 1 usage, 2 bad input, 3 stopped early, undecided, or a proof that "
        "does not hold,\n4 memory or a limit, 5 file or system, 130 interrupted (Ctrl-C, SIGTERM)");
}
