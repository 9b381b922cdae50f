#!/usr/bin/env python3
"""Categories at the shell: told by name wherever they stand, unknown ones as the spec says, missing cells as --missing says;
and what naive Bayes and the feature stages cannot do is said.

usage: check_categories.py PROGRAM

Prints a line for each breach and 'N passed, N failed' at the end.
"""
import csv
import io
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

from checks import expect, finish, run

TOWNS, SIZES, CLASSES = ['Bonn', 'Kiel', 'Ulm', 'Aachen'], ['S', 'M', 'L'], ['no', 'yes', 'maybe']


def output(*words):
    p = run(*words)
    expect(p.returncode == 0, f'{" ".join(map(str, words))}: exit {p.returncode}: {p.stderr.strip()[:300]}')
    return p.stdout


def answer(*words):
    try:
        return json.loads(output(*words, '--json'))
    except ValueError:
        expect(False, f'{" ".join(map(str, words))}: no JSON')
        return {}


def refuses(*words, says):
    p = run(*words)
    line = ' '.join(map(str, words))
    expect(p.returncode == 2 and not p.stdout, f'{line}: exit {p.returncode}, prints {p.stdout[:100]!r}')
    for word in says:
        expect(word in p.stderr, f'{line}: does not say "{word}": {p.stderr.strip()[:300]}')


def write(path, header, rows):
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows([header, *rows])
    path.write_text(text.getvalue())
    return path


def table(count, seed, towns=TOWNS, classes=CLASSES):
    """Rows of town, size, weight and class that depend on each other."""
    r = random.Random(seed)
    rows = []
    for _ in range(count):
        town, size = r.choice(towns), r.choice(SIZES)
        level = towns.index(town) + 2 * SIZES.index(size) + r.gauss(0, 1.5)
        rows.append([town, size, f'{r.gauss(level, 1):.3f}', classes[int(min(max(level / 2.5, 0), len(classes) - 1))]])
    return rows


HEADER = ['town', 'size', 'weight', 'class']
SPECS = ['naive-bayes', 'onehot | standardize | softmax(C=1)', 'onehot | standardize | logistic(C=1)']


def by_name(d):
    rows = table(300, 1)
    data = write(d / 'all.csv', HEADER, rows)
    # another order of rows, so that categories turn up in another order, and of columns
    order = list(range(300))
    random.Random(2).shuffle(order)
    moved = write(d / 'moved.csv', ['class', 'weight', 'extra', 'size', 'town'],
                  [[rows[i][3], rows[i][2], i, rows[i][1], rows[i][0]] for i in order])
    # fewer categories: their codes in the file would be others
    few = [r for r in rows if r[0] != 'Aachen' and r[1] != 'L' and r[3] != 'no']
    subset = write(d / 'few.csv', HEADER, few)
    for spec in SPECS:
        model = d / 'name.margin'
        output('fit', spec, data, '-o', model)
        whole = answer('predict', model, data)['predictions']
        expect(len(set(whole)) > 1, f'{spec} tells classes apart')
        expect(answer('predict', model, moved)['predictions'] == [whole[i] for i in order], f'{spec}: rows and columns moved')
        expect(answer('predict', model, subset)['predictions'] == [w for w, r in zip(whole, rows) if r in few],
               f'{spec}: fewer categories')
        a, b = answer('evaluate', '--verify', model, data), answer('evaluate', '--verify', model, moved)
        expect(a['verification']['holds'] and b['verification']['holds'], f'{spec}: proof of moved rows')
        expect(a['confusion'] == b['confusion'], f'{spec}: evaluate of moved rows')
        right = sum(w == r[3] for w, r in zip(whole, rows) if r in few) / len(few)
        expect(abs(answer('evaluate', model, subset)['accuracy'] - right) < 1e-12, f'{spec}: evaluate of fewer categories')


def probabilities(model, path):
    return answer('predict', '--proba', model, path)['probabilities']


