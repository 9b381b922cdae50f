#!/usr/bin/env python3
"""Holds the includes of src/ to the order of rooms in src/rooms.txt.

usage: check_rooms.py [ROOT]      prints one line per breach; the exit status says whether there was any
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent) / 'src'
level = {}
for number, line in enumerate(l for l in (root / 'rooms.txt').read_text().splitlines() if l and l[0] != '#'):
    for room in line.split():
        level[room] = number
breaches = []
for file in sorted(root.rglob('*.[ch]')):
    room = str(file.parent.relative_to(root))
    if room not in level:
        breaches.append(f'src/{file.relative_to(root)} lies in no room of src/rooms.txt')
        continue
    for path in re.findall(r'^[ \t]*#[ \t]*(?:include|define[ \t]+(?:ROWS_\w+|VALUE_TYPES_TMPL))[ \t]+"([^"]+)"', file.read_text(), re.M):
        other = str(Path(path).parent)
        if other == 'margin' or other == room:
            continue
        if other not in level or level[other] >= level[room]:
            breaches.append(f'src/{file.relative_to(root)} includes "{path}", which is not below {room}')
print('\n'.join(breaches), end='\n' if breaches else '')
sys.exit(bool(breaches))
