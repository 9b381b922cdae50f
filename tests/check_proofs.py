#!/usr/bin/env python3
"""Claims of models of small awkward tables: each is verified, and no better point than it allows is found.

usage: check_proofs.py PROGRAM [FIRST_SEED COUNT]

Tables have 1 to 12 rows, with duplicates, constants and scales from 1e-6 to 1e6; specs are drawn at random. A fit
that succeeds must verify, one that ends early must say why, and SciPy's minimisers, from the model and from 0, may
not get below objective - gap (without stages, where there is one function or a softmax). Of learners with kernels
objective and dual bound are computed here from the model's coefficients and the Gram matrix of the raw data.
Exit code 77: no NumPy or SciPy.
"""
import csv
import json
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit, logsumexp, xlogy
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

program = sys.argv[1]
first, count = (int(a) for a in sys.argv[2:4]) if len(sys.argv) > 3 else (0, 150)
warnings.filterwarnings('ignore')
failed = judged = early = refused = 0


def breach(seed, spec, what):
    global failed
    failed += 1
    print(f'breach: seed {seed}: {spec}: {what}')


# ---- tables --------------------------------------------------------------------------------------

class Table:
    """x, target (numbers, or codes of the classes in ascending order of their names), weights or None."""

    def __init__(self, random, regression):
        rows, columns = int(random.integers(1, 13)), int(random.integers(1, 7))
        kind = random.integers(0, 4)
        x = random.normal(size=(rows, columns)) if kind < 2 else random.integers(-3, 4, size=(rows, columns)).astype(float)
        for j in range(columns):
            style = random.integers(0, 8)
            if style == 0:
                x[:, j] = random.choice([0.0, 1.0, -3.5, 1e6])
            elif style == 1 and j > 0:
                x[:, j] = x[:, j - 1] * random.choice([1.0, -2.0])
            elif style == 2:
                x[:, j] += random.choice([10.0, 1e4])
            elif style == 3:
                x[:, j] *= 10.0 ** random.integers(-6, 7)
        for i in range(1, rows):
            if random.random() < 0.15:
                x[i] = x[i - 1]
        if random.random() < 0.1:
            x[:] = x[0]
        self.x = x
        if regression:
            y = x @ random.normal(size=columns) / np.sqrt(columns) + random.normal(size=rows)
            style = random.integers(0, 6)
            if style == 0:
                y[:] = random.choice([0.0, 5.0])
            elif style == 1:
                y *= 10.0 ** random.integers(-6, 7)
            self.y, self.names = y, None
        else:
            classes = int(random.integers(2, 5)) if rows > 3 else 2
            names = ['ant', 'bee', 'cat', 'dog'] if random.random() < 0.7 else ['1', '2', '3', '7']
            score = x @ random.normal(size=(columns, classes)) + 0.5 * random.normal(size=(rows, classes))
            codes = score.argmax(axis=1) if random.random() < 0.6 else random.integers(0, classes, size=rows)
            self.y, self.names = codes, names
        self.weights = None
        if random.random() < 0.3:
            self.weights = random.choice([0.0, 1.0, 1.0, 2.0], size=rows)

    def write(self, path):
        with open(path, 'w', newline='') as out:
            writer = csv.writer(out)
            columns = self.x.shape[1]
            writer.writerow([f'x{j}' for j in range(columns)] + (['weight'] if self.weights is not None else []) + ['y'])
            for i, row in enumerate(self.x):
                target = repr(float(self.y[i])) if self.names is None else self.names[self.y[i]]
                weight = [repr(float(self.weights[i]))] if self.weights is not None else []
                writer.writerow([repr(float(v)) for v in row] + weight + [target])

    def kept(self):
        """Rows of weight above 0: x, y, weights."""
        weights = np.ones(len(self.x)) if self.weights is None else self.weights
        keep = weights > 0
        return self.x[keep], self.y[keep], weights[keep]


# ---- specs ---------------------------------------------------------------------------------------

