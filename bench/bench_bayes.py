#!/usr/bin/env python3
"""Naive Bayes: margin against scikit-learn.

usage: bench_bayes.py [--programs FOLDER] [--data FOLDER] [--repeats N] [--program MARGIN]

Gaussian on 200,000 x 100 with 2 and 20 classes, on Fashion-MNIST, and the mushrooms from CSV to a
saved model by the program. Fits and predictions in turn, medians, all cores.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

import common
from common import row, times, timed

MUSHROOMS = '''
import pandas as pd, joblib
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder
d = pd.read_csv({path!r}, dtype=str, header=0)
x = OrdinalEncoder().fit_transform(d.iloc[:, 1:])
joblib.dump(CategoricalNB().fit(x, d.iloc[:, 0]), {out!r})
'''


def compare(given, name, folder, x, y, kind):
    common.save(folder, x, y.astype(np.int64))

    def ours():
        report = common.fit(given, 'naive-bayes', folder, weights=False, type=kind, repeats=4, predict='yes')
        return report['seconds'], report
    (a, mine), (b, model) = common.in_turn(given.repeats, ours, lambda: timed(lambda: GaussianNB().fit(x, y)))
    c = mine['predict_seconds']
    d, found = timed(lambda: model.predict(x))
    row(name, common.seconds(a), common.seconds(max(a - c, 0)), common.seconds(b), times(b / a), common.seconds(c),
        common.seconds(d), times(d / c), f'{mine["train_accuracy"]:.6f}, {np.mean(found == y):.6f}')


def mushrooms(given, folder):
    path = given.data / 'categorical/agaricus-lepiota.data'
    if not path.exists() or not Path(given.program).exists():
        print(f'skipped: no {path} or no {given.program}')
        return
    words = [given.program, 'fit', 'naive-bayes', path, '--target', '1', '-o', folder / 'm.margin', '-q']
    code = MUSHROOMS.format(path=str(path), out=str(folder / 'm.joblib'))
    (a, _), (b, _) = common.in_turn(given.repeats,
                                    lambda: timed(lambda: subprocess.run(words, check=True, capture_output=True)),
                                    lambda: timed(lambda: subprocess.run([sys.executable, '-c', code], check=True)))
    row('mushrooms, CSV to saved model, whole programs', common.seconds(a), '', common.seconds(b), times(b / a), '',
        '', '', '')


def main():
    given = common.options(__doc__, repeats=3, program=str(common.HERE.parent / 'build/release/cli/margin'))
    rng = np.random.default_rng(1)
    common.head('', 'fit', 'without labelling', 'scikit-learn', '', 'label', 'scikit-learn', '', 'accuracies')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for classes in (2, 20):
            y = rng.integers(0, classes, 200000)
            x = rng.standard_normal((200000, 100)) + 0.1 * (y[:, None] * np.arange(100) % 7)
            compare(given, f'gaussian, 200,000 x 100, {classes} classes', folder, x, y, 'f64')
            compare(given, 'the same, f32', folder, x.astype(np.float32), y, 'f32')
        images = common.fashion(given.data)
        if images:
            compare(given, 'Fashion-MNIST', folder, images[0].astype(np.float64), images[1], 'f64')
        mushrooms(given, folder)


if __name__ == '__main__':
    main()
