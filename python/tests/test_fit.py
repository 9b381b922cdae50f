"""margin.fit and what comes out of it."""

import copy
import gc
import pickle
import threading
import weakref
from dataclasses import replace

import margin
import numpy as np
import pytest


def test_fit_predict_report(iris):
    X, y = iris
    model = margin.fit("standardize | svm(C=10)", X, y)
    report = model.report
    assert report.converged and 0 <= report.gap <= report.tolerance
    assert (report.rows, report.columns, report.classes) == (150, 4, 3)
    assert report.train_accuracy == np.mean(model.predict(X) == y)
    assert "converged" in str(report) == repr(report) and "2.5 s on" in str(replace(report, seconds=2.5)) and "<table>" in report._repr_html_()
    assert "holds       gap 0.5 of" in str(replace(report, gap=0.5))  # the proof of a fit that stopped
    assert model.spec == "standardize | svm(C=10)"
    with pytest.raises(AttributeError):
        report.gap = 0
    with pytest.raises(KeyError):
        model.tensors["no such"]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2, 5, 9]), np.array([2, 5, 9], np.uint8), np.array([0.5, 1.5, 2.5]),
        np.array(["red", "blue", "green"]), np.array(["red", "blue", "green"], object),
        np.array([2**60, 2**60 + 1, 2**60 + 2]),
    ],
    ids=str,
)
def test_labels_of_any_kind(iris, labels):
    X, codes = iris
    y = labels[codes]
    model = margin.fit("logistic", X, y)
    assert model.predict(X).dtype == y.dtype
    assert list(model.classes) == sorted(labels)
    assert np.mean(model.predict(X) == y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    assert again.classes.dtype == y.dtype and np.array_equal(again.predict(X), model.predict(X))
    assert model.predict_one(X[0]) == y[0]


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["007", "7", "8"], ["007", "7", "8"]),
        (["9007199254740992", "9007199254740993", "-5"], [-5, 2**53, 2**53 + 1]),
        (["1", "1e3", "2"], ["1", "1e3", "2"]),
        (["99999999999999999999", "1", "2"], ["1", "2", "99999999999999999999"]),
    ],
)
def test_labels_of_a_file(iris, texts, expected):
    X, codes = iris
    model = margin.from_bytes(bytes(margin.fit("logistic", X, np.array(texts)[codes])))
    assert sorted(model.classes.tolist()) == expected


def test_booleans(iris):
    X, y = iris
    model = margin.fit("logistic", X, y == 1)
    assert model.classes.dtype == bool and list(model.classes) == [False, True]


def test_stages_alone(iris):
    X, _ = iris
    model = margin.fit("minmax", X)
    assert model.task == model.report.task == "transform"
    made = model.scores(X)
    assert made.min() == 0 and made.max() == 1
    with pytest.raises(margin.ArgumentError, match="stages alone"):
        model.predict(X)


def test_verify_finds_other_data(iris):
    X, y = iris
    model = margin.fit("logistic", X, y)
    found = model.verify(X, y)
    assert found.converged and len(found.parts) == 3
    assert sum(part.objective for part in found.parts) == pytest.approx(found.objective)
    assert model.verify(X + 0.1, y).status == margin.Status.STOPPED_STALLED


def test_files_and_bytes(iris, tmp_path):
    X, y = iris
    model = margin.fit("knn", X, y)
    model.save(tmp_path / "a.margin")
    assert (tmp_path / "a.margin").read_bytes() == bytes(model)
    for other in (
        margin.load(tmp_path / "a.margin"),
        margin.load(tmp_path / "a.margin", mapped=True),
        margin.from_bytes(bytes(model)),
        copy.deepcopy(model),
        copy.copy(model),
    ):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert bytes(other) == bytes(model)


