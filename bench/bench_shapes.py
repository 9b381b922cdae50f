#!/usr/bin/env python3
"""Whole fits with default options over shapes of data that tables have: margin and scikit-learn in turn.

usage: bench_shapes.py [--programs FOLDER] [--repeats N] [--longest SECONDS] [--threads N] [--seed N] [--only WORD] [--spec WORD]

Three tables with a line a shape and a column a learner: how many times as long scikit-learn takes, and our milliseconds;
the least of the runs, seconds of the processor on one thread and of the clock on more. A `<` stands
before what is below 1.5x, `<<` below 1x, `>` where the peer was stopped at the longest time, `stopped`
where ours ended without its proof. What is below 1.5x is listed again below the tables. Peers stop by
their default tolerances, mostly above our objective: bench_table.py compares those.
"""
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import common


def text(rng, rows, columns, words):
    """Words by Zipf's law, log(1 + count), rows of norm 1."""
    share = 1 / np.arange(1, columns + 1)
    at = rng.choice(columns, rows * words, p=share / share.sum())
    x = sp.csr_matrix((np.ones(rows * words), (np.repeat(np.arange(rows), words), at)), (rows, columns))
    x.sum_duplicates()
    x.data = np.log1p(x.data)
    norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return (sp.diags(1 / norms) @ x).tocsr()


def categories(rng, rows, sizes, drop=0):
    """One-hot columns of unlike shares; `drop` of each left out."""
    parts = []
    for size in sizes:
        share = np.arange(1, size + 1) ** -0.7
        at = rng.choice(size, rows, p=share / share.sum())
        parts.append(sp.csr_matrix((np.ones(rows), (np.arange(rows), at)), (rows, size))[:, drop:])
    return sp.hstack(parts).tocsr()


