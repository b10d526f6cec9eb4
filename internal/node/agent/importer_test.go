package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// searches of the node for pools that can be imported.
func (f *fake) searches() string {
	var out []string
	for _, command := range f.reads {
		if found, is := strings.CutPrefix(command, "zpool import "); is {
			out = append(out, found)
		}
	}
	return strings.Join(out, "; ")
}

// While a server of another profile is away, a read of its device waits for the pass that looks
// for a pool on disks. So that pass must not read it.
func TestASearchForAPoolOnDisksReadsNoNetworkDevice(t *testing.T) {
	const local = "-d /dev/disk/by-id/wwn-b -d /dev/disk/by-id/wwn-c -d /dev/vdb -d /dev/vdc"
	f := newFake(t, gone, put(answer{begin: "lsblk", end: "LABEL", stdout: `{"blockdevices": [` + vdb + "," + vdc + `,
		{"name": "/dev/nbd0", "kname": "/dev/nbd0", "type": "disk", "size": 8388608, "children": [{"name": "/dev/dm-0", "kname": "/dev/dm-0", "type": "crypt", "size": 8388608}]}]}`}))
	for _, name := range []string{"nbd0", "nbd1", "rbd0", "zd0", "dm-0"} {
		f.write("dev/"+name, "")
	}
	must(os.Symlink("../../dm-0", filepath.Join(f.root, "dev/disk/by-id/dm-uuid-x")))
	s := storage()
	if _, err := f.node().Pass(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	same(t, "lost", f.searches(), local)

	exported(f)
	f.reads = nil
	if _, err := f.node().Pass(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	same(t, "importable", f.searches(), local)
	same(t, "imported", strings.Join(f.changes, "; "), "zpool import -N "+local+" 42")
}

// Without -d zpool would search everything.
func TestASearchOnANodeWithoutDisksReadsNothing(t *testing.T) {
	f := newFake(t, gone, put(
		answer{begin: "lsblk", stdout: `{"blockdevices": []}`},
		answer{begin: "zpool import -d /dev/null", stderr: "no pools available to import\n", exit: 1},
	), func(f *fake) { must(os.RemoveAll(filepath.Join(f.root, "dev"))) })
	if _, err := f.node().Pass(t.Context(), storage()); err != nil {
		t.Fatal(err)
	}
	same(t, "searched", f.searches(), "-d /dev/null")
}

// bounds records until when a search for pools may run.
type bounds struct {
	*fake
	until []time.Duration
}

func (b *bounds) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	if strings.HasPrefix(strings.Join(append([]string{program}, args...), " "), "zpool import") {
		within := time.Duration(0)
		if at, bounded := ctx.Deadline(); bounded {
			within = time.Until(at)
		}
		b.until = append(b.until, within)
	}
	return b.fake.Run(ctx, program, args...)
}

// A server can stop while zpool reads its device, and only a later pass reconnects that.
func TestASearchOnNetworkDevicesIsBounded(t *testing.T) {
	net, n := newNetwork(t)
	b := &bounds{fake: net.f}
	n.ZFS.Runner = b
	passes(t, n, storage(fresh, onNetwork))
	if len(b.until) != 1 || b.until[0] <= 0 || b.until[0] > searchTimeout {
		t.Errorf("searched within %v, want once within %s", b.until, searchTimeout)
	}
}
