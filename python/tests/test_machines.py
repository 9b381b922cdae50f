"""What support vector machines are made of; kernels that are given; statistics that go on learning."""

import copy
import pickle

import margin
import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def curved(A, B):
    return rbf_kernel(A, B, gamma=0.3)


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_given_kernels(iris, name):
    X, y = iris
    words = {"tol": 1e-6} if name == "OneClassSVM" else {"tol": 1e-12}
    plain = getattr(margin, name)(gamma=0.3, **words).fit(X, y)
    gram = getattr(margin, name)(kernel="precomputed", **words).fit(curved(X, X), y)
    function = getattr(margin, name)(kernel=curved, **words).fit(X, y)
    answer = "predict" if name == "SVR" else "decision_function"
    expected = getattr(plain, answer)(X[:40])
    assert np.allclose(getattr(gram, answer)(curved(X[:40], X)), expected, atol=1e-4)
    assert np.allclose(getattr(function, answer)(X[:40]), expected, atol=1e-4)
    assert len(gram.support_) == pytest.approx(len(plain.support_), abs=2) and gram.support_vectors_.shape == (0, 0)
    assert gram.verify(curved(X, X), y).converged and function.verify(X, y).converged
    with pytest.raises(ValueError, match="square matrix"):
        gram.fit(curved(X[48:53], X), y[48:53])


def test_given_kernels_in_folds(iris):
    X, y = iris
    a = cross_val_score(margin.SVC(kernel="precomputed"), curved(X, X), y)
    assert np.allclose(a, cross_val_score(margin.SVC(gamma=0.3), X, y))
    with pytest.raises(ValueError, match="shape"):
        margin.SVC(kernel=lambda A, B: np.ones((2, 2))).fit(X, y)


def test_kernel_functions_that_are_none(iris):
    X, y = iris
    none = "the kernel function gives nan for rows 0 and 0 .*which is no finite number"
    with pytest.raises(ValueError, match="the kernel function gives .* for rows 0 and 1 .*another number the other way round"):
        margin.SVC(kernel=lambda a, b: a[:, :1] + 0 * b[:, :1].T).fit(X, y)
    with pytest.raises(ValueError, match=none):
        margin.SVC(kernel=lambda a, b: np.nan * (a @ b.T)).fit(X, y)
    with pytest.raises(ValueError, match=none):
        margin.KernelRidge(kernel=lambda a, b: np.nan).fit(X, y)
    for estimator, of_first in ((margin.SVC, lambda a: a[:, :1]), (margin.KernelRidge, lambda a: a[0])):
        fitted = estimator(kernel=lambda a, b, first=of_first: np.where(first(a) > 50, np.nan, 1.0) * (a @ b.T)).fit(X, y)
        with pytest.raises(ValueError, match=r"the kernel function gives nan for row 1 and training row 0 \(from 0\)"):
            fitted.predict([X[0], 100 + X[1]])
    with pytest.raises(ValueError, match="complex"):
        margin.SVC(kernel=lambda a, b: (1 + 1j) * (a @ b.T)).fit(X, y)
    for made, told in ((None, "None"), (np.ones(3), r"an array of the shape \(3,\)"), ("no", "'no'"), (1j, "1j")):
        with pytest.raises(ValueError, match=f"the kernel function gives {told} for two rows; it has to give one real number"):
            margin.KernelRidge(kernel=lambda a, b, made=made: made).fit(X, y)
        with pytest.raises(ValueError, match=f"the kernel function gives {told} for {len(X)} rows"):
            margin.SVC(kernel=lambda a, b, made=made: made).fit(X, y)
    for estimator in (margin.KernelRidge, margin.KernelPerceptron):
        with pytest.raises(ValueError, match="another number the other way round"):
            estimator(kernel=lambda a, b: a[0]).fit(X, y)
    for estimator in (margin.SVC, margin.OneClassSVM, margin.KernelRidge, margin.KernelPerceptron):
        with pytest.raises(ValueError, match="'precomputed', or a function"):
            estimator(kernel="rfb").fit(X, y)
        with pytest.raises(ValueError, match="row 2 .* column of row 3 .* Gram matrix"):
            gram = X @ X.T
            gram[2, 3] = np.nan
            estimator(kernel="precomputed").fit(gram, y)


