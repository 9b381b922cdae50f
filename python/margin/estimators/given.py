"""Kernel values that the caller gives, or computes, where the library would ask for them row by row."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from margin.kernels import Kernel


class _Values:
    """The kernel of rows that are told by their number, those of a question by -1, -2, ..."""

    def __init__(self, training: np.ndarray | None = None) -> None:
        self.training = training  # while a fit or its verification runs
        self._asked = threading.local()

    def ask(self, values: np.ndarray) -> np.ndarray:
        """Rows that stand for those of `values`, queries x training rows, until this thread asks for others."""
        self._asked.values = values
        return -1.0 - np.arange(len(values), dtype=float)[:, np.newaxis]

    def __call__(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        a, b = (rows[:, 0].astype(np.int64) for rows in (x, z))
        if b[0] < 0:
            return self(z, x).T if a[0] >= 0 else np.zeros((len(a), len(b)))
        table = self.training if a[0] >= 0 else self._asked.values
        assert table is not None
        return table[np.ix_(a if a[0] >= 0 else -1 - a, b)]

    def __reduce__(self) -> Any:
        return _Values, ()


class GivenKernel:
    """kernel="precomputed": X is the Gram matrix, queries x training rows later on; a function of two rows makes it."""

    if TYPE_CHECKING:
        kernel: Any
        kernel_params: Any
        model_: Any

    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _is_given(self) -> bool:
        return self._pairwise() or callable(self.kernel)

    def _own_kernel(self) -> Kernel | None:
        return Kernel(self._given, threads=True) if self._is_given() else None

    def _values(self, rows: Any) -> np.ndarray:
        if self._pairwise():
            values = rows.toarray() if hasattr(rows, "toarray") else rows
        else:
            words = self.kernel_params or {}
            values = pairwise_kernels(rows, self._kernel_rows, metric=self.kernel, filter_params=True, **words)
        return np.asarray(values, np.float64)

    def _query(self, X: Any) -> Any:
        rows = super()._query(X)  # type: ignore[misc]
        return self._given.ask(self._values(rows)) if self._is_given() else rows

    def _training(self, X: Any) -> Any:
        """What the library gets for the training rows."""
        if self._pairwise() and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        self._given.training = self._values(X)
        return np.arange(X.shape[0], dtype=float)[:, np.newaxis]

    def _train(self, X: Any, target: Any, weights: Any, *rest: Any, **words: Any) -> Any:
        self._counts = np.ones(X.shape[0], bool) if weights is None else weights > 0  # rows of weight 0 take no part
        if not self._is_given():
            return super()._train(X, target, weights, *rest, **words)  # type: ignore[misc]
        self._given, self._kernel_rows = _Values(), None if self._pairwise() else X
        try:
            super()._train(self._training(X), target, weights, *rest, **words)  # type: ignore[misc]
        finally:
            self._given.training = None
        self.model_._kernel.threads = False  # questions belong to the thread that asks
        return self

    def _verify(self, X: Any, *rest: Any) -> Any:
        if not self._is_given():
            return super()._verify(X, *rest)  # type: ignore[misc]
        try:
            return super()._verify(self._training(X), *rest)  # type: ignore[misc]
        finally:
            self._given.training = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._pairwise()
        return tags
