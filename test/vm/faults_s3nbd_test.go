//go:build vm

package vm_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
)

const (
	// faultRuns of each case, unless PGSTORAGE_VM_FAULT_RUNS is another number.
	faultRuns = 5
	// longOutage of a store, unless PGSTORAGE_VM_OUTAGE is another one.
	longOutage = 60 * time.Second
	// absence of a store that is started again.
	absence = 10 * time.Second
	// mirrorTimeout after which a mirror continues without a leg; the default is 60s.
	mirrorTimeout = 20 * time.Second
	// growthTime is about how long an agent takes to resize devices.
	growthTime = 10 * time.Second
)

// outage is a long absence of a store.
var outage = outageTime()

func outageTime() time.Duration {
	d, err := time.ParseDuration(os.Getenv("PGSTORAGE_VM_OUTAGE"))
	if err != nil || d <= 0 {
		return longOutage
	}
	return d
}

// fault of a case. It returns once the fault is over and clients write again. It returns the
// time from the end of the fault until then.
type fault struct {
	name string
	do   func(*stack) time.Duration
	// resets reports that the fault resets the node, which then comes back without ZeroFS's
	// cache: the bucket has what was acknowledged before.
	resets bool
}

// Each fault comes while clients write. No commit that was acknowledged is lost, and
// clients write again.
func TestS3NBDKeepsCommitsThroughFaults(t *testing.T) {
	long.Skip(t, "make test-vm")
	t.Parallel()
	programs := stackPrograms(t)
	all := journeys(t)
	for _, journey := range all {
		t.Run(journey.name, func(t *testing.T) {
			// A single journey keeps its parent's turn: with a turn of its own it would begin
			// after all other tests, and end alone.
			if len(all) > 1 {
				t.Parallel()
			}
			s := newStack(t, programs, journey.stores...)
			s.power()
			s.journal = newJournal(s)
			s.start("Ready=True")
			s.do("load")
			last := fault{}
			for _, last = range journey.faults {
				for range runs(t) {
					s.suffers(last)
				}
				s.do("amcheck")
			}
			if len(journey.stores) > 1 {
				s.alike()
			}
			if !last.resets {
				s.atLast()
			}
		})
	}
}

// journey of a node through faults.
type journey struct {
	name   string
	stores []string
	faults []fault
}

// journeys have the faults whose names match PGSTORAGE_VM_FAULTS, a regular expression. With
// "few", there is one journey: ZeroFS ends, a server is replaced, a store fails, and finally a
// power cut.
func journeys(t *testing.T) []journey {
	t.Helper()
	one, choice := []string{"main"}, os.Getenv("PGSTORAGE_VM_FAULTS")
	if choice == "few" {
		fmt.Println("few faults of S3NBD; make test-vm has all")
		return []journey{{"few", one, []fault{zerofsKilled, serverRestarted, storeUnavailable}}}
	}
	// The journeys take about equally long, so that two at once end together in any order.
	all := []journey{
		{"server", one, []fault{stopped, zerofsKilled, zerofsTold, serverRestarted}},
		{"power", one, []fault{powerCut, serverKilled}},
		{"machines", one, []fault{secondServer, nodeReplaced}},
		{"store", one, []fault{storeKilled, storeUnavailable, storeFrozen}},
		{"growth", one, []fault{grown, agentKilled, cacheFull}},
		{"mirror", []string{"one", "two", "three"}, []fault{bucketGone}},
	}
	names, err := regexp.Compile(choice)
	if err != nil {
		t.Fatalf("PGSTORAGE_VM_FAULTS: %v", err)
	}
	for i := range all {
		all[i].faults = slices.DeleteFunc(all[i].faults, func(f fault) bool { return !names.MatchString(f.name) })
	}
	return slices.DeleteFunc(all, func(j journey) bool { return len(j.faults) == 0 })
}

func runs(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PGSTORAGE_VM_FAULT_RUNS")
	if text == "" {
		return faultRuns
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PGSTORAGE_VM_FAULT_RUNS: %q is not a number of runs", text)
	}
	return n
}

// suffers one run of a case.
func (s *stack) suffers(f fault) {
	s.Helper()
	s.begin(f.name)
	s.flowing(someAcks)
	back := f.do(s)
	s.flowing(someAcks)
	lost := s.lost()
	s.journal.ended(f.name, s.acks(), back)
	s.journal.lost(s.T, lost)
	fmt.Printf("fault %q: %d commits acknowledged, lost %v, writes back after %.1f s\n", f.name, s.acks(), lost, back.Seconds())
	if s.Failed() {
		s.explain()
		s.FailNow()
	}
}

