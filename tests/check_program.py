#!/usr/bin/env python3
"""The program as a person at a shell meets it: answers, exit codes, messages, files.

usage: check_program.py PROGRAM SOURCE_DIR

Prints a line for each breach and 'N passed, N failed' at the end.
"""
import csv
import gzip
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

program, source = sys.argv[1], Path(sys.argv[2])
examples = source / 'examples' / 'data'
passed, failed = 0, 0


def expect(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print('breach:', what)


def run(*words, stdin=None, text=True):
    return subprocess.run([program, *map(str, words)], input=stdin, capture_output=True, text=text, timeout=120)


def refuses(code, *words, says=(), stdin=None):
    """The command fails with that exit code and a message that holds all of `says`, and prints no result."""
    p = run(*words, stdin=stdin)
    line = ' '.join(map(str, words))
    expect(p.returncode == code, f'{line}: exit {p.returncode}, not {code}: {p.stderr.strip()[:200]}')
    expect(p.stdout == '', f'{line}: prints a result although it failed')
    expect(not re.search('margin_[a-z]+_options|MARGIN_', p.stderr), f'{line}: names an option of C: {p.stderr.strip()[:300]}')
    for word in says:
        expect(str(word) in p.stderr, f'{line}: does not say "{word}": {p.stderr.strip()[:300]}')


def answer(*words, codes=(0,), stdin=None):
    p = run(*words, '--json', stdin=stdin)
    expect(p.returncode in codes, f'{" ".join(map(str, words))}: exit {p.returncode}: {p.stderr.strip()[:200]}')
    try:
        return json.loads(p.stdout)
    except ValueError:
        expect(False, f'{" ".join(map(str, words))}: no JSON')
        return {}


def known_answers(d):
    model, trace = d / 'points.margin', d / 'trace.csv'
    points = examples / 'points.csv'
    r = answer('fit', 'perceptron(order=first)', points, '-o', model, '--trace', trace)
    expect(r.get('mistakes') == 7 and r.get('status') == 'converged', f'seven mistakes on the three points: {r}')
    lines = [line.split(',') for line in trace.read_text().split()]
    expect(lines[0][:6] == ['step', 'row', 'errors', 'b', 'w1', 'w2'], f'columns of the trace: {lines[0]}')
    expect([int(x[1]) for x in lines[1:]] == [0, 1, 3, 3, 3, 1, 3, 3], 'picks of the textbook')
    expect(lines[1] == ['0', '0', '3', '0', '0', '0', '0', ''], f'the start: {lines[1]}')
    expect([float(x) for x in lines[-1][3:6]] == [-3, 1, 1], 'w = (1, 1), b = -3')
    r = answer('inspect', model)
    expect(r.get('weights') == [1, 1] and r.get('intercept') == -3, f'inspect: {r}')
    answer('fit', 'perceptron(form=dual, order=first, rate=0.5)', points, '--trace', trace)
    steps = list(csv.DictReader(trace.open()))
    columns = [f'{name}{i}' for name in ('alpha', 'n') for i in (1, 2, 3)]
    expect([float(steps[0][c]) for c in columns] == [0] * 6 and steps[0]['row'] == '0', f'the dual form starts at 0: {steps[0]}')
    expect([float(steps[-1][c]) for c in columns] == [1, 0, 2.5, 2, 0, 5], f'alpha and n of the last step: {steps[-1]}')
    answer('fit', 'perceptron(form=dual, order=first)', points, '-o', model)
    r = answer('inspect', model)
    alpha = dict(zip(r.get('rows', []), r.get('coefficients', [])))
    expect([alpha.get(i, 0) for i in (1, 2, 3)] == [2, 0, 5], f'alpha = (2, 0, 5): {alpha}')
    line = d / 'line.csv'
    line.write_text('x,y\n1,1\n2,2\n3,2\n')
    answer('fit', 'least-squares(solver=gd, rate=0.15, max_iter=1)', line, '--trace', trace, codes=(3,))
    rows = [row.split(',') for row in trace.read_text().split()]
    expect([row[:3] for row in rows] == [['step', 'row', 'errors'], ['0', '0', ''], ['1', '0', '']], f'start and one step: {rows}')
    expect(abs(float(rows[2][3]) - 0.5) < 1e-12 and abs(float(rows[2][4]) - 1.1) < 1e-12 and rows[1][5] == '3',
           f'the step by hand: b = 0.5, w = 1.1, from an objective of 3: {rows}')
    r = answer('separable', examples / 'xor.csv')
    expect(r.get('separable') is False, 'exclusive or is not separable')
    said = run('separable', examples / 'xor.csv').stdout
    expect('coincide to the residual, so no hyperplane parts them by more' in said, f'how far the answer holds: {said}')
    for side in ('positive', 'negative'):
        expect(all(abs(w - 0.5) < 1e-12 for _, w in r.get(side, [])) and len(r.get(side, [])) == 2,
               f'weights 1/2, 1/2 on the {side} side: {r.get(side)}')
    r = answer('fit', 'perceptron(kernel=poly, degree=2)', examples / 'xor.csv')
    expect(r.get('train', {}).get('accuracy') == 1, 'a polynomial kernel solves exclusive or')
    r = answer('fit', 'perceptron', examples / 'xor.csv', codes=(3,))
    expect(r.get('status') == 'stopped' and 'separable' in r.get('reason', ''), f'xor stops with the truth: {r.get("reason")}')


def arrow_through_a_pipe(d):
    """A stream of Arrow on standard input is the table of its CSV, batch after batch."""
    stream, spec = (source / 'fuzz/seeds/arrow/texts').read_bytes(), 'impute | onehot | standardize | knn(k=3)'
    table = d / 'arrow.csv'
    table.write_text('size,count,hot,colour,class\n,-20,1,red,yes\n-0.75,-13,0,green,no\n-0.5,-6,1,,no\n-0.25,1,,blue,yes\n0.0,8,1,red,no\n,15,0,green,no\n'
                     '0.5,22,1,,yes\n0.75,29,0,blue,no\n1.0,36,1,red,no\n1.25,43,0,green,yes\n,50,1,,no\n1.75,57,0,blue,no\n')
    piped, read = d / 'piped.margin', d / 'read.margin'
    answer('fit', spec, table, '-o', read)
    p = run('fit', spec, '-', '-o', piped, stdin=stream, text=False)
    expect(p.returncode == 0 and piped.read_bytes() == read.read_bytes(), f'a fit to Arrow on standard input: {p.stderr[:300]}')
    p = run('predict', piped, '-', stdin=stream, text=False)
    expect(p.returncode == 0 and p.stdout.decode() == run('predict', read, table).stdout, f'answers to Arrow on standard input: {p.stderr[:300]}')
    p = run('fit', spec, '-', stdin=stream[:700], text=False)
    expect(p.returncode == 2 and b'is cut off' in p.stderr and not p.stdout, f'a stream that is cut off: {p.returncode} {p.stderr[:300]}')


def iris_works(d):
    model = d / 'iris.margin'
    for multiclass in ('ovr', 'ovo', 'argmax'):
        r = answer('fit', f'standardize | perceptron(variant=pocket, order=shuffled, passes=50, multiclass={multiclass})',
                   examples / 'iris.csv', '-o', model, codes=(0, 3))
        expect(r.get('train', {}).get('accuracy', 0) > 0.9, f'iris, {multiclass}: {r.get("train")}')
        e = answer('evaluate', model, examples / 'iris.csv', '--verify')
        expect(e.get('accuracy') == r['train']['accuracy'], f'evaluate agrees with the report, {multiclass}')
        expect(e.get('verification', {}).get('holds') is True, f'the proof holds, {multiclass}: {e.get("verification")}')
        expect(sum(map(sum, e.get('confusion', [[]]))) == 150, 'the confusion matrix counts every row')
        i = answer('inspect', model)
        expect(len(i.get('weights', [])) == 3 and len(i.get('classes_of', [])) == 3, f'inspect lists three functions, {multiclass}')
    p = run('predict', model, examples / 'iris.csv', '--scores')
    lines = p.stdout.strip().split('\n')
    expect(len(lines) == 151 and lines[0].endswith(',species'), f'predict --scores: {lines[0]}')
    expect({line.split(',')[-1] for line in lines[1:]} <= {'setosa', 'versicolor', 'virginica'}, 'the last column is the class')
    shuffled = [line.split(',') for line in (examples / 'iris.csv').read_text().split()]
    (d / 'other-order.csv').write_text('\n'.join(','.join(c[k] for k in (4, 2, 0, 3, 1)) for c in shuffled) + '\n')
    q = run('predict', model, d / 'other-order.csv', '--scores')
    expect(q.stdout == p.stdout, 'columns are matched by name')
    (d / 'short.csv').write_text('sepal_length,sepal_width\n1,2\n')
    refuses(2, 'predict', model, d / 'short.csv', says=('petal_length', 'petal_width'))
    refuses(1, 'predict', model, examples / 'iris.csv', '--proba', says=('--scores',))
    expect(run('evaluate', model, examples / 'iris.csv', '--margins', d / 'margins.csv').returncode == 0, 'evaluate --margins')
    expect((d / 'margins.csv').read_text().count('\n') == 151, 'a margin for each row')


def reports(d):
    """What a person reads: the target first, six digits, what is proof and what is detail, one pass and two."""
    iris, cars, two, model = examples / 'iris.csv', examples / 'cars.csv', d / 'two.csv', d / 'reports.margin'
    two.write_text(''.join(line for line in iris.open() if 'setosa' not in line))
    text = run('fit', 'standardize | svm', iris, '-o', model).stdout
    expect(text.startswith('target      species (the last column; --target chooses another)\n150 rows'), f'fit names the target first: {text}')
    expect('details     support vectors' in text and 'proof' not in text, f'statistics are details: {text}')
    expect(run('evaluate', model, iris).stdout.startswith('target      species\n'), 'evaluate names the target first')
    expect('\ntarget      species\n' in run('inspect', model).stdout, 'inspect names the target')
    for words in (['inspect', model], ['evaluate', model, iris, '--verify'], ['separable', two]):
        text = run(*words).stdout
        expect(not re.search(r'\d\.\d{9}', text), f'{words[0]} prints six digits: {text}')
    weights = answer('inspect', model)['weights'][0]
    expect(any(len(repr(w)) > 14 for w in weights), 'JSON prints every digit')
    expect(run('fit', 'knn', cars, '--target', 'speed', '--categorical', 'speed').stdout.startswith('target      speed\n'), 'a target that was chosen')
    text = run('fit', 'standardize | knn(k=7, weights=distance, p=1)', iris).stdout
    expect('rule        7 neighbours by Manhattan distance, classes by vote, the nearer the more' in text and 'trained     1 pass,' in text
           and 'gap' not in text and 'minimised' not in text, f'a rule is no minimum: {text}')
    text = run('fit', 'naive-bayes', iris).stdout
    expect('rule        P(c|x)' in text and 'gap' not in text and text.endswith('model       not kept (-o FILE keeps it)\n'), f'naive Bayes: {text}')
    text = run('fit', 'kmeans(k=3)', cars, '--target', '').stdout
    expect('minimised   inertia' in text and 'gap' not in text and 'target' not in text, f'k-means claims no gap: {text}')
    p = run('fit', 'svm', iris, '-q', '-o', model)
    expect((p.stdout, p.stderr) == ('', ''), f'a quiet fit says nothing: {p.stdout}')
    p = run('fit', 'perceptron', examples / 'xor.csv', '-q')
    expect(p.returncode == 3 and p.stdout == '' and 'warning: stopped early' in p.stderr, f'but that it stopped early: {p.stderr}')
    run('fit', 'perceptron(form=dual, order=first)', examples / 'points.csv', '-o', model)
    expect('2 of 3 rows have a coefficient' in run('inspect', model).stdout, 'the rows are those of training')
    answer('fit', 'svm(kernel=rbf, gamma=0.5)', iris, '-o', model)
    shown, i = run('inspect', model).stdout, answer('inspect', model)
    expect('\ndetails     gamma 0.5, support vectors' in shown and '   C=1 alpha=' in shown and shown.count('(intercept)') == 3 and
           '(alpha, class sign)' in shown and len(i['intercept']) == 3 and 'updates' not in i, f'inspect of a kernel: {shown}')
    expect(', 1 penalty in' in run('path', 'ridge', cars).stdout, 'one penalty')


def judged(d):
    """Precision, recall and F1 say of which class; a matrix that is too wide becomes a list of mistakes."""
    table, model, letters = d / 'judged.csv', d / 'judged.margin', d / 'letters.csv'
    table.write_text('x,y\n' + '1,no\n2,no\n3,yes\n4,no\n5,yes\n6,yes\n7,yes\n1,yes\n')
    run('fit', 'logistic', table, '-o', model)
    e, text = answer('evaluate', model, table), run('evaluate', model, table).stdout
    (_, false), (miss, right) = e['confusion']
    expect(abs(e['precision'] - right / (right + false)) < 1e-12 and abs(e['recall'] - right / (right + miss)) < 1e-12
           and abs(e['f1'] - 2 * right / (2 * right + miss + false)) < 1e-12, f'precision and recall: {e}')
    expect(text.count('(of yes)') == 4 and 'at least (functional' in text and 'true \\ predicted' in text, f'of which class: {text}')
    letters.write_text('x,y\n' + ''.join(f'{i * 37 % 53},class{i % 26:02}\n' for i in range(260)))
    run('fit', 'knn(k=9)', letters, '-o', model)
    text = run('evaluate', model, letters).stdout
    expect('taken for' in text and '(mean of the classes)' in text and max(map(len, text.split('\n'))) <= 92, f'26 classes: {text}')


def predictions_line_up(d):
    """A prediction for each row in its place, with the columns that tell which row it is; the name of the output says what is in it."""
    table, model, out = d / 'line.csv', d / 'line.margin', d / 'p.csv'
    table.write_text('id,a,b,y\n007,1,2,no\n12345678901234567890,3,4,yes\n"x, y",?,1,yes\n?,4,5,yes\n')
    run('fit', 'perceptron', table, '--ignore', 'id', '--missing', 'drop', '-o', model)
    p = run('predict', model, table, '--missing', 'drop')
    expect([line == '""' for line in p.stdout.split('\n')[1:5]] == [False, False, True, False], f'an empty prediction in its place: {p.stdout!r}')
    expect('1 row has no prediction' in p.stderr, f'and a word about it: {p.stderr}')
    p = run('predict', model, table, '--missing', 'drop', '--keep', 'id,-1', '--scores')
    lines = p.stdout.split('\n')
    expect(lines[0] == 'id,y,score(yes:no),prediction(y)' and lines[1].startswith('007,no,') and lines[2].startswith('12345678901234567890,yes,')
           and lines[3] == '"x, y",yes,,' and lines[4].startswith(',yes,'), f'kept as they stand: {p.stdout!r} {p.stderr}')
    refuses(2, 'predict', model, table, '--missing', 'drop', '--keep', 'name', says=("'name'",))
    refuses(1, 'predict', model, '-', '--keep', 'id', '--missing', 'drop', stdin=table.read_text(), says=('standard input',))
    refuses(1, 'predict', model, table, '--keep', 'id', '--json', says=('--keep',))
    for name in ('p.npy', 'p.svm', 'p.csv.gz', 'p.parquet'):
        refuses(1, 'predict', model, table, '-o', d / name, says=(name, '.csv, .tsv or .json'))
        expect(not (d / name).exists(), f'{name} is not written')
    run('predict', model, table, '--missing', 'drop', '--scores', '-o', d / 'p.tsv')
    expect((d / 'p.tsv').read_text().startswith('score(yes:no)\ty\n'), 'tabs in a .tsv')
    run('predict', model, table, '--missing', 'drop', '-o', d / 'p.json')
    expect(json.loads((d / 'p.json').read_text())['predictions'][2] is None, 'JSON in a .json')
    run('fit', 'impute | least-squares', table, '--target', 'b', '--ignore', 'id,y', '-o', model)
    expect('""' not in run('predict', model, table).stdout.split('\n')[:5], 'impute fills in')
    expect(run('predict', model, table, '--missing', 'drop').stdout.split('\n')[3] == '""', 'unless rows with missing values are to be left out')


def counts_are_whole(d):
    """A count of five or more digits prints them all; classes that a model does not know are named."""
    table, other, model = d / 'many.csv', d / 'other.csv', d / 'many.margin'
    table.write_text('a,y\n' + '1,no\n' * 12345 + '2,yes\n' * 10001)
    other.write_text('a,y\n1,never\n2,yes\n')
    run('fit', 'perceptron', table, '-o', model)
    expect('12345' in run('evaluate', model, table).stdout, 'the confusion matrix prints whole numbers')
    refuses(2, 'evaluate', model, other, says=("'no', 'yes'", 'does not know'))


def missing_values(d):
    table, model = d / 'missing.csv', d / 'missing.margin'
    table.write_text('a,b,w,y\n1,2,0,?\n3,4,1,no\n2,1,1,yes\n4,5,1,no\n?,1,1,yes\n')
    words = ['fit', 'impute | perceptron', table, '--weights', 'w']
    p = run(*words, '-o', model)
    expect(p.returncode == 0 and '4 rows, 2 columns, 2 classes: no 2, yes 2' in p.stdout,
           f'rows of weight 0 are not counted: {p.stdout} {p.stderr}')
    refuses(2, *words, '--missing', 'error', says=('missing.csv:2',))
    expect('3 rows' in run(*words, '--missing', 'drop').stdout, '--missing drop leaves a row out')
    q = run('fit', 'perceptron', table, '--weights', 'w', '--missing', 'mean')
    expect(q.returncode == 0 and '4 rows' in q.stdout, f'--missing mean fills in: {q.stderr}')
    for command in (['predict', model], ['evaluate', model], ['separable']):
        refuses(1, *command, table, '--missing', 'mean', says=('margin fit',))
    p = run('predict', model, table)
    expect(p.returncode == 0 and p.stdout.count('\n') == 6, f'a model with impute predicts every row: {p.stderr}')
    refuses(2, 'predict', model, table, '--missing', 'error', says=('--missing drop', 'impute'))
    gaps = d / 'gaps.csv'
    gaps.write_text('a,b,y\nred,1,no\n?,2,yes\nred,3,?\nblue,4,yes\nblue,5,no\n')
    refuses(2, 'fit', 'standardize | logistic', gaps, says=("'impute | onehot | standardize | logistic'",))
    refuses(2, 'fit', 'onehot | impute | svm', gaps, says=('put impute first in the spec',))


def traces(d):
    trace = d / 'steps.csv'
    table = d / 'numbers.csv'
    table.write_text('a,b,y\n1,2,0\n3,4,1\n2,1,2\n4,5,1\n9,1,2\n8,3,0\n')
    (d / 'bar.csv').write_text('a,y\n1,a|b\n2,c\n3,a|b\n4,c\n')
    run('fit', 'perceptron(passes=3)', table, '--trace', trace)
    lines = [line.split(',') for line in trace.read_text().split()]
    expect(lines[0][-1] == 'subproblem' and {line[-1] for line in lines[1:]} == {'1', '2', '3'},
           f'three classes called by numbers have three sub-problems: {lines[0]}')
    run('fit', 'perceptron', examples / 'points.csv', '--trace', trace)
    expect('subproblem' not in trace.read_text(), 'two classes have none')
    r = answer('fit', 'logistic(class_weight="a|b:2")', d / 'bar.csv')
    run('fit', 'logistic(solver=gd)', examples / 'points.csv', '--trace', trace)
    start = next(csv.DictReader(trace.open()))
    expect((start['step'], start['errors']) == ('0', '3'), f'at w = 0 every row counts as misclassified: {start}')
    expect('score 0' in run('help', 'fit').stdout, 'which help says')
    expect(r.get('learner') == 'logistic', f'a bar within an option is no stage: {r.get("learner")}')
    run('fit', 'svm(kernel=rbf, solver=gd, max_iter=3)', examples / 'points.csv', '--trace', trace)
    expect([line.split(',')[0] for line in trace.read_text().split()[1:]] == ['0', '1', '2', '3'], 'steps on coefficients')
    for learner in ('ridge(solver=gd, max_iter=3)', 'softmax(solver=gd, max_iter=3)'):
        run('fit', learner, table, '--trace', trace)
        expect('loss' in trace.read_text() and 'subproblem' not in trace.read_text(), f'{learner} is one problem')


def same_bytes(d):
    rng = random.Random(1)
    table = d / 'same.csv'
    with table.open('w') as f:
        f.write('a,b,c,kind,y\n')
        for _ in range(9000):
            x = [rng.gauss(0, 1) for _ in range(3)]
            f.write(','.join(map(repr, x)) + f',{rng.choice("uvw")},{"yes" if x[0] - x[1] + rng.gauss(0, .1) > 0 else "no"}\n')
    for spec in ('onehot | standardize | perceptron(variant=averaged, order=shuffled, passes=5)',
                 'onehot | minmax | perceptron(form=dual, passes=2)', 'onehot | perceptron(kernel=rbf, sigma=1, passes=2)'):
        seen = set()
        for threads in (1, 2, 3, 4):
            p = run('fit', spec, table, '-o', d / 'same.margin', '--threads', threads, '--seed', 7, '-q')
            expect(p.returncode in (0, 3), f'{spec}: exit {p.returncode} {p.stderr[:200]}')
            seen.add((d / 'same.margin').read_bytes())
        expect(len(seen) == 1, f'{spec}: the same bytes with 1, 2, 3 and 4 threads')
    (d / 'same.csv.gz').write_bytes(gzip.compress(table.read_bytes()))
    one = run('check', table, '--json').stdout
    for other in (run('check', d / 'same.csv.gz', '--json').stdout, run('check', '-', '--json', stdin=table.read_text()).stdout):
        expect(json.loads(other)['columns'] == json.loads(one)['columns'], 'a compressed file and standard input read like the file')


def formats(d):
    iris = examples / 'iris.csv'
    for name in ('iris.tsv', 'iris.svm', 'iris.csv.gz'):
        expect(run('convert', iris, d / name).returncode == 0, f'convert to {name}')
        expect(run('convert', d / name, d / 'back.csv').returncode == 0, f'convert {name} back')
        if name != 'iris.svm':
            expect((d / 'back.csv').read_text() == iris.read_text(), f'{name} and back gives the same bytes')
    expect(run('convert', iris, d / 'iris.npy', '--labels-out', d / 'labels.npy').returncode == 0, 'convert to npy')
    refuses(1, 'convert', iris, d / 'iris.npy', says=('(--labels-out)',))
    refuses(1, 'check', d / 'iris.npy', '--labels', d / 'labels.npy', '--target', '1', says=('by --labels and --target',))
    r = answer('check', d / 'iris.npy', '--labels', d / 'labels.npy')
    expect(r.get('rows') == 150 and len(r.get('columns', [])) == 5, f'npy with labels: {r}')


def bad_tables(d):
    cases = [
        ('ragged.csv', 'a,b,c\n1,2,x\n3,y\n', 2, ('ragged.csv:3',)),
        ('empty.csv', '', 2, ('empty.csv',)),
        ('header.csv', 'a,b,class\n', 2, ('header.csv',)),
        ('nan.csv', 'a,b,c\n1,2,x\nnan,4,y\n', 2, ('nan.csv:3', '--missing drop')),
        ('inf.csv', 'a,b,c\n1,2,x\ninf,4,y\n', 2, ('row 2', '(--ignore)')),
        ('one-class.csv', 'a,b,c\n1,2,x\n3,4,x\n', 2, ('two classes',)),
        ('quote.csv', 'a,b\n"1,2\n3,4\n', 2, ('quote.csv',)),
        ('zero.svm', '1 0:1\n-1 1:2\n', 2, ('zero.svm:1', '0')),
        ('descending.svm', '1 2:1 1:1\n-1 1:2\n', 2, ('descending.svm:1',)),
        ('huge-index.svm', '1 99999999999:1\n-1 1:2\n', 2, ('huge-index.svm:1',)),
        ('value.svm', '1 1:x\n-1 1:2\n', 2, ('value.svm:1',)),
    ]
    for name, text, code, says in cases:
        (d / name).write_text(text)
        extra = ['--one-based'] if name == 'zero.svm' else []
        refuses(code, 'fit', 'perceptron', d / name, *extra, says=says)
    (d / 'stray.csv').write_text('a,b,c\n' + '1,2,x\n3,4,y\n' * 500 + '5,oops,x\n')
    refuses(2, 'fit', 'perceptron', d / 'stray.csv', says=('stray.csv:1002', 'oops', '(--categorical)'))
    (d / 'huge.csv').write_text('a,c\n1e999999,x\n2,y\n')
    refuses(2, 'fit', 'perceptron', d / 'huge.csv', says=('row 1',))
    (d / 'text.csv').write_text('a,colour,c\n1,red,x\n2,green,y\n')
    refuses(2, 'fit', 'perceptron', d / 'text.csv', says=('colour', 'onehot'))
    (d / 'one.csv').write_text('a,b,c\n1,2,x\n')
    refuses(2, 'fit', 'perceptron', d / 'one.csv')
    (d / 'constant.csv').write_text('a,b,c\n1,7,x\n2,7,x\n5,7,y\n6,7,y\n')
    r = answer('fit', 'standardize | perceptron', d / 'constant.csv', '-o', d / 'constant.margin')
    expect(answer('inspect', d / 'constant.margin').get('weights', [0, 1])[1] == 0, 'a constant column gets weight 0')
    whole = gzip.compress((examples / 'iris.csv').read_bytes())
    (d / 'cut.csv.gz').write_bytes(whole[:len(whole) // 2])
    refuses(2, 'check', d / 'cut.csv.gz', says=('cut.csv.gz',))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }"
    header += b' ' * (117 - len(header)) + b'\n'
    (d / 'lie.npy').write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + b'\0' * 80)
    refuses(2, 'check', d / 'lie.npy', says=('lie.npy',))
    refuses(5, 'fit', 'perceptron', d / 'absent.csv', says=('absent.csv',))
    refuses(2, 'fit', 'perceptron', examples / 'iris.csv', '--target', 'specie', says=('specie', 'species'))
    iris = examples / 'iris.csv'
    refuses(2, 'separable', iris, says=('3 classes', '--class setosa'))
    refuses(2, 'separable', iris, '--class', 'rose', says=("no class 'rose'", 'setosa, versicolor, virginica'))
    for name, apart in (('setosa', True), ('versicolor', False), ('virginica', False)):
        expect(answer('separable', iris, '--class', name).get('separable') is apart, f'{name} against the rest')


def usage(d):
    iris = examples / 'iris.csv'
    refuses(1, 'fit', 'perceptrn', iris, says=('perceptrn', 'perceptron'))
    refuses(1, 'fit', 'perceptron(rat=1)', iris, says=('rate',))
    refuses(1, 'fit', 'perceptron(rate=2)', iris, says=('rate',))
    refuses(1, 'fit', 'perceptron(kernel=rbf, gamma=1, sigma=1)', iris, says=('gamma', 'sigma'))
    refuses(1, 'fit', 'perceptron(rate={0.1,1})', iris)
    refuses(1, 'cv', 'svm(C={1,10})', iris, '-k', '3', '--inner', '3', says=('--inner', '--nested'))
    refuses(1, 'gram', 'svm(kernel=rbf)', iris, '--json', '-o', '-', says=('--json', 'standard output'))
    refuses(1, 'fit', 'perceptron |', iris)
    refuses(1, 'fit', 'pca | svm', iris, says=('pca is not part of margin',))
    refuses(1, 'fit', 'logistic(class_weight=1:1,2:5)', iris, says=('logistic(class_weight="1:1,2:5")',))
    refuses(2, 'fit', 'least-squares', iris, says=('species has categories', 'logistic', 'softmax', 'svm', 'knn'))
    for spec in ('poly | ridge', 'rbf(centres=3) | least-squares'):
        expect('constant' not in run('fit', spec, examples / 'cars.csv').stdout, f'{spec}: the column of ones is no news')
    (d / 'constant.csv').write_text('a,b,y\n1,7,1\n2,7,3\n4,7,4\n')
    expect('column b is constant' in run('fit', 'ridge', d / 'constant.csv').stdout, 'a constant column of the table is')
    refuses(1, 'fit', '', iris)
    refuses(1, 'fit', 'logistic(C={1,10})', iris, says=('margin cv compares them',))
    refuses(1, 'fit', 'ridge', examples / 'cars.csv', '--threshold', '0.5', says=('decide between classes',))
    refuses(1, 'cv', 'ridge', examples / 'cars.csv', '--stratify', says=('--stratify shares out classes', 'target dist'))
    refuses(1, 'cv', 'ridge', examples / 'cars.csv', '-k', '1', says=('1 fold cannot',))
    refuses(1, 'neighbours', says=('margin fit knn DATA',))
    stopped = run('fit', 'logistic(C=inf)', examples / 'points.csv').stdout
    expect('stopped' in stopped and 'asked' not in stopped, f'no gap below what was asked is told of a stop: {stopped}')
    r = answer('split', iris, '-k', '5', '--repeat', '2')
    expect(r['rows'] == 150 and [len(f) for f in r['folds']] == [150, 150] and set(r['folds'][0]) == {1, 2, 3, 4, 5}, 'folds as arrays')
    r = answer('split', iris, '--holdout', '0.2')
    expect(r['parts'][0].count('test') == 30 and r['parts'][0].count('train') == 120, 'parts as arrays')
    refuses(1, 'fit', 'perceptron', says=('DATA is missing: a file, or - for standard input',))
    refuses(1, 'fit', iris, 'perceptron', says=('the spec comes first', "margin fit 'perceptron'"))
    for word, meant in (('train', 'fit'), ('eval', 'evaluate'), ('show', 'inspect')):
        refuses(1, word, says=(f'did you mean {meant}?',))
    expect(run('help', 'knn').stdout == run('learners', 'knn').stdout != '', 'help of a learner')
    refuses(1, 'fit', 'perceptron', iris, '--label', 'species', says=('--target',))
    refuses(1, 'fit', 'perceptron', iris, '--test', '0.3', says=('--holdout',))
    refuses(1, 'compare', 'standardize | logistic', 'ridge', iris, says=('the table comes first', "iris.csv 'standardize | logistic'"))
    refuses(1, 'convert', iris, '-o', d / 'made.svm', says=('OUT is the second word',))
    refuses(1, 'cv', 'standardize | {logistic, svm}', iris, says=('margin compare',))
    refuses(2, 'plot', 'elbow', 'kmeans(k={1..4})', iris, says=('--ignore species leaves it out',))
    refuses(2, 'fit', 'logistic', examples / 'cars.csv', says=('name it (--target)', 'as categories (--categorical)'))
    for word in ('foo', 'C'):
        expect('did you mean' not in run('learners', word).stderr, f'learners {word}: nothing is near')
    expect('did you mean knn?' in run('learners', 'kn').stderr, 'a slip is still found')
    named = d / 'named.margin'
    run('fit', 'standardize | logistic', iris, '-o', named)
    for option, words in (('--keep', ('predict', named, iris, '--keep', 'foo')), ('--keep', ('predict', named, iris, '--keep', '99')),
                          ('--groups', ('split', iris, '-k', '3', '--groups', 'nope')), ('--groups', ('split', iris, '-k', '3', '--groups', '77')),
                          ('--groups', ('fit', 'logistic', iris, '--holdout', '0.2', '--groups', 'nope'))):
        refuses(2, *words, says=(f'({option}): the file has 5 columns',))
    refuses(2, 'fit', 'perceptron', iris, '--ignore', 'species', '--target', 'species', says=('to be ignored and the target at once',))
    expect('two-class (more by multiclass=...)' in run('learners', 'svm').stdout, 'svm takes more than two classes')
    expect('does not hold' in run('help').stdout, 'what exit code 3 means')
    for words, says in ((('--ignore', 'a', '--ignore', 'b'), '--ignore is given twice: name all columns in one list'),
                        (('--holdout=0.2', '--holdout', '0.5'), '--holdout is given twice')):
        refuses(1, 'fit', 'svm', iris, *words, says=(says,))
    r = answer('fit', 'svm(kernel=rbf, lambda=0.01)', examples / 'wine.csv')
    expect(r['C'] is None and r['lambda'] == 0.01, f'pairs of unlike sizes have no C in common: {r}')
    refuses(1, 'frobnicate', says=('frobnicate',))
    refuses(1, 'fti', says=('did you mean fit?',))
    expect('[1, inf], default 2' in run('learners', 'knn').stdout, 'p of knn takes inf')
    expect('(0, inf], default 1' in run('learners', 'logistic').stdout, 'C takes inf')
    one = d / 'one.csv'
    one.write_text('x,y\n3,1.5\n')
    expect('1 row, 2 columns, 0 missing values' in run('check', one).stdout, 'one row is no rows')
    refuses(1, 'learners', 'perceptro', says=('did you mean perceptron?',))
    refuses(1, 'convert', iris, '-', '--json', says=('--json',))
    refuses(1, says=('command',))
    refuses(1, 'fit', 'perceptron', iris, '--threds', '2', says=('--threads',))
    refuses(1, 'fit', 'perceptron', iris, '--threads', '0', says=('--threads',))
    refuses(1, 'fit', 'perceptron', iris, '--memory', 'much', says=('--memory',))
    refuses(1, 'predict', 'm', iris, '--proba', '--scores')
    refuses(1, 'fit', 'perceptron', iris, '-o', d / 'same', '--trace', d / 'same', says=('two files',))
    refuses(1, 'evaluate', 'm', iris, '-o', d / 'same', '--margins', d / 'same', says=('two files',))
    refuses(4, 'fit', 'perceptron', iris, '--memory', '20K', says=('limit',))
    for words in (['--version'], ['--help'], ['help', 'fit'], ['fit', '--help'], ['learners'], ['learners', 'perceptron']):
        p = run(*words)
        expect(p.returncode == 0 and p.stdout and not p.stderr, f'{words} answers on standard output')
    expect(run('generate', '--markdown').stdout == (source / 'docs' / 'options.md').read_text(),
           'docs/options.md is what margin generate --markdown prints')
    for what in ('--bash', '--zsh', '--man', '--markdown'):
        expect('perceptron' in run('generate', what).stdout, f'generate {what} knows the learners')


def model_files(d):
    model = d / 'file.margin'
    run('fit', 'perceptron', examples / 'points.csv', '-o', model)
    whole = model.read_bytes()
    for k in range(len(whole)):
        if k % 7 == 0 or k < 40:
            (d / 'bad.margin').write_bytes(whole[:k])
            p = run('inspect', d / 'bad.margin')
            expect(p.returncode == 2 and p.stderr, f'a model cut to {k} bytes is refused: exit {p.returncode}')
        if k % 11 == 0:
            (d / 'bad.margin').write_bytes(whole[:k] + bytes([whole[k] ^ 0x20]) + whole[k + 1:])
            p = run('inspect', d / 'bad.margin')
            expect(p.returncode == 2 and p.stderr, f'a model with byte {k} flipped is refused: exit {p.returncode}')
    refuses(2, 'inspect', examples / 'iris.csv')
    for command in (['inspect'], ['predict'], ['evaluate'], ['update']):
        words = [*command, '/dev/zero', *([examples / 'points.csv'] if command != ['inspect'] else []), '--memory', '64M']
        refuses(2, *words, *(['-o', d / 'u.margin'] if command == ['update'] else []), says=('does not begin as one',))
    refuses(5, 'inspect', d / 'absent.margin')


def outputs(d):
    refuses(5, 'fit', 'perceptron', examples / 'points.csv', '-o', d / 'no' / 'such' / 'm.margin', says=('no/such',))
    for kind in ('npy', 'idx'):  # zeros without end
        refuses(2, 'check', '/dev/zero', '--format', kind, says=(f'is not an .{kind}' if kind == 'npy' else 'is not an idx',))
    if os.path.exists('/dev/full'):
        p = subprocess.run([program, 'fit', 'perceptron', str(examples / 'points.csv')], stdout=open('/dev/full', 'w'),
                           stderr=subprocess.PIPE, text=True)
        expect(p.returncode == 5 and p.stderr, f'a full disk behind standard output: exit {p.returncode}')
        refuses(5, 'fit', 'perceptron', examples / 'points.csv', '-o', '/dev/full')
    gram = d / 'gram.csv'
    expect(answer('gram', 'svm(kernel=rbf)', examples / 'iris.csv', '-o', gram) == {'spec': 'svm(kernel=rbf)', 'output': str(gram), 'rows': 150} and gram.exists(),
           'gram --json -o FILE tells what it wrote')
    keep = d / 'keep.margin'
    keep.write_text('precious')
    refuses(2, 'fit', 'perceptron', d / 'one-class.csv', '-o', keep)
    expect(keep.read_text() == 'precious', 'a failed fit leaves an older model alone')
    p = subprocess.run(['sh', '-c', 'ulimit -f 1; "$@"', 'sh', program, 'convert', str(examples / 'iris.csv'), str(d / 'large.csv')],
                       capture_output=True, text=True)
    expect(p.returncode == 5 and 'large.csv' in p.stderr and not (d / 'large.csv').exists(),
           f'a file beyond the limit of the system: exit {p.returncode}: {p.stderr}')
    expect(not [f for f in d.iterdir() if f.name.endswith('.part')], 'no temporary files are left')


def inputs_are_safe(d):
    """No file is written that is read, or written otherwise, whatever path leads there."""
    folder = d / 'safe'
    folder.mkdir()
    table, model, other = folder / 'points.csv', folder / 'm.margin', folder / 'other.csv'
    labels, trace, numbers = folder / 'y.npy', folder / 'trace.csv', folder / 'x.npy'
    table.write_bytes((examples / 'points.csv').read_bytes())
    run('fit', 'perceptron', table, '-o', model, '--trace', trace)
    run('convert', table, numbers, '--labels-out', labels)
    (folder / 'parts.train.csv').write_bytes(table.read_bytes())
    (folder / 'symbolic.csv').symlink_to('points.csv')
    os.link(table, folder / 'hard.csv')
    contents = {f: f.read_bytes() for f in folder.iterdir() if f.exists()}
    same = (table, folder / '..' / 'safe' / 'points.csv', folder / 'symbolic.csv', folder / 'hard.csv')
    for path in same:
        refuses(1, 'fit', 'perceptron', table, '-o', path, says=('-o', path, 'DATA', table, 'read'))
        refuses(1, 'predict', model, table, '-o', path, says=('-o', path, 'DATA', table))
    for command in (('fit', 'perceptron', table, '--trace', table), ('predict', model, table, '-o', model), ('update', model, table, '-o', table),
                    ('cv', 'perceptron', table, '--journal', table), ('cv', 'perceptron', table, '--table', table),
                    ('cv', 'perceptron', table, '--predictions', table), ('compare', table, 'perceptron', '-o', table),
                    ('evaluate', model, table, '-o', table), ('evaluate', model, table, '--margins', model),
                    ('importance', model, table, '-o', table), ('inspect', model, '-o', model), ('separable', table, '-o', table),
                    ('check', table, '-o', table), ('gram', 'kernel-ridge', table, '-o', table), ('convert', table, table),
                    ('path', 'ridge(alpha={1,2})', table, '-o', table), ('convert', numbers, other, '--labels', labels, '--labels-out', labels),
                    ('convert', numbers, labels, '--labels', labels), ('plot', 'trace', trace, '-o', trace),
                    ('plot', 'kdtree', table, '-o', table), ('plot', 'elbow', 'kmeans(k={1..2})', table, '-o', table),
                    ('plot', 'boundary', model, table, '-o', table), ('plot', 'coefficients', model, '-o', model),
                    ('split', folder / 'parts.train.csv', '--holdout', '0.4', '-o', folder / 'parts.csv')):
        refuses(1, *command, says=('nothing is written', 'read as'))
    for one, two in ((other, other), (other, folder / '..' / 'safe' / 'other.csv'), ('-', '-')):
        refuses(1, 'fit', 'perceptron', table, '-o', one, '--trace', two, says=('-o', '--trace', 'written twice'))
        refuses(1, 'cv', 'perceptron', table, '--journal', one, '--table', two, says=('--journal', '--table', 'written twice'))
    with table.open() as f:
        p = subprocess.run([program, 'fit', 'perceptron', '-', '-o', str(table)], stdin=f, capture_output=True, text=True)
        expect(p.returncode == 1 and 'nothing is written' in p.stderr, f'standard input is a file, too: {p.stderr}')
    for f, content in contents.items():
        expect(f.read_bytes() == content, f'{f.name} is left as it was')
    expect(not other.exists(), 'and no file is made')
    expect(run('fit', 'naive-bayes', table, '-o', model).returncode == 0, 'a model may be written again')
    expect(run('update', model, table, '-o', model).returncode == 0, 'an update may take the place of the model')
    expect(run('fit', 'perceptron', table, '-o', '/dev/null', '--trace', '/dev/null').returncode == 0, 'devices hold nothing')
    p = subprocess.run([program, 'fit', 'perceptron', str(table), '-o', 'perceptron'], capture_output=True, text=True, cwd=folder)
    again = subprocess.run([program, 'fit', 'perceptron', str(table), '-o', 'perceptron'], capture_output=True, text=True, cwd=folder)
    expect(p.returncode == again.returncode == 0, f'a spec is no file: {p.stderr}{again.stderr}')
    if os.path.isdir('/proc'):
        p = run('fit', 'perceptron', table, '-o', '/proc/x')
        expect(p.returncode == 5 and '/proc/x' in p.stderr and 'does not exist' not in p.stderr, f'a folder that takes no files: {p.stderr}')


def little_memory(d):
    """From the first address space in which the program starts at all: a result, or a sentence. (A build with
    sanitizers does not start in any of these.)"""
    model, spaces, done = d / 'little.margin', range(3000, 20000, 250), 0
    run('fit', 'logistic', examples / 'points.csv', '-o', model)

    def within(kilobytes, *words):
        return subprocess.run(['sh', '-c', 'ulimit -v "$0"; exec "$@"', str(kilobytes), program, *map(str, words)],
                              capture_output=True, text=True)

    for space in (space for space in spaces if within(space, '--version').returncode == 0):
        for words in (('fit', 'logistic', examples / 'iris.csv', '-t', 8), ('predict', model, examples / 'points.csv'), ('inspect', model)):
            p = within(space, *words)
            expect(p.returncode == 0 or (p.returncode == 4 and 'margin: out of memory' in p.stderr),
                   f'{words[0]} in {space} kB: exit {p.returncode}: {p.stderr}')
            done += p.returncode == 0
        if done >= 9:
            break


def interruption(d):
    rng = random.Random(2)
    table = d / 'long.csv'
    with table.open('w') as f:
        f.write('a,b,y\n')
        for _ in range(60000):
            f.write(f'{rng.random()},{rng.random()},{rng.choice("uv")}\n')
    for how in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([program, 'fit', 'perceptron(passes=10000000, bound=no)', str(table), '-o', str(d / 'long.margin')],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        p.send_signal(how)
        p.wait(timeout=60)
        expect(p.returncode == 130, f'{how.name} ends with 130, not {p.returncode}')
        expect(not (d / 'long.margin').exists(), 'an interrupted fit writes no model')
    every_command_ends(d, table)
    line, best = d / 'line.csv', d / 'best.margin'
    line.write_text('a,b,y\n' + ''.join(f'{a},{b},{a + b + rng.gauss(0, 1)}\n' for a, b in ((rng.random(), rng.random()) for _ in range(4000))))
    p = subprocess.Popen([program, 'compare', str(line), 'ridge', 'svm(kernel=rbf, C=100)', '-k', '2', '-o', str(best)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while p.poll() is None and not best.exists():
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=60)[0]
    expect(p.returncode == 0 or said if best.exists() else p.returncode == 130, f'compare writes the best one when only the answer is left to do: exit {p.returncode}')
    r = answer('fit', 'perceptron(passes=10000000, bound=no)', table, '--time-limit', '2', codes=(3,))
    expect(r.get('status') == 'stopped', 'a time limit stops with a usable model')


def every_command_ends(d, table):
    """SIGTERM ends each command while it waits for its data, and those that compute for long."""
    knn, fifo = d / 'ends.margin', d / 'never'
    run('fit', 'knn(k=3)', examples / 'iris.csv', '-o', knn)
    table.with_name('ends.csv').write_text(table.read_text().replace('u', '1').replace('v', '2'))
    os.mkfifo(fifo)
    waiting = [('fit', 'logistic', fifo), ('cv', 'logistic', fifo), ('compare', fifo), ('predict', knn, fifo), ('transform', knn, fifo), ('evaluate', knn, fifo),
               ('evaluate', '--verify', knn, fifo), ('report', knn, fifo, '-o', d / 'page.html'), ('importance', knn, fifo), ('inspect', fifo),
               ('inspect', knn, '--statistics', fifo), ('split', fifo, '-k', '3'), ('separable', fifo), ('check', fifo), ('convert', fifo, d / 'out.csv'), ('gram', 'svm(kernel=rbf)', fifo),
               ('path', 'ridge', fifo), ('update', knn, fifo, '-o', d / 'new.margin'), ('plot', 'boundary', knn, fifo, '-o', d / 'p.svg'), ('predict', fifo, table), ('evaluate', fifo, table)]
    working = [('cv', 'svm(kernel=rbf, C={1,10,100,1000})', table), ('compare', table, 'svm(kernel=rbf, C=1000)', 'knn(k=50)'), ('evaluate', knn, examples / 'iris.csv', '--bootstrap', '100000'),
               ('importance', knn, examples / 'iris.csv', '--repeat', '1000'), ('path', 'standardize | ridge(alpha={1e-9..1e3 log 10000})', table.with_name('ends.csv'))]
    started = [(words, subprocess.Popen([program, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True), must)
               for many, must in ((waiting, True), (working, False)) for words in many]
    time.sleep(2)
    for words, p, must in started:
        p.send_signal(signal.SIGTERM)
    for words, p, must in started:
        try:
            said = p.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            said = p.communicate()[1]
        expect(p.returncode == 130 or not must and p.returncode == 0, f'SIGTERM ends {" ".join(map(str, words))}: exit {p.returncode}: {said}')


def small_stacks(d):
    """Threads have stacks of their own size, whatever the shell gives the program."""
    fit = ['sh', '-c', 'ulimit -s 64; exec "$@"', 'sh', program, 'fit', 'standardize | logistic', str(examples / 'iris.csv'), '-t', '8']
    ended = subprocess.run(fit, capture_output=True, env={}, timeout=60)
    main = b'stack-overflow' in ended.stderr and b' T0)' in ended.stderr  # with sanitizers the main thread needs more by itself
    expect(ended.returncode == 0 or main, f'8 threads under ulimit -s 64: exit {ended.returncode}, {ended.stderr}')


def blocked_pipes(d):
    """An interrupt also ends what waits for a reader or a writer."""
    table, model, fifo = d / 'wide.csv', d / 'wide.margin', d / 'fifo'
    table.write_text('a,b,y\n' + '1.25,2.5,u\n3.125,1.5,v\n' * 20000)
    run('fit', 'perceptron', table, '-o', model)
    os.mkfifo(fifo)
    for words in (['convert', table, '-'], ['predict', model, table], ['check', fifo], ['fit', 'perceptron', table, '-o', fifo]):
        silent, unread = os.pipe()
        p = subprocess.Popen([program, *map(str, words)], stdout=unread, stderr=subprocess.DEVNULL)
        time.sleep(1)
        still = p.poll() is None
        p.send_signal(signal.SIGINT)
        try:
            p.wait(timeout=30)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        os.close(silent)
        os.close(unread)
        expect(still and p.returncode == 130, f'{words[0]} waits and Ctrl-C ends it: exit {p.returncode}')


def closed_streams(d):
    """Output goes where it should or the command fails; never into a file that has taken the stream's number."""
    table, copy = examples / 'iris.csv', d / 'copy.csv'
    for words in (['help'], ['--version'], ['fit', '--help'], ['learners'], ['check', str(table)]):
        p = subprocess.run(['sh', '-c', '"$@" >&-', 'sh', program, *words], capture_output=True, text=True)
        expect(p.returncode == 5 and 'standard output' in p.stderr, f'{words} without standard output: exit {p.returncode} {p.stderr}')
    p = subprocess.run(['sh', '-c', '"$@" <&- >&- 2>&-', 'sh', program, 'convert', str(table), str(copy)])
    expect(p.returncode == 0 and copy.read_text() == table.read_text(), f'convert without standard streams: exit {p.returncode}')


def names_for_people(d):
    """Names from data cannot steer the terminal, and a long one does not fill the screen."""
    table, model = d / 'names.csv', d / 'names.margin'
    table.write_text('a\x1b[31mred,b\u009b2J,kind,y\n1,2,' + 'long' * 1000 + ',\x1b]0;x\x07u\n3,1,w,v\n')
    run('fit', 'onehot | perceptron', table, '-o', model)
    for words in (['check', table], ['inspect', model], ['evaluate', model, table], ['separable', table, '--ignore', 'kind'],
                  ['fit', 'onehot | perceptron', table]):
        p = run(*words)
        expect(p.returncode == 0 and not [c for c in p.stdout if c < ' ' and c != '\n' or '\x7f' <= c <= '\x9f'],
               f'{words[0]} prints no control characters: {p.stdout!r} {p.stderr}')
    expect('a?[31mred' in run('check', table).stdout and len(run('check', table).stdout) < 1500, 'check shows names cleaned and cut')
    (d / 'infinite.csv').write_text('a,y\ninf,1\n-inf,2\n')
    expect('-nan' not in run('check', d / 'infinite.csv').stdout, 'NaN has no sign')


def undecided(d):
    """Two rows that only the last bit tells apart: neither answer is claimed."""
    table = d / 'undecided.csv'
    table.write_text('a,b,y\n1,1,1\n1.0000000000000002,1,0\n')
    p = run('separable', table)
    expect(p.returncode == 3 and 'undecided' in p.stdout and 'coincide' not in p.stdout, f'undecided is said: {p.stdout}')
    expect(answer('separable', table, codes=(3,)).get('separable', 0) is None, 'undecided is null in JSON')
    table.write_text('a,y\n1.7e308,1\n1.6e308,1\n-1.7e308,0\n')
    expect(answer('separable', table, codes=(3,)).get('separable', 0) is None, 'no proof where a range is infinite')
    rows = [(i * 7919 % 101 * 10**12, i * 37 % 50, i * 11 % 47) for i in range(60)]
    table.write_text('id,a,b,y\n' + ''.join(f'{k},{a / 50},{b / 50},{int(a > b)}\n' for k, a, b in rows if a != b))
    p = run('separable', table)
    expect(p.returncode == 3 and 'separable   yes' in p.stdout and ': double precision tells no more' in p.stdout, f'why it may not be the widest: {p.stdout[:200]}')
    r = answer('separable', table, codes=(3,))
    expect(r['separable'] is True and r['gap'] > 1e-6, 'separable all the same')
    table.write_text('a,b,c,y\n1,5,6,1\n2,5,6,3\n4,5,6,4\n')
    expect('; columns b and others are constant and have weight 0' in run('fit', 'least-squares', table).stdout, 'several constant columns')


def statistics(d):
    """The table of R's summary(lm(dist ~ speed, cars)), columns that depend on others by name, and refusals."""
    cars, model = examples / 'cars.csv', d / 'cars.margin'
    run('fit', 'least-squares', cars, '-o', model)
    r = answer('inspect', model, cars, '--statistics')
    speed, intercept = r.get('coefficients', [{}, {}])
    expect(abs(speed.get('error', 0) - 0.4155127766571223) < 1e-12 and speed.get('name') == 'speed', f'standard error: {speed}')
    expect(abs(intercept.get('p_value', 0) / 0.01231881615380881 - 1) < 1e-10, f'p of the intercept: {intercept}')
    expect(abs(r.get('f', 0) - 89.56710653646774) < 1e-9 and r.get('freedom') == 48 and r.get('distribution') == 't', f'F: {r}')
    text = run('inspect', '--statistics', model, cars).stdout
    expect('adjusted 0.6438' in text and '95 % interval' in text and '1.49e-12' in text, f'the table for people: {text}')
    wide = answer('inspect', model, cars, '--statistics', '--confidence', '0.99')['coefficients'][0]
    expect(wide['low'] < speed['low'] < speed['high'] < wide['high'], 'a higher confidence widens the interval')
    refuses(1, 'inspect', model, cars, says=('--statistics',))
    refuses(1, 'inspect', model, '--statistics', says=('data',))
    refuses(1, 'inspect', model, cars, '--statistics', '--confidence', '95', says=('--confidence', '95'))
    table = d / 'sums.csv'
    table.write_text('north,south,total,y\n' + ''.join(f'{i},{i * i % 7},{2 * i + i * i % 7},{i % 5}\n' for i in range(20)))
    run('fit', 'least-squares', table, '-o', model)
    text = run('inspect', '--statistics', model, table).stdout
    expect('total = 2 north + south' in text, f'the sum is named: {text}')
    refuses(2, 'inspect', '--statistics', model, cars, says=("'y'",))
    run('fit', 'ridge', table, '-o', model)
    refuses(2, 'inspect', '--statistics', model, table, says=('penalty', 'least-squares'))
    run('fit', 'perceptron', examples / 'points.csv', '-o', model)
    refuses(1, 'inspect', '--statistics', model, examples / 'points.csv', says=('perceptron',))


def paths(d):
    """Many penalties at once; the best one becomes the model."""
    cars, model = examples / 'cars.csv', d / 'path.margin'
    r = answer('path', 'ridge(alpha={0.1,1,10})', cars, '-o', model)
    points = r.get('points', [])
    expect([round(p['leave_one_out_rmse'], 9) for p in points] == [15.697284231, 15.69709583, 15.695953398], f'errors at rows left out: {points}')
    expect(r.get('best') == 2 and r.get('best_spec') == 'ridge(alpha=10)', f'the best of a path: {r}')
    expect(answer('inspect', model).get('spec') == 'ridge(alpha=10)', 'the best of a path is written')
    p = run('path', 'standardize | ridge(alpha={1e-3..1e3 log 5})', cars)
    expect(p.returncode == 0 and p.stdout.count('\n  ') + p.stdout.count('\n*') >= 6 and 'leave-one-out' in p.stdout, f'the table of a path: {p.stdout}')
    refuses(1, 'path', 'least-squares', cars, says=('ridge',))
    refuses(1, 'path', 'ridge(tol={1e-3,1e-6})', cars, says=('tol',))
    refuses(1, 'fit', 'ridge(alpha={1,2})', cars, says=('2 specs', 'margin cv', 'margin path'))
    refuses(1, 'path', 'logistic(C={1,2})', examples / 'iris.csv', says=('margin cv',))
    refuses(2, 'path', 'ridge', examples / 'iris.csv', says=('species',))
    refuses(1, 'path', 'ridge')


def codes_of(r):
    return [f['code'] for f in r.get('findings', [])]


def searches(d):
    """Cross-validation: table, choice, findings, files; learners side by side."""
    cars, wine, iris, model = examples / 'cars.csv', examples / 'wine.csv', examples / 'iris.csv', d / 'best.margin'
    r = answer('cv', 'standardize | svm(C={0.01..10 log 4})', wine, '-k', 5, '--stratify', '-o', model, '--table', d / 't.csv',
               '--predictions', d / 'p.csv')
    cells = r.get('cells', [])
    expect([len(c['folds']) for c in cells] == [5] * 4 and r.get('best') == 1 and r.get('best_spec') == cells[1]['spec'], f'cells of a search: {r}')
    expect(abs(sum(cells[1]['folds']) / 5 - cells[1]['mean']) < 1e-12, 'the mean is that of the folds')
    expect(answer('inspect', model).get('spec') == r.get('best_spec'), 'the best setting is fitted and written')
    expect(len((d / 't.csv').read_text().splitlines()) == 5 and len((d / 'p.csv').read_text().splitlines()) == 179, 'table and predictions')
    expect(codes_of(r) == [], f'nothing to be found: {codes_of(r)}')
    ends = ('cv', 'poly(degree={1,2,3}) | standardize | ridge(alpha={0.1,1,10})', cars, '-k', 10)
    expect(codes_of(answer(*ends)) == ['set-end'] and codes_of(answer(*ends, '--allow', 'overfit,set-end')) == [], 'the end of a set is found and allowed')
    expect(run(*ends, '--strict').returncode == 2 and run(*ends, '--strict', '--allow', 'set-end').returncode == 0, 'findings as an exit code')
    expect(codes_of(answer('cv', 'knn(k={1,3,150})', wine, '--training')) == ['overfit', 'failed', 'scale'], 'one neighbour is overfit')
    (d / 'noise.csv').write_text('x,y\n' + ''.join(f'{i * 7919 % 101},{"ab"[i * 31 % 97 % 2]}\n' for i in range(90)))
    expect('no-better' in codes_of(answer('cv', 'logistic', d / 'noise.csv')), 'noise is no better than no column')
    (d / 'wide.csv').write_text('\n'.join(','.join(str((i + 3) * (j + 7) * 7919 % 101) for j in range(30)) + f',{"ab"[i * 31 % 97 % 2]}' for i in range(60)))
    expect('overfit' in codes_of(answer('fit', 'knn(k=1)', d / 'wide.csv', '--holdout', 0.3)), 'one neighbour of noise is overfit')
    expect(codes_of(answer('fit', 'standardize | logistic', wine, '--holdout', 0.3)) == [], 'a good model is not')
    expect('stopped' in codes_of(answer('cv', 'logistic(C=100, max_iter={1,1000})', wine)), 'settings that stopped are said')
    expect(run('cv', 'logistic(max_iter=1)', wine).returncode == 3, 'nothing but settings that stopped')
    refuses(4, 'cv', 'svm(C={1e-3..1e3 log 1000}, tol={1e-6..1e-3 log 1000})', wine, says=('1000000 settings', '(--random)', '(--cells)'))
    p = run('compare', wine, 'svm(C={1e-3..1e3 log 1000}, tol={1e-6..1e-3 log 1000})')
    expect(p.returncode == 4 and '(--random)' in p.stderr and '(--cells)' in p.stderr, f'compare has both: {p.stderr}')
    p = run('compare', wine, 'svm(C={1e-3..1e3 log 1000}, tol={1e-6..1e-3 log 1000})', 'naive-bayes', '--random', 3, '--json')
    expect(p.returncode in (0, 3) and json.loads(p.stdout)['settings'] == 4, f'three settings of one spec and one of the other: {p.stderr}')
    refuses(1, 'cv', 'kmeans(k={2,3})', iris, says=('no target',))
    refuses(2, 'cv', 'svm', cars, '-k', 51, says=('folds',))
    refuses(1, 'cv', 'svm', wine, '--random', 3, '--halving', says=('exclude',))
    r = answer('compare', iris, 'standardize | svm(C={0.1,1})', 'naive-bayes', 'knn(k={1,500})', '-o', model)
    rows = r.get('rows', [])
    expect(len(rows) == 3 and rows[0]['mean'] >= rows[1]['mean'] and all(x['low'] <= x['mean'] <= x['high'] for x in rows), f'rows of a comparison: {rows}')
    expect(r['baseline']['mean'] < 0.5 and rows[0]['over_baseline']['low'] > 0, 'the baseline of three classes')
    expect(answer('inspect', model).get('spec') == rows[0]['spec'], 'the best of a comparison is written')
    p = run('compare', cars, '--time-limit', 60)
    expect(p.returncode == 0 and 'ridge' in p.stdout and 'baseline: the mean' in p.stdout, f'usual learners of a regression: {p.stdout} {p.stderr}')


def write_targets(d):
    """A table of two features and two targets, one of them with a comma in its name."""
    rows = [[(7 * i) % 11 - 5, (i * i) % 13 / 4, i % 3] for i in range(40)]
    table = d / 'several.csv'
    table.write_text('a,b,"up,down",cost,w\n' + ''.join(f'{a},{b},{2 * a - b + c},{a * b / 3 + c},{1 + i % 2}\n' for i, (a, b, c) in enumerate(rows)))
    return table


def several_targets(d):
    """Two targets at once are each as alone: fit, predict, evaluate with the proofs, inspect."""
    table, model, alone = write_targets(d), d / 'several.margin', d / 'alone.margin'
    common = [table, '--ignore', 'w']
    fit = answer('fit', 'ridge(C=1)', *common, '--target', '3,cost', '-o', model)
    expect([t['name'] for t in fit.get('targets', [])] == ['up,down', 'cost'] and fit.get('subproblems') == 2, f'targets of a fit: {fit}')
    text = run('fit', 'ridge(C=1)', *common, '--target', '3,cost').stdout
    expect('targets     up,down, cost' in text and 'all 2 targets: solved by Cholesky' in text, f'the report names them: {text}')
    held = answer('evaluate', model, table, '--verify')
    proof, objectives = held.get('verification', {}), []
    lists = answer('predict', model, table)
    expect(lists.get('targets') == ['up,down', 'cost'] and len(lists['predictions'][0]) == 2, f'predictions of two targets: {lists}')
    weights = answer('inspect', model)
    for t, name in enumerate(('up,down', 'cost')):
        one = answer('fit', 'ridge(C=1)', table, '--ignore', 'w,' + ('4' if t == 0 else '3'), '--target', name, '-o', alone)
        objectives.append(one['objective'])
        single, of_it = answer('inspect', alone), answer('inspect', model, '--target', name)
        expect(max(abs(a - b) for a, b in zip(single['weights'], weights['weights'][t])) < 1e-12, f'weights of {name} alone')
        expect(of_it['target'] == name and of_it['weights'] == weights['weights'][t], f'inspect --target {name}')
        judged, mine = answer('evaluate', alone, table), held['targets'][t]
        expect(all(abs(judged[key] - mine[key]) < 1e-9 for key in ('rmse', 'mae', 'r2')), f'errors of {name}: {mine}')
        expect(abs(proof['targets'][t]['objective'] - one['objective']) < 1e-9 and proof['targets'][t]['gap'] < 1e-15, f'proof of {name}: {proof}')
        values = answer('predict', alone, table)['predictions']
        expect(max(abs(a - b[t]) for a, b in zip(values, lists['predictions'])) < 1e-11, f'predictions of {name} alone')
    expect(proof['holds'] and abs(proof['objective'] - sum(objectives)) < 1e-9, f'the proof of both: {proof}')
    expect(abs(held['rmse'] ** 2 - sum(t['rmse'] ** 2 for t in held['targets']) / 2) < 1e-12, f'the error of both: {held}')
    lines = run('predict', model, table).stdout.splitlines()
    expect(lines[0] == '"up,down",cost' and len(lines) == 41 and [float(v) for v in lines[1].split(',')] == lists['predictions'][0], f'a column each: {lines[:2]}')
    answer('cv', 'ridge(C=1)', *common, '--target', '3,cost', '-k', 4, '--predictions', d / 'both.csv')
    expect((d / 'both.csv').read_text().startswith('row,"up,down",cost\n1,'), 'answers of a search for two targets')
    expect(run('predict', model, table, '--scores').stdout.startswith('"score(up,down)",score(cost),"up,down",cost\n'), 'scores of targets')
    text = run('evaluate', model, table, '--verify').stdout
    expect('proof       holds' in text and '\n            cost: gap ' in text and text.count('\ncost ') == 1, f'an evaluation for people: {text}')
    text = run('inspect', model).stdout
    expect('value of cost' in text and 'value of up,down' in text and 'targets     up,down, cost' in text, f'a model for people: {text}')
    (d / 'off.csv').write_text(table.read_text().replace('\n-5,0.0,', '\n-5,0.5,'))
    p = run('evaluate', model, d / 'off.csv', '--verify')
    expect(p.returncode == 3 and 'DOES NOT HOLD' in p.stdout, f'other data: {p.stdout}')
    for threads in (1, 2, 4):
        run('fit', 'standardize | ridge', *common, '--target', '3,cost', '-o', d / f'{threads}.margin', '-t', threads)
    expect(len({(d / f'{threads}.margin').read_bytes() for threads in (1, 2, 4)}) == 1, 'targets: the same bytes for any number of threads')
    r = answer('fit', 'poly | ridge', table, '--weights', 'w', '--target', '3,cost', '-o', alone)
    expect(r.get('status') == 'converged' and answer('evaluate', alone, table, '--weights', 'w', '--verify')['verification']['holds'], 'weights and a stage')


def targets_refused(d):
    table, model = write_targets(d), d / 'several.margin'
    common = [table, '--ignore', 'w', '--target', '3,cost']
    run('fit', 'least-squares', *common, '-o', model)
    both = answer('inspect', model, table, '--statistics')['targets']
    one = answer('inspect', model, table, '--statistics', '--target', 'cost')
    expect(both[1] == one and both[0]['target'] == 'up,down' and one['coefficients'][0]['error'] > 0, f'statistics of each: {both}')
    text = run('inspect', model, table, '--statistics').stdout
    expect(text.count('std. error') == 2 and 'target      cost' in text, f'statistics for people: {text}')
    refuses(1, 'inspect', model, '--target', 'price', says=("no target 'price'", 'up,down, cost'))
    for learner in ('lasso', 'knn', 'svm', 'naive-bayes'):
        refuses(1, 'fit', learner, *common, says=(f'{learner} takes one target', 'least-squares, ridge'))
    refuses(1, 'fit', 'standardize(target=yes) | ridge', *common, says=('target=yes', 'predicts the same'))
    refuses(1, 'path', 'ridge(alpha={1,2})', *common, says=('one target', 'for each'))
    refuses(1, 'separable', *common, says=('2 targets',))
    refuses(2, 'fit', 'ridge', table, '--target', 'cost,price', says=("'price'", 'the target'))
    refuses(2, 'fit', 'ridge', table, '--target', 'cost,4', says=("'cost'", 'twice'))
    refuses(2, 'evaluate', model, table, '--target', 'cost', says=('2 targets and 1 is named',))
    (d / 'short.csv').write_text('a,b,cost\n1,2,3\n')
    refuses(2, 'evaluate', model, d / 'short.csv', says=("'up,down'", 'the target'))
    expect(run('predict', model, d / 'short.csv').returncode == 0, 'predictions need no targets')
    (d / 'gap.csv').write_text('a,b,y,z\n1,2,3,4\n2,1,,5\n3,3,1,2\n4,0,1,1\n')
    refuses(2, 'fit', 'ridge', d / 'gap.csv', '--target', 'y,z', says=('gap.csv:3', "'y'", 'missing'))
    refuses(2, 'fit', 'impute | ridge', d / 'gap.csv', '--target', 'y,z', says=('gap.csv:3:', "target 'y'", 'out of the file (--missing drop would'))
    expect(answer('fit', 'ridge', d / 'gap.csv', '--target', 'y,z', '--missing', 'drop').get('rows') == 3, 'rows without a target are dropped')
    text = run('check', table, '--target', '3,cost').stdout
    expect(text.count(' * ') == 2 and '* the targets' in text, f'check marks both: {text}')
    run('convert', table, d / 'moved.csv', '--target', '3,a')
    expect((d / 'moved.csv').read_text().startswith('b,cost,w,"up,down",a\n'), 'targets are written last')
    refuses(2, 'convert', table, d / 'moved.svm', '--target', '3,a', says=('2 targets',))


def pictures_of_targets(d):
    table, model = write_targets(d), d / 'several.margin'
    run('fit', 'least-squares', table, '--ignore', 'w', '--target', '3,cost', '-o', model)
    for kind in ('residuals', 'fit'):
        columns = ('--columns', 'a') if kind == 'fit' else ()
        refuses(1, 'plot', kind, model, table, *columns, says=('up,down, cost', '--target'))
        refuses(1, 'plot', kind, model, table, *columns, '--target', 'w', says=("no target 'w'",))
    for words, says in ((['residuals', '--target', 'cost'], 'least-squares: cost'), (['fit', '--columns', 'a', '--target', '1'], 'up,down'),
                        (['coefficients', '--target', 'cost'], 'interval'), (['coefficients'], 'up,down')):
        p = run('plot', words[0], model, table, *words[1:], '-o', d / 'p.svg')
        expect(p.returncode == 0 and says in (d / 'p.svg').read_text(), f'plot {words} says {says}: {p.stderr}')


def boundaries(d):
    """A boundary is drawn over the two columns of numbers that tell most, and says how much it leaves out."""
    iris, mixed, model = examples / 'iris.csv', d / 'mixed.csv', d / 'mixed.margin'
    run('fit', 'logistic', iris, '-o', model)
    p = run('plot', 'boundary', model, iris, '-o', d / 'p.svg')
    text = (d / 'p.svg').read_text()
    expect('petal_length' in text and 'petal_width' in text and '% of the rows lie' in text, f'the columns that tell most: {p.stderr}')
    curves_of(d, 'boundary', model, iris)
    title = [line for line in (d / 'script').read_text().splitlines() if line.startswith('set title')]
    expect(len(title) == 1 and '\'."\\n".\'' in title[0] and max(map(len, title[0].split('\\n'))) < 110, f'a long title has lines: {title}')
    mixed.write_text('town,x1,x2,y\n' + ''.join(f'{"AB"[i % 2]},{i},{i * 7 % 11},{"no" if i < 15 else "yes"}\n' for i in range(30)))
    run('fit', 'onehot | logistic', mixed, '-o', model)
    p = run('plot', 'boundary', model, mixed, '-o', d / 'p.svg')
    expect(p.returncode == 0 and p.stderr.count('\n') == 1 and 'x1' in (d / 'p.svg').read_text(), f'numbers by default: {p.stderr}')
    refuses(2, 'plot', 'boundary', model, mixed, '--columns', 'town,x1', says=('town', 'categories'))
    refuses(1, 'plot', 'boundary', 'svm(kernel=rbf)', iris, says=("'svm(kernel=rbf)' is a spec", 'margin fit'))
    many = d / 'many-classes.csv'
    many.write_text('x,z,y\n' + ''.join(f'{i % 26},{i * 7 % 31},c{i % 26:02}\n' for i in range(130)))
    run('fit', 'knn(k=3)', many, '-o', model)
    run('plot', 'roc', model, many, '-o', d / 'p.svg')
    expect('the first 8 of 26 classes' in (d / 'p.svg').read_text(), 'a picture says what it leaves out')


def curves_of(d, *words):
    """The points of each curve that gnuplot is given to draw."""
    script = d / 'gnuplot'
    script.write_text(f'#!/bin/sh\ncat > {d}/script\n')
    script.chmod(0o755)
    subprocess.run([program, 'plot', *map(str, words), '-o', str(d / 'p.svg')], env={'PATH': f'{d}:{os.environ["PATH"]}'}, capture_output=True)
    script.unlink()
    curves, inside = [[]], False
    for line in (d / 'script').read_text().splitlines():
        if inside and line == 'e':
            curves.append([])
        elif inside and re.match(r'[-+0-9.einfa ]+$', line):
            curves[-1].append(tuple(map(float, line.split())))
        else:
            inside = line.startswith('plot ')
    return curves[:-1]


def kernel_pictures(d):
    """Margin lines and support vectors of an svm; the tube of its regression; kernels add up to the curve."""
    two, cars, model = d / 'two.csv', examples / 'cars.csv', d / 'k.margin'
    two.write_text(''.join(line + '\n' for line in (examples / 'iris.csv').read_text().splitlines() if 'virginica' not in line))
    for spec in ('svm(kernel=rbf, C=5, gamma=1, tol=1e-9)', 'standardize | svm(C=1)'):
        fit = answer('fit', spec, two, '--ignore', 'sepal_length,sepal_width', '-o', model)
        curves = curves_of(d, 'boundary', model, two)
        # an image; a ring and a disc for each class; scores of -1, 0 and 1; support vectors
        expect(len(curves) == 9 and all(len(curves[k]) > 50 for k in (5, 6, 7)), f'margin lines of {spec}: {[len(c) for c in curves]}')
        # of the linear machine the solver keeps fewer where rows repeat
        expect(len(curves[8]) == fit['support_vectors'] if 'rbf' in spec else len(curves[8]) > 1, f'rings of {spec}: {len(curves[8])}')
        ends = d / 'ends.csv'
        ends.write_text('petal_length,petal_width\n' + ''.join(f'{x!r},{y!r}\n' for x, y, _, _ in curves[6]))
        scores = [float(line.split(',')[0]) for line in run('predict', model, ends, '--scores').stdout.splitlines()[1:]]
        expect(len(scores) == len(curves[6]) and max(map(abs, scores)) < 0.01, f'the line of 0 of {spec}')
        drawn = run('plot', 'boundary', model, two).stdout
        expect('score -1 and 1' in drawn and 'support vectors' in drawn and sum(line.count('a') for line in drawn.splitlines() if '|' in line) > 1, f'in characters, too: {drawn}')
    fit = answer('fit', 'svm(task=one-class, kernel=rbf, nu=0.2, tol=1e-9)', iris := examples / 'iris.csv', '--ignore', 'petal_length,petal_width,species', '-o', model)
    curves = curves_of(d, 'boundary', model, iris)
    # an image; rows outside and inside, each a ring and a disc; the score 0; support vectors
    expect(len(curves) == 7 and len(curves[5]) > 50 and fit['support_vectors'] <= len(curves[6]) < 45, f'the region of one class: {[len(c) for c in curves]}')
    expect(len(curves[1]) + len(curves[3]) == 150 and 0 < len(curves[1]) <= 30, 'rows by the answer')
    ends.write_text('sepal_length,sepal_width\n' + ''.join(f'{x!r},{y!r}\n' for x, y, _, _ in curves[5]))
    scores = [float(line.split(',')[0]) for line in run('predict', model, ends, '--scores').stdout.splitlines()[1:]]
    expect(len(scores) == len(curves[5]) and max(map(abs, scores)) < 0.01 * 30, 'its boundary has the score 0')
    expect('inlier' in run('plot', 'boundary', model, iris).stdout, 'also in characters')
    run('fit', 'kmeans', iris, '-o', d / 'means.margin', '--target', 'species')
    refuses(2, 'plot', 'boundary', d / 'means.margin', iris, says=('for classifiers, and of one class',))
    for spec, tube in (('kernel-ridge(kernel=rbf, sigma=3, alpha=0.5)', 0), ('standardize | svm(kernel=rbf, C=20, epsilon=8)', 8)):
        run('fit', spec, cars, '--target', 'dist', '-o', model)
        rows, curve, *rest = curves_of(d, 'fit', model, cars)
        if tube:
            expect(all(abs(y - b[1] - tube) < 1e-9 and abs(y + tube - c[1]) < 1e-9 for (_, y), b, c in zip(curve, *rest[:2])), 'the tube')
        expect(('epsilon below and above' in run('plot', 'fit', model, cars).stdout) == (tube > 0), 'the tube in characters')
        kernels = rest[2:] if tube else rest
        apart = [y - sum(k[i][1] for k in kernels) for i, (_, y) in enumerate(curve)]
        expect(len(kernels) > 5 and max(apart) - min(apart) < 1e-6, f'kernels of {spec} add up to the curve but for the intercept: {max(apart) - min(apart)}')


def folders_are_no_files(d):
    """A folder, or one that does not exist, as the result of any command that writes one."""
    model, table = d / 'folder.margin', examples / 'iris.csv'
    run('fit', 'standardize', table, '-o', model)
    for words in (('fit', 'knn', table, '-o'), ('transform', model, table, '-o'), ('convert', table), ('check', table, '-o')):
        refuses(5, *words, d, says=(f'cannot write {d}: it is a folder; give the name of a file',))
        refuses(5, *words, f'{d}/', says=('it is a folder',))
        refuses(5, *words, f'{d}/none/', says=(f'the folder {d}/none does not exist',))
        refuses(5, *words, f'{d}/none/x.csv', says=(f'the folder {d}/none does not exist',))


def other_words(d):
    """What beginners write, and what they are told."""
    iris = examples / 'iris.csv'
    refuses(1, 'fit', 'knn', iris, '-t', 'species', says=("not 'species' (the target is --target)",))
    refuses(1, 'fit', 'linear-regression', iris, says=('did you mean least-squares?',))
    refuses(1, 'fit', 'svm(kernel=gauss)', iris, says=('did you mean rbf?',))
    refuses(1, 'fit', 'knn(n_neighbors=3)', iris, says=('did you mean k?',))
    refuses(1, 'fit', 'naive-bayes(distribution=gauss)', iris, says=('did you mean gaussian?',))
    refuses(1, 'predict', 'model', iris, '--probabilities', says=('did you mean --proba?',))
    refuses(1, 'check', iris, '--delimiter', ',', says=('did you mean --separator?',))
    refuses(1, 'cv', 'knn', iris, '--metrics', 'auc', says=('did you mean --metric?',))
    refuses(1, 'plot', says=('which picture: trace, kdtree, elbow, settings', 'roc'))
    refuses(1, 'version', says=('did you mean --version?',))
    refuses(1, 'cv', 'knn', iris, '-k', 'x', says=("--folds takes a whole number, not 'x'",))


def targets_come_first(d):
    """cv and compare say which column they predict before anything else, as fit does."""
    iris = examples / 'iris.csv'
    for words in (('cv', 'knn(k={1,5})', iris), ('compare', iris, 'knn', 'naive-bayes')):
        for more, says in (((), 'target      species (the last column; --target chooses another)'), (('--target', 'species'), 'target      species')):
            said = run(*words, *more).stdout.splitlines()
            expect(said[0] == says and said[1].startswith('150 rows'), f'{words[0]}: {said[:2]}')
        expect(answer(*words).get('target') == 'species', f'{words[0]} --json has it')
    said = run('cv', 'ridge(alpha={1,10})', iris, '--ignore', 'species', '--target', 'petal_length,petal_width').stdout
    expect(said.startswith('targets     petal_length, petal_width\n'), f'several: {said[:80]}')


def tasks_are_told(d):
    """Whole numbers are classes or measurements: a learner that does both says which."""
    few, cars = d / 'few.csv', examples / 'cars.csv'
    few.write_text('x,y\n' + ''.join(f'{k},{k % 3}\n' for k in range(30)))
    for learner in ('knn', 'kernel-ridge', 'svm'):
        said = run('fit', learner, few).stdout
        expect('task        classification (task=regress predicts' in said, f'{learner} classifies: {said}')
        said = run('fit', learner, cars).stdout
        expect(learner == 'svm' or 'task        regression (task=classify takes' in said, f'{learner} regresses: {said}')
    for words in (('knn(task=regress)', few), ('knn', examples / 'iris.csv'), ('ridge', few), ('logistic', few)):
        expect('task  ' not in run('fit', *words).stdout, f'{words} leaves no doubt')


def kernels_are_told(d):
    """Odd input of kernel machines: what is wrong, and what mends it."""
    iris, cars, model = examples / 'iris.csv', examples / 'cars.csv', d / 'told.margin'
    same, gap, few = d / 'same.csv', d / 'gap.csv', d / 'counts.csv'
    same.write_text('x,y\n1,3\n2,3\n')
    gap.write_text('a,b,y\n2,1,u\n,2,v\n')
    few.write_text('x,y\n' + ''.join(f'{k},{k % 3}\n' for k in range(12)))
    for learner in ('svm', 'kernel-ridge', 'knn'):
        refuses(2, 'fit', learner, same, says=('two classes (task=regress predicts numbers)',))
    expect(run('fit', 'svm(task=regress)', same).returncode == 0, 'which works')
    refuses(2, 'fit', 'logistic', same, says=('two classes (ridge,',))
    refuses(2, 'fit', 'svm(kernel=precomputed)', gap, says=('gap.csv:3', 'Gram matrix', 'compute it'))
    whole = d / 'whole.csv'
    whole.write_text('a,b,y\n2,1,u\n1,2,v\n')
    refuses(2, 'fit', 'svm(kernel=precomputed, task=one-class)', whole, says=('compute with; leave it out (', '--ignore y leaves it out'))
    for spec, alike in (('svm(kernel=sigmoid)', True), ('svm(kernel=rbf)', False), ('svm(kernel=rbf, C=1e-3)', False)):
        expect(('the kernel hardly tells the rows apart' in run('fit', spec, iris).stderr) == alike, f'{spec}: rows told apart')
    refuses(1, 'fit', 'svm(epsilon=0.1)', few, says=('add task=regress',))
    expect(answer('fit', 'svm(kernel=rbf, epsilon=0.1)', few).get('task') == 'regression', 'errors that cost nothing are of numbers')
    refuses(2, 'fit', 'svm(kernel=rbf, epsilon=0.1)', iris, says=('epsilon belongs to regression', 'has categories: leave epsilon out'))
    refuses(1, 'fit', 'svm(kernel=user)', iris, says=('a program hands over as it trains (in C or Python)',))
    refuses(2, 'fit', 'svm(kernel=poly, C=1e308)', iris, says=('leaves the range of numbers', 'lower C'))
    refuses(1, 'gram', 'rbf', cars, says=('a spec of stages alone has no kernel',))
    refuses(1, 'gram', 'svm', iris, '-o', d / 'none.npy', says=('name one (kernel=linear)',))
    expect(run('gram', 'svm(kernel=linear)', examples / 'points.csv').returncode == 0, 'which is then taken')
    refuses(2, 'gram', 'svm(kernel=exp)', examples / 'wine.csv', '-o', d / 'none.npy', says=('rows 1 and 1 is beyond the range of numbers', 'standardize'))
    for learner in ('kernel-ridge', 'kernel-logistic', 'svm(kernel=rbf)'):
        refuses(1, 'fit', f'standardize | {learner}', iris, '--trace', d / 'none.csv', says=('only solver=gd has some',))
    refuses(1, 'fit', '--verify', 'svm', iris, says=('but with evaluate',))
    run('fit', 'kernel-ridge(kernel=sigmoid, gamma=0.01, alpha=20)', iris, '-o', model)
    p = run('evaluate', model, iris, '--verify')
    expect('proof       none, but the report holds' in p.stdout and 'nothing says how low' in p.stdout, f'an infinite gap: {p.stdout}')
    for spec, table, numbers in (('svm(kernel=rbf, tol=1e-14)', iris, False), ('ridge(tol=1e-15)', cars, True)):
        run('fit', spec, table, '-o', model)
        said = run('evaluate', model, table, '--verify').stdout
        expect('give a larger tol' in said and ('constant off the target' in said) == numbers, f'{spec}: {said}')


def ones_are_singular(d):
    """One step, one column, one row."""
    cars = examples / 'cars.csv'
    said = run('fit', 'logistic(max_iter=1)', examples / 'iris.csv').stdout + run('fit', 'ridge(solver=gd, max_iter=1)', cars).stdout + \
        run('fit', 'knn(k=3, algorithm=brute)', cars).stdout + run('fit', 'kernel-ridge(solver=gd, max_iter=1)', cars).stdout
    expect(not re.search(r'(^|[^0-9.])1 [\w-]*( ?steps|columns|rows|passes|numbers)', said), f'one is singular: {said}')
    expect('limit of 1 ' in said, f'limits of one: {said}')


def in_a_terminal(*words):
    """What the program prints on a terminal."""
    master, slave = os.openpty()
    with subprocess.Popen([program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as p:
        os.close(slave)
        said = b''
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:  # the terminal is closed
            pass
        os.close(master)
    return p.returncode, said.decode().replace('\r', '')


def terminals(d):
    """A page of HTML does not go to a terminal; cv tells the target there before the work; what -o wrote is said."""
    iris, model, page = examples / 'iris.csv', d / 'terminal.margin', d / 'page.html'
    run('fit', 'knn', iris, '-o', model)
    code, said = in_a_terminal('report', model)
    expect(code == 1 and '-o PAGE.html' in said and '<' not in said, f'report in a terminal: {code} {said[:200]}')
    code, said = in_a_terminal('cv', 'knn(k={1,200})', iris)
    expect(code == 0 and 'target      species' in said and said.count('target      ') == 1, f'cv in a terminal: {said[:300]}')
    code, said = in_a_terminal('cv', 'kmeans(k={2,3})', iris)
    expect(code == 1 and said.count('target      species') == 1, f'before the work: {said[:300]}')
    p = run('report', model, iris, '-o', page)
    expect(p.stdout == '' and p.stderr == f'margin: page written to {page}\n', f'report says what it wrote: {p.stderr}')
    expect(run('report', model, '-o', page, '--quiet').stderr == '', 'not with --quiet')
    expect(run('report', model).stdout.startswith('<!doctype html>'), 'into a pipe')
    for words in (('--target', 'foo'), ('--weights', 'x'), ('--no-header',), ('--missing', 'drop'), ('--format', 'csv')):
        refuses(1, 'report', model, '-o', page, *words, says=(f'{words[0]} is about a table, and none is given',))
    if subprocess.run(['which', 'gnuplot'], capture_output=True, check=False).returncode == 0:
        p = run('plot', 'kdtree', examples / 'points.csv', '-o', d / 'tree.svg')
        expect(p.stderr == f'margin: picture written to {d}/tree.svg\n' and p.stdout == '', f'plot says what it wrote: {p.stderr}')
        expect(run('plot', 'kdtree', examples / 'points.csv', '-o', d / 'tree.svg', '-q').stderr == '', 'not with -q')


def told_by_name(d):
    """Targets and columns are named where a reader could take them for others."""
    points, iris = examples / 'points.csv', examples / 'iris.csv'
    model, scaled = d / 'named.margin', d / 'scaled.margin'
    expect(answer('fit', 'logistic', points, '-o', model)['target'] == 'class', 'fit names its target')
    expect(answer('evaluate', model, points)['target'] == 'class', 'evaluate names its target')
    expect(run('predict', model, points, '--keep', 'x1,class').stdout.startswith('x1,class,prediction(class)\n'), 'no two columns of one name')
    expect(run('separable', points).stdout.startswith('target      class (the last column;'), 'separable names its target')
    expect(answer('separable', points)['target'] == 'class', 'separable names its target')
    expect('left out    species (the last column;' in run('fit', 'standardize', iris, '-o', scaled).stdout, 'what stages alone leave out')
    expect("units       columns are scaled: sepal_length' = (sepal_length - 5.84333)" in run('inspect', scaled).stdout, 'what scaling does')
    labels, bare = d / 'labels.csv', d / 'bare.csv'
    labels.write_text('a,y\n1,007\n2,007\n3,010\n4,10\n')
    expect(answer('fit', 'logistic', labels, '-o', scaled)['classes'] == ['007', '010', '10'], 'labels keep their zeros')
    expect(run('predict', scaled, labels).stdout.startswith('y\n007\n'), 'as they stand in the file')
    bare.write_text('\n'.join(iris.read_text().split('\n')[1:]))
    run('fit', 'knn', iris, '-o', scaled)
    expect('has no header' in run('predict', scaled, bare).stderr, 'columns found by their places')
    other = d / 'other.csv'
    other.write_text(points.read_text().replace('x1,x2,class', 'x1,x2,kind'))
    expect('trained on the target class, and this is kind' in run('evaluate', model, other, '--target', 'kind').stderr, 'another target')
    refuses(1, 'fit', 'ridge', points, '--traget', 'x1', says=('did you mean --target',))
    refuses(1, 'transform', 'impute | standardize', iris, says=("'impute | standardize' is a spec", "margin fit 'impute | standardize' DATA -o my.margin"))
    p = run('transform', d / 'none.margin', iris)
    expect(p.returncode == 5 and 'is a spec' not in p.stderr, f'a file that is not there: {p.stderr}')
    held_back_rows(d, iris, examples / 'cars.csv')
    refuses(1, 'fit', 'logistic(C=[1,10])', points, says=('{1, 10, 100}',))
    run('fit', 'normalize | kmeans(k=2)', iris, '--target', '', '--ignore', 'species', '-o', scaled)
    expect(answer('inspect', scaled)['units']['made'][:2] == ['sepal_length', 'sepal_width'], 'columns of rows that were normalised')


def held_back_rows(d, iris, cars):
    """The proof of a fit with --holdout: on all rows it does not hold; with the same --holdout it does, and the held-out rows are judged as in the fit."""
    held, points = d / 'held.margin', examples / 'points.csv'
    for table, spec, how in ((iris, 'standardize | logistic', []), (cars, 'ridge', []), (iris, 'svm(kernel=rbf)', ['--seed', '3']), (cars, 'knn(task=regress)', []),
                             (points, 'perceptron(form=dual)', []), (iris, 'standardize | svm', ['--in-order']), (iris, 'kernel-logistic', ['--groups', 'sepal_width'])):
        fitted = answer('fit', spec, table, '--holdout', '0.3', *how, '-o', held)
        p = run('evaluate', '--verify', held, table)
        expect(p.returncode in (2, 3) and 'fitted with --holdout' in p.stdout + p.stderr, f'{spec}: rows of training are told: {p.stdout} {p.stderr}')
        judged = answer('evaluate', '--verify', held, table, '--holdout', '0.3', *how)
        expect(judged['verification']['holds'] and abs(judged['verification']['objective'] / (fitted['objective'] or 1) - bool(fitted['objective'])) < 1e-12,
               f'{spec}: and hold the proof: {judged}')
        for name in ('rows', 'accuracy', 'rmse'):
            expect(judged.get(name) == fitted['held_out'].get(name), f'{spec}: {name} of the rows held out: {judged} {fitted}')
        p = run('evaluate', '--verify', held, table, '--holdout', '0.3', '--seed', '77')
        expect('proof       holds' not in p.stdout or table == points, f'{spec}: other rows: {p.stdout}')
    refuses(1, 'evaluate', held, iris, '--groups', 'sepal_width', says=('give --holdout, too',))
    # a learner without a target shares out no labels: a file may hold them (svmlight always does), and evaluate may read them where the fit did not
    run('convert', iris, d / 'labelled.svm')
    for spec in ('kmeans(k=2)', 'standardize | svm(task=one-class, kernel=rbf)'):
        for table, to_fit, to_judge in ((d / 'labelled.svm', [], []), (d / 'labelled.svm', ['--target', ''], []), (d / 'labelled.svm', ['--in-order'], ['--in-order']),
                                        (d / 'labelled.svm', ['--groups', 'x4'], ['--groups', 'x4']), (iris, ['--target', 'species'], ['--target', 'species']),
                                        (iris, ['--target', 'species'], []), (iris, ['--ignore', 'species'], []), (iris, ['--target', 'species', '--time', 'petal_width'], ['--time', 'petal_width'])):
            fitted = answer('fit', spec, table, '--holdout', '0.3', *to_fit, '-o', held)
            judged = answer('evaluate', '--verify', held, table, '--holdout', '0.3', *to_judge)
            expect(judged['verification']['holds'] and judged['rows'] == fitted['held_out']['rows'] and judged.get('inertia') == fitted['held_out'].get('inertia'),
                   f'{spec} {table.name} {to_fit} {to_judge}: {judged} {fitted}')
    # a column of groups or times is no feature here either: of svmlight it stays a column, and of a table without names it has no name
    (d / 'nameless.csv').write_text(iris.read_text().split('\n', 1)[1])
    for table, column in ((d / 'labelled.svm', 'x4'), (d / 'nameless.csv', '4')):
        for how in (['--groups', column], ['--time', column, '--ignore', column[:-1] + '3']):
            answer('fit', 'knn(k=3)', table, '--holdout', '0.3', *how, '-o', held)
            expect(answer('evaluate', '--verify', held, table, '--holdout', '0.3', *how)['verification']['holds'], f'{table.name} {how}')
    refuses(2, 'evaluate', held, iris, '--holdout', '0.3', '--groups', 'nope', says=("no column 'nope' (--groups)",))
    # 21 whole numbers are a regression, though the rows of training may hold 20 of them alone
    (d / 'whole.csv').write_text('a,b,y\n' + ''.join(f'{i * 7919 % 101},{i * 31 % 97},{i if i < 21 else i % 19}\n' for i in range(60)))
    for learner in ('knn', 'knn(k=3)', 'standardize | svm(kernel=rbf)'):
        specs = set()
        for seed in range(1, 5):
            fitted = answer('fit', learner, d / 'whole.csv', '--holdout', '0.3', '--seed', seed, '-o', held)
            specs.add(answer('inspect', held)['spec'])
            expect(fitted['task'] == 'regression' and 'rmse' in fitted['held_out'], f'{learner}: the whole table has numbers: {fitted}')
            expect(answer('evaluate', '--verify', held, d / 'whole.csv', '--holdout', '0.3', '--seed', seed)['verification']['holds'], f'{learner}: and holds')
        expect(any('task=regress' in spec for spec in specs), f'{learner}: the spec says so where the rows of training do not: {specs}')


def clusters_and_curves(d, model, line, logistic):
    """Pictures of clusters, of the number of clusters, and of regressions over one column."""
    cars, iris, points = examples / 'cars.csv', examples / 'iris.csv', examples / 'points.csv'
    flat, deep, round_, curve, powers = (d / f'{name}.margin' for name in ('flat', 'deep', 'round', 'curve', 'powers'))
    run('fit', 'standardize | kmeans(k=3)', cars, '--target', '', '-o', flat)
    run('fit', 'standardize | kmeans(k=3)', iris, '--target', 'species', '-o', deep)
    run('fit', 'normalize | kmeans(k=3)', iris, '--target', 'species', '-o', round_)
    run('fit', 'rbf(centres=9, pick=even) | ridge(alpha=0.1)', cars, '-o', curve)
    run('fit', 'minmax | poly(degree=3) | ridge(alpha=0.1)', cars, '-o', powers)
    plain = [sum(float(r.split(',')[j]) for r in iris.read_text().split()[1:51]) / 50 for j in range(4)]
    r = answer('inspect', deep)
    first = min(r['centres'], key=lambda c: c[2])
    expect(all(abs(a - b) < 1e-12 for a, b in zip(first, plain)) and len(r['units']['scale']) == 4, f'centres in the units of the table: {r}')
    expect('petal_length 1.462,' in run('inspect', deep).stdout, 'in text, too')
    run('fit', 'standardize | poly | ridge', cars, '-o', d / 'scaled.margin')
    expect("units       weights are of scaled columns: speed' = (speed - 15.4) / 5.2345\n" in run('inspect', d / 'scaled.margin').stdout, 'how columns are scaled')
    expect(answer('inspect', d / 'scaled.margin')['units']['shift'][2] == 0, 'a product is not shifted')
    run('fit', 'standardize | poly | kmeans(k=2)', iris, '--target', '', '--ignore', 'species', '-o', d / 'scaled.margin')
    expect('units       not those of the table: 1, sepal_length^2,' in run('inspect', d / 'scaled.margin').stdout, 'which values are of scaled columns')
    for spec in ('naive-bayes', 'naive-bayes(distribution=bernoulli)'):
        run('fit', f'standardize | {spec}', iris, '-o', d / 'scaled.margin')
        expect(('5.006 +- 0.348947' if spec == 'naive-bayes' else 'sepal_length > 5.84333') in run('inspect', d / 'scaled.margin').stdout, f'{spec} in the units of the table')
    for words, says in ((['clusters', deep, iris], 'two of 4 columns'), (['clusters', deep, iris, '--columns', 'petal_length,4'], 'petal_width'),
                        (['clusters', round_, iris], 'as the stages make them'), (['clusters', flat, cars], 'centres'),
                        (['fit', line, cars], 'least-squares'), (['fit', curve, cars], 'weight x function'), (['fit', powers, cars], 'speed^3'),
                        (['elbow', 'kmeans(k={1..4})', cars, '--target', '', '--seed', '3'], 'silhouette (right)')):
        p = run('plot', *words, '-o', d / 'p.svg')
        expect(p.returncode == 0 and says in (d / 'p.svg').read_text(), f'plot {words[0]} says {says}: {p.stderr}')
        p = run('plot', *words)
        expect(p.returncode == 0 and len(p.stdout) > 500, f'plot {words[0]} in the terminal: {p.stderr}')
    text = run('plot', 'elbow', 'kmeans(k={1..4})', cars, '--target', '', '-o', d / 'p.svg').stdout
    rows = [line.replace('*', ' ').split() for line in text.splitlines()[1:5]]
    fits = [answer('fit', f'kmeans(k={k})', cars, '--target', '') for k in range(1, 5)]
    expect([r[0] for r in rows] == ['1', '2', '3', '4'] and all(abs(float(r[1]) / f['objective'] - 1) < 1e-5 for r, f in zip(rows, fits)),
           f'the table of an elbow holds what fit says: {text}')
    # a centre is the mean of its rows, in the units of the columns
    script = d / 'gnuplot'
    script.write_text(f'#!/bin/sh\ncat > {d}/script\n')
    script.chmod(0o755)
    subprocess.run([program, 'plot', 'clusters', str(flat), str(cars)], env={'PATH': f'{d}:{os.environ["PATH"]}'}, capture_output=True)
    lines = (d / 'script').read_text().split('plot ', 1)[1].splitlines()[1:]
    blocks = ['']
    for line_ in lines:
        blocks = blocks + [''] if line_ == 'e' else blocks[:-1] + [blocks[-1] + line_ + '\n']
    parts = [[tuple(map(float, row.split()[:2])) for row in block.splitlines()] for block in blocks if block]
    means = [(sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)) for part in parts[:3]]
    expect(sum(map(len, parts[:3])) == 50 and all(abs(a - b) < 1e-9 * 100 for m, c in zip(means, parts[3]) for a, b in zip(m, c)),
           f'centres lie at the means of their rows: {means} {parts[3:]}')
    script.unlink()
    refuses(2, 'plot', 'clusters', line, cars, says=('kmeans', 'boundary'))
    refuses(2, 'plot', 'residuals', line, cars, '--target', '', '-o', d / 'p.svg', says=('no target', '--target'))
    refuses(2, 'plot', 'clusters', deep, iris, '--columns', 'petal_length,petal', says=("'petal'",))
    refuses(1, 'plot', 'clusters', deep, iris, '--columns', '1,1', says=('two different columns',))
    run('fit', 'kmeans(k=2)', cars, '--target', 'dist', '-o', d / 'one.margin')
    refuses(2, 'plot', 'clusters', d / 'one.margin', cars, says=('two columns', 'has one'))
    refuses(2, 'plot', 'fit', logistic, iris, says=('regression', 'boundary'))
    wide = d / 'wide.csv'
    wide.write_text('a,b,y\n' + ''.join(f'{i},{i * i % 7},{i + i * i % 5}\n' for i in range(30)))
    run('fit', 'least-squares', wide, '-o', d / 'wide.margin')
    refuses(1, 'plot', 'fit', d / 'wide.margin', wide, says=('--columns',))
    refuses(2, 'plot', 'fit', d / 'wide.margin', wide, '--columns', 'c', says=("'c'",))
    p = run('plot', 'fit', d / 'wide.margin', wide, '--columns', 'b', '-o', d / 'p.svg')
    expect(p.returncode == 0 and 'other columns at their means' in (d / 'p.svg').read_text(), f'one of two columns: {p.stderr}')
    fit = answer('fit', 'kmeans(k=3)', cars, '--target', '', '-o', d / 'three.margin')
    e = answer('evaluate', d / 'three.margin', cars, '--verify')
    expect(abs(e['inertia'] / fit['objective'] - 1) < 1e-12 and abs(e['silhouette'] / fit['silhouette'] - 1) < 1e-12 and e['sizes'] == fit['sizes'] and
           e['verification']['holds'], f'evaluate says of the training rows what fit said: {e}')
    text = run('evaluate', d / 'three.margin', cars).stdout
    expect('inertia' in text and 'silhouette' in text and 'sizes' in text, f'clusters are evaluated: {text}')
    refuses(1, 'plot', 'elbow', 'kmeans', cars, says=('kmeans(k={1..10})',))
    refuses(1, 'plot', 'elbow', 'ridge(alpha={1,2})', cars, says=('kmeans',))
    refuses(1, 'plot', 'elbow', 'kmeans(k={2,3}, start={++,sample})', cars, '--target', '', says=('k alone',))
    refuses(2, 'plot', 'elbow', 'kmeans(k={1..60})', cars, '--target', '', says=('fewer',))
    refuses(1, 'plot', 'elbow', 'kmeans(k={1..10})', says=('table',))
    refuses(1, 'plot', 'clusters', deep, says=('table',))


def neighbours(d):
    """knn at the shell: by k and by radius, one row, equal rows, extreme coordinates, each refusal with its sentence."""
    iris, model, t = examples / 'iris.csv', d / 'knn.margin', d / 'knn.csv'
    for spec, says in (('knn(k=0)', ('k',)), ('knn(p=0.5)', ('p',)), ('knn(radius=-1)', ('radius',)), ('knn(radius=nan)', ('radius',)),
                       ('knn(k=3, radius=1)', ('exclude each other',)), ('knn(empty=none)', ('give radius too',))):
        refuses(1, 'fit', spec, iris, says=says)
    refuses(2, 'fit', 'knn(k=151)', iris, says=('k=151', '150', 'smaller k'))
    r = answer('fit', 'knn(radius=0.6)', iris, '-o', model)
    expect(abs(r.get('train', {}).get('accuracy', 0) - 148 / 150) < 1e-12, f'accuracy of scikit-learn within 0.6: {r.get("train")}')
    e = answer('evaluate', model, iris, '--verify')
    expect(e.get('verification', {}).get('holds') is True, f'the proof of a radius holds: {e.get("verification")}')
    t.write_text('a,b,y\n1,1,no\n1,2,no\n5,5,yes\n6,5,yes\n')
    (d / 'far.csv').write_text('a,b,y\n100,100,yes\n')
    answer('fit', 'knn(radius=1, empty=none)', t, '-o', model)
    p = run('predict', model, d / 'far.csv')
    expect(p.returncode == 0 and 'yes' not in p.stdout and 'no' not in p.stdout.split('\n')[1:], f'no neighbour, no answer: {p.stdout}')
    refuses(2, 'evaluate', model, d / 'far.csv', says=('row 1', 'no neighbour within the radius'))
    answer('fit', 'knn(radius=1)', t, '-o', model)
    expect(run('predict', model, d / 'far.csv').stdout.split()[-1] == 'yes', 'the nearest row answers')
    (d / 'gap.csv').write_text('a,b\n1,1\n?,1\n')
    refuses(2, 'predict', model, d / 'gap.csv', says=('gap.csv:3:1', 'missing'))
    (d / 'large.csv').write_text('a,b\n1,1\n1,1e301\n')
    p = run('predict', model, d / 'large.csv')
    expect(p.returncode == 0 and p.stdout.split('\n')[1] == 'no' and p.stdout.split('\n')[2] in ('', '""'),
           f'a value too large: no answer: {p.stdout} {p.stderr}')
    (d / 'far.csv').write_text('a,b\n100,100\n')
    t.write_text('a,b,y\n1,2,7\n')
    answer('fit', 'knn(k=1, task=regress)', t, '-o', model)
    expect(run('predict', model, d / 'far.csv').stdout.split()[-1] == '7', 'one row answers everything')
    refuses(2, 'fit', 'knn(task=regress)', t, says=('k=5', 'smaller k'))
    t.write_text('a,b,y\n' + '3,3,1.5\n' * 200)
    answer('fit', 'knn(task=regress)', t, '-o', model)
    expect(run('predict', model, d / 'far.csv').stdout.split()[-1] == '1.5', 'equal rows')
    for size in ('1e-300', '1e300'):
        t.write_text(f'a,b,y\n{size},0,1.5\n-{size},0,2.5\n0,{size},3.5\n-{size},-{size},4.5\n')
        for method in ('tree', 'brute'):
            answer('fit', f'knn(k=1, task=regress, method={method})', t, '-o', model)
            expect([line.split(',')[-1] for line in run('predict', model, t).stdout.split()[1:]] == ['1.5', '2.5', '3.5', '4.5'],
                   f'coordinates of {size} by {method}')
    t.write_text('a,b,y\n1,2,yes\n2e300,1,no\n')
    refuses(2, 'fit', 'knn(k=1)', t, says=('row 2', '2e+300', '1e300'))


def columns_unknown(d):
    """A column that the table has not is refused, whatever command is told of it by whatever option."""
    iris, model, centres, counts = examples / 'iris.csv', d / 'iris.margin', d / 'centres.margin', d / 'counts.margin'
    run('fit', 'standardize | logistic', iris, '-o', model)
    run('fit', 'kmeans(k=3)', iris, '--ignore', 'species', '-o', centres)
    run('fit', 'naive-bayes', iris, '-o', counts)
    uses = {'fit': [('fit', 'perceptron', iris, '--holdout', '0.2')], 'cv': [('cv', 'perceptron', iris)], 'compare': [('compare', iris, 'perceptron')],
            'predict': [('predict', m, iris) for m in (model, centres)], 'evaluate': [('evaluate', m, iris, '--holdout', '0.2') for m in (model, centres)],
            'transform': [('transform', m, iris) for m in (model, centres)], 'report': [('report', m, iris) for m in (model, centres)],
            'importance': [('importance', model, iris)], 'inspect': [('inspect', model, iris, '--statistics')], 'split': [('split', iris, '-k', '3')],
            'separable': [('separable', iris, '--class', 'setosa')], 'gram': [('gram', 'svm(kernel=rbf)', iris)], 'path': [('path', 'ridge(alpha={1,2})', iris)],
            'check': [('check', iris)], 'convert': [('convert', iris, d / 'unknown.csv')], 'update': [('update', counts, iris, '-o', d / 'unknown.margin')],
            'plot': [('plot', 'kdtree', iris, '--ignore', 'species'), ('plot', 'boundary', model, iris), ('plot', 'clusters', centres, iris),
                     ('plot', 'settings', 'knn(k={1,3})', iris), ('plot', 'confusion', model, iris)]}
    told = {c: re.findall(r'^  (--\w+) (?:COLUMNS?|A,B) ', run('help', c).stdout, re.M) for c in re.findall(r'^  ([a-z]+)  ', run('help').stdout, re.M)}
    expect(set(uses) == {c for c in told if told[c]}, f'commands with columns: {set(uses) ^ {c for c in told if told[c]}}')
    for command, options in told.items():
        for option in options:
            tried = [run(*words, option, 'nosuch') for words in uses.get(command, ()) if option not in words]
            named = [p for p in tried if p.returncode == 2 and "no column 'nosuch' (" in p.stderr and p.stdout == '' and ':' in p.stderr.split('no column')[1]]
            other = [p for p in tried if p.returncode == 1 and re.search('are for margin plot|is for margin plot', p.stderr)]
            expect(named and len(named) + len(other) == len(tried), f'{command} {option} nosuch: {[(p.returncode, p.stderr[:160]) for p in tried]}')
    expect(not (d / 'unknown.csv').exists() and not (d / 'unknown.margin').exists(), 'nothing is written')
    bare, none = d / 'bare.csv', d / 'none.csv'
    none.write_text('sepal_length,sepal_width,petal_length,petal_width\n1,2,3,4\n')
    bare.write_text('1,2,3,4\n5,6,7,8\n')
    refuses(2, 'predict', model, none, '--target', 'species', says=("no column 'species' (the target)", 'from'))
    refuses(2, 'predict', model, bare, '--target', 'species', says=("no column 'species' (the target)", 'no header'))
    refuses(2, 'transform', model, bare, '--target', '4', says=('4 features and a target',))
    expect(run('predict', model, none).returncode == run('predict', model, bare).returncode == 0, 'the target may be missing')
    refuses(1, 'inspect', model, '--target', 'nosuch', says=("no target 'nosuch'; it has species",))
    refuses(1, 'plot', 'coefficients', model, '--weights', 'w', says=('--weights', 'none is given'))
    kept = run('predict', model, iris, '--keep', 'sepal_width..3, -1').stdout.splitlines()
    expect(kept[0].startswith('sepal_width,petal_length,species,') and kept[1].startswith('3.5,1.4,setosa,'), f'lists to keep are like others: {kept[:2]}')
    refuses(2, 'predict', model, iris, '--keep', '3..1', says=('run backwards',))
    refuses(2, 'plot', 'kdtree', iris, '--columns', 'petal_lenth,1', says=("did you mean 'petal_length'?",))


def pictures(d):
    model, trace = d / 'picture.margin', d / 'picture.csv'
    run('fit', 'perceptron(order=first)', examples / 'points.csv', '-o', model, '--trace', trace)
    if subprocess.run(['sh', '-c', 'command -v gnuplot'], capture_output=True).returncode:
        print('skipped: pictures (no gnuplot)')
        return
    for words in (['trace', trace], ['boundary', model, examples / 'points.csv'], ['margins', model, examples / 'points.csv'],
                  ['kdtree', examples / 'points.csv']):
        p = run('plot', *words, '-o', d / 'p.svg')
        expect(p.returncode == 0 and (d / 'p.svg').read_text().lstrip().startswith('<?xml'), f'plot {words[0]}: {p.stderr}')
        p = run('plot', *words)
        expect(p.returncode == 0 and len(p.stdout) > 500, f'plot {words[0]} in the terminal')
    cars, iris, line, ridge, logistic = examples / 'cars.csv', examples / 'iris.csv', d / 'l.margin', d / 'r.margin', d / 'c.margin'
    run('fit', 'least-squares', cars, '-o', line)
    run('fit', 'ridge', cars, '-o', ridge)
    run('fit', 'logistic', iris, '-o', logistic)
    for words, says in ((['coefficients', line, cars], 'interval without 0'), (['coefficients', ridge], 'ridge: coefficients'),
                        (['coefficients', logistic, iris], 'virginica'), (['residuals', line, cars], 'normal quantile'),
                        (['roc', logistic, iris], 'setosa, area 1.0000'), (['reliability', logistic, iris], 'Brier score')):
        p = run('plot', *words, '-o', d / 'p.svg')
        text = (d / 'p.svg').read_text()
        expect(p.returncode == 0 and says in text, f'plot {words[0]} says {says}: {p.stderr}')
        p = run('plot', *words)
        expect(p.returncode == 0 and len(p.stdout) > 500, f'plot {words[0]} in the terminal: {p.stderr}')
    run('plot', 'reliability', logistic, iris, '-o', d / 'p.svg')
    brier = json.loads(run('evaluate', logistic, iris, '--json').stdout)['brier']
    expect(f'Brier score {brier:.3g}' in (d / 'p.svg').read_text(), f'the Brier score of three classes is that of evaluate, {brier:.3g}')
    expect('penalty' in run('plot', 'coefficients', ridge, cars).stderr, 'why there are no intervals is said')
    refuses(2, 'plot', 'residuals', logistic, iris, says=('regression',))
    refuses(2, 'plot', 'roc', line, cars, says=('classifiers',))
    refuses(2, 'plot', 'reliability', model, examples / 'points.csv', says=('probabilities',))
    refuses(1, 'plot', 'roc', logistic, says=('table',))
    refuses(1, 'plot', 'coefficients', line, cars, '--confidence', '2', says=('--confidence',))
    clusters_and_curves(d, model, line, logistic)
    boundaries(d)
    kernel_pictures(d)
    pictures_of_targets(d)
    p = run('plot', 'trace', trace, '--float32')
    expect(p.returncode == 0 and p.stdout == run('plot', 'trace', trace).stdout, f'a trace in single precision: {p.stderr}')
    refuses(1, 'plot', 'trace', trace, trace, says=('one word too many',))
    refuses(1, 'plot', 'kdtree', examples / 'points.csv', '--columns', 'x1,x1', says=('two different columns',))
    refuses(2, 'plot', 'kdtree', examples / 'points.csv', '--columns', '1.5,2', says=("no column '1.5'",))
    (d / 'narrow.csv').write_text('x,name\n1,a\n2,b\n')
    refuses(2, 'plot', 'kdtree', d / 'narrow.csv', says=('two columns of numbers',))
    (d / 'many.csv').write_text('a,b\n' + '1,2\n' * 2001)
    refuses(2, 'plot', 'kdtree', d / 'many.csv', says=('1 to 2000 rows', 'one of 2001', 'a part of its rows'))
    refuses(1, 'plot', 'trace', trace, '--seed', '1', says=('--seed',))
    hostile = d / 'hostile.csv'
    hostile.write_text(f'"a`touch {d}/ran`","it\'s",y\n1,2,"`touch {d}/ran`"\n3,4,yes\n2,1,"`touch {d}/ran`"\n4,5,yes\n')
    run('fit', 'perceptron', hostile, '-o', model)
    p = run('plot', 'boundary', model, hostile, '-o', d / 'h.svg', '--title', f'`touch {d}/ran`')
    expect(p.returncode == 0 and "it's" in (d / 'h.svg').read_text().replace('&apos;', "'").replace('&#39;', "'"),
           f'names with quotes and backquotes are drawn: {p.stderr}')
    expect(not (d / 'ran').exists(), 'a name in the data is never run as a command')
    p = subprocess.run([program, 'plot', 'trace', str(trace), '-o', str(d / 'q.svg')], env={'PATH': '/nowhere'}, capture_output=True,
                       text=True)
    expect(p.returncode == 5 and 'gnuplot' in p.stderr and not (d / 'q.svg').exists(), 'a missing gnuplot is named')
    slow = d / 'slow'
    slow.mkdir()
    (slow / 'gnuplot').write_text(f'#!/bin/sh\n: > {d}/drawing\nexec sleep 60\n')
    (slow / 'gnuplot').chmod(0o755)
    p = subprocess.Popen([program, 'plot', 'trace', str(trace), '-o', str(d / 'q.svg')], env={'PATH': f'{slow}:/usr/bin:/bin'}, stderr=subprocess.PIPE, text=True)
    while p.poll() is None and not (d / 'drawing').exists():
        time.sleep(0.05)
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    began, said = time.monotonic(), p.communicate()[1]
    expect(p.returncode == 130 and time.monotonic() - began < 20 and 'interrupted' in said, f'an interrupt ends gnuplot, too: exit {p.returncode}: {said}')
    refuses(1, 'plot', 'trace', trace, '-o', d / 'p.pdf', says=('.svg',))
    refuses(1, 'plot', 'nonsense', trace, says=('boundary', 'roc'))


with tempfile.TemporaryDirectory() as folder:
    d = Path(folder)
    for part in (known_answers, arrow_through_a_pipe, iris_works, reports, judged, predictions_line_up, counts_are_whole, missing_values, traces, same_bytes, formats, bad_tables, usage, model_files, outputs, inputs_are_safe, little_memory, interruption, small_stacks, blocked_pipes, closed_streams,
                 names_for_people, undecided, statistics, paths, searches, neighbours, several_targets, targets_refused, folders_are_no_files, other_words, targets_come_first, ones_are_singular, tasks_are_told, kernels_are_told, terminals, told_by_name, columns_unknown, pictures):
        try:
            part(d)
        except Exception as problem:  # a part that breaks off is a breach, and the others still run
            expect(False, f'{part.__name__} broke off: {problem!r}')
print(f'{passed} passed, {failed} failed')
sys.exit(bool(failed))
