#!/usr/bin/env python3
"""Kernel support vector machines: margin against LIBSVM's svm-train and scikit-learn's SVC.

usage: bench_kernel_svm.py [--program FILE] [--rows N] [--columns N] [--repeats N] [--threads N]
                           [--images N] [--text N] [--no-peers]

Two classes of make_classification (20 informative columns of 50, 5 % of the labels turned), rbf with
gamma = 1/columns, C = 1 and 100; and, with --images, so many rows of Fashion-MNIST in ten classes, one against one, C = 10: standardised with
gamma = 1/784, and as pixels of 0 to 1 with gamma = 1/(784 variance); and, with --text, so many articles of 20 Newsgroups as tf-idf, the first ten groups against the
others, C = 10, gamma = 1. Then the classes of (at most 10,000 of) the rows are predicted by margin, on one thread and on all, and by SVC. Everybody stops at a KKT violation of 1e-3. Times are of whole programs,
reading included, by the wall clock and of the processor (which other jobs on the machine disturb
less); the least of the repeats, each with memory at hand (common.warm_memory). The dual objective of margin is P - gap max(1, P). Memory: peak, of what was announced before the start.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bench_sparse
import common


def measure(words, repeats):
    """Least wall and processor seconds of a program, and what it printed."""
    best = [float('inf'), float('inf')]
    for _ in range(repeats):
        common.warm_memory()
        before, started = os.times(), time.perf_counter()
        out = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wall, after = time.perf_counter() - started, os.times()
        if out.returncode not in (0, 3):
            sys.exit(f'{words[0]} failed')
        used = after.children_user + after.children_system - before.children_user - before.children_system
        best = [min(best[0], wall), min(best[1], used)]
    return best, out.stdout


def show(name, seconds, base, objective, support):
    common.row(name, common.seconds(seconds[0]), common.seconds(seconds[1]), objective, support,
               common.times(seconds[0] / base[0]), common.times(seconds[1] / base[1]))


def mine(given, folder, spec, data):
    words = [given.program, 'fit', spec, *data, '-o', folder / 'model', '--threads', given.threads, '--json']
    seconds, out = measure(words, given.repeats)
    report = json.loads(out)
    dual = report['objective'] - report['gap'] * max(1, report['objective'])
    memory = report['peak_memory'] / report['announced_memory'] if report.get('announced_memory') else float('nan')
    return seconds, f'{dual:.4f}', f'{int(report["support_vectors"])} (memory {memory:.2f})'


def predicted(given, folder, data, model, x):
    """Classes of some rows, by margin (its start and reading taken off) and by SVC, which takes one thread."""
    if model is not None:
        common.warm_memory()
        before, started = os.times(), time.perf_counter()
        model.predict(x)
        after = os.times()
        other = (time.perf_counter() - started, after.user + after.system - before.user - before.system)
    for threads in dict.fromkeys((1, given.threads)):
        empty, _ = measure([given.program, 'check', *data, '--threads', threads], given.repeats)
        seconds, _ = measure([given.program, 'predict', folder / 'model', *data, '--threads', threads], given.repeats)
        seconds = [max(a - b, 1e-3) for a, b in zip(seconds, empty)]
        show(f'predict, margin, threads: {threads}', seconds, seconds, '', '')
        if model is not None:
            show('predict, SVC', other, seconds, '', '')


def libsvm(folder, x, y, C, gamma, repeats):
    dump_svmlight_file(x, y, str(folder / 'libsvm'), zero_based=False)
    seconds, out = measure(['svm-train', '-c', C, '-g', gamma, '-m', 4000, folder / 'libsvm', folder / 'm'], repeats)
    duals = [-float(line.split('=')[1].split(',')[0]) for line in out.splitlines() if line.startswith('obj')]
    total = [line.split('=')[1] for line in out.splitlines() if line.startswith('Total')] or ['']
    return seconds, f'{sum(duals):.4f}', total[0].strip()


def scikit(x, y, C, gamma):
    model = SVC(C=C, gamma=gamma, cache_size=4000)
    common.warm_memory()
    before, started = os.times(), time.perf_counter()
    model.fit(x, y)
    after = os.times()
    used = after.user + after.system - before.user - before.system
    return (time.perf_counter() - started, used), '', int(model.n_support_.sum()), model


def write(folder, x, y):
    """A table for margin; what names it on the command line."""
    if hasattr(x, 'indptr'):
        dump_svmlight_file(x, y, str(folder / 'x.svm'), zero_based=False)
        return [folder / 'x.svm']
    np.save(folder / 'x.npy', x)
    np.save(folder / 'y.npy', y.astype(np.int64))
    return [folder / 'x.npy', '--labels', folder / 'y.npy']


def compare(given, title, x, y, C, gamma):
    with tempfile.TemporaryDirectory() as name:
        folder, model = Path(name), None
        data = write(folder, x, y)
        base, dual, support = mine(given, folder, f'svm(kernel=rbf, C={C}, gamma={gamma}, kkt=1e-3)', data)
        show(f'{title}, margin, {given.threads} threads', base, base, dual, support)
        if not given.no_peers:
            if shutil.which('svm-train'):
                seconds, dual, support = libsvm(folder, x, y, C, gamma, 1)
                show(f'{title}, svm-train', seconds, base, dual, support)
            seconds, dual, support, model = scikit(x.astype(np.float64), y, C, gamma)
            show(f'{title}, SVC', seconds, base, dual, support)
        some = x[:10_000]
        predicted(given, folder, write(folder, some, y[:10_000]), model, some.astype(np.float64))


def news(folder, count):
    x, y = bench_sparse.news(folder)
    chosen = np.random.default_rng(0).permutation(len(y))[:count]
    return x[chosen], np.where(y[chosen] < 10, 1, -1)


def main():
    given = common.options(__doc__, program='build/release/cli/margin', rows=20_000, columns=50, repeats=3,
                           threads=common.CORES, images=0, text=0, no_peers=False)
    given.program = Path(given.program).resolve()
    common.head('', 'wall s', 'processor s', 'dual objective', 'support vectors', 'wall', 'processor')
    if given.text:
        compare(given, f'20 Newsgroups {given.text}, C=10', *news(given.data, given.text), 10, 1)
    x, y = make_classification(given.rows, given.columns, n_informative=20, n_redundant=5, flip_y=.05, random_state=0)
    x = StandardScaler().fit_transform(x).astype(np.float32)
    for C in (1, 100):
        compare(given, f'{given.rows} x {given.columns}, C={C}', x, y, C, 1 / given.columns)
    if given.images:
        pixels, y = common.fashion(given.data)
        x = StandardScaler().fit_transform(pixels.astype(np.float64))[:given.images].astype(np.float32)
        compare(given, f'Fashion-MNIST {given.images}, standardised, C=10', x, y[:given.images], 10, 1 / x.shape[1])
        x = (pixels[:given.images] / 255).astype(np.float32)
        compare(given, f'Fashion-MNIST {given.images}, pixels, C=10', x, y[:given.images], 10, 1 / (x.shape[1] * float(x.var())))


if __name__ == '__main__':
    main()
