#!/bin/bash
# The tree keeps its own rules: every source file is listed in CMake, file names are unique, no file
# is too long, and nothing refers to places outside the project.
set -u
bad=0
complain() {
    echo "$*"
    bad=1
}

# src/, cli/, tests/, fuzz/: each .c file appears in the folder's CMakeLists.txt
listed() { # top-level folder, name without folder and ending
    grep -qE "(^|[[:space:](/])$2(\.c)?([[:space:])]|$)" "$1/CMakeLists.txt"
}
while read -r file; do
    top=${file%%/*}
    below=${file#*/}
    case $file in
    src/*/lapack_shim.c) where=cmake/lapack.cmake ;;
    *) where=$top/CMakeLists.txt ;;
    esac
    case $top in
    src | cli) grep -qF "$below" "$where" || complain "$file is not listed in $where" ;;
    tests) case $below in abi/*) continue ;; esac
        listed tests "$(basename "$file" .c)" || grep -qF "$below" tests/CMakeLists.txt ||
        complain "$file is not listed in tests/CMakeLists.txt" ;;
    fuzz | examples) [ ! -f "$where" ] || listed "$top" "$(basename "$file" .c)" ||
        complain "$file is not listed in $where" ;;
    esac
done < <(find src cli tests fuzz examples -name '*.c')

# and each file that CMake lists exists
while read -r name; do
    [ -f "src/$name" ] || complain "src/CMakeLists.txt lists $name, which does not exist"
done < <(grep -oE '^[[:space:]]+[a-z0-9_]+/[a-z0-9_/]+\.c$' src/CMakeLists.txt | tr -d ' \t')

# sorted lists merge without conflicts
for list in src/CMakeLists.txt tests/CMakeLists.txt; do
    awk '/^(target_sources|    target_sources)/ { last = ""; next }
         /^ +[a-z0-9_\/]+\.c$/ { if (last != "" && $1 < last) print $1; last = $1 }
         /^margin_test\(/ { sub(/margin_test\(/, ""); sub(/\)$/, "")
                            if (test != "" && $1 < test) print $1; test = $1 }' "$list" |
        while read -r name; do echo "$list: $name is out of alphabetical order"; done
done | { ! grep .; } || bad=1

# a program that looks for data sets is also run without any
grep -lE 'SUPPORT_DATA_OR_SKIP|support_data\(' tests/test_*.c | grep -v test_support.c |
    sed 's,.*/,,; s,\.c$,,' | while read -r name; do
    grep -qE "^margin_test\($name DATA[ )]" tests/CMakeLists.txt ||
        echo "tests/CMakeLists.txt: $name looks for data sets; mark it DATA"
done | { ! grep .; } || bad=1

# Public headers, too, so that a name in an include says which file it is; examples stand alone.
names=$(find include src cli tests fuzz bench -path tests/abi -prune -o -name "*.[ch]" -print 2>/dev/null | sed 's,.*/,,' | sort | uniq -d)
[ -z "$names" ] || complain "file names that occur twice: $names"

while read -r lines file; do
    case $file in
    total) continue ;;
    tests/*) limit=1200 ;;                         # many small cases of one module
    *) limit=600 ;;
    esac
    [ "$lines" -le "$limit" ] || complain "$file has $lines lines; split it at $limit"
done < <(find include src cli tests fuzz examples bench -name '*.[ch]' -exec wc -l {} +)

# a section's ruler that was too long and became two lines
if grep -rnE -A1 '^/\* ---- ' include src/base src/data src/learn src/model cli |
    grep -E '^[^ ]+-[0-9]+- \*( ?-|/)'; then
    complain "the ruler above does not fit its line: 100 characters"
fi

# absolute paths of somebody's machine, leftovers, calls the library must not make
files=$(find . \( -path ./build -o -path ./.git -o -name dist -o -name '__pycache__' \) -prune -o \
    -type f \( -name '*.[ch]' -o -name '*.md' -o -name '*.txt' -o -name '*.cmake' -o -name '*.sh' \
    -o -name '*.py' -o -name '*.json' -o -name Makefile \) -print)
if grep -nE '(^|[^A-Za-z0-9_.])/(work|home|root)/' $files | grep -v check_sources.sh; then
    complain "an absolute path of one machine (above)"
fi
if grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $files | grep -v check_sources.sh; then
    complain "work left open (above)"
fi
# the library does not know the flags of the program, which puts them for options of C (cli_in_flags)
if grep -rnE '"[^"]*--[a-z]' src; then
    complain "a sentence of the library names a flag of the program (above)"
fi
# every public function that takes a model is called on hostile ones, too
sed -z 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g; s,\n, ,g' include/margin/*.h | grep -aoE 'margin_[a-z_]+\([^;]*margin_model \*[^;]*\);' |
    sed 's,(.*,,' | sort -u | while read -r name; do
    grep -q "[^a-z_]$name(" tests/hostile_*.c || [ "$name" = margin_fit ] ||
        echo "tests/hostile_use.c does not call $name"
done | { ! grep .; } || bad=1
# Includes point downwards, room by room (src/rooms.txt). What is above the library knows its public
# headers only.
python3 "$(dirname "$0")/check_rooms.py" || bad=1
if grep -rnE "#[[:space:]]*include[[:space:]]+\"($(cd src && printf '%s|' */ | sed 's,/,,g; s,|$,,'))/" cli examples; then
    complain "cli/ and examples/ may include public headers only (above)"
fi
exit $bad
