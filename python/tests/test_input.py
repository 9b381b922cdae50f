"""What data may look like: without copies where that can be, and refused with a sentence where it cannot."""

import tracemalloc

import margin
import numpy as np
import pytest
from margin.data import Data
from margin.views import Matrix, address
from scipy import sparse


def starts_at(view, array):
    return view.view.values == address(array)


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X, lambda X: X.astype(np.float32), lambda X: X[::2], lambda X: X[:, 1:3], lambda X: X[3:4],
        lambda X: X[:, :1], lambda X: X[10:90, 2:],
    ],
    ids=["rows", "float32", "every second row", "columns", "one row", "one column", "a window"],
)
def test_views(iris, make):
    X, y = iris
    x = make(X)
    assert starts_at(Matrix(x), x)
    rows = min(len(x), 4)
    model = margin.fit("kmeans(k=1)", x)
    assert np.array_equal(model.distances(x)[:rows], model.distances(np.array(x, order="C"))[:rows])


@pytest.mark.parametrize("make", [np.asfortranarray, lambda X: np.asfortranarray(X, np.float32), lambda X: np.asfortranarray(X)[5:-5]])
def test_columns_where_they_lie(iris, make):
    X, y = iris
    x, names = make(X), y[: len(make(X))]
    view = Matrix(x, columns=True).view
    assert all(view.column_values[j] == address(x[:, j]) for j in range(4))
    for spec in ("logistic", "standardize | svm", "knn", "poly | softmax"):
        model, other = margin.fit(spec, x, names), margin.fit(spec, np.ascontiguousarray(x), names)
        assert bytes(model) == bytes(other)
        assert np.array_equal(model.scores(x), model.scores(np.ascontiguousarray(x)))
        if spec != "knn":
            assert model.verify(x, names).status == 0
    assert margin.search("ridge(C={1,2})", x, x[:, 0]) is not None


def test_read_only_and_mapped(iris, tmp_path):
    X, y = iris
    frozen = X.copy()
    frozen.flags.writeable = False
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for x in (frozen, mapped):
        assert starts_at(Matrix(x), x)
        assert bytes(margin.fit("ridge", x, X[:, 0])) == bytes(margin.fit("ridge", X, X[:, 0]))


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray, lambda X: X[::-1], lambda X: X[:, ::-1], lambda X: X.astype(">f8"), lambda X: X.tolist(),
        lambda X: np.broadcast_to(X[:1], X.shape),
    ],
    ids=["Fortran", "rows backwards", "columns backwards", "big-endian", "lists", "one row over and over"],
)
def test_copied_where_it_must_be(iris, make):
    x = make(iris[0])
    model, plain = (margin.fit("kmeans(k=1)", a) for a in (x, np.array(x, np.float64, order="C")))
    assert bytes(model) == bytes(plain)


def test_numbers_that_are_not_aligned(iris):
    """As in a mapped file behind an odd header: copied, in rows, in columns and as a target."""
    X, y = iris
    model, scaled = margin.fit("ridge", X, y * 0.5), margin.StandardScaler().fit_transform(X)
    odd = np.zeros(3 + X.nbytes, np.uint8)[3:].view(X.dtype).reshape(X.shape)
    by_columns = np.zeros(5 + X.nbytes, np.uint8)[5:].view(X.dtype).reshape(X.shape[::-1]).T
    known = np.zeros(1 + 8 * len(y), np.uint8)[1:].view(np.float64)
    odd[:], by_columns[:], known[:] = X, X, y * 0.5
    assert not (odd.flags.aligned or by_columns.flags.aligned or known.flags.aligned)
    for x in (odd, by_columns):
        assert bytes(margin.fit("ridge", x, known)) == bytes(model)
        assert (model.predict(x) == model.predict(X)).all()
        assert (margin.StandardScaler().fit_transform(x) == scaled).all()
        assert (margin.Ridge().fit(x, known).predict(x) == margin.Ridge().fit(X, y * 0.5).predict(X)).all()


