# Every target sets itself up: Python 3.11 or newer and make are all a machine needs.
PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
PORT ?= 7077

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
CLIENTS := $(VENV)/clients/.installed $(VENV)/clients/page/.installed
DEMO := $(VENV)/demo
CHECKED := src tests $(wildcard bench soak retriever vendor)

.DEFAULT_GOAL := help
.PHONY: help run test clients check bench soak vendor clean

help:
	@echo "make run     write a small real store, show what is on disk, serve it  (PORT=7077)"
	@echo "make test    the whole test suite         (PYTEST_ARGS='-k torn')"
	@echo "make check   lint, format, types, shape, requirement ids"
	@echo "make bench   the measurements             (BENCH_ARGS=...)"
	@echo "make soak    the long crash and concurrency runs"
	@echo "make vendor  bundle the page's foreign code anew"
	@echo "make clean   remove everything that make made, $(VENV) included"

run: $(READY)
	test -d $(DEMO) || $(BIN)/mnemolog --root $(DEMO) demo
	$(BIN)/mnemolog --root $(DEMO) serve --port $(PORT)

test: $(READY) $(CLIENTS)
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

clients: $(CLIENTS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CHECKED)
	$(BIN)/python -m pytest tests/test_shape.py tests/test_requirements.py -q

bench: $(READY)
	$(BIN)/python -m bench $(BENCH_ARGS)

soak: $(READY)
	MNEMOLOG_SOAK=1 $(BIN)/python -m pytest soak $(PYTEST_ARGS)

# Bundles the page's foreign code from its pinned versions; needs npm, and is seldom needed.
vendor: $(READY)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python vendor/make.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so an interrupted installation starts again.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mnemolog needs Python 3.11 or newer; '$(PYTHON)' is missing or older." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,mcp,agent,server]'
	@touch $@

# Protocol clients and the page's checker; where they cannot be installed their tests are skipped,
# and with CLIENTS_NEEDED set that is an error.
$(VENV)/clients/.installed: tests/faces/mcp/package.json
$(VENV)/clients/page/.installed: tests/faces/page/package.json
$(CLIENTS): | $(READY)
	@mkdir -p $(@D) && cp $< $(@D)/
	PATH="$(abspath $(BIN)):$$PATH" npm install --prefix $(@D) --ignore-scripts --no-package-lock \
	  --no-audit --no-fund --loglevel=error && touch $@ || test -z "$$CLIENTS_NEEDED"
