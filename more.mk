# The rest: the reproduction beyond the papers, benchmarks, the lock file and releases. The Makefile of the root includes this file.

# The peers of benchmarks/ have an environment of their own: the packages of the demo, and what installs of the group bench.
BENCH := .venv-bench/.library
BENCH_PIP := .venv-bench/bin/python -m pip --disable-pip-version-check

.PHONY: env-all
env-all: env $(FOR_TEST_ALL) $(PACKAGES)-lint ## The environment and the build, with the packages of all tests, lint and docs

.PHONY: config
config: $(LIBRARY) ## The tables of config/README.md, from the schemas of the configuration
	.venv/bin/python workflow/config_tables.py

.PHONY: verify
verify: $(LIBRARY) ## A few cells of every paper computed again, beside the committed rows (needs some of the real data); VERIFY=0.05
	.venv/bin/snakemake verify --cores $(CORES) --configfile config/paper.yaml config/verify.yaml \
	  $(if $(VERIFY),--config 'verify={"cells":$(VERIFY)}')

.PHONY: demo
demo: $(LIBRARY) ## Tables and figures at demo scale: results/demo
	.venv/bin/snakemake --cores $(CORES)

.PHONY: beyond
beyond: $(LIBRARY) ## After make paper: the comparison, what explains misses and all else by the same library, and every exhibit
	.venv/bin/snakemake all causes report $(COMPUTE)

.PHONY: bench
PROGRAMS := engine processes cold folds seeds spans grid loo_grid loo_decisions warm_starts bandwidth calibration \
  regression regression_peers compare summary scale fit_map selection loo_libsvm targets
bench: $(BENCH) ## Measure all of benchmarks/results (hours); PROGRAMS="engine targets" for these alone
	for program in $(PROGRAMS); do .venv-bench/bin/python benchmarks/$$program.py || exit; done

.PHONY: format
format: $(LIBRARY) $(PACKAGES)-lint ## Format the sources in place
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/snakefmt Snakefile workflow

.PHONY: graph
graph: $(LIBRARY) ## The rules of one paper, drawn: docs/_static/rules.svg (Debian: graphviz)
	mkdir -p build
	.venv/bin/snakemake --rulegraph --config preset=rules 'papers=["franc2008"]' 'franc2008={"datasets":["banana"]}' -- report > build/rules.dot
	dot -Tsvg -o docs/_static/rules.svg build/rules.dot

.PHONY: front-page
front-page: $(LIBRARY) ## The picture of the README, by its first program: docs/_static/front_page.svg
	.venv/bin/python docs/front_page.py

COMPILE := .venv/bin/uv pip compile --generate-hashes --no-emit-index-url --quiet pyproject.toml

.PHONY: lock
lock: $(PACKAGES) ## Renew requirements.lock and environment.yml; LOCK_ARGS=--upgrade takes newer versions
	$(COMPILE) --universal --python-version 3.11 --fork-strategy fewest --custom-compile-command 'make lock' \
	  $(addprefix --group ,build workflow test cluster lint docs fuzz audit lock) $(LOCK_ARGS) --output-file requirements.lock
	.venv/bin/python packages/conda.py

.PHONY: dist
dist: $(PACKAGES) sbom ## Source distribution and wheel of the committed files, and their bill of materials: dist/
	.venv/bin/python -m build --no-isolation --skip-dependency-check

.PHONY: sbom
sbom: $(PACKAGES)-audit ## Bill of materials: the packages of the library and of its build, with versions and hashes (CycloneDX)
	mkdir -p build dist
	$(COMPILE) --universal --group build --constraint requirements.lock --output-file build/sbom.txt
	PYTHONWARNINGS=ignore .venv/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/svmselect.cdx.json build/sbom.txt

.PHONY: audit
audit: $(PACKAGES)-audit ## Known vulnerabilities of every locked package (asks a service on the network)
	.venv/bin/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

.PHONY: image
image: $(PACKAGES) ## A container image of the committed files, and the demo inside it: build/image (Debian: mmdebstrap, buildah, crun; root)
	container/build.sh
	container/run.sh make demo CORES=$(CORES)

# A peer without a wheel for this machine is left out: compare.py says so.
.venv-bench/.packages: requirements.lock pyproject.toml $(INTERPRETER)
	.venv/bin/python -m venv --clear .venv-bench
	.venv-bench/bin/python packages/install.py build workflow
	.venv-bench/bin/python -c 'import tomllib; \
	  print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["bench"], sep="\n")' | \
	while read -r peer; do $(BENCH_PIP) install --quiet "$$peer" || echo "not installed: $$peer"; done
	touch $@

$(BENCH): $(LIBRARY_SOURCES) .venv-bench/.packages
	PATH="$(CURDIR)/.venv-bench/bin:$$PATH" $(BENCH_PIP) install --quiet --no-deps --no-build-isolation \
	  --force-reinstall --config-settings=build-dir=build/meson-$(PYTHON_VERSION)-bench .
	touch $@
