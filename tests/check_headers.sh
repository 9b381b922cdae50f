#!/bin/sh
# Each public header compiles alone, as C99 and as C++17, with every compiler that is installed, all
# together as other versions of both, too; and it speaks only of margin_ and MARGIN_ names (arrow.h
# also of those that Arrow's pages demand).
set -u
bad=0
tried=0

try() { # header compiler language standard
    command -v "$2" >/dev/null 2>&1 || return 0
    tried=$((tried + 1))
    printf '#include "%s"\nint not_empty;\n' "${1#include/}" |
        "$2" -x "$3" "-std=$4" -pedantic -Wall -Wextra -Wshadow -Werror -fsyntax-only -Iinclude - || {
        echo "$1 does not compile alone with $2 -std=$4"
        bad=1
    }
}

for header in include/margin/*.h; do
    for compiler in gcc clang; do try "$header" "$compiler" c c99; done
    for compiler in g++ clang++; do try "$header" "$compiler" c++ c++17; done
    stray=$(grep -nE '^[[:space:]]*#[[:space:]]*define[[:space:]]+' "$header" | grep -vE 'define[[:space:]]+(MARGIN_|ARROW_(FLAG|C)_)')
    if [ -n "$stray" ]; then
        echo "$header defines a macro without the prefix MARGIN_:"
        echo "$stray"
        bad=1
    fi
    if grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' "$header" |
        grep -vE '"margin/|<(stdbool|stddef|stdint)\.h>'; then
        echo "$header includes something else than margin/, stddef.h, stdint.h, stdbool.h"
        bad=1
    fi
done
for standard in c11 c17 c2x; do
    for compiler in gcc clang; do try include/margin/margin.h "$compiler" c "$standard"; done
done
for standard in c++11 c++14 c++20; do
    for compiler in g++ clang++; do try include/margin/margin.h "$compiler" c++ "$standard"; done
done
[ "$tried" -gt 0 ] || { echo "no compiler to try with"; exit 1; }
exit $bad
