#!/usr/bin/env python3
"""Judging from the shell: the parts of a split, what held-out rows say, and that nothing leaks from one side to the other.

usage: check_judging.py PROGRAM SOURCE_DIR
"""
import csv
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from checks import expect, finish, program, run

source = Path(sys.argv[2])
iris, cars = (source / 'examples' / 'data' / name for name in ('iris.csv', 'cars.csv'))


def answer(*words):
    p = run(*words, '--json')
    expect(p.returncode == 0, f'{" ".join(map(str, words))}: exit {p.returncode}: {p.stderr.strip()[:200]}')
    return json.loads(p.stdout) if p.returncode == 0 else {}


def refuses(code, *words, says=()):
    p = run(*words)
    expect(p.returncode == code and p.stdout == '', f'{words}: exit {p.returncode}, not {code}: {p.stderr[:200]}')
    for word in says:
        expect(word in p.stderr, f'{words}: does not say "{word}": {p.stderr[:300]}')


def parts_are_files_and_lists(d):
    """The files of a split are the rows of its list; a fit with the same hold-out is one to the first of them, to the byte."""
    rows = list(csv.reader(open(iris)))[1:]
    listed = list(csv.DictReader(run('split', iris, '--holdout', '0.2', '--stratify', '--seed', 3).stdout.splitlines()))
    p = run('split', iris, '--holdout', '0.2', '--stratify', '--seed', 3, '-o', d / 'iris.csv')
    expect(p.returncode == 0 and 'iris.train.csv  120 rows' in p.stdout and 'iris.test.csv  30 rows' in p.stdout, p.stdout + p.stderr)
    for part in ('train', 'test'):
        mine = [rows[int(line['row']) - 1] for line in listed if line['part'] == part]
        file = list(csv.reader(open(d / f'iris.{part}.csv')))[1:]
        expect([[float(x) for x in r[:-1]] for r in mine] == [[float(x) for x in r[:-1]] for r in file] and [r[-1] for r in mine] == [r[-1] for r in file],
               f'{part}: the files are the rows of the list')
    expect(set(Counter(r[-1] for r in csv.reader(open(d / 'iris.test.csv'))).values()) == {1, 10}, 'classes have their share')
    for spec in ('standardize | logistic', 'minmax | knn(k=3)', 'impute | naive-bayes(distribution=gaussian)'):
        fit = answer('fit', spec, iris, '--holdout', '0.2', '--seed', 3, '-o', d / 'a.margin')
        run('fit', spec, d / 'iris.train.csv', '--seed', 3, '-o', d / 'b.margin')
        judged = answer('evaluate', d / 'b.margin', d / 'iris.test.csv')
        expect((d / 'a.margin').read_bytes() == (d / 'b.margin').read_bytes(), f'{spec}: nothing of the held-out rows is in the model')
        held = fit['held_out']
        expect(fit['rows'] == 120 and held['rows'] == 30 and all(judged[k] == v for k, v in held.items()), f'{spec}: {held} {judged}')
    run('split', cars, '--holdout', '0.2', '--seed', 3, '-o', d / 'cars.csv')
    run('fit', 'standardize(target=yes) | ridge', cars, '--holdout', '0.2', '--seed', 3, '-o', d / 'a.margin')
    run('fit', 'standardize(target=yes) | ridge', d / 'cars.train.csv', '-o', d / 'b.margin')
    expect((d / 'a.margin').read_bytes() == (d / 'b.margin').read_bytes(), 'a stage that looks at the target sees that of the training rows')
    text = run('fit', 'logistic', iris, '--holdout', '0.2').stdout.splitlines()
    at = [i for i, line in enumerate(text) if line.startswith('training')]
    expect(len(at) == 1 and text[at[0] + 1].startswith('held-out    accuracy 0.') and '30 rows' in text[at[0] + 1], f'held-out stands under training: {text}')
    fit = answer('fit', 'ridge', cars, '--holdout', '0.3')
    expect(fit['held_out']['rows'] == 15 and fit['rows'] == 35 and 'rmse' in fit['held_out'], 'numbers are held out')
    folds = run('split', iris, '-k', 5, '--repeat', 2, '--threads', 1).stdout
    expect(folds == run('split', iris, '-k', 5, '--repeat', 2, '--threads', 4).stdout, 'threads')
    lines = list(csv.DictReader(folds.splitlines()))
    expect(all(Counter(x[c] for x in lines) == {str(k): 30 for k in range(1, 6)} for c in ('fold1', 'fold2')), 'folds of equal size')


