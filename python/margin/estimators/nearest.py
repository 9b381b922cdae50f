"""Nearest neighbours: searches, votes and means."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from margin.data import Data
from margin.errors import DataError
from margin.estimators.base import MarginEstimator, in_their_words
from margin.estimators.classifiers import Classifier
from margin.estimators.parameters import Facts, spec_text
from margin.estimators.regressors import Regressor
from margin.fitting import fit_data
from margin.labels import Target
from margin.model import Model
from margin.neighbors import Neighbors, lists
from margin.views import is_sparse


class _Search:
    """What is asked of the training rows. Without X each of them is asked for the others."""

    if TYPE_CHECKING:
        model_: Model
        n_jobs: int | None

        def _query(self, X: Any) -> Any: ...
        def _threads(self) -> int | None: ...

    @property
    def _index(self) -> Neighbors:
        return self.model_.neighbors

    @property
    def n_samples_fit_(self) -> int:
        check_is_fitted(self)
        return self._index.rows

    @property
    def effective_metric_(self) -> str:
        check_is_fitted(self)
        return {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(self._index.p, "minkowski")

    def _asked(self, X: Any) -> Any:
        if X is not None:
            return self._query(X)
        check_is_fitted(self)
        return self._index.points()

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Distances and numbers of the nearest training rows, n_queries x n_neighbors each, nearest first."""
        queries = self._asked(X)
        k = getattr(self, "n_neighbors", 5) if n_neighbors is None else n_neighbors
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        wanted = int(k) + (X is None)
        if wanted > self._index.rows:
            raise ValueError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {self._index.rows}, n_samples = {queries.shape[0]}"
            )
        distances, rows = self._index.nearest(queries, wanted, threads=self._threads())
        if X is None:
            own = rows == np.arange(len(rows))[:, np.newaxis]
            own[~own.any(axis=1), -1] = True  # so many rows are equal that its own is not among them
            distances, rows = (a[~own].reshape(len(rows), int(k)) for a in (distances, rows))
        return (distances, rows) if return_distance else rows

    def radius_neighbors(self, X: Any = None, radius: float | None = None, return_distance: bool = True,
                         sort_results: bool = False) -> Any:
        """Arrays of the distances and numbers of the training rows at `radius` or less, nearest first."""
        starts, distances, rows = self._within(X, radius)
        return (lists(starts, distances), lists(starts, rows)) if return_distance else lists(starts, rows)

    def _within(self, X: Any, radius: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        queries = self._asked(X)
        reach = getattr(self, "radius", 1.0) if radius is None else radius
        starts, distances, rows = self._index.within(queries, float(reach), threads=self._threads())
        if X is None:
            other = rows != np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            starts = np.concatenate([[0], np.cumsum(other)])[starts]
            distances, rows = distances[other], rows[other]
        return starts, distances, rows

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """A CSR matrix, queries x training rows: 1, or the distance, where a row is among the nearest."""
        distances, rows = self.kneighbors(X, n_neighbors)
        starts = np.arange(rows.shape[0] + 1) * rows.shape[1]
        return self._graph(mode, starts, distances.ravel(), rows.ravel())

    def radius_neighbors_graph(self, X: Any = None, radius: float | None = None, mode: str = "connectivity",
                               sort_results: bool = False) -> Any:
        """A CSR matrix, queries x training rows: 1, or the distance, where a row is at `radius` or less."""
        return self._graph(mode, *self._within(X, radius))

    def _graph(self, mode: str, starts: np.ndarray, distances: np.ndarray, rows: np.ndarray) -> Any:
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ValueError(f"Unsupported mode, must be one of 'connectivity' or 'distance'; got {mode!r}")
        values = np.ones(len(rows)) if mode == "connectivity" else distances
        return csr_matrix((values, rows.copy(), starts.copy()), shape=(len(starts) - 1, self._index.rows))


class Nearest(_Search, MarginEstimator):
    """The search alone: an index, from which `model_` is made when it is asked for."""

    _made = "_rows_known"
    n_neighbors: int | None

    def fit(self, X: Any, y: Any = None) -> Any:
        """Builds the index of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        self
        """
        X = self._rows(X, reset=True)
        learner, options = self._learner(Facts(X.shape[1]))
        self.__dict__.pop("model_", None)
        rows = X.toarray() if is_sparse(X) else np.array(X)  # its own: the caller may change X
        k = 5 if self.n_neighbors is None else int(self.n_neighbors)
        try:
            self._rows_known = Neighbors(rows, float(options.get("p", 2)), method=options.get("method", "auto"),
                                         k=min(k, len(rows)), threads=self._threads())
        except DataError as error:
            raise in_their_words(error, X.shape[0])
        self._fit_spec = spec_text(learner, options)
        return self

    @property
    def _index(self) -> Neighbors:
        return self._rows_known

    @cached_property
    def model_(self) -> Model:  # type: ignore[override]
        """The knn model of the same rows, which costs as much again and more."""
        check_is_fitted(self)
        rows = self._index.points()
        return fit_data(self._fit_spec, Data(rows, Target(np.zeros(len(rows)))), threads=self._threads())[0]

    def _fitted(self) -> Model:
        return self.model_


class _Voting(_Search):
    """Answers about the training rows themselves, where X is None: of the others."""

    def _learnt(self, name: str) -> np.ndarray:
        return self.model_.tensors[f"hypothesis.{name}"]

    def _counts(self) -> np.ndarray:
        """Sample weights of the training rows."""
        return self._learnt("weight") if "hypothesis.weight" in self.model_.tensors else np.ones(self._index.rows)

    def _others(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of the training rows, of their neighbours, and what each of these counts."""
        if hasattr(self, "n_neighbors"):
            distances, rows = self.kneighbors()
            owners = np.repeat(np.arange(len(rows)), rows.shape[1])
            distances, rows = distances.ravel(), rows.ravel()
        else:
            starts, distances, rows = self._within(None, None)
            owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        counts = self._counts()[rows]
        if getattr(self, "weights") == "distance":
            same = distances == 0
            among = np.bincount(owners[same], minlength=self._index.rows)[owners] > 0
            counts = counts * np.where(among, same, 1 / np.where(same, 1.0, distances))
        return owners, rows, counts


class NearestClassifier(_Voting, Classifier):
    """The vote of the nearest rows."""

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features), or None
            Rows. None: the training rows, by their neighbours without themselves.

        Returns
        -------
        ndarray of shape (n_queries,)
            Of `classes_`.
        """
        if X is not None:
            return super().predict(X)
        votes = self._votes()
        labels, alone = self.classes_[np.argmax(votes, axis=1)], votes.sum(axis=1) == 0
        if alone.any():
            labels[alone] = self._outlier(alone)
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the classes among the neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features), or None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            In the order of `classes_`.
        """
        shares = super().predict_proba(X) if X is not None else self._votes()
        total = shares.sum(axis=1, keepdims=True)
        alone = ~(total[:, 0] > 0)  # NaN, or no votes
        if alone.any():
            total[alone], shares[alone] = 1, self._certain(alone)
        return shares if X is not None else shares / total

    def _certain(self, alone: np.ndarray) -> np.ndarray:
        """Probabilities of rows without neighbours."""
        label = self._outlier(alone)
        if label not in self.classes_:
            warnings.warn(f"Outlier label {label} is not in training classes. All class probabilities of outliers will be assigned with 0.",
                          stacklevel=3)
        return np.asarray(self.classes_ == label, np.float64)

    def _votes(self) -> np.ndarray:
        check_is_fitted(self)
        owners, rows, counts = self._others()
        shape = self._index.rows, len(self.classes_)
        return np.bincount(owners * shape[1] + self._learnt("class")[rows], counts, shape[0] * shape[1]).reshape(shape)


class RadiusClassifier(NearestClassifier):
    """The vote of all rows within a radius."""

    outlier_label: Any
    outlier_label_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RadiusClassifier":
        super().fit(X, y, sample_weight)
        self.outlier_label_ = None if self.outlier_label is None else [self._label_given()]
        return self

    def _label_given(self) -> Any:
        label = self.outlier_label
        if isinstance(label, str) and label == "most_frequent":
            return self.classes_[np.argmax(np.bincount(self._learnt("class"), self._counts()))]
        if np.ndim(label) == 1 and len(label) == 1:
            (label,) = label
        if np.ndim(label) or np.append(self.classes_, label).dtype != self.classes_.dtype:
            raise TypeError(f"outlier_label has to be one label, of the type of those of y, {self.classes_.dtype}; it is {label!r}")
        return label

    def _outlier(self, alone: np.ndarray) -> Any:
        return super()._outlier(alone) if self.outlier_label_ is None else self.outlier_label_[0]


class NearestRegressor(_Voting, Regressor):
    """The mean of the nearest rows."""

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features), or None
            Rows. None: the training rows, by their neighbours without themselves.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        if X is not None:
            return self._warned(super().predict(X))
        check_is_fitted(self)
        owners, rows, counts = self._others()
        sums = (np.bincount(owners, each, self._index.rows) for each in (counts * self._learnt("value")[rows], counts))
        with np.errstate(invalid="ignore"):
            values = np.divide(*sums)
        return self._warned(values[:, np.newaxis] if self._two_dimensions else values)

    def _warned(self, values: np.ndarray) -> np.ndarray:
        if np.isnan(values).any():
            warnings.warn("One or more samples have no neighbors within the radius; NaN is predicted.", stacklevel=3)
        return values
