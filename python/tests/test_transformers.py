"""Stages as scikit-learn's transformers: the same numbers where the definition is the same."""

import pickle

import margin
import numpy as np
import pytest
import scipy.sparse
import sklearn.impute
import sklearn.kernel_approximation
import sklearn.preprocessing
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

THEIRS = {
    "MinMaxScaler": sklearn.preprocessing, "StandardScaler": sklearn.preprocessing, "Normalizer": sklearn.preprocessing,
    "PolynomialFeatures": sklearn.preprocessing, "OneHotEncoder": sklearn.preprocessing, "SimpleImputer": sklearn.impute,
}
CASES = [
    ("MinMaxScaler", {}), ("MinMaxScaler", {"feature_range": (-1, 3), "clip": True}), ("StandardScaler", {}),
    ("StandardScaler", {"with_mean": False}), ("StandardScaler", {"with_std": False}), ("Normalizer", {}),
    ("Normalizer", {"norm": "l1"}), ("Normalizer", {"norm": "max"}), ("PolynomialFeatures", {}),
    ("PolynomialFeatures", {"degree": 3, "interaction_only": True}), ("PolynomialFeatures", {"degree": (2, 3), "order": "F"}),
    ("PolynomialFeatures", {"degree": 3, "include_bias": False}), ("SimpleImputer", {}), ("SimpleImputer", {"strategy": "median"}),
    ("SimpleImputer", {"strategy": "most_frequent"}), ("SimpleImputer", {"strategy": "constant", "fill_value": 7.5}),
    ("SimpleImputer", {"missing_values": 1.0}), ("OneHotEncoder", {}), ("OneHotEncoder", {"drop": "first"}),
    ("OneHotEncoder", {"drop": "if_binary", "sparse_output": False}), ("OneHotEncoder", {"dtype": np.float32}),
]


def pair(name, parameters):
    return (getattr(place, name)(**parameters) for place in (margin, THEIRS[name]))


def dense(rows):
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def table(name, rng, dtype=np.float64):
    X = rng.normal(size=(60, 5)).astype(dtype)
    X[:, 1] = X[:, 1] > 0  # powers of 0 and 1 are themselves
    X[:, 3] = rng.integers(0, 12, 60)
    return X[:, [1, 3]] if name == "OneHotEncoder" else X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name, parameters", CASES, ids=str)
def test_the_same_numbers(rng, name, parameters, dtype):
    ours, theirs = pair(name, parameters)
    X, new = table(name, rng, dtype), table(name, rng, dtype)
    if "missing_values" not in parameters and name == "SimpleImputer":
        X[::7, 2] = np.nan
    a, b = ours.fit_transform(X), theirs.fit_transform(X)
    assert scipy.sparse.issparse(a) == scipy.sparse.issparse(b) and a.dtype == b.dtype and a.shape == b.shape
    near = {"rtol": 3e-7 if dtype == np.float32 else 1e-13, "atol": 2e-7 if dtype == np.float32 else 1e-13}
    assert np.allclose(dense(a), dense(b), **near)
    assert np.allclose(dense(ours.transform(new)), dense(theirs.transform(new)), **near)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    if hasattr(theirs, "inverse_transform") and name != "SimpleImputer":
        assert np.allclose(ours.inverse_transform(a), X, rtol=1e-5, atol=1e-6)
    for attribute in ("scale_", "mean_", "var_", "min_", "data_min_", "data_max_", "statistics_", "powers_", "n_output_features_"):
        if getattr(theirs, attribute, None) is not None and not (attribute in ("mean_", "var_") and False in parameters.values()):
            found, expected = getattr(ours, attribute), getattr(theirs, attribute)
            assert np.allclose(found, np.asarray(expected, float), rtol=1e-6, atol=1e-6), attribute


