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

rust_is_new_enough() {
	local minor
	command -v cargo >/dev/null || return 1
	minor=$(rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
	[ "${minor:-0}" -ge "$RUST_MINOR" ]
}

# zerofs in its own profile for tests: optimised as a release is, but without the
# optimiser's passes over whole crates and the whole program.
zerofs() {
	CARGO_HOME=$WORK/cargo CARGO_TARGET_DIR=$WORK/target CARGO_PROFILE_CI_LTO=off \
		cargo install zerofs --version "$ZEROFS_VERSION" --locked --profile ci --no-track --root "$1"
	"$1/bin/zerofs" --version
	rm -rf "$WORK"
}

if [ ! -e "$ZEROFS" ]; then
	packages gcc libc6-dev make
	rust_is_new_enough || die "needed: cargo and rustc 1.$RUST_MINOR or newer (https://rustup.rs; Debian 13's are too old)"
fi
cached build-zerofs "$ZEROFS" zerofs
echo "$ZEROFS/bin/zerofs"
