"""What the Python package adds to the library: one row predicted, one small fit, the import, the wheel.

    pip install ./python && python3 bench/bench_python.py

Loops on the calling thread alone; the least and the median of many, in seconds of the processor, so that other work on
the machine counts little. The call in C is made through the same binding, without what the package does around it."""
import os
import resource
import subprocess
import sys
import time

import numpy as np

from common import HERE, head, median, options, row, seconds

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
        from sklearn.linear_model import Ridge
    except ImportError:
        return
    part, values = x[:20, :5].copy(), y[:20].astype(float)
    plain = in_c('ridge(alpha=1.0, tol=1e-06)', part, values)
    for name, made in (('margin.Ridge', margin.Ridge), ('scikit-learn\'s Ridge', Ridge)):
        found = each(lambda: made().fit(part, values), 50)
        row(f'{name}, 20 x 5', seconds(found[0]), seconds(found[1]),
            seconds(found[0] - plain[0]) if made is margin.Ridge else '', '')


def imports():
    found = [(process('import numpy'), process('import numpy, margin')) for _ in range(IMPORTS)]
    least = [min(turn[k] for turn in found) for k in (0, 1)]
    middle = [median(turn[k] for turn in found) for k in (0, 1)]
    head('import', 'least', 'median', 'goal')
    show('`import numpy`', (least[0], middle[0]))
    show('`import margin` beyond it', (least[1] - least[0], middle[1] - middle[0]), '150 ms')


def main():
    options(__doc__)
    try:
        import margin
    except ImportError:
        print('skipped: no module margin (pip install ./python)')
        return
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


main()
