#!/usr/bin/env bash
# Root file systems from Debian's packages, for the images that cannot be pulled.
# Usage: hack/rootfs.sh node|postgres|ceph   prints the folder
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NODE=$CACHE/rootfs/node-$NODE_DEBIAN-1
POSTGRES=$CACHE/rootfs/postgres-$POSTGRES_MAJOR-$POSTGRES_DEBIAN-1
CEPH=$CACHE/rootfs/ceph-$CEPH_VERSION-$CEPH_DEBIAN-1
# The daemons, and the programs that Rook's jobs and the daemons call.
CEPH_PACKAGES=(
	ceph-mon ceph-mgr ceph-osd ceph-volume ceph-common ceph-base ceph-mgr-modules-core ceph-mgr-rook rbd-fuse
	e2fsprogs gdisk iproute2 jq kmod lvm2 parted procps udev util-linux xfsprogs
)

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

# ceph has user and group 167 for Ceph and the user rook, as in the images of Ceph and Rook.
ceph() {
	bootstrap "$CEPH_DEBIAN" "$1" ca-certificates
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
	printf 'path-exclude=/usr/share/%s/*\n' doc man locale >"$1/etc/dpkg/dpkg.cfg.d/slim"
	# No package may start its daemon.
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod 755 "$1/usr/sbin/policy-rc.d"
	# A mirror may be a copy whose date of expiry has passed; apt still verifies the signatures.
	# The timeout of a newer Debian does not run as the first process, so the shell stays.
	inside "$1" sh -ec "
		export DEBIAN_FRONTEND=noninteractive LC_ALL=C
		timeout --foreground 300 apt-get -q -o Acquire::Check-Valid-Until=false update
		timeout --foreground 1500 apt-get -q install -y --no-install-recommends ${CEPH_PACKAGES[*]}
		ceph --version"
	chroot "$1" ceph --version | grep -F "ceph version $CEPH_VERSION" ||
		die "Debian $CEPH_DEBIAN has another Ceph than CEPH_VERSION in hack/versions.env"
	find "$1" -xdev \( -user "$(chroot "$1" id -u ceph)" -o -group "$(chroot "$1" id -g ceph)" \) -print0 >"$1.owned"
	chroot "$1" sh -ec 'groupmod -g 167 ceph; usermod -u 167 -g 167 ceph; useradd -u 2016 rook'
	xargs -0 chown -h 167:167 <"$1.owned"
	rm -rf "$1.owned" "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,man,locale}/* "$1"/var/log/*.log
	: >"$1/etc/resolv.conf"
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
ceph)
	[ "$(id -u)" = 0 ] || die "run hack/rootfs.sh ceph once as root: it makes a root file system"
	packages debian-archive-keyring
	cached bootstrap-ceph "$CEPH" ceph
	echo "$CEPH"
	;;
*) die "usage: hack/rootfs.sh node|postgres|ceph" ;;
esac
