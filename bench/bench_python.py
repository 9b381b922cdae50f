"""What the Python package adds to the library: one row predicted, one small fit, the import, the wheel; and its
estimators beside scikit-learn's.

    pip install ./python && python3 bench/bench_python.py [--rows N] [--repeats N] [--only small|large]

Small: loops on the calling thread alone; the least and the median of many, in seconds of the processor, so that other
work on the machine counts little. The call in C is made through the same binding, without what the package does around
it. Large: whole fits in turn, medians of seconds on all cores; objectives are computed here, from what each side has."""
import os
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from common import HERE, head, in_turn, median, noisy_labels, options, row, seconds, timed, times

IMPORTS = 21


def each(call, count, repeats=25):
    """(least, median) seconds of the processor of one call, over `repeats` loops of `count`."""
    found = []
    for _ in range(repeats):
        start = time.thread_time()
        for _ in range(count):
            call()
        found.append((time.thread_time() - start) / count)
    return min(found), median(found)


def used(children):
    return children.ru_utime + children.ru_stime


def process(code):
    """Seconds of the processor of a Python process."""
    start = used(resource.getrusage(resource.RUSAGE_CHILDREN))
    subprocess.run([sys.executable, '-c', code], check=True, env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'})
    return used(resource.getrusage(resource.RUSAGE_CHILDREN)) - start


def show(what, found, goal=''):
    row(what, seconds(found[0]), seconds(found[1]), goal)


def predictions(margin, x, y):
    """Of one row of 30 columns."""
    classes, numbers = margin.fit('logistic', x, y), margin.fit('ridge', x, x[:, 0] + y)
    one, first = x[:1], x[0]
    head('one row of 30 columns', 'least', 'median', 'goal')
    for name, model in (('logistic', classes), ('ridge', numbers)):
        show(f'`predict_one`, {name}', each(lambda: model.predict_one(first), 2000), '10 µs')
        show(f'`predict` of a row, {name}', each(lambda: model.predict(one), 2000), '30 µs')
    kernel = margin.fit('svm(kernel=rbf)', x[:200], y[:200])
    show('`predict_one`, svm(kernel=rbf), %d support vectors' % len(kernel.dual()[0]),
         each(lambda: kernel.predict_one(first), 1000), '10 µs')
    try:
        fitted = margin.LogisticRegression().fit(x, y)
    except ImportError:
        return
    show('`LogisticRegression.predict` of a row', each(lambda: fitted.predict(one), 1000))


def in_c(spec, x, y):
    """The call alone: data, spec and context are there."""
    from margin._binding import ffi, lib
    from margin.contexts import running
    from margin.data import Data
    from margin.specs import Spec
    data, parsed, error = Data(x, y), Spec(spec), ffi.new('margin_error *')
    made = ffi.new('margin_model **')
    with running(1) as context:
        def call():
            status = lib.margin_fit(context, parsed._handle, data.struct, made, ffi.NULL, error)
            assert status == 0
            lib.margin_model_free(made[0])
        return each(call, 200)


def fits(margin, x, y):
    head('small fits, 1 thread', 'least', 'median', 'over the call in C', 'goal')
    for spec, rows in (('ridge', 20), ('logistic', 100), ('naive-bayes', 100), ('knn', 100)):
        part, labels = x[:rows, :5].copy(), y[:rows].copy()
        plain = in_c(spec + '(task=classify)' if spec == 'knn' else spec, part, labels)
        spec = 'knn(task=classify)' if spec == 'knn' else spec
        ours = each(lambda: margin.fit(spec, part, labels, threads=1), 200)
        row(f'`fit("{spec}")`, {rows} x 5', seconds(ours[0]), seconds(ours[1]), seconds(ours[0] - plain[0]), '50 µs')
    try:
        import sklearn
    except ImportError:
        return
    for name, rows, values in (('Ridge', 20, y.astype(float)), ('LogisticRegression', 100, y), ('GaussianNB', 100, y)):
        part, known = x[:rows, :5].copy(), values[:rows].copy()
        with margin.config_context(threads=1):
            plain = in_c(getattr(margin, name)().fit(part, known).model_.spec, part, known)
            ours = each(lambda: getattr(margin, name)().fit(part, known), 50)
        row(f'margin.{name}, {rows} x 5', seconds(ours[0]), seconds(ours[1]), seconds(ours[0] - plain[0]), '50 µs')
        their = each(lambda: theirs(sklearn, name)().fit(part, known), 50)
        row(f'scikit-learn\'s {name}, {rows} x 5', seconds(their[0]), seconds(their[1]), '', '')


# ---- beside scikit-learn, at the sizes of README.md


MODULES = {'linear_model': ('Ridge', 'LinearRegression', 'LogisticRegression', 'Lasso'), 'svm': ('LinearSVC', 'SVC'),
           'cluster': ('KMeans',), 'neighbors': ('KNeighborsClassifier',), 'naive_bayes': ('GaussianNB',)}


def theirs(sklearn, name):
    from importlib import import_module
    module = next(module for module, names in MODULES.items() if name in names)
    return getattr(import_module(f'{sklearn.__name__}.{module}'), name)


def linear(fitted, x):
    """Values of a linear function of the rows, and its weights."""
    weights = np.ravel(fitted.coef_)
    return x @ weights + np.ravel(fitted.intercept_)[0], weights


def squares(fitted, x, y):
    values, weights = linear(fitted, x)
    return ((values - y) ** 2).sum() + getattr(fitted, 'alpha', 0.0) * weights @ weights


def lasso(fitted, x, y):
    values, weights = linear(fitted, x)
    return ((values - y) ** 2).mean() / 2 + fitted.alpha * np.abs(weights).sum()


def logistic(fitted, x, y):
    values, weights = linear(fitted, x)
    return fitted.C * np.logaddexp(0, -y * values).sum() + weights @ weights / 2


def squared_hinge(fitted, x, y):
    values, weights = linear(fitted, x)
    return fitted.C * (np.maximum(0, 1 - y * values) ** 2).sum() + weights @ weights / 2


def machine(fitted, x, y):
    from sklearn.metrics.pairwise import rbf_kernel
    coefs, vectors = fitted.dual_coef_[0], fitted.support_vectors_
    norm = coefs @ rbf_kernel(vectors, gamma=fitted.gamma) @ coefs
    return fitted.C * np.maximum(0, 1 - y * fitted.decision_function(x)).sum() + norm / 2


def inertia(fitted, x, y):
    return fitted.inertia_


def beside(margin, sklearn, given, name, x, y, value=None, queries=None, gap=None, **words):
    """A row: whole fits (and predictions of `queries`) of both, and both objectives; `gap`: what margin is to prove, its tol."""
    def turn(made, **words):
        def once():
            fitted = made(**words).fit(x, y)
            return fitted if queries is None else (fitted, fitted.predict(queries))
        return lambda: timed(once)
    (ours, mine), (their, other) = in_turn(given.repeats, turn(getattr(margin, name), **words, **({} if gap is None else {'tol': gap})),
                                           turn(theirs(sklearn, name), **words))
    if value:
        found = f'{value(mine, x, y):.10g}, {value(other, x, y):.10g}'
    else:
        found = '' if queries is None else f'{(mine[1] == other[1]).mean():.4%} the same labels'
    size = f'{len(x)} x {x.shape[1]}' + ('' if queries is None else f', {len(queries)} queries')
    row(f'{name}, {size}', seconds(ours), seconds(their), times(their / ours), found)


def large(margin, given):
    try:
        import sklearn
    except ImportError:
        print('skipped: no scikit-learn')
        return
    rng, rows = np.random.default_rng(0), given.rows
    head('fit', 'margin', 'scikit-learn', 'times', 'objectives')
    x, y = noisy_labels(rng, rows, 100, scale=3.0)
    numbers = x @ rng.standard_normal(100) + rng.standard_normal(rows)
    for name in ('Ridge', 'LinearRegression'):
        beside(margin, sklearn, given, name, x, numbers, squares)
    beside(margin, sklearn, given, 'LogisticRegression', x, y, logistic)
    # scikit-learn's penalises the intercept: without one the objective is the same
    beside(margin, sklearn, given, 'LinearSVC', x, y, squared_hinge, fit_intercept=False)
    few = rows // 20
    beside(margin, sklearn, given, 'SVC', x[:few, :20].copy(), y[:few], machine, gap=1e-5, gamma=0.05)
    clustered = rng.standard_normal((100, 50))[rng.integers(100, size=rows)] * 2 + rng.standard_normal((rows, 50))
    beside(margin, sklearn, given, 'KMeans', clustered, None, inertia, n_clusters=100, n_init=1, tol=0.0, init=clustered[:100])
    near, asked = x[:rows * 3 // 10], x[-rows // 20:]
    beside(margin, sklearn, given, 'KNeighborsClassifier', near, y[:len(near)], queries=asked)
    beside(margin, sklearn, given, 'GaussianNB', x, y, queries=asked)
    wide = rng.standard_normal((max(rows // 10, 100), 1000))
    beside(margin, sklearn, given, 'Lasso', wide, wide[:, :50] @ rng.standard_normal(50) + rng.standard_normal(len(wide)), lasso, alpha=0.1)


def imports():
    found = [(process('import numpy'), process('import numpy, margin')) for _ in range(IMPORTS)]
    least = [min(turn[k] for turn in found) for k in (0, 1)]
    middle = [median(turn[k] for turn in found) for k in (0, 1)]
    head('import', 'least', 'median', 'goal')
    show('`import numpy`', (least[0], middle[0]))
    show('`import margin` beyond it', (least[1] - least[0], middle[1] - middle[0]), '150 ms')


def small(margin):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1000, 30))
    y = (x[:, 0] + 0.5 * rng.standard_normal(1000) > 0).astype(np.int64)
    predictions(margin, x, y)
    print()
    fits(margin, x, y)
    print()
    imports()
    wheels = sorted((HERE.parent / 'dist').glob('margin-*.whl'))
    if wheels:
        print(f'\n{wheels[-1].name}: {wheels[-1].stat().st_size / 1e6:.2f} MB (goal 6 MB)')


def main():
    given = options(__doc__, rows=200_000, repeats=5, only='')
    try:
        import margin
    except ImportError:
        print('skipped: no module margin (pip install ./python)')
        return
    warnings.simplefilter('ignore')
    if given.only != 'large':
        small(margin)
        print()
    if given.only != 'small':
        large(margin, given)


main()
