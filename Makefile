# Ambit's front door. `make` alone lists what there is to do.
#
# Nothing here needs root but `deps`, when a system package is missing, and an `install` into a folder of the system's.

SHELL = /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
# Extra arguments for `swift test`, for example `make test TESTFLAGS='--filter SandboxTests'`.
TESTFLAGS ?=
# Non-empty: `make demo` lets you do the picking.
INTERACTIVE ?=
# table or json, for `make bench`; PARTS names some of its parts.
FORMAT ?= table
PARTS ?=
# Arguments of `ambit conform` for `make conform`.
CONFORM ?=
# Faults for `make mutants`; empty: all.
FAULTS ?=
# Inputs for `make fuzz`.
RUNS ?= 1000000
# For `make test-kernel`: a kernel's image, the folder of its modules (default: Debian's), and the control groups there.
KERNEL ?=
MODULES ?=
CGROUP ?= v2

release = .build/release
debug = .build/debug
# Whole modules take a fifth less time than parts of them, each of which reads the others and expands macros anew. A tenth more is
# saved where a module's interface is no job of its own, and the index has no modules of the system. CI needs no information for a
# debugger.
build_tests = $(SWIFT) build --build-tests $(addprefix -Xswiftc ,-wmo -num-threads 2 -no-emit-module-separately-wmo \
  -index-ignore-system-modules -index-ignore-clang-modules $(if $(CI),-gnone))

swift_sources = Sources Tests Demos $(wildcard Benchmarks) scripts/manual.swift Package.swift

# What tests load from PyPI lives in the build folder: nothing is installed into the system's python.
export PYTHONPATH := $(CURDIR)/.build/python$(if $(PYTHONPATH),:$(PYTHONPATH))

.PHONY: help deps deps-test build demo test test-kernel test-clickhouse test-otlp test-journal test-report test-site test-thumbnails test-types test-web test-trash test-picker test-cloud simulate pictures readme-test check format verify conform conform-deps lessons races crashes mutants fuzz bench catalogue messages docs install uninstall clean

help: ## List the targets
	@scripts/help.sh Makefile

deps: ## Install the system libraries that are missing
	@scripts/deps.sh

deps-test:
	@scripts/deps.sh --test

build: deps ## Build ambit, ambitctl, the escape battery and the demo apps (release)
	$(SWIFT) build -c release --product ambit
	$(SWIFT) build -c release --product ambit-tools
	$(SWIFT) build -c release --product ambitctl
	$(SWIFT) build -c release --product ambit-agent
	$(SWIFT) build -c release --product plain-agent
	$(SWIFT) build -c release --product battery
	$(SWIFT) build -c release --product ambit-draw
	$(SWIFT) build -c release --product ambit-web
	$(SWIFT) build -c release --product TextEdit
	$(SWIFT) build -c release --product Particles
	$(SWIFT) build -c release --product Snippets

demo: build ## Watch the tour; with INTERACTIVE=1 you pick the document yourself
	@scripts/assemble-demos.sh $(release) .build/demos
	$(release)/ambit scenario run --apps .build/demos $(if $(INTERACTIVE),--interactive) Demos/tour.toml

test: deps-test ## Build everything for debugging and run the tests
	$(build_tests)
	@scripts/assemble-demos.sh $(debug) .build/demos-debug
	@SWIFT='$(SWIFT)' scripts/run-tests.sh $(TESTFLAGS)

test-kernel: deps-test ## Run the tests in a virtual machine: KERNEL=vmlinuz MODULES=folder CGROUP=v2|v1|none
	$(build_tests)
	@scripts/assemble-demos.sh $(debug) .build/demos-debug
	@KERNEL='$(KERNEL)' MODULES='$(MODULES)' TESTFLAGS='$(TESTFLAGS)' scripts/kernel-test.sh --cgroup '$(CGROUP)'

test-clickhouse: ## Export a log to ClickHouse (PyPI's chdb) with programs killed in between, and count
	@scripts/deps.sh --clickhouse
	@SWIFT='$(SWIFT)' scripts/export/run.sh clickhouse $(debug)

test-otlp: ## Export a log to an OpenTelemetry receiver (PyPI's opentelemetry-proto) that fails now and then
	@scripts/deps.sh --otlp
	@SWIFT='$(SWIFT)' scripts/export/run.sh otlp $(debug)

test-journal: ## Export a log to a systemd-journald of its own; as root
	@SWIFT='$(SWIFT)' scripts/export/run.sh journal $(debug)
test-report: ## Look at `ambit audit report` in a real browser (after make test); pictures in .build/report
	@scripts/report-test.sh

test-thumbnails: ## Draw 68 documents that mean harm, or by programs that do (after make test)
	@scripts/thumbnails-test.py .build/debug/ambit

test-web: ## Drive the picker's page as a browser would, and as an attacker (after make test)
	@scripts/web-picker-test.py $(debug)

test-picker: ## Drive the full-screen picker in tmux and an emulator, with 100,000 hostile names; hold its filter against fzf (after make test)
	@scripts/deps.sh --picker
	@scripts/picker-ranking-test.py $(debug)
	@scripts/picker-terminal-test.py $(debug)

