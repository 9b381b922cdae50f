/* Calls that take seconds, each limited in time and, on one thread and on two, cancelled at ten
 * places: what they have to do
 * is to be idle soon after, and to poll in between. Counted is the processor's time in the program,
 * which neither others nor the system lengthen. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "margin/margin.h"
#include "support/support.h"

/* The call: whatever it makes it frees. */
typedef margin_status (*watchdog_call)(margin_context *context, const void *argument,
                                       margin_error *error);

/* Words of the command line: only what has one of them in its names is watched, and printed. */
void watchdog_words(int count, char **words);
int watchdog_wants(const char *text, const char *data);
/* At places from 0.02 to 2.4 seconds (under a sanitizer a few), until one comes too late. */
void watchdog_watch(const char *text, const char *data, watchdog_call call, const void *argument);
/* The same of calls that no time limit ends. */
void watchdog_cancel(const char *text, const char *data, watchdog_call call, const void *argument);
/* Prints what was found, and fails if it is bad, or if fewer than half were ended. */
void watchdog_report(void);

#endif
