//go:build vm

package vm_test

import (
	"net"
	"path/filepath"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

const (
	// newcomersID is above every id that the machine before it reaches.
	newcomersID = 10_000_000
	// thawTime is how long a machine that was replaced may take to notice.
	thawTime = 120
)

// nodeReplaced by another machine of its name, while it is frozen and not off. When it
// continues, with Postgres and clients, it must not acknowledge anything.
var nodeReplaced = fault{"the node is frozen, another machine takes its place, and it thaws", func(s *stack) time.Duration {
	former := s.running
	if err := former.machine.Freeze(); err != nil {
		s.Fatal(err)
	}
	s.options.Disks = []vm.Disk{{Serial: "node", Path: filepath.Join(s.TempDir(), "newcomer"), SizeBytes: 4 << 30, Volatile: true}}
	s.job.HostID, s.job.FirstID = s.job.HostID+1, s.job.FirstID+newcomersID
	back := s.loaded(s.power())

	newcomer := s.running
	if err := former.machine.Thaw(); err != nil {
		s.Fatal(err)
	}
	s.running = former
	s.Log(s.do("phase %s Fenced %d", s.job.Servers[0].Name, thawTime))
	s.Log(s.do("until DevicesAttached=False/Fenced %d", thawTime))
	s.cut()
	s.running = newcomer
	return back
}, false}

// running boot of a node.
type running struct {
	machine *vm.Machine
	guest   net.Conn
	answers chan answer
}
