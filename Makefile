# Everything runs in .venv: the packages of requirements.lock plus svmselect itself, installed (not editable) and
# reinstalled by make whenever a source of the library is newer. Where the dates of files do not tell, "make env" compares the
# sources with what is installed, as every call of snakemake does.

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
LIBRARY_SOURCES := pyproject.toml meson.build meson.options README.md LICENSE \
  $(shell find src -not -name '*.pyc' -not -name __pycache__)

# The peers of benchmarks/ have an environment of their own: the same packages, and what installs of the group bench.
BENCH := .venv-bench/.library
BENCH_PIP := .venv-bench/bin/python -m pip --disable-pip-version-check

# What lists and audits packages has an environment of its own, too.
AUDIT := .venv-audit/.packages

# Atheris joins .venv when it is first needed.
FUZZ := .venv/.fuzz

PIP := .venv/bin/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --no-deps --no-build-isolation

# meson finds cython and ninja on PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: all
all: report ## Environment, build, demo reproduction and its HTML report (the default)

.PHONY: env
env: $(LIBRARY) ## Environment and build alone: .venv
	@.venv/bin/python -m svmselect.digest src/svmselect || { rm $(LIBRARY); $(MAKE) --no-print-directory $(LIBRARY); }

.PHONY: demo
demo: $(LIBRARY) ## Tables and figures at demo scale: results/demo
	.venv/bin/snakemake --cores $(CORES)

.PHONY: report
report: $(LIBRARY) ## The same and its HTML report: results/demo/report.html
	.venv/bin/snakemake --cores $(CORES) all report
	@.venv/bin/python workflow/made.py results/demo

# What "make open" shows: another page by PAGE=build/docs/index.html
PAGE ?= results/demo/report.html

.PHONY: open
open: ## Open the demo's report in the browser, or PAGE=build/docs/index.html
	@$(PYTHON) -c 'import pathlib, sys, webbrowser; page = pathlib.Path(sys.argv[1]); \
	  page.exists() or sys.exit(f"There is no {page} yet: \"make\" makes the report, \"make docs\" the site"); \
	  webbrowser.open(page.resolve().as_uri()) or sys.exit(f"No browser was found; the page is {page.resolve()}")' $(PAGE)

# The memory that jobs may take together, in 2^20 bytes. With 8000 lay config/paper-8gb.yaml over paper.yaml.
MEM_MB ?= 17000
# Every job that has finished wakes the scheduler once per timespan from then on: 10 s would take a tenth of a core after 100 jobs.
RUN := --max-jobs-per-timespan 10000/60s --cores $(CORES) --resources mem_mb=$(MEM_MB) --profile profiles/paper
# Starting a job takes seconds, of which 500 jobs would take half an hour.
ANEW := --config rows_of_other_code=compute minutes_per_job=360

.PHONY: paper
paper: $(LIBRARY) ## What the five papers print and claim, at their full scale, by one library: rows in results/paper (needs the real data)
	PYTHONPATH=workflow .venv/bin/python -m lib.fresh results/paper
	PYTHONPATH=workflow .venv/bin/python -m lib.cost --printed --cores $(CORES) --mem-mb $(MEM_MB) --configfile config/paper.yaml
	.venv/bin/snakemake printed $(RUN) $(ANEW) cells_beyond=leave

.PHONY: beyond
beyond: $(LIBRARY) ## After make paper: the comparison, what explains misses and all else by the same library, and every exhibit
	.venv/bin/snakemake all causes report $(RUN) $(ANEW)

.PHONY: figures
figures: $(LIBRARY) ## Every exhibit of results/paper, scorecard and report from the committed rows, offline; the page on them; the README's table
	.venv/bin/snakemake --profile profiles/paper --max-jobs-per-timespan 10000/2s --cores $(CORES) figures report
	.venv/bin/python workflow/stories.py results/paper results/paper/README.md
	.venv/bin/python workflow/readme.py results/paper/scorecard.md README.md
	@.venv/bin/python workflow/made.py results/paper

.PHONY: verify
verify: $(LIBRARY) ## A few cells of every paper computed again, beside the committed rows (needs some of the real data)
	.venv/bin/snakemake --profile profiles/paper --cores $(CORES) verify

