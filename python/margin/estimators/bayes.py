"""Naive Bayes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative

from margin._binding import ffi, lib
from margin.columns import is_frame, is_numeric
from margin.estimators.base import OfTables
from margin.estimators.classifiers import Classifier, refuse_unknown
from margin.estimators.parameters import Facts, Options
from margin.labels import Target, target
from margin.views import is_sparse, summed_rows


def _priors(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


class BayesClassifier(Classifier):
    """Naive Bayes: shares of the classes that are given, equal, or learnt without smoothing."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Trains on more rows. The first call needs `classes`, all that will ever occur."""
        first, expected = self._expected(classes)
        X, known, weights = self._prepare(X, y, sample_weight, reset=first)
        refuse_unknown(y, expected)
        if not first:
            self.model_ = self.model_.update(X, known, sample_weight=weights)
            return self
        facts = replace(self._facts(X, known, weights, sample_weight), classes=len(expected))
        self._train(X, target(y, classes=expected), weights, facts, self._class_options(facts))
        self.classes_ = expected
        return self

    def _class_options(self, facts: Facts) -> Options:
        name = "priors" if hasattr(self, "priors") else "class_prior"
        given = getattr(self, name)
        if given is not None:
            given = np.asarray(given, np.float64)
            if given.shape != (facts.classes,):
                raise ValueError(f"Number of priors must match number of classes: {name} has the shape {given.shape}")
            if (given < 0).any() or not np.isclose(given.sum(), 1.0):
                raise ValueError(f"The sum of the priors should be 1, and none below 0: {name}={given}")
            return {"priors": _priors(given)}
        if not getattr(self, "fit_prior", True):
            return {"priors": "equal"}
        return {"prior_smoothing": "0"}

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log P(class, x), up to what all classes share."""
        rows = self._query(X)
        return self.model_.scores(rows, threads=self._threads())

    @property
    def class_count_(self) -> np.ndarray:
        return self._fitted().tensors["hypothesis.class_counts"].copy()

    def _shares(self) -> np.ndarray:
        """Of the classes, as the model uses them."""
        handle = self._fitted()._handle
        return np.array([lib.margin_model_prior(handle, k, ffi.NULL) for k in range(len(self.classes_))])

    def _statistics(self, each: int) -> np.ndarray:
        """Of each class and column `each` numbers; of categories, which are no numbers each, all in a row."""
        found = self._fitted().tensors["hypothesis.statistics"]
        return np.reshape(found, (len(self.classes_), -1, each))


class GaussianClassifier(BayesClassifier):
    """Naive Bayes of columns with a mean and a variance in each class."""

    var_smoothing: float

    @property
    def class_prior_(self) -> np.ndarray:
        return self._shares()

    @property
    def theta_(self) -> np.ndarray:
        """The mean of each column in each class."""
        return self._statistics(3)[..., 1].copy()

    @property
    def epsilon_(self) -> float:
        """What `var_smoothing` adds to every variance."""
        weight, mean, squares = np.moveaxis(self._statistics(3), 2, 0)
        rows = weight.sum(axis=0)
        apart = weight * (mean - (weight * mean).sum(axis=0) / rows) ** 2
        return float(self.var_smoothing * ((squares + apart).sum(axis=0) / rows).max())

    @property
    def var_(self) -> np.ndarray:
        """The variance of each column in each class, with `epsilon_`."""
        weight, _, squares = np.moveaxis(self._statistics(3), 2, 0)
        return squares / np.where(weight > 0, weight, 1.0) + self.epsilon_


class DiscreteClassifier(BayesClassifier):
    """Naive Bayes that does not look at how large a number is."""

    @property
    def class_log_prior_(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._shares())

    @property
    def feature_count_(self) -> np.ndarray:
        """How many rows of each class are above 0 in each column."""
        return self._statistics(2)[..., 1].copy()

    @property
    def feature_log_prob_(self) -> Any:
        """The logarithm of a column's share in each class."""
        total, count = np.moveaxis(self._statistics(2), 2, 0)
        return self._log_shares(count, total, 2)

    def _log_shares(self, counts: np.ndarray, totals: np.ndarray, kinds: int) -> np.ndarray:
        smoothing = self._fitted().tensors["hypothesis.settings"][0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(counts + smoothing) - np.log(totals + kinds * smoothing)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class CountClassifier(DiscreteClassifier):
    """Naive Bayes of numbers that are not below 0."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Target, Any]:
        X, known, weights = super()._prepare(X, y, sample_weight, reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return X, known, weights

    @property
    def feature_count_(self) -> np.ndarray:
        """The sum of each column in each class."""
        return self._statistics(1)[..., 0].copy()

    @property
    def feature_log_prob_(self) -> Any:
        counts = self.feature_count_
        return self._log_shares(counts, counts.sum(axis=1, keepdims=True), counts.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class CategoryClassifier(CountClassifier):
    """Naive Bayes of whole numbers that stand for categories."""

    _numbers = np.int64

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        return super()._rows(self._whole(X), reset=reset)

    def _rows_and(self, X: Any, y: Any, reset: bool, **checks: Any) -> tuple[Any, Any]:
        return super()._rows_and(self._whole(X), y, reset, **checks)

    def _whole(self, X: Any) -> Any:
        """Entries as they are: parts of one, stored apart, would each be cut to a whole number."""
        return summed_rows(X, "X") if is_sparse(X) else X

    def _columns(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each column the categories that training saw, and the counts of each class."""
        numbers = self._fitted().tensors
        ends = np.cumsum(numbers["hypothesis.levels"])[:-1]
        values = np.split(np.array(numbers["hypothesis.values"]).astype(np.int64), ends)
        return list(zip(values, np.split(self._statistics(1)[..., 0], ends, axis=1)))

    @property
    def n_categories_(self) -> np.ndarray:
        return np.array([values[-1] + 1 for values, _ in self._columns()])

    @property
    def category_count_(self) -> list[np.ndarray]:
        """Of each column, for each class and category how many rows; 0 where training saw none."""
        found = []
        for values, counts in self._columns():
            found.append(np.zeros((len(counts), values[-1] + 1)))
            found[-1][:, values] = counts
        return found

    @property
    def feature_log_prob_(self) -> Any:
        """Of each column, for each class and category, the logarithm that the model adds."""
        return [self._log_shares(counts, counts.sum(axis=1, keepdims=True), len(values))
                for counts, (values, _) in zip(self.category_count_, self._columns())]

    @property
    def feature_count_(self) -> np.ndarray:
        raise AttributeError("CategoricalNB has category_count_, an array for each column, and no feature_count_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


class MixedClassifier(OfTables, BayesClassifier):
    """Naive Bayes of columns of several kinds; those of words, in data frames and Arrow tables, are categorical."""

    _LISTS = ("categorical", "gaussian", "multinomial", "bernoulli")

    def _is_table(self, X: Any) -> bool:
        return super()._is_table(X) and not (is_frame(X) and all(is_numeric(dtype) for dtype in X.dtypes))

    def _class_options(self, facts: Facts) -> Options:
        options = super()._class_options(facts)
        for name in self._LISTS:
            columns = getattr(self, name)
            if columns is not None:
                options[name] = ",".join(str(self._column(name, column) + 1) for column in columns)
        return options

    def _column(self, name: str, column: Any) -> int:
        """Its number from 0."""
        if isinstance(column, str):
            names = list(getattr(self, "feature_names_in_", []))
            if column not in names:
                raise ValueError(f"{name} of {type(self).__name__} names {column!r}, which X has not")
            return names.index(column)
        if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or not -self.n_features_in_ <= column < self.n_features_in_:
            raise ValueError(f"{name} of {type(self).__name__} has to list names or numbers of the {self.n_features_in_} columns, not {column!r}")
        return int(column) % self.n_features_in_
