"""Made by tools/make_estimators.py from recipes.py and the registry; do not edit."""

from __future__ import annotations

from typing import Any

from margin.estimators.classifiers import BayesClassifier, CategoryClassifier, CountClassifier, DiscreteClassifier


class GaussianNB(BayesClassifier):
    """Naive Bayes of normal columns.

    margin's `naive-bayes`: P(c|x) ~ P(c) prod_j P(x_j|c),  P(c) = (N_c + s) / (N + K s),
    P(x_j=a|c) = (N_jac + s) / (N_jc + S_j s)

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or None, default=None
        shares of the classes.
    var_smoothing : float, default=1e-09
        share of the greatest variance that is added to every variance.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Hand and Yu, Idiot's Bayes - not so stupid after all?, 2001; McCallum and Nigam 1998
    (multinomial and Bernoulli); Chan, Golub and LeVeque 1979 (moments)
    """

    _recipe = 'GaussianNB'

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-09,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing


class MultinomialNB(CountClassifier):
    """Naive Bayes of counts, such as those of words.

    margin's `naive-bayes`: P(c|x) ~ P(c) prod_j P(x_j|c),  P(c) = (N_c + s) / (N + K s),
    P(x_j=a|c) = (N_jac + s) / (N_jc + S_j s)

    Parameters
    ----------
    alpha : float, default=1.0
        added to every count.
    force_alpha : bool, default=True
        no effect: alpha is taken as it is.
    fit_prior : bool, default=True
        learn the shares of the classes; False: equal ones.
    class_prior : array-like of shape (n_classes,) or None, default=None
        shares of the classes.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Hand and Yu, Idiot's Bayes - not so stupid after all?, 2001; McCallum and Nigam 1998
    (multinomial and Bernoulli); Chan, Golub and LeVeque 1979 (moments)
    """

    _recipe = 'MultinomialNB'

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class BernoulliNB(DiscreteClassifier):
    """Naive Bayes of columns that are above 0 or not.

    margin's `naive-bayes`: P(c|x) ~ P(c) prod_j P(x_j|c),  P(c) = (N_c + s) / (N + K s),
    P(x_j=a|c) = (N_jac + s) / (N_jc + S_j s)

    Parameters
    ----------
    alpha : float, default=1.0
        added to every count.
    force_alpha : bool, default=True
        no effect: alpha is taken as it is.
    binarize : 0.0 or None, default=0.0
        columns are true above it.
    fit_prior : bool, default=True
        learn the shares of the classes; False: equal ones.
    class_prior : array-like of shape (n_classes,) or None, default=None
        shares of the classes.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Hand and Yu, Idiot's Bayes - not so stupid after all?, 2001; McCallum and Nigam 1998
    (multinomial and Bernoulli); Chan, Golub and LeVeque 1979 (moments)
    """

    _recipe = 'BernoulliNB'

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class CategoricalNB(CategoryClassifier):
    """Naive Bayes of columns whose numbers are categories.

    margin's `naive-bayes`: P(c|x) ~ P(c) prod_j P(x_j|c),  P(c) = (N_c + s) / (N + K s),
    P(x_j=a|c) = (N_jac + s) / (N_jc + S_j s)

    Parameters
    ----------
    alpha : float, default=1.0
        added to every count.
    force_alpha : bool, default=True
        no effect: alpha is taken as it is.
    fit_prior : bool, default=True
        learn the shares of the classes; False: equal ones.
    class_prior : array-like of shape (n_classes,) or None, default=None
        shares of the classes.
    min_categories : None, default=None
        only None.

    Attributes
    ----------
    model_ : margin.Model
    report_ : margin.Report
        What was minimised, how it ended, and the proven gap.

    References
    ----------
    Hand and Yu, Idiot's Bayes - not so stupid after all?, 2001; McCallum and Nigam 1998
    (multinomial and Bernoulli); Chan, Golub and LeVeque 1979 (moments)
    """

    _recipe = 'CategoricalNB'

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
