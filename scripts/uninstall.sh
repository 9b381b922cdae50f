#!/bin/sh
# uninstall.sh PREFIX [DESTDIR]: removes the files that install.sh noted, then the folders it made
# as far as they are empty.
set -eu
root=${2:-}$1
list=$root/share/margin/installed
if [ ! -f "$list" ]; then
    echo "margin is not installed in $root (no $list)" >&2
    exit 1
fi
kept=$(mktemp)
trap 'rm -f "$kept"' EXIT
cp "$list" "$kept"
grep -v '/$' "$kept" | while read -r name; do
    rm -f -- "$root$name"
done
# deepest first
grep '/$' "$kept" | sort -r | while read -r name; do
    rmdir -- "$root${name%/}" 2>/dev/null || true
done
echo "removed margin from $root" >&2
