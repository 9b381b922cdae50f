"""LogisticRegressionCV: scikit-learn's own fit chooses, with its folds and scores, and margin solves each problem of it."""

from __future__ import annotations

import functools
import sys
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np

from margin.accel.counts import Proof, proof_of
from margin.accel.fits import asked_values, is_sparse, require, usual
from margin.accel.linear import split_ones, with_ones


class _Solving(threading.local):
    """Set while margin solves for a fit of this thread: the reports, and how many classes there are."""

    reports: list[Any] | None = None


_solving = _Solving()
_RATIOS = {"l1": 1.0, "l2": 0.0}


def _codes(y: Any, classes: Any, pos_class: Any) -> tuple[np.ndarray, int]:
    """Labels as numbers from 0, and how many there are; one against the rest where scikit-learn says which one (1.7)."""
    if pos_class is not None:
        return (y == pos_class).astype(np.int64), 2
    known = np.unique(y) if classes is None else classes
    return np.searchsorted(known, y), len(known)


def _class_count(y: Any) -> int:
    try:
        return len(np.unique(np.asarray(y)))
    except (TypeError, ValueError):  # scikit-learn says what is wrong
        return 2


def _weights(y: np.ndarray, codes: np.ndarray, class_weight: Any, sample_weight: Any) -> Any:
    if class_weight is None:
        return sample_weight
    factors = np.ones(codes.max() + 1)
    for code in np.unique(codes):
        factors[code] = class_weight.get(y[np.argmax(codes == code)], 1.0)
    return factors[codes] * (1.0 if sample_weight is None else sample_weight)


