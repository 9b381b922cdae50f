#!/usr/bin/env python3
"""Prediction: margin against scikit-learn, one row at a time and many rows in one call.

usage: bench_predict.py [--programs FOLDER] [--columns N] [--rows N]
"""
import subprocess
import time

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

import common


def per_row(call, rows, repeats=5):
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        took.append((time.perf_counter() - start) / rows * 1e9)
    return common.median(took)


def main():
    given = common.options(__doc__, columns=20, rows=20000)
    columns, rows = given.columns, given.rows
    subprocess.run([given.programs / 'bench_predict', str(columns), str(rows)], check=True)
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, (rows, columns))
    y = (x @ (np.arange(columns) % 3 - 1) > 0).astype(int)
    for name, model in (('Perceptron', Perceptron(max_iter=5, tol=None)),
                        ('SVC(rbf)', SVC(gamma='scale'))):
        model.fit(x[:400], y[:400])
        single = per_row(lambda: [model.predict(x[i:i + 1]) for i in range(1000)], 1000)
        many = per_row(lambda: model.predict(x), rows)
        print(f'scikit-learn {name:<31} f64     2 classes  one row {single:8.1f} ns'
              f'   row of many {many:8.1f} ns')


if __name__ == '__main__':
    main()
