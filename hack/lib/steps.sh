# shellcheck shell=bash
# Cached, resumable, logged steps. A step makes one folder or file; it is made
# beside its place and moved there whole, so that an interruption leaves nothing
# that a later run could take for finished.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=hack/versions.env
source "$REPO/hack/versions.env"

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/pgstorage
LOGS=$CACHE/logs
# Sockets have short paths: a Unix socket's is at most 107 bytes.
RUN=$CACHE/run
if [ ${#RUN} -gt 60 ]; then
	RUN=/tmp/pgstorage-$(printf %s "$CACHE" | sha256sum | cut -c1-8)
fi
mkdir -p "$CACHE" "$LOGS" "$RUN"

# Progress goes to standard error: standard output is for results.
say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# heartbeat NAME PID: tells every 20 seconds that a step is alive.
heartbeat() {
	local name=$1 pid=$2 start=$SECONDS
	while kill -0 "$pid" 2>/dev/null; do
		for _ in {1..20}; do
			kill -0 "$pid" 2>/dev/null || return 0
			sleep 1
		done
		say "    ... $name $((SECONDS - start))s"
	done
}

# logged NAME COMMAND...: runs a command with its output in a log, whose end is
# shown when it fails.
logged() {
	local name=$1 start=$SECONDS log pid beat status=0
	shift
	log=$LOGS/$name.log
	say "==> $name"
	("$@") >"$log" 2>&1 </dev/null &
	pid=$!
	heartbeat "$name" "$pid" &
	beat=$!
	wait "$pid" || status=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$status" -ne 0 ]; then
		tail -n 40 "$log" >&2
		die "$name failed after $((SECONDS - start))s; whole log: $log"
	fi
	say "ok  $name $((SECONDS - start))s"
}

# cached NAME TARGET COMMAND...: runs COMMAND TEMPORARY-PATH once and keeps what
# it made at TARGET. Two runs at once wait for each other.
cached() {
	local name=$1 target=$2
	shift 2
	[ -e "$target" ] && return 0
	mkdir -p "$(dirname "$target")"
	(
		flock -w 1800 9 || die "another run holds $target for half an hour"
		[ -e "$target" ] && exit 0
		rm -rf "$target.part"
		logged "$name" "$@" "$target.part"
		mv "$target.part" "$target"
	) 9>"$target.lock"
}

# until_ok SECONDS WHAT COMMAND...: repeats a command until it succeeds.
until_ok() {
	local limit=$1 what=$2 end
	shift 2
	end=$((SECONDS + limit))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || die "waited ${limit}s for $what"
		sleep 0.3
	done
}

# packages NAME...: installs Debian packages that are missing.
packages() {
	local missing=() p
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" = 0 ] || die "missing packages; as root: apt-get install ${missing[*]}"
	command -v apt-get >/dev/null || die "needed: ${missing[*]}"
	logged apt-packages apt_install "${missing[@]}"
}
apt_install() {
	export DEBIAN_FRONTEND=noninteractive
	timeout 300 apt-get -q update
	timeout 600 apt-get -q install -y --no-install-recommends "$@"
}

# debian_mirror prints the archive that this machine's own sources name.
debian_mirror() {
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n1
}

# module_dir MODULE VERSION prints the folder of a Go module's source.
module_dir() {
	(cd "$CACHE" && GOFLAGS=-mod=mod go mod download -json "$1@$2") | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

# published HOST: can images be had from there? Decided once in 5 seconds.
published() { timeout 5 bash -c ": </dev/tcp/$1/443" 2>/dev/null; }
