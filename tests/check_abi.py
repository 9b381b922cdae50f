#!/usr/bin/env python3
"""Compares the interface of a library with the headers of its version as they were frozen.

usage: check_abi.py SOURCE LIBRARY [COMPILER]      LIBRARY with debugging information

A library is made of the frozen headers whose functions do nothing, and abidiff (libabigail) compares
the two. What docs/abi.md lets grow (new functions and enumerators, fields at the end of a struct)
is no difference; what would break a program is made on purpose, and has to be seen. Skipped (77)
where there is no abidiff, or nothing to read types from.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

source, library, compiler = Path(sys.argv[1]), sys.argv[2], (sys.argv[3:] or ['cc'])[0]

# views, elements of a caller's arrays and parts of other structs: they keep their size
FIXED = ('margin_matrix margin_vector margin_array margin_column margin_data margin_error margin_column_summary margin_telling '
         'margin_textbook_node margin_report_item margin_allocator margin_novikoff').split()


def breaks(report):
    """What abidiff reports by type and function, less the growth that docs/abi.md allows."""
    found = []
    for block in re.split(r'\n\s*\n', report):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines or re.match(r'Leaf changes|Changed leaf|Removed/Changed|.*changes? summary', lines[0]):
            continue
        head = re.match(r"'(struct|enum) (\w+) at .*' changed:", lines[0])
        size = re.search(r'type size changed from (\d+) to', block)
        grown = r"type size (changed from|hasn't)|\d+ (data member|enumerator) insertions?:|'.*::.*' value '|'.*', at offset (\d+) "
        for line in lines[1:] if head and head[2] not in FIXED else lines:
            match = re.match(grown, line) if head else None
            place = match[3] if match else None
            if not match or place and (not size or int(place) < int(size[1])):
                found.append('\n'.join(lines))
                break
    return found


def soname(path):
    text = subprocess.run(['readelf', '-d', path], capture_output=True, text=True, check=True).stdout
    return re.search(r'soname: \[(.*?)\]', text)[1]


def stub(headers, to, symbols):
    """The library of functions that do nothing; returns how many."""
    text = ''.join(re.sub(r'/\*.*?\*/|^#.*?$', '', p.read_text(), flags=re.S | re.M) for p in sorted(headers.glob('margin/*.h')))
    functions = re.findall(r'MARGIN_API\s+(?:MARGIN_CHECKED\s+)?([^;{]*?\bmargin_\w+\s*\([^;]*?\))\s*;', text)
    code = to.with_suffix('.c')
    code.write_text('#include "margin/margin.h"\n#include <stdlib.h>\n' + ''.join(f'{f} {{ abort(); }}\n' for f in functions))
    subprocess.run([compiler, '-g', '-O0', '-shared', '-fPIC', '-I', headers, f'-Wl,--version-script={symbols}',
                    f'-Wl,-soname,{soname(library)}', code, '-o', to], check=True)
    return len(functions)


# what a program would not survive, and has to be seen
BREAKS = [
    ('model.h', 'int64_t iterations;', 'int32_t iterations;'),
    ('model.h', 'double objective;\n    double gap;', 'double gap;\n    double objective;'),
    ('base.h', 'MARGIN_ERROR_MEMORY = -6', 'MARGIN_ERROR_MEMORY = -60'),
    ('data.h', 'int64_t rows, columns, stride;', 'int64_t rows, columns;'),
    ('base.h', 'margin_context_cancel(margin_context *context)', 'margin_context_cancel(margin_context *context, int how)'),
    ('model.h', 'int64_t subproblem, void *user);\n} margin_fit_options;', 'int64_t subproblem, void *user);\n    int32_t another;\n} margin_fit_options;'),
    ('model.h', 'int (*trace)(const margin_trace_step *step, void *user);', 'int64_t (*trace)(const margin_trace_step *step, void *user);'),
    ('data.h', 'int64_t targets;', 'int64_t targets, more;'),
    ('base.h', 'margin_version(void);', 'margin_version(void);\nMARGIN_API int margin_gone(void);'),
]


def compare(headers, d, library):
    count = stub(headers, d / 'libmargin.so', d / 'symbols')
    words = ['abidiff', '--leaf-changes-only', '--no-added-syms', d / 'libmargin.so', library]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode & 3 or done.returncode < 0:
        return count, [f'abidiff ended with {done.returncode}: {done.stderr}']
    return count, breaks(done.stdout)


def main():
    sections = subprocess.run(['readelf', '-S', library], capture_output=True, text=True, check=True).stdout
    if not shutil.which('abidiff') or '.debug_info' not in sections:
        print('skipped: no abidiff (abigail-tools), or a library without debugging information')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        d = Path(folder)
        version = sorted((source / 'tests/abi').glob('[0-9]*'))[-1]
        (d / 'symbols').write_text((source / 'src/margin.map.in').read_text().replace('@margin_interface@', version.name))
        count, found = compare(version, d, library)
        print(f'{count} functions of {version.name}, compared with {library}', *found, sep='\n\n')
        if found:
            return 1
        missed = 0
        for header, was, becomes in BREAKS:
            shutil.copytree(version, d / 'broken', dirs_exist_ok=True)
            path = d / 'broken/margin' / header
            text = path.read_text()
            assert was in text, was
            path.write_text(text.replace(was, becomes, 1))
            if not compare(d / 'broken', d, library)[1]:
                print(f'not seen: {becomes} for {was} in {header}')
                missed += 1
        print(f'{len(BREAKS) - missed} of {len(BREAKS)} breaks seen')
        return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
