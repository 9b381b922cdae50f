"""Settings of calls: memory, threads, time, progress."""

import io
import os
import signal
import sys
import threading
import types
import warnings

import margin
import numpy as np
import pytest
from margin.config import bytes_of
from margin.estimators.recipes import RECIPES


@pytest.fixture
def long_work(rng):
    """A call that takes seconds unless it is ended."""
    X = rng.normal(size=(4_000, 20))
    return lambda **words: margin.fit("kmeans(k=100, restarts=3000)", X, **words)


def test_memory_limits(rng):
    X, y = rng.normal(size=(2_000, 20)), rng.integers(0, 2, 2_000)
    assert margin.fit("svm(kernel=rbf)", X, y, memory="1G").report.converged
    with pytest.raises(margin.LimitError, match="memory limit") as caught:
        margin.fit("knn", X, y, memory=100_000)
    assert caught.value.cause == margin.Cause.MEMORY_LIMIT and caught.value.status == margin.Status.LIMIT
    table = margin.search("knn(k={1,3}, task=classify)", X, y, memory="400K")  # fits that fail are told by setting
    assert table.best is None and all("memory limit" in cell.reason for cell in table.cells)
    with margin.config_context(memory=100_000):
        with pytest.raises(margin.LimitError, match="memory limit"):
            margin.KNeighborsClassifier().fit(X, y)
        assert margin.fit("knn", X, y, memory="1G").report.rows == 2_000
    saved = bytes(margin.fit("knn", X, y))
    with margin.config_context(memory="100k"), pytest.raises(margin.LimitError, match="memory limit"):
        margin.from_bytes(saved)
    assert margin.from_bytes(saved).report.rows == 2_000


def test_sizes():
    sizes = {None: 0, 100: 100, "100": 100, "2K": 2048, "1.5mb": 3 * 2**19, "2G": 2**31, np.int64(7): 7}
    assert {size: bytes_of(size) for size in sizes} == sizes
    for wrong in (0, -1, "", "B", "G", "2X", "much", float("nan"), True, [1]):
        with pytest.raises(ValueError, match="memory has to be"):
            margin.fit("ridge", np.eye(3), np.ones(3), memory=wrong)


def test_settings_hold_where_they_were_made():
    assert margin.get_config() == {"threads": None, "time_limit": None, "memory": None, "progress": None, "trace": None}
    seen = []
    with margin.config_context(threads=1, memory="1G"):
        with margin.config_context(memory=None, time_limit=9.0):
            seen.append(margin.get_config())
        assert margin.get_config()["memory"] == "1G"
        other = threading.Thread(target=lambda: seen.append(margin.get_config()))
        other.start()
        other.join()
        assert margin.fit("ridge", np.eye(3), np.ones(3)).report.threads == 1
    assert seen[0] == {"threads": 1, "time_limit": 9.0, "memory": None, "progress": None, "trace": None}
    assert seen[1] == margin.get_config() == dict.fromkeys(seen[0])
    margin.set_config(threads=1)
    try:
        assert margin.fit("ridge", np.eye(3), np.ones(3)).report.threads == 1
    finally:
        margin.set_config(threads=None)
    with pytest.raises(TypeError, match="no setting 'thread'"):
        margin.set_config(thread=1)
    with pytest.raises(ValueError, match="memory"):
        margin.set_config(memory="lots")


def test_time_limits_of_searches(iris):
    with margin.config_context(time_limit=1e-9):
        table = margin.search("svm(kernel=rbf, C={0.1,1,10})", *iris)
        with pytest.warns(margin.ConvergenceWarning, match="time limit"):
            margin.LogisticRegression().fit(*iris)
    assert table.best is None and all("time limit" in cell.reason for cell in table.cells)


def test_progress_by_a_function(long_work):
    seen = []

    class Enough(Exception):
        pass

    def look(progress):
        seen.append(progress)
        if len(seen) == 3:
            raise Enough

    with pytest.raises(Enough):
        long_work(progress=look)
    assert len(seen) == 3 and all(isinstance(p, margin.Progress) and p.activity for p in seen)
    assert margin.fit("ridge", np.eye(3), np.ones(3)).report.rows == 3  # the thread's context goes on


