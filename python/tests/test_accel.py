"""scikit-learn's classes fitted by margin in programs that are not touched."""

import importlib
import logging
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from checks import newest
from margin import accel
from margin.accel.table import TABLE
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = newest
REGRESSORS = {"LinearRegression", "Ridge", "Lasso", "ElasticNet", "SVR", "KernelRidge", "RidgeCV"}


@pytest.fixture
def taken():
    """Small data, too; what is left to scikit-learn raises."""
    accel.install(small=True, strict=True)
    yield
    accel.uninstall()


@pytest.fixture
def lenient():
    accel.install(small=True)
    accel.counts.forget()
    yield
    accel.uninstall()


def kind(name):
    return getattr(importlib.import_module(TABLE[name].module), name)


def ran(code, *words, path=None, **environment):
    """A program of its own: what it printed, and what it said on standard error."""
    command = [sys.executable, *words, *(["-c", code] if path is None else [str(path)])]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


CASES = [
    ("LinearRegression", {}), ("LinearRegression", {"fit_intercept": False}), ("Ridge", {"alpha": 3.0}), ("Ridge", {"solver": "svd"}),
    ("RidgeCV", {}), ("RidgeCV", {"alphas": np.logspace(-2, 3, 7), "fit_intercept": False}), ("Lasso", {"alpha": 0.1}), ("ElasticNet", {"alpha": 0.1}), ("LogisticRegression", {}), ("LogisticRegression", {"C": 0.1, "fit_intercept": False}),
    ("LogisticRegression", {"solver": "liblinear"}), ("LogisticRegression", {"class_weight": "balanced"}),
    ("LogisticRegressionCV", {"Cs": 4}), ("LogisticRegressionCV", {"Cs": [0.1, 1.0], "cv": 3, "scoring": "neg_log_loss", "class_weight": "balanced", "use_legacy_attributes": False}),
    ("LogisticRegressionCV", {"Cs": [0.1, 1.0], "refit": False, "fit_intercept": False, "class_weight": {"b": 2.0}}), ("LogisticRegressionCV", {"Cs": [0.3], "solver": "liblinear", "scoring": "roc_auc"}),
    ("LinearSVC", {}), ("LinearSVC", {"loss": "hinge", "C": 0.1, "intercept_scaling": 10.0}), ("LinearSVC", {"fit_intercept": False}),
    ("SVC", {}), ("SVC", {"kernel": "poly", "coef0": 1.0, "gamma": "auto"}), ("SVC", {"decision_function_shape": "ovo", "class_weight": "balanced"}), ("SVR", {}),
    ("OneClassSVM", {"nu": 0.3}), ("OneClassSVM", {"nu": 0.1, "gamma": 0.5}), ("KernelRidge", {"kernel": "rbf"}), ("KernelRidge", {"alpha": 0.1}),
    ("StandardScaler", {}), ("StandardScaler", {"with_mean": False}), ("StandardScaler", {"with_std": False}),
    ("GaussianNB", {}), ("GaussianNB", {"var_smoothing": 0.1}), ("KMeans", {"n_clusters": 3, "random_state": 0, "tol": 0}),
    ("KMeans", {"n_clusters": 4, "n_init": 4, "init": "random", "random_state": 1, "tol": 0}),
]
EXACT = {"tol": 1e-10, "max_iter": 1000000}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name, parameters", CASES, ids=str)
def test_attributes_and_answers_are_scikit_learns(iris, rng, name, parameters, classes, weighted):
    if name in REGRESSORS and classes == 3 or parameters.get("solver") == "liblinear" and classes == 3:
        pytest.skip("the same case")
    if weighted and name in ("OneClassSVM", "RidgeCV"):
        pytest.skip("scikit-learn's weights mean something else there, so this is left to it")
    if weighted and parameters.get("class_weight") == "balanced" and name != "LogisticRegression":
        pytest.skip("scikit-learn's balance does not look at sample_weight, so this is left to it")
    X, y = iris
    X = StandardScaler().fit_transform(X) + 0.01 * rng.normal(size=X.shape)
    X, y = (X, y) if classes == 3 else (X[50:], y[50:])
    y = X @ [1.0, 2, 0, -1] + rng.normal(size=len(X)) if name in REGRESSORS else np.array(["a", "b", "c"])[y]
    weights = {"sample_weight": rng.uniform(0.5, 2, len(X))} if weighted else {}
    theirs = kind(name)(**parameters)
    exact = {k: v for k, v in EXACT.items() if k in theirs.get_params() and not (name in ("SVC", "SVR", "OneClassSVM", "Ridge") and k == "max_iter") and name != "KMeans"}
    theirs.set_params(**exact).fit(X, y, **weights)
    accel.install(small=True, strict=True)
    try:
        ours = kind(name)(**parameters).fit(X, y, **weights)
    finally:
        accel.uninstall()
    assert set(vars(ours)) == set(vars(theirs))
    for word in set(vars(theirs)) - set(theirs.get_params()):
        a, b = getattr(ours, word), getattr(theirs, word)
        assert type(a) is type(b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0) and np.shape(a) == np.shape(b), word
    if hasattr(theirs, "support_"):
        assert np.array_equal(ours.support_, theirs.support_) and np.allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(theirs, method) and (name, method) != ("OneClassSVM", "predict"):  # a sign, where support vectors are at 0
            a, b = getattr(ours, method)(X), getattr(theirs, method)(X)
            assert np.array_equal(a, b) if a.dtype.kind == "U" else np.allclose(a, b, atol=1e-4), method
    proof = accel.proof(ours)
    if proof and proof.modulus and "coef_" in vars(ours) and name != "LinearRegression":
        assert np.linalg.norm(ours.coef_ - theirs.coef_) < proof.distance + 1e-4


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else a


