"""Estimators in scikit-learn's tools: what is asked of fits by routing, and estimators around others."""

import inspect

import margin
import numpy as np
import pytest
import sklearn
from checks import newest
from margin.estimators import BY_HAND
from margin.estimators.attributes import ALWAYS, OF_BASE
from margin.estimators.recipes import RECIPES
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline


@newest
def test_weights_are_routed(iris, rng):
    X, y = iris
    weights = rng.integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = margin.LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaled = make_pipeline(margin.StandardScaler().set_fit_request(sample_weight=True), asked)
        grid = {"logisticregression__C": [0.1, 1.0]}
        routed = GridSearchCV(scaled, grid, cv=3).fit(X, y, sample_weight=weights)
        assert routed.best_estimator_[-1].model_.report.rows == np.count_nonzero(weights)
        best = clone(routed.best_estimator_).fit(X, y, sample_weight=weights)
        assert np.array_equal(best[-1].coef_, routed.best_estimator_[-1].coef_)
        assert not np.allclose(best[-1].coef_, clone(best).fit(X, y, sample_weight=np.ones(150))[-1].coef_)
        silent = margin.LogisticRegression().set_fit_request(sample_weight=False).set_score_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            make_pipeline(margin.MinMaxScaler(), silent).fit(X, y, sample_weight=weights)
        search = margin.Search(margin.Ridge(), {"alpha": [0.1, 1.0]}).set_fit_request(sample_weight=True)
        within = make_pipeline(margin.MinMaxScaler(), search).fit(X, X[:, 0], sample_weight=weights)[-1]
    direct = margin.Search(margin.Ridge(), {"alpha": [0.1, 1.0]}).fit(margin.MinMaxScaler().fit_transform(X), X[:, 0], weights)
    assert np.array_equal(within.cv_results_["mean_test_score"], direct.cv_results_["mean_test_score"])
    assert np.array_equal(within.best_estimator_.coef_, direct.best_estimator_.coef_)


def test_columns_of_several_kinds(iris):
    X, y = iris
    parts = ColumnTransformer([("scaled", margin.StandardScaler(), [0, 1]), ("products", margin.PolynomialFeatures(), [2]),
                               ("near", margin.KMeans(2), [3])], remainder=margin.Normalizer())
    theirs = np.hstack([margin.StandardScaler().fit_transform(X[:, :2]), margin.PolynomialFeatures().fit_transform(X[:, 2:3]),
                        margin.KMeans(2).fit_transform(X[:, 3:])])
    assert np.array_equal(parts.fit_transform(X), theirs)
    assert list(parts.get_feature_names_out())[:3] == ["scaled__x0", "scaled__x1", "products__1"]
    assert cross_validate(make_pipeline(parts, margin.LinearSVC()), X, y, cv=3)["test_score"].min() > 0.85


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("estimator", [margin.LinearSVC(), margin.SVC(), margin.GaussianNB()], ids=lambda e: type(e).__name__)
def test_calibrated(iris, estimator, method):
    X, y = iris
    found = CalibratedClassifierCV(estimator, method=method, cv=3).fit(X, y)
    shares = found.predict_proba(X)
    assert shares.shape == (150, 3) and np.allclose(shares.sum(axis=1), 1) and found.score(X, y) > 0.9


def test_stacked(iris, diabetes):
    X, y = iris
    found = StackingClassifier([("svc", margin.SVC()), ("knn", margin.KNeighborsClassifier()), ("bayes", margin.GaussianNB())],
                               final_estimator=margin.LogisticRegression(), cv=3).fit(X, y)
    assert found.score(X, y) > 0.9 and found.final_estimator_.report_.converged and found.transform(X).shape == (150, 9)
    X, y = diabetes
    many = StackingRegressor([("ridge", margin.Ridge()), ("near", margin.KNeighborsRegressor())], final_estimator=margin.LinearRegression(), cv=3)
    assert many.fit(X, y).score(X, y) > 0.4


@pytest.mark.filterwarnings("ignore::margin.ConvergenceWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_attributes_are_documented(iris, name):
    words = {"kernel": "linear"} if name in ("SVC", "SVR", "OneClassSVM") else {}
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(iris[0].round(), columns=list("abcd"))
    with margin.config_context(trace=True):
        estimator = getattr(margin, name)(**words).fit(X, iris[1])
    there = {word for word in dir(estimator) if word.endswith("_") and not word.startswith("_") and hasattr(estimator, word)}
    told = {word for word, _, _ in (*ALWAYS, *OF_BASE[RECIPES[name].base])}
    assert told <= there and there - told <= {"n_iter_", "trace_"}
    assert all(f"\n    {word} : " in type(estimator).__doc__ for word in told)


@pytest.mark.parametrize("name", [*RECIPES, *BY_HAND])
def test_what_methods_take_and_return_is_documented(name):
    kind = getattr(margin, name)
    for method in ("fit", "predict", "transform", "predict_proba", "decision_function"):
        if method in dir(kind) and not (name in BY_HAND and method in ("predict_proba", "decision_function")):
            text = inspect.getdoc(inspect.getattr_static(kind, method) if method == "predict_proba" else getattr(kind, method))
            assert "Parameters\n---" in text and "Returns\n---" in text, method
