"""Do more rows help?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from margin._binding import lib
from margin.data import Data
from margin.errors import Error, OutOfMemoryError, text
from margin.fitting import fit_data
from margin.measures import all_metrics, evaluate, of_classes
from margin.specs import Spec
from margin.splitting import Splits

_STEPS = 10


@dataclass(frozen=True)
class LearningCurve:
    """The metric over the number of training rows.

    Attributes
    ----------
    metric : str
    rows : ndarray of shape (10,)
        Training rows, the mean of the folds.
    test, training : ndarray of shape (10, folds)
        On the test rows of the fold, and on those that were learned from; NaN where there is no model.
    """

    metric: str
    rows: np.ndarray
    test: np.ndarray
    training: np.ndarray


def learning_curve(spec: str, X: Any, y: Any = None, *, folds: int = 5, stratify: bool | None = None, groups: Any = None,
                   metric: str | None = None, seed: int = 0, sample_weight: Any = None,
                   threads: int | None = None) -> LearningCurve:
    """Fits to tenths of the training rows of each fold. Where the two curves have met more rows do not help, where
    they are apart they do.

    Parameters
    ----------
    spec : str
        Without sets.
    X, y, sample_weight
        As :func:`margin.fit` takes them.
    folds, groups, seed
        As :func:`margin.search` takes them.
    stratify : bool, optional
        Whether classes keep their shares in each fold; without it they do.
    metric : str, optional
        accuracy (numbers: rmse, clusters: inertia) without it.
    """
    parsed, data = Spec(spec), Data(X, y, sample_weight)
    classes = of_classes(parsed, data)
    metric = metric or ("accuracy" if classes else "inertia" if data.target is None else "rmse")
    if not lib.margin_metric_find(metric.encode()):
        names = [text(m.name) for m in all_metrics()]
        raise ValueError(f"there is no metric {metric!r}; there are {', '.join(names)}")
    splits = Splits(data, folds, stratify=classes if stratify is None else stratify, groups=groups, seed=seed)
    rows, test, training = np.zeros((3, _STEPS, splits.count))
    for fold in range(splits.count):
        data.select(splits.rows(fold, test=False))
        tenths = Splits(data, _STEPS, seed=seed)
        for step in range(_STEPS):
            learned = np.concatenate([tenths.rows(k) for k in range(step + 1)])
            rows[step, fold] = len(learned)
            test[step, fold], training[step, fold] = _step(spec, data, learned, splits.rows(fold), metric, seed, threads)
    return LearningCurve(metric, rows.mean(axis=1), test, training)


def _step(spec: str, data: Data, learned: np.ndarray, others: np.ndarray, metric: str, seed: int,
          threads: int | None) -> tuple[float, float]:
    data.select(learned)
    try:
        model, _ = fit_data(spec, data, seed=seed, threads=threads)
        training = evaluate(model, data, threads=threads)
        data.select(others)
        test = evaluate(model, data, unknown_wrong=True, threads=threads)
    except OutOfMemoryError:
        raise
    except Error:  # so few rows that a class is missing, ...
        return math.nan, math.nan
    return test.get(metric, math.nan), training.get(metric, math.nan)
