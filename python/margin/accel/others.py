"""Counts, centres, and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from margin.accel.fits import Attributes, Fit, is_single, is_sparse, require


def _gaussian(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    from sklearn.utils.multiclass import unique_labels

    numbers = ours.model_.tensors
    counts = np.array(numbers["hypothesis.class_counts"])
    weight, mean, squares = np.moveaxis(np.reshape(numbers["hypothesis.statistics"], (len(counts), -1, 3)), 2, 0)
    widest = np.var(X, axis=0).max() if ours._given_weights is not None else (
        (squares + weight * (mean - counts @ mean / counts.sum()) ** 2).sum(axis=0).max() / counts.sum())
    epsilon = np.float64(theirs.var_smoothing * widest)
    shares = counts / counts.sum() if theirs.priors is None else np.asarray(theirs.priors)
    made = {"theta_": np.array(mean), "var_": squares / weight + epsilon, "class_count_": counts, "class_prior_": shares, "epsilon_": epsilon}
    if is_single(X):
        made = {word: np.float32(value) for word, value in made.items()}
    return {**made, "classes_": unique_labels(np.asarray(y))}


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

    centres = np.array(ours.cluster_centers_, np.float32 if is_single(X) else np.float64)
    require(len(centres) == theirs.n_clusters, "fewer rows differ than there are clusters")
    return {"_n_threads": _openmp_effective_n_threads(), "cluster_centers_": centres, "_n_features_out": len(centres),
            "labels_": ours.labels_, "inertia_": float(ours.inertia_), "n_iter_": int(ours.n_iter_)}


def _scaler_suits(theirs: Any, X: Any) -> None:
    require(not is_sparse(X), "X is sparse")
    require(theirs.with_mean or theirs.with_std, "nothing is learnt")


def _scaler_rows(theirs: Any, ours: Any, X: Any) -> Any:
    ours.with_mean = ours.with_std = True  # theirs knows both, whatever it uses
    return X


def _scaler(theirs: Any, ours: Any, X: Any, y: Any) -> Attributes:
    from sklearn.preprocessing._data import _handle_zeros_in_scale, _incremental_mean_and_var, _is_constant_feature

    weights = ours._given_weights
    require(weights is None or not is_single(X), "sample_weight is of single precision there")
    seen = np.float64(np.sum(weights)) if weights is not None else np.shape(X)[0]
    if weights is None:  # a whole number or not, by version
        seen = _incremental_mean_and_var(np.zeros((1, 1)), 0.0, 0.0, np.zeros(1, np.int64))[2].dtype.type(seen)
    made: Attributes = {"mean_": ours.mean_, "var_": None, "scale_": None, "n_samples_seen_": seen}
    if theirs.with_std:
        variance = ours.var_
        constant = _is_constant_feature(variance, made["mean_"], seen)
        made |= {"var_": variance, "scale_": _handle_zeros_in_scale(np.sqrt(variance), copy=False, constant_mask=constant)}
    return made


FITS = {
    "GaussianNB": Fit("sklearn.naive_bayes", 50_000, 0, None, _gaussian_suits, _gaussian, lambda theirs, ours: np.inf),
    "KMeans": Fit("sklearn.cluster._kmeans", 1_000_000, 0, 300, _kmeans_suits, _kmeans, rows=_kmeans_rows),
    "StandardScaler": Fit("sklearn.preprocessing._data", 250_000, 0, None, _scaler_suits, _scaler, rows=_scaler_rows),
}
