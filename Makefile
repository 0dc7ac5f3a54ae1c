# Everything runs in .venv: svmselect, installed (not editable) and reinstalled by make whenever a source of the library is
# newer, and packages of requirements.lock. The demo needs the dependency groups build and workflow; other targets add theirs.
# Where the dates of files do not tell, "make env" compares the sources with what is installed, as every call of snakemake does.

# The targets of users and of every change. tests/Makefile has those of other builds, fuzzing and clusters, more.mk those of
# checks of rows, benchmarks, the lock file and releases: "make help-all" lists all.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# Programs in .venv name the folder that it was made in: in a checkout that was moved or copied, it is made anew.
MOVED := $(if $(wildcard .venv/.python-*),$(shell cmp --quiet <(pwd -P) .venv/.python-* || echo moved))
# A finished .venv keeps its interpreter until PYTHON asks for another one.
PYTHON ?= $(or $(if $(wildcard .venv/.python-*),$(if $(MOVED),$(realpath .venv/bin/python),.venv/bin/python)),python3)
# Looked up before .venv/bin goes on PATH.
override PYTHON := $(or $(shell command -v "$(PYTHON)"),$(PYTHON))
CORES ?= $(shell nproc)

PYTHON_VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
INTERPRETER := .venv/.python-$(PYTHON_VERSION)
PACKAGES := .venv/.packages
FOR_TEST := $(addprefix $(PACKAGES)-,test cluster)
FOR_TEST_ALL := $(FOR_TEST) $(PACKAGES)-docs
LIBRARY := .venv/.library
# Folders are listed too: their time stamps tell when a file was added or deleted.
LIBRARY_SOURCES := pyproject.toml meson.build meson.options README.md LICENSE \
  $(shell find src -not -name '*.pyc' -not -name __pycache__)

INSTALL := .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation

# uv trusts what pip trusts: the certificates of this machine.
export UV_SYSTEM_CERTS := 1

# Snakemake asks for the user's name, which a user of a container may not have.
export LOGNAME := $(or $(LOGNAME),$(USER),$(firstword $(shell id -un 2> /dev/null || id -u)))

# A bar of progress on a terminal, and elsewhere a line for each finished job; what jobs say goes to logs/.
QUIET := $(if $(shell test -t 2 && echo terminal),--logger rich,--quiet rules host reason)

# meson finds cython and ninja on PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: all
all: $(LIBRARY) ## The demo reproduction and its HTML report (the default): results/demo/report.html
	.venv/bin/snakemake all report --cores $(CORES) $(QUIET)
	@.venv/bin/python workflow/run_summary.py results/demo

.PHONY: env
env: $(LIBRARY) ## The environment and the build alone, as for the demo: .venv
	@test "$$(.venv/bin/python src/source_hash.py)" = "$$(cat .venv/lib/python*/site-packages/svmselect/source_hash.txt)" || { rm $(LIBRARY); $(MAKE) --no-print-directory $(LIBRARY); }

# What "make open" shows: another page by PAGE=build/docs/index.html
PAGE ?= results/demo/report.html

.PHONY: open
open: ## Open the demo's report in the browser, or PAGE=build/docs/index.html
	@"$(PYTHON)" -c 'import pathlib, sys, webbrowser; page = pathlib.Path(sys.argv[1]); \
	  page.exists() or sys.exit(f"There is no {page} yet: \"make\" makes the report, \"make docs\" the site"); \
	  webbrowser.open(page.resolve().as_uri()) or sys.exit(f"No browser was found; the page is {page.resolve()}")' "$(PAGE)"

# The memory that jobs may take together, in 2^20 bytes. With 8000 lay config/paper-8gb.yaml over paper.yaml.
MEM_MB ?= 17000
COMPUTE := --cores $(CORES) $(QUIET) --resources mem_mb=$(MEM_MB) --profile profiles/paper --config compute=true

.PHONY: paper
paper: $(LIBRARY) ## The rows of what the five papers print and claim, at full scale: results/paper (hours, needs the real data)
	.venv/bin/snakemake printed $(COMPUTE)

.PHONY: figures
figures: $(LIBRARY) ## Every exhibit, the scorecard, the pages of results/paper and the targets from the committed rows, offline
	.venv/bin/snakemake figures report --profile profiles/paper --max-jobs-per-timespan 10000/2s --cores $(CORES) $(QUIET)
	.venv/bin/python workflow/stories.py results/paper config/paper.yaml README.md
	.venv/bin/python benchmarks/targets.py > /dev/null
	@.venv/bin/python workflow/run_summary.py results/paper

# OpenBLAS has one thread in each of the processes.
PYTEST := OPENBLAS_NUM_THREADS=1 .venv/bin/pytest --numprocesses $(CORES) --dist worksteal

.PHONY: test
test: $(LIBRARY) $(FOR_TEST) ## The tests, without the slow ones, in minutes; a part by PYTEST_ARGS="tests/cli -k groups"
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

.PHONY: test-all
test-all: $(LIBRARY) $(FOR_TEST_ALL) ## All tests, the slow ones too
	$(PYTEST) $(PYTEST_ARGS)

.PHONY: lint
lint: $(LIBRARY) $(PACKAGES)-lint ## Every check of .pre-commit-config.yaml on every file, and snakemake --lint
	.venv/bin/pre-commit run --all-files
	.venv/bin/snakemake --lint --sdm apptainer

.PHONY: docs
docs: $(LIBRARY) $(PACKAGES)-docs ## Documentation site, its examples run: build/docs/index.html
	MPLBACKEND=agg OPENBLAS_NUM_THREADS=1 .venv/bin/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	@echo "The site: build/docs/index.html (make open PAGE=build/docs/index.html)"

.PHONY: clean
clean: ## Remove .venv, builds and caches; downloads and results stay
	rm -rf .venv .venv-bench .venv-lowest .venv-newest build dist docs/auto_examples docs/generated docs/reproduction .snakemake .pytest_cache .hypothesis .ruff_cache
	find src tests workflow -name __pycache__ -prune -exec rm -rf {} +

LIST := awk -F ':.*\#\# ' '/^[a-z0-9-]+:.*\#\# / { printf "make %-16s%s\n", $$1, $$2 }'

.PHONY: help
help: ## This list
	@$(LIST) Makefile

.PHONY: help-all
help-all: ## The same, with all other targets of developers
	@$(LIST) Makefile tests/Makefile more.mk

include tests/Makefile more.mk

# No such file: what depends on it is made anew.
moved:

$(INTERPRETER): $(MOVED)
	@"$(PYTHON)" packages/machine.py
	rm -rf build/meson-*
	"$(PYTHON)" -m venv --clear .venv
	pwd -P > $@

$(PACKAGES): requirements.lock pyproject.toml packages/install.py $(INTERPRETER)
	.venv/bin/python packages/install.py build workflow
	touch $@

# A further dependency group
$(PACKAGES)-%: $(PACKAGES)
	.venv/bin/python packages/install.py $*
	touch $@

$(LIBRARY): $(LIBRARY_SOURCES) $(PACKAGES)
	$(INSTALL) --force-reinstall --config-settings=build-dir=build/meson-$(PYTHON_VERSION) .
	touch $@
