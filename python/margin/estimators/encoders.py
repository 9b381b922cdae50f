"""Categories to columns of 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from margin.columns import Column
from margin.data import Data
from margin.estimators.compat import check_array, validate_data
from margin.estimators.parameters import Facts
from margin.estimators.transformers import Transformer
from margin.views import is_sparse


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _columns(X: Any) -> list[np.ndarray]:
    """The columns of X, each in a type of its own."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return [_plain(X.iloc[:, j].to_numpy()) for j in range(X.shape[1])]
    if is_sparse(X):
        raise TypeError("Sparse data was passed, but dense data is required: X has categories")
    array = check_array(X, dtype=None, ensure_all_finite=False)
    if not hasattr(X, "dtype") and array.dtype.kind in "US":
        array = check_array(X, dtype=object, ensure_all_finite=False)
    return [_plain(array[:, j]) for j in range(array.shape[1])]


def _plain(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "biuf" and np.isinf(column.astype(np.float64)).any():
        raise ValueError("Input X contains infinity")
    return column if column.dtype.kind in "biufUS" else column.astype(object)


def _categories(column: np.ndarray) -> np.ndarray:
    """Different values in ascending order; None and NaN last."""
    if column.dtype != object:
        return np.unique(column)
    missing = [v for v in (None, float("nan")) if any(v is c if v is None else _is_nan(c) for c in column)]
    rest = {value for value in column if value is not None and not _is_nan(value)}
    try:
        ordered = sorted(rest)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in rest})
        raise TypeError(
            f"Encoders require their input argument must be uniformly strings or numbers. Got {kinds}"
        ) from None
    return np.array([*ordered, *missing, None], dtype=object)[:-1]


