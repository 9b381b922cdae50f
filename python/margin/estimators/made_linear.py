"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""

from __future__ import annotations

from typing import Any

from margin.estimators.classifiers import LinearClassifier
from margin.estimators.regressors import LinearRegressor, LinearTargets


class LinearRegression(LinearTargets):
    """Least squares.

    margin's `least-squares`: minimise (1/m) sum (w.x + b - y)^2

    Parameters
    ----------
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    copy_X : bool, default=True
        no effect: X is never written to.
    tol : float, default=1e-06
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    n_jobs : int or None, default=None
        threads; None: all cores. The model does not depend on it.
    positive : False, default=False
        only False.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Gauss 1809; Björck 1996
    """

    _recipe = 'LinearRegression'

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-06,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive


class Ridge(LinearTargets):
    """Least squares with a penalty on the square of the weights.

    margin's `ridge`: minimise sum (w.x + b - y)^2 + alpha |w|^2

    Parameters
    ----------
    alpha : float, default=1.0
        penalty.
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    copy_X : bool, default=True
        no effect: X is never written to.
    max_iter : int or None, default=None
        limit on steps; None: none.
    tol : float, default=1e-06
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    solver : {'auto', 'cholesky', 'svd', ...}, default='auto'
        'svd' takes a QR factorisation, the others the library's choice.
    positive : False, default=False
        only False.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Hoerl and Kennard 1970
    """

    _recipe = 'Ridge'

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-06,
        solver: str = 'auto',
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state


class Lasso(LinearRegressor):
    """Least squares with a penalty on the absolute weights.

    margin's `lasso`: minimise sum (w.x + b - y)^2 + alpha |w|_1

    Parameters
    ----------
    alpha : float, default=1.0
        penalty.
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    precompute : bool or array, default=False
        no effect: the answer does not depend on it.
    copy_X : bool, default=True
        no effect: X is never written to.
    max_iter : int or None, default=None
        limit on steps; None: none.
    tol : float, default=1e-09
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    warm_start : False, default=False
        only False.
    positive : False, default=False
        only False.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.
    selection : {'cyclic', 'random'}, default='cyclic'
        no effect: the answer does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Tibshirani 1996; Massias, Gramfort and Salmon 2018 (working sets)
    """

    _recipe = 'Lasso'

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-09,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = 'cyclic',
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class ElasticNet(LinearRegressor):
    """Least squares with the penalties of ridge and lasso in one.

    margin's `elastic-net`: minimise sum (w.x + b - y)^2 + alpha ((1-r) |w|^2 + r |w|_1)

    Parameters
    ----------
    alpha : float, default=1.0
        penalty.
    l1_ratio : float, default=0.5
        share of the absolute values in the penalty.
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    precompute : bool or array, default=False
        no effect: the answer does not depend on it.
    max_iter : int or None, default=None
        limit on steps; None: none.
    copy_X : bool, default=True
        no effect: X is never written to.
    tol : float, default=1e-09
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    warm_start : False, default=False
        only False.
    positive : False, default=False
        only False.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.
    selection : {'cyclic', 'random'}, default='cyclic'
        no effect: the answer does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Zou and Hastie 2005; Massias, Gramfort and Salmon 2018 (working sets)
    """

    _recipe = 'ElasticNet'

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = None,
        copy_X: bool = True,
        tol: float = 1e-09,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = 'cyclic',
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class LogisticRegression(LinearClassifier):
    """Logistic regression; with more than two classes softmax regression.

    margin's `logistic`: C sum log(1+exp(-y f)) + |w|^2/2,  f = w.x + b,  P(y=1) = 1/(1+exp(-f))

    Parameters
    ----------
    penalty : {'l2', 'l1', 'elasticnet', None}, default='deprecated'
        as l1_ratio and C say it.
    C : float, default=1.0
        weight of the summed loss against the penalty; inf: no penalty.
    l1_ratio : float or None, default=0.0
        share of the absolute values in the penalty; two classes only.
    dual : bool, default=False
        no effect: the answer does not depend on it.
    tol : float, default=1e-09
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    intercept_scaling : float, default=1
        no effect: the intercept is not penalised.
    class_weight : dict, 'balanced' or None, default=None
        weights of the classes.
    random_state : int, RandomState or None, default=None
        no effect: the solver makes no random choices.
    solver : {'lbfgs', 'newton-cg', 'liblinear', ...}, default='lbfgs'
        no effect: the answer does not depend on it; the library chooses.
    max_iter : int or None, default=None
        limit on steps; None: none.
    verbose : int, default=0
        no effect.
    warm_start : False, default=False
        only False.
    n_jobs : int or None, default=None
        threads; None: all cores. The model does not depend on it.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Cox 1958; Liu and Nocedal 1989 (L-BFGS); Byrd, Chin, Neveitt and Nocedal 2011 (sampled Hessians)
    """

    _recipe = 'LogisticRegression'

    def __init__(
        self,
        penalty: Any = 'deprecated',
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-09,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = 'lbfgs',
        max_iter: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs


class LinearSVC(LinearClassifier):
    """Linear support vector machine.

    margin's `svm`: C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)

    Parameters
    ----------
    penalty : {'l2'}, default='l2'
        only 'l2'.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        what a row costs.
    dual : bool or 'auto', default='auto'
        no effect: the answer does not depend on it.
    tol : float, default=1e-09
        relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by
        solver.
    C : float, default=1.0
        weight of the summed loss against the penalty; inf: no penalty.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        more than two classes: one against the rest, or all at once.
    fit_intercept : bool, default=True
        fit an intercept, which is never penalised.
    intercept_scaling : float, default=1
        no effect: the intercept is not penalised.
    class_weight : dict, 'balanced' or None, default=None
        weights of the classes.
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

    _recipe = 'LinearSVC'

    def __init__(
        self,
        penalty: str = 'l2',
        loss: str = 'squared_hinge',
        *,
        dual: Any = 'auto',
        tol: float = 1e-09,
        C: float = 1.0,
        multi_class: str = 'ovr',
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter


class Perceptron(LinearClassifier):
    """Rosenblatt's perceptron.

    margin's `perceptron`: while a row has y (w.x + b) <= 0:  w += rate y x,  b += rate y

    Parameters
    ----------
    penalty : None, default=None
        only None.
    alpha : float, default=0.0001
        no effect without a penalty.
    l1_ratio : float, default=0.15
        no effect without a penalty.
    fit_intercept : True, default=True
        only True.
    max_iter : int or None, default=None
        limit on passes over the rows; None: 1000, more where it is known that it will end.
    tol : float or None, default=None
        no effect: it ends when no row is misclassified.
    shuffle : bool, default=True
        visit the rows in a new random order each pass.
    verbose : int, default=0
        no effect.
    eta0 : float, default=1.0
        step of an update, up to 1; it only scales the weights.
    n_jobs : int or None, default=None
        threads; None: all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=0
        of the order.
    early_stopping : False, default=False
        only False.
    validation_fraction : float, default=0.1
        no effect without early_stopping.
    n_iter_no_change : int, default=5
        no effect without early_stopping.
    class_weight : dict, 'balanced' or None, default=None
        weights of the classes.
    warm_start : False, default=False
        only False.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Rosenblatt 1958; Novikoff 1962; Gallant 1990 (pocket); Freund and Schapire 1999 (averaged);
    Aizerman, Braverman and Rozonoer 1964 (kernel)
    """

    _recipe = 'Perceptron'

    def __init__(
        self,
        *,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
