#!/usr/bin/env bash
# Builds ZeroFS, the S3-backed NBD server, once per version from its crate, whose
# lock file fixes every dependency by its hash, and prints the program's path.
# Usage: hack/zerofs.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

ZEROFS=$CACHE/zerofs/$ZEROFS_VERSION
# What is compiled already is kept until the build succeeds.
WORK=$CACHE/zerofs/build-$ZEROFS_VERSION
# The first that has all that ZeroFS uses (Duration::from_mins).
RUST_MINOR=91
# Debian 12 has no other Rust that is new enough. It is in the archive of security updates.
RUST_PACKAGES=(rustc-web cargo-web)
RUST_PATH=$PATH

# new_enough VERSION, as 1.96.0: can it compile ZeroFS?
new_enough() {
	local minor=${1#1.}
	minor=${minor%%.*}
	[ "${minor:-0}" -ge "$RUST_MINOR" ]
}

installed() {
	local PATH=$RUST_PATH
	command -v cargo >/dev/null && new_enough "$(rustc --version 2>/dev/null | cut -d ' ' -f 2)"
}

# offered: can apt add the packages without the removal of others, such as another Rust?
offered() { new_enough "$(apt-get -s --no-remove install "${RUST_PACKAGES[@]}" 2>/dev/null | sed -n 's/^Inst rustc-web .*(\([^ ]*\).*/\1/p')"; }

lists() {
	flock -w 1800 7 || die "another run holds $CACHE/apt.lock for half an hour"
	logged apt-lists timeout 300 apt-get -q -o DPkg::Lock::Timeout=120 update 7>&-
}

# rust sets RUST_PATH to one that has a Rust that is new enough, and installs one if need be.
rust() {
	installed && return
	RUST_PATH=/usr/bin:$PATH # one of rustup may come before that of packages
	installed && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		(lists) 7>"$CACHE/apt.lock"
	fi
	if offered; then packages "${RUST_PACKAGES[@]}"; fi
	installed || die "needed: cargo and rustc 1.$RUST_MINOR or newer (https://rustup.rs, or Debian 12's ${RUST_PACKAGES[*]} with its security updates; Debian 13's are too old)"
}

# zerofs in its own profile for tests: optimised as a release is, but without the
# optimiser's passes over whole crates and the whole program.
zerofs() {
	PATH=$RUST_PATH CARGO_HOME=$WORK/cargo CARGO_TARGET_DIR=$WORK/target CARGO_PROFILE_CI_LTO=off \
		cargo install zerofs --version "$ZEROFS_VERSION" --locked --profile ci --no-track --root "$1"
	"$1/bin/zerofs" --version
	rm -rf "$WORK"
}

if [ ! -e "$ZEROFS" ]; then
	packages gcc libc6-dev make
	rust
fi
cached build-zerofs "$ZEROFS" zerofs
echo "$ZEROFS/bin/zerofs"
