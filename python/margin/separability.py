"""Is there a hyperplane between two classes? With the proof of either answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import running
from margin.data import Data
from margin.errors import Status, check, new_error
from margin.report import as_table


@dataclass(frozen=True, repr=False)
class Separation:
    """The answer of :func:`separable`, which counts as true if there is a separating hyperplane.

    Attributes
    ----------
    separable : bool
    decided : bool
        False if neither could be proven in double precision.
    margin, weights, intercept, margin_gap
        The widest hyperplane: unit weights, y(w.x + b) >= margin for every row, and how far that is at
        most from the largest possible one.
    positive_rows, positive_weights, negative_rows, negative_weights, residual
        The proof that there is none: convex weights on rows (from 0) of each class whose weighted means
        coincide up to `residual` of a column's range.
    """

    separable: bool
    decided: bool
    margin: float
    margin_gap: float
    weights: np.ndarray
    intercept: float
    positive_rows: np.ndarray
    positive_weights: np.ndarray
    negative_rows: np.ndarray
    negative_weights: np.ndarray
    residual: float
    seconds: float

    def __bool__(self) -> bool:
        return self.separable

    def lines(self) -> list[tuple[str, str]]:
        """The answer and its proof, as label and text."""
        if not self.decided:
            return [("separable", "undecided in double precision")]
        if self.separable:
            return [("separable", f"yes: a hyperplane keeps every row at least {self.margin:.6g} away"),
                    ("widest", f"to a relative gap of {self.margin_gap:.6g}")]
        count = len(self.positive_rows) + len(self.negative_rows)
        return [("separable", f"no: weighted means of {count} rows of the two classes coincide"),
                ("residual", f"{self.residual:.6g} of a column's range")]

    def __str__(self) -> str:
        return "\n".join(f"{label:<11} {words}" for label, words in self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_table(self.lines())


def _copy(pointer: Any, count: int, dtype: Any) -> np.ndarray:
    return np.frombuffer(ffi.buffer(pointer, 8 * count), dtype).copy() if pointer and count else np.empty(0, dtype)


def separable(X: Any, y: Any, *, positive: Any = None) -> Separation:
    """Decides whether a hyperplane separates two classes strictly, and proves the answer.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (rows, columns)
    y : array-like of shape (rows,)
        Labels of two classes, of more if `positive` names the one to be separated from all others.
    """
    data = Data(X, y)
    options = ffi.new("margin_separable_options *")
    options.size = ffi.sizeof("margin_separable_options")
    name = None if positive is None else ffi.new("char[]", str(positive).encode())
    if name is not None:
        options.positive = name
    result, error = ffi.new("margin_separation *"), new_error()
    result.size = ffi.sizeof("margin_separation")
    with running() as context:
        status = lib.margin_separable_with(context, data.struct, options, result, error)
    check(status, error)
    try:
        return Separation(
            separable=bool(result.separable),
            decided=status == Status.OK or bool(result.separable),
            margin=result.margin,
            margin_gap=result.margin_gap,
            weights=_copy(result.weights, result.columns if result.separable else 0, np.float64),
            intercept=result.intercept,
            positive_rows=_copy(result.positive_rows, result.positive_count, np.int64),
            positive_weights=_copy(result.positive_weights, result.positive_count, np.float64),
            negative_rows=_copy(result.negative_rows, result.negative_count, np.int64),
            negative_weights=_copy(result.negative_weights, result.negative_count, np.float64),
            residual=result.residual,
            seconds=result.seconds,
        )
    finally:
        lib.margin_separation_free(result)
