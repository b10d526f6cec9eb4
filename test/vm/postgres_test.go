//go:build vm

package vm_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	// powerCuts of each kind, unless PGSTORAGE_VM_CUTS is another number.
	powerCuts = 20
	// A cut comes after so many commits were acknowledged since the boot.
	leastAcks, mostAcks = 20, 400
)

// A database keeps every commit that it acknowledged, and its pages whole, when the power goes.
// It uses the agent's datasets and the parameters that we compute. The disks lose what was not
// flushed; the test also runs without full_page_writes.
func TestPostgresKeepsCommits(t *testing.T) {
	t.Parallel()
	binary := guestProgram(t, "test/vm/postgres/powercut")
	for _, fullPageWrites := range []string{"off", "on"} {
		t.Run("full_page_writes="+fullPageWrites, func(t *testing.T) {
			if fullPageWrites == "on" { // the other one relies on more
				long.Skip(t, "make test-vm")
			}
			t.Parallel()
			s := newSubject(t, binary, func(job *server.Job) { job.Parameters["full_page_writes"] = fullPageWrites })
			cuts := cutCount(t)
			begin := time.Now()
			s.boot(t, false)
			for n := 1; n <= cuts; n++ {
				before := len(s.acknowledged)
				s.cutDuringLoad(t)
				s.boot(t, true)
				fmt.Printf("power cut %d of %d, full_page_writes=%s: %s\n", n, cuts, fullPageWrites, s)
				s.recordCut(t, "the node's power is cut, full_page_writes="+fullPageWrites, len(s.acknowledged)-before)
				if len(s.lost) > 0 {
					t.Fatalf("acknowledged commits are lost: %d", s.lost)
				}
			}
			s.end(t)
			fmt.Printf("power cuts with full_page_writes=%s: %d, each of %d acknowledged commits is there, pg_amcheck clean, no checksum failure, in %.0f s\n",
				fullPageWrites, cuts, len(s.acknowledged), time.Since(begin).Seconds())
		})
	}
}

// The test above would detect a loss: sync=disabled, which the agent refuses, has ZFS
// acknowledge what is in memory. The same power cut then loses commits.
func TestPostgresLosesCommitsWithoutSync(t *testing.T) {
	long.Skip(t, "make test-vm")
	t.Parallel()
	s := newSubject(t, guestProgram(t, "test/vm/postgres/powercut"), func(*server.Job) {})
	s.options.Args = append(s.options.Args, "sync=disabled")
	s.boot(t, false)
	s.cutDuringLoad(t)
	s.boot(t, true)
	fmt.Printf("power cut with sync=disabled: %d of %d acknowledged commits are lost\n", len(s.lost), len(s.acknowledged))
	if len(s.lost) == 0 {
		t.Error("nothing was lost: these power cuts prove nothing")
	}
}

func cutCount(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PGSTORAGE_VM_CUTS")
	if text == "" {
		return powerCuts
	}
	cuts, err := strconv.Atoi(text)
	if err != nil || cuts < 1 {
		t.Fatalf("PGSTORAGE_VM_CUTS: %q is not a number of cuts", text)
	}
	return cuts
}

// subject is one database through all of its boots.
type subject struct {
	options vm.Options
	// stepTime bounds a boot until it is ready, and the time between two lines; bootTime
	// without it.
	stepTime     time.Duration
	listener     net.Listener
	machine      *vm.Machine
	guest        net.Conn
	lines        *bufio.Scanner
	acknowledged map[int64]bool
	// recovery, amcheck, versions and up are what the last boot reported: seconds, and ids.
	recovery, amcheck string
	versions          string
	up                time.Duration
	present           int
	lost              []int64
}

func newSubject(t *testing.T, binary string, change func(*server.Job)) *subject {
	t.Helper()
	job, err := declare.Cluster{
		Pool: "tank", Serial: "tank", MemoryBytes: 1 << 30, DataBytes: 4 << 30, WALBytes: 1 << 30,
	}.Job(repository.Root())
	if err != nil {
		t.Fatal(err)
	}
	change(&job)
	return subjectOf(t, binary, job, vm.Options{
		Disks:  []vm.Disk{{Serial: "tank", Path: filepath.Join(t.TempDir(), "tank"), SizeBytes: 6 << 30, Volatile: true}},
		Memory: 2048,
	})
}

// subjectOf a program of the guest that finds its job in job.json.
func subjectOf(t *testing.T, binary string, job any, o vm.Options) *subject {
	t.Helper()
	content, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // 10.0.2.2 in the guest
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	o.Payload = map[string]string{"run": binary, "job.json": path}
	o.Args = []string{"10.0.2.2:" + port}
	return &subject{acknowledged: map[int64]bool{}, listener: listener, options: o, stepTime: bootTime}
}