def test_same_bytes_whatever_the_threads(iris):
    X, y = iris
    one, two = (margin.fit("kmeans(k=5)", X, seed=3, threads=t) for t in (1, 2))
    assert bytes(one) == bytes(two)
    assert bytes(one) != bytes(margin.fit("kmeans(k=5)", X, seed=4))


def test_regression_and_targets(diabetes):
    X, y = diabetes
    model = margin.fit("ridge", X, y)
    assert model.predict(X).shape == (442,) and model.predict_one(X[0]) == model.predict(X[:1])[0]
    both = margin.fit("ridge", X, np.c_[y, -y])
    assert both.predict(X).shape == (442, 2)
    assert np.allclose(both.weights[0], -both.weights[1]) and np.allclose(both.weights[0], model.weights[0])
    assert both.predict_one(X[0]).shape == (2,)


def test_tensors_and_weights_are_views(diabetes):
    model = margin.fit("ridge", *diabetes)
    weights = model.weights
    assert np.shares_memory(weights, model.weights) and not weights.flags.writeable
    expected = weights.copy()
    del model
    assert np.array_equal(weights, expected)
    tensors = margin.fit("ridge", *diabetes).tensors
    assert np.array_equal(tensors["hypothesis.weights"], expected) and len(tensors) == len(list(tensors))


def test_weights_count_as_copies(iris):
    X, y = iris
    counts = np.arange(150) % 3
    weighted = margin.fit("logistic(tol=1e-14)", X, y, sample_weight=counts)
    copied = margin.fit("logistic(tol=1e-14)", X.repeat(counts, 0), y.repeat(counts))
    assert np.allclose(weighted.weights, copied.weights)


def test_trace(iris):
    X, y = iris
    model = margin.fit("perceptron(order=first)", X[:100], y[:100], trace=True)
    assert [step.step for step in model.trace] == list(range(len(model.trace)))
    assert model.trace[-1].errors == 0
    seen = []
    with pytest.raises(KeyboardInterrupt):
        margin.fit("perceptron", X[:100], y[:100], trace=lambda step: seen.append(step) or len(seen) == 2)
    assert len(seen) == 2
    with pytest.raises(ZeroDivisionError):
        margin.fit("perceptron", X[:100], y[:100], trace=lambda step: 1 / 0)
    assert margin.fit("perceptron", X[:100], y[:100]).report.converged  # the context goes on


def test_warning_says_gap_effect_and_remedy(cancer):
    X, y = cancer
    with pytest.warns(margin.ConvergenceWarning, match=r"gap .* of .* asked after 2 .*: the objective .* limit"):
        model = margin.fit("logistic(max_iter=2)", X, y)
    assert not model.report.converged and model.report.status == margin.Status.STOPPED_ITERATIONS


def test_separable(iris):
    X, y = iris
    yes = margin.separable(X[:100], y[:100])
    assert yes and yes.decided
    distances = (X[:100] @ yes.weights + yes.intercept) * np.where(y[:100] == 1, 1, -1)
    assert distances.min() == pytest.approx(yes.margin)
    no = margin.separable(X[50:], y[50:])
    assert not no and no.decided
    means = [w @ X[50:][rows] for rows, w in
             ((no.positive_rows, no.positive_weights), (no.negative_rows, no.negative_weights))]
    assert np.allclose(*means)
    assert margin.separable(X, np.array(["a", "b", "c"])[y], positive="a")


def test_start(iris):
    X, y = iris
    for spec in ("logistic(C=3)", "standardize | softmax"):
        cold = margin.fit(spec, X, y)
        warm = margin.fit(spec, X, y, start=cold)
        assert warm.report.iterations < cold.report.iterations
        assert abs(warm.report.objective - cold.report.objective) < 1e-5
    with pytest.raises(ValueError, match="features"):
        margin.fit("logistic", X[:, :2], y, start=margin.fit("logistic", X, y))


def test_catalogue():
    known = margin.components()
    assert {"svm", "standardize"} <= set(known) and known["standardize"].kind == "stage"
    assert "C" in {option.name for option in known["svm"].options}
    assert margin.canonical("svm( C = 1.0 )") == "svm(C=1)"


