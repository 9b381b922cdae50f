#!/usr/bin/env python3
"""One table of all learners: margin and its peers in turn, on one thread and on all, with the machine's limit.

usage: bench_table.py [--programs FOLDER] [--repeats N] [--only WORDS]

Medians of whole fits with default options, seconds of the processor on one thread and of the clock on
all; peers from scikit-learn as they come. The objectives are computed here from the weights of both
sides; the last column is how much ours is above the peer's, relative to it. The limit is the time of
one pass over the data at the bandwidth, or of the products of the columns at the peak if that is
more, as this machine has them on one thread: bandwidth by NumPy's sums, peak by its product of
matrices, both measured here first.
"""
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import common

LOSSES = {'logistic': lambda z: np.logaddexp(0, -z), 'squared': lambda z: np.maximum(1 - z, 0) ** 2}


def regression(alpha=0.0, l1=0.0):
    return lambda x, y, w, b: float(((x @ w + b - y) ** 2).sum() + alpha * (w @ w) + l1 * abs(w).sum())


def margins(loss, l1=False):
    return lambda x, y, w, b: float(LOSSES[loss](np.where(y > 0, 1, -1) * (x @ w + b)).sum() +
                                    (abs(w).sum() if l1 else w @ w) / 2)


def categories(rng, rows, counts):
    parts = [sp.csr_matrix((np.ones(rows), (np.arange(rows), rng.integers(0, k, rows))), (rows, k)) for k in counts]
    return sp.hstack(parts).tocsr()


def tables(rng):
    """Name: columns, value, two classes, ten classes."""
    dense = rng.standard_normal((100_000, 100))
    dense[:, :50] += rng.standard_normal((100_000, 12)) @ rng.standard_normal((12, 50))
    sparse = sp.random(40_000, 4_000, 0.01, 'csr', random_state=1, data_rvs=rng.standard_normal)
    found = {'dense 100,000 x 100': dense, 'dense 3,000 x 50': rng.standard_normal((3_000, 50)),
             'sparse 40,000 x 4,000': sparse, 'categories 20,000 x 300 + 200 + 20': categories(rng, 20_000, (300, 200, 20)),
             'categories 200,000 x 10,000 + 500 + 20': categories(rng, 200_000, (10_000, 500, 20))}
    for name, x in found.items():
        score = x @ rng.standard_normal(x.shape[1])
        score /= score.std()
        rules = x @ rng.standard_normal((x.shape[1], 10))
        noise = rng.logistic(size=x.shape[0])
        yield name, (x, score + noise, np.where(score + noise / 2 > 0, 1.0, -1.0),
                     np.argmax(rules / rules.std() + rng.gumbel(size=rules.shape) / 2, axis=1).astype(float))


VALUE, TWO, TEN = 1, 2, 3  # places in such a tuple
DENSE = (
    ('least-squares', VALUE, LinearRegression, regression()),
    ('ridge', VALUE, Ridge, regression(1.0)),
    ('lasso(lambda=0.01)', VALUE, lambda: Lasso(alpha=0.01), None),
    ('least-squares(solver=sgd, max_iter=5)', VALUE, lambda: SGDRegressor(penalty=None, max_iter=5, tol=None), None),
    ('logistic', TWO, lambda: LogisticRegression(tol=1e-6, max_iter=10_000), margins('logistic')),
    ('svm(loss=squared-hinge)', TWO, lambda: LinearSVC(dual=False), margins('squared')),
    ('perceptron', TWO, Perceptron, None),
    ('softmax', TEN, lambda: LogisticRegression(tol=1e-4, max_iter=10_000), None),
    ('naive-bayes', TEN, GaussianNB, None),
    ('kmeans(k=20, max_iter=20, tol=0)', None, lambda: KMeans(20, n_init=1, max_iter=20, tol=0), None),
)
SPARSE = (
    ('least-squares', VALUE, LinearRegression, regression()),
    ('ridge', VALUE, Ridge, regression(1.0)),
    ('logistic(intercept=no)', TWO, lambda: LogisticRegression(solver='liblinear', fit_intercept=False, tol=1e-4),
     margins('logistic')),
    ('logistic(l1_ratio=1, intercept=no)', TWO,
     lambda: LogisticRegression(C=2, l1_ratio=1, solver='liblinear', fit_intercept=False, tol=1e-4),
     margins('logistic', True)),
    ('svm(loss=squared-hinge, intercept=no)', TWO, lambda: LinearSVC(fit_intercept=False), margins('squared')),
)
WORK = {
    'dense 100,000 x 100': DENSE,
    'dense 3,000 x 50': (('poly(degree=3) | ridge', VALUE, lambda: make_pipeline(PolynomialFeatures(3), Ridge()), None),),
    'sparse 40,000 x 4,000': SPARSE,
    'categories 20,000 x 300 + 200 + 20': SPARSE[:2],
    'categories 200,000 x 10,000 + 500 + 20': SPARSE[1:2],
}


