#!/usr/bin/env python3
"""Reading svmlight: margin against LIBLINEAR's train and scikit-learn's load_svmlight_file.

usage: bench_svmlight.py [--programs FOLDER] [--rows N] [--columns N] [--repeats N]

One generated file (200,000 x 100 normal numbers in 17 digits, about 440 MB). Warm file, the programs in turn,
medians. LIBLINEAR's program cannot read without training: its time is that of `liblinear-train` (or
`train`) with a tolerance that lets it stop after the first gradient, a few per cent of the whole.
"""
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

import common
import liblinear
from common import timed


def ours(program, path, kind):
    """Second of two readings: seconds; most memory held over bytes of the table."""
    out = common.run(program, 'read', path, kind, 2).split('\n')
    _, _, table, peak = map(int, out[2].split())
    return float(out[1]), peak / table


def main():
    given = common.options(__doc__, rows=200000, columns=100, repeats=5)
    program = given.programs / 'bench_read'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / 'table.svm'
        x = np.random.default_rng(1).normal(size=(given.rows, given.columns))
        common.save(folder, x, np.where(x[:, 0] > 0, 1, -1))
        common.run(program, 'convert', folder / 'x.npy', folder / 'y.npy', path)
        time.sleep(3)  # a file that was written just now is not mapped
        stop = [liblinear.PROGRAM, '-s', '2', '-e', '1e9', '-q', path, os.devnull]
        calls = [lambda kind=kind: ours(program, path, kind) for kind in ('f64', 'f32')]
        if liblinear.PROGRAM:
            calls.append(lambda: timed(lambda: common.run(*stop)))
        else:
            print('skipped: LIBLINEAR (no liblinear-train on the path)')
        found = common.in_turn(given.repeats, *calls)
        slow, _ = timed(lambda: load_svmlight_file(str(path)))
        train = found[2][0] if len(found) > 2 else float('nan')
        size = os.path.getsize(path)
        common.head('', 'seconds', '', f'LIBLINEAR\'s `train` ({train:.2f} s)', f'`load_svmlight_file` ({slow:.2f} s)',
                    'memory / table')
        for kind, (mine, memory) in zip(('f64', 'f32'), found):
            common.row(f'{given.rows} x {given.columns}, {kind}', common.seconds(mine),
                       f'{size / mine / 1e9:.2f} GB/s', f'{train / mine:.1f}x', common.times(slow / mine),
                       f'{memory:.2f}')
        out = folder / 'values'
        common.run(program, 'dump', path, out)
        print(f'{x.size} values, {int((np.fromfile(out) != x.ravel()).sum())} differ from the numbers written')


if __name__ == '__main__':
    main()
