#!/usr/bin/env bash
# cosign out of the package of a newer Debian, which needs nothing newer of the system. Its Go
# module takes longer to compile than all else of a release. Prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

command -v apt-get >/dev/null || die "needed: apt-get of Debian or Ubuntu, to download cosign"

extract() { unpack_debian "$1" "$COSIGN_DEBIAN" download cosign; }

target=$CACHE/cosign/$COSIGN_DEBIAN
cached cosign "$target" extract
echo "$target/usr/bin/cosign"
