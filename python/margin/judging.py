"""Pictures of what a model does with rows: boundary, confusion, ROC, calibration, learning curve.

`Display.from_estimator(fitted, X, y)` takes whatever has `predict` and, as a picture needs it, `predict_proba` or
`decision_function`: models and estimators of margin, and those of scikit-learn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from margin.columns import is_frame
from margin.displays import new_axes
from margin.learning import LearningCurve, learning_curve
from margin.model import Model

# Okabe and Ito (2008): they stay apart for colour-blind readers
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_MOST_CELLS = 60_000  # of a grid that is labelled


def _inner(fitted: Any) -> Any:
    return getattr(fitted, "best_estimator_", fitted)


def _classes(fitted: Any) -> np.ndarray | None:
    return fitted.classes if isinstance(fitted, Model) else getattr(fitted, "classes_", None)


def _has_probabilities(fitted: Any) -> bool:
    return fitted.has_probabilities if isinstance(fitted, Model) else hasattr(fitted, "predict_proba")


def _probabilities(fitted: Any, X: Any) -> np.ndarray:
    if not _has_probabilities(fitted):
        raise ValueError("the model has no probabilities")
    return fitted.probabilities(X) if isinstance(fitted, Model) else fitted.predict_proba(X)


def _class_scores(fitted: Any, X: Any) -> np.ndarray:
    """rows x classes: what ranks rows."""
    if _has_probabilities(fitted):
        return _probabilities(fitted, X)
    if isinstance(fitted, Model):
        scores = fitted.class_scores(X)
        return scores - scores[:, ::-1] if scores.shape[1] == 2 else scores
    scores = np.asarray(fitted.decision_function(X))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _known_classes(fitted: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    classes = _classes(fitted)
    if classes is None:
        raise ValueError("the model tells no classes")
    truth = np.asarray(y)
    unknown = np.setdiff1d(truth, classes)
    if unknown.size:
        raise ValueError(f"y has labels that the model does not know: {unknown.tolist()}")
    return classes, truth


def _weights(sample_weight: Any, rows: int) -> np.ndarray:
    return np.ones(rows) if sample_weight is None else np.asarray(sample_weight, float)


class BoundaryDisplay:
    """What is answered over two columns, others at their means (categories: the most frequent one), and the rows.

    Attributes
    ----------
    xx0, xx1, response : ndarray
        The grid, and the number of the class (or the value) at each of its points.
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, *, xx0: np.ndarray, xx1: np.ndarray, response: np.ndarray, names: tuple[str, str],
                 classes: np.ndarray | None, rows: np.ndarray, truth: np.ndarray | None) -> None:
        self.xx0, self.xx1, self.response = xx0, xx1, response
        self.names = names
        self.classes = classes
        self.rows = rows
        self.truth = truth

    @classmethod
    def from_estimator(cls, fitted: Any, X: Any, y: Any = None, *, columns: tuple[Any, Any] = (0, 1),
                       grid_resolution: int = 150, eps: float = 0.05, ax: Any = None) -> "BoundaryDisplay":
        """Of a classifier, regression or clusters.

        Parameters
        ----------
        fitted : Model or estimator
        X : array-like or DataFrame
            Rows that say how far the picture reaches: `eps` of the range beyond it.
        y : array-like, optional
            Their classes or values: rows are drawn in their colours.
        columns : tuple of two names or numbers
        """
        fitted = _inner(fitted)
        if grid_resolution < 2 or grid_resolution**2 > _MOST_CELLS:
            raise ValueError(f"grid_resolution has to be from 2 to {math.isqrt(_MOST_CELLS)}, not {grid_resolution}")
        table: Any = X if is_frame(X) else np.asarray(X, float)
        places = [_place(table, column) for column in columns]
        if len(places) != 2 or places[0] == places[1]:
            raise ValueError(f"columns has to name two different columns, not {columns!r}")
        shown = np.column_stack([np.asarray(_column(table, place), float) for place in places])
        low, high = shown.min(axis=0), shown.max(axis=0)
        room = eps * np.where(high > low, high - low, 1.0)
        axes = [np.linspace(a, b, grid_resolution) for a, b in zip(low - room, high + room)]
        xx0, xx1 = np.meshgrid(*axes)
        answers = np.asarray(fitted.predict(_at_means(table, dict(zip(places, (xx0.ravel(), xx1.ravel()))))))
        classes = _classes(fitted)
        if answers.ndim > 1:
            raise ValueError("a boundary is of one target")
        if classes is not None:
            answers = np.searchsorted(np.sort(classes), answers)
            classes = np.sort(classes)
        names = tuple(str(table.columns[p]) if is_frame(table) else f"x{p + 1}" for p in places)
        return cls(xx0=xx0, xx1=xx1, response=answers.reshape(xx0.shape), names=(names[0], names[1]), classes=classes,
                   rows=shown, truth=None if y is None else np.asarray(y)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "BoundaryDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        codes = self.response if self.classes is not None or self.response.dtype.kind in "iu" else None
        if codes is None:
            self.surface_ = self.ax_.contourf(self.xx0, self.xx1, self.response, levels=20, alpha=0.8)
            self.figure_.colorbar(self.surface_, ax=self.ax_)
            colours = self.truth
            norm = {"vmin": self.surface_.get_clim()[0], "vmax": self.surface_.get_clim()[1]}
            self.ax_.scatter(*self.rows.T, c=colours, s=15, edgecolors="black", linewidths=0.4,
                             **(norm if colours is not None else {}))
        else:
            self._plot_classes(codes)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        return self

    def _plot_classes(self, codes: np.ndarray) -> None:
        from matplotlib.colors import ListedColormap

        known = np.arange(int(codes.max()) + 1) if self.classes is None else self.classes
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(known))]
        self.surface_ = self.ax_.pcolormesh(self.xx0, self.xx1, codes, cmap=ListedColormap(colours), alpha=0.3,
                                            vmin=-0.5, vmax=len(known) - 0.5, shading="auto")
        if self.truth is None:
            self.ax_.scatter(*self.rows.T, s=15, color="black")
            return
        for label, colour in zip(known, colours):
            mine = self.truth == label
            self.ax_.scatter(*self.rows[mine].T, s=15, color=colour, edgecolors="black", linewidths=0.4, label=str(label))
        self.ax_.legend()


