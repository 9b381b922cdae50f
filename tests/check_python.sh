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

mkdir -p "$place"
# an environment of its own with the packages of the peers' environment, which is made once
peers=$(tests/peers.sh) || { echo "$peers"; exit 77; }
if [ ! -x "$place/venv/bin/python3" ]; then
    "$peers/bin/python3" -m venv "$place/venv" || exit 1
    "$peers/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
        >"$("$place/venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/peers.pth"
fi
# pip_install WORDS...: what it says is shown only if it fails
pip_install() {
    "$place/venv/bin/python3" -m pip --disable-pip-version-check install "$@" >"$place/pip.log" 2>&1
}

cmake --install "$build" --prefix "$installed" >"$place/install.log" 2>&1 ||
    { cat "$place/install.log"; exit 1; }
pip_install --no-build-isolation --no-deps --force-reinstall -Cbuild-dir="$place/build" \
    -Ccmake.define.MARGIN_INSTALLED=ON -Ccmake.define.margin_ROOT="$installed" ./python ||
    { cat "$place/pip.log"; exit 1; }

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
pytest=(-m pytest -q -p no:cacheprovider python/tests)
[ "${2:-}" = long ] || exec "$place/venv/bin/python3" "${pytest[@]}" -m "not long"
"$place/venv/bin/python3" "${pytest[@]}" || exit 1

# the oldest scikit-learn and NumPy that the package is for; the same files, as they keep to Python's stable interface
if [ ! -f "$place/oldest/ready" ]; then
    rm -rf "$place/oldest"
    "$peers/bin/python3" -m venv "$place/oldest" || exit 1
    "$place/oldest/bin/pip" --disable-pip-version-check install "scikit-learn==1.3.*" "numpy<2" pandas polars cffi \
        pytest >"$place/oldest.log" 2>&1 || { echo "skipped: no oldest scikit-learn: $(tail -n 1 "$place/oldest.log")"; exit 77; }
    touch "$place/oldest/ready"
fi
# the OpenBLAS of that NumPy takes newer processors for a Prescott, where scikit-learn's own checks of pickles refuse to run
if grep -qw avx2 /proc/cpuinfo 2>/dev/null; then export OPENBLAS_CORETYPE=Haswell; fi
rm -rf "$place/package"
mkdir "$place/package"
cp -r "$place"/venv/lib/python3*/site-packages/margin "$place/package"
PYTHONPATH=$place/package exec "$place/oldest/bin/python3" "${pytest[@]}"