def draw_spec(random, regression):
    """-> stage, learner, options"""
    if random.random() < 0.25:
        return draw_kernel(random, regression)
    stage = random.choice(['', '', 'standardize', 'minmax', 'poly', 'poly(bias=no) | standardize', 'normalize'])
    o = {}
    if regression:
        learner = random.choice(['least-squares', 'least-squares', 'ridge', 'lasso', 'elastic-net'])
        solvers = {'least-squares': ['auto', 'auto', 'normal', 'qr', 'gd', 'sgd', 'minibatch'],
                   'ridge': ['auto', 'auto', 'normal', 'qr', 'gd', 'sgd', 'minibatch']}.get(
                       learner, ['auto', 'auto', 'working_set', 'gd', 'sgd'])
        if learner != 'least-squares':
            spelling = random.choice(['alpha', 'lambda', 'C'])
            o[spelling] = f'{10.0 ** random.integers(-4, 5):g}' if random.random() < 0.85 else random.choice(['1e-10', '1e10'])
    else:
        learner = random.choice(['logistic', 'logistic', 'svm', 'svm', 'exponential', 'softmax', 'softmax'])
        solvers = {'logistic': ['auto', 'auto', 'dual_cd', 'lbfgs', 'newton', 'gd', 'sgd', 'minibatch'],
                   'svm': ['auto', 'auto', 'dual_cd', 'ssnal', 'gd', 'sgd'],
                   'exponential': ['auto', 'auto', 'lbfgs', 'newton', 'gd'],
                   'softmax': ['auto', 'auto', 'auto', 'gd', 'sgd', 'minibatch']}[learner]
        o['C'] = random.choice(['1e-6', '1e-3', '0.1', '1', '1', '10', '1e4', '1e10', 'inf', 'inf'])
        if random.random() < 0.2:
            o['class_weight'] = 'balanced'
        if learner == 'svm':
            o['loss'] = random.choice(['hinge', 'hinge', 'squared-hinge'])
            if random.random() < 0.25:
                o['multiclass'] = 'argmax'
        elif learner != 'softmax' and random.random() < 0.3:
            o['multiclass'] = 'ovo'
        if learner == 'logistic' and random.random() < 0.2:
            o['l1_ratio'] = random.choice(['0.5', '1'])
            solvers = ['auto', 'working_set', 'gd']
    o['solver'] = random.choice(solvers)
    if random.random() < 0.2:
        o['intercept'] = 'no'
    if random.random() < 0.2:
        o['tol'] = random.choice(['1e-2', '1e-10'])
    if random.random() < 0.15 and (o['solver'] in ('gd', 'sgd', 'minibatch') or learner in ('logistic', 'softmax')):
        o['max_iter'] = str(random.choice([1, 5, 100]))
    elif o['solver'] in ('gd', 'sgd', 'minibatch'):
        o['max_iter'] = '300'
    if o['solver'] == 'auto' and random.random() < 0.7:
        del o['solver']
    return str(stage), str(learner), {k: str(v) for k, v in o.items()}


def draw_kernel(random, regression):
    learner = random.choice(['svm', 'kernel-ridge'] + ([] if regression else ['kernel-logistic']))
    o = {'kernel': random.choice(['rbf', 'rbf', 'poly']), 'gamma': f'{10.0 ** random.integers(-4, 3):g}',
         random.choice(['C', 'alpha', 'lambda']): f'{10.0 ** random.integers(-4, 4):g}'}
    if o['kernel'] == 'poly':
        o.update(degree=random.choice([1, 2, 3]), coef0=random.choice([0, 1, 3]))
    if learner != 'kernel-logistic':
        o['task'] = 'regress' if regression else 'classify'
    if learner == 'svm' and regression:
        o['epsilon'] = random.choice([0, 0.1, 1])
    elif random.random() < 0.2:
        o.update(solver='gd', max_iter=300)
    elif learner == 'kernel-ridge' and random.random() < 0.3:
        o['intercept'] = 'yes'
    if random.random() < 0.2:
        o['tol'] = random.choice(['1e-2', '1e-8'])
    return '', str(learner), {k: str(v) for k, v in o.items()}


def text_of(stage, learner, o):
    words = ', '.join(f'{k}={v}' for k, v in o.items())
    return (f'{stage} | ' if stage else '') + learner + (f'({words})' if words else '')


# ---- program -------------------------------------------------------------------------------------

