# Front door. `make demo` and `make test` install what they need and can be run again.
SHELL := /bin/bash
BUILD ?= .build
export BUILD

.PHONY: help demo test test-all test-quick test-kernel kernel-matrix test-fresh soak bench fuzz proof docs install release \
	format clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: ## simulated devices of five families on a virtual radio: decoded values, a rule, a purchase
	@scripts/setup.sh demo
	@scripts/demo.sh

test: ## what every change must pass, at most 12 minutes on two cores; ends with one line of counts
	@scripts/setup.sh gate
	@scripts/test.sh gate

test-all: ## everything: other machines, proofs, seeded faults, every kernel case of the sample, the packages
	@scripts/setup.sh test
	@scripts/test.sh all

test-quick: ## format, the rules of the house, the C tests; at most 3 minutes
	@scripts/setup.sh quick
	@scripts/test.sh quick

test-kernel: ## over the kernel's Bluetooth stack, in a virtual machine: every case with every kind of controller
	@scripts/setup.sh test
	@scripts/test.sh kernel_all

kernel-matrix: ## the same on each kernel, and the table docs/test-matrix.md; hours
	@scripts/setup.sh test
	@scripts/test.sh kernel_matrix

test-fresh: ## `make demo` and `make test-quick` in a bare Debian root (needs root)
	@scripts/setup.sh fresh
	@scripts/fresh.sh

soak: ## the long runs of which `make test-all` takes a fixed sample
	@scripts/setup.sh test
	@scripts/soak.sh

bench: ## benchmarks: a table, and one JSON object per result in $(BUILD)/bench.jsonl
	@scripts/setup.sh bench
	@Bench/run.sh

fuzz: ## every fuzz target for SECONDS (default 60)
	@scripts/setup.sh quick
	@Tests/Fuzz/run.sh $(or $(SECONDS_EACH),60)

proof: ## Frama-C Eva on every decoder
	@scripts/setup.sh test
	@Tests/Proof/run.sh

docs: ## the Swift modules' documentation in $(BUILD)/documentation, without a warning
	@scripts/setup.sh quick
	@scripts/docs.sh

install: ## libraries, headers and tendon.pc into PREFIX (default /usr/local), the command beside them
	@scripts/setup.sh quick
	@scripts/install.sh

release: ## the files of a release from the tag TAG: Debian packages, static gateways, notes, checksums
	@scripts/setup.sh test
	@scripts/release.sh $(TAG)

format: ## formats C and Swift in place
	@scripts/setup.sh quick
	@scripts/format.sh --fix

clean: ## removes what was built
	rm -rf $(BUILD) .build
