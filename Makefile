# Thin: CMake builds, CTest tests. Settings, all optional:
#   BUILD=dir      the build directory (default build, or build-PRESET)
#   PRESET=name    plain, asan or tsan (CMakePresets.json)
#   TESTS=regex    for check: only tests whose names match
#   PREFIX=dir     for install (default /usr/local); DESTDIR is honoured
#   DEPS=no        do not look for missing packages
PRESET ?= plain
BUILD  ?= $(if $(filter plain,$(PRESET)),build,build-$(PRESET))
PREFIX ?= /usr/local
DEPS   ?= yes
JOBS   ?= $(shell nproc)
MAKEFLAGS += --no-print-directory

all: build

build: deps-build
	@cmake --preset "$(PRESET)" -B "$(BUILD)" $(CONFIG) > /dev/null
	@cmake --build "$(BUILD)" --parallel $(JOBS)

# Builds, and runs the main job with Brio and with the MPI's own I/O.
demo: build
	@bench/demo.sh "$(BUILD)"

# Builds, and runs all tests. The last line is the count.
check: deps-check build
	@tools/tests "$(BUILD)" $(JOBS) "$(TESTS)"

bench: build
	@bench/bench.sh "$(BUILD)"

install: build
	@cmake --install "$(BUILD)" --prefix "$(PREFIX)"

uninstall:
	@test -f "$(BUILD)/install_manifest.txt" || { echo "nothing installed from $(BUILD)"; exit 1; }
	@while read -r file || [ -n "$$file" ]; do rm -fv "$(DESTDIR)$$file"; done \
		< "$(BUILD)/install_manifest.txt"

format:
	@tools/check --fix-format

clean:
	@rm -rf "$(BUILD)"

deps-build deps-check:
	@[ "$(DEPS)" = no ] || tools/deps $(@:deps-%=%)

.PHONY: all build demo check bench install uninstall format clean deps-build deps-check
.NOTPARALLEL:
