"""Searches among rows, and naive Bayes and perceptrons that scikit-learn has not."""

import copy
import pickle
import warnings

import margin
import numpy as np
import pytest
import sklearn.neighbors
from checks import newest
from sklearn.naive_bayes import CategoricalNB, GaussianNB


@pytest.fixture(scope="module", params=[2, 3])
def points(request):
    rng = np.random.default_rng(request.param)
    return rng.normal(size=(300, request.param)), rng.normal(size=(40, request.param))


def same_lists(a, b):
    return all(set(p.tolist()) == set(q.tolist()) for p, q in zip(a, b)) and len(a) == len(b)


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_searches_agree(points, p, algorithm):
    X, Q = points
    ours = margin.NearestNeighbors(n_neighbors=4, radius=0.5, p=p, algorithm=algorithm).fit(X)
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=4, radius=0.5, p=p, algorithm=algorithm).fit(X)
    for queries in (Q, None):
        for a, b in zip(ours.kneighbors(queries), theirs.kneighbors(queries)):
            assert a.shape == b.shape and np.allclose(a, b)
        a, b = ours.radius_neighbors(queries), theirs.radius_neighbors(queries, sort_results=True)
        assert same_lists(a[1], b[1]) and all(np.allclose(x, y) for x, y in zip(a[0], b[0]))
        for mode in ("connectivity", "distance"):
            assert abs(ours.kneighbors_graph(queries, mode=mode) - theirs.kneighbors_graph(queries, mode=mode)).max() < 1e-12
            assert abs(ours.radius_neighbors_graph(queries, mode=mode) - theirs.radius_neighbors_graph(queries, mode=mode)).max() < 1e-12
    assert ours.n_samples_fit_ == 300 and ours.effective_metric_ == {1: "manhattan", 2: "euclidean", 3: "minkowski"}.get(p, "chebyshev")
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.kneighbors(Q)[1], ours.kneighbors(Q)[1])


def test_the_tree(points):
    X, Q = points
    ours, theirs = margin.KDTree(X), sklearn.neighbors.KDTree(X)
    for a, b in zip(ours.query(Q, k=3), theirs.query(Q, k=3)):
        assert np.allclose(a, b)
    reach = np.linspace(0, 1, len(Q))
    assert same_lists(ours.query_radius(Q, 0.4), theirs.query_radius(Q, 0.4))
    assert same_lists(ours.query_radius(Q, reach), theirs.query_radius(Q, reach))
    assert np.array_equal(ours.query_radius(Q, reach, count_only=True), theirs.query_radius(Q, reach, count_only=True))
    rows, far = ours.query_radius(Q, reach, return_distance=True)
    assert all((np.diff(d) >= 0).all() for d in far)
    assert np.allclose(ours.data, X)
    assert np.array_equal(copy.deepcopy(ours).query(Q)[1], ours.query(Q)[1])
    assert "300 rows" in repr(ours._neighbors)
    with pytest.raises(ValueError, match="metric='cosine'"):
        margin.KDTree(X, metric="cosine")
    with pytest.raises(ValueError, match="k is 301|301"):
        ours.query(Q, k=301)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "l2"])
def test_the_metric_has_the_last_word(points, metric):
    X, Q = points
    for kind in ("NearestNeighbors", "KNeighborsRegressor"):
        a, b = (getattr(place, kind)(metric=metric).fit(X, X[:, 0]).kneighbors(Q)[0] for place in (margin, sklearn.neighbors))
        assert np.allclose(a, b)


def test_trees_of_many_columns(rng):
    X = rng.normal(size=(60, 100))
    for algorithm in ("kd_tree", "ball_tree"):
        assert margin.NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(X, 1)[1].ravel().tolist() == list(range(60))
        assert margin.KNeighborsClassifier(1, algorithm=algorithm).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) == 1


def test_an_index_has_a_model_when_it_is_asked_for(points):
    X, Q = points
    search = margin.NearestNeighbors(n_neighbors=3).fit(X)
    assert "model_" not in vars(search)
    assert search.report_.rows == 300 and np.array_equal(search.model_.neighbors.nearest(Q, 3)[1], search.kneighbors(Q)[1])
    search.fit(X[:50])
    assert "model_" not in vars(search) and search.n_samples_fit_ == 50 and search.report_.rows == 50
    with pytest.raises(ValueError, match="NaN"):
        search.fit(X * np.nan)


