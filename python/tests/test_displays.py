"""Pictures hold what they are about."""

import margin
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_traces(iris):
    model = margin.fit("perceptron(passes=3)", *iris, trace=True)
    shown = margin.TraceDisplay.from_model(model, what="errors")
    assert len(shown.ax_.lines) == 3 and shown.ax_.get_ylabel() == "misclassified rows"
    first = [s for s in model.trace if s.part == 0]
    assert shown.ax_.lines[0].get_ydata().tolist() == [s.errors for s in first]
    one = margin.fit("ridge(solver=gd, max_iter=20)", *iris, trace=True)
    assert len(margin.TraceDisplay.from_model(one, ax=shown.ax_).ax_.lines) == 4
    with pytest.raises(ValueError, match="no trace"):
        margin.TraceDisplay.from_model(margin.fit("ridge", *iris))
    with pytest.raises(ValueError, match="what"):
        margin.TraceDisplay.from_model(model, what="weights")


def test_weights(cancer):
    X, y = cancer
    model = margin.LogisticRegression().fit(X, y)
    shown = margin.CoefficientsDisplay.from_model(model, most=5)
    widths = np.array([bar.get_width() for bar in shown.ax_.patches])
    assert len(widths) == 5 and (np.diff(np.abs(widths)) <= 0).all() and abs(widths[0]) == np.abs(model.coef_).max()
    with pytest.raises(ValueError, match="not linear"):
        margin.CoefficientsDisplay.from_model(margin.fit("knn", X, y))


def test_curves(iris):
    search = margin.Search(margin.SVC(), {"C": [10.0, 0.1, 1.0]}, return_train_score=True).fit(*iris)
    shown = margin.SearchDisplay.from_search(search)
    test, training = shown.ax_.lines[:2]
    assert test.get_xdata().tolist() == [0.1, 1.0, 10.0] and shown.ax_.get_xscale() == "log"
    assert np.allclose(test.get_ydata(), search.cv_results_["mean_test_score"][[1, 2, 0]])
    assert (training.get_ydata() > 0.9).all() and shown.ax_.get_xlabel() == "svm.C"
    table = margin.search("knn(k={1,3,5}, task=classify)", *iris)
    assert margin.SearchDisplay.from_search(table).ax_.get_xlabel() == "knn.k"
    with pytest.raises(ValueError, match="one number"):
        margin.SearchDisplay.from_search(margin.search("svm(kernel={linear,rbf}, task=classify)", *iris))
