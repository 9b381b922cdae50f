"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""

from __future__ import annotations

from typing import Any

from margin.estimators.clusters import Clusters


class KMeans(Clusters):
    """Clusters around centres.

    margin's `kmeans`: sum_i min_c |x_i - c|^2 over k centres c

    Parameters
    ----------
    n_clusters : int, default=8
        how many clusters.
    init : {'k-means++', 'random'} or array-like of shape (n_clusters, n_features), default='k-means++'
        first centres.
    n_init : int or 'auto', default='auto'
        runs from different starts; 'auto': 10 for small data, else 1; 1 where centres are given.
    max_iter : int, default=300
        limit on the iterations of a run.
    tol : float, default=0.0
        stop when an iteration lowers the inertia by less than this share; 0: when no row changes
        its cluster.
    verbose : int, default=0
        no effect.
    random_state : int, RandomState or None, default=None
        of the first centres; None: 0.
    copy_x : bool, default=True
        no effect: X is never written to.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        no effect: the answer does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Lloyd 1982; Arthur and Vassilvitskii 2007 (k-means++); Ding, Zhao, Shen, Musuvathi and Mytkowicz
    2015 (bounds)
    """

    _recipe = 'KMeans'

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = 'k-means++',
        n_init: int | str = 'auto',
        max_iter: int = 300,
        tol: float = 0.0,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = 'lloyd',
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
