#!/usr/bin/env python3
"""Naive Bayes: margin against scikit-learn.

usage: bench_bayes.py BENCH_BAYES [--data FOLDER] [--repeats N] [--program MARGIN]

Gaussian on 200,000 x 100 with 2 and 20 classes, on Fashion-MNIST, and the mushrooms from CSV to a
saved model by the program. Fits and predictions in turn, medians, all cores.
"""
import argparse
import gzip
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

MUSHROOMS = '''
import pandas as pd, joblib
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder
d = pd.read_csv({path!r}, dtype=str, header=0)
x = OrdinalEncoder().fit_transform(d.iloc[:, 1:])
joblib.dump(CategoricalNB().fit(x, d.iloc[:, 0]), {out!r})
'''


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def compare(name, program, folder, x, y, kind, repeats):
    np.save(folder / 'x.npy', x)
    np.save(folder / 'y.npy', y.astype(np.int64))
    fits, labels, their_fits, their_labels = [], [], [], []
    for _ in range(repeats):
        out = subprocess.run([program, 'naive-bayes', folder / 'x.npy', folder / 'y.npy', kind, '5'],
                             check=True, capture_output=True, text=True).stdout.split('\n')
        fit, label, accuracy = map(float, out[4].split())
        fits.append(fit)
        labels.append(label)
        took, model = timed(lambda: GaussianNB().fit(x, y))
        their_fits.append(took)
        took, found = timed(lambda: model.predict(x))
        their_labels.append(took)
    a, b, c, d = (1e3 * statistics.median(v) for v in (fits, their_fits, labels, their_labels))
    print(f'{name:28s} fit {a:7.1f} ms, {b:7.1f} ms, {b / a:5.1f}x   label {c:7.1f} ms, {d:7.1f} ms, '
          f'{d / c:5.1f}x   accuracy {accuracy:.6f} {np.mean(found == y):.6f}', flush=True)


def images(folder):
    read = lambda name, skip: np.frombuffer(gzip.open(folder / name).read(), np.uint8, offset=skip)
    x = read('train-images-idx3-ubyte.gz', 16).reshape(-1, 784).astype(np.float64)
    return x, read('train-labels-idx1-ubyte.gz', 8)


def mushrooms(program, path, folder, repeats):
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(timed(lambda: subprocess.run(
            [program, 'fit', 'naive-bayes', path, '--target', '1', '-o', folder / 'm.margin', '-q'],
            check=True, capture_output=True))[0])
        code = MUSHROOMS.format(path=str(path), out=str(folder / 'm.joblib'))
        theirs.append(timed(lambda: subprocess.run([sys.executable, '-c', code], check=True))[0])
    a, b = (1e3 * statistics.median(v) for v in (ours, theirs))
    print(f'{"mushrooms, CSV to model":28s} {a:7.1f} ms, {b:7.1f} ms, {b / a:5.1f}x')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('bench')
    parser.add_argument('--data', type=Path, default=Path('../shared/data'))
    parser.add_argument('--program')
    parser.add_argument('--repeats', type=int, default=3)
    a = parser.parse_args()
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for classes in (2, 20):
            y = random.integers(0, classes, 200000)
            x = random.standard_normal((200000, 100)) + 0.1 * (y[:, None] * np.arange(100) % 7)
            compare(f'200,000 x 100, {classes} classes, f64', a.bench, folder, x, y, 'f64',
                    a.repeats)
            compare('the same, f32', a.bench, folder, x.astype(np.float32), y, 'f32', a.repeats)
        fashion = a.data / 'images/fashion-mnist'
        if fashion.exists():
            compare('Fashion-MNIST, f64', a.bench, folder, *images(fashion), 'f64', a.repeats)
        path = a.data / 'categorical/agaricus-lepiota.data'
        if a.program and path.exists():
            mushrooms(a.program, path, folder, a.repeats)


if __name__ == '__main__':
    main()
