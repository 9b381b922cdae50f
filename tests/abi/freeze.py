#!/usr/bin/env python3
"""Writes the public headers without comments to tests/abi/VERSION/margin, for a version that is released.

usage: tests/abi/freeze.py VERSION        in the project's folder
"""
import re
import sys
from pathlib import Path

to = Path('tests/abi') / sys.argv[1] / 'margin'
to.mkdir(parents=True, exist_ok=True)
for header in sorted(Path('include/margin').glob('*.h')):
    text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
    lines = [line.rstrip() for line in text.splitlines()]
    (to / header.name).write_text('\n'.join(line for line in lines if line) + '\n')
