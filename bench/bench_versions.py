#!/usr/bin/env python3
"""Two builds beside each other: the same fits by each in turn, and which became slower.

usage: bench_versions.py --before FOLDER [--programs FOLDER] [--data FOLDER] [--repeats N] [--only WORD] [--busy]

FOLDER holds the programs of `scripts/build.sh bench all` of each state (build/bench/bench). A line for each
fit (dense, sparse, wide, f32; reading and queries are not compared): least seconds of N turns on one thread
and on all, and their ratio. --busy, beside other work: seconds of the processor, one thread alone
(`cpu_seconds` of bench_fit, which an older state has to be taught first). What is slower by more than 5 % is tried again as often before it counts.
"""
import itertools
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import bench_sparse
import common

FITS = {  # data: specs
    'dense': ['least-squares', 'ridge', 'logistic', 'logistic(C=0.001)', 'logistic(l1_ratio=1, C=0.01)', 'svm',
              'svm(tol=1e-6)', 'svm(loss=squared-hinge)', 'perceptron(passes=5, bound=no)',
              'perceptron(passes=5, order=shuffled, bound=no)', 'perceptron(passes=5)', 'naive-bayes',
              'svm(C=0.01)', 'standardize | logistic'],
    'dense f32': ['least-squares', 'ridge', 'logistic', 'svm', 'svm(loss=squared-hinge)', 'naive-bayes',
                  'perceptron(passes=5, bound=no)'],
    'values': ['least-squares', 'ridge', 'lasso(lambda=0.01)', 'lasso(lambda=0.1)',
               'elastic-net(lambda=0.01, l1_ratio=0.5)', 'least-squares(solver=sgd, max_iter=5)', 'svm(epsilon=0.1)'],
    'dependent': ['least-squares', 'ridge'],
    'wide': ['logistic', 'logistic(C=0.001)', 'svm', 'lasso(lambda=0.01)', 'lasso(lambda=0.1)'],
    'classes': ['softmax', 'naive-bayes', 'svm(loss=squared-hinge)', 'logistic'],
    'products': ['poly(degree=2) | ridge', 'poly(degree=2) | standardize | ridge'],
    'clusters': ['kmeans(k=100, max_iter=50)', 'kmeans(k=20, max_iter=20, tol=0)'],
    'points': ['knn(k=5)'],
    'a9a': ['perceptron(passes=20, bound=no)', 'logistic', 'svm', 'logistic(l1_ratio=1)'],
    'kdd': ['logistic(intercept=no)', 'svm(loss=squared-hinge, intercept=no)', 'svm(intercept=no)'],
    'news': ['logistic(C=10, intercept=no)', 'svm(C=10, intercept=no)', 'svm(loss=squared-hinge, C=10, intercept=no)'],
    'one class of news': ['logistic(l1_ratio=1, C=1)', 'logistic(l1_ratio=1, C=10)'],
    'fashion': ['softmax', 'naive-bayes'],
}


def made(rows, columns, classes=2, seed=1):
    """Normal columns; labels of the greatest noisy score, or with one class its value."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    scores = x @ (rng.standard_normal((columns, classes)) / np.sqrt(columns))
    if classes == 1:
        return x, scores[:, 0] + 0.1 * rng.standard_normal(rows)
    return x, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1).astype(float)


def dependent():
    x, y = made(100_000, 100, 1)
    x[:, 50:60] = x[:, :10] - x[:, 10:20]
    return x, y


def clustered():
    rng = np.random.default_rng(3)
    centres = 4 * rng.standard_normal((60, 50))
    return centres[rng.integers(60, size=100_000)] + rng.standard_normal((100_000, 50)), None


def pixels(given):
    found = common.fashion(given.data)
    return None if found is None else ((found[0] / 255).astype('f4'), found[1].astype(float))


def one_class(given):
    x, y = bench_sparse.news(given.data)
    return x, np.where(y == 14, 1, -1)


def a9a(given):
    from sklearn.datasets import load_svmlight_file
    return load_svmlight_file(str(given.data / 'libsvm/a9a'))


DATA = {
    'dense': lambda given: made(200_000, 100),
    'dense f32': lambda given: made(200_000, 100),
    'values': lambda given: made(200_000, 100, 1),
    'dependent': lambda given: dependent(),
    'wide': lambda given: made(20_000, 1000),
    'classes': lambda given: made(100_000, 50, 8),
    'products': lambda given: made(100_000, 30, 1),
    'clusters': lambda given: clustered(),
    'points': lambda given: made(20_000, 10, 3),
    'a9a': a9a,
    'kdd': lambda given: bench_sparse.kdd(given.data),
    'news': lambda given: bench_sparse.news(given.data),
    'one class of news': one_class,
    'fashion': pixels,
}


def stored(given, name, folder):
    """The words of bench_fit for a data set, written to `folder`; None where it is absent."""
    try:
        found = DATA[name](given)
    except FileNotFoundError as error:
        print(f'skipped: {error.filename}')
        return None
    if found is None:
        return None
    x, y = found
    if not isinstance(x, np.ndarray):
        from sklearn.datasets import dump_svmlight_file
        dump_svmlight_file(x, y, str(folder / 'x.svm'), zero_based=False)
        return [folder / 'x.svm']
    common.save(folder, x, y)
    return [folder / 'x.npy', 'target=no' if y is None else f'labels={folder / "y.npy"}',
            'type=f32' if name.endswith('f32') or x.dtype == np.float32 else 'type=f64']


def least(programs, spec, words, threads, given):
    """Least seconds of a fit by each of the programs, which run in turn."""
    found, key = {}, 'cpu_seconds' if given.busy else 'seconds'
    for _, folder in itertools.product(range(given.repeats), programs):
        out = common.run(folder / 'bench_fit', spec, *words, f'threads={threads}', 'repeats=2')
        for line in out.splitlines():
            seconds = common.json.loads(line)[key]
            found[folder] = min(found.get(folder, seconds), seconds)
    return [found[folder] for folder in programs]


def compare(given, name, spec, words):
    cells, slower = [], False
    for threads in (1,) if given.busy else (1, common.CORES):
        programs = [given.before, given.programs]
        before, after = least(programs, spec, words, threads, given)
        if after > 1.05 * before:
            again = least(programs, spec, words, threads, given)
            before, after = min(before, again[0]), min(after, again[1])
        slower = slower or after > 1.05 * before
        cells += [common.seconds(before), common.seconds(after), f'{before / after:.2f}x']
    common.row(f'`{spec}`', name, *cells, 'slower' if slower else '')


def main():
    given = common.options(__doc__, before=None, repeats=3, only='', busy=False)
    given.before = Path(given.before)
    all_threads = [] if given.busy else [f'{common.CORES}: before', 'after', '']
    common.head('', 'data', '1 thread: before', 'after', '', *all_threads, '')
    for name, specs in FITS.items():
        specs = [spec for spec in specs if given.only in f'{spec} on {name}']
        if not specs:
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = stored(given, name, Path(folder))
            for spec in specs if words else []:
                try:
                    compare(given, name, spec, words)
                except subprocess.CalledProcessError as error:
                    print(f'skipped: {spec} on {name}: status {error.returncode}', flush=True)


if __name__ == '__main__':
    main()
