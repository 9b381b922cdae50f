#!/usr/bin/env python3
"""Perceptron: margin against scikit-learn, and the kernel form against sums made afresh.

usage: bench_perceptron.py [--programs FOLDER] [--data FOLDER] [--rows N] [--repeats N]

Both sides get the same data and make the same number of passes, in turn; medians. "whole fit" is 5
passes with everything around them (checks of the data, the report), "per pass" the slope between 5
and 25 passes. scikit-learn runs as it comes (one thread for this), margin on all cores; the updates
themselves run on one thread.
"""
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron

import common
from common import median

PASSES, MORE = 5, 25


def ours(given, spec, data, **words):
    """One fit after one to warm up."""
    return common.fits(given, spec, data, **words)[0]


def theirs(x, y, passes, **options):
    model = Perceptron(tol=None, max_iter=passes, n_jobs=1, **options)
    start = time.perf_counter()
    model.fit(x, y)
    took = time.perf_counter() - start
    f = y * model.decision_function(x)
    return took, float(model.coef_[0, 0]), int((f <= 0).sum())


def show(name, mine, peer, fit, peer_fit, same):
    common.row(name, common.seconds(mine), common.seconds(peer), common.times(peer / mine), common.seconds(fit),
               common.seconds(peer_fit), common.times(peer_fit / fit), same)


def compare(given, name, spec, data, x, y, words, **options):
    """`spec` has a place for the number of passes."""
    times = {(side, passes): [] for side in 'mt' for passes in (PASSES, MORE)}
    for _ in range(given.repeats):
        for passes in (MORE, PASSES):
            mine = ours(given, spec % passes, data, **words)
            peer = theirs(x, y, passes, **options)
            times['m', passes].append(mine['seconds'])
            times['t', passes].append(peer[0])
    t = {key: median(values) for key, values in times.items()}
    a, b = ((t[side, MORE] - t[side, PASSES]) / (MORE - PASSES) for side in 'mt')
    first = common.weights_of(words['weights'], x.shape[1])[0, 0]
    show(name, a, b, t['m', PASSES], t['t', PASSES],
         f'first weight {first:.9g}, {peer[1]:.9g}; errors {mine["items"]["errors"]:.0f}, {peer[2]}')


def dense_rows(given, folder):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((given.rows, 100))
    y = np.where(x @ rng.standard_normal(100) + 8 * rng.standard_normal(given.rows) > 0, 1, -1)
    for kind, type_ in (('f64', np.float64), ('f32', np.float32)):
        values = np.ascontiguousarray(x, dtype=type_)
        common.save(folder, values, y)
        words = {'labels': folder / 'y.npy', 'type': kind, 'weights': folder / 'w.bin'}
        for order, shuffle in (('sequential', False), ('shuffled', True)):
            compare(given, f'{given.rows} x 100 {kind} {order}', f'perceptron(order={order},passes=%d,bound=no)',
                    folder / 'x.npy', values, y, words, shuffle=shuffle)


def dependent_rows(given, folder):
    """With the search for a separating hyperplane, which the others leave out: half of the columns depend on
    twelve factors, so that it takes many steps."""
    rng = np.random.default_rng(0)
    factors, x = rng.standard_normal((100_000, 12)), rng.standard_normal((100_000, 50))
    x[:, :25] += factors @ rng.standard_normal((12, 25))
    y = np.where(x @ rng.standard_normal(50) + 2 * rng.standard_normal(len(x)) > 0, 1, -1)
    common.save(folder, x, y)
    words = {'labels': folder / 'y.npy', 'weights': folder / 'w.bin'}
    for name, bound in (('dependent columns', ''), ('the same, bound=no', ',bound=no')):
        compare(given, f'100000 x 50, {name}', f'perceptron(passes=%d{bound})', folder / 'x.npy', x, y, words, shuffle=False)


def sparse_rows(given, folder):
    path = given.data / 'libsvm/a9a'
    if not path.exists():
        print(f'skipped: no data set {path}')
        return
    x, y = load_svmlight_file(str(path))
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    # scikit-learn moves the intercept by a hundredth of a step on sparse data: another path
    compare(given, 'a9a, sparse', 'perceptron(passes=%d,bound=no)', path, x, y, {'weights': folder / 'w.bin'},
            shuffle=False)


def kernel_rows(given, folder):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4000, 50))
    y = np.where(x[:, 0] * x[:, 1] + 0.5 * rng.standard_normal(4000) > 0, 1.0, -1.0)
    common.save(folder, x, y)
    x.tofile(folder / 'x.f64')
    y.tofile(folder / 'y.f64')
    few, more = 5, 15
    spec = 'perceptron(kernel=rbf,gamma=0.02,passes=%d)'
    mine, peer = {}, {}
    for passes in (few, more):
        reports = [ours(given, spec % passes, folder / 'x.npy', labels=folder / 'y.npy')
                   for _ in range(given.repeats)]
        mine[passes] = median(r['seconds'] for r in reports)
        peer[passes] = [float(word) for word in
                        common.run(given.programs / 'peer_kernel_sums', folder / 'x.f64', folder / 'y.f64', 4000, 50,
                                   0.02, passes).split()]
    show('4000 x 50 rbf, against sums made afresh', (mine[more] - mine[few]) / (more - few),
         (peer[more][0] - peer[few][0]) / (more - few), mine[few], peer[few][0],
         f'updates {reports[0]["items"]["mistakes"]:.0f}, {peer[more][1]:.0f}')


def main():
    given = common.options(__doc__, rows=200_000, repeats=5)
    common.head('', 'per pass', 'scikit-learn', '', '5 passes', 'scikit-learn', '', 'the same?')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dense_rows(given, folder)
        dependent_rows(given, folder)
        sparse_rows(given, folder)
        kernel_rows(given, folder)


if __name__ == '__main__':
    main()