@pytest.mark.parametrize("name, parameters", [
    ("MinMaxScaler", {}), ("StandardScaler", {"with_mean": False}), ("Normalizer", {}), ("PolynomialFeatures", {"degree": 3}),
    ("SimpleImputer", {"strategy": "constant"}),
], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows(rng, name, parameters, dtype):
    X = scipy.sparse.random(80, 6, 0.2, format="csr", random_state=0, dtype=dtype)
    ours, theirs = pair(name, parameters)
    a, b = ours.fit_transform(X), theirs.fit_transform(X.toarray())
    assert scipy.sparse.issparse(a) and a.dtype == dtype
    assert np.allclose(a.toarray(), b, rtol=1e-6)
    if hasattr(ours, "inverse_transform"):
        assert np.allclose(dense(ours.inverse_transform(a)), X.toarray(), atol=1e-6)
    with pytest.raises(ValueError, match="center sparse"):
        margin.StandardScaler().fit(X)


@pytest.mark.parametrize("name", ["MinMaxScaler", "StandardScaler", "Normalizer", "SimpleImputer", "PolynomialFeatures"])
def test_sparse_arrays_stay_arrays(name):
    X = scipy.sparse.csr_array(scipy.sparse.random(80, 6, 0.2, random_state=0))
    ours = getattr(margin, name)(**{"with_mean": False} if name == "StandardScaler" else {}).fit(X)
    for made in (ours.transform(X), ours.model_.transform(X)):
        assert isinstance(made, scipy.sparse.csr_array) and np.allclose(made.toarray(), ours.transform(X.toarray()))
    if hasattr(ours, "partial_fit"):
        again = clone(ours).partial_fit(X[:40]).partial_fit(X[40:])
        assert np.allclose(again.transform(X).toarray(), ours.transform(X).toarray())
        assert isinstance(again.inverse_transform(X), scipy.sparse.csr_array)


def test_a_normalizer_that_is_not_fitted_takes_any_width(rng):
    ours, theirs = margin.Normalizer(), sklearn.preprocessing.Normalizer()
    for X in (rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), scipy.sparse.random(5, 4, 0.5, format="csr", random_state=0)):
        assert np.allclose(dense(ours.transform(X)), dense(theirs.transform(X))) and not hasattr(ours, "model_") and not hasattr(ours, "n_features_in_")
    for one in (ours, theirs):
        with pytest.raises(ValueError, match="features"):
            one.fit(rng.normal(size=(5, 2))).transform(rng.normal(size=(5, 3)))


def test_degree_zero(rng):
    X = rng.normal(size=(5, 2))
    for degree in (0, (0, 0)):
        ours, theirs = (place.PolynomialFeatures(degree).fit(X) for place in (margin, sklearn.preprocessing))
        assert np.array_equal(ours.transform(X), theirs.transform(X)) and ours.n_output_features_ == 1
        assert np.array_equal(ours.powers_, theirs.powers_) and list(ours.get_feature_names_out()) == ["1"]
    with pytest.raises(ValueError, match="empty output"):
        margin.PolynomialFeatures(0, include_bias=False).fit(X)
    with pytest.raises(ValueError, match="whole number, not None"):
        margin.PolynomialFeatures(None).fit(X)


def test_distances_from_centres_keep_float32(rng):
    X = rng.normal(size=(50, 3)).astype(np.float32)
    assert margin.KMeans(3).fit_transform(X).dtype == np.float32


def test_nystroem_draws_rows(rng):
    X = rng.normal(size=(60, 3))
    drawn = margin.Nystroem(n_components=20).fit(X)
    assert "pick=uniform" in drawn.model_.spec
    assert all((row == X).all(axis=1).any() for row in drawn.components_)
    assert "pick=uniform" not in margin.Nystroem(n_components=20, pick="rpcholesky").fit(X).model_.spec


def test_categories(rng):
    X = np.array([["b", 10, None], ["a", 9, 2.5], ["b", 10, np.nan], ["é", 9, 2.5]], dtype=object)
    ours, theirs = pair("OneHotEncoder", {"handle_unknown": "ignore"})
    a, b = ours.fit_transform(X), theirs.fit_transform(X)
    assert (a != b).nnz == 0
    assert all(list(map(str, p)) == list(map(str, q)) for p, q in zip(ours.categories_, theirs.categories_))
    assert list(ours.get_feature_names_out(["p", "q", "r"])) == list(theirs.get_feature_names_out(["p", "q", "r"]))
    new = np.array([["c", 9, 3.5]], dtype=object)
    assert ours.transform(new).toarray().tolist() == theirs.transform(new).toarray().tolist()
    assert ours.inverse_transform(ours.transform(new)).tolist() == [[None, 9, None]]
    with pytest.raises(ValueError, match="unknown categories .'c'. in column 0"):
        clone(ours).set_params(handle_unknown="error").fit(X).transform(new)
    for ours in pair("OneHotEncoder", {"handle_unknown": "ignore", "categories": [["a"], [9, 10], [2.5, np.nan]]}):
        assert ours.fit(X).transform(X).toarray()[:, 0].tolist() == [0, 1, 0, 0]
    given = {"categories": [["z", "b", "é", "a"], [1, 9, 10], [2.5, None, np.nan]], "drop": ["b", 9, 2.5]}
    ours, theirs = pair("OneHotEncoder", given)
    a = ours.fit_transform(X)
    assert (a != theirs.fit_transform(X)).nnz == 0
    assert ours.inverse_transform(a)[:, :2].tolist() == X[:, :2].tolist()


def test_frames(iris):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(iris[0][:, :2], columns=["length", "width"])
    frame["kind"] = pandas.Categorical(np.array(["x", "y", "z"])[iris[1]])
    made = margin.OneHotEncoder(sparse_output=False).set_output(transform="pandas").fit_transform(frame[["kind"]])
    assert list(made.columns) == ["kind_x", "kind_y", "kind_z"] and made.to_numpy().sum() == 150
    scaled = margin.StandardScaler().set_output(transform="pandas").fit_transform(frame[["length", "width"]])
    assert list(scaled.columns) == ["length", "width"]
    products = margin.PolynomialFeatures().fit(frame[["length", "width"]])
    assert list(products.get_feature_names_out()) == ["1", "length", "width", "length^2", "length width", "width^2"]
    together = make_column_transformer((margin.OneHotEncoder(), ["kind"]), (margin.MinMaxScaler(), ["width"]))
    assert make_pipeline(together, margin.LogisticRegression()).fit(frame, iris[1]).score(frame, iris[1]) == 1.0


def test_features_of_kernels(iris):
    X = margin.StandardScaler().fit_transform(iris[0])
    kernel = rbf_kernel(X, gamma=0.25)
    made = margin.Nystroem(n_components=150).fit_transform(X)
    assert np.allclose(made @ made.T, kernel, atol=1e-6)
    few = margin.Nystroem(n_components=20, random_state=3, pick="rpcholesky").fit(X)
    theirs = sklearn.kernel_approximation.Nystroem(n_components=20, gamma=0.25, random_state=3).fit_transform(X)
    ours = few.transform(X)
    assert ours.shape == (150, 20) and few.components_.shape == (20, 4)
    assert np.linalg.norm(ours @ ours.T - kernel) < 1.2 * np.linalg.norm(theirs @ theirs.T - kernel)
    for count in (3000, 2001):
        random = margin.RBFSampler(gamma=0.25, n_components=count, random_state=0).fit_transform(X)
        assert random.shape == (150, count) and np.abs(random @ random.T - kernel).max() < 0.15
    centres = margin.RBFFeatures(7, sigma=1.5, random_state=1).fit(X)
    made = centres.transform(X)
    assert np.allclose(made[:, :-1], rbf_kernel(X, centres.components_, gamma=1 / 4.5)) and (made[:, -1] == 1).all()
    assert list(centres.get_feature_names_out()) == [f"rbffeatures{j}" for j in range(8)]


def test_what_differs(rng):
    X = np.c_[rng.normal(size=20), np.full(20, 3.0)]
    assert (margin.StandardScaler(with_mean=False).fit_transform(X)[:, 1] == 0).all()  # scikit-learn: 3
    assert (margin.MinMaxScaler(feature_range=(1, 2)).fit_transform(X)[:, 1] == 0).all()  # scikit-learn: 1
    scaler = margin.StandardScaler().fit(X)
    assert np.allclose(scaler.inverse_transform(scaler.transform(X)), X)
    with pytest.raises(ValueError, match="NaN"):
        margin.StandardScaler().fit(np.array([[1.0], [np.nan]]))
    with pytest.raises(ValueError, match="no value|every value|missing"):
        margin.SimpleImputer().fit(np.array([[1.0, np.nan], [2.0, np.nan]]))
    for estimator in (margin.SimpleImputer(add_indicator=True), margin.OneHotEncoder(min_frequency=2),
                      margin.Nystroem(kernel="cosine"), margin.Normalizer(norm="l3"), margin.RBFFeatures(pick="no")):
        with pytest.raises(margin.UnsupportedError, match="is not supported: "):
            estimator.fit(X)


def test_the_file_is_a_spec(tmp_path, rng):
    X = rng.normal(size=(30, 3))
    scaler = margin.MinMaxScaler().fit(X)
    scaler.model_.save(tmp_path / "scaler.margin")
    model = margin.load(tmp_path / "scaler.margin")
    assert model.task == "transform" and np.array_equal(model.transform(X), scaler.transform(X))
    assert np.allclose(model.inverse_transform(model.transform(X)), X)
    weighted = margin.StandardScaler().fit(X[:2], sample_weight=[3.0, 1.0])
    assert np.allclose(weighted.mean_, (3 * X[0] + X[1]) / 4)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("name, words", [("StandardScaler", {}), ("StandardScaler", {"with_mean": False}), ("StandardScaler", {"with_std": False}),
                                         ("MinMaxScaler", {"feature_range": (-1, 2)})], ids=str)
def test_scales_of_more_rows(rng, name, words, weighed, sparse):
    X = rng.normal(size=(200, 4)) * [1, 1e-5, 1e5, 1] + [1e3, 0, 5, 0]
    X[:, 3] = rng.random(200) < 0.3
    if sparse and words.get("with_mean", True) or weighed and name == "MinMaxScaler":
        pytest.skip("scikit-learn refuses it")
    form = scipy.sparse.csr_matrix if sparse else np.asarray
    weights = rng.integers(1, 4, 200).astype(float)
    ours, theirs = (getattr(place, name)(**words) for place in (margin, sklearn.preprocessing))
    for low, high in ((0, 1), (1, 60), (60, 70), (70, 200)):
        given = {"sample_weight": weights[low:high]} if weighed else {}
        for scaler in (ours, theirs):
            scaler.partial_fit(form(X[low:high]), **given)
    assert ours.n_samples_seen_ == theirs.n_samples_seen_
    for word in ("mean_", "var_", "scale_", "data_min_", "data_max_", "min_"):
        a, b = getattr(ours, word, None), getattr(theirs, word, None)
        assert (a is None) == (b is None) and (a is None or np.allclose(a, b, rtol=1e-9, atol=1e-12)), word
    assert np.allclose(dense(ours.transform(form(X))), dense(theirs.transform(form(X))), rtol=1e-9, atol=1e-9)
    again = pickle.loads(pickle.dumps(ours)).partial_fit(form(X[:50]))
    assert again.n_samples_seen_ == ours.n_samples_seen_ + 50
    with pytest.raises(ValueError, match="features"):
        ours.partial_fit(X[:, :2])
    assert ours.fit(form(X[:30])).n_samples_seen_ == 30


def test_scales_far_from_zero(rng):
    X = 1e9 + rng.normal(size=(2000, 1))
    scaler = margin.StandardScaler()
    for row in X:
        scaler.partial_fit(row[np.newaxis])
    assert np.allclose(scaler.var_, X.var(), rtol=1e-6) and np.allclose(scaler.mean_, X.mean(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("first", [{"with_std": False}, {"with_mean": False, "with_std": False}, {"with_mean": False}], ids=str)
def test_scales_with_other_parameters_later(rng, first):
    X = rng.normal(size=(90, 3)) * 7 + 2
    scaler = margin.StandardScaler(**first).partial_fit(X[:50])
    assert (scaler.mean_ is None) == (len(first) == 2) and (scaler.var_ is None) == ("with_std" in first)
    scaler.set_params(with_mean=True, with_std=True).partial_fit(X[50:])
    assert np.allclose(scaler.transform(X), (X - X.mean(0)) / X.std(0))


@pytest.mark.parametrize("sparse", [False, True])
def test_ends_are_what_was_seen(rng, sparse):
    X = rng.normal(size=(90, 3)) * 0.1 + [1e3, 0, 0.3]
    X[:, 1] *= rng.random(90) < 0.5
    form = scipy.sparse.csr_matrix if sparse else np.asarray
    scaler = margin.MinMaxScaler(feature_range=(-0.3, 0.7))
    for row in range(0, 90, 3):
        scaler.partial_fit(form(X[row:row + 3]))
    scaler.set_params(feature_range=(3, 5))
    assert np.array_equal(scaler.data_min_, X.min(0)) and np.array_equal(scaler.data_max_, X.max(0))
    scaler.partial_fit(form(X[:1]))
    assert np.array_equal(scaler.data_range_, np.ptp(X, axis=0)) and scaler.n_samples_seen_ == 91
    assert np.allclose(scaler.transform(X), sklearn.preprocessing.MinMaxScaler((3, 5)).fit_transform(X))


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X
