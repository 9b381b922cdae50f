"""Linear models."""

from __future__ import annotations

from typing import Any

import numpy as np

from margin.accel.fits import Attributes, Fit, is_single, is_sparse, require


def _intercept(theirs: Any, value: Any) -> Any:
    return 0.0 if not theirs.fit_intercept else np.array(value) if np.ndim(value) else np.float64(value)


def _linear(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    require(np.ndim(y) == 1 or np.shape(y)[1] > 1, "y is a column")
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
    single = np.float32 if is_single(X) else np.float64
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
    steps = None if solver not in _ITERATIVE else np.full(targets, ours.n_iter_, np.int32)
    return {**_linear(theirs, ours, X, y), "n_iter_": steps, "solver_": solver}


def _ridge_cv_suits(theirs: Any, X: Any) -> None:
    require(theirs.cv is None, "cv is given: its fits are those of Ridge")
    require(theirs.scoring is None, "scoring is given")
    require(not theirs.store_cv_results and not theirs.alpha_per_target, "more is asked for than one penalty")
    require(not is_sparse(X), "X is sparse")


def _ridge_cv_rows(theirs: Any, ours: Any, X: Any) -> Any:
    from margin.estimators import Ridge

    require(ours._given_weights is None, "sample_weight weighs the errors there, not the rows that are left out")
    ours._simple = lambda: Ridge(fit_intercept=theirs.fit_intercept, tol=1e-12)
    return X


def _ridge_cv(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    require(np.ndim(y) == 1, "y has several columns")
    return {**_linear(theirs, ours, X, y), "alpha_": ours.alpha_, "best_score_": np.float64(ours.best_score_)}


def _l1_suits(theirs: Any, X: Any) -> None:
    require(theirs.alpha > 0, "alpha=0 is no penalty")
    require(not hasattr(theirs.precompute, "shape"), "a Gram matrix is given")


def _l1(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    require(np.ndim(y) == 1, "y has several columns")
    # margin's objective is twice scikit-learn's
    return {**_linear(theirs, ours, X, y), "n_iter_": int(ours.n_iter_), "dual_gap_": np.float64(_gap(ours.report_) / 2)}


# ---- linear classifiers; liblinear penalises the intercept, as the weight of a column of equal numbers


def with_ones(theirs: Any, ours: Any, X: Any) -> Any:
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


def split_ones(theirs: Any, weights: Any) -> Attributes:
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
    return with_ones(theirs, ours, X) if theirs.solver == "liblinear" else X


def _logistic(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    classes = np.unique(np.asarray(y))
    made: Attributes = {"coef_": np.array(ours.coef_), "intercept_": np.array(ours.intercept_)}
    if theirs.solver == "liblinear":
        require(len(classes) == 2, "liblinear fits each class against the rest")
        made = {**split_ones(theirs, ours.coef_), "double": True}
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
    classes = np.unique(np.asarray(y))
    require(theirs.class_weight is None or len(classes) == 2, "of several classes liblinear weighs the one against the rest alone")
    return {**split_ones(theirs, ours.coef_), "classes_": classes, "n_iter_": int(ours.n_iter_), "double": True}


_if_tall = lambda rows, columns: rows * columns * (rows > columns)  # noqa: E731
_PLACE, _CD = "sklearn.linear_model.", "sklearn.linear_model._coordinate_descent"

FITS = {
    "LinearRegression": Fit(_PLACE + "_base", 100_000, 0, None, _least_squares_suits, _least_squares, _least_squares_modulus),
    "Ridge": Fit(_PLACE + "_ridge", 100_000, 1e-12, None, _ridge_suits, _ridge, lambda theirs, ours: 2 * theirs.alpha),
    "RidgeCV": Fit(_PLACE + "_ridge", 100_000, 0, None, _ridge_cv_suits, _ridge_cv, lambda theirs, ours: 2 * ours.alpha_, _ridge_cv_rows),
    "Lasso": Fit(_CD, 2_000_000, 1e-10, 1000, _l1_suits, _l1, values=_if_tall),
    "ElasticNet": Fit(_CD, 2_000_000, 1e-10, 1000, _l1_suits, _l1, lambda theirs, ours: 2 * theirs.alpha * (1 - theirs.l1_ratio), values=_if_tall),
    "LogisticRegression": Fit(_PLACE + "_logistic", 500, 1e-9, 100, _logistic_suits, _logistic, _logistic_modulus, _logistic_rows),
    "LinearSVC": Fit("sklearn.svm._classes", 50_000, 1e-10, 1000, _linear_svc_suits, _linear_svc, lambda theirs, ours: 1.0, with_ones),
}
