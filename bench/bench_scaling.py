#!/usr/bin/env python3
"""How the time of a fit grows with rows, columns, classes and threads.

usage: bench_scaling.py [--programs FOLDER] [--out FOLDER] [--repeats N] [--only WORD] [--kernels [--busy]] [--most N]

Every learner over each of the four while the others stay as they are: scaling.csv (spec, what varies, rows, columns,
classes, threads, seconds, steps), with gnuplot scaling.svg, both axes logarithmic, and a table of exponents: slopes of
a line through the logarithms of the larger half. Data made by bench_fit, f64, the fastest of the repeats; --only: the
specs that hold this word, nothing written. With --kernels: machines with a kernel over rows (up to --most of them) into
scaling_kernels.csv and scaling_kernels.svg; --busy: by the seconds of the processor on one thread, beside other work.
"""
import csv
import os
import shutil
import subprocess
from pathlib import Path

import common

# Spec, and classes where these do not vary (1: a value, 0: no target).
LINEAR = (('least-squares', 1), ('ridge', 1), ('lasso(lambda=0.1)', 1), ('logistic', 2), ('softmax', 5), ('svm', 2),
          ('svm(loss=squared-hinge)', 2))
OTHER = (('perceptron(passes=10)', 2), ('naive-bayes', 5), ('knn(task=classify)', 2), ('kmeans', 0),
         ('standardize | logistic', 2), ('poly(degree=2) | ridge', 1))
WORDS = {'kmeans': 'kmeans(k=20, restarts=1, max_iter=10, tol=0)'}  # of specs with commas, which gnuplot would part
ROWS, COLUMNS, CLASSES = (2000, 6000, 20000, 60000, 200000), (10, 30, 100, 300), (2, 4, 8, 16, 32)
THREADS = tuple(n for n in (1, 2, 4, 8, 16) if n <= common.CORES)
TYPICAL = {'rows': 50000, 'columns': 50, 'threads': common.CORES}
AXES = {'rows': ROWS, 'columns': COLUMNS, 'classes': CLASSES, 'threads': THREADS}
MOST_POLY = 100  # columns that poly gets: it makes half their square

PLOT = '''
set terminal svg size 1180,640 font "sans-serif,12" name "scaling" noenhanced background "white"
set output "scaling.svg"
set datafile separator ","
set multiplot layout 2,4 margins 0.055,0.985,0.08,0.94 spacing 0.02,0.14
set logscale xy
set grid xtics ytics lc "#dddddd"
set key top left Left reverse samplen 1.5 spacing 0.9 font ",9"
set yrange [{low}:{high}]
{panels}
unset multiplot
'''
PANEL = '''
set title "{title}"
set xlabel "{what}" offset 0,0.5
set xtics ({tics})
set xrange [{first}:{last}]
set format y "{numbers}"
{key}
plot {curves}
'''

KERNELS = (('svm(kernel=rbf)', 2), ('kernel-ridge', 1), ('nystroem(centres=500) | ridge', 1))
KERNEL_ROWS, KERNEL_COLUMNS = (1000, 2000, 4000, 8000, 16000, 32000, 64000), 20

GROWTH = '''
set terminal svg size 520,400 font "sans-serif,13" name "scaling" noenhanced background "white"
set output "scaling_kernels.svg"
set datafile separator ","
set logscale xy
set grid xtics ytics lc "#dddddd"
set format y "%g"
set key top left Left reverse samplen 2
set title "{columns} columns, {threads}"
set xlabel "rows"
set ylabel "seconds"
plot {curves}
'''


def exponent(sizes, seconds):
    """Of the larger half of the sizes."""
    from numpy import log, polyfit
    half = len(sizes) // 2
    return float(polyfit(log(sizes[half:]), log(seconds[half:]), 1)[0])


def write(path, head, lines):
    with open(path, 'w', newline='') as out:
        csv.writer(out, lineterminator='\n').writerows([head, *lines])


def gnuplot(folder, text):
    if not shutil.which('gnuplot'):
        print('skipped: the picture (gnuplot is not installed)')
        return
    subprocess.run(['gnuplot'], input=text, text=True, check=True, cwd=folder, env={**os.environ, 'LC_ALL': 'C'})