def test_kernels_of_gaussian_processes(diabetes):
    X, y = diabetes[0][:40], diabetes[1][:40]
    ours = margin.KernelRidge(kernel=RBF(0.3), alpha=0.1).fit(X, y)
    assert np.allclose(ours.predict(X), sklearn.kernel_ridge.KernelRidge(kernel=RBF(0.3), alpha=0.1).fit(X, y).predict(X))


def test_given_kernels_of_a_perceptron(iris):
    X, y = iris
    plain = margin.KernelPerceptron(gamma=0.3, max_iter=20, class_weight={1: 2}).fit(X, y)
    for kernel, of in (("precomputed", lambda A: curved(A, X)), (curved_rows, lambda A: A)):
        given = margin.KernelPerceptron(kernel=kernel, max_iter=20, class_weight={1: 2}).fit(of(X), y)
        assert np.allclose(given.decision_function(of(X[:40] + 0.1)), plain.decision_function(X[:40] + 0.1))
        assert np.array_equal(given.support_, plain.support_)
        assert np.array_equal(cross_val_score(given, of(X), y), cross_val_score(plain, X, y))
    with pytest.raises(ValueError, match="square matrix"):
        margin.KernelPerceptron(kernel="precomputed").fit(X, y)


def of_two(a, b, width=1.0):
    return float(np.exp(-width * ((a - b) ** 2).sum()))


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("weighed", [False, True])
def test_given_kernels_of_ridge(diabetes, targets, weighed):
    X, y = diabetes[0][:80, :3], np.c_[diabetes[1], diabetes[0][:, 4]][:80, :targets]
    y, Q = y[:, 0] if targets == 1 else y, X[:7] + 0.1
    weights = np.arange(80) % 3 if weighed else None
    theirs = sklearn.kernel_ridge.KernelRidge(kernel=curved_rows, alpha=0.1).fit(X, y, None if weights is None else np.maximum(weights, 1e-30))
    gram = margin.KernelRidge(kernel="precomputed", alpha=0.1).fit(curved(X, X), y, weights)
    function = margin.KernelRidge(kernel=of_two, kernel_params={"width": 0.3}, alpha=0.1).fit(X, y, weights)
    assert np.array_equal(gram.predict(curved(Q, X)), pickle.loads(pickle.dumps(gram)).predict(curved(Q, X)))
    for model, queries, rows in ((gram, curved(Q, X), curved(X, X)), (function, Q, X)):
        assert np.allclose(model.predict(queries), theirs.predict(Q), rtol=1e-8)
        assert model.dual_coef_.shape == theirs.dual_coef_.shape and np.allclose(model.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-9)
        assert model.verify(rows, y, weights).converged
    with pytest.raises(ValueError, match="square matrix"):
        gram.fit(curved(X[:5], X), y[:5])
    assert np.allclose(cross_val_score(gram, curved(X, X), y), cross_val_score(margin.KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1), X, y))


