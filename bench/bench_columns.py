"""Data by columns: fits of arrays in Fortran order, which are not copied, against the same in C order.

    pip install ./python && python3 bench/bench_columns.py

One thread, seconds of the processor, medians of fits in turn. Each fit of columns is made once more within a memory
limit of a third of the table, which a copy would exceed."""
import time

import margin
import numpy as np

from common import head, in_turn, options, row, seconds

SHAPES = ((200_000, 20, ('ridge', 'logistic')), (100_000, 50, ('ridge', 'logistic')),
          (60_000, 100, ('ridge', 'logistic', 'lasso(lambda=0.05)', 'least-squares', 'svm')),
          (60_000, 300, ('ridge', 'logistic', 'svm(C=0.01)')))


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


if __name__ == '__main__':
    main()
