#!/bin/bash
# test.sh [long]: builds and runs the tests; the last line is "N passed, M failed".
#   always: every test with address and undefined-behaviour sanitizers, those that look for data
#           sets once more without any, those marked OPTIMISED in the optimised build, those marked
#           THREADS under the thread sanitizer (tests/CMakeLists.txt)
#   long:   the same, all of the optimised build with the tests marked LONG (hours with sanitizers),
#           everything else under the thread sanitizer and with each instruction set below the
#           machine's, those marked VALGRIND under valgrind, and the fuzz targets for FUZZ_RUNS
#           inputs (1000000) or FUZZ_SECONDS (120) each
# STAGES="release tsan ..." runs these stages of the long tests alone.
set -u
cd "$(dirname "$0")/.."
long=${1:-}
jobs=${JOBS:-$(nproc)}
passed=0
failed=0
skipped=0

attribute() { # name, of the test suite in build/junit.xml
    sed -n "0,/[^a-z]$1=\"\([0-9]*\)\"/s/.*[^a-z]$1=\"\([0-9]*\)\".*/\1/p" build/junit.xml | head -n 1
}

# count NAME COMMAND...: one more test, for what CTest does not run
count() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
}

# run PRESET TARGET [ctest options]: builds, runs, adds up
run() {
    local preset=$1 target=$2 all bad skip
    shift 2
    if ! scripts/build.sh "$preset" "$target" -j"$jobs"; then
        failed=$((failed + 1))
        return
    fi
    rm -f build/junit.xml
    local launcher=
    [ "$preset" != tsan ] || launcher=$fixed_addresses
    $launcher ctest --test-dir "build/$preset" -j"$jobs" --output-on-failure --no-tests=error \
        --output-junit "$PWD/build/junit.xml" "$@"
    if [ ! -s build/junit.xml ]; then
        failed=$((failed + 1))
        return
    fi
    all=$(attribute tests)
    bad=$(attribute failures)
    skip=$(($(attribute skipped) + $(attribute disabled)))
    passed=$((passed + all - bad - skip))
    failed=$((failed + bad))
    skipped=$((skipped + skip))
}

# the optimised build with each instruction set below the machine's own, which stage release had
lower() {
    local own isa
    scripts/build.sh release all -j"$jobs"
    own=$(build/release/cli/margin --version | sed -n 's/^instruction set *//p')
    for isa in ref avx2; do
        [ "$isa" != "$own" ] || return
        MARGIN_ISA=$isa run release all -LE 'long|build'
    done
}

# the thread sanitizer of gcc 12 cannot run where addresses are randomised too widely
fixed_addresses=
if setarch -R true 2>/dev/null; then fixed_addresses="setarch -R"; fi

stage() { # NAME: whether it is to run; says so, with the time
    case " ${STAGES:-dev release tsan lower valgrind fuzz} " in
    *" $1 "*) echo "stage $1, $(date +%H:%M:%S)" ;;
    *) return 1 ;;
    esac
}

if [ -z "$long" ] || stage dev; then
    run dev all -LE long
    MARGIN_DATA=/nowhere run dev all -L data -LE long
fi
if [ -z "$long" ]; then
    run release optimised_tests -L optimised -LE long
    run tsan thread_tests -L threads -LE long
else
    ! stage release || run release all
    ! stage tsan || run tsan all -LE 'long|build'
    ! stage lower || lower
    ! stage valgrind || run valgrind valgrind_tests -L valgrind -LE long
    if stage fuzz; then
        count "fuzz targets build" scripts/build.sh fuzz fuzzers -j"$jobs"
        count "fuzz targets run" env FUZZ_RUNS="${FUZZ_RUNS:-1000000}" \
            FUZZ_SECONDS="${FUZZ_SECONDS:-120}" scripts/fuzz.sh
    fi
    echo "ended at $(date +%H:%M:%S)"
fi

[ "$skipped" -eq 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
