# The commands of the project. `make` alone lists them.

.PHONY: help demo test lint setup sanitize bench
.DEFAULT_GOAL := help

# SwiftPM notices a source file that is new or gone in the package it builds, not in one that this depends on. A newer
# manifest makes it look.
refresh-example = touch Examples/Shop/Package.swift

# The example is built where the package is, so that Penstock is compiled once for both.
example = --package-path Examples/Shop --scratch-path .build

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# All tests at once would make each wait for hundreds of others whenever it suspends, past the time-outs that it tells of.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := 16

demo: ## build the example shop and tell its story
	@Scripts/setup build
	@$(refresh-example)
	@swift run $(example)

# Runs of their own, since the crashes of the third, the bombs of the fourth, the floods of the fifth, the failing calls of
# the sixth, the servers of the seventh and the compilers of the last would starve the time-outs of the first. Who waits for a test in a process of its
# own blocks the threads that every other test needs, so these are together. The tests of the tool and those with compilers
# start processes, for which Foundation looks through the descriptors that are open, and reads past the end of its buffer
# where these are more than a thousand, as they are in the first.
test: ## everything that must hold: lint, the package's tests, the example's tests
	@Scripts/setup test
	@Scripts/lint
	@swift build --build-tests
	@Scripts/api
	@swift test --skip-build --disable-xctest --skip PenstockEndToEndTests --skip PenstockPackagingTests --skip PenstockSQLiteTests --skip PenstockSecurityTests --skip PenstockTortureTests --skip OwnProcessTests --skip BombTests --skip FloodTests --skip PenstockInspectTests --skip penstockctlTests --skip CompileTimeTests --skip ReadmeTests --skip NetworkNamespaceTests --skip StormTests
	@swift test --skip-build --disable-xctest --filter 'penstockctlTests|PenstockInspectTests' --skip SoakTests
	@swift test --skip-build --disable-xctest --filter PenstockSQLiteTests
	@swift test --skip-build --disable-xctest --filter PenstockSecurityTests
	@swift test --skip-build --disable-xctest --filter BombTests
	@swift test --skip-build --disable-xctest --filter FloodTests
	@swift test --skip-build --disable-xctest --filter PenstockTortureTests
	@swift test --skip-build --disable-xctest --filter PenstockEndToEndTests --skip SoakTests
	@swift test --skip-build --disable-xctest --filter 'OwnProcessTests|SoakTests|StormTests'
	@swift test --skip-build --disable-xctest --filter 'PenstockPackagingTests|CompileTimeTests|ReadmeTests|NetworkNamespaceTests'
	@$(refresh-example)
	@swift test --disable-xctest $(example)

lint: ## layout, house rules, the register of requirements and the list of what is public
	@Scripts/lint
	@swift build
	@Scripts/api

setup: ## install what is missing, or say what it is
	@Scripts/setup test

sanitize: ## the tests again, under the thread and the address sanitizer
	@Scripts/setup test
	@Scripts/sanitize thread
	@Scripts/sanitize address

bench: ## calls through Penstock against bare libcurl and URLSession, side by side
	@Scripts/bench
