#!/usr/bin/env python3
"""L1 penalties: margin against scikit-learn's liblinear, saga and Lasso.

usage: bench_l1.py [--programs FOLDER] [--rows N] [--repeats N]

Both sides get the same dense data and fit in turn; medians of whole fits, margin with all cores.
liblinear and saga use one thread. The objectives are computed here, from the weights of each side;
the penalties are named as the peers do (C_peer = 2 C, alpha_peer = lambda / 2).
"""
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression

import common


def logistic(x, y, w, b, c):
    return c * np.logaddexp(0, -y * (x @ w + b)).sum() + np.abs(w).sum()


def lasso(x, y, w, b, penalty):
    return np.mean((x @ w + b - y) ** 2) + 2 * penalty * np.abs(w).sum()


def compare(given, name, spec, folder, peer, model, x, y, objective):
    def ours():
        report = common.fit(given, spec, folder)
        return report['seconds'], report
    (a, mine), (b, _) = common.in_turn(given.repeats, ours, lambda: common.timed(lambda: model.fit(x, y)))
    w = mine['weights'][0]
    values = [objective(x, y, *p) for p in ((w[:-1], w[-1]),
                                            (np.ravel(model.coef_), np.ravel(model.intercept_)[0]))]
    common.row(name, f'{common.seconds(a)} ({mine["gap"]:.0e})', f'{peer} {common.seconds(b)}', common.times(b / a),
               f'{values[0]:.10g}, {values[1]:.10g}')


def main():
    warnings.simplefilter('ignore')
    given = common.options(__doc__, rows=200000, repeats=3)
    rng = np.random.default_rng(1)
    common.head('', 'margin (gap)', 'peer', 'ratio', 'objectives')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        x = rng.standard_normal((given.rows, 100))
        w = np.where(rng.random(100) < 0.3, rng.standard_normal(100), 0)
        y = np.where(x @ w + rng.logistic(size=given.rows) > 0, 1.0, -1.0)
        common.save(folder, x, y)
        for solver in ('liblinear', 'saga'):
            model = LogisticRegression(C=0.01, l1_ratio=1, solver=solver, max_iter=200)
            compare(given, f'logistic {given.rows} x 100, C=0.01', 'logistic(C=0.005, l1_ratio=1)', folder, solver,
                    model, x, y, lambda *p: logistic(*p, 0.01))
        x = rng.standard_normal((given.rows // 10, 1000))
        x[:, 1:] += 0.5 * x[:, :-1]
        w = np.zeros(1000)
        w[rng.choice(1000, 50, replace=False)] = rng.standard_normal(50)
        y = x @ w + 3 + 2 * rng.standard_normal(len(x))
        common.save(folder, x, y)
        for penalty in (0.1, 0.01):
            compare(given, f'lasso {len(x)} x 1000, lambda={penalty}', f'lasso(lambda={2 * penalty})', folder,
                    'Lasso', Lasso(alpha=penalty, tol=1e-6), x, y, lambda *p, penalty=penalty: lasso(*p, penalty))


if __name__ == '__main__':
    main()
