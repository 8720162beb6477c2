# `make` lists what can be made. Everything is installed on first use, into .venv (the product and its tests) and
# .peers (other people's tools that tests and benches compare with; kept apart for their licences).

SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
  command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
DATA ?= tests/data/conformance
ATTACK_SECONDS ?= 300

.DEFAULT_GOAL := help
.PHONY: help install demo test lint style format-check types dead-code bench conformance attack figures sdist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

install: .venv/installed ## install Webstrata with everything it can use

.venv/installed: pyproject.toml constraints.txt hatch_build.py $(wildcard src/webstrata/*/kernel/*.[ch])
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (Debian, Ubuntu: apt-get install python3)."; exit 1; }
	@$(call venv,.venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	@touch $@

.peers/installed: constraints-peers.txt
	@$(call venv,.peers)
	.peers/bin/python -m pip install --quiet --disable-pip-version-check -r constraints-peers.txt
	.peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(WATCHERS)
	@touch $@

# Only their conversions to text are run, without the servers and browsers that these tools require.
WATCHERS := changedetection.io==0.60.10 urlwatch==2.29

# A fresh Debian has Python without venv: fetch it if we may.
define venv
test -x $(1)/bin/pip || $(PYTHON) -m venv $(1) 2>/dev/null || \
{ rm -rf $(1); echo "installing python3-venv"; \
  $$(test "$$(id -u)" = 0 || echo sudo) sh -c 'apt-get update -q && apt-get install -q -y python3-venv' >/dev/null && \
  $(PYTHON) -m venv $(1); }
endef

demo: .venv/installed ## crawl two recorded years of real sites in about a minute and compare with what changed
	$(BIN)/webstrata demo

# Tests of the browser handler use the system's browser; where it cannot be installed they say so and are skipped.
.PHONY: chromium
chromium:
	@command -v chromium chromium-browser google-chrome-stable google-chrome >/dev/null || \
	{ echo "installing chromium for the tests"; \
	  $$(test "$$(id -u)" = 0 || echo sudo -n) sh -c 'apt-get update -q && apt-get install -q -y chromium' >/dev/null || \
	  echo "chromium could not be installed: tests of rendered pages will be skipped"; }

test: .venv/installed .peers/installed chromium ## run all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: style format-check types dead-code ## style, types and dead code

style: .venv/installed
	$(BIN)/ruff check .

format-check: .venv/installed
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

dead-code: .venv/installed
	$(BIN)/vulture

bench: .venv/installed .peers/installed ## every speed claim, as ratios measured side by side
	$(BIN)/python -m bench

conformance: .venv/installed ## outside test vectors: passed, contested, failed, unplayed (DATA=folder for a fuller set)
	$(BIN)/python -m tests.conformance $(DATA)

attack: .venv/installed ## hostile hosts beside healthy ones for five minutes: delays, gaps, memory (ATTACK_SECONDS=n)
	$(BIN)/python -m tests.attacks --seconds $(ATTACK_SECONDS)

figures: .venv/installed ## rebuild the pictures in the docs
	$(BIN)/python -m docs.figures

sdist: .venv/installed ## build the source archive into dist/
	$(BIN)/python -m hatchling build --target sdist

clean: ## remove what was installed and made
	rm -rf .venv .peers demo-home build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
