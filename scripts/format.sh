#!/bin/sh
# format.sh [--check]: formats every C file of the tree but frozen headers, or says which ones are
# not formatted.
# Versions of clang-format disagree: 14 is the one that counts.
set -eu
cd "$(dirname "$0")/.."
program=$(command -v clang-format-14 || command -v clang-format) || {
    echo "clang-format is missing (Debian: apt-get install clang-format-14)" >&2
    exit 1
}
case $("$program" --version) in
*" 14."*) ;;
*) echo "note: $("$program" --version), version 14 is expected" >&2 ;;
esac
if [ "${1:-}" = --check ]; then
    git ls-files -z '*.c' '*.h' ':!tests/abi/0.*' | xargs -0 "$program" --dry-run -Werror
else
    git ls-files -z '*.c' '*.h' ':!tests/abi/0.*' | xargs -0 "$program" -i
fi
