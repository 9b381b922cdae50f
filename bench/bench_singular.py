#!/usr/bin/env python3
"""Least squares with columns that depend on each other: margin against numpy.linalg.lstsq.

usage: bench_singular.py [--programs FOLDER] [--repeats N] [--sizes N,N...]

One thread both (run with OMP_NUM_THREADS=1), seconds of the processor in user mode, medians: of a
whole process of ours, reading included, and of lstsq on columns and target that are centred in that
time. The last columns say how far the weights are from those of lstsq, and the objectives apart.
"""
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import common
from common import median, row, times


def children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def ours(given, folder):
    start = children()
    report = common.fit(given, 'least-squares', folder, warm=False, threads=1)
    return children() - start, report


def peer(x, y):
    start = time.process_time()
    w = np.linalg.lstsq(x - x.mean(0), y - y.mean(), rcond=1e-12)[0]
    return time.process_time() - start, w


def compare(given, folder, name, x, y):
    common.save(folder, x, y)
    mine, other = zip(*((ours(given, folder), peer(x, y)) for _ in range(given.repeats)))
    a, b = (median(found[0] for found in side) for side in (mine, other))
    report, w = mine[-1][1], other[-1][1]
    apart = np.linalg.norm(report['weights'][0][:-1] - w) / np.linalg.norm(w)
    residual = (x - x.mean(0)) @ w - (y - y.mean())
    best = float(residual @ residual / len(y))
    ending = 'proven' if report['gap'] < 1e-6 else 'stopped'
    row(name, common.seconds(a), common.seconds(b), times(b / a), ending, f'{apart:.0e}',
        f'{abs(report["objective"] - best) / max(1, best):.0e}')


def cases(rng, n):
    left = n * 7 // 10
    x = rng.standard_normal((n, left)) @ rng.standard_normal((left, n))
    yield f'{n} x {n}, rank {left}, rounded', x, rng.standard_normal(n)
    x = rng.integers(-8, 9, (3 * n, n)).astype(float)
    x[:, left:] = x[:, :n - left] + x[:, n - left:2 * (n - left)]
    yield f'{3 * n} x {n}, rank {left}, whole numbers', x, rng.standard_normal(3 * n)


def categories(rng):
    chosen = rng.integers(0, 1000, 20000)
    x = np.zeros((20000, 1000))
    x[np.arange(20000), chosen] = 1
    return '20000 x 1000, indicators of 1000 categories', x, rng.standard_normal(20000)


def copies(rng):
    x = rng.standard_normal((20000, 200))
    x[:, 50:60], x[:, 7], x[:, 70] = x[:, :10], 3, 2 * x[:, 8]
    return '20000 x 200, 11 copies, a constant', x, rng.standard_normal(20000)


def main():
    given = common.options(__doc__, repeats=5, sizes='500,1000,2000')
    rng = np.random.default_rng(5)
    common.head('', 'margin', 'lstsq', '', 'ends', 'weights apart', 'objectives apart')
    with tempfile.TemporaryDirectory() as name:
        for size in given.sizes.split(','):
            for case in cases(rng, int(size)):
                compare(given, Path(name), *case)
        compare(given, Path(name), *categories(rng))
        compare(given, Path(name), *copies(rng))


if __name__ == '__main__':
    main()
