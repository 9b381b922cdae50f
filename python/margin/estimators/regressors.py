"""Regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from margin.estimators.base import MarginEstimator
from margin.estimators.expansions import SupportVectors, expansions
from margin.estimators.given import GivenKernel
from margin.estimators.linear import LinearValues
from margin.estimators.parameters import Facts, Options
from margin.labels import Target
from margin.report import Report
from margin.views import floats


class Regressor(RegressorMixin, MarginEstimator):
    """One target."""

    _many_targets = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Regressor":
        """Trains on rows with values.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), where several targets are taken also (n_samples, n_targets)
            Values.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of a row, 0 as none.

        Returns
        -------
        self
        """
        X, known, weights = self._prepare(X, y, sample_weight, reset=True)
        self._train(X, known, weights, self._facts(X, known, weights, sample_weight))
        self._two_dimensions = known.values.ndim == 2
        return self

    def _facts(self, X: Any, known: Target, weights: np.ndarray | None, sample_weight: Any) -> Facts:
        return Facts(X.shape[1])

    def _class_options(self, facts: Facts) -> Options:
        return {}

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Target, Any]:
        X, y = self._rows_and(X, y, reset, multi_output=self._many_targets, y_numeric=True)
        return X, Target(np.ascontiguousarray(floats(y, "y"))), self._weights(X, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,), or (n_queries, n_targets) as y has it
        """
        rows = self._query(X)
        values = self.model_.predict(rows, threads=self._threads())
        return values[:, np.newaxis] if self._two_dimensions and values.ndim == 1 else values

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Report:
        """Recomputes the proof of the fit from its data; `status` of the report is OK if it holds."""
        X, known, weights = self._prepare(X, y, sample_weight, reset=False)
        return self._verify(X, known, weights)


class _ManyTargets(MultiOutputMixin):
    _many_targets = True


class LinearRegressor(LinearValues, Regressor):
    """Linear functions of one target."""


class LinearTargets(_ManyTargets, LinearRegressor):
    """Several targets at once."""

    def _shaped(self, weights: Any) -> np.ndarray:
        return weights if self._two_dimensions else weights[0]


class ExpansionRegressor(SupportVectors, Regressor):
    """Sums of kernels."""


class LinearExpansion(ExpansionRegressor):
    """The same for the linear kernel, with weights as a linear model has them."""

    @property
    def coef_(self) -> np.ndarray:
        return super().coef_[0]


class KernelRidgeRegressor(_ManyTargets, GivenKernel, Regressor):
    """Ridge over a kernel."""

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficient of each training row, and of each target if y has two dimensions."""
        rows, model = np.flatnonzero(self._counts), self._fitted()
        made = np.zeros((len(self._counts), model.score_count))
        for score, (places, values) in enumerate(expansions(model)):
            made[rows[places], score] = values
        return made if self._two_dimensions else made[:, 0]
