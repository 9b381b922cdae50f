#!/usr/bin/env python3
"""Sparse linear classification: margin against LIBLINEAR (as scikit-learn calls it, without reading).

usage: bench_sparse.py BENCH_SPARSE [--data FOLDER] [--repeats N] [--only kdd|news]

KDD Cup 99 (10 per cent), one-hot: normal against the rest, numbers divided by their greatest value.
20 Newsgroups, training part, as tf-idf: 20 classes, one against the rest. No intercept on either
side, so that both minimise the same; objectives are computed here in f64 from the weights.
"""
import argparse
import gzip
import statistics
import subprocess
import tarfile
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC


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


def ours(program, spec, path, threads, folder, columns):
    out = subprocess.run([program, spec, path, '-', 'f64', str(threads), '3', folder / 'w.txt'],
                         check=True, capture_output=True, text=True).stdout
    numbers = np.loadtxt(folder / 'w.txt').reshape(-1, columns + 1)
    return statistics.median(float(line.split()[0]) for line in out.splitlines()), numbers[:, :-1]


def rows_of(name, program, x, y, c, folder, repeats):
    path = folder / f'{name}.svm'
    dump_svmlight_file(x, y, str(path), zero_based=False)
    peers = {'logistic': (f'logistic(C={c}, intercept=no)', lambda t: LogisticRegression(
                 C=c, solver='liblinear', fit_intercept=False, tol=t, max_iter=10000) if len(np.unique(y)) == 2 else None),
             'hinge': (f'svm(C={c}, intercept=no)', lambda t: LinearSVC(
                 C=c, loss='hinge', fit_intercept=False, tol=t, max_iter=100000)),
             'squared hinge': (f'svm(loss=squared-hinge, C={c}, intercept=no)', lambda t: LinearSVC(
                 C=c, fit_intercept=False, tol=t, dual=x.shape[1] > 2000, max_iter=100000))}
    for loss, (spec, make) in peers.items():
        found = {}
        for threads in (0, 1):
            seconds, weights = ours(program, spec, path, threads, folder, x.shape[1])
            found[threads] = seconds
        mine = objective(x, y, weights, c, loss)
        for tolerance in (1e-2, 1e-3) if name == 'news' else (1e-2, 1e-4):
            times = []
            for _ in range(repeats):
                if loss == 'logistic' and len(np.unique(y)) > 2:
                    from sklearn.multiclass import OneVsRestClassifier
                    model = OneVsRestClassifier(LogisticRegression(C=c, solver='liblinear', fit_intercept=False,
                                                                   tol=tolerance, dual=True, max_iter=10000))
                else:
                    model = make(tolerance)
                start = time.perf_counter()
                model.fit(x, y)
                times.append(time.perf_counter() - start)
            w = np.vstack([e.coef_ for e in model.estimators_]) if hasattr(model, 'estimators_') else model.coef_
            seconds = statistics.median(times)
            print(f'{name:5s} C={c:<4g} {loss:14s} margin {found[0]:7.3f} s, one thread {found[1]:7.3f} s   LIBLINEAR tol '
                  f'{tolerance:g} {seconds:7.3f} s  {seconds / found[0]:5.1f}x {seconds / found[1]:5.1f}x   objective '
                  f'{mine:.9g} {objective(x, y, w, c, loss):.9g}', flush=True)


def main():
    warnings.simplefilter('ignore')
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--data', type=Path, default=Path(__file__).resolve().parents[2] / 'shared/data')
    parser.add_argument('--repeats', type=int, default=1)
    parser.add_argument('--only')
    a = parser.parse_args()
    if not (a.data / 'MANIFEST.md').exists():
        print('skipped: no data sets in', a.data)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if a.only != 'news':
            rows_of('kdd', a.program, *kdd(a.data), 1.0, folder, a.repeats)
        if a.only != 'kdd':
            rows_of('news', a.program, *news(a.data), 10.0, folder, a.repeats)


if __name__ == '__main__':
    main()
