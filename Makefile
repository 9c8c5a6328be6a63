# `make book` reads like this: set up .venv once, run the chapters, render _build/html. `make test` is what CI runs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Three tests at a time for two cores, as a test waits for a third of its time, for processes and pages; each on one thread:
# two threads that wait for each other waste a core that is shared.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n 3 --durations=20
READY := $(VENV)/.ready
BROWSER := $(VENV)/.browser

# The tests look at a book of their own, so that what `make book` made stays: one chapter trains here, in few steps
# (tests/hurried), so that its pages have results of this machine; the others show what is recorded. The first test that
# looks at it draws it (tests/book/conftest.py). The weekly workflow looks at the book with every run trained.
TESTED := _build/tested
SOURCES := _config.yml _toc.yml CITATION.cff pyproject.toml requirements.lock book notebooks
TRAINED := 02_window_size
RECORDED = $(filter-out $(TRAINED),$(basename $(notdir $(wildcard notebooks/[0-9]*.py))))
XLING := XLING_STORE="$${XLING_STORE:-$(CURDIR)/runs}" "$(CURDIR)/$(BIN)/xling"

# Nothing here asks the Hub; without this an unreachable Hub costs half a minute of retries a call.
export HF_HUB_OFFLINE := 1
# What is imported is compiled once, not in each of the hundreds of processes of a book and of its tests.
unexport PYTHONDONTWRITEBYTECODE
# uv reads its own variable where pip reads PIP_FIND_LINKS (a folder of wheels, such as a CPU build of torch).
export UV_FIND_LINKS ?= $(shell printf '%s' "$${PIP_FIND_LINKS:-}" | tr ' ' ',')

.PHONY: help setup book pdf test types behaviour tested soak reproduce bench clean lock

help:
	@echo "make book       the chapters run on this machine and the book in _build/html"
	@echo "make pdf        the built book as one file, _build/book.pdf"
	@echo "make test       style, spelling, types, tests, and a rendered book in a browser"
	@echo "make soak       the long forms of the tests of faults, an hour or so"
	@echo "make reproduce  every run of every chapter live, then the book"
	@echo "make bench      the benchmarks"
	@echo "make setup      only the environment (.venv) and the browser that the tests use"
	@echo "make lock       write requirements.lock from .venv"
	@echo "make clean      remove _build; runs/ (what was trained) and .venv stay"

setup: $(READY) $(BROWSER)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is not Python 3.11 or newer; name one that is: make PYTHON=python3.11"; exit 1; }
	@if command -v uv >/dev/null; then \
	  set -ex; \
	  [ -x $(BIN)/python ] || uv venv --quiet --python "$$(command -v $(PYTHON))" $(VENV); \
	  uv pip install --quiet --python $(BIN)/python -r requirements.lock; \
	  uv pip install --quiet --python $(BIN)/python --no-deps -e .; \
	else \
	  set -ex; \
	  [ -x $(BIN)/pip ] || $(PYTHON) -m venv $(VENV); \
	  $(BIN)/pip install --quiet -r requirements.lock; \
	  $(BIN)/pip install --quiet --no-deps -e .; \
	fi
	@touch $@

$(BROWSER): $(READY)
	@if [ -n "$${CHROMIUM:-}" ] || { command -v chromedriver && \
	    { command -v chromium || command -v chromium-browser || command -v google-chrome; }; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends chromium chromium-driver; then :; \
	else \
	  echo "make: install Chromium and chromedriver, or the tests of the rendered book will fail"; exit 0; \
	fi && touch $@

book: $(READY)
	$(BIN)/xling run
	$(BIN)/xling book

pdf: $(READY) $(BROWSER)
	$(BIN)/python -m tests.book.pdf

# First what draws the book and, beside it, long files that do not look at it; then what looks at every page, which is the
# longest. File by file, as pytest puts those of a folder in order.
FIRST := $(addprefix tests/,book/test_files.py integration/test_commands.py integration/test_probe.py \
  integration/test_chapters_2_to_4.py book/test_pages.py)
TESTS = $(FIRST) $(filter-out $(FIRST),$(foreach room,integration book unit,$(sort $(wildcard tests/$(room)/test_*.py))))

test: $(READY) $(BROWSER)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell README.md CONTRIBUTING.md book notebooks xling_utils benchmarks
	$(MAKE) -j 2 types behaviour

types: $(READY)
	$(BIN)/pyrefly check

behaviour: $(READY) $(BROWSER)
	$(PYTEST) --dist loadfile --no-loadscope-reorder $(TESTS)

tested: $(READY)
	mkdir -p _build/ledger $(TESTED)/_build && ln -sfn ../../ledger $(TESTED)/_build/ledger
	rm -rf $(addprefix $(TESTED)/,$(SOURCES)) && cp -Rp $(SOURCES) $(TESTED)
	cd $(TESTED) && PYTHONPATH="$(CURDIR)/tests/hurried" XLING_STORE="$$PWD/runs" "$(CURDIR)/$(BIN)/xling" run $(TRAINED)
	cd $(TESTED) && $(XLING) run -p live none $(RECORDED) && $(XLING) book

soak: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest -m soak tests/unit tests/integration

reproduce: $(READY)
	$(BIN)/xling run -p live all
	$(BIN)/xling book

bench: $(READY)
	$(BIN)/xling bench

clean:
	rm -rf _build .pytest_cache .ruff_cache

# Run it where torch is a CPU build: a CUDA build drags its own libraries into the list.
lock:
	$(BIN)/python -c 'from importlib.metadata import distributions as d; \
	skip = {"pip", "setuptools", "wheel", "xling-utils"}; \
	names = {x.name: x.version.split("+")[0] for x in d() if x.name not in skip}; \
	print("# What `make setup` installs. Written by `make lock`; local versions (+cpu) left out."); \
	print("\n".join(f"{n}=={names[n]}" for n in sorted(names, key=str.lower)))' > requirements.lock.new
	mv requirements.lock.new requirements.lock
