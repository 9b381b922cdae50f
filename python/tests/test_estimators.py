"""scikit-learn's names: the same answers, scikit-learn's own checks, and what is refused."""

import copy
import pickle
import warnings

import margin
import numpy as np
import pytest
import sklearn.cluster
import sklearn.impute
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.preprocessing
import sklearn.svm
from checks import NEWEST, failed_checks, newest, older
from margin.estimators.recipes import RECIPES
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

# Sample weights as copies of rows, to 1e-7: with the gap that the test needs.
TIGHT = {
    "SVC": {"tol": 1e-14},
    "SVR": {"tol": 1e-14}, "LinearSVR": {"tol": 1e-14},
    "RadiusNeighborsClassifier": {"radius": 10.0, "weights": "distance"},  # some row is within it
}
_ORDER = "the answer depends on the order of the rows, so a row of weight 2 is not two rows"
_START = "first centres are drawn by row number, so a row of weight 2 is not two rows"
_OFFSET = "the offset may be any number of an interval where no support vector is free, and the least gap is 1e-10"
_STEPS = "scores near 0 are right to 1e-8, and the check asks for 1e-7 of them"
_WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
# Each is an expected failure of scikit-learn's own class, too.
EXPECTED = {
    "LogisticRegression": dict.fromkeys(_WEIGHTS, _STEPS),
    "LinearSVC": dict.fromkeys(_WEIGHTS, _STEPS),
    "LogisticRegressionCV": dict.fromkeys(_WEIGHTS[:1], _STEPS),
    **dict.fromkeys(("Perceptron", "Pocket", "KernelPerceptron"), dict.fromkeys(_WEIGHTS, _ORDER)),
    "KMeans": dict.fromkeys(_WEIGHTS, _START),
    "OneClassSVM": dict.fromkeys(_WEIGHTS, _OFFSET),
}
QUICK = {"Ridge", "LogisticRegression", "KMeans", "SVC", "OneClassSVM", "MultinomialNB", "StandardScaler", "OneHotEncoder"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.long) for n in RECIPES]
)
def test_check_estimator(name):
    expected = EXPECTED.get(name, {})
    failed = failed_checks(getattr(margin, name)(**TIGHT.get(name, {})))
    if NEWEST:
        assert set(failed) == set(expected), failed
    assert set(failed) <= set(expected) | older(name, expected), failed


THEIRS = {
    "LinearRegression": sklearn.linear_model, "Ridge": sklearn.linear_model, "Lasso": sklearn.linear_model,
    "ElasticNet": sklearn.linear_model, "LogisticRegression": sklearn.linear_model,
    "Perceptron": sklearn.linear_model, **dict.fromkeys(("RidgeCV", "LassoCV", "LogisticRegressionCV"), sklearn.linear_model), "LinearSVC": sklearn.svm, "LinearSVR": sklearn.svm, "SVC": sklearn.svm,
    "SVR": sklearn.svm, "OneClassSVM": sklearn.svm, "KernelRidge": sklearn.kernel_ridge,
    "KNeighborsClassifier": sklearn.neighbors, "KNeighborsRegressor": sklearn.neighbors,
    "GaussianNB": sklearn.naive_bayes, "MultinomialNB": sklearn.naive_bayes, "BernoulliNB": sklearn.naive_bayes,
    "CategoricalNB": sklearn.naive_bayes, "KMeans": sklearn.cluster, "Nystroem": sklearn.kernel_approximation,
    **dict.fromkeys(("RadiusNeighborsClassifier", "RadiusNeighborsRegressor", "NearestNeighbors"), sklearn.neighbors),
    "RBFSampler": sklearn.kernel_approximation, "SimpleImputer": sklearn.impute,
    **dict.fromkeys(("MinMaxScaler", "StandardScaler", "Normalizer", "OneHotEncoder", "PolynomialFeatures"), sklearn.preprocessing),
}
OURS = {"RBFFeatures", "MixedNB", "Pocket", "KernelPerceptron"}


@newest
@pytest.mark.parametrize("name", sorted(set(RECIPES) - OURS))
def test_the_same_parameters(name):
    theirs = getattr(THEIRS[name], name)().get_params()
    ours = getattr(margin, name)().get_params()
    own = {"pick"} if name == "Nystroem" else set()  # which rows it draws
    assert set(theirs) - set(ours) == set() and set(ours) - set(theirs) == own


