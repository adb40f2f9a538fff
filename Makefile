# What people run. Each target first sees to what the machine lacks (scripts/setup.sh).

CARGO ?= cargo
# Which case `make demo` checks.
CASE ?= fixtures/softmax/online_128

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench ci

help:
	@echo 'make demo    prove two softmax kernels equivalent (CASE=folder for another case)'
	@echo 'make test    run all tests; no CUDA compiler and no GPU are needed'
	@echo 'make bench   measure, and write docs/performance.md'
	@echo 'make ci      all that must pass before a change is merged'
	@echo 'make setup   only install what the build needs (m4), if it is missing'

setup:
	@scripts/setup.sh

demo: setup
	$(CARGO) run --locked -p volta-test -- check $(CASE)

test: setup
	$(CARGO) test --workspace --locked --no-fail-fast

bench: setup
	python3 scripts/bench.py

ci:
	.ci/run
