#!/usr/bin/env python3
"""How time grows with rows, columns and threads.

usage: bench_scaling.py [--programs FOLDER] [--out FOLDER] [--repeats N] [--kernels [--busy]] [--most N]

Writes scaling.csv (spec, what varies, rows, columns, threads, seconds, steps) and, with gnuplot,
scaling.svg: one picture each for rows, columns and threads, both axes logarithmic. Data made by
bench_fit, f64, the fastest of the repeats. With --kernels: machines with a kernel over rows (up to
--most of them), each with the exponent of its growth, the slope of a line through the logarithms of the
larger half, into scaling_kernels.csv and scaling_kernels.svg; --busy: by the seconds of the processor on one thread,
beside other work.
"""
import csv
import os
import shutil
import subprocess
from pathlib import Path

import common

SPECS = (('least-squares', 1), ('logistic', 2), ('svm', 2), ('softmax', 5))
ROWS, COLUMNS, THREADS = (2000, 6000, 20000, 60000, 200000), (10, 30, 100, 300), (1, 2, 4, 8, 16)
TYPICAL_ROWS, TYPICAL_COLUMNS = 100000, 50

PLOT = '''
set terminal svg size 1080,360 font "sans-serif,13" name "scaling" noenhanced background "white"
set output "scaling.svg"
set datafile separator ","
set multiplot layout 1,3 margins 0.065,0.985,0.15,0.89 spacing 0.065,0
set logscale xy
set grid xtics ytics lc "#dddddd"
set format y "%g"
set key top left Left reverse samplen 2 font ",11"
set ylabel "seconds" offset 1
set yrange [{low}:{high}]
do for [k=1:3] {{
    what = word("rows columns threads", k)
    set title (k == 1 ? "{columns} columns, {cores} threads" : k == 2 ? "{rows} rows, {cores} threads" \
        : "{rows} rows, {columns} columns")
    set xlabel what offset 0,0.4
    set xrange [(k == 1 ? {rows0} : k == 2 ? {columns0} : 0.9):(k == 1 ? {rows1} : k == 2 ? {columns1} : {threads1})]
    if (k == 1) {{ set xtics ("2000" 2000, "20,000" 20000, "200,000" 200000) }}
    if (k == 2) {{ set xtics (10, 30, 100, 300) }}
    if (k == 3) {{ set xtics (1, 2, 4, 8, 16) }}
    if (k > 1) {{ unset key; unset ylabel }}
    plot for [j=1:{count}] "scaling.csv" using (stringcolumn(2) eq what && stringcolumn(1) eq word("{names}", j) \\
        ? column(k + 2) : NaN):6 with linespoints lw 2 ps 0.7 pt 7 lc j title word("{names}", j)
}}
unset multiplot
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


def exponent(rows, seconds):
    """Of the larger half of the rows."""
    from numpy import log, polyfit
    half = len(rows) // 2
    return float(polyfit(log(rows[half:]), log(seconds[half:]), 1)[0])


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
    with open(folder / 'scaling_kernels.csv', 'w', newline='') as out:
        csv.writer(out, lineterminator='\n').writerows([['spec', 'rows', 'columns', 'threads', 'seconds']] + found)
    if shutil.which('gnuplot'):
        subprocess.run(['gnuplot'], input=GROWTH.format(columns=KERNEL_COLUMNS, threads='1 thread' if threads == 1 else f'{threads} threads', curves=', '.join(curves)),
                       text=True, check=True, cwd=folder, env={**os.environ, 'LC_ALL': 'C'})


def points():
    """What varies, rows, columns, threads."""
    for rows in ROWS:
        yield 'rows', rows, TYPICAL_COLUMNS, common.CORES
    for columns in COLUMNS:
        yield 'columns', TYPICAL_ROWS, columns, common.CORES
    for threads in THREADS:
        if threads <= common.CORES:
            yield 'threads', TYPICAL_ROWS, TYPICAL_COLUMNS, threads


def draw(folder, found):
    if not shutil.which('gnuplot'):
        print('skipped: the picture (gnuplot is not installed)')
        return
    times = [float(line[5]) for line in found]
    text = PLOT.format(low=min(times) / 2, high=max(times) * 2, rows=f'{TYPICAL_ROWS:,}', columns=TYPICAL_COLUMNS,
                       cores=common.CORES, rows0=ROWS[0] * 0.8, rows1=ROWS[-1] * 1.25, columns0=COLUMNS[0] * 0.8,
                       columns1=COLUMNS[-1] * 1.25, threads1=common.CORES * 1.2, count=len(SPECS),
                       names=' '.join(spec for spec, _ in SPECS))
    subprocess.run(['gnuplot'], input=text, text=True, check=True, cwd=folder,
                   env={**os.environ, 'LC_ALL': 'C'})


def main():
    given = common.options(__doc__, out=str(common.HERE), repeats=2, kernels=False, busy=False, most=KERNEL_ROWS[-1])
    if given.kernels:
        growth(given)
        return
    found = []
    for spec, classes in SPECS:
        for what, rows, columns, threads in points():
            reports = common.fits(given, spec, f'made:{rows}x{columns}x{classes}', repeats=given.repeats,
                                  threads=threads)
            best = min(reports, key=lambda r: r['seconds'])
            found.append([spec, what, rows, columns, threads, f'{best["seconds"]:.6f}', best['steps']])
    folder = Path(given.out)
    with open(folder / 'scaling.csv', 'w', newline='') as out:
        writer = csv.writer(out, lineterminator='\n')
        writer.writerow(['spec', 'varies', 'rows', 'columns', 'threads', 'seconds', 'steps'])
        writer.writerows(found)
    draw(folder, found)
    common.head('', *(f'{what}: {a} to {b}' for what, a, b in (('rows', ROWS[0], ROWS[-1]), ('columns', COLUMNS[0],
                COLUMNS[-1]), ('threads', 1, common.CORES))))
    for spec, _ in SPECS:
        cells = []
        for what in ('rows', 'columns', 'threads'):
            own = [float(line[5]) for line in found if line[:2] == [spec, what]]
            cells.append(f'{common.seconds(own[0])} to {common.seconds(own[-1])}')
        common.row(f'`{spec}`', *cells)


if __name__ == '__main__':
    main()
