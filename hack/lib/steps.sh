# shellcheck shell=bash
# Cached, resumable, logged steps. A step makes one folder or file; it is made
# beside its place and moved there whole, so that an interruption leaves nothing
# that a later run could take for finished.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=hack/versions.env
source "$REPO/hack/versions.env"

# As in the Makefile: checkouts share what they compile, lint has vet, nothing is for debuggers, and
# compilers collect their garbage less often.
export GOFLAGS=${GOFLAGS--trimpath -vet=off -gcflags=all=-dwarf=false '"-toolexec=env GOGC=300"'}

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

# PGSTORAGE_BRIEF is set where people watch: one line when a step ends.
BRIEF=${PGSTORAGE_BRIEF:-}

# detail TEXT: what only matters to whoever looks for a fault.
detail() { [ -n "$BRIEF" ] || say "$@"; }

# heartbeat NAME PID: reports every 20 seconds, in brief 60, that a step is alive.
heartbeat() {
	local name=$1 pid=$2 start=$SECONDS every=20 waited
	[ -z "$BRIEF" ] || every=60
	while kill -0 "$pid" 2>/dev/null; do
		for ((waited = 0; waited < every; waited++)); do
			kill -0 "$pid" 2>/dev/null || return 0
			sleep 1
		done
		say "    ... $name $((SECONDS - start))s"
	done
}

# of_children prints the processor seconds of this shell's children, from the output of times.
of_children() { awk -F '[ms ]+' 'NR == 2 {printf "%d", 60 * $1 + $2 + 60 * $3 + $4}'; }

# logged NAME COMMAND...: runs a command with its output in a log, whose end is
# shown when it fails. The file durations in the same folder gets a line: when it ended, its
# name, its seconds, and the seconds of processors that it used. An interruption ends the
# command with all it has started.
logged() {
	local name=$1 start=$SECONDS log pid beat ignored status=0 used
	shift
	# Inside a condition bash goes on after a failure, and so would the step.
	ignored=$( (set -e; false; echo yes); true)
	[ -z "$ignored" ] || die "step $name is part of a condition"
	log=$LOGS/$name.log
	detail "==> $name"
	times >"$LOGS/$name.times"
	used=$(of_children <"$LOGS/$name.times")
	set -m # a process group of its own
	("$@") >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	trap 'kill -- "-$pid" 2>/dev/null; exit 130' INT TERM
	heartbeat "$name" "$pid" 8>&- 9>&- &
	beat=$!
	wait "$pid" || status=$?
	trap - INT TERM
	# Not TERM: a shell that was forked a moment ago still has the traps of its parent, which would
	# end what runs beside this step.
	kill -KILL "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$status" -ne 0 ]; then
		tail -n 40 "$log" >&2
		die "$name failed after $((SECONDS - start))s; whole log: $log"
	fi
	say "ok  $name $((SECONDS - start))s"
	times >"$LOGS/$name.times"
	used=$(($(of_children <"$LOGS/$name.times") - used))
	rm "$LOGS/$name.times"
	printf '%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$name" "$((SECONDS - start))" "$used" >>"$LOGS/durations"
}

# cached NAME TARGET COMMAND...: runs COMMAND TEMPORARY-PATH once and keeps what
# it made at TARGET. Two runs at once wait for each other.
cached() {
	local name=$1 target=$2
	shift 2
	[ -e "$target" ] && return 0
	mkdir -p "$(dirname "$target")"
	(
		if ! flock -n 9; then
			detail "waiting for another run's $name"
			flock -w 3600 9 || die "another run holds $target.lock for an hour"
		fi
		[ -e "$target" ] && exit 0
		rm -rf "$target.part"
		logged "$name" "$@" "$target.part"
		mv "$target.part" "$target"
	) 9>"$target.lock"
}

# alone NAME: from here on, one run at a time. What outlives the script must not
# inherit the lock: start it with 8>&-.
alone() {
	exec 8>"$CACHE/$1.lock"
	flock -n 8 && return 0
	say "waiting for another run that holds $CACHE/$1.lock"
	flock -w 1800 8 || die "another run holds $CACHE/$1.lock for half an hour"
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

# packages NAME...: installs Debian packages that are missing. A command of the
# package's name will do, so that other distributions can have theirs.
packages() {
	local missing=() p
	for p in "$@"; do
		command -v "$p" >/dev/null || dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	command -v apt-get >/dev/null || die "needed, by the names of Debian's packages: ${missing[*]}"
	[ "$(id -u)" = 0 ] || die "missing packages; as root: apt-get install ${missing[*]}"
	# apt itself does not wait while another run updates its lists.
	(
		flock -w 1800 7 || die "another run holds $CACHE/apt.lock for half an hour"
		logged apt-packages apt_install "${missing[@]}" 7>&-
	) 7>"$CACHE/apt.lock"
}
apt_install() {
	export DEBIAN_FRONTEND=noninteractive
	timeout 300 apt-get -q -o DPkg::Lock::Timeout=120 update
	timeout 600 apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@"
}

# debian_mirror prints the archive that this machine's own sources name.
debian_mirror() {
	# shellcheck disable=SC2016 # apt's own variable
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n1
}

# unpack_debian FOLDER RELEASE COMMAND...: unpacks packages of any release of Debian, which
# COMMAND has apt-get download. Nothing is installed, and no script of theirs is run.
unpack_debian() {
	local folder=$1 release=$2 state=$1.apt d options
	shift 2
	rm -rf "$state"
	mkdir -p "$folder" "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $release main" >"$state/sources"
	options=(-q -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
		-o "Dir::Etc::sourcelist=$state/sources" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root)
	timeout 600 apt-get "${options[@]}" update
	(cd "$state/cache/archives" && timeout 600 apt-get "${options[@]}" "$@")
	for d in "$state"/cache/archives/*.deb; do dpkg -x "$d" "$folder"; done
	rm -rf "$state"
}

# contained COMMAND...: in namespaces of its own, so that no mount and no process of
# it outlives the step; debootstrap does not listen to an interruption.
contained() { setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }

# inside FOLDER COMMAND...: in a root file system, with its /proc.
inside() {
	# shellcheck disable=SC2016 # the inner shell's own variables
	contained sh -ec 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' "$@"
}

# module_dir MODULE VERSION prints the folder of a Go module's source.
module_dir() {
	(cd "$CACHE" && GOFLAGS=-mod=mod go mod download -json "$1@$2") | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

# published REGISTRY (needs curl): does it answer as a registry, within 5 seconds? That a port
# is open says little where a proxy refuses. Asked once for a script and those it
# calls; a caller may set the variable itself.
published() {
	local answer=PGSTORAGE_PUBLISHED_${1//[.-]/_} code
	if [ -z "${!answer:-}" ]; then
		code=$(curl -s -o /dev/null -m 5 -w '%{http_code}' "https://$1/v2/" || true)
		case $code in
		200 | 401) export "$answer=yes" ;;
		*) export "$answer=no" ;;
		esac
	fi
	[ "${!answer}" = yes ]
}

# python_folder NAME LOCK prints the place in the cache for an environment with the packages that
# LOCK pins. It differs by version of Python.
python_folder() {
	local version
	python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
	version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "$1 needs Python 3.11 or newer; python3 is $version"
	echo "$CACHE/$1/$version-$(sha256sum "$2" | cut -c1-16)"
}

# python_environment LOCK FOLDER makes an environment with the packages that LOCK pins by hash.
python_environment() {
	python3 -m venv "$2"
	# Only wheels: building a package would run its code.
	"$2/bin/python" -m pip install --quiet --require-hashes --no-deps --only-binary :all: -r "$1"
}
