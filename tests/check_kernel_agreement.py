#!/usr/bin/env python3
"""Support vector machines with kernels against scikit-learn (LIBSVM), and identities between learners.

usage: check_kernel_agreement.py PROGRAM [--all]

Twelve data sets by eight pairs of C and gamma, for classes, numbers and one class, and a polynomial and
a linear kernel: objective, support vectors row by row, scores and predictions. Ours must lie between dual
and primal objective of scikit-learn, which are computed here from its coefficients. Rows that lie on the
margin, to the accuracy of the scores, may be support vectors of one program alone; no others. Two sets of 3
and 10 classes, pair by pair: predictions, and the support vectors of each class.
Without --all four sets and two pairs. Exit code 77: nothing to compare with.
"""
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
    from sklearn import datasets
    from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
    from sklearn.svm import SVC, SVR, OneClassSVM
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

program, everything = sys.argv[1], '--all' in sys.argv[2:]
warnings.filterwarnings('ignore')
passed = failed = 0


def expect(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print('breach:', what)


def two(loaded, positive):
    return loaded.data[:400], (loaded.target[:400] == positive).astype(int)


def made(rows, columns, noise, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    f = np.sin(2 * x[:, 0]) + x[:, -1] + noise * random.normal(size=rows)
    return x, (f > 0).astype(int)


SETS = {
    'iris': lambda: two(datasets.load_iris(), 1),
    'moons': lambda: datasets.make_moons(300, noise=0.3, random_state=1),
    'made 200 x 3': lambda: made(200, 3, 0.5, 2),
    'breast cancer': lambda: two(datasets.load_breast_cancer(), 1),
    'wine': lambda: two(datasets.load_wine(), 0),
    'digits': lambda: two(datasets.load_digits(), 8),
    'circles': lambda: datasets.make_circles(300, noise=0.2, factor=0.5, random_state=1),
    'made 400 x 20': lambda: made(400, 20, 1.0, 3),
    'made 60 x 100': lambda: made(60, 100, 0.1, 4),
    'made 300 x 1': lambda: made(300, 1, 0.3, 5),
    'gridded': lambda: (np.round(made(300, 2, 0.3, 6)[0]), made(300, 2, 0.3, 6)[1]),
    'rare class': lambda: (made(400, 4, 0.1, 7)[0], (made(400, 4, 0.1, 7)[0][:, 0] > 1.8).astype(int)),
}
PAIRS = [(1, 0.1), (100, 1), (0.01, 0.1), (10, 0.01), (1000, 0.3), (1, 10), (1e-4, 1e-6), (1e5, 100)]
room = tempfile.TemporaryDirectory()
table, model, answers = (str(Path(room.name) / name) for name in ('table.csv', 'model', 'answers.csv'))


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True).stdout


def write(x, y=None):
    columns = [f'x{j}' for j in range(x.shape[1])] + ([] if y is None else ['y'])
    np.savetxt(table, x if y is None else np.c_[x, y], delimiter=',', header=','.join(columns),
               comments='', fmt='%.17g')


def ours(spec):
    report = json.loads(run('fit', spec, table, '--json', '-o', model) or '{}')
    run('predict', model, table, '--scores', '-o', answers)
    rows = [line.split(',') for line in Path(answers).read_text(encoding='utf-8').splitlines()[1:]]
    return report, np.array([float(row[-2] if len(row) > 1 else row[0]) for row in rows])


def between(label, report, dual, primal):
    """-> whether scikit-learn is near; where it is not, ours may end early, with a bound that is one"""
    scale = max(1.0, abs(primal))
    near = primal - dual <= 1e-3 * scale
    bound = report['objective'] - (0 if near else report['gap'] * max(1.0, abs(report['objective'])))
    rounded = 'rounding' in report.get('reason', '') and report['gap'] <= 2e-8  # twice the tol that is asked for
    expect(report.get('status') == 'converged' or rounded or not near, f'{label} is {report.get("status")}: {report.get("reason")}')
    expect(dual - 1e-6 * scale <= report['objective'] and bound <= primal + 1e-6 * scale,
           f'{label}: {report["objective"]}, gap {report["gap"]}, scikit-learn {dual} to {primal}')
    return near


def support(label, slack, near, peer):
    """slack: above 0 where a row costs nothing, below 0 where it does, as scikit-learn has it."""
    own = np.zeros(len(slack), bool)
    own[np.array(json.loads(run('inspect', model, '--json')).get('rows', []), dtype=int) - 1] = True
    theirs = np.isin(np.arange(len(slack)), peer.support_)
    far = np.abs(slack) > near
    expect((own == theirs)[far].all(), f'{label}: rows {np.flatnonzero((own != theirs) & far) + 1} support one program alone')
    expect((own == (slack < 0))[far].all(), f'{label}: support vectors are not the rows that cost something')


def compare(name, spec, dual, primal, scores):
    """-> label, and how near scores are; infinite: scikit-learn does not know them itself"""
    report, own = ours(spec)
    label = f'{name}: {spec}'
    if not between(label, report, dual, primal):
        return label, np.inf
    near = 2e-3 * max(1.0, np.abs(scores).max())
    expect(np.abs(own - scores).max() <= near, f'{label}: scores differ by {np.abs(own - scores).max()}')
    far = np.abs(scores) > near
    expect((np.sign(own) == np.sign(scores))[far].all(), f'{label}: other predictions')
    return label, near


def classes(name, x, y, C, spec, gram, **words):
    write(x, y)
    peer = SVC(C=C, tol=1e-6, max_iter=10**7, **words).fit(x, y)
    b = peer.dual_coef_[0]
    norm = b @ gram(peer.support_vectors_) @ b / 2
    scores = peer.decision_function(x)
    slack = np.where(y > 0, 1, -1) * scores - 1
    primal = norm + C * np.maximum(-slack, 0).sum()
    label, near = compare(name, f'svm({spec}, task=classify, C={C}, tol=1e-7)', np.abs(b).sum() - norm, primal, scores)
    if words['kernel'] != 'linear':  # which keeps weights
        support(label, slack, near, peer)


def numbers(name, x, y, C, gamma):
    target = np.sin(x[:, 0]) + 0.1 * x[:, -1] + 0.2 * y
    write(x, target)
    peer = SVR(C=C, gamma=gamma, epsilon=0.05, tol=1e-6, max_iter=10**7).fit(x, target)
    b = peer.dual_coef_[0]
    norm = b @ rbf_kernel(peer.support_vectors_, gamma=gamma) @ b / 2
    values = peer.predict(x)
    primal = norm + C * np.maximum(np.abs(target - values) - 0.05, 0).sum()
    report, own = ours(f'svm(kernel=rbf, task=regress, epsilon=0.05, C={C}, gamma={gamma}, tol=1e-6)')
    label = f'{name}: numbers, C={C}, gamma={gamma}'
    if not between(label, report, target[peer.support_] @ b - 0.05 * np.abs(b).sum() - norm, primal):
        return
    expect(np.abs(own - values).max() <= 5e-3, f'{label}: values differ by {np.abs(own - values).max()}')
    support(label, 0.05 - np.abs(target - values), 5e-3, peer)


def one_class(name, x, C, gamma):
    nu = {1: 0.1, 100: 0.5, 0.01: 0.05, 10: 0.3, 1000: 0.8, 1e-4: 0.2, 1e5: 0.6}[C]
    write(x)
    peer = OneClassSVM(nu=nu, gamma=gamma, tol=1e-7, max_iter=10**7).fit(x)
    b = peer.dual_coef_[0]
    norm = b @ rbf_kernel(peer.support_vectors_, gamma=gamma) @ b / 2
    scores = peer.decision_function(x)
    primal = norm + np.maximum(-scores, 0).sum() + nu * len(x) * peer.intercept_[0]
    label, near = compare(name, f'svm(task=one-class, kernel=rbf, nu={nu}, gamma={gamma}, tol=1e-8)', -norm, primal, scores)
    support(label, scores, near, peer)


def other_kernels(name, x, y):
    classes(name, x, y, 0.5, 'kernel=poly, degree=3, gamma=0.1', lambda s: polynomial_kernel(s, degree=3, gamma=0.1, coef0=1),
            kernel='poly', degree=3, gamma=0.1, coef0=1)
    classes(name, x, y, 2, 'kernel=linear', lambda s: s @ s.T, kernel='linear')


def several(name, x, y, C, gamma):
    """Pairs of classes: predictions, and of each class the rows that support some pair."""
    write(x, y)
    spec = f'svm(kernel=rbf, task=classify, multiclass=ovo, C={C}, gamma={gamma}, tol=1e-7)'
    peer = SVC(C=C, gamma=gamma, tol=1e-6, max_iter=10**7, decision_function_shape='ovo').fit(x, y)
    report = json.loads(run('fit', spec, table, '--json', '-o', model) or '{}')
    label = f'{name}: {spec}'
    expect(report.get('status') == 'converged', f'{label} is {report.get("status")}: {report.get("reason")}')
    run('predict', model, table, '-o', answers)
    own = np.array([float(line.split(',')[0]) for line in Path(answers).read_text(encoding='utf-8').splitlines()[1:]])
    scores = peer.decision_function(x)
    clear = np.abs(scores).min(axis=1) > 2e-3 * max(1.0, np.abs(scores).max())
    pairs = [(a, b) for a in peer.classes_ for b in peer.classes_ if a < b]
    votes = np.zeros((len(y), len(peer.classes_)))
    for k, (a, b) in enumerate(pairs):
        votes[np.arange(len(y)), np.searchsorted(peer.classes_, np.where(scores[:, k] > 0, a, b))] += 1
    clear &= (votes == votes.max(axis=1)[:, None]).sum(axis=1) == 1  # else the first class of LIBSVM's
    expect(clear.mean() > 0.5 and (own == peer.predict(x))[clear].all(), f'{label}: other predictions')
    supports = np.zeros(len(y), bool)
    lists = json.loads(run('inspect', model, '--json')).get('rows', [])  # of each pair
    for rows in lists:
        supports[np.array(rows, dtype=int) - 1] = True
    expect(len(lists) == scores.shape[1], f'{label}: {len(lists)} pairs')
    near = np.zeros(len(y), bool)  # a pair has the row on its margin, to the accuracy of the scores
    for k, (a, b) in enumerate(pairs):
        slack = np.where(y == a, 1, -1) * scores[:, k] - 1
        near |= ((y == a) | (y == b)) & (np.abs(slack) <= 2e-3 * max(1.0, np.abs(scores).max()))
    theirs = np.isin(np.arange(len(y)), peer.support_)
    for c in peer.classes_:
        far = (y == c) & ~near
        expect((supports == theirs)[far].all(), f'{label}: class {c} has other support vectors')
        expect(abs(int(supports[y == c].sum()) - int(theirs[y == c].sum())) <= (near & (y == c)).sum(),
               f'{label}: class {c} has {supports[y == c].sum()} support vectors and {theirs[y == c].sum()}')


def identities(x, y):
    write(x, y)
    pairs = [('svm(kernel=poly, degree=2, C=0.5, tol=1e-7)', 'poly(degree=2, scaled=poly) | svm(C=0.5, tol=1e-7)'),
             ('svm(task=regress, kernel=poly, degree=1, coef0=0, tol=1e-7)', 'svm(task=regress, tol=1e-7)')]
    for kernel, plain in pairs:
        a, b = (json.loads(run('fit', spec, table, '--json', '-o', model)) for spec in (kernel, plain))
        expect(abs(a['objective'] - b['objective']) <= 1e-6 * max(1.0, b['objective']),
               f'{kernel} has {a["objective"]}, {plain} {b["objective"]}')
    forms = [ours(f'perceptron(form={form}, passes=20, order=shuffled)')[1] for form in ('primal', 'dual')]
    expect(np.allclose(*forms), 'the dual perceptron is not the primal one')
    target = x @ np.arange(1.0, x.shape[1] + 1)
    write(x, target)
    ridges = [ours(spec)[1] for spec in ('kernel-ridge(kernel=linear, alpha=2, intercept=yes)', 'ridge(alpha=2)')]
    expect(np.allclose(*ridges), 'kernel-ridge(kernel=linear) is not ridge')


for number, (name, load) in enumerate(SETS.items()):
    if number >= 4 and not everything:
        break
    x, y = load()
    x = x[:, x.std(axis=0) > 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    for C, gamma in PAIRS if everything else PAIRS[:2]:
        if name == 'made 300 x 1' and C == 1e5:
            continue  # the Gram matrix is singular to double precision: LIBSVM does not end
        classes(name, x, y, C, f'kernel=rbf, gamma={gamma}', lambda s, g=gamma: rbf_kernel(s, gamma=g), kernel='rbf', gamma=gamma)
        numbers(name, x, y, C, gamma)
        one_class(name, x, C, gamma)
    other_kernels(name, x, y)
for name, loaded in (('iris, 3 classes', datasets.load_iris()), ('digits, 10 classes', datasets.load_digits())):
    x = loaded.data[:600, loaded.data[:600].std(axis=0) > 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    for C, gamma in PAIRS[:4] if everything else PAIRS[:2]:
        several(name, x, loaded.target[:600], C, gamma if len(x) < 600 else gamma / 20)
identities(*made(150, 4, 0.3, 8))
print(f'{passed} comparisons hold, {failed} do not')
sys.exit(failed > 0)
