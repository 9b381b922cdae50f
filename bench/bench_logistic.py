#!/usr/bin/env python3
"""Logistic regression, dense: margin against scikit-learn's solvers and LIBLINEAR.

usage: bench_logistic.py BENCH_LOGISTIC [--rows N] [--columns N] [--repeats N]

Both sides get the same data and fit in turn; medians of whole fits, all cores. The objectives are
computed here in f64 from the weights of each side. LIBLINEAR (liblinear in scikit-learn) penalises
the intercept as a weight of a column of ones; it is given what it minimises as its objective.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression


def ours(program, spec, folder, kind):
    out = subprocess.run([program, spec, folder / 'x.npy', folder / 'y.npy', kind, '0', '3',
                          folder / 'w.txt'], check=True, capture_output=True, text=True).stdout
    numbers = np.loadtxt(folder / 'w.txt')
    return statistics.median(float(line.split()[0]) for line in out.splitlines()), numbers[:-1], numbers[-1]


def objective(x, y, w, b, c, squared_intercept):
    loss = np.logaddexp(0, -y * (x @ w + b)).sum()
    return c * loss + w @ w / 2 + (b * b / 2 if squared_intercept else 0)


def main():
    warnings.simplefilter('ignore')
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=3)
    a = parser.parse_args()
    random = np.random.default_rng(0)
    x = random.normal(size=(a.rows, a.columns))
    w = random.normal(size=a.columns) / np.sqrt(a.columns)
    y = np.where(x @ w + random.logistic(size=a.rows) > 0, 1.0, -1.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y)
        for c in (1.0, 0.001):
            best = {}
            for kind in ('f64', 'f32'):
                seconds, weights, b = ours(a.program, f'logistic(C={c})', folder, kind)
                best[kind] = seconds
                print(f'C={c:<6g} margin {kind}           {1e3 * seconds:8.1f} ms            objective '
                      f'{objective(x, y, weights, b, c, False):.10g}', flush=True)
            for solver in ('lbfgs', 'newton-cholesky', 'liblinear'):
                times = []
                for _ in range(1 if solver == 'liblinear' else a.repeats):
                    model = LogisticRegression(C=c, solver=solver, max_iter=1000)
                    start = time.perf_counter()
                    model.fit(x, y)
                    times.append(time.perf_counter() - start)
                seconds = statistics.median(times)
                value = objective(x, y, model.coef_[0], model.intercept_[0], c, solver == 'liblinear')
                print(f'C={c:<6g} {solver:20s} {1e3 * seconds:8.1f} ms  {seconds / best["f64"]:6.1f}x   objective '
                      f'{value:.10g}', flush=True)


if __name__ == '__main__':
    main()
