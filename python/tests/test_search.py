"""Searches, comparisons, specs as estimators, models that choose their penalty, promises."""

import copy
import pickle

import margin
import numpy as np
import pytest
import sklearn.linear_model
from checks import NEWEST, failed_checks, newest, older
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold

GRIDS = [
    (margin.SVC(tol=1e-10), {"C": [0.1, 1, 10], "gamma": [0.1, 1.0]}, None), (margin.SVC(tol=1e-10), {"kernel": ["rbf", "linear"]}, None),
    (margin.SVC(tol=1e-10), [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": ["scale", 0.2]}], KFold(4, shuffle=True, random_state=1)),
    (margin.LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, StratifiedKFold(3)), (margin.KNeighborsClassifier(), {"n_neighbors": [1, 5], "p": [1, 2]}, 4),
    (margin.GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, None), (margin.Ridge(), {"alpha": [0.1, 10.0]}, None),
    (margin.Lasso(), {"alpha": [0.01, 0.1]}, None), (margin.KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 1.0]}, 3),
]


@pytest.mark.parametrize("estimator, grid, cv", GRIDS, ids=lambda v: type(v).__name__)
def test_the_same_table(iris, diabetes, estimator, grid, cv):
    X, y = iris if is_classifier(estimator) else diabetes
    words = {"cv": cv, "return_train_score": True}
    ours, theirs = margin.Search(estimator, grid, **words).fit(X, y), GridSearchCV(estimator, grid, **words).fit(X, y)
    a, b = ours.cv_results_, theirs.cv_results_
    assert set(b) - set(a) == set() and set(a) - set(b) == {"spec", "gap", "status"}
    assert a["params"] == b["params"]
    for key in b:
        if key.endswith("_score"):
            assert np.allclose(a[key], b[key], rtol=1e-6, atol=1e-9), key
        if key.startswith("param_"):
            assert a[key].tolist() == b[key].tolist()
    assert ours.best_score_ == pytest.approx(theirs.best_score_) and ours.n_splits_ == theirs.n_splits_
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.score(X, y) == ours.best_estimator_.score(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))


def test_an_infinite_loss_is_not_the_best():
    X, y = np.arange(40.0)[:, None] % 5, np.arange(40) ** 2 % 7 % 2
    table = margin.search("knn(k={1,2})", X, y, metric="log_loss")
    assert table.best is None and not any(c.counts for c in table.cells) and all(np.isinf(c.mean) for c in table.cells)
    assert margin.Search("knn(k={1,2})", scoring="neg_log_loss").fit(X, y).best_score_ == -np.inf


