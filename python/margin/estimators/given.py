"""Kernel values that the caller gives, or computes, where the library would ask for them row by row."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from margin.kernels import Kernel


class _Values:
    """The kernel of rows that are told by their number, those of a question by -1, -2, ... A model has one of its own,
    which knows what the fit was given, and no later fit changes it."""

    def __init__(self, function: Any, words: dict[str, Any], rows: Any, count: int) -> None:
        self.function, self.words, self.rows, self.count = function, words, rows, count  # function None: X is the values
        self.training: np.ndarray | None = None  # while a fit or its verification runs
        self._asked = threading.local()

    def of(self, X: Any) -> np.ndarray:
        """The kernel values of rows X with the training rows."""
        if self.function is None:
            return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        return np.asarray(pairwise_kernels(X, self.rows, metric=self.function, filter_params=True, **self.words), np.float64)

    def ask(self, values: np.ndarray) -> np.ndarray:
        """Rows that stand for those of `values`, queries x training rows, until this thread asks for others."""
        if values.shape[1] != self.count:
            raise ValueError(f"X has the kernel values with {values.shape[1]} rows; the model is of {self.count} rows")
        self._asked.values = values
        return -1.0 - np.arange(len(values), dtype=float)[:, np.newaxis]

    def forget(self) -> None:
        self._asked.values = None

    def learn(self, values: np.ndarray) -> np.ndarray:
        """Rows that stand for the training rows, until `training` is None again."""
        if len(values) != values.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {len(values)}x{values.shape[1]} matrix."
                             if self.function is None else f"X has {len(values)} rows; the model is of {self.count} rows")
        self.training = values
        return np.arange(len(values), dtype=float)[:, np.newaxis]

    def __call__(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        a, b = (rows[:, 0].astype(np.int64) for rows in (x, z))
        if b[0] < 0:
            return self(z, x).T if a[0] >= 0 else np.zeros((len(a), len(b)))
        table = self.training if a[0] >= 0 else self._asked.values
        assert table is not None
        return table[np.ix_(a if a[0] >= 0 else -1 - a, b)]

    def __reduce__(self) -> Any:
        return _Values, (self.function, self.words, self.rows, self.count)


class GivenKernel:
    """kernel="precomputed": X is the Gram matrix, queries x training rows later on; a function of two rows makes it."""

    if TYPE_CHECKING:
        kernel: Any
        kernel_params: Any
        model_: Any

        def _fitted(self) -> Any: ...

    _given: _Values | None = None  # of the fit that runs

    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _is_given(self) -> bool:
        return self._pairwise() or callable(self.kernel)

    def _own_kernel(self) -> Kernel | None:
        return None if self._given is None else Kernel(self._given, threads=True)

    def _held(self) -> _Values | None:
        """The values of the model, whatever the parameters say by now."""
        kernel = self._fitted()._kernel
        return None if kernel is None else kernel.function

    def _query(self, X: Any) -> Any:
        rows = super()._query(X)  # type: ignore[misc]
        held = self._held()
        return rows if held is None else held.ask(held.of(rows))

    def predict(self, X: Any) -> Any:
        """The value of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or (n_queries, n_samples) of kernel values
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,), or (n_queries, n_targets) as y has it
        """
        try:
            return super().predict(X)  # type: ignore[misc]
        finally:
            held = self._held() if "model_" in vars(self) else None
            if held is not None:
                held.forget()

    def _train(self, X: Any, target: Any, weights: Any, *rest: Any, **words: Any) -> Any:
        counts = np.ones(X.shape[0], bool) if weights is None else weights > 0  # rows of weight 0 take no part
        before, rows = vars(self).get("model_"), X
        try:
            if self._is_given():
                function, kept = (None, None) if self._pairwise() else (self.kernel, X)
                self._given = _Values(function, dict(self.kernel_params or {}), kept, X.shape[0])
                rows = self._given.learn(self._given.of(X))
            return super()._train(rows, target, weights, *rest, **words)  # type: ignore[misc]
        finally:
            given = self.__dict__.pop("_given", None)
            if given is not None:
                given.training = None
            if vars(self).get("model_") is not before:
                self._counts = counts
                if given is not None:
                    self.model_._kernel.threads = False  # questions belong to the thread that asks

    def _verify(self, X: Any, *rest: Any) -> Any:
        held = self._held()
        if held is None:
            return super()._verify(X, *rest)  # type: ignore[misc]
        try:
            return super()._verify(held.learn(held.of(X)), *rest)  # type: ignore[misc]
        finally:
            held.training = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._pairwise()
        return tags
