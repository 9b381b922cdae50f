#!/bin/sh
# check_install.sh BUILD: installs into an empty folder, compiles programs against what is there
# (pkg-config shared and static, CMake package), runs them, uninstalls, and finds the folder gone.
set -eu
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
fail() {
    echo "$1"
    exit 1
}

scripts/install.sh "$prefix" "" "$build"
[ ! -e cli/main.c ] || [ -x "$prefix/bin/margin" ] || fail "no program in bin"
[ -f "$prefix/share/doc/margin/LICENSE" ] || fail "no licence"

mkdir "$scratch/user"
cat >"$scratch/user/main.c" <<'END'
#include <margin/base.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    margin_capabilities_info info;
    margin_context *context;
    if (margin_context_create(NULL, &context, NULL) < 0) return 1;
    margin_context_free(context);
    margin_capabilities(&info);
    puts(info.lapack);
    return strcmp(margin_version(), margin_version()) || !info.lapack[0];
}
END
cd "$scratch/user"
pc=$(find "$prefix" -name margin.pc)
export PKG_CONFIG_PATH="${pc%/*}"
lib=$(pkg-config --variable=libdir margin)
cc=${CC:-cc}

$cc main.c -o shared $(pkg-config --cflags --libs margin)
LD_LIBRARY_PATH=$lib ./shared >/dev/null || fail "the program with the shared library failed"
$cc main.c -o static $(pkg-config --cflags margin) "$lib/libmargin.a" \
    $(pkg-config --static --libs margin | sed 's/-lmargin//')
./static >/dev/null || fail "the program with the static library failed"

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(margin 0.1 REQUIRED)
add_executable(with_shared main.c)
target_link_libraries(with_shared PRIVATE margin::margin)
add_executable(with_static main.c)
target_link_libraries(with_static PRIVATE margin::static)
END
cmake -S . -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log; fail "find_package"; }
cmake --build out >log 2>&1 || { cat log; fail "building against the CMake package"; }
./out/with_shared >/dev/null && ./out/with_static >/dev/null || fail "a program built with CMake failed"
cd - >/dev/null

# installed twice is removed all the same; what somebody else put there stays
scripts/install.sh "$prefix" "" "$build"
echo mine >"$prefix/share/theirs"
scripts/uninstall.sh "$prefix"
[ "$(find "$prefix" -type f)" = "$prefix/share/theirs" ] || fail "left behind: $(find "$prefix")"
rm "$prefix/share/theirs"
rmdir "$prefix/share" "$prefix" || fail "left behind: $(find "$prefix")"
scripts/install.sh "$prefix" "" "$build"
scripts/uninstall.sh "$prefix"
[ ! -e "$prefix" ] || fail "left behind: $(find "$prefix")"
if scripts/uninstall.sh "$prefix" 2>/dev/null; then fail "uninstalling nothing did not fail"; fi
