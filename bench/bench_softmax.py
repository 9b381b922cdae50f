#!/usr/bin/env python3
"""Softmax regression on Fashion-MNIST: margin against scikit-learn's lbfgs.

usage: bench_softmax.py [--programs FOLDER] [--data FOLDER] [--repeats N] [--iterations N]

60,000 x 784 pixels in [0, 1] as f32, 10 classes, C=1. Both sides with all cores; the objectives are
computed here in f64, from the weights of each side. """
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import common


def objective(x, y, w, b):
    total = 0.0
    for at in range(0, len(y), 10000):
        f = x[at:at + 10000].astype(np.float64) @ w.T.astype(np.float64) + b
        most = f.max(1)
        own = f[np.arange(len(f)), y[at:at + 10000]]
        total += (np.log(np.exp(f - most[:, None]).sum(1)) + most - own).sum()
    return total + 0.5 * (w.astype(np.float64) ** 2).sum()


def main():
    given = common.options(__doc__, repeats=5, iterations=200)
    images = common.fashion(given.data)
    if not images:
        return
    warnings.filterwarnings('ignore')
    x, y = (images[0] / np.float32(255)).astype(np.float32), images[1]
    common.head('', 'seconds', 'steps', 'proven gap', 'objective')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        common.save(folder, x, y.astype(np.int32))
        for tol in ('1e-3', '1e-6'):
            mine = common.fit(given, f'softmax(tol={tol})', folder, type='f32', repeats=given.repeats)
            w = mine['weights']
            common.row(f'margin, tol={tol}', common.seconds(mine['seconds']), mine['steps'], f'{mine["gap"]:.0e}',
                       f'{objective(x, y, w[:, :-1], w[:, -1]):.6f}')
    model = LogisticRegression(C=1, max_iter=given.iterations, tol=1e-12)
    seconds, _ = common.timed(lambda: model.fit(x, y))
    common.row('scikit-learn lbfgs', common.seconds(seconds), model.n_iter_[0], '',
               f'{objective(x, y, model.coef_, model.intercept_):.6f}')


if __name__ == '__main__':
    main()
