#!/usr/bin/env python3
"""Perceptron: margin against scikit-learn, and the kernel form against sums made afresh.

usage: bench_perceptron.py BENCH_PERCEPTRON [--rows N] [--repeats N]

Both sides get the same data and make the same number of passes, in turn; medians. "whole fit" is 5
passes with everything around them (checks of the data, the report), "per pass" the slope between 5
and 25 passes. scikit-learn runs as it comes (one thread for this), margin on all cores; the updates
themselves run on one thread.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron

PASSES, MORE = 5, 25


def ours(program, spec, data, labels, kind):
    """One fit after one to warm up: seconds, updates, errors, first weight."""
    out = subprocess.run([program, 'fit', spec, data, labels, kind, '2'], check=True,
                         capture_output=True, text=True).stdout
    return [float(word) for word in out.split('\n')[1].split()]


def theirs(x, y, passes, **options):
    model = Perceptron(tol=None, max_iter=passes, n_jobs=1, **options)
    start = time.perf_counter()
    model.fit(x, y)
    took = time.perf_counter() - start
    f = y * model.decision_function(x)
    return took, float(model.coef_[0, 0]), int((f <= 0).sum())


def row(name, program, spec, data, labels, kind, x, y, repeats, **options):
    """`spec` has a place for the number of passes."""
    times = {(side, passes): [] for side in 'mt' for passes in (PASSES, MORE)}
    for _ in range(repeats):
        for passes in (MORE, PASSES):
            a = ours(program, spec % passes, data, labels, kind)
            b = theirs(x, y, passes, **options)
            times['m', passes].append(a[0])
            times['t', passes].append(b[0])
    t = {key: 1e3 * statistics.median(values) for key, values in times.items()}
    mine, peer = ((t[side, MORE] - t[side, PASSES]) / (MORE - PASSES) for side in 'mt')
    print(f'{name:26s} per pass: margin {mine:7.2f} scikit-learn {peer:7.2f} ms {peer / mine:5.1f}x   '
          f'whole fit: {t["m", PASSES]:7.1f} {t["t", PASSES]:7.1f} ms '
          f'{t["t", PASSES] / t["m", PASSES]:5.1f}x   '
          f'first weight {a[3]:.9g} {b[1]:.9g} errors {a[2]:.0f} {b[2]}', flush=True)


def dense_rows(program, rows, repeats, folder):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, 100))
    y = np.where(x @ rng.standard_normal(100) + 8 * rng.standard_normal(rows) > 0, 1, -1)
    np.save(folder / 'y.npy', y)
    for kind, type_ in (('f64', np.float64), ('f32', np.float32)):
        values = np.ascontiguousarray(x, dtype=type_)
        np.save(folder / 'x.npy', values)
        for order, shuffle in (('sequential', False), ('shuffled', True)):
            spec = f'perceptron(order={order},passes=%d,bound=no)'
            row(f'{rows} x 100 {kind} {order}', program, spec, folder / 'x.npy', folder / 'y.npy',
                kind, values, y, repeats, shuffle=shuffle)


def sparse_rows(program, repeats):
    root = os.environ.get('MARGIN_DATA', Path(__file__).resolve().parents[2] / 'shared/data')
    path = Path(root) / 'libsvm/a9a'
    if not path.exists():
        print(f'skipped: no data set {path}')
        return
    x, y = load_svmlight_file(str(path))
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    # scikit-learn moves the intercept by a hundredth of a step on sparse data: another path
    row('a9a, sparse f64', program, 'perceptron(passes=%d,bound=no)', path, '-', 'f64', x, y, repeats,
        shuffle=False)


def sums_afresh(program, files, passes):
    """Seconds and updates of the kernel form with every score a sum of its own."""
    out = subprocess.run([program, 'sums', *files, '0.02', str(passes)], check=True,
                         capture_output=True, text=True).stdout.split()
    return float(out[0]), float(out[1])


def kernel_rows(program, folder, repeats):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4000, 50))
    y = np.where(x[:, 0] * x[:, 1] + 0.5 * rng.standard_normal(4000) > 0, 1.0, -1.0)
    np.save(folder / 'x.npy', x)
    np.save(folder / 'y.npy', y)
    files = [folder / 'x.npy', folder / 'y.npy']
    few, more = 5, 15
    spec = 'perceptron(kernel=rbf,gamma=0.02,passes=%d)'
    mine = {passes: statistics.median(ours(program, spec % passes, *files, 'f64')[0]
                                      for _ in range(repeats)) for passes in (few, more)}
    peer = {passes: sums_afresh(program, files, passes) for passes in (few, more)}
    a, b = 1e3 * (mine[more] - mine[few]) / (more - few), 1e3 * (peer[more][0] - peer[few][0]) / (more - few)
    print(f'{"4000 x 50 rbf kernel":26s} per pass: margin {a:7.2f} sums afresh  {b:7.2f} ms {b / a:5.1f}x   '
          f'whole fit: {1e3 * mine[few]:7.1f} {1e3 * peer[few][0]:7.1f} ms {peer[few][0] / mine[few]:5.1f}x   '
          f"updates {ours(program, spec % more, *files, 'f64')[1]:.0f} {peer[more][1]:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200_000)
    parser.add_argument('--repeats', type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dense_rows(options.program, options.rows, options.repeats, Path(folder))
        sparse_rows(options.program, options.repeats)
        kernel_rows(options.program, Path(folder), options.repeats)


if __name__ == '__main__':
    sys.exit(main())