def unseen(d):
    data = write(d / 'u.csv', HEADER, table(200, 3))
    query = write(d / 'q.csv', HEADER[:3], [['Bonn', 'S', 1], ['Trier', 'S', 1], ['Kiel', 'XL', 2]])
    gaps = write(d / 'g.csv', HEADER[:3], [['Bonn', 'S', 1], ['', 'S', 1], ['Kiel', '', 2]])
    model = d / 'u.margin'

    # its own mass: a count of 0 in each class, so log P differs by -log(N_jc + S s) between classes
    output('fit', 'naive-bayes(smoothing=0.5)', data, '-o', model)
    rows = [r for r in csv.reader(data.open())][1:]
    scores = [[float(v) for v in r[:-1]] for r in csv.reader(io.StringIO(output('predict', '--scores', model, query)))
              if not r[0].startswith('score')]
    output('fit', 'naive-bayes(smoothing=0.5, unseen=ignore)', data, '-o', model)
    ignored = [[float(v) for v in r[:-1]] for r in csv.reader(io.StringIO(output('predict', '--scores', model, query)))
               if not r[0].startswith('score')]
    import math
    for k, name in enumerate(sorted(CLASSES)):
        n = sum(r[3] == name for r in rows)
        expect(abs(scores[1][k] - ignored[1][k] - math.log(0.5 / (n + 4 * 0.5))) < 1e-9, 'mass of an unknown town')
        expect(abs(scores[2][k] - ignored[2][k] - math.log(0.5 / (n + 3 * 0.5))) < 1e-9, 'mass of an unknown size')
        expect(scores[0][k] == ignored[0][k], 'a known row is the same for each unseen=')
    # left out like a missing value; those are still a matter of --missing
    expect(probabilities(model, query) == probabilities(model, gaps), 'ignored like a missing value')
    p = run('predict', model, query)
    expect("2 cells hold categories unknown to the model (row 2: town 'Trier'); such a value is left out like a missing value (unseen=ignore)" in p.stderr, f'the note: {p.stderr}')
    refuses('predict', '--missing', 'error', model, gaps, says=[f'{gaps}:3:1', 'missing'])
    expect(run('predict', '--missing', 'error', model, query).returncode == 0, 'an unknown category is not missing')
    expect(len(output('predict', '--missing', 'drop', model, query).splitlines()) == 4, 'nor dropped')
    expect(output('predict', '--missing', 'drop', model, gaps).splitlines()[2:] == ['""', '""'], 'no prediction for rows with gaps, in their place')

    # refused, with its place
    for spec in ('naive-bayes(unseen=error)', 'onehot(unknown=error) | standardize | logistic'):
        output('fit', spec, data, '-o', model)
        refuses('predict', model, query, says=[f'{query}:3:1', "'Trier'", "'town'", "'Bonn', 'Kiel'"])
        output('predict', model, write(d / 'fine.csv', HEADER[:3], [['Ulm', 'M', 3]]))
        judged = write(d / 'judged.csv', HEADER, [['Bonn', 'S', 1, 'no'], ['Trier', 'M', 2, 'yes']])
        refuses('evaluate', model, judged, says=[f'{judged}:3:1', "'Trier'"])

    # no indicator is 1
    output('fit', 'onehot | standardize | logistic', data, '-o', model)
    expect(len(set(answer('predict', model, query)['predictions']) - set(CLASSES)) == 0, 'onehot takes unknown categories')
    # impute fills missing cells and leaves unknown categories alone
    output('fit', 'impute | onehot(unknown=error) | logistic', data, '-o', model)
    output('predict', model, gaps)
    refuses('predict', model, query, says=["'Trier'"])
    output('fit', 'impute | onehot | logistic', data, '-o', model)
    expect(probabilities(model, query)[1] != probabilities(model, gaps)[1], 'an unknown category is not filled in')

    # numbers taken as categories
    numbers = write(d / 'n.csv', ['grade', 'class'], [[g, 'ab'[g > 2]] for g in (1, 2, 3, 4) * 5])
    strange = write(d / 's.csv', ['grade'], [[1], [9]])
    output('fit', 'naive-bayes(categorical=grade, unseen=error)', numbers, '-o', model)
    refuses('predict', model, strange, says=[str(strange), 'row 2'])
    output('fit', 'naive-bayes(categorical=grade)', numbers, '-o', model)
    expect(answer('predict', model, strange)['predictions'][0] == 'a', 'unknown numbers are smoothed')