def groups_do_not_leak(d):
    """Rows that occur twice give themselves away to their neighbours unless they are one group."""
    table, draw = d / 'twice.csv', random.Random(1)
    rows = [(f'{i},{draw.random():.6f},{draw.random():.6f},' + draw.choice('ab')) for i in range(200)]
    rows = rows + rows
    draw.shuffle(rows)
    table.write_text('id,x,z,y\n' + '\n'.join(rows) + '\n')
    leaking = answer('fit', 'knn(k=1)', table, '--ignore', 'id', '--holdout', '0.25')['held_out']['accuracy']
    honest = answer('fit', 'knn(k=1)', table, '--groups', 'id', '--holdout', '0.25')
    expect(leaking > 0.75 and honest['held_out']['accuracy'] < 0.65 and honest['columns'] == 2, f'{leaking} {honest["held_out"]}')
    later = answer('fit', 'knn(k=1)', table, '--time', 'id', '--holdout', '0.25')
    expect(later['held_out']['rows'] == 100 and later['columns'] == 2, 'in order of time')


def classes_are_told(d):
    """A table of the classes, intervals, and classes that the model does not know."""
    model, other = d / 'm.margin', d / 'other.csv'
    fit = answer('fit', 'logistic', iris, '-o', model)
    text, found = run('evaluate', model, iris).stdout, answer('evaluate', model, iris, '--bootstrap', 200, '--seed', 1)
    lines = {line.split()[0]: line.split()[1:] for line in reversed(text.splitlines()) if line}
    expect(lines['setosa'][:4] == ['50', '1', '1', '1'] and 'precision     recall         F1' in text, text)
    for c in found['per_class']:
        k = found['classes'].index(c['class'])
        column = sum(row[k] for row in found['confusion'])
        expect(c['rows'] == 50 and c['predicted'] == column and abs(c['precision'] - found['confusion'][k][k] / column) < 1e-15, f'{c}')
    expect(abs(found['f1_macro'] - sum(c['f1'] for c in found['per_class']) / 3) < 1e-15, 'macro')
    for name, (low, high) in found['intervals'].items():
        expect(low <= found[name] <= high, f'{name}: {low} {found[name]} {high}')
    expect(fit['train']['accuracy'] == found['accuracy'] and '(' in run('evaluate', model, iris, '--bootstrap', 50).stdout.splitlines()[2], 'intervals in the text')
    other.write_text(iris.read_text().replace('virginica', 'unheard'))
    refuses(2, 'evaluate', model, other, says=("'unheard'", '--missing drop', '--unknown-classes wrong'))
    points, labels, numbers = d / 'points.svm', d / 'labels.margin', d / 'numbers.csv'
    points.write_text('1 1:1\n2 1:2\n1 1:3\n2 1:4\n')
    run('fit', 'knn(k=1)', points, '-o', labels)
    points.write_text('1 1:1\n3 1:2\n')
    refuses(2, 'evaluate', labels, points, says=("'3'", '--unknown-classes wrong'))
    numbers.write_text('x1,label\n1,1\n2,3\n')
    refuses(2, 'evaluate', labels, numbers, says=("'3'", '--unknown-classes wrong'))
    wrong = answer('evaluate', model, other, '--unknown-classes', 'wrong')
    expect(wrong['unknown'] == 50 and abs(wrong['accuracy'] - (found['confusion'][0][0] + found['confusion'][1][1]) / 150) < 1e-15, f'{wrong}')


