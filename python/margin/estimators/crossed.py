"""Linear models that choose their penalty by cross-validation, on the library's own search."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from margin.errors import UnsupportedError
from margin.estimators.classifiers import ScoringClassifier
from margin.estimators.linear import LinearAttributes
from margin.estimators.parameters import Facts, text_of
from margin.estimators.regressors import LinearRegressor
from margin.estimators.search import Search
from margin.model import Model
from margin.paths import path_data
from margin.views import is_sparse


class _Crossed:
    """`fit` searches with an estimator of the class `_of`, which has parameters of the same names."""

    _of: str

    def _check(self) -> None:
        """Refuses what a parameter does not take; those of the simple class are checked there again."""
        self._learner(Facts(features=self.n_features_in_))  # type: ignore[attr-defined]

    def _simple(self) -> Any:
        from margin import estimators

        made = getattr(estimators, self._of)()
        shared = set(made.get_params()) & set(self.get_params()) - {"alphas"}  # type: ignore[attr-defined]
        return made.set_params(**{name: getattr(self, name) for name in shared})

    def _search(self, X: Any, y: Any, sample_weight: Any, grid: dict[str, Any], scoring: str | None) -> Search:
        found = Search(self._simple(), grid, scoring=scoring, cv=self.cv, n_jobs=getattr(self, "n_jobs", None))  # type: ignore[attr-defined]
        found.fit(X, y, sample_weight)
        self.model_: Model = found.best_estimator_.model_
        return found


def _positive(name: str, values: Any) -> np.ndarray:
    made = np.atleast_1d(np.asarray(values, np.float64))
    if made.ndim != 1 or not made.size or not (made > 0).all():
        raise ValueError(f"{name} has to be numbers above 0; it is {values!r}")
    if len(set(made.tolist())) < len(made):
        raise ValueError(f"{name} has a number twice, which would be one setting; it is {values!r}")
    return made


class RidgeCrossed(_Crossed, LinearRegressor):
    """cv=None: every row is left out once, in closed form."""

    _of = "Ridge"
    alphas: Any
    cv: Any
    scoring: Any
    fit_intercept: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        rows, known, weights = self._prepare(X, y, sample_weight, True)
        self._check()
        alphas = _positive("alphas", self.alphas)
        self._two_dimensions = known.values.ndim == 2
        if self.cv is not None:
            found = self._search(X, y, sample_weight, {"alpha": alphas.tolist()}, self.scoring)
            self.alpha_, self.best_score_ = found.best_params_["alpha"], found.best_score_
            return self
        if self.scoring not in (None, "neg_mean_squared_error"):
            raise UnsupportedError(f"scoring={self.scoring!r} of RidgeCV is not supported without cv: rows that are "
                                   "left out one at a time are judged by the mean square")
        words = f"intercept={text_of(bool(self.fit_intercept))}"
        spec = f"ridge(alpha={{{','.join(map(text_of, alphas))}}}, {words})"
        points, best = path_data(spec, self._data(rows, known, weights), threads=self._threads())
        self.alpha_ = float(alphas[best])
        self.best_score_ = -points[best].leave_one_out_rmse ** 2
        simple = self._simple().set_params(alpha=self.alpha_).fit(X, y, sample_weight)
        self.model_ = simple.model_
        return self


class LassoCrossed(_Crossed, LinearRegressor):
    """Penalties from the one that leaves nothing down to `eps` of it."""

    _of = "Lasso"
    alphas: Any
    eps: float
    cv: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        rows, known, weights = self._prepare(X, y, sample_weight, True)
        self._check()
        self._two_dimensions = known.values.ndim == 2
        if isinstance(self.alphas, (int, np.integer)):
            self.alphas_ = self._grid(rows, np.ravel(known.values).astype(float), weights)
        else:
            self.alphas_ = np.sort(_positive("alphas", self.alphas))[::-1]
        found = self._search(X, y, sample_weight, {"alpha": self.alphas_.tolist()}, "neg_mean_squared_error")
        self.alpha_ = found.best_params_["alpha"]
        results = found.cv_results_
        self.mse_path_ = -np.stack([results[f"split{k}_test_score"] for k in range(found.n_splits_)], axis=1)
        return self

    def _grid(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        shares = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
        left = y - shares @ y if getattr(self, "fit_intercept", True) else y
        rows = X if is_sparse(X) else np.ascontiguousarray(X)  # the sums of another order end in other digits
        most = float(np.abs(rows.T @ (shares * left)).max())
        return np.geomspace(most, most * self.eps, int(self.alphas)) if most > 0 else np.full(int(self.alphas), 1e-9)


class LogisticCrossed(_Crossed, LinearAttributes, ScoringClassifier):
    """Weights of the loss, and for two classes shares of the absolute weights in the penalty."""

    _of = "LogisticRegression"
    Cs: Any
    l1_ratios: Any
    penalty: str
    cv: Any
    scoring: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._prepare(X, y, sample_weight, True)
        self._check()
        whole = isinstance(self.Cs, (int, np.integer))
        self.Cs_ = np.logspace(-4, 4, int(self.Cs)) if whole else _positive("Cs", self.Cs)
        grid: dict[str, Any] = {"C": self.Cs_.tolist()}
        if self.l1_ratios is not None and not isinstance(self.l1_ratios, str):
            if self.penalty == "l2":
                warnings.warn("l1_ratios parameter is only used when penalty is 'elasticnet'. Got (penalty=l2)", stacklevel=2)
            else:
                grid = {"l1_ratio": [float(r) for r in self.l1_ratios], **grid}
        self.l1_ratios_ = np.array(grid.get("l1_ratio", [0.0]))
        found = self._search(X, y, sample_weight, grid, None if self.scoring == "warn" else self.scoring)
        self.classes_ = found.best_estimator_.classes_
        self.C_ = found.best_params_["C"]
        self.l1_ratio_ = found.best_params_.get("l1_ratio", 0.0)
        results = found.cv_results_
        scores = np.stack([results[f"split{k}_test_score"] for k in range(found.n_splits_)])
        self.scores_ = scores.reshape(found.n_splits_, -1, len(self.Cs_))
        return self