def pair(name, theirs=None, **parameters):
    return getattr(margin, name)(**parameters), getattr(THEIRS[name], name)(**{**parameters, **(theirs or {})})


REGRESSORS = [
    ("LinearRegression", {}, {}), ("LinearRegression", {}, {"fit_intercept": False}), ("Ridge", {}, {"alpha": 3.0}),
    ("Ridge", {}, {"solver": "svd"}), ("Lasso", {"tol": 1e-12, "max_iter": 100000}, {"alpha": 0.5}),
    ("ElasticNet", {"tol": 1e-12, "max_iter": 100000}, {"alpha": 0.3, "l1_ratio": 0.3}),
    ("ElasticNet", {"tol": 1e-12, "max_iter": 100000}, {"alpha": 0.3, "l1_ratio": 1.0}),
    ("KernelRidge", {}, {"kernel": "rbf", "alpha": 0.1}), ("KernelRidge", {}, {"kernel": "polynomial", "gamma": 0.2}),
    ("KernelRidge", {}, {}), ("KernelRidge", {}, {"kernel": "laplacian"}),
    ("SVR", {"tol": 1e-7}, {"tol": 1e-11}), ("SVR", {"tol": 1e-7}, {"kernel": "linear", "tol": 1e-11}),
    ("SVR", {"tol": 1e-7}, {"kernel": "poly", "gamma": "auto", "coef0": 1.0, "C": 0.1, "tol": 1e-9}),
    ("KNeighborsRegressor", {}, {"n_neighbors": 7}), ("KNeighborsRegressor", {}, {"weights": "distance", "p": 1}),
    ("KNeighborsRegressor", {}, {"metric": "chebyshev", "algorithm": "brute"}),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name, theirs, parameters", REGRESSORS, ids=str)
def test_regressors_agree(diabetes, name, theirs, parameters):
    X, y = diabetes
    y = (y - y.mean()) / y.std() if "SVR" in name else y
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)  # no two distances are equal
    ours, reference = pair(name, theirs, **parameters)
    ours.fit(X, y), reference.fit(X, y)
    scale = np.abs(reference.predict(X)).max()
    assert np.allclose(ours.predict(X), reference.predict(X), rtol=0, atol=(1e-4 if name == "SVR" else 2e-6) * scale)
    if hasattr(reference, "coef_") and hasattr(ours, "coef_"):
        assert ours.coef_.shape == reference.coef_.shape
        assert np.shape(ours.intercept_) == np.shape(reference.intercept_)
    assert ours.verify(X, y).converged or name.startswith("KN")


CLASSIFIERS = [
    ("LogisticRegression", {"tol": 1e-10, "max_iter": 10000}, {"C": 0.5, "tol": 1e-13}),
    ("LogisticRegression", {"tol": 1e-10, "max_iter": 10000}, {"C": np.inf, "tol": 1e-13, "fit_intercept": True}),
    ("LogisticRegression", {"tol": 1e-10, "max_iter": 10000}, {"class_weight": "balanced", "tol": 1e-13}),
    ("LinearSVC", {"tol": 1e-10, "max_iter": 100000, "intercept_scaling": 1e4}, {"C": 0.1}),
    ("SVC", {"tol": 1e-10}, {"tol": 1e-14}), ("SVC", {"tol": 1e-10}, {"kernel": "poly", "coef0": 1.0, "tol": 1e-14}),
    ("SVC", {"tol": 1e-10}, {"kernel": "linear", "decision_function_shape": "ovo", "tol": 1e-14}),
    ("SVC", {"tol": 1e-10}, {"class_weight": {0: 3.0}, "tol": 1e-14}),
    ("KNeighborsClassifier", {}, {}), ("KNeighborsClassifier", {}, {"n_neighbors": 3, "weights": "distance"}),
    ("GaussianNB", {}, {}), ("GaussianNB", {}, {"var_smoothing": 1e-3}),
]


