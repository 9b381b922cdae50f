#!/bin/bash
# coverage.sh: runs the tests of build/coverage and prints how many lines of each source file ran.
set -eu
cd "$(dirname "$0")/.."
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage -j"${JOBS:-$(nproc)}" -LE 'long|build' --output-on-failure
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$PWD
find "$here/build/coverage/src" -name '*.gcda' | (cd "$scratch" && xargs gcov -n -s "$here" -r) 2>/dev/null |
    awk '/^File/ { split($0, part, "\x27"); file = part[2] }
         /^Lines executed/ {
             split($0, part, /[:% ]+/)
             if (file ~ /^src\/.*\.c$/) {
                 printf "%6.1f%% of %5d lines  %s\n", part[3], part[5], file
                 lines += part[5]; ran += part[3] * part[5] / 100
             }
         }
         END { if (lines) printf "%6.1f%% of %5d lines  in all\n", 100 * ran / lines, lines }' |
    sort -u -k5
