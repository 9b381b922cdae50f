#!/usr/bin/env python3
"""Linear support vector machines: margin against LIBLINEAR, as it is in scikit-learn and alone.

usage: bench_svm.py [--programs FOLDER] [--rows N] [--columns N] [--repeats N] [--alone]

Random normal columns and a noisy linear label. Both sides fit hinge and squared hinge at C = 1;
every objective is computed here with NumPy from the weights, the intercept free, though LIBLINEAR
penalises it (its value here differs by less than 1e-6 for that). margin stops at a proven gap;
LIBLINEAR at its own default, which proves nothing. --alone also runs liblinear-train (the time it
takes without reading the file is that of the processor, less that of a run of one iteration).
"""
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

import common
import liblinear


def objective(x, y, w, b, squared):
    short_of = np.maximum(0, 1 - y * (x @ w + b))
    return float((short_of ** 2 if squared else short_of).sum() + 0.5 * w @ w)


def peers(given, loss, x, y, base, alone):
    model = LinearSVC(loss=loss.replace('-', '_'), dual=True if loss == 'hinge' else 'auto')
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        seconds, _ = common.timed(lambda: model.fit(x, y))
    common.row(f'{loss}, scikit-learn LinearSVC', common.seconds(seconds), model.n_iter_,
               'none' if not said else 'did not converge',
               f'{objective(x, y, model.coef_[0], float(model.intercept_[0]), loss != "hinge"):.4f}',
               common.times(seconds / base))
    if alone:
        kind = 3 if loss == 'hinge' else 2
        seconds, w, b = alone.train(kind)
        common.row(f'{loss}, `train -s {kind}`', common.seconds(seconds), '', 'none',
                   f'{objective(x, y, w, b, loss != "hinge"):.4f}', common.times(seconds / base))


def main():
    given = common.options(__doc__, rows=200_000, columns=100, repeats=5, alone=False, no_peers=False)
    x, y = common.noisy_labels(np.random.default_rng(1), given.rows, given.columns, 1.5, 0.3)
    common.head('', 'seconds', 'steps', 'proven gap', 'objective', 'margin f64, tol 1e-4 against it')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        common.save(folder, x, y.astype(np.int64))
        alone = liblinear.Peer(given, folder) if given.alone else None
        for loss in ('hinge', 'squared-hinge'):
            base = None
            for kind in ('f64', 'f32'):
                for tol in ('1e-4', '1e-6'):
                    mine = common.fit(given, f'svm(loss={loss}, tol={tol})', folder, type=kind, repeats=given.repeats)
                    base = base or mine['seconds']
                    w = mine['weights'][0]
                    common.row(f'{loss}, {kind}, tol {tol}', common.seconds(mine['seconds']), mine['steps'],
                               f'{mine["gap"]:.1e}', f'{objective(x, y, w[:-1], w[-1], loss != "hinge"):.4f}', '')
            if not given.no_peers:
                peers(given, loss, x, y, base, alone)


if __name__ == '__main__':
    main()
