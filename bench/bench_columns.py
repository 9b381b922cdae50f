"""Data by columns, which are not copied, against rows: arrays in Fortran order, and columns of types of their own.

    pip install ./python && python3 bench/bench_columns.py

One thread, seconds of the processor, medians of fits in turn. Each fit of columns is made once more within a memory
limit of a third of the table, which a copy would exceed. Types (f64, i32, u8, f32 with a bitmap) by bench_typed."""
import json
import time

import margin
import numpy as np

from common import head, in_turn, options, row, run, seconds

SHAPES = ((200_000, 20, ('ridge', 'logistic')), (100_000, 50, ('ridge', 'logistic')),
          (60_000, 100, ('ridge', 'logistic', 'lasso(lambda=0.05)', 'least-squares', 'svm')),
          (60_000, 300, ('ridge', 'logistic', 'svm(C=0.01)')))
TYPED = ('ridge', 'lasso(lambda=0.5)', 'logistic', 'svm(C=0.01)', 'standardize | logistic')


def timed(spec, x, y):
    start = time.process_time()
    model = margin.fit(spec, x, y, threads=1)
    return time.process_time() - start, bytes(model)


def main():
    given = options(__doc__, repeats=5)
    head('rows x columns', 'data', 'fit', 'C order', 'columns', 'speed')
    for rows, columns, specs in SHAPES:
        rng = np.random.default_rng(1)
        x = rng.standard_normal((rows, columns))
        value = x @ rng.standard_normal(columns) + rng.standard_normal(rows)
        turned = np.asfortranarray(x)
        for spec in specs:
            y = (value > 0).astype(int) if spec.startswith(('logistic', 'svm')) else value
            (plain, one), (by_columns, other) = in_turn(
                given.repeats, lambda: timed(spec, x, y), lambda: timed(spec, turned, y))
            assert one == other, 'other bytes'
            margin.fit(spec, turned, y, memory=x.nbytes // 3)
            row(f'{rows:,} x {columns}', f'{x.nbytes // 10**6} MB', f'`{spec}`', seconds(plain), seconds(by_columns),
                f'{100 * plain / by_columns:.0f} %')
    for spec in TYPED:
        labels = int('logistic' in spec or 'svm' in spec)
        found = json.loads(run(given.programs / 'bench_typed', spec, 60_000, 60, labels, given.repeats))
        row('60,000 x 60', 'types', f'`{spec}`', seconds(found['rows']), seconds(found['typed']),
            f"{100 * found['rows'] / found['typed']:.0f} %")


if __name__ == '__main__':
    main()
