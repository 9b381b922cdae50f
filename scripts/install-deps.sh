#!/bin/sh
# install-deps.sh GROUP...: makes sure that what a build needs is there, and installs just what is
# missing. Groups: build, demo, python, test, long, fuzz, format, ci.
set -eu

# One line per need: the Debian package, then how to see that it is there without dpkg (a program
# on the path); "-" where only dpkg can tell.
needs() {
    case $1 in
    build)
        echo "gcc cc"
        echo "libc6-dev -"
        echo "make make"
        echo "cmake cmake"
        echo "ninja-build ninja"
        echo "pkg-config pkg-config"
        echo "libjansson-dev -"
        echo "zlib1g-dev -"
        echo "liblapack-dev -"
        echo "libblas-dev -"
        echo "libcmocka-dev -"
        ;;
    demo)
        needs build
        echo "gnuplot-nox gnuplot"
        ;;
    test)
        needs demo
        needs python
        echo "g++ c++"
        ;;
    python)
        needs build
        echo "python3 python3"
        echo "python3-dev -"
        echo "python3-venv -"
        ;;
    long)
        needs test
        echo "valgrind valgrind"
        echo "abigail-tools abidiff"
        echo "chromium chromium"
        ;;
    fuzz)
        needs build
        echo "clang clang"
        echo "libclang-rt-dev -"
        ;;
    format) echo "clang-format clang-format" ;;
    ci)
        needs test
        echo "clang clang"
        ;;
    *)
        echo "install-deps.sh: no group '$1'" >&2
        exit 1
        ;;
    esac
}

all_needs() {
    for group in "$@"; do needs "$group"; done | sort -u
}

is_there() { # package program
    if [ "$2" != - ] && command -v "$2" >/dev/null 2>&1; then return 0; fi
    dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

if ! command -v apt-get >/dev/null 2>&1; then
    # not Debian: only programs can be checked, CMake looks for the libraries
    missing=$(all_needs "$@" | while read -r package program; do
        [ "$program" = - ] || command -v "$program" >/dev/null 2>&1 || printf '%s ' "$program"
    done)
    [ -z "$missing" ] && exit 0
    echo "Missing: $missing" >&2
    echo "Needed (names of Debian packages): $(all_needs "$@" | cut -d' ' -f1 | tr '\n' ' ')" >&2
    exit 1
fi

missing=$(all_needs "$@" | while read -r package program; do
    is_there "$package" "$program" || printf '%s ' "$package"
done)
missing=${missing% }
[ -z "$missing" ] && exit 0

install="apt-get install -y --no-install-recommends $missing"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
else
    echo "Missing packages. As root, run:" >&2
    echo "    apt-get update && $install" >&2
    exit 1
fi

echo "installing with apt-get: $missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update &&
       $as_root env DEBIAN_FRONTEND=noninteractive $install; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "That did not work. By hand: apt-get update && $install" >&2
    exit 1
fi
