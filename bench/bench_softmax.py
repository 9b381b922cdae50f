#!/usr/bin/env python3
"""Softmax regression on Fashion-MNIST: margin against scikit-learn's lbfgs.

usage: bench_softmax.py BENCH_SOFTMAX [--repeats N] [--iterations N] [--data DIR]

60,000 x 784 pixels in [0, 1] as f32, 10 classes, C=1. Both sides with all cores; the objectives are
computed here in f64, from the weights of each side. DIR holds the idx files of Fashion-MNIST.
"""
import argparse
import gzip
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

PLACE = Path(os.environ.get('MARGIN_DATA', '../shared/data')) / 'images' / 'fashion-mnist'


def read(folder):
    def numbers(name, offset):
        return np.frombuffer(gzip.open(folder / name).read(), np.uint8, offset=offset)
    x = numbers('train-images-idx3-ubyte.gz', 16).reshape(60000, 784)
    return (x / np.float32(255)).astype(np.float32), numbers('train-labels-idx1-ubyte.gz', 8)


def objective(x, y, w, b):
    total = 0.0
    for at in range(0, len(y), 10000):
        f = x[at:at + 10000].astype(np.float64) @ w.T.astype(np.float64) + b
        most = f.max(1)
        own = f[np.arange(len(f)), y[at:at + 10000]]
        total += (np.log(np.exp(f - most[:, None]).sum(1)) + most - own).sum()
    return total + 0.5 * (w.astype(np.float64) ** 2).sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--iterations', type=int, default=200)
    parser.add_argument('--data', type=Path, default=PLACE)
    a = parser.parse_args()
    if not a.data.exists():
        print('skipped: no Fashion-MNIST at', a.data)
        return
    warnings.filterwarnings('ignore')
    x, y = read(a.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y.astype(np.int32))
        for tol in ('1e-3', '1e-6'):
            out = subprocess.run([a.program, f'softmax(tol={tol})', folder / 'x.npy',
                                  folder / 'y.npy', '0', str(a.repeats + 1), folder / 'w.txt'],
                                 check=True, capture_output=True, text=True).stdout
            rows = [line.split() for line in out.splitlines()][1:]
            w = np.loadtxt(folder / 'w.txt')
            seconds = statistics.median(float(r[0]) for r in rows)
            print(f'margin tol={tol}: {seconds:.3f} s, {rows[0][3]} steps, gap {rows[0][2]}, '
                  f'objective {objective(x, y, w[:, :-1], w[:, -1]):.6f}', flush=True)
    start = time.perf_counter()
    m = LogisticRegression(C=1, max_iter=a.iterations, tol=1e-12).fit(x, y)
    seconds = time.perf_counter() - start
    print(f'scikit-learn lbfgs, {m.n_iter_[0]} iterations: {seconds:.3f} s, objective '
          f'{objective(x, y, m.coef_, m.intercept_):.6f}')


if __name__ == '__main__':
    main()
