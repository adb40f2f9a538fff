# What people run. Each target first sees to what the machine lacks (scripts/setup.sh).

CARGO ?= cargo
# Which case `make demo` checks.
CASE ?= fixtures/softmax/online_128
# Which tests `make bless` runs.
TESTS ?= --workspace

.DEFAULT_GOAL := help
.PHONY: help setup demo test bless bench ci

help:
	@echo 'make demo    prove two softmax kernels equivalent (CASE=folder for another case)'
	@echo 'make test    run all tests; no CUDA compiler and no GPU are needed'
	@echo 'make bless   run tests, and write what they found into the files they compare with (TESTS="-p volta-core" for some)'
	@echo 'make bench   measure, and write docs/performance.md'
	@echo 'make ci      all that must pass before a change is merged'
	@echo 'make setup   only install what the build needs (m4), if it is missing'

setup:
	@scripts/setup.sh

demo: setup
	$(CARGO) run --profile demo --locked -p volta-test -- check $(CASE)

test: setup
	$(CARGO) test --workspace --locked --no-fail-fast

bless: setup
	INSTA_UPDATE=always TRYBUILD=overwrite UPDATE_EXPECT=1 VOLTA_WRITE_DOCS=1 $(CARGO) test --locked --no-fail-fast $(TESTS)

bench: setup
	python3 scripts/bench.py

ci:
	.ci/run