def run(*arguments):
    p = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def fit_and_verify(seed, spec, folder, weighted):
    """-> report of the fit and of the inspection, or None; complains."""
    global early, refused
    weights = ['--weights', 'weight'] if weighted else []
    rc, out, err = run('fit', spec, folder / 't.csv', '-o', folder / 'm', '--json', '-q', *weights)
    if rc not in (0, 3):
        refused += 1
        text = err.strip()
        if rc < 0 or rc > 3 or len(text) < 30:
            breach(seed, spec, f'exit {rc}: {text}')
        return None
    report = json.loads(out)
    early += rc == 3
    if not isinstance(report['objective'], (int, float)) or not isinstance(report['gap'], (int, float)):
        if rc == 0:
            breach(seed, spec, f'objective {report["objective"]}, gap {report["gap"]}')
    if rc == 3 and len(report['reason']) < 30:
        breach(seed, spec, f'no reason: {report["reason"]}')
    rc, out, err = run('evaluate', folder / 'm', folder / 't.csv', '--verify', '--json', '-q', *weights)
    try:
        found = json.loads(out)['verification']
    except (ValueError, KeyError):
        breach(seed, spec, f'evaluate: exit {rc}: {err.strip()}')
        return None
    if not found['holds']:
        breach(seed, spec, f'{report["status"]} gap {report["gap"]}: does not verify: {found["reason"]}')
    return report, found


# ---- a better point ------------------------------------------------------------------------------

LOSSES = {  # of the margin, and slopes
    'logistic': (lambda z: np.logaddexp(0, -z), lambda z: -expit(-z)),
    'exponential': (lambda z: np.exp(-np.maximum(z, -700)), lambda z: -np.exp(-np.maximum(z, -700))),
    'hinge': (lambda z: np.maximum(1 - z, 0), lambda z: -(z < 1).astype(float)),
    'squared-hinge': (lambda z: np.maximum(1 - z, 0) ** 2, lambda z: -2 * np.maximum(1 - z, 0)),
    'squared': (lambda r: r ** 2, lambda r: 2 * r),
}


def penalty(learner, o, total):
    """-> factor of the loss, rho, kappa"""
    ratio = {'lasso': 1.0, 'elastic-net': 0.5}.get(learner, float(o.get('l1_ratio', 0)))
    if learner == 'least-squares':
        return 1 / total, 0.0, 0.0
    if 'alpha' in o or 'lambda' in o:
        factor, strength = (1.0, float(o['alpha'])) if 'alpha' in o else (1 / total, float(o['lambda']))
    else:
        C = float(o.get('C', 1))
        factor, strength = (1.0, 0.0) if math.isinf(C) else (C, 0.5)
    return factor, 2 * strength * (1 - ratio), strength * ratio


class Objective:
    """P and its gradient at u = (w, b), functions x (columns + 1) numbers; sums in extended precision."""

    def __init__(self, x, y, c, loss, rho, kappa, intercept, classes):
        self.x, self.y, self.c, self.loss, self.rho, self.kappa = x, y, c, loss, rho, kappa
        self.intercept, self.classes = intercept, classes

    def __call__(self, u):
        shape = (self.classes or 1, self.x.shape[1] + 1)
        u = u.reshape(shape)
        w, b = u[:, :-1], u[:, -1] * self.intercept
        f = (self.x.astype(np.longdouble) @ w.T + b)
        if self.classes:
            rows = np.arange(len(self.y))
            value = (logsumexp(f, axis=1) - f[rows, self.y]) @ self.c
            slopes = np.exp(f - logsumexp(f, axis=1)[:, None])
            slopes[rows, self.y] -= 1
        else:
            value_of, slope_of = LOSSES[self.loss]
            residual = self.loss in ('squared', 'tube')
            t = f[:, 0] - self.y if residual else f[:, 0] * self.y
            value, slopes = value_of(t) @ self.c, slope_of(t)[:, None]
            if not residual:
                slopes = slopes * self.y[:, None]
        slopes = slopes * self.c[:, None]
        gradient = np.concatenate([slopes.T @ self.x + self.rho * w + self.kappa * np.sign(w),
                                   self.intercept * slopes.sum(axis=0)[:, None]], axis=1)
        value = value + self.rho / 2 * (w ** 2).sum() + self.kappa * np.abs(w).sum()
        return float(value), np.nan_to_num(gradient.astype(float).ravel())


