#!/usr/bin/env bash
# A virtual machine with what the kernel under a container cannot be asked for:
# OpenZFS, NBD, md, LVM, and power that can be cut. All of it is Debian's.
# Usage:
#   hack/vm.sh image        makes {vmlinuz, initrd.gz, root.img} once, prints the folder
#   hack/vm.sh ceph-image   the same with Ceph's daemons: larger, and few tests need it
#   hack/vm.sh probe        prints kvm where a machine really boots with it, else tcg
# Standard output has only the answer. PGSTORAGE_VM_IMAGE and PGSTORAGE_VM_CEPH_IMAGE
# name a folder to take as it is. Making one needs root.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

GUEST=$REPO/hack/vm
ROOT_PACKAGES=(
	busybox-static ca-certificates iproute2 kmod procps udev util-linux
	zfsutils-linux nbd-client postgresql-15
	# What makes the signatures that a blank disk must not have.
	dosfstools e2fsprogs fdisk lvm2 mdadm xfsprogs
)
CEPH_PACKAGES=(ceph-common ceph-mgr ceph-mon ceph-osd)
# What the initial RAM disk needs to find the root disk.
BOOT_MODULES=(virtio_pci virtio_blk virtio_net ext4)

# key WORD...: a name for the content of what a step does and is given.
key() { printf '%s\n' "$@" | sha256sum | cut -c1-12; }

# bootstrap FOLDER: without a mirror of this machine's, debootstrap knows Debian's.
bootstrap() {
	local mirror packages
	mirror=$(debian_mirror || true)
	packages=$(IFS=,; echo "${ROOT_PACKAGES[*]}")
	contained timeout --foreground 1500 debootstrap --variant=minbase --components=main,contrib --include="$packages" \
		"$VM_DEBIAN" "$1" ${mirror:+"$mirror"}
}

root() {
	bootstrap "$1"
	rm -rf "$1"/var/lib/postgresql/* "$1"/etc/postgresql/* "$1"/var/cache/apt/* "$1"/usr/share/{doc,man,locale}/*
	mkdir -p "$1"/payload "$1"/artefacts
	echo pgstorage-vm >"$1/etc/hostname"
	echo "127.0.0.1 localhost pgstorage-vm" >"$1/etc/hosts"
}

# modules builds OpenZFS for the guest's kernel in a copy of the root, so that
# neither the host's apt nor the guest has a compiler or contrib added.
modules() {
	local build=$1.build kernel
	rm -rf "$build"
	cp -a "$ROOT" "$build"
	cp -L /etc/resolv.conf "$build/etc/resolv.conf"
	inside "$build" timeout --foreground 300 apt-get -q update
	kernel=$(inside "$build" apt-cache depends linux-image-cloud-amd64 | grep -om1 '[0-9][0-9.]*-[0-9.-]*-cloud-amd64')
	[ -n "$kernel" ] || die "no kernel in linux-image-cloud-amd64's dependencies"
	# Without what only debuggers read.
	inside "$build" env DEBIAN_FRONTEND=noninteractive KCFLAGS=-g0 timeout --foreground 3000 \
		apt-get -q install -y --no-install-recommends "linux-headers-$kernel" zfs-dkms
	# shellcheck disable=SC2016 # the inner shell's own variable
	inside "$build" sh -ec 'cd /tmp && apt-get -q download -o APT::Sandbox::User=root "linux-image-$1" && dpkg -x linux-image-*.deb /tmp/kernel' - "$kernel"
	mkdir -p "$1"
	mv "$build/tmp/kernel/lib/modules/$kernel" "$1/$kernel"
	mv "$build/tmp/kernel/boot/vmlinuz-$kernel" "$1/vmlinuz"
	mkdir -p "$1/$kernel/updates/dkms"
	cp "$build/lib/modules/$kernel/updates/dkms/"*.ko "$1/$kernel/updates/dkms/"
	test -e "$1/$kernel/updates/dkms/zfs.ko"
	rm -rf "$build"
}

# ceph_root adds Ceph to a copy of the root. The mgr's modules are compiled here, once:
# the emulated machine forgets what it compiles with each boot.
ceph_root() {
	cp -a "$ROOT" "$1"
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
	inside "$1" timeout --foreground 300 apt-get -q update
	inside "$1" env DEBIAN_FRONTEND=noninteractive timeout --foreground 1500 \
		apt-get -q install -y --no-install-recommends "${CEPH_PACKAGES[@]}"
	# Some files beside the modules are for other versions of Python.
	inside "$1" python3 -m compileall -q /usr/share/ceph/mgr || true
	rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,man,locale}/*
}

# tree FOLDER: the root with its kernel's modules.
tree() {
	local kernel
	cp -a "$ROOT" "$1"
	mkdir -p "$1/usr/lib/modules"
	for kernel in "$MODULES"/*-cloud-amd64; do
		cp -a "$kernel" "$1/usr/lib/modules/"
		chroot "$1" depmod "${kernel##*/}"
	done
	install -m 0755 "$GUEST/init" "$1/usr/sbin/pgstorage-init"
}

