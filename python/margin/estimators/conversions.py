"""Conversions that take more than one parameter, or more than a word."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from margin.estimators.parameters import Facts, Options, Use, fail, kernel, number, words

_METRICS = {"minkowski": None, "euclidean": 2, "l2": 2, "manhattan": 1, "cityblock": 1, "l1": 1,
            "chebyshev": np.inf, "infinity": np.inf}


def max_iter(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    if value is None or (not isinstance(value, bool) and value == -1):
        return {}
    return number("max_iter", low=1, whole=True)(estimator, name, value, facts)


def metric(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    if callable(value):
        raise fail(estimator, name, value, "a function as a distance cannot be handed to the library")
    return words("p", _METRICS, "there is no such distance")(estimator, name, value, facts)


def search_method(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    """A tree of more than 64 columns would look at every row."""
    tree = "tree" if facts.features <= 64 else None
    table = {"auto": None, "kd_tree": tree, "ball_tree": tree, "brute": "brute"}
    return words("method", table, "there is no such search")(estimator, name, value, facts)


def lasso(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """sum / 2n + alpha |w|_1 is half of the mean loss + 2 alpha |w|_1."""
    return learner, {**options, "lambda": 2 * options["lambda"]}


def elastic_net(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """sum / 2n + a (r |w|_1 + (1 - r) |w|^2 / 2), doubled."""
    alpha, ratio = options["lambda"], options["l1_ratio"]
    _at_most_one(estimator, "l1_ratio", ratio)
    return learner, {**options, "lambda": alpha * (1 + ratio), "l1_ratio": 2 * ratio / (1 + ratio)}


def logistic(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """C sum + r |w|_1 + (1 - r) |w|^2 / 2; softmax, which has no l1_ratio, from three classes on."""
    penalty = options.pop("penalty", "")
    given = options.pop("l1_ratio", None)
    if penalty:
        _look_at(estimator.penalty, options.get("C", 1.0), given)
    ratio: Any = {"l1": 1.0, "l2": 0.0, "none": 0.0}.get(penalty, given or 0.0)
    if penalty == "none":
        options["C"] = np.inf
    _at_most_one(estimator, "l1_ratio", ratio)
    if facts.classes > 2:
        if ratio:
            raise fail("LogisticRegression", "l1_ratio", ratio,
                       "with more than two classes there is only the penalty on the squared weights")
        return "softmax", options
    if ratio:
        options |= {"C": options["C"] / (1 + ratio), "l1_ratio": 2 * ratio / (1 + ratio)}
    return learner, options


def _look_at(penalty: str | None, C: float, ratio: float | None) -> None:
    """Says what a penalty by name leaves without effect, in scikit-learn's words."""
    if penalty == "elasticnet" and ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    if penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warnings.warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})", stacklevel=2)
    if ratio is not None and ratio != {"l2": 0, "l1": 1}.get(str(penalty), ratio):
        warnings.warn(f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. penalty is deprecated. Please use l1_ratio only.",
                      stacklevel=2)
    if penalty is None and C != 1.0:
        warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=2)


def _at_most_one(estimator: Any, name: str, value: float) -> None:
    if value > 1:
        raise ValueError(f"{name} of {type(estimator).__name__} has to be from 0 to 1; it is {value!r}")


def linear_svc(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """All classes at once is the hinge of Crammer and Singer, whatever loss says."""
    if options.get("multiclass") == "argmax":
        options["loss"] = "hinge"
    return learner, options


def kernel_options(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """Only what the kernel has."""
    unused = {
        "linear": ("gamma", "coef0", "degree"),
        **dict.fromkeys(("precomputed", "user"), ("gamma", "coef0", "degree")),
        "rbf": ("coef0", "degree"),
        "laplacian": ("coef0", "degree"),
        "sigmoid": ("degree",),
    }.get(options.get("kernel", ""), ())
    return learner, {name: value for name, value in options.items() if name not in unused}


def svc(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    learner, options = kernel_options(estimator, learner, options, facts)
    return learner, {**options, "multiclass": "ovo"} if facts.classes > 2 else options


def any_kernel(names: dict[str, str]) -> Use:
    """A kernel by name, the Gram matrix, or a function that makes it (the estimator calls it)."""

    def use(estimator: str, name: str, value: Any, facts: Facts) -> Options:
        if callable(value):
            return {"kernel": "precomputed"}
        return kernel({**names, "precomputed": "precomputed"}, ", or a function")(estimator, name, value, facts)

    return use


def first_centres(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    if isinstance(value, str):
        table = {"k-means++": None, "random": "sample"}
        return words("start", table, "there is no such start")(estimator, name, value, facts)
    if callable(value):
        raise fail(estimator, name, value, "call it, and hand over the centres")
    centres = np.asarray(value, np.float64)
    if centres.ndim != 2 or centres.shape[1] != facts.features:
        raise ValueError(
            f"init of {estimator} has the shape {centres.shape}; it needs a row for each cluster and "
            f"{facts.features} columns"
        )
    return {"restarts": 1}  # the numbers go beside the spec


def restarts(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    if isinstance(value, str):
        return words("restarts", {"auto": None}, "it is a number or 'auto'")(estimator, name, value, facts)
    return number("restarts", low=1, whole=True)(estimator, name, value, facts)


def feature_range(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    low, high = value
    if not low < high:
        raise ValueError(f"Minimum of desired feature range must be smaller than maximum. Got {value}.")
    return {"low": low, "high": high}


def imputer(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    if estimator.strategy == "constant":
        fill = 0 if estimator.fill_value is None else estimator.fill_value
        return learner, number("with")("SimpleImputer", "fill_value", fill, facts)
    return learner, options


def degrees(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    for most in value if isinstance(value, tuple) else (value,):
        if not number("degree", low=0, whole=True)(estimator, name, most, facts):
            raise ValueError(f"{name} of {estimator} has to be a whole number, not None")
    low, high = value if isinstance(value, tuple) else (0, value)
    if low > high:
        raise ValueError(f"{name}=(low, high) of {estimator} has to have low <= high; it is {value!r}")
    return {"degree": max(1, int(high))}  # the library has no degree 0


def degree_three(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    return number("degree", low=1, whole=True)(estimator, name, 3 if value is None else value, facts)


def pairs(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    number("features", low=1, whole=True)(estimator, name, value, facts)
    return {"features": value + value % 2}


def width(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    if isinstance(value, str):
        table = {"median": "median", "spacing": "spacing"}
        return words("sigma", table, "it is a number or one of these")(estimator, name, value, facts)
    return number("sigma", low=0, open_low=True)(estimator, name, value, facts)


def fewer_than_rows(estimator: Any, learner: str, options: Options, facts: Facts) -> tuple[str, Options]:
    """A search is asked later how many rows it is about."""
    return learner, {**options, "k": 1}
