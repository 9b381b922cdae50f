"""What all estimators have in common: from parameters to a spec, from a fit to a model and its report."""

from __future__ import annotations

import os
import warnings
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from margin.arrow import is_arrow
from margin.columns import is_frame
from margin.config import get_config
from margin.data import Data
from margin.errors import ConvergenceWarning as OurConvergenceWarning
from margin.errors import ArgumentError, Cause, DataError, UnsupportedError
from margin.estimators.compat import Base, validate_data
from margin.estimators.parameters import Facts, Options, spec_text
from margin.estimators.recipes import RECIPES
from margin.fitting import fit_data, not_converged
from margin.labels import Target
from margin.model import Model
from margin.report import Report, as_table
from margin.trace import TraceStep


class ConvergenceWarning(OurConvergenceWarning, TheirConvergenceWarning):
    """Both margin's and scikit-learn's."""


def in_their_words(error: DataError, rows: int) -> DataError:
    """The library's sentence, and the words that users of scikit-learn look for."""
    if error.cause == Cause.FEW_ROWS or rows == 1:
        error.args = (f"{error} (n_samples={rows})",)
    elif error.cause == Cause.NEGATIVE_VALUE:
        error.args = (f"Negative values in data: {error}",)
    return error


def refuse_given(estimator: Any, where: str, remedy: str) -> None:
    if estimator._is_given():
        raise UnsupportedError(f"{type(estimator).__name__} with a kernel that is a function or a Gram matrix is not supported in "
                               f"{where}, which fits to folds by the library alone: {remedy}")


def seed_of(state: Any) -> int | None:
    """The library's seed for scikit-learn's `random_state`."""
    if state is None or (isinstance(state, Integral) and not isinstance(state, bool)):
        return None if state is None else int(state) % 2**64
    return int(check_random_state(state).randint(2**31 - 1))


_said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
OMP_THREADS = int(_said) if _said.isdigit() and int(_said) else None  # joblib says it to its workers; read once, as OpenMP does


def threads_of(jobs: int | None) -> int | None:
    """The library's threads for scikit-learn's `n_jobs`: below 1 all cores."""
    if jobs is None:
        return None if OMP_THREADS is None or get_config()["threads"] else OMP_THREADS
    return int(jobs) if jobs >= 1 else None


def _is_finite(numbers: np.ndarray) -> bool:
    """False also where the sum of many overflows: they are looked at one by one elsewhere."""
    if numbers.size <= 4096:
        return bool(np.isfinite(numbers).all())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()))


def _is_plain_target(y: Any, rows: int) -> bool:
    return (type(y) is np.ndarray and y.shape == (rows,) and y.dtype.isnative
            and (y.dtype.kind in "iu" or (y.dtype.kind == "f" and _is_finite(y))))


def _whole(fit: Any) -> Any:
    """A fit that is refused or interrupted leaves no model: none would fit the columns learnt meanwhile."""
    @wraps(fit)
    def whole(self: Any, *given: Any, **words: Any) -> Any:
        try:
            return fit(self, *given, **words)
        except BaseException:  # Ctrl-C, too
            vars(self).pop("model_", None), vars(self).pop(self._made, None)
            raise
    return whole


class Shown(Base):
    """In notebooks: scikit-learn's picture of an estimator, and below it the proof of what is fitted."""

    def _proof_html(self) -> str:
        return as_table(self.model_.lines()) if "model_" in vars(self) else ""

    @property
    def _repr_html_(self) -> Any:
        theirs = super()._repr_html_  # AttributeError: they are to be shown as text
        return lambda: theirs() + self._proof_html()

    def _repr_mimebundle_(self, **words: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**words)  # IPython takes it, and asks no further
        if "text/html" in bundle:
            bundle["text/html"] += self._proof_html()
        return bundle