@pytest.mark.parametrize("container", ["csr_matrix", "csr_array", "csc_matrix"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
@pytest.mark.parametrize("classes", [2, 3])
def test_machines_of_sparse_rows(rng, taken, name, kernel, container, classes):
    X = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.4)
    X[:, 0] = rng.normal(size=90)  # no row is another's
    y = X @ rng.normal(size=6) + 0.1 * rng.normal(size=90)
    y = np.digitize(y, [0, 1][: classes - 1]) if name == "SVC" else y
    sparse = getattr(__import__("scipy.sparse").sparse, container)(X)
    ours = kind(name)(kernel=kernel).fit(sparse, y)
    accel.uninstall()
    theirs = kind(name)(kernel=kernel, tol=1e-6).fit(sparse, y)
    assert set(vars(ours)) == set(vars(theirs)) and accel.proof(ours) is not None
    for word in set(vars(theirs)) - set(theirs.get_params()) - {"_num_iter", "n_iter_"}:
        a, b = getattr(ours, word), getattr(theirs, word)
        assert type(a) is type(b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0) and np.ndim(a) == np.ndim(b), word
    if kernel == "rbf":  # there is one expansion
        assert np.allclose(dense(ours.support_vectors_), dense(theirs.support_vectors_))
        assert np.allclose(dense(ours.dual_coef_), dense(theirs.dual_coef_), atol=1e-3)
    assert np.allclose(ours.decision_function(sparse) if name != "SVR" else ours.predict(sparse),
                       theirs.decision_function(sparse) if name != "SVR" else theirs.predict(sparse), atol=1e-3)
    if kernel == "linear":
        assert np.allclose(dense(ours.coef_), dense(theirs.coef_), atol=1e-3)
    with pytest.raises(accel.Fallback, match="kernel"):
        accel.install(small=True, strict=True)
        kind(name)(kernel=lambda a, b: a @ b.T).fit(X, y)


def test_ridge_over_a_kernel(rng, lenient):
    X = rng.normal(size=(40, 3))
    X[7] = X[3]
    y, weights = np.c_[X[:, 0], rng.normal(size=40)], rng.integers(1, 4, 40)
    model = kind("KernelRidge")(kernel="rbf").fit(X, y, weights)
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 3)
    assert np.allclose(model.dual_coef_, np.linalg.solve(kernel + np.diag(1 / weights), y))
    assert np.array_equal(kind("KernelRidge")(kernel="rbf").fit(X, y * [0, 1], weights).dual_coef_, model.dual_coef_ * [0, 1])
    weights[5] = 0
    assert kind("KernelRidge")(kernel="rbf").fit(X, y, weights).dual_coef_[5].tolist() == [0, 0]
    assert " 2 calls taken" in accel.report() and "KernelRidge left 1: rows have the weight 0" in accel.report()


