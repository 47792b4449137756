# Everything here is a cargo command; `cargo xtask help` lists more of them.

# What is built is kept outside the clone where there is a cache folder, so that a second clone does not
# compile three hundred packages again. CARGO_TARGET_DIR, where it is set, decides.
CACHE := $(or $(XDG_CACHE_HOME),$(wildcard $(HOME)/.cache))
ifneq ($(CACHE),)
export CARGO_TARGET_DIR ?= $(CACHE)/onrush/target
endif

CARGO ?= cargo

.DEFAULT_GOAL := help
.PHONY: help demo test bench toolchain

help: ## Show this.
	@echo "make <target>, where target is one of"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile

demo: toolchain ## Run a k6 script with hundreds of VUs against the built-in target (half a minute).
	@$(CARGO) xtask demo $(ARGS)

test: toolchain ## Build and test everything, tidy included; clippy and rustfmt where installed.
	@$(CARGO) xtask test

bench: toolchain ## Measure Onrush beside wrk and k6 (needs nginx, wrk, Go; ARGS="--help" says more).
	@$(CARGO) xtask bench $(ARGS)

# Rust and a C compiler; the compiler is installed where that is possible. Two clones that share a build folder look
# alike to cargo, which compares times only: after another clone's build everything here counts as changed.
toolchain:
	@sh crates/xtask/toolchain.sh
	@if [ -n "$$CARGO_TARGET_DIR" ] && [ "$$(cat "$$CARGO_TARGET_DIR/clone" 2>/dev/null)" != "$(CURDIR)" ]; then \
		find crates -type f -exec touch {} + && mkdir -p "$$CARGO_TARGET_DIR" && printf '%s\n' "$(CURDIR)" > "$$CARGO_TARGET_DIR/clone"; \
	fi
