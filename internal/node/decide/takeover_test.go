package decide

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// The agent takes over a pool that another machine had last only if each device is that of a
// server here. The server then rejects the other machine's server.
func TestTakeOver(t *testing.T) {
	disk := func(name string) zfs.VdevStatus {
		return zfs.VdevStatus{Class: zfs.Data, Type: "disk", Name: name, State: zfs.Online}
	}
	foreign := zfs.Importable{
		Name: "tank", GUID: 42, State: zfs.Online, Explanation: "The pool was last accessed by another system.",
		Vdevs: []zfs.VdevStatus{disk("a.x"), disk("nbd1")},
	}
	active := foreign
	active.Explanation = "The pool is currently imported by another system."
	partly := foreign
	partly.Vdevs = append(partly.Vdevs[:2:2], disk("sda"))
	lacking := foreign
	lacking.Vdevs = []zfs.VdevStatus{disk("a.x"), {Class: zfs.Data, Type: "disk", Name: "nbd1", State: zfs.Unavail}}
	serves := tells("a", zerofs.PhaseServing, "a1")
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen []func(*Seen)
		want bool
	}{
		{"known", network(), []func(*Seen){importing(foreign), serves}, true},
		{"a machine that never knew it", network(fresh), []func(*Seen){importing(foreign), serves}, true},
		{"seen in use", network(), []func(*Seen){importing(active), serves}, false},
		{"another disk", network(), []func(*Seen){importing(partly), serves}, false},
		{"a disk that is not there", network(), []func(*Seen){importing(lacking), serves}, false},
		{"a server that told nothing", network(), []func(*Seen){importing(foreign)}, false},
		{"a server that told so in a former life", network(), []func(*Seen){importing(foreign), tells("a", zerofs.PhaseServing, "a0")}, false},
		{"no network devices", storage(), []func(*Seen){importing(foreign)}, false},
	} {
		seen := converged(c.seen[0])
		if c.s.Spec.NetworkDevices != nil {
			seen = seenNetwork(c.s, c.seen...)
		}
		step := Pool(c.s, seen)
		if step.TakeOver != c.want || step.Import != 42 {
			t.Errorf("%s: %+v", c.name, step)
		}
	}
}
