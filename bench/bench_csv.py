#!/usr/bin/env python3
"""Reading CSV: margin against pandas' C engine.

usage: bench_csv.py [--programs FOLDER] [--data FOLDER] [--rows N] [--columns N] [--repeats N]

Two generated tables of numbers (all digits, and six of them), and KDD Cup 99 (numbers and
categories) where it is there. Warm files, margin and pandas in turn, medians. pandas reads as it
comes, which rounds wrongly in the last digit, and exactly (float_precision='round_trip'); tables
with categories also with those columns declared. Memory: most the process held, over the table.
"""
import gzip
import os
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import common
from common import timed


def ours(program, path, kind='f64'):
    """Second of two readings: seconds; most memory held over bytes of the table."""
    out = common.run(program, 'read', path, kind, 2).split('\n')
    _, _, table, peak = map(int, out[2].split())
    return float(out[1]), peak / table


def compare(name, program, path, repeats, kind='f64', **words):
    (a, memory), (b, _) = common.in_turn(repeats, lambda: ours(program, path, kind),
                                         lambda: timed(lambda: pd.read_csv(path, engine='c', **words)))
    common.row(name, common.seconds(a), f'{os.path.getsize(path) / a / 1e9:.2f} GB/s', common.seconds(b),
               common.times(b / a), f'{memory:.2f}')


def check(program, path, folder, **words):
    """Cells that differ from pandas' exact reading; categories by their sorted place."""
    out = folder / 'values'
    common.run(program, 'dump', path, out)
    frame = pd.read_csv(path, engine='c', float_precision='round_trip', **words)
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
    print(f'{mine.size} cells, {wrong} differ from the exact reading', flush=True)
    out.unlink()


def main():
    warnings.simplefilter('ignore')  # pandas 3 reads exactly as it comes
    given = common.options(__doc__, rows=200000, columns=100, repeats=5)
    program = given.programs / 'bench_read'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / 'table.csv'
        common.head('table', 'margin', '', f'pandas {pd.__version__}', '', 'memory / table')
        for digits in (0, 6):
            common.run(program, 'write', path, given.rows, given.columns, digits)
            title = f'{given.rows} x {given.columns}, ' + (f'{digits} digits' if digits else 'all digits')
            time.sleep(3)  # a file that was written just now is not mapped
            compare(title, program, path, given.repeats)
            compare(title + ', pandas exact', program, path, given.repeats, float_precision='round_trip')
            compare(title + ', f32', program, path, given.repeats, 'f32', dtype=np.float32)
            check(program, path, folder)
        packed = given.data / 'large/kddcup.data_10_percent.gz'
        if not packed.exists():
            print(f'skipped: no data set {packed}')
            return
        with gzip.open(packed) as source, open(path, 'wb') as target:
            shutil.copyfileobj(source, target)
        time.sleep(3)
        texts = {column: 'category' for column in (1, 2, 3, 41)}
        compare('KDD, text as objects', program, path, given.repeats, header=None)
        compare('KDD, text as categories', program, path, given.repeats, header=None, dtype=texts)
        compare('KDD, .gz', program, packed, given.repeats, header=None)
        check(program, path, folder, header=None)


if __name__ == '__main__':
    main()
