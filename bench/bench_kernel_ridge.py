#!/usr/bin/env python3
"""Kernel ridge: margin against scikit-learn's KernelRidge, one fit and a grid of penalties.

usage: bench_kernel_ridge.py [--programs FOLDER] [--rows N] [--columns N] [--grid N] [--repeats N]

Both sides get the same data, kernel and penalty, in turn; medians. "fit" is the whole fit with default
options (conjugate gradients beyond 2048 rows, the proof and the training rows' predictions included);
the objective is worked out here in f64 from predictions and coefficients of either side. "grid" is 20
penalties: GridSearchCV with 5 folds there; here `margin cv` with 5 folds (other ones), and `margin path` with exact errors at rows left out. CPU
seconds stand beside the others, as they vary less on a busy machine.
"""
import json
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import common
from common import median

PENALTIES = np.logspace(-3, 1, 20)


def data_of(folder, rows, columns, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    y = np.sin(x[:, 0]) + x[:, 1] ** 2 + 0.1 * random.normal(size=rows)
    np.save(folder / 'x.npy', x)
    np.save(folder / 'y.npy', y)
    return x, y, 1 / (columns * x.var())


def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(work, who):
    start, before = time.perf_counter(), cpu(who)
    result = work()
    return result, time.perf_counter() - start, cpu(who) - before


def program(given, *words):
    return json.loads(common.run(given.programs.parent / 'cli/margin', *words, '--json', '--quiet'))


def one_fit(given, folder):
    x, y, gamma = data_of(folder, given.rows, given.columns, 1)
    mine, theirs = [], []
    for _ in range(given.repeats):
        report, took, used = timed(lambda: program(given, 'fit', 'kernel-ridge(task=regress)', folder / 'x.npy',
                                                   '--labels', folder / 'y.npy'), resource.RUSAGE_CHILDREN)
        mine.append((report['seconds']['fit'], used, report['objective'], report['gap']))
        model, took, used = timed(lambda: KernelRidge(alpha=1, kernel='rbf', gamma=gamma).fit(x, y),
                                  resource.RUSAGE_SELF)
        theirs.append((took, used))
    f = model.predict(x)
    objective = float(((f - y) ** 2).sum() + model.dual_coef_ @ f)
    a, b = (median(t[0] for t in side) for side in (mine, theirs))
    c, d = (median(t[1] for t in side) for side in (mine, theirs))
    common.row(f'{given.rows} x {given.columns}', common.seconds(a), common.seconds(b), common.times(b / a),
               common.seconds(c), common.seconds(d), common.times(d / c),
               f'{mine[-1][2]:.9g} (gap {mine[-1][3]:.1e}), {objective:.9g}')


def grid(given, folder):
    x, y, gamma = data_of(folder, given.grid, given.columns, 2)
    spec = 'kernel-ridge(alpha={%s}, gamma=%r, task=regress)' % (','.join(repr(float(p)) for p in PENALTIES), float(gamma))
    table, folds, folds_cpu = timed(lambda: program(given, 'cv', spec, folder / 'x.npy', '--labels', folder / 'y.npy', '--metric', 'mse',
                                                    '-k', 5), resource.RUSAGE_CHILDREN)
    path, mine, mine_cpu = timed(lambda: program(given, 'path', spec, folder / 'x.npy', '--labels', folder / 'y.npy'),
                                 resource.RUSAGE_CHILDREN)
    search = GridSearchCV(KernelRidge(kernel='rbf', gamma=gamma), {'alpha': PENALTIES}, cv=5,
                          scoring='neg_mean_squared_error')
    _, theirs, theirs_cpu = timed(lambda: search.fit(x, y), resource.RUSAGE_SELF)
    mine = path['seconds']['path']
    best = path['points'][path['best']]['alpha']
    common.row(f'grid, {given.grid} x {given.columns}, 5 folds', common.seconds(table['seconds']['search']), common.seconds(theirs),
               common.times(theirs / table['seconds']['search']), common.seconds(folds_cpu), common.seconds(theirs_cpu),
               common.times(theirs_cpu / folds_cpu), f'best {table["best_spec"]}')
    common.row(f'grid, {given.grid} x {given.columns}', common.seconds(mine), common.seconds(theirs),
               common.times(theirs / mine), common.seconds(mine_cpu), common.seconds(theirs_cpu),
               common.times(theirs_cpu / mine_cpu), f'best alpha {best:.3g}, {search.best_params_["alpha"]:.3g}')


def main():
    given = common.options(__doc__, rows=10000, columns=50, grid=2000, repeats=5)
    print(f'{common.CORES} cores, OPENBLAS_NUM_THREADS={os.environ.get("OPENBLAS_NUM_THREADS", "default")}')
    common.head('', 'margin', 'scikit-learn', '', 'margin CPU', 'scikit-learn CPU', '', 'objective')
    with tempfile.TemporaryDirectory() as folder:
        one_fit(given, Path(folder))
        grid(given, Path(folder))


if __name__ == '__main__':
    main()
