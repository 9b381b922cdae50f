#!/usr/bin/env python3
"""Searches on real tables: what cells share gives what each fit gives by itself, and a comparison of learners gives about the published figures.

usage: check_choosing_data.py PROGRAM SOURCE_DIR

With a time limit each cell is fitted alone (docs/choosing.md), so a limit that nobody reaches is the plain loop. Exit code 77: no data sets.
"""
import json
import os
import sys
from pathlib import Path

from checks import expect, finish, run

data = Path(os.environ.get('MARGIN_DATA') or Path(sys.argv[2]) / '..' / 'shared' / 'data')
if not data.is_dir():
    print('skipped: no data sets')
    sys.exit(77)


def table(spec, name, *words):
    p = run('cv', spec, data / name, '--json', '--seed', 3, *words)
    expect(p.returncode == 0, f'{spec} {name} {words}: exit {p.returncode}: {p.stderr}')
    return json.loads(p.stdout)['cells'] if p.returncode == 0 else []


def same(spec, name, *words, near=1e-7):
    """Fold by fold: numbers within `near` of their size, shares of rows right but for one row."""
    shared, alone = table(spec, name, *words), table(spec, name, '--time-limit', 100000, *words)
    expect(len(shared) == len(alone) > 1, f'{spec} {name}: {len(shared)} and {len(alone)} cells')
    for a, b in zip(shared, alone):
        expect(a['spec'] == b['spec'] and a['status'] == b['status'] == 'converged', f'{a["spec"]} {name}: {a["status"]}, {b["status"]}')
        furthest = max(abs(u - v) / max(1e-9, abs(v)) for u, v in zip(a['folds'], b['folds']))
        expect(furthest <= near, f'{a["spec"]} {name} {words}: folds differ by {furthest:.2g} of themselves')


def shared_work():
    same('ridge(alpha={0.01,1,100})', 'regression/concrete.csv')
    same('ridge(alpha={0.01,1,100})', 'regression/winequality-red.csv', '--repeat', 2)
    same('onehot | standardize | ridge(alpha={0.01,1,100})', 'regression/auto-mpg.csv', '--missing', 'drop', '--ignore', 'name', '--target', 'mpg')
    same('ridge(alpha={0.1,10})', 'regression/concrete.csv', '--leave-one-out', '--metric', 'mse')
    same('standardize | lasso(lambda={0.01,0.1,1}, tol=1e-10)', 'regression/concrete.csv', near=1e-5)
    same('standardize | elastic-net(lambda={0.01,0.1}, l1_ratio=0.5, tol=1e-10)', 'regression/winequality-red.csv', near=1e-5)
    for name in 'tabular/pima-indians-diabetes.csv', 'tabular/banknote_authentication.csv', 'tabular/sonar.csv':
        same('standardize | logistic(C={0.01,1,100}, tol=1e-10)', name, '--metric', 'log_loss', near=1e-4)
        same('standardize | logistic(C={0.01,1,100}, tol=1e-10)', name, near=1e-9)
        same('standardize | svm(kernel=rbf, C={0.1,10}, gamma={0.01,0.1}, tol=1e-9)', name, near=1e-9)
        same('standardize | knn(k={1..15})', name, near=0)
        same('knn(k={1,2,5,20})', name, '--leave-one-out', near=0)
    same('standardize | svm(kernel=rbf, C={0.1,10}, gamma={0.01,0.1}, tol=1e-9)', 'tabular/wine.csv', near=1e-9)
    same('standardize | kernel-ridge(kernel=rbf, alpha={0.01,0.1,1})', 'regression/concrete.csv', near=1e-6)
    same('impute | onehot | naive-bayes(smoothing={0.1,1,10})', 'categorical/agaricus-lepiota.data', '--target', '1', near=0)


def published():
    """Accuracy or R2 of the best learner by five folds, and that of the baseline. Sources: the UCI notes beside the data; for wdbc Street, Wolberg and
    Mangasarian (1993): 97.5 % by ten folds; iris: one class is separable from the others, two are not; mushrooms: rules without an error."""
    for name, words, metric, low, high, baseline in [
            ('tabular/wdbc.csv', (), 'accuracy', 0.965, 0.99, 0.627),
            ('tabular/iris.csv', ('--stratify',), 'accuracy', 0.95, 0.99, 1 / 3),
            ('tabular/pima-indians-diabetes.csv', (), 'accuracy', 0.75, 0.79, 0.651),
            ('categorical/agaricus-lepiota.data', ('--time-limit', 60), 'accuracy', 0.999, 1.0, 0.518)]:
        target = {'tabular/wdbc.csv': ('--target', 'diagnosis', '--ignore', 'id'), 'categorical/agaricus-lepiota.data': ('--target', '1')}.get(name, ())
        p = run('compare', data / name, '--json', *target, *words)
        expect(p.returncode == 0, f'compare {name}: exit {p.returncode}: {p.stderr}')
        if p.returncode:
            continue
        r = json.loads(p.stdout)
        best = r['rows'][0]
        print(f'{name}: {metric} {best["mean"]:.4f} by {best["spec"]}, baseline {r["baseline"]["mean"]:.4f}')
        expect(r['metric'] == metric and low <= best['mean'] <= high, f'{name}: {best["mean"]} by {best["spec"]}, expected {low} to {high}')
        expect(abs(r['baseline']['mean'] - baseline) < 0.02, f'{name}: baseline {r["baseline"]["mean"]}, expected {baseline}')


shared_work()
published()
finish()