@pytest.mark.parametrize("name, alpha", [("Ridge", 2.0), ("ElasticNet", 0.05)])
def test_the_distance_holds_against_the_exact_answer(diabetes, taken, name, alpha):
    X, y = diabetes
    ours = kind(name)(alpha=alpha).fit(X, y)
    proof = accel.proof(ours)
    centred, target = X - X.mean(0), y - y.mean()
    if name == "Ridge":
        exact = np.linalg.solve(centred.T @ centred + alpha * np.eye(10), centred.T @ target)
    else:  # the signs of the answer are those of the exact one: then it is a linear system
        on = ours.coef_ != 0
        gram = centred[:, on].T @ centred[:, on] / len(X) + alpha * 0.5 * np.eye(on.sum())
        exact = np.zeros(10)
        exact[on] = np.linalg.solve(gram, centred[:, on].T @ target / len(X) - alpha * 0.5 * np.sign(ours.coef_[on]))
    assert np.linalg.norm(ours.coef_ - exact) <= proof.distance + 1e-10 * np.linalg.norm(exact) and proof.distance < 1e-2


@pytest.mark.parametrize("code", [
    "from margin import accel; accel.install(small=True); from sklearn.linear_model import Ridge",
    "from sklearn.linear_model import Ridge; from margin import accel; accel.install(small=True)",
    "import sklearn; from margin import accel; accel.install(small=True); import sklearn.linear_model; Ridge = sklearn.linear_model.Ridge",
    "import sklearn.linear_model as l; m = l.Ridge(); from margin import accel; accel.install(small=True); Ridge = lambda: m",
])
def test_the_order_of_imports_does_not_matter(code):
    out, _ = ran(code + "; import numpy as np; X = np.eye(4); print(accel.proof(Ridge().fit(X, X[0])) is not None)")
    assert out.strip() == "True"


def test_an_older_scikit_learn_is_left_alone(iris, monkeypatch, caplog):
    before = sklearn.linear_model.Ridge.fit
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.5.2")
    accel.install(small=True)
    assert not accel.installed() and sklearn.linear_model.Ridge.fit is before
    assert "scikit-learn 1.5.2 runs as it is: margin.accel is for 1.6 or later" in caplog.text
    with pytest.raises(accel.Fallback, match="1.6 or later"):
        accel.install(strict=True)


def test_uninstall_gives_everything_back(iris):
    module = importlib.import_module("sklearn.linear_model._logistic")
    before, path = kind("Ridge").fit, module._logistic_regression_path
    accel.install(small=True)
    assert accel.installed() and kind("Ridge").fit is not before
    accel.uninstall()
    assert not accel.installed() and kind("Ridge").fit is before and "MARGIN_ACCEL" not in os.environ
    assert module._logistic_regression_path is path


