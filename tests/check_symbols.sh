#!/bin/bash
# check_symbols.sh PRIVATE STATIC SHARED: what the library's object files may refer to (PRIVATE is the
# archive of them), and what the two libraries that are installed show.
#  - nothing that prints, ends the process, depends on the locale or keeps hidden state
#  - memory only through base/memory.c
#  - no writable global data, in our files or in the LAPACK routines that are linked in
#  - the static and the shared library show margin_* and nothing else, each with a line in
#    docs/functions.md
#  - the shared library needs no BLAS at run time
set -u
private=$1
static=$2
shared=$3
here=$(dirname "$0")
bad=0
complain() {
    echo "$1"
    bad=1
}

undefined() { # "object symbol" of each undefined symbol, fortified names reduced to the plain ones
    nm -A --undefined-only "$private" 2>/dev/null |
        sed -nE 's/^[^:]*:([^:]+):.* U ([^@ ]+).*/\1 \2/p' | sed -E 's/ __([a-z_]+)_chk$/ \1/' |
        grep -v '^lapack\.o '
}

forbidden='printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs_unlocked|putchar|putc|perror'
forbidden="$forbidden|exit|_exit|_Exit|quick_exit|atexit|abort|raise|kill|__assert_fail|__assert"
forbidden="$forbidden|rand|srand|random|srandom|rand_r|drand48|lrand48|srand48"
forbidden="$forbidden|setlocale|newlocale|uselocale|localeconv|signal|sigaction|sigprocmask"
forbidden="$forbidden|strtod|strtof|strtold|strtod_l|atof|scanf|fscanf|sscanf|__isoc99_[a-z]*scanf"
forbidden="$forbidden|sprintf|vsprintf|gets|strtok|tmpnam|mktemp"
forbidden="$forbidden|localtime|gmtime|asctime|ctime|system|popen|stdout|stderr"
found=$(undefined | grep -E " ($forbidden)$")
[ -z "$found" ] || complain "the library must not use:
$found"

found=$(undefined | grep -E ' (malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|memalign|strdup|strndup|asprintf|getline|getdelim|qsort|qsort_r)$' |
    grep -vE '^memory\.c\.o ')
[ -z "$found" ] || complain "memory is taken and given back through base/memory.h only:
$found"

# const tables of pointers live in .data.rel.ro, which is read-only once loaded
found=$(objdump -t "$private" | awk '
    /file format/ { object = $1; sub(/:$/, "", object) }
    / (\.data|\.bss|\.tdata|\.tbss|\.ldata|\.lbss|\*COM\*)/ {
        # address, flags (7 characters, blanks among them), section, size, name
        if ($0 ~ /\.data\.rel\.ro/) next
        section = ""; for (i = 1; i <= NF; i++) if ($i ~ /^(\.|\*COM)/) { section = $i; break }
        size = $(i + 1); name = $NF
        if (name != section && size !~ /^0+$/) print object, name
    }')
allowed=$(grep -vE '^(#|$)' "$here/writable_data.txt")
found=$(printf '%s\n' "$found" | grep . | { [ -n "$allowed" ] && grep -vxF "$allowed" || cat; })
[ -z "$found" ] || complain "writable global data (documented exceptions: tests/writable_data.txt):
$found"

found=$(nm --extern-only --defined-only "$static" | awk 'NF == 3 { print $3 }' | grep -v '^margin_')
[ -z "$found" ] || complain "the static library shows:
$found"
# those of the headers, and docs/functions.md has a place for each
listed=$(grep -oE '`margin_[a-z0-9_]+`' "$here/../docs/functions.md" | tr -d '`' | sort)
found=$(nm --extern-only --defined-only "$static" | awk 'NF == 3 && $2 == "T" { print $3 }' | sort |
    diff - <(printf '%s\n' "$listed"))
[ -z "$found" ] || complain "functions of the library (<) and of docs/functions.md (>):
$found"
nm --extern-only --defined-only "$static" | grep -q ' T margin_version' ||
    complain "margin_version is not in the static library"

found=$(nm -D --defined-only "$shared" | awk '{ print $NF }' | sed 's/@.*//' |
    grep -vE '^(margin_|MARGIN_0)')
[ -z "$found" ] || complain "the shared library exports:
$found"
nm -D --defined-only "$shared" | grep -q ' T margin_version' || complain "margin_version is not exported"
readelf -d "$shared" | grep -q 'SONAME.*libmargin\.so\.[0-9]' || complain "the shared library has no soname"
if readelf -d "$shared" | grep -E 'NEEDED.*(blas|lapack|gfortran|gomp)|RPATH|RUNPATH'; then
    complain "the shared library depends on what is above"
fi

# every function that the public headers declare is there
found=$(cat "$here"/../include/margin/*.h | tr '\n' ' ' | grep -oE 'MARGIN_API [^;{]*;' |
    grep -oE 'margin_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u |
    grep -vxF "$(nm -D --defined-only "$shared" | awk '{ print $NF }' | sed 's/@.*//')")
[ -z "$found" ] || complain "declared in include/margin but not in the shared library:
$found"
exit $bad
