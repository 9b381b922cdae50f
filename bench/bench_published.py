#!/usr/bin/env python3
"""Published test accuracies of support vector machines on Fashion-MNIST against those of margin.

usage: bench_published.py [--program FILE] [--threads N] [--rows N] [--only 'rbf C=100'] [--peer 1]

The rows of the authors' table (github.com/zalandoresearch/fashion-mnist, benchmark; scikit-learn's SVC with gamma = 1/784, poly of degree
3 without a constant term), all 60,000 training rows standardised by themselves, ten classes one against one, a KKT violation of 1e-3;
the linear kernel by the linear learner, whose optimum is the same. The table was made before the authors removed duplicate images.
A row: what was published, what margin finds on the 10,000 test rows, seconds of the fit, the gap it states; with --peer 1 what
scikit-learn's SVC finds by the same rows.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import common

ROWS = ((1, 'rbf', 0.879), (10, 'rbf', 0.897), (100, 'rbf', 0.890), (1, 'poly', 0.873), (10, 'poly', 0.891), (100, 'poly', 0.890),
        (1, 'sigmoid', 0.678), (10, 'sigmoid', 0.671), (100, 'sigmoid', 0.664), (1, 'linear', 0.839), (10, 'linear', 0.829))
KERNELS = {'rbf': 'kernel=rbf, gamma={g}, kkt=1e-3', 'poly': 'kernel=poly, degree=3, coef0=0, gamma={g}, kkt=1e-3',
           'sigmoid': 'kernel=sigmoid, coef0=0, gamma={g}, kkt=1e-3', 'linear': 'multiclass=ovo'}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    given = common.options(__doc__, program='build/release/cli/margin', threads=common.CORES, rows=60_000, only='', peer=0)
    program = Path(given.program).resolve()
    if not common.fashion(given.data):
        return
    x, y = common.fashion(given.data)
    q, answers = common.fashion(given.data, 't10k')
    scale = StandardScaler().fit(x.astype(np.float64))
    common.head('', 'published', 'margin', 'seconds', 'gap', 'status', *(['SVC'] if given.peer else []))
    with tempfile.TemporaryDirectory() as name:
        train, labels, test, found = (Path(name) / f for f in ('x.npy', 'y.npy', 'q.npy', 'found.npy'))
        np.save(train, scale.transform(x.astype(np.float64))[:given.rows].astype(np.float32))
        np.save(labels, y[:given.rows].astype(np.int64))
        np.save(test, scale.transform(q.astype(np.float64)).astype(np.float32))
        np.save(found, answers.astype(np.int64))
        for C, kernel, published in ROWS:
            if given.only not in f'{kernel} C={C}':
                continue
            spec = f'svm({KERNELS[kernel].format(g=1 / 784)}, C={C})'
            began = time.perf_counter()
            report = run(program, 'fit', spec, train, '--labels', labels, '-o', Path(name) / 'model', '--json', '--threads', given.threads)
            seconds = time.perf_counter() - began
            judged = run(program, 'evaluate', Path(name) / 'model', test, '--labels', found, '--json', '--threads', given.threads)
            gap = 'none' if report['gap'] is None else f'{report["gap"]:.2g}'
            words = ()
            if given.peer:
                rows = np.load(train)
                words = (f'{SVC(C=C, kernel=kernel, gamma=1 / 784, cache_size=2000).fit(rows, y[:given.rows]).score(np.load(test), answers):.4f}',)
            common.row(f'SVC {kernel} C={C}', f'{published:.3f}', f'{judged["accuracy"]:.4f}', common.seconds(seconds), gap, report['status'], *words)
            sys.stdout.flush()


if __name__ == '__main__':
    main()