def promises_are_kept(d):
    """Intervals and sets beside the predictions, probabilities that are calibrated, decisions that are not the usual ones."""
    model, table = d / 'p.margin', d / 'two.csv'
    fit = answer('fit', 'ridge', cars, '--coverage', '0.9', '-o', model)
    rows = list(csv.DictReader(run('predict', model, cars).stdout.splitlines()))
    truth = [float(r['dist']) for r in csv.DictReader(open(cars))]
    held = sum(float(r['lower']) <= y <= float(r['upper']) for r, y in zip(rows, truth)) / 50
    found = answer('evaluate', model, cars)['coverage']
    expect(fit['coverage'] == 0.9 and list(rows[0]) == ['dist', 'lower', 'upper'] and found == {'asked': 0.9, 'found': held, 'width': found['width']}, f'{found} {held}')
    both = answer('predict', model, cars)
    expect(both['lower'] == [float(r['lower']) for r in rows] and 'coverage    0.9' in run('inspect', model).stdout, 'as JSON, and in inspect')
    fit = answer('fit', 'logistic', iris, '--coverage', '0.9', '--calibrate', 'temperature', '--holdout', '0.3', '-o', model)
    rows = list(csv.DictReader(run('predict', model, iris).stdout.splitlines()))
    expect(0.6 < fit['held_out']['coverage']['found'] <= 1 and fit['held_out']['coverage']['asked'] == 0.9, f'{fit["held_out"]}')
    expect(fit['calibration'] == 'temperature' and list(rows[0]) == ['species', 'set'] and {r['set'] for r in rows} <= {'', 'setosa', 'versicolor', 'virginica', 'versicolor virginica'}, 'sets')
    expect(answer('predict', model, iris)['sets'] == [r['set'].split() for r in rows], 'sets as JSON')
    table.write_text('\n'.join(line for line in iris.read_text().splitlines() if 'setosa' not in line) + '\n')
    counts = []
    for words in ([], ['--threshold', '0.9'], ['--costs', '0,1;9,0'], ['--threshold', 'recall']):
        answer('fit', 'logistic', table, *words, '-o', model)
        counts.append(run('predict', model, table).stdout.count('virginica'))
    expect(counts[1] < counts[0] < counts[2] and counts[3] >= 50, f'decisions: {counts}')
    fit = answer('fit', 'logistic', table, '--costs', '0,1;9,0', '--holdout', '0.3', '--seed', 5, '-o', model)
    run('split', table, '--holdout', '0.3', '--stratify', '--seed', 5, '-o', d / 'cost.csv')
    judged = answer('evaluate', model, d / 'cost.test.csv')
    mean = sum(n * cost for line, costs in zip(judged['confusion'], ((0, 1), (9, 0))) for n, cost in zip(line, costs)) / judged['rows']
    expect(abs(judged['cost'] - mean) < 1e-12 and fit['held_out']['cost'] == judged['cost'], f"the mean cost {mean} is told: {judged['cost']} {fit['held_out']}")
    expect('a row; the same answer for all rows 0.5' in run('evaluate', model, d / 'cost.test.csv').stdout, 'and what to beat')
    expect('no-better' not in {f['code'] for f in fit['findings']}, 'a decision by cost is not judged by its accuracy')
    run('fit', 'logistic', table, '-o', model)
    expect(run('predict', model, table, '--threshold', '0.9').stdout.count('virginica') == counts[1], 'a threshold given later')
    expect('inspect' and 'decides     virginica from a probability of 0.9' in run('fit', 'logistic', table, '--threshold', '0.9').stdout, 'said')
    rare = d / 'rare.csv'
    rare.write_text(iris.read_text() + '5,3,2,1,single\n')
    for words in (('--coverage', '0.9'), ('--calibrate', 'sigmoid')):
        refuses(2, 'fit', 'logistic', rare, *words, says=("class 'single' has 1 row", 'join the class with another'))
    expect(answer('fit', 'knn(k=3)', iris, '--coverage', '0.8', '--groups', 'petal_width')['columns'] == 3, 'folds of groups')
    refuses(1, 'fit', 'ridge', cars, '--coverage', '1', says=('between 0 and 1',))
    refuses(1, 'fit', 'ridge', cars, '--coverage', '0.99', says=('at most 50/51',))
    refuses(1, 'fit', 'logistic', table, '--costs', '0,1', says=('2 costs for 2 classes',))
    refuses(1, 'fit', 'logistic', table, '--costs', '0,x;1,0', says=("'x' is none",))
    refuses(1, 'fit', 'svm(multiclass=ovo)', iris, '--calibrate', 'temperature', says=('pairs of classes',))
    pairs = d / 'pairs.model'
    expect(run('fit', 'svm(multiclass=ovo)', iris, '--calibrate', 'sigmoid', '-o', pairs).returncode == 0, 'pairs have curves')
    rows = run('predict', pairs, iris, '--proba').stdout.splitlines()[1:]
    sums = [sum(float(x) for x in row.split(',')[:3]) for row in rows]
    expect(len(rows) == 150 and all(abs(total - 1) < 1e-9 for total in sums), 'probabilities of pairs')
    refuses(1, 'predict', model, table, '--threshold', '7', says=('between 0 and 1',))