def test_an_index_is_that_of_its_fit(points, monkeypatch):
    X, Q = points
    ours, own = margin.NearestNeighbors(n_neighbors=3, p=1).fit(X), X.copy()
    given = margin.NearestNeighbors(n_neighbors=3, p=1).fit(own)
    own[:] = 0
    ours.set_params(n_neighbors=9, p=2)
    assert ours.model_.spec == given.model_.spec and "p=1" in ours.model_.spec
    for other in (given, pickle.loads(pickle.dumps(given)), copy.deepcopy(given)):
        assert np.array_equal(other.kneighbors(Q)[1], ours.kneighbors(Q, 3)[1])
        assert np.array_equal(other.kneighbors()[1], ours.kneighbors(n_neighbors=3)[1])
    assert margin.NearestNeighbors(n_neighbors=None).fit(X).kneighbors(Q, 2)[1].shape == (40, 2)
    asked = []
    running = margin.neighbors.running
    monkeypatch.setattr(margin.neighbors, "running", lambda threads=None: asked.append(threads) or running(threads))
    margin.NearestNeighbors(n_jobs=1).fit(X)
    assert asked == [1]


def test_equal_rows():
    X = np.zeros((20, 2))
    distances, rows = margin.NearestNeighbors(n_neighbors=3).fit(X).kneighbors()
    assert rows.shape == (20, 3) and not distances.any()
    assert (rows != np.arange(20)[:, None]).all()


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_votes_within_a_radius(iris, weights):
    X, y = iris
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)
    ours = margin.RadiusNeighborsClassifier(0.6, weights=weights).fit(X, y)
    theirs = sklearn.neighbors.RadiusNeighborsClassifier(0.6, weights=weights).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert same_lists(ours.radius_neighbors(X[:5])[1], theirs.radius_neighbors(X[:5])[1])
    ours = margin.RadiusNeighborsRegressor(0.6, weights=weights).fit(X, X[:, 0])
    theirs = sklearn.neighbors.RadiusNeighborsRegressor(0.6, weights=weights).fit(X, X[:, 0])
    assert np.allclose(ours.predict(X), theirs.predict(X))
    with pytest.warns(UserWarning, match="no neighbors within the radius"):
        assert np.isnan(ours.predict(X[:1] + 100)).all()
    with pytest.raises(ValueError, match="No neighbors found"):
        margin.RadiusNeighborsClassifier(0.6).fit(X, y).predict(X + 100)
    assert margin.RadiusNeighborsClassifier(0.6, outlier_label="most_frequent").fit(X[40:], y[40:]).predict(X[:1] + 100) in (1, 2)


@newest
@pytest.mark.parametrize("weights", [None, "distance"])
@pytest.mark.parametrize("label", [1, -1, [2], "most_frequent"])
def test_labels_of_outliers(iris, weights, label):
    X, y = iris
    far = np.vstack([X[:5], X[:2] + 100])
    ours, theirs = (place.RadiusNeighborsClassifier(0.55, weights=weights, outlier_label=label).fit(X[20:], y[20:])
                    for place in (margin, sklearn.neighbors))
    assert ours.outlier_label_ == theirs.outlier_label_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # -1 is no class
        for rows in (far, None):
            assert np.array_equal(ours.predict(rows), theirs.predict(rows))
            assert np.allclose(ours.predict_proba(rows), theirs.predict_proba(rows))
    if label == -1:
        with pytest.warns(UserWarning, match="Outlier label -1 is not in training classes"):
            ours.predict_proba(far)


def test_labels_of_outliers_that_are_refused(iris):
    X, y = iris
    for label in ("other", [1, 2], [[1]], 1.5):
        with pytest.raises(TypeError, match="outlier_label has to be one label, of the type of those of y, int64"):
            margin.RadiusNeighborsClassifier(outlier_label=label).fit(X, y)
    with pytest.raises(ValueError, match="No neighbors found"):
        margin.RadiusNeighborsClassifier(0.5).fit(X, y).predict_proba(X + 100)


def test_neighbors_of_models(iris):
    X, y = iris
    a, b = (c(7).fit(X, y) for c in (margin.KNeighborsClassifier, sklearn.neighbors.KNeighborsClassifier))
    assert np.allclose(a.kneighbors(X[:9])[0], b.kneighbors(X[:9])[0])
    with pytest.raises(ValueError, match="n_samples_fit"):
        a.kneighbors(X[:9], 151)
    staged, plain = margin.fit("standardize | knn", X, y).neighbors, margin.Neighbors((X - X.mean(0)) / X.std(0))
    assert np.allclose(staged.nearest(X[:9], 3)[0], plain.nearest((X[:9] - X.mean(0)) / X.std(0), 3)[0])
    assert margin.fit("knn", X, y).neighbors.nearest(X[:2], 1)[1].ravel().tolist() == [0, 1]