def _place(table: Any, column: Any) -> int:
    """The number of a column."""
    width = table.shape[1]
    if isinstance(column, str):
        names = list(table.columns) if is_frame(table) else []
        if column not in names:
            raise ValueError(f"X has no column {column!r}")
        return names.index(column)
    if not -width <= column < width:
        raise ValueError(f"X has no column {column}: it has {width}")
    return int(column) % width


def _column(table: Any, place: int) -> Any:
    return table.iloc[:, place] if is_frame(table) else table[:, place]


def _at_means(table: Any, given: dict[int, np.ndarray]) -> Any:
    """Rows with these columns, all others at their mean or most frequent category."""
    count = len(next(iter(given.values())))
    if not is_frame(table):
        made = np.tile(np.nanmean(table, axis=0), (count, 1))
        for place, values in given.items():
            made[:, place] = values
        return made
    made = table.iloc[[0] * count].reset_index(drop=True)
    for place, name in enumerate(table.columns):
        column = table.iloc[:, place]
        if place in given:
            made[name] = given[place]
        elif column.dtype.kind in "iuf":
            made[name] = float(column.mean())
        else:
            usual = int(np.flatnonzero(column == column.mode().iloc[0])[0])
            made[name] = column.iloc[[usual] * count].array
    return made


class ConfusionDisplay:
    """How often each true class (a row) was predicted as which (a column).

    Attributes
    ----------
    confusion : ndarray of shape (classes, classes)
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, confusion: np.ndarray, classes: np.ndarray) -> None:
        self.confusion = confusion
        self.classes = classes

    @classmethod
    def from_estimator(cls, fitted: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None) -> "ConfusionDisplay":
        fitted = _inner(fitted)
        classes, truth = _known_classes(fitted, y)
        order = np.sort(classes)
        places = [np.searchsorted(order, labels) for labels in (truth, np.asarray(fitted.predict(X)))]
        counts = np.zeros((len(order), len(order)))
        np.add.at(counts, (places[0], places[1]), _weights(sample_weight, len(truth)))
        return cls(counts, order).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "ConfusionDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        most = self.confusion.max() or 1.0
        self.image_ = self.ax_.imshow(self.confusion, cmap="Blues", vmin=0, vmax=most)
        for (row, column), count in np.ndenumerate(self.confusion):
            self.ax_.text(column, row, f"{count:.6g}", ha="center", va="center",
                          color="white" if count > most / 2 else "black")
        places = np.arange(len(self.classes))
        self.ax_.set_xticks(places, list(map(str, self.classes)))
        self.ax_.set_yticks(places, list(map(str, self.classes)))
        self.ax_.set(xlabel="predicted", ylabel="true")
        return self


def roc_points(truth: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """False- and true-positive rates for every threshold, from (0, 0) to (1, 1), and the area below."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # equal scores have one point
    sums = [np.append(0.0, np.cumsum(weights[order] * side)[ends]) for side in (~truth[order], truth[order])]
    if not all(s[-1] > 0 for s in sums):
        raise ValueError("a ROC curve needs rows that are of the class and rows that are not")
    false, true = (s / s[-1] for s in sums)
    return false, true, float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))


