#!/bin/sh
# Records what one version of pgbench prints, for the tests of this folder:
#
#   record.sh BINDIR FOLDER      for example  record.sh /usr/lib/postgresql/15/bin v15
#
# BINDIR holds initdb, pg_ctl, psql and pgbench of one version. A throwaway server
# is started on a Unix socket and removed at the end. Not to be run as root.
set -eu
bin=$1 out=$2
work=$(mktemp -d)
mkdir -p "$out"
out=$(cd "$out" && pwd)
trap '"$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$bin/initdb" -D "$work/data" -U postgres -A trust >/dev/null
"$bin/pg_ctl" -D "$work/data" -w -l "$work/server.log" \
  -o "-c listen_addresses= -c unix_socket_directories=$work -c deadlock_timeout=20ms -c fsync=off" start >/dev/null
export PGHOST="$work" PGUSER=postgres PGDATABASE=postgres LC_ALL=C TMPDIR="$work"
cd "$work"

# record NAME ARGUMENT... keeps stdout and stderr; a failure is kept too.
record() {
  name=$1; shift
  "$bin/pgbench" "$@" >"$out/$name.out.txt" 2>"$out/$name.err.txt" || true
  # Only these paths name the machine.
  sed -i "s#$work#/run/postgresql#g; s#$bin/##g" "$out/$name.out.txt" "$out/$name.err.txt"
}
log() {
  cat "$2".* >"$out/$1.log.txt" && rm -f "$2".*
}

cat >lookup.sql <<'SQL'
\set aid random(1, 100000 * :scale)
-- a comment
SELECT abalance,
       filler
  FROM pgbench_accounts WHERE aid = :aid;
\if :aid > 50000
SELECT 1 \; SELECT 2;
\else
SELECT 3;
\endif
SQL
cat >contend.sql <<'SQL'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT bbalance FROM pgbench_branches WHERE bid = 1;
UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;
END;
SQL
cat >deadlock.sql <<'SQL'
\set a random(1, 2)
\set b 3 - :a
BEGIN;
UPDATE pgbench_tellers SET tbalance = 0 WHERE tid = :a;
UPDATE pgbench_tellers SET tbalance = 0 WHERE tid = :b;
END;
SQL
echo 'SELECT 1/(random() * 0)::int;' >broken.sql

record init -i -s 3 --foreign-keys
record init-quiet -i -q -s 60
record init-server -i -I dtGvp -s 1
record init-plain -i -s 2

record tpcb -T 2 -c 2 -j 2 -P 1 -r
record select -S -t 50 -c 2 -M prepared -l --log-prefix=sel
log select sel
record simple-update -N -t 20 -c 4 -j 2 -M extended
record weighted -b tpcb-like@3 -b select-only@1 -f lookup.sql@2 -t 60 -c 2 -r -l --log-prefix=wgt
log weighted wgt
record rate -b simple-update -R 2000 -L 1 -T 2 -P 1 -c 2 --progress-timestamp -l --log-prefix=rate --sampling-rate=0.05
log rate rate
record rate-only -S -R 100 -T 1 -c 1 -P 1
record limit -S -L 0.05 -t 100
record retries -f contend.sql -c 8 -j 2 -t 30 --max-tries=3 -r --failures-detailed -P 1 -l --log-prefix=ret
log retries ret
record failures -f contend.sql -c 8 -j 2 -T 2 -P 1 -l --log-prefix=fail --sampling-rate=0.005
log failures fail
record unlimited -f contend.sql -c 4 -T 2 --max-tries=0 -P 1
record deadlock -f deadlock.sql -c 6 -t 30 --max-tries=2 --failures-detailed -r
record connect -C -S -t 10 -c 2
record aggregate -S -T 2 -l --log-prefix=agg --aggregate-interval=1
log aggregate agg
record broken -f broken.sql -c 2 -t 5
record half-broken -f contend.sql -f broken.sql -c 4 -t 5 -r --random-seed=7
record no-server -h /nonexistent -S -t 1
record no-table -S -t 1 -d template1
record usage --no-such-option
record init-partitions -i -s 1 --partitions=4 --partition-method=hash
record partitions -S -t 10 -M simple