// boot until the database is ready for load. One that was there before must have
// what it acknowledged.
func (s *subject) boot(t *testing.T, again bool) {
	t.Helper()
	begin := time.Now()
	s.machine = boot(t, s.options)
	if err := s.listener.(*net.TCPListener).SetDeadline(begin.Add(s.stepTime)); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.guest, err = s.listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.guest.Close() })
	s.lines = bufio.NewScanner(s.guest)
	s.lines.Buffer(nil, 16<<20)
	s.recovery, s.amcheck, s.present = "", "", 0
	for ready := false; !ready; {
		ready = s.line(t) == "ready"
	}
	s.up = time.Since(begin)
	if again && (s.recovery == "" || s.amcheck == "") {
		t.Fatal("the guest made another database")
	}
}

// line of the guest, understood.
func (s *subject) line(t *testing.T) string {
	t.Helper()
	if err := s.guest.SetReadDeadline(time.Now().Add(s.stepTime)); err != nil {
		t.Fatal(err)
	}
	if !s.lines.Scan() {
		_, err := s.machine.Wait(t.Context())
		t.Fatalf("the guest says no more: %v", errors.Join(s.lines.Err(), err))
	}
	word, rest, _ := strings.Cut(s.lines.Text(), " ")
	switch word {
	case "ready":
	case "ack":
		s.acknowledged[number(t, rest)] = true
	case "recovered":
		s.recovery = rest
	case "checked":
		s.amcheck = rest
	case "versions":
		s.versions = rest
	case "present":
		s.compare(t, rest)
	default:
		t.Fatalf("the guest says %s", s.lines.Text())
	}
	return word
}

// compare what was acknowledged with what is there, in runs of first-last, if any.
func (s *subject) compare(t *testing.T, runs string) {
	t.Helper()
	missing := maps.Clone(s.acknowledged)
	for run := range strings.FieldsFuncSeq(runs, func(r rune) bool { return r == ',' }) {
		first, last, _ := strings.Cut(run, "-")
		for id := number(t, first); id <= number(t, last); id++ {
			delete(missing, id)
			s.present++
		}
	}
	s.lost = slices.Sorted(maps.Keys(missing))
}

// cutDuringLoad at a random commit, so that a cut waits for nothing but the load.
func (s *subject) cutDuringLoad(t *testing.T) {
	t.Helper()
	s.cutDuring(t, "load")
}

// cutDuring the load that a word begins.
func (s *subject) cutDuring(t *testing.T, word string) {
	t.Helper()
	s.answer(t, word)
	for range leastAcks + rand.IntN(mostAcks-leastAcks) {
		s.line(t)
	}
	if err := s.machine.PowerCut(); err != nil {
		t.Fatal(err)
	}
	// What had arrived before the cut counts too.
	if err := s.guest.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for s.lines.Scan() {
		if id, found := strings.CutPrefix(s.lines.Text(), "ack "); found {
			if id, err := strconv.ParseInt(id, 10, 64); err == nil {
				s.acknowledged[id] = true
			}
		}
	}
}

func (s *subject) end(t *testing.T) {
	t.Helper()
	s.answer(t, "stop")
	result, err := s.machine.Wait(t.Context())
	if err != nil || result.ExitCode != 0 {
		t.Errorf("the last boot ended with exit code %d, %v", result.ExitCode, err)
	}
}

func (s *subject) answer(t *testing.T, word string) {
	t.Helper()
	if _, err := fmt.Fprintln(s.guest, word); err != nil {
		t.Fatal(err)
	}
}

func (s *subject) String() string {
	return fmt.Sprintf("%d ids acknowledged so far, %d present, recovery %s s, pg_amcheck %s s, ready %.0f s after power on",
		len(s.acknowledged), s.present, s.recovery, s.amcheck, s.up.Seconds())
}

// recordCut adds a power cut, after which the database is ready again, to the report of ZFS.
func (s *subject) recordCut(t *testing.T, name string, acknowledged int) {
	t.Helper()
	zfsReport.add(&faults.Run{
		Date: time.Now().UTC().Format(time.DateOnly), Versions: s.versions, Accelerator: image.Accelerator,
		Case: name, Acknowledged: acknowledged, Lost: len(s.lost), Seconds: s.up.Seconds(),
	})
	if err := zfsReport.write(); err != nil {
		t.Error(err)
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
