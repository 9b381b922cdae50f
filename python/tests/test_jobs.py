"""Threads of estimators: n_jobs, and what OMP_NUM_THREADS says where nothing else does."""

import os
import subprocess
import sys

import margin
import numpy as np
import pytest
from joblib import Parallel, delayed
from margin.estimators import BY_HAND
from margin.estimators.recipes import RECIPES

WITH_JOBS = [name for name, recipe in RECIPES.items() if "n_jobs" in {p.name for p in recipe.parameters}]


@pytest.mark.filterwarnings("ignore::margin.ConvergenceWarning")
@pytest.mark.parametrize("jobs", [-1, -2, 1, 2])
@pytest.mark.parametrize("name", WITH_JOBS)
def test_every_number_of_jobs(iris, name, jobs):
    X, y = iris[0][::3], iris[1][::3]
    ours = getattr(margin, name)
    assert ours(n_jobs=jobs).fit(X, y).report_.gap == pytest.approx(ours().fit(X, y).report_.gap, nan_ok=True)


@pytest.mark.parametrize("jobs", [-1, 1, 2])
def test_jobs_of_those_around_others(iris, jobs):
    X, y = iris
    assert "n_jobs" in margin.Search(margin.SVC()).get_params() and set(BY_HAND) == {"Search", "Conformal"}
    found = margin.Search(margin.KNeighborsClassifier(n_jobs=jobs), {"n_neighbors": [1, 5]}, n_jobs=jobs).fit(X, y)
    assert found.best_params_ == margin.Search(margin.KNeighborsClassifier(), {"n_neighbors": [1, 5]}).fit(X, y).best_params_
    model = margin.Model("standardize | svm(C=1)", "classify").set_params(n_jobs=jobs).fit(X, y)
    ends = margin.Conformal(margin.Lasso(), coverage=0.8).fit(X, X[:, 0]).predict_interval(X[:2])
    assert model.score(X, y) > 0.9 and ends.shape == (2, 2)


def test_what_says_how_many(monkeypatch):
    threads = lambda **words: margin.LogisticRegression(**words)._threads()  # noqa: E731
    for said in (None, 3):
        monkeypatch.setattr("margin.estimators.base.OMP_THREADS", said)
        assert threads() == margin.GaussianNB()._threads() == said and threads(n_jobs=-1) is None and threads(n_jobs=2) == 2
        with margin.config_context(threads=1):
            assert threads() is None  # and the call does as the setting says


@pytest.mark.parametrize("said, number", [("3", 3), ("3,2", 3), ("0", None), ("", None), ("many", None)])
def test_the_environment(said, number):
    code = "import margin; print(margin.Ridge()._threads())"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": said}, capture_output=True, text=True)
    assert done.stdout.strip() == str(number), done.stderr


def _threads_there():
    X = np.random.default_rng(0).normal(size=(3000, 20))
    return margin.KMeans(3).fit(X).report_.threads


def test_workers_of_joblib_share_the_cores(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as joblib sets it where there are as many workers as cores
    assert Parallel(n_jobs=2)(delayed(_threads_there)() for _ in range(2)) == [1, 1]
