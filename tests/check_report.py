#!/usr/bin/env python3
"""margin report: what the page says, that nothing in data is markup, that it needs nothing else; with --browser also how it looks.

usage: check_report.py PROGRAM SOURCE_DIR [--browser [FOLDER]]

--browser opens pages in chromium at the widths of a phone and of a screen, light and dark: nothing may be wider than the page, and text must
stand out from what is behind it. The pictures go to FOLDER. Without chromium that part is left out.
"""
import csv
import html
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from checks import expect, finish, program, run

source = Path(sys.argv[2])
iris, cars, wine = (source / 'examples' / 'data' / name for name in ('iris.csv', 'cars.csv', 'wine.csv'))
TAGS = set('html head meta title style body h1 h2 p b code pre div table tr th td span section figure figcaption svg path text polyline g circle'.split())
VOID = {'meta', 'path', 'circle', 'polyline'}
ATTRIBUTES = set('lang charset name content class style viewbox role d x y points cx cy r text-anchor transform colspan fill fill-opacity stroke-width'.split())


class Page(HTMLParser):
    """Tags in balance and of the few kinds that a page has; its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.text = [], [], []
        self.feed(text)
        if self.open:
            self.problems.append(f'not closed: {self.open}')

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.problems.append(f'tag {tag}')
        self.problems += [f'attribute {name} of {tag}' for name, _ in attributes if name not in ATTRIBUTES]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f'</{tag}>')

    def handle_data(self, data):
        if self.open[-1:] != ['style']:
            self.text.append(data)


def report(*words):
    p = run('report', *words)
    expect(p.returncode == 0, f'report {words}: {p.stderr}')
    page = Page(p.stdout)
    expect(not page.problems, f'report {words}: {page.problems[:5]}')
    marked = ' '.join(re.findall(r'<style>.*?</style>|<[^>]*>', p.stdout, re.S))
    expect(not re.search(r'https?:|src=|href=|url\(|@import|<script', marked), f'report {words}: it refers to something else')
    expect(not re.search(r'\b(nan|inf)\b', p.stdout), f'report {words}: a number that is none')
    return p.stdout, ' '.join(page.text)


def fit(d, spec, table, *words):
    model = d / 'model.margin'
    p = run('fit', spec, table, '-o', model, *words)
    expect(p.returncode in (0, 3), f'fit {spec}: {p.stderr}')
    return model


def figures(d):
    """The numbers are those of the other commands."""
    model = fit(d, 'standardize | logistic', iris)
    page, text = report(model, iris)
    found = json.loads(run('evaluate', model, iris, '--json').stdout)
    expect(f"{found['accuracy']:.6g}" in text and f"{found['log_loss']:.6g}" in text, 'metrics')
    expect('logistic for species' in text and 'Calibration' in text and 'ROC' in text, 'charts of classes')
    expect(f'{iris} --verify' in text and 'TRAINING_DATA --verify' in report(model)[1], 'a proof is checked on the rows of training')
    expect(page.count('<svg') == 3 and f"margin fit 'standardize | logistic' {iris} --target species" in text, 'how to make it again')
    for k in range(3):
        expect(sum(f'{v:g}' in text for v in found['confusion'][k]) == 3, 'confusion')
    expect(report(model, iris)[0] == page and report(model, iris, '-t', 1)[0] == page, 'the same page each time, on any number of threads')
    expect('Calibration' not in report(model)[1] and 'How good' not in report(model)[1], 'of the model alone')
    gap = json.loads(run('inspect', model, '--json').stdout)['report']['gap']
    expect(f'{gap:.6g}' in text and 'whatever the data are' in text, 'the proof')


def weights_count(d):
    """Weights of one standard deviation are those of importance: a row counts by its weight, in curves as so many copies, and one of
    weight 0 is no worst row."""
    rows = [f'{i * 7919 % 101},{i * 31 % 97},{i % 3},{"pq"[i * 7919 % 101 + i % 40 > 70]}' for i in range(80)]
    (d / 'weighted.csv').write_text('a,b,w,y\n' + '\n'.join(rows) + '\n')
    model = fit(d, 'logistic', d / 'weighted.csv', '--weights', 'w')
    text = report(model, d / 'weighted.csv', '--weights', 'w')[1].split('The weights')[1]
    for c in json.loads(run('importance', model, d / 'weighted.csv', '--weights', 'w', '--json').stdout)['columns']:
        expect(f"{c['weight_per_deviation']:.6g}" in text, f'{c} in {text[:200]}')
    (d / 'copies.csv').write_text('a,b,w,y\n' + '\n'.join(row for row in rows for _ in range(int(row.split(',')[2]))) + '\n')
    page, copies = report(model, d / 'weighted.csv', '--weights', 'w')[0], report(model, d / 'copies.csv', '--ignore', 'w')[0]
    charts = re.findall('<svg.*?</svg>', page, re.S)
    expect(len(charts) == 3 and charts == re.findall('<svg.*?</svg>', copies, re.S), 'curves of weights are those of copies')
    lines = re.findall(r'<tr><td[^>]*>(\d+)</td>', page.split('The worst rows')[1].split('</table>')[0])
    expect(len(lines) == 10 and all(rows[int(line) - 1].split(',')[2] != '0' for line in lines), f'worst rows: {lines}')


def checks_are_on_the_page(d):
    rows = [f'{i * 7919 % 101},{1000 * (i * 31 % 97)},{3 * (i % 2)},{"pq"[i % 2]}' for i in range(60)]
    (d / 'leak.csv').write_text('a,b,z,y\n' + '\n'.join(rows) + '\n')
    model = fit(d, 'knn(k=3)', d / 'leak.csv')
    text = report(model, d / 'leak.csv', '--allow', 'duplicates')[1].split('Checks')[1]
    expect('column z alone gives the class' in text and 'knn weighs columns by their size' in text, f'checks: {text[:300]}')
    expect('--allow' not in text.split('margin fit')[1].split('margin report')[0], 'they belong to the page')
    expect(run('report', model, d / 'leak.csv', '--strict').returncode == 2, 'findings as an exit code')
    expect(run('report', model, d / 'leak.csv', '--strict', '--allow', 'leak,scale').returncode == 0, 'those that are allowed')
    expect('Nothing was found' in report(fit(d, 'standardize | logistic', iris), iris)[1], 'none')
    expect('Checks' not in report(fit(d, 'logistic', iris))[1], 'of a model alone, that did converge')
    expect('training stopped before' in report(fit(d, 'logistic(max_iter=1)', iris))[1].split('Checks')[1], 'a model that stopped')


def promises_are_on_the_page(d):
    """What was settled after the fit, and how it holds on these rows."""
    model = fit(d, 'svm', iris, '--coverage', '0.9')
    found = json.loads(run('evaluate', model, iris, '--json').stdout)['coverage']
    page, text = report(model, iris)
    expect(f"hold the truth of 0.9 of future rows. Of these rows they hold that of {found['found']:.6g}, with {found['width']:.6g} classes on average." in text, f'sets: {text[:300]}')
    expect('ROC' in text and 'Calibration' not in text, 'three classes have scores')
    expect('ROC' not in report(fit(d, 'svm(multiclass=ovo)', iris), iris)[1], 'pairs of classes have none')
    found = json.loads(run('evaluate', fit(d, 'ridge', cars, '--coverage', '0.8'), cars, '--json').stdout)['coverage']
    expect(f"they hold that of {found['found']:.6g}, with {found['width']:.6g} as their mean width." in report(d / 'model.margin', cars)[1], 'intervals')
    two = d / 'two.csv'
    two.write_text(''.join(line for line in iris.read_text().splitlines(True) if 'setosa' not in line))
    expect('virginica is told from a probability of 0.3 on.' in report(fit(d, 'logistic', two, '--threshold', '0.3', '--calibrate', 'sigmoid'), two)[1]
           and 'calibrated by sigmoid' in report(d / 'model.margin', two)[1], 'a threshold')
    expect('least expected cost' in report(fit(d, 'logistic', two, '--costs', '0,1;5,0'), two)[1], 'costs')


def the_worst_come_first(d):
    model = fit(d, 'least-squares', cars)
    text = report(model, cars)[1]
    rows = [[float(v) for v in r] for r in list(csv.reader(open(cars)))[1:]]
    said = json.loads(run('predict', model, cars, '--json').stdout)['predictions']
    worst = max(range(len(rows)), key=lambda i: abs(rows[i][-1] - said[i]))
    listed = text.split('The worst rows')[1].split('missed by')[2].split()
    expect(listed[:5] == ['speed', f'{worst + 1}', f'{rows[worst][-1]:g}', f'{said[worst]:.6g}', f'{rows[worst][-1] - said[worst]:.6g}'], f'the worst row: {listed[:8]}')
    expect('Residuals' in report(model, cars)[0], 'charts of numbers')


def only_wrong_rows_are_the_worst(d):
    """Where rows are right or wrong and nothing else, the wrong ones are listed, without a score."""
    text = report(fit(d, 'standardize | svm', wine), wine)[1]
    expect('None: every row is predicted right.' in text and 'not predicted right' not in text, 'no row is wrong')
    model = fit(d, 'standardize | svm(C=0.01)', wine)
    rows, said = list(csv.reader(open(wine)))[1:], json.loads(run('predict', model, wine, '--json').stdout)['predictions']
    classes = sorted({r[-1] for r in rows})
    said = [p if isinstance(p, str) else classes[p] for p in said]
    wrong = [i for i, r in enumerate(rows) if r[-1] != said[i]]
    page, text = report(model, wine)
    part = page.split('The worst rows')[1].split('</table>')[0]
    listed = [re.findall(r'<td[^>]*>(.*?)</td>', row)[:3] for row in part.split('<tr>')[2:]]
    expect(0 < len(wrong) and listed == [[f'{i + 1}', rows[i][-1], said[i]] for i in wrong[:10]] and 'score' not in part, f'wrong rows: {wrong} {listed}')
    two = d / 'two.csv'
    two.write_text('x,y\n1,a\n2,a\n3,b\n4,b\n')
    expect('score speaks least for their true class' in report(fit(d, 'svm', two), two)[1], 'two classes have a score')


def what_the_model_does_not_know(d):
    """Columns left out are not in the command that makes the model again, and this is said; made columns have spreads, too."""
    model = fit(d, 'standardize | logistic', iris, '--ignore', 'petal_width', '--holdout', '0.2')
    text = report(model, iris)[1].split('To make it again')[1]
    expect('TRAINING_DATA --target' in text and 'on 120 rows with the columns sepal_length, sepal_width, petal_length.' in text and '--ignore, --missing, --holdout' in text,
           f'what the fit was given: {text}')
    expect('for one standard deviation' in report(model, iris)[1] and 'for one standard deviation' not in report(model)[1], 'spreads are those of rows')
    mixed = d / 'mixed.csv'
    mixed.write_text('size,colour,y\n' + ''.join(f'{i * 7 % 11},{"red blue".split()[i * i % 3 == 1]},{i * 7 % 11 + i % 3}\n' for i in range(30)))
    rows = [r.split(',') for r in mixed.read_text().split()[1:]]
    page = report(fit(d, 'onehot | ridge', mixed), mixed)[0].split('The weights')[1].split('To make it again')[0]
    weights = json.loads(run('inspect', d / 'model.margin', '--json').stdout)['weights']
    made = {'size': [float(r[0]) for r in rows], 'colour=blue': [r[1] == 'blue' for r in rows], 'colour=red': [r[1] == 'red' for r in rows]}
    for name, weight in zip(made, weights):
        expect(f'<td>{name}</td>' in page, f'a made column: {page}')
        shown = float(re.findall(r'<td[^>]*>([^<]*)</td>', page.split(f'<td>{name}</td>')[1])[1])
        expect(abs(shown - weight * statistics.stdev(made[name])) < 1e-5 * abs(shown), f'{name}: {shown}, {weight}')


def made_again(d):
    """The commands of a page, run as they stand, make the same model, byte by byte, and the same page."""
    folder = d / "it's a folder"
    folder.mkdir()
    table, bare, holes, model = folder / 'a b.csv', folder / 'bare.csv', folder / 'holes.csv', folder / 'm 1.margin'
    numbers, labels, several, sparse = folder / 'x.npy', folder / 'y.npy', folder / 'several.npy', folder / 'z.svm'
    draw = random.Random(3)
    rows = [[i % 7 / 4, draw.gauss(0, 1), draw.randrange(3), 1 + i % 2, draw.gauss(0, 1), i % 3 - 1.5, 'yes' if i * 37 % 11 > 4 else 'no'] for i in range(60)]
    for file, header, lines in ((table, [['a', 'b "c"', 'kind', 'w', "it's up", 'go,down', 'class']], rows), (bare, [], [r[:6] for r in rows]),
                                (holes, [['a', 'b', 'y']], [['' if i % 9 == 4 else r[0], r[1], r[6]] for i, r in enumerate(rows)])):
        with open(file, 'w', newline='') as out:
            csv.writer(out).writerows(header + lines)
    for words in ((iris, numbers, '--labels-out', labels), (bare, several, '--no-target'), (bare, sparse)):
        expect(run('convert', *words).returncode == 0, f'convert {words}')
    # what the fit alone is given, and what the page's table has to be read with as well
    for spec, data, alone, both in (
            ('least-squares', table, ['--target', "it's up,w"], ['--ignore', '6,7']),
            ('standardize | onehot | ridge(alpha=2)', table, ['--target', "it's up"], ['--weights', 'w', '--ignore', '6', '--categorical', 'kind']),
            ('onehot | ridge', table, ['--target', 'go,down'], ['--float32']),
            ('logistic', table, ['--calibrate', 'sigmoid', '--threshold', '0.3'], []),
            ('svm', table, ['--calibrate', 'isotonic', '--costs', '0,1;5,0'], ['--ignore', 'go,down']),
            ('ridge', table, ['--target', 'w', '--coverage', '0.9'], ['--ignore', 'class']),
            ('logistic', holes, [], ['--missing', 'drop']), ('impute | naive-bayes', holes, [], []), ('knn', table, [], []),
            ('logistic', numbers, [], ['--labels', labels]), ('least-squares', several, ['--target', '2,5'], []),
            ('ridge', sparse, [], []), ('least-squares', sparse, [], ['--target', 'x2,1']), ('ridge', bare, ['--target', '3'], []),
            ('kmeans(k=3)', bare, [], [])):
        p = run('fit', spec, data, *alone, *both, '-o', model)
        expect(p.returncode == 0, f'fit {spec} {alone} {both}: {p.stderr}')
        first = model.read_bytes()
        page = report(model, data, *both, '--title', "it's a title")[0]
        commands = html.unescape(page.split('To make it again')[1].split('<pre>')[1].split('</pre>')[0])
        model.rename(folder / 'first.margin')
        p = subprocess.run(['sh', '-ec', f'margin() {{ "$PROGRAM" "$@"; }}\n{commands}'], cwd=d, env={**os.environ, 'PROGRAM': str(Path(program).resolve())},
                           capture_output=True, text=True)
        expect(p.returncode == 0 and model.exists() and model.read_bytes() == first, f'the same bytes by {commands}: {p.stderr}')
        expect((d / 'report.html').exists() and (d / 'report.html').read_text() == page, f'the same page by {commands}')
    run('fit', 'least-squares', table, '--target', '6,w', '--ignore', 'class', '-o', model)
    expect("--target NUMBER,w" in report(model)[1], 'a comma in a name of several: by number')


def kinds(d):
    """Models of every kind have a page."""
    for spec, table in (('svm(kernel=rbf)', wine), ('knn', iris), ('naive-bayes', iris), ('perceptron', iris), ('poly | ridge', cars),
                        ('svm(multiclass=ovo)', iris), ('knn(task=regress)', cars), ('standardize | kernel-ridge', cars)):
        model = fit(d, spec, table)
        report(model, table)
        report(model)
    numbers = d / 'numbers.csv'
    numbers.write_text('\n'.join(','.join(r[:4]) for r in csv.reader(open(iris))) + '\n')
    report(fit(d, 'kmeans(k=3)', numbers), numbers)
    draw = random.Random(1)
    numbers.write_text('a,b,up,down\n' + '\n'.join(f'{draw.random()},{draw.random()},{draw.random()},{draw.random()}' for _ in range(30)) + '\n')
    report(fit(d, 'ridge', numbers, '--target', 'up,down'), numbers)
    one = d / 'one.csv'
    one.write_text('x,y\n1,a\n2,b\n')
    report(fit(d, 'logistic', one), one)
    numbers.write_text('x,y\n1,a\n')
    expect(run('report', d / 'model.margin', numbers).returncode == 0, 'one row of one class')


NASTY = ['<script>alert(1)</script>', '</td><img src=x onerror=alert(2)>', '"quoted" & \'single\'', '</style><b onclick=x>', '<!-- ', '&lt;b&gt;']


def nothing_is_markup(d):
    """Names of columns, classes, categories, targets and files."""
    folder = d / "a'<b>&"
    folder.mkdir()
    table, model = folder / '<i>.csv', folder / "m'<u>.margin"
    draw = random.Random(2)
    with open(table, 'w', newline='') as file:
        out = csv.writer(file)
        out.writerow(NASTY[:3] + ['</title><h1>'])
        for i in range(40):
            out.writerow([draw.random(), NASTY[draw.randrange(3, 6)], draw.random(), NASTY[i % 2]])
    expect(run('fit', 'onehot | logistic', table, '-o', model).returncode == 0, 'nasty names are names')
    page, text = report(model, table)
    for name in [*NASTY, '</title><h1>']:
        expect(name not in page or name == '&lt;b&gt;', f'{name} as it is')
        expect(name in text, f'{name} is shown')
    expect("'\\''" in text and str(table) in text, 'paths')
    expect('&lt;x&gt;&amp;' in run('report', model, '--title', '<x>&').stdout, 'a title')
    p = run('report', model, table, '-o', d / 'page.html')
    expect(p.returncode == 0 and (d / 'page.html').read_text() == page and not p.stdout, 'into a file')
    expect(run('report', d / 'none.margin').returncode == 5 and run('report').returncode == 1, 'mistakes')


# ---- In a browser ---------------------------------------------------------------------------------

LOOK = """<iframe id=f style="width:%dpx;height:2000px;border:0" srcdoc="%s"></iframe><script>
f.onload=()=>{const d=f.contentDocument,w=f.contentWindow,s=w.getComputedStyle(d.body),e=d.documentElement;
const t=[...d.querySelectorAll('svg text')].filter(n=>{const r=n.getBoundingClientRect();return r.right>e.clientWidth||r.left<0});
document.title=JSON.stringify({wide:e.scrollWidth-e.clientWidth,back:s.backgroundColor,text:s.color,cut:t.length,charts:d.querySelectorAll('svg').length})}
</script>"""


def light(colour):
    red, green, blue = (int(v) / 255 for v in re.findall(r'\d+', colour)[:3])
    return sum(w * (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4) for w, v in ((0.2126, red), (0.7152, green), (0.0722, blue)))


def in_a_browser(d, chromium, pictures):
    pages = []
    for name, spec, table in (('classes', 'standardize | logistic', iris), ('numbers', 'standardize | ridge', cars), ('wide', 'standardize | svm', wine)):
        (d / f'{name}.html').write_text(run('report', fit(d, spec, table), table).stdout)
        pages.append(name)
    for name in pages:
        for width in (360, 1200):
            for dark in (False, True):
                common = [chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={d / "profile"}',
                          f'--blink-settings=preferredColorScheme={0 if dark else 1}', '--virtual-time-budget=3000']
                shell = d / 'shell.html'
                shell.write_text(LOOK % (width, html.escape((d / f'{name}.html').read_text())))
                dom = subprocess.run([*common, '--window-size=1300,2100', '--dump-dom', shell.as_uri()], capture_output=True, text=True, timeout=120).stdout
                found = re.search(r'<title>(\{.*?\})</title>', dom)
                if not found:
                    expect(False, f'{name}: chromium gave no answer')
                    continue
                look, what = json.loads(html.unescape(found[1])), f'{name} at {width}, {"dark" if dark else "light"}'
                expect(look['wide'] <= 0 and look['cut'] == 0, f'{what}: {look}')
                bright, dim = sorted((light(look['back']), light(look['text'])), reverse=True)
                expect((bright + 0.05) / (dim + 0.05) > 7 and (light(look['back']) < 0.1) == dark, f'{what}: contrast {look}')
                if pictures:
                    subprocess.run([*common, f'--window-size={width + 40},{3400 if width < 500 else 2600}', f'--screenshot={pictures / f"{name}-{width}-{dark:d}.png"}',
                                    shell.as_uri()], capture_output=True, timeout=120, check=False)


with tempfile.TemporaryDirectory() as work:
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    parts = [figures, weights_count, checks_are_on_the_page, promises_are_on_the_page, the_worst_come_first, only_wrong_rows_are_the_worst, what_the_model_does_not_know, made_again, kinds, nothing_is_markup]
    if '--browser' in sys.argv:
        rest = sys.argv[sys.argv.index('--browser') + 1:]
        parts = [lambda d: in_a_browser(d, browser, Path(rest[0]) if rest else None)] if browser else []
        if not browser:
            print('there is no chromium: nothing is looked at')
    for part in parts:
        try:
            part(Path(work))
        except Exception as problem:
            expect(False, f'{part} broke off: {problem!r}')
finish()
