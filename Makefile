# Everything runs from .venv; each target makes what it needs.
PYTHON ?= python3
# The CPU build of torch goes in first: the package's own range then has nothing to fetch.
# Another build: make setup TORCH="torch==2.13.0 --index-url <an index with the build you want>"
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo report test lint bench bench-evidence causal fuzz clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Decisive needs Python 3.11 or newer; name one with: make setup PYTHON=python3.11")'
	@echo "Installing Decisive into $(VENV): torch and other Python packages, 2 GB on disk; a few minutes."
	@$(PYTHON) -m venv $(VENV)
	@echo "  1 of 2: $(TORCH)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	@echo "  2 of 2: Decisive with its libraries"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[testbed,test]'
	@touch $(STAMP)

# Of the dashboard: make demo PORT=8600; without it 8501, or the next one that is free.
PORT =
demo: setup
	@echo "The decisive test runs for some five to ten minutes on two cores; Ctrl-C ends it and keeps what was done."
	$(BIN)/decisive up --launch decisive-test --open $(if $(PORT),--port $(PORT))

# The decisive test played on this machine, and the example report made of it: some five to ten minutes.
REPORT_OF := $(BIN)/decisive report decisive-test --store sqlite:///report.db --redact hosts --base-url http://127.0.0.1:8501 --force
report: setup
	@# 1 says that a prediction failed, as one of the decisive test does; 3 that one could not be decided.
	$(BIN)/decisive run decisive-test --store sqlite:///report.db || case $$? in 1|3) ;; *) exit 1;; esac
	$(REPORT_OF) -o runner/report/example/decisive-test.md
	$(REPORT_OF) -o runner/report/example/decisive-test.html

# Side by side, in half the time: make test PYTEST="--numprocesses 2 --dist loadfile"
PYTEST =
test: setup
	$(BIN)/python -m pytest $(PYTEST)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m tests.bench

# How often a verdict claims what is not so, and what stopping early saves: some minutes of CPU.
bench-evidence: setup
	$(BIN)/python -m tests.bench.evidence
	$(BIN)/python -m tests.bench.evidence_speed

# Every fault of the testbed under the controls that tell it apart: about ten minutes on a free core.
causal: setup
	$(BIN)/python -m runner.testbed causal

# Coverage-guided, over whatever reads the bytes of servers: make fuzz MINUTES=30
MINUTES ?= 10
fuzz: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz.growth
	$(BIN)/python -m tests.fuzz $(MINUTES)

clean:
	rm -rf $(VENV) .fuzz .mypy_cache .ruff_cache .pytest_cache .hypothesis