.PHONY: test
test: $(LIBRARY) ## Environment and tests
	OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) --dist worksteal $(PYTEST_ARGS)

.PHONY: test-debug
test-debug: $(LIBRARY) ## The tests on a build with Cython's bounds and initialisation checks
	$(INSTALL) --upgrade --target build/debug \
	  -Cbuild-dir=build/meson-$(PYTHON_VERSION)-debug -Csetup-args=-Ddebug_cython=true .
	PYTHONPATH=$(CURDIR)/build/debug OPENBLAS_NUM_THREADS=1 \
	  .venv/bin/pytest --numprocesses $(CORES) --dist worksteal $(PYTEST_ARGS)

SANITIZED := $(INSTALL) --upgrade --target build/sanitized -Cbuild-dir=build/meson-$(PYTHON_VERSION)-sanitized \
  $(addprefix -Csetup-args=,-Ddebug_cython=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0) .

.PHONY: test-memory
test-memory: $(LIBRARY) ## Small problems on a build with the address and undefined-behaviour sanitizers of gcc, and Cython's checks
	$(SANITIZED)
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so) \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	  PYTHONPATH=$(CURDIR)/build/sanitized OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) \
	  --dist worksteal $(or $(PYTEST_ARGS),tests/memory tests/fuzz/test_parsers.py)

.PHONY: fuzz
fuzz: $(LIBRARY) ## New problems against what is true of them for SECONDS=600; SEED= repeats a run
	OPENBLAS_NUM_THREADS=1 .venv/bin/python tests/fuzz/run.py --seconds $(or $(SECONDS),600) \
	  $(if $(SEED),--seed $(SEED)) $(FUZZ_ARGS)

.PHONY: fuzz-parsers
fuzz-parsers: $(LIBRARY) $(FUZZ) ## Every parser on inputs that reach new code, under the sanitizers, for SECONDS=600; SEED= as above
	$(SANITIZED)
	OPENBLAS_NUM_THREADS=1 .venv/bin/python tests/fuzz/run_parsers.py --library build/sanitized \
	  --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED)) $(FUZZ_ARGS)

.PHONY: test-threads
test-threads: $(LIBRARY) ## Threads on one Gram matrix on a build with the thread sanitizer of gcc
	$(INSTALL) --upgrade --target build/threads -Cbuild-dir=build/meson-$(PYTHON_VERSION)-threads \
	  $(addprefix -Csetup-args=,-Db_sanitize=thread -Db_lundef=false -Doptimization=0 -Dc_args=-DSVMSELECT_NO_CLONES) .
	LD_PRELOAD=$$(gcc -print-file-name=libtsan.so) TSAN_OPTIONS=halt_on_error=1:suppressions=tests/numerics/tsan.supp \
	  PYTHONPATH=$(CURDIR)/build/threads OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) \
	  --dist worksteal --capture sys $(or $(PYTEST_ARGS),tests/numerics/test_threads.py -k 'not ctrl_c')

# The numerics on another build: $(1) names it, $(2) is its compiler, $(3) its flags.
define test_build
  CC="$(2)" $(INSTALL) --upgrade --target build/$(1) -Cbuild-dir=build/meson-$(PYTHON_VERSION)-$(1) '-Csetup-args=-Dc_args=$(3)' .
  CC="$(2)" PYTHONPATH=$(CURDIR)/build/$(1) OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) \
    --dist worksteal $(or $(PYTEST_ARGS),tests/numerics)
endef

.PHONY: test-clang
test-clang: $(LIBRARY) ## The numerics on a build with clang (Debian: clang)
	$(call test_build,clang,clang)

.PHONY: test-plain
test-plain: $(LIBRARY) ## The numerics on a build of plain C: no clones per processor, no passes by hand
	$(call test_build,plain,$(CC),-DSVMSELECT_NO_CLONES -DSVMSELECT_NO_SIMD)

.PHONY: test-aarch64
test-aarch64: $(LIBRARY) ## The numerics on an emulated 64-bit Arm processor (Debian: see tests/emulated/aarch64.sh; an hour and more)
	SVMSELECT_MIRROR= tests/emulated/aarch64.sh --numprocesses $(CORES) --dist worksteal $(or $(PYTEST_ARGS),tests/numerics)