def best_seen(objective, start):
    """The least value that SciPy finds, in units where columns are about 1."""
    size = np.append(1 / np.maximum(np.abs(objective.x).max(axis=0), 1e-300), 1.0)
    unit = np.tile(size, objective.classes or 1)
    best = math.inf
    for at in (start, np.zeros_like(start)):
        for method in ('BFGS', 'L-BFGS-B'):
            found = minimize(lambda v: (lambda p: (p[0], p[1] * unit))(objective(v * unit)), at / unit, jac=True,
                             method=method, options={'maxiter': 300})
            best = min(best, objective(found.x * unit)[0])
    return best


def search(seed, spec, parts, table, folder, report):
    global judged
    stage, learner, o = parts
    x, y, weights = table.kept()
    codes = np.unique(y) if table.names else []
    if stage or 'class_weight' in o or o.get('multiclass') == 'argmax' or (learner != 'softmax' and len(codes) > 2):
        return
    if not all(isinstance(report[k], (int, float)) for k in ('objective', 'gap')):
        return
    model = json.loads(run('inspect', folder / 'm', '--json')[1])
    if len(model['inputs']) != x.shape[1]:
        return
    u = np.concatenate([np.atleast_2d(np.array(model['weights'], dtype=float)),
                        np.atleast_1d(np.array(model['intercept'], dtype=float))[:, None]], axis=1)
    factor, rho, kappa = penalty(learner, o, weights.sum())
    loss = {'svm': o.get('loss', 'hinge')}.get(learner, learner if table.names else 'squared')
    if learner == 'softmax':
        y = np.searchsorted(codes, y)
    elif table.names:
        y = np.where(y == codes[-1], 1.0, -1.0)
    objective = Objective(x, y, factor * weights, loss, rho, kappa, o.get('intercept') != 'no',
                          len(codes) if learner == 'softmax' else 0)
    here, size = objective(u.ravel())[0], max(1.0, abs(report['objective']))
    terms = (np.abs(u[:, :-1]).sum(axis=0) * np.abs(x)).sum(axis=1) + np.abs(u[:, -1]).sum()
    blur = 1e-14 * (terms.max() + (np.abs(y).max() if table.names is None else 0)) * objective.c.sum()
    judged += 1
    if abs(here - report['objective']) > 1e-6 * size + blur * (1 + math.sqrt(abs(here) / objective.c.sum()) + blur):
        breach(seed, spec, f'the objective is {here}, not {report["objective"]}')
    if learner == 'least-squares':
        return  # its gap is the residual of the normal equations
    best = best_seen(objective, u.ravel())
    allowed = max(report['gap'], report['tolerance'] if report['status'] == 'converged' else 0.0)
    if best < report['objective'] - (allowed + 1e-9) * size - blur:
        breach(seed, spec, f'a gap of {report["gap"]} of {report["objective"]} is claimed, but {best} is possible')


# ---- kernels -------------------------------------------------------------------------------------

def gram_of(x, z, o):
    x, z = x.astype(np.longdouble), z.astype(np.longdouble)
    if o['kernel'] == 'rbf':
        return np.exp(-float(o['gamma']) * ((x[:, None] - z[None]) ** 2).sum(axis=2))
    return (float(o['gamma']) * x @ z.T + float(o['coef0'])) ** int(o['degree'])


def tensors(path):
    """docs/format.md"""
    raw = path.read_bytes()
    begin = 8 + int.from_bytes(raw[:8], 'little')
    kinds = {'F64': np.float64, 'I64': np.int64, 'I32': np.int32, 'F32': np.float32, 'U8': np.uint8}
    return {name.removeprefix('hypothesis.'): np.frombuffer(raw[begin + at['data_offsets'][0]:begin + at['data_offsets'][1]], kinds[at['dtype']]).reshape(at['shape'])
            for name, at in json.loads(raw[8:begin]).items() if name != '__metadata__'}


