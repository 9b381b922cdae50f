"""A fit by margin in place of scikit-learn's: what is asked first, and what the fitted estimator holds."""

from __future__ import annotations

import functools
import inspect
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Callable

import numpy as np

from margin.accel.counts import Proof, proof_of
from margin.errors import ConvergenceWarning


class Unsuited(Exception):
    """Why a fit is left to scikit-learn. The words hold no numbers of the data, as they are said once."""


Attributes = dict[str, Any]


@dataclass(frozen=True)
class Fit:
    """The fit of one class of scikit-learn.

    module : where scikit-learn defines it
    cells : with fewer values than that scikit-learn is as quick (bench/accel_small.py measures it)
    tol : the relative gap that is asked; less where the program's own tol is very small
    max_iter : scikit-learn's default; a smaller one asks for an early stop, which is left to scikit-learn
    suits : raises Unsuited where the answer would be another
    attributes : from the program's estimator, margin's, and the data
    modulus : of strong convexity, in the units of margin's objective; 0: none
    rows : X as margin's fit gets it; may change margin's estimator
    values : what `cells` counts, of rows and columns
    enough : the gap that is taken, too, where rounding lets nothing smaller be proven; 0: none
    """

    module: str
    cells: int
    tol: float
    max_iter: int | None
    suits: Callable[[Any, Any], None]
    attributes: Callable[[Any, Any, Any, Any], Attributes]
    modulus: Callable[[Any, Any], float] = lambda theirs, ours: 0.0
    rows: Callable[[Any, Any, Any], Any] = lambda theirs, ours, X: X
    values: Callable[[int, int], int] = lambda rows, columns: rows * columns
    enough: float = 0.0

    methods = counted = ("fit",)

    def answers(self, method: str, theirs: Any) -> bool:
        return method == "fit"

    def gains(self, method: str, theirs: Any, X: Any, y: Any) -> bool:
        return asked_values(X, self.values) >= self.cells

    def run(self, name: str, method: str, theirs: Any, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> tuple[Any, Proof | None]:
        return theirs, _fit(name, self, theirs, X, y, sample_weight, others)


def _fit(name: str, entry: Fit, theirs: Any, X: Any, y: Any, sample_weight: Any, others: Attributes) -> Proof | None:
    """Fits margin's estimator, and gives scikit-learn's the attributes of a fitted one."""
    from margin.estimators.compat import validate_data

    for word in others:
        require(False, f"fit is given {word}")
    usual(theirs, X, entry.max_iter)
    require(sample_weight is None or getattr(theirs, "class_weight", None) != "balanced" or name == "LogisticRegression",
            "class_weight='balanced' does not look at sample_weight there")
    entry.suits(theirs, X)
    ours = _our_estimator(name, entry, theirs)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    ours._given_weights = sample_weight
    with warnings.catch_warnings():
        if entry.enough:
            warnings.simplefilter("ignore", ConvergenceWarning)
        ours.fit(entry.rows(theirs, ours, X), *([] if y is None else [y]), **weights)
    report = ours.report_
    require(report.converged or report.gap <= entry.enough, "the gap that was asked is not reached")
    attributes = entry.attributes(theirs, ours, X, y)
    rounding = _rounded(attributes, X) if "coef_" in attributes else 0.0
    validate_data(theirs, X, reset=True, skip_check_array=True)
    vars(theirs).update(attributes)
    if not np.isfinite(report.gap):
        return None
    return proof_of(report, entry.modulus(theirs, ours), rounding)


def require(holds: Any, why: str) -> None:
    if not holds:
        raise Unsuited(why)


def asked_values(X: Any, values: Callable[[int, int], int] = lambda rows, columns: rows * columns) -> int:
    """How many numbers a fit reads, or what else `values` counts."""
    shape = getattr(X, "shape", (0, 0))
    rows, columns = shape if len(shape) == 2 else (0, 0)
    return int(getattr(X, "nnz", values(rows, columns)))


def usual(theirs: Any, X: Any, max_iter: int | None) -> None:
    """What every class asks for; `max_iter` is scikit-learn's default."""
    given = theirs.get_params(deep=False)
    require(not is_sparse(X) or getattr(X, "indices", np.empty(0, np.int32)).dtype == np.int32, "the indices of a sparse X have 64 bits")
    require(not given.get("warm_start"), "warm_start=True goes on from scikit-learn's last fit")
    require(not getattr(theirs, "_skl_callbacks", None), "callbacks watch scikit-learn's solver")
    require(not given.get("verbose"), "verbose prints what scikit-learn's solver does")
    steps = given.get("max_iter")
    require(steps == max_iter or (max_iter or 0) > 0 and steps > max_iter, "max_iter is below its default: an early stop is asked for")


def _our_estimator(name: str, entry: Fit, theirs: Any) -> Any:
    kind = getattr(import_module("margin.estimators"), name)
    given = theirs.get_params(deep=False)
    ours = kind(**{word: given[word] for word in inspect.signature(kind).parameters if word in given})
    for word, value in {"max_iter": None, "random_state": None}.items():
        if hasattr(ours, word):
            setattr(ours, word, value)
    if hasattr(ours, "tol") and entry.tol:
        ours.tol = min(entry.tol, max(1e-14, given["tol"] ** 2))
    elif entry.tol:  # theirs is a factorisation
        ours._train = functools.partial(ours._train, extra={"tol": entry.tol})
    ours.n_jobs = None
    ours._warns = lambda report: False  # what does not converge is left to scikit-learn, which warns itself
    return ours


# ---- what several classes share


def is_sparse(X: Any) -> bool:
    return hasattr(X, "nnz")


def is_single(X: Any) -> bool:
    kinds = [getattr(X, "dtype", None)] if not hasattr(X, "dtypes") else list(X.dtypes)
    return bool(kinds) and all(kind == np.float32 for kind in kinds)


def _rounded(attributes: Attributes, X: Any) -> float:
    """Coefficients of single precision where scikit-learn's have it; returns how far rounding can have moved them."""
    exact = attributes["coef_"]
    least = float(np.finfo(np.float64).eps * np.linalg.norm(exact))
    double = attributes.pop("double", False)  # liblinear's are of double precision always
    if double or not is_single(X):
        return least
    for word in ("coef_", "intercept_"):
        value = attributes[word]
        if type(value) is not float:  # 0.0 without an intercept
            attributes[word] = np.float32(value) if np.ndim(value) == 0 else np.asarray(value, np.float32)
    return least + float(np.linalg.norm(attributes["coef_"] - exact))