def columns_matter(d):
    """The column that decides comes first; the others are worth nothing."""
    table, model, draw = d / 'x.csv', d / 'x.margin', random.Random(4)
    table.write_text('noise,signal,kind,y\n' + '\n'.join(f'{draw.random():.4f},{x:.4f},{draw.choice("uvw")},{"yes" if x > 0.5 else "no"}' for x in [draw.random() for _ in range(200)]) + '\n')
    answer('fit', 'onehot | logistic(C=100)', table, '-o', model)
    found, text = answer('importance', model, table, '--seed', 1), run('importance', model, table).stdout
    expect([c['name'] for c in found['columns']][0] == 'signal' and found['columns'][0]['importance'] > 0.3 and abs(found['columns'][2]['importance']) < 0.05, f'{found}')
    expect(found['metric'] == 'accuracy' and text.splitlines()[3].startswith('signal'), text)
    refuses(1, 'importance', model, table, '--metric', 'rmse', says=('no metric of classes',))


def findings_of_data(d):
    """Each trap by its code, and no code where its cause is mended."""
    draw = random.Random(5)
    codes = lambda *words: {f['code'] for f in answer(*words)['findings']}
    rows = [(900 + i, draw.gauss(0, 1) + (i % 2), draw.gauss(0, 500), (3 if i % 2 else 1) + draw.random(), 'no yes'.split()[i % 2]) for i in range(90)]
    trap, twins, plain = d / 'trap.csv', d / 'twins.csv', d / 'plain.csv'
    trap.write_text('row_id,a,b,after,y\n' + '\n'.join(','.join(map(str, r)) for r in rows) + '\n2001,0,0,7,maybe\n')
    found = codes('cv', 'knn(k={1,3})', trap)
    expect(found >= {'leak', 'identifier', 'rare-class', 'scale'} and 'duplicates' not in found, f'traps: {found}')
    names = run('cv', 'knn(k={1,3})', trap).stdout
    expect('leak: column after alone' in names and 'column row_id' in names and 'class maybe has 1 row,' in names and 'b spreads' in names, names)
    expect(codes('cv', 'standardize | knn(k={1,3})', trap, '--ignore', 'row_id,after') & {'leak', 'identifier', 'rare-class', 'scale', 'duplicates'} == {'rare-class'}, 'mended, but for the class')
    expect('leak' not in codes('cv', 'standardize | knn(k={1,3})', trap, '--allow', 'leak,identifier'), 'allowed')
    plain.write_text('a,b,y\n' + '\n'.join(f'{r[1]},{r[1] + r[2] / 500},{r[1] * 2 + r[2] / 500}' for r in rows) + '\n')
    expect(codes('cv', 'ridge(alpha={0.1,1,10})', plain) <= {'set-end'}, f"nothing of it: {codes('cv', 'ridge(alpha={0.1,1,10})', plain)}")
    plain.write_text('a,b,y\n' + '\n'.join(f'{r[1]},{r[2]},{r[2] * 3 - 7}' for r in rows) + '\n')
    expect('leak' in codes('cv', 'least-squares', plain) and 'leak' in codes('compare', plain, 'least-squares'), 'a number that is another')
    twins.write_text('a,b,y\n' + ''.join(f'{r[1]},{r[2] / 500},{r[4]}\n' for r in rows[:40]) * 2)
    expect('duplicates' in codes('cv', 'knn(k={1,3})', twins) and 'duplicates' in codes('compare', twins, 'knn'), 'copies on both sides')
    expect('duplicates' in codes('fit', 'knn(k=1)', twins, '--holdout', '0.3') and 'findings' not in answer('fit', 'knn(k=1)', twins), 'with a hold-out')
    twins.write_text('g,a,b,y\n' + ''.join(f'{i},{r[1]},{r[2] / 500},{r[4]}\n' for i, r in enumerate(rows[:40])) * 2)
    expect('duplicates' not in codes('cv', 'knn(k={1,3})', twins, '--groups', 'g'), 'groups keep them together')
    for words in (('cv', 'knn(k={1,3})', trap), ('compare', trap, 'knn'), ('fit', 'knn', trap, '--holdout', '0.3')):
        expect(run(*words, '--strict').returncode == 2 and run(*words).returncode == 0, f'{words[0]}: findings as an exit code')
    plain.write_text('w,a,b,y\n' + ''.join(f'1,{r[1]},{r[2]},{i // 30}\n' for i, r in enumerate(rows)))
    beaten = run('fit', 'standardize | logistic', plain, '--target', 'y', '--ignore', 'w', '--in-order', '--holdout', '0.1').stdout
    expect('no-better' in beaten and 'the training rows alone is right for 0 of them' in beaten, f'the class to beat is that of the training rows: {beaten}')
    plain.write_text('a,b,y\n' + ''.join(f'{i + draw.random()},{draw.random()},{i}\n' for i in range(100)))
    better = answer('fit', 'standardize | ridge(alpha=40)', plain, '--in-order', '--holdout', '0.1')
    expect(better['held_out']['r2'] < 0 and 'no-better' not in {f['code'] for f in better['findings']}, f'the mean to beat is that of the training rows: {better}')
    compared = ('compare', iris, 'knn(k={1,500})', 'standardize | logistic(max_iter=1)', 'standardize | svm(C={0.01,0.1,1})')
    expect(codes(*compared) >= {'failed', 'stopped'}, f'a comparison tells of its settings: {codes(*compared)}')
    expect(run(*compared, '--strict').returncode == 2 and run(*compared, '--strict', '--allow', 'failed,stopped,set-end').returncode == 0, 'compare --strict')
    ends = {'set-end' in codes('compare', iris, 'knn(k=119)', f'knn(k={{{k}}})') for k in ('1,10,110', '60,100,110')}
    expect(ends == {True, False}, f'a set whose end is best: {ends}')
    svm = d / 'sparse.svm'
    svm.write_text(''.join(f'{r[4] == "yes":d} 1:{r[1]} 3:{r[2]}\n' for r in rows))
    expect('leak' not in codes('cv', 'logistic(C={1,10})', svm), 'sparse tables')


