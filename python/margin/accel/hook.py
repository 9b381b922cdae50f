"""Where `fit` of scikit-learn's classes turns to margin: now for modules that are loaded, later for others."""

from __future__ import annotations

import atexit
import functools
import importlib.abc
import importlib.machinery
import os
import sys
import time
import weakref
from typing import Any, Callable, Sequence

from margin.accel import counts
from margin.accel.table import TABLE, Accelerated, Unsuited, fit_with_margin

VARIABLE = "MARGIN_ACCEL"
_originals: dict[type, Any] = {}  # class: its own fit
_proofs: "weakref.WeakKeyDictionary[Any, counts.Proof]" = weakref.WeakKeyDictionary()
_strict = False
_small = False


def asked(word: str) -> bool:
    """Whether MARGIN_ACCEL has the word; it is a list with commas: 1, strict, all."""
    return word in os.environ.get(VARIABLE, "").split(",")


def install(*, strict: bool = False, small: bool = False, at_exit: bool = False) -> None:
    """Lets margin fit what it can, in this process and its children.

    Parameters
    ----------
    strict : bool, default=False
        A fit that margin does not take raises `Fallback` in place of going to scikit-learn.
    small : bool, default=False
        Take small data, too, which scikit-learn fits as quickly: for tests.
    at_exit : bool, default=False
        Print the table (`report`) to the standard error when the program ends.
    """
    global _strict, _small
    _strict, _small = strict, small
    words = ["1", *["strict"] * strict, *["all"] * small]
    os.environ[VARIABLE] = ",".join(words)
    child = counts.PLACE in os.environ
    counts.begin()
    if at_exit and not child:
        atexit.register(counts.report_at_exit, os.getpid())
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    for module in {entry.module for entry in TABLE.values()} & set(sys.modules):
        _take(module)


def start() -> None:
    """What MARGIN_ACCEL asks for."""
    install(strict=asked("strict"), small=asked("all"), at_exit=True)


def uninstall() -> None:
    """Gives scikit-learn's classes their own fit again; estimators that are fitted stay so."""
    os.environ.pop(VARIABLE, None)
    counts.end()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for owner, original in _originals.items():
        owner.fit = original  # type: ignore[attr-defined]
    _originals.clear()


def installed() -> bool:
    return _finder in sys.meta_path


def proof(estimator: Any) -> counts.Proof | None:
    """How far a fitted estimator can be from the exact one; None: margin did not fit it, or it has no proof."""
    return _proofs.get(estimator)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules as they would be found, and looks at those of the table once they are loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not any(entry.module == name for entry in TABLE.values()):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def then_take(module: Any) -> None:
                load(module)
                _take(name)

            spec.loader.exec_module = then_take  # type: ignore[method-assign]
        return spec


_finder = _Finder()


def _take(module: str) -> None:
    for name, entry in TABLE.items():
        if entry.module == module and hasattr(sys.modules[module], name):
            theirs = getattr(sys.modules[module], name)
            owner = next(base for base in theirs.__mro__ if "fit" in vars(base))
            if owner not in _originals:
                _originals[owner] = vars(owner)["fit"]
                owner.fit = _dispatched(_originals[owner])


def _entry(estimator: Any) -> tuple[str, Accelerated] | None:
    """That of its class, or of the one a user's class is made from; scikit-learn's own subclasses have none."""
    for base in type(estimator).__mro__:
        if base.__module__.startswith("sklearn.") and ".tests." not in base.__module__:
            entry = TABLE.get(base.__name__)
            return (base.__name__, entry) if entry and entry.module == base.__module__ else None
    return None


# Parts of scikit-learn that fit estimators of the user; what others fit is their own affair.
_FOR_OTHERS = ("base", "calibration", "compose", "ensemble", "feature_selection", "frozen", "impute", "inspection", "metrics",
               "model_selection", "multiclass", "multioutput", "pipeline", "semi_supervised", "utils")


def _is_internal(caller: Any, estimator: Any) -> bool:
    name = caller.f_globals.get("__name__", "")
    parts = name.split(".")
    return (parts[0] == "sklearn" and "tests" not in parts and parts[1:2] and parts[1] not in _FOR_OTHERS
            and caller.f_locals.get("self") is not estimator)


def _dispatched(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        theirs = functools.partial(original, self, X, y, **given, **others)
        found = _entry(self)
        if found is None or _is_internal(sys._getframe(1), self):
            return theirs()
        name, entry = found
        self._validate_params()
        if not _small and not entry.gains(X):
            counts.note(name, counts.SMALL)
            return theirs()
        before = dict(vars(self))
        began = time.perf_counter()
        try:
            proven = fit_with_margin(name, entry, self, X, y, sample_weight, others)
        except Exception as reason:
            vars(self).clear()
            vars(self).update(before)
            answer = theirs()  # if the data are at fault, this says it in scikit-learn's words
            why = str(reason) if isinstance(reason, Unsuited) else f"{type(reason).__name__}: {reason}"
            counts.note(name, counts.LEFT, why)
            if _strict:
                raise counts.Fallback(f"{name}.fit cannot be done by margin: {why}") from reason
            return answer
        counts.note(name, counts.TAKEN, "", time.perf_counter() - began, proven)
        _proofs.pop(self, None)
        if proven is not None:
            _proofs[self] = proven
        return self

    return fit

