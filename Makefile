# Everything runs in .venv: the packages of requirements.lock plus svmselect itself, installed (not editable) and
# reinstalled by make whenever a source of the library is newer, so that nothing ever runs against a stale library.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# A finished .venv keeps its interpreter until PYTHON asks for another one.
PYTHON ?= $(if $(wildcard .venv/.python-*),.venv/bin/python,python3)
# Looked up before .venv/bin goes on PATH.
override PYTHON := $(or $(shell command -v $(PYTHON)),$(PYTHON))
CORES ?= $(shell nproc)

PYTHON_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
INTERPRETER := .venv/.python-$(PYTHON_VERSION)
PACKAGES := .venv/.packages
LIBRARY := .venv/.library
# Folders are listed too: their time stamps tell when a file was added or deleted.
LIBRARY_SOURCES := pyproject.toml meson.build meson.options README.md LICENSE config/datasets.yaml \
  $(shell find src -not -name '*.pyc' -not -name __pycache__)

# The peers of benchmarks/ have an environment of their own: the same packages, and what installs of the group bench.
BENCH := .venv-bench/.library
BENCH_PIP := .venv-bench/bin/python -m pip --disable-pip-version-check

PIP := .venv/bin/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --no-deps --no-build-isolation

# meson finds cython and ninja on PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: all
all: report ## Environment, build, demo reproduction and its HTML report (the default)

.PHONY: env
env: $(LIBRARY) ## Environment and build alone: .venv

.PHONY: demo
demo: $(LIBRARY) ## Tables and figures at demo scale: results/demo
	.venv/bin/snakemake --cores $(CORES)

.PHONY: report
report: $(LIBRARY) ## The same and its HTML report: results/demo/report.html
	.venv/bin/snakemake --cores $(CORES) all report

.PHONY: paper
paper: $(LIBRARY) ## Tables and figures at the papers' full scale: results/paper (hours; needs the real data)
	.venv/bin/snakemake --cores $(CORES) --configfile config/paper.yaml -- all report

.PHONY: figures
figures: $(LIBRARY) ## Every exhibit of results/paper again from the committed rows, the scorecard and a report, offline
	.venv/bin/snakemake figures report --cores $(CORES) --forceall --configfile config/paper.yaml --config redraw=True
	.venv/bin/python workflow/readme.py results/paper/scorecard.md README.md

.PHONY: test
test: $(LIBRARY) ## Environment and tests
	OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) --dist worksteal $(PYTEST_ARGS)

.PHONY: test-debug
test-debug: $(LIBRARY) ## The tests on a build with Cython's bounds and initialisation checks
	$(INSTALL) --upgrade --target build/debug \
	  -Cbuild-dir=build/meson-$(PYTHON_VERSION)-debug -Csetup-args=-Ddebug_cython=true .
	PYTHONPATH=$(CURDIR)/build/debug OPENBLAS_NUM_THREADS=1 \
	  .venv/bin/pytest --numprocesses $(CORES) --dist worksteal $(PYTEST_ARGS)

.PHONY: test-memory
test-memory: $(LIBRARY) ## Small problems on a build with the address and undefined-behaviour sanitizers of gcc, and Cython's checks
	$(INSTALL) --upgrade --target build/sanitized -Cbuild-dir=build/meson-$(PYTHON_VERSION)-sanitized \
	  $(addprefix -Csetup-args=,-Ddebug_cython=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0) .
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so) \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	  PYTHONPATH=$(CURDIR)/build/sanitized OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) \
	  --dist worksteal $(or $(PYTEST_ARGS),tests/memory)

