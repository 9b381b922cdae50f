"""Targets: classes of any kind, and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from margin.columns import Column, is_frame
from margin.errors import Cause, DataError, Status
from margin.views import floats


@dataclass(frozen=True)
class Target:
    """A target as the library takes it, and how its classes are called in Python."""

    values: np.ndarray  # numbers, or codes of `column`; two dimensions: several targets
    column: Column | None = None
    names: dict[str, Any] | None = None  # class name -> the label it came from
    dtype: np.dtype | None = None  # of the labels
    declared: np.ndarray | None = None  # classes that are known beforehand, like values


def target(y: Any, name: str = "y", classes: Any = None) -> Target:
    """Numbers stay numbers (whether they are classes is the learner's to say); texts, booleans and other
    objects become categories. `classes` are known beforehand, whether rows have them or not."""
    if classes is not None:
        return _declared(np.asarray(y), np.asarray(classes), name)
    if is_frame(y):
        y = y.to_numpy()
    name = str(getattr(y, "name", None) or name)
    if hasattr(y, "cat") and hasattr(y.dtype, "categories"):
        y = np.asarray(y.astype(object)) if y.dtype.categories.dtype.kind in "OUT" else np.asarray(y)
    if np.ma.is_masked(y):
        raise _no_label(int(np.argmax(np.ma.getmaskarray(y))))
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise ValueError(f"y has to have one dimension, or two for several targets; it has {array.ndim}")
    kind = array.dtype.kind
    if kind == "f":
        return Target(floats(array, "y"), dtype=array.dtype)
    if kind in "iu":
        if kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
            raise ValueError("labels of y above 2^63 - 1 are not supported; make them texts")
        same = array.dtype in (np.int32, np.int64) and array.dtype.isnative
        return Target(array if same else array.astype(np.int64), dtype=array.dtype)
    if array.ndim == 2 or kind not in "bOUST":
        if kind == "c":
            raise ValueError("Complex data not supported: y has to be real numbers or labels")
        advice = ": give days or seconds" if kind in "Mm" else ""
        raise ValueError(f"y of type {array.dtype} is neither numbers nor one column of labels{advice}")
    numbers = _number_type(array) if kind == "O" and array.size else None
    if numbers:
        return target(array.astype(numbers))
    return _categories(array, name)


def _declared(y: np.ndarray, classes: np.ndarray, name: str) -> Target:
    if y.ndim != 1 or classes.ndim != 1:
        raise ValueError("classes and their labels y have to have one dimension")
    if y.dtype != classes.dtype and {y.dtype.kind, classes.dtype.kind} - set("iuf"):
        y, classes = y.astype(object), classes.astype(object)
    if y.dtype.kind in "iu" and classes.dtype.kind in "iu":  # together they would become floats
        y, classes = (target(labels, name).values.astype(np.int64) for labels in (y, classes))
    both = target(np.concatenate([y, classes]), name)
    return replace(both, values=both.values[: len(y)], declared=both.values[len(y) :])


def _number_type(labels: np.ndarray) -> type | None:
    """The type that holds each of these objects as the number it is; None: they are labels of another kind."""
    whole = (int, np.integer)
    if not all(isinstance(v, (*whole, float, np.floating)) and not isinstance(v, bool) for v in labels):
        return None
    if all(isinstance(v, whole) for v in labels):
        return np.int64 if all(-(2**63) <= v < 2**63 for v in labels) else None
    try:
        return np.float64 if all(v != v or float(v) == v for v in labels) else None
    except OverflowError:
        return None


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas' NA
        return True


def _no_label(row: int) -> DataError:
    error = DataError(f"row {row} (from 0) has no label in y: leave such rows out")
    error.status, error.cause, error.row = Status.DATA, Cause.MISSING_VALUE, row
    return error


def _categories(array: np.ndarray, name: str) -> Target:
    try:
        labels, codes = np.unique(array, return_inverse=True)
    except TypeError:
        missing = next((row for row, label in enumerate(array) if _is_missing(label)), None)
        if missing is not None:
            raise _no_label(missing) from None
        kinds = sorted({type(v).__name__ for v in array.ravel()})
        raise ValueError(
            f"y mixes labels that cannot be put in order ({', '.join(kinds)}); make them of one kind"
        ) from None
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        raise ValueError("y has different labels that are written the same; make them of one kind")
    return Target(
        codes.astype(np.int64),
        Column(name, tuple(names)),
        dict(zip(names, labels.tolist() if array.dtype.kind != "O" else labels)),
        array.dtype,
    )
