#!/usr/bin/env python3
"""Holds the includes of src/ to the order of rooms in src/rooms.txt and its folders to some order, and docs/architecture.md to the code: the
functions, files and rooms that it, the READMEs of the rooms and comments name exist, and it names all rooms. Every room has one, and at most ROOM lines
of code.

usage: check_rooms.py [ROOT]      prints one line per breach; the exit status says whether there was any
"""
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent) / 'src'
ROOM = 2700
level, below, lines = {}, {}, {}
for number, line in enumerate(l for l in (root / 'rooms.txt').read_text().splitlines() if l and l[0] != '#'):
    for room in line.split():
        level[room] = number
breaches = []
for file in sorted(root.rglob('*.[ch]')):
    room = str(file.parent.relative_to(root))
    if room not in level:
        breaches.append(f'src/{file.relative_to(root)} lies in no room of src/rooms.txt')
        continue
    lines[room] = lines.get(room, 0) + file.read_text().count('\n')
    for path in re.findall(r'^[ \t]*#[ \t]*(?:include|define[ \t]+(?:ROWS_\w+|\w+_TYPES_TMPL))[ \t]+"([^"]+)"', file.read_text(), re.M):
        other = str(Path(path).parent)
        if other == 'margin' or other == room:
            continue
        if other.split('/')[0] != room.split('/')[0]:
            below.setdefault(room.split('/')[0], set()).add(other.split('/')[0])
        if other not in level or level[other] >= level[room]:
            breaches.append(f'src/{file.relative_to(root)} includes "{path}", which is not below {room}')
breaches += [f'src/{room} has {count} lines, {ROOM} at most: find what is a room of its own' for room, count in sorted(lines.items()) if count > ROOM]
while free := [folder for folder in below if not below[folder] & set(below)]:  # folders that include none of the others
    for folder in free:
        del below[folder]
if below:
    breaches.append(f'no order of the folders of src: {", ".join(f"{a} includes {b}" for a in sorted(below) for b in sorted(below[a] & set(below)))}')

top = root.parent
page = top / 'docs' / 'architecture.md'
if page.exists():
    code = [f for d in ('src', 'cli', 'include', 'tests') for f in (top / d).rglob('*.*') if f.suffix in ('.c', '.h', '.sh')]
    words = set(re.findall(r'\w+', '\n'.join(f.read_text() for f in code)))
    files = [str(f.relative_to(top)) for d in ('src', 'cli', 'include', 'tests', 'docs', 'scripts', 'bench', 'fuzz', 'python') for f in (top / d).rglob('*')]
    files += [f.name for f in top.iterdir()]
    comment = re.compile(r'/\*.*?\*/', re.S)
    sources = {f: f.read_text() for f in code if f.suffix != '.sh'}
    words_of_code = set(re.findall(r'\w+', ' '.join(comment.sub(' ', text) for text in sources.values())))
    names = {Path(f).name for f in files}
    for file, text in sources.items():
        for said in comment.findall(text):
            gone = {n for n in re.findall(r'\bmg_\w+', said) if n not in words_of_code and n[-1] != '_'}
            gone |= {n for n in re.findall(r'(?<![\w*/.<{}-])(?:\w+/)*\w+\.[ch]\b(?!\()', said) if Path(n).name not in names or
                     '/' in n and not any(f.endswith('/' + n) or f == n for f in files)}
            breaches += [f'{file.relative_to(top)} has a comment that names {n}, which does not exist' for n in sorted(gone)]
    for told in [page, top / 'CONTRIBUTING.md', *sorted(root.rglob('README.md'))]:
        text, where = told.read_text(), told.relative_to(top)
        for name in sorted(set(re.findall(r'`([a-z]\w*)`', text))):
            if name not in words and not name.endswith(('_', '_NAME')):
                breaches.append(f'{where} names {name}, which is not in the code')
        for name in sorted(set(re.findall(r'(?<![\w*/.-])(?:[\w*-]+/)*[\w*-]+\.(?:c|h|py|sh|txt|md)\b', text))):
            if not any(fnmatch(f, f'*/{name}') or fnmatch(f, name) for f in files):
                breaches.append(f'{where} names {name}, which does not exist')
text = page.read_text() if page.exists() else ''
table = re.search(r'^\| rooms \|.*?\n\n', text, re.M | re.S)
named = set()
for row in table[0].strip().splitlines()[2:] if table else []:
    family = ''
    for name in re.findall(r'`([^`]+)`', row.split('|')[1]):
        family = name.split('/')[0] if '/' in name else family
        named.add(name if '/' in name or not family or name in level else f'{family}/{name}')
for room in sorted(level):
    if text and room not in named:
        breaches.append(f'docs/architecture.md does not name the room {room}')
    if text and not (root / room / 'README.md').exists():
        breaches.append(f'src/{room} has no README.md')
for room in sorted(named - set(level)):
    breaches.append(f'docs/architecture.md names the room {room}, which is not in src/rooms.txt')
print('\n'.join(breaches), end='\n' if breaches else '')
sys.exit(bool(breaches))
