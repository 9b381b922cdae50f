"""Nearest rows: `fit` is scikit-learn's own, and margin's index of the same rows answers what is asked of it."""

from __future__ import annotations

import copy
import threading
import weakref
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from margin.accel.counts import Proof
from margin.accel.fits import is_sparse, require
from margin.neighbors import Neighbors, lists

_POWERS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf, "infinity": np.inf}


@dataclass
class _Known:
    """What is known of a fitted estimator."""

    asked: int = 0  # queries so far
    power: float = 0.0
    made: Neighbors | None = None


_known: "weakref.WeakKeyDictionary[Any, _Known]" = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def _known_of(theirs: Any) -> _Known:
    with _lock:
        return _known.setdefault(theirs, _Known())


def _index(theirs: Any) -> Neighbors:
    points, metric, words = theirs._fit_X, theirs.effective_metric_, theirs.effective_metric_params_
    require(type(points) is np.ndarray, "it was fitted to a sparse X or to a tree")
    require(metric in _POWERS or metric == "minkowski", "the metric is none of Minkowski's")
    require(metric == "minkowski" or not words, "metric_params are given")
    power = _POWERS[metric] if metric in _POWERS else float(words["p"])
    require(power >= 1 and words.get("w") is None, "the metric has weights, or p below 1")
    known = _known_of(theirs)
    with _lock:
        if known.made is None or known.power != power:
            known.power, known.made = power, Neighbors(points, power)
        return known.made


def _rows(theirs: Any, X: Any) -> np.ndarray:
    from margin.estimators.compat import validate_data

    if X is None:
        return theirs._fit_X
    rows = validate_data(theirs, X, accept_sparse="csr", reset=False, order="C")
    require(not is_sparse(rows), "X is sparse")
    return rows


def _threads() -> int | None:
    from margin.estimators.base import threads_of  # when it is first asked for: a program may set OMP_NUM_THREADS before

    return threads_of(None)


def _kneighbors(theirs: Any, X: Any = None, n_neighbors: Any = None, return_distance: bool = True) -> Any:
    found, k = _index(theirs), theirs.n_neighbors if n_neighbors is None else n_neighbors
    require(isinstance(k, (int, np.integer)) and 0 < k <= found.rows - (X is None), "n_neighbors is no number of rows")
    distances, rows = found.nearest(_rows(theirs, X), int(k) + (X is None), threads=_threads())
    if X is None:
        own = rows == np.arange(len(rows))[:, np.newaxis]
        own[~own.any(axis=1), 0] = True  # so many rows are equal that its own is not among them
        distances, rows = (a[~own].reshape(len(rows), int(k)) for a in (distances, rows))
    return (distances, rows) if return_distance else rows


def _radius_neighbors(theirs: Any, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False) -> Any:
    reach = theirs.radius if radius is None else radius
    require(np.ndim(reach) == 0, "each row has a radius of its own")
    require(return_distance or not sort_results, "there is nothing to sort by")
    starts, distances, rows = _index(theirs).within(_rows(theirs, X), float(reach), threads=_threads())
    if X is None:
        other = rows != np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        starts = np.concatenate([[0], np.cumsum(other)])[starts]
        distances, rows = distances[other], rows[other]
    return (lists(starts, distances), lists(starts, rows)) if return_distance else lists(starts, rows)


def _predict_proba(theirs: Any, X: Any) -> Any:
    """scikit-learn's votes of the neighbours, which brute force would count without asking for them."""
    _index(theirs)
    through = copy.copy(theirs)
    through._fit_method = "kd_tree"
    _known[through] = _known_of(theirs)
    return through.predict_proba(X)


def _predict(theirs: Any, X: Any) -> Any:
    """The label of the most votes, the first of equal ones, as brute force has it."""
    votes = theirs.predict_proba(X)
    if theirs.outputs_2d_:
        return np.stack([labels[np.argmax(each, axis=1)] for labels, each in zip(theirs.classes_, votes)], axis=1)
    return theirs.classes_[np.argmax(votes, axis=1)]


_ASKED: dict[str, Callable[..., Any]] = {
    "kneighbors": _kneighbors, "radius_neighbors": _radius_neighbors, "predict_proba": _predict_proba, "predict": _predict}


@dataclass(frozen=True)
class Queries:
    """What is asked of a fitted class.

    module : where scikit-learn defines it
    methods : those that margin answers, and fit, which is scikit-learn's own
    """

    module: str
    methods: tuple[str, ...] = ("fit", "kneighbors", "radius_neighbors")

    counted = ("kneighbors", "radius_neighbors")

    def answers(self, method: str, theirs: Any) -> bool:
        """Votes, too, where scikit-learn would not ask for neighbours, or would count them slowly."""
        if method == "fit":  # is scikit-learn's, and of other rows
            _known.pop(theirs, None)
            return False
        if method in self.counted:
            return method in self.methods
        return method in self.methods and theirs.weights == "uniform" and (
            method == "predict" or getattr(theirs, "_fit_method", "") == "brute")

    def gains(self, method: str, theirs: Any, X: Any, y: Any) -> bool:
        """Whether the index is there, or all that was asked so far is worth making it."""
        points = getattr(theirs, "_fit_X", None)
        if type(points) is not np.ndarray:
            return False
        known, queries = _known_of(theirs), len(points) if X is None else np.shape(X)[0]
        if method in self.counted:
            known.asked += queries
        if known.made is not None:
            return True
        tree = theirs._fit_method != "brute"
        return max(known.asked, queries) >= (len(points) // 16 if tree else 300) and queries * len(points) >= 10_000

    def run(self, name: str, method: str, theirs: Any, *given: Any, **named: Any) -> tuple[Any, Proof | None]:
        return _ASKED[method](theirs, *given, **named), None


_PLACE = "sklearn.neighbors._"

QUERIES = {
    "KNeighborsClassifier": Queries(_PLACE + "classification", ("fit", "kneighbors", "predict_proba", "predict")),
    "KNeighborsRegressor": Queries(_PLACE + "regression", ("fit", "kneighbors",)),
    "RadiusNeighborsClassifier": Queries(_PLACE + "classification", ("fit", "radius_neighbors",)),
    "RadiusNeighborsRegressor": Queries(_PLACE + "regression", ("fit", "radius_neighbors",)),
    "NearestNeighbors": Queries(_PLACE + "unsupervised"),
}
