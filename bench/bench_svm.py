#!/usr/bin/env python3
"""Linear support vector machines: margin against LIBLINEAR, as it is in scikit-learn and alone.

usage: bench_svm.py BENCH_SVM [--rows N] [--columns N] [--repeats N] [--alone]

Random normal columns and a noisy linear label. Both sides fit hinge and squared hinge at C = 1;
every objective is computed here with NumPy from the weights, the intercept free, though LIBLINEAR
penalises it (its value here differs by less than 1e-6 for that). margin stops at a proven gap;
LIBLINEAR at its own default, which proves nothing. --alone also runs liblinear-train (the time it
takes without reading the file is that of the processor, less that of a run of one iteration).
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import LinearSVC


def objective(x, y, w, b, squared):
    short_of = np.maximum(0, 1 - y * (x @ w + b))
    return float((short_of ** 2 if squared else short_of).sum() + 0.5 * w @ w)


def ours(program, spec, data, labels, kind, repeats, folder):
    weights = str(folder / 'w.txt')
    out = subprocess.run([program, spec, data, labels, kind, '0', str(repeats), weights], check=True,
                         capture_output=True, text=True).stdout
    lines = [[float(word) for word in line.split()] for line in out.splitlines()]
    return (statistics.median(line[0] for line in lines), lines[0][2], int(lines[0][3]),
            np.loadtxt(weights))


def alone(folder, x, y, kind):
    """Processor seconds of liblinear-train between one iteration and as many as it takes."""
    path, model = folder / 'data.svm', folder / 'model'
    if not path.exists():
        dump_svmlight_file(x, y, str(path), zero_based=False)
    used = []
    for limit in ('1e9', '0.1'):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(['liblinear-train', '-q', '-s', kind, '-B', '1', '-e', limit, path, model],
                       check=True, capture_output=True)
        used.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    w = np.loadtxt(model, skiprows=6)
    sign = 1 if 'label 1' in open(model).read() else -1
    return used[1] - used[0], sign * w[:-1], sign * w[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200_000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--alone', action='store_true')
    parser.add_argument('--no-peers', action='store_true')
    a = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.standard_normal((a.rows, a.columns))
    hidden = rng.standard_normal(a.columns) / np.sqrt(a.columns) * 1.5
    y = np.where(x @ hidden + 0.3 + rng.logistic(size=a.rows) > 0, 1.0, -1.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, labels = str(folder / 'x.npy'), str(folder / 'y.npy')
        np.save(data, x)
        np.save(labels, y.astype(np.int64))
        for loss in ('hinge', 'squared-hinge'):
            squared = loss != 'hinge'
            first = None
            for kind in ('f64', 'f32'):
                for tol in ('1e-4', '1e-6'):
                    seconds, gap, steps, w = ours(a.program, f'svm(loss={loss}, tol={tol})', data,
                                                  labels, kind, a.repeats, folder)
                    first = first or seconds
                    print(f'{loss:14s} margin {kind} tol {tol} {seconds:8.3f} s  {steps:3d} steps  '
                          f'gap {gap:.1e}  objective {objective(x, y, w[:-1], w[-1], squared):.4f}',
                          flush=True)
            if not a.no_peers:
                model = LinearSVC(loss=loss.replace('-', '_'), dual=True if not squared else 'auto')
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter('always')
                    start = time.perf_counter()
                    model.fit(x, y)
                    took = time.perf_counter() - start
                value = objective(x, y, model.coef_[0], float(model.intercept_[0]), squared)
                print(f'{loss:14s} LinearSVC          {took:8.3f} s  {took / first:5.0f}x  '
                      f'objective {value:.4f}  {"; ".join(str(w.message)[:60] for w in said)}',
                      flush=True)
            if a.alone:
                took, w, b = alone(folder, x, y, '3' if not squared else '2')
                print(f'{loss:14s} liblinear-train    {took:8.3f} s  {took / first:5.0f}x  '
                      f'objective {objective(x, y, w, b, squared):.4f}', flush=True)


if __name__ == '__main__':
    main()
