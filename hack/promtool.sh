#!/usr/bin/env bash
# promtool, which checks and tries alerts: the one on the PATH, else out of Debian's
# package, which is not installed because that would start a server. Prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

if command -v promtool; then exit 0; fi
command -v apt-get >/dev/null || die "needed on the PATH: promtool of Prometheus"

extract() {
	mkdir -p "$1"
	cd "$1"
	# Lists of packages may be absent or old.
	timeout 120 apt-get -q download prometheus || { timeout 300 apt-get -q update && timeout 120 apt-get -q download prometheus; }
	dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
	rm prometheus_*.deb
}

target=$CACHE/promtool/$(. /etc/os-release && echo "$ID-$VERSION_CODENAME")
cached promtool "$target" extract
echo "$target/usr/bin/promtool"