def test_columns_of_objects_are_what_they_hold():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2.5, 3, 4], "b": [1, None, 0, 1], "c": list("abab")}, dtype=object)
    model = margin.fit("impute | onehot | ridge", table, [1.0, 2, 3, 4])
    assert [c.name for c in model.features] == ["a", "b", "c=a", "c=b"]
    numbers = margin.fit("impute | onehot | ridge", table.infer_objects(), [1.0, 2, 3, 4])
    assert bytes(model) == bytes(numbers)


def test_categories_of_whole_numbers_keep_their_names():
    pandas = pytest.importorskip("pandas")
    values, y = np.tile([0, 10, 20], 20), np.tile(["u", "v", "w"], 20)
    model = margin.fit("onehot | logistic", pandas.DataFrame({"a": pandas.Categorical(values)}), y)
    shown = pandas.DataFrame({"a": values}).astype("float64")
    shown.iloc[0, 0] = np.nan  # pandas makes floats of the others
    assert (model.predict(shown.astype("category"))[1:] == y[1:]).all()


def test_dates_are_told_by_column_with_what_to_do():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": np.arange(4.0), "when": pandas.date_range("2020-01-01", periods=4)})
    with pytest.raises(margin.DataError, match=r"'when' holds datetime64.*X\['when'\]\.dt\.month"):
        margin.fit("logistic", table, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="X has to be numbers, not datetime64.*give days"):
        margin.fit("logistic", table[["when"]].to_numpy(), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="y of type datetime64.*give days"):
        margin.fit("ridge", table[["a"]], table["when"])


def test_labels_of_objects_are_what_they_are():
    X = np.arange(4.0).reshape(-1, 1)
    booleans = margin.fit("logistic", X, np.array([False, False, True, True], object))
    assert [type(c) for c in booleans.classes] == [bool, bool] and booleans.predict(X).tolist() == [False, False, True, True]
    far = np.array([2**53, 2**53, 2**53 + 1, 1.0], object)  # no float holds all of them
    assert set(margin.fit("knn(k=1)", X, far).predict(X).tolist()) == {2**53, 2**53 + 1, 1.0}
    halves = np.array([np.float32(0.5), np.float32(0.5), 1, np.float32(1.5)], object)
    assert margin.fit("knn(k=1)", X, halves).predict(X).tolist() == [0.5, 0.5, 1, 1.5]
    with pytest.raises((ValueError, margin.DataError)):
        margin.fit("knn", X, np.array([0, 1j, 0, 1], object))
    assert margin.fit("knn(k=1)", X, np.array([10**400, 10**400, 1.0, 2], object)).predict(X)[0] == 10**400


def test_masked_labels_and_weights_are_refused():
    X, mask = np.arange(4.0).reshape(-1, 1), [False, True, False, False]
    for y in (np.ma.masked_array([0, 0, 1, 1], mask), np.ma.masked_array([0.5, 1.5, 2.5, 3.5], mask)):
        with pytest.raises(margin.DataError, match="row 1 .from 0. has no label"):
            margin.fit("knn", X, y)
    with pytest.raises(margin.DataError, match="row 1 .from 0."):
        margin.fit("logistic", X, [0, 0, 1, 1], sample_weight=np.ma.masked_array(np.ones(4), mask))


@pytest.mark.parametrize("part", ["indptr", "indices", "data"])
def test_inconsistent_sparse_matrix(part):
    x = sparse.random(20, 5, 0.5, "csr", rng=np.random.default_rng(1))
    setattr(x, part, getattr(x, part)[:-1])
    with pytest.raises(ValueError, match="inconsistent sparse matrix"):
        margin.fit("ridge", x, np.arange(20.0))


@pytest.mark.parametrize("starts", [[0, 1000, 3, 6], [0, -100000, 3, 6], [1, 2, 3, 6], [0, 4, 3, 6]])
def test_sparse_starts_that_go_astray(starts):
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        bad = kind((np.ones(6), [0, 1, 2, 0, 1, 2], [0, 2, 3, 6]), (3, 3))
        bad.indptr = np.array(starts, np.int32)
        with pytest.raises(ValueError, match="inconsistent sparse matrix"):
            margin.fit("ridge", bad, np.arange(3.0))
    columns = sparse.csc_matrix((np.ones(3), [0, 1, 2], [0, 1, 2, 3]), (3, 3))
    columns.indices = np.array([0, 1, 30], np.int32)
    with pytest.raises(ValueError, match="inconsistent sparse matrix"):
        margin.fit("ridge", columns, np.arange(3.0))


def test_integers_and_booleans(iris):
    X = (iris[0] * 10).astype(int)
    assert bytes(margin.fit("kmeans(k=2)", X)) == bytes(margin.fit("kmeans(k=2)", X.astype(float)))
    assert margin.fit("kmeans(k=2)", X > 30).report.rows == 150


def test_fit_and_predict_take_no_copy(rng):
    X = rng.normal(size=(200_000, 20))
    y = X[:, 0] + 1.0
    margin.fit("ridge", X[:10], y[:10])
    tracemalloc.start()
    model = margin.fit("ridge", X, y)
    fitted = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fitted < 100_000 < X.nbytes
    tracemalloc.start()
    model.predict(X)
    assert tracemalloc.get_traced_memory()[1] < 2 * y.nbytes
    tracemalloc.stop()


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse(rng, kind, value, index):
    x = kind(sparse.random(80, 30, 0.1, "csr", value, rng=np.random.default_rng(1)))
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    view = Matrix(x)
    assert starts_at(view, x.data) and view.view.column_indices == address(x.indices)
    y = np.arange(80.0)
    assert np.allclose(
        margin.fit("ridge", x, y).predict(x), margin.fit("ridge", x.toarray(), y).predict(x.toarray()), atol=1e-4
    )


def test_other_sparse_forms(rng):
    x = sparse.random(50, 6, 0.3, "csc", rng=np.random.default_rng(1))
    twice = sparse.csr_matrix((np.r_[x.tocsr().data[:1], 1.0, 2.0], [2, 1, 1], [0, 2, 3]), shape=(2, 6))
    margin.fit("ridge", x, np.arange(50.0))
    assert margin.fit("ridge", twice, [1.0, 2.0]).report.rows == 2
    assert not twice.has_canonical_format or twice.nnz == 3