def test_options_of_other_kernels(iris):
    X, y = iris
    search = margin.Search("svm(kernel={rbf,poly}, degree={2,3})", cv=3).fit(X, y)
    params = search.cv_results_["params"]
    assert [p["svm__degree"] for p in params] == [None, 2, 3] and [p["svm__kernel"] for p in params] == ["rbf", "poly", "poly"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and search.predict(X).shape == y.shape


def test_searching_a_spec(iris, cancer):
    X, y = iris
    spec = "standardize | svm(C={0.1,1,10}, kernel=rbf, gamma={0.1,1})"
    full = margin.Search(spec).fit(X, y)
    assert len(full.cv_results_["params"]) == 6 and set(full.best_params_) == {"svm__C", "svm__gamma"}
    some = margin.Search(spec, method="random", n_iter=3).fit(X, y)
    assert len(some.cv_results_["params"]) == 3
    drawn = {str(margin.Search(spec, method="random", n_iter=3, random_state=k).fit(X, y).cv_results_["params"]) for k in range(4)}
    assert len(drawn) > 1
    halved = margin.Search(spec, method="halving").fit(*cancer)
    assert sum(c.dropped > 0 for c in halved.table_.cells) >= 3 and halved.score(*cancer) > 0.9
    simple = margin.Search(spec, one_se=True).fit(X, y)
    assert simple.best_score_ <= full.best_score_ and simple.table_.best_one_se.spec == simple.best_estimator_.spec
    named = margin.Search("standardize | logistic", {"logistic__C": [0.1, 1.0]}, scoring="neg_log_loss").fit(X, y)
    assert named.best_params_["logistic__C"] == 1.0 and named.best_score_ < 0 and named.predict_proba(X).shape == (150, 3)
    assert named.score(X, y) < 0


def test_what_a_search_refuses(iris):
    X, y = iris
    for wrong, words in [
        (margin.Search(margin.SVC(), {"C": [1]}, cv=ShuffleSplit(3)), "cv="), (margin.Search(margin.SVC(), {"C": [1]}, cv=RepeatedKFold()), "cv="),
        (margin.Search(margin.SVC(), {"C": [1]}, scoring=len), "scoring="), (margin.Search(sklearn.linear_model.Ridge(), {"alpha": [1]}), "no estimator of margin"),
        (margin.Search(margin.SVC(), {"class_weight": [None]}), "class_weight"), (margin.Search(margin.SVC()), "param_grid"),
        (margin.Search("svm", method="no"), "method"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong.fit(X, y)


@pytest.mark.parametrize("estimator", [margin.KernelRidge(kernel=np.dot), margin.KernelRidge(kernel="precomputed"), margin.SVR(kernel=np.dot)], ids=["ridge", "gram", "svr"])
def test_kernels_that_folds_do_not_take(diabetes, estimator):
    X, y = diabetes[0][:40], diabetes[1][:40]
    rows = X @ X.T if estimator.kernel == "precomputed" else X
    with pytest.raises(margin.UnsupportedError, match="use scikit-learn's GridSearchCV"):
        margin.Search(estimator, {}).fit(rows, y)
    with pytest.raises(margin.UnsupportedError, match="GridSearchCV"):
        margin.Search(type(estimator)(kernel="linear"), {"kernel": ["rbf", estimator.kernel]}).fit(rows, y)
    with pytest.raises(margin.UnsupportedError, match="name a kernel"):
        margin.Conformal(estimator).fit(rows, y)
    model = margin.fit("kernel-ridge(kernel=user)", X, y, kernel=lambda A, B: A @ B.T).promise(X, y, coverage=0.9)
    assert model.coverage == 0.9 and np.less(*model.intervals(X[:3])).all()


def test_comparisons(iris, diabetes):
    table = margin.compare(*iris)
    assert table.metric == "accuracy" and table.cells[0] is not None and table.best.mean == table.cells[0].mean
    assert [c.mean for c in table.cells] == sorted((c.mean for c in table.cells), reverse=True)
    assert "baseline" in str(table) and "<table>" in table._repr_html_()
    assert table.cells[0].low < table.cells[0].mean < table.cells[0].high <= 1
    mean, low, high = table.interval(table.cells[-1].values, table.cells[0].values)
    assert mean <= 0 and low < mean < high
    with pytest.raises(ValueError, match="pickle"):
        pickle.loads(pickle.dumps(table)).interval(table.cells[0].values)
    two = margin.compare(*diabetes, ["ridge(alpha={1,10})", "standardize | knn"], metric="mae", folds=3, seed=4)
    assert [c.owner for c in two.cells] == [0, 1] and two.greater is False
    assert margin.usual_specs(*diabetes)[0] == "least-squares"
    found = margin.search(["ridge(alpha={1,10})"], *diabetes, folds=4, repeats=2, training=True, predictions=True)
    assert found.splits == 8 and found.best.predictions.shape == (2, 442) and found.best.training.shape == (8,)
    assert found.best.mean == pytest.approx(found.best.values.mean())
    with pytest.raises(margin.DataError, match="fold"):
        margin.search("logistic", *iris, folds=60, stratify=True)


@pytest.mark.parametrize("spec, task, tests", [
    ("standardize | svm(tol=1e-10)", "classify", is_classifier), ("standardize | ridge", None, is_regressor), ("impute | knn", "regress", is_regressor),
    ("kmeans(k=2)", None, None), pytest.param("standardize | poly", None, None, marks=pytest.mark.long),
], ids=str)
def test_specs_are_estimators(spec, task, tests):
    estimator = margin.Model(spec, task)
    assert tests is None or tests(estimator)
    assert set(failed_checks(estimator)) <= (set() if NEWEST else older("_OfSpec", []))


def test_a_spec_has_parameters(iris):
    X, y = iris
    model = margin.Model("standardize | svm(C=10)", task="classify")
    assert model.get_params()["svm__C"] == 10
    assert clone(model).set_params(svm__C=2.5, svm__kernel="rbf").spec == "standardize | svm(kernel=rbf, C=2.5, task=classify)"
    assert GridSearchCV(model, {"svm__C": [0.1, 1.0]}).fit(X, y).best_params_ == {"svm__C": 1.0}
    with pytest.raises(ValueError, match="has the steps standardize, svm"):
        model.set_params(pca__k=1)
    with pytest.raises(margin.SpecError, match="C"):
        model.set_params(svm__C=-1)
    with pytest.raises(ValueError, match="say which"):
        margin.Model("knn")
    with pytest.raises(ValueError, match="cannot"):
        margin.Model("ridge", task="classify")
    names = margin.Model("standardize | poly(degree=2)").fit(X[:, :2]).get_feature_names_out()
    assert len(names) == 6
    fitted = model.fit(X, np.array(["a", "b", "c"])[y])
    assert set(fitted.predict(X)) == {"a", "b", "c"} and fitted.report_.converged and fitted.decision_function(X).shape == (150, 3)


def test_categories_in_specs():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"kind": ["a", "b", "a", "c"] * 10, "size": np.arange(40.0)})
    y = (frame.kind == "a").to_numpy()
    model = margin.Model("onehot | logistic").fit(frame, y)
    assert model.score(frame, y) == 1.0 and list(model.feature_names_in_) == ["kind", "size"]
    assert model.predict(frame[:2]).tolist() == [True, False]
    search = margin.Search("onehot | logistic(C={0.1,1})").fit(frame, frame.kind)
    assert search.score(frame, frame.kind) == 1.0 and list(search.classes_) == ["a", "b", "c"]
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    assert margin.Search("onehot | logistic(C={0.1,1})", cv=halves).fit(frame, y).n_splits_ == 2


CROSSED = [
    ("RidgeCV", {}, {}), ("RidgeCV", {"alphas": np.logspace(-3, 3, 13), "fit_intercept": False}, {}), ("RidgeCV", {"cv": 4}, {}),
    ("LassoCV", {"cv": 3}, {"tol": 1e-10, "max_iter": 100000}), ("LassoCV", {"alphas": [0.1, 1.0, 0.01]}, {"tol": 1e-10, "max_iter": 100000}),
]


@pytest.mark.parametrize("name, parameters, theirs", CROSSED, ids=str)
def test_penalties_are_chosen_alike(diabetes, name, parameters, theirs):
    X, y = diabetes
    ours = getattr(margin, name)(**parameters).fit(X, y)
    reference = getattr(sklearn.linear_model, name)(**{**parameters, **theirs}).fit(X, y)
    assert ours.alpha_ == pytest.approx(reference.alpha_)
    assert np.allclose(ours.coef_, reference.coef_, rtol=1e-4, atol=1e-4) and ours.coef_.shape == reference.coef_.shape
    if name == "RidgeCV":
        assert ours.best_score_ == pytest.approx(reference.best_score_)
    else:
        assert np.allclose(ours.alphas_, reference.alphas_) and np.allclose(ours.mse_path_, reference.mse_path_, rtol=1e-5)


@newest
@pytest.mark.filterwarnings("ignore")
def test_logistic_regression_cv(iris):
    X, y = iris[0][50:], iris[1][50:]
    ours = margin.LogisticRegressionCV(Cs=5, scoring="neg_log_loss").fit(X, y)
    theirs = sklearn.linear_model.LogisticRegressionCV(Cs=5, scoring="neg_log_loss", max_iter=10000, tol=1e-10).fit(X, y)
    assert ours.C_ == pytest.approx(np.ravel(theirs.C_)[0]) and ours.scores_.shape == (5, 1, 5)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert margin.LogisticRegressionCV(Cs=[0.1, 1.0], l1_ratios=[0, 1.0], cv=3).fit(X, y).scores_.shape == (3, 2, 2)


def test_predictions_of_several_targets(rng):
    X = rng.normal(size=(40, 3))
    Y = np.column_stack([X @ [1.0, 2, 3], 100 + X @ [0.0, 1, 0]])
    cell = margin.search("ridge(alpha={1e-6,1e-5})", X, Y, folds=4, predictions=True).cells[0]
    assert cell.predictions.shape == (1, 40, 2) and np.abs(cell.predictions[0] - Y).max() < 1e-3


def test_promises(iris, diabetes):
    X, y = diabetes
    learn, test = np.arange(442) % 2 == 0, np.arange(442) % 2 == 1
    wrapped = margin.Conformal(margin.Ridge(alpha=0.1), coverage=0.8).fit(X[learn], y[learn])
    ends = wrapped.predict_interval(X[test])
    assert ends.shape == (221, 2) and 0.7 < ((ends[:, 0] <= y[test]) & (y[test] <= ends[:, 1])).mean() < 0.9
    assert np.array_equal(wrapped.predict(X), wrapped.estimator_.predict(X)) and wrapped.model_.coverage == 0.8
    again = copy.deepcopy(wrapped)
    assert np.array_equal(again.predict_interval(X[:3]), wrapped.predict_interval(X[:3]))
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    sets = margin.Conformal("standardize | logistic", coverage=0.9, random_state=1).fit(X, names).predict_set(X)
    assert sets.shape == (150, 3) and sets[np.arange(150), y].mean() > 0.85
    with pytest.raises(ValueError, match="margin, nor a spec"):
        margin.Conformal(sklearn.linear_model.Ridge()).fit(X, y)
    model = margin.fit("logistic", X[50:], y[50:])
    calibrated = model.promise(X[50:], y[50:], calibrate="sigmoid")
    assert not np.allclose(calibrated.probabilities(X), model.probabilities(X))
    shifted = model.promise(X[50:], y[50:], threshold=0.9)
    assert shifted.predict(X).sum() < model.predict(X).sum()
    careful = model.promise(X[50:], y[50:], costs=[[0, 1], [9, 0]])
    assert (careful.predict(X) == 2).sum() > (model.predict(X) == 2).sum()


def test_an_interval_is_of_all_splits(iris):
    table = margin.search("logistic(C={1,10})", *iris, folds=5)
    for values, against in (([0.5], None), (np.ones((5, 2)), None), (np.ones(5), np.ones(4))):
        with pytest.raises(ValueError, match="each of 5 splits"):
            table.interval(values, against)


def test_promises_of_nothing(iris):
    model = margin.fit("naive-bayes", *iris)
    for options in ({"coverage": 0}, {"threshold": 0.0}):
        with pytest.raises(ValueError, match="above 0"):
            model.promise(*iris, **options)


def test_promises_with_weights(iris, rng):
    X, y = iris[0][50:], iris[1][50:]
    weights = rng.integers(1, 4, len(y)).astype(float)
    model = margin.fit("logistic", X, y, sample_weight=weights)
    by_hand = [model.promise(X, y, sample_weight=given, calibrate="sigmoid").probabilities(X) for given in (weights, np.ones(100), None)]
    assert np.array_equal(by_hand[1], by_hand[2]) and not np.allclose(by_hand[0], by_hand[1])
    with pytest.raises(margin.ArgumentError, match="rows, which count alike: leave the weights out"):
        model.promise(X, y, sample_weight=weights, coverage=0.8)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [
    margin.Search(margin.SVC(tol=1e-13), {"C": [1, 10]}), margin.Search(margin.Ridge(), {"alpha": [1, 10]}),
    margin.Conformal(margin.Ridge(), coverage=0.6), margin.Conformal(margin.LogisticRegression(), coverage=0.6),
], ids=lambda e: f"{type(e).__name__} {type(e.estimator).__name__}")
def test_wrappers_are_checked(estimator):
    assert set(failed_checks(estimator)) <= (set() if NEWEST else older("_OfSpec", []))


