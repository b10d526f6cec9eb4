//go:build guest

package guest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/host"
)

// carrier makes a disk carry something. Words are what the agent says of it, with KERNEL for
// the disk's kernel name.
type carrier struct {
	name  string
	put   func(t *testing.T, device string)
	words string
	// left is what wipefs leaves, so that wipe is not enough.
	left string
}

var carriers = []carrier{
	{name: "ext4", put: program("mkfs.ext4", "-q"), words: "ext4, ext filesystem"},
	{name: "xfs", put: program("mkfs.xfs", "-q"), words: "XFS, xfs"},
	{name: "vfat", put: program("mkfs.vfat", "-I", "--mbr=n"), words: "vfat, MBR or boot sector"},
	{name: "swap", put: program("mkswap"), words: "swap"},
	{name: "lvm", put: program("pvcreate", "-q"), words: "LVM2_member, LVM physical volume"},
	{name: "md 0.90", put: array("0.90"), words: "linux_raid_member, MD RAID 0.90"},
	{name: "md 1.0", put: array("1.0"), words: "linux_raid_member, MD RAID 1.0"},
	{name: "md 1.1", put: array("1.1"), words: "MD RAID 1.1, linux_raid_member"},
	{name: "md 1.2", put: array("1.2"), words: "linux_raid_member, MD RAID 1.2"},
	{name: "exported pool", put: poolThen("export"), words: tableOfPool},
	{name: "destroyed pool", put: poolThen("destroy"), words: tableOfPool},
	{name: "pool without partitions", put: barePool(0), words: "ZFS label, zfs_member", left: "ZFS label"},
	{name: "pool's labels at the end", put: barePool(4 << 20), words: "zfs_member, ZFS label", left: "ZFS label"},
	{name: "empty gpt", put: table("label: gpt"), words: "gpt, MBR or boot sector, PMBR, GPT, GPT backup"},
	{name: "gpt with a partition", put: table("label: gpt", ","), words: "gpt, partition KERNEL1, MBR or boot sector, PMBR, GPT, GPT backup"},
	{name: "gpt with ext4 in its partition", put: partitionWithExt4, words: "gpt, partition KERNEL1, MBR or boot sector, PMBR, GPT, GPT backup"},
	{name: "gpt's backup", put: backupOfGPT, words: "GPT backup, gpt"},
	{name: "mbr", put: table("label: dos", ","), words: "dos, partition KERNEL1, MBR or boot sector"},
	{name: "bluestore", put: text(0, "bluestore block device\n"), words: "Ceph BlueStore label, ceph_bluestore"},
	{name: "luks", put: text(0, "LUKS\xba\xbe\x00\x02"), words: "LUKS header, crypto_LUKS"},
	{name: "random data", put: random(0), words: "data without a known signature"},
	{name: "random data at the end", put: random(-1 << 20), words: "data without a known signature"},
	{name: "one byte", put: text(1<<20, "x"), words: "data without a known signature"},
}

// tableOfPool is what a pool that was made of the whole disk leaves on it.
const tableOfPool = "gpt, partition KERNEL1, partition KERNEL9, MBR or boot sector, PMBR, GPT, GPT backup"

func program(name string, args ...string) func(*testing.T, string) {
	return func(t *testing.T, device string) { alone(t, name, append(args, device)...) }
}

// text at an offset, as of what has no program to make it.
func text(offset int64, s string) func(*testing.T, string) {
	return func(t *testing.T, device string) { write(t, device, offset, []byte(s)) }
}

// random data of 1 MiB, the same each time; a negative offset counts from the end.
func random(offset int64) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		data := make([]byte, 1<<20)
		if _, err := io.ReadFull(rand.NewChaCha8([32]byte{'p', 'g'}), data); err != nil {
			t.Fatal(err)
		}
		write(t, device, offset, data)
	}
}

func write(t *testing.T, device string, offset int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was synced
	if offset < 0 {
		offset += sizeOf(t, f)
	}
	if _, err := f.WriteAt(data, offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, f *os.File) int64 {
	t.Helper()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// table of partitions, as sfdisk reads it.
func table(lines ...string) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		script := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(script, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		alone(t, "sh", "-c", `sfdisk -q "$0" <"$1"`, device, script)
	}
}

func partitionWithExt4(t *testing.T, device string) {
	table("label: gpt", ",")(t, device)
	settle(t)
	alone(t, "mkfs.ext4", "-q", device+"-part1")
}

// backupOfGPT alone, as is left where the start of a disk was zeroed.
func backupOfGPT(t *testing.T, device string) {
	table("label: gpt", ",")(t, device)
	write(t, device, 0, make([]byte, 1<<20))
	alone(t, "blockdev", "--rereadpt", device)
}

// array makes a RAID of one disk and stops it.
func array(version string) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		running(version)(t, device)
		stop(t)
	}
}

