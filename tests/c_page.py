#!/usr/bin/env python3
"""Compiles the programs of docs/c.md, runs them where examples/data lies, and compares what they print with the page.

usage: c_page.py ROOT COMPILER [FLAGS...]       FLAGS: those that find the headers and the library
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root, compiler, *flags = Path(sys.argv[1]).resolve(), *sys.argv[2:]
page = (root / 'docs' / 'c.md').read_text()
found = re.findall(r'```c\n(.*?)```\s*```text\n(.*?)```', page, re.S)
assert len(found) == page.count('```c\n') >= 4, 'each program of docs/c.md is followed by what it prints'
with tempfile.TemporaryDirectory() as folder:
    os.symlink(root / 'examples', Path(folder) / 'examples')
    for number, (program, shown) in enumerate(found, 1):
        (Path(folder) / 'page.c').write_text(program)
        subprocess.run([compiler, '-std=c11', '-Wall', '-Wextra', '-Werror', 'page.c', '-o', 'page', '-pthread', *flags, '-lm'],
                       cwd=folder, check=True)
        printed = subprocess.run(['./page'], cwd=folder, capture_output=True, text=True)
        if printed.returncode or printed.stdout != shown:
            sys.exit(f'docs/c.md: program {number} prints\n{printed.stdout}{printed.stderr}and not\n{shown}')