@pytest.mark.parametrize("kernel", ["precomputed", "function"])
def test_given_kernels_answer_of_their_own_fit(diabetes, kernel):
    X, y = diabetes[0][:60], diabetes[1][:60]
    of = (lambda A: curved(A, X)) if kernel == "precomputed" else (lambda A: A)
    queries, others = X[:9] + 0.1, X[20:29] - 0.2
    ours = margin.KernelRidge(kernel="precomputed" if kernel == "precomputed" else curved_rows, alpha=0.1).fit(of(X), y)
    known, dual = ours.predict(of(others)), ours.dual_coef_
    ours.predict(of(queries))
    bad = X[:40].copy() if kernel == "function" else curved(X[:40], X[:40])
    with pytest.raises(ValueError):
        ours.fit(bad, np.full(40, 1e308), sample_weight=np.zeros(40))
    with pytest.raises(NotFittedError):
        ours.predict(of(others))
    ours.fit(of(X), y)
    assert np.array_equal(ours.predict(of(others)), known) and np.array_equal(ours.dual_coef_, dual)
    assert ours.verify(of(X), y).converged
    with pytest.raises(ValueError, match="square|60 rows|60 features"):
        ours.verify(of(X)[:40], y[:40])
    again = copy.deepcopy(ours)
    again.predict(of(queries))
    assert np.array_equal(again.predict(of(others)), known)
    ours.fit(of(X), -y)
    assert np.array_equal(again.predict(of(others)), known) and np.allclose(ours.predict(of(others)), -known)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_coefficients_of_targets_that_are_0(diabetes, kernel):
    X, y = diabetes[0][:50], diabetes[1][:50]
    weights = np.arange(50) % 4.0
    rows = curved(X, X) if kernel == "precomputed" else X
    for targets in (y * 0, np.c_[y, y * 0], np.c_[y * 0, y, y * 0, -y], np.c_[y * 0, y * 0]):
        ours = margin.KernelRidge(kernel=kernel, gamma=0.3, alpha=0.1).fit(rows, targets, weights)
        theirs = sklearn.kernel_ridge.KernelRidge(kernel=kernel, gamma=0.3, alpha=0.1).fit(rows, targets, np.maximum(weights, 1e-30))
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape and np.allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-7)


def curved_rows(a, b):
    return of_two(a, b, 0.3)


@pytest.mark.parametrize("sparse", [False, True])
def test_linear_weights(iris, diabetes, sparse):
    X, y = iris
    form = scipy.sparse.csr_matrix if sparse else np.asarray
    for classes in (X, y), (X[50:], y[50:]):
        ours = margin.SVC(kernel="linear", tol=1e-12).fit(form(classes[0]), classes[1])
        theirs = sklearn.svm.SVC(kernel="linear", tol=1e-10).fit(*classes)
        assert ours.coef_.shape == theirs.coef_.shape and np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
        assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    X, y = diabetes
    ours = margin.LinearSVR(C=0.1, epsilon=0.1, tol=1e-9).fit(form(X), y)
    assert ours.coef_.shape == (10,)
    assert np.allclose(X @ ours.coef_ + ours.intercept_, ours.predict(X))
    assert np.allclose(ours.dual_coef_ @ (ours.support_vectors_.toarray() if sparse else ours.support_vectors_), ours.coef_)
    with pytest.raises(AttributeError, match="linear kernel"):
        margin.SVR().fit(X, y).coef_


