"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""

from __future__ import annotations

from typing import Any

from margin.estimators.classifiers import Classifier
from margin.estimators.regressors import Regressor


class KNeighborsClassifier(Classifier):
    """The vote of the nearest rows, exact.

    margin's `knn`: P(y=c) = share of c among the k rows of least (sum |x_j - z_j|^p)^(1/p), or
    among all rows where it is at most the radius

    Parameters
    ----------
    n_neighbors : int, default=5
        how many neighbours take part.
    weights : {'uniform', 'distance'}, default='uniform'
        what a neighbour's vote counts: 1, or 1 / distance.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute'}, default='auto'
        how neighbours are searched; the answers are identical.
    leaf_size : int, default=30
        no effect: the answer does not depend on it.
    p : float, default=2
        power of the Minkowski distance, from 1 to inf.
    metric : {'minkowski', 'euclidean', 'manhattan', 'chebyshev', ...}, default='minkowski'
        distance.
    metric_params : None, default=None
        only None.
    n_jobs : int or None, default=None
        threads; None: all cores. The model does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Fix and Hodges 1951; Cover and Hart 1967; Friedman, Bentley and Finkel 1977 (kd-trees)
    """

    _recipe = 'KNeighborsClassifier'

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = 'uniform',
        algorithm: str = 'auto',
        leaf_size: int = 30,
        p: float = 2,
        metric: str = 'minkowski',
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs


class KNeighborsRegressor(Regressor):
    """The mean of the nearest rows, exact.

    margin's `knn`: P(y=c) = share of c among the k rows of least (sum |x_j - z_j|^p)^(1/p), or
    among all rows where it is at most the radius

    Parameters
    ----------
    n_neighbors : int, default=5
        how many neighbours take part.
    weights : {'uniform', 'distance'}, default='uniform'
        what a neighbour's vote counts: 1, or 1 / distance.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute'}, default='auto'
        how neighbours are searched; the answers are identical.
    leaf_size : int, default=30
        no effect: the answer does not depend on it.
    p : float, default=2
        power of the Minkowski distance, from 1 to inf.
    metric : {'minkowski', 'euclidean', 'manhattan', 'chebyshev', ...}, default='minkowski'
        distance.
    metric_params : None, default=None
        only None.
    n_jobs : int or None, default=None
        threads; None: all cores. The model does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Fix and Hodges 1951; Cover and Hart 1967; Friedman, Bentley and Finkel 1977 (kd-trees)
    """

    _recipe = 'KNeighborsRegressor'

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = 'uniform',
        algorithm: str = 'auto',
        leaf_size: int = 30,
        p: float = 2,
        metric: str = 'minkowski',
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
