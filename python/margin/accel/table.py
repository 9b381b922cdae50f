"""The table: which class margin fits, what is left to scikit-learn, and what a fitted estimator holds."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Callable

import numpy as np

from margin.accel.counts import Proof, proof_of


class Unsuited(Exception):
    """Why a fit is left to scikit-learn. The words hold no numbers of the data, as they are said once."""


Attributes = dict[str, Any]


@dataclass(frozen=True)
class Accelerated:
    """One class of scikit-learn.

    module : where scikit-learn defines it
    cells : with fewer rows x columns than that scikit-learn is as quick (bench/accel_small.py measures it)
    tol : the relative gap that is asked; less where the program's own tol is very small
    max_iter : scikit-learn's default; a smaller one asks for an early stop, which is left to scikit-learn
    suits : raises Unsuited where the answer would be another
    attributes : from the program's estimator, margin's, and the data
    modulus : of strong convexity, in the units of margin's objective; 0: none
    rows : X as margin's fit gets it; may change margin's estimator
    tall : only where there are more rows than columns
    """

    module: str
    cells: int
    tol: float
    max_iter: int | None
    suits: Callable[[Any, Any], None]
    attributes: Callable[[Any, Any, Any, Any], Attributes]
    modulus: Callable[[Any, Any], float] = lambda theirs, ours: 0.0
    rows: Callable[[Any, Any, Any], Any] = lambda theirs, ours, X: X
    tall: bool = False

    def gains(self, X: Any) -> bool:
        shape = getattr(X, "shape", (0, 0))
        rows, columns = shape if len(shape) == 2 else (0, 0)
        return getattr(X, "nnz", rows * columns) >= self.cells and (rows > columns or not self.tall)


def fit_with_margin(name: str, entry: Accelerated, theirs: Any, X: Any, y: Any, sample_weight: Any, others: Attributes) -> Proof | None:
    """Fits margin's estimator, and gives scikit-learn's the attributes of a fitted one."""
    from margin.estimators.compat import validate_data

    for word in others:
        require(False, f"fit is given {word}")
    _usual(entry, theirs)
    require(not is_sparse(X) or getattr(X, "indices", np.empty(0, np.int32)).dtype == np.int32, "the indices of a sparse X have 64 bits")
    require(sample_weight is None or getattr(theirs, "class_weight", None) != "balanced" or name == "LogisticRegression",
            "class_weight='balanced' does not look at sample_weight there")
    entry.suits(theirs, X)
    ours = _our_estimator(name, entry, theirs)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    ours._given_weights = sample_weight
    ours.fit(entry.rows(theirs, ours, X), *([] if y is None else [y]), **weights)
    report = ours.report_
    require(report.converged, "the gap that was asked is not reached")
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


def _usual(entry: Accelerated, theirs: Any) -> None:
    given = theirs.get_params(deep=False)
    require(not given.get("warm_start"), "warm_start=True goes on from scikit-learn's last fit")
    require(not getattr(theirs, "_skl_callbacks", None), "callbacks watch scikit-learn's solver")
    require(not given.get("verbose"), "verbose prints what scikit-learn's solver does")
    steps = given.get("max_iter")
    usual = steps == entry.max_iter or (entry.max_iter or 0) > 0 and steps > entry.max_iter
    require(usual, "max_iter is below its default: an early stop is asked for")


def _our_estimator(name: str, entry: Accelerated, theirs: Any) -> Any:
    kind = getattr(import_module("margin.estimators"), name)
    given = theirs.get_params(deep=False)
    ours = kind(**{word: given[word] for word in inspect.signature(kind).parameters if word in given})
    for word, value in {"max_iter": None, "random_state": None}.items():
        if hasattr(ours, word):
            setattr(ours, word, value)
    if hasattr(ours, "tol") and entry.tol:
        ours.tol = min(entry.tol, max(1e-14, given["tol"] ** 2))
    threads = os.environ.get("OMP_NUM_THREADS", "")
    ours.n_jobs = int(threads) if threads.isdigit() and int(threads) else None
    ours._warns = lambda report: False  # what does not converge is left to scikit-learn, which warns itself
    return ours


# ---- what several classes share


def is_sparse(X: Any) -> bool:
    return hasattr(X, "nnz")


def _is_single(X: Any) -> bool:
    kinds = [getattr(X, "dtype", None)] if not hasattr(X, "dtypes") else list(X.dtypes)
    return bool(kinds) and all(kind == np.float32 for kind in kinds)


def _rounded(attributes: Attributes, X: Any) -> float:
    """Coefficients of single precision where scikit-learn's have it; returns how far rounding can have moved them."""
    exact = attributes["coef_"]
    least = float(np.finfo(np.float64).eps * np.linalg.norm(exact))
    double = attributes.pop("double", False)  # liblinear's are of double precision always
    if double or not _is_single(X):
        return least
    for word in ("coef_", "intercept_"):
        value = attributes[word]
        attributes[word] = np.float32(value) if np.ndim(value) == 0 else np.asarray(value, np.float32)
    return least + float(np.linalg.norm(attributes["coef_"] - exact))