def test_an_index_of_rows(points):
    X, Q = points
    index = margin.Neighbors(X, p=1)
    again = pickle.loads(pickle.dumps(index))
    model = margin.fit("knn(p=1)", X, X[:, 0])
    for other in (again, model.neighbors):
        assert other.p == 1 and other.rows == 300 and np.array_equal(other.points(), X)
        assert all(np.array_equal(a, b) for a, b in zip(index.nearest(Q, 5), other.nearest(Q, 5)))
    with pytest.raises(margin.DataError):
        margin.Neighbors(X * np.nan)


def test_mixed_bayes(rng):
    pandas = pytest.importorskip("pandas")
    kinds = rng.integers(0, 3, (200, 2))
    numbers = rng.normal(size=(200, 3))
    y = rng.integers(0, 2, 200)
    X = np.c_[numbers, kinds]
    joint = CategoricalNB().fit(kinds, y).predict_log_proba(kinds) + GaussianNB().fit(numbers, y).predict_log_proba(numbers)
    joint -= np.log(np.bincount(y) / 200)
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    mixed = margin.MixedNB(categorical=[3, -1]).fit(X, y)
    assert np.allclose(mixed.predict_proba(X), expected)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    assert np.allclose(margin.MixedNB(categorical=["d", "e"]).fit(frame, y).predict_proba(frame), expected)
    words = frame.assign(d=np.array(["x", "y", "z"])[kinds[:, 0]], e=frame["e"].map(str).astype("category"))
    fitted = margin.MixedNB().fit(words, y)  # words are categories, numbers gaussian
    assert np.allclose(fitted.predict_proba(words), expected) and list(fitted.feature_names_in_) == list("abcde")
    assert fitted.verify(words, y).status == margin.Status.OK
    parts = margin.MixedNB().partial_fit(words[:90], y[:90], classes=[0, 1]).partial_fit(words[90:], y[90:])
    assert np.allclose(parts.predict_proba(words), expected)
    assert np.allclose(pickle.loads(pickle.dumps(fitted)).predict_proba(words), expected)
    with pytest.raises(ValueError, match="distribution=gaussian"):
        margin.MixedNB(gaussian=["d"]).fit(words, y)
    for wrong in (["z"], [7], [1.5]):
        with pytest.raises(ValueError, match="categorical of MixedNB"):
            margin.MixedNB(categorical=wrong).fit(X, y)


def test_perceptrons(cancer):
    X, y = cancer
    curved = margin.KernelPerceptron(kernel="poly", degree=2, coef0=1.0, gamma=1.0)
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    assert curved.fit(xor, [0, 1, 1, 0]).score(xor, [0, 1, 1, 0]) == 1.0
    assert set(curved.support_) <= set(range(4)) and curved.decision_function(xor).shape == (4,)
    with pytest.warns(margin.ConvergenceWarning):
        plain = margin.Perceptron(max_iter=5).fit(X, y)
    pocket = margin.Pocket(max_iter=5).fit(X, y)
    assert pocket.score(X, y) >= plain.score(X, y) and pocket.coef_.shape == (1, 30)
    how = {"fit_intercept": False, "shuffle": False, "max_iter": 5, "tol": None}
    with pytest.warns(margin.ConvergenceWarning):
        ours = margin.Perceptron(**how).fit(X, y)
    theirs = sklearn.linear_model.Perceptron(**how).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-9) and ours.intercept_ == [0.0]


@newest
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("rows", [80, 2000])
def test_training_rows_by_their_neighbours(rng, rows, weights):
    X, labels, values = rng.normal(size=(rows, 3)), rng.integers(0, 3, rows), rng.normal(size=rows)
    X[0] = 50
    for name, words in (("KNeighborsClassifier", {}), ("RadiusNeighborsClassifier", {"outlier_label": "most_frequent"}),
                        ("KNeighborsRegressor", {}), ("RadiusNeighborsRegressor", {})):
        y = labels if "Classifier" in name else values
        ours, theirs = (getattr(place, name)(weights=weights, **words).fit(X, y) for place in (margin, sklearn.neighbors))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # NaN where there is no neighbour
            expected = theirs.predict(None)
        assert np.allclose(ours.predict(None), expected, equal_nan=True)
        if y is labels:
            assert np.allclose(ours.predict_proba(None), theirs.predict_proba(None))
            assert np.allclose(ours.predict_proba(X * 3), theirs.predict_proba(X * 3))
            assert ours.score(None, y) == theirs.score(None, y)
    with pytest.raises(ValueError, match="row 0 .from 0. has no answer .of 1.: No neighbors"):
        margin.RadiusNeighborsClassifier(20).fit(X, labels).predict(None)


def test_queries_are_counted_from_0():
    with pytest.raises(ValueError, match="query 1 .from 0. has the value nan"):
        margin.KDTree(np.eye(3)).query([[0, 0, 0], [0, np.nan, 0]])