@newest
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name, theirs, parameters", CLASSIFIERS, ids=str)
def test_classifiers_agree(iris, name, theirs, parameters, classes):
    X, y = iris
    X = StandardScaler().fit_transform(X) + 0.01 * np.random.default_rng(0).normal(size=X.shape)
    X, y = (X[50:], y[50:] - 1) if classes == 2 else (X, y)
    if parameters.get("C") == np.inf and classes == 3:
        pytest.skip("a class can be separated: there is no best weight")
    ours, reference = pair(name, theirs, **parameters)
    ours.fit(X, y), reference.fit(X, y)
    assert np.array_equal(ours.classes_, reference.classes_)
    for method in ("predict_proba", "decision_function"):
        if hasattr(reference, method) and hasattr(ours, method):
            a, b = getattr(ours, method)(X), getattr(reference, method)(X)
            assert a.shape == b.shape
            assert np.allclose(a, b, rtol=0, atol=1e-4 if name == "LinearSVC" else 5e-6), np.abs(a - b).max()
    assert np.mean(ours.predict(X) == reference.predict(X)) > 0.99
    if hasattr(reference, "coef_") and hasattr(ours, "coef_"):
        assert ours.coef_.shape == reference.coef_.shape and ours.intercept_.shape == reference.intercept_.shape
    if hasattr(reference, "support_"):
        assert np.array_equal(ours.support_, reference.support_) and np.array_equal(ours.n_support_, reference.n_support_)
        assert np.allclose(ours.support_vectors_, reference.support_vectors_)
        assert np.allclose(ours.dual_coef_, reference.dual_coef_, atol=1e-4) or parameters["kernel"] == "linear"


@newest
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("parameters", [{"l1_ratio": 1.0, "C": 0.5}, {"l1_ratio": 0.4, "C": 0.3}], ids=str)
def test_sparse_logistic_regression(iris, parameters):
    X, y = StandardScaler().fit_transform(iris[0][50:]), iris[1][50:]
    ours = margin.LogisticRegression(tol=1e-13, **parameters).fit(X, y)
    reference = sklearn.linear_model.LogisticRegression(solver="saga", tol=1e-8, max_iter=100000, **parameters).fit(X, y)
    assert np.allclose(ours.coef_, reference.coef_, atol=1e-4)


@newest
@pytest.mark.parametrize("parameters", [
    {}, {"penalty": "l2"}, {"penalty": "l1"}, {"penalty": "l1", "l1_ratio": 1}, {"penalty": "l2", "l1_ratio": 1.0}, {"penalty": "l2", "l1_ratio": 0.5},
    {"penalty": None}, {"penalty": None, "C": 2.0}, {"penalty": None, "l1_ratio": 0.3}, {"penalty": "elasticnet", "l1_ratio": 0.5},
], ids=str)
def test_what_a_penalty_leaves_without_effect_is_said(iris, parameters):
    X, y = StandardScaler().fit_transform(iris[0][50:]), iris[1][50:]
    said = []
    for estimator in pair("LogisticRegression", {"solver": "saga"}, **parameters):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X, y)
        said.append({str(w.message) for w in caught if w.category is UserWarning})
    if parse_version(sklearn.__version__) >= parse_version("1.8"):
        assert said[0] == said[1]
    if "elasticnet" in parameters.values():
        with pytest.raises(ValueError, match="l1_ratio must be specified"):
            margin.LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(X, y)
    with pytest.warns(UserWarning, match="l1_ratios parameter is only used"):
        found = margin.LogisticRegressionCV(Cs=2, l1_ratios=[0, 1.0], penalty="l2", cv=2).fit(X, y)
    assert found.scores_.shape == (2, 1, 2) and found.l1_ratios_.tolist() == [0.0]


@pytest.mark.parametrize("layout", [csr_matrix, csc_matrix])
def test_categories_stored_in_parts(layout):
    """Parts of an entry are added up before they are read as whole numbers."""
    kinds = layout(np.random.default_rng(3).integers(0, 3, (60, 4)))
    y = np.asarray(kinds.sum(axis=1)).ravel() > 4
    halves = np.repeat(kinds.data, 2) / 2, np.repeat(kinds.indices, 2), kinds.indptr * 2
    parts = layout(halves, shape=kinds.shape)
    once = margin.CategoricalNB().fit(kinds, y)
    apart = margin.CategoricalNB().fit(parts, y)
    assert np.array_equal(apart.predict_log_proba(parts), once.predict_log_proba(kinds))
    assert np.array_equal(once.partial_fit(parts, y).class_count_, 2 * apart.class_count_)
    assert parts.nnz == 2 * kinds.nnz  # the caller's own is left as it was


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "CategoricalNB"])
@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.1, "fit_prior": False}, {"class_prior": [0.2, 0.5, 0.3]}], ids=str)
def test_counts_agree(rng, name, parameters):
    X = rng.integers(0, 5, size=(200, 12))
    y = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    ours, reference = pair(name, **parameters)
    ours.fit(X, y), reference.fit(X, y)
    assert np.allclose(ours.predict_proba(X), reference.predict_proba(X))
    for word in {"class_log_prior_", "feature_log_prob_", "feature_count_", "category_count_", "n_categories_"} & set(dir(reference)):
        for a, b in zip(getattr(ours, word), getattr(reference, word), strict=True):
            assert np.shape(a) == np.shape(b) and np.allclose(a, b), word
    assert hasattr(ours, "feature_count_") == hasattr(reference, "feature_count_") and not hasattr(type(ours)(), "feature_log_prob_")


