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
         /^Lines executed/ && file ~ /^src\/.*\.c$/ {
             split($0, part, /[:% ]+/)
             printf "%6.1f%% of %5d lines  %s\n", part[3], part[5], file
         }' | sort -u -k5 >"$scratch/files"
cat "$scratch/files"
awk '{ lines += $3; ran += $1 * $3 / 100 }
     END { if (lines) printf "%6.1f%% of %5d lines  in all\n", 100 * ran / lines, lines }' "$scratch/files"
