#!/usr/bin/env python3
"""Logistic regression, dense: margin against scikit-learn's solvers and LIBLINEAR alone.

usage: bench_logistic.py [--programs FOLDER] [--rows N] [--repeats N] [--no-liblinear]

ROWS x 100 and a tenth of the rows x 1000, f64 and f32, C = 1 and 0.001. Both sides get the same data
and fit in turn; medians of whole fits, all cores. The objectives are computed here in f64 from the
weights of each side. liblinear-train penalises the intercept as a weight of a column of ones; its
seconds are those of the processor, less those of a run that stops at once: no reading.
"""
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import common
import liblinear


def objective(x, y, w, b, c):
    return c * np.logaddexp(0, -y * (x @ w + b)).sum() + w @ w / 2


def compare(given, x, y, c, folder, peer):
    name = f'{x.shape[0]} x {x.shape[1]}, C={c:g}'
    base = None
    for kind in ('f64', 'f32'):
        mine = common.fit(given, f'logistic(C={c})', folder, type=kind, repeats=given.repeats)
        base = base or mine['seconds']
        w = mine['weights'][0]
        common.row(f'margin, {name}, {kind}', common.seconds(mine['seconds']), mine['steps'], f'{mine["gap"]:.0e}',
                   f'{objective(x, y, w[:-1], w[-1], c):.10g}', '')
    for solver in ('lbfgs', 'newton-cholesky'):
        model = LogisticRegression(C=c, solver=solver, max_iter=1000)
        (seconds, _), = common.in_turn(given.repeats if x.shape[1] < 500 else 1,
                                       lambda: common.timed(lambda: model.fit(x, y)))
        common.row(f'scikit-learn {solver}', common.seconds(seconds), model.n_iter_[0], '',
                   f'{objective(x, y, model.coef_[0], model.intercept_[0], c):.10g}', common.times(seconds / base))
    for kind in (0, 7) if peer and c == 1 else ():
        seconds, w, b = peer.train(kind, c)
        common.row(f'LIBLINEAR `train -s {kind}`', common.seconds(seconds), '', '', f'{objective(x, y, w, b, c):.10g}',
                   common.times(seconds / base))


def main():
    warnings.simplefilter('ignore')
    given = common.options(__doc__, rows=200000, repeats=3, no_liblinear=False)
    common.head('', 'seconds', 'steps', 'proven gap', 'objective', 'margin f64 against it')
    for columns in (100, 1000):
        x, y = common.noisy_labels(np.random.default_rng(0), given.rows * 100 // columns, columns)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            common.save(folder, x, y)
            peer = liblinear.Peer(given, folder) if liblinear.PROGRAM and not given.no_liblinear else None
            for c in (1.0, 0.001):
                compare(given, x, y, c, folder, peer)


if __name__ == '__main__':
    main()
