#!/usr/bin/env python3
"""k-means: margin against scikit-learn.

usage: bench_kmeans.py BENCH_KMEANS [--rows N] [--columns N] [--k N] [--repeats N]

50 iterations at most, from each side's own k-means++ and from the same given rows; clusters that are
apart, and none at all. All cores, f64, medians.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans


def ours(program, spec, path):
    out = subprocess.run([program, spec, path, 'f64', '1'], check=True, capture_output=True,
                         text=True).stdout.split()
    return float(out[0]), float(out[1]), int(out[2])


def theirs(x, k, start):
    begun = time.perf_counter()
    model = KMeans(k, n_init=1, max_iter=50, tol=0, init=start, random_state=0).fit(x)
    return time.perf_counter() - begun, model.inertia_, model.n_iter_


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('bench')
    for name, value in (('rows', 200000), ('columns', 50), ('k', 100), ('repeats', 3)):
        parser.add_argument('--' + name, type=int, default=value)
    a = parser.parse_args()
    random = np.random.default_rng(0)
    centres = 1.5 * random.standard_normal((a.k, a.columns))
    noise = random.standard_normal((a.rows, a.columns))
    shapes = {'clusters': centres[random.integers(0, a.k, a.rows)] + noise, 'no clusters': noise}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / 'x.npy'
        for shape, x in shapes.items():
            np.save(path, x)
            given = x[:a.k]
            text = ' '.join(repr(float(v)) for v in given.ravel())
            for start, spec, init in (
                    ('k-means++', f'kmeans(k={a.k}, restarts=1, max_iter=50)', 'k-means++'),
                    ('given rows', f'kmeans(k={a.k}, max_iter=50, centres="{text}")', given)):
                mine, peer = [], []
                for _ in range(a.repeats):
                    mine.append(ours(a.bench, spec, path))
                    peer.append(theirs(x, a.k, init))
                m, t = (statistics.median(v[0] for v in side) for side in (mine, peer))
                print(f'{shape:12s} {start:11s} margin {m:6.3f} s  scikit-learn {t:6.3f} s '
                      f'{t / m:5.1f}x   inertia {mine[0][1]:.8g} {peer[0][1]:.8g}   iterations '
                      f'{mine[0][2]} {peer[0][2]}', flush=True)


if __name__ == '__main__':
    main()
