#!/bin/sh
# bench.sh [NAME...]: runs bench/bench_NAME.py on the programs of build/bench, less than three minutes
# each on a quiet machine; by default `table`, all learners in one. They compare with other libraries:
# NumPy and scikit-learn are needed for that and are not installed here.
set -eu
cd "$(dirname "$0")/.."
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
echo "machine: ${model:-$(uname -m)}, $(nproc) cores allowed, load $(cut -d' ' -f1 /proc/loadavg)"
echo "margin: $(git rev-parse --short HEAD 2>/dev/null || echo '?'), $(cc --version | head -n 1)"
[ $# -gt 0 ] || set -- table
if ! python3 -c 'import numpy, sklearn' 2>/dev/null; then
    echo "skipped: the comparisons need python3 with numpy and scikit-learn"
    exit 0
fi
for name in "$@"; do
    echo "== $name"
    python3 "bench/bench_$name.py" --programs build/bench/bench
done
