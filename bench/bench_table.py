"""One table of all learners: margin and its peers in turn, on one thread and on all, with the machine's limit.

usage: bench_table.py [--programs FOLDER] [--repeats N] [--only WORDS] [--more]

Medians of whole fits with default options, seconds of the processor on one thread and of the clock on
all; peers from scikit-learn as they come (one run of those that take seconds). LinearSVC with an
intercept penalises that, too; ours does not. The objectives are
computed here from the weights of both sides; the last column is how much ours is above the peer's,
relative to it. Where a peer stops more than 1e-6 above our objective, its tol is made smaller until it is as
low, and the ratio of that fit stands in the column before, on one thread and on all. The limit is the time of one pass over the data at the bandwidth, or of the products of
the columns at the peak if that is more, as this machine has them on one thread: bandwidth by NumPy's
sums, peak by its product of matrices, both measured here first. --more adds f32, wide and odd data and
more learners, some twenty minutes.
"""
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import (ElasticNet, Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge,
                                  SGDRegressor)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler, normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import common

LOSSES = {'logistic': lambda z: np.logaddexp(0, -z), 'squared': lambda z: np.maximum(1 - z, 0) ** 2,
          'hinge': lambda z: np.maximum(1 - z, 0)}


# Objectives of data, target, weights (scores x columns) and intercepts.

def regression(alpha=0.0):
    return lambda x, y, w, b: float(((x @ w[0] + b[0] - y) ** 2).sum() + alpha * (w @ w.T).sum())


def lasso(strength, share=1.0):
    return lambda x, y, w, b: float(((x @ w[0] + b[0] - y) ** 2).mean() / 2 +
                                    strength * (share * abs(w).sum() + (1 - share) * (w @ w.T).sum() / 2))


def margins(loss, l1=False, c=1.0):
    return lambda x, y, w, b: float(LOSSES[loss](np.where(y > 0, 1, -1) * (x @ w[0] + b[0])).sum() +
                                    (abs(w).sum() if l1 else (w @ w.T).sum()) / 2 / c)


def softmax(x, y, w, b):
    scores = x @ w.T + b
    top = scores.max(axis=1)
    return float((np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top -
                  scores[np.arange(len(y)), y.astype(int)]).sum() + (w * w).sum() / 2)


def categories(rng, rows, counts):
    parts = [sp.csr_matrix((np.ones(rows), (np.arange(rows), rng.integers(0, k, rows))), (rows, k)) for k in counts]
    return sp.hstack(parts).tocsr()


DENSE, F32, POLY = 'dense 100,000 x 100', 'dense 100,000 x 100 in f32', 'dense 3,000 x 50'
SPARSE, FEW, MANY = 'sparse 40,000 x 4,000', 'categories 20,000 x 300 + 200 + 20', 'categories 200,000 x 10,000 + 500 + 20'
ONE, TALL, SQUARE, WIDE = 'categories 200,000 x 100,000', 'dense 30,000 x 1,000', 'dense 5,000 x 5,000', 'dense 500 x 20,000'
NEAR, TEXT = 'dense 20,000 x 20', 'text 10,000 x 20,000'
VALUE, TWO, TEN = 1, 2, 3  # places in what `table` returns


def table(name):
    """Columns, value, two classes, ten classes."""
    rng = np.random.default_rng(1)
    if name in (DENSE, F32):
        x = rng.standard_normal((100_000, 100))
        x[:, :50] += rng.standard_normal((100_000, 12)) @ rng.standard_normal((12, 50))
    elif name == SPARSE:
        x = sp.random(40_000, 4_000, 0.01, 'csr', random_state=1, data_rvs=rng.standard_normal)
    elif name in (FEW, MANY, ONE):
        x = categories(rng, *{FEW: (20_000, (300, 200, 20)), MANY: (200_000, (10_000, 500, 20)),
                              ONE: (200_000, (100_000,))}[name])
    elif name == TEXT:  # separable
        often = 1 / np.arange(1, 20_001)
        words = rng.choice(20_000, 600_000, p=often / often.sum())
        x = normalize(sp.csr_matrix((np.ones(600_000), (np.repeat(np.arange(10_000), 60), words)), (10_000, 20_000)).log1p())
    else:
        x = rng.standard_normal({POLY: (3_000, 50), TALL: (30_000, 1_000), SQUARE: (5_000, 5_000),
                                 WIDE: (500, 20_000), NEAR: (20_000, 20)}[name])
    score = x @ rng.standard_normal(x.shape[1])
    score /= score.std()
    rules = x @ rng.standard_normal((x.shape[1], 10))
    noise = rng.logistic(size=x.shape[0])
    return (x.astype(np.float32) if name == F32 else x, score + noise, np.where(score + noise / 2 > 0, 1.0, -1.0),
            np.argmax(rules / rules.std() + rng.gumbel(size=rules.shape) / 2, axis=1).astype(float))