def test_interrupt_with_progress(long_work):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        long_work(progress=lambda progress: None)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        long_work(progress=True)


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_bars_in_terminals(long_work, monkeypatch, terminal):
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(margin.progress, "_PATIENCE", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with margin.config_context(progress=True):
            long_work(time_limit=1.0)
            margin.fit("ridge", np.eye(3), np.ones(3))
    written = screen.getvalue()
    if terminal:
        shown = written.split("\r")
        assert shown[0] == "" and " s" in shown[1] and shown[-1] == "" and not shown[-2].strip()
        assert "\n" not in written
    else:
        assert "\r" not in written and written.count("\n") == 1


def test_nothing_is_shown_unasked(long_work, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long_work(time_limit=1.0)
        with margin.config_context(progress=True):
            long_work(time_limit=1.0, progress=False)
    assert capfd.readouterr() == ("", "")


def test_bars_in_notebooks(long_work, monkeypatch):
    shown = []

    class Handle:
        def update(self, made):
            shown.append(made)

    def display(made, display_id):
        shown.append(made)
        return Handle()

    place = types.ModuleType("IPython.display")
    place.HTML, place.display = str, display
    shell = types.ModuleType("IPython")
    shell.display, shell.get_ipython = place, lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setattr(margin.progress, "_PATIENCE", 0.0)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long_work(time_limit=1.0, progress=True)
    assert len(shown) >= 2 and shown[0].startswith("<small>") and shown[-1].endswith(" s</small>")


def test_lines():
    known = margin.Progress("training", 3.0, 12.0, 0.25)
    assert (str(known), known.share) == ("training 3 of 12 (0.25)", 0.25)
    unknown = margin.Progress("svm(C=1)", 0.0, float("nan"), float("nan"))
    assert (str(unknown), unknown.share) == ("svm(C=1)", None)


TRACING = {"LinearRegression", "Ridge", "Lasso", "ElasticNet", "LogisticRegression", "LinearSVC", "Perceptron", "RidgeCV",
           "LassoCV", "LogisticRegressionCV", "Pocket", "KernelPerceptron"}


@pytest.mark.filterwarnings("ignore::margin.ConvergenceWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_traces_of_estimators(iris, name):
    X, y = iris[0][::5], iris[1][::5]
    estimator = getattr(margin, name)()
    assert not hasattr(estimator, "trace_")
    with pytest.raises(AttributeError, match="fit it within margin.config_context.trace=True"):
        estimator.fit(X, y).trace_
    plain = bytes(estimator.model_)
    with margin.config_context(trace=True):
        estimator.fit(X, y)
    assert bytes(estimator.model_) == plain and hasattr(estimator, "trace_") == (name in TRACING)
    if name in TRACING:
        assert estimator.trace_ and all(isinstance(step, margin.TraceStep) for step in estimator.trace_)


def test_a_trace_of_a_search_and_a_spec(iris):
    X, y = iris
    steps = margin.fit("perceptron(order=first)", X[:100], y[:100], trace=True).trace
    with margin.config_context(trace=True):
        assert margin.Model("standardize | naive-bayes").fit(X, y).report_.rows == 150
        found = margin.Model("perceptron(order=first)").fit(X[:100], y[:100]).trace_
        assert margin.Search(margin.LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, y).best_estimator_.trace_
    assert [(step.step, step.row, step.loss) for step in found] == [(step.step, step.row, step.loss) for step in steps]
    for wrong in (print, 1.5, "yes"):
        with pytest.raises(ValueError, match="True or False"):
            margin.set_config(trace=wrong)


def test_what_perceptrons_tell():
    X, y = [[3, 3], [4, 3], [1, 1]], [1, 1, -1]
    last = margin.fit("perceptron(form=dual, order=first, bound=steps)", X, y, trace=True).trace[-1]
    assert last.updates.tolist() == last.alpha.tolist() == [2, 0, 5]  # the textbook's example
    assert last.distance == 0
    assert last.novikoff.along >= last.novikoff.least_along > 0 and 0 < last.novikoff.square <= last.novikoff.greatest_square
    first = margin.fit("perceptron(order=first)", X, y, trace=True).trace[0]
    assert (first.updates, first.novikoff) == (None, None) and np.isnan(first.distance)
