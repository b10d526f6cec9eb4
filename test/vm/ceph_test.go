//go:build vm

package vm_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/vm/ceph/declare"
)

const (
	// cephTime bounds the whole of TestCephRBD once there is an image. It takes 10 minutes
	// alone, and 20 did not suffice beside a cluster and another machine.
	cephTime = 40 * time.Minute
	// cephStep bounds a boot of it.
	cephStep = 10 * time.Minute
	// cephModel of the emulated processor has the instruction that Ceph sums by.
	cephModel = "Nehalem"
)

// A database on Ceph images keeps every acknowledged commit when the power of the whole node
// goes. Ceph is real; its OSDs and mon use our zvols. Copies, images, file system and the
// parameters of Postgres are as the profile CephRBD renders them, without Rook itself.
//
// For a second cut, the test has ZFS acknowledge what is in memory. This cut must lose commits,
// or the first has proved nothing. PGSTORAGE_VM_FAULTS=few skips the second cut, and the test
// logs that.
//
// The test does not run beside other machines: it uses both processors.
func TestCephRBD(t *testing.T) {
	s := newCephSubject(t)
	begin := time.Now()
	boot := func(again bool) {
		s.options.Timeout = time.Until(begin.Add(cephTime))
		s.boot(t, again)
	}
	boot(false)
	logEvent(begin, "made, ready for load %.0f s after power on", s.up.Seconds())
	s.cutDuring(t, "load")
	durable := maps.Clone(s.acknowledged)
	logEvent(begin, "the power was cut after %d acknowledged commits", len(durable))
	boot(true)
	logEvent(begin, "after the power cut: %s", s)
	if len(s.lost) > 0 {
		t.Fatalf("acknowledged commits are lost: %d", s.lost)
	}
	if os.Getenv("PGSTORAGE_VM_FAULTS") == "few" {
		logEvent(begin, "without the cut that must lose some; make test-ceph has it")
		s.end(t)
		return
	}
	s.cutDuring(t, "relaxed")
	logEvent(begin, "the power was cut after %d acknowledged commits with sync=disabled", len(s.acknowledged)-len(durable))
	boot(true)
	logEvent(begin, "after the power cut with sync=disabled: %s; %d of %d acknowledged commits are lost", s, len(s.lost), len(s.acknowledged))
	if len(s.lost) == 0 {
		t.Error("nothing was lost with sync=disabled: these power cuts prove nothing")
	}
	for _, id := range s.lost {
		if durable[id] {
			t.Errorf("commit %d was there after the first cut, and is lost now", id)
		}
	}
	s.end(t)
}

// newCephSubject is a machine with everything on one disk that forgets what was not flushed.
func newCephSubject(t *testing.T) *subject {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), imageTime)
	defer cancel()
	cephImage, err := vm.FindCephImage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	job, err := declare.Stack{
		Pool: "tank", Serial: "tank", ARCMax: "256Mi", OSDs: 2, OSDSize: "5Gi", Copies: 2,
		MemoryBytes: 512 << 20, DataBytes: 2 << 30, WALBytes: 1 << 30,
	}.Job(repository.Root())
	if err != nil {
		t.Fatal(err)
	}
	s := subjectOf(t, guestProgram(t, "test/vm/ceph/powercut"), job, vm.Options{
		Image: cephImage, Processors: 2, Model: cephModel, Memory: 4096,
		Disks:   []vm.Disk{{Serial: "tank", Path: filepath.Join(t.TempDir(), "tank"), SizeBytes: 16 << 30, Volatile: true}},
		Console: &tally{name: "ceph", to: os.Stdout},
	})
	s.stepTime = cephStep
	return s
}

// logEvent prints an event at once, so that the log of an interrupted test has it.
func logEvent(begin time.Time, format string, args ...any) {
	fmt.Printf("Ceph, %4.0f s: %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, args...))
}