@pytest.mark.parametrize("parameters", [{}, {"priors": [0.2, 0.5, 0.3]}, {"var_smoothing": 0.1}], ids=str)
def test_moments_agree(iris, rng, parameters):
    X, y = iris
    ours, reference = pair("GaussianNB", **parameters)
    for weights in (None, rng.integers(1, 3, len(y)).astype(float)):
        ours.fit(X, y, weights), reference.fit(X, y, weights)
        for word in ("theta_", "class_prior_", "class_count_"):
            assert np.allclose(getattr(ours, word), getattr(reference, word)), word
        assert weights is not None or np.isclose(ours.epsilon_, reference.epsilon_)  # theirs does not weigh it
        assert np.allclose(ours.var_ - ours.epsilon_, reference.var_ - reference.epsilon_)
    ours, reference = pair("GaussianNB", **parameters)
    for part in (slice(0, 80), slice(80, 150)):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2]), reference.partial_fit(X[part], y[part], classes=[0, 1, 2])
        assert np.allclose(ours.theta_, reference.theta_)


def test_class_weights_may_name_classes_that_are_not_there(iris):
    X, y = iris
    folds = {0: 2.0, 1: 1.0, 2: 3.0, 5: 1.0}
    ours, reference = pair("LogisticRegression", class_weight=folds, tol=1e-10)
    assert np.allclose(ours.fit(X, y).coef_, reference.set_params(max_iter=10000).fit(X, y).coef_, atol=1e-3)
    for given in ({5: 1.0}, {0: 2.0, 5: 1.0}):
        said = []
        for estimator in (ours, reference):
            with pytest.raises(ValueError, match="are not in class_weight") as raised:
                estimator.set_params(class_weight=given).fit(X, y)
            said.append(str(raised.value))
        assert said[0] == said[1]
    assert np.allclose(*(e.set_params(class_weight={0: 2.0}).fit(X, y).coef_ for e in (ours, reference)), atol=1e-3)


def test_clusters_and_outliers_agree(iris):
    X, _ = iris
    start = X[[0, 60, 120]]
    ours, reference = (c(3, init=start, n_init=1).fit(X) for c in (margin.KMeans, sklearn.cluster.KMeans))
    assert np.allclose(ours.cluster_centers_, reference.cluster_centers_)
    assert ours.inertia_ == pytest.approx(reference.inertia_) and np.array_equal(ours.labels_, reference.labels_)
    assert np.allclose(ours.transform(X), reference.transform(X)) and ours.score(X) == pytest.approx(reference.score(X))
    assert list(ours.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]
    one, other = margin.OneClassSVM(nu=0.2, tol=1e-9).fit(X), sklearn.svm.OneClassSVM(nu=0.2, tol=1e-10).fit(X)
    assert np.allclose(one.score_samples(X), other.score_samples(X), atol=1e-4)
    assert np.mean(one.predict(X) == other.predict(X)) > 0.97


def test_several_targets(diabetes):
    X, y = diabetes
    Y = np.c_[y, y**2]
    for name in ("LinearRegression", "Ridge", "KernelRidge"):
        ours, reference = pair(name)
        assert np.allclose(ours.fit(X, Y).predict(X), reference.fit(X, Y).predict(X))
    assert margin.Ridge().fit(X, Y).coef_.shape == (2, 10)


