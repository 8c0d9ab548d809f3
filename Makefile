PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Twice as many processes as cores: tests of clusters and of what hangs wait most of the time.
PROCESSES = $(shell $(BIN)/python -c "import os; print(2 * len(os.sched_getaffinity(0)))")
PARALLEL = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

.PHONY: demo test quick check lint bench clean

demo: $(READY)          ## evolve a heat stencil as a scientist wrote it, for about two minutes
	$(BIN)/gevolve run papers/hotspot --device sim:t4 --time 90

test: $(READY)          ## all tests, slow ones too
	$(BIN)/python -m pytest -q $(PARALLEL)

quick: $(READY)         ## the fast tests
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not slow"

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/pyright
	PYTHONPATH=src $(BIN)/lint-imports --no-logo --no-cache

check: lint test        ## what CI runs

bench: $(READY)         ## every benchmark; figures go to the terminal
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[dev,ml,onnx,cuda,iree,ray]"
	touch $(READY)

clean:
	rm -rf $(VENV)