// atLast cuts the power. Every bucket must have what was acknowledged in all cases of the boot.
func (s *stack) atLast() {
	s.Helper()
	s.reset(true)
	s.journal.lost(s.T, s.lost())
	s.do("amcheck")
}

var zerofsKilled = fault{"ZeroFS is killed (SIGKILL)", func(s *stack) time.Duration {
	s.do("signal main KILL")
	return s.writes(time.Now())
}, false}

var zerofsTold = fault{"ZeroFS is told to end (SIGTERM)", func(s *stack) time.Duration {
	s.do("signal main TERM")
	return s.writes(time.Now())
}, false}

var serverRestarted = fault{"the server's pod is deleted and comes back (graceful restart)", func(s *stack) time.Duration {
	if ended := s.do("stop main"); !strings.HasPrefix(ended, "Stopped") {
		s.Errorf("the server ended as %s", ended)
	}
	now := time.Now()
	s.do("serve main")
	return s.writes(now)
}, false}

// With the relay, nothing remembers what was not flushed: only a reset of the node releases the
// pool.
var serverKilled = fault{"the server's container is killed (SIGKILL of supervisor and ZeroFS), node reset", func(s *stack) time.Duration {
	s.do("kill main")
	s.do("serve main")
	s.quiet(time.Second)
	s.Log(s.do("until DevicesAttached=False/ServerLost 120"))
	s.quiet(2 * time.Second)
	return s.reset(true)
}, true}

// reset the node by its power, with or without the loss of ZeroFS' caches.
func (s *stack) reset(cacheless bool) time.Duration {
	s.Helper()
	s.cut()
	begin := s.power()
	if cacheless {
		for _, server := range s.job.Servers {
			s.do("sh rm -rf %s", server.Cache)
		}
	}
	return s.loaded(begin)
}

// loaded again, since a moment.
func (s *stack) loaded(begin time.Time) time.Duration {
	s.Helper()
	booted := time.Since(begin)
	s.start("PoolReady=True")
	started := time.Since(begin)
	s.do("load")
	writes := s.writes(begin)
	fmt.Printf("power on: booted after %.1f s, Postgres is up after %.1f s, clients write after %.1f s\n", booted.Seconds(), started.Seconds(), writes.Seconds())
	return writes
}

var storeKilled = fault{"the S3 server is killed, and started after 10 s", func(s *stack) time.Duration {
	if err := s.only().Kill(); err != nil {
		s.Fatal(err)
	}
	s.lasts(absence)
	if err := s.only().Restart(s.Context()); err != nil {
		s.Fatal(err)
	}
	return s.writes(time.Now())
}, false}

var storeUnavailable = fault{"the S3 server answers 503 for " + outage.String(), func(s *stack) time.Duration {
	s.only().Fail(s3.Unavailable())
	s.lasts(outage)
	s.only().Fail()
	return s.writes(time.Now())
}, false}

var storeFrozen = fault{"the S3 server is frozen (SIGSTOP) for " + outage.String(), func(s *stack) time.Duration {
	if err := s.only().Freeze(); err != nil {
		s.Fatal(err)
	}
	s.lasts(outage)
	if err := s.only().Thaw(); err != nil {
		s.Fatal(err)
	}
	return s.writes(time.Now())
}, false}

// stopped is the journey of a well-maintained node: pgbench, a clean stop, the pool exported, a
// boot.
var stopped = fault{"everything is shut down cleanly, and the node boots", func(s *stack) time.Duration {
	s.Log(s.do("pgbench 10"))
	s.do("unwatch")
	s.do("down")
	s.do("sh zpool export %s", declare.Pool)
	if ended := s.do("stop main"); !strings.HasPrefix(ended, "Stopped") {
		s.Errorf("the server ended as %s", ended)
	}
	if _, err := fmt.Fprintln(s.guest, "quit"); err != nil {
		s.Fatal(err)
	}
	if result, err := s.machine.Wait(s.Context()); err != nil || result.ExitCode != 0 {
		s.Fatalf("the guest ended with %+v, %v", result, err)
	}
	s.over()
	return s.loaded(s.power())
}, false}

var powerCut = fault{"the node's power is cut", func(s *stack) time.Duration { return s.reset(false) }, false}