@pytest.mark.parametrize("spec", ["standardize | logistic", "svm(kernel=rbf, task=classify)", "knn(task=classify)", "ridge", "kmeans(k=2)", "poly | softmax"])
def test_few_rows_are_answered_on_the_spot(iris, spec):
    X, y = iris
    model = margin.fit(spec, X, y.astype(float) if "ridge" in spec else y)
    whole = model.predict(X)
    assert np.array_equal(np.concatenate([model.predict(X[i : i + 7]) for i in range(0, 150, 7)]), whole)
    assert [model.predict_one(row) for row in X[::10]] == whole[::10].tolist()
    assert np.array_equal(model.scores(X[:3]), model.scores(X)[:3])
    assert np.array_equal(model.predict(X[:3].astype(np.float32).astype(float)), model.predict(X[:3].astype(np.float32)))
    with pytest.raises(ValueError, match="4"):
        model.predict(X[:2, :3].copy())


def test_estimators_still_look_at_rows(iris):
    X, y = iris
    model = margin.LogisticRegression().fit(X, y)
    assert np.array_equal(model.predict(X[:1]), model.predict(X)[:1])
    for wrong, words in ((X[:2] * np.nan, "NaN"), (X[:2] * np.inf, "infinity|NaN"), (X[:2, :3].copy(), "features"), (X[0], "2D"), (X[:0], "sample")):
        with pytest.raises(ValueError, match=words):
            model.predict(wrong)


def test_declared_classes(iris):
    X, y = iris
    names = np.array(["x", "y", "z"])[y]
    model = margin.fit("naive-bayes", X[:50], names[:50], classes=["z", "y", "x"])
    assert list(model.classes) == ["x", "y", "z"] and not model.probabilities(X)[:, 1:].max() > 0.1
    whole = margin.fit("naive-bayes", X, names)
    assert np.allclose(model.update(X[50:], names[50:]).probabilities(X), whole.probabilities(X))
    assert list(margin.fit("knn", X[:100], y[:100], classes=[0, 1, 2]).classes) == [0, 1, 2]
    with pytest.raises(margin.DataError, match=r"row 100 \(from 0\) has the label '2'"):
        margin.fit("naive-bayes", X, y, classes=[0, 1])
    with pytest.raises(margin.DataError, match="no row has the class 'z'"):
        margin.fit("logistic", X[:100], names[:100], classes=["x", "y", "z"])


def test_class_weights(iris):
    X, y = iris
    names = np.array(["a,b:1", "c\\", "d"])[y]
    model = margin.fit("logistic", X, names, class_weight={"d": 2.5, "a,b:1": 0.5})
    wanted = margin.fit("logistic", X, y, sample_weight=np.array([0.5, 1, 2.5])[y])
    assert np.isclose(model.report.objective, wanted.report.objective, rtol=1e-5)
    assert model.verify(X, names).status == margin.Status.OK
    with pytest.raises(ValueError, match="no labels of y"):
        margin.fit("logistic", X, names, class_weight={"e": 2})
    with pytest.raises(margin.ArgumentError, match="class_weight"):
        margin.fit("knn", X, y, class_weight={0: 2})


def test_a_time_limit_is_of_one_call(iris):
    X, y = iris
    with pytest.warns(margin.ConvergenceWarning):
        margin.fit("perceptron(passes=10000000, bound=no)", X[50:], y[50:], time_limit=0.01)
    one = margin.fit("kmeans(k=5)", X, seed=3, threads=1)
    assert one.report.threads == 1 and bytes(one) == bytes(margin.fit("kmeans(k=5)", X, seed=3))