def test_classes_are_scikit_learns(iris, taken):
    from sklearn.linear_model import LogisticRegression

    class Mine(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.seen_ = len(X)
            return super().fit(X, y, sample_weight)

    mine = Mine(C=0.5).fit(*iris)
    assert isinstance(mine, LogisticRegression) and mine.seen_ == 150 and accel.proof(mine).modulus == 1
    again = clone(mine)
    assert again.get_params() == mine.get_params() and accel.proof(again) is None
    with pytest.raises(NotFittedError):
        again.predict(iris[0])
    assert LogisticRegression.__module__.startswith("sklearn.") and "sample_weight" in str(__import__("inspect").signature(LogisticRegression.fit))


def test_pipelines_and_searches(iris, taken):
    accel.counts.forget()
    grid = GridSearchCV(make_pipeline(StandardScaler().set_output(transform="default"), kind("SVC")()), {"svc__C": [0.1, 1]}, cv=3).fit(*iris)
    assert grid.best_score_ > 0.9 and accel.proof(grid.best_estimator_[-1]) is not None
    assert "14 calls taken" in accel.report()


def test_a_proof_is_of_the_last_fit(iris, lenient):
    model = kind("Ridge")().fit(*iris)
    assert accel.proof(model) is not None
    assert accel.proof(model.set_params(alpha=0).fit(*iris)) is None  # left to scikit-learn


def test_liblinear_weighs_the_one_against_the_rest_alone(iris, lenient):
    X, y = iris
    labels = np.unique(y)
    weighed = kind("LinearSVC")(class_weight={labels[0]: 1.0, labels[1]: 5.0})
    assert accel.proof(weighed.fit(X, y)) is None
    two = y != labels[2]
    assert accel.proof(weighed.fit(X[two], y[two])) is not None


def test_attributes_have_scikit_learns_types(iris, lenient):
    X, y = iris

    def fits():
        yield kind("GaussianNB")().fit(X, np.array(["a", "bc", "d"], object)[np.unique(y, return_inverse=True)[1]]).classes_.dtype
        yield type(kind("Ridge")(fit_intercept=False).fit(np.float32(X), X[:, 0]).intercept_)
        yield np.shape(kind("LinearRegression")().fit(X[:, :2], X[:, 2:3]).intercept_)

    ours = list(fits())
    accel.uninstall()
    assert ours == list(fits())


def test_arguments_by_place(iris, taken):
    accel.counts.forget()
    kind("Ridge")().fit(iris[0], iris[1], None)
    kind("LogisticRegression")().fit(iris[0], y=iris[1], sample_weight=np.ones(len(iris[1])))
    assert " 2 calls taken" in accel.report()
    accel.install(small=True)
    assert kind("Lasso")().fit(iris[0], iris[1], None, True).n_iter_ > 0
    with pytest.raises(TypeError, match="'y'"):
        kind("Lasso")().fit(iris[0])


def test_frames(iris, taken):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(iris[0], columns=list("abcd"))
    model = kind("LogisticRegression")().fit(frame, pandas.Series(iris[1]))
    assert list(model.feature_names_in_) == list("abcd") and accel.proof(model) is not None
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("badc")])


def test_scales_go_on(rng, taken):
    X = np.c_[rng.normal(size=(80, 3)) * [1, 1e-6, 1e6], np.full(80, 0.1)]
    ours = kind("StandardScaler")().fit(X[:60]).partial_fit(X[60:])
    accel.uninstall()
    theirs = kind("StandardScaler")().fit(X)
    for word in ("mean_", "var_", "scale_", "n_samples_seen_"):
        assert np.allclose(getattr(ours, word), getattr(theirs, word), rtol=1e-12, atol=1e-30), word
    X[3, 1] = np.nan
    accel.install(small=True)
    assert np.array_equal(kind("StandardScaler")().fit(X).n_samples_seen_, [80, 79, 80, 80])


def test_single_precision(iris, taken):
    for name in ("Ridge", "Lasso", "LogisticRegression"):
        model = kind(name)().fit(np.float32(iris[0]), iris[1])
        assert model.coef_.dtype == np.float32
    assert accel.proof(kind("Ridge")().fit(np.float32(iris[0]), iris[1])).distance > 1e-9


