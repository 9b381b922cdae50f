#!/bin/sh
# build.sh PRESET TARGET [build options]: configures build/PRESET if needed and builds TARGET.
# The chatter goes to build/PRESET.log and is shown only if something fails.
set -eu
cd "$(dirname "$0")/.."
preset=$1
target=$2
shift 2
mkdir -p build
log=build/$preset.log

quietly() {
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "failed: $*" >&2
        exit 1
    fi
}

echo "building build/$preset ($target)" >&2
if [ ! -f "build/$preset/build.ninja" ]; then
    quietly cmake --preset "$preset"
fi
quietly cmake --build "build/$preset" --target "$target" "$@"
# warnings do not stop a release build, but nobody should miss them
grep -E 'warning:' "$log" >&2 || true