def curves(d):
    """The numbers that gnuplot gets are those of the other commands."""
    script, model, two = d / 'gnuplot', d / 'c.margin', d / 'two.csv'
    script.write_text(f'#!/bin/sh\ncat > {d}/script\n')
    script.chmod(0o755)

    def drawn(*words):
        p = subprocess.run([program, 'plot', *map(str, words), '-o', str(d / 'p.svg')], env={'PATH': f'{d}:/usr/bin:/bin'}, capture_output=True, text=True, timeout=120)
        expect(p.returncode == 0, f'plot {words}: {p.stderr}')
        blocks, text = [[]], (d / 'script').read_text()
        for line in text[text.index('plot '):].splitlines()[1:]:
            blocks = blocks + [[]] if line == 'e' else blocks[:-1] + [blocks[-1] + [list(map(float, line.split()))]]
        return blocks[:-1], text

    spec = 'standardize | ridge(alpha={0.1,10,1000})'
    table = answer('cv', spec, cars, '--training', '--seed', 2)['cells']
    blocks, text = drawn('settings', spec, cars, '--seed', 2)
    expect([b[0] for b in blocks[0]] == [0.1, 10, 1000] and 'set logscale x' in text, 'numbers of a set in order')
    for k, cell in enumerate(table):
        expect(abs(blocks[0][k][1] - cell['mean']) < 1e-9 and abs(blocks[0][k][2] - cell['std']) < 1e-9, f'a validation curve: {blocks[0][k]}')
        expect(abs(blocks[1][k][1] - sum(cell['training']) / 5) < 1e-9, 'training rows')
    spec = 'svm(kernel=rbf, gamma={0.1,1}, C={10,1,0.1})'
    table, (fields, labels), _ = answer('cv', spec, iris, '--stratify')['cells'], *drawn('settings', spec, iris, '--stratify')
    where = {(f'gamma={g}', f'C={c}'): (i, j) for i, g in enumerate(('0.1', '1')) for j, c in enumerate(('0.1', '1', '10'))}
    for cell in table:
        at = [xy for (g, c), xy in where.items() if g + ',' in cell['spec'].replace(')', ',') and c + ',' in cell['spec'].replace(')', ',')]
        expect(len(at) == 1 and [*at[0], cell['mean']] in [[f[0], f[1], f[2]] for f in fields] and fields == labels, f'a map: {cell["spec"]} {at}')
    spec = 'knn(k={1,5,20}, task=regress)'
    answer('cv', 'knn(k=5, task=regress)', cars, '--repeat', 3, '--seed', 4, '--predictions', d / 'out.csv')
    answers = [list(map(float, r[1:])) for r in list(csv.reader(open(d / 'out.csv')))[1:]]
    truth = [float(r[-1]) for r in list(csv.reader(open(cars)))[1:]]
    error = sum((a - y) ** 2 for r, y in zip(answers, truth) for a in r) / 3 / len(truth)
    variance = sum((a - sum(r) / 3) ** 2 for r in answers for a in r) / 2 / len(truth)
    blocks, text = drawn('bias', spec, cars, '--repeat', 3, '--seed', 4)
    expect(all(abs(b[1][1] - v) < 1e-8 * error for b, v in zip(blocks, (error, error - variance, variance))), f'bias and variance: {blocks} {error} {variance}')
    expect(blocks[2][0][1] > blocks[2][2][1] and blocks[1][0][1] < blocks[1][2][1], 'few neighbours vary, many are biased')
    blocks, _ = drawn('bias', 'knn(k={1,100})', iris, '--repeat', 5)
    mean = answer('cv', 'knn(k=1)', iris, '--repeat', 5)['cells'][0]['mean']
    expect(abs(blocks[0][0][1] - (1 - mean)) < 1e-9 and all(abs(e[1] - b[1] - v[1]) < 1e-9 for e, b, v in zip(*blocks)), f'bias of classes: {blocks}')
    refuses(1, 'plot', 'bias', 'knn(k={1,2})', iris, '--repeat', 1, says=('--repeat 2',))
    refuses(1, 'plot', 'bias', 'knn', iris, says=('one set of numbers',))
    blocks, _ = drawn('learning', 'standardize | ridge', cars, '--metric', 'mae')
    mean = answer('cv', 'standardize | ridge', cars, '--metric', 'mae')['cells'][0]['mean']
    expect(len(blocks[0]) == 10 and blocks[0][-1][0] == 40 and abs(blocks[0][-1][1] - mean) < 1e-7, f'a learning curve ends where cv is: {blocks[0][-1]} {mean}')
    expect(blocks[1][0][1] < blocks[0][0][1], 'few rows are learned by heart')
    answer('fit', 'logistic', iris, '-o', model)
    found = answer('evaluate', model, iris)['confusion']
    blocks, _ = drawn('confusion', model, iris)
    expect([b[3] for b in blocks[0]] == [v for row in found for v in row], 'counts of a confusion matrix')
    rows = list(csv.reader(open(iris)))
    two.write_text('\n'.join(','.join(r) for r in rows if r[-1] != 'setosa') + '\n')
    answer('fit', 'logistic(C=0.01)', two, '-o', model)
    blocks, text = drawn('precision', model, two)
    expect(f"average precision {answer('evaluate', model, two)['average_precision']:.4f}" in text and blocks[0][-1] == [1, 0.5], f'precision over recall: {blocks[0][-1]}')
    refuses(1, 'plot', 'settings', 'ridge', cars, says=('one set of numbers',))
    refuses(1, 'plot', 'settings', 'knn(k={1,2}, p={1,2}, weights={uniform,distance})', iris, says=('one set of numbers',))
    refuses(1, 'plot', 'settings', 'knn(weights={uniform,distance})', iris, says=('weights',))
    refuses(1, 'plot', 'learning', 'ridge(alpha={1,2})', cars, says=('one setting',))
    refuses(1, 'plot', 'learning', 'ridge', cars, '--metric', 'auc', says=('auc',))
    refuses(1, 'plot', 'roc', model, two, '-k', '3', says=('bias and learning',))