@pytest.mark.parametrize("name", [n for n in TABLE if "fit" in TABLE[n].counted])
def test_pickles_are_scikit_learns(iris, taken, name, tmp_path):
    X, y = iris
    model = kind(name)().fit(X, y)
    data = pickle.dumps(model)
    assert b"margin" not in data
    (tmp_path / "model").write_bytes(data)
    np.save(tmp_path / "X.npy", X)
    code = (f"import sys; sys.modules['margin'] = None\nimport pickle, numpy as np\nm = pickle.load(open({str(tmp_path / 'model')!r}, 'rb'))\n"
            f"a = m.predict(np.load({str(tmp_path / 'X.npy')!r})); print(type(m).__module__, float(np.sum(a)))")
    if name in ("Ridge", "SVC"):
        out, _ = ran(code, MARGIN_ACCEL="")
        assert out.split()[0].startswith("sklearn.") and float(out.split()[1]) == pytest.approx(float(np.sum(model.predict(X))))


# ---- a penalty that is chosen: scikit-learn's fit, and margin's solutions


def crossed(**parameters):
    import sklearn.linear_model

    usual = {"l1_ratios": (0,), "use_legacy_attributes": False, "scoring": "accuracy", "Cs": [0.01, 1.0]}
    taken = set(sklearn.linear_model.LogisticRegressionCV().get_params())  # versions before 1.8 have other ones
    return sklearn.linear_model.LogisticRegressionCV(**{k: v for k, v in {**usual, **parameters}.items() if k in taken and (k != "l1_ratios" or "use_legacy_attributes" in taken)})


