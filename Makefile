# Short names for the usual jobs; the work is in tools/ and meson.build. `make help` lists them.
DEPS = $(or $(RDK_DEPS_DIR),build/deps)
RELEASE = --buildtype=release -Dtests=disabled -Dbench=disabled
PREFIX = /usr/local
LIBDIR = lib

# Two jobs at once would both run the set-up; each job uses all cores by itself.
.NOTPARALLEL:
# ninja would look for a jobserver that it cannot reach through meson.
unexport MAKEFLAGS
.PHONY: all dist install ways test lab bench bench-compare bench-peers bench-error tables format clean help

all: ## build the library in build/release (the default)
	@tools/setup.sh build
	@. $(DEPS)/env && { test -f build/release/build.ninja || $$MESON setup build/release $(RELEASE); } && $$MESON compile -C build/release

dist: ## write the library as one file, build/dist/rootdk.c and rootdk.h
	@tools/setup.sh build
	@. $(DEPS)/env && $$PYTHON tools/amalgamate.py build/dist

install: all ## install it (PREFIX=/usr/local, LIBDIR=lib below it, DESTDIR)
	@. $(DEPS)/env && $$MESON configure build/release --prefix="$(PREFIX)" --libdir="$(LIBDIR)" && \
		$$MESON install -C build/release $(if $(DESTDIR),--destdir "$(DESTDIR)")

ways: ## time every way into another build, weigh the libraries (docs/embedding.md)
	@tools/setup.sh test
	@. $(DEPS)/env && mkdir -p build && $$PYTHON tests/embed/test_ways.py --figures build/ways.json

test: ## run the whole test matrix
	@tools/setup.sh test
	@tools/test.sh

lab: ## run everything on CPUs this machine is not (LEG=name: one leg; LEG=ci: all, trimmed)
	@tools/lab.sh $(LEG)

bench: ## run the benchmarks
	@tools/setup.sh bench
	@tools/bench.sh

bench-compare: ## measure this tree beside another revision (BASE=revision, ONLY=text, ISA=name, SECONDS=n)
	@tools/setup.sh bench
	@tools/compare.sh "$(BASE)" $(if $(ONLY),--only "$(ONLY)") $(if $(ISA),--isa "$(ISA)") $(if $(SECONDS),--seconds "$(SECONDS)")

bench-peers: ## measure beside the libraries that Python packages (1 GB of them)
	@tools/setup.sh bench
	@tools/setup.sh peers
	@tools/peers.sh

bench-error: ## measure the error of attention beside the same libraries
	@tools/setup.sh bench
	@tools/setup.sh peers
	@tools/peers.sh error

tables: ## fill the docs' tables from the last test, bench and lab runs
	@tools/tables.py

format: ## format the sources, and wrap the docs, in place
	@tools/setup.sh format
	@git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs clang-format -i
	@. $(DEPS)/env && git ls-files '*.md' | xargs $$PYTHON -B tools/wrap.py

clean: ## remove what was built, keep the downloaded parts
	rm -rf build/release build/dist build/test build/lab build/bench build/compare $(DEPS)/env

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile
