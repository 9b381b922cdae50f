"""Tables by the Arrow PyCapsule protocol."""

import margin
import numpy as np
import pytest
from checks import NEWEST

polars = pytest.importorskip("polars")


class Stream:
    """Nothing but the protocol."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def columns_of(table):
    from margin.arrow import arrow_frame

    return arrow_frame(Stream(table))


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int8", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean"])
def test_numbers(dtype):
    values = [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1]
    table = polars.DataFrame({"a": polars.Series(values).cast(getattr(polars, dtype)), "b": polars.Series(values).cast(getattr(polars, dtype))})
    rows, columns = columns_of(table)
    assert rows[:, 0].tolist() == values and [c.name for c in columns] == ["a", "b"]
    assert rows.dtype == (np.float32 if dtype == "Float32" else np.float64)
    rows, _ = columns_of(table[3:9])
    assert rows[:, 1].tolist() == values[3:9]
    gaps = table.with_columns(a=polars.Series([None, *values[1:]]).cast(getattr(polars, dtype)))
    rows, _ = columns_of(gaps)
    assert np.isnan(rows[0, 0]) and rows[1:, 0].tolist() == values[1:]
    rows, _ = columns_of(polars.concat([table, gaps[2:]], rechunk=False))
    assert rows[:, 0].tolist() == values + values[2:]


@pytest.mark.parametrize("dtype", ["String", "Categorical", "Enum"])
def test_texts(dtype):
    words = ["b", "a text that is longer than twelve bytes", None, "é", "b", "a"]
    known = sorted({w for w in words if w})
    kind = polars.Enum(known) if dtype == "Enum" else getattr(polars, dtype)
    table = polars.DataFrame({"word": polars.Series(words).cast(kind), "size": np.arange(6.0)})
    for part in (table, table[1:5], polars.concat([table[:2], table[2:]], rechunk=False)):
        rows, (word, size) = columns_of(part)
        there = part["word"].to_list()
        assert set(word.categories) >= {w for w in there if w} and size.categories is None
        assert list(word.categories) == sorted(word.categories, key=str.encode)
        assert [None if np.isnan(c) else word.categories[int(c)] for c in rows[:, 0]] == there


def test_models_of_tables(iris):
    X, y = iris
    table = polars.DataFrame({"length": X[:, 0], "width": X[:, 1], "kind": np.array(["p", "q"])[(X[:, 3] > 1).astype(int)]})
    model = margin.fit("onehot | standardize | logistic", table, polars.Series(y))
    assert [c.name for c in model.columns] == ["length", "width", "kind"]
    turned = table.select("kind", "width", "length")
    assert np.array_equal(model.predict(turned), model.predict(table)) and model.report.train_accuracy > 0.75
    with pytest.raises(margin.DataError, match="kind"):
        model.predict(table.drop("kind"))
    with pytest.raises(margin.FormatError, match="column 'when'"):
        margin.fit("kmeans(k=1)", table.with_columns(when=polars.lit("2020-01-01").str.to_date()))
    with pytest.raises(margin.DataError, match="no rows"):
        columns_of(table[:0])
    with pytest.raises(margin.FormatError, match="give it as a table"):
        columns_of(table["kind"])
    estimator = margin.Ridge().fit(table.drop("kind"), polars.Series(X[:, 2]))
    assert list(estimator.feature_names_in_) == ["length", "width"]
    assert np.allclose(estimator.predict(table.drop("kind")), margin.Ridge().fit(X[:, :2], X[:, 2]).predict(X[:, :2]))
    named = margin.Model("onehot | logistic").fit(table, y)
    assert named.score(table, y) > 0.75
    if not NEWEST:
        return
    made = margin.StandardScaler().set_output(transform="polars").fit_transform(table.drop("kind"))
    assert made.columns == ["length", "width"]