// secondServer is one too many: the first must not acknowledge anything after it starts.
var secondServer = fault{"a second ZeroFS opens the prefix, node reset", func(s *stack) time.Duration {
	program, err := zerofs.Program(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "second") // a socket's path is short
	if err != nil {
		s.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of a test
	second, err := zerofs.Start(s.Context(), zerofs.Options{Program: program, Config: nativeConfig(s.only(), dir)})
	if err != nil {
		s.Fatal(err)
	}
	s.quiet(5 * time.Second)
	s.Log(s.do("phase main Fenced 60"))
	s.Log(s.do("until DevicesAttached=False/Fenced 60"))
	s.quiet(5 * time.Second)
	if err := second.Stop(time.Minute); err != nil {
		s.Error(err)
	}
	return s.reset(true)
}, true}

// grown exports have their new size when no volume of the pool is mounted.
var grown = fault{"the exports are grown while clients write; Postgres restarts for the new size", func(s *stack) time.Duration {
	return s.grows(0)
}, false}

var agentKilled = fault{"the agent is killed three times while it detaches, grows and attaches", func(s *stack) time.Duration {
	return s.grows(3)
}, false}

// grows resizes the pool, with an agent that is killed some times on the way.
func (s *stack) grows(kills int) time.Duration {
	s.Helper()
	size := s.job.Storage.Spec.NetworkDevices.ExportSize
	size.Add(resource.MustParse("256Mi"))
	s.job.Storage.Spec.NetworkDevices.ExportSize = size
	before := s.do("sh zpool list -Hp -o size %s", declare.Pool)
	s.do("unwatch")
	s.do("grow %s", size.String())
	s.do("watch")
	s.Log(s.do("until DevicesAttached=True/Growing 60"))
	s.flowing(someAcks)
	s.do("unwatch")
	s.do("down")
	now := time.Now()
	for range kills {
		s.do("watch")
		s.lasts(time.Duration(rand.Int64N(int64(growthTime))))
		s.do("unwatch")
	}
	s.do("watch")
	s.do("until DevicesAttached=True/DevicesAttached 120")
	s.do("until PoolReady=True 60")
	s.do("until Ready=True 60")
	if after := s.do("sh zpool list -Hp -o size %s", declare.Pool); number(s.T, strings.TrimSpace(after)) <= number(s.T, strings.TrimSpace(before)) {
		s.Errorf("the pool has %s bytes and had %s", after, before)
	}
	s.do("up")
	s.do("load")
	return s.writes(now)
}

// cacheFull: the cache is on a small file system, which another writer fills.
var cacheFull = fault{"the disk of ZeroFS' cache is full for 30 s", func(s *stack) time.Duration {
	cache := s.job.Servers[0].Cache
	s.do("stop main")
	s.do("sh umount %[1]s 2>/dev/null || true; mount -t tmpfs -o size=48m none %[1]s", cache)
	s.do("serve main")
	s.writes(time.Now())
	s.do("sh dd if=/dev/zero of=%s/filler bs=1M 2>/dev/null || true", cache)
	s.do("sh df %s | grep -q 100%%", cache)
	before := s.acks()
	s.lasts(30 * time.Second)
	s.Logf("%d commits were acknowledged while the disk was full", s.acks()-before)
	s.do("sh rm %s/filler", cache)
	return s.writes(time.Now())
}, false}

// settles waits until the pool's status has words and ZFS has finished. Beside a load this
// takes longer than one step may, because each transaction group is as slow as the store.
func (s *stack) settles(words string) {
	s.Helper()
	for range 6 {
		if strings.Contains(s.do("sh timeout 200 sh -c \"while ! zpool status %[1]s | grep -q %[2]s || zpool status %[1]s | grep -q 'in progress'; do sleep 1; done\" && echo settled || true", declare.Pool, words), "settled") {
			return
		}
	}
	s.Fatal(s.do("sh zpool status %s", declare.Pool))
}

// bucketGone and back: the pool keeps serving, and resilvers.
var bucketGone = fault{"one of three buckets of a mirror is gone (requestTimeout " + mirrorTimeout.String() + "); seconds are the stall", func(s *stack) time.Duration {
	if err := s.stores["two"].Kill(); err != nil {
		s.Fatal(err)
	}
	gone := time.Now()
	stall := s.writes(gone)
	s.flowing(4 * someAcks)
	s.Logf("writes stalled for %.1f s\n%s", stall.Seconds(), s.do("sh zpool status %s", declare.Pool))
	if err := s.stores["two"].Restart(s.Context()); err != nil {
		s.Fatal(err)
	}
	back := time.Now()
	s.do("until DevicesAttached=True/DevicesAttached 540")
	s.settles("' state: ONLINE'")
	fmt.Printf("mirror: resilvered %.1f s after the bucket was back\n", time.Since(back).Seconds())
	return stall
}, false}

// alike checks that the legs of a mirror are equal: a scrub, which reads all of them, has
// nothing to repair.
func (s *stack) alike() {
	s.Helper()
	s.do("sh zpool scrub %s", declare.Pool)
	s.settles("' scrub repaired'")
	if status := s.do("sh zpool status %s", declare.Pool); !strings.Contains(status, "repaired 0B") || !strings.Contains(status, "No known data errors") {
		s.Errorf("the legs are not the same: %s", status)
	}
}
