# Two commands: `make demo` builds and does the main job, `make test` runs all checks. Both set up what they need.

# What is built once needs no records for the next build, 22 GB of a full run, and no lines for a debugger.
ifdef CI
export CARGO_INCREMENTAL ?= 0
export CARGO_PROFILE_DEV_DEBUG ?= none
# What waits for registries and servers goes beside what computes. Cargo has its own jobs, and pip one environment.
MAKEFLAGS += --jobs=2 --output-sync=line
unexport MAKEFLAGS MFLAGS
fmt spell rust-test: | setup
# One compilation instead of two: Clippy's compiler is rustc with more lints, so it builds the tests too.
linted = --config 'build.rustc-workspace-wrapper="clippy-driver"'
rust-test: export CLIPPY_ARGS = -Dwarnings
bench-test: | spell
python-test: | bench-test
spark-test: | python-test
else
test: clippy
endif

CARGO ?= cargo
OUT   ?= out

.PHONY: help setup demo test test-browser test-playground test-editors fmt spell clippy rust-test test-builds test-32 java-test python-test spark-test recipes-test bench-test bench-check bench bench-full clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

setup: ## install what is missing, by name, from the registries
	./scripts/setup

demo: ## generate a record file, convert it to CSV, JSON and Parquet, show rows, totals and rate, ask it in SQL
	./scripts/setup build
	./scripts/demo $(OUT)

test: setup fmt spell rust-test java-test python-test spark-test bench-test ## all checks, as continuous integration runs them
	@./scripts/skips $(TERCET_SKIPS)

# Tests that cannot run append a line to this file; `make test` starts with none and prints the table last. The path is
# absolute, as each test runs in the folder of its crate.
test test-builds test-editors: export TERCET_SKIPS = $(CURDIR)/target/skips
test test-builds test-editors: clean-skips
setup: | clean-skips
.PHONY: clean-skips
clean-skips:
	@rm -f target/skips
	@mkdir -p target

fmt:
	$(CARGO) fmt --all -- --check

spell: ## spelling, by the word list in typos.toml
	./scripts/python setup
	./scripts/python run typos

# What can be built on this machine; asked when it is used, as `setup` may change it.
FEATURES = $(shell ./scripts/features)

clippy:
	$(CARGO) clippy --workspace --all-targets $(FEATURES) -- -D warnings

rust-test:
	$(CARGO) $(linted) test --workspace $(FEATURES)

test-builds: setup ## crates with a build script, and generated code without a standard library and for other machines; takes some minutes
	$(CARGO) test -p tercet-build -p tercet-conformance --test script --test no_std -- --ignored
	@./scripts/skips $(TERCET_SKIPS)

test-32: setup ## the tests of the runtime and the engine with addresses of 32 bits; takes some minutes
	$(CARGO) test --target i686-unknown-linux-gnu -p tercet-runtime -p tercet-dynamic

# The sources are ASCII, so that any locale compiles them.
java-test: setup ## the Java libraries and the plugin for Maven, built and documented; what it reads and writes is tested by rust-test
	! command -v mvn >/dev/null || mvn -q -B -f bindings/java/pom.xml package
	! command -v javadoc >/dev/null || javadoc -quiet -encoding US-ASCII -Xdoclint:all,-missing -Werror --release 17 -d target/java-doc \
	    $$(find bindings/java/tercet-runtime/src/main/java/io bindings/java/tercet-records/src/main/java/io -name '*.java')

python-test: setup ## the Python package: built, formatted, typed, tested
	./scripts/python test

bench-test: setup ## the committed report is what the committed records say
	./scripts/python setup
	./scripts/python run python -m pytest -c bench/pytest.ini bench/tests
	./scripts/python run ruff check --quiet bench
	./scripts/python run ruff format --check --quiet bench

test-browser: ## the page of `tercet inspect` and the playground in Chromium, with axe-core; fetches puppeteer-core
	./scripts/setup browser
	$(CARGO) build --bin tercet
	! ./scripts/playground can || $(MAKE) test-playground
	./tests/browser/run

test-playground: ## the engine of the playground as a module of WebAssembly: in Node it answers as it does here
	./scripts/playground $(OUT)/playground
	TERCET_PLAYGROUND=$(abspath $(OUT)/playground) $(CARGO) test -p tercet-conformance --test playground

test-editors: ## the language server by real clients: Neovim and pytest-lsp from PyPI, eglot; the grammar by the engine of VS Code
	./scripts/setup editors
	$(CARGO) build --bin tercet
	./scripts/editors test
	TERCET_EDITS=10000 $(CARGO) test --workspace $(FEATURES) --test lsp_edits
	@./scripts/skips $(TERCET_SKIPS)

spark-test: setup ## the data source for Spark; needs Java 17 and fetches PySpark
	./scripts/python spark

recipes-test: setup ## the recipes for Dask and Ray in the guide; fetches them
	./scripts/python recipes

bench-check: ## no fixed kernel takes more instructions than before (valgrind; skips without)
	$(CARGO) xtask bench --check

bench: setup ## ours beside the peers in minutes: records and a report in out/bench (see bench/README.md)
	./bench/all $(OUT)/bench

bench-full: setup ## all of it, into bench/record and bench/report; takes an hour or more
	./bench/all --record

deny: ## licences, registries and advisories of what we depend on (cargo install cargo-deny; fetches the advisories)
	$(CARGO) deny check

# There is a folder of this name too.
.PHONY: docs
docs: ## the documentation as a searchable site, in out/docs
	./scripts/docs $(OUT)/docs

clean:
	$(CARGO) clean
	rm -rf $(OUT)
