#!/usr/bin/env python3
"""Every solver on a grid of shapes, and what solver=auto pays beside the fastest of them.

usage: bench_choice.py [--programs FOLDER] [--repeats N] [--longest SECONDS] [--only WORD] [--log]

One thread, CPU seconds of the fit alone (medians), all proven to the default tolerance. `auto` is the
time of the solver that it chose, so that the table tells of choices and not of noise; with --log each
fit has a line. The regret is that time over the least; means are geometric.
"""
import json
import math
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import common

CLASSIFIERS = {'logistic': ('logistic(', ('dual_cd', 'lbfgs', 'newton')),
               'squared hinge': ('svm(loss=squared-hinge, ', ('dual_cd', 'lbfgs', 'newton')),
               'hinge': ('svm(', ('dual_cd', 'ssnal'))}
CHOSEN = re.compile(r'solver (\w+), as')


def dense(rng, rows, columns, factors=0):
    """Independent columns, or columns that depend on a few factors."""
    x = rng.standard_normal((rows, columns))
    return 0.3 * x + rng.standard_normal((rows, factors)) @ rng.standard_normal((factors, columns)) if factors else x


def sparse(rng, rows, columns, values, zipf=False):
    """`values` stored ones a row: anywhere, or as words in text, the rows of norm 1."""
    if zipf:
        share = 1 / np.arange(1, columns + 1)
        at = rng.choice(columns, rows * values, p=share / share.sum())
    else:
        at = rng.integers(0, columns, rows * values)
    x = sp.csr_matrix((np.abs(rng.standard_normal(rows * values)) if zipf else rng.standard_normal(rows * values),
                       (np.repeat(np.arange(rows), values), at)), shape=(rows, columns))
    return sp.diags(1 / np.sqrt(x.multiply(x).sum(axis=1)).A1) @ x if zipf else x


SHAPES = {
    'dense 20,000 x 50': lambda rng: dense(rng, 20000, 50),
    'dense 8,000 x 400, 12 factors': lambda rng: dense(rng, 8000, 400, 12),
    'dense 4,000 x 800': lambda rng: dense(rng, 4000, 800),
    'dense 2,000 x 1,000, 30 factors': lambda rng: dense(rng, 2000, 1000, 30),
    'dense 1,500 x 1,500': lambda rng: dense(rng, 1500, 1500),
    'dense 1,000 x 1,500, 30 factors': lambda rng: dense(rng, 1000, 1500, 30),
    'dense 300 x 6,000': lambda rng: dense(rng, 300, 6000),
    'sparse 20,000 x 1,000, 20 a row': lambda rng: sparse(rng, 20000, 1000, 20),
    'sparse 20,000 x 4,000, 40 a row': lambda rng: sparse(rng, 20000, 4000, 40),
    'sparse 5,000 x 5,000, 30 a row': lambda rng: sparse(rng, 5000, 5000, 30),
    'sparse 4,000 x 12,000, 30 a row': lambda rng: sparse(rng, 4000, 12000, 30),
    'text 20,000 x 2,000, 40 a row': lambda rng: sparse(rng, 20000, 2000, 40, True),
    'text 20,000 x 10,000, 40 a row': lambda rng: sparse(rng, 20000, 10000, 40, True),
    'text 3,000 x 20,000, 80 a row': lambda rng: sparse(rng, 3000, 20000, 80, True),
}


def save(folder, x, y, classes):
    """Files of the rows with numbers and with classes; words that bench_fit takes for each."""
    if not sp.issparse(x):
        np.save(folder / 'x.npy', x)
        for name, values in (('y', y), ('c', classes)):
            np.save(folder / f'{name}.npy', values)
        return [(folder / 'x.npy', f'labels={folder}/{name}.npy') for name in 'yc']
    for name, values in (('y', y), ('c', classes)):
        dump_svmlight_file(x, values, str(folder / f'{name}.svm'), zero_based=False)
    return [(folder / f'{name}.svm',) for name in 'yc']


def fit(given, spec, words):
    """CPU seconds (inf: not proven in time) and the reason."""
    try:
        out = subprocess.run([given.programs / 'bench_fit', spec, *words, 'threads=1', f'repeats={given.repeats + 1}'],
                             stdout=subprocess.PIPE, text=True, timeout=given.longest * (given.repeats + 1), check=True).stdout
    except subprocess.TimeoutExpired:
        return math.inf, 'too long'
    reports = [json.loads(line) for line in out.splitlines()][1:]
    proven = reports[-1]['status'] == 0
    return common.median(r['cpu_seconds'] for r in reports) if proven else math.inf, reports[-1]['reason']


def chosen_by_auto(solvers, reason):
    found = CHOSEN.search(reason)
    if found:
        return found[1]
    return 'cg' if 'conjugate gradients' in reason else solvers[0]


def compare(given, shape, name, spec, solvers, words):
    """A row of the table; the regret."""
    seconds = {}
    auto, reason = fit(given, spec + 'solver=auto)', words)
    for solver in solvers:
        seconds[solver] = fit(given, f'{spec}solver={solver})', words)[0]
        if given.log:
            print('#', shape, name, solver, seconds[solver], flush=True)
    chosen = chosen_by_auto(solvers, reason)
    paid = auto if name == 'ridge' else seconds[chosen]
    least = min(*seconds.values(), paid)
    regret = paid / least if least < math.inf else 1.0
    common.row(shape, name, ', '.join(f'{s} {common.seconds(t) if t < math.inf else "-"}' for s, t in seconds.items()),
               chosen, common.seconds(auto) if auto < math.inf else '-', f'{regret:.2f}')
    return regret


def main():
    given = common.options(__doc__, repeats=1, longest=15.0, only='', log=False)
    regrets = []
    common.head('rows x columns', 'learner', 'solvers', 'auto takes', 'its time', 'regret')
    for shape, make in SHAPES.items():
        rng = np.random.default_rng(1)
        x = make(rng)
        f = x @ rng.standard_normal(x.shape[1])
        y = f + 0.5 * np.std(f) * rng.standard_normal(len(f))
        with tempfile.TemporaryDirectory() as name:
            numbers, classes = save(Path(name), x, y, np.where(y > np.median(y), 1, -1))
            cases = [('ridge', f'ridge(alpha={a}, ', ('normal', 'cg'), numbers) for a in (1, 0.01)]
            cases += [(f'{loss}, C={c}', f'{spec}C={c}, ', solvers, classes)
                      for loss, (spec, solvers) in CLASSIFIERS.items() for c in (0.1, 1, 10)]
            for learner, spec, solvers, words in cases:
                if given.only in f'{shape} {learner}':
                    regrets.append(compare(given, shape, learner, spec, solvers, words))
    print(f'\n{len(regrets)} cases: regret {math.exp(np.mean(np.log(regrets))):.3f} in the mean, {max(regrets):.2f} at worst')


if __name__ == '__main__':
    main()
