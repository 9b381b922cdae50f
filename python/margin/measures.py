"""What a model is worth on rows that it was not trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import running
from margin.data import Data
from margin.errors import check, new_error, text
from margin.report import TASKS
from margin.specs import Spec
from margin.splitting import Splits

if TYPE_CHECKING:
    from margin.model import Model

_SHOWN = {"accuracy": "accuracy", "log_loss": "log loss", "auc": "AUC", "rmse": "rmse", "mae": "mae", "r2": "r2",
          "inertia": "inertia"}
_MOST_CLASSES = 20  # whole numbers of so many values at most are taken for classes


@dataclass(frozen=True, repr=False)
class Metrics(Mapping[str, float]):
    """Metrics by name, those that apply: ``metrics["accuracy"]``.

    Attributes
    ----------
    task : str
    rows : int
    intervals : mapping of str to (low, high)
        Bootstrap intervals, if they were asked for.
    confusion : ndarray of shape (classes, classes) or None
        Weight of the rows of each class (a row) by what was predicted (a column).
    """

    task: str
    rows: int
    values_: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    confusion: np.ndarray | None = None

    def __getitem__(self, name: str) -> float:
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def brief(self) -> str:
        """The few that say most, in a line."""
        words = []
        for name, words_of in _SHOWN.items():
            if name in self:
                words.append(f"{words_of} {self[name]:.6g}{self._between(name)}")
        return f"{', '.join(words) or 'no metric'}, on {self.rows} rows"

    def _between(self, name: str) -> str:
        return "" if name not in self.intervals else " ({:.6g} to {:.6g})".format(*self.intervals[name])

    def __str__(self) -> str:
        return "\n".join(f"{name:<18} {self[name]:.6g}{self._between(name)}" for name in self) or self.brief()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{self[name]:.6g}{self._between(name)}</td></tr>" for name in self)
        return f"<table><caption>{self.rows} rows</caption>{rows}</table>"


@dataclass(frozen=True)
class Importance:
    """By how much a metric gets worse where the values of one column are shuffled.

    Attributes
    ----------
    column : str
    mean, deviation : float
        Over the repeats.
    weight_per_deviation : float
        Linear models: the weight times the standard deviation of the column; NaN for others.
    """

    column: str
    mean: float
    deviation: float
    weight_per_deviation: float


def evaluate(model: "Model", data: Data, *, bootstrap: int = 0, level: float = 0.95, seed: int = 0,
             unknown_wrong: bool = False, threads: int | None = None) -> Metrics:
    metrics, error = ffi.new("margin_metrics *"), new_error()
    metrics.size = ffi.sizeof("margin_metrics")
    options = ffi.new("margin_evaluate_options *")
    options.size, options.bootstrap, options.level, options.seed = ffi.sizeof("margin_evaluate_options"), bootstrap, level, seed
    options.unknown_wrong = unknown_wrong
    with running(threads, kernel=model._kernel) as context:
        status = lib.margin_evaluate_with(context, model._handle, data.struct, options, metrics, error)
    check(status, error)
    try:
        return _read(metrics)
    finally:
        lib.margin_metrics_free(metrics)


def all_metrics() -> Iterator[Any]:
    """Each margin_metric of the library."""
    number = 0
    while metric := lib.margin_metric_at(number):
        yield metric
        number += 1


def _read(metrics: Any) -> Metrics:
    values, intervals = {}, {}
    for metric in all_metrics():
        name = text(metric.name)
        value = lib.margin_metrics_value(metrics, metric.name)
        if math.isnan(value):
            continue
        values[name] = value
        ends = ffi.new("double[2]")
        if lib.margin_metrics_interval(metrics, metric.name, ends, ends + 1):
            intervals[name] = (ends[0], ends[1])
    confusion = None
    if metrics.confusion:
        count = metrics.classes
        confusion = np.frombuffer(ffi.buffer(metrics.confusion, 8 * count * count)).reshape(count, count).copy()
    return Metrics(TASKS[metrics.task], metrics.rows, values, intervals, confusion)


def importance(model: "Model", data: Data, *, metric: str | None, repeats: int, seed: int,
               threads: int | None = None) -> list[Importance]:
    options, error = ffi.new("margin_importance_options *"), new_error()
    options.size, options.repeats, options.seed = ffi.sizeof("margin_importance_options"), repeats, seed
    name = ffi.new("char[]", metric.encode()) if metric else None
    if name is not None:
        options.metric = name
    made = ffi.new("margin_importance **")
    with running(threads, kernel=model._kernel) as context:
        status = lib.margin_importance_measure(context, model._handle, data.struct, options, made, error)
    check(status, error)
    owner = ffi.gc(made[0], lib.margin_importance_free)
    found = ffi.new("margin_importance_column *")
    found.size = ffi.sizeof("margin_importance_column")
    columns = []
    for k, column in enumerate(model.columns):
        if lib.margin_importance_of(owner, k, found):
            columns.append(Importance(column.name, found.mean, found.deviation, found.weight_per_deviation))
    return sorted(columns, key=lambda c: -c.mean)


def held_out(spec: str, data: Data, share: float, seed: int | None) -> np.ndarray:
    """Leaves `data` the rows to learn from and returns the others; classes keep their shares."""
    splits = Splits(data, 0, test=share, stratify=of_classes(Spec(spec), data), seed=seed or 0)
    data.select(splits.rows(0, test=False))
    return splits.rows(0)


def of_classes(spec: Spec, data: Data) -> bool:
    """Whether the rows are to be split by class: as the program's --holdout has it."""
    if data.target is None or data.target.values.ndim > 1:
        return False
    able = spec.learner.abilities
    if able & lib.MARGIN_CAN_CLUSTER:
        return False
    if data.target.column is not None or not able & lib.MARGIN_CAN_REGRESSION:
        return True
    if not able & (lib.MARGIN_CAN_TWO_CLASS | lib.MARGIN_CAN_MULTICLASS):
        return False
    seen = np.unique(data.target.values[np.isfinite(data.target.values)])
    return len(seen) <= _MOST_CLASSES and bool((seen == np.floor(seen)).all())
