# Each target makes its own virtual environment and installs what it needs; nothing else has to be there but Python 3.11.
PYTHON ?= python3
DEMO := .venv/demo
TEST := .venv/test
TORCH := .venv/torch
PANDAS2 := .venv/pandas2
SOURCES := pyproject.toml $(shell find front contracts bridges crosscheck -type f -name '*.[tpj]*')

.PHONY: demo test test-pandas2 fidelity-torch lint bench docs clean

demo: $(DEMO)/ready
	$(DEMO)/bin/metricpact demo

test: $(TEST)/ready
	$(TEST)/bin/python -m pytest

# The profiles of libraries that need torch (some gigabytes): not part of the tests, see CONTRIBUTING.md.
fidelity-torch: $(TORCH)/ready
	$(TORCH)/bin/python -m pytest tests/test_profiles_fidelity.py -k 'mteb or torchmetrics or sentence'

test-pandas2: $(PANDAS2)/ready
	$(PANDAS2)/bin/python -m pytest tests/test_frames.py

lint: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check contracts bridges crosscheck front tests benchmarks
	$(TEST)/bin/mypy

bench: $(TEST)/ready
	$(TEST)/bin/python benchmarks/speed.py

docs: $(TEST)/ready
	$(TEST)/bin/python tests/readme.py --write

$(DEMO)/ready: $(SOURCES)
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet '.[ir-measures]'
	touch $@

$(PANDAS2)/ready: pyproject.toml tests/constraints-pandas2.txt
	$(PYTHON) -m venv $(PANDAS2)
	$(PANDAS2)/bin/python -m pip install --quiet --constraint tests/constraints-pandas2.txt --editable '.[pandas]' duckdb pytest
	touch $@

# BEIR's evaluator runs without what the rest of BEIR needs, which is torch among others.
$(TEST)/ready: pyproject.toml tests/constraints.txt
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --constraint tests/constraints.txt --editable '.[all,dev]'
	$(TEST)/bin/python -m pip install --quiet --constraint tests/constraints.txt --no-deps beir
	touch $@

$(TORCH)/ready: pyproject.toml tests/constraints.txt
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --constraint tests/constraints.txt \
		--editable '.[all,dev]' torch torchmetrics sentence-transformers mteb
	touch $@

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