def l1(**more):
    return lambda: LogisticRegression(C=2, l1_ratio=1, solver='liblinear', tol=1e-4, **more)


def hinge(**more):
    return lambda: LinearSVC(loss='hinge', **more)


LEAST, RIDGE = ('least-squares', VALUE, LinearRegression, regression()), ('ridge', VALUE, Ridge, regression(1.0))
# lambda is twice scikit-learn's alpha.
LASSOS = (('lasso(lambda=0.2)', VALUE, lambda: Lasso(alpha=0.1), lasso(0.1)),
          ('lasso(lambda=0.002)', VALUE, lambda: Lasso(alpha=0.001), lasso(0.001)),
          ('elastic-net(lambda=0.15, l1_ratio=0.6666666666666667)', VALUE, lambda: ElasticNet(alpha=0.1), lasso(0.1, 0.5)))
SGD = ('least-squares(solver=sgd, max_iter=5)', VALUE, lambda: SGDRegressor(penalty=None, max_iter=5, tol=None), None)
LOGISTIC = ('logistic', TWO, LogisticRegression, margins('logistic'))
FREE = ('logistic(C=inf)', TWO, lambda: LogisticRegression(C=np.inf), margins('logistic', c=np.inf))
SOFTMAX = ('softmax', TEN, LogisticRegression, softmax)
HINGE = ('svm', TWO, hinge(), margins('hinge'))
SQUARED = ('svm(loss=squared-hinge)', TWO, LinearSVC, margins('squared'))
PERCEPTRONS = (('perceptron', TWO, Perceptron, None),  # bound=no: it does not end by a proof; 20 passes on both sides
               ('perceptron(bound=no, passes=20)', TWO, lambda: Perceptron(max_iter=20, tol=None), None))
GAUSS, BERNOULLI = ('naive-bayes', TEN, GaussianNB, None), ('naive-bayes(distribution=bernoulli)', TEN, BernoulliNB, None)
KMEANS = ('kmeans(k=20, max_iter=20, tol=0)', None, lambda: KMeans(20, n_init=1, max_iter=20, tol=0), None)
STAGED = (('standardize | ridge', VALUE, lambda: make_pipeline(StandardScaler(), Ridge()), None),
          ('minmax | logistic', TWO, lambda: make_pipeline(MinMaxScaler(), LogisticRegression()), None),
          ('normalize | svm', TWO, lambda: make_pipeline(Normalizer(), LinearSVC(loss='hinge')), None))
CUBIC = ('poly(degree=3) | ridge', VALUE, lambda: make_pipeline(PolynomialFeatures(3), Ridge()), None)
# Without an intercept LIBLINEAR's problem is the same.
FLAT = (('logistic(intercept=no)', TWO, lambda: LogisticRegression(solver='liblinear', fit_intercept=False),
         margins('logistic')),
        ('logistic(l1_ratio=1, intercept=no)', TWO, l1(fit_intercept=False), margins('logistic', True)),
        ('svm(intercept=no)', TWO, hinge(fit_intercept=False), margins('hinge')),
        ('svm(loss=squared-hinge, intercept=no)', TWO, lambda: LinearSVC(fit_intercept=False), margins('squared')))
WORK = {
    DENSE: (LEAST, RIDGE, LASSOS[0], SGD, LOGISTIC, SQUARED, PERCEPTRONS[0], SOFTMAX, GAUSS, KMEANS),
    POLY: (CUBIC,),
    SPARSE: (LEAST, RIDGE, LOGISTIC, *FLAT, KMEANS),
    FEW: (LEAST, RIDGE),
    MANY: (LEAST, RIDGE),
}
MORE = {
    DENSE: (*LASSOS[1:], FREE, HINGE, PERCEPTRONS[1], BERNOULLI, *STAGED),
    F32: (LEAST, RIDGE, *LASSOS, SGD, LOGISTIC, FREE, HINGE, SQUARED, *PERCEPTRONS, SOFTMAX, GAUSS, BERNOULLI, KMEANS,
          *STAGED),
    SPARSE: (*LASSOS, SGD, FREE, SOFTMAX, *PERCEPTRONS, BERNOULLI),
    ONE: (LEAST, RIDGE),
    FEW: (FREE,),
    TALL: (RIDGE, LASSOS[0], LOGISTIC, HINGE, *PERCEPTRONS, GAUSS),
    SQUARE: (LEAST, LOGISTIC, HINGE),
    WIDE: (LEAST, RIDGE, *LASSOS[:2], LOGISTIC, SOFTMAX, HINGE),
    NEAR: (('knn', TEN, KNeighborsClassifier, None),),
    TEXT: PERCEPTRONS[:1],
}
LONG = 3.0  # seconds: run once
EQUAL = 1e-6  # objectives, of the lower one


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


