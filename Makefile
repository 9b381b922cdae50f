# A short front for the usual errands; CMakePresets.json has the builds behind them.
#
#   make             library and program, optimised, in build/release
#   make demo        builds and runs the demonstration
#   make test        every test (sanitizers on), then some in optimised builds
#   make test-long   the same with valgrind, the thread sanitizer and some fuzzing
#   make bench       benchmarks                make fuzz   each fuzz target, FUZZ_RUNS inputs
#   make wheel       a wheel of the Python package, in dist/
#   make install PREFIX=dir     make uninstall PREFIX=dir
#   make format      make format-check         make coverage         make clean
#
# On Debian whatever is missing is installed first (as root or through sudo).

PREFIX    ?= /usr/local
DESTDIR   ?=
JOBS      ?= $(shell nproc)
FUZZ_RUNS ?= 20000

.PHONY: all demo test test-long bench fuzz wheel install uninstall format format-check coverage clean

all:
	@scripts/install-deps.sh build
	@scripts/build.sh release product -j$(JOBS)

demo:
	@scripts/install-deps.sh demo
	@scripts/build.sh release product -j$(JOBS)
	@PATH="$(CURDIR)/build/release/cli:$$PATH" examples/demo.sh

test:
	@scripts/install-deps.sh test
	@JOBS=$(JOBS) scripts/test.sh

test-long:
	@scripts/install-deps.sh test long fuzz
	@JOBS=$(JOBS) scripts/test.sh long

bench:
	@scripts/install-deps.sh build
	@scripts/build.sh bench all -j$(JOBS)
	@scripts/bench.sh

fuzz:
	@scripts/install-deps.sh fuzz
	@scripts/build.sh fuzz fuzzers -j$(JOBS)
	@FUZZ_RUNS=$(FUZZ_RUNS) scripts/fuzz.sh

wheel:
	@scripts/install-deps.sh python
	@scripts/wheel.sh

# Builds first unless the build folder belongs to somebody else (sudo make install).
install:
	@if [ ! -e build/release ] || [ -O build/release ]; then $(MAKE) --no-print-directory all; fi
	@scripts/install.sh "$(abspath $(PREFIX))" "$(DESTDIR)"

uninstall:
	@scripts/uninstall.sh "$(abspath $(PREFIX))" "$(DESTDIR)"

format:
	@scripts/format.sh

format-check:
	@scripts/format.sh --check

coverage:
	@scripts/install-deps.sh test
	@scripts/build.sh coverage all -j$(JOBS)
	@scripts/coverage.sh

clean:
	rm -rf build