def nested_is_told(d):
    """The line and the object say the same; without sets there is nothing to choose, and the values are those of the table."""
    found = answer('cv', 'standardize | knn(k={1,5,15})', iris, '--nested', '--stratify', '--inner', 3, '--seed', 1)
    nested, text = found['nested'], run('cv', 'standardize | knn(k={1,5,15})', iris, '--nested', '--stratify', '--inner', 3, '--seed', 1).stdout
    values = [f['value'] for f in nested['folds']]
    expect(abs(sum(values) / 5 - nested['mean']) < 1e-12 and nested['low'] < nested['mean'] < nested['high'], nested)
    expect(f"nested      accuracy {nested['mean']:.6g}".rstrip('0') in text and all(f['spec'].startswith('standardize | knn(k=') for f in nested['folds']), text)
    few = answer('cv', 'standardize | knn(k={1,5,15})', iris, '--nested', '-k', 2, '--seed', 1)['nested']
    expect(few['mean'] < few['high'] <= 1, f'no accuracy is above 1: {few}')
    numbers = answer('compare', cars, 'ridge', 'knn', '-k', 2, '--metric', 'r2')['rows'] + answer('compare', cars, 'ridge', 'knn', '-k', 2)['rows']
    expect(numbers[0]['high'] <= 1 and numbers[1]['high'] <= 1 and numbers[2]['low'] >= 0 and numbers[3]['low'] >= 0, f'nor an R2, nor an error below 0: {numbers}')
    plain = answer('cv', 'standardize | ridge', cars, '--nested', '-k', 4)
    expect(all(abs(f['value'] - v) < 1e-9 for f, v in zip(plain['nested']['folds'], plain['cells'][0]['folds'])), plain['nested'])
    grouped = answer('cv', 'knn(k={1,3})', iris, '--nested', '--groups', 'petal_width', '--inner', 2)
    expect(len(grouped['nested']['folds']) == 5 and 'nested' not in answer('cv', 'knn(k={1,3})', iris), 'nested only where asked for')
    refuses(1, 'cv', 'ridge', cars, '--nested', '--journal', d / 'j', says=('--journal',))