# Tests with other versions than the locked ones: $(1) names the environment, $(2) says which versions. What only the tests
# use is the newest always: another hypothesis draws other examples.
define test_versions
  .venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv-$(1)
  .venv/bin/uv pip install --quiet --python .venv-$(1) --resolution $(2) \
    --requirement pyproject.toml $(addprefix --group ,build workflow cluster)
  .venv/bin/uv pip install --quiet --python .venv-$(1) --group test
  PATH=$(CURDIR)/.venv-$(1)/bin:$$PATH .venv/bin/uv pip install --quiet --python .venv-$(1) --reinstall --no-deps \
    --no-build-isolation --config-setting build-dir=build/meson-$(PYTHON_VERSION)-$(1) .
  .venv/bin/uv pip list --python .venv-$(1)
  OPENBLAS_NUM_THREADS=1 .venv-$(1)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal \
    $(or $(PYTEST_ARGS),tests/numerics tests/estimators tests/cli tests/workflow/data tests/documents)
endef

.PHONY: test-lowest
test-lowest: $(PACKAGES) ## The tests of the library with the lowest versions that pyproject.toml allows
	$(call test_versions,lowest,lowest-direct)

.PHONY: test-newest
test-newest: $(PACKAGES) ## The tests of the library with the newest versions of everything
	$(call test_versions,newest,highest)

.PHONY: mutants
mutants: $(PACKAGES) ## Mutation score of the core (hours; resumes): tests/mutants; MUTANTS_ARGS="--modules svm --sample 10"
	nice .venv/bin/python tests/mutants/run.py $(MUTANTS_ARGS)

.PHONY: test-slurm
test-slurm: $(LIBRARY) ## The demo, cut down, on a real SLURM on this machine (Debian; installs it, as root)
	OPENBLAS_NUM_THREADS=1 tests/cluster/run.sh .venv/bin/pytest -v $(or $(PYTEST_ARGS),tests/cluster)

.PHONY: test-slurm-demo
test-slurm-demo: $(LIBRARY) ## The whole demo on this SLURM, beside the demo without it
	SVMSELECT_DEMO=1 OPENBLAS_NUM_THREADS=1 tests/cluster/run.sh .venv/bin/pytest -v --capture no -o faulthandler_timeout=7200 \
	  tests/cluster -k demo

.PHONY: test-s3
test-s3: $(LIBRARY) ## The demo from and into an object store on this machine, beside the demo on its disk
	SVMSELECT_DEMO=1 OPENBLAS_NUM_THREADS=1 .venv/bin/pytest -v --capture no -o faulthandler_timeout=7200 \
	  $(or $(PYTEST_ARGS),tests/cloud)

.PHONY: image
image: $(PACKAGES) ## A container image of the committed files, and the demo inside it: build/image (Debian: mmdebstrap, buildah, crun; root)
	container/build.sh
	container/run.sh make demo CORES=$(CORES)

.PHONY: seen
seen: $(LIBRARY) ## Run each of TARGET to its end, and keep in docs/seen.csv on which commit and what it said
	.venv/bin/python tests/seen.py docs/seen.csv $(TARGET)

.PHONY: bench
bench: $(BENCH) ## Compare with other libraries (hours): benchmarks/results; BENCH_ARGS=--quick for minutes
	.venv-bench/bin/python benchmarks/compare.py $(BENCH_ARGS)
	.venv-bench/bin/python benchmarks/summary.py
	for program in cold cross_validation engine folds grid scale targets; do .venv-bench/bin/python benchmarks/$$program.py; done

.PHONY: lint
lint: $(LIBRARY) ## Every check of .pre-commit-config.yaml on every file, and snakemake --lint
	.venv/bin/pre-commit run --all-files
	.venv/bin/snakemake --lint

.PHONY: docs
docs: $(LIBRARY) ## Documentation site, its examples run: build/docs/index.html
	MPLBACKEND=agg OPENBLAS_NUM_THREADS=1 .venv/bin/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	@echo "The site: build/docs/index.html (make open PAGE=build/docs/index.html)"

