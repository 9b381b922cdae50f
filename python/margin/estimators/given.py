"""Kernel values that the caller gives, or computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from margin.errors import DataError


def check_function(values: Any) -> None:
    """Of a kernel function: its values of the training rows, which are handed over as a Gram matrix."""
    size = np.abs(values)
    wrong = ~(size <= 1e150)
    told = "the kernel function gives {} for rows {} and {} (from 0), which is no finite number, or beyond 1e150"
    if not wrong.any():
        apart = np.abs(values - values.T)
        wrong = apart > 1e-6 * np.maximum(np.maximum(size, size.T), 1e-6 * size.diagonal().max(initial=0.0))
        told = "the kernel function gives {} for rows {} and {} (from 0), and another number the other way round"
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(told.format(values[i, j], i, j))


def real_values(values: Any) -> Any:
    if np.iscomplexobj(values):
        raise DataError("the kernel function gives complex numbers: a kernel has real values")
    return np.asarray(values, np.float64)


def check_queries(values: Any) -> Any:
    """Of a kernel function, between rows to answer for and training rows."""
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        i, j = wrong[0]
        raise DataError(f"the kernel function gives {values[i, j]} for row {i} and training row {j} (from 0), which is no finite number")
    return values


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
        return real_values(pairwise_kernels(X, rows, metric=function, filter_params=True, **words))

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
        self._source = (function, dict(getattr(self, "kernel_params", None) or {}), rows) if self._is_given() else None
        values = self._values(X)
        if callable(self.kernel):
            check_function(values)
        return super()._train(values, target, weights, *rest, **words)  # type: ignore[misc]

    def _verify(self, X: Any, *rest: Any) -> Any:
        return super()._verify(self._values(X), *rest)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._pairwise()
        return tags
