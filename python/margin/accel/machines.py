"""Machines with a kernel; support vectors are as libsvm has them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from margin.accel.fits import Attributes, Fit, is_sparse, require


def _machine_suits(theirs: Any, X: Any) -> None:
    require(isinstance(theirs.kernel, str) and theirs.kernel != "precomputed", "the kernel is a function or a matrix")
    usual = inspect.signature(type(theirs)).parameters.get("probability")
    require(usual is None or theirs.probability == usual.default, "probability is given")


def _gamma(theirs: Any, rows: Any) -> Any:
    """libsvm's: "scale" does not look at the weights of rows."""
    if not isinstance(theirs.gamma, str):
        return theirs.gamma
    variance = 1.0
    if theirs.gamma == "scale":
        variance = rows.multiply(rows).mean() - rows.mean() ** 2 if is_sparse(rows) else rows.var()
    return 1.0 / (rows.shape[1] * variance) if variance else 1.0


def _machine_rows(theirs: Any, ours: Any, X: Any) -> Any:
    from margin.estimators.compat import check_array

    rows = check_array(X, dtype=np.float64, order="C", accept_sparse="csr", accept_large_sparse=False)
    if is_sparse(rows):
        rows.sort_indices()
    ours.gamma = ours._gamma = _gamma(theirs, rows)
    ours._their_rows = rows
    return rows


def _aligned(made: Any) -> Any:
    """A sparse matrix or array, as scikit-learn is set to hand out."""
    from scipy.sparse import csr_matrix
    from sklearn.svm import _base

    return getattr(_base, "_align_api_if_sparse", csr_matrix)(made)


def _expansion(dual: np.ndarray) -> Any:
    """Coefficients as scikit-learn has them for sparse rows: a sparse matrix that lacks no number."""
    from scipy.sparse import csr_array

    functions, vectors = dual.shape
    if not vectors:
        return _aligned(csr_array([[]]))
    starts = np.arange(0, dual.size + 1, vectors)
    return _aligned(csr_array((dual.ravel(), np.tile(np.arange(vectors), functions), starts), (functions, vectors)))


def _machine(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    rows, sparse = ours._their_rows, is_sparse(ours._their_rows)
    dual, intercept = np.ascontiguousarray(ours.dual_coef_), np.array(ours.intercept_)
    support = ours.support_
    vectors = rows[support]
    if sparse:
        dual, vectors = _expansion(dual), _aligned(vectors)
    steps = np.full(len(intercept), ours.n_iter_, np.int32)
    return {
        "support_": support, "support_vectors_": vectors, "dual_coef_": dual, "intercept_": intercept,
        "_dual_coef_": dual, "_intercept_": intercept.copy(), "_gamma": ours._gamma, "_sparse": sparse, "fit_status_": 0,
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


def _one_class(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    require(ours._given_weights is None, "sample_weight bounds the coefficients there and leaves their sum alone")
    made = _svr(theirs, ours, X, y)
    return {**made, "offset_": -made["_intercept_"]}


# ---- ridge over a kernel


_KERNELS = ("linear", "poly", "polynomial", "rbf", "laplacian")


def _kernel_ridge_suits(theirs: Any, X: Any) -> None:
    require(isinstance(theirs.kernel, str) and theirs.kernel in _KERNELS, "the kernel is another one, or a function or a matrix")
    require(np.ndim(theirs.alpha) == 0, "alpha has several values")
    require(not is_sparse(X), "X is sparse")


def _kernel_ridge(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    from margin.estimators.compat import check_array

    rows, dual = check_array(X), ours.dual_coef_
    require(ours._counts.all(), "rows have the weight 0")
    return {"dual_coef_": np.ascontiguousarray(dual), "X_fit_": rows}


_SVM = "sklearn.svm._classes"
_half = lambda theirs, ours: 1.0  # noqa: E731  norm(w)^2 / 2

FITS = {
    "SVC": Fit(_SVM, 10_000, 1e-8, -1, _machine_suits, _svc, _half, _machine_rows),
    "SVR": Fit(_SVM, 2_500, 1e-8, -1, _machine_suits, _svr, _half, _machine_rows),
    "OneClassSVM": Fit(_SVM, 10_000, 1e-8, -1, _machine_suits, _one_class, _half, _machine_rows),
    "KernelRidge": Fit("sklearn.kernel_ridge", 9_000_000, 1e-12, None, _kernel_ridge_suits, _kernel_ridge, lambda theirs, ours: 2 * theirs.alpha,
                       values=lambda rows, columns: rows * rows, enough=1e-8),
}
