#!/bin/sh
# Creates, writes, flushes, reads and removes an image in each of $POOLS. Every value comes
# from the environment. Each step has a minute: requests to a pool without active placement
# groups never return. The client does not cache, so a write is acknowledged once every copy
# has it, and rbd bench flushes at its end. The last words go into a condition.
set -eu
user=$(cat "$CLIENT/userID")
step() {
	what=$1 code=0
	shift
	out=$(timeout 60 rbd -c /dev/null --mon-host "$MON_HOST" --id "$user" --keyfile "$CLIENT/userKey" --rbd-cache=false "$@" 2>&1) || code=$?
	[ "$code" -ne 0 ] || return 0
	[ "$code" -ne 124 ] || out="no answer within 60 s"
	printf 'pool %s: rbd %s failed: %s\n' "$pool" "$what" "$(printf '%s' "$out" | tail -n 1)" | tee /dev/termination-log
	exit 1
}
for pool in $POOLS; do
	image=$pool/$IMAGE
	# What a try before left behind.
	(step remove rm --no-progress "$image") >/dev/null 2>&1 || true
	: >/dev/termination-log
	step create create --size 16M --image-format 2 --image-feature "$FEATURES" ${DATA_POOL:+--data-pool "$DATA_POOL"} "$image"
	step write bench --io-type write --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq "$image"
	step read bench --io-type read --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq "$image"
	step remove rm --no-progress "$image"
	echo "pool $pool: an image was created, written, flushed, read and removed"
done
