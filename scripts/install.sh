#!/bin/sh
# install.sh PREFIX [DESTDIR [BUILD]]: installs BUILD (build/release) as it is, without compiling,
# and notes what it installed in PREFIX/share/margin/installed, for uninstall.sh.
set -eu
cd "$(dirname "$0")/.."
prefix=$1
export DESTDIR="${2:-}"
build=${3:-build/release}
root=$DESTDIR$prefix
list=$root/share/margin/installed

# folders that are there now are not ours to remove, except those a former installation made
before=$(mktemp)
trap 'rm -f "$before"' EXIT
if [ -d "$root" ]; then
    find "$root" -maxdepth 6 -type d | sed "s,^$root,," | sort >"$before"
    if [ -f "$list" ]; then
        grep '/$' "$list" | sed 's,/$,,' | sort | comm -23 "$before" - >"$before.2"
        mv "$before.2" "$before"
    fi
fi

manifest=$build/install_manifest.txt
log=$build/install.log
cmake --install "$build" --prefix "$prefix" --strip >"$log" 2>&1 ||
    { cat "$log" >&2; exit 1; }
mkdir -p "${list%/*}"
{
    sed "s,^$prefix,," "$manifest"
    echo
    echo /share/margin/installed
    find "$root" -maxdepth 6 -type d | sed "s,^$root,," | sort | comm -13 "$before" - | sed 's,$,/,'
} | grep . | sort -u >"$list.new" # "/" alone stands for the prefix itself
mv "$list.new" "$list"
# sudo make install must not leave files of root in the build folder
[ "$(id -u)" -ne 0 ] || chown --reference="$build" "$manifest" "$log" "$build/margin.pc"
echo "installed margin in $root" >&2
