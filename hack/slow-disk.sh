#!/usr/bin/env bash
# A disk whose reads are slow, for a node of a kind cluster: nbdkit delays each read,
# nbdfuse shows its disk as a file, and a loop device makes a disk of the file. The
# node has it at /mnt/slow, with ext4. Needs root. Usage:
#   hack/slow-disk.sh up NODE DELAY   makes it; a read takes DELAY longer, as 10ms
#   hack/slow-disk.sh down NODE       removes it
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
USAGE="usage: hack/slow-disk.sh up NODE DELAY | down NODE"
NODE=${2:?$USAGE}
DIR=$RUN/slow-disk-$NODE
SIZE=4G

# attached: the loop devices over the disk, one a line.
attached() { losetup -n -O NAME -j "$DIR/shown/disk" 2>/dev/null || true; }

# ended PROGRAM: kills it by its pid file, unless the number is another process's by now.
ended() {
	local pid
	pid=$(cat "$DIR/$1.pid" 2>/dev/null) || return 0
	! grep -qaF "$DIR/" "/proc/$pid/cmdline" 2>/dev/null || kill "$pid"
}

down() {
	local device
	docker exec "$NODE" umount -l /mnt/slow >/dev/null 2>&1 || true
	for device in $(attached); do losetup -d "$device"; done
	! mountpoint -q "$DIR/shown" || umount -l "$DIR/shown"
	ended nbdfuse
	ended nbdkit
	rm -rf "$DIR"
}

up() {
	local delay=${3:?$USAGE} device
	packages nbdkit libnbd-bin e2fsprogs util-linux
	down
	mkdir -p "$DIR/shown"
	truncate -s "$SIZE" "$DIR/disk.img"
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$DIR/disk.img"
	nbdkit --pidfile "$DIR/nbdkit.pid" -U "$DIR/socket" --filter=delay file "$DIR/disk.img" "rdelay=$delay" </dev/null 8>&- 9>&-
	until_ok 20 nbdkit test -s "$DIR/nbdkit.pid"
	setsid nohup nbdfuse -P "$DIR/nbdfuse.pid" "$DIR/shown/disk" "nbd+unix:///?socket=$DIR/socket" </dev/null >"$DIR/nbdfuse.log" 2>&1 8>&- 9>&- &
	until_ok 20 nbdfuse test -s "$DIR/shown/disk"
	# Without direct I/O, reads ahead in the file would hide that each read is slow.
	device=$(losetup --direct-io=on -f --show "$DIR/shown/disk")
	docker exec "$NODE" sh -c "rm -f /slow-disk && mknod /slow-disk b $(stat -c '0x%t 0x%T' "$device") && mkdir -p /mnt/slow && mount /slow-disk /mnt/slow"
	say "$NODE has a disk at /mnt/slow, whose reads take $delay longer"
}

case ${1:-} in
up) up "$@" ;;
down) down ;;
*) die "$USAGE" ;;
esac