test-trash: ## Put files into the trash, and see them with GLib's programs (after make test; needs gio, gvfs and dbus-run-session)
	@scripts/trash-test.sh $(debug)

test-cloud: ## Two devices and a cloud, killed and cut off at random in 5,000 operations (after make test)
	@scripts/cloud-test.py $(debug)

simulate: build ## 100,000 lives of devices and a cloud, each with faults and crashes: SEEDS=1000000
	$(release)/ambit cloud simulate --seeds $(or $(SEEDS),100000)

pictures: ## Make the pictures of the picker's faces for the docs (after make test; tmux and Chromium)
	@scripts/pictures.py $(debug)

test-types: ## Compare the types of 1,000 files with those that gio says (after make test)
	@scripts/types-test.py .build/debug/ambit

test-site: ## Look at the suite's and the lessons' pages in a real browser (after make test); pictures in .build/site
	@scripts/site-test.sh

readme-test: build ## Run the commands of README that are marked to be run, in a home of their own
	@scripts/assemble-demos.sh $(release) .build/demos
	@scripts/readme-test.sh

check: ## Format, lint, shell syntax, no paths of one machine, the catalogue beside the tests, generated messages
	$(SWIFT) format lint --strict --parallel --recursive $(swift_sources)
	@scripts/check.sh

format: ## Format the Swift sources in place
	$(SWIFT) format --in-place --parallel --recursive $(swift_sources)

verify: build ## Try to escape from the default policy's sandbox, in every known way
	$(release)/ambit verify

conform: build ## Play the conformance suite under Ambit: CONFORM='--under all --site DIR'
	$(release)/ambit conform $(CONFORM)

conform-deps: ## Install the other systems that the suite can be played under
	@scripts/conform-deps.sh

lessons: build ## Prove every lesson: untouched, with its solution, with wrong attempts
	@scripts/assemble-demos.sh $(release) .build/demos
	$(release)/ambit lesson check

# Random tests of the rules play a few of their rounds in `make test`, and all of them here (`Rounds`).
races: ## All launches, swaps, kills, races and random tests in their full number, 10,000 and more (after `make test`)
	AMBIT_TEST_ROUNDS=all $(SWIFT) test --skip-build --skip 'ConformanceTests|SwapTests|RaceTests|KillTests'
	AMBIT_TEST_ROUNDS=all AMBIT_SWAP_ROUNDS=100000 AMBIT_RACE_ROUNDS=5000 AMBIT_KILL_ROUNDS=1000 AMBIT_CATALOG_STEPS=100000 \
	  $(SWIFT) test --skip-build --filter '^ConformanceTests\.|(Swap|Race|Kill)Tests'

crashes: ## 20,000 states that a crash may leave of each of Ambit's own saves (after `make test`)
	AMBIT_CRASH_STATES=20000 $(SWIFT) test --skip-build --filter 'CrashTests$$|CrashTests\/'

mutants: deps ## Check the conformance suite with deliberate faults; as root. FAULTS='stopEndsAll …' plays only these
	@SWIFT='$(SWIFT)' scripts/mutants.py $(FAULTS)

fuzz: deps ## Fuzz what an app can hand over, guided by coverage: RUNS=1000000
	AMBIT_FUZZ=1 $(SWIFT) build --sanitize fuzzer --scratch-path .build-fuzz --product fuzz
	@mkdir -p .build-fuzz/corpus
	cd .build-fuzz && debug/fuzz -runs=$(RUNS) -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 corpus ../Tests/Fuzz/seeds

bench: build ## Set Ambit beside its peers: FORMAT=json, PARTS='launch crowd calls scope grant growth io resolve save audit-explain audit'
	@FORMAT='$(FORMAT)' Benchmarks/run.sh $(PARTS)

catalogue: ## Carry docs/reference/catalogue.md into the program's sources
	@python3 scripts/catalogue.py write

messages: ## Carry Sources/Wire/Interfaces into the program's messages
	@python3 scripts/varlink.py write

docs: build ## Write the manual pages to .build/man, and the policy language's reference and schema to docs/reference
	@mkdir -p .build/man
	$(release)/ambit-tools --experimental-dump-help | $(SWIFT) scripts/manual.swift >.build/man/ambit.1
	$(release)/ambitctl --experimental-dump-help | $(SWIFT) scripts/manual.swift >.build/man/ambitctl.1
	$(release)/ambit-tools policy reference >docs/reference/policy.md
	$(release)/ambit-tools policy reference --format schema >docs/reference/policy.schema.json

install: ## Install under PREFIX (default /usr/local); DESTDIR is put before it
	@SWIFT='$(SWIFT)' MAKE='$(MAKE)' scripts/install.sh '$(DESTDIR)$(PREFIX)'

uninstall: ## Remove what install put under PREFIX
	@scripts/install.sh --remove '$(DESTDIR)$(PREFIX)'

clean: ## Remove everything that was built
	rm -rf .build .build-fuzz .build-mutants Benchmarks/.build
