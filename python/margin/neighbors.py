"""Nearest rows, exact: the index behind every knn model, and by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from margin._binding import ffi, lib
from margin.contexts import running
from margin.errors import check, new_error
from margin.model import Model
from margin.views import Matrix, address, borrowed, floats


_METHODS = {"auto": lib.MARGIN_NEIGHBORS_AUTO, "tree": lib.MARGIN_NEIGHBORS_TREE, "brute": lib.MARGIN_NEIGHBORS_BRUTE}


class Neighbors:
    """Rows to be asked for their nearest: an array of float64 or float32, or the training rows of a knn model.
    Any number of threads may use one at the same time.

    Attributes
    ----------
    rows, columns : int
    p : float
        Power of the Minkowski distance.
    method : str
        "tree" or "brute"; the answers are identical.

    `method` may ask for one of these in place of "auto", which goes by what `k` neighbours will cost. An array is not
    copied: :meth:`points`, copies and pickles take it as it is then.
    """

    def __init__(self, source: Any, p: float = 2.0, *, method: str = "auto", k: int = 5, threads: int | None = None) -> None:
        made, error = ffi.new("margin_neighbors **"), new_error()
        if isinstance(source, Model):  # the index borrows from it
            check(lib.margin_neighbors_of(source._handle, made, error), error)
        else:
            rows, options = Matrix(source), ffi.new("margin_neighbors_options *")
            options.size, options.p, options.k = ffi.sizeof("margin_neighbors_options"), p, k
            options.method = _METHODS[method]
            with running(threads) as context:
                check(lib.margin_neighbors_build(context, rows.view, options, made, error), error)
        self._source = source
        self._index = ffi.gc(made[0], lib.margin_neighbors_free)
        info = ffi.new("margin_neighbors_info *")
        info.size = ffi.sizeof("margin_neighbors_info")
        lib.margin_neighbors_describe(self._index, info)
        self.rows, self.columns, self.p = info.rows, info.columns, info.p
        self.method = "tree" if info.method == lib.MARGIN_NEIGHBORS_TREE else "brute"

    def __reduce__(self) -> Any:
        return _again, (self._source, self.p, self.method)

    def __repr__(self) -> str:
        return f"<margin.Neighbors: {self.rows} rows, {self.columns} columns, {self.method}>"

    def nearest(self, X: Any, k: int = 1, *, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the k nearest rows of each row of X, rows x k each, in the order
        (distance, row number)."""
        queries, error = Matrix(X), new_error()
        found = np.empty((queries.rows, max(0, k)), np.int64)
        distances = np.empty(found.shape)
        with running(threads) as context:
            status = lib.margin_neighbors_nearest(
                context, self._index, queries.view, k, ffi.cast("int64_t *", address(found)),
                ffi.cast("double *", address(distances)), error,
            )
        check(status, error)
        return distances, found

    def within(self, X: Any, radius: float, *, threads: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(starts, distances, rows): what lies at `radius` or less of row i of X is at starts[i] up to
        starts[i + 1], nearest first."""
        queries, error = Matrix(X), new_error()
        lists = ffi.new("margin_neighbors_lists *")
        lists.size = ffi.sizeof("margin_neighbors_lists")
        with running(threads) as context:
            status = lib.margin_neighbors_within(context, self._index, queries.view, radius, lists, error)
        check(status, error)
        owner = ffi.gc(lists, lib.margin_neighbors_lists_free)
        starts = borrowed(owner, lists.starts, (queries.rows + 1,), np.int64)
        count = (int(starts[-1]),)
        return starts, borrowed(owner, lists.distances, count, np.float64), borrowed(owner, lists.rows, count, np.int64)

    def points(self) -> np.ndarray:
        """The rows, in their order."""
        if not isinstance(self._source, Model):
            return np.asarray(self._source)
        tensors = self._source.tensors
        points = tensors["hypothesis.points"]
        if "hypothesis.row" not in tensors:
            return points
        order = tensors["hypothesis.row"]  # of the leaves, which are filled up
        made = np.empty((self.rows, self.columns), points.dtype)
        made[order[order >= 0]] = points[order >= 0]
        return made


def _again(source: Any, p: float, method: str) -> Neighbors:
    return Neighbors(source, p, method=method)


def lists(starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """An array of arrays, as scikit-learn hands out lists of different lengths."""
    made = np.empty(len(starts) - 1, dtype=object)
    for i in range(len(made)):
        made[i] = values[starts[i] : starts[i + 1]].copy()
    return made


class KDTree:
    """An exact tree of rows, under scikit-learn's names.

    Parameters
    ----------
    X : array-like of shape (rows, columns)
        The rows.
    leaf_size : int, default=40
        No effect: the answer does not depend on it.
    metric : {'minkowski', 'euclidean', 'manhattan', 'chebyshev', ...}, default='minkowski'
        The distance.
    p : float, default=2
        Power of the Minkowski distance, from 1 to inf.

    References
    ----------
    Bentley 1975; Friedman, Bentley and Finkel 1977
    """

    _POWERS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "p": None,
               "minkowski": None, "chebyshev": np.inf, "infinity": np.inf}

    def __init__(self, X: Any, leaf_size: int = 40, metric: str = "minkowski", *, p: float = 2) -> None:
        if metric not in self._POWERS:
            raise ValueError(f"metric={metric!r} of KDTree is not supported; it takes {', '.join(self._POWERS)}")
        power = self._POWERS[metric] or p
        self._neighbors = Neighbors(floats(X, "X"), power)

    @property
    def data(self) -> np.ndarray:
        return self._neighbors.points()

    def query(self, X: Any, k: int = 1, return_distance: bool = True, dualtree: bool = False,
              breadth_first: bool = False, sort_results: bool = True) -> Any:
        """Distances and row numbers of the k nearest rows, nearest first whatever `sort_results` says."""
        distances, rows = self._neighbors.nearest(X, k)
        return (distances, rows) if return_distance else rows

    def query_radius(self, X: Any, r: Any, return_distance: bool = False, count_only: bool = False,
                     sort_results: bool = False) -> Any:
        """Row numbers (and distances) of what lies at `r` or less, a number or one for each row of X."""
        reach = np.broadcast_to(np.asarray(r, float), (np.shape(X)[0],))
        starts, distances, rows = self._neighbors.within(X, float(reach.max()) if reach.size else 0.0)
        if np.ndim(r):
            near = distances <= np.repeat(reach, np.diff(starts))
            starts = np.concatenate([[0], np.cumsum(near)])[starts]
            distances, rows = distances[near], rows[near]
        if count_only:
            return np.diff(starts)
        return (lists(starts, rows), lists(starts, distances)) if return_distance else lists(starts, rows)
