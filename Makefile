# Every check and every task has its one name here. Needs Python 3.11 or newer and make; `make help` lists the names.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin
JOBS ?= 2
BENCH_MB ?= 50

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check soak format static docs bench evals clean

help: ## list these names
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

# The environment: a stamp file per set of packages, made anew when pyproject.toml changes. Debian's Python may lack
# ensurepip; then the new environment borrows the pip that is there.
$(RUN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else f"Aster index needs Python 3.11 or newer and {sys.executable} is older; name one: make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(RUN)/python install --quiet pip; }

$(VENV)/.installed: pyproject.toml | $(RUN)/python
	@echo "installing Aster index into $(VENV)"
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(RUN)/python
	@echo "installing Aster index and what its checks need into $(VENV)"
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed ## ingest the sample home of demo/, search it, show a block, run a report
	@PATH="$(CURDIR)/$(RUN):$$PATH" bash demo/run.sh

static: $(VENV)/.installed-dev
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/mypy
	$(RUN)/lint-imports

test: static ## format, lint, types, import contracts and every test but the soaks
	$(RUN)/pytest -n $(JOBS) --dist loadfile -m 'not soak'

check: static ## the same with the fast tests only: seconds
	$(RUN)/pytest -n $(JOBS) --dist loadfile -m 'not slow and not soak and not network'

soak: $(VENV)/.installed-dev ## what the store must bear, in full: 50 kills of each command, 20 writers at once; minutes
	$(RUN)/pytest -n $(JOBS) --dist loadfile -m soak

format: $(VENV)/.installed-dev ## rewrite the code in the house's format
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

docs: $(VENV)/.installed-dev ## write anew what the program itself tells: commands.md, the examples' outputs
	$(RUN)/python -m docs.refresh

bench: $(VENV)/.installed-dev ## measure against the floor, as ratios (BENCH_MB=500 for the full size)
	$(RUN)/python -m bench.run --mb $(BENCH_MB)

evals: $(VENV)/.installed-dev ## measure what the memory recalls and where it stays silent, against tests/evals/thresholds.yaml
	$(RUN)/python -m bench.evals --failures

clean: ## remove the environment, the caches and everything built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
