#!/bin/sh
# check_example.sh EXPECTED PROGRAM [words...]: the program succeeds and prints the expected text.
set -u
expected=$1
shift
got=$(mktemp)
trap 'rm -f "$got"' EXIT
"$@" >"$got" || { echo "exit status $?"; exit 1; }
diff -u "$expected" "$got"