def classes(d):
    rows = table(200, 5)
    data, model = write(d / 'c.csv', HEADER, rows), d / 'c.margin'
    more = write(d / 'more.csv', HEADER, [*rows[:5], ['Bonn', 'S', 1, 'never'], *rows[5:9], ['Kiel', 'M', 2, '']])
    output('fit', 'naive-bayes', data, '-o', model)
    refuses('evaluate', model, more, says=[f'{more}:7:10', "'never'", "'maybe', 'no', 'yes'", '--missing drop'])
    p = run('evaluate', '--json', '--missing', 'drop', model, more)
    expect(p.returncode == 0 and json.loads(p.stdout)['confusion'], f'unknown classes are dropped: {p.stderr}')
    expect(sum(map(sum, json.loads(p.stdout)['confusion'])) == 9, 'nine rows are left')
    expect('whose class the model does not know' in p.stderr, f'and said so: {p.stderr}')
    # a prediction has no use for the class
    expect(len(answer('predict', model, more)['predictions']) == 11, 'predict reads no classes')
    expect(len(answer('predict', '--missing', 'drop', model, more)['predictions']) == 11, 'nor drops rows for them')

    # classes that are numbers
    numbers = write(d / 'cn.csv', ['a', 'class'], [[i % 7 + (i % 3) / 4, int(i % 7 > 3)] for i in range(60)])
    output('fit', 'naive-bayes', numbers, '-o', model)
    other = write(d / 'co.csv', ['a', 'class'], [[1, 0], [5, 1], [6, 8]])
    refuses('evaluate', model, other, says=['row 3', "'8'", '0, 1'])
    expect(answer('evaluate', '--missing', 'drop', model, other)['accuracy'] == 1, 'an unknown number is dropped')
    output('fit', 'perceptron', numbers, '-o', model)
    lines = run('evaluate', '--missing', 'drop', '--quiet', '--margins', d / 'm.csv', model, other)
    expect(lines.returncode == 0 and len((d / 'm.csv').read_text().splitlines()) == 3, 'margins of the rows that are left')


