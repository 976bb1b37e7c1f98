# Each target makes its own virtual environment and installs what it needs; nothing else has to be there but Python 3.11.
PYTHON ?= python3
DEMO := .venv/demo
TEST := .venv/test
PANDAS2 := .venv/pandas2
SOURCES := pyproject.toml $(shell find front contracts bridges crosscheck -type f -name '*.[tpj]*')

.PHONY: demo test test-pandas2 lint bench docs clean

demo: $(DEMO)/ready
	$(DEMO)/bin/metricpact demo

test: $(TEST)/ready
	$(TEST)/bin/python -m pytest

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

$(TEST)/ready: pyproject.toml tests/constraints.txt
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --constraint tests/constraints.txt --editable '.[all,dev]'
	touch $@

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
