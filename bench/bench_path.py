#!/usr/bin/env python3
"""Twenty ridge penalties: margin's path against twenty of its fits and scikit-learn's RidgeCV.

usage: bench_path.py BENCH_PATH [--rows N] [--columns N] [--repeats N]

RidgeCV chooses by the same leave-one-out error; its best penalty is compared with ours.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeCV


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=5)
    a = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.standard_normal((a.rows, a.columns))
    y = x @ rng.standard_normal(a.columns) + 3 + 5 * rng.standard_normal(a.rows)
    alphas = np.logspace(-3, 3, 20)
    times = {'path': [], 'fits': [], 'cv': []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / 'x.npy', x)
        np.save(folder / 'y.npy', y)
        out = subprocess.run([a.program, 'ridge(alpha={1e-3..1e3 log 20})', folder / 'x.npy', folder / 'y.npy',
                              str(a.repeats + 1)], check=True, capture_output=True, text=True).stdout.split('\n')
        for line in out[1:a.repeats + 1]:
            path, fits = map(float, line.split())
            times['path'].append(path)
            times['fits'].append(fits)
        for _ in range(min(a.repeats, 3)):
            start = time.perf_counter()
            model = RidgeCV(alphas=alphas).fit(x, y)
            times['cv'].append(time.perf_counter() - start)
    path, fits, cv = (1e3 * statistics.median(times[side]) for side in ('path', 'fits', 'cv'))
    print(f'{a.rows} x {a.columns}, 20 penalties: path {path:.1f} ms, 20 fits {fits:.1f} ms ({fits / path:.1f}x), '
          f'RidgeCV {cv:.1f} ms ({cv / path:.1f}x)   best: {out[a.repeats + 1]}, RidgeCV alpha {model.alpha_:.6g} '
          f'{(-model.best_score_) ** 0.5:.12g}')


if __name__ == '__main__':
    main()
