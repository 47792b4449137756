# Everything here is a cargo command or a few lines of shell in packaging/; `cargo xtask help` lists more commands.

# What is built is kept outside the clone where there is a cache folder, so that a second clone does not
# compile three hundred packages again. CARGO_TARGET_DIR, where it is set, decides.
CACHE := $(or $(XDG_CACHE_HOME),$(wildcard $(HOME)/.cache))
ifneq ($(CACHE),)
export CARGO_TARGET_DIR ?= $(CACHE)/onrush/target
endif

CARGO ?= cargo
# Where `make install` puts things. DESTDIR is for packages: a folder that stands for /.
PREFIX ?= /usr/local
DESTDIR ?=
# `release`, or `quick`: built sooner, and slower when it runs.
PROFILE ?= release
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# In the clone, so that `sudo make install` finds what another user built.
DIST := target/dist
HOST := $(shell uname -m)-unknown-linux-gnu

.DEFAULT_GOAL := help
.PHONY: help demo test bench lab release static deb install uninstall toolchain

help: ## Show this.
	@echo "make <target>, where target is one of"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile

demo: toolchain ## Run a k6 script with hundreds of VUs against the built-in target (ten seconds, once it is built).
	@echo 'Building Onrush (two to three minutes the first time) ...' >&2
	@$(CARGO) build --profile demo --locked --package onrush --no-default-features
	@sh packaging/demo.sh "$(TARGET_DIR)/demo/onrush" $(ARGS)

test: toolchain ## Build and test everything, tidy included; clippy and rustfmt where installed.
	@$(CARGO) xtask test

bench: toolchain ## Measure Onrush beside wrk and k6 (needs nginx, wrk, Go; ARGS="--help" says more).
	@$(CARGO) xtask bench $(ARGS)

lab: toolchain ## Measure every load generator there is, side by side (hours; ARGS="--quick": ten minutes).
	@$(CARGO) xtask lab $(ARGS)

release: toolchain ## Build the optimised program: stripped, its symbols beside it (PROFILE=quick: sooner).
	@$(CARGO) build --profile $(PROFILE) --locked --package onrush
	@sh packaging/strip.sh "$(TARGET_DIR)/$(PROFILE)/onrush" "$(DIST)"
	@sh packaging/stage.sh "$(DIST)/onrush" "$(DIST)"
	@echo "$(DIST)/onrush"

static: toolchain ## Build a statically linked binary, for containers and old machines.
	@RUSTFLAGS="$(RUSTFLAGS) -C target-feature=+crt-static" \
		$(CARGO) build --profile $(PROFILE) --locked --package onrush --target $(HOST)
	@sh packaging/strip.sh "$(TARGET_DIR)/$(HOST)/$(PROFILE)/onrush" "$(DIST)/static"
	@echo "$(DIST)/static/onrush"

deb: release ## Build a Debian package (needs `cargo install cargo-deb`).
	@$(CARGO) deb --package onrush --profile $(PROFILE) --no-build --no-strip --output "$(DIST)/"

# As root what `make release` made is installed as it is: nothing is built by root in the user's folders.
install: ## Install the program and shell completions below PREFIX (default /usr/local); DESTDIR for packages.
	@[ -x "$(DIST)/onrush" ] || $(MAKE) release
	install -D -m 755 "$(DIST)/onrush" "$(DESTDIR)$(PREFIX)/bin/onrush"
	install -D -m 644 "$(DIST)/completions/onrush.bash" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/onrush"
	install -D -m 644 "$(DIST)/completions/onrush.fish" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/onrush.fish"
	install -D -m 644 "$(DIST)/completions/_onrush" "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_onrush"
	install -D -m 644 LICENSE "$(DESTDIR)$(PREFIX)/share/doc/onrush/LICENSE"
	install -D -m 644 NOTICE "$(DESTDIR)$(PREFIX)/share/doc/onrush/NOTICE"

uninstall: ## Remove what `make install` installed.
	rm -f "$(DESTDIR)$(PREFIX)/bin/onrush" \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/onrush" \
		"$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/onrush.fish" \
		"$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_onrush" \
		"$(DESTDIR)$(PREFIX)/share/doc/onrush/LICENSE" "$(DESTDIR)$(PREFIX)/share/doc/onrush/NOTICE"
	-rmdir "$(DESTDIR)$(PREFIX)/share/doc/onrush" 2>/dev/null || true

# Rust and a C compiler; the compiler is installed where that is possible. Two clones that share a build folder look
# alike to cargo, which compares times only: after another clone's build everything here counts as changed.
toolchain:
	@sh crates/xtask/toolchain.sh
	@if [ -n "$$CARGO_TARGET_DIR" ] && [ "$$(cat "$$CARGO_TARGET_DIR/clone" 2>/dev/null)" != "$(CURDIR)" ]; then \
		find crates -type f -exec touch {} + && mkdir -p "$$CARGO_TARGET_DIR" && printf '%s\n' "$(CURDIR)" > "$$CARGO_TARGET_DIR/clone"; \
	fi