# initrd TREE FILE: only finds the root disk and hands over.
initrd() {
	local work=$1.initrd kernel module path n=10
	kernel=$(basename "$(echo "$1"/usr/lib/modules/*-cloud-amd64)")
	mkdir -p "$work"/{bin,modules,proc,sys,dev,root}
	cp "$1/bin/busybox" "$work/bin/"
	install -m 0755 "$GUEST/initrd" "$work/init"
	for module in "${BOOT_MODULES[@]}"; do
		# One that is part of the kernel needs no file.
		chroot "$1" modprobe -S "$kernel" --show-depends "$module" | sed -n 's/^insmod //p'
	done | awk '!seen[$1]++ {print $1}' | while read -r path; do
		cp "$1$path" "$work/modules/$n-$(basename "$path")"
		n=$((n + 1))
	done
	(cd "$work" && find . | cpio --quiet -o -H newc | gzip) >"$2"
	rm -rf "$work"
}

image() {
	rm -rf "$1.tree" "$1.tree.initrd"
	mkdir -p "$1"
	tree "$1.tree"
	initrd "$1.tree" "$1/initrd.gz"
	cp "$MODULES/vmlinuz" "$1/vmlinuz"
	truncate -s 4G "$1/root.img"
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 -d "$1.tree" "$1/root.img"
	# Every machine writes to a copy of its own.
	chmod a-w "$1/root.img"
	rm -rf "$1.tree"
}

ROOT=$CACHE/vm/root-$(key "$VM_DEBIAN" "${ROOT_PACKAGES[@]}" "$(declare -f root bootstrap)")
MODULES=$CACHE/vm/modules-$(key "${ROOT##*/}" "$(declare -f modules inside)")
IMAGE=$CACHE/vm-$(key "${MODULES##*/}" "${BOOT_MODULES[@]}" "$(declare -f image tree initrd)" "$(cat "$GUEST/init" "$GUEST/initrd")")

CEPH_ROOT=$CACHE/vm/ceph-root-$(key "${ROOT##*/}" "${CEPH_PACKAGES[@]}" "$(declare -f ceph_root)")
CEPH_IMAGE=$CACHE/vm-ceph-$(key "${IMAGE##*/}" "${CEPH_ROOT##*/}")

# emulator is what machines run on.
emulator() {
	command -v qemu-system-x86_64 >/dev/null || packages qemu-system-x86
	packages nbdkit
}

make_image() {
	if [ -n "${PGSTORAGE_VM_IMAGE:-}" ]; then
		IMAGE=$PGSTORAGE_VM_IMAGE
		[ -e "$IMAGE/root.img" ] || die "PGSTORAGE_VM_IMAGE: $IMAGE has no root.img"
	fi
	if [ ! -e "$IMAGE" ]; then
		[ "$(id -u)" = 0 ] || die "run hack/vm.sh image once as root: it makes a root file system"
		packages debootstrap debian-archive-keyring cpio e2fsprogs
		cached vm-root "$ROOT" root
		cached vm-modules "$MODULES" modules
		cached vm-image "$IMAGE" image
	fi
	emulator
}

# make_ceph_image is the other image with another root.
make_ceph_image() {
	if [ -n "${PGSTORAGE_VM_CEPH_IMAGE:-}" ]; then
		CEPH_IMAGE=$PGSTORAGE_VM_CEPH_IMAGE
		[ -e "$CEPH_IMAGE/root.img" ] || die "PGSTORAGE_VM_CEPH_IMAGE: $CEPH_IMAGE has no root.img"
	fi
	if [ ! -e "$CEPH_IMAGE" ]; then
		[ "$(id -u)" = 0 ] || die "run hack/vm.sh ceph-image once as root: it makes a root file system"
		packages debootstrap debian-archive-keyring cpio e2fsprogs
		cached vm-root "$ROOT" root
		cached vm-modules "$MODULES" modules
		cached vm-ceph-root "$CEPH_ROOT" ceph_root
		ROOT=$CEPH_ROOT
		cached vm-ceph-image "$CEPH_IMAGE" image
	fi
	emulator
}

# boots ACCELERATOR ARGUMENT...: does the kernel come up and speak? A device that
# is there may yet not run a stock kernel.
boots() {
	timeout 20 qemu-system-x86_64 -accel "$@" -m 512 -nodefaults -display none -serial stdio -no-reboot \
		-kernel "$IMAGE/vmlinuz" -initrd "$IMAGE/initrd.gz" -append "console=ttyS0 panic=-1 quiet pgstorage.probe" \
		</dev/null 2>&1 | grep -q "pgstorage-vm: alive"
}

# accelerator is asked once for each start of this machine.
accelerator() {
	local known
	known=$RUN/vm-accelerator-$(cat /proc/sys/kernel/random/boot_id)
	if [ ! -s "$known" ]; then
		say "==> does a virtual machine boot with KVM?"
		if [ -w /dev/kvm ] && boots kvm -cpu host; then echo kvm; else echo tcg; fi >"$known.part"
		mv "$known.part" "$known"
		say "ok  $(cat "$known")"
	fi
	cat "$known"
}

case ${1:-} in
image)
	make_image
	echo "$IMAGE"
	;;
ceph-image)
	make_ceph_image
	echo "$CEPH_IMAGE"
	;;
probe)
	make_image
	accelerator
	;;
*) die "usage: hack/vm.sh image|ceph-image|probe" ;;
esac
