#!/bin/sh
# old_glibc.sh VERSION COMMAND...: runs a command that builds (cmake, scripts/wheel.sh, pip wheel) so that
# what it makes needs no newer glibc than VERSION (2.28: Debian 10, RHEL 8):
#   scripts/old_glibc.sh 2.28 cmake -B build/old -G Ninja -DCMAKE_BUILD_TYPE=Release -DMARGIN_TESTS=OFF
#   scripts/old_glibc.sh 2.28 scripts/wheel.sh
# The compiler is zig's clang, which knows the symbols of each glibc (pip installs it below
# build/glibc-VERSION); Debian's Jansson and zlib, which wheels take with them, need no newer one than 2.14.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
version=$1
shift
place=$root/build/glibc-$version
machine=$(uname -m)
libraries=/usr/lib/$machine-linux-gnu

if [ ! -f "$place/ready" ]; then
    rm -rf "$place"
    mkdir -p "$place/bin" "$place/include" "$place/pkgconfig"
    echo "preparing $place" >&2
    "${MARGIN_PYTHON:-python3}" -m venv "$place/zig"
    "$place/zig/bin/pip" --disable-pip-version-check -q install ziglang
    printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s -isystem "%s" "$@"\n' \
        "$place/zig/bin/python" "$machine-linux-gnu.$version" "$place/include" >"$place/bin/cc"
    chmod +x "$place/bin/cc"
    # these headers alone: others in /usr/include are of the glibc of this machine
    for header in zlib.h zconf.h jansson.h jansson_config.h; do
        ln -s "/usr/include/$header" "$place/include/$header"
    done
    mkdir "$place/include/$machine-linux-gnu" # where Debian's Python.h looks
    for python in "/usr/include/$machine-linux-gnu"/python3*; do
        [ ! -d "$python" ] || ln -s "$python" "$place/include/$machine-linux-gnu/"
    done
    cat >"$place/pkgconfig/jansson.pc" <<EOF
Name: jansson
Description: JSON
Version: $(pkg-config --modversion jansson)
Libs: $libraries/libjansson.so
Cflags: -I$place/include
EOF
    cat >"$place/toolchain.cmake" <<EOF
set(CMAKE_C_COMPILER "$place/bin/cc")
set(CMAKE_LINKER "$(command -v ld)" CACHE FILEPATH "")
set(CMAKE_OBJCOPY "$(command -v objcopy)" CACHE FILEPATH "")
set(ZLIB_INCLUDE_DIR "$place/include" CACHE PATH "")
set(ZLIB_LIBRARY "$libraries/libz.so" CACHE FILEPATH "")
set(MARGIN_REFERENCE_LAPACK "$libraries/lapack/liblapack.a" CACHE FILEPATH "")
set(MARGIN_REFERENCE_BLAS "$libraries/blas/libblas.a" CACHE FILEPATH "")
EOF
    touch "$place/ready"
fi
export PKG_CONFIG_PATH="$place/pkgconfig" CMAKE_TOOLCHAIN_FILE="$place/toolchain.cmake"
exec "$@"