def factors(rng, rows, columns):
    x = rng.standard_normal((rows, columns))
    x[:, :columns // 2] += rng.standard_normal((rows, 12)) @ rng.standard_normal((12, columns // 2))
    return x


def near(rng, rows, columns):
    half = rng.standard_normal((rows, columns // 2))
    return np.hstack([half, half + 0.01 * rng.standard_normal(half.shape)])


SHAPES = {
    'dense 1,000 x 10': lambda rng: rng.standard_normal((1_000, 10)),
    'dense 50,000 x 20': lambda rng: rng.standard_normal((50_000, 20)),
    'dense 100,000 x 50, 12 factors': lambda rng: factors(rng, 100_000, 50),
    'the same in f32': lambda rng: factors(rng, 100_000, 50).astype(np.float32),
    'pairs alike, 20,000 x 60': lambda rng: near(rng, 20_000, 60),
    'units 1e-3 to 1e4, 20,000 x 30': lambda rng: rng.standard_normal((20_000, 30)) * 10.0 ** rng.uniform(-3, 4, 30),
    'counts 20,000 x 40': lambda rng: rng.poisson(3, (20_000, 40)).astype(float),
    'bits 20,000 x 100': lambda rng: (rng.random((20_000, 100)) < 0.2).astype(float),
    'dense dummies 20,000 x 120': lambda rng: categories(rng, 20_000, (50, 40, 30)).toarray(),
    'each row 100 times, 20,000 x 20': lambda rng: np.repeat(rng.standard_normal((200, 20)), 100, axis=0),
    'dense 200 x 5,000': lambda rng: rng.standard_normal((200, 5_000)),
    'dense 500 x 3,000, 12 factors': lambda rng: factors(rng, 500, 3_000),
    'sparse 40,000 x 4,000, 1 %': lambda rng: sp.random(40_000, 4_000, 0.01, 'csr', random_state=rng,
                                                        data_rvs=rng.standard_normal),
    'text 40,000 x 5,000': lambda rng: text(rng, 40_000, 5_000, 60),
    'text 10,000 x 20,000': lambda rng: text(rng, 10_000, 20_000, 60),
    'text 2,000 x 30,000': lambda rng: text(rng, 2_000, 30_000, 100),
    'categories 50,000 x 500 + 50 + 10': lambda rng: categories(rng, 50_000, (500, 50, 10)),
    'the same, one of each dropped': lambda rng: categories(rng, 50_000, (500, 50, 10), 1),
    'categories 50,000 x 3,000': lambda rng: categories(rng, 50_000, (3_000,)),
    'categories and numbers, 50,000 x 1,205': lambda rng: sp.hstack(
        [categories(rng, 50_000, (1_000, 200)), sp.csr_matrix(rng.standard_normal((50_000, 5)))]).tocsr(),
}
FORK = multiprocessing.get_context('fork')
VALUE, TWO, EIGHT = 0, 1, 2
WIDTH = 7  # learners of a table
# lambda is twice scikit-learn's alpha.
LEARNERS = (
    ('least-squares', VALUE, LinearRegression),
    ('ridge', VALUE, Ridge),
    ('ridge(alpha=0.001)', VALUE, lambda: Ridge(alpha=0.001)),
    ('lasso(lambda=0.02)', VALUE, lambda: Lasso(alpha=0.01)),
    ('lasso(lambda=0.0002)', VALUE, lambda: Lasso(alpha=0.0001)),
    ('elastic-net(lambda=0.015, l1_ratio=0.6666666666666667)', VALUE, lambda: ElasticNet(alpha=0.01)),
    ('logistic', TWO, LogisticRegression),
    ('logistic(C=100)', TWO, lambda: LogisticRegression(C=100)),
    ('logistic(C=0.01)', TWO, lambda: LogisticRegression(C=0.01)),
    ('logistic(l1_ratio=1)', TWO, lambda: LogisticRegression(C=2, l1_ratio=1, solver='liblinear')),
    ('logistic(C=inf)', TWO, lambda: LogisticRegression(C=np.inf)),
    ('softmax', EIGHT, LogisticRegression),
    ('svm', TWO, lambda: LinearSVC(loss='hinge')),
    ('svm(C=100)', TWO, lambda: LinearSVC(loss='hinge', C=100)),
    ('svm(loss=squared-hinge)', TWO, LinearSVC),
    ('svm', EIGHT, lambda: LinearSVC(loss='hinge')),
    ('perceptron', TWO, Perceptron),
    ('naive-bayes', EIGHT, GaussianNB),
    ('knn', EIGHT, KNeighborsClassifier),
    ('kmeans(restarts=1)', None, lambda: KMeans(8, n_init=1)),
)


def targets(rng, x):
    """A value, two classes and eight, of a linear score in which columns count by their size."""
    largest = abs(x).max(axis=0)
    largest = np.asarray(largest.todense() if sp.issparse(x) else largest, dtype=float).ravel()
    score = np.asarray(x @ (rng.standard_normal(x.shape[1]) / np.sqrt(1 + largest ** 2))).ravel()
    score = (score - score.mean()) / score.std()
    eight = np.quantile(score, np.linspace(0, 1, 9)[1:-1])
    return (score + 0.5 * rng.standard_normal(len(score)),
            np.where(score + 0.7 * rng.logistic(size=len(score)) > 0, 1.0, -1.0),
            np.digitize(score + 0.3 * rng.standard_normal(len(score)), eight).astype(float))


def save(folder, x, y):
    """Words of bench_fit for the data."""
    if sp.issparse(x):
        dump_svmlight_file(x, y, str(folder / 'x.svm'), zero_based=False)
        return folder / 'x.svm', {}
    common.save(folder, x, y)
    return folder / 'x.npy', {'labels': folder / 'y.npy'}


def send_seconds(pipe, peer, x, y, given):
    clock, least = (time.process_time if given.threads == 1 else time.perf_counter), np.inf
    with threadpool_limits(given.threads):
        for _ in range(given.repeats + 1):  # the first loads what the others find
            start = clock()
            peer().fit(x, y)
            least = min(least, clock() - start)
            pipe.send(least)
    pipe.close()


def peer_seconds(peer, x, y, given):
    """The least of the runs that end in time, in a process of their own, and whether none does."""
    here, there = FORK.Pipe(False)
    child = FORK.Process(target=send_seconds, args=(there, peer, x, y, given))
    child.start()
    there.close()
    end, least = time.monotonic() + given.longest, None
    try:
        while here.poll(max(0, end - time.monotonic())):
            least = here.recv()
    except EOFError:
        pass
    child.kill()
    child.join()
    return least or float(given.longest), least is None


def compare(given, folder, x, data, work):
    spec, target, peer = work
    y = data[target] if target is not None else None
    path, words = save(folder, x, y if y is not None else np.zeros(x.shape[0]))
    if target is None:
        words = {'target': 'no'}
    if x.dtype == np.float32:
        words['type'] = 'f32'
    reports = common.fits(given, spec, path, repeats=given.repeats, threads=given.threads, **words)
    mine = min(r['cpu_seconds' if given.threads == 1 else 'seconds'] for r in reports)
    other, late = peer_seconds(peer, x, y, given)
    ratio = other / mine
    mark = '> ' if late else '<< ' if ratio < 1 else '< ' if ratio < 1.5 else ''
    end = ' stopped' if reports[-1]['status'] else ''
    return ratio, f'{mark}{common.times(ratio)} {1e3 * mine:.3g}{end}'


def measure(given, folder, learners, below):
    """A table; adds to `below` what is below 1.5x or not proven."""
    common.head('', *(f'`{spec}`{", 8 classes" if target == EIGHT and spec == "svm" else ""}'
                      for spec, target, _ in learners))
    for name, make in SHAPES.items():
        if given.only not in name:
            continue
        rng = np.random.default_rng(given.seed)
        x = make(rng)
        data, cells = targets(rng, x), []
        for work in learners:
            if sp.issparse(x) and work[0] in ('naive-bayes', 'knn'):
                cells.append('')
                continue
            ratio, cell = compare(given, folder, x, data, work)
            cells.append(cell)
            if ratio < 1.5 or 'stopped' in cell:
                below.append((ratio, f'{name}: `{work[0]}` {cell}'))
        common.row(name, *cells)
    print()


def main():
    given = common.options(__doc__, repeats=2, longest=60, threads=1, seed=1, only='', spec='')
    warnings.simplefilter('ignore')
    learners = [work for work in LEARNERS if given.spec in work[0]]
    below = []
    with tempfile.TemporaryDirectory() as folder:
        for some in (learners[k:k + WIDTH] for k in range(0, len(learners), WIDTH)):
            measure(given, Path(folder), some, below)
    print(*('below 1.5x, or not proven:', *(line for _, line in sorted(below))), sep='\n')


if __name__ == '__main__':
    main()
