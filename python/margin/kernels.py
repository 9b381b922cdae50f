"""A Python function as the kernel of a spec, which calls it user: svm(kernel=user)."""

from __future__ import annotations

import threading
from typing import Any, Callable

import numpy as np

from margin._binding import ffi


class Kernel:
    """Hands blocks of rows to a function of two arrays, each rows x columns, that returns the kernel values of all
    pairs. What it raises ends the call, and is raised when that has ended; `threads`: it raises nothing, and may be
    called from several threads, so that the rest of the work has them all."""

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], Any], *, threads: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"kernel has to be a function of two arrays of rows; it is {function!r}")
        self.function, self.threads = function, threads
        self._raised = threading.local()  # in this thread's call
        self.handle = ffi.new_handle(self)

    def fill(self, x: Any, x_rows: int, z: Any, z_rows: int, columns: int, values: Any) -> None:
        made = np.asarray(self.function(_rows(x, x_rows, columns), _rows(z, z_rows, columns)))
        if made.dtype.kind == "c":
            raise TypeError("the kernel function made complex numbers; kernel values are real")
        made = made.astype(np.float64, copy=False)
        if made.shape != (x_rows, z_rows):
            raise ValueError(f"the kernel function made an array of the shape {made.shape} of {x_rows} rows and {z_rows} rows")
        np.frombuffer(ffi.buffer(values, 8 * made.size)).reshape(made.shape)[:] = made

    def keep(self, raised: BaseException | None) -> None:
        self._raised.value = raised

    def end(self) -> None:
        raised = getattr(self._raised, "value", None)
        self.keep(None)
        if raised is not None:
            raise raised


def _rows(values: Any, rows: int, columns: int) -> np.ndarray:
    """The function's own copy: the block lives as long as the call."""
    return np.frombuffer(ffi.buffer(values, 8 * rows * columns)).reshape(rows, columns).copy()


def _keep(exception: type[BaseException], value: BaseException, traceback: Any) -> int:
    user = traceback.tb_frame.f_locals.get("user") if traceback else None
    if user is not None:
        ffi.from_handle(user).keep(value)
    return 1


@ffi.def_extern(onerror=_keep, error=1)
def margin_python_kernel(x: Any, x_rows: int, z: Any, z_rows: int, columns: int, values: Any, user: Any) -> int:
    ffi.from_handle(user).fill(x, x_rows, z, z_rows, columns, values)
    return 0
