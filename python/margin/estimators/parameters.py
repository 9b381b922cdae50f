"""How a parameter of a scikit-learn class becomes options of a spec.

A `Use` takes the estimator's name, the parameter's name, its value and the facts of the data, and
returns options of the learner. Values that have no counterpart raise UnsupportedError with a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Callable, Mapping

import numpy as np

from margin.errors import UnsupportedError

Options = dict[str, Any]
_PLAIN = re.compile(r"[\w.+-]+")  # words that need no quotes in a spec


@dataclass(frozen=True)
class Facts:
    """What a conversion may need to know of the data."""

    features: int
    classes: int = 0
    variance: float | None = None  # of all values of X, where it is not that of the weighted rows


Use = Callable[[str, str, Any, Facts], Options]


@dataclass(frozen=True)
class Parameter:
    """One parameter: scikit-learn's name, our default, what values it takes, what it means."""

    name: str
    default: Any
    type: str
    help: str
    use: Use
    hint: str = "Any"  # its type in Python


@dataclass(frozen=True)
class Recipe:
    """One class. `finish` may change the learner and the options once all parameters are converted."""

    name: str
    module: str  # which made_*.py
    base: str
    learner: str
    summary: str
    parameters: tuple[Parameter, ...]
    fixed: tuple[tuple[str, str], ...] = ()  # options that are always given
    finish: Callable[[Any, str, Options, Facts], tuple[str, Options]] | None = None


def fail(estimator: str, name: str, value: Any, why: str) -> UnsupportedError:
    return UnsupportedError(f"{name}={value!r} of {estimator} is not supported: {why}")


def text_of(value: Any) -> str:
    """A value as a spec writes it. Plain types are asked for first: the abstract ones take longer than a small fit's
    arithmetic."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, Integral)):
        return str(int(value))
    if isinstance(value, (float, Real)):
        return "inf" if value == np.inf else repr(float(value))
    return str(value)


def number(option: str, *, low: float = -np.inf, open_low: bool = False, whole: bool = False, high: float = np.inf) -> Use:
    """A number, which None leaves at the learner's default. Above `high` it is not supported."""

    def use(estimator: str, name: str, value: Any, facts: Facts) -> Options:
        if value is None:
            return {}
        kinds = (int, Integral) if whole else (float, int, Real)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
            if not (whole and isinstance(value, Real) and float(value).is_integer()):
                wanted = "a whole number" if whole else "a number"
                if np.ndim(value):
                    raise fail(estimator, name, value, f"it is {wanted}, the same for all columns and targets")
                raise ValueError(f"{name} of {estimator} has to be {wanted}, not {value!r}")
        if value != value or value < low or (open_low and value == low):
            bound = "above" if open_low else "at least"
            raise ValueError(f"{name} of {estimator} has to be {bound} {low:g}; it is {value!r}")
        if value > high:
            raise fail(estimator, name, value, f"it is at most {high:g}")
        return {option: value}

    return use


def switch(option: str) -> Use:
    def use(estimator: str, name: str, value: Any, facts: Facts) -> Options:
        if not isinstance(value, (bool, np.bool_, Integral)):
            raise ValueError(f"{name} of {estimator} has to be True or False, not {value!r}")
        return {option: bool(value)}

    return use


def words(option: str | None, table: Mapping[Any, Any], why: str, more: str = "") -> Use:
    """One of some values, each with its word in the spec (None: the default)."""

    def use(estimator: str, name: str, value: Any, facts: Facts) -> Options:
        try:
            known = value in table
        except (TypeError, ValueError):
            known = False
        if not known:
            raise fail(estimator, name, value, f"{why}; it takes {', '.join(map(repr, table))}{more}")
        word = table[value]
        return {} if option is None or word is None else {option: word}

    return use


def only(*values: Any, why: str) -> Use:
    """Nothing but these values, which change nothing."""
    return words(None, dict.fromkeys(values), why)


def no_effect(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    """Any value: it is about how scikit-learn computes, not about what."""
    return {}


elsewhere = no_effect  # the estimator's own methods look at it


def gamma(estimator: str, name: str, value: Any, facts: Facts) -> Options:
    """The factor of a kernel; None and "auto" are 1 / columns."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return {"gamma": 1.0 / facts.features}
    if isinstance(value, str) and value == "scale":
        if facts.variance is not None:
            return {"gamma": 1.0 / (facts.features * facts.variance) if facts.variance > 0 else 1.0}
        return {"gamma": "scale"}
    if isinstance(value, str) or not isinstance(value, Real):
        raise ValueError(f"{name} of {estimator} has to be 'scale', 'auto' or a number, not {value!r}")
    return number("gamma", low=0, open_low=True)(estimator, name, value, facts)


def kernel(names: Mapping[str, str], more: str = "") -> Use:
    def use(estimator: str, name: str, value: Any, facts: Facts) -> Options:
        if callable(value):
            raise fail(estimator, name, value, "a function as a kernel cannot be handed to the library yet")
        return words("kernel", names, "there is no such kernel", more)(estimator, name, value, facts)

    return use


def spec_text(learner: str, options: Options) -> str:
    """A component of a spec."""
    parts = []
    for option, value in options.items():
        word = text_of(value)
        parts.append(f"{option}={word}" if _PLAIN.fullmatch(word) else f'{option}="{word}"')
    return f"{learner}({', '.join(parts)})" if parts else learner
