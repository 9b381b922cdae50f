#!/usr/bin/env python3
"""Sparse linear classification: margin against LIBLINEAR (as scikit-learn calls it, without reading).

usage: bench_sparse.py [--programs FOLDER] [--data FOLDER] [--repeats N] [--only kdd|news]

KDD Cup 99 (10 per cent), one-hot: normal against the rest, numbers divided by their greatest value.
20 Newsgroups, training part, as tf-idf: 20 classes, one against the rest. No intercept on either
side, so that both minimise the same; objectives are computed here in f64 from the weights.
"""
import gzip
import tarfile
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import common


def kdd(folder):
    rows = [line.decode().rstrip('.\n').split(',')
            for line in gzip.open(folder / 'large/kddcup.data_10_percent.gz')]
    cells = np.array(rows, dtype=object)
    parts = []
    for j in range(cells.shape[1] - 1):
        if j in (1, 2, 3):
            names, codes = np.unique(cells[:, j].astype(str), return_inverse=True)
            parts.append(sp.csr_matrix((np.ones(len(codes)), (np.arange(len(codes)), codes)),
                                       shape=(len(codes), len(names))))
        else:
            values = cells[:, j].astype(float)
            parts.append(sp.csr_matrix((values / max(values.max(), 1e-300)).reshape(-1, 1)))
    return sp.hstack(parts).tocsr(), np.where(cells[:, -1].astype(str) == 'normal', 1, -1)


def news(folder):
    texts, labels = [], []
    with tarfile.open(folder / 'text/20news-bydate.tar.gz') as tar:
        for member in tar:
            if member.isfile() and 'bydate-train' in member.name:
                texts.append(tar.extractfile(member).read().decode('latin-1'))
                labels.append(member.name.split('/')[-2])
    x = TfidfVectorizer().fit_transform(texts)
    return x.tocsr(), np.unique(labels, return_inverse=True)[1]


LOSSES = {'logistic': lambda z: np.logaddexp(0, -z), 'hinge': lambda z: np.maximum(1 - z, 0),
          'squared hinge': lambda z: np.maximum(1 - z, 0) ** 2}


def objective(x, y, weights, c, loss):
    """Of all classes one against the rest; of two classes the one problem."""
    classes = np.unique(y)
    if len(weights) == 1:
        return c * LOSSES[loss](np.where(y == classes[1], 1, -1) * (x @ weights[0])).sum() + weights[0] @ weights[0] / 2
    return sum(c * LOSSES[loss](np.where(y == k, 1, -1) * (x @ w)).sum() + w @ w / 2
               for k, w in zip(classes, weights))


def peers_of(x, y, c):
    """By loss: our spec and LIBLINEAR's model for a tolerance."""
    def logistic(tolerance):
        two = len(np.unique(y)) == 2
        model = LogisticRegression(C=c, solver='liblinear', fit_intercept=False, tol=tolerance, dual=not two,
                                   max_iter=10000)
        return model if two else OneVsRestClassifier(model)
    return {'logistic': (f'logistic(C={c}, intercept=no)', logistic),
            'hinge': (f'svm(C={c}, intercept=no)', lambda tolerance: LinearSVC(
                C=c, loss='hinge', fit_intercept=False, tol=tolerance, max_iter=100000)),
            'squared hinge': (f'svm(loss=squared-hinge, C={c}, intercept=no)', lambda tolerance: LinearSVC(
                C=c, fit_intercept=False, tol=tolerance, dual=x.shape[1] > 2000, max_iter=100000))}


def compare(given, name, x, y, c, folder):
    path = folder / f'{name}.svm'
    dump_svmlight_file(x, y, str(path), zero_based=False)
    for loss, (spec, make) in peers_of(x, y, c).items():
        found = [common.median(r['seconds'] for r in common.fits(
            given, spec, path, repeats=2, threads=threads, weights=folder / 'w.bin')) for threads in (0, 1)]
        mine = objective(x, y, common.weights_of(folder / 'w.bin', x.shape[1])[:, :-1], c, loss)
        for tolerance in (1e-2, 1e-3) if name == 'news' else (1e-2, 1e-4):
            model = make(tolerance)
            (seconds, _), = common.in_turn(given.repeats, lambda: common.timed(lambda: model.fit(x, y)))
            w = np.vstack([e.coef_ for e in model.estimators_]) if hasattr(model, 'estimators_') else model.coef_
            common.row(f'{name}, {loss}, C={c:g}', *map(common.seconds, found),
                       f'{common.seconds(seconds)} (tol {tolerance:g})',
                       *(common.times(seconds / own) for own in found),
                       f'{mine:.9g}, {objective(x, y, w, c, loss):.9g}')


def main():
    warnings.simplefilter('ignore')
    given = common.options(__doc__, repeats=1, only=None)
    if not (given.data / 'large').exists():
        print('skipped: no data sets in', given.data)
        return
    common.head('', 'margin', 'one thread', 'LIBLINEAR', '', 'one thread', 'objectives')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only != 'news':
            compare(given, 'kdd', *kdd(given.data), 1.0, folder)
        if given.only != 'kdd':
            compare(given, 'news', *news(given.data), 10.0, folder)


if __name__ == '__main__':
    main()