def test_centres(rng):
    X = rng.normal(size=(500, 200))
    model = margin.fit("kmeans(k=300, max_iter=1)", X, centres=X[:300])
    assert model.spec == "kmeans(k=300, max_iter=1)"
    with pytest.raises(margin.SpecError, match="need 600"):
        margin.fit("kmeans(k=3)", X, centres=X[:2])


@pytest.mark.parametrize("labels", [[5, 10, 2**60], [-3, 2**60, 40], [2**53 + 1, 7, 2**53 + 3]])
def test_weights_of_long_labels(labels):
    X = np.random.default_rng(0).standard_normal((300, 2))
    y = np.array(labels)[np.arange(300) % 3]
    for heavy in labels:
        model = margin.fit("logistic", X, y, class_weight={label: 100.0 if label == heavy else 1.0 for label in labels})
        assert np.all(model.predict(X) == heavy)
    with pytest.raises(ValueError, match="dict of labels.*the spec takes class_weight=balanced"):
        margin.fit("logistic", X, y, class_weight="balanced")


def test_declared_labels_of_another_width():
    X = np.random.default_rng(0).standard_normal((70, 2))
    labels = np.arange(7) + 2**53 + 1
    model = margin.fit("naive-bayes", X, labels[np.arange(70) % 7], classes=labels.astype(np.uint64))
    assert model.classes.tolist() == labels.tolist()


def curved(A, B):
    return np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(-1))


@pytest.mark.parametrize("learner", ["svm", "kernel-ridge", "kernel-logistic", "perceptron"])
def test_functions_as_kernels(iris, tmp_path, learner):
    X, y = iris[0][50:], iris[1][50:]
    model, other = (margin.fit(f"{learner}(kernel={kernel})", X, y, **words) for kernel, words in
                    (("user", {"kernel": curved}), ("rbf, gamma=0.3", {})))
    assert np.allclose(model.scores(X), other.scores(X), atol=1e-2) and model.verify(X, y).converged == other.verify(X, y).converged
    assert model.predict_one(X[0]) == model.predict(X[:1])[0]
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), margin.load(tmp_path / "model", kernel=curved), margin.from_bytes(bytes(model), kernel=curved)):
        assert np.array_equal(again.scores(X), model.scores(X))
    with pytest.raises(margin.ArgumentError, match="kernel= of margin.fit and margin.load"):
        margin.load(tmp_path / "model")


