"""Any spec as an estimator: what margin.Model("standardize | svm(C=10)") makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from margin._binding import lib
from margin.errors import text
from margin.estimators.base import OfTables
from margin.estimators.classifiers import Classifier
from margin.estimators.clusters import Untargeted
from margin.estimators.compat import validate_data
from margin.estimators.parameters import Facts, Options
from margin.estimators.regressors import Regressor
from margin.estimators.transformers import Transformer
from margin.specs import Spec

_TASKS = {"classify": lib.MARGIN_CAN_TWO_CLASS | lib.MARGIN_CAN_MULTICLASS, "regress": lib.MARGIN_CAN_REGRESSION,
          "cluster": lib.MARGIN_CAN_CLUSTER}


class _OfSpec(OfTables):
    """Options of the spec are parameters `step__option`."""

    spec: str

    def __init__(self, spec: str, *, random_state: Any = None, n_jobs: int | None = None) -> None:
        self.spec = spec
        self.random_state = random_state
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        found: dict[str, Any] = BaseEstimator.get_params(self, deep=False)
        return {**found, **{name: value for name, value, _ in Spec(self.spec).settings()}} if deep else found

    def set_params(self, **parameters: Any) -> Any:
        own = BaseEstimator.get_params(self, deep=False)
        for name in [n for n in parameters if n in own]:
            setattr(self, name, parameters.pop(name))
        if parameters:
            spec = Spec(self.spec)
            for name, value in parameters.items():
                spec = spec.changed(name, value)
            self.spec = str(spec)
        return self

    def _spec(self, facts: Facts, extra: Options | None = None) -> str:
        return self.spec

    def _can(self, ability: int, *, first: bool = False) -> bool:
        spec = Spec(self.spec)
        component = lib.margin_spec_step(spec._handle, 0) if first else spec.learner
        return bool(component.abilities & ability)

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if self._is_table(X):
            return super()._rows(X, reset=reset)
        missing = "allow-nan" if self._can(lib.MARGIN_CAN_MISSING, first=True) else True
        return validate_data(self, X, accept_sparse="csr", dtype=self._numbers, reset=reset,
                             ensure_all_finite=missing)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._can(lib.MARGIN_CAN_MISSING, first=True)
        return tags

    def _rows_and(self, X: Any, y: Any, reset: bool, **checks: Any) -> tuple[Any, Any]:
        if self._is_table(X):
            return super()._rows_and(X, y, reset)
        missing = "allow-nan" if self._can(lib.MARGIN_CAN_MISSING, first=True) else True
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._numbers, reset=reset,
                             ensure_all_finite=missing, **checks)
        return X, y


class SpecClassifier(_OfSpec, Classifier):
    """A spec that tells classes."""

    def _has_probabilities(self) -> bool:
        fitted = vars(self).get("model_")
        return bool(fitted.has_probabilities) if fitted else self._can(lib.MARGIN_CAN_PROBABILITY)

    def decision_function(self, X: Any) -> np.ndarray:
        """Two classes: one number a row, positive for the second; more: one for each class."""
        rows = self._query(X)
        if len(self.classes_) == 2 and self.model_.score_count == 1:
            return self.model_.scores(rows, threads=self._threads())[:, 0]
        scores = self.model_.class_scores(rows, threads=self._threads())
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


class SpecRegressor(_OfSpec, Regressor):
    """A spec that tells numbers."""


class SpecClusters(_OfSpec, Untargeted):
    """A spec without a target."""

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each row; of one class 1 inlier, 0 outlier."""
        rows = self._query(X)
        return self.model_.class_codes(rows, threads=self._threads())


class SpecTransformer(_OfSpec, Transformer):
    """Stages alone."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """As the library calls the columns that the stages make."""
        return np.array([column.name for column in self._fitted().features], dtype=object)


def estimator_of(spec: str, task: str | None = None, *, random_state: Any = None, n_jobs: int | None = None) -> Any:
    """The estimator for a spec; `task` decides where the learner can do more than one thing."""
    parsed = Spec(spec)
    words = {"random_state": random_state, "n_jobs": n_jobs}
    if parsed.learner.kind == lib.MARGIN_STAGE:
        return SpecTransformer(spec, **words)
    options = {text(lib.margin_component_option(parsed.learner, k).name) for k in range(parsed.learner.option_count)}
    able = [name for name, bits in _TASKS.items() if parsed.learner.abilities & bits]
    name = f"{parsed.steps[-1]}__task"
    if "task" in options:
        said = {"one-class": "cluster"}.get(parsed.value(name), parsed.value(name))
        if said == "auto" and task is not None:
            spec = str(parsed.changed(name, "one-class" if task == "cluster" else task))
        task = task if said == "auto" else said
    if task is None and len(able) == 1:
        task = able[0]
    if task not in able:
        asked = "say which: task=" if task is None else f"it cannot {task}, but task="
        raise ValueError(f"{parsed.steps[-1]} can {' and '.join(able)}; {asked}{' or '.join(map(repr, able))}")
    made = {"classify": SpecClassifier, "regress": SpecRegressor, "cluster": SpecClusters}[task]
    return made(spec, **words)
