"""Classifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from margin._binding import lib
from margin.catalogue import components
from margin.estimators.base import MarginEstimator
from margin.estimators.linear import LinearAttributes
from margin.estimators.parameters import Facts, Options
from margin.estimators.recipes import RECIPES
from margin.labels import Target, target
from margin.report import Report
from margin.views import is_sparse


def refuse_unknown(y: Any, expected: np.ndarray) -> None:
    unknown = np.setdiff1d(np.unique(y), expected)
    if unknown.size:
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {expected}")


def no_neighbours(alone: np.ndarray) -> str:
    return (f"row {int(np.argmax(alone))} (from 0) has no answer (of {int(alone.sum())}): No neighbors found within the "
            "radius; you can try using larger radius, giving a label for outliers, or leaving such rows out")


def _probable(classifier: Any) -> bool:
    return classifier._has_probabilities()


class Classifier(ClassifierMixin, MarginEstimator):
    """Labels of any kind; `classes_` in ascending order."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Classifier":
        """Trains on rows with labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of a row, 0 as none.

        Returns
        -------
        self
        """
        X, known, weights = self._prepare(X, y, sample_weight, reset=True)
        facts = self._facts(X, known, weights, sample_weight)
        if 2 * facts.classes > X.shape[0]:
            check_classification_targets(y)  # warns where there are too many
        if facts.classes < 2:
            raise ValueError(
                f"This {type(self).__name__} needs samples of at least 2 classes in the data; "
                "there is only one class"
            )
        self._train(X, known, weights, facts, self._class_options(facts))
        self.classes_: np.ndarray = self.model_._labels
        return self

    def _expected(self, classes: Any) -> tuple[bool, np.ndarray]:
        """Of a partial fit: whether it is the first, and all classes that will ever occur."""
        first = "model_" not in vars(self)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}")
        return first, np.unique(classes) if first else self.classes_

    def _facts(self, X: Any, known: Target, weights: np.ndarray | None, sample_weight: Any) -> Facts:
        return Facts(X.shape[1], len(np.unique(known.values)), self._variance(X, sample_weight))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Target, Any]:
        X, y = self._rows_and(X, y, reset)
        if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu"):  # there the checks take longer than the fit
            check_classification_targets(y)
            y = column_or_1d(y, warn=True)
        weights = self._weights(X, sample_weight)
        return X, target(y), self._balanced(y, weights)

    def _balanced(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Sample weights times those of class_weight."""
        given = getattr(self, "class_weight", None)
        if given is None:
            return weights
        labels, codes = np.unique(y, return_inverse=True)
        if isinstance(given, str):
            if given != "balanced":
                raise ValueError(f"class_weight of {type(self).__name__} has to be a dict, 'balanced' or None, not {given!r}")
            sums = np.bincount(codes, weights, len(labels))
            factors = sums.sum() / (len(labels) * np.where(sums > 0, sums, 1))
        elif isinstance(given, dict):
            without = [label for label in labels.tolist() if label not in given]
            if without and len(labels) - len(without) != len(given):  # as scikit-learn: a fold may lack a class, a typing error is said
                raise ValueError(f"The classes, {without}, are not in class_weight")
            factors = np.array([float(given.get(label, 1.0)) for label in labels.tolist()])
        else:
            raise ValueError(f"class_weight of {type(self).__name__} has to be a dict, 'balanced' or None")
        return factors[codes] * (1.0 if weights is None else weights)

    def _variance(self, X: Any, sample_weight: Any) -> float | None:
        """What gamma="scale" is about: weights of classes do not count as copies of rows there."""
        if getattr(self, "class_weight", None) is None or not hasattr(self, "gamma"):
            return None
        weights = np.full(X.shape[0], 1.0) if sample_weight is None else np.asarray(sample_weight)
        shares = weights / weights.sum() / X.shape[1]
        X = X if is_sparse(X) else np.ascontiguousarray(X)  # the order of the sums is that of the layout
        squares = X.multiply(X) if is_sparse(X) else X * X
        return float((shares @ squares).sum() - (shares @ X).sum() ** 2)

    def _class_options(self, facts: Facts) -> Options:
        return {}

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            Of `classes_`.
        """
        rows = self._query(X)
        codes = self.model_.class_codes(rows, threads=self._threads())
        labels = self.model_._labels[codes]
        if codes.size and codes.min() < 0:
            labels[codes < 0] = self._outlier(codes < 0)
        return labels

    def _outlier(self, alone: np.ndarray) -> Any:
        """The label of rows without neighbours."""
        raise ValueError(no_neighbours(alone))

    def _has_probabilities(self) -> bool:
        return bool(components()[RECIPES[self._recipe].learner].abilities & lib.MARGIN_CAN_PROBABILITY)

    @available_if(_probable)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            In the order of `classes_`.
        """
        rows = self._query(X)
        return self.model_.probabilities(rows, threads=self._threads())

    @available_if(_probable)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Report:
        """Recomputes the proof of the fit from its data; `status` of the report is OK if it holds."""
        X, known, weights = self._prepare(X, y, sample_weight, reset=False)
        return self._verify(X, known, weights)


class ScoringClassifier(Classifier):
    """Classifiers whose scores are a decision function."""

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_classes)
            Two classes: one number a row, positive for the second; more: one for each class.
        """
        rows = self._query(X)
        scores = self.model_.scores(rows, threads=self._threads())
        return scores[:, 0] if scores.shape[1] == 1 else scores


class LinearClassifier(LinearAttributes, ScoringClassifier):
    """Linear classifiers: without probabilities unless the learner has them."""


class PerceptronClassifier(LinearClassifier):
    """The perceptron, which takes its rows in batches, too."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "PerceptronClassifier":
        """One pass over these rows from the weights so far. The first call needs `classes`, all that will ever occur."""
        first, expected = self._expected(classes)
        if isinstance(getattr(self, "class_weight", None), str):
            raise ValueError("class_weight 'balanced' is not supported for partial_fit, which does not see all rows: give the weights")
        X, known, weights = self._prepare(X, y, sample_weight, reset=first)
        refuse_unknown(y, expected)
        facts = replace(self._facts(X, known, weights, sample_weight), classes=len(expected))
        self._train(X, target(y, classes=expected), weights, facts, {"passes": "1", "bound": "no"}, batch=True)
        self.classes_ = expected
        return self
