"""Pictures with matplotlib, in scikit-learn's manner: `Display.from_...(...)` draws and keeps figure and axes.
These are of what a fit or a search knows by itself; `judging` has those of rows.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from margin.model import Model
from margin.searching import Cell, SearchTable
from margin.specs import Spec


def new_axes(ax: Any) -> tuple[Any, Any]:
    """The axes to draw on, and their figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from None
    if ax is None:
        _, ax = plt.subplots()
    return ax, ax.figure


def _model(fitted: Any) -> Model:
    if isinstance(fitted, Model):
        return fitted
    _check(fitted)
    return fitted.model_


def _check(estimator: Any) -> None:
    """NotFittedError, if it is an estimator that is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)


class TraceDisplay:
    """The loss, and how many rows are misclassified, step by step; a line for each class, pair or target.

    Attributes
    ----------
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, steps: Sequence[Any], what: str) -> None:
        self.steps = steps
        self.what = what

    @classmethod
    def from_model(cls, model: Any, *, what: str = "loss", ax: Any = None) -> "TraceDisplay":
        """Of a model that was fitted with ``trace=True``; `what` is "loss" or "errors"."""
        model = _model(model)
        if not model.trace:
            raise ValueError("the model has no trace: margin.fit(..., trace=True) keeps one")
        if what not in ("loss", "errors"):
            raise ValueError(f"what has to be 'loss' or 'errors', not {what!r}")
        return cls(model.trace, what).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "TraceDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        parts = sorted({step.part for step in self.steps})
        for part in parts:
            mine = [(s.step, getattr(s, self.what)) for s in self.steps if s.part == part]
            known = [(step, value) for step, value in mine if value is not None and value == value]
            self.ax_.plot(*zip(*known) if known else ([], []), label=f"part {part + 1}")
        self.ax_.set(xlabel="step", ylabel="misclassified rows" if self.what == "errors" else "loss")
        if len(parts) > 1:
            self.ax_.legend()
        return self


class CoefficientsDisplay:
    """The weights of a linear model by the names of the columns, largest first.

    Attributes
    ----------
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, names: Sequence[str], weights: np.ndarray) -> None:
        self.names = names
        self.weights = weights

    @classmethod
    def from_model(cls, fitted: Any, *, score: int = 0, most: int = 20, ax: Any = None) -> "CoefficientsDisplay":
        """Of a model or fitted estimator: the `most` largest weights of one score (class, pair or target)."""
        model = _model(fitted)
        if model.weights is None:
            raise ValueError(f"{model.spec} has no weights: it is not linear")
        if not 0 <= score < len(model.weights):
            raise ValueError(f"score has to be from 0 to {len(model.weights) - 1}, of which this model has weights; it is {score!r}")
        weights = model.weights[score]
        order = np.argsort(-np.abs(weights), kind="stable")[:most]
        return cls([model.features[j].name for j in order], weights[order]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "CoefficientsDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        places = np.arange(len(self.names))
        self.ax_.barh(places, self.weights)
        self.ax_.set_yticks(places, list(self.names))
        self.ax_.invert_yaxis()
        self.ax_.axvline(0, linewidth=0.8, color="black")
        self.ax_.set(xlabel="weight")
        return self


class SearchDisplay:
    """The validation curve: the metric over one option, on test rows with 95 % intervals, and on training rows if
    they were asked for. The best setting and the simplest within one standard error are marked.

    Attributes
    ----------
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, values: Sequence[float], cells: Sequence[Cell], table: SearchTable, name: str) -> None:
        self.values = values
        self.cells = cells
        self.table = table
        self.name = name

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None) -> "SearchDisplay":
        """Of a fitted Search or a SearchTable whose settings differ in one number."""
        if not isinstance(search, SearchTable):
            _check(search)
        table = search if isinstance(search, SearchTable) else search.table_
        found = [dict((name, value) for name, value, _ in Spec(c.spec).settings()) for c in table.cells]
        varied = [name for name in found[0] if len({str(f.get(name)) for f in found}) > 1]
        if len(varied) != 1 or not all(isinstance(f[varied[0]], (int, float)) for f in found):
            raise ValueError(f"a curve needs settings that differ in one number; these differ in {varied or 'none'}")
        order = np.argsort([f[varied[0]] for f in found], kind="stable")
        return cls([found[k][varied[0]] for k in order], [table.cells[k] for k in order], table, varied[0]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "SearchDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        means = [c.mean for c in self.cells]
        (line,) = self.ax_.plot(self.values, means, marker="o", label="test rows")
        self.ax_.fill_between(self.values, [c.low for c in self.cells], [c.high for c in self.cells], alpha=0.2,
                              color=line.get_color(), linewidth=0)
        if all(c.training is not None for c in self.cells):
            self.ax_.plot(self.values, [float(np.mean(c.training)) for c in self.cells if c.training is not None],
                          marker=".", label="training rows")
        for cell, style, label in ((self.table.best, "-", "best"), (self.table.best_one_se, ":", "simplest within one error")):
            places = [v for v, c in zip(self.values, self.cells) if cell is not None and c.spec == cell.spec]
            if places:
                self.ax_.axvline(places[0], linestyle=style, linewidth=0.8, color="black", label=label)
        if min(self.values) > 0 and max(self.values) / min(self.values) > 20:
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel=self.name.replace("__", "."), ylabel=self.table.metric)
        self.ax_.legend()
        return self