def growth(given):
    found, curves = [], []
    threads, key = (1, 'cpu_seconds') if given.busy else (common.CORES, 'seconds')
    rows = [n for n in KERNEL_ROWS if n <= given.most]
    common.head('', *(f'{n:,} rows' for n in rows), 'exponent')
    for k, (spec, classes) in enumerate(KERNELS):
        own = [min(r[key] for r in common.fits(given, spec, f'made:{n}x{KERNEL_COLUMNS}x{classes}', repeats=given.repeats,
                                               threads=threads)) for n in rows]
        power = exponent(rows, own)
        found += [[spec, n, KERNEL_COLUMNS, threads, f'{t:.6f}'] for n, t in zip(rows, own)]
        curves.append(f'"scaling_kernels.csv" every ::{k * len(rows) + 1}::{(k + 1) * len(rows)} using 2:5 '
                      f'with linespoints lw 2 ps 0.7 pt 7 lc {k + 1} title "{spec}: rows^{power:.2f}"')
        common.row(f'`{spec}`', *(common.seconds(t) for t in own), f'{power:.2f}')
    folder = Path(given.out)
    write(folder / 'scaling_kernels.csv', ['spec', 'rows', 'columns', 'threads', 'seconds'], found)
    gnuplot(folder, GROWTH.format(columns=KERNEL_COLUMNS, threads='1 thread' if threads == 1 else f'{threads} threads',
                                  curves=', '.join(curves)))


def measure(given, spec, classes, what):
    """Lines of the table while `what` varies."""
    lines = []
    for size in AXES[what]:
        own = {**TYPICAL, 'classes': classes, what: size}
        if spec.startswith('poly') and own['columns'] > MOST_POLY:
            continue
        reports = common.fits(given, WORDS.get(spec, spec), f'made:{own["rows"]}x{own["columns"]}x{max(own["classes"], 1)}',
                              repeats=given.repeats, threads=own['threads'], target='no' if classes == 0 else None)
        best = min(reports, key=lambda r: r['seconds'])
        lines.append([spec, what, own['rows'], own['columns'], own['classes'], own['threads'],
                      f'{best["seconds"]:.6f}', best['steps']])
    return lines


def column_of(what):
    return 2 + list(AXES).index(what)


def panels(found, names):
    """A row of pictures, one for each axis."""
    for what, sizes in AXES.items():
        curves = ', '.join(
            f'"scaling.csv" using (stringcolumn(1) eq "{spec}" && stringcolumn(2) eq "{what}" ? '
            f'column({column_of(what) + 1}) : NaN):7 with linespoints lw 2 ps 0.6 pt 7 lc {k + 1} title "{spec}"'
            for k, spec in enumerate(names) if any(line[:2] == [spec, what] for line in found))
        others = [f'{TYPICAL[name]:,} {name}' for name in TYPICAL if name != what]
        yield PANEL.format(title=', '.join(others), what=what, tics=', '.join(f'"{n:,}" {n}' for n in sizes), curves=curves,
                           first=sizes[0] * 0.8, last=sizes[-1] * 1.25, key='set key' if what == 'rows' else 'unset key',
                           numbers='%g s' if what == 'rows' else '')


def table(found, names):
    common.head('', *(f'{what}, {sizes[0]:,} to {sizes[-1]:,}' for what, sizes in AXES.items()))
    for spec in names:
        cells = []
        for what in AXES:
            own = [line for line in found if line[:2] == [spec, what]]
            times = [float(line[6]) for line in own]
            power = exponent([line[column_of(what)] for line in own], times) if len(own) > 2 else None
            cells.append('' if not own else f'{common.seconds(times[0])} to {common.seconds(times[-1])}' +
                         (f'; {power:.2f}' if power is not None and what != 'threads' else ''))
        common.row(f'`{spec}`', *cells)


def main():
    given = common.options(__doc__, out=str(common.HERE), repeats=2, only='', kernels=False, busy=False,
                           most=KERNEL_ROWS[-1])
    if given.kernels:
        growth(given)
        return
    found = []
    specs = [(spec, classes) for spec, classes in LINEAR + OTHER if given.only in spec]
    for spec, classes in specs:
        for what in AXES:
            if what != 'classes' or classes > 1:
                found += measure(given, spec, classes, what)
    table(found, [spec for spec, _ in specs])
    if given.only:
        return
    folder, times = Path(given.out), [float(line[6]) for line in found]
    write(folder / 'scaling.csv', ['spec', 'varies', 'rows', 'columns', 'classes', 'threads', 'seconds', 'steps'], found)
    pictures = ''.join(text for group in (LINEAR, OTHER) for text in panels(found, [spec for spec, _ in group]))
    gnuplot(folder, PLOT.format(low=min(times) / 2, high=max(times) * 50, panels=pictures))


if __name__ == '__main__':
    main()