func stop(t *testing.T) {
	t.Helper()
	alone(t, "mdadm", "--quiet", "--stop", "/dev/md99")
	settle(t)
}

func running(version string) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		if err := os.WriteFile("/etc/mdadm/mdadm.conf", []byte("AUTO -all\n"), 0o600); err != nil {
			t.Fatal(err) // without it udev's rules start the array again
		}
		run(t, "mdadm", "--create", "/dev/md99", "--quiet", "--run", "--force", "--metadata="+version, "--level=1", "--raid-devices=1", device)
		settle(t)
	}
}

// poolThen makes another pool on the disk, and exports or destroys it.
func poolThen(command string) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		run(t, "zpool", "create", "-m", "none", "foreign", device)
		alone(t, "zpool", command, "foreign")
	}
}

// barePool is one with its labels on the disk itself, as other systems make them.
// The first bytes are left out.
func barePool(from int64) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		image := filepath.Join(t.TempDir(), "image")
		run(t, "truncate", "--size="+run(t, "blockdev", "--getsize64", device), image)
		run(t, "zpool", "create", "-m", "none", "foreign", image)
		alone(t, "zpool", "export", "foreign")
		if from > 0 {
			write(t, image, 0, make([]byte, from))
		}
		run(t, "dd", "if="+image, "of="+device, "bs=1M", "conv=sparse,notrunc,fsync", "status=none")
	}
}

// The agent refuses a disk that carries anything, and leaves it unchanged to the last byte,
// until wipe: true is set for it.
func TestNonBlankDiskIsRefusedUntilWiped(t *testing.T) {
	number := 0
	for batch := range slices.Chunk(carriers, blankDisks) {
		number++
		t.Run(fmt.Sprint("batch ", number), func(t *testing.T) { guard(t, batch) })
	}
}

// guard has each carrier on a disk of its own.
func guard(t *testing.T, batch []carrier) {
	var disks []int
	for number := range batch {
		disks = append(disks, number)
	}
	erase(t, "guarded", disks...)
	for number, c := range batch {
		put(t, c, number)
	}
	before := digests(t, disks...)
	for number, c := range batch {
		t.Run(c.name, func(t *testing.T) {
			refused(t, declared("guarded", madeOf(v1alpha1.VdevStripe, number)), 2, notBlank(t, c, number))
		})
	}
	wantDigests(t, before, disks...)
	all := declared("guarded", made(v1alpha1.ZFSVdev{Type: v1alpha1.VdevStripe}))
	vdev := &all.Spec.Pool.Create.Vdevs[0]
	for number, c := range batch {
		s := declared("guarded", madeOf(v1alpha1.VdevStripe, number))
		device := &s.Spec.Pool.Create.Vdevs[0].Devices[0]
		device.Wipe = new(true)
		if c.left == "" {
			vdev.Devices = append(vdev.Devices, *device)
			continue
		}
		t.Run(c.name+" wiped", func(t *testing.T) { leaves(t, s, number, c.left) })
	}
	t.Run("wiped", func(t *testing.T) {
		n, _ := newAgent(nil)
		ready(t, n, all)
	})
}

func notBlank(t *testing.T, c carrier, number int) string {
	return fmt.Sprintf("pool.create.vdevs[0]: %s is not blank (%s) and is not touched; name another device, or set wipe: true for it if nothing on it is needed", disk(number), kernelNames(t, c.words, number))
}

func put(t *testing.T, c carrier, number int) {
	t.Helper()
	c.put(t, disk(number))
	settle(t)
}

func kernelNames(t *testing.T, words string, number int) string {
	t.Helper()
	kernel, err := filepath.EvalSymlinks(disk(number))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(words, "KERNEL", kernel)
}

// refused runs passes that must report a message and change nothing.
func refused(t *testing.T, s *v1alpha1.PgNodeStorage, passes int, message string) {
	t.Helper()
	n, counter := newAgent(nil)
	for range passes {
		if result := pass(t, n, s); result.Changed {
			t.Error("the pass changed something")
		}
		if got := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonDeviceNotBlank); got != message {
			t.Errorf("message\n%s\nwant\n%s", got, message)
		}
	}
	if got := changes(counter); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
}

