# Everything a newcomer runs. Needs Python >= 3.11 and make, nothing else: the rest goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= auto
GPU_PYTHON ?= python3

.PHONY: demo install-all test test-long test-slow test-robots test-targets test-targets-all test-studio test-gpu test-docs docs notebooks lint bench clean help

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("emdeg needs Python 3.11 or newer; this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mjcf]'
	@touch $@

install-all: $(STAMP) $(VENV)/.robots $(VENV)/.targets $(VENV)/.docs   ## everything that any of the tests needs from PyPI

demo: $(STAMP)   ## derive the PUMA 560, make its report (demo_output/report.html), say what came out
	$(BIN)/python examples/demo.py

test: $(STAMP)   ## the test suite
	$(BIN)/python -m pytest -q -n $(JOBS)

test-long: $(STAMP)   ## what takes seconds a test: whole commands, simulations of mechanisms, statistics
	$(BIN)/python -m pytest -q -n $(JOBS) -m 'long and not slow and not targets' --hypothesis-profile thorough

test-slow: $(STAMP)   ## what takes minutes: certified bounds, whole analyses
	$(BIN)/python -m pytest -q -n $(JOBS) -m slow --hypothesis-profile thorough

$(VENV)/.robots: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mjcf,robots]'
	@touch $@

test-robots: $(VENV)/.robots   ## every fixed-base robot of example-robot-data against Pinocchio and MuJoCo
	$(BIN)/python -m pytest -q -n $(JOBS) -m robots

$(VENV)/.targets: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mjcf,targets]'
	@touch $@

test-targets: $(VENV)/.targets   ## every library robot and function in C, Python, JAX; three robots in every language; CasADi; FMUs
	$(BIN)/python -m pytest -q -n $(JOBS) -m targets

test-targets-all: $(VENV)/.targets   ## every library robot and function in every language
	$(BIN)/python -m pytest -q -n $(JOBS) -m 'targets or every_target'

test-studio: $(STAMP)   ## the live page in a real Chromium: every panel, by clicks and keys
	$(BIN)/python -m pytest -q -m studio

test-gpu:        ## kernels on this machine's NVIDIA GPU, with the Python that has torch, JAX and CuPy (GPU_PYTHON)
	XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONPATH=src:. $(GPU_PYTHON) -m pytest -q -m gpu -p no:cacheprovider tests/runtime tests/codegen tests/simulation

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mjcf,docs]'
	@touch $@

docs: $(VENV)/.docs   ## the documentation's site in build/site, warnings being errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

notebooks: $(VENV)/.docs   ## run the notebooks of examples/ and store their outputs
	$(BIN)/python -m examples.run_notebooks

test-docs: $(VENV)/.docs   ## every snippet of README and docs, every notebook, the site
	$(BIN)/python -m pytest -q -n $(JOBS) -m docs

lint: $(STAMP)   ## ruff, pyright, import-linter
	$(BIN)/ruff check src tests benchmarks examples docs tools
	$(BIN)/ruff format --check --quiet src tests benchmarks examples docs tools
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(STAMP)  ## the benchmarks; each writes benchmarks/results/*.json (tools/tables.py puts them into the docs)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mjcf,bench]'
	for b in benchmarks/bench_*.py; do $(BIN)/python $$b; done

clean:           ## remove the virtual environment and what was generated
	rm -rf $(VENV) build dist demo_output .pytest_cache .ruff_cache .hypothesis .import_linter_cache