def processor(call):
    """As common.timed, in seconds of the processor."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def machine():
    """Bytes and floating-point operations a second of one thread."""
    a, many = np.ones((1500, 1500)), np.ones(40_000_000)
    with threadpool_limits(1):
        product = min(processor(lambda: a @ a)[0] for _ in range(3))
    return many.nbytes / min(processor(many.sum)[0] for _ in range(5)), 2 * 1500 ** 3 / product


def limit(x, spec, bandwidth, peak):
    if sp.issparse(x):
        return (x.data.nbytes + x.indices.nbytes) / bandwidth
    products = x.shape[0] * x.shape[1] ** 2 / peak if spec in ('least-squares', 'ridge') else 0
    return max(x.nbytes / bandwidth, products)


def save(folder, x, y):
    """Words of bench_fit for the data."""
    if sp.issparse(x):
        dump_svmlight_file(x, y, str(folder / 'x.svm'), zero_based=False)
        return folder / 'x.svm', {}
    common.save(folder, x, y)
    return folder / 'x.npy', {'labels': folder / 'y.npy'}


def compare(given, folder, speed, name, table, work):
    spec, target, peer, objective = work
    x, y = table[0], table[target] if target else None
    data, words = save(folder, x, y if target else np.zeros(x.shape[0]))
    if not target:
        words = {'target': 'no'}
    if objective:
        words['weights'] = folder / 'w.bin'
    cells = []
    for threads in dict.fromkeys((1, common.CORES)):
        def ours():
            which = 'cpu_seconds' if threads == 1 else 'seconds'
            return common.fits(given, spec, data, threads=threads, **words)[0][which], None

        def theirs():
            with threadpool_limits(threads):
                return (processor if threads == 1 else common.timed)(lambda: peer().fit(x, y))
        (mine, _), (other, model) = common.in_turn(given.repeats, ours, theirs)
        cells += [common.seconds(mine), common.seconds(other), common.times(other / mine)]
        if threads == 1:
            share = f'{limit(x, spec, *speed) / mine:.2f}'
    above = ''
    if objective:
        w = common.weights_of(folder / 'w.bin', x.shape[1])[0]
        a, b = objective(x, y, w[:-1], w[-1]), objective(x, y, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))
        above = f'{(a - b) / b:.1e}'
    common.row(f'`{spec}`', name, *cells, share, above)


def main():
    given = common.options(__doc__, repeats=3, only='')
    warnings.simplefilter('ignore')
    speed = machine()
    print(f'one thread: {speed[0] / 1e9:.1f} GB/s, {speed[1] / 1e9:.0f} Gflop/s')
    sides = [(f'margin, {n}', 'peer', 'ratio') for n in dict.fromkeys((1, common.CORES))]
    common.head('', 'data', *(cell for side in sides for cell in side), 'of the limit, 1', 'objective above')
    with tempfile.TemporaryDirectory() as folder:
        for name, table in tables(np.random.default_rng(1)):
            for work in WORK[name]:
                if given.only in work[0] + name:
                    compare(given, Path(folder), speed, name, table, work)


if __name__ == '__main__':
    main()
