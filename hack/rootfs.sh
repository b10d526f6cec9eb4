#!/usr/bin/env bash
# Root file systems from Debian's packages, for the images that cannot be pulled.
# Usage: hack/rootfs.sh node|postgres   prints the folder
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NODE=$CACHE/rootfs/node-$NODE_DEBIAN-1
POSTGRES=$CACHE/rootfs/postgres-$POSTGRES_MAJOR-$POSTGRES_DEBIAN-1

bootstrap() { timeout 900 debootstrap --variant=minbase --include="$3" "$1" "$2" "$(debian_mirror)"; }

# The node stays on a Debian whose systemd still runs on cgroup v1 hosts.
node() {
	bootstrap "$NODE_DEBIAN" "$1" ca-certificates,systemd,systemd-sysv,dbus,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,libseccomp2,jq,procps,e2fsprogs,curl,socat,fuse3,hostname
	rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,man,locale}/*
}

# CloudNativePG runs its images as user and group 26
# (https://cloudnative-pg.io/documentation/current/container_images/).
postgres() {
	bootstrap "$POSTGRES_DEBIAN" "$1" "ca-certificates,postgresql-$POSTGRES_MAJOR,locales-all"
	chroot "$1" sh -ec "
		groupdel tape || true
		groupmod -g 26 postgres
		usermod -u 26 -g 26 -d /var/lib/postgresql postgres
		rm -rf /var/lib/postgresql/* /etc/postgresql/*
		chown -R 26:26 /var/lib/postgresql /var/run/postgresql /etc/postgresql
		/usr/lib/postgresql/$POSTGRES_MAJOR/bin/pgbench --version
		/usr/lib/postgresql/$POSTGRES_MAJOR/bin/pg_amcheck --version"
	rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,man}/* "$1"/var/log/*
}

packages debootstrap ca-certificates
case ${1:-} in
node)
	cached bootstrap-node "$NODE" node
	echo "$NODE"
	;;
postgres)
	cached bootstrap-postgres "$POSTGRES" postgres
	echo "$POSTGRES"
	;;
*) die "usage: hack/rootfs.sh node|postgres" ;;
esac
