#!/usr/bin/env python3
"""Linear learners and k-means against scikit-learn, LIBLINEAR, NumPy (LAPACK) and SciPy on real data.

usage: check_agreement.py PROGRAM SOURCE_DIR [--all]

Objectives are computed here, from the coefficients of both sides. Ours may be above the peer's by no
more than what tol asks for, and where the optimum is a single point the coefficients must agree.
Without --all a few small sets only. Exit code 77: nothing to compare with (no peer, or no data).
"""
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import logsumexp
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
    from sklearn.svm import LinearSVC
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

program, source = sys.argv[1], Path(sys.argv[2])
everything = '--all' in sys.argv[3:]
data = Path(os.environ.get('MARGIN_DATA') or source / '..' / 'shared' / 'data')
learners = {line.split()[0] for line in
            subprocess.run([program, 'learners'], capture_output=True, text=True, check=True).stdout.split('\n')
            if line.startswith('  ')}
passed = failed = compared = 0
warnings.filterwarnings('ignore')


def expect(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print('breach:', what)


# ---- data ----------------------------------------------------------------------------------------

def cells(name, header=False, separator=','):
    path = data / name
    text = gzip.open(path, 'rt') if name.endswith('.gz') else open(path, encoding='utf-8')
    with text as lines:
        rows = [[c.strip() for c in row] for row in csv.reader(lines, delimiter=separator) if row]
    return rows[1:] if header else rows


def number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def table(name, target=-1, drop=(), rows=None, **options):
    """Numeric columns, standardised, constant ones left out; the target as text. Rows with gaps are dropped."""
    read = cells(name, **options)
    target %= len(read[0])
    y = np.array([row[target] for row in read])
    x = np.array([[number(c) for k, c in enumerate(row) if k != target and k not in drop] for row in read])
    x = x[:, np.isfinite(x).mean(axis=0) > 0.5]
    kept = np.isfinite(x).all(axis=1) & (y != '')
    return shape(x[kept][:rows], y[kept][:rows])


def shape(x, y):
    x = x[:, x.std(axis=0) > 0]
    return np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0)), y


def sparse(name, rows=None):
    x, y = load_svmlight_file(str(data / name))
    return shape(x.toarray()[:rows], y[:rows].astype(str))


def made(rows, columns, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    f = x @ random.normal(size=columns) / np.sqrt(columns) + 0.3
    return x, f + random.logistic(size=rows) * 0.5


CLASSES = [
    ('tabular/iris.csv', lambda: table('tabular/iris.csv')),
    ('tabular/wdbc.csv', lambda: table('tabular/wdbc.csv', 1, (0,), header=True)),
    ('libsvm/heart_scale', lambda: sparse('libsvm/heart_scale')),
    ('made 300 x 8', lambda: (lambda x, f: (x, np.where(f > 0, 'b', 'a')))(*made(300, 8, 1))),
    ('tabular/wine.csv', lambda: table('tabular/wine.csv')),
    ('tabular/breast-cancer-wisconsin.csv', lambda: table('tabular/breast-cancer-wisconsin.csv')),
    ('tabular/pima-indians-diabetes.csv', lambda: table('tabular/pima-indians-diabetes.csv')),
    ('tabular/sonar.csv', lambda: table('tabular/sonar.csv')),
    ('tabular/ionosphere.csv', lambda: table('tabular/ionosphere.csv')),
    ('tabular/glass.csv', lambda: table('tabular/glass.csv')),
    ('tabular/banknote_authentication.csv', lambda: table('tabular/banknote_authentication.csv')),
    ('tabular/penguins.csv', lambda: table('tabular/penguins.csv', 0, header=True)),
    ('tabular/optdigits.tes', lambda: table('tabular/optdigits.tes')),
    ('tabular/higgs-small.test', lambda: table('tabular/higgs-small.test', 0, separator='\t')),
    ('libsvm/svmguide1', lambda: sparse('libsvm/svmguide1')),
    ('libsvm/a9a', lambda: sparse('libsvm/a9a', 3000)),
    ('made 60 x 200', lambda: (lambda x, f: (x, np.where(f > 0, 'b', 'a')))(*made(60, 200, 2))),
]
NUMBERS = [
    ('regression/concrete.csv', lambda: table('regression/concrete.csv', header=True)),
    ('regression/auto-mpg.csv', lambda: table('regression/auto-mpg.csv', 0, header=True)),
    ('made 200 x 12', lambda: made(200, 12, 3)),
    ('regression/abalone.csv', lambda: table('regression/abalone.csv')),
    ('regression/winequality-red.csv', lambda: table('regression/winequality-red.csv')),
    ('regression/airfoil.csv.gz', lambda: table('regression/airfoil.csv.gz')),
    ('regression/energy.csv.gz', lambda: table('regression/energy.csv.gz')),
    ('regression/california-housing.csv', lambda: table('regression/california-housing.csv', 8, header=True, rows=4000)),
    ('regression/kin40k.csv.gz', lambda: table('regression/kin40k.csv.gz', rows=4000)),
    ('made 60 x 100', lambda: made(60, 100, 4)),
]


# ---- both sides ----------------------------------------------------------------------------------

class Fit:
    """A margin fit of arrays: status, objective, gap, weights (functions x columns), intercepts."""

    def __init__(self, folder, spec, x, y):
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y)
        p = subprocess.run([program, 'fit', spec, folder / 'x.npy', '--labels', folder / 'y.npy', '-o',
                            folder / 'm', '--json', '-q'], capture_output=True, text=True)
        if p.returncode not in (0, 3):
            raise RuntimeError(f'{spec}: {p.stderr.strip()}')
        report = json.loads(p.stdout)
        self.status, self.objective, self.gap, self.reason = (report[k] for k in ('status', 'objective', 'gap', 'reason'))
        p = subprocess.run([program, 'inspect', folder / 'm', '--json'], capture_output=True, text=True, check=True)
        model = json.loads(p.stdout)
        self.w = np.atleast_2d(np.array(model['weights'], dtype=float))
        self.b = np.atleast_1d(np.array(model['intercept'], dtype=float))


