#!/usr/bin/env python3
"""Choosing from the shell: what cv and compare print, write and refuse where something does not go as wished.

usage: check_choosing.py PROGRAM SOURCE_DIR
"""
import csv
import json
import re
import sys
import tempfile
from pathlib import Path

from checks import expect, finish, run

source = Path(sys.argv[2])
iris, cars = (source / 'examples' / 'data' / name for name in ('iris.csv', 'cars.csv'))


def table(path, names, rows):
    path.write_text(names + '\n' + ''.join(','.join(map(str, row)) + '\n' for row in rows))
    return path


def the_table_comes_before_the_model(d):
    """A fit to all rows may fail or stop where those to the folds did not: each half alone has squares that do not overflow, or
    is separable."""
    large = table(d / 'large.csv', 'x,y', [(1.2e154 if k in (0, 19) else k, k % 7 + 0.5) for k in range(20)])
    turned = table(d / 'turned.csv', 'x,y', [(k % 10 - 4.5, 'no yes'.split()[(k % 10 > 4) == (k < 10)]) for k in range(20)])
    model, halves = d / 'm.margin', ('--in-order', '-k', 2)
    for command in (lambda spec, file: ('cv', spec, file), lambda spec, file: ('compare', file, spec)):
        for words, code, says in ((('standardize | ridge', large), 2, 'spread too far'), (('perceptron', turned), 3, 'stopped early: stopped after')):
            model.unlink(missing_ok=True)
            p = run(*command(*words), *halves, '-o', model)
            expect(p.returncode == code and '* ' in p.stdout and says in p.stderr, f'{words}: the table, then exit {code}: {p}')
            expect((f'model       {model}' in p.stdout) == model.exists() == (code == 3), f'{words}: a model is named that there is: {p.stdout}')
            told = json.loads(run(*command(*words), *halves, '-o', model, '--json').stdout)
            expect(told['model'] == (str(model) if code == 3 else None), f'{words}: --json, too: {told["model"]}')
        nowhere = d / 'nowhere' / 'm.margin'
        p = run(*command('ridge', cars), '-o', nowhere)
        expect(p.returncode == 5 and '* ' in p.stdout and 'nowhere' not in p.stdout and 'does not exist' in p.stderr, f'a file that cannot be written: {p}')
        failed = json.loads(run(*command('knn(k=500)', iris), '-o', model, '--json').stdout)
        expect(failed['model'] is None, f'no best, no model: {failed["model"]}')


def nothing_is_best_where_every_loss_is_infinite(d):
    """A class of probability 0 costs infinity: no setting is the first of equals."""
    noisy, model = table(d / 'noisy.csv', 'a,y', [(k % 5, 'ab'[k * k % 7 % 2]) for k in range(40)]), d / 'inf.margin'
    words = ('cv', 'knn(k={1,2})', noisy, '--metric', 'log_loss', '-o', model)
    p, found = run(*words), json.loads(run(*words, '--json').stdout)
    expect(p.returncode == 2 and 'best        none: ' in p.stdout and 'infinite' in p.stdout and '* ' not in p.stdout, f'{p}')
    expect(found['best'] is None and found['best_one_se'] is None and not model.exists(), f'{found}')
    p = run('compare', noisy, 'knn(k=1)', 'knn(k=2)', '--metric', 'log_loss', '-o', model)
    expect(p.returncode == 2 and p.stdout.count('inf  converged: knn') == 2 and '* ' not in p.stdout and not model.exists(), f'{p}')
    p = run('compare', noisy, 'knn(k=1)', 'logistic', '--metric', 'log_loss')
    expect(p.returncode == 0 and p.stdout.index('logistic') < p.stdout.index('inf  converged: knn'), f'what is finite comes first: {p}')
    folds = json.loads(run(*words[:5], '--nested', '--json').stdout)['nested']['folds']
    expect(all('infinite' in fold['reason'] for fold in folds), f'{folds}')


def each_spec_takes_its_gaps(d):
    """A table with gaps is read where one of the specs fills them, wherever it stands; the others say so, in words of the shell."""
    gaps = table(d / 'gaps.csv', 'a,b,y', [('' if k % 7 == 3 else k, k * k % 11, k % 13 + 0.5) for k in range(40)])
    for specs in (('ridge', 'impute | ridge'), ('impute | ridge', 'ridge')):
        p, found = run('compare', gaps, *specs), json.loads(run('compare', gaps, *specs, '--json').stdout)
        expect(p.returncode == 0 and '* ' in p.stdout and '(--missing drop)' in p.stdout and 'MARGIN_' not in p.stdout, f'{specs}: {p}')
        expect('--missing drop' in found['rows'][1]['reason'] and found['rows'][0]['spec'] == 'impute | ridge', f'{specs}: {found["rows"]}')
    expect(run('compare', gaps, 'ridge', 'lasso').returncode == 2, 'nothing takes them')


