"""Contexts: who owns threads and memory while a call runs.

Each Python thread has a context of its own, made when it is first used; so importing the package
starts nothing, threads never wait for each other, and a forked process goes on with that of the
thread that forked (the library makes its threads anew). What a call asks for (fewer threads, a
seed, limits, a bar) is said in a context made from it, which starts no threads.
"""

from __future__ import annotations

import threading
from typing import Any

from margin._binding import ffi, lib
from margin.config import asked, bytes_of
from margin.errors import check, new_error
from margin.kernels import Kernel
from margin.progress import Asked, Watch


_NO_LIMIT = 2**63 - 1  # of memory: accounts of its own alone


class _Mine(threading.local):
    def __init__(self) -> None:
        self.context: Any = None
        self.is_main = threading.current_thread() is threading.main_thread()


_mine = _Mine()


def context() -> Any:
    """The calling thread's context, with all cores that this process may use."""
    if _mine.context is None:
        made = ffi.new("margin_context **")
        error = new_error()
        check(lib.margin_context_create(ffi.NULL, made, error), error)
        _mine.context = ffi.gc(made[0], lib.margin_context_free)
    return _mine.context


def _changed(threads: int, seed: int, time_limit: float, memory: int, watch: Watch | None, kernel: Kernel | None) -> Any:
    options = ffi.new("margin_context_options *")
    options.size = ffi.sizeof("margin_context_options")
    options.threads, options.seed, options.time_limit = threads, seed, time_limit
    options.memory_limit = memory
    if watch:
        options.progress, options.user = lib.margin_python_progress, watch.handle
    if kernel:
        options.kernel, options.kernel_user, options.kernel_threads = lib.margin_python_kernel, kernel.handle, kernel.threads
    made = ffi.new("margin_context **")
    error = new_error()
    check(lib.margin_context_with(context(), options, made, error), error)
    return made[0]


class running:
    """A context for one long call: Ctrl-C in the main thread cancels it. What is None is as `margin.set_config`
    has it."""

    __slots__ = ("_asked", "_context", "_kernel", "_outer", "_watch")

    def __init__(
        self, threads: int | None = None, seed: int | None = None, time_limit: float | None = None,
        memory: int | str | None = None, progress: Asked = None, kernel: Kernel | None = None, accounts: bool = False,
    ) -> None:
        threads, time_limit, memory, progress = asked(threads, time_limit, memory, progress)
        if seed is not None and not 0 <= seed < 2**64:
            raise ValueError(f"seed has to be a whole number from 0 to 2^64 - 1, not {seed!r}")
        self._watch = Watch(progress) if progress else None
        self._kernel = kernel
        held = bytes_of(memory) or (_NO_LIMIT if accounts else 0)
        changes = (int(threads or 0), seed or 0, time_limit or 0.0, held, self._watch, kernel)
        self._asked = changes if any(changes) else None

    def __enter__(self) -> Any:
        if self._kernel:
            self._kernel.keep(None)
        self._context = _changed(*self._asked) if self._asked else context()
        if _mine.is_main:
            self._outer = lib.interrupt_begin(self._context)
        return self._context

    def __exit__(self, *raised: Any) -> None:
        if _mine.is_main:
            lib.interrupt_end(self._context, self._outer)
        try:
            if self._watch:
                self._watch.end()
            if self._kernel:
                self._kernel.end()
        finally:
            if self._asked:
                lib.margin_context_free(self._context)