def mistakes(d):
    refuses(1, 'split', iris, says=('--holdout 0.2', '-k 5'))
    refuses(1, 'split', iris, '--holdout', '1.5', says=('between 0 and 1',))
    refuses(1, 'split', iris, '--holdout', '0.2', '-k', '5', says=('choose one',))
    refuses(1, 'fit', 'ridge', cars, '--groups', 'speed', says=('give --holdout',))
    refuses(2, 'split', iris, '-k', '60', '--stratify', says=("class 'setosa' has 50 rows, fewer than the 60 folds",))
    refuses(2, 'split', iris, '-k', '151', says=('150 rows cannot be split into 151 folds',))
    pure = [line.split(',')[1] for line in run('split', iris, '-k', 3, '--groups', 'species', '--stratify').stdout.splitlines()[1:]]
    expect(set(Counter(pure).values()) == {50} and len(Counter(pure)) == 3, f'equal groups of one class each: {Counter(pure)}')
    for words in (('fit', 'logistic', iris, '--holdout', '0.2'), ('cv', 'logistic', iris), ('compare', iris, 'logistic')):
        refuses(1, *words, '--allow', 'failed,foo', says=("'foo'", 'set-end', 'identifier'))
    failed = answer('compare', iris, 'knn(k=1)', 'knn(k=500)')['rows'][1]
    expect(failed['status'] == 'failed' and all(failed[k] is None for k in ('mean', 'low', 'high')), f'nothing is known of what failed: {failed}')
    weighed = d / 'weighed.csv'
    weighed.write_text('w,x,y\n' + ''.join(f'{1 + i % 3},{i},{i % 2}\n' for i in range(30)))
    p = run('split', weighed, '--holdout', '0.3', '--target', 'y', '--weights', 'w', '-o', weighed)
    expect(p.returncode == 0 and '--weights weight' in p.stderr and (d / 'weighed.train.csv').read_text().startswith('x,weight,y\n'), f'{p}')
    for how in (['--groups', 'petal_width'], ['--in-order']):
        run('fit', 'logistic', iris, '--holdout', '0.2', *how, '-o', d / 'a.margin')
        run('split', iris, '--holdout', '0.2', *how, '-o', d / 'iris.csv')
        if how[0] == '--in-order':
            run('fit', 'logistic', d / 'iris.train.csv', '-o', d / 'b.margin')
            expect((d / 'a.margin').read_bytes() == (d / 'b.margin').read_bytes(), f'split writes the rows of a fit: {how}')
        else:
            trained = json.loads(run('inspect', d / 'a.margin', '--json').stdout)['report']['rows']
            expect(trained == len((d / 'iris.train.csv').read_text().splitlines()) - 1, f'{how}: {trained}')
    dated = d / 'dated.csv'
    days = [f'2024-{1 + k % 12:02}-{1 + k % 28:02}' for k in range(60)]
    for form, ok in ((lambda day: day, True), (lambda day: day + 'T09:30', True), (lambda day: '/'.join(str(int(p)) for p in reversed(day.split('-'))), False)):
        dated.write_text('date,x,y\n' + ''.join(f'{form(day)},{k},{k % 2}\n' for k, day in enumerate(days)))
        words = ('split', dated, '--time', 'date', '--target', 'y', '--holdout', '0.2')
        if ok:
            parts = [line.split(',')[1] for line in run(*words).stdout.splitlines()[1:]]
            expect(max(t for t, p in zip(days, parts) if p == 'train') < min(t for t, p in zip(days, parts) if p == 'test'), f'{form(days[0])}: the test part is later')
        else:
            refuses(1, *words, says=('2024-03-17', 'column date holds', 'place in time'))
    resumed = [d / 'first.csv', d / 'second.csv']
    for path in resumed:
        expect(run('cv', 'knn(k={1,5,15})', iris, '--journal', d / 'kept', '--predictions', path).returncode == 0 and path.exists(), f'{path} is written')
    expect(resumed[0].read_bytes() == resumed[1].read_bytes(), 'predictions of what the journal knew')
    ends = [f['finding'] for f in answer('cv', 'poly(degree={1,2,3}) | standardize | ridge(alpha={1e5,1e6,1e7})', cars)['findings'] if f['code'] == 'set-end']
    expect(len(ends) == 1 and 'degree' in ends[0] and 'alpha' in ends[0], f'every set whose end is best: {ends}')
    apart = d / 'apart.csv'
    apart.write_text(''.join(line + '\n' for line in iris.read_text().splitlines() if 'virginica' not in line))
    found = answer('cv', 'standardize | logistic(C={1,10,100})', apart)
    expect(found['cells'][0]['mean'] == 1 and 'set-end' not in {f['code'] for f in found['findings']}, f'nothing is better than all right: {found["findings"]}')
    lone = d / 'lone.csv'
    lone.write_text('x,y\n' + ''.join(f'{k},{1 if k < 30 else k}\n' for k in range(60)))
    cell = json.loads(run('cv', 'ridge', lone, '--in-order', '-k', 4, '--metric', 'r2', '--json').stdout)['cells'][0]
    expect(cell['mean'] is None and 'not defined' in cell['reason'], f'a metric without a value says so: {cell}')
    told = run('cv', 'ridge', lone, '--in-order', '-k', 4, '--metric', 'r2').stdout
    expect('none: the metric is not defined' in told and 'stopped early' not in told, f'why nothing is best: {told}')
    for metric, table in (('auc', iris), ('average_precision', iris), ('r2', cars)):
        refuses(1, 'cv', 'knn', table, '--leave-one-out', '--metric', metric, says=('single rows', metric))
    told = run('cv', 'svm(kernel={rbf,poly}, degree={2,3})', iris)
    expect('4 settings are tried as 3' in told.stderr and 'failed' not in told.stdout and 'svm(kernel=rbf)' in told.stdout, f'options of other kernels: {told.stdout} {told.stderr}')
    told = run('cv', 'ridge(alpha={1,10})', cars, '--training', '--table', d / 'training.csv').stdout
    lines = list(csv.DictReader(open(d / 'training.csv')))
    mean = sum(float(lines[0][f'training{k}']) for k in range(1, 6)) / 5
    expect('training  ended' in told and f'{mean:.6g}  converged' in told, f'figures of the training rows: {told}')
    told = run('cv', 'ridge', cars, '--nested', '--leave-one-out', '--inner', 2).stdout
    expect('the first 40 of 50' in told and len(told.splitlines()) < 60, 'of many folds some')
    refuses(2, 'split', iris, '-k', '5', '--groups', 'species', says=('3 groups cannot be split into 5 folds',))
    refuses(1, 'evaluate', 'm', iris, '--unknown-classes', 'maybe', says=('refuse|wrong',))
    refuses(1, 'fit', 'ridge', cars, '--test', '0.2', says=('--holdout',))


with tempfile.TemporaryDirectory() as folder:
    for part in (parts_are_files_and_lists, groups_do_not_leak, classes_are_told, promises_are_kept, columns_matter, findings_of_data, curves, nested_is_told, mistakes):
        try:
            part(Path(folder))
        except Exception as problem:
            expect(False, f'{part.__name__} broke off: {problem!r}')
finish()