class RocDisplay:
    """True-positive rate over false-positive rate for every threshold. Two classes: of the second; more: each
    against the others.

    Attributes
    ----------
    curves : dict of class to (false-positive rates, true-positive rates, area)
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, curves: dict[Any, tuple[np.ndarray, np.ndarray, float]]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(cls, fitted: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None) -> "RocDisplay":
        fitted = _inner(fitted)
        classes, truth = _known_classes(fitted, y)
        scores, weights = _class_scores(fitted, X), _weights(sample_weight, len(truth))
        shown = [(k, label) for k, label in enumerate(classes) if len(classes) > 2 or k == 1]
        return cls({label: roc_points(truth == label, scores[:, k], weights) for k, label in shown}).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y: Any, scores: Any, *, positive: Any = None, sample_weight: Any = None,
                         ax: Any = None) -> "RocDisplay":
        """Of scores that are greater for the class `positive`, the last one without it."""
        truth = np.asarray(y)
        label = np.unique(truth)[-1] if positive is None else positive
        points = roc_points(truth == label, np.asarray(scores, float), _weights(sample_weight, len(truth)))
        return cls({label: points}).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "RocDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        for place, (label, (false, true, area)) in enumerate(self.curves.items()):
            self.ax_.plot(false, true, color=COLOURS[place % len(COLOURS)], label=f"{label} (area {area:.3f})")
        self.ax_.plot([0, 1], [0, 1], linewidth=0.8, linestyle=":", color="black")
        self.ax_.set(xlabel="false-positive rate", ylabel="true-positive rate", aspect="equal")
        self.ax_.legend(loc="lower right")
        return self


class CalibrationDisplay:
    """How often what was said to have probability p happened, by tenths, with Wilson's 95 % intervals. Two classes:
    of the second; more: of the most probable one.

    Attributes
    ----------
    said, happened, low, high, weight : ndarray
        Of each tenth that has rows: mean probability, share, ends of its interval, weight of the rows.
    error : float
        Calibration error: the mean of |said - happened| over the rows.
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, said: np.ndarray, happened: np.ndarray, weight: np.ndarray) -> None:
        self.said, self.happened, self.weight = said, happened, weight
        self.low, self.high = _wilson(happened, weight)
        self.error = float(np.sum(np.abs(said - happened) * weight) / weight.sum())

    @classmethod
    def from_estimator(cls, fitted: Any, X: Any, y: Any, *, sample_weight: Any = None,
                       ax: Any = None) -> "CalibrationDisplay":
        fitted = _inner(fitted)
        classes, truth = _known_classes(fitted, y)
        probabilities = _probabilities(fitted, X)
        if len(classes) == 2:
            said, happened = probabilities[:, 1], truth == classes[1]
        else:
            said, happened = probabilities.max(axis=1), truth == classes[probabilities.argmax(axis=1)]
        weights = _weights(sample_weight, len(truth))
        tenth = np.minimum((said * 10).astype(int), 9)
        total = np.bincount(tenth, weights, 10)
        there = total > 0
        means = [np.bincount(tenth, weights * values, 10)[there] / total[there] for values in (said, happened)]
        return cls(means[0], means[1], total[there]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "CalibrationDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        self.ax_.plot([0, 1], [0, 1], linewidth=0.8, linestyle=":", color="black")
        reach = np.maximum(0.0, [self.happened - self.low, self.high - self.happened])
        self.ax_.errorbar(self.said, self.happened, yerr=reach, marker="o", color=COLOURS[0], capsize=3,
                          label=f"calibration error {self.error:.3f}")
        self.ax_.set(xlabel="said", ylabel="happened", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        self.ax_.legend(loc="upper left")
        return self


def _wilson(share: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % interval of a share (1927)."""
    z = 1.959963984540054
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return middle - half, middle + half


class LearningDisplay:
    """The learning curve: the metric over the number of training rows, on test rows and on those that were learned
    from, with the deviation over the folds.

    Attributes
    ----------
    curve : LearningCurve
    ax_, figure_ : matplotlib's axes and figure
    """

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    @classmethod
    def from_spec(cls, spec: str, X: Any, y: Any = None, *, ax: Any = None, **words: Any) -> "LearningDisplay":
        """Of a spec; other words go to :func:`margin.learning_curve`."""
        return cls(learning_curve(spec, X, y, **words)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "LearningDisplay":
        self.ax_, self.figure_ = new_axes(ax)
        for place, (values, label) in enumerate(((self.curve.test, "test rows"), (self.curve.training, "training rows"))):
            known = ~np.isnan(values).any(axis=1)
            rows, mean, deviation = self.curve.rows[known], values[known].mean(axis=1), values[known].std(axis=1)
            self.ax_.plot(rows, mean, marker="o", color=COLOURS[place], label=label)
            self.ax_.fill_between(rows, mean - deviation, mean + deviation, alpha=0.2, color=COLOURS[place], linewidth=0)
        self.ax_.set(xlabel="training rows", ylabel=self.curve.metric)
        self.ax_.legend()
        return self