def _intercept(theirs: Any, value: Any) -> Any:
    return 0.0 if not theirs.fit_intercept else np.array(value) if np.ndim(value) else np.float64(value)


def _linear(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    return {"coef_": np.array(ours.coef_), "intercept_": _intercept(theirs, ours.intercept_)}


def _gap(report: Any) -> float:
    return report.gap * max(1.0, abs(report.objective))


# ---- least squares and its penalties


def _least_squares_suits(theirs: Any, X: Any) -> None:
    require(not is_sparse(X), "X is sparse: there scikit-learn's answer is that of an iteration")
    require(np.ndim(X) == 2 and np.shape(X)[0] > np.shape(X)[1], "there are no more rows than columns")


def _least_squares(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    rows, weights = np.asarray(X, np.float64), ours._given_weights
    if theirs.fit_intercept:
        rows = rows - np.average(rows, axis=0, weights=weights)
    if weights is not None:
        rows = rows * np.sqrt(np.asarray(weights, np.float64))[:, np.newaxis]
    squares = np.maximum(np.linalg.eigvalsh(rows.T @ rows)[::-1], 0)
    require(squares[-1] > 1e-10 * squares[0], "columns depend on each other, nearly or exactly")
    single = np.float32 if _is_single(X) else np.float64
    return {**_linear(theirs, ours, X, y), "rank_": len(squares), "singular_": np.sqrt(squares).astype(single)}


def _least_squares_modulus(theirs: Any, ours: Any) -> float:
    weights = ours._given_weights  # margin's objective is a mean
    return 2 * float(theirs.singular_[-1]) ** 2 / (ours.report_.rows if weights is None else float(np.sum(weights)))


_ITERATIVE = ("sag", "saga", "lsqr", "sparse_cg")


def _ridge_suits(theirs: Any, X: Any) -> None:
    require(np.ndim(theirs.alpha) == 0, "alpha has several values")
    require(theirs.alpha > 0, "alpha=0 is no penalty")
    if is_sparse(X):
        require(theirs.solver in ("auto", "sparse_cg"), "this solver is not for sparse X")


def _ridge(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    solver = theirs.solver
    if solver == "auto":
        solver = "sparse_cg" if is_sparse(X) else "cholesky"
    targets = 1 if np.ndim(y) == 1 else np.shape(y)[1]
    require(np.ndim(y) == 1 or targets > 1, "y is a column")
    steps = None if solver not in _ITERATIVE else np.full(targets, ours.n_iter_, np.int32)
    return {**_linear(theirs, ours, X, y), "n_iter_": steps, "solver_": solver}


def _l1_suits(theirs: Any, X: Any) -> None:
    require(theirs.alpha > 0, "alpha=0 is no penalty")
    require(not hasattr(theirs.precompute, "shape"), "a Gram matrix is given")


def _l1(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    require(np.ndim(y) == 1, "y has several columns")
    # margin's objective is twice scikit-learn's
    return {**_linear(theirs, ours, X, y), "n_iter_": int(ours.n_iter_), "dual_gap_": np.float64(_gap(ours.report_) / 2)}


# ---- linear classifiers; liblinear penalises the intercept, as the weight of a column of equal numbers


def _with_ones(theirs: Any, ours: Any, X: Any) -> Any:
    from margin.estimators.compat import check_array

    rows = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
    if not theirs.fit_intercept:
        return rows
    ours.fit_intercept = False
    ones = np.full((rows.shape[0], 1), float(theirs.intercept_scaling))
    if not is_sparse(rows):
        return np.hstack([rows, ones])
    from scipy.sparse import csr_matrix, hstack

    return csr_matrix(hstack([rows, ones]))


def _split_ones(theirs: Any, weights: Any) -> Attributes:
    if not theirs.fit_intercept:
        return {"coef_": np.array(weights), "intercept_": 0.0}
    return {"coef_": np.ascontiguousarray(weights[..., :-1]),
            "intercept_": np.array(weights[..., -1]).reshape(-1) * theirs.intercept_scaling}


def _logistic_penalty(theirs: Any) -> tuple[str, float]:
    penalty, ratio = theirs.penalty, theirs.l1_ratio or 0.0
    if penalty is None or theirs.C == np.inf:
        return "none", 0.0
    ratio = {"l1": 1.0, "l2": 0.0}.get(penalty, ratio)
    return ("l2" if not ratio else "l1" if ratio == 1 else "elasticnet"), ratio


def _logistic_suits(theirs: Any, X: Any) -> None:
    penalty, _ = _logistic_penalty(theirs)
    require(theirs.l1_ratio is not None or theirs.penalty not in ("elasticnet", "deprecated"), "l1_ratio=None")
    require(penalty in ("l2", "none") or theirs.solver == "saga" or (penalty == "l1" and theirs.solver == "liblinear"),
            "this solver has no such penalty")
    require(theirs.penalty is not None or theirs.C == 1.0, "penalty=None and C are given")
    require(theirs.penalty in ("elasticnet", "deprecated") or not 0 < (theirs.l1_ratio or 0) < 1, "l1_ratio and another penalty are given")
    require(penalty != "none" or theirs.solver != "liblinear", "this solver needs a penalty")
    require(not theirs.dual or (theirs.solver == "liblinear" and penalty == "l2"), "dual=True is not for this solver")
    require(theirs.n_jobs is None or theirs.penalty != "deprecated", "n_jobs is deprecated, which scikit-learn says")
    require(getattr(theirs, "multi_class", "auto") in ("auto", "deprecated", "multinomial"), "multi_class is given")


def _logistic_rows(theirs: Any, ours: Any, X: Any) -> Any:
    return _with_ones(theirs, ours, X) if theirs.solver == "liblinear" else X


def _logistic(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    classes = np.unique(np.asarray(y))
    made: Attributes = {"coef_": np.array(ours.coef_), "intercept_": np.array(ours.intercept_)}
    if theirs.solver == "liblinear":
        require(len(classes) == 2, "liblinear fits each class against the rest")
        made = {**_split_ones(theirs, ours.coef_), "double": True}
    elif len(classes) > 2 and theirs.fit_intercept:
        made["intercept_"] -= made["intercept_"].mean()  # softmax is the same for any constant
    if not theirs.fit_intercept:
        made["intercept_"] = np.zeros(len(made["coef_"]))
    return {**made, "classes_": classes, "n_iter_": np.array([ours.n_iter_], np.int32)}


def _logistic_modulus(theirs: Any, ours: Any) -> float:
    penalty, ratio = _logistic_penalty(theirs)
    return 0.0 if penalty == "none" else (1 - ratio) / (1 + ratio)


def _linear_svc_suits(theirs: Any, X: Any) -> None:
    require(theirs.multi_class == "ovr", "multi_class='crammer_singer' has another objective")
    require(theirs.loss != "hinge" or theirs.dual is not False, "loss='hinge' is not for dual=False")
    require(theirs.intercept_scaling > 0, "intercept_scaling is not above 0")


def _linear_svc(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    return {**_split_ones(theirs, ours.coef_), "classes_": np.unique(np.asarray(y)), "n_iter_": int(ours.n_iter_), "double": True}


# ---- support vectors with a kernel, as libsvm has them


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


# ---- without a solver: counts, and centres


def _gaussian(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    numbers = ours.model_.tensors
    counts = np.array(numbers["hypothesis.class_counts"])
    weight, mean, squares = np.moveaxis(np.reshape(numbers["hypothesis.statistics"], (len(counts), -1, 3)), 2, 0)
    widest = np.var(X, axis=0).max() if ours._given_weights is not None else (
        (squares + weight * (mean - counts @ mean / counts.sum()) ** 2).sum(axis=0).max() / counts.sum())
    epsilon = np.float64(theirs.var_smoothing * widest)
    shares = counts / counts.sum() if theirs.priors is None else np.asarray(theirs.priors)
    made = {"theta_": np.array(mean), "var_": squares / weight + epsilon, "class_count_": counts, "class_prior_": shares, "epsilon_": epsilon}
    if _is_single(X):
        made = {word: np.float32(value) for word, value in made.items()}
    return {**made, "classes_": np.unique(np.asarray(y))}


def _gaussian_suits(theirs: Any, X: Any) -> None:
    require(not is_sparse(X), "X is sparse")


def _kmeans_suits(theirs: Any, X: Any) -> None:
    require(not is_sparse(X), "X is sparse")


def _kmeans_rows(theirs: Any, ours: Any, X: Any) -> Any:
    """scikit-learn's own starts, from the same random numbers; the best of them is where margin's fit begins."""
    from sklearn.utils import check_random_state
    from sklearn.utils.extmath import row_norms
    from sklearn.utils.validation import _check_sample_weight

    from margin.estimators.compat import check_array

    rows = check_array(X, dtype=[np.float64, np.float32], order="C")
    theirs._check_params_vs_input(rows)
    random, weights = check_random_state(theirs.random_state), _check_sample_weight(ours._given_weights, rows, dtype=rows.dtype)
    given, mean = theirs.init, rows.mean(axis=0)
    if not isinstance(given, str) and not callable(given):
        given = check_array(given, dtype=rows.dtype, copy=True, order="C")
        theirs._validate_center_shape(rows, given)
        given -= mean
    centred = rows - mean
    norms = row_norms(centred, squared=True)
    starts = [theirs._init_centroids(centred, x_squared_norms=norms, init=given, random_state=random, sample_weight=weights) + mean
              for _ in range(theirs._n_init)]
    ours.tol, ours.n_init, ours.algorithm = 0.0, 1, "lloyd"
    found: list[tuple[float, int]] = []
    for ours.init in starts if len(starts) > 1 else ():
        found.append((ours.fit(rows, sample_weight=ours._given_weights).inertia_, len(found)))
    ours.init = starts[min(found)[1] if found else 0]
    return rows


def _kmeans(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    centres = np.array(ours.cluster_centers_, np.float32 if _is_single(X) else np.float64)
    require(len(centres) == theirs.n_clusters, "fewer rows differ than there are clusters")
    return {"_n_threads": _openmp_effective_n_threads(), "cluster_centers_": centres, "_n_features_out": len(centres),
            "labels_": ours.labels_, "inertia_": float(ours.inertia_), "n_iter_": int(ours.n_iter_)}


# ---- the table

_LINEAR, _CD, _SVM = "sklearn.linear_model.", "sklearn.linear_model._coordinate_descent", "sklearn.svm._classes"
_half = lambda theirs, ours: 1.0  # noqa: E731  norm(w)^2 / 2

TABLE = {
    "LinearRegression": Accelerated(_LINEAR + "_base", 100_000, 0, None, _least_squares_suits, _least_squares, _least_squares_modulus),
    "Ridge": Accelerated(_LINEAR + "_ridge", 100_000, 1e-12, None, _ridge_suits, _ridge, lambda theirs, ours: 2 * theirs.alpha),
    "Lasso": Accelerated(_CD, 2_000_000, 1e-10, 1000, _l1_suits, _l1, tall=True),
    "ElasticNet": Accelerated(_CD, 2_000_000, 1e-10, 1000, _l1_suits, _l1, lambda theirs, ours: 2 * theirs.alpha * (1 - theirs.l1_ratio), tall=True),
    "LogisticRegression": Accelerated(_LINEAR + "_logistic", 500, 1e-9, 100, _logistic_suits, _logistic, _logistic_modulus, _logistic_rows),
    "LinearSVC": Accelerated(_SVM, 50_000, 1e-10, 1000, _linear_svc_suits, _linear_svc, _half, _with_ones),
    "SVC": Accelerated(_SVM, 10_000, 1e-8, -1, _machine_suits, _svc, _half, _machine_rows),
    "GaussianNB": Accelerated("sklearn.naive_bayes", 50_000, 0, None, _gaussian_suits, _gaussian, lambda theirs, ours: np.inf),
    "KMeans": Accelerated("sklearn.cluster._kmeans", 1_000_000, 0, 300, _kmeans_suits, _kmeans, rows=_kmeans_rows),
    "SVR": Accelerated(_SVM, 2_500, 1e-8, -1, _machine_suits, _svr, _half, _machine_rows),
}
