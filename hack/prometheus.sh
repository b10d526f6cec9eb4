#!/usr/bin/env bash
# Prometheus and promtool, which checks and tries alerts: the one on the PATH, else out of
# Debian's package, which is not installed because that would start a server.
# Usage: hack/prometheus.sh prometheus|promtool; prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
program=${1:?usage: hack/prometheus.sh prometheus|promtool}

if command -v "$program"; then exit 0; fi
command -v apt-get >/dev/null || die "needed on the PATH: $program of Prometheus"

extract() {
	mkdir -p "$1"
	cd "$1"
	# Lists of packages may be absent or old.
	timeout 120 apt-get -q download prometheus || { timeout 300 apt-get -q update && timeout 120 apt-get -q download prometheus; }
	dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool ./usr/bin/prometheus
	rm prometheus_*.deb
}

target=$CACHE/prometheus/$(. /etc/os-release && echo "$ID-$VERSION_CODENAME")
cached prometheus "$target" extract
echo "$target/usr/bin/$program"
