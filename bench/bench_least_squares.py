#!/usr/bin/env python3
"""Least squares and ridge: margin against scikit-learn.

usage: bench_least_squares.py BENCH_LEAST_SQUARES [--rows N] [--columns N] [--repeats N]

Both sides get the same dense data and fit in turn; medians of whole fits after one to warm up, both
with all cores. The objectives are computed here, from the weights of each side.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge


def ours(program, spec, folder, kind):
    """The second of two fits: seconds, weights, intercept."""
    out = subprocess.run([program, spec, folder / 'x.npy', folder / 'y.npy', kind, '2',
                          folder / 'w.bin'], check=True, capture_output=True, text=True).stdout
    numbers = np.fromfile(folder / 'w.bin')
    return float(out.split('\n')[1].split()[0]), numbers[:-1], numbers[-1]


def theirs(model, x, y):
    start = time.perf_counter()
    model.fit(x, y)
    return time.perf_counter() - start, model.coef_, model.intercept_


def objective(x, y, w, b, alpha):
    r = y - x @ w.astype(np.float64) - b
    return r @ r + alpha * w.astype(np.float64) @ w


def row(name, program, spec, folder, kind, model, x, y, alpha, repeats):
    theirs(model, x, y)
    times = {'m': [], 't': []}
    for _ in range(repeats):
        mine = ours(program, spec, folder, kind)
        peer = theirs(model, x, y)
        times['m'].append(mine[0])
        times['t'].append(peer[0])
    a, b = (1e3 * statistics.median(times[side]) for side in 'mt')
    wide = x.astype(np.float64)
    print(f'{name:36s} margin {a:7.1f} ms  scikit-learn {b:7.1f} ms  {b / a:5.1f}x   objective '
          f'{objective(wide, y, *mine[1:], alpha):.12g} {objective(wide, y, *peer[1:], alpha):.12g}',
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=5)
    a = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.standard_normal((a.rows, a.columns))
    y = x @ rng.standard_normal(a.columns) + 3 + 5 * rng.standard_normal(a.rows)
    fifth = a.columns // 5
    dependent = x.copy()
    dependent[:, -fifth:] = x[:, :fifth] + x[:, fifth:2 * fifth]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / 'y.npy', y)
        for label, data, kind in (('f64', x, 'f64'), ('f64 dependent', dependent, 'f64'),
                                  ('f32', x.astype(np.float32), 'f32')):
            np.save(folder / 'x.npy', data)
            size = f'{a.rows} x {a.columns} {label}'
            row(f'least squares {size}', a.program, 'least-squares', folder, kind,
                LinearRegression(), data, y, 0, a.repeats)
            row(f'ridge {size}', a.program, 'ridge', folder, kind,
                Ridge(alpha=1, solver='cholesky'), data, y, 1, a.repeats)


if __name__ == '__main__':
    main()