// leaves checks the words for a disk on which wipefs leaves something.
func leaves(t *testing.T, s *v1alpha1.PgNodeStorage, number int, left string) {
	t.Helper()
	n, counter := newAgent(nil)
	pass(t, n, s)
	want := fmt.Sprintf("Waiting for pool %s to be created on %s, but the node refused; the agent retries every minute: not wiped: %s: %s; overwrite the device by hand if nothing of it is needed", s.Name, disk(number), disk(number), left)
	if got := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonHostCommandFailed); got != want {
		t.Errorf("message\n%s\nwant\n%s", got, want)
	}
	if got := changes(counter); got["zpool create"] > 0 {
		t.Errorf("ran %v", got)
	}
}

// changes that were run, by command.
func changes(c *host.Counter) map[string]int {
	out := map[string]int{}
	for command, count := range c.Counts() {
		if command.Change {
			out[command.Name] = count.Runs
		}
	}
	return out
}

// The agent refuses a disk that the kernel uses, with wipe: true as without. So does the code
// that wipes for it.
func TestDiskInUseIsNeverWiped(t *testing.T) {
	for _, c := range []carrier{
		{name: "mounted disk", put: readOnlyMount("", "mkfs.ext4"), words: "KERNEL mounted at /mnt, device held by the kernel, ext4"},
		{name: "mounted partition", put: readOnlyMount("-part1", "mkfs.ext4"), words: "KERNEL1 mounted at /mnt, device held by the kernel, gpt, partition KERNEL1, PMBR"},
		{name: "swap in use", put: swapping, words: "KERNEL mounted at [SWAP], device held by the kernel, swap"},
		{name: "running array", put: inArray, words: "KERNEL held by md99, device held by the kernel, device of type raid1 /dev/md99, linux_raid_member, read-only device"},
		{name: "logical volume", put: inLVM, words: "KERNEL held by dm-0, LVM2_member, device held by the kernel, device of type lvm /dev/dm-0"},
		{name: "imported pool", put: inPool, words: "device held by the kernel, gpt, partition KERNEL1, partition KERNEL9, PMBR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			erase(t, "guarded", 0)
			put(t, c, 0)
			words := kernelNames(t, c.words, 0)
			before := digests(t, 0)
			for _, wipe := range []bool{false, true} {
				s := declared("guarded", madeOf(v1alpha1.VdevStripe, 0))
				s.Spec.Pool.Create.Vdevs[0].Devices[0].Wipe = &wipe
				refused(t, s, 1, fmt.Sprintf("pool.create.vdevs[0]: %s is in use (%s) and is not touched; release it, or name another device", disk(0), words))
			}
			n, counter := newAgent(nil)
			want := fmt.Sprintf("in use: %s: %s; release it before it is wiped", disk(0), words)
			if _, err := n.Devices.Wipe(t.Context(), disk(0), blockdev.Identity{}); err == nil || err.Error() != want {
				t.Errorf("Wipe returned %v, want %s", err, want)
			}
			if got := changes(counter); len(got) > 0 {
				t.Errorf("ran %v", got)
			}
			wantDigests(t, before, 0)
		})
	}
}

// mountPoint of the tests: its name is part of messages.
const mountPoint = "/mnt"

// readOnlyMount is made without a write: a journal's replay would be one.
func readOnlyMount(partition, mkfs string) func(*testing.T, string) {
	return func(t *testing.T, device string) {
		if partition != "" {
			table("label: gpt", ",")(t, device)
			settle(t)
		}
		alone(t, mkfs, "-q", device+partition)
		run(t, "mount", "-o", "ro,noload", device+partition, mountPoint)
		t.Cleanup(func() { alone(t, "umount", mountPoint) })
	}
}

func swapping(t *testing.T, device string) {
	run(t, "mkswap", device)
	run(t, "swapon", device)
	t.Cleanup(func() { run(t, "swapoff", device) })
}

func inArray(t *testing.T, device string) {
	running("1.2")(t, device)
	run(t, "mdadm", "--readonly", "/dev/md99") // or it writes its superblock when it likes
	settle(t)
	t.Cleanup(func() { stop(t) })
}

func inLVM(t *testing.T, device string) {
	run(t, "pvcreate", "-q", device)
	run(t, "vgcreate", "-q", "foreign", device)
	run(t, "lvcreate", "-q", "-L", "16M", "-Zn", "-Wn", "-n", "volume", "foreign")
	t.Cleanup(func() { run(t, "vgremove", "-q", "-y", "-f", "foreign") })
}

