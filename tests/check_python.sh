#!/bin/bash
# check_python.sh BUILD [long]: installs the Python package into an environment of its own, as
# pip install ./python does but linking the library of this build, and runs its tests (long: all).
# Skipped where there is no Python with venv and headers, or no package index.
set -u
cd "$(dirname "$0")/.."
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
place=$build/python
installed=$place/installed

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
python=
for candidate in "${MARGIN_PYTHON:-python3}" python3 /usr/bin/python3; do
    if suits "$candidate"; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || skip "no Python 3.10 with venv and headers (python3-venv, python3-dev)"

mkdir -p "$place"
# pip_install WORDS...: what it says is shown only if it fails
pip_install() {
    "$place/venv/bin/pip" --disable-pip-version-check install "$@" >"$place/pip.log" 2>&1
}
packages=(scikit-build-core cffi numpy scipy scikit-learn pandas polars matplotlib pytest mypy)
if [ "$(cat "$place/venv/ready" 2>/dev/null)" != "${packages[*]}" ]; then
    rm -rf "$place/venv"
    "$python" -m venv "$place/venv" || skip "no virtual environment could be made"
    pip_install "${packages[@]}" ||
        { tail -n 3 "$place/pip.log"; skip "pip could not fetch what the tests need"; }
    echo "${packages[*]}" >"$place/venv/ready"
fi

cmake --install "$build" --prefix "$installed" >"$place/install.log" 2>&1 ||
    { cat "$place/install.log"; exit 1; }
pip_install --no-build-isolation --no-deps --force-reinstall -Cbuild-dir="$place/build" \
    -Ccmake.define.MARGIN_INSTALLED=ON -Ccmake.define.margin_ROOT="$installed" ./python ||
    { cat "$place/pip.log"; exit 1; }

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
pytest=(-q -p no:cacheprovider python/tests)
[ "${2:-}" = long ] || exec "$place/venv/bin/pytest" "${pytest[@]}" -m "not long"
"$place/venv/bin/pytest" "${pytest[@]}" || exit 1

# the oldest scikit-learn and NumPy that the package is for; the same files, as they keep to Python's stable interface
if [ ! -f "$place/oldest/ready" ]; then
    rm -rf "$place/oldest"
    "$python" -m venv "$place/oldest" || exit 1
    "$place/oldest/bin/pip" --disable-pip-version-check install "scikit-learn==1.3.*" "numpy<2" pandas polars cffi \
        pytest >"$place/oldest.log" 2>&1 || { echo "no oldest scikit-learn: $(tail -n 1 "$place/oldest.log")"; exit 0; }
    touch "$place/oldest/ready"
fi
rm -rf "$place/package"
mkdir "$place/package"
cp -r "$place"/venv/lib/python3*/site-packages/margin "$place/package"
PYTHONPATH=$place/package exec "$place/oldest/bin/pytest" "${pytest[@]}"