def updates(d):
    first = table(150, 7, towns=TOWNS[:2], classes=['no', 'yes'])
    second = [[r[0], r[1], r[2], {'yes': 'yes', 'no': 'maybe'}[r[3]]] for r in table(100, 8, towns=['Ulm', 'Bonn'], classes=['no', 'yes'])]
    a, b = write(d / 'a.csv', HEADER, first), write(d / 'b.csv', ['class', *HEADER[:3]], [[r[3], *r[:3]] for r in second])
    whole = write(d / 'ab.csv', HEADER, first + second)
    part, updated, at_once = d / 'part.margin', d / 'updated.margin', d / 'once.margin'
    for spec in ('naive-bayes(bernoulli=weight)', 'naive-bayes', 'naive-bayes(smoothing=0)'):
        output('fit', spec, a, '-o', part)
        text = output('update', part, b, '-o', updated)
        expect('250 rows in all, 3 classes' in text, f'what an update says: {text}')
        output('fit', spec, whole, '-o', at_once)
        left, right = probabilities(updated, whole), probabilities(at_once, whole)
        worst = max(abs(p - q) for l, r in zip(left, right) for p, q in zip(l, r))
        expect(worst == 0 if 'bernoulli' in spec else worst < 1e-12, f'{spec}: updated and at once differ by {worst}')
        expect(answer('evaluate', '--verify', updated, whole)['verification']['holds'], f'{spec}: proof of the updated model')
        got, want = answer('inspect', updated), answer('inspect', at_once)
        expect(got['classes'] == want['classes'] == ['maybe', 'no', 'yes'], f'classes {got["classes"]}')
        expect(got['features'] == want['features'], f'{spec}: columns of the updated model')
    # the same in three steps, and columns that stages made of them
    output('update', part, write(d / 'b1.csv', HEADER, second[:40]), '-o', updated)
    output('update', updated, write(d / 'b2.csv', HEADER, second[40:]), '-o', updated)
    left = probabilities(updated, whole)
    expect(max(abs(p - q) for l, r in zip(left, right) for p, q in zip(l, r)) < 1e-12, 'in three steps')
    refuses('update', part, write(d / 'less.csv', ['town', 'size', 'class'], [['Bonn', 'S', 'no']]), '-o', updated,
            says=["'weight'", 'lacks'])
    refuses('update', part, write(d / 'text.csv', HEADER, [['Bonn', 'S', 'heavy', 'no']]), '-o', updated,
            says=["'heavy'", 'not a number'])
    output('fit', 'naive-bayes(priors=equal)', a, '-o', part)
    refuses('update', part, b, '-o', updated, says=['given no priors'])
    # a first part with rows of one class
    only = write(d / 'only.csv', HEADER, [r for r in first if r[3] == 'yes'])
    rest = write(d / 'rest.csv', HEADER, [r for r in first if r[3] != 'yes'] + second)
    refuses('fit', 'naive-bayes', only, '-o', part, says=["'yes'", 'at least two classes'])
    output('fit', 'naive-bayes', only, '--classes', 'no, yes,maybe', '-o', part)
    expect(answer('inspect', part)['classes'] == ['maybe', 'no', 'yes'], 'declared classes')
    output('update', part, rest, '-o', updated)
    output('fit', 'naive-bayes', whole, '-o', at_once)
    left, right = probabilities(updated, whole), probabilities(at_once, whole)
    expect(max(abs(p - q) for l, r in zip(left, right) for p, q in zip(l, r)) < 1e-12, 'one class, then the rest')
    refuses('fit', 'onehot | logistic', only, '--classes', 'no,yes', '-o', part, says=["no row has the class 'no'"])
    numbers = write(d / 'n.csv', ['a', 'class'], [[1, 0], [2, 0], [3, 1]])
    output('fit', 'naive-bayes', numbers, '--classes', '2,0,1', '-o', part)
    expect(answer('inspect', part)['classes'] == ['0', '1', '2'], 'declared numbers')
    wrong = run('fit', 'naive-bayes', numbers, '--classes', '0,one', '-o', part)
    expect(wrong.returncode == 1 and "'one', and the target has numbers" in wrong.stderr, f'a text for a number: {wrong.stderr}')
    refuses('fit', 'naive-bayes', numbers, '--classes', '0,2', '-o', part, says=['row 3', "'1'", 'is not among the classes that are declared (--classes): 0, 2'])


def telling(d):
    data = write(d / 't.csv', HEADER, table(300, 9))
    output('fit', 'naive-bayes', data, '-o', d / 't.margin')
    text = output('inspect', d / 't.margin')
    for word in ('town', 'size', 'weight', *CLASSES):
        expect(word in text, f'inspect does not name {word}: {text}')


def near(a, b):
    return len(a) == len(b) and all(abs(p - q) < 1e-14 for p, q in zip(a, b))


