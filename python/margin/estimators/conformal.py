"""Predictions with a coverage that is proven for any distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from margin.errors import UnsupportedError
from margin.estimators.base import AroundEstimator, MarginEstimator, refuse_given, seed_of
from margin.estimators.spec import estimator_of


class Conformal(AroundEstimator):
    """Intervals for numbers, sets of classes for labels, that hold the truth of a stated share of future rows.

    Parameters
    ----------
    estimator : str or margin estimator
        A spec, or a classifier or regressor of margin.
    coverage : float, default=0.9
        What is found on average; proven for any distribution is 1 - 2 (1 - coverage).
    folds : int, default=0
        Fits to so many folds; 0: 10, none where leaving out a row has a closed form.
    random_state : int, RandomState or None, default=None
        Of the folds.

    Attributes
    ----------
    estimator_ : the fitted estimator
    model_ : margin.Model
        With the promise: `model_.save` keeps it.

    References
    ----------
    Barber, Candes, Ramdas and Tibshirani 2021 (jackknife+, CV+); Vovk 2015 (cross-conformal)
    """

    def __init__(self, estimator: Any, *, coverage: float = 0.9, folds: int = 0, random_state: Any = None) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Conformal":
        """Trains on all rows, and on the folds. There are no weights: a coverage is a share of rows, which count alike.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or values.

        Returns
        -------
        self
        """
        y = column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y
        if isinstance(self.estimator, str):
            numbers = np.asarray(y).dtype.kind == "f"
            try:
                inner = estimator_of(self.estimator)
            except ValueError:
                inner = estimator_of(self.estimator, "regress" if numbers else "classify")
        elif isinstance(self.estimator, MarginEstimator) and hasattr(self.estimator, "_prepare"):
            refuse_given(self.estimator, "Conformal",
                         'name a kernel, or use margin.fit("kernel-ridge(kernel=user)", X, y, kernel=function).promise(X, y, coverage=0.9)')
            inner = clone(self.estimator)
        else:
            raise UnsupportedError(f"{type(self.estimator).__name__} is no classifier or regressor of margin, nor a spec")
        self.estimator_ = inner.fit(X, y)
        rows, known, weights = inner._prepare(X, y, None, False)
        if rows.shape[0] == 1:
            raise ValueError("n_samples=1: a coverage needs rows to be judged by")
        if weights is not None:
            raise UnsupportedError("class_weight is not supported: coverage needs rows that count alike")
        seed = seed_of(self.random_state) or 0
        self.model_ = inner.model_.promise(rows, known, coverage=self.coverage, folds=self.folds, seed=seed,
                                         threads=inner._threads())
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(inner, name):
                setattr(self, name, getattr(inner, name))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The estimator's answers.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            A label or value for each row.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def predict_interval(self, X: Any) -> np.ndarray:
        """Intervals of a regression.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries, 2)
            The ends of each row's interval.
        """
        check_is_fitted(self)
        return np.stack(self.model_.intervals(self.estimator_._query(X)), axis=1)

    def predict_set(self, X: Any) -> np.ndarray:
        """Sets of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of bool of shape (n_queries, n_classes)
            Which classes each row may be of, in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.model_.sets(self.estimator_._query(X))

    def score(self, X: Any, y: Any) -> float:
        """The estimator's own score."""
        check_is_fitted(self)
        return self.estimator_.score(X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
