#!/usr/bin/env bash
# Runs the levels of tests, in lanes side by side where memory allows, and prints what each
# level cost. Usage: hack/levels.sh all|quick|long
# PGSTORAGE_LANES=1 runs one level after another. A level that fails does not stop the others.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

SET=${1:-}
# patience bounds how long an interrupted level may take to remove its clusters and machines.
patience=180

# levels has one line for each level: its name, its make target, the GiB of memory that it
# needs, and its lanes of "all", of "quick" and of "long". Without a lane (-) it is not of that
# set. A lane runs its levels from top to bottom.
levels() {
	cat <<-LEVELS
		lint           lint                4  main     main    -
		verify         verify              2  main     main    -
		unit           test-unit           2  main     second  -
		plugin         test-plugin         2  -        second  -
		site           test-site           2  main     second  -
		browser        test-browser        2  main     second  -
		integration    test-integration    4  main     -       one
		vm             test-vm             6  machine  -       one
		zerofs         test-zerofs         2  machine  -       -
		release        test-release        3  machine  -       -
		install        test-install        2  machine  second  -
		e2e            test-e2e            6  cluster  -       one
		ceph           test-ceph           5  -        -       one
		e2e-memory     test-e2e-memory     6  -        -       one
		e2e-memory-node test-e2e-memory-node 8 -       -       one
		e2e-sites      test-e2e-sites      6  -        -       one
		e2e-followers  test-e2e-followers  6  -        -       one
		e2e-zones      test-e2e-zones      6  -        -       one
		e2e-backup     test-e2e-backup     6  -        -       one
		e2e-protection test-e2e-protection 6  -        -       one
		e2e-install    test-e2e-install    6  -        -       one
		e2e-zfs        test-e2e-zfs        8  -        -       one
		e2e-zfs-tutorial test-e2e-zfs-tutorial 8 -     -       one
		e2e-zfs-nodes  test-e2e-zfs-nodes 12  -        -       one
		e2e-branches   test-e2e-branches   8  -        -       one
		e2e-branch-faults test-e2e-branch-faults 8 -   -       one
		e2e-snapshot-backups test-e2e-snapshot-backups 8 - -   one
		e2e-tmpfs      test-e2e-tmpfs      6  -        -       one
		e2e-s3nbd      test-e2e-s3nbd      8  -        -       one
		e2e-s3nbd-tutorial test-e2e-s3nbd-tutorial 8 - -   one
		e2e-ceph       test-e2e-ceph      16  -        -       one
		e2e-ceph-zvols test-e2e-ceph-zvols 16 -        -       one
	LEVELS
}

# chosen prints name, target, GiB and lane of the levels of the set.
chosen() {
	local column
	case $SET in
	all) column=4 ;;
	quick) column=5 ;;
	long) column=6 ;;
	*) die "usage: hack/levels.sh all|quick|long" ;;
	esac
	levels | awk -v c="$column" '$c != "-" {print $1, $2, $3, $c}'
}

# available prints the GiB of memory that are free, or 0 where that is not known.
available() { awk '/^MemAvailable:/ {printf "%d", $2 / 1048576; found = 1} END {if (!found) print 0}' "${PGSTORAGE_MEMINFO:-/proc/meminfo}" 2>/dev/null || echo 0; }

# planned prints the levels with their lanes, which are one where memory does not suffice for
# the largest levels of all lanes at once.
planned() {
	local need free
	need=$(awk '$3 > most[$4] {most[$4] = $3} END {for (lane in most) sum += most[lane]; print sum}' <<<"$CHOSEN")
	free=$(available)
	if [ "${PGSTORAGE_LANES:-}" = 1 ]; then
		say "one lane: PGSTORAGE_LANES=1"
	elif [ "$free" -lt "$need" ]; then
		say "one lane: side by side the levels need $need GiB of memory, and $free are available"
	else
		echo "$CHOSEN"
		return
	fi
	awk '{$4 = "one"; print}' <<<"$CHOSEN"
}

log_of() { echo "$LEVEL_LOGS/$1.log"; }

# timed LOG COMMAND... prints the processor seconds of the command and of what it waited for.
timed() {
	local TIMEFORMAT='%U %S'
	{ time "${@:2}" </dev/null >"$1" 2>&1; } 2>&1
}

# niceness of a lane. The end-to-end tests are the longest lane, and without caches they wait
# first for what compilers make. The others yield to both, and most the one that waits least.
niceness() {
	case $1 in
	machine) echo 4 ;;
	main) echo 6 ;;
	*) echo 0 ;;
	esac
}

# run_level NAME TARGET LANE: its output goes to its log, its result to a file that exists from
# its start on.
run_level() {
	local begin=$SECONDS result=passed processor
	say "==> $1"
	echo "$begin - running $3 -" >"$RESULTS/$1"
	processor=$(timed "$(log_of "$1")" nice -n "$(niceness "$3")" make --no-print-directory "$2") || result=FAILED
	processor=$(awk '{printf "%d", $1 + $2}' <<<"$processor")
	[ -z "$interrupted" ] || result=interrupted
	echo "$begin $((SECONDS - begin)) $result $3 $processor" >"$RESULTS/$1"
	case $result in
	passed) say "ok  $1 $((SECONDS - begin))s" ;;
	*) say "$result: $1 after $((SECONDS - begin))s; log: $(log_of "$1")" ;;
	esac
}

run_lane() {
	local name target lane
	trap 'interrupted=yes' INT TERM
	while read -r name target _ lane; do
		[ "$lane" = "$1" ] || continue
		run_level "$name" "$target" "$lane"
		[ -z "$interrupted" ] || return
	done <<<"$PLAN"
}

# start_lanes in process groups of their own, to end each whole.
start_lanes() {
	local lane names
	mapfile -t names < <(awk '!seen[$4]++ {print $4}' <<<"$PLAN")
	set -m
	for lane in "${names[@]}"; do
		run_lane "$lane" 8>&- &
		lanes+=($!)
	done
	set +m
}

# alive: does a process of any lane live?
alive() {
	local lane
	for lane in "${lanes[@]}"; do
		if kill -0 -- "-$lane" 2>/dev/null; then return 0; fi
	done
	return 1
}

signal_lanes() {
	local lane
	for lane in "${lanes[@]}"; do kill "-$1" -- "-$lane" 2>/dev/null || true; done
}

# interrupt ends every lane with all that it started, and reports what is known so far.
interrupt() {
	local end=$((SECONDS + patience))
	trap '' INT TERM
	say "interrupted: ending the levels that run"
	signal_lanes TERM
	while alive && [ $SECONDS -lt $end ]; do sleep 0.2; done
	signal_lanes KILL
	report || true
	exit 130
}

# busy: does a lane still run levels? What a level that ended left behind does not count.
busy() {
	local lane
	for lane in "${lanes[@]}"; do
		if kill -0 "$lane" 2>/dev/null; then return 0; fi
	done
	return 1
}

# attend waits for all lanes, and reports once a minute that they are alive.
attend() {
	local next=$((SECONDS + 60))
	while busy; do
		sleep 0.5
		[ $SECONDS -ge $next ] || continue
		next=$((SECONDS + 60))
		say "    ... ${SECONDS}s, running:$(cd "$RESULTS" && grep -l ' running ' -- * | sed 's/^/ /' | tr -d '\n')"
	done
	wait
}

# result NAME prints start, seconds, result, lane and processor seconds.
result() { if [ -s "$RESULTS/$1" ]; then cat "$RESULTS/$1"; else echo "- - not-run - -"; fi; }

# closing LOG prints what a test runner says at the end of each test and package, and all that
# a level prints at the beginning of a line: not what tests log, nor the notes of -v.
closing() {
	awk '/^ *--- (PASS|FAIL|SKIP): / {print; next}
		/^(=== |[[:space:]]|$)/ || /^[0-9:]+ +\.\.\. / {next}
		{print}' "$1"
}