def compare(what, fit, objective, w, b, tolerance, unique):
    """fit is ours; w and b are the peer's."""
    global compared
    compared += 1
    ours, theirs = objective(fit.w, fit.b), objective(np.atleast_2d(w), np.atleast_1d(b))
    size = max(1.0, abs(theirs))
    expect(fit.status == 'converged', f'{what}: {fit.reason}')
    expect(abs(ours - fit.objective) <= 1e-9 * size, f'{what}: {fit.objective} is claimed, {ours} is true')
    expect(ours <= theirs + (tolerance + 1e-9) * size, f'{what}: {ours} above the peer\'s {theirs}')
    if unique:
        # both lie within the root of their gaps of the optimum; the peer's gap is its distance to ours
        near = 1e-3 + 10 * np.sqrt(max(theirs - ours, 0) / size)
        expect(np.abs(fit.w - w).max() <= near * (1 + np.abs(fit.w).max()),
               f'{what}: weights differ by {np.abs(fit.w - w).max()}')


LOSSES = {
    'squared': lambda r: r ** 2,
    'hinge': lambda z: np.maximum(1 - z, 0),
    'squared-hinge': lambda z: np.maximum(1 - z, 0) ** 2,
    'logistic': lambda z: np.logaddexp(0, -z),
    'exponential': lambda z: np.exp(-z),
}


def two_class(loss, x, s, C, l1_ratio=0):
    return lambda w, b: (C * LOSSES[loss](s * (x @ w[0] + b[0])).sum()
                         + ((1 - l1_ratio) * (w ** 2).sum() + l1_ratio * np.abs(w).sum()) / 2)


def check_logistic(name, folder, x, s, C, tolerance=1e-9):
    fit = Fit(folder, f'logistic(C={C}, tol={tolerance})', x, s)
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=20000).fit(x, s)
    compare(f'{name}: logistic C={C}', fit, two_class('logistic', x, s, C), peer.coef_, peer.intercept_, tolerance, True)


def check_exponential(name, folder, x, s, C, tolerance=1e-9):
    def value(u):
        e = C * np.exp(np.minimum(-s * (x @ u[:-1] + u[-1]), 500))
        g = x.T @ (-s * e) + u[:-1]
        return e.sum() + u[:-1] @ u[:-1] / 2, np.append(g, (-s * e).sum())
    fit = Fit(folder, f'exponential(C={C}, tol={tolerance})', x, s)
    peer = minimize(value, np.zeros(x.shape[1] + 1), jac=True, method='L-BFGS-B',
                    options={'maxiter': 20000, 'maxfun': 40000, 'gtol': 1e-10, 'ftol': 1e-16}).x
    compare(f'{name}: exponential C={C}', fit, two_class('exponential', x, s, C), peer[:-1], peer[-1:], tolerance, True)


