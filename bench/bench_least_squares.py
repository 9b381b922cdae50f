#!/usr/bin/env python3
"""Least squares, ridge and paths of penalties: margin against scikit-learn.

usage: bench_least_squares.py [--programs FOLDER] [--rows N] [--columns N] [--targets N] [--repeats N]

Both sides get the same dense data and fit in turn; medians of whole fits, all cores. One target,
several at once, and twenty penalties: margin's path and twenty of its fits against RidgeCV (which
chooses by the same leave-one-out error) and twenty fits of Ridge. The objectives are computed here,
from the weights of each side.
"""
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV

import common
from common import row, times, timed


def objective(x, y, w, b, alpha):
    w = np.asarray(w, dtype=np.float64)
    r = y - (x @ w.T + b)
    return float((r * r).sum() + alpha * (w * w).sum())


def compare(given, name, spec, folder, kind, model, x, y, alpha):
    words = {'targets': folder / 'y.npy'} if y.ndim > 1 else {}

    def ours():
        report = common.fit(given, spec, folder, type=kind, repeats=2, **words)
        return report['seconds'], report
    model.fit(x, y)
    (a, mine), (b, _) = common.in_turn(given.repeats, ours, lambda: timed(lambda: model.fit(x, y)))
    w = mine['weights'] if y.ndim > 1 else mine['weights'][0]
    wide = x.astype(np.float64)
    row(name, common.seconds(a), common.seconds(b), times(b / a),
        f'{objective(wide, y, w[..., :-1], w[..., -1], alpha):.12g}, '
        f'{objective(wide, y, model.coef_, model.intercept_, alpha):.12g}')


def path(given, folder, x, y):
    alphas = np.logspace(-3, 3, 20)
    common.save(folder, x, y)
    ours = common.fits(given, 'ridge(alpha={1e-3..1e3 log 20})', folder / 'x.npy', repeats=given.repeats, path='yes',
                       labels=folder / 'y.npy')
    mine, fits = (common.median(r[which] for r in ours) for which in ('seconds', 'fits_seconds'))
    cv, model = timed(lambda: RidgeCV(alphas=alphas).fit(x, y))
    loop, _ = timed(lambda: [Ridge(alpha=alpha, solver='cholesky').fit(x, y) for alpha in alphas])
    best = float(ours[0]['best'].split('=')[1].rstrip(')'))
    size = f'{given.rows} x {given.columns}, 20 penalties'
    answers = (f'best {best:.6g}, {model.alpha_:.6g}; leave-one-out error {ours[0]["best_rmse"]:.10g}, '
               f'{(-model.best_score_) ** 0.5:.10g}')
    row(f'path {size}, against RidgeCV', common.seconds(mine), common.seconds(cv), times(cv / mine), answers)
    row(f'path {size}, against 20 x Ridge', common.seconds(mine), common.seconds(loop), times(loop / mine), '')
    row(f'20 fits {size}, against 20 x Ridge', common.seconds(fits), common.seconds(loop), times(loop / fits), '')


def main():
    given = common.options(__doc__, rows=200000, columns=100, targets=10, repeats=3)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((given.rows, given.columns))
    y = x @ rng.standard_normal(given.columns) + 3 + 5 * rng.standard_normal(given.rows)
    many = (x @ rng.standard_normal((given.columns, given.targets)) + np.arange(given.targets) +
            5 * rng.standard_normal((given.rows, given.targets)))
    fifth = given.columns // 5
    dependent = x.copy()
    dependent[:, -fifth:] = x[:, :fifth] + x[:, fifth:2 * fifth]
    common.head('', 'margin', 'scikit-learn', '', 'objectives')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, data, target, kind in (
                ('', x, y, 'f64'), (', f32', x.astype(np.float32), y, 'f32'),
                (', dependent columns', dependent, y, 'f64'), (f', {given.targets} targets', x, many, 'f64')):
            common.save(folder, data, target)
            size = f'{given.rows} x {given.columns}{label}'
            compare(given, f'least squares {size}', 'least-squares', folder, kind, LinearRegression(), data, target, 0)
            compare(given, f'ridge {size}', 'ridge', folder, kind, Ridge(alpha=1, solver='cholesky'), data, target, 1)
        path(given, folder, x, y)


if __name__ == '__main__':
    main()