def _solve(X: Any, y: Any, *, classes: Any = None, pos_class: Any = None, Cs: Any = 10, fit_intercept: bool = True, tol: float = 1e-4,
           solver: str = "lbfgs", penalty: str = "l2", class_weight: Any = None, intercept_scaling: float = 1.0,
           sample_weight: Any = None, l1_ratio: float | None = None, **ineffective: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `_logistic_regression_path` answers: coefficients and steps for each C, begun at those of the one before."""
    from margin.estimators import LogisticRegression

    codes, count = _codes(y, classes, pos_class)
    require(len(np.unique(codes)) == count, "the rows of a fold lack a class")
    require(not isinstance(class_weight, str), "class_weight='balanced' is of each fold")
    weights = _weights(y, codes, class_weight, sample_weight)
    ratio = _RATIOS.get(penalty, l1_ratio)
    ours: Any = LogisticRegression(fit_intercept=fit_intercept, l1_ratio=ratio, tol=min(1e-9, max(1e-14, tol**2)), max_iter=None,
                                   warm_start=True)
    ours._warns = lambda report: False
    liblinear = SimpleNamespace(fit_intercept=fit_intercept, intercept_scaling=intercept_scaling)
    rows = with_ones(liblinear, ours, X) if solver == "liblinear" else X
    rows, known, weights = ours._prepare(rows, codes, weights, True)
    facts = ours._facts(rows, known, weights, None)
    grid, found, steps = np.logspace(-4, 4, Cs) if isinstance(Cs, int) else np.asarray(Cs), [], []
    for C in grid:
        ours.C = C
        ours._train(rows, known, weights, facts)
        require(ours.report_.converged, "the gap that was asked is not reached")
        made = split_ones(liblinear, ours.coef_) if solver == "liblinear" else {"coef_": ours.coef_, "intercept_": np.array(ours.intercept_)}
        ends = made["intercept_"]
        if count > 2:
            ends = ends - ends.mean()  # softmax is the same for any constant
        path = np.column_stack([made["coef_"], ends]) if fit_intercept else np.array(made["coef_"])
        found.append(path[0] if count == 2 else path)
        steps.append(ours.n_iter_)
    assert _solving.reports is not None
    _solving.reports.append((ours.report_, ratio))
    return np.stack(found), grid, np.array(steps, np.int32)


def _accuracy(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (values > 0 if values.ndim == 1 else np.argmax(values, axis=1)) == right


def _neg_log_loss(values: np.ndarray, right: np.ndarray) -> np.ndarray:
    if values.ndim == 1:
        losses = np.logaddexp(0, np.where(right > 0, -values, values))
    else:
        above = values - values.max(axis=1, keepdims=True)
        losses = np.log(np.exp(above).sum(axis=1)) - above[np.arange(len(right)), right]
    least = np.finfo(np.float64).eps  # a probability is cut at both ends there
    return -np.clip(losses, -np.log1p(-least), -np.log(least))


_MEASURES = {None: _accuracy, "accuracy": _accuracy, "neg_log_loss": _neg_log_loss}


def _scored(X: Any, y: Any, train: Any, test: Any, *, fit_intercept: bool, classes: Any = None, pos_class: Any = None, scoring: Any = None,
            sample_weight: Any = None, score_params: Any = None, **words: Any) -> Any:
    """What `_log_reg_scoring_path` answers, for the usual scores: its scorers take longer than the fits of small data."""
    from sklearn.utils.validation import _check_sample_weight

    weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
    coefs, grid, steps = _solve(X[train], y[train], classes=classes, pos_class=pos_class, fit_intercept=fit_intercept,
                                sample_weight=None if weights is None else weights[train], **words)
    asked, codes = X[test], _codes(y if classes is None else y[test], classes, pos_class)[0]
    right = codes if classes is not None else codes[test]
    counted = weights if scoring is None else (score_params or {}).get("sample_weight")
    counted = None if counted is None else np.asarray(counted)[test]
    scores = []
    for path in coefs:
        values = asked @ path[..., :-1].T + path[..., -1] if fit_intercept else asked @ path.T
        scores.append(float(np.average(_MEASURES[scoring](values, right), weights=counted)))
    return coefs, grid, np.array(scores), steps


def _measures(scoring: Any, score_params: Any = None, **words: Any) -> bool:
    return scoring is None or isinstance(scoring, str) and scoring in _MEASURES and set(score_params or {}) <= {"sample_weight"}


def _where_solving(ours: Callable[..., Any], suits: Callable[..., bool]) -> Callable[..., Any]:
    """From a function of scikit-learn to the one that stands in its place."""
    def made(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def called(*given: Any, **named: Any) -> Any:
            return (ours if _solving.reports is not None and suits(**named) else original)(*given, **named)

        return called

    return made


@dataclass(frozen=True)
class Crossed:
    """The fit of a class that chooses its penalty: scikit-learn's own, on top of these functions of its module."""

    module: str
    most: int  # beyond it the folds' fits outweigh the counting, and scikit-learn stops its own early (docs/accel.md)
    max_iter: int

    methods = counted = ("fit",)
    functions = {"_logistic_regression_path": _where_solving(_solve, lambda **words: True),
                 "_log_reg_scoring_path": _where_solving(_scored, _measures)}

    def answers(self, method: str, theirs: Any) -> bool:
        return method == "fit" and _solving.reports is None

    def gains(self, method: str, theirs: Any, X: Any, y: Any) -> bool:
        shape = getattr(X, "shape", (0, 0))
        if is_sparse(X) or not 0 < shape[0] <= self.most:
            return False
        return (asked_values(X) + 10 * shape[0]) * (_class_count(y) - 1) <= self.most

    def run(self, name: str, method: str, theirs: Any, X: Any, y: Any, *given: Any, **named: Any) -> tuple[Any, Proof | None]:
        usual(theirs, X, self.max_iter)
        require(getattr(theirs, "multi_class", "auto") in ("auto", "deprecated", "multinomial"), "multi_class is given")
        require(theirs.solver != "liblinear" or _class_count(y) == 2, "liblinear fits each class against the rest")
        jobs, theirs.n_jobs = theirs.n_jobs, 1  # the library has threads of its own
        _solving.reports = []
        try:
            getattr(sys.modules[self.module], name).fit(theirs, X, y, *given, **named)
            report, ratio = _solving.reports[-1]
        finally:
            _solving.reports, theirs.n_jobs = None, jobs
        if not theirs.refit or not np.isfinite(report.gap):
            return theirs, None
        rounding = float(np.finfo(np.float64).eps * np.linalg.norm(theirs.coef_))
        penalised = np.isfinite(np.max(theirs.C_))
        return theirs, proof_of(report, (1 - ratio) / (1 + ratio) if penalised else 0.0, rounding)


CROSSED = {"LogisticRegressionCV": Crossed("sklearn.linear_model._logistic", 200_000, 100)}