@pytest.mark.parametrize("scoring", ["accuracy", None, "neg_log_loss", "balanced_accuracy", "callable"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_scores_of_folds_are_those_of_the_scorers(iris, rng, classes, scoring):
    """Scores that are computed here against scikit-learn's, of the coefficients that were found."""
    from sklearn.metrics import get_scorer, make_scorer
    from sklearn.model_selection import StratifiedKFold

    X, y = iris[0][iris[1] >= 3 - classes] + rng.normal(size=(50 * classes, 4)), np.array(["a", "b", "c"])[iris[1][iris[1] >= 3 - classes]]
    weights = rng.uniform(0.5, 2, len(y))
    given = make_scorer(lambda a, b, sample_weight=None: np.average(a == b, weights=sample_weight)) if scoring == "callable" else scoring
    accel.install(small=True, strict=True)
    try:
        model = crossed(scoring=given, cv=StratifiedKFold(3)).fit(X, y, sample_weight=weights)
    finally:
        accel.uninstall()
    judge = get_scorer("accuracy" if given is None else given)
    paths = model.coefs_paths_ if not isinstance(model.coefs_paths_, dict) else np.stack(list(model.coefs_paths_.values()), axis=2)[:, None]
    scores = model.scores_ if not isinstance(model.scores_, dict) else next(iter(model.scores_.values()))[:, None]
    single = kind("LogisticRegression")()
    single.classes_ = model.classes_
    for k, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for c in range(2):
            single.coef_, single.intercept_ = paths[k, 0, c][:, :-1], paths[k, 0, c][:, -1]
            assert scores[k, 0, c] == pytest.approx(judge(single, X[test], y[test], sample_weight=weights[test]), rel=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_a_chosen_penalty_is_left_where_answers_would_differ(iris, lenient):
    from sklearn.model_selection import PredefinedSplit

    X, y = iris
    lacks = PredefinedSplit(np.digitize(np.arange(150), [50, 100]))  # each fold has one class, which the others lack
    for model, why in ((crossed(max_iter=5), "max_iter"), (crossed(cv=lacks), "lack a class"), (crossed(l1_ratios=(1.0,), penalty="l1", solver="saga", tol=1.0), "only the penalty on the squared")):
        accel.counts.forget()
        try:
            model.fit(X, y)
        except ValueError:  # scikit-learn's own, in versions that did not know of all classes
            continue
        assert "LogisticRegressionCV left 1" in accel.report() and why in accel.report()
        assert model.n_jobs is None and accel.proof(model) is None
    crossed(cv=3).fit(X, y)
    assert "LogisticRegressionCV             " in accel.report() and accel.crossed._solving.reports is None


@pytest.mark.filterwarnings("ignore")
def test_chosen_penalties_of_subclasses_and_jobs(iris, taken):
    class Mine(kind("LogisticRegressionCV")):
        def fit(self, X, y, sample_weight=None):
            self.calls_ = getattr(self, "calls_", 0) + 1
            return super().fit(X, y, sample_weight)

    X, y = iris
    mine = Mine(Cs=[0.1, 1.0], n_jobs=2).fit(X, y)
    assert mine.calls_ == 1 and mine.n_jobs == 2 and accel.proof(mine).modulus == 1 and accel.proof(mine).distance < 1e-3
    alone = kind("LogisticRegression")(C=np.ravel(mine.C_)[0], tol=1e-10, max_iter=10000).fit(X, y)
    assert np.linalg.norm(mine.coef_ - alone.coef_) <= accel.proof(mine).distance + accel.proof(alone).distance
    assert np.allclose(mine.intercept_, alone.intercept_, atol=1e-3)
    assert accel.proof(crossed(refit=False).fit(X, y)) is None


def test_chosen_penalties_only_where_they_gain(iris):
    entry = TABLE["LogisticRegressionCV"]
    assert entry.gains("fit", None, *iris) and not entry.gains("fit", None, np.empty((10000, 20)), np.arange(10000) % 2)
    assert not entry.gains("fit", None, np.empty((1500, 50)), np.arange(1500) % 10) and entry.gains("fit", None, np.empty((5, 2)), [1, "a", None, 2, 3])
    assert not entry.gains("fit", None, [[1.0]], [1])


def test_a_fallback_is_said_once(iris, lenient, caplog):
    with caplog.at_level(logging.WARNING, "margin.accel"):
        for _ in range(3):
            kind("Ridge")(positive=True).fit(*iris)
        kind("Ridge")(max_iter=3, solver="sag").fit(*iris)
    said = [r.message for r in caplog.records if r.name == "margin.accel"]
    assert len(said) == 2 and "Ridge.fit is left to scikit-learn" in said[0] and "positive=True" in said[0]
    assert "Ridge left 3" in accel.report()


def test_strict_raises(iris, taken):
    with pytest.raises(accel.Fallback, match="positive=True"):
        kind("Ridge")(positive=True).fit(*iris)
    with pytest.raises(ValueError, match="alpha"):  # scikit-learn's own word comes first
        kind("Ridge")(alpha=-1).fit(*iris)


BAD = [
    ("Ridge", {"alpha": -1}, None, None), ("LogisticRegression", {"solver": "no"}, None, None), ("LinearSVC", {"penalty": "l1", "loss": "hinge"}, None, None),
    ("LogisticRegression", {"l1_ratio": 1.0}, None, None), ("Lasso", {}, np.full((3, 2), np.nan), [1, 2, 3]), ("SVC", {}, np.eye(3), [1, 1, 1]),
    ("SVC", {}, np.eye(3), [1, 2]), ("Ridge", {}, [["a", "b"]], [1]), ("LinearRegression", {}, np.empty((0, 3)), []), ("LogisticRegression", {}, np.eye(3), [0.5, 1.2, 3.3]),
    ("SVR", {}, np.zeros((2, 2, 2)), [1, 2]), ("LinearSVC", {"loss": "hinge", "dual": False}, None, None), ("ElasticNet", {"l1_ratio": 2}, None, None),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, parameters, X, y", BAD, ids=str)
def test_exceptions_are_scikit_learns(iris, name, parameters, X, y):
    X, y = iris if X is None else (X, y)

    def what_is_raised():
        with pytest.raises(Exception) as raised:
            kind(name)(**parameters).fit(X, y)
        return type(raised.value), str(raised.value)

    expected = what_is_raised()
    accel.install(small=True)
    try:
        assert what_is_raised() == expected
    finally:
        accel.uninstall()


def test_small_data_go_to_the_quicker_one(iris):
    accel.install(strict=True)
    try:
        for name, entry in TABLE.items():
            if "fit" in entry.counted and name != "LogisticRegressionCV":
                few, many = iris[0][44:56, :2], np.empty((min(entry.cells, 10**6), 2))
                assert not entry.gains("fit", None, few, None) and entry.gains("fit", None, many, None) and not entry.gains("fit", None, [[1.0]], None)
                assert accel.proof(kind(name)().fit(few, iris[1][44:56])) is None
        assert not TABLE["Lasso"].gains("fit", None, np.empty((2, 10**7)), None)
    finally:
        accel.uninstall()


def test_scikit_learns_own_subclasses_and_helpers_are_left_alone(iris, taken):
    from sklearn.linear_model import MultiTaskLasso, RidgeClassifier

    accel.counts.forget()
    MultiTaskLasso().fit(iris[0], iris[0][:, :2])
    RidgeClassifier().fit(*iris)
    assert " 0 calls taken" in accel.report()


SCRIPT = """
import sys
import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import Ridge, Lasso
X = np.random.default_rng(0).normal(size=(50, 3))

def fit(alpha):
    return type(Ridge(alpha=alpha).fit(X, X[:, 0]).coef_).__name__

if __name__ == "__main__":
    Lasso(alpha=0.1, positive=True).fit(X, X[:, 0])
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(fit, [1, 2, 3]), sys.argv[1:])
    Ridge().fit(X, X[:, 1])
"""


def test_programs_run_unchanged_and_the_table_has_their_children(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    out, said = ran("", "-m", "margin.accel", path=tmp_path / "script.py", MARGIN_ACCEL="all")
    assert out.strip() == "['ndarray', 'ndarray', 'ndarray'] []"
    assert "4 calls taken, 0 where nothing is gained, 1 left to scikit-learn, " in said and "child process" in said
    assert "Lasso left 1: " in said and said.count("positive=True") == 2  # when it happens, and in the table
    line = next(line for line in said.splitlines() if line.startswith("  Ridge "))
    assert line.split()[1] == "4" and float(line.split()[-1]) < 1e-9


@pytest.mark.parametrize("script", sorted((pathlib.Path(__file__).parent / "gallery").glob("*.py")), ids=lambda path: path.stem)
def test_programs_come_to_the_same_conclusions(script):
    plain, _ = ran("", path=script, MARGIN_ACCEL="")
    ours, said = ran("", "-m", "margin.accel", path=script, MARGIN_ACCEL="all")
    assert ours == plain and len(plain) > 50
    first = next(line for line in said.splitlines() if line.startswith("margin.accel: "))
    assert int(first.split()[1]) >= 5, said


def test_notebooks():
    class Shell:
        pass

    accel.load_ipython_extension(Shell())
    assert accel.installed()
    accel.unload_ipython_extension(Shell())
    assert not accel.installed()


def test_the_environment_is_enough(tmp_path):
    if not _starts():
        pytest.skip("margin is not installed where this Python starts from")
    (tmp_path / "script.py").write_text(SCRIPT)
    _, said = ran("", path=tmp_path / "script.py", MARGIN_ACCEL="1,all")
    assert "4 calls taken" in said
    code = "import numpy as np; from sklearn.linear_model import Ridge; Ridge(positive=True).fit(np.eye(3), [1, 2, 3])"
    with pytest.raises(AssertionError, match="Fallback"):
        ran(code, MARGIN_ACCEL="all,strict")


def test_it_waits_for_scikit_learn():
    if not _starts():
        pytest.skip("margin is not installed where this Python starts from")
    code = "import sys; loaded = 'margin' in sys.modules; from margin import accel; {}; import sklearn; print(loaded, accel.installed())"
    assert ran(code.format("pass"), MARGIN_ACCEL="1")[0].split() == ["False", "True"]
    assert ran(code.format("accel.uninstall()"), MARGIN_ACCEL="1")[0].split() == ["False", "False"]


def _starts():
    """Whether site-packages has the line that looks at MARGIN_ACCEL."""
    out, _ = ran("import sys, sklearn; print('margin.accel' in sys.modules)", MARGIN_ACCEL="1")
    return out.strip() == "True"
