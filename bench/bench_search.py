#!/usr/bin/env python3
"""Settings by cross-validation: margin cv against scikit-learn's searches.

usage: bench_search.py [--program FILE] [--share S] [--only NAME]

Five searches of the same grids under as many folds (cut by each side for itself): ridge, 100
penalties, 10 folds, 200,000 x 100; logistic regression, 50 values of C, 5 folds, 20,000 x 50; lasso,
100 penalties, 5 folds, 5,000 x 500; neighbours, k from 1 to 50, each row left out, 20,000 x 10; an
svm with the radial kernel, 5 values of C times 5 of gamma, 5 folds, 5,000 x 50. --share: of those
rows. The peer of the neighbours asks scikit-learn for 51 neighbours of each row once and counts
votes with NumPy, which GridSearchCV cannot; that of ridge is a share of the grid, scaled up. Beside
the seconds: the best setting's score on both sides.
"""
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LassoCV, LogisticRegressionCV, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

import common

random = np.random.default_rng(1)


def numbers(rows, columns, used, noise):
    x = random.normal(size=(rows, columns))
    return x, x[:, :used] @ random.normal(size=used) + noise * random.normal(size=rows)


def mine(given, folder, spec, *words):
    out = json.loads(common.run(given.program, 'cv', spec, folder / 'x.npy', '--labels', folder / 'y.npy', '--json', *words))
    return out['seconds']['search'], out['cells'][out['best']]['mean'], out['threads']


def ridge_peer(x, y):
    few = 3
    seconds, grid = common.timed(lambda: GridSearchCV(Ridge(), {'alpha': np.logspace(-3, 3, few)}, cv=10, n_jobs=-1,
                                                      scoring='neg_root_mean_squared_error').fit(x, y))
    return seconds * 100 / few, -grid.best_score_


def logistic_peer(x, y):
    seconds, model = common.timed(lambda: LogisticRegressionCV(Cs=np.logspace(-4, 4, 50), cv=5, n_jobs=-1, max_iter=1000).fit(x, y))
    return seconds, next(iter(model.scores_.values())).mean(axis=0).max()


def lasso_peer(x, y):
    seconds, model = common.timed(lambda: LassoCV(cv=5, n_jobs=-1).fit(x, y))
    return seconds, np.sqrt(model.mse_path_).mean(axis=1).min()


def votes(x, y):
    near = NearestNeighbors(n_neighbors=51, n_jobs=-1).fit(x).kneighbors(x, return_distance=False)[:, 1:]
    right = np.cumsum(y[near], axis=1) * 2 > np.arange(1, 51)
    return (right == (y[:, None] > 0)).mean(axis=0).max()


def svm_peer(x, y):
    grid = {'C': [0.1, 1, 10, 100, 1000], 'gamma': [0.001, 0.003, 0.01, 0.03, 0.1]}
    seconds, model = common.timed(lambda: GridSearchCV(SVC(), grid, cv=5, n_jobs=-1).fit(x, y))
    return seconds, model.best_score_


def searches(share):
    rows = lambda count: max(int(count * share), 200)
    yield 'ridge', numbers(rows(200_000), 100, 100, 3), 'ridge(alpha={1e-3..1e3 log 100})', ('-k', 10), ridge_peer
    x, y = numbers(rows(20_000), 50, 50, 3)
    yield 'logistic', (x, (y > 0).astype(np.int64)), 'logistic(C={1e-4..1e4 log 50})', (), logistic_peer
    x, y = numbers(rows(5_000), 500, 50, 3)
    greatest = 2 * np.abs(x.T @ (y - y.mean())).max() / len(y)
    yield 'lasso', (x, y), f'lasso(lambda={{{greatest / 1000}..{greatest} log 100}})', (), lasso_peer
    x, y = numbers(rows(20_000), 10, 3, 1)
    yield 'neighbours', (x, (y > 0).astype(np.int64)), 'knn(k={1..50})', ('--leave-one-out',), lambda x, y: common.timed(lambda: votes(x, y))
    x, y = numbers(rows(5_000), 50, 5, 0)
    y = ((x[:, :5] ** 2).sum(axis=1) + random.normal(size=len(x)) > 5).astype(np.int64)
    yield 'svm', (x, y), 'svm(kernel=rbf, C={0.1,1,10,100,1000}, gamma={0.001,0.003,0.01,0.03,0.1})', (), svm_peer


def main():
    warnings.simplefilter('ignore')
    given = common.options(__doc__, program=common.HERE.parent / 'build/release/cli/margin', share=1.0, only='')
    common.head('search', 'margin', 'its best', 'scikit-learn', 'its best', 'margin against it')
    for name, (x, y), spec, words, peer in searches(given.share):
        if given.only and name != given.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            common.save(Path(folder), x, y)
            seconds, best, threads = mine(given, Path(folder), spec, *words)
        theirs, score = peer(x, y)
        common.row(f'{name}, {threads} threads', common.seconds(seconds), f'{best:.4f}', common.seconds(theirs), f'{score:.4f}',
                   common.times(theirs / seconds))


if __name__ == '__main__':
    main()
