# Front door for people; the build itself is CMake's (CMakePresets.json, build/<preset>).

.DEFAULT_GOAL := help
.PHONY: help setup build demo test nightly stress bench docs figures reproduction install package wheel clean

PREFIX ?= /usr/local

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## install the Debian packages of scripts/packages.txt that are missing
	@scripts/setup.sh build rivals test group stress docs

build: ## preset release into build/release
	@scripts/setup.sh build rivals
	@cmake --preset release >/dev/null
	@cmake --build --preset release

demo: ## set up, build what it needs, train a decision tree on heddle and its rivals
	@scripts/setup.sh build rivals
	@cmake --preset demo >/dev/null
	@cmake --build build/release --target heddle_demo
	@build/release/libexec/heddle/heddle-demo demo $(ARGS)

test: ## set up, build, run every test but the long ones
	@scripts/setup.sh build rivals test group
	@scripts/test.sh release

nightly: ## every mutant of the explorer, the long forms of tests, every benchmark in its smallest form
	@scripts/setup.sh build rivals test group
	@scripts/nightly.sh

stress: ## every test, ten times longer, under the sanitizers and with all audits; foreign code preempted; AArch64 under qemu
	@scripts/setup.sh build rivals test group stress
	@scripts/stress.sh

bench: ## the benchmarks against their rivals; ARGS go to scripts/bench.sh
	@scripts/setup.sh build rivals
	@PATH="$$PATH:$$HOME/.cargo/bin" command -v cargo >/dev/null || scripts/setup.sh rayon
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target heddle_cli heddle_bench
	@scripts/bench.sh $(ARGS)

docs: ## reference pages from the headers into build/docs/html
	@scripts/setup.sh docs
	@mkdir -p build/docs
	@doxygen docs/Doxyfile
	@echo "docs: build/docs/html/index.html"

figures: ## the pictures of README.md and the guide anew, from measured data and a simulated run
	@scripts/setup.sh build figures browser
	@cmake --preset demo >/dev/null
	@cmake --build build/release --target heddle_cli heddle_sim heddle_bench_heddle_shared
	@scripts/figures.sh

reproduction: ## docs/reproduction.md anew, hours, goes on after a kill; ARGS=medium: smaller; quick: into build/reproduction
	@scripts/setup.sh build rivals figures
	@cmake --preset demo >/dev/null
	@cmake --build build/release --target heddle_cli heddle_paper heddle_sim heddle_bench_heddle heddle_bench_heddle_shared heddle_bench_serial \
	  heddle_demo heddle_tree_heddle_shared heddle_preempt_model heddle_blas openmp
	@scripts/reproduction.sh $(ARGS)

install: build ## install into PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

package: ## Debian packages into build/packages
	@scripts/setup.sh build rivals package
	@cmake --preset package >/dev/null
	@cmake --build --preset package --target all heddle_bench
	@cpack -G DEB --config build/package/CPackConfig.cmake -B build/packages
	@ls build/packages/*.*deb

wheel: ## Python package for OpenMP programs, with the libraries in it, into build/wheel
	@scripts/setup.sh build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target heddle_cli heddle_paper openmp
	@python3 python/heddle_wheel.py --build build/release --into build/wheel

clean: ## remove build/
	rm -rf build