# counts LOG prints how many tests passed, failed and were skipped. A runner that prints no test
# that passed counts its packages.
counts() {
	awk '/^ *--- PASS: / {passed++} /^ *--- FAIL: / {failed++} /^ *--- SKIP: / {skipped++}
		/^ok  *\t/ {ok++} /^FAIL\t/ {bad++}
		END {
			if (passed) printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			else if (ok || bad) printf "%d packages passed, %d failed\n", ok, bad
			else print "-"
		}' "$1"
}

# output prints the closing lines of the levels that passed, and then all of the others'.
output() {
	local name state
	while read -r name _; do
		read -r _ _ state _ < <(result "$name")
		[ "$state" = passed ] || continue
		printf -- '---- %s\n' "$name"
		closing "$(log_of "$name")"
	done <<<"$PLAN"
	while read -r name _; do
		read -r _ _ state _ < <(result "$name")
		case $state in FAILED | interrupted) ;; *) continue ;; esac
		printf -- '---- %s: %s, whole output\n' "$name" "$state"
		cat "$(log_of "$name")"
	done <<<"$PLAN"
}

# table of the levels. Processor seconds are those of a level's own processes: not of the pods of
# its cluster, nor of what prefetch.sh made for it.
table() {
	local name start seconds state lane processor sum=0 used=0 count
	printf '\n%-15s %-8s %7s %8s %10s  %-12s %s\n' level lane start seconds processor result counts
	while read -r name _; do
		read -r start seconds state lane processor < <(result "$name")
		count=-
		[ "$state" = not-run ] || count=$(counts "$(log_of "$name")")
		[ "$seconds" = - ] || sum=$((sum + seconds))
		[ "$processor" = - ] || used=$((used + processor))
		printf '%-15s %-8s %7s %8s %10s  %-12s %s\n' "$name" "$lane" "$start" "$seconds" "$processor" "$state" "$count"
	done <<<"$PLAN"
	printf '%-15s %-8s %7s %8s %10s  %-12s %s\n' total "${#lanes[@]}" 0 "$SECONDS" "$used" "$1" "$sum s one after another"
}

# failures prints what failed once more, at the very end: whole outputs are long, and some
# viewers cut their middle.
failures() {
	local name state
	while read -r name _; do
		read -r _ _ state _ < <(result "$name")
		[ "$state" = FAILED ] || continue
		printf -- '\n---- %s failed:\n' "$name"
		failing "$(log_of "$name")"
	done <<<"$PLAN"
}

# failing LOG prints the surroundings of each test that failed, of at most 90 lines in all; the
# end of the log where no test says so. The consoles of virtual machines are mixed in a log, each
# line with the name of its machine: the surroundings of a line are those of its own console.
failing() {
	local lines
	lines=$(awk '
		{console = match($0, /^ *[a-z0-9 -]+\| /) ? substr($0, 1, RLENGTH) : ""; line = substr($0, 1, 300)}
		substr($0, length(console) + 1) ~ /^ *--- FAIL: |^panic: /  {
			for (i = n[console] - 8; i < n[console]; i++) if ((console, i) in before) print before[console, i]
			delete before
			after[console] = 13
		}
		after[console]-- > 0 {print line; next}
		{before[console, n[console]++] = line}' "$1" | head -n 90)
	if [ -n "$lines" ]; then echo "$lines"; else tail -n 15 "$1"; fi
}

# report fails where a level did not pass.
report() {
	local name state verdict=passed
	while read -r name _; do
		read -r _ _ state _ < <(result "$name")
		[ "$state" = passed ] || verdict=FAILED
	done <<<"$PLAN"
	output
	table "$verdict"
	failures
	[ "$verdict" = passed ]
}

CHOSEN=$(chosen)
LEVEL_LOGS=$LOGS/levels-$SET
alone "levels-$SET"
mkdir -p "$LEVEL_LOGS"
RESULTS=$(mktemp -d "$RUN/levels.XXXXXX")
trap 'rm -rf "$RESULTS"' EXIT
cd "$REPO" || exit
PLAN=$(planned)
interrupted=
lanes=()
trap interrupt INT TERM
start_lanes
attend
report
