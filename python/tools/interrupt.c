/* Ctrl-C during a call. Python's own handler only sets a flag, which nobody looks at before the
 * call is over. So while the main thread is in a long call there is one that cancels it first and
 * then hands the signal on; Python raises KeyboardInterrupt when the call has come back. */
#include <signal.h>

static margin_context *volatile interrupt_context;
static struct sigaction interrupt_previous;

static void interrupt_received(int number, siginfo_t *info, void *place) {
    margin_context *context = interrupt_context;
    if (context) margin_context_cancel(context);
    if (interrupt_previous.sa_flags & SA_SIGINFO)
        interrupt_previous.sa_sigaction(number, info, place);
    else
        interrupt_previous.sa_handler(number);
}

/* From the main thread. Returns what interrupt_end wants: the context of the call around this one.
 */
static margin_context *interrupt_begin(margin_context *context) {
    margin_context *outer = interrupt_context;
    if (!outer) {
        struct sigaction present, ours = {0};
        if (sigaction(SIGINT, NULL, &present) != 0) return NULL;
        if (!(present.sa_flags & SA_SIGINFO) &&
            (present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN))
            return NULL;
        interrupt_previous = present;
        interrupt_context = context;
        ours.sa_sigaction = interrupt_received;
        ours.sa_flags = SA_SIGINFO | SA_RESTART | (present.sa_flags & SA_ONSTACK);
        ours.sa_mask = present.sa_mask;
        sigaction(SIGINT, &ours, NULL);
    }
    interrupt_context = context;
    return outer;
}

static void interrupt_end(margin_context *context, margin_context *outer) {
    if (interrupt_context == context) {
        if (!outer) sigaction(SIGINT, &interrupt_previous, NULL);
        interrupt_context = outer;
    }
    margin_context_resume(context);
}
