"""How far a long call is: a bar in a terminal or a notebook, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from html import escape
from typing import Any, Callable, Union

from margin._binding import ffi
from margin.errors import text

_PATIENCE = 0.5  # seconds before anything is shown
_PLAIN_EVERY = 10.0  # seconds between two lines where they cannot be written over
_WIDTH = 24


@dataclass(frozen=True)
class Progress:
    """What a call is doing.

    Attributes
    ----------
    activity : str
        "training", "working", a setting of a search, ...
    done, total : float
        Passes, rows, sub-problems, settings, as the activity has them; total is 0 where the end is not known.
    measure : float
        The learner's own number (misclassified rows, gap); NaN where there is none.
    """

    activity: str
    done: float
    total: float
    measure: float

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where the end is not known."""
        return min(1.0, self.done / self.total) if self.total > 0 else None

    def __str__(self) -> str:
        words = [self.activity]
        if self.share is not None:
            words.append(f"{self.done:.12g} of {self.total:.12g}")
        elif self.done > 0:
            words.append(f"{self.done:.12g}")
        if self.measure == self.measure:
            words.append(f"({self.measure:.3g})")
        return " ".join(words)


Asked = Union[bool, Callable[[Progress], Any], None]


class Terminal:
    """One line of standard error, which is written over and goes when the call is over; where that is no terminal
    a line now and then."""

    def __init__(self) -> None:
        self.stream = sys.stderr
        self.over = bool(self.stream and self.stream.isatty())
        self.length = 0
        self.next = 0.0

    def show(self, progress: Progress, seconds: float) -> None:
        line = _line(progress, seconds)
        if self.over:
            self._write("\r" + line.ljust(self.length))
            self.length = len(line)
        elif self.stream and seconds >= self.next:
            self.next = seconds + _PLAIN_EVERY
            self._write(line + "\n")

    def close(self, seconds: float) -> None:
        if self.length:
            self._write("\r" + " " * self.length + "\r")

    def _write(self, words: str) -> None:
        self.stream.write(words)
        self.stream.flush()


class Notebook:
    """Below the cell; what stays is how long it took."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self.html, self.display, self.handle = HTML, display, None

    def show(self, progress: Progress, seconds: float) -> None:
        bar = "" if progress.share is None else f"<progress value='{progress.share:.4f}' max='1'></progress> "
        self._put(f"{bar}{escape(str(progress))}, {seconds:.1f} s")

    def close(self, seconds: float) -> None:
        if self.handle:
            self._put(f"{seconds:.1f} s")

    def _put(self, words: str) -> None:
        made = self.html(f"<small>{words}</small>")
        if self.handle:
            self.handle.update(made)
        else:
            self.handle = self.display(made, display_id=True)


def _line(progress: Progress, seconds: float) -> str:
    if progress.share is None:
        bar = ""
    else:
        full = int(progress.share * _WIDTH)
        bar = f"[{'#' * full}{'.' * (_WIDTH - full)}] {100 * progress.share:3.0f} % "
    return f"{bar}{progress}, {seconds:.1f} s"[:100]


def _screen() -> Terminal | Notebook:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return Notebook() if getattr(shell, "kernel", None) is not None else Terminal()


class Watch:
    """The callback of one call: while it runs `handle` is what the library hands back to it. What the function
    raises ends the call, and is raised when it has ended."""

    def __init__(self, asked: Asked) -> None:
        self.function = asked if callable(asked) else None
        self.screen: Terminal | Notebook | None = None
        self.exception: BaseException | None = None
        self.handle = ffi.new_handle(self)
        self.start = time.monotonic()

    def take(self, progress: Progress) -> int:
        if self.function:
            self.function(progress)
            return 0
        seconds = time.monotonic() - self.start
        if seconds >= _PATIENCE:
            self.screen = self.screen or _screen()
            self.screen.show(progress, seconds)
        return 0

    def end(self) -> None:
        if self.screen:
            self.screen.close(time.monotonic() - self.start)
        if self.exception is not None:
            raise self.exception


def _keep(exception: type[BaseException], value: BaseException, traceback: Any) -> int:
    user = traceback.tb_frame.f_locals.get("user") if traceback else None
    if user is not None:
        ffi.from_handle(user).exception = value
    return 1


@ffi.def_extern(onerror=_keep, error=1)
def margin_python_progress(progress: Any, user: Any) -> int:
    return ffi.from_handle(user).take(
        Progress(text(progress.activity), progress.done, progress.total, progress.measure)
    )