def what_is_said_of_settings(d):
    """Of settings that a comparison does not show the first one; the rows that a dropped one learned from; rows scaled to one length
    are columns of one scale no more than before."""
    p = run('compare', iris, 'knn(k={1,500})', 'logistic(max_iter=1)', 'logistic')
    expect('1 of 4 settings failed or were not tried; the first: knn(k=500): fold 1: k=500 neighbours' in p.stdout, p.stdout)
    expect('cannot be the best; the first: logistic(max_iter=1): fold 1: ' in p.stdout, p.stdout)
    expect('; the first' not in run('cv', 'knn(k={1,500})', iris).stdout, 'a table that shows all says no more')
    many = table(d / 'many.csv', 'a,b,y', [(k * 7919 % 1009, k * 104729 % 997, 'pq'[k * k % 11 > 5]) for k in range(2000)])
    words = ('cv', 'knn(k={1,2,3,5,8,13,21,34,55})', many, '--halving')
    p, found = run(*words, '--table', d / 'halved.csv'), json.loads(run(*words, '--json').stdout)['cells']
    lines = list(csv.DictReader(open(d / 'halved.csv')))
    dropped = [c for c in found if 'dropped' in c]
    expect(len(dropped) > 4 and all(f'{c["spec"]}  ({c["rows"]} rows)\n' in p.stdout for c in dropped), f'{p.stdout}')
    expect(p.stdout.count(' rows)') == len(dropped) and [int(line['rows']) for line in lines] == [c['rows'] for c in found], f'{lines[0]}')
    far = table(d / 'far.csv', 'a,b,y', [(k * 7 % 11, 1000 * (k * 5 % 13), 'pq'[k % 2]) for k in range(40)])
    codes = [{f['code'] for f in json.loads(run('cv', spec, far, '--json').stdout)['findings']} for spec in ('normalize | knn', 'minmax | knn')]
    expect('scale' in codes[0] and 'scale' not in codes[1], f'{codes}')


def promises_have_no_order(d):
    """A note where rows are held out in an order and a promise is made from shuffled ones."""
    dated = table(d / 'dated.csv', 't,x,y', [(k, k * 7 % 11, 'pq'[k * k % 5 > 1]) for k in range(60)])
    held = ('fit', 'logistic', dated, '--holdout', '0.2')
    for words, option in ((('--time', 't', '--calibrate', 'sigmoid'), '--calibrate'), (('--in-order', '--coverage', '0.8'), '--coverage'),
                          (('--time', 't', '--threshold', 'f1'), '--threshold')):
        p = run(*held, *words)
        expect(p.returncode == 0 and f'{words[0]} cuts off the rows held out alone: {option} is' in p.stderr, f'{words}: {p}')
    for words in (('--calibrate', 'sigmoid'), ('--time', 't'), ('--time', 't', '--threshold', '0.3')):
        expect('cuts off' not in run(*held, *words).stderr, f'{words}: nothing to say')


def numbers_that_look_like_classes(d):
    """Without a spec the target decides; the note says how to have it otherwise, and that works."""
    few = table(d / 'few.csv', 'a,b,y', [(k * 7 % 11, k * 5 % 13, k % 5 + 1) for k in range(60)])
    two = table(d / 'two.csv', 'a,b,y', [(k * 7 % 11, k * 5 % 13, k % 2) for k in range(60)])
    p = run('compare', few)
    expect('accuracy' in p.stdout and 'y holds 5 different whole numbers, which are taken for classes' in p.stderr, f'{p.stderr}')
    named = re.findall(r"'([^']*)'|(ridge)", p.stderr)
    q = run('compare', few, *[a or b for a, b in named])
    expect(len(named) == 3 and q.returncode == 0 and 'rmse' in q.stdout and q.stderr == '', f'the specs of the note: {named} {q}')
    for words in ((few, '-q'), (few, 'knn'), (two,), (iris,), (cars,)):
        expect('different whole' not in run('compare', *words).stderr, f'{words}: nothing to say')


with tempfile.TemporaryDirectory() as folder:
    for part in (the_table_comes_before_the_model, nothing_is_best_where_every_loss_is_infinite, each_spec_takes_its_gaps,
                 what_is_said_of_settings, promises_have_no_order,
                 numbers_that_look_like_classes):
        try:
            part(Path(folder))
        except Exception as problem:
            expect(False, f'{part.__name__} broke off: {problem!r}')
finish()
