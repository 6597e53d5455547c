# Everything a person does here, each from a fresh clone with only Python 3.11+ and make.
#
#   make demo        install what it needs and run the main job end to end
#   make test        the tests (under five minutes on two cores)
#   make check       format, lint, types, the wall's contracts (make format mends the first two)
#   make test-slow   the long tests; make test-all: both
#   make bench       the benchmarks, printed as ratios
#   make bench-docs  all of them, written to docs/benchmarks.md (half an hour)
#   make robust-docs the paper's robust matrices beside ours, written to docs/robust.md (20 min)
#   make reproduction DATA=FOLDER   the paper's experiments on real check-ins (without DATA on a
#                    made-up city), written to docs/reproduction.md (half an hour, resumable)
#   make bench-server  the service under load (needs wrk), written to docs/benchmarks-server.md
#   make docs        build the documents as a site, offline, into build/docs
#   make paper-map   find anew where everything that the paper numbers is at home
#   make lock        pin the requirements anew
#   make advisories  ask a public database about every pin (needs the network, and says if it lacks)
#   make clean       remove the environment, the site and the caches; no results

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --require-hashes --only-binary :all:
ITSELF := $(PIP) install --no-deps --no-build-isolation --editable .

.PHONY: demo test test-slow test-all check format bench bench-docs bench-server robust-docs reproduction docs paper-map lock advisories clean help

help:
	@sed -n 's/^#   //p' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "geocorgi needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "no virtual environment: install Python's venv module (on Debian: apt-get install python3-venv)"; exit 1; }

$(VENV)/.demo: $(BIN)/python requirements/demo.txt pyproject.toml
	@echo "Installing what the demonstration needs into $(VENV) (once)…"
	@$(INSTALL) --requirement requirements/demo.txt
	@$(ITSELF)
	@touch $@

$(VENV)/.dev: $(BIN)/python requirements/dev.txt pyproject.toml
	@echo "Installing what a developer needs into $(VENV) (once)…"
	@$(INSTALL) --requirement requirements/dev.txt
	@$(ITSELF)
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@$(BIN)/python -m geocorgi.demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -m slow

test-all: test test-slow

check: $(VENV)/.dev
	@$(BIN)/ruff format --check --diff
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(VENV)/.dev
	@for program in $$(grep -l ArgumentParser benchmarks/[a-z]*.py | grep -v document); do echo "== $$program"; $(BIN)/python $$program || exit 1; done

bench-docs: $(VENV)/.dev
	@$(BIN)/python benchmarks/document.py --run

# PRIOR=FILE: the paper's counts, where they lie elsewhere than benchmarks/engine.py looks.
robust-docs: $(VENV)/.dev
	@$(BIN)/python benchmarks/robust.py --page --to .benchmarks/robust.json $(if $(PRIOR),--prior $(PRIOR))

LAB_OUTPUT ?= lab-output
reproduction: $(VENV)/.dev
	@$(BIN)/geocorgi-lab run all $(if $(DATA),--data $(DATA)) $(if $(KEEP),--keep) --out $(LAB_OUTPUT)
	@$(BIN)/geocorgi-lab document $(LAB_OUTPUT) --to docs/reproduction.md --figures docs/figures/reproduction

bench-server: $(VENV)/.dev
	@$(BIN)/python benchmarks/server.py --catalogue --run .benchmarks/server.json --page docs/benchmarks-server.md

docs: $(VENV)/.dev
	@$(BIN)/sphinx-build --quiet --fail-on-warning --builder html docs build/docs
	@echo "The documents are in build/docs/index.html"

paper-map: $(VENV)/.dev
	@$(BIN)/python docs/paper_map.py

# uv resolves for every platform at once; it is needed here and nowhere else (pip install uv).
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-annotate pyproject.toml
lock:
	$(LOCK) --extra dev --output-file requirements/dev.txt requirements/build.in
	$(LOCK) --extra server --constraint requirements/dev.txt --output-file requirements/demo.txt requirements/build.in

advisories:
	@$(PYTHON) .ci/advisories.py

clean:
	rm -rf $(VENV) build docs/reference/api docs/reference/commands.md .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output