def check_svm(name, folder, x, s, C):
    # LIBLINEAR penalises its intercept: without one the problem is the same
    for loss, peer_loss, tolerance in (('hinge', 'hinge', 1e-7), ('squared-hinge', 'squared_hinge', 1e-9)):
        fit = Fit(folder, f'svm(loss={loss}, C={C}, tol={tolerance}, intercept=no)', x, s)
        peer = LinearSVC(loss=peer_loss, C=C, tol=1e-8, fit_intercept=False, dual=loss == 'hinge', max_iter=100000).fit(x, s)
        compare(f'{name}: svm {loss} C={C}', fit, two_class(loss, x, s, C), peer.coef_, np.zeros(1), tolerance, True)


def check_liblinear(name, folder, x, s, C):
    if not shutil.which('liblinear-train'):
        return
    with open(folder / 'x.svm', 'w') as out:
        for row, label in zip(x, s):
            out.write(f'{label:+d} ' + ' '.join(f'{j + 1}:{v:.17g}' for j, v in enumerate(row)) + '\n')
    for loss, solver, l1, tolerance in (('hinge', 3, 0, 1e-7), ('squared-hinge', 2, 0, 1e-9), ('logistic', 0, 0, 1e-9),
                                        ('logistic', 6, 1, 1e-9)):
        # C sum loss + |w|_1 / 2 is half of LIBLINEAR's 2 C sum loss + |w|_1
        subprocess.run(['liblinear-train', '-q', '-s', str(solver), '-c', str(2 * C if l1 else C), '-e', '1e-6',
                        folder / 'x.svm', folder / 'liblinear'], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = (folder / 'liblinear').read_text().split('\n')
        first = lines[2].split()[1]
        w = np.array([float(v) for v in lines[6:6 + x.shape[1]]]) * (1 if first == '1' else -1)
        spec = f'svm(loss={loss}, ' if 'hinge' in loss else 'logistic('
        fit = Fit(folder, f'{spec}{"l1_ratio=1, " if l1 else ""}C={C}, tol={tolerance}, intercept=no)', x, s)
        compare(f'{name}: LIBLINEAR -s {solver} C={C}', fit, two_class(loss, x, s, C, l1), w, np.zeros(1), tolerance,
                not l1 or np.linalg.matrix_rank(x) == x.shape[1])


def check_softmax(name, folder, x, codes, C, tolerance=1e-7):
    rows = np.arange(len(codes))

    def objective(w, b):
        f = x @ w.T + b
        return C * (logsumexp(f, axis=1) - f[rows, codes]).sum() + (w ** 2).sum() / 2
    fit = Fit(folder, f'softmax(C={C}, tol={tolerance})', x, codes)
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=20000).fit(x, codes)
    compare(f'{name}: softmax C={C}', fit, objective, peer.coef_, peer.intercept_, tolerance, True)


def squares(x, y, alpha=0.0, l1=0.0):
    return lambda w, b: (((x @ w[0] + b[0] - y) ** 2).sum() + alpha * (w ** 2).sum() + l1 * np.abs(w).sum())


def check_squares(name, folder, x, y):
    m, n = x.shape
    centred, mean = x - x.mean(axis=0), x.mean(axis=0)
    fit = Fit(folder, 'least-squares', x, y)
    w, _, rank, values = np.linalg.lstsq(centred, y - y.mean(), rcond=None)
    scaled = squares(x, y)
    # the answer of least norm is unique as well
    compare(f'{name}: least-squares', fit, lambda w, b: scaled(w, b) / m, w, y.mean() - mean @ w, 1e-12,
            values[rank - 1] > 1e-6 * values[0])
    for alpha in (1e-3, 1.0, 100.0):
        fit = Fit(folder, f'ridge(alpha={alpha})', x, y)
        peer = Ridge(alpha=alpha, solver='svd').fit(x, y)
        compare(f'{name}: ridge alpha={alpha}', fit, squares(x, y, alpha), peer.coef_, peer.intercept_, 1e-12, True)


def check_targets(name, folder, x, y):
    """Several targets at once, a y with a column for each."""
    several = np.c_[y, np.tanh((y - y.mean()) / (y.std() or 1)), np.arange(len(y)) % 7]
    for alpha in (1.0, 100.0):
        fit = Fit(folder, f'ridge(alpha={alpha})', x, several)
        peer = Ridge(alpha=alpha, solver='svd').fit(x, several)
        compare(f'{name}: ridge alpha={alpha}, three targets', fit,
                lambda w, b: ((x @ w.T + b - several) ** 2).sum() + alpha * (w ** 2).sum(), peer.coef_, peer.intercept_, 1e-12, True)


