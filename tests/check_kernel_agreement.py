#!/usr/bin/env python3
"""Support vector machines with kernels against scikit-learn (LIBSVM), and identities between learners.

usage: check_kernel_agreement.py PROGRAM [--all]

Twelve data sets by six pairs of C and gamma, for classes, numbers and one class: objective, support
vectors, scores and predictions. Ours must lie between dual and primal objective of scikit-learn, which
are computed here from its coefficients.
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
    from sklearn.metrics.pairwise import rbf_kernel
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
PAIRS = [(1, 0.1), (100, 1), (0.01, 0.1), (10, 0.01), (1000, 0.3), (1, 10)]
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
    scale = max(1.0, abs(primal))
    expect(report.get('status') == 'converged', f'{label} is {report.get("status")}: {report.get("reason")}')
    expect(dual - 1e-6 * scale <= report['objective'] <= primal + 1e-6 * scale,
           f'{label}: {report["objective"]}, scikit-learn {dual} to {primal}')


def compare(name, spec, peer, dual, primal, scores, bound):
    report, own = ours(spec)
    label = f'{name}: {spec}'
    between(label, report, dual, primal)
    spread = max(1.0, np.abs(scores).max())
    expect(np.abs(own - scores).max() <= 2e-3 * spread, f'{label}: scores differ by {np.abs(own - scores).max()}')
    far = np.abs(scores) > 2e-3 * spread
    expect((np.sign(own) == np.sign(scores))[far].all(), f'{label}: other predictions')
    sizes = np.abs(peer.dual_coef_).ravel()
    free = ((sizes > 1e-4 * bound) & (sizes < (1 - 1e-4) * bound)).sum()
    least, most = (sizes > 1e-3 * bound).sum(), len(sizes)
    expect(0.97 * least - 1 <= report['support_vectors'] <= 1.03 * most + free + 1,
           f'{label}: {report["support_vectors"]} support vectors, scikit-learn {most}')


def classes(name, x, y, C, gamma):
    write(x, y)
    peer = SVC(C=C, gamma=gamma, tol=1e-6).fit(x, y)
    b = peer.dual_coef_[0]
    norm = b @ rbf_kernel(peer.support_vectors_, gamma=gamma) @ b / 2
    scores = peer.decision_function(x)
    primal = norm + C * np.maximum(1 - np.where(y > 0, 1, -1) * scores, 0).sum()
    compare(name, f'svm(kernel=rbf, task=classify, C={C}, gamma={gamma}, tol=1e-7)', peer,
            np.abs(b).sum() - norm, primal, scores, C)


def numbers(name, x, y, C, gamma):
    target = np.sin(x[:, 0]) + 0.1 * x[:, -1] + 0.2 * y
    write(x, target)
    peer = SVR(C=C, gamma=gamma, epsilon=0.05, tol=1e-6).fit(x, target)
    b = peer.dual_coef_[0]
    norm = b @ rbf_kernel(peer.support_vectors_, gamma=gamma) @ b / 2
    values = peer.predict(x)
    primal = norm + C * np.maximum(np.abs(target - values) - 0.05, 0).sum()
    report, own = ours(f'svm(kernel=rbf, task=regress, epsilon=0.05, C={C}, gamma={gamma}, tol=1e-6)')
    label = f'{name}: numbers, C={C}, gamma={gamma}'
    between(label, report, target[peer.support_] @ b - 0.05 * np.abs(b).sum() - norm, primal)
    expect(np.abs(own - values).max() <= 5e-3, f'{label}: values differ by {np.abs(own - values).max()}')


def one_class(name, x, C, gamma):
    nu = {1: 0.1, 100: 0.5, 0.01: 0.05, 10: 0.3, 1000: 0.8}[C]
    write(x)
    peer = OneClassSVM(nu=nu, gamma=gamma, tol=1e-7).fit(x)
    b = peer.dual_coef_[0]
    norm = b @ rbf_kernel(peer.support_vectors_, gamma=gamma) @ b / 2
    scores = peer.decision_function(x)
    primal = norm + np.maximum(-scores, 0).sum() + nu * len(x) * peer.intercept_[0]
    compare(name, f'svm(task=one-class, kernel=rbf, nu={nu}, gamma={gamma}, tol=1e-8)', peer, -norm,
            primal, scores, 1.0)


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
        classes(name, x, y, C, gamma)
        numbers(name, x, y, C, gamma)
        one_class(name, x, C, gamma)
identities(*made(150, 4, 0.3, 8))
print(f'{passed} comparisons hold, {failed} do not')
sys.exit(failed > 0)
