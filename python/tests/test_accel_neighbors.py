"""What is asked of scikit-learn's neighbours, answered by margin's index."""

import gc
import logging
import pickle

import numpy as np
import pytest
import sklearn.neighbors
from checks import newest
from margin import accel
from margin.accel import neighbors
from sklearn.base import clone

pytestmark = newest


@pytest.fixture
def taken():
    accel.install(small=True, strict=True)
    accel.counts.forget()
    yield
    accel.uninstall()


def both(call):
    """The answer of scikit-learn, and that of margin."""
    accel.uninstall()
    theirs = call()
    accel.install(small=True, strict=True)
    accel.counts.forget()
    ours = call()
    assert "0 left" in accel.report() and " 0 calls taken" not in accel.report()
    return theirs, ours


def same(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and all(map(same, a, b))
    if a.dtype == object:
        return all(map(same, a, b))
    return a.dtype == b.dtype and a.shape == b.shape and (np.allclose(a, b, rtol=1e-5, atol=1e-5) if a.dtype.kind == "f" else np.array_equal(a, b))


METRICS = [{}, {"p": 1}, {"p": 3.5}, {"metric": "chebyshev"}, {"metric": "l1"}, {"p": np.inf}]


@pytest.mark.parametrize("queries", [None, "float64", "float32"])
@pytest.mark.parametrize("algorithm, columns", [("kd_tree", 3), ("ball_tree", 3), ("brute", 3), ("auto", 3), ("auto", 20)])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_searches_are_scikit_learns(rng, taken, metric, algorithm, columns, queries):
    X = rng.normal(size=(300, columns))
    Q = None if queries is None else rng.normal(size=(40, columns)).astype(queries)
    X = X if queries is None else X.astype(queries)
    search = sklearn.neighbors.NearestNeighbors(n_neighbors=4, radius=np.sqrt(columns) / 2, algorithm=algorithm, **metric).fit(X)
    assert same(*both(lambda: search.kneighbors(Q)))
    assert same(*both(lambda: search.kneighbors(Q, 7, return_distance=False)))
    assert same(*both(lambda: search.radius_neighbors(Q, sort_results=True)))
    for graph in ("kneighbors_graph", "radius_neighbors_graph"):
        a, b = both(lambda: getattr(search, graph)(Q, mode="distance").toarray())
        assert np.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda distances: 1 / (1 + distances)], ids=["uniform", "distance", "function"])
@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("outputs", [1, 2])
def test_votes_and_means_are_scikit_learns(rng, taken, weights, columns, outputs):
    X, Q = rng.normal(size=(300, columns)), rng.normal(size=(50, columns))
    y = X[:, 0] + rng.normal(size=300)
    y = y if outputs == 1 else np.c_[y, X[:, 1]]
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    for name in ("KNeighbors", "RadiusNeighbors"):
        reach = {"n_neighbors": 5} if name == "KNeighbors" else {"radius": 2.0 * np.sqrt(columns)}
        for task, target in (("Classifier", labels), ("Regressor", y)):
            model = getattr(sklearn.neighbors, name + task)(**reach, weights=weights).fit(X, target)
            for method in ("predict", "predict_proba"):
                if hasattr(model, method):
                    assert same(*both(lambda: getattr(model, method)(Q)))


def test_more_equal_rows_than_neighbours(taken):
    X = np.zeros((20, 2))
    distances, rows = sklearn.neighbors.NearestNeighbors(n_neighbors=3).fit(X).kneighbors()
    assert rows.shape == (20, 3) and not distances.any() and (rows != np.arange(20)[:, None]).all()
    X[10:] = 1
    labels = np.repeat([1, 0], 10)
    model = sklearn.neighbors.KNeighborsClassifier(4).fit(X, labels)
    assert model.predict([[0.5, 0.5]]) in (0, 1) and np.array_equal(model.predict(X), labels)


def test_an_index_lives_as_long_as_its_fit(rng, taken):
    gc.collect()
    before = len(neighbors._known)
    X = rng.normal(size=(100, 3))
    model = sklearn.neighbors.NearestNeighbors(n_neighbors=1).fit(X)
    model.kneighbors(X)
    assert len(neighbors._known) == before + 1
    again = pickle.loads(pickle.dumps(model))
    assert b"margin" not in pickle.dumps(model) and same(again.kneighbors(X), model.kneighbors(X))
    X += 1
    assert model.fit(X).kneighbors(X)[0].max() == 0  # the array is the same, its rows are not
    del model, again
    gc.collect()
    assert len(neighbors._known) == before


def test_an_index_is_made_once_it_is_worth_it(rng):
    X = rng.normal(size=(4000, 3))
    model = sklearn.neighbors.NearestNeighbors().fit(X)
    accel.install()
    accel.counts.forget()
    try:
        for _ in range(5):
            model.kneighbors(X[:100])
        assert "3 calls taken, 2 where nothing is gained" in accel.report()
        model.kneighbors(X[:1])
        assert "4 calls taken" in accel.report()
    finally:
        accel.uninstall()


def test_what_is_left(rng, caplog):
    from scipy.sparse import csr_matrix

    X = rng.normal(size=(50, 3))
    kind = sklearn.neighbors.NearestNeighbors
    cases = [lambda: kind(metric="cosine").fit(X).kneighbors(X), lambda: kind(p=0.5, algorithm="brute").fit(X).kneighbors(X),
             lambda: kind(metric_params={"w": [1, 2, 3]}).fit(X).kneighbors(X), lambda: kind().fit(csr_matrix(X)).kneighbors(X),
             lambda: kind(algorithm="brute").fit(X).kneighbors(csr_matrix(X)), lambda: kind().fit(sklearn.neighbors.KDTree(X)).kneighbors(X),
             lambda: kind(algorithm="kd_tree").fit(X).radius_neighbors(X, np.full(50, 0.5))]
    for case in cases:
        accel.install(small=True)
        accel.counts.forget()
        try:
            ours = case()
        finally:
            accel.uninstall()
        assert " 0 calls taken" in accel.report() and same(ours, case())


@pytest.mark.parametrize("wrong", [
    lambda m, X: m.kneighbors(X, 0), lambda m, X: m.kneighbors(X, 1.5), lambda m, X: m.kneighbors(X, 99), lambda m, X: m.kneighbors(n_neighbors=50),
    lambda m, X: m.kneighbors(X[:, :2]), lambda m, X: m.kneighbors(X * np.nan), lambda m, X: m.kneighbors([["a", "b", "c"]]),
    lambda m, X: m.radius_neighbors(X, return_distance=False, sort_results=True), lambda m, X: clone(m).kneighbors(X), lambda m, X: m.kneighbors(X[0])])
def test_exceptions_are_scikit_learns(rng, wrong):
    X = rng.normal(size=(50, 3))
    model = sklearn.neighbors.NearestNeighbors().fit(X)

    def what_is_raised():
        with pytest.raises(Exception) as raised:
            wrong(model, X)
        return type(raised.value), str(raised.value)

    expected = what_is_raised()
    accel.install(small=True)
    logging.getLogger("margin.accel").setLevel(logging.ERROR)
    try:
        assert what_is_raised() == expected
    finally:
        accel.uninstall()
