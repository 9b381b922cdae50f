"""Pictures hold what they are about."""

import margin
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot  # noqa: E402


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
    for score in (1, -1):
        with pytest.raises(ValueError, match="score has to be from 0 to 0"):
            margin.CoefficientsDisplay.from_model(model, score=score)
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


def test_boundaries(iris):
    X, y = iris
    model = margin.fit("standardize | svm(kernel=rbf)", X[:, 2:], y)
    shown = margin.BoundaryDisplay.from_estimator(model, X[:, 2:], y, grid_resolution=20)
    points = np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()])
    assert np.array_equal(shown.response.ravel(), model.predict(points))
    assert [t.get_text() for t in shown.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    assert shown.xx0.min() < X[:, 2].min() and shown.xx1.max() > X[:, 3].max()
    whole = margin.LogisticRegression().fit(X, np.array(["c", "a", "b"])[y])
    shown = margin.BoundaryDisplay.from_estimator(whole, X, columns=(3, -2), grid_resolution=10, ax=shown.ax_)
    points = np.tile(X.mean(axis=0), (100, 1))
    points[:, 3], points[:, 2] = shown.xx0.ravel(), shown.xx1.ravel()
    assert np.array_equal(shown.classes[shown.response.ravel()], whole.predict(points))
    assert shown.ax_.get_xlabel() == "x4" and shown.ax_.get_ylabel() == "x3"
    for wrong in ({"columns": (0, 9)}, {"columns": (1, 1)}, {"columns": ("a", "b")}, {"grid_resolution": 1}):
        with pytest.raises(ValueError):
            margin.BoundaryDisplay.from_estimator(whole, X, y, **wrong)


def test_boundaries_of_frames_numbers_and_clusters(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame({"long": X[:, 0], "wide": X[:, 1], "kind": pandas.Categorical(np.array(list("abc"))[y])})
    model = margin.fit("onehot | ridge", frame, X[:, 2])
    shown = margin.BoundaryDisplay.from_estimator(model, frame, X[:, 2], columns=("wide", "long"), grid_resolution=5)
    made = pandas.DataFrame({"long": shown.xx1.ravel(), "wide": shown.xx0.ravel(),
                             "kind": pandas.Categorical(["a"] * 25, list("abc"))})
    assert np.allclose(shown.response.ravel(), model.predict(made)) and shown.ax_.get_xlabel() == "wide"
    groups = margin.BoundaryDisplay.from_estimator(margin.KMeans(3).fit(X[:, :2]), X[:, :2], grid_resolution=8)
    assert set(groups.response.ravel()) <= {0, 1, 2}


def test_confusion(cancer):
    X, y = cancer
    theirs = pytest.importorskip("sklearn.metrics")
    model = margin.fit("naive-bayes", X, y)
    shown = margin.ConfusionDisplay.from_estimator(model, X, y)
    assert np.array_equal(shown.confusion, theirs.confusion_matrix(y, model.predict(X)))
    assert [float(t.get_text()) for t in shown.ax_.texts] == shown.confusion.ravel().tolist()
    weights = np.arange(len(y)) % 4
    assert np.array_equal(margin.ConfusionDisplay.from_estimator(model, X, y, sample_weight=weights).confusion,
                          theirs.confusion_matrix(y, model.predict(X), sample_weight=weights))
    with pytest.raises(ValueError, match="does not know"):
        margin.ConfusionDisplay.from_estimator(model, X, y + 1)
    with pytest.raises(ValueError, match="no classes"):
        margin.ConfusionDisplay.from_estimator(margin.fit("ridge", X, y), X, y)


@pytest.mark.parametrize("spec", ["logistic", "svm(kernel=rbf)", "knn(k=5)", "perceptron(passes=3)"])
def test_roc(cancer, iris, spec):
    theirs = pytest.importorskip("sklearn.metrics")
    weights = np.arange(len(cancer[1])) % 4
    model = margin.fit(spec, *cancer)
    ((false, true, area),) = margin.RocDisplay.from_estimator(model, *cancer, sample_weight=weights).curves.values()
    scores = model.probabilities(cancer[0])[:, 1] if model.has_probabilities else model.scores(cancer[0])[:, 0]
    expected = theirs.roc_curve(cancer[1], scores, drop_intermediate=False, sample_weight=weights)
    assert np.allclose(np.interp(expected[0], false, true), np.interp(expected[0], *expected[:2]))
    assert area == pytest.approx(theirs.roc_auc_score(cancer[1], scores, sample_weight=weights))
    one = margin.RocDisplay.from_predictions(cancer[1], scores, sample_weight=weights)
    assert one.curves[1][2] == pytest.approx(area)
    three = margin.RocDisplay.from_estimator(margin.fit(spec, *iris), *iris)
    assert list(three.curves) == [0, 1, 2] and three.curves[0][2] > 0.9
    with pytest.raises(ValueError, match="needs rows"):
        margin.RocDisplay.from_estimator(model, cancer[0][:5], np.zeros(5, int))


def test_roc_of_estimators(cancer):
    X, y = cancer
    theirs = pytest.importorskip("sklearn.metrics")
    fitted = margin.LinearSVC().fit(X, y)
    shown = margin.RocDisplay.from_estimator(fitted, X, y)
    assert shown.curves[1][2] == pytest.approx(theirs.roc_auc_score(y, fitted.decision_function(X)))
    search = margin.Search(margin.LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, y)
    assert margin.CalibrationDisplay.from_estimator(search, X, y).error < 0.1


def test_calibration(cancer, iris):
    X, y = cancer
    model = margin.fit("naive-bayes", X, y)
    shown = margin.CalibrationDisplay.from_estimator(model, X, y)
    p = model.probabilities(X)[:, 1]
    first = p < 0.1
    assert shown.said[0] == pytest.approx(p[first].mean()) and shown.happened[0] == pytest.approx(y[first].mean())
    assert shown.weight.sum() == len(y) and (shown.low <= shown.happened).all() and (shown.happened <= shown.high).all()
    assert shown.error == pytest.approx(sum(
        abs(p[t].mean() - y[t].mean()) * t.mean() for k in range(10) if (t := np.minimum(p * 10 // 1, 9) == k).any()))
    sure = margin.CalibrationDisplay(np.array([0.5]), np.array([0.5]), np.array([10.0]))  # Wilson: 0.5 +- 0.2634
    assert sure.high[0] - sure.low[0] == pytest.approx(2 * 0.2634, abs=1e-3)
    assert margin.CalibrationDisplay.from_estimator(margin.fit("logistic", *iris), *iris).said.min() > 0.3
    with pytest.raises(ValueError, match="no probabilities"):
        margin.CalibrationDisplay.from_estimator(margin.fit("svm", X, y), X, y)


def test_learning_curves(cancer, diabetes):
    X, y = cancer
    curve = margin.learning_curve("logistic", X, y, folds=3)
    assert curve.metric == "accuracy" and curve.test.shape == (10, 3) and (np.diff(curve.rows) > 0).all()
    assert curve.rows[-1] == pytest.approx(len(y) * 2 / 3) and np.nanmean(curve.test[-1]) > 0.95
    whole = margin.search("logistic", X, y, folds=3, stratify=True)  # the last point is cross-validation
    assert sorted(curve.test[-1]) == pytest.approx(sorted(whole.cells[0].values))
    same = margin.learning_curve("logistic", X, y, folds=3, threads=1)
    assert np.array_equal(same.training, curve.training)
    shown = margin.LearningDisplay.from_spec("ridge", *diabetes, folds=2, metric="mae")
    assert shown.ax_.get_ylabel() == "mae" and len(shown.ax_.lines) == 2
    with pytest.raises(ValueError, match="no metric 'luck'"):
        margin.learning_curve("ridge", *diabetes, metric="luck")
    with pytest.raises(margin.SpecError):
        margin.learning_curve("rigde", *diabetes)


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def test_estimators_that_cannot_be_shown(iris):
    for show, what in ((margin.CoefficientsDisplay.from_model, margin.Ridge()), (margin.TraceDisplay.from_model, margin.Perceptron()),
                       (margin.SearchDisplay.from_search, margin.Search(margin.Ridge(), {"alpha": [1, 2]}))):
        with pytest.raises(NotFittedError):
            show(what)
    with pytest.raises(ValueError, match="trace=True"):
        margin.TraceDisplay.from_model(margin.GaussianNB().fit(*iris))
