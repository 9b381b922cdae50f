#!/usr/bin/env python3
"""L1 penalties: margin against scikit-learn's liblinear, saga and Lasso.

usage: bench_l1.py [--programs FOLDER] [--data FOLDER] [--rows N] [--repeats N] [--only dense|sparse]

Both sides get the same data and fit in turn; medians of whole fits, margin with all cores on dense
data. liblinear and saga use one thread. The objectives are computed here, from the weights of each
side; the penalties are named as the peers do (C_peer = 2 C, alpha_peer = lambda / 2).

Sparse data: one thread on both sides, processor time, no intercept. Short text: four
sentences of each of the 2,000 reviews, tf-idf; the reviews whole; made ones, 40,000 x 4,000 at 1 %.
"""
import tarfile
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

import common


def logistic(x, y, w, b, c):
    return c * np.logaddexp(0, -y * (x @ w + b)).sum() + np.abs(w).sum()


def lasso(x, y, w, b, penalty):
    return np.mean((x @ w + b - y) ** 2) + 2 * penalty * np.abs(w).sum()


def compare(given, name, spec, folder, peer, model, x, y, objective):
    def ours():
        report = common.fit(given, spec, folder)
        return report['seconds'], report
    (a, mine), (b, _) = common.in_turn(given.repeats, ours, lambda: common.timed(lambda: model.fit(x, y)))
    w = mine['weights'][0]
    values = [objective(x, y, *p) for p in ((w[:-1], w[-1]),
                                            (np.ravel(model.coef_), np.ravel(model.intercept_)[0]))]
    common.row(name, f'{common.seconds(a)} ({mine["gap"]:.0e})', f'{peer} {common.seconds(b)}', common.times(b / a),
               f'{values[0]:.10g}, {values[1]:.10g}')


def dense(given, folder):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((given.rows, 100))
    w = np.where(rng.random(100) < 0.3, rng.standard_normal(100), 0)
    y = np.where(x @ w + rng.logistic(size=given.rows) > 0, 1.0, -1.0)
    common.save(folder, x, y)
    for solver in ('liblinear', 'saga'):
        model = LogisticRegression(C=0.01, l1_ratio=1, solver=solver, max_iter=200)
        compare(given, f'logistic {given.rows} x 100, C=0.01', 'logistic(C=0.005, l1_ratio=1)', folder, solver,
                model, x, y, lambda *p: logistic(*p, 0.01))
    x = rng.standard_normal((given.rows // 10, 1000))
    x[:, 1:] += 0.5 * x[:, :-1]
    w = np.zeros(1000)
    w[rng.choice(1000, 50, replace=False)] = rng.standard_normal(50)
    y = x @ w + 3 + 2 * rng.standard_normal(len(x))
    common.save(folder, x, y)
    for penalty in (0.1, 0.01):
        compare(given, f'lasso {len(x)} x 1000, lambda={penalty}', f'lasso(lambda={2 * penalty})', folder,
                'Lasso', Lasso(alpha=penalty, tol=1e-6), x, y, lambda *p, penalty=penalty: lasso(*p, penalty))


def reviews(folder):
    """Texts and sides of the 2,000 reviews, in the order of their names."""
    with tarfile.open(folder / 'text/review_polarity.tar.gz') as tar:
        names = sorted(n for n in tar.getnames() if n.endswith('.txt') and ('/pos/' in n or '/neg/' in n))
        return [tar.extractfile(n).read().decode('latin-1') for n in names], [1 if '/pos/' in n else -1 for n in names]


def sentences(texts, sides):
    chosen = []
    for text, side in zip(texts, sides):
        own = [line for line in text.split('\n') if len(line.split()) >= 8]
        chosen += [(line, side) for line in (own[::9][:4] if len(own) > 20 else own[:3])]
    return [line for line, _ in chosen], [side for _, side in chosen]


def made():
    rng = np.random.default_rng(0)
    x = sp.random(40000, 4000, 0.01, format='csr', random_state=0, data_rvs=rng.standard_normal)
    z = x @ np.where(rng.random(4000) < 0.1, rng.standard_normal(4000), 0)
    return x, np.where(z + rng.logistic(size=40000) > 0, 1, -1), z + rng.standard_normal(40000)


def processor(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def compare_sparse(given, name, spec, path, models, x, y, objective):
    """One row for each of the peer's models; ours fits once more, first, in the same process."""
    for peer, model in models:
        def ours():
            reports = common.fits(given, spec, path, repeats=3, threads=1, weights=path.with_suffix('.bin'))
            return common.median(r['cpu_seconds'] for r in reports), reports[-1]
        (a, mine), (b, _) = common.in_turn(given.repeats, ours, lambda: processor(lambda: model.fit(x, y)))
        w = common.weights_of(path.with_suffix('.bin'), x.shape[1])[0]
        values = [objective(x, y, *p) for p in ((w[:-1], w[-1]),
                                                (np.ravel(model.coef_), np.ravel(model.intercept_)[0]))]
        common.row(name, f'{common.seconds(a)} ({mine["gap"]:.0e})', f'{peer} {common.seconds(b)}',
                   common.times(b / a), f'{values[0]:.10g}, {values[1]:.10g}')


def sparse_logistic(given, name, x, y, costs, folder):
    path = folder / 'data.svm'
    dump_svmlight_file(x, y, str(path), zero_based=False)
    for c in costs:
        models = [(f'liblinear, tol {tol:g}', LogisticRegression(
            C=c, l1_ratio=1, solver='liblinear', fit_intercept=False, tol=tol, max_iter=10000)) for tol in (1e-2, 1e-4)]
        compare_sparse(given, f'{name}, C={c:g}', f'logistic(C={c / 2:g}, l1_ratio=1, intercept=no)', path, models,
                       x, np.asarray(y), lambda *p, c=c: logistic(*p, c))


def sparse(given, folder):
    if (given.data / 'text').exists():
        texts, sides = reviews(given.data)
        short, own = sentences(texts, sides)
        sparse_logistic(given, 'short text', TfidfVectorizer().fit_transform(short), own, (1, 2, 4, 10, 20), folder)
        sparse_logistic(given, 'reviews', TfidfVectorizer().fit_transform(texts), sides, (1, 10), folder)
    x, sides, values = made()
    sparse_logistic(given, '40,000 x 4,000', x, sides, (1, 10), folder)
    path = folder / 'values.svm'
    dump_svmlight_file(x, values, str(path), zero_based=False)
    for penalty in (0.01, 0.001):
        compare_sparse(given, f'lasso 40,000 x 4,000, lambda={penalty}', f'lasso(lambda={2 * penalty})', path,
                       [('Lasso', Lasso(alpha=penalty, tol=1e-6))], x, values,
                       lambda *p, penalty=penalty: lasso(*p, penalty))
    compare_sparse(given, 'elastic net, the same', 'elastic-net(lambda=0.0015, l1_ratio=0.6666666666666666)', path,
                   [('ElasticNet', ElasticNet(alpha=0.001, tol=1e-6))], x, values,
                   lambda x, y, w, b: lasso(x, y, w, b, 0.0005) + 0.0005 * (w @ w))


def main():
    warnings.simplefilter('ignore')
    given = common.options(__doc__, rows=200000, repeats=3, only=None)
    common.head('', 'margin (gap)', 'peer', 'ratio', 'objectives')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only != 'sparse':
            dense(given, folder)
        if given.only != 'dense':
            sparse(given, folder)


if __name__ == '__main__':
    main()