@pytest.mark.parametrize("name", ["SVR", "OneClassSVM"])
def test_one_function(diabetes, name):
    X, y = diabetes
    y = (y - y.mean()) / y.std()
    ours = getattr(margin, name)(tol=1e-10).fit(X, y)
    theirs = getattr(sklearn.svm, name)(tol=1e-9).fit(X, y)
    assert len(set(ours.support_) ^ set(theirs.support_)) <= 4
    made = np.zeros((2, len(X)))
    made[0, ours.support_], made[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
    assert np.allclose(*made, atol=2e-3) and np.array_equal(ours.support_vectors_, X[ours.support_])


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB"])
def test_more_rows(rng, name):
    X = rng.integers(0, 4, (300, 5))
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    first = y[:100] != "c"
    ours, theirs = getattr(margin, name)(), getattr(sklearn.naive_bayes, name)()
    with pytest.raises(ValueError, match="classes must be passed"):
        ours.partial_fit(X, y)
    one = np.flatnonzero(y[:100] == "a")
    ours.partial_fit(X[one], y[one], classes=["c", "a", "b"])
    assert set(ours.predict(X)) == {"a"} and list(ours.classes_) == ["a", "b", "c"]
    rest = np.setdiff1d(np.flatnonzero(first), one)
    ours.partial_fit(X[rest], y[rest])
    assert ours.predict_proba(X).shape == (300, 3) and "c" not in ours.predict(X)
    with np.errstate(divide="ignore"):
        assert np.isneginf(ours.predict_joint_log_proba(X)[:, 2]).all() and not ours.predict_proba(X)[:, 2].any()
    ours.partial_fit(X[100:], y[100:])
    rows = np.r_[np.flatnonzero(first), 100:300]
    theirs.fit(X[rows], y[rows])
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert ours.report_.rows == len(rows) and list(ours.classes_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="do not exist"):
        ours.partial_fit(X[:2], ["a", "z"])


@pytest.mark.parametrize("classes", [2, 3])
def test_perceptron_takes_batches(iris, classes):
    X, y = iris
    names = np.array(["a", "b", "c"])[:classes]
    order = np.random.default_rng(3).permutation(np.flatnonzero(y < classes))
    X, y = X[order], names[y[order]]
    ours, theirs = margin.Perceptron(shuffle=False), sklearn.linear_model.Perceptron(shuffle=False)
    with pytest.raises(ValueError, match="classes must be passed"):
        ours.partial_fit(X, y)
    one = np.flatnonzero(y == "a")[:5]  # a batch of one class
    for rows in (one, slice(0, 30), slice(30, None), slice(None)):
        ours.partial_fit(X[rows], y[rows], classes=names), theirs.partial_fit(X[rows], y[rows], classes=names)
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-12) and np.allclose(ours.intercept_, theirs.intercept_)
        assert list(ours.classes_) == list(names)
    assert ours.verify(X, y).status.name == "OK"
    with pytest.raises(ValueError, match="do not exist"):
        ours.partial_fit(X[:2], ["a", "z"])
    with pytest.raises(ValueError, match="balanced"):
        margin.Perceptron(class_weight="balanced").partial_fit(X, y, classes=names)


def test_perceptron_begins_where_it_ended(iris):
    X, y = iris
    once = margin.Perceptron(max_iter=7, shuffle=False)
    twice = margin.Perceptron(max_iter=3, shuffle=False, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        once.fit(X, y), twice.fit(X, y), twice.set_params(max_iter=4).fit(X, y)
    assert np.array_equal(once.coef_, twice.coef_) and np.array_equal(once.intercept_, twice.intercept_)
    with pytest.raises(ValueError, match="warm_start=True: .* set it to False, or fit a clone of this Perceptron"):
        twice.fit(X[:, :2], y)


def test_what_is_wrong_is_named_as_given(iris):
    X, y = iris
    with pytest.raises(margin.UnsupportedError, match="eta0=10 of Perceptron is not supported: it is at most 1"):
        margin.Perceptron(eta0=10).fit(X, y)
    with pytest.raises(ValueError, match=r"init of KMeans has the shape \(3, 4\); .* make it \(4, 4\)"):
        margin.KMeans(4, init=X[:3]).fit(X)


def test_models_go_on_learning(iris):
    X, y = iris
    names = np.array(["x", "y", "z"])[y]
    model = margin.fit("naive-bayes", X[:100], names[:100]).update(X[100:], names[100:])
    whole = margin.fit("naive-bayes", X, names)
    assert np.allclose(model.probabilities(X), whole.probabilities(X)) and list(model.classes) == ["x", "y", "z"]
    with pytest.raises(margin.ArgumentError):
        margin.fit("ridge", X, X[:, 0]).update(X, X[:, 0])


def test_steps_of_several_classes_are_the_most_of_one(iris):
    X, y = iris
    fitted = margin.Perceptron(max_iter=7).fit(X, y)
    assert fitted.n_iter_ == 7 < fitted.report_.iterations
    assert pickle.loads(pickle.dumps(fitted)).n_iter_ == 7
    assert fitted.partial_fit(X, y).n_iter_ == 1
