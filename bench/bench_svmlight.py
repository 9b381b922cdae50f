#!/usr/bin/env python3
"""Reading svmlight: margin against LIBLINEAR's train and scikit-learn's load_svmlight_file.

usage: bench_svmlight.py BENCH_SVMLIGHT [--rows N] [--columns N] [--repeats N]

One generated file (200,000 x 100 normal numbers in 17 digits, about 440 MB). Warm file, the programs in turn,
medians. LIBLINEAR's program cannot read without training: its time is that of `liblinear-train` (or
`train`) with a tolerance that lets it stop after the first gradient, a few per cent of the whole.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file


def write(path, rows, columns):
    x = np.random.default_rng(1).normal(size=(rows, columns))
    with open(path, 'w') as out:
        for row in x:
            label = '+1' if row[0] > 0 else '-1'
            out.write(label + ''.join(f' {j + 1}:{v!r}' for j, v in enumerate(row.tolist())) + '\n')
    return x


def ours(program, path, kind):
    out = subprocess.run([program, 'read', path, kind, '2'], check=True, capture_output=True, text=True).stdout.split('\n')
    *_, table, peak = (int(word) for word in out[2].split())
    return float(out[1]), peak / table


def liblinear(train, path):
    start = time.perf_counter()
    subprocess.run([train, '-s', '2', '-e', '1e9', '-q', path, os.devnull], check=True, capture_output=True)
    return time.perf_counter() - start


def timed(function, *words):
    start = time.perf_counter()
    function(*words)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=5)
    given = parser.parse_args()
    train = shutil.which('liblinear-train') or shutil.which('train')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'table.svm'
        x = write(path, given.rows, given.columns)
        time.sleep(3)  # a file that was written just now is not mapped
        size = os.path.getsize(path)
        times = {'f64': [], 'f32': [], 'LIBLINEAR': [], 'scikit-learn': []}
        memory = {}
        for _ in range(given.repeats):
            for kind in ('f64', 'f32'):
                seconds, memory[kind] = ours(given.program, path, kind)
                times[kind].append(seconds)
            if train:
                times['LIBLINEAR'].append(liblinear(train, path))
        for _ in range(min(given.repeats, 2)):
            times['scikit-learn'].append(timed(load_svmlight_file, str(path)))
        for kind in ('f64', 'f32'):
            mine = statistics.median(times[kind])
            print(f'{given.rows} x {given.columns}, {kind}: margin {mine:.3f} s ({size / mine / 1e9:.2f} GB/s), memory '
                  f'{memory[kind]:.2f} of the table')
            for peer in ('LIBLINEAR', 'scikit-learn'):
                if times[peer]:
                    theirs = statistics.median(times[peer])
                    print(f'    {peer} {theirs:.2f} s   {theirs / mine:.1f}x', flush=True)
        if not train:
            print('skipped: LIBLINEAR (no liblinear-train on the path)')
        out = Path(folder) / 'values'
        subprocess.run([given.program, 'dump', path, out], check=True)
        print(f'{x.size} values, {int((np.fromfile(out) != x.ravel()).sum())} differ from the numbers written')


if __name__ == '__main__':
    main()
