"""Without a target: clusters, and one class with its outliers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin, OutlierMixin, TransformerMixin, ClassNamePrefixFeaturesOutMixin

from margin.errors import Cause, DataError
from margin.estimators.base import ConvergenceWarning, MarginEstimator
from margin.estimators.expansions import SupportVectors
from margin.estimators.parameters import Facts, Options
from margin.report import Report
from margin.views import is_sparse


class Untargeted(MarginEstimator):
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Trains on rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of a row, 0 as none.

        Returns
        -------
        self
        """
        X = self._rows(X, reset=True)
        self._train(X, None, self._weights(X, sample_weight), Facts(X.shape[1]))
        self._finish(X)
        return self

    def _finish(self, X: Any) -> None:
        pass

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Report:
        """Recomputes what the report says from the data of the fit; `status` is OK if it holds."""
        X = self._rows(X)
        return self._verify(X, None, self._weights(X, sample_weight))


def _different_rows(X: Any) -> int:
    return len(np.unique(X.toarray() if is_sparse(X) else X, axis=0))


class Clusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Untargeted):
    """Clusters around centres."""

    n_clusters: int
    init: Any

    def _centres(self) -> Any:
        if isinstance(self.init, str):
            return None
        shape, wanted = np.shape(self.init), (self.n_clusters, self.n_features_in_)
        if shape != wanted:
            raise ValueError(f"init of {type(self).__name__} has the shape {shape}; n_clusters and the columns of X make it {wanted}")
        return self.init

    def _train(self, X: Any, target: Any, weights: Any, facts: Facts, extra: Options | None = None,
               batch: bool = False) -> Any:
        try:
            return super()._train(X, target, weights, facts, extra, batch)
        except DataError as error:
            rows = X if weights is None else X[weights > 0]
            different = _different_rows(rows)
            if error.cause != Cause.FEW_ROWS or not 0 < different < self.n_clusters <= rows.shape[0]:
                raise
        warnings.warn(
            f"the data has only {different} different rows, which make {different} clusters in place of the "
            f"{self.n_clusters} that were asked; ask for fewer",
            ConvergenceWarning,
            stacklevel=3,
        )
        return super()._train(X, target, weights, facts, {"k": different})

    def _finish(self, X: Any) -> None:
        self.labels_ = self.model_.class_codes(X, threads=self._threads()).astype(np.int32)

    @property
    def cluster_centers_(self) -> np.ndarray:
        return self._fitted().tensors["hypothesis.centres"]

    @property
    def inertia_(self) -> float:
        return self._fitted().report.objective

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            Numbers of clusters, from 0.
        """
        rows = self._query(X)
        return self.model_.class_codes(rows, threads=self._threads()).astype(np.int32)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Trains, and tells the cluster of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of a row, 0 as none.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of clusters, from 0.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> np.ndarray:
        """Distances of the rows from the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters)
        """
        rows = self._query(X)
        return self.model_.distances(rows, threads=self._threads()).astype(rows.dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of the squared distances from the nearest centres."""
        X = self._query(X)
        weights = self._weights(X, sample_weight)
        return -float(np.average(self.model_.distances(X, threads=self._threads()).min(axis=1) ** 2, weights=weights) * (
            X.shape[0] if weights is None else weights.sum()))


class OneClass(OutlierMixin, SupportVectors, Untargeted):
    """One class and its outliers."""

    def predict(self, X: Any) -> np.ndarray:
        """Whether rows are like those of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            1 for inliers, -1 for outliers.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for an inlier.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            At least 0 for inliers.
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision function without its offset."""
        rows = self._query(X)
        return self.model_.scores(rows, threads=self._threads())[:, 0] + self.offset_

    @property
    def offset_(self) -> float:
        return -float(self._fitted().tensors["hypothesis.intercept"][0])