// inPool that is read-only, as one that is not writes whenever it likes.
func inPool(t *testing.T, device string) {
	poolThen("export")(t, device)
	run(t, "zpool", "import", "-N", "-o", "readonly=on", "-d", "/dev/disk/by-id", "foreign")
	t.Cleanup(func() { alone(t, "zpool", "export", "foreign") })
}

// The agent does not start a pool while it refuses one of its disks, and does not wipe the disk
// that it may wipe. Afterwards it wipes exactly that disk, and no other that carries something.
func TestOnlyTheNamedDiskIsWiped(t *testing.T) {
	erase(t, "named", 0, 1, 2)
	for number, c := range carriers[:3] {
		put(t, c, number)
	}
	s := declared("named", madeOf(v1alpha1.VdevMirror, 0, 1))
	s.Spec.Pool.Create.Vdevs[0].Devices[0].Wipe = new(true)
	before, bystander := digests(t, 0, 1), digests(t, 2)
	refused(t, s, 2, notBlank(t, carriers[1], 1))
	wantDigests(t, before, 0, 1)
	blank(t, 1)
	n, counter := newAgent(nil)
	ready(t, n, s)
	if got := changes(counter); got["wipefs"] != 1 || got["zpool create"] != 1 {
		t.Errorf("ran %v", got)
	}
	wantDigests(t, bystander, 2)
}

// A selector takes blank disks only, however wide it is, and wipe does not apply to it.
func TestSelectorNeverWipes(t *testing.T) {
	erase(t, "chosen", 0, 1, 2, 10, 11)
	for number, c := range carriers[:3] {
		put(t, c, number)
	}
	before := digests(t, 0, 1, 2)
	s := declared("chosen", made(selected(v1alpha1.VdevStripe, 2)))
	n, _ := newAgent(nil)
	ready(t, n, s)
	if got, want := tree(s), "data disk10, data disk11"; got != want {
		t.Errorf("made of %s, want %s", got, want)
	}
	wantDigests(t, before, 0, 1, 2)
}

// Every program takes a blank disk for blank.
func TestBlankDiskIsTaken(t *testing.T) {
	n, _ := newAgent(nil)
	for number := range blankDisks {
		found, err := n.Devices.Blank(t.Context(), disk(number))
		if err != nil || !found.Blank() || found.InUse() || found.String() != "blank" {
			t.Errorf("disk %d: %v, %v", number, found, err)
		}
	}
	if _, err := n.Devices.Blank(t.Context(), disk(99)); err == nil || !strings.Contains(err.Error(), blockdev.ErrNoSuchDevice.Error()) {
		t.Errorf("a disk that is not there: %v", err)
	}
}

// digests of whole disks: SHA-256 of each block that is not zero, with its place,
// since an emulated processor needs minutes for the zeros.
func digests(t *testing.T, disks ...int) []string {
	t.Helper()
	out, errs := make([]string, len(disks)), make([]error, len(disks))
	var all sync.WaitGroup
	for i, number := range disks {
		run(t, "blockdev", "--flushbufs", disk(number))
		all.Go(func() { out[i], errs[i] = digest(disk(number)) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantDigests of disks as they were before.
func wantDigests(t *testing.T, before []string, disks ...int) {
	t.Helper()
	for i, after := range digests(t, disks...) {
		if after != before[i] {
			t.Errorf("disk %d is not what it was", disks[i])
		}
	}
}

// digest past the page cache, by which ZFS does not go either.
func digest(device string) (string, error) {
	f, err := os.OpenFile(device, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	buffer, err := syscall.Mmap(-1, 0, 4<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Munmap(buffer) }()
	sum := sha256.New()
	for at := uint64(0); ; {
		n, err := f.Read(buffer)
		switch {
		case err == io.EOF && at > 0:
			return hex.EncodeToString(sum.Sum(nil)), nil
		case err != nil:
			return "", fmt.Errorf("read %s at %d: %w", device, at, err)
		}
		for data := range slices.Chunk(buffer[:n], len(zeros)) {
			if !bytes.Equal(data, zeros[:len(data)]) {
				sum.Write(binary.BigEndian.AppendUint64(nil, at))
				sum.Write(data)
			}
			at += uint64(len(data))
		}
	}
}

var zeros [64 << 10]byte

// A digest differs for each byte, and for each place.
func TestDigestSeesEveryByteAndPlace(t *testing.T) {
	erase(t, "none", 0)
	seen := map[string]bool{digests(t, 0)[0]: true}
	for _, offset := range []int64{0, 300 << 20, -1} {
		for _, data := range []string{"a", "b"} {
			write(t, disk(0), offset, []byte(data))
			seen[digests(t, 0)[0]] = true
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d digests of 7 contents", len(seen))
	}
}