def test_settings_are_drawn_from_distributions(iris):
    import scipy.stats
    from sklearn.model_selection import ParameterSampler, RandomizedSearchCV

    X, y = iris
    grid = {"C": scipy.stats.loguniform(1e-2, 1e2), "gamma": ["scale", 0.1]}
    ours = margin.Search(margin.SVC(tol=1e-8), grid, method="random", n_iter=4, random_state=3).fit(X, y)
    theirs = RandomizedSearchCV(margin.SVC(tol=1e-8), grid, n_iter=4, random_state=3).fit(X, y)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"] and ours.best_params_ == theirs.best_params_
    assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    named = margin.Search("standardize | logistic", [{"logistic__C": scipy.stats.loguniform(1e-2, 1e2)}], method="halving", n_iter=5).fit(X, y)
    expected = [s["logistic__C"] for s in ParameterSampler([{"logistic__C": grid["C"]}], 5, random_state=0)]
    assert [s["logistic__C"] for s in named.cv_results_["params"]] == expected
    with pytest.raises(TypeError, match="list or a numpy array"):
        margin.Search(margin.SVC(), grid).fit(X, y)


def test_folds_by_a_random_state(diabetes):
    X, y = diabetes
    ends = [margin.Conformal(margin.Lasso(), random_state=np.random.RandomState(0)).fit(X, y).predict_interval(X[:2]) for _ in range(2)]
    assert np.array_equal(*ends)
