#!/usr/bin/env python3
"""Reading CSV: margin against pandas' C engine.

usage: bench_csv.py BENCH_CSV [--rows N] [--columns N] [--repeats N]

Two generated tables of numbers (all digits, and six of them), and KDD Cup 99 (numbers and
categories) where it is there. Warm files, margin and pandas in turn, medians. pandas reads as it
comes, which rounds wrongly in the last digit, and exactly (float_precision='round_trip'); tables
with categories also with those columns declared. Memory: most the process held, over the table.
"""
import argparse
import gzip
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd


def ours(program, path, kind):
    """Second of two readings: seconds; bytes held over bytes of the table."""
    out = subprocess.run([program, 'read', path, kind, '2'], check=True, capture_output=True,
                         text=True).stdout.split('\n')
    rows, columns, table, peak = (int(word) for word in out[2].split())
    return float(out[1]), peak / table


def theirs(path, **options):
    start = time.perf_counter()
    frame = pd.read_csv(path, engine='c', **options)
    return time.perf_counter() - start, frame


def row(name, program, path, repeats, kind='f64', **options):
    mine, peer, memory = [], [], 0
    for _ in range(repeats):
        seconds, memory = ours(program, path, kind)
        mine.append(seconds)
        peer.append(theirs(path, **options)[0])
    a, b = statistics.median(mine), statistics.median(peer)
    size = os.path.getsize(path)
    print(f'{name:34s} margin {a:7.3f} s ({size / a / 1e9:5.2f} GB/s)   pandas {b:7.3f} s   '
          f'{b / a:6.1f}x   memory {memory:.2f} of the table', flush=True)


def check(program, path, folder, **options):
    """Cells that differ from pandas' exact reading; categories by their sorted place."""
    out = folder / 'values'
    subprocess.run([program, 'dump', path, out], check=True)
    frame = theirs(path, float_precision='round_trip', **options)[1]
    mine = np.fromfile(out).reshape(len(frame), -1)
    wrong = 0
    for j, name in enumerate(frame.columns):
        column = frame[name]
        if not pd.api.types.is_numeric_dtype(column):
            codes = column.astype('category').cat.codes.to_numpy(dtype=float)
            values = np.where(codes < 0, np.nan, codes)
        else:
            values = column.to_numpy(dtype=float)
        wrong += int((~((mine[:, j] == values) | (np.isnan(mine[:, j]) & np.isnan(values)))).sum())
    print(f'{"":34s} {mine.size} cells, {wrong} differ from the exact reading', flush=True)
    out.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('program')
    parser.add_argument('--rows', type=int, default=200000)
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--repeats', type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / 'table.csv'
        for digits in (0, 6):
            subprocess.run([given.program, 'write', path, str(given.rows), str(given.columns),
                            str(digits)], check=True)
            title = f'{given.rows} x {given.columns}, ' + (f'{digits} digits' if digits else 'exact')
            time.sleep(3)  # a file that was written just now is not mapped
            row(title, given.program, path, given.repeats)
            row(title + ', pandas exact', given.program, path, given.repeats,
                float_precision='round_trip')
            row(title + ', f32', given.program, path, given.repeats, 'f32', dtype=np.float32)
            check(given.program, path, folder)
        root = os.environ.get('MARGIN_DATA', Path(__file__).resolve().parents[2] / 'shared/data')
        packed = Path(root) / 'large/kddcup.data_10_percent.gz'
        if not packed.exists():
            print(f'skipped: no data set {packed}')
            return
        with gzip.open(packed) as source, open(path, 'wb') as target:
            shutil.copyfileobj(source, target)
        time.sleep(3)
        texts = {column: 'category' for column in (1, 2, 3, 41)}
        row('KDD Cup 99', given.program, path, given.repeats, header=None)
        row('KDD Cup 99, pandas categories', given.program, path, given.repeats, header=None,
            dtype=texts)
        row('KDD Cup 99, .gz', given.program, packed, given.repeats, header=None)
        check(given.program, path, folder, header=None)


if __name__ == '__main__':
    main()
