"""What all calls ask for that do not say it themselves: threads, limits, a progress bar, a trace."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Iterator

from margin.progress import Asked

_NAMES = ("threads", "time_limit", "memory", "progress", "trace")
_everywhere: dict[str, Any] = dict.fromkeys(_NAMES)
_here: ContextVar[dict[str, Any]] = ContextVar("margin_config")  # of a `with` block; threads begin without


def get_config() -> dict[str, Any]:
    """What holds here: see :func:`set_config`."""
    return {**_everywhere, **_here.get({})}


def set_config(**settings: Any) -> None:
    """Sets what all calls of this process ask for that do not say it themselves; None asks for nothing.

    Parameters
    ----------
    threads : int, optional
        At most so many.
    time_limit : float, optional
        Seconds that each call may take. A fit that has a model by then stops with a ConvergenceWarning, other
        calls fail with :class:`margin.LimitError`.
    memory : int or str, optional
        Bytes that each call may hold at once, the model it makes included; "500M" and "2G" are multiples of 1024.
        A call that needs more fails with :class:`margin.LimitError`.
    progress : bool or callable, optional
        True: a bar on standard error, or below the cell of a notebook, for calls that take longer than half a
        second. A function is called with each :class:`margin.Progress`; what it raises ends the call.
    trace : bool, optional
        True: fits of estimators keep their steps in `trace_`, where the learner tells them; `margin.fit` says so itself.
    """
    _everywhere.update(_checked(settings))


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """The same for the calls of a `with` block in this thread."""
    token = _here.set({**_here.get({}), **_checked(settings)})
    try:
        yield
    finally:
        _here.reset(token)


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    for name in settings:
        if name not in _NAMES:
            raise TypeError(f"there is no setting {name!r}; there are {', '.join(_NAMES)}")
    bytes_of(settings.get("memory"))
    if settings.get("trace") not in (None, True, False):
        raise ValueError(f"trace has to be True or False, not {settings['trace']!r}: margin.fit takes functions")
    return settings


def asked(threads: int | None, time_limit: float | None, memory: int | str | None, progress: Asked) -> Any:
    """What a call says, and where it says nothing what holds here."""
    here = _here.get(_everywhere)
    if here is not _everywhere:
        here = {**_everywhere, **here}
    return (
        here["threads"] if threads is None else threads,
        here["time_limit"] if time_limit is None else time_limit,
        here["memory"] if memory is None else memory,
        here["progress"] if progress is None else progress,
    )


def bytes_of(memory: int | str | None) -> int:
    """A number of bytes, as the shell's --memory has it; 0: no limit."""
    if memory is None:
        return 0
    try:
        if isinstance(memory, str):
            plain = memory.strip().upper().removesuffix("B")
            power = "KMGT".find(plain[-1:]) + 1 if plain else 0
            number = float(plain[:-1] if power else plain) * 1024**power
        else:
            number = float(memory)
        if 1 <= number <= 9e18 and not isinstance(memory, bool):
            return int(number)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"memory has to be a number of bytes such as 2_000_000 or '2G', not {memory!r}")
