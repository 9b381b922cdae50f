"""Contexts: who owns threads and memory while a call runs.

Each Python thread has contexts of its own, one for each number of threads asked for, made when they
are first used; so importing the package starts nothing, threads never wait for each other, and a
forked process goes on with those of the thread that forked (the library makes their threads anew).
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Iterator

from margin._binding import ffi, lib
from margin.errors import check, new_error


class _Mine(threading.local):
    def __init__(self) -> None:
        self.contexts: dict[int, Any] = {}
        self.is_main = threading.current_thread() is threading.main_thread()


_mine = _Mine()


def context(threads: int | None = None) -> Any:
    """The calling thread's context with that many threads (None: all cores this process may use)."""
    wanted = 0 if threads is None else int(threads)
    found = _mine.contexts.get(wanted)
    if found is None:
        found = _mine.contexts[wanted] = _made(wanted, 0)
    return found


def _made(threads: int, seed: int) -> Any:
    options = ffi.new("margin_context_options *")
    options.size = ffi.sizeof("margin_context_options")
    options.threads, options.seed = threads, seed
    made = ffi.new("margin_context **")
    error = new_error()
    check(lib.margin_context_create(options, made, error), error)
    return ffi.gc(made[0], lib.margin_context_free)


@contextmanager
def running(threads: int | None = None, seed: int = 0) -> Iterator[Any]:
    """A context for one long call: Ctrl-C in the main thread cancels it. A seed other than 0 takes one of its own."""
    mine = _made(0 if threads is None else int(threads), seed) if seed else context(threads)
    if not _mine.is_main:
        yield mine
        return
    outer = lib.interrupt_begin(mine)
    try:
        yield mine
    finally:
        lib.interrupt_end(mine, outer)
