"""Transformers: the stages of a spec, each as a class."""

from __future__ import annotations

from itertools import chain, combinations, combinations_with_replacement
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from margin.estimators.base import MarginEstimator
from margin.estimators.compat import validate_data
from margin.estimators.parameters import Facts
from margin.fitting import fit_data
from margin.views import is_sparse


class Transformer(TransformerMixin, MarginEstimator):
    """`transform` hands on what the library's stage makes: an array or a CSR matrix, float32 if X is."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns from rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        self
        """
        X = self._rows(X, reset=True)
        self._train(X, None, None, Facts(X.shape[1]))
        return self

    def transform(self, X: Any) -> Any:
        """The rows as the stage makes them.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray or CSR matrix of shape (n_queries, n_features_out)
            float32 if X is.
        """
        return self._through(self._query(X))

    def _through(self, rows: Any) -> Any:
        return self.model_.transform(rows, threads=self._threads())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RowScaler(OneToOneFeatureMixin, Transformer):
    """Rows to norm 1."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def transform(self, X: Any) -> Any:
        """The rows, each divided by its norm; as nothing is learnt, an estimator that is not fitted takes any.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray or CSR matrix of shape (n_queries, n_features)
            float32 if X is.
        """
        one = self if "model_" in vars(self) else clone(self).fit(X)
        return one._through(one._query(X))


class _Affine(OneToOneFeatureMixin, Transformer):
    """Columns to (x - offset) / divisor; a constant column, whose divisor is infinite, to 0."""

    n_samples_seen_: Any

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Learns from more rows, as if those of earlier calls were there, too. `model_` is that of these rows and of
        some that stand for the earlier ones."""
        return self._more(X, None)

    def _more(self, X: Any, sample_weight: Any) -> Any:
        first = self._made not in vars(self)
        X = self._rows(X, reset=first)
        return self._learn(X, self._weights(X, sample_weight), earlier=not first)

    def _learn(self, X: Any, weights: np.ndarray | None, *, earlier: bool) -> Any:
        seen = X.shape[0] if weights is None else weights.sum()
        if earlier:
            rows, counts = self._stand_ins()
            X = _below(rows, X)
            if counts is not None:
                weights = np.concatenate([counts, np.ones(X.shape[0] - len(rows)) if weights is None else weights])
            seen = self.n_samples_seen_ + seen
        self._train(X, None, weights, Facts(X.shape[1]))
        self.n_samples_seen_ = seen
        return self

    def _stand_ins(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows, and what they count, of which the stage learns what it has learnt."""
        raise NotImplementedError

    def _stage(self) -> tuple[np.ndarray, np.ndarray]:
        tensors = self._fitted().tensors
        return tensors["stage.0.offset"], tensors["stage.0.divisor"]

    def inverse_transform(self, X: Any) -> Any:
        """Back to the units of the data; a constant column is its constant."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=self._numbers, order="C", reset=False)
        out = self.model_.inverse_transform(rows).astype(rows.dtype, copy=False)
        return type(rows)(out) if is_sparse(rows) else out


def _below(first: np.ndarray, X: Any) -> Any:
    if not is_sparse(X):
        return np.vstack([first, X])
    from scipy.sparse import csr_matrix, vstack

    return csr_matrix(vstack([csr_matrix(first), X]))


class ColumnScaler(_Affine):
    """Standard scores."""

    with_mean: bool
    with_std: bool

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learns from rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of a row, 0 as none.

        Returns
        -------
        self
        """
        X = self._rows(X, reset=True)
        return self._learn(X, self._weights(X, sample_weight), earlier=False)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learns from more rows, as if those of earlier calls were there, too. `model_` is that of these rows and of
        three that stand for the earlier ones."""
        return self._more(X, sample_weight)

    def _learn(self, X: Any, weights: np.ndarray | None, *, earlier: bool) -> Any:
        self._refuse(X)
        return super()._learn(X, weights, earlier=earlier)

    def _train(self, X: Any, *rest: Any, **words: Any) -> Any:
        super()._train(X, *rest, **words)
        # what is not subtracted or divided by is not in the model, and more rows need it
        moments = self.model_
        if not (self.with_std and self.with_mean):
            moments, _ = fit_data("standardize", self._data(X, *rest[:2]), threads=self._threads())
        self._mean, divisor = (moments.tensors[f"stage.0.{name}"].copy() for name in ("offset", "divisor"))
        self._deviation = np.where(np.isinf(divisor), 0.0, divisor)
        return self

    def _stand_ins(self) -> tuple[np.ndarray, np.ndarray | None]:
        # far from the mean, as a row next to a mean of many digits has few for the deviation
        far = 1024.0
        count = self.n_samples_seen_ / far**2
        rows = np.stack([self._mean, self._mean - far * self._deviation, self._mean + far * self._deviation])
        return rows, np.array([self.n_samples_seen_ - count, count / 2, count / 2])

    def _query(self, X: Any) -> Any:
        rows = super()._query(X)
        self._refuse(rows)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags

    def _refuse(self, X: Any) -> None:
        if is_sparse(X) and self.with_mean:
            raise ValueError("Cannot center sparse matrices: pass `with_mean=False` instead")

    @property
    def mean_(self) -> np.ndarray | None:
        self._fitted()
        return self._mean if self.with_mean or self.with_std else None

    @property
    def scale_(self) -> np.ndarray | None:
        divisor = self._stage()[1]
        return np.where(np.isinf(divisor), 1.0, divisor) if self.with_std else None

    @property
    def var_(self) -> np.ndarray | None:
        self._fitted()
        return self._deviation**2 if self.with_std else None


class MinMax(_Affine):
    """Columns to a range."""

    feature_range: tuple[float, float]
    clip: bool
    data_min_: np.ndarray
    data_max_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Any:
        return self._learn(self._rows(X, reset=True), None, earlier=False)

    def _learn(self, X: Any, weights: np.ndarray | None, *, earlier: bool) -> Any:
        ends = X.min(axis=0), X.max(axis=0)
        low, high = (np.ravel(end.toarray() if is_sparse(end) else end).astype(np.float64) for end in ends)
        if earlier:
            low, high = np.minimum(low, self.data_min_), np.maximum(high, self.data_max_)
        super()._learn(X, weights, earlier=earlier)
        self.data_min_, self.data_max_ = low, high
        return self

    def _stand_ins(self) -> tuple[np.ndarray, np.ndarray | None]:
        return np.stack([self.data_min_, self.data_max_]), None

    def _through(self, rows: Any) -> Any:
        out = super()._through(rows)
        if self.clip:
            values = out.data if is_sparse(out) else out
            np.clip(values, *self.feature_range, out=values)
        return out

    @property
    def scale_(self) -> np.ndarray:
        return 1.0 / self._stage()[1]

    @property
    def min_(self) -> np.ndarray:
        offset, divisor = self._stage()
        return -offset / divisor

    @property
    def data_range_(self) -> np.ndarray:
        return self.data_max_ - self.data_min_


class Imputer(OneToOneFeatureMixin, Transformer):
    """Missing values become a number of their column."""

    missing_values: Any

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        rows = validate_data(self, X, accept_sparse="csr", dtype=self._numbers, reset=reset,
                             ensure_all_finite="allow-nan")
        code = self.missing_values
        if code is None or code != code:
            return rows
        if is_sparse(rows):
            raise ValueError(f"missing_values={code!r} of {type(self).__name__} needs dense X; use NaN for sparse X")
        if np.isnan(rows).any():
            raise ValueError(f"Input X contains NaN, and missing_values={code!r} of {type(self).__name__}")
        return np.where(rows == code, np.array(np.nan, rows.dtype), rows)

    def _is_plain(self, X: Any) -> bool:
        return False  # missing values are to be looked for

    @property
    def statistics_(self) -> np.ndarray:
        return self._fitted().tensors["stage.0.fill"].copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values != self.missing_values
        return tags


class Named(ClassNamePrefixFeaturesOutMixin, Transformer):
    """New columns that are only numbered."""

    @property
    def _n_features_out(self) -> int:
        return len(self._fitted().features)

    @property
    def components_(self) -> np.ndarray:
        tensors = self._fitted().tensors
        name = next(n for n in ("stage.0.centres", "stage.0.frequencies") if n in tensors)
        return tensors[name].copy()


class Sampler(Named):
    """Pairs of a cosine and a sine; of an odd number the last sine is left out, and the others make up for it."""

    n_components: int

    def _through(self, rows: Any) -> Any:
        out = super()._through(rows)
        if self.n_components % 2 == 0:
            return out
        return out[:, :-1] * np.asarray(np.sqrt(1 + 1 / self.n_components), out.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


class Products(Transformer):
    """Products of columns. The library leaves out powers of columns that hold only 0 and 1, which are those
    columns again; here they stand where scikit-learn has them."""

    degree: Any
    interaction_only: bool
    include_bias: bool
    order: str

    def fit(self, X: Any, y: Any = None) -> Any:
        low, high = self.degree if isinstance(self.degree, tuple) else (0, self.degree)
        if high == 0 and not self.include_bias:
            raise ValueError("Setting degree to zero and include_bias to False would result in an empty output array.")
        super().fit(X)
        binary = self.model_.tensors["stage.0.repeats"] == 0
        # where each product is among the library's columns; None: just there
        self._places: np.ndarray | None = None
        if low > 1 or high == 0 or (binary.any() and not self.interaction_only):
            made: dict[tuple[int, ...], int] = {}
            places = []
            for factors in self._factors(0):
                kept = tuple(f for k, f in enumerate(factors) if not (k and binary[f] and factors[k - 1] == f))
                place = made.setdefault(kept, len(made))
                if len(factors) >= low or not factors:
                    places.append(place)
            self._places = np.array(places)
        return self

    def _factors(self, low: int) -> Any:
        """The factors of each product, column numbers in ascending order."""
        high = self.degree[1] if isinstance(self.degree, tuple) else self.degree
        choose = combinations if self.interaction_only else combinations_with_replacement
        columns = range(self.n_features_in_)
        first = [()] if self.include_bias else []
        return chain(first, *(choose(columns, d) for d in range(max(1, low), high + 1)))

    def _through(self, rows: Any) -> Any:
        out = super()._through(rows)
        if self._places is not None:
            out = out[:, self._places]
        return np.asfortranarray(out) if self.order == "F" and not is_sparse(out) else out

    @property
    def n_output_features_(self) -> int:
        return len(self._fitted().features) if self._places is None else len(self._places)

    @property
    def powers_(self) -> np.ndarray:
        self._fitted()
        low = self.degree[0] if isinstance(self.degree, tuple) else 0
        rows = [np.bincount(f, minlength=self.n_features_in_) for f in map(list, self._factors(low))]
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.n_features_in_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "x0^2 x1"."""
        names = _check_feature_names_in(self, input_features)
        made = [
            " ".join(f"{names[j]}^{p}" if p > 1 else str(names[j]) for j, p in enumerate(powers) if p) or "1"
            for powers in self.powers_
        ]
        return np.array(made, dtype=object)