def test_warm_start(iris):
    X, y = iris
    model = margin.LogisticRegression(warm_start=True)
    cold = model.fit(X, y).report_
    warm = model.set_params(C=1.1).fit(X, y).report_
    assert warm.iterations < margin.LogisticRegression(C=1.1).fit(X, y).report_.iterations <= cold.iterations + 5
    with pytest.raises(ValueError, match="to start from"):
        model.fit(X[:, :2], y)


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet"])
def test_warm_start_of_l1(diabetes, name):
    X, y = diabetes
    warm, cold = (getattr(margin, name)(alpha=0.01, warm_start=start) for start in (True, False))
    for alpha in (0.01, 0.011):
        reports = [model.set_params(alpha=alpha).fit(X, y).report_ for model in (warm, cold)]
        assert np.allclose(warm.coef_, cold.coef_, rtol=1e-3, atol=1e-3)
    assert reports[0].gap <= reports[0].tolerance and reports[1].gap <= reports[1].tolerance
    with pytest.raises(ValueError, match="to start from"):
        warm.fit(X[:, :2], y)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("Ridge", {"positive": True}), ("SVC", {"probability": True}),
        ("SVC", {"kernel": "cosine"}), ("KNeighborsClassifier", {"metric": "cosine"}),
        ("KNeighborsClassifier", {"weights": np.dot}), ("BernoulliNB", {"binarize": 0.5}), ("LinearSVC", {"penalty": "l1"}),
        ("LinearSVR", {"loss": "squared_epsilon_insensitive"}), ("Perceptron", {"penalty": "l2"}),
        ("CategoricalNB", {"min_categories": 3}), ("LogisticRegression", {"l1_ratio": 1.0}),
        ("Perceptron", {"early_stopping": True}), ("KernelRidge", {"kernel": "cosine"}), ("Ridge", {"alpha": [1.0, 2.0]}),
        ("KernelRidge", {"alpha": np.ones(2)}), ("MultinomialNB", {"alpha": [1.0, 1.0, 2.0, 1.0]}),
    ],
    ids=str,
)
def test_what_is_not_supported_is_said(iris, name, parameters):
    X, y = iris
    (parameter, value), = parameters.items()
    with pytest.raises(margin.UnsupportedError, match=f"{parameter}=.* of {name} is not supported: "):
        getattr(margin, name)(**parameters).fit(abs(X), y)


_ONLY = [(r.name, p.name, p.default) for r in RECIPES.values() for p in r.parameters if p.help.split()[0] == "only" and len(p.help.split()) == 2]


@pytest.mark.parametrize("name, parameter, value", _ONLY, ids=str)
def test_a_parameter_of_one_value_takes_no_other(iris, name, parameter, value):
    X, y = iris
    estimator = getattr(margin, name)(**{parameter: not value if isinstance(value, bool) else "another"})
    with pytest.raises(ValueError, match=parameter):
        estimator.fit(np.abs(X), y)


