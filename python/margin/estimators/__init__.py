"""scikit-learn's names, each imported when it is first asked for. Needs scikit-learn 1.3 or later."""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    import sklearn  # noqa: F401
except ImportError as reason:  # pragma: no cover
    raise ImportError(
        "margin's estimators build on scikit-learn, which is not installed: pip install scikit-learn. "
        "margin.fit, margin.load and margin.separable work without it"
    ) from reason

from margin.estimators.recipes import RECIPES

BY_HAND = {"Conformal": "conformal", "Search": "search"}  # not from the table

__all__ = [*RECIPES, *BY_HAND]


def __getattr__(name: str) -> Any:
    place = BY_HAND.get(name) or (f"made_{RECIPES[name].module}" if name in RECIPES else None)
    if place is None:
        raise AttributeError(f"there is no estimator {name!r}")
    found = getattr(import_module(f"margin.estimators.{place}"), name)
    globals()[name] = found
    return found