def _codes(column: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """The place of each value; -1: there is no such category."""
    if column.dtype != object and column.dtype.kind == categories.dtype.kind:
        places = np.minimum(np.searchsorted(categories, column), len(categories) - 1)
        same = categories[places] == column
        if column.dtype.kind == "f":
            same |= np.isnan(column) & np.isnan(categories[places])
        return np.where(same, places, -1)
    known = {"nan" if _is_nan(v) else (v,): code for code, v in enumerate(categories.tolist())}
    return np.array([known.get("nan" if _is_nan(v) else (v,), -1) for v in column.tolist()], np.int64)


class Encoder(Transformer):
    """The library gets each column as codes of categories, in the order of their names, and hands back indicators
    in that order; `_places` puts them in the order of `categories_`, without what `drop` leaves out."""

    categories: Any
    drop: Any
    sparse_output: bool
    dtype: Any
    handle_unknown: str
    feature_name_combiner: Any

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns the categories of the columns.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows of numbers or texts.
        y : None
            Not used.

        Returns
        -------
        self
        """
        columns = self._checked(X, reset=True)
        self.categories_ = self._find_categories(columns)
        self.drop_idx_ = self._find_dropped()
        names = [[str(v) for v in c.tolist()] for c in self.categories_]
        if any(len(set(n)) < len(n) for n in names):
            raise ValueError("X has different categories that are written the same; make them of one kind")
        orders = [sorted(range(len(n)), key=n.__getitem__) for n in names]
        self._described = [
            Column(str(name), tuple(n[k] for k in order)) for name, n, order in zip(self._names(None), names, orders)
        ]
        self._ranks = [np.argsort(order) for order in orders]
        starts = np.cumsum([0, *map(len, names)])
        kept = [
            start + np.delete(rank, [] if dropped is None else [dropped])
            for start, rank, dropped in zip(starts, self._ranks, self._dropped())
        ]
        places = np.concatenate(kept)
        self._places = None if np.array_equal(places, np.arange(starts[-1])) else places
        codes = self._coded(columns, refuse=self.handle_unknown == "error")
        sizes = [len(c) for c in self.categories_]
        # the columns are those of the lists, whichever categories the rows have
        self._train(np.where(codes < sizes, codes, 0), None, None, Facts(len(columns)))
        return self

    def _data(self, X: Any, target: Any, weights: Any) -> Data:
        return Data(X, target, weights, self._described)

    def _names(self, input_features: Any) -> np.ndarray:
        return np.asarray(_check_feature_names_in(self, input_features))

    def _checked(self, X: Any, *, reset: bool) -> list[np.ndarray]:
        columns = _columns(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self.n_features_in_ = len(columns)
        elif len(columns) != self.n_features_in_:
            raise ValueError(f"X has {len(columns)} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return columns

    def _find_categories(self, columns: list[np.ndarray]) -> list[np.ndarray]:
        if isinstance(self.categories, str):
            if self.categories != "auto":
                raise ValueError(f"categories of {type(self).__name__} has to be 'auto' or a list, not {self.categories!r}")
            return [_categories(column) for column in columns]
        if len(self.categories) != len(columns):
            raise ValueError("Shape mismatch: if categories is an array, it has to be of shape (n_features,).")
        given = []
        for column, values in zip(columns, self.categories):
            known = np.array(values, dtype=object if column.dtype == object else None)
            if known.dtype.kind in "biuf" and (np.diff(known[~np.isnan(known.astype(float))]) < 0).any():
                raise ValueError("Unsorted categories are not supported for numerical categories")
            given.append(known if known.dtype.kind in "biufUS" else np.array([*values, None], dtype=object)[:-1])
        return given

    def _find_dropped(self) -> np.ndarray | None:
        if self.drop is None:
            return None
        sizes = [len(c) for c in self.categories_]
        if isinstance(self.drop, str):
            if self.drop not in ("first", "if_binary"):
                raise ValueError(f"drop of {type(self).__name__} has to be 'first', 'if_binary', an array or None")
            return np.array([0 if self.drop == "first" or size == 2 else None for size in sizes], dtype=object)
        if len(self.drop) != len(sizes):
            raise ValueError(f"`drop` should have length equal to the number of features ({len(sizes)}), got {len(self.drop)}")
        places = [_codes(np.array([v], object), c)[0] for v, c in zip(self.drop, self.categories_)]
        if min(places) < 0:
            raise ValueError(f"The following categories were supposed to be dropped, but were not found: {self.drop}")
        return np.array(places, dtype=object)

    def _dropped(self) -> list[int | None]:
        return [None] * len(self.categories_) if self.drop_idx_ is None else list(self.drop_idx_)

    def _coded(self, columns: list[np.ndarray], *, refuse: bool) -> np.ndarray:
        codes = np.empty((len(columns[0]), len(columns)))
        for j, (column, categories) in enumerate(zip(columns, self.categories_)):
            places = _codes(column, categories)
            if refuse and (places < 0).any():
                unknown = _categories(column[places < 0]).tolist()
                raise ValueError(f"Found unknown categories {unknown} in column {j} during transform")
            codes[:, j] = np.where(places < 0, len(categories), self._ranks[j][places])
        return codes

    def transform(self, X: Any) -> Any:
        """A row of 0 and 1 for each row.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_queries, n_features)
            Rows of numbers or texts.

        Returns
        -------
        ndarray or CSR matrix of shape (n_queries, n_features_out)
        """
        check_is_fitted(self)
        columns = self._checked(X, reset=False)
        codes = self._coded(columns, refuse=self.handle_unknown == "error")
        out = self.model_._transformed(self._data(codes, None, None), None)
        out = out if self._places is None else out[:, self._places]
        if self.sparse_output and not is_sparse(out):
            from scipy.sparse import csr_matrix

            out = csr_matrix(out)
        out = out.toarray() if is_sparse(out) and not self.sparse_output else out
        return out.astype(self.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The categories that rows of 0 and 1 stand for; None where there is none."""
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr")
        sizes = [len(c) - (d is not None) for c, d in zip(self.categories_, self._dropped())]
        if X.shape[1] != sum(sizes):
            raise ValueError(f"Shape of the passed X data is not correct. Expected {sum(sizes)} columns, got {X.shape[1]}.")
        found, start = [], 0
        for size, categories, dropped in zip(sizes, self.categories_, self._dropped()):
            part = X[:, start : start + size]
            part = part.toarray() if is_sparse(part) else part
            start += size
            left = categories if dropped is None else np.delete(categories, dropped)
            values = left[part.argmax(axis=1)] if size else np.repeat(categories, len(part))
            none = part.sum(axis=1) == 0
            if none.any() and size:
                if dropped is None and self.handle_unknown == "error":
                    raise ValueError(f"Samples {np.flatnonzero(none).tolist()} can not be inverted: no category is marked")
                values = values.astype(object) if dropped is None else values
                values[none] = None if dropped is None else categories[dropped]
            found.append(values)
        kind = object if any(v.dtype == object for v in found) else np.result_type(*found)
        return np.stack([v.astype(kind) for v in found], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "colour_red"."""
        check_is_fitted(self)
        combine = (lambda name, value: f"{name}_{value}") if self.feature_name_combiner == "concat" else self.feature_name_combiner
        made = [
            combine(name, value)
            for name, categories, dropped in zip(self._names(input_features), self.categories_, self._dropped())
            for place, value in enumerate(categories.tolist() if categories.dtype != object else categories)
            if place != dropped
        ]
        return np.array(made, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
