#!/usr/bin/env python3
"""Tables as people have them, read by the program: labels and identifiers of any length, targets that are
measurements, missing values, separators, formats that are not tables.

usage: check_reading.py PROGRAM SOURCE_DIR

Prints a line for each breach and 'N passed, N failed' at the end.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

program, source = sys.argv[1], Path(sys.argv[2])
examples = source / 'examples' / 'data'
passed, failed = 0, 0


def expect(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print('breach:', what)


def run(*words, stdin=None):
    return subprocess.run([program, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120)


def refuses(code, *words, says=(), never=()):
    """The command fails with that exit code, says all of `says`, nothing of `never`, and prints no result."""
    p = run(*words)
    line = ' '.join(map(str, words))
    expect(p.returncode == code, f'{line}: exit {p.returncode}, not {code}: {p.stderr.strip()[:300]}')
    expect(p.stdout == '', f'{line}: prints a result although it failed')
    for word in says:
        expect(str(word) in p.stderr, f'{line}: does not say "{word}": {p.stderr.strip()[:400]}')
    for word in never:
        expect(str(word) not in p.stderr, f'{line}: says "{word}": {p.stderr.strip()[:400]}')


def works(*words, codes=(0, 3), stdin=None):
    p = run(*words, stdin=stdin)
    expect(p.returncode in codes, f'{" ".join(map(str, words))}: exit {p.returncode}: {p.stderr.strip()[:300]}')
    return p


def labels_keep_their_digits(d):
    table, model = d / 'long.csv', d / 'long.margin'
    labels = ['9007199254740992', '9007199254740993', '9007199254740995', '9007199254740995']
    table.write_text('a,y\n' + ''.join(f'{k},{y}\n' for k, y in enumerate(labels)))
    works('fit', 'knn(k=1)', table, '-o', model)
    expect(works('predict', model, table).stdout.split() == ['y'] + labels, 'predictions are the labels of the file')
    expect(json.loads(works('evaluate', model, table, '--json').stdout)['accuracy'] == 1, 'evaluate knows the labels again')
    refuses(2, 'fit', 'least-squares', table, says=('row 2', '9007199254740993', '2^53'))
    (d / 'rounded.csv').write_text('a,y\n1,9007199254740993.0\n2,9007199254740995.0\n3,1\n')
    works('fit', 'least-squares', d / 'rounded.csv')
    (d / 'id.csv').write_text('id,a,y\n' + ''.join(f'{10**17 + k},{k},{k % 2}\n' for k in range(4)))
    expect('--categorical' not in works('convert', d / 'id.csv', d / 'copy.csv').stderr, 'they are read back without being told')
    expect((d / 'copy.csv').read_text().replace('"', '').split() == (d / 'id.csv').read_text().split(), 'identifiers are converted as they are')
    sparse = d / 'long.svm'
    sparse.write_text(''.join(f'{y} 1:{k + 1}\n' for k, y in enumerate(labels)))
    works('fit', 'knn(k=1)', sparse, '-o', model)
    expect(works('predict', model, sparse).stdout.split()[1:] == labels, 'labels of svmlight are predicted as they stand there')
    (d / 'short.svm').write_text('1 1:1\n2 1:2\n')
    works('fit', 'svm', d / 'short.svm', '-o', model)
    refuses(2, 'evaluate', model, sparse, says=('long.svm:2:1', '9007199254740993'))
    (d / 'wide.svm').write_text('1 1:1 2:3\n2 1:2 2:1\n1 2:4\n')
    expect('left out again: --ignore x2' in works('fit', 'knn(k=1)', d / 'wide.svm', '--ignore', 'x2', '-o', model).stderr, 'columns left out of svmlight are noted')
    expect('left out again' not in works('fit', 'knn(k=1)', d / 'wide.svm', '-o', model).stderr, 'and only they')
    (d / 'short.csv').write_text('a,y\n1,1\n2,2\n')
    works('fit', 'svm', d / 'short.csv', '-o', model)
    refuses(2, 'evaluate', model, table, says=('long.csv:3:3', '9007199254740993'))


def measurements_are_no_classes(d):
    iris, cars = examples / 'iris.csv', examples / 'cars.csv'
    for learner in ('logistic', 'svm', 'softmax', 'naive-bayes', 'perceptron'):
        refuses(2, 'fit', learner, cars, says=('35 different numbers', 'ridge, least-squares, knn(task=regress)'))
    refuses(2, 'fit', 'svm', iris, '--ignore', 'species', says=('petal_width', 'not whole', 'ridge'))
    works('fit', 'ridge', cars)
    works('fit', 'naive-bayes', cars, '--categorical', 'dist')
    refuses(2, 'fit', 'least-squares', iris, says=('species has categories', 'logistic, softmax, svm, knn'))


def remedies_leak_nothing(d):
    iris = examples / 'iris.csv'
    refuses(2, 'fit', 'kmeans', iris, says=('leave it out or encode it: onehot | kmeans', '--ignore species'))
    (d / 'mixed.csv').write_text('a,b,y\n1,u,1\n2,,0\n,v,1\n3,u,0\n')
    refuses(2, 'fit', 'impute | poly | logistic', d / 'mixed.csv', says=('impute | onehot | poly | logistic',))
    works('fit', 'impute | onehot | poly | logistic', d / 'mixed.csv')


def identifiers_are_noted(d):
    table = d / 'ids.csv'
    rows = [(842302 + 37 * k * k, f'2020-{k}', k + 1, 7919 * k % 1009, 0.5 * k, k % 2) for k in range(30)]
    table.write_text('id,when,number,size,length,y\n' + ''.join(','.join(map(str, r)) + '\n' for r in rows))
    for words in (('check', table), ('fit', 'onehot | logistic', table)):
        said = works(*words).stderr
        for name in ('id', 'when', 'number'):
            expect(f'column {name}: a different value in every row; an identifier? --ignore {name}' in said,
                   f'{words[0]} notes {name}: {said}')
        expect('size' not in said and 'length' not in said, f'measurements are not noted by {words[0]}: {said}')
        notes = json.loads(works(*words, '--json').stdout)['notes']
        expect(len(notes) == 3 and all('identifier' in n for n in notes), f'{words[0]} --json has the notes: {notes}')
    for name in ('iris', 'cars', 'points'):
        expect('identifier' not in works('check', examples / f'{name}.csv').stderr, f'{name} has no identifier')


def missing_values(d):
    table, model, empty = d / 'gaps.csv', d / 'gaps.margin', d / 'empty.csv'
    table.write_text('a,b,y\n' + '1,u,1\n2,,0\n0,v,0\n3,,0\n' * 3)
    refuses(2, 'fit', 'onehot | logistic', table, says=('gaps.csv:3:3', "'impute | onehot | logistic'", '--missing drop', '--missing keep'))
    refuses(2, 'fit', 'minmax | knn', table, says=("'impute | onehot | minmax | knn'",))
    numbers = d / 'numbers.csv'
    numbers.write_text('a,b,y\n1,2,1\n2,,0\n0,1,0\n')
    refuses(2, 'fit', 'knn', numbers, says=("'impute | knn'",))
    works('fit', 'impute | onehot | logistic', table)
    works('fit', 'onehot | logistic', table, '--missing', 'drop')
    works('fit', 'onehot | logistic', table, '--missing', 'keep', '-o', model)
    expect('b=missing' in works('inspect', model).stdout, 'missing is a category of its own')
    expect(works('predict', model, table).stdout.split()[1:] == ['1', '0', '0', '0'] * 3, 'the model takes it for that category by itself')
    works('fit', 'naive-bayes', table, '--missing', 'keep')
    refuses(1, 'predict', model, table, '--missing', 'keep', says=('margin fit',))
    works('fit', 'onehot | logistic', table, '--missing', 'drop', '-o', model)
    for words in (('predict', model, table), ('evaluate', model, table), ('plot', 'roc', model, table)):
        refuses(2, *words, says=('gaps.csv:3:3', '--missing drop', 'impute'), never=('--missing mean', '--missing keep'))
        works(*words, '--missing', 'drop')
    refuses(2, 'separable', table, '--ignore', 'y', '--target', 'a', says=('gaps.csv:3:3', '--missing drop'), never=('impute', 'mean'))
    empty.write_text('a,y\n1,0\n2,\n3,1\n')
    for words in (('fit', 'impute | logistic'), ('fit', 'logistic'), ('cv', 'impute | logistic'), ('path', 'impute | logistic(C={1,2})')):
        refuses(2, *words, empty, says=('empty.csv:3:3', "target 'y'", '(--missing drop'), never=("'impute | ",))
    complete, model = d / 'complete.csv', d / 'imputed.margin'
    complete.write_text('a,y\n1,0\n2,1\n3,1\n')
    works('fit', 'impute | logistic', complete, '-o', model)
    works('fit', 'naive-bayes', complete, '-o', d / 'bayes.margin')
    for words in (('evaluate', model, empty), ('update', d / 'bayes.margin', empty, '-o', d / 'more.margin')):
        refuses(2, *words, says=('empty.csv:3:3', "target 'y'", '(--missing drop'))
    expect(len(works('predict', model, empty).stdout.split()) == 4, 'predict passes over a missing target')
    (d / 'gaps.svm').write_text('1 1:1\nnan 1:2\n0 1:3\n')
    refuses(2, 'fit', 'impute | logistic', d / 'gaps.svm', says=('gaps.svm:2:1', 'label', '(--missing drop'))
    refuses(2, 'fit', 'logistic', empty, says=('empty.csv:3:3',))


def markers_are_told(d):
    """The help and its page name the markers of a missing value, and those are the ones."""
    said, page = works('help', 'check').stdout, (source / 'docs' / 'tables.md').read_text()
    for marker in ('?', 'NA', 'N/A', 'n/a', '#N/A', 'null', 'NULL', 'nan'):
        expect(f' {marker} ' in said.replace('\n', ' ') or f' {marker};' in said, f'help check names {marker}: {said}')
        expect(f'`{marker}`' in page, f'docs/tables.md names {marker}')
        (d / 'marker.csv').write_text('a,b\n1,2\n' + f'{marker},3\n' * 3)
        expect(json.loads(works('check', d / 'marker.csv', '--json').stdout)['missing'] == 3, f'{marker} is missing')


def markers_among_numbers(d):
    """A text that stands for a missing value makes categories of a column of numbers: that is told, with counts."""
    table, told = d / 'dashes.csv', "132 of its 150 values are numbers; the others: '-' 18"
    table.write_text('size,y\n' + ''.join(f'{"-" if k % 8 == 7 else k % 5},{k % 2}\n' for k in range(150)))
    helps = "; empty them in the file where they mean that there is no value, or --categorical size says that it is so\n"
    expect(f'column size holds categories: {told}{helps}' in works('check', table).stderr, f'check: {works("check", table).stderr}')
    notes = json.loads(works('check', table, '--json').stdout)['notes']
    expect(len(notes) == 1 and told in notes[0], f'check --json: {notes}')
    expect(told in works('fit', 'onehot | logistic', table).stderr, 'fit tells it')
    refuses(2, 'fit', 'logistic', table, says=('encode it: onehot | logistic (row 8 of the data in', 'dashes.csv; --ignore size leaves it out)', told),
            never=(') (',))
    expect(told not in works('check', table, '--categorical', 'size').stderr, 'who asks for categories is not told')
    expect(told not in works('check', table, '--quiet').stderr, '--quiet')
    few = d / 'few-numbers.csv'
    few.write_text('code,y\n' + ''.join(f'{c},{k % 2}\n' for k, c in enumerate(['A', 'B', '7', 'C'] * 6)))
    expect('are numbers' not in works('check', few).stderr, 'texts with a number among them are texts')
    expect(works('check', '-', '--categorical', 'y', stdin='x,y\n' + ''.join(f'{k},{"no" if k % 6 == 5 else k % 2}\n' for k in range(24))).stderr == '', 'as the note says')
    expect("column y holds categories: 20 of its 24 values are numbers; the others: 'no' 4" in
           works('check', '-', stdin='x,y\n' + ''.join(f'{k},{"no" if k % 6 == 5 else k % 2}\n' for k in range(24))).stderr, 'the target, too')


def repeated_names_are_told(d):
    """A name that the header has twice belongs to the first of the two; what is found for a model is not told again."""
    twice, model = d / 'twice.csv', d / 'twice.margin'
    twice.write_text('a,b,a,y\n' + ''.join(f'{k * 3 % 11},{k * k % 7},{k % 5},{k % 3}.5\n' for k in range(30)))
    told = 'margin: the header names a twice: the second is a.1\n'
    for words in (('check', twice), ('fit', 'ridge', twice, '-o', model), ('fit', 'ridge', twice, '--groups', 'b', '--holdout', '0.3')):
        expect(works(*words).stderr == told, f'{words}: {works(*words).stderr}')
    for words in (('check', twice, '--quiet'), ('predict', model, twice), ('evaluate', model, twice)):
        expect('twice:' not in works(*words).stderr, f'{words}: {works(*words).stderr}')
    twice.write_text('a,b,a,a,b\n1,2,3,4,5\n6,7,8,9,0\n')
    expect('names a twice: the second is a.1, and so on for 3 columns' in works('check', twice).stderr, 'several')
    twice.write_text('a,b,a.1\n1,2,3\n6,7,8\n')
    expect(works('check', twice).stderr == '', 'a name of its own')


def blanks_separate(d):
    plain, table = d / 'plain.csv', d / 'aligned.txt'
    rows = [(18.0 + k, 8, 307.25 + k, '"chevrolet malibu"' if k % 3 else 'ford') for k in range(120)]
    plain.write_text(''.join(','.join(map(str, r)) + '\n' for r in rows))
    wanted = works('convert', plain, '-', '--no-header').stdout
    for name, line in (('aligned', '  {:6.1f}   {:4d}      {:8.2f}\t{}\n'), ('ends', '{} {} {} {}  \n'), ('single', '{} {} {} {}\n'),
                       ('dos', '{}  {}  {}  {} \r\n'), ('tabs', '{}\t{} {}\t{}\n')):
        table.write_bytes(''.join(line.format(*r) for r in rows).encode())
        for words in ((), ('--separator', 'blank'), ('--separator', 'space'))[name == 'tabs':]:
            found = works('convert', table, '-', '--no-header', *words).stdout
            expect(found == wanted, f'blanks in {name} {words}: {found[:200]}')
    table.write_text('a   b\n1   2\n\n3     4\n')
    expect(works('convert', table, '-').stdout == 'a,b\n1,2\n3,4\n', 'a header between blanks')
    table.write_text('a   b\n1   2\n3\n')
    refuses(2, 'check', table, '--separator', 'blank', says=('aligned.txt:3:1', '1 cell', 'blank'))
    table.write_text('a   b\n1   2\n   \n3  4\n')
    refuses(2, 'check', table, '--separator', 'blank', says=('aligned.txt:3',))
    table.write_text('first name\tn\nAnn Lee\t1\nBo\t2\n')
    expect(works('convert', table, '-').stdout == 'first name,n\nAnn Lee,1\nBo,2\n', 'tabs before single blanks')
    table.write_text('a y\n1 2 3\n4\n')
    refuses(2, 'fit', 'ridge', table, says=("no separator was found in 'a y'",))
    table.write_text('a\n1\n2\n')
    refuses(2, 'fit', 'ridge', table, says=("no separator was found in 'a'",))


def formats_have_names(d):
    (d / 'sparse').write_text('1 1:2\n0 2:1\n1 1:1\n')
    for name in ('svm', 'libsvm', 'svmlight'):
        works('check', d / 'sparse', '--format', name)
    (d / 'tabs').write_text('a b\ty\n1 2\t3\n4 5\t6\n')
    expect(json.loads(works('check', d / 'tabs', '--format', 'tsv', '--json').stdout)['columns'][0]['name'] == 'a b', '--format tsv')
    for name in ('csv', 'tsv', 'svm', 'libsvm', 'npy', 'idx'):
        expect(name in run('help', 'fit').stdout.split('--format')[1][:200], f'help lists the format {name}')
    (d / 'rows.json').write_text('{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n')
    (d / 'list.json').write_text('[\n  {"a": 1, "y": 0}]\n')
    (d / 'weather.arff').write_text('% weather\n\n@RELATION weather\n@attribute a real\n@data\n1\n2\n')
    works('fit', 'svm', d / 'sparse', '-o', d / 'm.margin')
    for name, says in (('rows.json', 'JSON'), ('list.json', 'JSON'), ('weather.arff', 'ARFF'), ('m.margin', 'a model')):
        refuses(2, 'check', d / name, says=(f'{name} is not CSV but {says}',))
    (d / 'bare.csv').write_text('1,2,3\n4,5,6\n')
    refuses(2, 'check', d / 'bare.csv', '--ignore', 'x7', says=('x1 to x3',))
    works('check', d / 'bare.csv', '--ignore', 'x2')
    iris = examples / 'iris.csv'
    for columns in ('2..4', 'sepal_width..petal_width', 'sepal_width..-2', '2..3,petal_width'):
        expect(works('convert', iris, '-', '--ignore', columns).stdout.startswith('sepal_length,species\n'), f'--ignore {columns}')
    refuses(2, 'check', iris, '--ignore', '3..2', says=('3..2', 'backwards'))


def sparse_surprises_are_noted(d):
    (d / 'a.svm').write_text('1 1:2 2:1\n0 2:1 3:3\n1 1:1\n0 3:1\n')
    (d / 'b.svm').write_text('1 1:2 7:1\n0 2:1 3:3\n')
    said = works('fit', 'naive-bayes', d / 'a.svm', '-o', d / 'm.margin').stderr
    expect('distribution=multinomial' in said, f'counts are noted: {said}')
    expect('counts' not in works('fit', 'naive-bayes(distribution=multinomial)', d / 'a.svm').stderr, 'what was asked for is not noted')
    said = works('predict', d / 'm.margin', d / 'b.svm').stderr
    expect('x4 to x7 were left out' in said, f'columns that the model does not have are noted: {said}')
    refuses(2, 'separable', examples / 'iris.csv', says=('target species has 3 classes', 'leave out the rows'))


def remedies_fit_the_cell(d):
    (d / 'stray.csv').write_text('a,b,y\n' + ''.join(f'{k},{k * k},{k % 2}\n' for k in range(30)) + '13.2x,1,1\n')
    for words in (('fit', 'logistic'), ('check',), ('split', '-k', '3'), ('separable',)):
        refuses(2, *words, d / 'stray.csv', says=("stray.csv:32:1: '13.2x'", 'correct it'), never=('--missing', 'impute'))
    (d / 'few.csv').write_text('a,b,c\n1,abc,u\n2,3,v\n3,1,u\n')
    refuses(2, 'fit', 'logistic', d / 'few.csv', says=("('abc'", 'row 1 of', '--ignore b'), never=('2^53',))
    (d / 'large.csv').write_text('a,c\n1e400,u\n2,v\n3,u\n')
    refuses(2, 'fit', 'knn(k=1)', d / 'large.csv', says=('beyond the range',))
    for option in ('--time', '--groups'):
        refuses(2, 'fit', 'ridge', examples / 'cars.csv', option, 'nope', '--holdout', '0.2', says=(f"no column 'nope' ({option})",))
    whole, gram = d / 'whole.csv', d / 'gram.csv'
    works('gram', 'svm(kernel=rbf)', examples / 'iris.csv', '-o', gram)
    refuses(2, 'fit', 'svm(kernel=precomputed)', gram, says=('the last column, x150, was taken as the target',))
    target = [line.split(',')[-1] for line in (examples / 'iris.csv').read_text().split()]
    whole.write_text(''.join(f'{k},{y}\n' for k, y in zip(gram.read_text().split(), target)))
    works('fit', 'svm(kernel=precomputed)', whole)


with tempfile.TemporaryDirectory() as folder:
    d = Path(folder)
    for part in (labels_keep_their_digits, measurements_are_no_classes, remedies_leak_nothing, identifiers_are_noted,
                 missing_values, markers_are_told, markers_among_numbers, repeated_names_are_told, blanks_separate, formats_have_names, sparse_surprises_are_noted, remedies_fit_the_cell):
        try:
            part(d)
        except Exception as problem:  # a part that breaks off is a breach, and the others still run
            expect(False, f'{part.__name__} broke off: {problem!r}')
print(f'{passed} passed, {failed} failed')
sys.exit(bool(failed))
