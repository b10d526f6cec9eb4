#!/bin/sh
# Records the runs of a small matrix, for the tests of this folder:
#
#   record.sh BINDIR FOLDER [level]    for example  record.sh /usr/lib/postgresql/15/bin v15
#
# With "level" only the last of them, to have it again. BINDIR holds initdb, pg_ctl,
# psql and pgbench of one version. A throwaway server
# is started on a Unix socket and removed at the end. Not to be run as root.
set -eu
bin=$1 out=$2 only=${3:-}
# In memory, and with commits that wait by commit_delay in place of a disk: so the
# figures are of waiting, and hardly of how busy the machine is.
work=$(mktemp -d -p /dev/shm)
mkdir -p "$out"
out=$(cd "$out" && pwd)
trap '"$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$bin/initdb" -D "$work/data" -U postgres -A trust >/dev/null
"$bin/pg_ctl" -D "$work/data" -w -l "$work/server.log" \
  -o "-c listen_addresses= -c unix_socket_directories=$work -c commit_delay=20000 -c commit_siblings=0 -c autovacuum=off" start >/dev/null
export PGHOST="$work" PGUSER=postgres PGDATABASE=postgres LC_ALL=C TMPDIR="$work"
cd "$work"

# record NAME ARGUMENT... keeps stdout, stderr and the transaction log.
record() {
  name=$1; shift
  "$bin/pgbench" -P 1 -l --log-prefix=log --sampling-rate=0.1 "$@" >"$out/$name.out.txt" 2>"$out/$name.err.txt"
  # Only this path names the machine.
  sed -i "s#$bin/##g; s#$work#/run/postgresql#g" "$out/$name.out.txt" "$out/$name.err.txt"
  cat log.* >"$out/$name.log.txt" && rm -f log.*
}

cat >pause.sql <<'SQL'
\set aid random(1, 100000 * :scale)
\set delta random(-5000, 5000)
\sleep 10 ms
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, CURRENT_TIMESTAMP);
END;
SQL
"$bin/pgbench" -i -q -s 4 >/dev/null 2>&1
"$bin/pgbench" -f pause.sql -T 2 -c 4 -n >/dev/null 2>&1

# Durability Local and Async by 1 and 4 clients, five repeats, each in another
# order.
set -- Local-1 Async-4 Local-4 Async-1
[ -z "$only" ] || set --
for repeat in 1 2 3 4 5; do
  for variant in "$@"; do
    case $variant in Local-*) commit=on ;; *) commit=off ;; esac
    PGOPTIONS="-c synchronous_commit=$commit" record "$variant.$repeat" -f pause.sql -T 5 -c "${variant#*-}" -j 1 -n
  done
  [ $# -eq 0 ] || { first=$1; shift; set -- "$@" "$first"; }
done

# A run whose level changes: commits begin to wait in its middle.
"$bin/psql" -qc "ALTER SYSTEM SET synchronous_commit = off" -c "SELECT pg_reload_conf()" >/dev/null
(sleep 7 && "$bin/psql" -qc "ALTER SYSTEM SET synchronous_commit = on" -c "SELECT pg_reload_conf()" >/dev/null) &
record level -f pause.sql -T 14 -c 1 -n
wait
