package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// effect appends one effect, and what an agent would read from its record if it were
// killed while the effect happens.
func (f *fake) effect(what string) {
	data, err := os.ReadFile(filepath.Join(f.root, recordDir, "fast-n1.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
	var record decide.NetworkRecord
	if err == nil {
		must(json.Unmarshal(data, &record))
	}
	f.effects = append(f.effects, what+" |"+inShort(record))
}

// inShort lists the members of a record that the agent writes around its effects.
func inShort(r decide.NetworkRecord) string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, " "+fmt.Sprintf(format, args...))
		}
	}
	add(len(r.Left) > 0, "left %v", r.Left)
	add(len(r.Returning) > 0, "returning %v", r.Returning)
	add(len(r.Asked) > 0, "asked %v", r.Asked)
	add(len(r.Returned) > 0, "returned")
	add(r.Scrub, "scrub")
	add(len(r.Suspect) > 0, "suspect %v", r.Suspect)
	add(!r.ScrubSince.IsZero(), "begun")
	for _, to := range r.Reconnected {
		add(true, "reconnected %s to %s", to.From, to.To)
	}
	add(r.Released, "released")
	add(r.Grown > 0, "grown %d", r.Grown)
	add(r.Restart != nil, "restart done=%v", r.Restart != nil && r.Restart.Done)
	return strings.Join(out, "")
}

// An agent that is killed at any effect continues from its record. So the test lists
// each effect together with the record at that moment.
func TestEffectsFollowTheRecord(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T) *fake
		want string
	}{
		"create": {createdPool, `
modprobe nbd |
create x of 8388608 |
attach x to 0 as fast/a/x@first, 0s, 87600h0m0s |
zpool create -o ashift=12 -o autotrim=on -o cachefile=none -o failmode=wait -O canmount=off -O mountpoint=none tank /run/pgstorage/fast/a.x |`},
		"release": {releasedPool, `
zpool export tank |
disconnect fast/a/x@first | released`},
		"grow": {grownPool, `
zpool export tank |
disconnect fast/a/x@first | released
grow x to 16777216 | released grown 16777216
attach x to 0 as fast/a/x@first, 0s, 87600h0m0s | released grown 16777216
zpool import -N -o cachefile=none -d /run/pgstorage/fast 42 | grown 16777216
zpool online -e tank /run/pgstorage/fast/a.x | grown 16777216`},
		"reconnect": {reconnectedDevice, `
reconnect 0 of fast/a/x@first |
at the end | reconnected first to second`},
		"mirror": {returnedLeg, `
disconnect fast/b/x@one | left map[b/x:one]
attach x to 1 as fast/b/x@two, 0s, 87600h0m0s | left map[b/x:one] returning [b/x] scrub suspect [b/x]
zpool online tank /run/pgstorage/fast/b.x | left map[b/x:one] returning [b/x] asked [b/x] scrub suspect [b/x]
zpool clear tank /run/pgstorage/fast/b.x | left map[b/x:one] returning [b/x] asked [b/x] scrub suspect [b/x]
zpool scrub tank | returned scrub suspect [b/x] begun
at the end | returned`},
		"mirror, reconnected": {reconnectedLeg, `
reconnect 1 of fast/b/x@one | returning [b/x]
zpool online tank /run/pgstorage/fast/b.x | returning [b/x] asked [b/x] reconnected one to two
zpool clear tank /run/pgstorage/fast/b.x | returning [b/x] asked [b/x] reconnected one to two
at the end | returned reconnected one to two`},
		"restart": {restartedNode, `
after a pass | restart done=false
restart | restart done=true
after a pass | restart done=true
after a pass | restart done=true`},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(c.do(t).effects, "\n")
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func createdPool(t *testing.T) *fake {
	net, n := newNetwork(t)
	passes(t, n, storage(fresh, onNetwork))
	return net.f
}

func releasedPool(t *testing.T) *fake {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.f.effects = nil
	put(answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgdata/pvc-1", "tank/other")})(net.f)
	must(n.Release(t.Context(), s))
	return net.f
}

func grownPool(t *testing.T) *fake {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.f.effects = nil
	s.Spec.NetworkDevices.ExportSize = resource.MustParse("16Mi")
	put(
		answer{begin: "zpool export", then: func(f *fake) {
			gone(f)
			put(answer{begin: "zpool import -d /run/pgstorage/fast", stdout: replaced(blankPool, "wwn-b", "a.x")})(f)
		}},
		answer{begin: "zpool import -N", then: put(answer{begin: "zpool get", stdout: poolGet + "expandsize\t8388608\t-\n"})},
		answer{begin: "zpool online", then: put(answer{begin: "zpool get", stdout: poolGet})},
	)(net.f)
	passes(t, n, s)
	return net.f
}

func reconnectedDevice(t *testing.T) *fake {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.f.effects = nil
	net.lives(t, "second", zerofs.StateRunning, "first")
	passes(t, n, s)
	net.f.effect("at the end")
	return net.f
}

func returnedLeg(t *testing.T) *fake {
	net, n, s := newMirror(t)
	net.f.effects = nil
	net.release("b")
	passes(t, n, s)
	net.begins(t, "b", zerofs.Incarnation{ID: "two", BootID: "boot", State: zerofs.StateRunning})
	passes(t, n, s)
	put(mirrorStatus("scrub repaired 0B in 00:00:01 with 0 errors on Sat Nov 21 10:00:00 2026"))(net.f)
	passes(t, n, s)
	net.f.effect("at the end")
	return net.f
}

func reconnectedLeg(t *testing.T) *fake {
	net, n, s := newMirror(t)
	net.f.effects = nil
	net.begins(t, "b", zerofs.Incarnation{ID: "two", BootID: "boot", State: zerofs.StateRunning, Inherits: []string{"one"}})
	passes(t, n, s)
	net.f.effect("at the end")
	return net.f
}

func restartedNode(t *testing.T) *fake {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.f.effects = nil
	net.release("a")
	s.Spec.NetworkDevices.OnServerLost = v1alpha1.ServerLostRebootNode
	for range 3 {
		_, err := n.Pass(t.Context(), s)
		must(err)
		net.f.effect("after a pass")
		net.f.clock.SetTime(net.f.clock.Now().Add(decide.RestartDelay))
	}
	return net.f
}

// A server that no profile declares any more leaves nothing in the record that waits
// for it.
func TestAnUndeclaredDeviceIsForgotten(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	record := recordOf(t, n, s)
	record.Returning, record.Asked = []string{"gone/x"}, []string{"gone/x"}
	must(n.records(s).save(record))
	net.f.effects = nil
	passes(t, n, s)
	if now := recordOf(t, n, s); len(now.Returning)+len(now.Asked) > 0 || len(net.f.effects) > 0 {
		t.Errorf("got %+v after %q, want neither a record nor an effect", now, slices.Clone(net.f.effects))
	}
}
