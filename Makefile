# The commands of the project. `make` alone lists them.

.PHONY: help demo test lint setup sanitize soak bench
.DEFAULT_GOAL := help

# SwiftPM notices a source file that is new or gone in the package it builds, not in one that this depends on. A newer
# manifest makes it look.
refresh-example = touch Examples/Shop/Package.swift

# The example is built where the package is, so that Penstock is compiled once for both.
example = --package-path Examples/Shop --scratch-path .build

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build the example shop and tell its story
	@Scripts/setup build
	@$(refresh-example)
	@swift run $(example)

test: ## everything that must hold: lint, the package's tests, the example's tests
	@Scripts/test

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

soak: ## the long forms of what kills, crashes and races, for hours
	@Scripts/soak

bench: ## calls through Penstock against bare libcurl and URLSession, side by side
	@Scripts/bench