.PHONY: format
format: $(LIBRARY) ## Format the sources in place
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/snakefmt Snakefile workflow

LOCK := .venv/bin/uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
  --no-emit-index-url --custom-compile-command 'make lock' --quiet

.PHONY: lock
lock: $(PACKAGES) ## Renew the lock files, requirements*.lock; LOCK_ARGS=--upgrade takes newer versions
	$(LOCK) pyproject.toml $(addprefix --group ,build workflow test lint docs lock cluster) \
	  $(LOCK_ARGS) --output-file requirements.lock
	$(LOCK) pyproject.toml --group build --constraint requirements.lock --output-file requirements-dist.lock
	$(LOCK) --group audit $(LOCK_ARGS) --output-file requirements-audit.lock
	$(LOCK) --group fuzz $(LOCK_ARGS) --output-file requirements-fuzz.lock

.PHONY: dist
dist: $(PACKAGES) sbom ## Source distribution and wheel of the committed files, and their bill of materials: dist/
	.venv/bin/python -m build --no-isolation --skip-dependency-check

.PHONY: sbom
sbom: $(AUDIT) ## Bill of materials: the packages of the library and of its build, with versions and hashes (CycloneDX)
	mkdir -p dist
	PYTHONWARNINGS=ignore .venv-audit/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/svmselect.cdx.json requirements-dist.lock

.PHONY: graph
graph: $(LIBRARY) ## The rules of one paper, drawn: docs/_static/rules.svg (Debian: graphviz)
	mkdir -p build
	.venv/bin/snakemake --rulegraph --config preset=rules 'papers=["franc2008"]' minutes_per_job=null 'franc2008={"datasets":["banana"]}' -- report > build/rules.dot
	dot -Tsvg -o docs/_static/rules.svg build/rules.dot

.PHONY: archive
archive: $(LIBRARY) ## The committed rows and results as one file with a description, an RO-Crate: dist/svmselect-results.zip
	.venv/bin/python workflow/archive.py results/paper dist/svmselect-results.zip

.PHONY: test-archive
test-archive: archive $(AUDIT) ## The archive's description by the validator of RO-Crate (asks w3id.org for its vocabulary)
	.venv-audit/bin/rocrate-validator --no-interactive validate --no-paging --verbose \
	  --profile-identifier process-run-crate dist/svmselect-results.zip

.PHONY: audit
audit: $(AUDIT) ## Known vulnerabilities of every locked package (asks a service on the network)
	.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip \
	  $(addprefix --requirement ,requirements.lock requirements-dist.lock requirements-audit.lock requirements-fuzz.lock)

.PHONY: clean
clean: ## Remove .venv, builds and caches; downloads and results stay
	rm -rf .venv .venv-bench .venv-audit .venv-lowest .venv-newest build dist docs/auto_examples docs/dark docs/generated docs/reproduction .snakemake .pytest_cache .hypothesis .ruff_cache
	find src tests workflow -name __pycache__ -prune -exec rm -rf {} +

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(INTERPRETER):
	@$(PYTHON) -c 'import sys; sys.exit("svmselect needs Python 3.11 or newer; $(PYTHON) is $(PYTHON_VERSION)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	touch $@

# Compiled here: where PYTHONDONTWRITEBYTECODE is set, every process would compile what it imports, seconds long.
$(PACKAGES): requirements.lock $(INTERPRETER)
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	touch $@

$(LIBRARY): $(LIBRARY_SOURCES) $(PACKAGES)
	$(INSTALL) --force-reinstall --config-settings=build-dir=build/meson-$(PYTHON_VERSION) .
	touch $@

$(AUDIT): requirements-audit.lock $(INTERPRETER)
	.venv/bin/python -m venv --clear .venv-audit
	.venv-audit/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes \
	  --requirement requirements-audit.lock
	touch $@

$(FUZZ): requirements-fuzz.lock $(PACKAGES)
	$(PIP) install --quiet --no-deps --require-hashes --requirement requirements-fuzz.lock
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
	  --force-reinstall --config-settings=build-dir=build/meson-$(PYTHON_VERSION)-bench .
	touch $@
