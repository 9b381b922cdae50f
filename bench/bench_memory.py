#!/usr/bin/env python3
"""Memory of a fit: what is resident at most, data included, over the data.

usage: bench_memory.py [--programs FOLDER] [--rows N] [--columns N]

The data are made in the process that fits (no file is mapped); its peak is counted from the start of
the fit. The goal for dense Newton methods: 1.2 times the data and a few n x n matrices.
"""
import common

SPECS = (('least-squares', 1), ('ridge', 1), ('lasso', 1), ('logistic', 2), ('logistic(l1_ratio=1, C=0.01)', 2),
         ('svm', 2), ('svm(loss=squared-hinge)', 2), ('softmax', 5),
         ('standardize | logistic', 2))


def main():
    given = common.options(__doc__, rows=200000, columns=100)
    common.head('', 'data', 'f64, more than the data', 'peak / data', 'f32, more than the data', 'peak / data')
    for spec, classes in SPECS:
        cells = []
        for kind in ('f64', 'f32'):
            report, = common.fits(given, spec, f'made:{given.rows}x{given.columns}x{classes}', warm=False, type=kind)
            data, more = report['data_bytes'], report['more_bytes']
            cells += [f'{more / 1e6:.1f} MB', f'{1 + more / data:.3f}']
            size = f'{data / 1e6:.0f} MB' if kind == 'f64' else size
        common.row(f'`{spec}`' + (f', {classes} classes' if classes > 2 else ''), size, *cells)


if __name__ == '__main__':
    main()
