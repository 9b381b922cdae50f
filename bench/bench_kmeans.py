#!/usr/bin/env python3
"""k-means: margin against scikit-learn.

usage: bench_kmeans.py [--programs FOLDER] [--rows N] [--columns N] [--k N] [--repeats N]

50 iterations at most, from the same given rows and from each side's own k-means++, there with the seeds 0, 1, ...;
clusters that are apart, and none at all. All cores, f64, medians; inertia and iterations of the last.
"""
import itertools
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import common


def main():
    given = common.options(__doc__, rows=200000, columns=50, k=100, repeats=3)
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.standard_normal((given.k, given.columns))
    noise = rng.standard_normal((given.rows, given.columns))
    shapes = {'clusters apart': centres[rng.integers(0, given.k, given.rows)] + noise, 'no clusters': noise}
    common.head('', 'margin', 'scikit-learn', '', 'inertia', 'iterations')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape, x in shapes.items():
            common.save(folder, x)
            rows = x[:given.k]
            text = ' '.join(repr(float(v)) for v in rows.ravel())
            for start, spec, init in (
                    ('given rows', f'kmeans(k={given.k}, max_iter=50, centres="{text}")', rows),
                    ('k-means++', f'kmeans(k={given.k}, restarts=1, max_iter=50)', 'k-means++')):
                seeds, peer_seeds = itertools.count(), itertools.count()

                def ours():
                    report = common.fits(given, spec, folder / 'x.npy', warm=False, target='no', seed=next(seeds))[0]
                    return report['seconds'], report

                def theirs():
                    return common.timed(lambda: KMeans(given.k, n_init=1, max_iter=50, tol=0, init=init,
                                                       random_state=next(peer_seeds)).fit(x))
                (a, mine), (b, model) = common.in_turn(given.repeats, ours, theirs)
                common.row(f'{shape}, {start}', common.seconds(a), common.seconds(b), common.times(b / a),
                           f'{mine["objective"]:.8g}, {model.inertia_:.8g}', f'{mine["steps"]}, {model.n_iter_}')


if __name__ == '__main__':
    main()