def by_hand(d):
    """inspect shows what a prediction is worked out from by hand: the textbook's example."""
    x1, x2, y = '111112222233333', 'SMMSSSMMLLLMMLL', '--++---+++++++-'
    data, model = write(d / 'book.csv', ['x1', 'x2', 'y'], zip(x1, x2, y)), d / 'book.margin'
    for s in (0, 1):
        output('fit', f'naive-bayes(smoothing={s}, categorical=x1)', data, '-o', model)
        text, found = output('inspect', model), answer('inspect', model)
        expect(near(found['priors'], [(9 + s) / (15 + 2 * s), (6 + s) / (15 + 2 * s)]), f'priors {found["priors"]}')
        expect(found['class_count'] == [9, 6], f'class counts {found["class_count"]}')
        score = dict(zip(found['classes'], found['priors']))
        for column, values, at in ((found['likelihoods'][0], x1, '2'), (found['likelihoods'][1], x2, 'S')):
            expect(column['distribution'] == 'categorical', f'{column}')
            for k, c in enumerate(found['classes']):
                for a, level in enumerate(column['levels']):
                    count = sum(v == str(level) and t == c for v, t in zip(values, y))
                    p = (count + s) / (y.count(c) + 3 * s)
                    expect(column['count'][k][a] == count, f'count of {level} in {c}: {column}')
                    expect(abs(column['p'][k][a] - p) < 1e-14, f'P({level} | {c}): {column}')
                    expect(f'{p:.6g} ({count})' in text, f'inspect does not show {p:.6g} ({count}): {text}')
                    score[c] *= p if str(level) == at else 1
        want = {'+': (1 / 45, 10 / 17 * 4 / 12 * 2 / 12)[s], '-': (1 / 15, 7 / 17 * 3 / 9 * 4 / 9)[s]}
        expect(all(abs(score[c] - want[c]) < 1e-14 for c in want), f'smoothing={s}: scores by hand {score}')
        for line in (f'x1 = 2 {(3 + s) / (9 + 3 * s):.6g} (3) {(2 + s) / (6 + 3 * s):.6g} (2)',
                     f'x2 = S {(1 + s) / (9 + 3 * s):.6g} (1) {(3 + s) / (6 + 3 * s):.6g} (3)'):
            expect(line in ' '.join(text.split()), f'inspect has no line {line}: {text}')

    # the other distributions; large models are cut, for people only
    r = random.Random(4)
    rows = [['t%d' % (i % 33), i % 7 / 2, i % 3 - 1, *(r.randrange(4) for _ in range(28)), 'pq'[i % 2]] for i in range(132)]
    many = write(d / 'many.csv', ['town', 'g', 'b', *(f'w{j}' for j in range(28)), 'y'], rows)
    output('fit', f'naive-bayes(gaussian=g, bernoulli=b, multinomial="{",".join(f"w{j}" for j in range(28))}")', many, '-o', model)
    text, found = output('inspect', model).split('P(value')[1], answer('inspect', model)
    town, g, b, w = found['likelihoods'][:4]
    own = [[row for row in rows if row[-1] == c] for c in 'pq']
    expect(len(found['likelihoods']) == 31 and len(town['levels']) == 33, 'all columns and levels')
    expect(' town: and 13 more' in text and 'and 11 more columns: --json has all' in text, f'what is left out is said: {text}')
    expect('town = t0 ' in text and 'w16 ' in text and 'w17' not in text, f'20 columns: {text}')
    for k in (0, 1):
        mean, deviation = statistics.fmean(v[1] for v in own[k]), statistics.pstdev(v[1] for v in own[k])
        expect(abs(g['mean'][k] - mean) < 1e-12 and abs(g['deviation'][k] - deviation) < 1e-6, f'gaussian: {g}')
        expect(f'{mean:.6g} +- {deviation:.6g}' in text, f'gaussian {mean} {deviation}: {text}')
        ones, words = sum(v[2] > 0 for v in own[k]), sum(v[3] for v in own[k])
        total = sum(sum(v[3:-1]) for v in own[k])
        expect(abs(b['p'][k] - (ones + 1) / (66 + 2)) < 1e-14 and b['count'][k] == ones, f'bernoulli: {b}')
        expect(w['total'][k] == total and abs(w['p'][k] - (words + 1) / (total + 28)) < 1e-14, f'multinomial: {w}')
        expect(f'{(words + 1) / (total + 28):.6g} ({words})' in text, f'theta: {text}')
    output('fit', 'onehot | logistic', data, '-o', model)
    expect('priors' not in answer('inspect', model) and 'P(value' not in output('inspect', model), 'no counts in other models')


