"""Where methods of scikit-learn's classes turn to margin: now for modules that are loaded, later for others."""

from __future__ import annotations

import atexit
import functools
import importlib.abc
import importlib.machinery
import os
import re
import sys
import threading
import time
import weakref
from importlib import metadata
from typing import Any, Callable, Sequence

from margin.accel import counts
from margin.accel.fits import Unsuited
from margin.accel.table import TABLE, Entry

VARIABLE = "MARGIN_ACCEL"
_originals: dict[tuple[Any, str], Any] = {}  # class and method, or module and function: its own
_proofs: "weakref.WeakKeyDictionary[Any, counts.Proof]" = weakref.WeakKeyDictionary()
_strict = False
_small = False


def asked(word: str) -> bool:
    """Whether MARGIN_ACCEL has the word; it is a list with commas: 1, strict, all."""
    return word in os.environ.get(VARIABLE, "").split(",")


def install(*, strict: bool = False, small: bool = False, at_exit: bool = False) -> None:
    """Lets margin do what it can, in this process and its children.

    Parameters
    ----------
    strict : bool, default=False
        A call that margin does not take raises `Fallback` in place of going to scikit-learn.
    small : bool, default=False
        Take small data, too, where scikit-learn is as quick: for tests.
    at_exit : bool, default=False
        Print the table (`report`) to the standard error when the program ends.
    """
    global _strict, _small
    if (found := _too_old()) is not None:
        why = f"scikit-learn {found} runs as it is: margin.accel is for 1.6 or later"
        if strict:
            raise counts.Fallback(why)
        counts.logger.warning(why)
        return
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


def _too_old() -> str | None:
    """The version of a scikit-learn before 1.6, which is not imported for it."""
    try:
        found = metadata.version("scikit-learn")
    except metadata.PackageNotFoundError:
        return None
    return found if tuple(map(int, re.findall(r"\d+", found)[:2])) < (1, 6) else None


def start() -> None:
    """What MARGIN_ACCEL asks for."""
    install(strict=asked("strict"), small=asked("all"), at_exit=True)


def uninstall() -> None:
    """Gives scikit-learn's classes their own methods again; estimators that are fitted stay so."""
    os.environ.pop(VARIABLE, None)
    counts.end()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for (owner, method), original in _originals.items():
        setattr(owner, method, original)
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
            for method in entry.methods:
                owner = next((base for base in theirs.__mro__ if method in vars(base)), None)
                if owner is not None and (owner, method) not in _originals:
                    original = _originals[owner, method] = vars(owner)[method]
                    setattr(owner, method, _dispatched(method, original))
            for function, made in getattr(entry, "functions", {}).items():
                place = sys.modules[module]
                if (place, function) not in _originals:
                    original = _originals[place, function] = getattr(place, function)
                    setattr(place, function, made(original))


def _entry(estimator: Any) -> tuple[str, Entry] | None:
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


def _dispatched(method: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        theirs = functools.partial(_left_alone, self, method, original, *given, **named)
        found = None if (id(self), method) in _leaving.calls else _entry(self)
        if found is None or not found[1].answers(method, self) or _is_internal(sys._getframe(1), self):
            return theirs()
        name, entry = found
        if method == "fit":
            _proofs.pop(self, None)
            self._validate_params()
        X, y = (given[k] if len(given) > k else named.get(word) for k, word in enumerate(("X", "y")))
        if not _small and not entry.gains(method, self, X, y):
            _note(entry, name, method, counts.SMALL)
            return theirs()
        before = dict(vars(self))
        began = time.perf_counter()
        try:
            answer, proven = entry.run(name, method, self, *given, **named)
        except Exception as reason:
            vars(self).clear()
            vars(self).update(before)
            answer = theirs()  # if the data are at fault, this says it in scikit-learn's words
            why = str(reason) if isinstance(reason, Unsuited) else f"{type(reason).__name__}: {reason}"
            _note(entry, name, method, counts.LEFT, why)
            if _strict:
                raise counts.Fallback(f"{name}.{method} cannot be done by margin: {why}") from reason
            return answer
        _note(entry, name, method, counts.TAKEN, "", time.perf_counter() - began, proven)
        if proven is not None:
            _proofs[self] = proven
        return answer

    return called


class _Leaving(threading.local):
    def __init__(self) -> None:
        self.calls: set[tuple[int, str]] = set()


_leaving = _Leaving()  # what scikit-learn is doing after all; a class may ask the one it is made from


def _left_alone(estimator: Any, method: str, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
    call = (id(estimator), method)
    outer = call in _leaving.calls
    _leaving.calls.add(call)
    try:
        return original(estimator, *given, **named)
    finally:
        if not outer:
            _leaving.calls.discard(call)


def _note(entry: Entry, name: str, method: str, *rest: Any) -> None:
    if method in entry.counted or rest[0] == counts.LEFT:  # others call one of these
        counts.note(name if method == "fit" else f"{name}.{method}", *rest)
