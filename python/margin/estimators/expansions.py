"""What support vector machines with a kernel are made of, under scikit-learn's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from margin.estimators.given import check_function, check_queries, gaps_told, values_of_all
from margin.estimators.parameters import Facts
from margin.model import Model
from margin.views import is_sparse


def expansions(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each function: places among the rows that count, and their coefficients; none of a function that is 0."""
    starts, entries, values = (model.tensors[f"hypothesis.{name}"] for name in ("starts", "entries", "coefficients"))
    return [(entries[a:b], values[a:b]) for a, b in zip(starts, starts[1:])]


class SupportVectors:
    """Support vectors are ordered by row (classifiers: by class, then row), as scikit-learn has them."""

    if TYPE_CHECKING:
        kernel: Any
        n_features_in_: int

        def _fitted(self) -> Model: ...

    # ---- kernels that are numbers given, or a function

    def _pairwise(self) -> bool:
        return isinstance(getattr(self, "kernel", None), str) and self.kernel == "precomputed"

    def _checks(self, reset: bool) -> dict[str, Any]:
        return gaps_told(reset and self._pairwise())

    def _query(self, X: Any) -> Any:
        return self._gram(super()._query(X), False)  # type: ignore[misc]

    def _train(self, X: Any, *rest: Any, **words: Any) -> Any:
        super()._train(self._gram(X, True), *rest, **words)  # type: ignore[misc]
        if "hypothesis.entries" not in self._fitted().tensors:
            rows = [taken for taken, _ in self._duals()]
            self._linear_rows = X[np.unique(np.concatenate(rows))]
        return self

    def _verify(self, X: Any, *rest: Any) -> Any:
        return super()._verify(self._gram(X, False), *rest)  # type: ignore[misc]

    def _gram(self, rows: Any, fitting: bool) -> Any:
        """What the library gets: rows, or their kernel values with the training rows."""
        kernel = getattr(self, "kernel", None)
        if callable(kernel):
            if fitting:
                self._kernel_rows = rows
            values = values_of_all(kernel, rows, self._kernel_rows)
            if fitting:
                check_function(values)
            return values if fitting else check_queries(values)
        if fitting and self._pairwise() and rows.shape[0] != rows.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {rows.shape[0]}x{rows.shape[1]} matrix.")
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._pairwise()
        return tags

    # ---- the expansion

    def _duals(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each function: training rows that take part, and their coefficients."""
        model = self._fitted()
        return [model.dual(score) for score in range(model.score_count)]

    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of all functions, ascending, and their order in what is handed out."""
        duals = self._duals()
        rows = np.unique(np.concatenate([taken for taken, _ in duals]))
        return rows, np.lexsort((rows, self._class_of(rows, duals)))

    def _class_of(self, rows: np.ndarray, duals: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        return np.zeros(len(rows), np.int64)

    @property
    def support_(self) -> np.ndarray:
        """Training rows that are support vectors."""
        rows, order = self._order()
        return rows[order].astype(np.int32)

    @property
    def support_vectors_(self) -> Any:
        """Those rows; of a kernel that is given there is nothing to show."""
        rows, order = self._order()
        if self._pairwise() or callable(getattr(self, "kernel", None)):
            return np.empty((0, 0))
        return self._vectors(rows)[order]

    def _vectors(self, rows: np.ndarray) -> Any:
        """The training rows of these numbers, from the model."""
        t = self._fitted().tensors
        if "hypothesis.entries" not in t:
            return self._linear_rows  # a linear model holds no rows
        places = np.empty(len(rows), np.int64)
        places[np.searchsorted(rows, t["hypothesis.dual_row"])] = t["hypothesis.entries"]
        if "hypothesis.support" in t:
            return t["hypothesis.support"][places]
        from scipy.sparse import csr_matrix

        starts = t["hypothesis.support_starts"]
        shape = (len(starts) - 1, self.n_features_in_)
        return csr_matrix((t["hypothesis.support_values"], t["hypothesis.support_indices"], starts), shape=shape)[places]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, signs included."""
        return self._duals()[0][1][np.argsort(self._duals()[0][0])][self._order()[1]][np.newaxis]

    @property
    def n_support_(self) -> np.ndarray:
        return np.array([len(self._order()[0])], np.int32)

    @property
    def intercept_(self) -> np.ndarray:
        return np.array(self._fitted().intercepts if self._fitted().weights is not None
                        else self._fitted().tensors["hypothesis.intercept"])

    @property
    def coef_(self) -> np.ndarray:
        """kernel="linear": weights of the columns."""
        if getattr(self, "kernel", "linear") != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = self._fitted().weights
        if weights is not None:
            return weights
        rows, _ = self._order()
        vectors = self._vectors(rows)
        made = np.zeros((self._fitted().score_count, len(rows)))
        for number, (taken, values) in enumerate(self._duals()):
            made[number, np.searchsorted(rows, taken)] = values
        return np.asarray((vectors.T @ made.T).T)


class PairsOfClasses(SupportVectors):
    """One function for two classes, else one for each pair, positive for the first."""

    if TYPE_CHECKING:
        classes_: np.ndarray

    def _class_of(self, rows: np.ndarray, duals: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        found = np.zeros(len(rows), np.int64)
        for (first, second), (taken, values) in zip(self._pairs(), duals):
            found[np.searchsorted(rows, taken)] = np.where(values > 0, first, second)
        return found

    def _pairs(self) -> list[tuple[int, int]]:
        classes = len(self.classes_)
        if classes == 2:
            return [(1, 0)]
        return [(a, b) for a in range(classes) for b in range(a + 1, classes)]

    @property
    def dual_coef_(self) -> np.ndarray:
        """(classes - 1) x support vectors: those of a class against each other class, in order."""
        rows, order = self._order()
        duals = self._duals()
        classes = self._class_of(rows, duals)
        made = np.zeros((len(self.classes_) - 1, len(rows)))
        for (first, second), (taken, values) in zip(self._pairs(), duals):
            places = np.searchsorted(rows, taken)
            line = np.where(classes[places] == min(first, second), max(first, second) - 1, min(first, second))
            made[line, places] = values
        return made[:, order]

    @property
    def n_support_(self) -> np.ndarray:
        rows, _ = self._order()
        return np.bincount(self._class_of(rows, self._duals()), minlength=len(self.classes_)).astype(np.int32)
