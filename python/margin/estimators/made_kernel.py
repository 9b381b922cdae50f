"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""

from __future__ import annotations

from typing import Any

from margin.estimators.classifiers import KernelClassifier
from margin.estimators.clusters import OneClass
from margin.estimators.regressors import ExpansionRegressor, KernelRidgeRegressor


class LinearSVR(ExpansionRegressor):
    """Linear support vector regression.

    margin's `svm`: C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)

    Parameters
    ----------
    epsilon : float, default=0.0
        errors up to this cost nothing.
    tol : float, default=0.001
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    C : float, default=1.0
        weight of the summed loss against the penalty; inf: no penalty.
    loss : {'epsilon_insensitive'}, default='epsilon_insensitive'
        only 'epsilon_insensitive'.
    fit_intercept : True, default=True
        only True.
    intercept_scaling : float, default=1
        no effect: the intercept is not penalised.
    dual : bool or 'auto', default='auto'
        no effect: the answer does not depend on it.
    verbose : int, default=0
        no effect.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.
    max_iter : int or None, default=None
        limit on steps; None: none.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)
    """

    _recipe = 'LinearSVR'

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 0.001,
        C: float = 1.0,
        loss: str = 'epsilon_insensitive',
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        dual: Any = 'auto',
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter


class SVC(KernelClassifier):
    """Support vector machine with a kernel; more than two classes one against one.

    margin's `svm`: C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)

    Parameters
    ----------
    C : float, default=1.0
        weight of the summed loss against the penalty; inf: no penalty.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid'}, default='rbf'
        k(x, z).
    degree : int, default=3
        degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        factor in 'rbf', 'poly' and 'sigmoid'.
    coef0 : float, default=0.0
        constant in 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        no effect: the answer does not depend on it.
    probability : False, default=False
        only False.
    tol : float, default=0.001
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    cache_size : float, default=200
        no effect: the library sizes its cache itself.
    class_weight : dict, 'balanced' or None, default=None
        weights of the classes.
    verbose : bool, default=False
        no effect.
    max_iter : int, default=-1
        limit on steps; -1: none.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        a score for each class, or for each pair.
    break_ties : bool, default=False
        no effect: ties of votes are settled by the scores.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)
    """

    _recipe = 'SVC'

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = 'rbf',
        degree: int = 3,
        gamma: float | str = 'scale',
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 0.001,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = 'ovr',
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state


class SVR(ExpansionRegressor):
    """Support vector regression with a kernel.

    margin's `svm`: C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid'}, default='rbf'
        k(x, z).
    degree : int, default=3
        degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        factor in 'rbf', 'poly' and 'sigmoid'.
    coef0 : float, default=0.0
        constant in 'poly' and 'sigmoid'.
    tol : float, default=0.001
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    C : float, default=1.0
        weight of the summed loss against the penalty; inf: no penalty.
    epsilon : float, default=0.1
        errors up to this cost nothing.
    shrinking : bool, default=True
        no effect: the answer does not depend on it.
    cache_size : float, default=200
        no effect: the library sizes its cache itself.
    verbose : bool, default=False
        no effect.
    max_iter : int, default=-1
        limit on steps; -1: none.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)
    """

    _recipe = 'SVR'

    def __init__(
        self,
        *,
        kernel: str = 'rbf',
        degree: int = 3,
        gamma: float | str = 'scale',
        coef0: float = 0.0,
        tol: float = 0.001,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter


class OneClassSVM(OneClass):
    """One class and its outliers.

    margin's `svm`: C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid'}, default='rbf'
        k(x, z).
    degree : int, default=3
        degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        factor in 'rbf', 'poly' and 'sigmoid'.
    coef0 : float, default=0.0
        constant in 'poly' and 'sigmoid'.
    tol : float, default=1e-06
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    nu : float, default=0.5
        at most this share of the rows are outliers, at least this share support vectors.
    shrinking : bool, default=True
        no effect: the answer does not depend on it.
    cache_size : float, default=200
        no effect: the library sizes its cache itself.
    verbose : bool, default=False
        no effect.
    max_iter : int, default=-1
        limit on steps; -1: none.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)
    """

    _recipe = 'OneClassSVM'

    def __init__(
        self,
        *,
        kernel: str = 'rbf',
        degree: int = 3,
        gamma: float | str = 'scale',
        coef0: float = 0.0,
        tol: float = 1e-06,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter


class KernelRidge(KernelRidgeRegressor):
    """Ridge over a kernel: a coefficient for every row.

    margin's `kernel-ridge`: minimise sum (f - y)^2 + alpha |f|^2,  f = sum_j a_j k(x_j, x)

    Parameters
    ----------
    alpha : float, default=1.0
        penalty.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian'}, default='linear'
        k(x, z).
    gamma : float or None, default=None
        factor in all kernels but 'linear'; None: 1 / columns.
    degree : int, default=3
        degree of 'poly'.
    coef0 : float, default=1.0
        constant in 'poly' and 'sigmoid'.
    kernel_params : None, default=None
        only None.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Saunders, Gammerman and Vovk 1998; Kimeldorf and Wahba 1971 (representer theorem)
    """

    _recipe = 'KernelRidge'

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str = 'linear',
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        kernel_params: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