@pytest.mark.parametrize(
    "estimator, words",
    [
        (margin.Ridge(alpha=-1), "alpha"), (margin.SVC(C=0), "C"), (margin.SVC(gamma="no"), "gamma"),
        (margin.KNeighborsClassifier(n_neighbors=0), "n_neighbors"), (margin.KMeans(n_clusters=2.5), "n_clusters"),
        (margin.ElasticNet(l1_ratio=2), "l1_ratio"), (margin.Ridge(alpha="1"), "alpha"),
        (margin.KMeans(init=np.ones((2, 2))), "init"), (margin.Ridge(fit_intercept="yes"), "fit_intercept"),
    ],
    ids=str,
)
def test_wrong_values_are_named(iris, estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(*iris)


def test_warnings_are_scikit_learns(iris):
    with pytest.warns(ConvergenceWarning, match="gap .* asked after 1 "):
        margin.LogisticRegression(max_iter=1).fit(*iris)
    X = np.repeat(np.eye(3), 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 different rows"):
        assert len(margin.KMeans(5).fit(X).cluster_centers_) == 3


@pytest.mark.parametrize("name", RECIPES)
def test_pickles_and_copies(iris, name):
    X, y = abs(iris[0]).round(), iris[1]
    estimator = getattr(margin, name)().fit(X, y)
    for other in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
        answer = next(m for m in ("predict", "transform", "kneighbors_graph") if hasattr(estimator, m))
        a, b = (getattr(e, answer)(X) for e in (other, estimator))
        assert abs(a - b).max() == 0
        assert other.report_.gap == estimator.report_.gap or np.isnan(estimator.report_.gap)
    assert not hasattr(clone(estimator), "model_")
    assert estimator.report_.rows == 150


def test_inside_scikit_learn(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    grid = GridSearchCV(make_pipeline(StandardScaler(), margin.SVC()), {"svc__C": [0.1, 1, 10]}, cv=3).fit(X, names)
    assert grid.best_score_ > 0.9 and set(grid.predict(X)) == {"a", "b", "c"}
    assert cross_val_score(margin.Ridge(), X, X[:, 0], cv=3, n_jobs=2).min() > 0.9
    assert OneVsRestClassifier(margin.LinearSVC()).fit(X, y).score(X, y) > 0.9


def test_frames_and_names(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = margin.LogisticRegression().fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    distances = margin.KMeans(2).set_output(transform="pandas").fit_transform(frame)
    assert list(distances.columns) == ["kmeans0", "kmeans1"]


def test_coefficients_are_the_models(diabetes):
    ridge = margin.Ridge().fit(*diabetes)
    assert np.shares_memory(ridge.coef_, ridge.model_.weights) and not ridge.coef_.flags.writeable
    assert "proof" not in repr(ridge) and ridge.model_.spec.startswith("ridge(")
    with pytest.raises(AttributeError, match="not fitted"):
        margin.Ridge().coef_


@pytest.mark.parametrize("name", ["Ridge", "LogisticRegression", "SVC", "GaussianNB", "KNeighborsRegressor"])
def test_plain_arrays_are_taken_as_others_are(name, iris):
    X, y = iris
    pandas = pytest.importorskip("pandas")
    strange = [(X, y), (np.asfortranarray(X), list(y)), (X.astype(np.float32).astype(float)[:, :3], y.astype(np.uint8))]
    for rows, labels in strange:
        quick = getattr(margin, name)().fit(np.ascontiguousarray(rows), np.asarray(labels))
        slow = getattr(margin, name)().fit(pandas.DataFrame(rows), np.asarray(labels))
        assert np.array_equal(quick.predict(rows[:9]), slow.predict(pandas.DataFrame(rows[:9])))
        assert quick.n_features_in_ == slow.n_features_in_ == rows.shape[1]
    frame = pandas.DataFrame(X, columns=list("abcd"))
    again = getattr(margin, name)().fit(frame, y)
    assert again.feature_names_in_.tolist() == list("abcd")
    again.fit(X, y)
    assert not hasattr(again, "feature_names_in_")
    for wrong in (np.nan, np.inf, -np.inf):
        broken = X.copy()
        broken[7, 2] = wrong
        with pytest.raises(ValueError, match="NaN|infinity"):
            getattr(margin, name)().fit(broken, y)
    for shape in ((0, 4), (5, 0)):
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            getattr(margin, name)().fit(np.empty(shape), np.zeros(shape[0]))
    with pytest.raises(ValueError, match="inconsistent"):
        getattr(margin, name)().fit(X, y[:9])


@newest
def test_too_many_classes_are_warned_of(iris):
    for labels in (np.arange(150), list(range(150))):
        with pytest.warns(UserWarning, match="number of unique classes is greater than 50%"):
            margin.GaussianNB().fit(iris[0], labels)


def laid_out(X):
    """The same rows in Fortran order, and apart in a larger array."""
    apart = np.zeros((2 * len(X), X.shape[1] + 3))
    apart[::2, 1:-2] = X
    return np.asfortranarray(X), apart[::2, 1:-2]


@pytest.mark.filterwarnings("ignore::margin.ConvergenceWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_the_model_does_not_depend_on_how_rows_lie(iris, name):
    X, y = abs(iris[0]).round(), iris[1]
    plain, *others = (getattr(margin, name)().fit(rows, y) for rows in (X, *laid_out(X)))
    assert all(bytes(other.model_) == bytes(plain.model_) for other in others)


def test_rows_are_used_where_they_lie(iris):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.asfortranarray(iris[0]), columns=list("abcd"))
    for X in (iris[0], *laid_out(iris[0]), frame):
        estimator = margin.LogisticRegression()
        held = estimator._data(estimator._rows(X, reset=True), None, None).x.keep
        assert np.shares_memory(held[0] if isinstance(held, tuple) else held, np.asarray(X))


@pytest.mark.filterwarnings("error")
def test_large_numbers_are_no_infinite_ones(rng):
    X = rng.choice([-1e306, 1e306], (5000, 2), p=[0.1, 0.9])  # their sum overflows
    fitted = margin.BernoulliNB().fit(X, X[:, 0] > 0)
    assert fitted.score(X, X[:, 0] > 0) == 1.0 and fitted.fit(X, (X[:, 0] > 0).astype(int)).report_.rows == 5000
