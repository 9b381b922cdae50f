#!/usr/bin/env python3
"""L1 penalties: margin against scikit-learn's liblinear, saga and Lasso.

usage: bench_l1.py BENCH_L1 [--rows N] [--repeats N]

Both sides get the same dense data and fit in turn; medians of whole fits, margin with all cores.
liblinear and saga use one thread. The objectives are computed here, from the weights of each side;
the penalties are named as the peers do (C_peer = 2 C, alpha_peer = lambda / 2).
"""
import argparse
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression


def ours(program, spec, folder):
    """The second of two fits: seconds, weights, intercept."""
    out = subprocess.run([program, spec, folder / 'x.npy', folder / 'y.npy', 'f64', '0', '2',
                          folder / 'w.txt'], check=True, capture_output=True, text=True).stdout
    numbers = np.loadtxt(folder / 'w.txt')
    return float(out.split('\n')[1].split()[0]), numbers[:-1], numbers[-1]


def theirs(model, x, y):
    start = time.perf_counter()
    model.fit(x, y)
    return time.perf_counter() - start, np.ravel(model.coef_), np.ravel(model.intercept_)[0]


def logistic(x, y, w, b, c):
    return c * np.logaddexp(0, -y * (x @ w + b)).sum() + np.abs(w).sum()


def lasso(x, y, w, b, penalty):
    return np.mean((x @ w + b - y) ** 2) + 2 * penalty * np.abs(w).sum()


def row(name, program, spec, folder, peer, model, x, y, objective, repeats):
    times = {'m': [], 't': []}
    for _ in range(repeats):
        mine, other = ours(program, spec, folder), theirs(model, x, y)
        times['m'].append(mine[0])
        times['t'].append(other[0])
    a, b = (1e3 * statistics.median(times[side]) for side in 'mt')
    print(f'{name:34s} margin {a:7.1f} ms  {peer:12s} {b:8.1f} ms  {b / a:5.1f}x   objective '
          f'{objective(x, y, *mine[1:]):.10g} {objective(x, y, *other[1:]):.10g}', flush=True)


def main():
    warnings.simplefilter('ignore')
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--repeats', type=int, default=3)
    a = parser.parse_args()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        x = rng.standard_normal((a.rows, 100))
        w = np.where(rng.random(100) < 0.3, rng.standard_normal(100), 0)
        y = np.where(x @ w + rng.logistic(size=a.rows) > 0, 1.0, -1.0)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y)
        for solver in ('liblinear', 'saga'):
            model = LogisticRegression(C=0.01, l1_ratio=1, solver=solver, max_iter=200)
            row(f'logistic C=0.01 {a.rows} x 100', a.program, 'logistic(C=0.005, l1_ratio=1)',
                folder, solver, model, x, y, lambda *p: logistic(*p, 0.01), a.repeats)
        x = rng.standard_normal((a.rows // 10, 1000))
        x[:, 1:] += 0.5 * x[:, :-1]
        w = np.zeros(1000)
        w[rng.choice(1000, 50, replace=False)] = rng.standard_normal(50)
        y = x @ w + 3 + 2 * rng.standard_normal(len(x))
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y)
        for penalty in (0.1, 0.01):
            row(f'lasso lambda={penalty} {len(x)} x 1000', a.program, f'lasso(lambda={2 * penalty})',
                folder, 'Lasso', Lasso(alpha=penalty, tol=1e-6), x, y,
                lambda *p, penalty=penalty: lasso(*p, penalty), a.repeats)


if __name__ == '__main__':
    main()