def dual_bound(u, gram, y, c, loss, epsilon, rho, intercept):
    """Of the dual variables u, put into their bounds and, with an intercept, to a sum of 0."""
    if loss != 'squared':
        low, high = (-c, c) if loss == 'tube' else (np.minimum(c * y, 0), np.maximum(c * y, 0))
        u = np.clip(u, low, high)
    part = np.maximum(np.sign(u.sum()) * u, 0)
    if intercept and part.sum() > 0:
        u = u - u.sum() * part / part.sum()
    gain = u @ y
    if loss == 'squared':
        gain = gain - (u ** 2 / c).sum() / 4
    elif loss == 'tube':
        gain = gain - epsilon * np.abs(u).sum()
    elif loss == 'logistic':
        heads = (u * y / c).astype(float)
        gain = -(c * (xlogy(heads, heads) + xlogy(1 - heads, 1 - heads))).sum()
    return float(gain - u @ gram @ u / (2 * rho))


def search_kernel(seed, spec, parts, table, folder, report):
    global judged
    _, learner, o = parts
    x, y, weights = table.kept()
    codes = np.unique(y) if table.names else []
    if len(codes) > 2 or not all(isinstance(report[k], (int, float)) for k in ('objective', 'gap')):
        return
    if table.names:
        y = np.where(y == codes[-1], 1.0, -1.0)
    loss = 'squared' if learner == 'kernel-ridge' else 'logistic' if learner == 'kernel-logistic' else 'hinge' if table.names else 'tube'
    epsilon = float(o.get('epsilon', 0))
    LOSSES['tube'] = (lambda r: np.maximum(np.abs(r) - epsilon, 0), lambda r: np.sign(r) * (np.abs(r) > epsilon))
    factor, rho, _ = penalty(learner, o, weights.sum())
    c, intercept = factor * weights, o.get('intercept') == 'yes' or (learner == 'svm' and 'solver' not in o)
    kept = tensors(folder / 'm')
    a, b = kept['coefficients'].astype(np.longdouble), kept['intercept'][0]
    rows = kept['support'][kept['entries']].astype(float).reshape(len(a), x.shape[1])
    gram, cross, own = gram_of(x, x, o), gram_of(x, rows, o), gram_of(rows, rows, o)
    f = cross @ a + b
    t = f - y if loss in ('squared', 'tube') else f * y
    here = float(LOSSES[loss][0](t) @ c + rho / 2 * max(a @ own @ a, 0))
    size = max(1.0, abs(report['objective']))
    terms = (np.abs(cross) @ np.abs(a)).max(initial=0) + abs(b) + np.abs(y).max()
    unit = 1e-13 + (1e-15 * float(o['gamma']) * (x ** 2).sum(axis=1).max() if o['kernel'] == 'rbf' else 0)  # squares that cancel
    blur = float(unit * (c.sum() * terms * (1 + terms * (loss == 'squared')) + rho * (np.abs(a) @ np.abs(own) @ np.abs(a))))
    if blur > 1e-6 * size:
        return
    judged += 1
    if abs(here - report['objective']) > 1e-9 * size + blur:
        breach(seed, spec, f'the objective is {here}, not {report["objective"]}')
    slopes = -c * LOSSES[loss][1](t) * (1 if loss in ('squared', 'tube') else y)
    candidates = [slopes, np.zeros(len(y))]  # P is not below 0
    if learner == 'svm' and 'solver' not in o:
        at = kept['dual_row']
        at = np.searchsorted(np.flatnonzero(table.weights > 0), at) if table.weights is not None else at
        candidates.append(np.zeros(len(y)))
        candidates[2][at] = rho * kept['dual_coefficient'] * kept['dual_sign']
    bound = max(dual_bound(u, gram, y, c, loss, epsilon, rho, intercept) for u in candidates)
    allowed = max(report['gap'], report['tolerance'] if report['status'] == 'converged' else 0.0)
    if bound > report['objective'] + 1e-9 * size + blur:
        breach(seed, spec, f'the dual has {bound}, the objective is {report["objective"]}')
    if bound < report['objective'] - (allowed + 1e-9) * size - blur:
        breach(seed, spec, f'a gap of {report["gap"]} of {report["objective"]} is claimed, the dual has {bound}')
    values, vectors = np.linalg.eigh(gram.astype(float))
    features = vectors * np.sqrt(np.maximum(values, 0))  # f = features w + b, |f| = |w|
    objective = Objective(features, y, c, loss, rho, 0.0, intercept, 0)
    start = np.linalg.lstsq(features, (f - b).astype(float), rcond=None)[0]
    best = best_seen(objective, np.append(start, b))
    if best < report['objective'] - (allowed + 1e-7) * size - blur:
        breach(seed, spec, f'a gap of {report["gap"]} of {report["objective"]} is claimed, but {best} is possible')