def check_l1(name, folder, x, y, share, tolerance=1e-9):
    most = 2 * np.abs(x.T @ (y - y.mean())).max() / len(y)  # from this lambda on all weights of a lasso are 0
    m, unique = len(y), np.linalg.matrix_rank(x - x.mean(axis=0)) == x.shape[1]
    for spec, ratio in (('lasso(', 1.0), ('elastic-net(l1_ratio=0.5, ', 0.5)):
        if spec.split('(')[0] not in learners:
            continue
        strength = float(share * most / ratio)
        fit = Fit(folder, f'{spec}lambda={strength!r}, tol={tolerance})', x, y)
        peer = (Lasso(alpha=strength / 2, tol=1e-13, max_iter=100000) if ratio == 1 else
                ElasticNet(alpha=strength * (2 - ratio) / 2, l1_ratio=ratio / (2 - ratio), tol=1e-13, max_iter=100000))
        peer.fit(x, y)
        whole = squares(x, y, m * strength * (1 - ratio), m * strength * ratio)
        compare(f'{name}: {spec.split("(")[0]} at {share} of lambda_max', fit, lambda w, b: whole(w, b) / m,
                peer.coef_, peer.intercept_, tolerance, unique or ratio < 1)


def check_kmeans(name, folder, x, k, steps):
    """The same start, beside rows so that no two distances are equal: the same inertia, step for step."""
    global compared
    rng = np.random.default_rng(k)
    rows = np.unique(x, axis=0)
    # few rows: empty clusters, filled by other rules; many numbers do not fit into a command
    if 10 * k > len(rows) or k * x.shape[1] > 4000:
        return
    start = rows[rng.permutation(len(rows))[:k]] + 0.01 * rng.standard_normal((k, x.shape[1]))
    np.save(folder / 'x.npy', x)
    text = ' '.join(repr(float(v)) for v in start.ravel())
    p = subprocess.run([program, 'fit', f'kmeans(k={k}, max_iter={steps}, centres="{text}")', folder / 'x.npy',
                        '-o', folder / 'm', '--json', '-q'], capture_output=True, text=True)
    if p.returncode not in (0, 3):
        raise RuntimeError(f'kmeans on {name}: {p.stderr.strip()}')
    ours = json.loads(p.stdout)['objective']
    peer = KMeans(k, n_init=1, max_iter=steps, tol=0, init=start).fit(x).inertia_
    compared += 1
    expect(ours <= peer * (1 + 1e-9), f'{name}: kmeans, k={k}, {steps} steps: {ours!r} and {peer!r}')


# ---- all of it -----------------------------------------------------------------------------------

def classes_of(name, folder, x, labels):
    names, codes = np.unique(labels, return_inverse=True)
    s = np.where(codes == np.bincount(codes).argmax(), 1, -1).astype(np.int64)
    for C in (0.01, 1.0) if everything else (1.0,):
        check_logistic(name, folder, x, s, C)
        check_exponential(name, folder, x, s, C)
        if 'svm' in learners:
            check_svm(name, folder, x, s, C)
        if 'softmax' in learners and 2 < len(names) <= 10:  # with two the peer has one function
            check_softmax(name, folder, x, codes.astype(np.int64), C)
    if everything or name == 'libsvm/heart_scale':
        check_liblinear(name, folder, x, s, 0.1)


def numbers_of(name, folder, x, y):
    y = np.asarray(y, dtype=float)
    check_squares(name, folder, x, y)
    check_targets(name, folder, x, y)
    for share in (0.1, 0.01) if everything else (0.1,):
        check_l1(name, folder, x, y, share)


def main():
    sets = 0
    with tempfile.TemporaryDirectory() as where:
        for table_list, check, quick in ((CLASSES, classes_of, 4), (NUMBERS, numbers_of, 3)):
            for name, load in table_list[:None if everything else quick]:
                if not name.startswith('made') and not (data / name).exists():
                    continue
                sets += not name.startswith('made')
                arrays = load()
                check(name, Path(where), *arrays)
                for k, steps in ((5, 100), (40, 3), (40, 100), (150, 20)):
                    if 'kmeans' in learners:
                        check_kmeans(name, Path(where), arrays[0], k, steps)
    print(f'{compared} comparisons on {sets} real and some made data sets')
    print(f'{passed} passed, {failed} failed')
    if sets == 0 and failed == 0:
        print('skipped: no data sets (MARGIN_DATA names their folder)')
        sys.exit(77)
    sys.exit(failed > 0)


main()
