/* margin plot */
#include "cli.h"

int run_plot(const cli_arguments *arguments) {
    (void)arguments;
    return EXIT_SYSTEM;
}
