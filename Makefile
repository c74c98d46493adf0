# Thin: CMake builds, CTest tests. Settings, all optional:
#   BUILD=dir      the build directory (default build, or build-PRESET)
#   PRESET=name    plain, asan or tsan (CMakePresets.json)
#   TESTS=regex    for check: only tests whose names match
#   PREFIX=dir     for install (default /usr/local); DESTDIR is honoured
#   DEPS=no        do not look for missing packages
#   CONFIG=options for cmake
PRESET ?= plain
BUILD  ?= $(if $(filter plain,$(PRESET)),build,build-$(PRESET))
PREFIX ?= /usr/local
DEPS   ?= yes
JOBS   ?= $(shell nproc)
MAKEFLAGS += --no-print-directory

all: build

configure: deps-build
	@cmake --preset "$(PRESET)" -B "$(BUILD)" $(CONFIG) > /dev/null

build: configure
	@cmake --build "$(BUILD)" --parallel $(JOBS)

# Everything but the tests.
programs: configure
	@cmake --build "$(BUILD)" --parallel $(JOBS) --target programs

# Builds, and runs the main job with Brio and with the MPI's own I/O.
demo: programs
	@bench/demo/demo.sh "$(BUILD)"

# Builds, and runs all tests. The last line is the count.
check: deps-check build
	@tools/tests "$(BUILD)" $(JOBS) "$(TESTS)"

# The suites over CephFS, on a cluster that is started for them; some minutes.
check-ceph: deps-ceph build
	@test/ceph "$(BUILD)"

# The papers' experiments in some minutes: build/reproduce/report.html.
bench: programs
	@"$(BUILD)/brio" reproduce --quick --out "$(BUILD)/reproduce"

# All of them, and doc/results.md with its figures: half an hour. Goes on where it was.
results: programs
	@"$(BUILD)/brio" reproduce --full --out "$(BUILD)/reproduce" --markdown doc/results.md

install: programs
	@cmake --install "$(BUILD)" --prefix "$(PREFIX)"

uninstall:
	@test -f "$(BUILD)/install_manifest.txt" || { echo "nothing installed from $(BUILD)"; exit 1; }
	@while read -r file || [ -n "$$file" ]; do rm -fv "$(DESTDIR)$$file"; done \
		< "$(BUILD)/install_manifest.txt"

format:
	@tools/check --fix-format

clean:
	@rm -rf "$(BUILD)"

deps-build deps-check deps-ceph:
	@[ "$(DEPS)" = no ] || tools/deps $(@:deps-%=%)

.PHONY: all configure build programs demo check check-ceph bench results install uninstall format clean deps-build deps-check deps-ceph
.NOTPARALLEL:
