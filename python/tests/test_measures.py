"""What models are worth: metrics, held-out rows, importance, and what notebooks show of it."""

import margin
import numpy as np
import pytest
import sklearn
from sklearn import metrics as theirs


def test_metrics_of_classes(cancer):
    X, y = cancer
    model = margin.fit("logistic", X[::2], y[::2])
    found = model.evaluate(X[1::2], y[1::2], bootstrap=50)
    said, probable = model.predict(X[1::2]), model.probabilities(X[1::2])
    assert found.task == "classify" and found.rows == len(said)
    assert found["accuracy"] == pytest.approx(theirs.accuracy_score(y[1::2], said))
    assert found["log_loss"] == pytest.approx(theirs.log_loss(y[1::2], probable))
    assert found["auc"] == pytest.approx(theirs.roc_auc_score(y[1::2], probable[:, 1]))
    assert np.array_equal(found.confusion, theirs.confusion_matrix(y[1::2], said))
    low, high = found.intervals["accuracy"]
    assert low <= found["accuracy"] <= high and "rmse" not in found and len(found) == len(list(found))
    weights = np.arange(len(said)) % 3
    assert model.evaluate(X[1::2], y[1::2], sample_weight=weights)["accuracy"] == pytest.approx(
        theirs.accuracy_score(y[1::2], said, sample_weight=weights))
    with pytest.raises(margin.DataError):
        model.evaluate(X, np.full(len(y), 7))


def test_metrics_of_numbers_and_clusters(diabetes):
    X, y = diabetes
    model = margin.fit("ridge", X, y)
    found = model.evaluate(X, y)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    assert found["r2"] == pytest.approx(theirs.r2_score(y, model.predict(X))) and found.confusion is None
    groups = margin.fit("kmeans(k=3)", X)
    assert groups.evaluate(X)["inertia"] == pytest.approx(groups.report.objective)


def test_texts_are_compared_by_name(iris):
    X, codes = iris
    y = np.array(["red", "blue", "green"])[codes]
    model = margin.fit("logistic", X, y)
    assert model.evaluate(X[y != "blue"], y[y != "blue"])["accuracy"] == np.mean(model.predict(X) == y, where=y != "blue")


def test_held_out_rows(iris, diabetes):
    X, y = iris
    model = margin.fit("standardize | logistic", X, y, holdout=0.2, seed=3)
    rows = model.held_out_rows
    rest = np.setdiff1d(np.arange(150), rows)
    assert np.bincount(y[rows]).tolist() == [10, 10, 10] and model.report.rows == 120
    again = margin.fit("standardize | logistic", X[rest], y[rest])
    assert np.array_equal(again.weights, model.weights)
    assert dict(model.held_out) == dict(model.evaluate(X[rows], y[rows]))
    assert margin.fit("standardize | logistic", X, y, holdout=0.2, seed=3).held_out_rows.tolist() == rows.tolist()
    assert margin.fit("standardize | logistic", X, y).held_out is None
    numbers = margin.fit("ridge", *diabetes, holdout=0.25)
    assert 0 < numbers.held_out["r2"] < 1 and len(numbers.held_out_rows) == pytest.approx(442 / 4, abs=1)
    texts = margin.fit("logistic", X, np.array(["a", "b", "c"])[y], holdout=0.2)
    assert set(texts.classes) == {"a", "b", "c"} and texts.held_out["accuracy"] > 0.8
    assert margin.fit("knn(k=3)", X, y, holdout=0.1).held_out.task == "classify"
    for spec in ("kmeans(k=3)", "svm(task=one-class)"):  # no target, and no labels to share out
        rows = margin.fit(spec, X, holdout=0.3).held_out_rows
        assert np.array_equal(margin.fit(spec, X, y, holdout=0.3).held_out_rows, rows)
    for share in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ValueError):
            margin.fit("ridge", X, y, holdout=share)


def test_importance(cancer):
    X, y = cancer
    model = margin.fit("logistic", X[:, :5], y)
    found = model.importance(X[:, :5], y, repeats=3, seed=1)
    assert [f.mean for f in found] == sorted((f.mean for f in found), reverse=True)
    assert {f.column for f in found} == {"x1", "x2", "x3", "x4", "x5"}
    assert found == model.importance(X[:, :5], y, repeats=3, seed=1, threads=1)
    weights = dict(zip(["x1", "x2", "x3", "x4", "x5"], model.weights[0] * X[:, :5].std(axis=0)))
    assert all(f.weight_per_deviation == pytest.approx(weights[f.column], rel=1e-2) for f in found)
    with pytest.raises(ValueError, match="no metric"):
        model.importance(X[:, :5], y, metric="luck")


def test_metrics_without_a_metric():
    none = margin.Metrics("cluster", 7, {})
    assert str(none) == repr(none) == none.brief() == "no metric, on 7 rows"


def test_memory_that_is_not_known(iris):
    X, y = iris
    model = margin.fit("naive-bayes", X, y)
    assert model.report.peak_memory > 0
    for report in (model.update(X, y).report, model.verify(X, y), margin.from_bytes(bytes(model)).report):
        assert report.peak_memory == report.announced_memory == 0


def test_what_notebooks_show(iris):
    X, y = iris
    model = margin.fit("standardize | svm(C=1)", X, y, holdout=0.2)
    shown = model._repr_html_()
    for words in ("standardize | svm(C=1)", "120 rows, 4 columns, 3 classes", "minimised", "gap", "held-out", "30 rows"):
        assert words in shown
    assert "held-out" not in margin.from_bytes(bytes(model))._repr_html_()
    named = margin.fit("knn", X, np.array(["<b>", "b", "c"])[y])
    assert "<b>" not in named._repr_html_()
    assert "caption" in model.held_out._repr_html_() and "accuracy" in str(model.held_out)
    yes, no = margin.separable(X, y == 0), margin.separable([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    assert "yes" in yes._repr_html_() and "no: weighted means of 4 rows" in str(no)


def test_what_notebooks_show_of_estimators(iris):
    X, y = iris
    html = lambda estimator: estimator._repr_mimebundle_()["text/html"]  # noqa: E731 - what IPython asks for first
    logistic, search = margin.LogisticRegression(), margin.Search("standardize | svm(C={0.1,1})")
    promised, line = margin.Conformal("standardize | logistic"), "<th>minimised</th>"
    for estimator, words in ((logistic, [line]), (search, ["95 % interval", line]), (promised, [line])):
        assert not any(word in html(estimator) for word in words)
        estimator.fit(X, y)
        assert all(word in html(estimator) for word in words) and all(word in estimator._repr_html_() for word in words)
        assert estimator._repr_mimebundle_()["text/plain"] == repr(estimator)
        with sklearn.config_context(display="text"):
            assert set(estimator._repr_mimebundle_()) == {"text/plain"} and not hasattr(estimator, "_repr_html_")