def impossible(d):
    """What cannot be computed is said, with the way out."""
    model = d / 'i.margin'
    words = write(d / 'words.csv', ['a', 'b', 'y'], [[1, 2, 'p'], [2, 1, 'q'], [3, 1, 'p']])
    negative = write(d / 'negative.csv', ['a', 'b', 'y'], [[1, 2, 'p'], [2, -1, 'q'], [3, 1, 'p']])
    refuses('fit', 'naive-bayes(distribution=multinomial)', negative, says=['row 2', 'column b', 'not negative'])
    output('fit', 'naive-bayes(distribution=multinomial)', words, '-o', model)
    refuses('evaluate', model, negative, says=['row 2', 'negative count'])
    refuses('update', model, negative, '-o', d / 'never.margin', says=['row 2', 'column b', 'not negative'])
    p = run('predict', model, negative)
    expect(p.stdout.splitlines() == ['y', 'p', '""', 'p'] and '1 row has no prediction' in p.stderr, f'no answer: {p}')
    apart = write(d / 'apart.csv', ['a', 'y'], [[1, 0.5], [2, 1.5], [3, 2.5]])
    output('fit', 'knn(radius=0.1, empty=none, task=regress)', apart, '-o', model)
    p = run('predict', model, write(d / 'far.csv', ['a'], [[1], [9], [2]]))
    expect(p.stdout.splitlines() == ['y', '0.5', '""', '1.5'] and '1 row has no prediction' in p.stderr, f'no mean: {p}')
    # smoothing=0: probability 0 where a category does not occur in a class, never NaN
    towns = write(d / 'towns.csv', ['town', 'g', 'y'], [['Bonn', 's', 'p'], ['Kiel', 't', 'q'], ['Bonn', 't', 'q']])
    report = output('fit', 'naive-bayes(smoothing=0)', towns, '-o', model)
    expect('smoothing=0 gives probability 0 to 3 pairs' in report, f'zero counts are said: {report}')
    query = write(d / 'zero.csv', ['town', 'g'], [['Bonn', 's'], ['Bonn', 't'], ['Kiel', 's']])
    expect(probabilities(model, query)[:2] == [[1, 0], [0, 1]], 'an excluded class')
    expect([round(p, 9) for p in probabilities(model, query)[2]] == [0.333333333, 0.666666667], 'priors where all are excluded')
    measured = write(d / 'measured.csv', ['a', 'y'], [[i * 0.37, 'pq'[i % 2]] for i in range(300)])
    refuses('fit', 'naive-bayes(categorical=a)', measured, says=['column a', 'looks like a measurement', 'gaussian'])
    refuses('fit', 'naive-bayes(gaussian=town)', towns, says=['column town holds categories'])
    output('fit', 'naive-bayes', towns, '-o', model)
    refuses('fit', 'logistic', towns, says=['column town holds categories', 'onehot | logistic'])
    # features that would not fit, distances without a median, clusters without rows
    wide = write(d / 'wide.csv', [*(f'x{i}' for i in range(200)), 'y'], [[i * j % 7 for j in range(200)] + [i] for i in range(9)])
    p = run('fit', 'poly(degree=5) | ridge', wide)
    expect(p.returncode == 4 and '2832653068 columns of 200' in p.stderr and 'lower the degree' in p.stderr, f'too many columns: {p}')
    equal = write(d / 'equal.csv', ['a', 'b', 'y'], [[1, 1, i] for i in range(4)])
    refuses('fit', 'rbf(centres=2) | ridge', equal, says=['no median', 'give sigma='])
    output('fit', 'rbf(centres=2, sigma=1) | ridge', equal)
    two = write(d / 'two.csv', ['a', 'b'], [[1, 1], [1, 1], [2, 2]])
    refuses('fit', 'kmeans(k=3)', two, says=['only 2 different rows', 'cannot make 3 clusters', 'ask for fewer'])
    refuses('fit', 'kmeans(k=4)', two, says=['3 rows cannot make 4 clusters'])
    output('fit', 'kmeans(k=2)', two)


with tempfile.TemporaryDirectory() as folder:
    for part in (by_name, unseen, classes, updates, telling, by_hand, impossible):
        part(Path(folder))
finish()
