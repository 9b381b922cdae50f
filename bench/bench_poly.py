#!/usr/bin/env python3
"""A polynomial of the columns behind a linear learner: seconds, and memory at most over the data's.

usage: bench_poly.py [--programs FOLDER] [--rows N] [--columns N] [--degree N] [--threads N] [--repeats N]

The same table, made once, goes to margin and to scikit-learn (PolynomialFeatures, StandardScaler and
Ridge(solver='cholesky'), which store the features). Each fit runs in a process of its own, whose peak
is counted in full, the program and its libraries as they are before the fit set apart.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import common

PEER = '''
import json, resource, sys, time
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
folder, degree, scaled = sys.argv[1], int(sys.argv[2]), sys.argv[3] == 'scaled'
x, y = np.load(folder + '/x.npy'), np.load(folder + '/y.npy')
small = x[:1000]
make_pipeline(PolynomialFeatures(1), StandardScaler(), Ridge()).fit(small, y[:1000])  # its libraries
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
start = time.perf_counter()
steps = [PolynomialFeatures(degree)] + [StandardScaler()] * scaled + [Ridge(alpha=1, solver='cholesky')]
model = make_pipeline(*steps).fit(x, y)
seconds = time.perf_counter() - start
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
print(json.dumps({'seconds': seconds, 'more_bytes': more, 'r2': model.score(x[:20000], y[:20000])}))
'''


def make(folder, rows, columns):
    random = np.random.default_rng(5)
    x = random.standard_normal((rows, columns))
    y = x[:, 0] * x[:, 1] - x[:, 2] ** 2 + x[:, 3] + random.standard_normal(rows) / 10
    np.save(folder / 'x.npy', x)
    np.save(folder / 'y.npy', y)
    return x.nbytes


def peer(folder, given, scaled):
    words = [sys.executable, '-c', PEER, str(folder), str(given.degree), 'scaled' if scaled else 'plain']
    runs = [json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
            for _ in range(given.repeats)]
    return common.median(r['seconds'] for r in runs), max(r['more_bytes'] for r in runs)


def margin(folder, given, spec):
    runs = [common.fits(given, spec, folder / 'x.npy', labels=folder / 'y.npy', threads=given.threads, warm=False)[0]
            for _ in range(given.repeats)]
    return common.median(r['seconds'] for r in runs), max(r['more_bytes'] for r in runs)


def main():
    given = common.options(__doc__, rows=200000, columns=30, degree=2, threads=common.CORES, repeats=3)
    common.head('', 'data', 'seconds', 'peak / data', 'scikit-learn: seconds', 'peak / data', 'times faster')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make(folder, given.rows, given.columns)
        for scaled in (False, True):
            spec = f'poly(degree={given.degree}) | ' + 'standardize | ' * scaled + 'ridge'
            seconds, more = margin(folder, given, spec)
            peer_seconds, peer_more = peer(folder, given, scaled)
            common.row(f'`{spec}`', f'{data / 1e6:.0f} MB', f'{seconds:.2f}', f'{1 + more / data:.2f}',
                       f'{peer_seconds:.2f}', f'{1 + peer_more / data:.1f}', f'{peer_seconds / seconds:.1f}')


if __name__ == '__main__':
    main()