# ---- known cases ---------------------------------------------------------------------------------

def known(spec, rows, expected, status=None, **items):
    """Fits and verifies; `expected` is in the reason or the message, items are ranges of the report."""
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        (folder / 't.csv').write_text(rows.replace(' ', '\n') + '\n')
        weights = ['--weights', 'weight'] if 'weight' in rows else []
        rc, out, err = run('fit', spec, folder / 't.csv', '-o', folder / 'm', '--json', '-q', *weights)
        report = json.loads(out) if rc in (0, 3) else {'reason': err, 'status': 'refused'}
        if expected not in report['reason'] or report['status'] != (status or report['status']):
            breach('known', spec, f'{report["status"]}: {report["reason"]}')
        for name, (low, high) in items.items():
            if not low <= report.get(name, math.nan) <= high:
                breach('known', spec, f'{name} is {report.get(name)}')
        if rc in (0, 3):
            out = run('evaluate', folder / 'm', folder / 't.csv', '--verify', '--json', '-q', *weights)[1]
            if not json.loads(out)['verification']['holds']:
                breach('known', spec, json.loads(out)['verification']['reason'])
            return json.loads(out)['verification']
    return None


def known_cases():
    separable = 'a,b,y 1,2,x 2,1,x 3,4,z 5,4,z -3,-4,t -5,-4,t'
    touching = 'a,b,y 1,2,x 2,1,x 3,4,z 3,4,x -3,-4,t -5,-4,t'
    constant = 'a,b,y 0.1,7,5.1 0.3,7,5.1 0.7,7,5.1'
    for solver in ('gd', 'sgd', 'auto'):
        known(f'softmax(C=inf{"" if solver == "auto" else ", solver=" + solver})', separable,
              'without a penalty there is no optimum', 'stopped')
        known(f'least-squares(solver={solver})', constant, '', gap=(0, 1e-2))
        known(f'minmax | least-squares(solver={solver})', constant, '', gap=(0, 1e-2))
        known(f'minmax | lasso(C=0.1, solver={solver})', constant, '', objective=(0, 1e-3))
    known('softmax(C=inf, solver=gd, rate=1)', separable, 'without a penalty there is no optimum', 'stopped')
    known('softmax(C=inf, solver=gd, max_iter=30)', separable, 'every row gets to its side', 'stopped')
    known('softmax(C=inf, solver=gd)', touching, 'touch, but do not overlap', 'stopped')
    known('least-squares', constant, '', 'converged', gap=(0, 1e-12))
    known('minmax | least-squares', constant, '', 'converged', gap=(0, 1e-12))
    known('least-squares(intercept=no)', 'a,y 1,1e-200 2,3e-200 3,1e-200', '', 'converged')
    known('naive-bayes', 'g,weight,y 1e6,1e300,u 2,1,v 3,1e300,v -1e5,1e300,u', 'power of ten', 'refused')
    for spec in ('svm(C=inf)', 'standardize | svm(C=inf)', 'svm(C=inf, multiclass=ovo)'):
        known(spec, separable, '')
    known('svm(C=inf)', 'a,b,y 1,2,x 2,1,x 3,4,z 5,4,z', 'widest margin', 'converged')


def main():
    known_cases()
    for seed in range(first, first + count):
        random = np.random.default_rng(seed)
        regression = bool(random.random() < 0.4)
        table, parts = Table(random, regression), draw_spec(random, regression)
        spec = text_of(*parts)
        with tempfile.TemporaryDirectory() as where:
            folder = Path(where)
            table.write(folder / 't.csv')
            try:
                reports = fit_and_verify(seed, spec, folder, table.weights is not None)
                if reports:
                    (search_kernel if 'kernel' in parts[2] else search)(seed, spec, parts, table, folder, reports[0])
            except subprocess.TimeoutExpired:
                breach(seed, spec, 'takes too long')
    print(f'{count} specs, {refused} refused, {early} ended early, {judged} searched for a better point')
    print(f'{failed} failed')
    sys.exit(failed > 0)


main()