def test_what_kernels_do_wrong(iris):
    X, y = iris[0][50:], iris[1][50:]
    spec = "svm(kernel=user)"
    with pytest.raises(margin.SpecError, match="kernel= of margin.fit"):
        margin.fit(spec, X, y)
    with pytest.raises(TypeError, match="a function of two arrays"):
        margin.fit(spec, X, y, kernel="rbf")
    with pytest.raises(ValueError, match=r"shape \(\d+, 4\) of \d+ rows"):
        margin.fit(spec, X, y, kernel=lambda A, B: A)
    with pytest.raises(margin.DataError, match="finite|NaN|nan"):
        margin.fit(spec, X, y, kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(TypeError, match="complex"):
        margin.fit(spec, X, y, kernel=lambda A, B: curved(A, B) + 0j)
    with pytest.raises(margin.DataError, match=r"row 0.*beyond 1e150.*divide values of your own") as raised:
        margin.fit(spec, X, y, kernel=lambda A, B: 1e200 * curved(A, B))
    assert raised.value.row == 0
    for other in ("svm(kernel=rbf)", "standardize | logistic"):
        with pytest.raises(ValueError, match="no kernel=user"):
            margin.fit(other, X, y, kernel=curved)
        with pytest.raises(ValueError, match="no kernel=user"):
            margin.from_bytes(bytes(margin.fit(other, X, y)), kernel=curved)
    assert margin.fit("standardize | svm(C=2, kernel=user)", X, y, kernel=curved).predict(X).shape == y.shape
    numbered = np.c_[np.arange(20.0), np.zeros(20)]
    with pytest.raises(margin.DataError, match=r"for row 5 \(from 0\) with row 7 \(from 0\), ") as raised:
        margin.fit(spec, numbered, np.arange(20) % 2, kernel=lambda A, B: np.where((A[:, :1] == 5) & (B[:, 0] == 7), np.nan, curved(A, B)))
    assert raised.value.row == 5
    stays = [1]
    model = margin.fit(spec, X, y, kernel=lambda A, B: curved(A, B) if stays else 1 // 0)
    stays.clear()
    found = []

    def asks():
        for ask in (model.predict, model.scores, lambda X: model.predict_one(X[0]), lambda X: model.verify(X, y), lambda X: model.evaluate(X, y)):
            with pytest.raises(ZeroDivisionError):
                ask(X)
        stays.append(1)
        found.append(model.predict(X))

    asks()
    stays.clear()
    thread = threading.Thread(target=asks)
    thread.start()
    thread.join()
    assert len(found) == 2 and np.array_equal(*found)


def test_reports_tell_of_memory(iris):
    X, y = iris
    curve, line = margin.fit("svm(kernel=rbf)", X, y).report, margin.fit("logistic", X, y).report
    assert 0 < curve.peak_memory <= 1.05 * curve.announced_memory < 10**8  # by which fits of pairs meet
    assert line.announced_memory == 0 < line.peak_memory
    assert margin.SVC().fit(X, y).report_.announced_memory == margin.SVC().fit(X[:140], y[:140]).fit(X, y).report_.announced_memory > 0
    few = margin.fit("svm(kernel=rbf)", X[40:70], y[40:70]).report
    assert few.announced_memory < curve.announced_memory
    assert margin.from_bytes(bytes(margin.fit("svm(kernel=rbf)", X, y))).report.announced_memory == 0


def test_the_report_has_parts(iris, diabetes):
    X, y = iris
    for spec, count in (("svm", 3), ("svm(kernel=rbf)", 3), ("softmax", 0), ("kmeans", 0)):
        model = margin.fit(spec, X, None if spec == "kmeans" else y)
        parts = model.report.parts
        assert len(parts) == count and model.report.subproblems == max(1, count)
        if parts:
            assert sum(part.objective for part in parts) == pytest.approx(model.report.objective)
            assert max(part.iterations for part in parts) <= model.report.iterations
            assert [part.gap for part in parts] == pytest.approx([part.gap for part in model.verify(X, y).parts], abs=1e-9)
    gaps = [[part.gap for part in margin.fit("svm", X, y, trace=trace).report.parts] for trace in (True, False)]
    assert gaps[0] == gaps[1] and len(gaps[0]) == 3
    two = margin.fit("ridge", diabetes[0], np.stack([diabetes[1], -diabetes[1]], axis=1))
    assert len(two.report.parts) == 2 and not margin.from_bytes(bytes(two)).report.parts
    estimator = margin.LinearSVC().fit(X, y)
    assert estimator.n_iter_ == max(part.iterations for part in estimator.report_.parts)
    assert pickle.loads(pickle.dumps(estimator)).n_iter_ == estimator.n_iter_


def test_weights_do_not_keep_their_model(iris):
    model = margin.fit("logistic", *iris)
    weights, gone = model.weights, weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None and weights.shape == (3, 4) and np.isfinite(weights).all()


def test_a_spec_has_no_zero(iris):
    for make in (lambda s: margin.fit(s, *iris), margin.canonical):
        with pytest.raises(ValueError, match="zero character"):
            make("ridge\0(alpha=5)")


def test_class_scores_of_clusters(rng):
    X = rng.normal(size=(400, 3))
    model = margin.fit("kmeans(k=5)", X)
    scores = model.class_scores(X)
    assert scores.shape == (400, 5) and (scores.argmax(axis=1) == model.predict(X)).all()
    with pytest.raises(ValueError, match="no centres"):
        margin.fit("svm(task=one-class, kernel=rbf)", X[:50]).distances(X)
