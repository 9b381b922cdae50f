"""Which settings predict best the rows that they were not fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Sequence

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import context, running
from margin.data import Data
from margin.errors import check, new_error, text
from margin.progress import Asked
from margin.report import TASKS
from margin.specs import Spec
from margin.splitting import Splits
from margin.views import address

METHODS = {"grid": lib.MARGIN_SEARCH_GRID, "random": lib.MARGIN_SEARCH_RANDOM, "halving": lib.MARGIN_SEARCH_HALVING}


@dataclass(frozen=True)
class Cell:
    """One setting: a spec without sets, and what it is worth.

    Attributes
    ----------
    spec : str
        What :func:`margin.fit` takes.
    owner : int
        The spec that it is a setting of, from 0.
    status : int
        0; above 0: a fit stopped early; below 0: one failed. `reason` says why.
    mean, deviation, low, high : float
        Of `values`, the metric on the test rows of each split. NaN: it failed. The ends are those of a 95 %
        interval that allows for training rows in common (Nadeau and Bengio 2003).
    training : ndarray or None
        The metric on the rows that were learned from, if asked for.
    gap : float
        The largest of its fits.
    dropped : int
        halving: the round after which it was given up; 0: never.
    predictions : ndarray or None
        For each repeat and row the answer by the fit that did not see it, if asked for; of several
        targets repeats x rows x targets.
    """

    spec: str
    owner: int
    status: int
    reason: str
    rows: int
    mean: float
    deviation: float
    values: np.ndarray
    training: np.ndarray | None
    gap: float
    fit_seconds: float
    predict_seconds: float
    dropped: int
    predictions: np.ndarray | None
    low: float
    high: float

    @property
    def counts(self) -> bool:
        """Whether it may be the best: no fit failed, stopped early or was given up, and the metric is finite."""
        return self.status == 0 and not self.dropped and math.isfinite(self.mean)


@dataclass(frozen=True, repr=False)
class SearchTable:
    """All settings under the same splits.

    Attributes
    ----------
    cells : tuple of Cell
    best, best_one_se : Cell or None
        The best mean; the simplest setting within one standard error of it.
    metric : str
    greater : bool
        Whether a greater value of it is better.
    baseline : ndarray or None
        The metric of the answer that looks at no column, for each split.
    set_end : str or None
        The options ("C, gamma") whose best value is at the end of its set: a wider set may hold a better one.
    """

    cells: tuple[Cell, ...]
    best: Cell | None
    best_one_se: Cell | None
    metric: str
    greater: bool
    splits: int
    rows: int
    task: str
    baseline: np.ndarray | None
    test_share: float
    set_end: str | None
    seconds: float
    threads: int
    _result: Any = field(repr=False, compare=False)

    def __reduce__(self) -> Any:
        return SearchTable, tuple({**vars(self), "_result": None}.values())

    def interval(self, values: np.ndarray, against: np.ndarray | None = None, level: float = 0.95) -> tuple[float, float, float]:
        """Mean of values (or differences), and the ends of an interval that allows for training rows in common
        (Nadeau and Bengio 2003); NaN where there are fewer than two. A copy from a pickle has none to compute."""
        if self._result is None:
            raise ValueError("this table came from a pickle; the `low` and `high` of its cells are there")
        return self._interval(self._result, self.task, self.metric, values, against, level)

    @staticmethod
    def _interval(result: Any, task: str, metric: str, values: np.ndarray, against: np.ndarray | None = None,
                  level: float = 0.95) -> tuple[float, float, float]:
        found = ffi.new("margin_search_difference *")
        found.size = ffi.sizeof("margin_search_difference")
        a = np.ascontiguousarray(values, float)
        b = None if against is None else np.ascontiguousarray(against, float)
        for given in (a, b):
            if given is not None and given.shape != (result.splits,):
                raise ValueError(f"values have to be one for each of {result.splits} splits, not of shape {given.shape}")
        pointers = [ffi.NULL if v is None else ffi.cast("double *", address(v)) for v in (a, b)]
        if not lib.margin_search_interval(result, *pointers, level, found):
            return math.nan, math.nan, math.nan
        ends = found.low, found.high
        if against is None and task == "classify":  # no metric of classes is below 0, most are at most 1
            ends = max(0.0, ends[0]), ends[1] if metric in ("log_loss", "brier") else min(1.0, ends[1])
        return found.mean, *ends

    def ranked(self) -> list[Cell]:
        """Best first; those that failed or stopped last."""
        sign = -1 if self.greater else 1
        return sorted(self.cells, key=lambda c: (not c.counts, sign * c.mean if c.counts else 0.0))

    def lines(self) -> list[tuple[str, str, str]]:
        lines = []
        for cell in self.ranked():
            mean = f"{cell.mean:.5g}" if not math.isnan(cell.mean) else "-"
            lines.append((mean, "" if math.isnan(cell.low) or not cell.counts else f"{cell.low:.4g} .. {cell.high:.4g}",
                          cell.spec if cell.counts else f"{cell.spec}: {cell.reason}"))
        if self.baseline is not None:
            lines.append((f"{self.baseline.mean():.5g}", "", "baseline: the answer that looks at no column"))
        return lines

    def __str__(self) -> str:
        head = (self.metric, "95 % interval", "setting")
        return "\n".join(f"{mean:>12}  {ends:<20}  {spec}" for mean, ends, spec in (head, *self.lines()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{escape(w)}</td>" for w in line) + "</tr>" for line in self.lines())
        return f"<table><tr><th>{escape(self.metric)}</th><th>95 % interval</th><th>setting</th></tr>{rows}</table>"


def _numbers(pointer: Any, count: int) -> np.ndarray | None:
    return np.frombuffer(ffi.buffer(pointer, 8 * count)).copy() if pointer else None


def _cell(result: Any, cell: Any, predictions: tuple[int, ...]) -> Cell:
    splits = result.splits
    found = _numbers(cell.values, splits)
    values = np.full(splits, np.nan) if found is None else found
    _, low, high = SearchTable._interval(result, TASKS[result.task], text(result.metric), values)
    kept = _numbers(cell.predictions, math.prod(predictions))
    return Cell(
        text(cell.spec), cell.owner, cell.status, text(cell.reason), cell.rows, cell.mean, cell.deviation,
        values, _numbers(cell.training, splits), cell.gap,
        cell.fit_seconds, cell.predict_seconds, cell.dropped, None if kept is None else kept.reshape(predictions),
        low, high,
    )


def _table(result: Any, predictions: tuple[int, ...]) -> SearchTable:
    r = ffi.gc(result, lib.margin_search_result_free)
    cells = tuple(_cell(r, lib.margin_search_cell_at(r, k), predictions) for k in range(r.count))
    return SearchTable(
        cells=cells,
        best=cells[r.best] if r.best >= 0 else None,
        best_one_se=cells[r.best_one_se] if r.best_one_se >= 0 else None,
        metric=text(r.metric), greater=bool(r.greater), splits=r.splits, rows=r.rows, task=TASKS[r.task],
        baseline=_numbers(r.baseline, r.splits), test_share=r.test_share,
        set_end=text(r.set_end) if r.set_end else None, seconds=r.seconds, threads=r.threads, _result=r,
    )


def search_data(specs: Sequence[Spec], data: Data, splits: Splits, *, metric: str | None = None, method: str = "grid",
                count: int = 0, training: bool = False, baseline: bool = False, predictions: bool = False,
                cell_seconds: float | None = None, most_cells: int = 0, seed: int = 0, threads: int | None = None,
                memory: int | str | None = None, progress: Asked = None) -> SearchTable:
    """Parsed specs on data that the library sees already."""
    if method not in METHODS:
        raise ValueError(f"method has to be one of {', '.join(map(repr, METHODS))}, not {method!r}")
    options = ffi.new("margin_search_options *")
    options.size = ffi.sizeof("margin_search_options")
    options.method, options.count, options.most_cells = METHODS[method], count, most_cells
    options.training, options.baseline, options.predictions = training, baseline, predictions
    options.cell_seconds = cell_seconds or 0.0
    name = ffi.new("char[]", metric.encode()) if metric else None
    if name is not None:
        options.metric = name
    given = ffi.new("const margin_spec *[]", [spec._handle for spec in specs])
    result, error = ffi.new("margin_search_result **"), new_error()
    with running(threads, seed, memory=memory, progress=progress) as context_:
        status = lib.margin_search_specs(
            context_, given, len(specs), data.struct, splits._handle, options, result, error
        )
    check(status, error)
    targets = int(data.struct.targets)
    shape = (splits.count // splits.folds, data.x.rows)
    return _table(result[0], shape if targets <= 1 else (*shape, targets))


def search(specs: str | Sequence[str], X: Any, y: Any = None, *, folds: int = 5, repeats: int = 1, stratify: bool = False,
           groups: Any = None, metric: str | None = None, method: str = "grid", count: int = 10, seed: int = 0,
           training: bool = False, baseline: bool = False, predictions: bool = False,
           cell_seconds: float | None = None, sample_weight: Any = None, threads: int | None = None,
           memory: int | str | None = None, progress: Asked = None) -> SearchTable:
    """Tries all settings that the sets in specs stand for, such as ``"standardize | svm(C={0.1,1,10})"``, stages
    included, on the same folds. Work that settings share (Gram matrices, paths of penalties) is done once.

    Parameters
    ----------
    specs : str or list of str
    X, y, sample_weight
        As :func:`margin.fit` takes them.
    folds, repeats, stratify, groups, seed
        How rows are split: `folds=-1` leaves out one at a time; rows of equal group stay together. What is drawn,
        settings and starts of fits included, derives from `seed`.
    metric : str, optional
        accuracy (numbers: rmse) without it; docs/judging.md lists them.
    method : {'grid', 'random', 'halving'}
        Every setting, `count` of them, or all on few rows and the better third on more.
    training, baseline, predictions : bool
        Also the metric on the training rows, of the answer that looks at no column, and each row's answer.
    cell_seconds : float, optional
        What the fits of one setting may take together.
    threads, memory, progress
        As :func:`margin.fit` takes them.

    Returns
    -------
    SearchTable
    """
    data = Data(X, y, sample_weight)
    splits = Splits(data, folds, repeats=repeats, stratify=stratify, groups=groups, seed=seed)
    return search_data(
        [Spec(spec) for spec in ([specs] if isinstance(specs, str) else specs)], data, splits, metric=metric,
        method=method, count=count if method == "random" else 0, training=training, baseline=baseline,
        predictions=predictions, cell_seconds=cell_seconds, seed=seed, threads=threads,
        memory=memory, progress=progress,
    )


def usual_specs(X: Any, y: Any) -> list[str]:
    """Specs with sets that are worth trying on such data, from the cheapest to the dearest."""
    return [str(spec) for spec in _usual(Data(X, y))]


def _usual(data: Data) -> list[Spec]:
    made, count, error = ffi.new("margin_spec *[]", 16), ffi.new("int64_t *"), new_error()
    check(lib.margin_usual_specs(context(), data.struct, len(made), made, count, error), error)
    return [Spec(made[k]) for k in range(count[0])]


def compare(X: Any, y: Any, specs: Sequence[str] | None = None, *, folds: int = 5, repeats: int = 1,
            stratify: bool = False, groups: Any = None, metric: str | None = None, seed: int = 0,
            cell_seconds: float | None = None, sample_weight: Any = None, threads: int | None = None,
            memory: int | str | None = None, progress: Asked = None) -> SearchTable:
    """Learners under the same folds, each at the best of its settings, and a baseline that looks at no column.

    Parameters
    ----------
    specs : list of str, optional
        Without it those that are usual for such data: :func:`margin.usual_specs`.

    Returns
    -------
    SearchTable
        Its `cells` are the best of each spec, best first; `table.best.spec` is what to give to :func:`margin.fit`.
    """
    data = Data(X, y, sample_weight)
    parsed = _usual(data) if specs is None else [Spec(spec) for spec in specs]
    splits = Splits(data, folds, repeats=repeats, stratify=stratify, groups=groups, seed=seed)
    table = search_data(parsed, data, splits, metric=metric, baseline=True, cell_seconds=cell_seconds, seed=seed,
                        threads=threads, memory=memory, progress=progress)
    ranked = table.ranked()
    owners: dict[int, Cell] = {}
    for cell in ranked:
        owners.setdefault(cell.owner, cell)
    return SearchTable(**{**vars(table), "cells": tuple(owners.values())})