class MarginEstimator(Shown):
    """Base of all estimators.

    Attributes
    ----------
    model_ : Model
        What was trained: `model_.save` writes the file that C and the shell read.
    report_ : Report
        What was minimised, how it ended, and the proven gap.
    """

    _recipe: ClassVar[str]
    _numbers: ClassVar[Any] = [np.float64, np.float32]  # what X becomes where it is neither
    _made: ClassVar[str] = "model_"  # an attribute of what is fitted
    model_: Model

    def __init_subclass__(cls, **words: Any) -> None:
        if "fit" in vars(cls):
            cls.fit = _whole(vars(cls)["fit"])
        super().__init_subclass__(**words)

    # ---- parameters to a spec

    def _spec(self, facts: Facts, extra: Options | None = None) -> str:
        return spec_text(*self._learner(facts, extra))

    def _learner(self, facts: Facts, extra: Options | None = None) -> tuple[str, Options]:
        recipe = RECIPES[self._recipe]
        options: Options = dict(recipe.fixed)
        for parameter in recipe.parameters:
            value = getattr(self, parameter.name)
            options |= parameter.use(recipe.name, parameter.name, value, facts)
        options |= extra or {}
        learner = recipe.learner
        if recipe.finish:
            learner, options = recipe.finish(self, learner, options, facts)
        return learner, options

    def _seed(self) -> int | None:
        return seed_of(getattr(self, "random_state", None))

    def _threads(self) -> int | None:
        return threads_of(getattr(self, "n_jobs", None))

    # ---- data

    def _checks(self, reset: bool) -> dict[str, Any]:
        """What validate_data does otherwise here."""
        return {}

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=self._numbers, reset=reset, **self._checks(reset))

    def _rows_and(self, X: Any, y: Any, reset: bool, **checks: Any) -> tuple[Any, Any]:
        """X and a target, of as many rows."""
        if reset and self._takes(X) and _is_plain_target(y, X.shape[0]):  # the checks would take longer than the fit
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            self.n_features_in_ = X.shape[1]
            return X, y
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._numbers, reset=reset, **self._checks(reset), **checks)
        return X, y

    def _weights(self, X: Any, sample_weight: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64)

    def _data(self, X: Any, target: Target | None, weights: np.ndarray | None) -> Data:
        return Data(X, target, weights, columns=True)

    # ---- fit

    def _train(self, X: Any, target: Target | None, weights: np.ndarray | None, facts: Facts,
               extra: Options | None = None, batch: bool = False) -> "MarginEstimator":
        """`batch`: it goes on from the last one, and is not the last."""
        data = self._data(X, target, weights)
        spec = self._spec(facts, extra)
        start = getattr(self, "model_", None) if batch or getattr(self, "warm_start", False) else None
        try:
            self.model_, converged = self._fit_data(spec, data, start)
        except DataError as error:
            raise in_their_words(error, data.x.rows)
        except ArgumentError as error:
            if start is None or batch or "to start from" not in str(error):
                raise
            raise ArgumentError(f"warm_start=True: {error}; set it to False, or fit a clone of this {type(self).__name__}") from None
        self._steps = [part.iterations for part in self.model_._parts]  # a pickle has no parts
        if not converged and not batch and self._warns(self.model_.report):
            warnings.warn(not_converged(self.model_.report), ConvergenceWarning, stacklevel=4)
        return self

    def _fit_data(self, spec: str, data: Data, start: Model | None) -> tuple[Model, bool]:
        words = {"seed": self._seed(), "threads": self._threads(), "start": start, "centres": self._centres()}
        if get_config()["trace"]:
            try:
                return fit_data(spec, data, trace=True, **words)
            except ArgumentError as error:  # not every learner has steps, and a pipeline has several
                if "cannot trace" not in str(error):
                    raise
        return fit_data(spec, data, **words)

    def _centres(self) -> Any:
        return None

    def _is_given(self) -> bool:
        """Whether the kernel is none of the library's."""
        return callable(getattr(self, "kernel", None))

    def _warns(self, report: Report) -> bool:
        return True

    @property
    def report_(self) -> Report:
        return self._fitted().report

    @property
    def trace_(self) -> list[TraceStep]:
        """What the fit did, step by step, of one within margin.config_context(trace=True)."""
        if (steps := self._fitted().trace) is None:
            raise AttributeError(f"this {type(self).__name__} kept no trace: fit it within margin.config_context(trace=True); linear "
                                 "learners and perceptrons tell their steps then")
        return steps

    @property
    def n_iter_(self) -> Any:
        """Steps; of several classes or pairs of them the most that one took."""
        self._fitted()
        return max(1, max(getattr(self, "_steps", ()), default=self.report_.iterations))

    def __sklearn_is_fitted__(self) -> bool:
        """A fit that did not end has learnt the columns and no model."""
        return self._made in vars(self)

    def _fitted(self) -> Model:
        if "model_" not in vars(self):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.model_

    def _verify(self, X: Any, target: Target | None, weights: np.ndarray | None) -> Report:
        """The proof once more, from the data: see Model.verify."""
        return self._fitted().verify(X, target, sample_weight=weights)

    def _query(self, X: Any) -> Any:
        if self._is_plain(X):
            return X
        check_is_fitted(self)
        return self._rows(X)

    def _is_plain(self, X: Any) -> bool:
        """Whether validate_data would only look: it takes longer than one row's answer."""
        known = vars(self)
        return (self._made in known and "feature_names_in_" not in known and self._takes(X)
                and X.shape[1] == known["n_features_in_"])

    def _takes(self, X: Any) -> bool:
        """Whether X is as the library takes it, and all its numbers are finite."""
        return (
            type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous
            and X.size > 0 and self._numbers is MarginEstimator._numbers and _is_finite(X)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OfTables(MarginEstimator):
    """Takes data frames and Arrow tables as the library does: with their names, words and categories."""

    def _is_table(self, X: Any) -> bool:
        return is_frame(X) or is_arrow(X)

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if not self._is_table(X):
            return super()._rows(X, reset=reset)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _rows_and(self, X: Any, y: Any, reset: bool, **checks: Any) -> tuple[Any, Any]:
        if not self._is_table(X):
            return super()._rows_and(X, y, reset, **checks)
        return self._rows(X, reset=reset), np.asarray(y)


class AroundEstimator(MetaEstimatorMixin, Shown):
    """Around an estimator of margin, or a spec: it counts as what is inside."""

    estimator: Any

    @property
    def _estimator_type(self) -> Any:
        return getattr(self.estimator, "_estimator_type", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, MarginEstimator):
            theirs = self.estimator.__sklearn_tags__()
            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
                theirs.estimator_type, theirs.classifier_tags, theirs.regressor_tags)
            tags.input_tags, tags.target_tags = theirs.input_tags, theirs.target_tags
        return tags
