#!/bin/bash
# peers.sh [WORDS...]: runs python3 WORDS in an environment with the peers that tests compare with
# (scikit-learn, SciPy and others), made once in build/peers; without words it prints its place.
# Exit code 77: there is no Python with venv and headers, or no package index.
set -u
place=$(cd "$(dirname "$0")/.." && pwd)/build/peers

skip() {
    echo "skipped: $*"
    exit 77
}

suits() {
    command -v "$1" >/dev/null 2>&1 && "$1" - 2>/dev/null <<'END'
import ensurepip, os, sys, sysconfig, venv
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 10) or not os.path.exists(headers))
END
}

packages=(scikit-build-core cffi numpy scipy scikit-learn pandas polars matplotlib pytest mypy)
mkdir -p "$place"
exec 9>"$place/lock"
flock 9
if [ "$(cat "$place/ready" 2>/dev/null)" != "${packages[*]}" ]; then
    python=
    for candidate in "${MARGIN_PYTHON:-python3}" python3 /usr/bin/python3; do
        if suits "$candidate"; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || skip "no Python 3.10 with venv and headers (python3-venv, python3-dev)"
    rm -rf "$place/venv"
    "$python" -m venv "$place/venv" || skip "no virtual environment could be made"
    "$place/venv/bin/pip" --disable-pip-version-check install "${packages[@]}" >"$place/pip.log" 2>&1 ||
        { tail -n 3 "$place/pip.log"; skip "pip could not fetch what the tests need"; }
    echo "${packages[*]}" >"$place/ready"
fi
exec 9>&-
if [ $# -eq 0 ]; then echo "$place/venv"; else exec "$place/venv/bin/python3" "$@"; fi
