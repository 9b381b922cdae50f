#!/bin/sh
# fuzz.sh [TARGET...]: runs the fuzz targets of build/fuzz, as many side by side as there are
# processors, FUZZ_RUNS inputs each (default 20000) and at most FUZZ_SECONDS (default 5400), starting
# from fuzz/seeds/TARGET. What they find new is kept in build/fuzz/corpus; an input that breaks
# something is written to build/fuzz/found.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(cd build/fuzz/fuzz && find . -maxdepth 1 -type f -name 'fuzz_*' -perm -u+x |
    sed 's,^\./,,' | sort)
[ $# -gt 0 ] || { echo "no fuzz targets in build/fuzz/fuzz" >&2; exit 1; }
mkdir -p build/fuzz/found
if [ $# -gt 1 ]; then
    printf '%s\n' "$@" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" scripts/fuzz.sh || exit 1
    exit 0
fi
target=$1
seeds=fuzz/seeds/${target#fuzz_}
corpus=build/fuzz/corpus/$target
mkdir -p "$corpus"
[ -d "$seeds" ] || seeds=
dictionary=fuzz/${target}.dict
log=build/fuzz/$target.log
if ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1" "build/fuzz/fuzz/$target" \
    -runs="${FUZZ_RUNS:-20000}" -max_total_time="${FUZZ_SECONDS:-5400}" -timeout=60 \
    -rss_limit_mb=4096 -max_len=16384 -entropic=0 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$target-" \
    $([ -f "$dictionary" ] && echo "-dict=$dictionary") "$corpus" $seeds >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $runs inputs, nothing found"
else
    tail -n 40 "$log"
    echo "$target: FAILED, see build/fuzz/found"
    exit 1
fi
