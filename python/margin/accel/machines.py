"""Machines with a kernel; support vectors are as libsvm has them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from margin.accel.fits import Attributes, Fit, is_sparse, require


def _machine_suits(theirs: Any, X: Any) -> None:
    require(isinstance(theirs.kernel, str) and theirs.kernel != "precomputed", "the kernel is a function or a matrix")
    require(not is_sparse(X), "X is sparse")
    usual = inspect.signature(type(theirs)).parameters.get("probability")
    require(usual is None or theirs.probability == usual.default, "probability is given")


def _gamma(theirs: Any, rows: np.ndarray) -> Any:
    """libsvm's: "scale" does not look at the weights of rows."""
    if not isinstance(theirs.gamma, str):
        return theirs.gamma
    variance = rows.var() if theirs.gamma == "scale" else 1.0
    return 1.0 / (rows.shape[1] * variance) if variance else 1.0


def _machine_rows(theirs: Any, ours: Any, X: Any) -> Any:
    from margin.estimators.compat import check_array

    rows = check_array(X, dtype=np.float64, order="C")
    ours.gamma = ours._gamma = _gamma(theirs, rows)
    ours._their_rows = rows
    return rows


def _machine(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    rows = ours._their_rows
    dual, intercept = np.ascontiguousarray(ours.dual_coef_), np.array(ours.intercept_)
    support = ours.support_
    steps = np.full(len(intercept), ours.n_iter_, np.int32)
    return {
        "support_": support, "support_vectors_": rows[support], "dual_coef_": dual, "intercept_": intercept,
        "_dual_coef_": dual, "_intercept_": intercept.copy(), "_gamma": ours._gamma, "_sparse": False, "fit_status_": 0,
        "_probA": np.empty(0), "_probB": np.empty(0), "_num_iter": steps, "shape_fit_": rows.shape,
        "_effective_probability": False,
    }


def _svc(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    from sklearn.utils.class_weight import compute_class_weight

    classes = np.unique(np.asarray(y))
    made = _machine(theirs, ours, X, y)
    if len(classes) == 2:  # libsvm has the other sign
        made["_dual_coef_"], made["_intercept_"] = -made["dual_coef_"], -made["intercept_"]
    return {**made, "classes_": classes, "_n_support": ours.n_support_, "n_iter_": made["_num_iter"],
            "class_weight_": compute_class_weight(theirs.class_weight, classes=classes, y=np.asarray(y))}


def _svr(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    made = _machine(theirs, ours, X, y)
    return {**made, "_n_support": np.array([len(made["support_"]), 0], np.int32), "n_iter_": int(ours.n_iter_)}


_SVM = "sklearn.svm._classes"
_half = lambda theirs, ours: 1.0  # noqa: E731  norm(w)^2 / 2

FITS = {
    "SVC": Fit(_SVM, 10_000, 1e-8, -1, _machine_suits, _svc, _half, _machine_rows),
    "SVR": Fit(_SVM, 2_500, 1e-8, -1, _machine_suits, _svr, _half, _machine_rows),
}
