#!/usr/bin/env bash
# cosign out of the package of a newer Debian, which needs nothing newer of the system. Its Go
# module takes longer to compile than all else of a release. Prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

command -v apt-get >/dev/null || die "needed: apt-get of Debian or Ubuntu, to download cosign"

extract() {
	local state=$1.apt options
	rm -rf "$state"
	mkdir -p "$1" "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $COSIGN_DEBIAN main" >"$state/sources"
	options=(-q -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
		-o "Dir::Etc::sourcelist=$state/sources" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root)
	timeout 300 apt-get "${options[@]}" update
	(cd "$state" && timeout 300 apt-get "${options[@]}" download cosign)
	dpkg -x "$state"/cosign_*.deb "$1"
	rm -rf "$state"
}

target=$CACHE/cosign/$COSIGN_DEBIAN
cached cosign "$target" extract
echo "$target/usr/bin/cosign"
