"""Kernel values that the caller gives, or computes."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from margin.errors import DataError


MOST_ASKED = 16  # rows whose pairs are asked for both ways


def check_function(values: Any, step: int = 1) -> None:
    """Of a kernel function: its values of every step-th training row, which are handed over as a Gram matrix."""
    size = np.abs(values)
    wrong = ~(size <= 1e150)
    told = "the kernel function gives {} for rows {} and {} (from 0), which is no finite number, or beyond 1e150"
    if not wrong.any():
        apart = np.abs(values - values.T)
        wrong = apart > 1e-6 * np.maximum(np.maximum(size, size.T), 1e-6 * size.diagonal().max(initial=0.0))
        told = "the kernel function gives {} for rows {} and {} (from 0), and another number the other way round"
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(told.format(values[i, j], i * step, j * step))


def _told(made: Any) -> str:
    return f"an array of the shape {made.shape}" if getattr(made, "shape", ()) else f"{made!r:.60}"


def real_values(values: Any) -> Any:
    if np.iscomplexobj(values):
        raise DataError("the kernel function gives complex numbers: a kernel has real values")
    return np.asarray(values, np.float64)


def values_of_all(function: Any, rows: Any, others: Any) -> Any:
    """Of a function of two sets of rows."""
    made, shape = function(rows, others), (rows.shape[0], others.shape[0])
    if hasattr(made, "toarray"):
        made = made.toarray()
    try:
        found = np.shape(made)
    except ValueError:  # lists of unlike lengths
        found = None
    if found != shape:
        raise DataError(f"the kernel function gives {_told(made)} for {shape[0]} rows and {shape[1]} training rows, which it gets all at once; "
                        f"it has to give an array of the shape {shape}")
    return np.ascontiguousarray(real_values(made))


def of_two_rows(function: Any) -> Any:
    """A function of two rows that gives a number, or says what it gave; scikit-learn's Gaussian processes have functions of sets."""
    if hasattr(function, "is_stationary"):
        return function

    def value(a: Any, b: Any, **words: Any) -> Any:
        made = function(a, b, **words)
        if isinstance(made, Real) or (np.size(made) == 1 and np.asarray(made).dtype.kind in "biuf"):
            return made
        raise DataError(f"the kernel function gives {_told(made)} for two rows; it has to give one real number")

    return value


def check_queries(values: Any) -> Any:
    """Of a kernel function, between rows to answer for and training rows."""
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        i, j = wrong[0]
        raise DataError(f"the kernel function gives {values[i, j]} for row {i} and training row {j} (from 0), which is no finite number")
    return values


def of_pairs(function: Any, words: dict[str, Any], rows: Any, others: Any) -> Any:
    """Of a function of two rows; where others are the rows, one triangle is asked for."""
    return real_values(pairwise_kernels(rows, others, metric=of_two_rows(function), filter_params=True, **words))


def gaps_told(given: bool) -> dict[str, Any]:
    """The library tells of a gap in a Gram matrix what cannot stand for it; scikit-learn would have it imputed."""
    return {"ensure_all_finite": False} if given else {}


class GivenKernel:
    """kernel="precomputed": X is the Gram matrix, queries x training rows later on; a function of two rows makes it."""

    if TYPE_CHECKING:
        kernel: Any
        kernel_params: Any

        def _fitted(self) -> Any: ...

    _source: tuple[Any, dict[str, Any], Any] | None = None  # of the model: function, its words, the training rows

    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _is_given(self) -> bool:
        return self._pairwise() or callable(self.kernel)

    def _values(self, X: Any) -> Any:
        """What the library gets: rows, or their kernel values with the training rows, whatever the parameters say by now."""
        if self._source is None:
            return X
        function, words, rows = self._source
        if function is None:
            return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        return of_pairs(function, words, X, rows)

    def _checks(self, reset: bool) -> dict[str, Any]:
        return gaps_told(reset and self._pairwise())

    def _query(self, X: Any) -> Any:
        rows = super()._query(X)  # type: ignore[misc]
        self._fitted()
        values = self._values(rows)
        return check_queries(values) if self._source and self._source[0] is not None else values

    def _train(self, X: Any, target: Any, weights: Any, *rest: Any, **words: Any) -> Any:
        self._counts = np.ones(X.shape[0], bool) if weights is None else weights > 0  # rows of weight 0 take no part
        if self._pairwise() and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        function, rows = (None, None) if self._pairwise() else (self.kernel, X)
        given = dict(getattr(self, "kernel_params", None) or {})
        self._source = (function, given, rows) if self._is_given() else None
        values = self._values(X)
        if callable(self.kernel):
            step = -(-X.shape[0] // MOST_ASKED)
            check_function(values)
            check_function(of_pairs(self.kernel, given, X[::step], X[::step].copy()), step)
        return super()._train(values, target, weights, *rest, **words)  # type: ignore[misc]

    def _verify(self, X: Any, *rest: Any) -> Any:
        return super()._verify(self._values(X), *rest)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._pairwise()
        return tags
