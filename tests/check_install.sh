#!/bin/sh
# check_install.sh BUILD: installs into an empty folder, compiles programs against what is there
# (pkg-config shared and static, CMake package, sources as a folder of the host), runs them,
# uninstalls, and finds the folder gone.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
fail() {
    echo "$1"
    exit 1
}

scripts/install.sh "$prefix" "" "$build"
[ ! -e cli/main.c ] || [ -x "$prefix/bin/margin" ] || fail "no program in bin"
doc=$prefix/share/doc/margin
for name in LICENSE README.md docs/format.md examples/train.c examples/data/iris.csv; do
    [ -f "$doc/$name" ] || fail "no $name"
done
for link in $(grep -oE '\]\([^)#:]+' "$doc/README.md" | cut -c3-); do
    [ -e "$doc/$link" ] || fail "the installed README leads to $link, which is not there"
done
grep -q 'copies or substantial portions' "$doc/LICENSE.jansson" || fail "no licence of Jansson"
grep -q 'must not be misrepresented' "$doc/LICENSE.zlib" || fail "no licence of zlib"

# one interface for each minor version before 1.0: soname, symbols and CMake package say the same
so=$(find "$prefix" -name libmargin.so)
minor=$("$prefix/bin/margin" --version | grep -oE '[0-9]+\.[0-9]+' | head -1)
readelf -d "$so" | grep -q "SONAME.*\[libmargin\.so\.$minor\]" || fail "the soname is not that of $minor"
[ -e "$so.$minor" ] || fail "no libmargin.so.$minor"
readelf -d "$so" | grep -qE 'FLAGS.*(BIND_)?NOW' || fail "names are bound late"
nm -D --defined-only "$so" | grep -q " T margin_version@@MARGIN_$minor$" || fail "no version of the symbols"

mkdir "$scratch/user"
cat >"$scratch/user/main.c" <<'END'
#include <margin/base.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    margin_capabilities_info info = {0};
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
case $(pkg-config --cflags --libs margin) in *..*) fail "pkg-config: a way with .. in it" ;; esac
cc=${CC:-cc}

$cc main.c -o shared $(pkg-config --cflags --libs margin)
LD_LIBRARY_PATH=$lib ./shared >/dev/null || fail "the program with the shared library failed"
$cc main.c -o static $(pkg-config --cflags margin) "$lib/libmargin.a" \
    $(pkg-config --static --libs margin | sed 's/-lmargin//')
./static >/dev/null || fail "the program with the static library failed"
$cc "$doc/examples/train.c" -o train $(pkg-config --cflags --libs margin) -Wl,-rpath,$(pkg-config --variable=libdir margin)
(unset LD_LIBRARY_PATH && ./train points.margin >/dev/null) || fail "examples/train.c with -Wl,-rpath failed"
[ -s points.margin ] || fail "examples/train.c saves no model"

# a host of the headers of this minor version as they were frozen, also with enumerations of one byte
for flags in "" -fshort-enums; do
    $cc -std=c99 $flags -I "$source/tests/abi/$minor" "$source/tests/abi/host.c" -o abi_host \
        $(pkg-config --libs margin)
    LD_LIBRARY_PATH=$lib ./abi_host >/dev/null || fail "a host compiled against the headers of $minor failed"
done

for standard in c++11 c++20; do
    command -v "${CXX:-c++}" >/dev/null || break
    "${CXX:-c++}" -std=$standard -Wall -Wextra -Werror "$source/tests/host.cpp" -o cpp_host \
        $(pkg-config --cflags --libs margin) || fail "a host in $standard does not compile"
    LD_LIBRARY_PATH=$lib ./cpp_host || fail "a host in $standard failed"
done

LD_LIBRARY_PATH=$lib python3 "$source/tests/c_page.py" "$source" "$cc" \
    $(pkg-config --cflags --libs margin) || fail "a program of docs/c.md failed"

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

# a moved copy, and library and headers in folders of their own
cp -R "$prefix" "$scratch/moved"
moved=$(PKG_CONFIG_PATH=$(dirname "$scratch/moved${pc#"$prefix"}") \
    pkg-config --define-prefix --variable=libdir margin)
[ "$moved" = "$scratch/moved${lib#"$prefix"}" ] || fail "moved, the library is not in $moved"
cmake -S "$source" -B elsewhere -G Ninja -DMARGIN_TESTS=OFF -DMARGIN_EXAMPLES=OFF \
    -DCMAKE_INSTALL_LIBDIR="$scratch/far/lib" >log 2>&1 || { cat log; fail "an absolute folder"; }
sed -n 's/^libdir=//p' elsewhere/margin.pc.in | grep -qx "$scratch/far/lib" ||
    fail "pkg-config: the absolute folder of the library is lost"

# the sources as a folder of the host's, which has C++ alone; what margin's own build made is put
# where the host would make it, so that nothing but the host is compiled
mkdir host
cp main.c host/main.c
cat >host/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(host CXX)
add_subdirectory("$source" margin EXCLUDE_FROM_ALL)
enable_language(C)
add_executable(with_shared main.c)
target_link_libraries(with_shared PRIVATE margin::margin)
add_executable(with_static main.c)
target_link_libraries(with_static PRIVATE margin::static)
END
cmake -S host -B inside -G Ninja >log 2>&1 || { cat log; fail "add_subdirectory"; }
cp -P "$build"/src/libmargin.a "$build"/src/libmargin.so* inside/margin/src/
for name in with_shared with_static; do
    (cd inside && ninja -t commands $name | grep -E "CMakeFiles/$name\.dir" | sh) >log 2>&1 ||
        { cat log; fail "building $name in a host"; }
    ./inside/$name >/dev/null || fail "$name, built in a host, failed"
done
cd "$source"

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
