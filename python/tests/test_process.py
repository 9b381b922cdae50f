"""Threads, forks, Ctrl-C, memory."""

import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import margin
import numpy as np
import pytest


def test_import_starts_no_thread():
    code = "import numpy, os; n = len(os.listdir('/proc/self/task')); import margin; " \
           "assert len(os.listdir('/proc/self/task')) == n; import sys; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_interrupt_ends_a_long_fit(rng):
    X = rng.normal(size=(5_000, 20))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        margin.fit("kmeans(k=200, restarts=10000)", X)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert margin.fit("ridge", X, X[:, 0]).report.rows == 5_000


def test_a_fit_that_does_not_end_leaves_no_half(rng):
    exceptions = pytest.importorskip("sklearn.exceptions")
    X = rng.normal(size=(5_000, 20))
    for estimator in (margin.KMeans(), margin.KMeans(3).fit(X[:100, :4]), margin.KMeans(3).fit(X[:100])):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            estimator.set_params(n_clusters=200, n_init=10_000).fit(X)
        timer.join()
        with pytest.raises(exceptions.NotFittedError):
            estimator.predict(X)
    y = (X[:, 0] > 0).astype(int)
    for estimator, refused in ((margin.SVC(), (X[:50, :3], X[:50, 0])), (margin.Ridge(), (X[:50, :3], y[:50], y[:49])),
                               (margin.RadiusNeighborsClassifier(outlier_label="a"), (X[:50], y[:50]))):
        fitted = type(estimator)().fit(X[:50], y[:50]).set_params(**estimator.get_params())
        with pytest.raises((TypeError, ValueError)):
            fitted.fit(*refused)
        with pytest.raises(exceptions.NotFittedError):
            fitted.predict(X)


def test_names_are_listed():
    pytest.importorskip("sklearn")
    assert {"fit", "Ridge", "Search", "Conformal"} <= set(dir(margin))


def test_other_threads_run_meanwhile(rng):
    X = rng.normal(size=(20_000, 20))
    ticks = 0
    done = threading.Event()

    def work():
        margin.fit("kmeans(k=100, restarts=3)", X, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.005):
        ticks += 1
    thread.join()
    assert ticks > 3


def test_threads_share_a_model(iris):
    X, y = iris
    model = margin.fit("svm(kernel=rbf)", X, y)
    expected = model.scores(X)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(model.scores(X), expected):
                wrong.append(1)
            if bytes(margin.fit("logistic", X, y)) != fitted:
                wrong.append(2)

    fitted = bytes(margin.fit("logistic", X, y))
    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(rng):
    X = rng.normal(size=(50_000, 10))
    expected = bytes(margin.fit("kmeans(k=3)", X))
    child = os.fork()
    if child == 0:
        os._exit(0 if bytes(margin.fit("kmeans(k=3)", X)) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


SCRIPT = """
import multiprocessing
import margin
import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
y = (X @ [1, 2, 0, -1] + random.normal(size=300) > 0).astype(int)


def fitted(spec):
    return margin.fit(spec, X, y)


def estimated(estimator):
    return estimator.fit(X, y)


def answered(model):
    return model.predict(X)


SPECS = ["logistic", "standardize | svm(kernel=rbf)", "knn(k=3)", "naive-bayes", "kmeans(k=3)"]
ESTIMATORS = [margin.LogisticRegression(), margin.SVC(), margin.KNeighborsClassifier(3), margin.GaussianNB(), margin.KMeans(3), margin.StandardScaler(),
              margin.Ridge(), margin.NearestNeighbors(), margin.Model("minmax | svm(C=2)")]

if __name__ == "__main__":
    here = [fitted(spec) for spec in SPECS]
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert list(map(bytes, pool.map(fitted, SPECS))) == list(map(bytes, here))
            for model, answer in zip(here, pool.map(answered, here)):
                assert np.array_equal(answer, model.predict(X)), model
            for made, original in zip(pool.map(estimated, ESTIMATORS), ESTIMATORS):
                assert bytes(made.model_) == bytes(original.fit(X, y).model_), made
    loky = Parallel(n_jobs=2, backend="loky")
    assert list(map(bytes, loky(delayed(fitted)(spec) for spec in SPECS))) == list(map(bytes, here))
    for made, original in zip(loky(delayed(estimated)(estimator) for estimator in ESTIMATORS), ESTIMATORS):
        assert bytes(made.model_) == bytes(original.model_), made
    search = [GridSearchCV(margin.SVC(), {"C": [0.1, 1, 10]}, cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert np.array_equal(*[found.cv_results_["mean_test_score"] for found in search])
    print("alike")
"""


def test_processes_that_begin_anew(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0 and done.stdout == "alike\n", done.stderr[-3000:]


def test_nothing_is_leaked(iris):
    X, y = iris

    def once():
        model = margin.fit("standardize | svm(kernel=rbf)", X, y, trace=False)
        model.predict(X), model.report, model.tensors["hypothesis.support"], bytes(model)
        margin.separable(X[:100], y[:100])
        try:
            margin.fit("svm(C=-1)", X, y)
        except margin.Error:
            pass

    for _ in range(30):
        once()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        once()
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000  # KB


def test_time_limit(rng):
    X = rng.normal(size=(20_000, 20))
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = margin.fit("kmeans(k=100, restarts=10000)", X, time_limit=1.0)
        except margin.LimitError as error:  # a busy machine: not one iteration in time
            assert "time limit" in str(error)
        else:
            assert model.report.status == margin.Status.STOPPED_TIME
            assert any(issubclass(w.category, margin.ConvergenceWarning) for w in said)
    assert time.monotonic() - start < 20