.PHONY: test-threads
test-threads: $(LIBRARY) ## Threads on one Gram matrix on a build with the thread sanitizer of gcc
	$(INSTALL) --upgrade --target build/threads -Cbuild-dir=build/meson-$(PYTHON_VERSION)-threads \
	  $(addprefix -Csetup-args=,-Db_sanitize=thread -Db_lundef=false -Doptimization=0 -Dc_args=-DSVMSELECT_NO_CLONES) .
	LD_PRELOAD=$$(gcc -print-file-name=libtsan.so) TSAN_OPTIONS=halt_on_error=1:abort_on_error=1 \
	  PYTHONPATH=$(CURDIR)/build/threads OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) \
	  --dist worksteal --capture sys $(or $(PYTEST_ARGS),tests/numerics/test_threads.py -k 'not ctrl_c')

.PHONY: test-slurm
test-slurm: $(LIBRARY) ## The demo, cut down, on a real SLURM on this machine (Debian; installs it, as root)
	tests/cluster/install.sh
	SVMSELECT_SLURM=1 OPENBLAS_NUM_THREADS=1 .venv/bin/pytest -v $(or $(PYTEST_ARGS),tests/cluster)

.PHONY: bench
bench: $(BENCH) ## Compare with other libraries (hours): benchmarks/results; BENCH_ARGS=--quick for minutes
	.venv-bench/bin/python benchmarks/compare.py $(BENCH_ARGS)
	.venv-bench/bin/python benchmarks/summary.py

.PHONY: lint
lint: $(LIBRARY) ## Every check of .pre-commit-config.yaml on every file, and snakemake --lint
	.venv/bin/pre-commit run --all-files
	.venv/bin/snakemake --lint

.PHONY: docs
docs: $(LIBRARY) ## Documentation site, its examples run: build/docs/index.html
	MPLBACKEND=agg OPENBLAS_NUM_THREADS=1 .venv/bin/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs

.PHONY: format
format: $(LIBRARY) ## Format the sources in place
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/snakefmt Snakefile workflow

.PHONY: lock
lock: $(PACKAGES) ## Renew requirements.lock; LOCK_ARGS=--upgrade takes newer versions
	.venv/bin/uv pip compile pyproject.toml $(addprefix --group ,build workflow test lint docs lock cluster) \
	  --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' --quiet $(LOCK_ARGS) --output-file requirements.lock

.PHONY: dist
dist: $(PACKAGES) ## Source distribution and wheel of the committed files: dist/
	.venv/bin/python -m build --no-isolation --skip-dependency-check

.PHONY: clean
clean: ## Remove .venv, builds and caches; downloads and results stay
	rm -rf .venv .venv-bench build dist docs/auto_examples docs/generated .snakemake .pytest_cache .hypothesis .ruff_cache
	find src tests workflow -name __pycache__ -prune -exec rm -rf {} +

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(INTERPRETER):
	@$(PYTHON) -c 'import sys; sys.exit("svmselect needs Python 3.11 or newer; $(PYTHON) is $(PYTHON_VERSION)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	touch $@

$(PACKAGES): requirements.lock $(INTERPRETER)
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	touch $@

$(LIBRARY): $(LIBRARY_SOURCES) $(PACKAGES)
	$(INSTALL) --force-reinstall -Cbuild-dir=build/meson-$(PYTHON_VERSION) .
	touch $@

# A peer without a wheel for this machine is left out: compare.py says so.
.venv-bench/.packages: requirements.lock pyproject.toml $(INTERPRETER)
	.venv/bin/python -m venv --clear .venv-bench
	$(BENCH_PIP) install --quiet --require-hashes --requirement requirements.lock
	.venv-bench/bin/python -c 'import tomllib; \
	  print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["bench"], sep="\n")' | \
	while read -r peer; do $(BENCH_PIP) install --quiet "$$peer" || echo "not installed: $$peer"; done
	touch $@

$(BENCH): $(LIBRARY_SOURCES) .venv-bench/.packages
	PATH=$(CURDIR)/.venv-bench/bin:$$PATH $(BENCH_PIP) install --quiet --no-deps --no-build-isolation \
	  --force-reinstall -Cbuild-dir=build/meson-$(PYTHON_VERSION)-bench .
	touch $@