def test_frames(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pandas.DataFrame({"length": X[:, 0], "kind": pandas.Categorical(names), "width": X[:, 1], "text": names})
    frame["whole"] = (X[:, 2] * 10).astype(int)
    model = margin.fit("onehot | ridge", frame, X[:, 3])
    assert [c.name for c in model.columns] == ["length", "kind", "width", "text", "whole"]
    assert model.columns[1].categories == model.columns[3].categories == ("setosa", "versicolor", "virginica")
    answers = model.predict(frame)
    shuffled = frame[["whole", "text", "kind", "width", "length"]].iloc[60:]
    assert np.array_equal(model.predict(shuffled), answers[60:])  # by name; codes of the categories that are left
    with pytest.raises(margin.DataError) as caught:
        model.predict(frame.drop(columns="width"))
    assert caught.value.cause == margin.Cause.COLUMNS and "width" in str(caught.value)
    with pytest.raises(margin.DataError, match="kind"):
        margin.fit("ridge", frame, X[:, 3])
    series = margin.fit("logistic", frame[["length", "width"]], pandas.Series(names, name="species"))
    assert set(series.classes) == set(names)
    missing = frame[["length", "width"]].astype("Float64")
    missing.iloc[2, 1] = pandas.NA
    with pytest.raises(margin.DataError) as caught:
        margin.fit("ridge", missing, y)
    assert (caught.value.row, caught.value.feature) == (2, 1)


@pytest.mark.parametrize(
    "X, y, error, words",
    [
        (np.ones(4), [0, 1, 0, 1], ValueError, "Reshape your data"),
        (np.ones((2, 2, 2)), [0, 1], ValueError, "two dimensions"),
        ([["a", "b"], ["c", "d"]], [0, 1], ValueError, "numbers"),
        (np.array([[1.0], ["x"]], object), [0, 1], ValueError, "numbers"),
        (np.ones((2, 1)) * 1j, [0, 1], ValueError, "Complex data not supported"),
        (np.empty((0, 3)), [], ValueError, "row"),
        (np.empty((3, 0)), [0, 1, 0], ValueError, "column"),
        ([[1.0], [np.nan]], [0, 1], ValueError, r"row 1 \(from 0\)"),
        ([[1.0], [np.inf]], [0, 1], ValueError, r"row 1 \(from 0\)"),
        ([[1.0], [2.0]], [0, 1, 1], ValueError, "2 rows and y 3"),
        ([[1.0], [2.0]], [1, 1], ValueError, "class"),
        ([[1.0], [2.0]], [1, "a"], ValueError, "mixes labels"),
        ([[1.0], [2.0]], [1, None], ValueError, "row 1 .from 0. has no label"),
        ([[1.0], [2.0]], [1.0, np.nan], ValueError, r"row 1 \(from 0\)"),
    ],
)
def test_bad_input(X, y, error, words):
    if isinstance(y, list) and y and isinstance(y[-1], str):
        y = np.array(y, object)
    with pytest.raises(error, match=words):
        margin.fit("logistic", X, y)


def test_bad_weights_columns_and_queries(iris):
    X, y = iris
    for weights, words in ((-np.ones(150), "weight"), (np.ones(149), "expected"), (np.ones((150, 2)), "1D")):
        with pytest.raises(ValueError, match=words):
            margin.fit("logistic", X, y, sample_weight=weights)
    model = margin.fit("logistic", X, y)
    with pytest.raises(ValueError, match="4"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="4"):
        model.predict_one(X[0, :3])
    with pytest.raises(ValueError, match=r"row 1 \(from 0\) has no answer"):
        model.predict(np.array([X[0], X[1] * np.nan]))
    with pytest.raises(ValueError, match="dense|sparse|Reshape|two dimensions"):
        model.predict(X[0])


def test_errors_say_where():
    with pytest.raises(margin.SpecError) as caught:
        margin.fit("svm(C=-1)", [[1.0], [2.0]], [0, 1])
    assert caught.value.status == margin.Status.SPEC and caught.value.position == 6
    with pytest.raises(margin.DataError) as caught:
        margin.fit("ridge", [[1.0, 2.0], [2.0, np.nan]], [0.5, 1.5])
    assert (caught.value.cause, caught.value.row, caught.value.feature) == (margin.Cause.MISSING_VALUE, 1, 1)


def test_files_that_are_not_there_or_no_models(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        margin.load(tmp_path / "none")
    assert isinstance(caught.value, margin.Error) and caught.value.errno == 2
    (tmp_path / "text").write_text("no model at all, just some words")
    with pytest.raises(margin.ModelError):
        margin.load(tmp_path / "text")
    with pytest.raises(margin.ModelError):
        margin.from_bytes(b"12")
    with pytest.raises(OSError):
        margin.fit("kmeans(k=1)", [[1.0]]).save(tmp_path / "no" / "folder")


def with_checksum(file):
    """The bytes of a model with the CRC-64/XZ that docs/format.md asks for."""
    begin = file.index(b"crc64-xz:") + 9
    check = 2**64 - 1
    for byte in file[:begin] + b"0" * 16 + file[begin + 16:]:
        check ^= byte
        for _ in range(8):
            check = check >> 1 ^ (0xC96C5795D7870F42 if check & 1 else 0)
    return file[:begin] + b"%016x" % (check ^ 2**64 - 1) + file[begin + 16:]


def test_files_of_other_versions(tmp_path):
    file = bytes(margin.fit("ridge", [[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]))
    assert with_checksum(file) == file
    own = margin.__version__.encode()
    other = file.replace(b'"margin_version":"%s"' % own, b'"margin_version":"%s"' % own.replace(b"0", b"9"))
    assert margin.from_bytes(with_checksum(other)).spec == "ridge"
    (tmp_path / "new").write_bytes(with_checksum(other.replace(b'"format_version":"1"', b'"format_version":"7"')))
    unknown = with_checksum(other.replace(b'"spec":"ridge"', b'"spec":"rigid"'))
    for read, words in ((lambda: margin.load(tmp_path / "new"), "in format version 7"), (lambda: margin.from_bytes(unknown), "does not know its")):
        with pytest.raises(margin.ModelError, match=f"margin {own.replace(b'0', b'9').decode()} wrote it.*{words}"):
            read()
    damaged = file.replace(b'"format_version":"1"', b'"format_version":"7"')
    with pytest.raises(margin.ModelError, match="checksum"):
        margin.from_bytes(damaged)


def test_labels_are_read_once():
    data = Data(np.ones((2, 1)), ["a", "b"])
    assert data.target.column.categories == ("a", "b")


def test_what_a_call_is_given_by_mistake(iris):
    X, y = iris
    for spec in (None, margin.Ridge()):
        with pytest.raises(TypeError, match="spec has to be a text"):
            margin.fit(spec, X, y)
    with pytest.raises(TypeError, match="start has to be a margin.Model"):
        margin.fit("logistic", X, y, start=3)
    with pytest.raises(ValueError, match="seed has to be a whole number from 0"):
        margin.fit("logistic", X, y, seed=-1)


@pytest.mark.parametrize("call, words", [
    (lambda X, y: margin.fit("logistic", X), "no target, which logistic learns from: give y$"), (lambda X, y: margin.fit("logistic", X, X[:, 0]), "given as texts$"),
    (lambda X, y: margin.fit("logistic(C={1,2})", X, y), r"\(margin.search compares them by cross-validation\)$"),
    (lambda X, y: margin.separable(X, y), r"\(y == 0\)"),
    (lambda X, y: margin.fit("ridge", np.where(X > 7, np.nan, X), y), "leave such rows out$"),
    (lambda X, y: margin.fit("ridge", np.where(X > 7, np.inf, X), y), "leave the column out$"),
])
def test_remedies_are_those_of_python(iris, call, words):
    with pytest.raises(margin.Error, match=words):
        call(*iris)


def test_what_is_not_fitted(iris):
    from sklearn.exceptions import NotFittedError

    for asked in (lambda: margin.Ridge().coef_, lambda: margin.SVC().support_, lambda: margin.Ridge().report_, lambda: margin.Ridge().verify(*iris),
                  lambda: margin.StandardScaler().mean_, lambda: margin.NearestNeighbors().report_):
        with pytest.raises(NotFittedError):
            asked()
    assert not hasattr(margin.Ridge(), "coef_")


def test_what_is_masked_has_no_value(rng):
    X = np.ma.masked_greater(rng.normal(size=(40, 3)), 1.5)
    y = rng.normal(size=40)
    row = int(np.argmax(X.mask.any(axis=1)))
    with pytest.raises(margin.DataError, match=f"row {row} .from 0. has no value"):
        margin.fit("ridge", X, y)
    model = margin.fit("impute | ridge", X, y)
    assert np.allclose(model.predict(X), margin.fit("impute | ridge", X.filled(np.nan), y).predict(X.filled(np.nan)))


def test_a_label_that_is_missing_is_named(iris):
    import pandas

    X, y = iris
    for labels in (pandas.Series(np.where(y == 2, None, "a")), pandas.Series(np.where(y == 2, "", "a"), dtype="string").replace("", pandas.NA)):
        with pytest.raises(margin.DataError, match="row 100 .from 0. has no label in y") as raised:
            margin.fit("logistic", X, labels)
        assert raised.value.row == 100
