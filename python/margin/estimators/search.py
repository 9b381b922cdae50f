"""Search over settings with the work shared: GridSearchCV's answers by the library's own search."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any, Sequence

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from margin._binding import lib
from margin.errors import UnsupportedError
from margin.estimators.base import AroundEstimator, ConvergenceWarning, MarginEstimator, refuse_given, threads_of
from margin.estimators.parameters import spec_text, text_of
from margin.estimators.spec import estimator_of
from margin.searching import METHODS, Cell, SearchTable, search_data
from margin.specs import Spec
from margin.splitting import Splits

# scikit-learn's name -> ours, and whether theirs is minus ours
SCORINGS: dict[Any, tuple[str, bool]] = {
    "accuracy": ("accuracy", False), "balanced_accuracy": ("balanced_accuracy", False), "r2": ("r2", False),
    "neg_log_loss": ("log_loss", True), "neg_brier_score": ("brier", True), "roc_auc": ("auc", False),
    "roc_auc_ovr": ("auc", False), "average_precision": ("average_precision", False),
    "neg_mean_squared_error": ("mse", True), "neg_root_mean_squared_error": ("rmse", True),
    "neg_mean_absolute_error": ("mae", True),
    **{f"{m}{kind}": (f"{m}{kind}", False) for m in ("precision", "recall", "f1") for kind in ("", "_macro", "_micro", "_weighted")},
}


def scoring_of(scoring: Any, classifier: bool) -> tuple[str, bool]:
    if scoring is None:
        return ("accuracy", False) if classifier else ("r2", False)
    if not isinstance(scoring, str) or scoring not in SCORINGS:
        raise UnsupportedError(f"scoring={scoring!r} is not supported: it takes {', '.join(SCORINGS)}; "
                               "scikit-learn's GridSearchCV takes functions")
    return SCORINGS[scoring]


def folds_of(cv: Any, X: Any, y: Any, groups: Any, classifier: bool) -> tuple[np.ndarray, int]:
    """The fold in which each row is tested."""
    checked = check_cv(cv, y, classifier=classifier)
    rows = len(y)
    fold = np.full(rows, -1)
    count = 0
    for train, test in checked.split(np.zeros(rows), y, groups):
        if (fold[test] >= 0).any() or len(train) + len(test) != rows:
            raise UnsupportedError(f"cv={cv!r} is not supported: each row has to be tested once and learned from otherwise")
        fold[test] = count
        count += 1
    if (fold < 0).any():
        raise UnsupportedError(f"cv={cv!r} is not supported: each row has to be tested once")
    return fold, count


def merged(options: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    """One spec with sets that stands for all of these, so that they share work; None: there is none."""
    learner, first = options[0]
    if any(name != learner or list(o) != list(first) for name, o in options):
        return None
    values = {name: list(dict.fromkeys(text_of(o[name]) for _, o in options)) for name in first}
    if math.prod(map(len, values.values())) != len({tuple(map(text_of, o.values())) for _, o in options}):
        return None
    if any(len(v) > 1 and any(" " in word or not word for word in v) for v in values.values()):
        return None
    plain = spec_text(learner, {name: v[0] for name, v in values.items() if len(v) == 1})
    sets = ", ".join(f"{name}={{{','.join(v)}}}" for name, v in values.items() if len(v) > 1)
    return plain if not sets else f"{plain[:-1]}, {sets})" if plain.endswith(")") else f"{plain}({sets})"


def _best_has(name: str) -> Any:
    def has(search: Any) -> bool:
        return hasattr(getattr(search, "best_estimator_", search.estimator), name) or isinstance(search.estimator, str)

    return has


class Search(AroundEstimator):
    """Settings of an estimator or spec under the same folds, with shared work: Gram matrices, paths of penalties.

    Parameters
    ----------
    estimator : str or margin estimator
        A spec, whose sets are searched over (``"standardize | svm(C={0.1,1,10})"``), or an estimator of margin.
    param_grid : dict or list of dicts, default=None
        As GridSearchCV's; for a spec the names are `step__option`. None: the sets of the spec alone. With 'random' and
        'halving' also distributions, such as SciPy's, from which `n_iter` settings are drawn.
    method : {'grid', 'random', 'halving'}, default='grid'
        Every setting; `n_iter` of them; all on few rows, and the better third on three times as many.
    n_iter : int, default=10
        Settings of 'random'.
    scoring : str, default=None
        None: accuracy or R2.
    cv : int, splitter or iterable, default=None
        Each row has to be tested once. None: 5 folds.
    one_se : bool, default=False
        Take the simplest setting within one standard error of the best (Breiman et al. 1984).
    refit : bool, default=True
        Fit the chosen setting to all rows.
    return_train_score : bool, default=False
        Score the rows that fits learned from, too.
    cell_seconds : float or None, default=None
        What the fits of one setting may take together.
    random_state : int or None, default=None
        Of the settings that 'random' draws, and of what fits draw; None: 0.
    n_jobs : int or None, default=None
        Threads; None: OMP_NUM_THREADS, else all cores; below 1: all cores.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As GridSearchCV's, with `spec`, `gap` (the largest of the setting's proofs) and `status` besides.
    best_estimator_, best_params_, best_score_, best_index_, n_splits_
    table_ : margin.SearchTable
    """

    def __init__(self, estimator: Any, param_grid: Any = None, *, method: str = "grid", n_iter: int = 10,
                 scoring: str | None = None, cv: Any = None, one_se: bool = False, refit: bool = True,
                 return_train_score: bool = False, cell_seconds: float | None = None,
                 random_state: Any = None, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.method = method
        self.n_iter = n_iter
        self.scoring = scoring
        self.cv = cv
        self.one_se = one_se
        self.refit = refit
        self.return_train_score = return_train_score
        self.cell_seconds = cell_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _inner(self, y: Any) -> Any:
        if not isinstance(self.estimator, str):
            if not isinstance(self.estimator, MarginEstimator):
                raise UnsupportedError(
                    f"{type(self.estimator).__name__} is no estimator of margin: hand over a spec such as "
                    "'standardize | svm(C={0.1,1,10})', or use scikit-learn's GridSearchCV"
                )
            return clone(self.estimator)
        kind = getattr(np.asarray(y), "dtype", np.dtype(float)).kind
        able = Spec(self.estimator).learner.abilities
        both = able & lib.MARGIN_CAN_REGRESSION and able & (lib.MARGIN_CAN_TWO_CLASS | lib.MARGIN_CAN_MULTICLASS)
        return estimator_of(self.estimator, ("regress" if kind == "f" else "classify") if both else None)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "Search":
        """Searches, and fits the best setting to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or values.
        sample_weight : array-like of shape (n_samples,), optional
            Of the fits and of the scores.
        groups : array-like of shape (n_samples,), optional
            For splitters that ask for them.

        Returns
        -------
        self
        """
        inner = self._inner(y)
        classifier = is_classifier(inner)
        metric, negative = scoring_of(self.scoring, classifier)
        rows, known, weights = inner._prepare(X, y, sample_weight, True)
        facts = inner._facts(rows, known, weights, sample_weight)
        specs, names = self._settings(inner, facts)
        fold, count = folds_of(self.cv, X, np.asarray(y), groups, classifier)
        data = inner._data(rows, known, weights)
        splits = Splits(data, count, groups=fold)
        method = "grid" if self.method == "random" and self._is_drawn() else self.method
        order = np.argsort([fold[splits.rows(k)[0]] for k in range(count)])
        table = search_data(
            specs, data, splits, metric=metric, method=method, count=self.n_iter if method == "random" else 0,
            training=self.return_train_score, cell_seconds=self.cell_seconds, threads=threads_of(self.n_jobs), seed=self._seed(),
        )
        self._take(table, names, order, -1.0 if negative else 1.0)
        if self.refit:
            self.best_estimator_ = clone(inner).set_params(**self.best_params_)
            words = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.best_estimator_.fit(X, y, **words)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _is_drawn(self) -> bool:
        """Whether values are drawn from distributions, by scikit-learn."""
        grids = [self.param_grid] if isinstance(self.param_grid, dict) else self.param_grid or []
        return self.method != "grid" and any(hasattr(values, "rvs") for grid in grids if isinstance(grid, dict) for values in grid.values())

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(self.random_state)

    # ---- settings to specs, and back

    def _settings(self, inner: Any, facts: Any) -> tuple[list[Spec], dict[str, dict[str, Any]] | list[str]]:
        """The specs to search, and for each setting's canonical text its parameters; or, for the sets of a spec,
        their names."""
        if self.method not in METHODS:
            raise ValueError(f"method has to be one of {', '.join(map(repr, METHODS))}, not {self.method!r}")
        if self.param_grid is None:
            if not isinstance(self.estimator, str):
                raise ValueError("param_grid says what to search over; only a spec can say so itself, by sets")
            return [Spec(inner.spec)], Spec(inner.spec).varied()
        drawn = self._is_drawn()
        settings = list(ParameterSampler(self.param_grid, self.n_iter, random_state=self._seed()) if drawn else ParameterGrid(self.param_grid))
        named: dict[str, dict[str, Any]] = {}
        options = []
        for setting in settings:
            if "class_weight" in setting or "random_state" in setting:
                raise UnsupportedError("class_weight and random_state cannot be searched over here; use GridSearchCV")
            changed = clone(inner).set_params(**setting)
            refuse_given(changed, "Search", "use scikit-learn's GridSearchCV")
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(inner, name):
                    setattr(changed, name, getattr(inner, name))
            if hasattr(changed, "spec"):
                text = str(Spec(changed.spec))
            else:
                options.append(changed._learner(facts, changed._class_options(facts)))
                text = str(Spec(spec_text(*options[-1])))
            named.setdefault(text, setting)
        together = merged(options) if options else None
        return ([Spec(together)] if together else [Spec(text) for text in named]), named

    def _take(self, table: SearchTable, names: Any, order: np.ndarray, sign: float) -> None:
        self.table_ = table
        params = [self._params(cell, names) for cell in table.cells]
        if isinstance(names, dict):  # in the order of the grid
            place = {id(setting): k for k, setting in enumerate(names.values())}
            ranks = sorted(range(len(params)), key=lambda k: place[id(params[k])])
            cells, params = [table.cells[k] for k in ranks], [params[k] for k in ranks]
        else:
            cells = list(table.cells)
        self.cv_results_ = results_of(cells, params, order, sign, table.splits)
        best = (table.best_one_se if self.one_se else table.best) or _second_best(cells, sign)
        self.best_index_ = next(k for k, cell in enumerate(cells) if cell is best)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.n_splits_ = table.splits

    def _params(self, cell: Cell, names: Any) -> dict[str, Any]:
        if isinstance(names, dict):
            return names[cell.spec]
        spec = Spec(cell.spec)
        return {name: spec.value(name) if spec.given(name) else None for name in names}

    def _proof_html(self) -> str:
        if "table_" not in vars(self):
            return ""
        best = self.best_estimator_.model_._repr_html_() if "best_estimator_" in vars(self) else ""
        return self.table_._repr_html_() + best

    # ---- the best estimator's answers

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """The best estimator's answers.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,)
            A label or value for each row.
        """
        return self._best().predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Its probabilities."""
        return self._best().predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Its scores."""
        return self._best().decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """Its score, by `scoring`."""
        from sklearn.metrics import get_scorer

        best = self._best()
        return best.score(X, y) if self.scoring is None else get_scorer(self.scoring)(best, X, y)


def _second_best(cells: Sequence[Cell], sign: float) -> Cell:
    """Where every setting stopped early, or none has the metric on every fold: the best of what there is."""
    usable = [c for c in cells if c.status >= 0 and not c.dropped]
    if not usable:
        raise ValueError(f"no setting has a model on every fold; the first one: {cells[0].spec}: {cells[0].reason}")
    if any(c.status > 0 for c in usable):
        warnings.warn(f"every setting stopped early on some fold; the first one: {cells[0].spec}: {cells[0].reason}",
                      ConvergenceWarning, stacklevel=4)

    def worth(cell: Cell) -> float:
        known = cell.values[~np.isnan(cell.values)]
        return sign * float(known.mean()) if known.size else -math.inf

    return max(usable, key=worth)


def results_of(cells: Sequence[Cell], params: Sequence[dict[str, Any]], order: np.ndarray, sign: float,
               splits: int) -> dict[str, Any]:
    """GridSearchCV's cv_results_; a fold of which only the sum of times is known has no deviation of them."""
    found: dict[str, Any] = {
        "mean_fit_time": np.array([c.fit_seconds / splits for c in cells]), "std_fit_time": np.full(len(cells), np.nan),
        "mean_score_time": np.array([c.predict_seconds / splits for c in cells]),
        "std_score_time": np.full(len(cells), np.nan),
    }
    for name in dict.fromkeys(chain.from_iterable(params)):
        values = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for k, setting in enumerate(params):
            if name in setting:
                values[k] = setting[name]
        found[f"param_{name}"] = values
    found["params"] = list(params)
    for part in ("test", "train"):
        rows = [c.values if part == "test" else c.training for c in cells]
        if any(row is None for row in rows):
            continue
        scores = sign * np.array(rows)[:, order]
        for k in range(splits):
            found[f"split{k}_{part}_score"] = scores[:, k]
        found[f"mean_{part}_score"] = scores.mean(axis=1)
        found[f"std_{part}_score"] = scores.std(axis=1)
        if part == "test":
            means = np.nan_to_num(found["mean_test_score"], nan=-np.inf)
            found["rank_test_score"] = np.array([1 + int((means > m).sum()) for m in means], np.int32)
    found["spec"] = np.array([c.spec for c in cells], dtype=object)
    found["gap"] = np.array([c.gap for c in cells])
    found["status"] = np.array([c.status for c in cells])
    return found
