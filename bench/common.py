"""What the drivers share: their options, running bench_fit, clocks, data sets, table rows.

Each driver is one command, `python3 bench/bench_NAME.py`, and prints rows for RESULTS.md."""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get('MARGIN_DATA', HERE.parents[1] / 'shared/data'))
CORES = len(os.sched_getaffinity(0))
median = statistics.median


def options(doc, **defaults):
    """The command line: --programs, --data and an option for each default (False: a switch)."""
    parser = argparse.ArgumentParser(description=doc.split('\n', 1)[0])
    parser.add_argument('--programs', type=Path, default=HERE.parent / 'build/bench/bench')
    parser.add_argument('--data', type=Path, default=DATA)
    for name, value in defaults.items():
        if value is False:
            parser.add_argument('--' + name.replace('_', '-'), action='store_true')
        else:
            parser.add_argument('--' + name, type=type(value) if value is not None else str, default=value)
    return parser.parse_args()


def run(program, *words):
    """What the program prints; what it complains of goes through."""
    return subprocess.run([program, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


def fits(given, spec, data, warm=True, repeats=1, **words):
    """Reports of bench_fit, one a fit; with `warm` one more comes first and is left out."""
    words = [f'{name}={value}' for name, value in words.items() if value is not None]
    out = run(given.programs / 'bench_fit', spec, data, f'repeats={repeats + warm}', *words)
    return [json.loads(line) for line in out.splitlines()][warm:]


def fit(given, spec, folder, weights=True, **words):
    """Fits of x.npy and y.npy in `folder`: the last report with median seconds, and its weights, a
    row for each score function and its intercept as the last number."""
    path = folder / 'w.bin'
    if weights:
        words['weights'] = path
    if 'targets' not in words:
        words['labels'] = folder / 'y.npy'
    reports = fits(given, spec, folder / 'x.npy', **words)
    last = reports[-1]
    last['seconds'] = median(r['seconds'] for r in reports)
    if weights:
        last['weights'] = weights_of(path, np.load(folder / 'x.npy', mmap_mode='r').shape[1])
    return last


def weights_of(path, columns):
    return np.fromfile(path).reshape(-1, columns + 1)


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def warm_memory(megabytes=1500):
    """Touches memory and gives it back. Virtual machines that report free pages to their host (Linux: after two seconds) get them back at a tenth of
    the usual speed, which would be measured in place of what runs next."""
    block = np.ones(megabytes << 17)
    del block


def in_turn(repeats, *calls):
    """Runs the calls in turn, `repeats` times, each with memory at hand; each returns (seconds, result).
    Medians and the last results, a pair for each call."""
    def turn(call):
        warm_memory(500)
        return call()
    found = [[turn(call) for call in calls] for _ in range(repeats)]
    return [(median(turn[k][0] for turn in found), found[-1][k][1]) for k in range(len(calls))]


def save(folder, x, y=None):
    np.save(folder / 'x.npy', x)
    if y is not None:
        np.save(folder / 'y.npy', y)


def fashion(folder, part='train'):
    """Pixels 0 to 255 and classes of Fashion-MNIST (part: train or t10k), or None with a word about it."""
    place = Path(folder) / 'images/fashion-mnist'
    if not place.exists():
        print(f'skipped: no data set {place}')
        return None

    def read(name, skip):
        return np.frombuffer(gzip.open(place / name).read(), np.uint8, offset=skip)
    return read(f'{part}-images-idx3-ubyte.gz', 16).reshape(-1, 784), read(f'{part}-labels-idx1-ubyte.gz', 8)


def noisy_labels(rng, rows, columns, scale=1.0, shift=0.0):
    """Normal columns; labels -1 and 1 from a linear rule with logistic noise."""
    x = rng.standard_normal((rows, columns))
    rule = scale * rng.standard_normal(columns) / np.sqrt(columns)
    return x, np.where(x @ rule + shift + rng.logistic(size=rows) > 0, 1.0, -1.0)


def seconds(value):
    return f'{value:.3f} s' if value >= 0.0995 else f'{1e3 * value:.1f} ms' if value >= 1e-3 else f'{1e6 * value:.1f} µs'


def times(ratio):
    return f'{ratio:.0f}x' if ratio >= 9.95 else f'{ratio:.1f}x'


def head(*names):
    print('| ' + ' | '.join(names) + ' |\n|' + ' --- |' * len(names), flush=True)


def row(*cells):
    print('| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in cells) + ' |', flush=True)