def save(folder, x, y, name, target):
    """Words of bench_fit for the data."""
    if sp.issparse(x):
        path = folder / f'{name} {target}.svm'
        if not path.exists():
            dump_svmlight_file(x, y, str(path), zero_based=False)
        return path, {}
    common.save(folder, x, y)
    return folder / 'x.npy', {'labels': folder / 'y.npy'}


def measured(peer, x, y, threads):
    """Seconds of a fit of the peer, and the model."""
    with threadpool_limits(threads):
        return (processor if threads == 1 else common.timed)(lambda: peer().fit(x, y))


def as_low(peer, x, y, value, goal):
    """The peer with the first tol that brings its objective to the goal, or None."""
    if 'max_iter' not in peer().get_params():
        return None
    for tol in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        def tight(tol=tol):
            return peer().set_params(tol=tol, max_iter=100_000)
        seconds, model = measured(tight, x, y, common.CORES)
        if value(model) <= goal:
            return tight
        if seconds > 10 * LONG:
            return None
    return None


def compare(given, folder, speed, name, data_of, work):
    spec, target, peer, objective = work
    x, y = data_of[0], data_of[target] if target else None
    data, words = save(folder, x, y if target else np.zeros(x.shape[0]), name, target)
    if not target:
        words = {'target': 'no'}
    if x.dtype == np.float32:
        words['type'] = 'f32'
    if objective:
        words['weights'] = folder / 'w.bin'
    cells, shares, mines = [], [], []
    for threads in dict.fromkeys((1, common.CORES)):
        def ours():
            which = 'cpu_seconds' if threads == 1 else 'seconds'
            return common.fits(given, spec, data, threads=threads, **words)[0][which], None

        def theirs():
            return measured(peer, x, y, threads)
        (mine, _), (other, model) = common.in_turn(1, ours, theirs)
        if other < LONG and mine < LONG:
            (mine, _), (other, model) = common.in_turn(given.repeats, ours, theirs)
        mines.append((threads, mine))
        cells += [common.seconds(mine), common.seconds(other), common.times(other / mine)]
        shares.append(f'{limit(x, spec, *speed) / mine / threads:.2f}')
    above = equal = ''
    if objective:
        w = common.weights_of(folder / 'w.bin', x.shape[1])
        wide = x.astype(np.float64)

        def value(model):
            return objective(wide, y, np.atleast_2d(model.coef_).astype(float), np.ravel(model.intercept_) * np.ones(len(w)))
        a, b = objective(wide, y, w[:, :-1], w[:, -1]), value(model)
        above = f'{(a - b) / b:.1e}'
        tight = as_low(peer, x, y, value, a * (1 + EQUAL)) if b > a * (1 + EQUAL) else None
        if tight:
            others = [np.median([measured(tight, x, y, threads)[0] for _ in range(given.repeats)]) for threads, _ in mines]
            equal = ', '.join(common.times(other / mine) for other, (_, mine) in zip(others, mines))
    common.row(f'`{spec}`', name, *cells, ', '.join(shares), equal, above)


def main():
    given = common.options(__doc__, repeats=3, only='', more=False)
    warnings.simplefilter('ignore')
    speed = machine()
    print(f'one thread: {speed[0] / 1e9:.1f} GB/s, {speed[1] / 1e9:.0f} Gflop/s')
    sides = [(f'margin, {n}', 'peer', 'ratio') for n in dict.fromkeys((1, common.CORES))]
    common.head('', 'data', *(cell for side in sides for cell in side), 'of the limit', 'ratio at equal objective', 'objective above')
    with tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys((*WORK, *(MORE if given.more else ()))):
            todo = [work for work in (*WORK.get(name, ()), *(MORE.get(name, ()) if given.more else ()))
                    if given.only in work[0] + ' ' + name]
            data_of = table(name) if todo else None
            for work in todo:
                compare(given, Path(folder), speed, name, data_of, work)


if __name__ == '__main__':
    main()
